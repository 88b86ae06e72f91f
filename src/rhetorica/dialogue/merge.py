"""States -> steps of the flow: states that are only wordings of one thing are taken together.

A state of these models is a bag of words, so that a step which is worded in several ways ("say a
route", "which bus do you take") is best told by several states; they come after the same states and
lead to the same states. States are merged, two at a time, as long as that makes their sequences
more probable: before, each state has a distribution of its own over what follows; after, the group
has one, and each of its turns chooses a wording whatever came before. All distributions are
integrated out under their Dirichlet priors, as in the models themselves, so that few observations
speak for the simpler flow (Stolcke & Omohundro's (1994) Bayesian merging, with states for symbols).
This is not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhetorica.errors import RhetoricaError
from rhetorica.kernels import compiled

Groups = tuple[tuple[int, ...], ...]


class Merge(NamedTuple):
    """That the group of one state joins that of another, and how much log probability it brings."""

    into: int
    joins: int
    gain: float


def count_transitions(
    states: Sequence[int] | NDArray[np.int32],
    dialogues: Sequence[int] | NDArray[np.int32],
    size: int,
) -> NDArray[np.int64]:
    """Count what follows what; number ``size`` is the outside, where dialogues begin and end.

    >>> count_transitions([0, 1, 1], [0, 2, 3], 2).tolist()
    [[0, 1, 0], [0, 0, 2], [1, 1, 0]]
    """
    padded = np.insert(np.asarray(states, np.int64), np.asarray(dialogues), size)
    counts = np.zeros((size + 1, size + 1), np.int64)
    np.add.at(counts, (padded[:-1], padded[1:]), 1)
    return counts


def merges(transitions: NDArray[np.int64], prior: float) -> tuple[Merge, ...]:
    """Return in which order states join, the most gainful first, until one group is left.

    ``transitions`` is as `count_transitions` gives it, ``prior`` that of transitions. States that
    never occur are left out.
    """
    total = int(transitions.sum())
    logs = np.array([math.lgamma(n + prior) for n in range(total + 1)]) - math.lgamma(prior)
    size = len(transitions) - 1
    order = np.zeros((max(0, size - 1), 2), np.int64)
    gains = np.zeros(max(0, size - 1))
    found = _merges(transitions.astype(np.int64), logs, prior, order, gains)
    return tuple(
        Merge(int(into), int(joins), float(gain))
        for (into, joins), gain in zip(order[:found], gains[:found], strict=True)
    )


def groups_after(states: Iterable[int], order: Sequence[Merge], count: int | None = None) -> Groups:
    """Return the groups of states after merging down to so many, or while it is a gain.

    The first state of a group is the one that all others joined.

    >>> groups_after([0, 1, 2], [Merge(2, 0, 3.0), Merge(2, 1, -1.0)])
    ((1,), (2, 0))
    """
    groups = {state: [state] for state in states}
    if len(order) < len(groups) - 1:
        raise RhetoricaError("which states belong together is not known: fit the model again")
    if count is not None and count < 1:
        raise RhetoricaError(f"states can be merged into 1 group or more, not {count}")
    # The best place to stop may lie behind a merge that, taken alone, is a loss.
    sums = np.cumsum([0.0, *(merge.gain for merge in order)])
    stop = int(sums.argmax()) if count is None else max(0, len(groups) - count)
    for merge in order[:stop]:
        groups[merge.into] += groups.pop(merge.joins)
    return tuple(tuple(group) for group in groups.values())


@compiled
def _merges(
    counts: NDArray[np.int64],
    logs: NDArray[np.float64],
    prior: float,
    order: NDArray[np.int64],
    gains: NDArray[np.float64],
) -> int:
    """Merge the best two groups again and again; return how often.

    ``logs[n]`` is log Gamma(n + prior) - log Gamma(prior): what a cell with n counts adds.
    """
    outside = len(counts) - 1
    totals = counts.sum(axis=1)
    alive = [s for s in range(outside) if totals[s] > 0]
    wordings = np.ones(outside)
    found = 0
    while len(alive) > 1:
        # A state leads to the others or outside, the outside to states only.
        cells, fewer = (len(alive) + 1) * prior, len(alive) * prior
        rooms = (
            len(alive) * (math.lgamma(fewer) - math.lgamma(cells))
            + math.lgamma(fewer - prior)
            - math.lgamma(fewer)
        )
        rooms += math.lgamma(fewer + totals[outside]) - math.lgamma(fewer - prior + totals[outside])
        shift = np.zeros(outside)
        for s in alive:
            shift[s] = math.lgamma(cells + totals[s]) - math.lgamma(fewer + totals[s])
            rooms += shift[s]
        best, first, second = -np.inf, -1, -1
        for at in range(len(alive)):
            a = alive[at]
            for b in alive[at + 1 :]:
                gain = rooms - shift[a] - shift[b] - math.lgamma(fewer)
                gain += math.lgamma(cells + totals[a]) + math.lgamma(cells + totals[b])
                gain -= math.lgamma(fewer + totals[a] + totals[b])
                for s in alive:
                    if s != a and s != b:
                        gain += logs[counts[s, a] + counts[s, b]]
                        gain -= logs[counts[s, a]] + logs[counts[s, b]]
                        gain += logs[counts[a, s] + counts[b, s]]
                    gain -= logs[counts[a, s]] + logs[counts[b, s]]
                gain += logs[counts[outside, a] + counts[outside, b]]
                gain -= logs[counts[outside, a]] + logs[counts[outside, b]]
                gain += logs[counts[a, outside] + counts[b, outside]]
                gain -= logs[counts[a, outside]] + logs[counts[b, outside]]
                gain += logs[counts[a, a] + counts[a, b] + counts[b, a] + counts[b, b]]
                # Which wording: uniform over all shares.
                both = wordings[a] + wordings[b]
                gain += math.lgamma(both) - math.lgamma(both + totals[a] + totals[b])
                gain -= math.lgamma(wordings[a]) - math.lgamma(wordings[a] + totals[a])
                gain -= math.lgamma(wordings[b]) - math.lgamma(wordings[b] + totals[b])
                if gain > best:
                    best, first, second = gain, a, b
        if totals[second] > totals[first]:
            first, second = second, first
        counts[first] += counts[second]
        counts[:, first] += counts[:, second]
        counts[second] = 0
        counts[:, second] = 0
        totals[first] += totals[second]
        wordings[first] += wordings[second]
        alive.remove(second)
        order[found, 0], order[found, 1] = first, second
        gains[found] = best
        found += 1
    return found
