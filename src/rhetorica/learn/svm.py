"""Large-margin classification into several classes: the machine of Crammer & Singer (2001).

It minimises ``l2 / 2`` times the squared weights plus, for each example, how far the score of its
class falls short of being one higher than that of any other. The dual problem has a distribution
over classes for each example (``shares``, the eta of Ji & Eisenstein 2014): all on the right class
where the margin is kept, else spread over the classes that contend. It is solved one example at a
time, exactly (Keerthi et al. 2008): the best shares are the projection of the scores onto the
simplex. Examples have a dense part and a sparse one, which share nothing but the class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.errors import RhetoricaError
from rhetorica.kernels import compiled
from rhetorica.learn.hashing import sum_rows

Floats = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Examples:
    """Examples with a dense part (n, k) and a sparse one of zeros and ones.

    Row i has a one in the columns ``rows[i]`` (n, most); columns below 0 stand for nothing, so that
    examples may have different numbers of them. ``width`` is the number of columns.
    """

    dense: Floats
    rows: Rows
    width: int

    def __post_init__(self) -> None:
        if len(self.dense) != len(self.rows):
            raise RhetoricaError(f"{len(self.dense)} dense rows, but {len(self.rows)} sparse ones")
        if self.rows.size and int(self.rows.max()) >= self.width:
            raise RhetoricaError(f"column {int(self.rows.max())} of only {self.width}")

    def __len__(self) -> int:
        return len(self.dense)

    def scores(self, dense_weights: Floats, weights: Floats) -> Floats:
        """Return the score of every class for every example."""
        return np.asarray(self.dense @ dense_weights + sum_rows(weights, self.rows, 0))


@dataclass(frozen=True, slots=True)
class Solution:
    """Weights of the dense part (k, classes) and of the sparse one, and the dual ``shares``."""

    dense_weights: Floats
    weights: Floats
    shares: Floats
    passes: int

    def objective(self, examples: Examples, labels: Ints, l2: float) -> tuple[float, float]:
        """Return the primal and the dual objective: equal at the optimum, else the first larger."""
        norm = l2 / 2 * float((self.dense_weights**2).sum() + (self.weights**2).sum())
        margins = examples.scores(self.dense_weights, self.weights) + 1.0
        each = np.arange(len(labels))
        margins[each, labels] -= 1.0
        slack = float((margins.max(axis=1) - margins[each, labels]).sum())
        return norm + slack, float(len(labels) - self.shares[each, labels].sum()) - norm


def fit_svm(
    examples: Examples,
    labels: Ints,
    n_classes: int,
    *,
    l2: float = 1.0,
    tolerance: float = 0.1,
    passes: int = 100,
    seed: int = 0,
    dtype: Any = np.float32,
) -> Solution:
    """Solve the dual problem until no example violates optimality by more than ``tolerance``.

    >>> points = Examples(np.array([[1.0], [-1.0]]), np.zeros((2, 0), np.int32), 0)
    >>> found = fit_svm(points, np.array([0, 1]), 2, l2=1.0, tolerance=1e-6, dtype=np.float64)
    >>> found.dense_weights.round(3).tolist()
    [[0.5, -0.5]]
    """
    rng = np.random.default_rng(seed)
    n = len(examples)
    orders = np.stack([rng.permutation(n) for _ in range(min(passes, 64))]) if n else None
    dense = np.ascontiguousarray(examples.dense, dtype=dtype)
    dense_weights = np.zeros((dense.shape[1], n_classes), dtype=dtype)
    weights = np.zeros((examples.width, n_classes), dtype=dtype)
    shares = np.zeros((n, n_classes), dtype=dtype)
    if orders is None:
        return Solution(dense_weights, weights, shares, 0)
    shares[np.arange(n), labels] = 1
    squares = (dense.astype(np.float64) ** 2).sum(axis=1) + (examples.rows >= 0).sum(axis=1)
    done = _solve(
        dense,
        examples.rows,
        squares.astype(dtype),
        np.asarray(labels, dtype=np.int64),
        orders,
        dense_weights,
        weights,
        shares,
        l2,
        tolerance,
        passes,
    )
    return Solution(dense_weights, weights, shares, int(done))


@compiled
def _solve(
    dense: Floats,
    rows: Rows,
    squares: Floats,
    labels: Ints,
    orders: Ints,
    dense_weights: Floats,
    weights: Floats,
    shares: Floats,
    l2: float,
    tolerance: float,
    passes: int,
) -> int:
    n, classes = shares.shape
    width, most = dense.shape[1], rows.shape[1]
    scores = np.empty(classes, dtype=shares.dtype)
    target = np.empty(classes, dtype=shares.dtype)
    step = np.empty(classes, dtype=shares.dtype)
    settled = np.zeros(n, dtype=np.bool_)
    for done in range(passes):
        worst = 0.0
        # Examples that were optimal when last seen are looked at in every fourth pass only.
        full = done % 4 == 0 or done == passes - 1
        order = orders[done % len(orders)]
        for place in range(n):
            i = order[place]
            if squares[i] <= 0 or (settled[i] and not full):
                continue
            scale, label = squares[i] / l2, labels[i]
            for c in range(classes):
                scores[c] = 1
            scores[label] = 0
            for k in range(width):
                value = dense[i, k]
                for c in range(classes):
                    scores[c] += value * dense_weights[k, c]
            for t in range(most):
                row = rows[i, t]
                if row >= 0:
                    for c in range(classes):
                        scores[c] += weights[row, c]
            high, low = scores[0], np.inf
            for c in range(classes):
                if scores[c] > high:
                    high = scores[c]
                if shares[i, c] > 0 and scores[c] < low:
                    low = scores[c]
                target[c] = scores[c] / scale + shares[i, c]
            settled[i] = high - low < 1e-7
            if settled[i]:
                continue
            worst = max(worst, high - low)
            # Newton's steps to the level above which the targets sum to 1: exact when it stays.
            level = -np.inf
            while True:
                total, count = 0.0, 0
                for c in range(classes):
                    if target[c] > level:
                        total += target[c]
                        count += 1
                new = (total - 1) / count
                if new <= level:
                    break
                level = new
            for c in range(classes):
                after = max(target[c] - level, 0.0)
                step[c] = (shares[i, c] - after) / l2
                shares[i, c] = after
            for k in range(width):
                value = dense[i, k]
                for c in range(classes):
                    dense_weights[k, c] += value * step[c]
            for t in range(most):
                row = rows[i, t]
                if row >= 0:
                    for c in range(classes):
                        weights[row, c] += step[c]
        if full and worst < tolerance:
            return done + 1
    return passes
