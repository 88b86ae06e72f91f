"""Scores -> a labelled tree: minimum Bayes risk, exact for as many EDUs as a chart can hold.

Up to `EXACT` EDUs every binary tree is in the running: inside-outside gives the probability of each
join, and the tree is chosen whose labelled ranges are expected to be right most often (Goodman
1996). What a range is called is a matter of all ways to split it, each as much as it is probable;
where it would have the name of one of its parts, of the one in the tree (`told_apart`).

Longer documents are parsed in stages: what is inside a paragraph (or a sentence, where the
paragraph is too long), then a tree over the paragraphs, where there are too many of them in blocks
of `BLOCK`. Each stage is exact, and scored by the same network; only trees that cross a stage's
borders are out of reach.
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
Bools = npt.NDArray[np.bool_]
SplitScorer: TypeAlias = Callable[[Ints], Floats]
Labeller: TypeAlias = Callable[[Ints], Floats]
"""Joins, rows (start, split, end) -> the probabilities of their labels, (joins, labels)."""
Labels: TypeAlias = dict[tuple[int, int], Floats]
"""The probabilities of labels by range (start, end)."""

EXACT = 256
BLOCK = 64
LEAST = 0.01
"""Joins less probable than this have no say in what a range is called."""
SMALLEST = 1e-6
GAIN = 0.25
"""How much a sure label speaks for a range (docs/neural.md has the figures)."""


class ScoredJoin(NamedTuple):
    """A join of EDU ranges ``start:split`` and ``split:end``, and the probability of its range."""

    start: int
    split: int
    end: int
    probability: float


def decode(
    n_edus: int,
    score: SplitScorer,
    label: Labeller,
    class_of: Ints,
    levels: Sequence[Ints] = (),
    *,
    exact: int = EXACT,
) -> tuple[list[ScoredJoin], Labels]:
    """Return the joins of the best tree, in preorder, and the labels of all likely ranges.

    ``score(places)`` gives the scores of joins between places; ``label`` the probabilities of
    labels, whose classes are ``class_of``; ``levels`` are the EDUs at which larger units begin,
    largest first (paragraphs, then sentences).

    >>> even = lambda places: np.zeros((len(places),) * 3, np.float32)
    >>> sure = lambda joins: np.ones((len(joins), 1), np.float32)
    >>> [join[:3] for join in decode(2, even, sure, np.zeros(1, np.int64))[0]]
    [(0, 1, 2)]
    """
    by_class = np.eye(int(class_of.max()) + 1, dtype=np.float32)[class_of]
    joins: list[ScoredJoin] = []
    known: Labels = {}
    for places in _stages(np.arange(n_edus + 1), list(levels), exact):
        spans, found = _likely(places, score)
        if not found:
            continue
        ranges, labels = label_ranges(found, label)
        start, end = np.searchsorted(places, ranges).T
        # Of a range that is not likely nobody knows the label; there are trees without any.
        weights = np.full_like(spans, -len(places))
        weights[start, end] = spans[start, end] * (labels @ by_class).max(axis=1) ** GAIN
        best = np.array(mbr_cky(weights).joins)
        known |= zip(map(tuple, ranges.tolist()), labels, strict=True)
        sure = np.minimum(spans[best[:, 0], best[:, 2]], 1.0).tolist()
        for (i, k, j), share in zip(places[best].tolist(), sure, strict=True):
            joins.append(ScoredJoin(i, k, j, share))
    return sorted(joins, key=lambda join: (join.start, -join.end)), known


def label_ranges(found: Sequence[ScoredJoin], label: Labeller) -> tuple[Ints, Floats]:
    """Return the ranges (start, end) of joins, each once, and the probabilities of their labels.

    All ways to split a range say together what it is called, each as much as it is probable.
    """
    joins = np.array([join[:3] for join in found], dtype=np.int64)
    shares = np.array([[join.probability] for join in found], dtype=np.float32)
    ranges, owner = np.unique(joins[:, ::2], axis=0, return_inverse=True)
    owner = owner.reshape(-1)  # some versions of numpy give a column
    order = np.argsort(owner, kind="stable")
    firsts = np.flatnonzero(np.diff(owner[order], prepend=-1))
    labels: Floats = np.add.reduceat((shares * label(joins))[order], firsts, axis=0)
    return ranges, labels / labels.sum(axis=1, keepdims=True)


def best_labels(labels: Floats, class_of: Ints) -> Ints:
    """Return the label of each row: of the most probable class, the most probable.

    >>> best_labels(np.array([[0.4, 0.3, 0.3]], np.float32), np.array([0, 1, 1])).tolist()
    [1]
    """
    by_class = np.eye(int(class_of.max()) + 1, dtype=np.float32)[class_of]
    inside = class_of == (labels @ by_class).argmax(axis=1)[:, None]
    best: Ints = np.where(inside, labels, -1.0).argmax(axis=1)
    return best


def told_apart(
    joins: Sequence[ScoredJoin], labels: Labels, label: Labeller, class_of: Ints, chains: Bools
) -> Labels:
    """Return the labels of ranges, those anew that repeat the label of one of their parts.

    All ways to split "if it rains, stay, and read" say together that it is a condition. Split after
    "stay", its first part is one, too, and the same condition would be told twice: so the split in
    the tree says alone what the whole is. Labels in ``chains`` may repeat: a list of three is a
    list of one item and of a list of two.
    """
    rows = np.array([labels[join.start, join.end] for join in joins])
    names = best_labels(rows, class_of)
    named = {(join.start, join.end): name for join, name in zip(joins, names.tolist(), strict=True)}
    repeated = [
        join[:3]
        for join, name in zip(joins, names.tolist(), strict=True)
        if not chains[name] and name in (named.get(join[:2]), named.get((join.split, join.end)))
    ]
    if not repeated:
        return labels
    again = label(np.array(repeated))
    return labels | {(i, j): row for (i, _, j), row in zip(repeated, again, strict=True)}


def posteriors(
    n_edus: int, score: SplitScorer, levels: Sequence[Ints] = (), *, exact: int = EXACT
) -> list[ScoredJoin]:
    """Return the joins that have at least some probability, each with its own.

    They make at least one tree.
    """
    joins: list[ScoredJoin] = []
    for places in _stages(np.arange(n_edus + 1), list(levels), exact):
        joins += _likely(places, score)[1]
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


def _likely(places: Ints, score: SplitScorer) -> tuple[npt.NDArray[np.float64], list[ScoredJoin]]:
    """Return the probabilities of all ranges, and the joins that have at least some."""
    n = len(places) - 1
    if n < 2:
        return np.zeros((n + 1, n + 1)), []
    _, spans, packed = inside_outside(pack_splits(score(places)))
    # The joins of the tree with the most expected ranges are among them, however unlikely each is.
    kept = {(i, k, j) for i, k, j in mbr_cky(spans).joins}
    for width in range(2, n + 1):
        for start, split in np.argwhere(split_block(packed, n, width) >= LEAST).tolist():
            kept.add((start, start + 1 + split, start + width))
    found: list[ScoredJoin] = []
    for i, k, j in sorted(kept):
        share = float(split_block(packed, n, j - i)[i, k - i - 1])
        share = max(share, SMALLEST)  # whatever rounding leaves of it
        found.append(ScoredJoin(int(places[i]), int(places[k]), int(places[j]), share))
    return spans, found


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
