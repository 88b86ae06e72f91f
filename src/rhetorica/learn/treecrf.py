"""Weights of joins from the likelihood of whole binary trees.

A tree's probability is proportional to the exp of the sum of its joins' scores, over all binary
trees (as Finkel, Kleeman & Manning 2008 do for syntax); inside-outside gives the sum over trees and
each join's expected count. Joins are numbered as in `rhetorica.decode.cky`, packed.

A join's score is the sum of the weights of its features. Many joins share some of them (those of
their left part, say), so that features come in blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.decode import inside_outside
from rhetorica.kernels import compiled
from rhetorica.learn.hashing import Rows, sum_rows
from rhetorica.learn.lbfgs import Progress, minimise

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Places = slice | Ints


class Block(NamedTuple):
    """Rows of weights (things x features) and which thing each join has; None: its own."""

    rows: Rows
    of: Ints | None = None

    def at(self, joins: Places) -> Places:
        """Return the things of some joins."""
        return joins if self.of is None else self.of[joins]


class TreeExample(NamedTuple):
    """The features of all joins of one segment, and which of its joins are in the tree."""

    blocks: Sequence[Block]
    gold: npt.NDArray[np.bool_]


def join_scores(blocks: Sequence[Block], weights: Floats) -> Floats:
    """Return the scores of all joins; the first block is that of single joins."""
    own, *others = (sum_rows(weights[:, None], block.rows)[:, 0] for block in blocks)
    for block, sums in zip(blocks[1:], others, strict=True):
        own += sums[block.of]
    return own


def tree_loss(weights: Floats, examples: Sequence[TreeExample], l2: float) -> tuple[float, Floats]:
    """Return the negative log-likelihood of gold trees, and its slope; row 0 has no weight."""
    loss = 0.0
    slope = np.zeros_like(weights)
    for blocks, gold in examples:
        scores = join_scores(blocks, weights)
        total, _, expected = inside_outside(scores)
        loss += total - float(scores[gold].sum())
        change = expected - gold
        for rows, of in blocks:
            if of is None:
                _add_rows(rows, change, slope)
            else:
                sums = np.bincount(of, weights=change, minlength=len(rows)).astype(np.float64)
                _add_rows(rows, sums, slope)
    slope[0] = 0.0
    return loss + l2 * float(weights @ weights), slope + 2 * l2 * weights


def fit_trees(
    examples: Sequence[TreeExample],
    size: int,
    *,
    l2: float,
    iterations: int,
    progress: Progress | None = None,
) -> Floats:
    """Learn the weights of gold trees."""
    return minimise(
        lambda point: tree_loss(point, examples, l2),
        np.zeros(size),
        iterations=iterations,
        progress=progress,
    )


@compiled
def _add_rows(rows: Rows, values: Floats, target: Floats) -> None:
    """Add each thing's value to all its features."""
    for thing in range(rows.shape[0]):
        value = values[thing]
        for at in range(rows.shape[1]):
            target[rows[thing, at]] += value
