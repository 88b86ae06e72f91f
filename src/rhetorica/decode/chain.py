"""Scores along a line -> labels or labelled segments: Viterbi, sums, and draws by probability.

A *chain* gives each of n positions one of T labels. ``scores[t, y]`` is the score of label y at
position t, ``transitions[x, y]`` that of x followed by y; with three dimensions,
``transitions[t, x, y]`` is that of label x at position t - 1 and y at position t (row 0 is never
read). Scores for beginning and ending are the caller's to add to the first and last row.

A *segmentation* (semi-Markov chain) cuts the positions into segments of at most L positions, each
with a label. ``scores[i, l - 1, y]`` is the score of the segment i:i + l with label y (cells that
reach beyond the end are never read); ``transitions[x, y]`` that of a segment x followed by a
segment y, or, with three dimensions, ``transitions[i, x, y]`` where the second begins at i. Scores
that depend on the two last segments themselves (word bigrams) are segmentations, too: let a
segment's label be its length.

Minus infinity forbids. A structure's probability is proportional to exp(sum of its scores).
Time is O(n T^2) for chains and O(n T (T + L)) for segmentations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rhetorica.decode._arrays import Floats, Ints, as_real, check_k, check_values
from rhetorica.decode._lazy import Edges, LazyKBest
from rhetorica.kernels import compiled, part

NO_CHAIN = "every sequence of labels has a forbidden score: let each position have more labels"
NO_CUT = "every segmentation has a forbidden score: allow more segments, or longer ones"


class Segments(NamedTuple):
    """A segmentation: segment k is the positions ``ends[k - 1]:ends[k]`` (the first from 0)."""

    ends: Ints
    labels: Ints


def best_chain(scores: ArrayLike, transitions: ArrayLike) -> Ints:
    """Return the labels with the highest score (Viterbi).

    >>> best_chain([[1, 0], [0, 0], [0, 1]], [[0, -3], [-3, 0]]).tolist()
    [0, 0, 0]
    """
    table, moves = _chain_arrays(scores, transitions)
    if not len(table):
        return np.zeros(0, np.int64)
    best = _chain_maxima(table, moves)
    if best[-1].max() == -np.inf:
        raise ValueError(NO_CHAIN)
    return _trace_chain(best, moves)


def kbest_chains(scores: ArrayLike, transitions: ArrayLike, k: int) -> list[tuple[Ints, float]]:
    """Return the k best sequences as (labels, score), best first; fewer if there are fewer.

    >>> for labels, score in kbest_chains([[1, 0], [0, 2]], [[0, 0], [0, 0]], 3):
    ...     print(labels.tolist(), score)
    [0, 1] 3.0
    [1, 1] 2.0
    [0, 0] 1.0
    """
    table, moves = _chain_arrays(scores, transitions)
    check_k(k)
    n, size = table.shape
    if not n:
        return [(np.zeros(0, np.int64), 0.0)]
    best = _chain_maxima(table, moves)

    def edges(node: int) -> Edges:
        # Node t * T + y: a sequence that ends with label y at position t; n * T: a whole one.
        t, y = divmod(node, size)
        if not t:
            return Edges(table[0, y : y + 1], table[0, y : y + 1], lambda _: ())
        first = (t - 1) * size
        if t == n:
            return Edges(best[-1], np.zeros(size), lambda edge: (first + edge,))
        weights = moves[t if len(moves) > 1 else 0, :, y]
        bonus = float(table[t, y])
        return Edges((weights + best[t - 1]) + bonus, weights, lambda edge: (first + edge,), bonus)

    found = LazyKBest(edges, k)
    answers = []
    for rank, derivation in enumerate(found.derivations(n * size)):
        labels = [edge for _, edge in found.walk(n * size, rank)][:-1]
        answers.append((np.array(labels[::-1], np.int64), derivation.score))
    if not answers:
        raise ValueError(NO_CHAIN)
    return answers


def chain_marginals(scores: ArrayLike, transitions: ArrayLike) -> tuple[float, Floats, Floats]:
    """Return the log partition function and the probabilities of labels and of label pairs.

    ``labels[t, y]`` is laid out as ``scores``; ``pairs[t, x, y]`` is the probability of x at
    position t - 1 and y at t (row 0 is zero).

    >>> total, labels, pairs = chain_marginals(np.zeros((2, 2)), [[0, -np.inf], [0, 0]])
    >>> round(float(np.exp(total))), labels[0].round(3).tolist(), float(pairs[1, 0, 1])
    (3, [0.333, 0.667], 0.0)
    """
    table, moves = _chain_arrays(scores, transitions)
    n, size = table.shape
    if not n:
        return 0.0, np.zeros((0, size)), np.zeros((0, size, size))
    forward, backward = _chain_sums(table, moves)
    total = float(np.logaddexp.reduce(forward[-1]))
    if total == -np.inf:
        raise ValueError(NO_CHAIN)
    pairs = np.zeros((n, size, size))
    steps = moves[1:] if len(moves) > 1 else moves
    if n > 1:
        after = table[1:, None, :] + backward[1:, None, :]
        pairs[1:] = np.exp(forward[:-1, :, None] + steps + after - total)
    return total, np.exp(forward + backward - total), pairs


def sample_chains(
    scores: ArrayLike, transitions: ArrayLike, rng: np.random.Generator, draws: int = 1
) -> Ints:
    """Draw sequences of labels by their probability: forward filtering, backward sampling.

    Returns a row of n labels for each draw.

    >>> rng = np.random.default_rng(0)
    >>> sample_chains([[0, -np.inf], [0, 0]], np.zeros((2, 2)), rng, 3).shape
    (3, 2)
    """
    table, moves = _chain_arrays(scores, transitions)
    n = len(table)
    uniforms = rng.random((draws, n))
    if not n:
        return np.zeros((draws, 0), np.int64)
    forward = _chain_forward(table, moves)
    if forward[-1].max() == -np.inf:
        raise ValueError(NO_CHAIN)
    return _draw_chains(forward, moves, uniforms)


def best_segments(scores: ArrayLike, transitions: ArrayLike) -> Segments:
    """Return the segmentation with the highest score.

    >>> scores = np.zeros((3, 2, 1))  # three positions, segments of at most 2, one label
    >>> scores[1, 1, 0] = 1  # the segment 1:3
    >>> best_segments(scores, [[0]]).ends.tolist()
    [1, 3]
    """
    table, moves = _segment_arrays(scores, transitions)
    if not len(table):
        return Segments(np.zeros(0, np.int64), np.zeros(0, np.int64))
    ending, opening = _segment_maxima(table, moves)
    if ending[-1].max() == -np.inf:
        raise ValueError(NO_CUT)
    return _segments(*_trace_segments(table, moves, ending, opening))


def segment_marginals(scores: ArrayLike, transitions: ArrayLike) -> tuple[float, Floats]:
    """Return the log partition function and every segment's probability, laid out as ``scores``.

    >>> total, marginals = segment_marginals(np.zeros((2, 2, 1)), [[0]])
    >>> round(float(np.exp(total))), marginals[:, :, 0].tolist()
    (2, [[0.5, 0.5], [0.5, 0.0]])
    """
    table, moves = _segment_arrays(scores, transitions)
    n = len(table)
    if not n:
        return 0.0, np.zeros_like(table)
    ending, opening = _segment_forward(table, moves)
    total = float(np.logaddexp.reduce(ending[-1]))
    if total == -np.inf:
        raise ValueError(NO_CUT)
    after = _segment_backward(table, moves)
    marginals = np.zeros_like(table)
    for length in range(1, min(table.shape[1], n) + 1):
        inside = opening[: n - length + 1] + table[: n - length + 1, length - 1]
        marginals[: n - length + 1, length - 1] = np.exp(inside + after[length:] - total)
    return total, marginals


def sample_segments(
    scores: ArrayLike, transitions: ArrayLike, rng: np.random.Generator, draws: int = 1
) -> list[Segments]:
    """Draw segmentations by their probability: forward filtering, backward sampling.

    >>> rng = np.random.default_rng(0)
    >>> [s.ends.tolist() for s in sample_segments(np.zeros((3, 1, 1)), [[0]], rng)]
    [[1, 2, 3]]
    """
    table, moves = _segment_arrays(scores, transitions)
    n = len(table)
    uniforms = rng.random((draws, 2 * n))
    if not n:
        empty = np.zeros(0, np.int64)
        return [Segments(empty, empty)] * draws
    ending, opening = _segment_forward(table, moves)
    if ending[-1].max() == -np.inf:
        raise ValueError(NO_CUT)
    return [_segments(*_draw_segments(table, moves, ending, opening, row)) for row in uniforms]


def _segments(ends: Ints, labels: Ints) -> Segments:
    # The walks go from the end to the beginning.
    return Segments(ends[::-1].copy(), labels[::-1].copy())


def _chain_arrays(scores: ArrayLike, transitions: ArrayLike) -> tuple[Floats, Floats]:
    table = np.ascontiguousarray(as_real("scores", scores, 2), np.float64)
    check_values("scores", table)
    return table, _moves(transitions, *table.shape)


def _segment_arrays(scores: ArrayLike, transitions: ArrayLike) -> tuple[Floats, Floats]:
    table = np.ascontiguousarray(as_real("scores", scores, 3), np.float64)
    check_values("scores", table)
    n, longest, labels = table.shape
    if n and not longest:
        raise ValueError("scores allow no segment: the longest has 0 positions")
    return table, _moves(transitions, n, labels)


def _moves(transitions: ArrayLike, n: int, labels: int) -> Floats:
    """Return transitions as three dimensions: one row for all positions, or one for each."""
    if not labels:
        raise ValueError("scores have no label to choose from")
    raw: Any = np.asarray(transitions)
    table = np.ascontiguousarray(as_real("transitions", raw, 3 if raw.ndim == 3 else 2), np.float64)
    if table.ndim == 2:
        table = table[None]
    elif len(table) != n:
        raise ValueError(f"transitions have {len(table)} rows, scores have {n} positions")
    if table.shape[1:] != (labels, labels):
        raise ValueError(
            f"transitions are {table.shape[1]} x {table.shape[2]}, scores have {labels} labels"
        )
    check_values("transitions", table[1:] if raw.ndim == 3 else table)
    return table


@part
def _share(weights: Floats, uniform: float) -> int:
    """Choose an index by its share of the sum of exponentials."""
    sums = np.cumsum(np.exp(weights - weights.max()))
    # The product may round up to the last sum: an index without weight is never meant.
    aim = min(uniform * sums[-1], np.nextafter(sums[-1], 0.0))
    return int(np.searchsorted(sums, aim, side="right"))


@compiled
def _chain_maxima(scores: Floats, moves: Floats) -> Floats:
    """Return the score of the best sequence that ends with each label at each position."""
    n, size = scores.shape
    best = scores.copy()
    for t in range(1, n):
        move = moves[t if moves.shape[0] > 1 else 0]
        top = np.full(size, -np.inf)
        for x in range(size):
            for y in range(size):
                top[y] = max(top[y], move[x, y] + best[t - 1, x])
        best[t] += top
    return best


@compiled
def _trace_chain(best: Floats, moves: Floats) -> Ints:
    """Read the best labels off the chart of `_chain_maxima`."""
    n = best.shape[0]
    labels = np.empty(n, np.int64)
    labels[n - 1] = np.argmax(best[n - 1])
    for t in range(n - 1, 0, -1):
        move = moves[t if moves.shape[0] > 1 else 0]
        labels[t - 1] = np.argmax(move[:, labels[t]] + best[t - 1])
    return labels


@compiled
def _chain_forward(scores: Floats, moves: Floats) -> Floats:
    """Return the log of the sum over all sequences that end with each label at each position."""
    n, size = scores.shape
    forward = scores.copy()
    for t in range(1, n):
        move = moves[t if moves.shape[0] > 1 else 0]
        top = np.full(size, -np.inf)
        for x in range(size):
            for y in range(size):
                top[y] = max(top[y], move[x, y] + forward[t - 1, x])
        total = np.zeros(size)
        for x in range(size):
            for y in range(size):
                if top[y] > -np.inf:
                    total[y] += np.exp(move[x, y] + forward[t - 1, x] - top[y])
        for y in range(size):
            forward[t, y] += top[y] + np.log(total[y]) if top[y] > -np.inf else -np.inf
    return forward


def _chain_sums(scores: Floats, moves: Floats) -> tuple[Floats, Floats]:
    """Return the forward chart, and the backward one (what follows a label, without it)."""
    # Read from the end, what follows is what came before.
    turned = moves.transpose(0, 2, 1)
    if len(moves) > 1:
        turned = np.roll(turned[::-1], 1, axis=0)
    forward = _chain_forward(scores, moves)
    backward = _chain_forward(np.ascontiguousarray(scores[::-1]), np.ascontiguousarray(turned))[
        ::-1
    ]
    with np.errstate(invalid="ignore"):
        outside = backward - scores
    return forward, np.where(scores == -np.inf, -np.inf, outside)


@compiled
def _draw_chains(forward: Floats, moves: Floats, uniforms: Floats) -> Ints:
    """Walk back from the last position, choosing each label by its share of the sum."""
    draws, n = uniforms.shape
    labels = np.empty((draws, n), np.int64)
    for draw in range(draws):
        weights = forward[n - 1]
        for t in range(n - 1, -1, -1):
            if t < n - 1:
                move = moves[t + 1 if moves.shape[0] > 1 else 0]
                weights = move[:, labels[draw, t + 1]] + forward[t]
            labels[draw, t] = _share(weights, uniforms[draw, t])
    return labels


@compiled
def _segment_maxima(scores: Floats, moves: Floats) -> tuple[Floats, Floats]:
    """Return the best scores of beginnings of the line.

    ``ending[j, y]``: of 0:j, the last segment labelled y; ``opening[i, y]``: of 0:i, with the
    transition to a segment labelled y that begins there.
    """
    n, longest, size = scores.shape
    ending, opening = np.full((n + 1, size), -np.inf), np.zeros((n, size))
    for j in range(1, n + 1):
        if j > 1:
            move = moves[j - 1 if moves.shape[0] > 1 else 0]
            opening[j - 1] = -np.inf
            for x in range(size):
                for y in range(size):
                    opening[j - 1, y] = max(opening[j - 1, y], move[x, y] + ending[j - 1, x])
        for length in range(1, min(longest, j) + 1):
            for y in range(size):
                score = opening[j - length, y] + scores[j - length, length - 1, y]
                ending[j, y] = max(ending[j, y], score)
    return ending, opening


@compiled
def _trace_segments(
    scores: Floats, moves: Floats, ending: Floats, opening: Floats
) -> tuple[Ints, Ints]:
    """Read the best segments off the charts of `_segment_maxima`, last segment first."""
    n, longest, _ = scores.shape
    ends, labels = np.empty(n, np.int64), np.empty(n, np.int64)
    count, j = 0, n
    label = np.argmax(ending[n])
    while j > 0:
        ends[count], labels[count] = j, label
        count += 1
        best, chosen = -np.inf, 1
        for length in range(1, min(longest, j) + 1):
            score = opening[j - length, label] + scores[j - length, length - 1, label]
            if score > best:
                best, chosen = score, length
        j -= chosen
        if j > 0:
            label = np.argmax(moves[j if moves.shape[0] > 1 else 0][:, label] + ending[j])
    return ends[:count], labels[:count]


@compiled
def _segment_forward(scores: Floats, moves: Floats) -> tuple[Floats, Floats]:
    """Return the charts of `_segment_maxima` with logs of sums instead of maxima."""
    n, longest, size = scores.shape
    ending, opening = np.full((n + 1, size), -np.inf), np.zeros((n, size))
    top, total = np.empty(size), np.empty(size)
    for j in range(1, n + 1):
        if j > 1:
            move = moves[j - 1 if moves.shape[0] > 1 else 0]
            top[:] = -np.inf
            for x in range(size):
                for y in range(size):
                    top[y] = max(top[y], move[x, y] + ending[j - 1, x])
            total[:] = 0.0
            for x in range(size):
                for y in range(size):
                    if top[y] > -np.inf:
                        total[y] += np.exp(move[x, y] + ending[j - 1, x] - top[y])
            for y in range(size):
                opening[j - 1, y] = top[y] + np.log(total[y]) if top[y] > -np.inf else -np.inf
        top[:] = -np.inf
        for length in range(1, min(longest, j) + 1):
            for y in range(size):
                score = opening[j - length, y] + scores[j - length, length - 1, y]
                top[y] = max(top[y], score)
        total[:] = 0.0
        for length in range(1, min(longest, j) + 1):
            for y in range(size):
                if top[y] > -np.inf:
                    score = opening[j - length, y] + scores[j - length, length - 1, y]
                    total[y] += np.exp(score - top[y])
        for y in range(size):
            ending[j, y] = top[y] + np.log(total[y]) if top[y] > -np.inf else -np.inf
    return ending, opening


@compiled
def _segment_backward(scores: Floats, moves: Floats) -> Floats:
    """Return the log of the sum over all that may follow a segment labelled y that ends at i."""
    n, longest, size = scores.shape
    after = np.zeros((n + 1, size))
    begins = np.empty(size)
    for i in range(n - 1, 0, -1):
        for y in range(size):
            top = -np.inf
            for length in range(1, min(longest, n - i) + 1):
                top = max(top, scores[i, length - 1, y] + after[i + length, y])
            total = 0.0
            if top > -np.inf:
                for length in range(1, min(longest, n - i) + 1):
                    total += np.exp(scores[i, length - 1, y] + after[i + length, y] - top)
            begins[y] = top + np.log(total) if top > -np.inf else -np.inf
        move = moves[i if moves.shape[0] > 1 else 0]
        for x in range(size):
            top = (move[x] + begins).max()
            after[i, x] = -np.inf
            if top > -np.inf:
                after[i, x] = top + np.log(np.exp(move[x] + begins - top).sum())
    return after


@compiled
def _draw_segments(
    scores: Floats, moves: Floats, ending: Floats, opening: Floats, uniforms: Floats
) -> tuple[Ints, Ints]:
    """Walk back from the end, choosing label and length by their shares; last segment first."""
    n, longest, _ = scores.shape
    ends, labels = np.empty(n, np.int64), np.empty(n, np.int64)
    weights = np.empty(longest)
    count, j = 0, n
    choices = ending[n]
    while j > 0:
        label = _share(choices, uniforms[2 * count])
        ends[count], labels[count] = j, label
        reach = min(longest, j)
        for length in range(1, reach + 1):
            weights[length - 1] = opening[j - length, label] + scores[j - length, length - 1, label]
        j -= _share(weights[:reach], uniforms[2 * count + 1]) + 1
        count += 1
        if j > 0:
            choices = moves[j if moves.shape[0] > 1 else 0][:, label] + ending[j]
    return ends[:count], labels[:count]
