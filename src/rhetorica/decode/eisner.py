"""Arc scores -> projective dependency trees: Eisner's algorithm (1996), first order, one root.

All dependency decoders share one convention. ``scores`` is an (n + 1) x (n + 1) array over the
artificial root (index 0) and the n units (unit i has index i + 1); ``scores[h, d]`` is the score
of the arc from head h to dependent d, so row 0 holds the scores of being the root of the tree.
Column 0 and the diagonal are never read. Minus infinity forbids an arc. ``heads[i]`` is the unit
that unit i hangs on, or -1 for the root, as in `DepTree`; exactly one unit is the root.

The charts are square arrays over units in which one row holds everything that a span's inner loop
reads (Eisner's complete spans are stored at [i, j] and [j, i]), so each O(n^3) loop runs over
contiguous memory. Charts keep scores only; back-pointers are found again on the way back, which
costs O(n^2) in all. Time O(n^3), memory O(n^2).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from rhetorica.decode._arrays import Floats, Ints, arc_scores, check_k
from rhetorica.decode._lazy import LEAF, Edges, LazyKBest
from rhetorica.kernels import compiled

NO_TREE = "every tree has a forbidden arc: let each unit have more heads to choose from"


def eisner(scores: ArrayLike, *, single_root: bool = True) -> Ints:
    """Return the heads of the best projective tree.

    It has one root or, without ``single_root``, one or more. Among equally good trees the choice is
    arbitrary but always the same.

    >>> import numpy as np
    >>> scores = np.zeros((4, 4))  # the root and three units
    >>> scores[0, 2] = scores[2, 1] = scores[2, 3] = 1
    >>> eisner(scores).tolist()
    [1, -1, 1]
    """
    table = arc_scores(scores)
    if len(table) == 1:
        return np.zeros(0, np.int64)
    if not single_root:
        # The artificial root stands before all units as one of them on which nothing hangs.
        whole = table.copy()
        whole[:, 0] = -np.inf
        right, left, arc = _best_spans(whole)
        if right[0, -1] == -np.inf:
            raise ValueError(NO_TREE)
        return np.asarray(_trace(right, left, arc, 0)[1:] - 1)
    right, left, arc = _best_spans(np.ascontiguousarray(table[1:, 1:]))
    totals = _root_totals(table, right, left)
    root = int(totals.argmax())
    if totals[root] == -np.inf:
        raise ValueError(NO_TREE)
    return _trace(right, left, arc, root)


def eisner_marginals(scores: ArrayLike) -> tuple[float, Floats]:
    """Return the log partition function and every arc's probability over projective trees.

    A tree's probability is proportional to exp(sum of its arcs' scores). ``marginals[h, d]`` is
    laid out as ``scores``; each unit's column sums to 1. Inside-outside in log space; the outside
    pass moves probabilities, which cannot overflow.

    >>> import numpy as np
    >>> log_partition, marginals = eisner_marginals(np.zeros((3, 3)))
    >>> round(np.exp(log_partition))  # two units: either may be the root
    2
    >>> marginals[0].tolist()
    [0.0, 0.5, 0.5]
    """
    table = arc_scores(scores)
    marginals = np.zeros_like(table)
    if len(table) == 1:
        return 0.0, marginals
    arcs = np.ascontiguousarray(table[1:, 1:])
    right, left, arc, gap = _sum_spans(arcs)
    totals = _root_totals(table, right, left)
    log_partition = _log_sum(totals)
    if log_partition == -np.inf:
        raise ValueError(NO_TREE)
    marginals[0, 1:] = np.exp(totals - log_partition)
    marginals[1:, 1:] = _arc_posteriors(right, left, arc, gap, marginals[0, 1:])
    return log_partition, marginals


def eisner_kbest(scores: ArrayLike, k: int) -> list[tuple[Ints, float]]:
    """Return the k best projective trees as (heads, score), best first.

    Trees are distinct (each has one derivation); there are fewer than k if no more exist.

    >>> import numpy as np
    >>> trees = eisner_kbest([[0, 3, 2], [0, 0, 1], [0, 1, 0]], 5)
    >>> [(heads.tolist(), score) for heads, score in trees]
    [([-1, 0], 4.0), ([1, -1], 3.0)]
    """
    table = arc_scores(scores)
    check_k(k)
    if len(table) == 1:
        return [(np.zeros(0, np.int64), 0.0)]
    graph = _EisnerGraph(table)
    best = LazyKBest(graph.edges, k)
    return [
        (graph.heads(best, rank), derivation.score)
        for rank, derivation in enumerate(best.derivations(graph.top))
    ]


def _root_totals(table: Floats, right: Floats, left: Floats) -> Floats:
    """Score each unit as the root: its arc, its span to the left, its span to the right."""
    totals: Floats = (table[0, 1:] + left[0]) + right[-1]
    return totals


def _log_sum(values: Floats) -> float:
    top = float(values.max())
    return top if top == -math.inf else top + math.log(float(np.exp(values - top).sum()))


@compiled
def _best_spans(arcs: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the best scores of all spans.

    ``right[i, j]`` = ``right[j, i]``: unit i heads all of i..j; ``left`` likewise: j heads it.
    ``arc[h, d]``: the span between them, ending with the arc h -> d.
    """
    n = arcs.shape[0]
    right, left, arc = np.zeros((n, n)), np.zeros((n, n)), np.full((n, n), -np.inf)
    for j in range(n):
        for i in range(j - 1, -1, -1):
            # Rows with names: the compiler then sees plain walks along memory.
            first, second = right[i, i:j], left[j, i + 1 : j + 1]
            best = -np.inf
            for k in range(j - i):
                best = max(best, first[k] + second[k])
            arc[i, j] = best + arcs[i, j]
            arc[j, i] = best + arcs[j, i]
            first, second = arc[i, i + 1 : j + 1], right[j, i + 1 : j + 1]
            best = -np.inf
            for k in range(j - i):
                best = max(best, first[k] + second[k])
            right[i, j] = right[j, i] = best
            first, second = left[i, i:j], arc[j, i:j]
            best = -np.inf
            for k in range(j - i):
                best = max(best, first[k] + second[k])
            left[i, j] = left[j, i] = best
    return right, left, arc


@compiled
def _trace(right: Floats, left: Floats, arc: Floats, root: int) -> Ints:
    """Read the heads off the charts of `_best_spans`."""
    n = right.shape[0]
    heads = np.full(n, -1, np.int64)
    # Each entry is a complete span: its head and its other end.
    stack = np.empty((2 * n + 2, 2), np.int64)
    stack[0, 0], stack[0, 1] = root, 0
    stack[1, 0], stack[1, 1] = root, n - 1
    size = 2
    while size:
        size -= 1
        head, end = stack[size, 0], stack[size, 1]
        if head == end:
            continue
        if head < end:
            child = (
                head + 1 + np.argmax(arc[head, head + 1 : end + 1] + right[end, head + 1 : end + 1])
            )
        else:
            child = end + np.argmax(left[end, end:head] + arc[head, end:head])
        heads[child] = head
        i, j = min(head, child), max(head, child)
        k = i + np.argmax(right[i, i:j] + left[j, i + 1 : j + 1])
        stack[size, 0], stack[size, 1] = child, end
        stack[size + 1, 0], stack[size + 1, 1] = i, k
        stack[size + 2, 0], stack[size + 2, 1] = j, k + 1
        size += 3
    return heads


@compiled
def _sum_spans(arcs: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the log total weights of all spans, as `_best_spans` does for the best.

    ``gap[i, j]`` (i < j) is the weight of i..j before one of the arcs i -> j, j -> i is drawn.
    """
    n = arcs.shape[0]
    right, left, arc = np.zeros((n, n)), np.zeros((n, n)), np.full((n, n), -np.inf)
    gap = np.zeros((n, n))
    terms = np.empty(n)
    for j in range(n):
        for i in range(j - 1, -1, -1):
            for step in range(3):
                best = -np.inf
                if step == 0:
                    for t in range(j - i):
                        terms[t] = right[i, i + t] + left[j, i + 1 + t]
                        best = max(best, terms[t])
                elif step == 1:
                    for t in range(j - i):
                        terms[t] = arc[i, i + 1 + t] + right[j, i + 1 + t]
                        best = max(best, terms[t])
                else:
                    for t in range(j - i):
                        terms[t] = left[i, i + t] + arc[j, i + t]
                        best = max(best, terms[t])
                total = best
                if best > -np.inf:
                    weight = 0.0
                    for t in range(j - i):
                        weight += np.exp(terms[t] - best)
                    total += np.log(weight)
                if step == 0:
                    gap[i, j] = total
                    arc[i, j] = total + arcs[i, j]
                    arc[j, i] = total + arcs[j, i]
                elif step == 1:
                    right[i, j] = right[j, i] = total
                else:
                    left[i, j] = left[j, i] = total
    return right, left, arc, gap


@compiled
def _arc_posteriors(right: Floats, left: Floats, arc: Floats, gap: Floats, roots: Floats) -> Floats:
    """Return the probability of each arc, given that of each root, by the outside pass.

    A complete span's probability gathers in two places, [i, j] and [j, i], as the loops of its
    users run along rows; their sum is what it has.
    """
    n = right.shape[0]
    p_right, p_left, p_arc = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for r in range(n):
        p_left[0, r] += roots[r]
        p_right[n - 1, r] += roots[r]
    for j in range(n - 1, -1, -1):
        for i in range(j):
            mass = p_right[i, j] + p_right[j, i]
            if mass > 0:
                whole = right[i, j]
                for k in range(i + 1, j + 1):
                    share = mass * np.exp(arc[i, k] + right[j, k] - whole)
                    p_arc[i, k] += share
                    p_right[j, k] += share
            mass = p_left[i, j] + p_left[j, i]
            if mass > 0:
                whole = left[i, j]
                for k in range(i, j):
                    share = mass * np.exp(left[i, k] + arc[j, k] - whole)
                    p_left[i, k] += share
                    p_arc[j, k] += share
            mass = p_arc[i, j] + p_arc[j, i]
            if mass > 0:
                whole = gap[i, j]
                for k in range(i, j):
                    share = mass * np.exp(right[i, k] + left[j, k + 1] - whole)
                    p_right[i, k] += share
                    p_left[j, k + 1] += share
    return p_arc


class _EisnerGraph:
    """The derivations of all projective trees as a hypergraph, for k-best search.

    A node is a kind (right, left, arc) and a cell of that kind's chart, as one number; the top
    node chooses the root.
    """

    def __init__(self, table: Floats) -> None:
        self._table = table
        self._right, self._left, self._arc = _best_spans(np.ascontiguousarray(table[1:, 1:]))
        self._n = n = len(table) - 1
        self._zeros = np.zeros(n)
        self.top = 3 * n * n

    def edges(self, node: int) -> Edges:
        """List the ways to derive a node."""
        if node == self.top:
            totals = _root_totals(self._table, self._right, self._left)
            last = self._n - 1
            return Edges(
                totals,
                self._table[0, 1:],
                lambda root: (self._complete(1, 0, root), self._complete(0, root, last)),
            )
        kind, cell = divmod(node, self._n**2)
        head, end = divmod(cell, self._n)
        if kind == 2:
            return self._arc_edges(head, end)
        return self._right_edges(head, end) if kind == 0 else self._left_edges(head, end)

    def heads(self, best: LazyKBest, rank: int) -> Ints:
        """Read the heads off the tree of the given rank."""
        heads = np.full(self._n, -1, np.int64)
        square = self._n**2
        for node, _ in best.walk(self.top, rank):
            if 2 * square <= node < self.top:
                head, dependent = divmod(node - 2 * square, self._n)
                heads[dependent] = head
        return heads

    def _complete(self, kind: int, i: int, j: int) -> int:
        return LEAF if i == j else kind * self._n**2 + i * self._n + j

    def _drawn(self, head: int, dependent: int) -> int:
        return 2 * self._n**2 + head * self._n + dependent

    def _right_edges(self, i: int, j: int) -> Edges:
        return Edges(
            self._arc[i, i + 1 : j + 1] + self._right[j, i + 1 : j + 1],
            self._zeros,
            lambda e: (self._drawn(i, i + 1 + e), self._complete(0, i + 1 + e, j)),
        )

    def _left_edges(self, i: int, j: int) -> Edges:
        return Edges(
            self._left[i, i:j] + self._arc[j, i:j],
            self._zeros,
            lambda e: (self._complete(1, i, i + e), self._drawn(j, i + e)),
        )

    def _arc_edges(self, head: int, dependent: int) -> Edges:
        i, j = min(head, dependent), max(head, dependent)
        bonus = float(self._table[head + 1, dependent + 1])
        return Edges(
            (self._right[i, i:j] + self._left[j, i + 1 : j + 1]) + bonus,
            self._zeros,
            lambda e: (self._complete(0, i, i + e), self._complete(1, i + e + 1, j)),
            bonus,
        )
