"""Weights of joins from the likelihood of whole trees (ours, beside the paper's model).

The paper's multi-sentential model is trained on single joins, half of them drawn at random, and
never sees what its decoder does with them. Here a tree's probability is proportional to the exp of
the sum of its joins' scores, over all binary trees (as Finkel, Kleeman & Manning 2008 do for
syntax); inside-outside gives the sum over trees and each join's expected count. Structure only:
relations are learned given the join.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.decode import inside_outside
from rhetorica.kernels import kernel
from rhetorica.parsers.codra.crf import minimise
from rhetorica.parsers.codra.rows import Features, Rows32

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class TreeExample(NamedTuple):
    """The features of one segment, mapped to weights, and which of its joins are in the tree."""

    features: Features
    gold: npt.NDArray[np.bool_]


def join_scores(features: Features, weights: Floats) -> Floats:
    """Return the structure scores of all joins of a segment."""
    layout = features.layout
    scores = row_dots(features.join, weights)
    scores += row_dots(features.left, weights)[layout.left]
    scores += row_dots(features.right, weights)[layout.right]
    scores += row_dots(features.whole, weights)[layout.whole]
    scores += row_dots(features.edge, weights)[layout.unit_ends[layout.left]]
    return np.asarray(scores)


def tree_loss(weights: Floats, examples: Sequence[TreeExample], l2: float) -> tuple[float, Floats]:
    """Return the negative log-likelihood of gold trees, and its slope; row 0 has no weight."""
    loss = 0.0
    slope = np.zeros_like(weights)
    for features, gold in examples:
        layout = features.layout
        scores = join_scores(features, weights)
        total, _, expected = inside_outside(scores)
        loss += total - float(scores[gold].sum())
        change = expected - gold
        add_rows(features.join, change, slope)
        units = len(layout.unit_starts)
        for rows, place, size in (
            (features.left, layout.left, units),
            (features.right, layout.right, units),
            (features.whole, layout.whole, units),
            (features.edge, layout.unit_ends[layout.left], len(features.edge)),
        ):
            sums = np.bincount(place, weights=change, minlength=size).astype(np.float64)
            add_rows(rows, sums, slope)
    slope[0] = 0.0
    return loss + l2 * float(weights @ weights), slope + 2 * l2 * weights


def fit_trees(
    examples: Sequence[TreeExample],
    size: int,
    *,
    l2: float,
    iterations: int,
    progress: Callable[[int, float], None] | None = None,
) -> Floats:
    """Learn the structure weights of gold trees."""
    return minimise(
        lambda point: tree_loss(point, examples, l2),
        np.zeros(size),
        iterations=iterations,
        progress=progress,
    )


def _row_dots_numpy(rows: Rows32, weights: Floats) -> Floats:
    total = np.zeros(len(rows))
    for column in range(rows.shape[1]):
        total += weights[rows[:, column]]
    return total


@kernel(_row_dots_numpy)
def row_dots(rows: Rows32, weights: Floats) -> Floats:
    """Sum the weights of each example's features."""
    total = np.zeros(rows.shape[0])
    for example in range(rows.shape[0]):
        value = 0.0
        for template in range(rows.shape[1]):
            value += weights[rows[example, template]]
        total[example] = value
    return total


def _add_rows_numpy(rows: Rows32, values: Floats, target: Floats) -> None:
    for column in range(rows.shape[1]):
        target += np.bincount(rows[:, column], weights=values, minlength=len(target))


@kernel(_add_rows_numpy)
def add_rows(rows: Rows32, values: Floats, target: Floats) -> None:
    """Add each example's value to all its features."""
    for example in range(rows.shape[0]):
        value = values[example]
        for template in range(rows.shape[1]):
            target[rows[example, template]] += value
