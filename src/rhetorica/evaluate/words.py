"""Score word segmentation: whole words found, and those among them that are new."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rhetorica.document import Span
from rhetorica.evaluate.counts import Counts


def word_counts(gold: Iterable[Span], pred: Iterable[Span]) -> Counts:
    """Count words with both ends right, as the SIGHAN bakeoffs do.

    >>> word_counts([Span(0, 2), Span(2, 3)], [Span(0, 2), Span(2, 4)])
    Counts(correct=1, gold=2, pred=2)
    """
    right, found = set(gold), set(pred)
    return Counts(len(right & found), len(right), len(found))


def new_word_counts(
    text: str, gold: Iterable[Span], pred: Iterable[Span], known: Collection[str]
) -> Counts:
    """Count gold words that are not in a vocabulary; ``recall`` of it is the OOV recall.

    >>> new_word_counts("ABC", [Span(0, 2), Span(2, 3)], [Span(0, 2)], {"C"})
    Counts(correct=1, gold=1, pred=1)
    """
    new = {span for span in gold if text[span.start : span.end] not in known}
    correct = len(new.intersection(pred))
    return Counts(correct, len(new), correct)
