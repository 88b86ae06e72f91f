"""Arc scores -> dependency trees that may cross: maximum spanning arborescences and their sums.

The convention is that of `rhetorica.decode.eisner`: ``scores[h, d]`` over the root (index 0) and n
units (unit i has index i + 1), minus infinity forbids, ``heads[i]`` is a unit or -1. All functions
take ``single_root`` (the default): exactly one unit is the root, as in `DepTree`; without it, one
or more are.

The best tree costs O(n^2), the sum over all trees O(n^3), k trees at worst O(k n^3); memory is
O(n^2), and O(k n) for k trees.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rhetorica.decode._arrays import Floats, Ints, arc_scores, check_k
from rhetorica.decode.eisner import NO_TREE
from rhetorica.kernels import compiled

_SAFE_RANGE = 300.0
"""Within a column, weights that span so many nats can be multiplied without underflow."""
_COLUMN_SUM_TOLERANCE = 1e-9


def spanning_tree(scores: ArrayLike, *, single_root: bool = True) -> Ints:
    """Return the heads of the best tree, crossing or not (Chu & Liu 1965, Edmonds 1967).

    Tarjan's (1977) version for dense graphs, growing a path backwards from each unit and
    contracting the cycles it runs into: O(n^2). One root is had by the reweighting of Stanojević &
    Cohen (2021), which lowers all root arcs by more than trees can differ; here without the loss of
    digits: a root arc is taken only where no other arc enters. Among equally good trees the choice
    is arbitrary but always the same.

    >>> import numpy as np
    >>> scores = np.zeros((5, 5))
    >>> scores[0, 1] = scores[1, 3] = scores[3, 2] = scores[2, 4] = 1  # 0 -> 2 and 1 -> 3 cross
    >>> spanning_tree(scores).tolist()
    [-1, 2, 0, 1]
    """
    table = arc_scores(scores)
    heads, _, _ = _edmonds(table, single_root)
    if len(heads) != len(table) - 1:
        raise ValueError(NO_TREE)
    return heads


def matrix_tree_marginals(scores: ArrayLike, *, single_root: bool = True) -> tuple[float, Floats]:
    """Return the log partition function and every arc's probability over all trees.

    A tree's probability is proportional to exp(sum of its arcs' scores); ``marginals[h, d]`` is
    laid out as ``scores`` and each unit's column sums to 1. This is the matrix-tree theorem (Koo
    et al. 2007; Smith & Smith 2007; McDonald & Satta 2007), but the Laplacian is never formed: its
    determinant is built by removing one unit after the other from the graph, as Grassmann, Taksar
    & Heyman (1985) do for Markov chains, which subtracts nothing and so cannot lose digits however
    unequal the scores are. Where weights would underflow, the same runs on logarithms.

    >>> import numpy as np
    >>> log_partition, marginals = matrix_tree_marginals(np.zeros((4, 4)))
    >>> round(np.exp(log_partition))  # three units: n ** (n - 1) trees
    9
    >>> marginals[0].round(3).tolist()
    [0.0, 0.333, 0.333, 0.333]
    """
    table = arc_scores(scores)
    if len(table) == 1:
        return 0.0, np.zeros_like(table)
    heads, _, _ = _edmonds(table, single_root)
    if len(heads) != len(table) - 1:
        raise ValueError(NO_TREE)
    # Units are removed from the last to the first. The root of some tree goes last: every other
    # unit can then be reached from a unit (or root) that is still there when its turn comes.
    order = np.arange(len(table))
    root = int(np.flatnonzero(heads < 0)[0]) + 1
    order[1], order[root] = root, 1
    table = table[np.ix_(order, order)]
    tops = table[:, 1:].max(axis=0)
    table[:, 1:] -= tops
    log_partition, marginals = _arc_sums(table, single_root)
    undo = np.ix_(order, order)
    return log_partition + float(tops.sum()), marginals[undo]


def kbest_spanning(
    scores: ArrayLike, k: int, *, single_root: bool = True
) -> list[tuple[Ints, float]]:
    """Return the k best trees as (heads, score), best first.

    Trees are distinct; there are fewer than k if no more exist. Lawler's (1972) method: what is
    left after a tree is taken is divided by the first unit whose head differs. The best tree of a
    part is computed only when a bound on it (from the dual solution of the tree that was taken)
    says that it may be the next.

    >>> trees = kbest_spanning([[0, 3, 2], [0, 0, 1], [0, 1, 0]], 5)
    >>> [(heads.tolist(), score) for heads, score in trees]
    [([-1, 0], 4.0), ([1, -1], 3.0)]
    """
    table = arc_scores(scores)
    check_k(k)
    return _Branching(table, single_root).best(k)


@compiled
def _edmonds(table: Floats, single_root: bool) -> tuple[Ints, Ints, Floats]:
    """Return the best tree's heads (empty if there is none) and its dual solution.

    Nodes 0 .. n are the root and the units, later ones are contracted cycles in the order of their
    making: ``parents[node]`` is the cycle that took the node in (-1 if none), ``values[node]`` what
    the best arc into it was worth by then. Rows of ``weights`` are current nodes, columns stay
    single units; a contracted cycle uses the row of one of its nodes.
    """
    m = table.shape[0]
    weights = table.T.copy()
    entries = np.empty((m, m), np.int32)  # the unit through which an arc enters a row's node
    for d in range(m):
        entries[d] = d
    row_of = np.arange(m)  # of the node that a unit is now part of
    node_of = np.arange(m)  # the node that a row now stands for
    values = np.zeros(2 * m)
    parents = np.full(2 * m, -1)
    arc_heads = np.zeros(2 * m, np.int64)
    arc_ends = np.zeros(2 * m, np.int64)
    place = np.full(m, -1)  # of a row in the path
    done = np.zeros(m, np.bool_)  # rows that are joined to the root
    done[0] = True
    path = np.empty(m, np.int64)
    count = m
    for unit in range(1, m):
        if done[row_of[unit]]:
            continue
        length = 1
        path[0] = row_of[unit]
        place[path[0]] = 0
        while True:
            row = path[length - 1]
            if single_root:
                head = int(np.argmax(weights[row, 1:])) + 1
                if weights[row, head] == -np.inf:
                    head = 0
            else:
                head = int(np.argmax(weights[row]))
            if weights[row, head] == -np.inf:
                return np.zeros(0, np.int64), parents[:count], values[:count]
            node = node_of[row]
            values[node] = weights[row, head]
            arc_heads[node], arc_ends[node] = head, entries[row, head]
            above = row_of[head]
            if done[above]:
                for at in range(length):
                    done[path[at]] = True
                break
            if place[above] < 0:
                path[length] = above
                place[above] = length
                length += 1
                continue
            # The path has met itself: from `above` on it is a cycle, to be one node in one row.
            # Rows change in place: numba takes seconds to compile an assignment of array to slice.
            first = place[above]
            merged, came = weights[above], entries[above]
            merged -= values[node_of[above]]
            for at in range(first, length):
                other = path[at]
                parents[node_of[other]] = count
                if other == above:
                    continue
                shifted = weights[other] - values[node_of[other]]
                came += (entries[other] - came) * (shifted > merged)
                np.fmax(merged, shifted, merged)  # numba has no `out=`, numpy's maximum needs it
                row_of[row_of == other] = above
                place[other] = -1
            merged[row_of == above] = -np.inf
            node_of[above] = count
            count += 1
            length = first + 1
    heads = np.full(m - 1, -1)
    opened = np.zeros(count, np.bool_)
    roots = 0
    for node in range(count - 1, 0, -1):
        if opened[node]:
            continue
        # The arc into this node enters at one unit: there it takes the place of the cycles' arcs.
        head, end = arc_heads[node], arc_ends[node]
        heads[end - 1] = head - 1
        roots += head == 0
        inner = end
        while inner != node:
            opened[inner] = True
            inner = parents[inner]
    if single_root and roots > 1:
        heads = heads[:0]
    return heads, parents[:count], values[:count]


@compiled
def _losses(table: Floats, heads: Ints, parents: Ints, values: Floats) -> Floats:
    """Bound from below what each unit loses if it may not have its head.

    An arc's reduced cost is the sum of the values of all nodes that it enters, less its score. Any
    tree is worse than the best one by at least the sum of its arcs' reduced costs.
    """
    m, count = table.shape[0], parents.shape[0]
    size, cursor = np.zeros(count, np.int64), np.zeros(count, np.int64)
    size[:m] = 1
    for node in range(count):
        if parents[node] >= 0:
            size[parents[node]] += size[node]
    # Lay the units out so that each node's are neighbours; add the values from the outside in.
    start, sums = np.zeros(count, np.int64), values.copy()
    free = 0
    for node in range(count - 1, -1, -1):
        parent = parents[node]
        if parent < 0:
            start[node] = free
            free += size[node]
        else:
            start[node] = cursor[parent]
            cursor[parent] += size[node]
            sums[node] += sums[parent]
        cursor[node] = start[node]
    common = np.zeros((m, m))  # the sum of the nodes that hold both units
    for node in range(count):
        parent = parents[node]
        if parent >= 0:
            begin, end = start[node], start[node] + size[node]
            common[begin:end, start[parent] : begin] = sums[parent]
            common[begin:end, end : start[parent] + size[parent]] = sums[parent]
    losses = np.empty(m - 1)
    for d in range(1, m):
        costs = sums[d] - common[start[d]][start[:m]] - table[:, d]
        costs[heads[d - 1] + 1] = np.inf
        losses[d - 1] = max(0.0, costs.min())
    return losses


class _Part(NamedTuple):
    """The trees in which units before ``unit`` have these heads, and it has no banned one."""

    heads: Ints
    unit: int
    banned: tuple[int, ...]


class _Taken(NamedTuple):
    """The best tree of a part, with its dual solution."""

    part: _Part
    heads: Ints
    parents: Ints
    values: Floats


class _Branching:
    """Lawler's division of all trees into parts, each known by its best tree or a bound on it."""

    def __init__(self, table: Floats, single_root: bool) -> None:
        self._table, self._single_root = table, single_root
        self._units = np.arange(1, len(table))
        self._queue: list[tuple[float, int, float, _Part | _Taken]] = []
        self._pushed = 0

    def best(self, k: int) -> list[tuple[Ints, float]]:
        """Return the k best trees with their scores."""
        self._solve(_Part(np.zeros(0, np.int64), 0, ()))
        trees: list[tuple[Ints, float]] = []
        while self._queue and len(trees) < k:
            _, _, score, item = heappop(self._queue)
            if isinstance(item, _Part):
                self._solve(item)
                continue
            trees.append((item.heads, score))
            if len(trees) < k:
                self._divide(item, score)
        return trees

    def _push(self, key: float, score: float, item: _Part | _Taken) -> None:
        # Numbered, so that equal keys come out in a fixed order and items are never compared.
        self._pushed += 1
        heappush(self._queue, (-key, self._pushed, score, item))

    def _solve(self, part: _Part) -> None:
        heads, parents, values = _edmonds(self._restricted(part), self._single_root)
        if len(heads) == len(self._units):
            score = float(self._table[heads + 1, self._units].sum())
            self._push(score, score, _Taken(part, heads, parents, values))

    def _divide(self, taken: _Taken, score: float) -> None:
        """Queue the trees of a part without its best one, by the first unit that differs."""
        table = self._restricted(taken.part)
        losses = _losses(table, taken.heads, taken.parents, taken.values)
        # Rounding must not make a bound too tight: a loose one costs time only.
        slack = 1e-9 * (1.0 + abs(score))
        for unit in range(taken.part.unit, len(self._units)):
            if losses[unit] < np.inf:
                banned = taken.part.banned if unit == taken.part.unit else ()
                part = _Part(taken.heads, unit, (*banned, int(taken.heads[unit])))
                self._push(score - float(losses[unit]) + slack, 0.0, part)

    def _restricted(self, part: _Part) -> Floats:
        table = self._table.copy()
        table[:, 1 : part.unit + 1] = -np.inf
        heads, units = part.heads[: part.unit] + 1, self._units[: part.unit]
        table[heads, units] = self._table[heads, units]
        for head in part.banned:
            table[head + 1, part.unit + 1] = -np.inf
        return table


def _arc_sums(table: Floats, single_root: bool) -> tuple[float, Floats]:
    """Return log partition and marginals of scores whose columns have their maximum at 0."""
    arcs = np.where(table > -np.inf, table, 0.0)
    if arcs.min() >= -_SAFE_RANGE:
        with np.errstate(all="ignore"):
            log_partition, marginals = _eliminate(np.exp(table), single_root)
        sums = marginals[:, 1:].sum(axis=0)
        # Fails, also for NaN, if something underflowed after all (long chains of few arcs).
        if np.isfinite(log_partition) and np.all(np.abs(sums - 1) < _COLUMN_SUM_TOLERANCE):
            return log_partition, marginals
    return _eliminate_logs(table, single_root)


@compiled
def _eliminate(weights: Floats, single_root: bool) -> tuple[float, Floats]:
    """Return the log of the sum of all trees' weights, and the arcs' marginals.

    Removing a unit v puts an arc past it for every pair of arcs into and out of v:
    w[h, d] += w[h, v] w[v, d] / s, where s, the sum of what enters v, becomes a factor of the
    partition function. For trees with one root, root arcs count as infinitely small: they are
    left out of s, except for the last unit. ``slopes`` are the derivatives of the log partition
    function, by the same steps backwards; times weights, they are the marginals.
    """
    m = weights.shape[0]
    first = 1 if single_root else 0
    reduced, sums = weights.copy(), np.zeros(m)
    log_partition = 0.0
    for v in range(m - 1, 0, -1):
        for h in range(first if v > 1 else 0, v):
            sums[v] += reduced[h, v]
        log_partition += np.log(sums[v])
        out = reduced[v]
        for h in range(v):
            factor = reduced[h, v] / sums[v]
            if factor > 0:
                row = reduced[h]
                for d in range(1, v):
                    row[d] += factor * out[d]
    slopes = np.zeros((m, m))
    slopes[0, 1] = 1 / sums[1]
    for v in range(2, m):
        out, back = reduced[v], slopes[v]
        through = 0.0
        for h in range(v):
            row = slopes[h]
            into = reduced[h, v] / sums[v]
            passed = 0.0
            for d in range(1, v):
                passed += row[d] * out[d]
                back[d] += into * row[d]
            row[v] = passed / sums[v]
            through += into * row[v]
        for h in range(first, v):
            slopes[h, v] += 1 / sums[v] - through
    return log_partition, slopes * weights


@compiled
def _eliminate_logs(table: Floats, single_root: bool) -> tuple[float, Floats]:
    """Do as `_eliminate`, on logarithms: ten times slower, for scores of any range."""
    m = table.shape[0]
    first = 1 if single_root else 0
    reduced, sums = table.copy(), np.zeros(m)
    log_partition = 0.0
    for v in range(m - 1, 0, -1):
        begin = first if v > 1 else 0
        top = reduced[begin:v, v].max()
        sums[v] = top + np.log(np.exp(reduced[begin:v, v] - top).sum())
        log_partition += sums[v]
        out = reduced[v]
        for h in range(v):
            factor = reduced[h, v] - sums[v]
            if factor > -np.inf:
                row = reduced[h]
                for d in range(1, v):
                    row[d] = np.logaddexp(row[d], factor + out[d])
    slopes = np.full((m, m), -np.inf)
    slopes[0, 1] = -sums[1]
    terms = np.empty(m)
    for v in range(2, m):
        out, back = reduced[v], slopes[v]
        through = 0.0
        for h in range(v):
            row = slopes[h]
            into = reduced[h, v] - sums[v]
            top = -np.inf
            for d in range(1, v):
                terms[d] = row[d] + out[d] - sums[v]
                top = max(top, terms[d])
                if into > -np.inf:
                    back[d] = np.logaddexp(back[d], into + row[d])
            row[v] = top
            if top > -np.inf:
                total = 0.0
                for d in range(1, v):
                    total += np.exp(terms[d] - top)
                row[v] += np.log(total)
                through += np.exp(reduced[h, v] + row[v])
        for h in range(first, v):
            passed = slopes[h, v]
            top = max(passed, -sums[v])
            value = np.exp(passed - top) + (1.0 - through) * np.exp(-sums[v] - top)
            slopes[h, v] = np.log(max(value, 0.0)) + top
    return log_partition, np.exp(slopes + table)
