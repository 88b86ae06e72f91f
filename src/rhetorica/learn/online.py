"""On-line learning of a weight matrix, averaged: MIRA and the perceptron.

Both see one example at a time: the features of the right structure and of the one that the present
weights like best. The weights of all steps are averaged, which keeps the last examples from
outweighing the first (Freund & Schapire 1999; Collins 2002).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Rule = Literal["mira", "perceptron"]


class OnlineLearner:
    """Weights (rows x labels) that examples move.

    ``rule`` is "mira" (single best: the smallest change that makes the right structure better than
    the wrong one by the loss, at most ``aggressiveness`` times the difference; Li et al. 2014,
    Figure 6, after McDonald et al. 2005) or "perceptron" (always the difference).
    """

    def __init__(
        self, shape: tuple[int, int], *, rule: Rule = "mira", aggressiveness: float = 1.0
    ) -> None:
        self.rule = rule
        self.aggressiveness = aggressiveness
        self.weights = np.zeros(shape, dtype=np.float32)
        self._delayed = np.zeros(shape, dtype=np.float32)
        self.steps = 0

    def learn(
        self, right: tuple[Ints, Ints], wrong: tuple[Ints, Ints], *, loss: float, margin: float
    ) -> float:
        """Move the weights by one example; return the length of the step.

        ``right`` and ``wrong`` are rows (parts x features) and labels (parts) of the parts in which
        the two structures differ; ``margin`` is the right one's score minus the wrong one's.
        """
        self.steps += 1
        if not len(right[1]):
            return 0.0
        cells, values = _difference(right, wrong, self.weights.shape[1])
        norm = float(values @ values)
        if norm == 0:
            return 0.0
        step = 1.0
        if self.rule == "mira":
            step = min(self.aggressiveness, max(0.0, (loss - margin) / norm))
        if step:
            change = (step * values).astype(np.float32)
            self.weights.reshape(-1)[cells] += change
            self._delayed.reshape(-1)[cells] += change * (self.steps - 1)
        return step

    def state(self) -> dict[str, Floats | int]:
        """Return what must be kept to go on learning later."""
        return {"weights": self.weights, "delayed": self._delayed, "steps": self.steps}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a kept state."""
        self.weights = np.array(state["weights"], dtype=np.float32)
        self._delayed = np.array(state["delayed"], dtype=np.float32)
        self.steps = int(state["steps"])

    def averaged(self) -> Floats:
        """Return the mean of the weights after each step so far."""
        # A change made at step s is in the weights of all steps but the s - 1 before it.
        return np.asarray(self.weights - self._delayed / max(1, self.steps), dtype=np.float32)


def _difference(
    right: tuple[Ints, Ints], wrong: tuple[Ints, Ints], width: int
) -> tuple[Ints, npt.NDArray[np.float64]]:
    """Return the cells of the matrix in which two structures differ, and by how much."""
    cells, signs = [], []
    for (rows, labels), sign in ((right, 1.0), (wrong, -1.0)):
        cells.append((rows * width + labels[:, None]).reshape(-1))
        signs.append(np.full(rows.size, sign))
    unique, inverse = np.unique(np.concatenate(cells), return_inverse=True)
    values = np.bincount(inverse, weights=np.concatenate(signs), minlength=len(unique))
    changed = values != 0
    return unique[changed], values[changed]
