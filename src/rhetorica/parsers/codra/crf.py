"""Weights of the two parsing models: L2-regularised likelihood, maximised by L-BFGS.

The simplified CRF (equations 5 and 6) has two nodes, R and S, and one factor over them: a softmax
over "not joined" (label 0) and the relations. The chain of `dcrf` has the same factors over rows
of joins, and chain weights besides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.learn.links import log_softmax
from rhetorica.parsers.codra.dcrf import Potentials, loss_and_gradient
from rhetorica.parsers.codra.units import Sequences

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Progress = Callable[[int, float], None]


def minimise(
    objective: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    *,
    iterations: int,
    progress: Progress | None = None,
) -> Floats:
    """Minimise a function with its gradient by L-BFGS."""
    from scipy.optimize import minimize

    step = 0
    last = 0.0

    def keep(point: Floats) -> tuple[float, Floats]:
        nonlocal last
        last, slope = objective(point)
        return last, slope

    def report(_: Floats) -> None:
        nonlocal step
        step += 1
        if progress:
            progress(step, last)

    found = minimize(
        keep,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=report,
        options={"maxiter": iterations, "maxcor": 7, "ftol": 1e-7},
    )
    return np.asarray(found.x)


def softmax_loss(
    point: Floats, matrix: Any, gold: Ints, sizes: Floats, labels: int, l2: float
) -> tuple[float, Floats]:
    """Return the loss of the simplified CRF at a point (weights x labels, flat), and its slope.

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
    sizes: Floats | None = None,
    progress: Progress | None = None,
) -> npt.NDArray[np.float32]:
    """Learn the weights (features x labels) of the simplified CRF."""
    counts = np.ones(len(gold)) if sizes is None else sizes

    def objective(point: Floats) -> tuple[float, Floats]:
        return softmax_loss(point, matrix, gold, counts, labels, l2)

    start = np.zeros(matrix.shape[1] * labels)
    found = minimise(objective, start, iterations=iterations, progress=progress)
    return found.reshape(-1, labels).astype(np.float32)


class ChainWeights:
    """The weights of the dynamic CRF in one vector, for L-BFGS.

    ``own`` (features x labels), ``before`` and ``after`` (context features x labels), the chain's
    ``enter`` and ``leave``.
    """

    def __init__(self, features: int, context: int, labels: int) -> None:
        self.shapes = [
            (features, labels),
            (context, labels),
            (context, labels),
            (labels,),
            (labels,),
        ]
        self.ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return int(self.ends[-1])

    def split(self, point: Floats) -> list[Floats]:
        """View the vector as tables."""
        parts = np.split(point, self.ends[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]


def chain_loss(
    point: Floats,
    matrix: Any,
    context: Any,
    sequences: Sequences,
    gold: Ints,
    labels: int,
    l2: float,
) -> tuple[float, Floats]:
    """Return the loss of the dynamic CRF at a point, and its slope."""
    layout = ChainWeights(matrix.shape[1], context.shape[1], labels)
    own, before, after, enter, leave = layout.split(point)

    def score(features: Any, weights: Floats) -> Floats:
        return np.asarray(features @ weights.astype(np.float32), np.float64)

    potentials = Potentials(
        score(matrix, own), score(context, before), score(context, after), enter, leave
    )
    loss, slopes = loss_and_gradient(potentials, sequences, gold)
    gradient = np.concatenate(
        [
            np.asarray(features.T @ slope.astype(np.float32), np.float64).reshape(-1)
            for features, slope in zip((matrix, context, context), slopes[:3], strict=True)
        ]
        + [slopes.enter, slopes.leave]
    )
    return loss + l2 * float(point @ point), gradient + 2 * l2 * point


def fit_chain(
    matrix: Any,
    context: Any,
    sequences: Sequences,
    gold: Ints,
    labels: int,
    *,
    l2: float,
    iterations: int,
    progress: Progress | None = None,
) -> list[npt.NDArray[np.float32]]:
    """Learn the tables of weights of the dynamic CRF: own, before, after, enter, leave."""
    layout = ChainWeights(matrix.shape[1], context.shape[1], labels)

    def objective(point: Floats) -> tuple[float, Floats]:
        return chain_loss(point, matrix, context, sequences, gold, labels, l2)

    found = minimise(objective, np.zeros(layout.size), iterations=iterations, progress=progress)
    return [table.astype(np.float32) for table in layout.split(found)]
