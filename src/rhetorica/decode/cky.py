"""Span and split scores -> binary trees: CKY, k-best, inside-outside, minimum Bayes risk.

Units are numbered 0 .. n - 1 and spans are half-open: a join ``(i, k, j)`` joins ``i:k`` and
``k:j``, as in `RSTTree`, and a tree over n units has n - 1 joins. Its score is the sum over its
joins of ``split[i, k, j]`` (how well the two parts go together) and ``span[i, j]`` (how good a
constituent ``i:j`` is, however it is made); either may be left out. Minus infinity forbids. A
parser with labels either adds the best label's score to these, or hands all to `cky_kbest`.

``span`` is (n + 1) x (n + 1); cells with j - i < 2 are never read, as single units are part of
every tree.

``split`` has one value for each i < k < j and comes in two layouts. *Dense* is an array of shape
(n + 1, n + 1, n + 1), indexed [i, k, j], all else ignored. *Packed* holds only those (n^3 - n) / 6
values, a sixth of the memory (300 units in float32: 18 MB, dense 109 MB), in one row: spans by
width, then by start, and for each span its splits from left to right. `split_block` views all
spans of one width as a matrix, to fill or to read; `pack_splits` packs a dense array. Decoders
work on the packed layout. float32 stays float32: sums are made in float64.

Time is O(n^3) throughout, memory O(n^2) beside ``split``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhetorica.decode._arrays import Floats, Ints, as_real, check_k, check_values
from rhetorica.decode._lazy import LEAF, Edges, LazyKBest
from rhetorica.kernels import compiled

NO_TREE = "every tree has a forbidden join: let spans have more splits to choose from"
_SUM_TOLERANCE = 1e-3
"""How far from 1 the probabilities of a span's splits may add up, in float32 from a network."""


class Bracketing(NamedTuple):
    """A binary tree: its joins (i, k, j) in preorder, its score, a label for each join.

    ``labels`` is empty where no label scores were given.
    """

    joins: list[tuple[int, int, int]]
    score: float
    labels: list[int]


def packed_size(n: int) -> int:
    """Return how many splits n units have.

    >>> packed_size(4)
    10
    """
    return (n**3 - n) // 6


def split_block(packed: NDArray[Any], n: int, width: int) -> NDArray[Any]:
    """View the splits of all spans of one width, 2 <= width <= n, as a matrix.

    Row i is the span ``i : i + width``, column t the split at ``i + 1 + t``.

    >>> import numpy as np
    >>> split_block(np.arange(10), 4, 3).tolist()
    [[3, 4], [5, 6]]
    """
    rows, columns = n - width + 1, width - 1
    start = _block_start(n, width)
    return packed[start : start + rows * columns].reshape(rows, columns)


def pack_splits(dense: ArrayLike) -> NDArray[Any]:
    """Pack split scores [i, k, j].

    >>> import numpy as np
    >>> dense = np.arange(27).reshape(3, 3, 3)
    >>> pack_splits(dense).tolist()  # two units have one join: (0, 1, 2)
    [5.0]
    """
    array = as_real("split", dense, 3)
    if len(set(array.shape)) != 1 or not array.size:
        raise ValueError(f"split is {array.shape}: expected (n + 1, n + 1, n + 1)")
    n = len(array) - 1
    packed = np.empty(packed_size(n), array.dtype)
    for width in range(2, n + 1):
        split_block(packed, n, width)[:] = array[_block_index(n, width)]
    return packed


def unpack_splits(packed: ArrayLike, *, fill: float = 0.0) -> NDArray[Any]:
    """Return packed split scores as a dense array [i, k, j], with ``fill`` where no join is."""
    array = as_real("split", packed, 1)
    n = _packed_units(array)
    dense = np.full((n + 1,) * 3, fill, array.dtype)
    for width in range(2, n + 1):
        dense[_block_index(n, width)] = split_block(array, n, width)
    return dense


def cky(split: ArrayLike | None, span: ArrayLike | None = None) -> Bracketing:
    """Return the best binary tree.

    Among equally good trees the choice is arbitrary but always the same.

    >>> import numpy as np
    >>> span = np.zeros((4, 4))
    >>> span[1, 3] = 1
    >>> cky(None, span)
    Bracketing(joins=[(0, 1, 3), (1, 2, 3)], score=1.0, labels=[])
    """
    packed, spans = _checked(split, span)
    best = _best_inside(packed, spans)
    score = float(best[0, -1])
    if score == -np.inf:
        raise ValueError(NO_TREE)
    joins = [(i, k, j) for i, k, j in _trace(packed, best).tolist()]
    return Bracketing(joins, score, [])


def mbr_cky(posteriors: ArrayLike) -> Bracketing:
    """Return the tree with the most constituents expected to be right (Goodman 1996).

    ``posteriors[i, j]`` is the probability of the span, or of the span with its best label (the
    product of both posteriors). The score is the expected number of correct joins.

    >>> import numpy as np
    >>> third = np.zeros((4, 4))
    >>> third[0, 3], third[0, 2], third[1, 3] = 1, 0.25, 0.75
    >>> mbr_cky(third).joins
    [(0, 1, 3), (1, 2, 3)]
    """
    return cky(None, posteriors)


def cky_kbest(
    split: ArrayLike | None, k: int, span: ArrayLike | None = None, labels: ArrayLike | None = None
) -> list[Bracketing]:
    """Return the k best trees, best first, each tree and labelling once.

    ``labels`` gives the scores of label l on a join: ``labels[i, j, l]``, or ``labels[i, k, j, l]``
    where it depends on the split. It adds to ``split`` and ``span``; with it, trees that differ in
    a label only are different, and ``labels`` of the result are indices l. There are fewer than k
    trees if no more exist. Lazy search (Huang & Chiang 2005, Algorithm 3).

    >>> import numpy as np
    >>> [tree.labels for tree in cky_kbest(None, 2, np.zeros((3, 3)), np.ones((3, 3, 2)) * [1, 2])]
    [[1], [0]]
    """
    check_k(k)
    packed, spans = _checked(split, span)
    graph = _CKYGraph(packed, spans, labels)
    best = LazyKBest(graph.edges, k)
    if graph.top == LEAF:
        return [Bracketing([], 0.0, [])]
    return [
        graph.bracketing(best, rank, derivation.score)
        for rank, derivation in enumerate(best.derivations(graph.top))
    ]


def inside_outside(
    split: ArrayLike | None, span: ArrayLike | None = None
) -> tuple[float, Floats, Floats]:
    """Return the log partition function, span marginals and split marginals.

    A tree's probability is proportional to exp(score). ``spans[i, j]`` is the probability that
    ``i:j`` is a constituent (1 for single units); split marginals have the layout of ``split``,
    packed if there is none.

    >>> import numpy as np
    >>> log_partition, spans, splits = inside_outside(None, np.zeros((4, 4)))
    >>> round(np.exp(log_partition)), spans[0].round(3).tolist()
    (2, [0.0, 1.0, 0.5, 1.0])
    """
    packed, spans = _checked(split, span)
    whole, inner = _sum_inside(packed, spans)
    log_partition = float(whole[0, -1])
    if log_partition == -np.inf:
        raise ValueError(NO_TREE)
    posteriors, splits = _outside(packed, whole, inner)
    if split is not None and np.ndim(split) == 3:
        splits = unpack_splits(splits)
    return log_partition, _with_units(posteriors), splits


def top_down_marginals(split_probs: ArrayLike) -> Floats:
    """Return the probability of each span under a top-down model p(k | i, j).

    ``split_probs`` (dense or packed) holds probabilities, which add up to 1 for each span: one
    pass from the whole down gives exact posteriors, with no sum over trees.

    >>> import numpy as np
    >>> spans = top_down_marginals(np.array([1.0, 1.0, 0.25, 0.75]))  # 0:3 at 1 and at 2
    >>> spans[0].tolist(), spans[1].tolist()
    ([0.0, 1.0, 0.75, 1.0], [0.0, 0.0, 1.0, 0.25])
    """
    packed = _packed(split_probs)
    n = _units(packed, split_probs)
    if packed.size and packed.min() < 0:
        raise ValueError("split_probs has a negative value: expected probabilities, not logs")
    for width in range(2, n + 1):
        sums = split_block(packed, n, width).sum(axis=1, dtype=np.float64)
        worst = int(np.abs(sums - 1).argmax())
        if abs(sums[worst] - 1) > _SUM_TOLERANCE:
            raise ValueError(
                f"the splits of span {worst}:{worst + width} have probabilities that add up to "
                f"{sums[worst]:.6g}, not 1"
            )
    return _with_units(_top_down(packed, n))


def _block_start(n: int, width: int) -> int:
    """Sum (n - u + 1) (u - 1) over widths 2 <= u < width."""
    w = width - 2
    return n * w * (w + 1) // 2 - w * (w + 1) * (2 * w + 1) // 6


def _block_index(n: int, width: int) -> tuple[Ints, Ints, Ints]:
    starts, steps = np.arange(n - width + 1)[:, None], np.arange(1, width)
    return starts, starts + steps, starts + width


def _packed_units(packed: NDArray[Any]) -> int:
    """Find n from the number of splits; no split at all is taken for one unit."""
    size = int(packed.size)
    n = max(1, round(math.cbrt(6 * size)))
    if packed_size(n) != size:
        raise ValueError(f"packed split has {size} values: expected (n^3 - n) / 6 for some n")
    return n


def _packed(split: ArrayLike) -> NDArray[Any]:
    if np.ndim(split) == 3:
        packed = pack_splits(split)
    elif np.ndim(split) == 1:
        packed = np.ascontiguousarray(as_real("split", split, 1))
        _packed_units(packed)
    else:
        raise ValueError(f"split has {np.ndim(split)} dimensions: expected 3, or 1 if packed")
    check_values("split", packed)
    return packed


def _units(packed: NDArray[Any], split: ArrayLike) -> int:
    return np.shape(split)[0] - 1 if np.ndim(split) == 3 else _packed_units(packed)


def _checked(split: ArrayLike | None, span: ArrayLike | None) -> tuple[NDArray[Any], Floats]:
    """Return packed splits (none: empty) and span scores (none: zeros) that fit each other."""
    packed = np.zeros(0) if split is None else _packed(split)
    if span is None:
        if split is None:
            raise ValueError("neither split nor span scores were given")
        n = _units(packed, split)
        return packed, np.zeros((n + 1, n + 1))
    spans = np.array(as_real("span", span, 2), np.float64, order="C")
    if spans.shape[0] != spans.shape[1] or not spans.size:
        raise ValueError(f"span is {spans.shape}: expected (n + 1, n + 1)")
    n = len(spans) - 1
    if split is not None and packed.size != packed_size(n):
        raise ValueError(f"span is for {n} units, split for {_units(packed, split)}")
    spans[np.tri(n + 1, k=1, dtype=bool)] = 0.0
    check_values("span", spans)
    return packed, spans


def _with_units(posteriors: Floats) -> Floats:
    """Keep the upper triangle, and add the single units, which are certain."""
    result: Floats = np.triu(posteriors, 2)
    np.fill_diagonal(result[:, 1:], 1.0)
    return result


@compiled
def _best_inside(packed: NDArray[Any], spans: Floats) -> Floats:
    """Return the best score of each span, at [i, j] and again at [j, i].

    So both parts of all splits of a span lie in a row each, ``best[i, i+1:j]`` and
    ``best[j, i+1:j]``.
    """
    n = spans.shape[0] - 1
    best = np.zeros((n + 1, n + 1))
    at = 0
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            left, right = best[i, i + 1 : j], best[j, i + 1 : j]
            top = -np.inf
            if packed.size:
                here = packed[at : at + width - 1]
                for t in range(width - 1):
                    top = max(top, here[t] + left[t] + right[t])
                at += width - 1
            else:
                for t in range(width - 1):
                    top = max(top, left[t] + right[t])
            best[i, j] = best[j, i] = top + spans[i, j]
    return best


@compiled
def _trace(packed: NDArray[Any], best: Floats) -> Ints:
    """Read the joins off the chart of `_best_inside`, in preorder."""
    n = best.shape[0] - 1
    joins = np.empty((max(0, n - 1), 3), np.int64)
    stack = np.empty((n + 2, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, n
    size, count = 1, 0
    while size:
        size -= 1
        i, j = stack[size, 0], stack[size, 1]
        if j - i < 2:
            continue
        if packed.size:
            w = j - i - 2
            at = n * w * (w + 1) // 2 - w * (w + 1) * (2 * w + 1) // 6 + i * (w + 1)
            k = np.argmax(packed[at : at + w + 1] + best[i, i + 1 : j] + best[j, i + 1 : j])
        else:
            k = np.argmax(best[i, i + 1 : j] + best[j, i + 1 : j])
        k += i + 1
        joins[count, 0], joins[count, 1], joins[count, 2] = i, k, j
        count += 1
        stack[size, 0], stack[size, 1] = k, j
        stack[size + 1, 0], stack[size + 1, 1] = i, k
        size += 2
    return joins


@compiled
def _sum_inside(packed: NDArray[Any], spans: Floats) -> tuple[Floats, Floats]:
    """Return the log total weight of each span, twice as in `_best_inside`, and without ``spans``.

    The second chart, of sums over splits alone, is kept because a difference would lose digits.
    """
    n = spans.shape[0] - 1
    whole, inner = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    terms = np.empty(n + 1)
    at = 0
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            left, right = whole[i, i + 1 : j], whole[j, i + 1 : j]
            top = -np.inf
            for t in range(width - 1):
                if packed.size:
                    terms[t] = packed[at + t] + left[t] + right[t]
                else:
                    terms[t] = left[t] + right[t]
                top = max(top, terms[t])
            at += width - 1
            total = top
            if top > -np.inf:
                weight = 0.0
                for t in range(width - 1):
                    weight += np.exp(terms[t] - top)
                total += np.log(weight)
            inner[i, j] = total
            whole[i, j] = whole[j, i] = total + spans[i, j]
    return whole, inner


@compiled
def _outside(packed: NDArray[Any], whole: Floats, inner: Floats) -> tuple[Floats, Floats]:
    """Return the probability of each span, and of each split (packed), from the whole down.

    A span gathers probability as a left part at [i, j] and as a right part at [j, i].
    """
    n = whole.shape[0] - 1
    size = (n**3 - n) // 6
    posteriors, splits = np.zeros((n + 1, n + 1)), np.zeros(size)
    posteriors[0, n] = 1.0
    at = size
    for width in range(n, 1, -1):
        for i in range(n - width, -1, -1):
            j = i + width
            at -= width - 1
            mass = posteriors[i, j] + posteriors[j, i]
            posteriors[i, j] = mass
            if mass <= 0:
                continue
            for t in range(width - 1):
                k = i + 1 + t
                term = whole[i, k] + whole[j, k]
                if packed.size:
                    term = packed[at + t] + whole[i, k] + whole[j, k]
                share = mass * np.exp(term - inner[i, j])
                splits[at + t] = share
                posteriors[i, k] += share
                posteriors[j, k] += share
    return posteriors, splits


@compiled
def _top_down(packed: NDArray[Any], n: int) -> Floats:
    """Return the probability of each span, gathered as in `_outside`."""
    posteriors = np.zeros((n + 1, n + 1))
    posteriors[0, n] = 1.0
    at = packed.size
    for width in range(n, 1, -1):
        for i in range(n - width, -1, -1):
            j = i + width
            at -= width - 1
            mass = posteriors[i, j] + posteriors[j, i]
            posteriors[i, j] = mass
            left, right = posteriors[i, i + 1 : j], posteriors[j, i + 1 : j]
            for t in range(width - 1):
                share = mass * packed[at + t]
                left[t] += share
                right[t] += share
    return posteriors


class _CKYGraph:
    """The derivations of all labelled trees as a hypergraph, for k-best search.

    A span node is its cell in the chart. Where labels are given, their choice is a node of its
    own, numbered after the spans: one for each span, or one for each join.
    """

    def __init__(self, packed: NDArray[Any], spans: Floats, labels: ArrayLike | None) -> None:
        self._m = m = len(spans)
        self._packed, self._spans = packed, spans
        self._by_span, self._by_join = self._label_tables(labels)
        self._best_spans, self._best_packed = spans, packed
        if self._by_span is not None:
            self._best_spans = np.triu(spans + self._by_span.max(axis=2), 2)
            check_values("labels", self._best_spans)
        if self._by_join is not None:
            tops = pack_splits(self._by_join.max(axis=3))
            check_values("labels", tops)
            self._best_packed = np.add(packed if packed.size else 0.0, tops, dtype=np.float64)
        self._best = _best_inside(self._best_packed, self._best_spans)
        self.top = self._span(0, m - 1)

    def _label_tables(
        self, labels: ArrayLike | None
    ) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        if labels is None:
            return None, None
        dimensions = np.ndim(labels)
        if dimensions not in (3, 4):
            raise ValueError(
                f"labels has {dimensions} dimensions: expected [i, j, l] or [i, k, j, l]"
            )
        table = as_real("labels", labels, dimensions)
        wanted = (self._m,) * (dimensions - 1)
        if table.shape[:-1] != wanted or not table.shape[-1]:
            raise ValueError(f"labels is {table.shape}: expected {wanted} and at least one label")
        return (table, None) if dimensions == 3 else (None, table)

    def edges(self, node: int) -> Edges:
        """List the ways to derive a node."""
        if node >= self._m**2:
            return self._label_edges(node - self._m**2)
        i, j = divmod(node, self._m)
        left, right = self._best[i, i + 1 : j], self._best[j, i + 1 : j]
        weights = self._split_row(self._best_packed, i, j)
        bonus = float(self._best_spans[i, j])
        scores = ((weights + left) + right) + bonus
        if self._by_join is not None:
            weights = np.zeros(j - i - 1)
        elif self._by_span is not None:
            bonus = 0.0
        return Edges(scores, weights, lambda e: self._tails(i, i + 1 + e, j), bonus)

    def bracketing(self, best: LazyKBest, rank: int, score: float) -> Bracketing:
        """Read the tree of the given rank."""
        joins: list[tuple[int, int, int]] = []
        labels: dict[int, int] = {}
        for node, edge in best.walk(self.top, rank):
            if node >= self._m**2:
                labels[node] = edge
            else:
                i, j = divmod(node, self._m)
                joins.append((i, i + 1 + edge, j))
        if not labels:
            return Bracketing(joins, score, [])
        return Bracketing(joins, score, [labels[self._label(*join)] for join in joins])

    def _span(self, i: int, j: int) -> int:
        return LEAF if j - i < 2 else i * self._m + j

    def _label(self, i: int, k: int, j: int) -> int:
        cell = i * self._m + j if self._by_join is None else (i * self._m + k) * self._m + j
        return self._m**2 + cell

    def _tails(self, i: int, k: int, j: int) -> tuple[int, ...]:
        # In the order in which the chart adds: split, left, right, span.
        if self._by_join is not None:
            return self._label(i, k, j), self._span(i, k), self._span(k, j)
        if self._by_span is not None:
            return self._span(i, k), self._span(k, j), self._label(i, k, j)
        return self._span(i, k), self._span(k, j)

    def _split_row(self, packed: NDArray[Any], i: int, j: int) -> Floats:
        if not packed.size:
            return np.zeros(j - i - 1)
        row: Floats = split_block(packed, self._m - 1, j - i)[i].astype(np.float64)
        return row

    def _label_edges(self, cell: int) -> Edges:
        rest, j = divmod(cell, self._m)
        if self._by_span is not None:
            scores = self._spans[rest, j] + self._by_span[rest, j].astype(np.float64)
        elif self._by_join is not None:
            i, k = divmod(rest, self._m)
            own = self._split_row(self._packed, i, j)[k - i - 1]
            scores = own + self._by_join[i, k, j].astype(np.float64)
        else:
            raise ValueError("there are no labels")
        return Edges(scores, scores, lambda _: ())
