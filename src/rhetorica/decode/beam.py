"""Scores of actions in states -> the best sequences of actions: greedy search and beams.

States are numbers, of which nothing more is known. ``score`` gives, for some states, a row of
scores over actions each, minus infinity for what cannot be done; ``apply`` takes actions in states
and gives the states that follow. Scores are summed along a sequence.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rhetorica.decode._arrays import Floats, Ints


def beam(
    start: int,
    steps: int,
    score: Callable[[Ints], NDArray[np.floating]],
    apply: Callable[[Ints, Ints], Ints],
    *,
    width: int,
) -> tuple[Ints, Floats]:
    """Return the best states after some steps, best first, and the sums of their scores.

    So many states go on after each step (one: greedy search); an endless width is exact. Equal
    sums: the earlier state, then the lower action, goes first.

    >>> def digits(states):  # write a number: an action is its next digit; 7 is forbidden
    ...     return np.tile(np.where(np.arange(10) == 7, -np.inf, np.arange(10.0)), (len(states), 1))
    >>> states, totals = beam(0, 2, digits, lambda states, actions: 10 * states + actions, width=3)
    >>> states.tolist(), totals.tolist()
    ([99, 98, 89], [18.0, 17.0, 17.0])
    """
    states, totals = np.array([start]), np.zeros(1)
    for _ in range(steps):
        sums = totals[:, None] + score(states)
        chosen = _highest(sums.reshape(-1), width)
        rows, actions = np.divmod(chosen, sums.shape[1])
        states, totals = apply(states[rows], actions), sums.reshape(-1)[chosen]
    return states, totals


def _highest(values: Floats, count: int) -> Ints:
    """Return the places of the highest finite values, best first, ties in order."""
    places = np.arange(len(values))
    if len(values) > count:
        # All that equal the last one must be kept until ties are broken by their order.
        least = np.partition(values, len(values) - count)[len(values) - count]
        places = np.flatnonzero(values >= least)
    places = places[np.argsort(-values[places], kind="stable")][:count]
    return np.asarray(places[np.isfinite(values[places])])
