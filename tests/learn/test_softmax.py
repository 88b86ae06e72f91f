"""Multinomial logistic regression with L1 and L2: optima, slopes, odd targets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from rhetorica.learn import softmax
from rhetorica.learn.softmax import SoftmaxExamples, SoftmaxRegression, fit_softmax, softmax_loss


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


def test_it_ends_when_it_has_converged() -> None:
    examples = problem()
    epochs: list[int] = []
    model = SoftmaxRegression(12, 3, strength=1.0, epochs=3000, tolerance=1e-4, rate=0.05)
    model.fit(examples, progress=lambda epoch, loss: epochs.append(epoch))
    assert len(epochs) < 3000
    best = proximal_gradient(examples, (12, 3), 1.0)
    assert objective(model.weights_, examples, 1.0) == pytest.approx(best, rel=0.03)
    short = SoftmaxRegression(12, 3, strength=1.0, epochs=8, rate=0.05).fit(examples)
    assert objective(short.weights_, examples, 1.0) > objective(model.weights_, examples, 1.0)


def test_more_penalty_means_fewer_weights() -> None:
    counts = [
        np.count_nonzero(SoftmaxRegression(12, 3, strength=s, epochs=50).fit(problem()).weights_)
        for s in (0.02, 0.2, 20)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def descend(rows, right, possible, order, weights, squares, seen, done, rate, penalty) -> float:
    """Do as `_descend`, a matrix at a time."""
    total = 0.0
    for step, example in enumerate(order):
        now = done + step
        active = np.unique(rows[example])
        active = active[active > 0]
        owed = penalty * (now - seen[active])[:, None] / np.sqrt(squares[active])
        part = np.sign(weights[active]) * np.maximum(np.abs(weights[active]) - owed, 0)
        scores = np.where(possible[example], part.sum(axis=0), -np.inf)
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        mass = shares[right[example]].sum()
        total -= np.log(max(mass, 1e-30))
        slope = shares - np.where(right[example], shares / max(mass, 1e-30), 0)
        squares[active] += slope**2
        weights[active] = part - rate * slope / np.sqrt(squares[active])
        seen[active] = now
    return total


def test_steps_are_those_of_the_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    found = SoftmaxRegression(12, 3, epochs=4, seed=3).fit(problem()).weights_
    monkeypatch.setattr(softmax, "_descend", descend)
    expected = SoftmaxRegression(12, 3, epochs=4, seed=3).fit(problem()).weights_
    assert np.allclose(found, expected, atol=1e-4)


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


def test_slope_with_l2() -> None:
    rng = np.random.default_rng(0)
    matrix = csr_matrix(rng.integers(0, 2, (20, 6)).astype(np.float32))
    gold, sizes = rng.integers(0, 3, 20), rng.random(20) + 0.5
    point = rng.normal(size=18)
    _, slope = softmax_loss(point, matrix, gold, sizes, 3, 0.1)
    for at in range(18):
        values = []
        for step in (1e-2, -1e-2):
            moved = point.copy()
            moved[at] += step
            values.append(softmax_loss(moved, matrix, gold, sizes, 3, 0.1)[0])
        assert slope[at] == pytest.approx((values[0] - values[1]) / 2e-2, abs=2e-2, rel=1e-2)


def test_without_features_the_shares_of_the_labels_are_learned() -> None:
    gold = np.array([0, 0, 0, 1, 2, 2])
    weights = fit_softmax(csr_matrix(np.ones((6, 1), np.float32)), gold, 3, l2=1e-6, iterations=99)
    shares = np.exp(weights[0]) / np.exp(weights[0]).sum()
    assert shares == pytest.approx([1 / 2, 1 / 6, 1 / 3], abs=1e-3)
    counts = np.array([1, 1, 1, 9, 3, 3.0])
    weights = fit_softmax(
        csr_matrix(np.ones((6, 1), np.float32)), gold, 3, l2=1e-6, iterations=99, sizes=counts
    )
    shares = np.exp(weights[0]) / np.exp(weights[0]).sum()
    assert shares == pytest.approx([3 / 18, 9 / 18, 6 / 18], abs=1e-3)
