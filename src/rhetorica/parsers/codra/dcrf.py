"""The two-layer dynamic CRF over a sequence of units (equations 1 to 4), with exact inference.

Between two adjacent units of a sequence stand a structure node S (joined or not) and a relation
node R. A state (R, S) is either "not joined", (no relation, 0), or (r, 1): the training data has no
other, so the link factor of all others is zero. Nor can two neighbours both be joined, as a unit
has one mother (section 4.1.1): the structure factor of (1, 1) is zero.

These two zeros make exact inference cheap. The general model needs O(T M^2) for T places and M
relations; here, next to a joined place stand two that are not, so the relation chain's factors of r
are those with "no relation" on either side, and a place's relations can be summed before the
chain is walked. What remains is a chain of two states: O(T M) in all, and the only vectors of M
are the scores of single joins, which many sequences share.

Label 0 is "not joined". A join's scores are three rows: as the place itself, and what it adds to
the place after it and to the one before it (contextual features). Chain weights are ``enter[r]``
(from not joined to r), ``leave[r]`` (from r to not joined) and ``enter[0]``, between two that are
not joined; ``leave[0]`` is unused.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.kernels import kernel
from rhetorica.parsers.codra.units import Sequences

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Potentials(NamedTuple):
    """The scores of joins (joins x labels) as places, before and after others; the chain's."""

    own: Floats
    before: Floats
    after: Floats
    enter: Floats
    leave: Floats


def log_marginals(potentials: Potentials, sequences: Sequences) -> Floats:
    """Return log P(R, S) of all joins (joins x labels), each read in its own sequence."""
    return np.asarray(_marginals(*potentials, *sequences))


def loss_and_gradient(
    potentials: Potentials, sequences: Sequences, gold: Ints
) -> tuple[float, Potentials]:
    """Return the negative log-likelihood of gold labels of joins, and its gradient.

    Every place of every sequence counts (section 4.1.2); a label holds wherever its join occurs.
    """
    loss, *gradient = _gradient(*potentials, sequences.offsets, sequences.joins, gold)
    return float(loss), Potentials(*gradient)


def sequence_log_likelihood(potentials: Potentials, row: Ints, labels: Ints) -> float:
    """Return the unnormalised log weight of labels on one sequence; -inf where it is impossible.

    This is equation 1 without Z, said plainly; inference is checked against it.
    """
    own, before, after, enter, leave = potentials
    total = 0.0
    for t, (join, label) in enumerate(zip(row, labels, strict=True)):
        total += own[join, label]
        if t:
            total += before[row[t - 1], label]
            last = labels[t - 1]
            if last and label:
                return -np.inf
            total += leave[last] if last else enter[label]
        if t + 1 < len(row):
            total += after[row[t + 1], label]
    return float(total)


def _walk(zero: Floats, one: Floats, both_zero: float) -> tuple[Floats, Floats]:
    """Return log Z and log P(S = 1) of chains (chains x places) without two ones in a row."""
    chains, places = zero.shape
    forward = np.empty((places, 2, chains))
    backward = np.zeros((places, 2, chains))
    forward[0] = zero[:, 0], one[:, 0]
    for t in range(1, places):
        forward[t, 0] = zero[:, t] + np.logaddexp(forward[t - 1, 0] + both_zero, forward[t - 1, 1])
        forward[t, 1] = one[:, t] + forward[t - 1, 0]
    for t in range(places - 2, -1, -1):
        after = backward[t + 1, 0] + zero[:, t + 1]
        backward[t, 0] = np.logaddexp(after + both_zero, backward[t + 1, 1] + one[:, t + 1])
        backward[t, 1] = after
    total = np.logaddexp(forward[-1, 0], forward[-1, 1])
    return total, (forward + backward - total).transpose(1, 2, 0)


def _places(
    own: Floats, before: Floats, after: Floats, enter: Floats, leave: Floats, rows: Ints
) -> Floats:
    """Return the scores of labels at places (chains x places x labels), chain weights of r added.

    As both neighbours of a joined place are not joined, its chain weights are known.
    """
    scores = own[rows]
    scores[:, 1:] += before[rows[:, :-1]]
    scores[:, :-1] += after[rows[:, 1:]]
    scores[:, 1:, 1:] += enter[1:]
    scores[:, :-1, 1:] += leave[1:]
    return np.asarray(scores)


def _by_length(offsets: Ints) -> list[tuple[Ints, int]]:
    lengths = np.diff(offsets)
    return [(np.flatnonzero(lengths == length), int(length)) for length in np.unique(lengths)]


def _marginals_numpy(
    own: Floats,
    before: Floats,
    after: Floats,
    enter: Floats,
    leave: Floats,
    offsets: Ints,
    joins: Ints,
    reads: npt.NDArray[np.bool_],
) -> Floats:
    """Do as `_marginals`, all sequences of one length at a time."""
    result = np.zeros_like(own)
    for chosen, length in _by_length(offsets):
        index = offsets[chosen][:, None] + np.arange(length)
        scores = _places(own, before, after, enter, leave, joins[index])
        ones = np.logaddexp.reduce(scores[:, :, 1:], axis=2)
        _, states = _walk(scores[:, :, 0], ones, float(enter[0]))
        scores[:, :, 0] = states[0]
        scores[:, :, 1:] += (states[1] - ones)[:, :, None]
        read = reads[index]
        result[joins[index][read]] = scores[read]
    return result


@kernel(_marginals_numpy)
def _marginals(
    own: Floats,
    before: Floats,
    after: Floats,
    enter: Floats,
    leave: Floats,
    offsets: Ints,
    joins: Ints,
    reads: npt.NDArray[np.bool_],
) -> Floats:
    """Return the log marginals of each join where it is read."""
    labels = own.shape[1]
    result = np.zeros_like(own)
    longest = 1
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    scores = np.empty((longest, labels))
    ones = np.empty(longest)
    forward, backward = np.empty((longest, 2)), np.empty((longest, 2))
    both_zero = enter[0]
    for s in range(len(offsets) - 1):
        start = offsets[s]
        n = offsets[s + 1] - start
        for t in range(n):
            join = joins[start + t]
            top = -np.inf
            for c in range(labels):
                value = own[join, c]
                if t > 0:
                    value += before[joins[start + t - 1], c]
                    if c > 0:
                        value += enter[c]
                if t + 1 < n:
                    value += after[joins[start + t + 1], c]
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
            forward[t, 0] = scores[t, 0] + np.logaddexp(
                forward[t - 1, 0] + both_zero, forward[t - 1, 1]
            )
            forward[t, 1] = ones[t] + forward[t - 1, 0]
        backward[n - 1, 0] = backward[n - 1, 1] = 0.0
        for back in range(1, n):
            t = n - 1 - back
            rest = backward[t + 1, 0] + scores[t + 1, 0]
            backward[t, 0] = np.logaddexp(rest + both_zero, backward[t + 1, 1] + ones[t + 1])
            backward[t, 1] = rest
        whole = np.logaddexp(forward[n - 1, 0], forward[n - 1, 1])
        for t in range(n):
            if reads[start + t]:
                join = joins[start + t]
                result[join, 0] = forward[t, 0] + backward[t, 0] - whole
                joined = forward[t, 1] + backward[t, 1] - whole - ones[t]
                for c in range(1, labels):
                    result[join, c] = scores[t, c] + joined
    return result


def _gradient_numpy(
    own: Floats,
    before: Floats,
    after: Floats,
    enter: Floats,
    leave: Floats,
    offsets: Ints,
    joins: Ints,
    gold: Ints,
) -> tuple[Any, ...]:
    """Do as `_gradient`, all sequences of one length at a time."""
    slopes = [np.zeros_like(table) for table in (own, before, after, enter, leave)]
    loss = 0.0
    for chosen, length in _by_length(offsets):
        rows = joins[offsets[chosen][:, None] + np.arange(length)]
        scores = _places(own, before, after, enter, leave, rows)
        ones = np.logaddexp.reduce(scores[:, :, 1:], axis=2)
        whole, states = _walk(scores[:, :, 0], ones, float(enter[0]))
        labels = gold[rows]
        joined = labels > 0
        pairs = float((~joined[:, 1:] & ~joined[:, :-1]).sum())
        loss += whole.sum() - np.take_along_axis(scores, labels[:, :, None], axis=2).sum()
        expected = np.empty_like(scores)
        expected[:, :, 0] = np.exp(states[0])
        expected[:, :, 1:] = np.exp(scores[:, :, 1:] + (states[1] - ones)[:, :, None])
        if length > 1:
            loss -= enter[0] * pairs
            zeros = expected[:, 1:, 0].sum() - expected[:, :-1, 1:].sum()
            slopes[3][0] += zeros - pairs
        np.put_along_axis(
            expected,
            labels[:, :, None],
            np.take_along_axis(expected, labels[:, :, None], axis=2) - 1,
            axis=2,
        )
        np.add.at(slopes[0], rows, expected)
        np.add.at(slopes[1], rows[:, :-1], expected[:, 1:])
        np.add.at(slopes[2], rows[:, 1:], expected[:, :-1])
        slopes[3][1:] += expected[:, 1:, 1:].sum(axis=(0, 1))
        slopes[4][1:] += expected[:, :-1, 1:].sum(axis=(0, 1))
    return (loss, *slopes)


@kernel(_gradient_numpy)
def _gradient(
    own: Floats,
    before: Floats,
    after: Floats,
    enter: Floats,
    leave: Floats,
    offsets: Ints,
    joins: Ints,
    gold: Ints,
) -> tuple[Any, ...]:
    """Return the loss, and its slope in each table."""
    labels = own.shape[1]
    own_slope, before_slope = np.zeros_like(own), np.zeros_like(before)
    after_slope = np.zeros_like(after)
    enter_slope, leave_slope = np.zeros_like(enter), np.zeros_like(leave)
    longest = 1
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    scores = np.empty((longest, labels))
    ones = np.empty(longest)
    forward, backward = np.empty((longest, 2)), np.empty((longest, 2))
    both_zero = enter[0]
    loss = 0.0
    for s in range(len(offsets) - 1):
        start = offsets[s]
        n = offsets[s + 1] - start
        for t in range(n):
            join = joins[start + t]
            top = -np.inf
            for c in range(labels):
                value = own[join, c]
                if t > 0:
                    value += before[joins[start + t - 1], c]
                    if c > 0:
                        value += enter[c]
                if t + 1 < n:
                    value += after[joins[start + t + 1], c]
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
            forward[t, 0] = scores[t, 0] + np.logaddexp(
                forward[t - 1, 0] + both_zero, forward[t - 1, 1]
            )
            forward[t, 1] = ones[t] + forward[t - 1, 0]
        backward[n - 1, 0] = backward[n - 1, 1] = 0.0
        for back in range(1, n):
            t = n - 1 - back
            rest = backward[t + 1, 0] + scores[t + 1, 0]
            backward[t, 0] = np.logaddexp(rest + both_zero, backward[t + 1, 1] + ones[t + 1])
            backward[t, 1] = rest
        whole = np.logaddexp(forward[n - 1, 0], forward[n - 1, 1])
        loss += whole
        for t in range(n):
            join = joins[start + t]
            label = gold[join]
            loss -= scores[t, label]
            if t > 0:
                pair = np.exp(forward[t - 1, 0] + both_zero + scores[t, 0] + backward[t, 0] - whole)
                if label == 0 and gold[joins[start + t - 1]] == 0:
                    loss -= both_zero
                    pair -= 1.0
                enter_slope[0] += pair
            joined = forward[t, 1] + backward[t, 1] - whole - ones[t]
            for c in range(labels):
                if c == 0:
                    slope = np.exp(forward[t, 0] + backward[t, 0] - whole)
                else:
                    slope = np.exp(scores[t, c] + joined)
                if c == label:
                    slope -= 1.0
                own_slope[join, c] += slope
                if t > 0:
                    before_slope[joins[start + t - 1], c] += slope
                    if c > 0:
                        enter_slope[c] += slope
                if t + 1 < n:
                    after_slope[joins[start + t + 1], c] += slope
                    if c > 0:
                        leave_slope[c] += slope
    return loss, own_slope, before_slope, after_slope, enter_slope, leave_slope
