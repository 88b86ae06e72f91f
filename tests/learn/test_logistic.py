"""Logistic regression: gradient, separable data, honest probabilities of a rare class."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.sparse import csr_array

from rhetorica.learn.logistic import BaggedLogistic, choose_l2, fit_logistic, logistic_loss


def data(n: int = 4000, rare: float = -2.5) -> tuple[csr_array, np.ndarray]:  # type: ignore[type-arg]
    rng = np.random.default_rng(1)
    matrix = (rng.random((n, 6)) < 0.3).astype(float)
    margins = matrix @ np.array([2.0, -1.0, 0.5, 0.0, 1.0, -2.0]) + rare
    return csr_array(matrix), (rng.random(n) < 1 / (1 + np.exp(-margins))).astype(float)


def test_gradient() -> None:
    matrix, labels = data(50)
    signs = np.where(labels > 0, 1.0, -1.0)
    for seed in range(3):
        point = np.random.default_rng(seed).normal(size=7)
        error = check_grad(
            lambda p: logistic_loss(p, matrix, signs, 0.3)[0],
            lambda p: logistic_loss(p, matrix, signs, 0.3)[1],
            point,
        )
        assert error < 1e-4


def test_weights_are_found_again() -> None:
    matrix, labels = data(20_000)
    weights, bias = fit_logistic(matrix, labels, 0.01)
    assert weights == pytest.approx([2.0, -1.0, 0.5, 0.0, 1.0, -2.0], abs=0.2)
    assert bias == pytest.approx(-2.5, abs=0.2)


def test_bagging_keeps_probabilities_honest() -> None:
    matrix, labels = data(20_000)
    model = BaggedLogistic(l2=0.01, bags=5).fit(matrix, labels)
    assert model.predict(matrix).mean() == pytest.approx(labels.mean(), abs=0.02)


def test_cross_validation_dislikes_too_much_regularisation() -> None:
    matrix, labels = data(rare=-0.5)
    folds = [i % 5 for i in range(len(labels))]
    best, scores = choose_l2(matrix, labels, folds, (0.01, 10_000.0))
    assert best == 0.01
    assert scores[0.01] > scores[10_000.0]
