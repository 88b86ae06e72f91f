"""Make probabilities honest: a few numbers, fitted on data that was not trained on.

Platt (1999): the log-odds (or other evidence) of an answer are weighed and shifted, so that of
what is said to be 80 % sure four in five are right. A temperature (Guo et al. 2017) divides the
scores of several answers before they become probabilities. Neither changes which answer is best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from rhetorica.learn.links import log_softmax, sigmoid
from rhetorica.learn.logistic import fit_logistic

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def log_odds(probabilities: Floats, *, least: float = 1e-6) -> Floats:
    """Return log p / (1 - p), with p kept a little away from 0 and 1."""
    clipped = np.clip(probabilities, least, 1 - least)
    return np.asarray(np.log(clipped / (1 - clipped)))


def fit_platt(evidence: Floats, true: Floats, *, l2: float = 0.0) -> tuple[float, ...]:
    """Return a weight for each column of evidence (answers x columns), then the bias."""
    weights, bias = fit_logistic(evidence, true, l2)
    return (*(float(weight) for weight in weights), bias)


def platt(evidence: Floats, fitted: Sequence[float]) -> Floats:
    """Return the probabilities that weights and bias make of evidence."""
    return sigmoid(evidence @ np.array(fitted[:-1]) + fitted[-1])


def calibrated(probabilities: Sequence[float], slope: float, bias: float) -> list[float]:
    """Apply slope and bias to the log-odds; certainties (0 and 1) stay.

    >>> [round(p, 3) for p in calibrated([0.0, 0.2, 0.5, 1.0], 0.5, 0.0)]
    [0.0, 0.333, 0.5, 1.0]
    """
    values = np.array(probabilities)
    if not len(values) or (slope, bias) == (1.0, 0.0):
        return list(probabilities)
    fixed = (values == 0) | (values == 1)
    mapped = sigmoid(slope * log_odds(values) + bias)
    return [float(value) for value in np.where(fixed, values, mapped)]


def log_loss(scores: Floats, gold: Ints) -> float:
    """Return minus the summed log probability of the right answers (rows of scores: a softmax).

    No answer counts as less probable than 1e-12: a single one should not decide alone.
    """
    logs = log_softmax(scores)[np.arange(len(gold)), gold]
    return -float(np.maximum(logs, np.log(1e-12)).sum())


def best_temperature(loss: Callable[[float], float], grid: Iterable[float]) -> float:
    """Return the temperature of the grid under which the right answers are most probable.

    >>> scores, gold = np.array([[4.0, 0.0], [4.0, 0.0]]), np.array([0, 1])  # sure, half wrong
    >>> best_temperature(lambda t: log_loss(scores / t, gold), (0.5, 1, 2, 1000))
    1000.0
    """
    return float(min(grid, key=loss))
