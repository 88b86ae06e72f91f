"""On-line learning: MIRA's step meets the margin, averages are averages."""

from __future__ import annotations

import numpy as np
import pytest

from rhetorica.learn.online import OnlineLearner

RIGHT = (np.array([[0, 1], [2, 3]]), np.array([0, 1]))
WRONG = (np.array([[0, 4], [2, 3]]), np.array([0, 0]))


def margin(learner: OnlineLearner) -> float:
    def score(parts: tuple[np.ndarray, np.ndarray]) -> float:  # type: ignore[type-arg]
        return float(learner.weights[parts[0], parts[1][:, None]].sum())

    return score(RIGHT) - score(WRONG)


def test_mira_takes_the_smallest_step_that_gives_the_margin() -> None:
    learner = OnlineLearner((5, 2), aggressiveness=10)
    learner.learn(RIGHT, WRONG, loss=3, margin=0)
    assert margin(learner) == pytest.approx(3)
    before = learner.weights.copy()
    assert learner.learn(RIGHT, WRONG, loss=3, margin=margin(learner)) == 0
    assert (learner.weights == before).all()
    # Shared features (row 0, label 0) cancel out and must not move.
    assert learner.weights[0, 0] == 0


def test_mira_step_is_bounded() -> None:
    learner = OnlineLearner((5, 2), aggressiveness=0.01)
    assert learner.learn(RIGHT, WRONG, loss=3, margin=0) == 0.01


def test_perceptron_always_moves_by_the_difference() -> None:
    learner = OnlineLearner((5, 2), rule="perceptron")
    learner.learn(RIGHT, WRONG, loss=0, margin=100)
    assert learner.weights[1, 0] == 1
    assert learner.weights[4, 0] == -1


def test_averages_are_means_over_all_steps() -> None:
    learner = OnlineLearner((5, 2), rule="perceptron")
    history = []
    for i in range(6):
        learner.learn(*((RIGHT, WRONG) if i % 3 else (WRONG, RIGHT)), loss=1, margin=0)
        history.append(learner.weights.copy())
    assert learner.averaged() == pytest.approx(np.mean(history, axis=0), abs=1e-6)


def test_nothing_wrong_nothing_learned() -> None:
    learner = OnlineLearner((5, 2))
    nothing = (np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64))
    assert learner.learn(nothing, nothing, loss=0, margin=0) == 0
    assert not learner.weights.any()
