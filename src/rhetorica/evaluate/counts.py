"""Counts that add up: what every metric returns for one document, and what a score divides once.

A corpus score is the quotient of summed counts (micro average), never the mean of quotients; the
same per-document counts feed the significance tests. Next to each score stands its signature: all
that one must know to compare the figure with another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from rhetorica.version import __version__

Labels: TypeAlias = Callable[[str], str]
"""A map of relation names, fine to coarse."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many units were found of how many: ``correct`` of ``gold`` ones and of ``pred`` ones.

    Where there is nothing to find and nothing was found, the quotients are not a number: such a
    document says nothing about a system.

    >>> both = Counts(3, 4, 5) + Counts(1, 1, 1)
    >>> both, both.recall
    (Counts(correct=4, gold=5, pred=6), 0.8)
    """

    correct: int = 0
    gold: int = 0
    pred: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.correct + other.correct, self.gold + other.gold, self.pred + other.pred)

    @property
    def precision(self) -> float:
        """The share of predicted units that are right; 0 where none was predicted."""
        return self._share(self.correct, self.pred)

    @property
    def recall(self) -> float:
        """The share of gold units that were found; 0 where there are none."""
        return self._share(self.correct, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return self._share(2 * self.correct, self.gold + self.pred)

    def _share(self, part: int, whole: int) -> float:
        if not self.gold and not self.pred:
            return math.nan
        return part / whole if whole else 0.0


NOTHING = Counts()
"""Where sums start."""


def signature(metric: str, variant: str, **fields: str) -> str:
    """Return the settings behind a score in one line; fields that are empty are left out.

    >>> signature("parseval", "original", labels="as-is", edus="gold").rpartition("|")[0]
    'parseval:original|labels:as-is|edus:gold'
    """
    parts = {metric: variant, **fields}
    named = [f"{name.replace('_', '-')}:{value}" for name, value in parts.items() if value]
    return "|".join([*named, f"v{__version__}"])
