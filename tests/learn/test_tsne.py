"""t-SNE: groups stay groups, neighbours have the wanted perplexity, anything can be placed."""

from __future__ import annotations

import numpy as np
import pytest

from rhetorica.learn.tsne import _neighbours, _slope, _squared_distances, tsne


def test_separated_groups_stay_separated() -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 20, (4, 8))
    groups = np.repeat(np.arange(4), 40)
    places = tsne(centres[groups] + rng.normal(size=(160, 8)), perplexity=15, iterations=300)
    distances = _squared_distances(places)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1)[:, :10]
    assert (groups[nearest] == groups[:, None]).mean() > 0.99
    assert places.mean(axis=0) == pytest.approx(0, abs=1e-3)


def test_rows_have_the_wanted_perplexity() -> None:
    points = np.random.default_rng(1).normal(size=(60, 5)) * 3
    shares = _neighbours(_squared_distances(points), 12.0)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert np.diag(shares) == pytest.approx(0)
    entropy = -(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=1)
    assert np.exp(entropy) == pytest.approx(12, rel=1e-3)


def test_slope_is_that_of_the_divergence() -> None:
    rng = np.random.default_rng(2)
    shares = rng.random((8, 8))
    shares = shares + shares.T
    np.fill_diagonal(shares, 0)
    shares /= shares.sum()
    places = rng.normal(size=(8, 2))

    def divergence(at: np.ndarray) -> float:
        near = 1 / (1 + _squared_distances(at))
        np.fill_diagonal(near, 0)
        near /= near.sum()
        inside = shares > 0
        return float((shares[inside] * np.log(shares[inside] / near[inside])).sum())

    slope = _slope(places, shares)
    for i, j in ((0, 0), (3, 1), (7, 0)):
        moved = [places.copy(), places.copy()]
        moved[0][i, j] += 1e-5
        moved[1][i, j] -= 1e-5
        expected = (divergence(moved[0]) - divergence(moved[1])) / 2e-5
        assert slope[i, j] == pytest.approx(expected, abs=1e-6)


def test_few_and_equal_points_and_progress() -> None:
    assert tsne(np.zeros((0, 3))).shape == (0, 2)
    assert tsne(np.zeros((2, 3))).shape == (2, 2)
    heard: list[int] = []
    same = tsne(np.ones((6, 3)), iterations=20, progress=lambda at, total: heard.append(at))
    assert np.isfinite(same).all()
    assert heard[-1] == 20
    assert (same == tsne(np.ones((6, 3)), iterations=20)).all()
