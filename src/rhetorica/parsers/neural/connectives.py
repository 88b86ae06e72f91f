"""Connectives at the seam of two units -> which relations to doubt.

A treebank of forty documents has some connectives only a few times, and the network then takes one
for another (所以 for 但是). What each of them can say is a fact of the language: relations of other
classes than those lose most of their probability.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from rhetorica.document import Document
from rhetorica.languages import language_of
from rhetorica.trees import Label

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

_SHARE = np.float32(np.exp(-2.0))
"""What is left of a doubtful label. On GCDT dev, any of e^-0.5 to e^-3 helps, by much the same."""
_ALWAYS = "same-unit"


class Connectives:
    """The connectives that a document's EDUs begin with."""

    def __init__(self, doc: Document, labels: Sequence[Label]) -> None:
        found = language_of(doc).connectives
        classes = np.array([label.relation.partition("-")[0] for label in labels])
        names = np.array([label.relation for label in labels])
        self._doubtful: dict[int, Bools] = {}
        for number, edu in enumerate(doc.edus if found else ()):
            if said := _first(doc.text[edu.start : edu.end], found):
                self._doubtful[number] = ~(np.isin(classes, found[said]) | (names == _ALWAYS))

    def weigh(self, p: Floats, joins: Sequence[Sequence[float]]) -> Floats:
        """Return label probabilities (joins, labels) with what the connectives say.

        A join (start, split, end, ...) is looked at where its second part begins.
        """
        rows = [row for row, join in enumerate(joins) if int(join[1]) in self._doubtful]
        if not rows:
            return p
        p = p.copy()
        doubtful = np.array([self._doubtful[int(joins[row][1])] for row in rows])
        part = np.where(doubtful, p[rows] * _SHARE, p[rows])
        p[rows] = part / part.sum(axis=1, keepdims=True)
        return p


def _first(text: str, known: Collection[str]) -> str:
    """Return the connective that a text begins with, the longest first; marks may be before it."""
    start = 0
    while start < len(text) and not text[start].isalnum():
        start += 1
    longest = max(map(len, known))
    for length in range(longest, 0, -1):
        if text[start : start + length] in known:
            return text[start : start + length]
    return ""
