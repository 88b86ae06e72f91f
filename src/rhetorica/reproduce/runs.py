"""Trainings that are made once: each is kept in a folder, under the hash of what was trained.

To it belong the documents with their trees and analyses, the settings, and the code that learns and
scores, so that no table has rows of two versions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from rhetorica.files import digest, write_text
from rhetorica.progress import Event, Tell, nothing
from rhetorica.train.treebank import Treebank

Model = TypeVar("Model")


CODE = (
    "convert.py", "decode", "dialogue", "document.py", "evaluate", "features", "languages", "learn",
    "parsers", "segmenters", "text", "trees.py", "words",
)  # fmt: skip
"""The parts of the package that what is kept depends on."""


@cache
def code() -> str:
    """Return what tells the code that learns and scores from that of other versions."""
    root = Path(__file__).resolve().parents[1]
    files = [
        path
        for name in CODE
        for path in (sorted((root / name).rglob("*.py")) if "." not in name else [root / name])
    ]
    return digest([[str(path.relative_to(root)), path.read_text("utf-8")] for path in files])


class _Kept:
    """What all experiments can do, by a key that tells them from others, and their folder."""

    folder: Path
    tell: Tell

    @property
    def key(self) -> str:
        """What was trained on."""
        raise NotImplementedError

    def figures(
        self, setting: Mapping[str, Any], train: Callable[[], Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return the figures of a setting: recalled or, the first time, from a training."""
        path = self._path(setting, ".json")
        if not path.is_file():
            self.tell(Event(self.key, note=json.dumps(setting, sort_keys=True)))
            found = {"setting": dict(setting), "figures": dict(train())}
            write_text(path, json.dumps(found, indent=1))
        return dict(json.loads(path.read_text("utf-8"))["figures"])

    def model(
        self,
        setting: Mapping[str, Any],
        train: Callable[[Path], object],
        load: Callable[[Path], Model],
    ) -> Model:
        """Return the model of a setting: recalled or, the first time, trained into its folder."""
        path = self._path(setting, "")
        if not (path / "config.json").is_file():
            self.tell(Event(self.key, note=json.dumps(setting, sort_keys=True)))
            train(path)
        return load(path)

    def _path(self, setting: Mapping[str, Any], suffix: str) -> Path:
        return self.folder / f"{digest([code(), self.key, dict(setting)])}{suffix}"


@dataclass(frozen=True)
class Experiments(_Kept):
    """The experiments of a paper on one corpus, by its name, and where they are kept."""

    name: str
    folder: Path
    tell: Tell = nothing

    @property
    def key(self) -> str:
        """The name."""
        return self.name


@dataclass(frozen=True)
class Runs(_Kept):
    """The experiments of a paper on one treebank, and the folder in which they are kept."""

    treebank: Treebank
    folder: Path
    tell: Tell = nothing

    @property
    def key(self) -> str:
        """The documents with their trees, as they are analysed."""
        return self.treebank.fingerprint
