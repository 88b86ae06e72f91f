"""Binary logistic regression with L2 regularisation by L-BFGS, bagged over balanced samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.learn.lbfgs import minimise
from rhetorica.learn.links import sigmoid

Floats = npt.NDArray[np.float64]

_TOLERANCE = 1e7 * float(np.finfo(np.float64).eps)


@dataclass(kw_only=True)
class BaggedLogistic:
    """Logistic regressions over samples with as many negatives as positives, averaged.

    Every bag has all the positive examples and as many negative ones, drawn anew. The weights of a
    model of a balanced sample say too often yes; the logarithm of the share that was drawn,
    subtracted from the bias, undoes this (King & Zeng 2001), so that probabilities stay honest.
    """

    l2: float = 1.0
    bags: int = 10
    seed: int = 0

    def fit(
        self, matrix: Any, labels: Floats, *, progress: Callable[[int], None] | None = None
    ) -> BaggedLogistic:
        """Learn from a sparse matrix (examples x features, scipy CSR) and labels 0 and 1."""
        rng = np.random.default_rng(self.seed)
        positive, negative = np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)
        weights, biases = [], []
        for bag in range(self.bags):
            drawn = rng.choice(negative, min(len(positive), len(negative)), replace=False)
            rows = np.sort(np.concatenate([positive, drawn]))
            weight, bias = fit_logistic(matrix[rows], labels[rows], self.l2)
            weights.append(weight)
            biases.append(bias + np.log(len(drawn) / max(1, len(negative))))
            if progress:
                progress(bag + 1)
        self.weights_ = np.stack(weights, axis=1)
        self.biases_ = np.array(biases)
        return self

    def predict(self, matrix: Any) -> Floats:
        """Return the mean probability of 1 for each example."""
        return np.asarray(sigmoid(matrix @ self.weights_ + self.biases_).mean(axis=1))


def fit_logistic(matrix: Any, labels: Floats, l2: float) -> tuple[Floats, float]:
    """Minimise the negative log-likelihood plus l2 times the squared weights; the bias is free."""
    signs = np.where(labels > 0, 1.0, -1.0)

    def objective(point: Floats) -> tuple[float, Floats]:
        return logistic_loss(point, matrix, signs, l2)

    start = np.zeros(matrix.shape[1] + 1)
    found = minimise(objective, start, iterations=200, memory=10, tolerance=_TOLERANCE)
    return found[:-1], float(found[-1])


def logistic_loss(point: Floats, matrix: Any, signs: Floats, l2: float) -> tuple[float, Floats]:
    """Return loss and gradient at a point (weights, then bias)."""
    weights, bias = point[:-1], point[-1]
    margins = signs * (matrix @ weights + bias)
    loss = np.logaddexp(0, -margins).sum() + l2 * (weights @ weights)
    slope = -signs * sigmoid(-margins)
    gradient = np.append(matrix.T @ slope + 2 * l2 * weights, slope.sum())
    return float(loss), gradient


def choose_l2(
    matrix: Any,
    labels: Floats,
    folds: Sequence[int],
    candidates: Sequence[float],
    *,
    bags: int = 1,
    seed: int = 0,
) -> tuple[float, dict[float, float]]:
    """Choose the strength with the best F1 of label 1 over cross-validation; return all F1s too.

    ``folds`` gives each example's fold, so that examples of one document stay together.
    """
    numbers = np.asarray(folds)
    scores: dict[float, float] = {}
    for l2 in candidates:
        hits = found = wanted = 0
        for fold in np.unique(numbers):
            inside, outside = numbers != fold, numbers == fold
            model = BaggedLogistic(l2=l2, bags=bags, seed=seed).fit(matrix[inside], labels[inside])
            said = model.predict(matrix[outside]) > 0.5
            hits += int((said & (labels[outside] == 1)).sum())
            found += int(said.sum())
            wanted += int(labels[outside].sum())
        scores[l2] = 2 * hits / max(1, found + wanted)
    return max(scores, key=scores.__getitem__), scores
