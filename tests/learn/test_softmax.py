"""Multinomial logistic regression with L1: its optimum, its two bodies, odd targets."""

from __future__ import annotations

import numpy as np
import pytest

from rhetorica import kernels
from rhetorica.learn.softmax import SoftmaxExamples, SoftmaxRegression


def problem(n: int = 60, n_rows: int = 12, k: int = 3, seed: int = 0) -> SoftmaxExamples:
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, n_rows, size=(n, 4)).astype(np.int32)
    rows.sort(axis=1)
    rows[:, 1:][rows[:, 1:] == rows[:, :-1]] = 0
    truth = rng.normal(size=(n_rows, k))
    truth[0] = 0
    noisy = truth[rows].sum(axis=1) + rng.gumbel(size=(n, k))
    right = np.eye(k, dtype=bool)[noisy.argmax(axis=1)]
    return SoftmaxExamples(rows, right, np.ones_like(right))


def objective(weights: np.ndarray, examples: SoftmaxExamples, strength: float) -> float:
    scores = weights[examples.rows].sum(axis=1)
    scores = np.where(examples.possible, scores, -np.inf)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    mass = (shares * examples.right).sum(axis=1)
    return float(-np.log(mass).sum() + np.abs(weights).sum() / strength)


def proximal_gradient(examples: SoftmaxExamples, shape: tuple[int, int], strength: float) -> float:
    """Find the least value of the objective in the plainest way."""
    weights = np.zeros(shape)
    step = 0.01
    for _ in range(6000):
        scores = weights[examples.rows].sum(axis=1)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        gradient = np.zeros(shape)
        for at in range(examples.rows.shape[1]):
            np.add.at(gradient, examples.rows[:, at], shares - examples.right)
        weights = weights - step * gradient
        weights = np.sign(weights) * np.maximum(np.abs(weights) - step / strength, 0)
        weights[0] = 0
    return objective(weights, examples, strength)


@pytest.mark.parametrize("strength", [0.25, 1.0, 4.0])
def test_it_finds_the_optimum(strength: float) -> None:
    examples = problem()
    model = SoftmaxRegression(12, 3, strength=strength, epochs=1500, rate=0.05).fit(examples)
    best = proximal_gradient(examples, (12, 3), strength)
    assert objective(model.weights_, examples, strength) == pytest.approx(best, rel=0.02)


def test_more_penalty_means_fewer_weights() -> None:
    counts = [
        np.count_nonzero(SoftmaxRegression(12, 3, strength=s, epochs=50).fit(problem()).weights_)
        for s in (0.02, 0.2, 20)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_compiled_or_not_it_learns_the_same() -> None:
    found = []
    for backend in kernels.BACKENDS:
        with kernels.using(backend):
            found.append(SoftmaxRegression(12, 3, epochs=4, seed=3).fit(problem()).weights_)
    assert np.allclose(*found, atol=1e-4)


def test_several_right_classes_and_impossible_ones() -> None:
    examples = problem()
    right = examples.right.copy()
    right[:, 2] |= right[:, 1]  # class 2 is as good as class 1
    possible = np.ones_like(right)
    possible[:, 1] = False
    right[:, 1] = False
    model = SoftmaxRegression(12, 3, strength=100, epochs=30).fit(
        SoftmaxExamples(examples.rows, right, possible)
    )
    assert not model.weights_[:, 1].any()
    assert not model.weights_[0].any()


def test_it_tells_its_progress_and_is_deterministic() -> None:
    losses: list[float] = []
    first = SoftmaxRegression(12, 3, epochs=5).fit(
        problem(), progress=lambda epoch, loss: losses.append(loss)
    )
    assert len(losses) == 5
    assert losses[-1] < losses[0]
    assert (SoftmaxRegression(12, 3, epochs=5).fit(problem()).weights_ == first.weights_).all()


def test_nothing_to_learn_from() -> None:
    nothing = SoftmaxExamples(
        np.zeros((0, 4), dtype=np.int32), np.zeros((0, 3), bool), np.zeros((0, 3), bool)
    )
    assert not SoftmaxRegression(12, 3).fit(nothing).weights_.any()
