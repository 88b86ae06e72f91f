"""Search for the best sequences of actions: greedy, beam, k-best; sees only scores.

A `Scorer` is given a forest and some of its states, and returns a score for every action in every
state; actions that cannot be taken are left out here. Scores become log-probabilities (over the
actions that can be taken) and are summed along a sequence. All trees over n EDUs take 2n - 1
actions, so that the states of a beam can be compared at every step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.decode import beam
from rhetorica.errors import InvalidTree
from rhetorica.learn.links import log_softmax
from rhetorica.parsers.transition.system import BOTTOM, Actions, Forest, Ints
from rhetorica.trees import RSTTree

Floats = npt.NDArray[np.float64]
Scorer = Callable[[Forest, Ints], npt.NDArray[np.floating]]
"""From a forest and states to scores (states, actions)."""


class Found(NamedTuple):
    """A tree, its summed score, and the states (in the forest) and actions that led to it."""

    tree: RSTTree
    score: float
    states: Ints
    actions: Ints


def search(
    n_edus: int,
    actions: Actions,
    score: Scorer,
    *,
    width: int = 1,
    kbest: int = 1,
    normalize: bool = True,
    forest: Forest | None = None,
) -> list[Found]:
    """Return the ``kbest`` best trees that a beam of ``width`` states finds, best first.

    The beam is at least as wide as the list is long. Width 1 is greedy search. With ``normalize``
    a state's scores are taken for logarithms up to a constant (softmax over the valid actions);
    without, they are summed as they are. Equal scores: the earlier state, then the lower action,
    goes first. A ``forest`` may be passed to look at the states afterwards.

    >>> from rhetorica.trees import Label
    >>> def likes_shifting(forest, states):
    ...     return np.tile([1.0, 0.0], (len(states), 1))
    >>> best, second = search(3, Actions((Label("NS", "list"),)), likes_shifting, width=4, kbest=2)
    >>> best.tree.joins[0].split, second.tree.joins[0].split
    (1, 2)
    """
    if width < 1 or kbest < 1:
        raise InvalidTree(f"a beam of width {width} for the {kbest} best: both must be at least 1")
    width = max(width, kbest)
    forest = forest or Forest(n_edus, actions, width=width)
    scores = partial(_valid_scores, forest, score=score, normalize=normalize)
    steps = max(0, 2 * n_edus - 1)
    states, totals = beam(BOTTOM, steps, scores, forest.apply, width=width)
    return [
        Found(forest.tree(int(state)), float(total), *forest.path(int(state)))
        for state, total in zip(states[:kbest], totals[:kbest], strict=True)
    ]


def distributions(forest: Forest, states: Ints, score: Scorer) -> Floats:
    """Return the probability of every action in some states: (states, actions)."""
    return np.exp(_valid_scores(forest, states, score, True))


def _valid_scores(forest: Forest, states: Ints, score: Scorer, normalize: bool) -> Floats:
    scores = np.where(forest.valid(states), score(forest, states), -np.inf)
    return log_softmax(scores) if normalize else scores
