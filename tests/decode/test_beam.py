"""Beams over states that are nothing but numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica.decode import beam

ACTIONS = 3


def follow(states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """Number a state by the actions that led to it, so that each is reached in one way."""
    return ACTIONS * states + actions + 1


def scorer(seed: int, forbidden: float = 0.0):
    table = np.random.default_rng(seed).integers(-5, 5, (400, ACTIONS)).astype(np.float64)
    table[np.random.default_rng(seed + 1).random(table.shape) < forbidden] = -np.inf
    return lambda states: table[states]


@given(st.integers(0, 5), st.integers(0, 99), st.sampled_from([0.0, 0.3]))
def test_an_endless_beam_equals_brute_force(steps: int, seed: int, forbidden: float) -> None:
    score = scorer(seed, forbidden)
    expected = []
    for actions in product(range(ACTIONS), repeat=steps):
        state, total = np.array([0]), 0.0
        for action in actions:
            total += score(state)[0, action]
            state = follow(state, np.array([action]))
        if total > -np.inf:
            expected.append((total, int(state[0])))
    states, totals = beam(0, steps, score, follow, width=10**6)
    assert sorted(zip(totals.tolist(), states.tolist(), strict=True)) == sorted(expected)
    assert (np.diff(totals) <= 0).all()
    some, sums = beam(0, steps, score, follow, width=4)
    assert len(some) <= 4
    assert (np.diff(sums) <= 0).all()
    if len(some):
        assert sums[0] <= totals[0]


def test_width_one_is_greedy() -> None:
    score = scorer(3)
    state = 0
    for _ in range(4):
        state = ACTIONS * state + int(score(np.array([state]))[0].argmax()) + 1
    states, totals = beam(0, 4, score, follow, width=1)
    assert states.tolist() == [state]
    assert len(totals) == 1


def test_ties_go_to_the_earlier_state_then_to_the_lower_action() -> None:
    def even(states: np.ndarray) -> np.ndarray:
        return np.zeros((len(states), ACTIONS))

    states, _ = beam(0, 2, even, follow, width=4)
    assert states.tolist() == [4, 5, 6, 7]


def test_a_dead_end_leaves_nothing() -> None:
    states, totals = beam(0, 2, lambda states: np.full((len(states), 2), -np.inf), follow, width=2)
    assert len(states) == len(totals) == 0


@pytest.mark.parametrize("width", [1, 2])
def test_no_steps_no_change(width: int) -> None:
    states, totals = beam(7, 0, scorer(0), follow, width=width)
    assert (states.tolist(), totals.tolist()) == ([7], [0.0])
