"""Points of many dimensions in the plane: t-SNE, exact (van der Maaten & Hinton 2008).

Neighbours in space should be neighbours in the plane. For up to a few thousand points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[Any]
_EXAGGERATED = 100
"""In so many first steps neighbours attract each other more, so that groups can form."""


def tsne(
    points: Floats,
    *,
    perplexity: float = 30.0,
    iterations: int = 500,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Floats:
    """Return places in the plane, (n, 2), for points (n, dimensions).

    ``perplexity`` is about the number of neighbours that each point has.

    >>> groups = np.repeat([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]], 10, axis=0)
    >>> places = tsne(groups + np.random.default_rng(0).normal(size=(20, 3)), perplexity=5)
    >>> bool(np.ptp(places[:10], axis=0).max() < np.abs(places[0] - places[10]).max())
    True
    """
    n = len(points)
    if n < 3:
        return np.zeros((n, 2))
    shares = _neighbours(_squared_distances(points), min(perplexity, (n - 1) / 3))
    shares = np.maximum((shares + shares.T) / (2 * n), 1e-12).astype(np.float32)
    rng = np.random.default_rng(seed)
    places = rng.normal(0, 1e-4, (n, 2)).astype(np.float32)
    speed, gains = np.zeros_like(places), np.ones_like(places)
    rate = max(n / 12, 50)
    for step in range(iterations):
        early = step < _EXAGGERATED
        slope = _slope(places, shares * np.float32(12 if early else 1))
        # Steps grow where the direction stays, shrink where it turns (Jacobs 1988).
        gains = np.maximum(np.where(slope * speed < 0, gains + 0.2, gains * 0.8), 0.01)
        speed = (0.5 if early else 0.8) * speed - rate * gains * slope
        places = places + speed
        places -= places.mean(axis=0)
        if progress:
            progress(step + 1, iterations)
    return places.astype(np.float64)


def _squared_distances(points: Floats) -> Floats:
    squares = (points**2).sum(axis=1)
    return np.asarray(np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0))


def _neighbours(distances: Floats, perplexity: float) -> Floats:
    """Return how much each point (row) is drawn to each other; rows have the wanted perplexity.

    The precision of each row's Gaussian is found by bisection, all rows at once.
    """
    n = len(distances)
    others = distances + np.diag(np.full(n, np.inf))
    scale = max(float(np.median(distances)), 1e-12)
    others = (others - others.min(axis=1, keepdims=True)) / scale
    low, high, precision = np.zeros(n), np.full(n, np.inf), np.ones(n)
    finite = np.where(np.isfinite(others), others, 0)
    for _ in range(60):
        weights = np.exp(-others * precision[:, None])
        totals = weights.sum(axis=1)
        entropy = np.log(totals) + precision * (weights * finite).sum(axis=1) / totals
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, precision, low), np.where(wide, high, precision)
        precision = np.where(np.isinf(high), 2 * precision, (low + high) / 2)
    weights = np.exp(-others * precision[:, None])
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _slope(places: Floats, shares: Floats) -> Floats:
    """Return the gradient of the divergence between the two kinds of neighbourhood."""
    near = 1 / (1 + _squared_distances(places))
    np.fill_diagonal(near, 0)
    pull = (shares - near / near.sum()) * near
    return np.asarray(4 * (pull.sum(axis=1)[:, None] * places - pull @ places))
