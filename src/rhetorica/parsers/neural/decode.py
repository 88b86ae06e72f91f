"""Scores -> a labelled tree: minimum Bayes risk, exact for as many EDUs as a chart can hold.

Up to `EXACT` EDUs every binary tree is in the running: inside-outside gives the probability of each
range, and the tree with the most expected correct ranges is chosen (Goodman 1996). Longer documents
are parsed in stages: what is inside a paragraph (or a sentence, where the paragraph is too long),
then a tree over the paragraphs, where there are too many of them in blocks of `BLOCK`. Each stage
is exact, and scored by the same network; only trees that cross a stage's borders are out of reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from rhetorica.decode import cky_kbest, inside_outside, mbr_cky, pack_splits

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
SplitScorer: TypeAlias = Callable[[Ints], Floats]

EXACT = 256
BLOCK = 64


class ScoredJoin(NamedTuple):
    """A join of EDU ranges ``start:split`` and ``split:end``, and the probability of its range."""

    start: int
    split: int
    end: int
    probability: float


def decode(
    n_edus: int, score: SplitScorer, levels: Sequence[Ints] = (), *, exact: int = EXACT
) -> list[ScoredJoin]:
    """Return the joins of the best tree, in preorder.

    ``score(places)`` gives the scores of joins between places; ``levels`` are the EDUs at which
    larger units begin, largest first (paragraphs, then sentences).

    >>> right = lambda places: np.zeros((len(places),) * 3, np.float32)
    >>> [join[:3] for join in decode(2, right)]
    [(0, 1, 2)]
    """
    joins: list[ScoredJoin] = []
    _solve(np.arange(n_edus + 1), score, list(levels), exact, joins)
    return sorted(joins, key=lambda join: (join.start, -join.end))


def _solve(
    places: Ints, score: SplitScorer, levels: list[Ints], exact: int, joins: list[ScoredJoin]
) -> None:
    """Add the joins of the tree over the units between places."""
    if len(places) - 1 <= exact:
        joins += _exact(places, score)
        return
    cuts, rest = _cuts(places, levels, exact)
    at = np.searchsorted(places, cuts)
    for first, last in pairwise(at.tolist()):
        _solve(places[first : last + 1], score, rest, exact, joins)
    _solve(cuts, score, [], exact, joins)


def _cuts(places: Ints, levels: list[Ints], exact: int) -> tuple[Ints, list[Ints]]:
    """Return the places that bound the next larger units, and the levels left inside them."""
    for number, level in enumerate(levels):
        inner = np.intersect1d(level, places[1:-1])
        if len(inner):
            return np.concatenate([places[:1], inner, places[-1:]]), levels[number + 1 :]
    count = -(-(len(places) - 1) // min(BLOCK, exact))
    chosen = np.linspace(0, len(places) - 1, count + 1).round().astype(np.int64)
    return places[chosen], []


def _exact(places: Ints, score: SplitScorer) -> list[ScoredJoin]:
    if len(places) < 3:
        return []
    _, spans, _ = inside_outside(pack_splits(score(places)))
    return [
        ScoredJoin(int(places[i]), int(places[k]), int(places[j]), min(1.0, float(spans[i, j])))
        for i, k, j in mbr_cky(spans).joins
    ]


def decode_kbest(n_edus: int, score: SplitScorer, k: int) -> list[tuple[list[ScoredJoin], float]]:
    """Return the k most probable trees with their log probabilities, for at most `EXACT` EDUs."""
    if n_edus < 2 or n_edus > EXACT or k < 1:
        return []
    scores = pack_splits(score(np.arange(n_edus + 1)))
    partition, spans, _ = inside_outside(scores)
    return [
        (
            [ScoredJoin(*join, min(1.0, float(spans[join[0], join[2]]))) for join in tree.joins],
            tree.score - partition,
        )
        for tree in cky_kbest(scores, k)
    ]
