from __future__ import annotations

import numpy as np
import pytest

from rhetorica.learn.lbfgs import minimise


def rosenbrock(point: np.ndarray) -> tuple[float, np.ndarray]:
    x, y = point
    slope = np.array([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)])
    return float((1 - x) ** 2 + 100 * (y - x * x) ** 2), slope


def test_it_finds_the_bottom_of_a_bent_valley() -> None:
    found = minimise(rosenbrock, np.array([-1.2, 1.0]), iterations=200, tolerance=1e-14)
    assert found == pytest.approx([1, 1], abs=1e-4)


def test_progress_is_told_once_a_step_and_iterations_are_a_limit() -> None:
    heard: list[tuple[int, float]] = []
    minimise(
        rosenbrock,
        np.zeros(2),
        iterations=5,
        progress=lambda step, loss: heard.append((step, loss)),
    )
    assert [step for step, _ in heard] == [1, 2, 3, 4, 5]
    assert heard[-1][1] < heard[0][1]
