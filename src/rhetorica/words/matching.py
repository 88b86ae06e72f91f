"""``fmm`` and ``rmm``: the longest word of a vocabulary that fits, from the left or the right."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from rhetorica.document import Span
from rhetorica.words.lattice import atoms_of


def match_words(text: str, vocabulary: Collection[str], *, reverse: bool = False) -> list[Span]:
    """Cut a text by maximum matching; what is in no word of the vocabulary stands alone.

    >>> words = {"研究", "研究生", "生命"}
    >>> text = "研究生命"
    >>> [text[a:b] for a, b in match_words(text, words)]
    ['研究生', '命']
    >>> [text[a:b] for a, b in match_words(text, words, reverse=True)]
    ['研究', '生命']
    """
    found = atoms_of(text)
    longest = max(map(len, vocabulary), default=1)
    spans = list(found.marks)
    starts = [k for k, begins in enumerate(found.breaks) if begins]
    for first, last in pairwise([*starts, len(found.atoms)]):
        at, end = first, last
        while at < end:
            for size in range(min(longest, end - at), 0, -1):
                a, b = (end - size, end) if reverse else (at, at + size)
                if size == 1 or "".join(found.atoms[a:b]) in vocabulary:
                    break
            spans.append(Span(found.spans[a].start, found.spans[b - 1].end))
            at, end = (at, a) if reverse else (b, end)
    return sorted(spans)
