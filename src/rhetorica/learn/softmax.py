"""Multinomial logistic regression: `SoftmaxRegression` with L1, `fit_softmax` with L2.

`fit_softmax` maximises the likelihood of a sparse matrix of examples by L-BFGS.

`SoftmaxRegression` is for sparse binary features of very many examples. It minimises the negative
log-likelihood, summed over examples, plus the absolute weights divided by ``strength`` (liblinear's
C: the larger, the less regularisation), by stochastic gradient descent with a step size for every
weight (AdaGrad; Duchi et al. 2011) and soft thresholding after each step (their section 5). Only
rows of weights that an example has are touched: what the penalty would have taken from the others
meanwhile is taken when they are met again, which is exact, since a weight's step size does not
change while it is not touched.

With a ``tolerance`` it ends when an epoch lowers the objective (with the losses of its examples as
they were met) by less than that share, as solvers such as liblinear run until they have converged.

An example may have several right classes (the loss is then minus the logarithm of their summed
probability), and classes that it cannot have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.kernels import compiled
from rhetorica.learn.lbfgs import Progress, minimise
from rhetorica.learn.links import log_softmax

Rows = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Floats64 = npt.NDArray[np.float64]

_TINY = 1e-6


@dataclass(frozen=True, slots=True)
class SoftmaxExamples:
    """Rows of weights (n, most), 0 for none; and what classes are right, and possible: (n, k)."""

    rows: Rows
    right: Flags
    possible: Flags


@dataclass
class SoftmaxRegression:
    """Learns ``weights_`` (rows, classes); row 0 stays zero.

    >>> rows = np.array([[1, 2], [1, 3]], dtype=np.int32)
    >>> right = np.eye(2, dtype=bool)
    >>> examples = SoftmaxExamples(rows, right, np.ones_like(right))
    >>> model = SoftmaxRegression(4, 2, strength=100, epochs=20).fit(examples)
    >>> (model.weights_[rows].sum(axis=1).argmax(axis=1) == [0, 1]).all()
    np.True_
    """

    n_rows: int
    n_classes: int
    _: KW_ONLY
    strength: float = 1.0
    rate: float = 0.1
    epochs: int = 10
    tolerance: float = 0.0
    seed: int = 0

    def fit(
        self, examples: SoftmaxExamples, *, progress: Callable[[int, float], None] | None = None
    ) -> SoftmaxRegression:
        """Learn from examples; ``progress`` hears each epoch's mean loss before its updates."""
        self.weights_ = np.zeros((self.n_rows, self.n_classes), dtype=np.float32)
        squares = np.full_like(self.weights_, _TINY)
        seen = np.zeros(self.n_rows, dtype=np.int64)
        count = len(examples.rows)
        penalty = 1 / (self.strength * max(1, count))
        before = np.inf
        done = 0
        for epoch in range(self.epochs):
            order = np.random.default_rng((self.seed, epoch)).permutation(count)
            loss = _descend(
                examples.rows,
                examples.right,
                examples.possible,
                order,
                self.weights_,
                squares,
                seen,
                epoch * count,
                np.float32(self.rate),
                np.float32(penalty * self.rate),
            )
            done += count
            if progress:
                progress(epoch + 1, float(loss) / max(1, count))
            if self.tolerance:
                value = float(loss) + float(np.abs(self.weights_).sum()) / self.strength
                if before - value < self.tolerance * value:
                    break
                before = value
        _settle(self.weights_, squares, seen, done, penalty * self.rate)
        return self


def _settle(weights: Floats, squares: Floats, seen: Ints, steps: int, penalty: float) -> None:
    """Take from every weight what the penalty has not taken yet."""
    owed = penalty * (steps - seen)[:, None] / np.sqrt(squares)
    weights[:] = np.sign(weights) * np.maximum(np.abs(weights) - owed, 0)
    weights[0] = 0


@compiled
def _descend(
    rows: Rows,
    right: Flags,
    possible: Flags,
    order: Ints,
    weights: Floats,
    squares: Floats,
    seen: Ints,
    done: int,
    rate: np.float32,
    penalty: np.float32,
) -> float:
    width = weights.shape[1]
    scores = np.empty(width, dtype=np.float32)
    slope = np.empty(width, dtype=np.float32)
    total = 0.0
    zero = np.float32(0)
    for step in range(len(order)):
        example = order[step]
        now = done + step
        scores[:] = zero
        for at in range(rows.shape[1]):
            row = rows[example, at]
            if row <= 0:
                continue
            if seen[row] < now:
                owed = penalty * np.float32(now - seen[row])
                for k in range(width):
                    weight = weights[row, k]
                    if weight != zero:
                        shrink = owed / np.sqrt(squares[row, k])
                        if weight > shrink:
                            weights[row, k] = weight - shrink
                        elif weight < -shrink:
                            weights[row, k] = weight + shrink
                        else:
                            weights[row, k] = zero
                seen[row] = now
            for k in range(width):
                scores[k] += weights[row, k]
        best = np.float32(-np.inf)
        for k in range(width):
            if possible[example, k] and scores[k] > best:
                best = scores[k]
        whole = mass = zero
        for k in range(width):
            slope[k] = np.exp(scores[k] - best) if possible[example, k] else zero
            whole += slope[k]
            if right[example, k]:
                mass += slope[k]
        total -= np.log(max(mass / whole, np.float32(1e-30)))
        for k in range(width):
            pull = slope[k] / max(mass, np.float32(1e-30)) if right[example, k] else zero
            slope[k] = slope[k] / whole - pull
        for at in range(rows.shape[1]):
            row = rows[example, at]
            if row <= 0:
                continue
            for k in range(width):
                if slope[k] != zero:
                    squares[row, k] += slope[k] * slope[k]
                    weights[row, k] -= rate * slope[k] / np.sqrt(squares[row, k])
    return total


def softmax_loss(
    point: Floats64, matrix: Any, gold: Ints, sizes: Floats64, labels: int, l2: float
) -> tuple[float, Floats64]:
    """Return the regularised loss at a point (weights x labels, flat), and its slope.

    ``sizes`` says how much each example counts.
    """
    weights = point.reshape(-1, labels)
    logs = log_softmax(np.asarray(matrix @ weights.astype(np.float32), np.float64))
    rows = np.arange(len(gold))
    loss = -(sizes * logs[rows, gold]).sum() + l2 * float(point @ point)
    slope = np.exp(logs)
    slope[rows, gold] -= 1
    slope *= sizes[:, None]
    gradient = np.asarray(matrix.T @ slope.astype(np.float32), np.float64)
    return float(loss), (gradient + 2 * l2 * weights).reshape(-1)


def fit_softmax(
    matrix: Any,
    gold: Ints,
    labels: int,
    *,
    l2: float,
    iterations: int,
    sizes: Floats64 | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Learn weights (features x labels) of a sparse matrix (examples x features)."""
    counts = np.ones(len(gold)) if sizes is None else sizes

    def objective(point: Floats64) -> tuple[float, Floats64]:
        return softmax_loss(point, matrix, gold, counts, labels, l2)

    start = np.zeros(matrix.shape[1] * labels)
    found = minimise(objective, start, iterations=iterations, progress=progress)
    return found.reshape(-1, labels).astype(np.float32)
