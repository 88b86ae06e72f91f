"""A sparse linear classifier over the features of states: fitted, applied, kept in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.learn.hashing import Rows, Vocabulary, stack_rows, sum_rows
from rhetorica.learn.softmax import SoftmaxExamples, SoftmaxRegression
from rhetorica.parsers.transition.features import (
    BITS,
    Bits,
    Looks,
    StateReader,
    Templates,
    known_bits,
)

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Classifier:
    """The vocabulary tells the row of ``weights`` (rows, classes) of each hash."""

    templates: Templates
    vocabulary: Vocabulary
    weights: Floats
    _known: Bits = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", known_bits(self.vocabulary.table))

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
        tolerance: float = 0.0,
        seed: int = 0,
        progress: Callable[[int, float], None] | None = None,
    ) -> Classifier:
        """Learn from the features of states (hashes, in parts) and their right classes.

        Features that occur less than ``min_count`` times are left out.
        """
        hashes = stack_rows(rows)
        known = Vocabulary.counted(hashes, BITS, min_count=min_count)
        model = SoftmaxRegression(
            len(known),
            right.shape[1],
            strength=strength,
            epochs=epochs,
            tolerance=tolerance,
            seed=seed,
        ).fit(
            SoftmaxExamples(
                np.where(hashes >= 0, known.table[hashes], 0).astype(np.int32),
                right,
                np.ones_like(right) if possible is None else possible,
            ),
            progress=progress,
        )
        active = np.flatnonzero(model.weights_.any(axis=1))
        weights = np.concatenate([model.weights_[:1], model.weights_[active]])
        return cls(templates, Vocabulary(known.hashes[active - 1], BITS), weights)

    def scores(self, reader: StateReader, looks: Looks) -> Floats:
        """Return the scores of the classes: (states, classes)."""
        table = self.vocabulary.table
        return sum_rows(self.weights, reader.rows(looks, self.templates, table, self._known))

    def arrays(self, name: str) -> dict[str, npt.NDArray[Any]]:
        """Return what a file must keep, small: keys, how many weights each has, these."""
        keys = self.vocabulary.hashes
        weights = self.weights[1:].astype(np.float16)
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
        keys = np.cumsum(arrays[f"{name}_keys"], dtype=np.uint32)
        return cls(templates, Vocabulary(keys, BITS), weights)
