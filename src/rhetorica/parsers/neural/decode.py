"""Scores -> a labelled tree: minimum Bayes risk, exact for as many EDUs as a chart can hold.

Up to `EXACT` EDUs every binary tree is in the running: inside-outside gives the probability of each
range, and the tree with the most expected correct ranges is chosen (Goodman 1996). Longer documents
are parsed in stages: what is inside a paragraph (or a sentence, where the paragraph is too long),
then a tree over the paragraphs, where there are too many of them in blocks of `BLOCK`. Each stage
is exact, and scored by the same network; only trees that cross a stage's borders are out of reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from rhetorica.decode import cky_kbest, inside_outside, mbr_cky, pack_splits, split_block

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
    for places in _stages(np.arange(n_edus + 1), list(levels), exact):
        joins += _exact(places, score)
    return sorted(joins, key=lambda join: (join.start, -join.end))


def posteriors(
    n_edus: int,
    score: SplitScorer,
    levels: Sequence[Ints] = (),
    *,
    exact: int = EXACT,
    least: float = 0.01,
) -> list[ScoredJoin]:
    """Return the joins that have at least some probability, each with its own.

    They make at least one tree.
    """
    joins: list[ScoredJoin] = []
    for places in _stages(np.arange(n_edus + 1), list(levels), exact):
        joins += _likely(places, score, least)
    return joins


def _stages(places: Ints, levels: list[Ints], exact: int) -> Iterator[Ints]:
    """Yield the borders of the units that are joined in one chart, one chart after the other."""
    if len(places) - 1 <= exact:
        yield places
        return
    cuts, rest = _cuts(places, levels, exact)
    at = np.searchsorted(places, cuts)
    for first, last in pairwise(at.tolist()):
        yield from _stages(places[first : last + 1], rest, exact)
    yield from _stages(cuts, [], exact)


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


def _likely(places: Ints, score: SplitScorer, least: float) -> list[ScoredJoin]:
    n = len(places) - 1
    if n < 2:
        return []
    _, spans, packed = inside_outside(pack_splits(score(places)))
    # The joins of the best tree are among them, however unlikely each is.
    kept = {(i, k, j) for i, k, j in mbr_cky(spans).joins}
    for width in range(2, n + 1):
        for start, split in np.argwhere(split_block(packed, n, width) >= least).tolist():
            kept.add((start, start + 1 + split, start + width))
    found: list[ScoredJoin] = []
    for i, k, j in sorted(kept):
        share = float(split_block(packed, n, j - i)[i, k - i - 1])
        found.append(ScoredJoin(int(places[i]), int(places[k]), int(places[j]), share))
    return found


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
