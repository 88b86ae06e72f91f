"""A conditional random field over rows of items whose neighbours are never both chosen.

It is the two-layer dynamic CRF of Joty, Carenini & Ng (2015, equations 1 to 4). At each place of a
row stands an item; its state is label 0 ("not chosen") or one of the others. No two neighbours are
both chosen. The general model needs O(T M^2) for T places and M labels. Here, next to a chosen
place stand two that are not, so that a place's labels can be summed before the chain is walked.
What remains is a chain of two states: O(T M) in all, and the only vectors of M are the scores of
single items, which many rows share.

An item's scores are three rows: as the place itself, and what it adds to the place after it and to
the one before it (context). Chain weights are ``enter[r]`` (from label 0 to r), ``leave[r]`` (from
r to label 0) and ``enter[0]``, between two that are not chosen; ``leave[0]`` is unused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.kernels import compiled, part
from rhetorica.learn.lbfgs import Progress, minimise

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Sequences(NamedTuple):
    """Rows of items: row s is ``items[offsets[s]:offsets[s + 1]]``.

    ``reads`` marks, for every item, the one place where its probability is read.
    """

    offsets: Ints
    items: Ints
    reads: Bools

    @classmethod
    def joined(cls, parts: Sequence[tuple[Sequences, int]]) -> Sequences:
        """Put rows together; each part comes with how many items it has, to go on counting."""
        offsets = [np.zeros(1, np.int64)]
        items, reads = [np.zeros(0, np.int64)], [np.zeros(0, np.bool_)]
        places = numbers = 0
        for found, count in parts:
            offsets.append(found.offsets[1:] + places)
            items.append(found.items + numbers)
            reads.append(found.reads)
            places += len(found.items)
            numbers += count
        return cls(np.concatenate(offsets), np.concatenate(items), np.concatenate(reads))


class Potentials(NamedTuple):
    """The scores of items (items x labels) as places, before and after others; the chain's."""

    own: Floats
    before: Floats
    after: Floats
    enter: Floats
    leave: Floats


def log_marginals(potentials: Potentials, sequences: Sequences) -> Floats:
    """Return the log probabilities of all items' labels, each read in its own row."""
    return np.asarray(_marginals(*potentials, *sequences))


def loss_and_gradient(
    potentials: Potentials, sequences: Sequences, gold: Ints
) -> tuple[float, Potentials]:
    """Return the negative log-likelihood of gold labels of items, and its gradient.

    Every place of every row counts (section 4.1.2); a label holds wherever its item occurs.
    """
    loss, *gradient = _gradient(*potentials, sequences.offsets, sequences.items, gold)
    return float(loss), Potentials(*gradient)


class ChainWeights:
    """The weights of the model in one vector, for L-BFGS.

    ``own`` (features x labels), ``before`` and ``after`` (context features x labels), the chain's
    ``enter`` and ``leave``.
    """

    def __init__(self, features: int, context: int, labels: int) -> None:
        self.shapes = [
            (features, labels),
            (context, labels),
            (context, labels),
            (labels,),
            (labels,),
        ]
        self.ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return int(self.ends[-1])

    def split(self, point: Floats) -> list[Floats]:
        """View the vector as tables."""
        parts = np.split(point, self.ends[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]


def chain_loss(
    point: Floats,
    matrix: Any,
    context: Any,
    sequences: Sequences,
    gold: Ints,
    labels: int,
    l2: float,
) -> tuple[float, Floats]:
    """Return the regularised loss at a point, and its slope.

    ``matrix`` and ``context`` are sparse: the features of items, and those that neighbours see.
    """
    layout = ChainWeights(matrix.shape[1], context.shape[1], labels)
    own, before, after, enter, leave = layout.split(point)

    def score(features: Any, weights: Floats) -> Floats:
        return np.asarray(features @ weights.astype(np.float32), np.float64)

    potentials = Potentials(
        score(matrix, own), score(context, before), score(context, after), enter, leave
    )
    loss, slopes = loss_and_gradient(potentials, sequences, gold)
    gradient = np.concatenate(
        [
            np.asarray(features.T @ slope.astype(np.float32), np.float64).reshape(-1)
            for features, slope in zip((matrix, context, context), slopes[:3], strict=True)
        ]
        + [slopes.enter, slopes.leave]
    )
    return loss + l2 * float(point @ point), gradient + 2 * l2 * point


def fit_chain(
    matrix: Any,
    context: Any,
    sequences: Sequences,
    gold: Ints,
    labels: int,
    *,
    l2: float,
    iterations: int,
    progress: Progress | None = None,
) -> list[npt.NDArray[np.float32]]:
    """Learn the tables of weights: own, before, after, enter, leave."""
    layout = ChainWeights(matrix.shape[1], context.shape[1], labels)

    def objective(point: Floats) -> tuple[float, Floats]:
        return chain_loss(point, matrix, context, sequences, gold, labels, l2)

    found = minimise(objective, np.zeros(layout.size), iterations=iterations, progress=progress)
    return [table.astype(np.float32) for table in layout.split(found)]


@part
def _longest(offsets: Ints) -> int:
    longest = 1
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    return longest


@part
def _walk(
    own: Floats,
    before: Floats,
    after: Floats,
    enter: Floats,
    leave: Floats,
    row: Ints,
    scores: Floats,
    ones: Floats,
    forward: Floats,
    backward: Floats,
) -> float:
    """Score the labels of a row's places, walk the chain both ways, return log Z.

    As both neighbours of a chosen place are not chosen, its chain weights are known: they are in
    ``scores`` (places x labels). ``ones`` are the log sums over labels but 0; ``forward`` and
    ``backward`` (places x 2) those of the chain's parts.
    """
    n, labels = len(row), own.shape[1]
    for t in range(n):
        top = -np.inf
        for c in range(labels):
            value = own[row[t], c]
            if t > 0:
                value += before[row[t - 1], c]
                if c > 0:
                    value += enter[c]
            if t + 1 < n:
                value += after[row[t + 1], c]
                if c > 0:
                    value += leave[c]
            scores[t, c] = value
            if c > 0 and value > top:
                top = value
        total = 0.0
        for c in range(1, labels):
            total += np.exp(scores[t, c] - top)
        ones[t] = top + np.log(total)
    forward[0, 0], forward[0, 1] = scores[0, 0], ones[0]
    for t in range(1, n):
        forward[t, 0] = scores[t, 0] + np.logaddexp(forward[t - 1, 0] + enter[0], forward[t - 1, 1])
        forward[t, 1] = ones[t] + forward[t - 1, 0]
    backward[n - 1, 0] = backward[n - 1, 1] = 0.0
    for back in range(1, n):
        t = n - 1 - back
        rest = backward[t + 1, 0] + scores[t + 1, 0]
        backward[t, 0] = np.logaddexp(rest + enter[0], backward[t + 1, 1] + ones[t + 1])
        backward[t, 1] = rest
    return np.logaddexp(forward[n - 1, 0], forward[n - 1, 1])  # type: ignore[no-any-return]


@compiled
def _marginals(
    own: Floats,
    before: Floats,
    after: Floats,
    enter: Floats,
    leave: Floats,
    offsets: Ints,
    items: Ints,
    reads: Bools,
) -> Floats:
    """Return the log marginals of each item where it is read."""
    longest, labels = _longest(offsets), own.shape[1]
    result = np.zeros_like(own)
    scores, ones = np.empty((longest, labels)), np.empty(longest)
    forward, backward = np.empty((longest, 2)), np.empty((longest, 2))
    for s in range(len(offsets) - 1):
        row, read = items[offsets[s] : offsets[s + 1]], reads[offsets[s] : offsets[s + 1]]
        whole = _walk(own, before, after, enter, leave, row, scores, ones, forward, backward)
        for t in range(len(row)):
            if read[t]:
                result[row[t], 0] = forward[t, 0] + backward[t, 0] - whole
                chosen = forward[t, 1] + backward[t, 1] - whole - ones[t]
                for c in range(1, labels):
                    result[row[t], c] = scores[t, c] + chosen
    return result


@compiled
def _gradient(
    own: Floats,
    before: Floats,
    after: Floats,
    enter: Floats,
    leave: Floats,
    offsets: Ints,
    items: Ints,
    gold: Ints,
) -> tuple[Any, ...]:
    """Return the loss, and its slope in each table."""
    longest, labels = _longest(offsets), own.shape[1]
    own_slope, before_slope = np.zeros_like(own), np.zeros_like(before)
    after_slope = np.zeros_like(after)
    enter_slope, leave_slope = np.zeros_like(enter), np.zeros_like(leave)
    scores, ones = np.empty((longest, labels)), np.empty(longest)
    forward, backward = np.empty((longest, 2)), np.empty((longest, 2))
    loss = 0.0
    for s in range(len(offsets) - 1):
        row = items[offsets[s] : offsets[s + 1]]
        whole = _walk(own, before, after, enter, leave, row, scores, ones, forward, backward)
        loss += whole
        for t in range(len(row)):
            label = gold[row[t]]
            loss -= scores[t, label]
            if t > 0:
                pair = np.exp(forward[t - 1, 0] + enter[0] + scores[t, 0] + backward[t, 0] - whole)
                if label == 0 and gold[row[t - 1]] == 0:
                    loss -= enter[0]
                    pair -= 1.0
                enter_slope[0] += pair
            chosen = forward[t, 1] + backward[t, 1] - whole - ones[t]
            for c in range(labels):
                if c == 0:
                    slope = np.exp(forward[t, 0] + backward[t, 0] - whole)
                else:
                    slope = np.exp(scores[t, c] + chosen)
                if c == label:
                    slope -= 1.0
                own_slope[row[t], c] += slope
                if t > 0:
                    before_slope[row[t - 1], c] += slope
                    if c > 0:
                        enter_slope[c] += slope
                if t + 1 < len(row):
                    after_slope[row[t + 1], c] += slope
                    if c > 0:
                        leave_slope[c] += slope
    return loss, own_slope, before_slope, after_slope, enter_slope, leave_slope
