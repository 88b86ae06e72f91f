"""Minimum Bayes risk for shift-reduce parsers: the tree that most of a sample agrees with.

The most probable sequence of actions is not the best tree: high up in a text, where everything is
uncertain, a beam's sequences differ in their last few actions only. So sequences are drawn from the
model instead, as many as one likes, all at once. Every state on the way votes for the join that
reducing would make there, with the probability of reducing (the expected number of times that a
join is made; counting the joins that are made would be the same, but rougher). `decode.elect` finds
the tree with the most votes for its ranges.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from rhetorica.decode import Votes, elect
from rhetorica.errors import InvalidTree
from rhetorica.kernels import compiled
from rhetorica.parsers.transition.search import Scorer
from rhetorica.parsers.transition.system import BOTTOM, SHIFT, Actions, Forest, Ints, Item
from rhetorica.trees import Join

Floats = npt.NDArray[np.float64]

_NEGLIGIBLE = 0.02
"""States where reducing is less likely do not vote, unless a sequence reduces there."""


class Steps(Protocol):
    """Scores in two steps: of the moves in states, then of the labels in some of these states."""

    def moves(self, forest: Forest, states: Ints) -> npt.NDArray[np.floating]:
        """Return the log-odds of reducing, if one can do both: (states,)."""
        ...

    def labels(self, chosen: Ints) -> npt.NDArray[np.floating]:
        """Return scores (chosen, labels) for some of the states of the last `moves`, by place."""
        ...


class WholeSteps:
    """Takes scores of all actions at once for both steps."""

    def __init__(self, score: Scorer) -> None:
        self.score = score

    def moves(self, forest: Forest, states: Ints) -> npt.NDArray[np.floating]:
        """Return the log-odds of reducing, if one can do both: (states,)."""
        self._scores = np.asarray(self.score(forest, states), dtype=np.float64)
        most = self._scores[:, 1:].max(axis=1)
        whole = np.exp(self._scores[:, 1:] - most[:, None]).sum(axis=1)
        return np.asarray(most + np.log(whole) - self._scores[:, SHIFT])

    def labels(self, chosen: Ints) -> npt.NDArray[np.floating]:
        """Return scores (chosen, labels) for some of the states of the last `moves`, by place."""
        return np.asarray(self._scores[chosen, 1:])


def draw(
    n_edus: int, actions: Actions, steps: Steps, *, samples: int, seed: int = 0
) -> list[list[int]]:
    """Draw sequences of actions, each as probable as the model has it; equal ones come once."""
    forest = Forest(n_edus, actions, width=samples)
    vote(n_edus, actions, steps, samples=samples, seed=seed, forest=forest)
    made = forest.items[: forest.size]
    last = np.flatnonzero((made[:, Item.END] == n_edus) & (made[:, Item.DEPTH] == 1))
    return [forest.path(int(state))[1].tolist() for state in last]


def vote(
    n_edus: int,
    actions: Actions,
    steps: Steps,
    *,
    samples: int,
    seed: int = 0,
    forest: Forest | None = None,
) -> Votes:
    """Draw sequences of actions, and count votes for joins; the same seed gives the same votes.

    A ``forest`` may be passed to look at the states afterwards.
    """
    if samples < 1:
        raise InvalidTree(f"{samples} samples: at least 1 is needed to vote")
    forest = forest or Forest(n_edus, actions, width=samples)
    # Sequences that are in the same state share it until they part.
    states, member = np.array([BOTTOM]), np.zeros(samples, dtype=np.int64)
    chance = np.random.default_rng(seed).random((max(0, 2 * n_edus - 1), 2, samples))
    voters: list[Ints] = []
    labels: list[Floats] = []
    for moving, labelling in chance:
        tops = forest.items[states]
        reduce = _reduce_shares(forest, tops, steps.moves(forest, states))
        some = _voters(member, reduce, moving)
        shares = np.zeros((0, 0))
        if len(some):
            shares = _shares(steps.labels(some))
            weights = np.bincount(member, minlength=len(states))[some] * reduce[some] / samples
            voters.append(states[some])
            labels.append(shares * weights[:, None])
        rows, taken, member = _draw(member, reduce, some, shares, moving, labelling)
        states = forest.apply(states[rows], taken)
    return _count(forest, voters, labels)


class Elected(NamedTuple):
    """The joins of a tree, the actions that make them, and the votes for all: (joins, actions)."""

    joins: list[Join]
    actions: Ints
    shares: Floats


def elected(n_edus: int, actions: Actions, steps: Steps, *, samples: int, seed: int = 0) -> Elected:
    """Return the joins, in preorder, of the tree that most of a sample agrees with."""
    votes = vote(n_edus, actions, steps, samples=samples, seed=seed)
    found = elect(n_edus, votes)
    shares = np.pad(votes.labels_of(found), ((0, 0), (1, 0)))
    chosen = shares.argmax(axis=1)
    joins = [
        Join(join.start, join.split, join.end, *actions.label(action))
        for join, action in zip(found, chosen.tolist(), strict=True)
    ]
    return Elected(joins, chosen, shares)


def join_probabilities(actions: Actions, chosen: Ints, shares: Floats) -> list[list[float]]:
    """Return how probable joins are, their nuclearities given that, their relations given both.

    ``shares`` are the probabilities of all actions where the ``chosen`` ones made the joins.
    """
    kinds = actions.nuclearities()
    whole = np.maximum(shares[:, SHIFT + 1 :].sum(axis=1), 1e-30)
    alike = np.maximum(np.where(kinds == kinds[chosen][:, None], shares, 0).sum(axis=1), 1e-30)
    given = shares[np.arange(len(chosen)), chosen]
    return [np.minimum(part, 1.0).tolist() for part in (whole, alike / whole, given / alike)]


def _reduce_shares(forest: Forest, tops: Ints, odds: npt.NDArray[np.floating]) -> Floats:
    """Return the probability of reducing in each state."""
    shares = 0.5 * (1 + np.tanh(0.5 * odds.astype(np.float64)))
    shares[tops[:, Item.END] == forest.n_edus] = 1.0
    shares[tops[:, Item.DEPTH] < 2] = 0.0
    return np.asarray(shares)


def _voters(member: Ints, reduce: Floats, moving: Floats) -> Ints:
    """Return the states whose votes count: where reducing is likely, or is done."""
    likely = reduce > _NEGLIGIBLE
    likely[member[moving < reduce[member]]] = True
    return np.flatnonzero(likely)


def _shares(scores: npt.NDArray[np.floating]) -> Floats:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True)).astype(np.float64)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


@compiled
def _draw(
    member: Ints, reduce: Floats, some: Ints, shares: Floats, moving: Floats, labelling: Floats
) -> tuple[Ints, Ints, Ints]:
    """Draw an action for every sequence; return the states that follow and who is in which.

    A state that follows is given by the place of the state that it comes from and its action.
    """
    place = np.zeros(len(reduce), dtype=np.int64)
    for i in range(len(some)):
        place[some[i]] = i
    rows = np.empty(len(member), dtype=np.int64)
    actions = np.empty(len(member), dtype=np.int64)
    following = np.empty(len(member), dtype=np.int64)
    count = 0
    for sample in range(len(member)):
        here, action = member[sample], 0
        if moving[sample] < reduce[here]:
            left = labelling[sample]
            of = shares[place[here]]
            while action < len(of) and left >= 0:
                left -= of[action]
                action += 1
        at = 0
        while at < count and (rows[at] != here or actions[at] != action):
            at += 1
        if at == count:
            rows[at], actions[at] = here, action
            count += 1
        following[sample] = at
    return rows[:count], actions[:count], following


def _count(forest: Forest, voters: list[Ints], labels: list[Floats]) -> Votes:
    """Count the votes of states, each for the join that reducing would make there."""
    states = np.concatenate([np.zeros(0, dtype=np.int64), *voters])
    nothing = np.zeros((0, len(forest.actions) - 1))
    starts = forest.items[forest.items[states, Item.BELOW], Item.START]
    splits, ends = forest.items[states][:, [Item.START, Item.END]].T
    return Votes.of(np.stack([starts, splits, ends], axis=1), np.concatenate([nothing, *labels]))
