"""Weighted joins -> the binary tree that has the most votes for its ranges (Goodman 1996).

Where `cky` takes a score for each of the O(n^3) joins of n units, this takes only those joins that
somebody voted for: samples of a model, or the members of an ensemble. There are a few for each
unit, so that all is linear in the number of units. A join is ``(start, split, end)``, as in `cky`;
a range's votes are the sum of those for its joins, however they split it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rhetorica.decode._arrays import Floats, Ints
from rhetorica.decode._lazy import Edges, LazyKBest

_NOBODY = -2


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

    ``ranges`` (r, 2), in the order of their starts and ends, and ``labels`` (r, labels) say how the
    votes for each range fall on labels.
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
        >>> votes.ranges.tolist(), votes.labels.tolist()
        ([[0, 3], [1, 3]], [[0.75], [1.0]])
        """
        starts, splits, ends = joins.T
        base = int(ends.max(initial=0)) + 1
        # Small ranges first, so that the parts of a join come before it.
        keys = ((ends - starts) * base + starts) * base + splits
        unique, place = np.unique(keys, return_inverse=True)
        rest, split = np.divmod(unique, base)
        size, start = np.divmod(rest, base)
        ranges, where = np.unique(starts * base + ends, return_inverse=True)
        sums = np.zeros((len(ranges), labels.shape[1]))
        np.add.at(sums, where, labels)
        return cls(
            np.stack([start, split, start + size], axis=1),
            np.bincount(place, labels.sum(axis=1), len(unique)).astype(np.float64),
            np.stack(np.divmod(ranges, base), axis=1),
            sums,
        )

    def labels_of(self, joins: Sequence[Chosen]) -> Floats:
        """Return the votes for each label of some joins: (joins, labels)."""
        place = {(start, end): row for row, (start, end) in enumerate(self.ranges.tolist())}
        rows = np.array([place.get((join.start, join.end), -1) for join in joins], dtype=np.int64)
        found = np.zeros((len(joins), self.labels.shape[1]))
        found[rows >= 0] = self.labels[rows[rows >= 0]]
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


def elect_kbest(
    n: int, votes: Votes, k: int, losses: Mapping[tuple[int, int], Sequence[float]] | None = None
) -> list[tuple[list[Chosen], list[int], float]]:
    """Return the k trees with the most votes for their ranges, best first; see `elect`.

    Each comes with its votes and, for each join, the number of a label. ``losses`` are what the
    second, third, ... label of a range costs; without them there is one label.

    >>> joins = np.array([[0, 1, 2], [1, 2, 3], [0, 1, 3], [0, 2, 3]])
    >>> found = elect_kbest(3, Votes.of(joins, np.array([[0.7], [0.3], [0.4], [0.6]])), 5)
    >>> [([join.split for join in chosen], round(votes, 3)) for chosen, _, votes in found]
    [([2, 1], 1.7), ([1, 2], 1.3)]
    """
    if n < 2:
        return [([], [], 0.0)]
    number: dict[tuple[int, int], int] = {}
    shares: list[float] = []
    splits: list[list[int]] = []
    for (start, split, end), count in zip(votes.joins.tolist(), votes.votes.tolist(), strict=True):
        at = number.setdefault((start, end), len(number))
        if at == len(shares):
            shares.append(0.0)
            splits.append([])
        shares[at] += count
        splits[at].append(split)
    ranges = list(number)
    best = np.full(len(ranges), -np.inf)

    def options(at: int) -> list[float]:
        return [0.0, *(-loss for loss in (losses or {}).get(ranges[at], ()))]

    def tails(at: int, split: int) -> tuple[int, ...]:
        start, end = ranges[at]
        parts = [part for part in ((start, split), (split, end)) if part[1] - part[0] > 1]
        return tuple(number.get(part, _NOBODY) for part in parts)

    def edges(at: int) -> Edges:
        # An edge is a split with a label. Splits into ranges without votes have no derivation.
        weights = [weight for _ in splits[at] for weight in options(at)]
        ways = [tails(at, split) for split in splits[at] for _ in options(at)]
        scores = []
        for weight, way in zip(weights, ways, strict=True):
            total = -np.inf if _NOBODY in way else weight
            for tail in way:
                total += float(best[tail])
            scores.append(total + shares[at])
        return Edges(np.array(scores), np.array(weights), lambda edge: ways[edge], shares[at])

    for at in range(len(ranges)):
        best[at] = edges(at).scores.max()
    top = number.get((0, n), _NOBODY)
    if top == _NOBODY or best[top] == -np.inf:
        raise ValueError(f"the joins that got votes make no tree over {n} units")
    found = LazyKBest(edges, k)
    answers = []
    for rank, derivation in enumerate(found.derivations(top)):
        rows = []
        for node, edge in found.walk(top, rank):
            split, label = divmod(edge, len(options(node)))
            (start, end), share = ranges[node], min(1.0, shares[node])
            rows.append((Chosen(start, splits[node][split], end, share), label))
        rows.sort(key=lambda row: (row[0].start, -row[0].end))
        answers.append(([join for join, _ in rows], [label for _, label in rows], derivation.score))
    return answers
