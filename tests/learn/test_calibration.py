"""Calibration: known distortions are undone, order is kept, known temperatures are found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica.learn.calibration import (
    best_temperature,
    calibrated,
    fit_platt,
    log_loss,
    log_odds,
    platt,
)
from rhetorica.learn.links import sigmoid

probabilities = st.floats(0, 1)


@pytest.mark.parametrize(("slope", "bias"), [(1.0, 0.0), (0.5, 0.4), (2.0, -1.0)])
def test_platt_undoes_a_known_distortion(slope: float, bias: float) -> None:
    rng = np.random.default_rng(0)
    honest = rng.normal(size=40_000) * 2
    true = (rng.random(len(honest)) < sigmoid(honest)).astype(np.float64)
    said = sigmoid((honest - bias) / slope)
    found = fit_platt(log_odds(said)[:, None], true)
    assert found == pytest.approx((slope, bias), abs=0.05)
    again = platt(log_odds(said)[:, None], found)
    assert again == pytest.approx(sigmoid(honest), abs=0.02)
    assert calibrated(said.tolist(), *found) == pytest.approx(again.tolist())


def test_honest_probabilities_stay() -> None:
    said = np.repeat([0.2, 0.8], 500)
    true = np.concatenate([np.arange(500) < 100, np.arange(500) < 400]).astype(np.float64)
    assert fit_platt(log_odds(said)[:, None], true) == pytest.approx((1, 0), abs=1e-3)


def test_several_columns_of_evidence() -> None:
    rng = np.random.default_rng(1)
    evidence = rng.normal(size=(40_000, 2))
    true = rng.random(len(evidence)) < sigmoid(evidence @ [1.5, -0.5] + 0.25)
    assert fit_platt(evidence, true.astype(np.float64)) == pytest.approx((1.5, -0.5, 0.25), abs=0.1)
    strong = fit_platt(evidence, true.astype(np.float64), l2=1e6)
    assert strong[:2] == pytest.approx((0, 0), abs=0.01)


@given(st.lists(probabilities), st.floats(0.1, 5), st.floats(-3, 3))
def test_order_and_certainties_are_kept(said: list[float], slope: float, bias: float) -> None:
    found = calibrated(said, slope, bias)
    assert all(0 <= p <= 1 for p in found)
    for before, after in zip(said, found, strict=True):
        assert (after in (0, 1)) or 0 < before < 1
        if before in (0, 1):
            assert after == before
    order = np.argsort(said, kind="stable")
    assert (np.diff(np.array(found)[order]) >= 0).all()
    assert calibrated(said, 1.0, 0.0) == said


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_a_known_temperature_is_found(temperature: float) -> None:
    rng = np.random.default_rng(2)
    honest = rng.normal(size=(20_000, 4)) * 2
    gold = (honest + rng.gumbel(size=honest.shape)).argmax(axis=1)
    scores = honest * temperature
    grid = (0.25, 0.5, 0.71, 1.0, 1.41, 2.0, 4.0)
    assert best_temperature(lambda t: log_loss(scores / t, gold), grid) == temperature


def test_loss_of_answers() -> None:
    scores = np.log(np.array([[0.25, 0.75], [0.5, 0.5]]))
    assert log_loss(scores, np.array([0, 1])) == pytest.approx(np.log(8))
    never = np.array([[0.0, -np.inf]])
    assert log_loss(never, np.array([0])) == 0
    assert log_loss(never, np.array([1])) == pytest.approx(12 * np.log(10))
    assert log_loss(np.zeros((0, 3)), np.zeros(0, np.int64)) == 0


def test_of_equally_good_temperatures_the_first_is_taken() -> None:
    assert best_temperature(lambda t: 1.0, (0.3, 0.1, 0.2)) == 0.3
