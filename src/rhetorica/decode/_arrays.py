"""Check score arrays where they enter the decoders."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


def check_values(name: str, values: NDArray[Any]) -> None:
    """Refuse NaN and plus infinity (minus infinity is fine: it forbids)."""
    if not values.size:
        return
    # The maximum is NaN if any value is: one pass, nothing allocated.
    top = values.max()
    if np.isnan(top):
        raise ValueError(f"{name} has a NaN")
    if top == np.inf:
        raise ValueError(f"{name} has an infinite value; only minus infinity (forbidden) may be")


def as_real(name: str, values: ArrayLike, dimensions: int) -> NDArray[Any]:
    """Return float32 or float64 values with so many dimensions; integers become float64."""
    array = np.asarray(values)
    if array.ndim != dimensions:
        raise ValueError(f"{name} has {array.ndim} dimensions, not {dimensions}")
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype.kind not in "iufb":
        raise ValueError(f"{name} holds {array.dtype}, not real numbers")
    return array.astype(np.float64)


def arc_scores(scores: ArrayLike) -> Floats:
    """Return a checked float64 copy of arc scores; cells that are no arc become -inf."""
    array = np.array(as_real("scores", scores, 2), np.float64, order="C")
    rows, columns = array.shape
    if rows != columns or not rows:
        raise ValueError(
            f"scores are {rows} x {columns}: expected (n + 1) x (n + 1), with the root as row 0"
        )
    array[:, 0] = -np.inf
    np.fill_diagonal(array, -np.inf)
    check_values("scores", array)
    return array


def check_k(k: int) -> None:
    """Refuse to find fewer than one structure."""
    if k < 1:
        raise ValueError(f"k is {k}: expected at least 1")
