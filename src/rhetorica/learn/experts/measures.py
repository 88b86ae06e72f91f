"""How far predicted sequences are from the right ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rhetorica.kernels import compiled
from rhetorica.learn.experts.tables import PAD

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def hamming_loss(pred: Ints, truth: Ints, *, padding: bool = True) -> float:
    """Return the share of positions that are wrong.

    ``padding=False`` leaves out positions that are filled up on both sides.

    >>> hamming_loss(np.array([[1, 2]]), np.array([[1, 3]]))
    0.5
    """
    wrong = pred != truth
    counted = np.ones_like(wrong) if padding else (pred != PAD) | (truth != PAD)
    return float(wrong[counted].mean()) if counted.any() else 0.0


def edit_distances(pred: Ints, truth: Ints) -> Ints:
    """Return the fewest insertions, deletions and changes of each pair of rows; padding is cut.

    >>> edit_distances(np.array([[1, 2, 3]]), np.array([[2, 3, -2]])).tolist()
    [1]
    """
    # PAD as an argument: the compiled loops see their arguments only.
    return np.asarray(_edits(pred, truth, PAD))


@compiled
def _edits(pred: Ints, truth: Ints, pad: int) -> Ints:
    found = np.zeros(len(pred), dtype=np.int64)
    row = np.zeros(truth.shape[1] + 1, dtype=np.int64)
    right = np.zeros(truth.shape[1], dtype=np.int64)
    for n in range(len(pred)):
        size = 0
        for k in range(truth.shape[1]):
            if truth[n, k] != pad:
                right[size] = truth[n, k]
                size += 1
        for j in range(size + 1):
            row[j] = j
        done = 0
        for i in range(pred.shape[1]):
            if pred[n, i] == pad:
                continue
            done += 1
            corner = row[0]
            row[0] = done
            for j in range(size):
                kept = row[j + 1]
                change = corner + (0 if pred[n, i] == right[j] else 1)
                row[j + 1] = min(change, kept + 1, row[j] + 1)
                corner = kept
        found[n] = row[size]
    return found
