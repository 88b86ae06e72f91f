"""A sparse linear classifier over the features of states: fitted, applied, kept in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.kernels import kernel
from rhetorica.learn.softmax import SoftmaxExamples, SoftmaxRegression
from rhetorica.parsers.transition.features import (
    BITS,
    Bits,
    Looks,
    Rows,
    StateReader,
    Templates,
    known_bits,
)

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Classifier:
    """``table`` tells the row of ``weights`` (rows, classes) of each hash; row 0 is for none."""

    templates: Templates
    table: Rows
    weights: Floats
    _known: Bits = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", known_bits(self.table))

    @classmethod
    def fit(
        cls,
        templates: Templates,
        rows: Sequence[Rows],
        right: Flags,
        possible: Flags | None = None,
        *,
        min_count: int = 2,
        strength: float = 1.0,
        epochs: int = 8,
        seed: int = 0,
        progress: Callable[[int, float], None] | None = None,
    ) -> Classifier:
        """Learn from the features of states (hashes, in parts) and their right classes.

        Features that occur less than ``min_count`` times are left out.
        """
        hashes = stack_rows(rows)
        counts = np.bincount(hashes[hashes >= 0], minlength=2**BITS)
        keys = np.flatnonzero(counts >= min_count)
        table = row_table(keys)
        model = SoftmaxRegression(
            len(keys) + 1, right.shape[1], strength=strength, epochs=epochs, seed=seed
        ).fit(
            SoftmaxExamples(
                np.where(hashes >= 0, table[hashes], 0).astype(np.int32),
                right,
                np.ones_like(right) if possible is None else possible,
            ),
            progress=progress,
        )
        active = np.flatnonzero(model.weights_.any(axis=1))
        weights = np.concatenate([model.weights_[:1], model.weights_[active]])
        return cls(templates, row_table(keys[active - 1]), weights)

    def scores(self, reader: StateReader, looks: Looks) -> Floats:
        """Return the scores of the classes: (states, classes)."""
        return _sum_rows(self.weights, reader.rows(looks, self.templates, self.table, self._known))

    def arrays(self, name: str) -> dict[str, npt.NDArray[Any]]:
        """Return what a file must keep, small: keys, how many weights each has, these."""
        keys = np.flatnonzero(self.table)
        weights = self.weights[self.table[keys]].astype(np.float16)
        at, classes = np.nonzero(weights)
        return {
            f"{name}_keys": np.diff(keys, prepend=0).astype(np.uint32),
            f"{name}_counts": np.bincount(at, minlength=len(keys)).astype(np.uint8),
            f"{name}_classes": classes.astype(np.uint8),
            f"{name}_weights": weights[at, classes],
            f"{name}_shape": np.array([len(keys), self.weights.shape[1]]),
        }

    @classmethod
    def from_arrays(
        cls, name: str, arrays: Mapping[str, npt.NDArray[Any]], templates: Templates
    ) -> Classifier:
        """Make the classifier that `arrays` has described."""
        count, width = arrays[f"{name}_shape"].tolist()
        weights = np.zeros((count + 1, width), dtype=np.float32)
        rows = np.repeat(np.arange(1, count + 1), arrays[f"{name}_counts"])
        weights[rows, arrays[f"{name}_classes"]] = arrays[f"{name}_weights"]
        return cls(templates, row_table(np.cumsum(arrays[f"{name}_keys"], dtype=np.int64)), weights)


def stack_rows(rows: Sequence[Rows]) -> Rows:
    """Put parts of different width together, padded by -1."""
    width = max((part.shape[1] for part in rows), default=0)
    whole = np.full((sum(len(part) for part in rows), width), -1, dtype=np.int32)
    at = 0
    for part in rows:
        whole[at : at + len(part), : part.shape[1]] = part
        at += len(part)
    return whole


def row_table(keys: npt.NDArray[np.int64]) -> Rows:
    """Return the row of weights of each hash: rows 1, 2, ... for the keys, 0 for all others."""
    table = np.zeros(2**BITS, dtype=np.int32)
    table[keys] = np.arange(1, len(keys) + 1)
    return table


def _sum_rows_numpy(weights: Floats, rows: Rows) -> Floats:
    return np.asarray(weights[rows].sum(axis=1), dtype=np.float32)


@kernel(_sum_rows_numpy)
def _sum_rows(weights: Floats, rows: Rows) -> Floats:
    width = weights.shape[1]
    result = np.zeros((len(rows), width), dtype=np.float32)
    for i in range(len(rows)):
        for j in range(rows.shape[1]):
            row = rows[i, j]
            if row > 0:
                for k in range(width):
                    result[i, k] += weights[row, k]
    return result
