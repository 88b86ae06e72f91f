"""The projection and its classifier: against brute force, numerical gradients, and known shapes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from rhetorica.errors import RhetoricaError, UnknownName
from rhetorica.learn.projection import (
    FORMS,
    Form,
    Problem,
    Projection,
    ProjectionLearner,
    nmf,
    nmf_projection,
    signs,
    word_rows,
    words_start,
)
from rhetorica.learn.svm import Examples, fit_svm


def objective(problem: Problem, projection: Projection, *, l2: float, tau: float) -> float:
    """Return the value of the paper's problem (6) at a projection, with the best weights for it."""
    found = fit_svm(
        problem.examples(projection), problem.labels, problem.n_classes,
        l2=l2, tolerance=1e-9, passes=20_000, dtype=np.float64,
    )  # fmt: skip
    primal, _ = found.objective(problem.examples(projection), problem.labels, l2)
    return primal + tau / 2 * projection.norm


def random_problem(seed: int, n: int = 12, words: int = 5, classes: int = 3) -> Problem:
    rng = np.random.default_rng(seed)
    units = csr_matrix(rng.poisson(0.7, (9, words)).astype(float))
    slots = rng.integers(-1, 9, (n, 3))
    rows = rng.integers(-1, 4, (n, 2)).astype(np.int32)
    rows[rows[:, 0] == rows[:, 1], 1] = -1  # a feature is there or not, never twice
    return Problem(units, slots, rows, 4, rng.integers(0, classes, n), classes)


def dense_matrix(examples: Examples) -> np.ndarray:
    sparse = np.zeros((len(examples), examples.width))
    for i, row in enumerate(examples.rows):
        sparse[i, row[row >= 0]] = 1
    return np.concatenate([examples.dense, sparse], axis=1)


def projection_of(form: Form, words: int = 5, seed: int = 0) -> Projection:
    start = Projection.random(form, words, 6, seed)
    rng = np.random.default_rng(seed)
    return Projection(form, rng.normal(size=start.parts.shape))


@pytest.mark.parametrize("seed", range(4))
def test_machine_is_optimal(seed: int) -> None:
    problem = random_problem(seed)
    examples = problem.examples(projection_of("concatenation", seed=seed))
    l2 = 0.5 + seed
    found = fit_svm(
        examples, problem.labels, 3, l2=l2, tolerance=1e-8, passes=5000, dtype=np.float64
    )
    matrix, each = dense_matrix(examples), np.arange(len(problem))
    primal, dual = found.objective(examples, problem.labels, l2)
    assert primal == pytest.approx(dual, rel=1e-6)
    assert found.shares.sum(axis=1) == pytest.approx(1)
    assert found.shares.min() >= 0
    right = np.zeros_like(found.shares)
    right[each, problem.labels] = 1
    stacked = np.concatenate([found.dense_weights, found.weights])
    assert stacked == pytest.approx(matrix.T @ (right - found.shares) / l2)

    def slow(point: np.ndarray) -> float:
        weights = point[:-12].reshape(-1, 3)
        return float(l2 / 2 * (weights**2).sum() + point[-12:].sum())

    def margins(point: np.ndarray) -> np.ndarray:
        scores = matrix @ point[:-12].reshape(-1, 3)
        gaps = scores[each, problem.labels][:, None] - scores - 1 + right
        return np.asarray((gaps + point[-12:, None]).ravel())

    best = minimize(
        slow,
        np.append(np.zeros(stacked.size), np.ones(12)),
        constraints={"type": "ineq", "fun": margins},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-10},
    )
    assert primal == pytest.approx(best.fun, rel=1e-4)


def test_machine_without_examples_or_features() -> None:
    nothing = Examples(np.zeros((0, 2)), np.zeros((0, 1), np.int32), 3)
    assert fit_svm(nothing, np.zeros(0, np.int64), 2).weights.shape == (3, 2)
    blank = Examples(np.zeros((2, 0)), np.full((2, 1), -1, np.int32), 0)
    assert fit_svm(blank, np.array([0, 1]), 2).passes > 0
    with pytest.raises(RhetoricaError, match="column 3"):
        Examples(np.zeros((1, 0)), np.array([[3]], np.int32), 3)
    with pytest.raises(RhetoricaError, match="1 dense rows"):
        Examples(np.zeros((1, 0)), np.zeros((2, 0), np.int32), 3)


@pytest.mark.parametrize("form", FORMS)
def test_projection_is_the_block_matrix_of_the_paper(form: Form) -> None:
    problem, projection = random_problem(1), projection_of(form)
    pattern, parts = signs(form), projection.parts
    matrix = np.vstack(
        [
            np.hstack(
                [
                    sum(s * part.T for s, part in zip(pattern[:, b, slot], parts, strict=True))
                    for slot in range(3)
                ]
            )
            for b in range(pattern.shape[1])
        ]
    )
    counts = np.vstack([problem.units.toarray(), np.zeros((1, 5))])
    stacked = counts[problem.slots].reshape(len(problem), -1)
    assert matrix.shape == (projection.width, 15)
    assert projection.project(problem.units, problem.slots) == pytest.approx(stacked @ matrix.T)
    assert projection.norm == pytest.approx((matrix**2).sum())
    weights = np.random.default_rng(2).normal(size=(projection.width, 4))
    folded = projection.fold(weights)
    assert folded.shape == (3, 5, 4)
    assert np.concatenate(folded) == pytest.approx(matrix.T @ weights)


@pytest.mark.parametrize("form", FORMS)
def test_gradient_is_the_slope_of_the_objective(form: Form) -> None:
    problem, projection = random_problem(3, n=8), projection_of(form, seed=3)
    l2, tau, step = 0.7, 0.3, 1e-5
    found = fit_svm(
        problem.examples(projection), problem.labels, 3,
        l2=l2, tolerance=1e-10, passes=20_000, dtype=np.float64,
    )  # fmt: skip
    gradient = projection.gradient(
        problem.units, problem.slots, problem.labels, found.dense_weights, found.shares, tau=tau
    )
    rng = np.random.default_rng(0)
    for index in rng.choice(projection.parts.size, 8, replace=False):
        values = []
        for sign in (1, -1):
            moved = projection.parts.copy()
            moved.reshape(-1)[index] += sign * step
            values.append(objective(problem, Projection(form, moved), l2=l2, tau=tau))
        slope = (values[0] - values[1]) / (2 * step)
        assert gradient.reshape(-1)[index] == pytest.approx(slope, abs=1e-3)


def test_samples_see_the_same() -> None:
    problem, projection = random_problem(5), projection_of("general")
    chosen = np.array([1, 4, 7, 7])
    sample = problem.sample(chosen)
    whole, part = problem.examples(projection), sample.examples(projection)
    assert part.dense == pytest.approx(whole.dense[chosen])
    weights = np.random.default_rng(0).normal(size=(4, 3))
    present = np.unique(problem.rows[chosen])
    ours = part.scores(np.zeros((6, 3)), weights[present[present >= 0]])
    assert ours == pytest.approx(whole.scores(np.zeros((6, 3)), weights)[chosen])


def cue_problem() -> Problem:
    """Classes that hang on which of two groups of words the first unit is from."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, 120)
    words = np.zeros((120, 40))
    words[np.arange(120), 20 * groups + rng.integers(0, 20, 120)] = 1
    slots = np.stack([np.arange(120), np.full(120, -1), np.full(120, -1)], axis=1)
    return Problem(csr_matrix(words), slots, np.zeros((120, 0), np.int32), 0, groups, 2)


@pytest.mark.parametrize("form", FORMS)
def test_the_published_step(form: Form) -> None:
    """A starts in [0, 1] and moves by 1 / t of the slope (equation 11), shared by tied blocks."""
    problem = random_problem(3)
    options = {"width": 6, "l2": 1.0, "tau": 0.1, "iterations": 1, "batch": 100, "passes": 500}
    learner = ProjectionLearner(form=form, start="uniform", rate="published", **options)  # type: ignore[arg-type]
    found = learner.fit(problem).projection_
    first = Projection.random(form, 5, 6, low=0.0, high=1.0)
    assert first.parts.min() >= 0
    assert first.parts.max() > 0.5
    machine = fit_svm(problem.examples(first), problem.labels, 3, l2=1.0, passes=500)
    slope = first.gradient(
        problem.units, problem.slots, problem.labels, machine.dense_weights, machine.shares, tau=0.1
    )
    copies = (signs(form)[0] ** 2).sum()
    assert found is not None
    assert found.parts == pytest.approx(first.parts - slope / copies, abs=1e-3)


@pytest.mark.parametrize("form", FORMS)
def test_learning_finds_the_groups_of_words(form: Form) -> None:
    problem = cue_problem()
    learner = ProjectionLearner(form=form, width=6, l2=0.1, tau=0.1, batch=60, iterations=40)
    heard: list[float] = []
    learner.fit(problem, progress=lambda t, change: heard.append(change))
    assert heard[0] == 1
    examples = problem.examples(learner.projection_)
    scores = examples.scores(learner.solution_.dense_weights, learner.solution_.weights)
    assert (scores.argmax(axis=1) == problem.labels).mean() > 0.95
    again = ProjectionLearner(form=form, width=6, l2=0.1, tau=0.1, batch=60, iterations=40).fit(
        problem
    )
    assert (again.solution_.dense_weights == learner.solution_.dense_weights).all()


@pytest.mark.parametrize("form", FORMS)
def test_starting_from_the_weights_of_words(form: Form) -> None:
    problem = cue_problem()
    learner = ProjectionLearner(
        form=form, width=6, l2=1.0, tau=1.0, batch=60, iterations=3, start="words"
    ).fit(problem)
    examples = problem.examples(learner.projection_)
    scores = examples.scores(learner.solution_.dense_weights, learner.solution_.weights)
    if form != "difference":  # there the first slot has no weights of its own
        assert (scores.argmax(axis=1) == problem.labels).mean() > 0.95
    wide = words_start(problem, form, 60, l2=1.0, tau=1.0, passes=20)
    assert wide.width == 60
    assert np.isfinite(wide.parts).all()


def test_a_wide_start_has_all_the_weights_of_words() -> None:
    problem = random_problem(8, n=30)
    projection = words_start(problem, "general", 6, l2=2.0, tau=0.5, passes=50)
    both = ProjectionLearner(form=None, l2=2.0, passes=50)
    words = word_rows(problem.units, problem.slots)
    rows = np.concatenate([problem.rows, np.where(words >= 0, words + 4, -1)], axis=1)
    both.fit(replace(problem, rows=rows.astype(np.int32), columns=4 + 15))
    weights = both.solution_.weights[4:].astype(np.float64)
    # Three classes: the weights have rank 3, so that 6 dimensions hold them exactly.
    inside = np.concatenate(list(projection.parts)).astype(np.float64)
    found, *_ = np.linalg.lstsq(inside, weights, rcond=1e-5)
    assert inside @ found == pytest.approx(weights, abs=1e-3)


def test_no_projection_leaves_the_features() -> None:
    problem = random_problem(6)
    learner = ProjectionLearner(form=None, l2=0.1).fit(problem)
    assert learner.projection_ is None
    assert learner.solution_.dense_weights.shape == (0, 3)


def test_words_as_columns() -> None:
    units = csr_matrix(np.array([[1.0, 0, 2], [0, 0, 0], [0, 1, 0]]))
    found = word_rows(units, np.array([[0, 2, -1], [1, 1, 0]]))
    assert [sorted(row[row >= 0].tolist()) for row in found] == [[0, 2, 4], [6, 8]]


def test_nmf_restores_a_product() -> None:
    rng = np.random.default_rng(0)
    product = rng.random((30, 3)) @ rng.random((3, 12))
    left, right = nmf(csr_matrix(product), 3, iterations=2000)
    assert min(left.min(), right.min()) >= 0
    assert np.abs(left @ right - product).max() < 0.05
    projection = nmf_projection(csr_matrix(product), 9, iterations=50)
    assert projection.parts.shape == (1, 12, 3)


def test_what_cannot_be() -> None:
    with pytest.raises(UnknownName, match="concatenation"):
        signs("concatenate")
    with pytest.raises(RhetoricaError, match="no multiple"):
        Projection.random("difference", 10, 3)
