"""The decoders' kernels once more, as numpy operations on whole diagonals: the tests' reference.

Each function takes and gives what the kernel of its name does. Brute force checks small inputs;
these check large ones, and that ties are broken alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhetorica.decode import packed_size, split_block

Floats = NDArray[np.float64]


def bands(square: Floats, row: int, column: int, rows: int, width: int) -> Floats:
    """View ``square[row + r, column + r : column + r + width]`` as row r, for r < rows.

    Spans of one width lie along a diagonal; this makes a rectangle of their parts, without
    copying. ``square`` must be contiguous.
    """
    step, item = square.strides
    offset = row * step + column * item
    return np.ndarray((rows, width), np.float64, square, offset, (step + item, item))


def diagonal(square: Floats, offset: int) -> Floats:
    """View the diagonal ``square[i, i + offset]`` (below the main one if negative), writable."""
    row, column = max(0, -offset), max(0, offset)
    return bands(square, row, column, len(square) - abs(offset), 1)[:, 0]


def _log_sum_rows(values: Floats) -> Floats:
    """Return the log of each row's sum of exponentials; destroys ``values``."""
    top = values.max(axis=1)
    # A row that is forbidden throughout would subtract infinity from infinity.
    safe = np.where(top == -np.inf, 0.0, top)
    values -= safe[:, None]
    np.exp(values, out=values)
    with np.errstate(divide="ignore"):
        total: Floats = np.log(values.sum(axis=1)) + safe
    return total


def _shares(first: Floats, second: Floats, whole: Floats, mass: Floats) -> Floats:
    """Split each row's probability ``mass`` over its terms ``first + second`` of ``whole``."""
    alive = mass > 0
    terms: Floats = first + second
    terms -= np.where(alive, whole, 0.0)[:, None]
    terms[~alive] = -np.inf
    np.exp(terms, out=terms)
    terms *= mass[:, None]
    return terms


def best_spans(arcs: Floats) -> tuple[Floats, Floats, Floats]:
    """Fill the charts of `_best_spans` one width after the other."""
    n = len(arcs)
    right, left, arc = np.zeros((n, n)), np.zeros((n, n)), np.full((n, n), -np.inf)
    for width in range(1, n):
        rows = n - width
        gap = bands(right, 0, 0, rows, width) + bands(left, width, 1, rows, width)
        best = gap.max(axis=1)
        diagonal(arc, width)[:] = best + diagonal(arcs, width)
        diagonal(arc, -width)[:] = best + diagonal(arcs, -width)
        best = (bands(arc, 0, 1, rows, width) + bands(right, width, 1, rows, width)).max(axis=1)
        diagonal(right, width)[:] = diagonal(right, -width)[:] = best
        best = (bands(left, 0, 0, rows, width) + bands(arc, width, 0, rows, width)).max(axis=1)
        diagonal(left, width)[:] = diagonal(left, -width)[:] = best
    return right, left, arc


def sum_spans(arcs: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Fill the charts of `_sum_spans` one width after the other."""
    n = len(arcs)
    right, left, arc = np.zeros((n, n)), np.zeros((n, n)), np.full((n, n), -np.inf)
    gap = np.zeros((n, n))
    for width in range(1, n):
        rows = n - width
        total = _log_sum_rows(bands(right, 0, 0, rows, width) + bands(left, width, 1, rows, width))
        diagonal(gap, width)[:] = total
        diagonal(arc, width)[:] = total + diagonal(arcs, width)
        diagonal(arc, -width)[:] = total + diagonal(arcs, -width)
        total = _log_sum_rows(bands(arc, 0, 1, rows, width) + bands(right, width, 1, rows, width))
        diagonal(right, width)[:] = diagonal(right, -width)[:] = total
        total = _log_sum_rows(bands(left, 0, 0, rows, width) + bands(arc, width, 0, rows, width))
        diagonal(left, width)[:] = diagonal(left, -width)[:] = total
    return right, left, arc, gap


def arc_posteriors(right: Floats, left: Floats, arc: Floats, gap: Floats, roots: Floats) -> Floats:
    """Do as `_arc_posteriors`, one width after the other."""
    n = len(right)
    p_right, p_left, p_arc = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    p_left[0] += roots
    p_right[-1] += roots
    for width in range(n - 1, 0, -1):
        rows = n - width
        mass = diagonal(p_right, width) + diagonal(p_right, -width)
        first, second = (0, 1, rows, width), (width, 1, rows, width)
        share = _shares(bands(arc, *first), bands(right, *second), diagonal(right, width), mass)
        bands(p_arc, *first)[:] += share
        bands(p_right, *second)[:] += share
        mass = diagonal(p_left, width) + diagonal(p_left, -width)
        first, second = (0, 0, rows, width), (width, 0, rows, width)
        share = _shares(bands(left, *first), bands(arc, *second), diagonal(left, width), mass)
        bands(p_left, *first)[:] += share
        bands(p_arc, *second)[:] += share
        mass = diagonal(p_arc, width) + diagonal(p_arc, -width)
        first, second = (0, 0, rows, width), (width, 1, rows, width)
        share = _shares(bands(right, *first), bands(left, *second), diagonal(gap, width), mass)
        bands(p_right, *first)[:] += share
        bands(p_left, *second)[:] += share
    return p_arc


def _terms(packed: NDArray[Any], chart: Floats, width: int) -> Floats:
    """Score all splits of all spans of one width, a row for each span."""
    n = len(chart) - 1
    first, second = _part_places(n, width)
    left, right = bands(chart, *first), bands(chart, *second)
    if not packed.size:
        terms: Floats = left + right
        return terms
    terms = split_block(packed, n, width) + left
    terms += right
    return terms


def _part_places(n: int, width: int) -> tuple[tuple[int, int, int, int], tuple[int, int, int, int]]:
    """Tell where the left and the right parts of all spans of one width are, for `bands`."""
    rows = n - width + 1
    return (0, 1, rows, width - 1), (width, 1, rows, width - 1)


def best_inside(packed: NDArray[Any], spans: Floats) -> Floats:
    """Fill the chart of `_best_inside` one width after the other."""
    n = len(spans) - 1
    best = np.zeros((n + 1, n + 1))
    for width in range(2, n + 1):
        top = _terms(packed, best, width).max(axis=1) + diagonal(spans, width)
        diagonal(best, width)[:] = diagonal(best, -width)[:] = top
    return best


def sum_inside(packed: NDArray[Any], spans: Floats) -> tuple[Floats, Floats]:
    """Fill the charts of `_sum_inside` one width after the other."""
    n = len(spans) - 1
    whole, inner = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    for width in range(2, n + 1):
        terms = _terms(packed, whole, width)
        top = terms.max(axis=1)
        top = np.where(top == -np.inf, 0.0, top)
        terms -= top[:, None]
        with np.errstate(divide="ignore"):
            total = np.log(np.exp(terms, out=terms).sum(axis=1)) + top
        diagonal(inner, width)[:] = total
        total = total + diagonal(spans, width)
        diagonal(whole, width)[:] = diagonal(whole, -width)[:] = total
    return whole, inner


def outside(packed: NDArray[Any], whole: Floats, inner: Floats) -> tuple[Floats, Floats]:
    """Do as `_outside`, one width after the other."""
    n = len(whole) - 1
    posteriors, splits = np.zeros((n + 1, n + 1)), np.zeros(packed_size(n))
    posteriors[0, n] = 1.0
    for width in range(n, 1, -1):
        mass = diagonal(posteriors, width) + diagonal(posteriors, -width)
        diagonal(posteriors, width)[:] = mass
        alive = mass > 0
        share = _terms(packed, whole, width)
        share -= np.where(alive, diagonal(inner, width), 0.0)[:, None]
        share[~alive] = -np.inf
        np.exp(share, out=share)
        share *= mass[:, None]
        split_block(splits, n, width)[:] = share
        first, second = _part_places(n, width)
        bands(posteriors, *first)[:] += share
        bands(posteriors, *second)[:] += share
    return posteriors, splits


def top_down(packed: NDArray[Any], n: int) -> Floats:
    """Do as `_top_down`, one width after the other."""
    posteriors = np.zeros((n + 1, n + 1))
    posteriors[0, n] = 1.0
    for width in range(n, 1, -1):
        mass = diagonal(posteriors, width) + diagonal(posteriors, -width)
        diagonal(posteriors, width)[:] = mass
        share = split_block(packed, n, width) * mass[:, None]
        first, second = _part_places(n, width)
        bands(posteriors, *first)[:] += share
        bands(posteriors, *second)[:] += share
    return posteriors


def _log_sums(values: Floats, axis: int) -> Floats:
    """Return logs of sums of exponentials along an axis; all -inf gives -inf."""
    top = values.max(axis=axis, keepdims=True)
    top = np.where(top == -np.inf, 0.0, top)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(np.exp(values - top).sum(axis=axis)) + np.squeeze(top, axis)
    return logs


def eliminate(weights: Floats, single_root: bool) -> tuple[float, Floats]:
    """Do as `_eliminate`, a matrix at a time."""
    m, first = len(weights), int(single_root)
    reduced, sums = weights.copy(), np.empty(m)
    for v in range(m - 1, 0, -1):
        begin = first if v > 1 else 0
        sums[v] = reduced[begin:v, v].sum()
        reduced[:v, 1:v] += (reduced[:v, v] / sums[v])[:, None] * reduced[v, 1:v]
    slopes = np.zeros((m, m))
    slopes[0, 1] = 1 / sums[1]
    for v in range(2, m):
        into, out = reduced[:v, v] / sums[v], reduced[v, 1:v] / sums[v]
        inner = slopes[:v, 1:v]
        slopes[v, 1:v] = into @ inner
        slopes[:v, v] = inner @ out
        slopes[first:v, v] += 1 / sums[v] - into @ slopes[:v, v]
    return float(np.log(sums[1:]).sum()), slopes * weights


def eliminate_logs(table: Floats, single_root: bool) -> tuple[float, Floats]:
    """Do as `_eliminate_logs`, a matrix at a time."""
    m, first = len(table), int(single_root)
    reduced, sums = table.copy(), np.zeros(m)
    for v in range(m - 1, 0, -1):
        begin = first if v > 1 else 0
        sums[v] = _log_sums(reduced[begin:v, v], 0)
        passing = (reduced[:v, v] - sums[v])[:, None] + reduced[v, 1:v]
        np.logaddexp(reduced[:v, 1:v], passing, out=reduced[:v, 1:v])
    slopes = np.full((m, m), -np.inf)
    slopes[0, 1] = -sums[1]
    for v in range(2, m):
        into, out = reduced[:v, v] - sums[v], reduced[v, 1:v] - sums[v]
        inner = slopes[:v, 1:v]
        slopes[v, 1:v] = _log_sums(inner + into[:, None], 0)
        passed = _log_sums(inner + out, 1)
        rest = 1.0 - np.exp(into + sums[v] + passed).sum()
        top = np.maximum(passed[first:], -sums[v])
        value = np.exp(passed[first:] - top) + rest * np.exp(-sums[v] - top)
        slopes[:v, v] = passed
        with np.errstate(divide="ignore"):
            slopes[first:v, v] = np.log(np.maximum(value, 0.0)) + top
    return float(sums[1:].sum()), np.exp(slopes + table)
