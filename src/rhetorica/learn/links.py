"""From scores to probabilities: the functions that all models share."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Array = TypeVar("Array", bound=npt.NDArray[Any])


def sigmoid(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return 1 / (1 + exp(-x)), without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * values)))


def log_softmax(scores: Array, axis: int = -1) -> Array:
    """Return log probabilities along an axis; -inf stays impossible.

    >>> np.exp(log_softmax(np.array([0.0, 0.0, -np.inf]))).tolist()
    [0.5, 0.5, 0.0]
    """
    moved = scores - scores.max(axis=axis, keepdims=True)
    result: Array = moved - np.log(np.exp(moved).sum(axis=axis, keepdims=True))
    return result
