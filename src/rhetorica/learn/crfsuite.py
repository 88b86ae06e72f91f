"""CRFsuite's linear chains: rows of named features in, weights as bytes out.

What segmenters of tokens and of characters share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pycrfsuite

Progress = Callable[[int, float], None]


def train_crf(
    rows: Iterable[tuple[list[list[str]], Sequence[str]]],
    *,
    l1: float,
    l2: float,
    iterations: int,
    min_count: int = 1,
    all_transitions: bool = False,
    progress: Progress,
) -> bytes:
    """Learn from sequences, each the features of its places and their labels (L-BFGS).

    ``all_transitions``: labels that never follow one another get a weight, too. ``progress``
    hears the number of each step and the loss.
    """
    trainer = _Trainer(progress)
    trainer.set_params(
        {
            "c1": l1,
            "c2": l2,
            "max_iterations": iterations,
            "feature.minfreq": min_count,
            "feature.possible_transitions": all_transitions,
        }
    )
    for features, labels in rows:
        trainer.append(features, labels)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "weights"
        trainer.train(str(path))
        return path.read_bytes()


def open_tagger(weights: bytes) -> pycrfsuite.Tagger:
    """Open a tagger: it holds the sequence it is at, so that threads cannot share one."""
    tagger = pycrfsuite.Tagger()
    tagger.open_inmemory(weights)
    return tagger


class _Trainer(pycrfsuite.BaseTrainer):  # type: ignore[misc]
    """A trainer that reports instead of printing."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.select("lbfgs")
        self.progress = progress
        self.iteration = 0

    def message(self, message: str) -> None:
        """Take what the library has to say, a piece of a line at a time."""
        if message.startswith("***** Iteration #"):
            self.iteration = int(message.split("#")[1].split()[0])
        elif message.startswith("Loss: "):
            self.progress(self.iteration, float(message.split()[1]))
