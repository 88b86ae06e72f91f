"""From probabilities that a unit starts at each token to a document with EDUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rhetorica.document import Document, Span
from rhetorica.parses import Parse, Scores
from rhetorica.text.cues import make_sure


def cut(doc: Document, probabilities: Sequence[float], *, threshold: float = 0.5) -> Parse:
    """Start an EDU where that is more probable than the threshold, and at the first token.

    The EDUs cover every token, so nothing of the text is lost. The result has no tree; its scores
    hold the probability of each EDU's start.
    """
    if not doc.tokens:
        return Parse(doc)
    starts = [i for i, p in enumerate(probabilities) if p > threshold or i == 0]
    tokens = doc.tokens
    # Words that share one span (French "du") cannot be parted.
    starts = [i for i in starts if i == 0 or tokens[i].start >= tokens[i - 1].end]
    ends = [*starts[1:], len(tokens)]
    edus = tuple(
        Span(tokens[first].start, tokens[last - 1].end)
        for first, last in zip(starts, ends, strict=True)
    )
    scores = Scores(boundaries=tuple(float(probabilities[i]) for i in starts))
    return Parse(replace(doc, edus=edus), scores=scores)


def by_layout(doc: Document, probabilities: Sequence[float], threshold: float) -> list[float]:
    """Return the probabilities of starts at tokens; what the layout makes sure is 1 or 0."""
    offsets = np.array([token.start for token in doc.tokens], dtype=np.int64)
    settled = make_sure(np.array(probabilities, dtype=np.float64), offsets, doc.text, threshold)
    found: list[float] = settled.tolist()
    return found


def gold_starts(doc: Document) -> list[bool]:
    """Tell for each token whether an EDU of the document starts there."""
    starts = {edu.start for edu in doc.edus}
    return [token.start in starts for token in doc.tokens]
