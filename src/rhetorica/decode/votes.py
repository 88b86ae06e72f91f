"""Weighted joins -> the binary tree that has the most votes for its ranges (Goodman 1996).

Where `cky` takes a score for each of the O(n^3) joins of n units, this takes only those joins that
somebody voted for: samples of a model, or the members of an ensemble. There are a few for each
unit, so that all is linear in the number of units. A join is ``(start, split, end)``, as in `cky`;
a range's votes are the sum of those for its joins, however they split it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rhetorica.decode._arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Chosen:
    """A join of the tree that was chosen, and the share of votes for its range."""

    start: int
    split: int
    end: int
    share: float


@dataclass(frozen=True, slots=True)
class Votes:
    """Joins (k, 3: start, split, end) in the order of their size, and the votes for each.

    ``ranges`` (r, 2) and ``labels`` (r, labels) say how the votes for ranges fall on labels; a
    range may be there several times.
    """

    joins: Ints
    votes: Floats
    ranges: Ints
    labels: Floats

    @classmethod
    def of(cls, joins: Ints, labels: Floats) -> Votes:
        """Count votes (votes, labels) for joins (votes, 3), of which some may be equal.

        >>> joins = np.array([[0, 1, 3], [1, 2, 3], [0, 1, 3]])
        >>> votes = Votes.of(joins, np.array([[0.5], [1.0], [0.25]]))
        >>> votes.joins.tolist(), votes.votes.tolist()
        ([[1, 2, 3], [0, 1, 3]], [1.0, 0.75])
        """
        starts, splits, ends = joins.T
        base = int(ends.max(initial=0)) + 1
        # Small ranges first, so that the parts of a join come before it.
        keys = ((ends - starts) * base + starts) * base + splits
        unique, place = np.unique(keys, return_inverse=True)
        rest, split = np.divmod(unique, base)
        size, start = np.divmod(rest, base)
        return cls(
            np.stack([start, split, start + size], axis=1),
            np.bincount(place, labels.sum(axis=1), len(unique)).astype(np.float64),
            np.stack([starts, ends], axis=1),
            labels,
        )

    def labels_of(self, joins: Sequence[Chosen]) -> Floats:
        """Return the votes for each label of some joins: (joins, labels)."""
        place = {(join.start, join.end): i for i, join in enumerate(joins)}
        found = np.zeros((len(joins), self.labels.shape[1]))
        rows = [place.get((start, end), -1) for start, end in self.ranges.tolist()]
        known = np.array(rows, dtype=np.int64) >= 0
        np.add.at(found, np.array(rows, dtype=np.int64)[known], self.labels[known])
        return found


def elect(n: int, votes: Votes) -> list[Chosen]:
    """Return the joins of the tree over n units whose ranges have the most votes, in preorder.

    Among equally good trees the choice is arbitrary but always the same.

    >>> joins = np.array([[0, 1, 2], [1, 2, 3], [0, 1, 3], [0, 2, 3]])
    >>> chosen = elect(3, Votes.of(joins, np.array([[0.7], [0.3], [0.4], [0.6]])))
    >>> [(join.start, join.split, join.share) for join in chosen]
    [(0, 2, 1.0), (0, 1, 0.7)]
    """
    shares: dict[tuple[int, int], float] = {}
    splits: dict[tuple[int, int], list[int]] = {}
    for (start, split, end), count in zip(votes.joins.tolist(), votes.votes.tolist(), strict=True):
        shares[start, end] = shares.get((start, end), 0.0) + count
        splits.setdefault((start, end), []).append(split)
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for (start, end), share in shares.items():
        most = (-1.0, 0)
        for split in splits[start, end]:
            total = 0.0
            if split - start > 1:
                total += best[start, split][0] if (start, split) in best else -np.inf
            if end - split > 1:
                total += best[split, end][0] if (split, end) in best else -np.inf
            if total > most[0]:
                most = (total, split)
        if most[1]:
            best[start, end] = (share + most[0], most[1])
    if n > 1 and (0, n) not in best:
        raise ValueError(f"the joins that got votes make no tree over {n} units")
    chosen: list[Chosen] = []
    todo = [(0, n)] if n > 1 else []
    while todo:
        start, end = todo.pop()
        split = best[start, end][1]
        chosen.append(Chosen(start, split, end, min(1.0, shares[start, end])))
        todo += [part for part in ((split, end), (start, split)) if part[1] - part[0] > 1]
    return chosen
