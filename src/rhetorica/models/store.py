"""One way to write, find and read a model: a folder with ``config.json``, weights and a card.

``config.json`` (format 2) says what the model is; everything but the card has a checksum there,
which is compared when the file is first used, and so has what it says itself. Nothing in a folder
is ever executed: arrays are read without pickle.

Models are looked for in this package and in those that declare the entry point group
``rhetorica.models``, each entry naming a module whose folder holds model folders.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from rhetorica.errors import ModelError
from rhetorica.files import write_bytes, write_text
from rhetorica.settings import plain
from rhetorica.trees import Label

Kind = Literal["parser", "segmenter", "syntax", "dialogue", "words"]
Arrays = Mapping[str, npt.NDArray[Any]]
FORMAT = 2
GROUP = "rhetorica.models"
_CONFIG, _CARD = "config.json", "README.md"
_FREE = ("format", "licence", "scores", "checksum")
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Config:
    """What a model says of itself.

    ``name`` is that of the parser or segmenter which reads the folder, ``treebanks`` are those
    whose conventions it can follow, ``labels`` are nuclearity and relation, in the order of
    its outputs, ``settings`` what its class is made with, and ``files`` the SHA-256 of each file.
    ``scores`` are percent on dev; the one named ``raw`` (from raw text: full Parseval, or F1 of EDU
    starts) decides which of several models is taken. ``checksum`` is that of all but licence and
    scores, which may be corrected by hand; models of earlier versions have none.
    """

    kind: Kind
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    version: str = "1"
    language: str = "en"
    treebanks: tuple[str, ...] = ()
    relations: str = "as-is"
    labels: tuple[Label, ...] = ()
    licence: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    checksum: str = ""
    folder: Path = Path()

    @classmethod
    def of(cls, parser: Any, labels: Sequence[Label] = (), **more: Any) -> Config:
        """Say of a parser its name, settings (and ``more``), relations and labels."""
        settings = plain(parser.settings) | more
        relations = parser.settings.relations
        return cls("parser", parser.name, settings, relations=relations, labels=tuple(labels))

    @classmethod
    def read(cls, folder: Path) -> Config:
        """Read what a folder holds; its other files are not looked at."""
        path = folder / _CONFIG
        try:
            data = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ModelError(f"cannot load {path}: {error}; {_remedy(folder)}") from None
        if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
            raise ModelError(
                f"cannot load {path}: not a model of format {FORMAT}; train it with this version, "
                "or install the version that it was made for"
            )
        if data.get("checksum", "") not in ("", _sum_of(data)):
            raise ModelError(
                f"cannot load {path}: damaged or changed, its checksum is not what it says; "
                f"{_remedy(folder)}"
            )
        try:
            data["labels"] = tuple(Label.read(row) for row in data["labels"])
            data["treebanks"] = tuple(data["treebanks"])
            return cls(**data, folder=folder)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"cannot load {path}: damaged: {error}; {_remedy(folder)}") from None

    @property
    def id(self) -> str:
        """The folder's name."""
        return self.folder.name

    def file(self, name: str) -> Path:
        """Return a file of the model, found to be what was written."""
        path = self.folder / name
        if name not in self.files:
            raise ModelError(f"{self.folder / _CONFIG} does not list {name}; {_remedy(path)}")
        try:
            stat = path.stat()
            found = _checksum(path, stat.st_mtime_ns, stat.st_size)
        except OSError as error:
            raise ModelError(f"cannot load {path}: {error.strerror}; {_remedy(path)}") from None
        if found != self.files[name]:
            raise ModelError(
                f"cannot load {path}: damaged or changed, its checksum is not that in {_CONFIG}; "
                f"{_remedy(path)}"
            )
        return path

    def check(self) -> Path:
        """Compare all files with their checksums; return the folder."""
        for name in self.files:
            self.file(name)
        return self.folder


def _remedy(path: Path) -> str:
    ours = path.is_relative_to(_HERE)
    return "install Rhetorica anew" if ours else "copy, install or train the model anew"


def _sum_of(data: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what a config says, as it is read again."""
    told = {key: value for key, value in data.items() if key not in _FREE}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


@cache
def _checksum(path: Path, _time: int, _size: int) -> str:
    """Return a file's SHA-256; once in a process, unless the file changes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class State:
    """A model outside of any folder: what it says of itself, its arrays, other files."""

    config: Config
    arrays: Arrays = field(default_factory=dict)
    files: Mapping[str, bytes | Path] = field(default_factory=dict)
    weights: str = "weights.npz"

    @classmethod
    def read(cls, folder: Path) -> State:
        """Read and check a folder."""
        config = Config.read(folder)
        files: dict[str, bytes | Path] = {name: config.file(name) for name in config.files}
        weights = next((name for name in files if name.endswith(".npz")), "")
        arrays: Arrays = {}
        if weights:
            path = config.file(weights)
            try:
                with np.load(path, allow_pickle=False) as stored:
                    arrays = dict(stored)
            except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
                raise ModelError(f"cannot load {path}: {error}; {_remedy(path)}") from None
            del files[weights]
        return cls(config, arrays, files, weights)

    def write(self, folder: Path, **facts: Any) -> Config:
        """Write a folder; ``facts`` (language, treebanks, licence, ...) go to its config."""
        names = list(self.files)
        for name in names:
            write_bytes(folder / name, self.file(name))
        if self.arrays:
            data = io.BytesIO()
            np.savez_compressed(data, **self.arrays)  # type: ignore[arg-type]
            write_bytes(folder / self.weights, data.getvalue())
            names.append(self.weights)
        return seal(folder, replace(self.config, **facts), *names)

    def file(self, name: str) -> bytes:
        """Return what a file holds."""
        data = self.files[name]
        return data if isinstance(data, bytes) else data.read_bytes()


def seal(folder: Path, config: Config, *names: str) -> Config:
    """Write the config of a folder with the checksums of these files, or of all."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    every = sorted(path.relative_to(folder).as_posix() for path in found)
    named = sorted(names) or [name for name in every if name not in (_CONFIG, _CARD)]
    sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in named}
    config = replace(config, files=sums, folder=folder)
    data = asdict(config)
    del data["folder"]
    data = json.loads(json.dumps({"format": FORMAT} | data))
    data["checksum"] = _sum_of(data)
    write_text(folder / _CONFIG, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    return replace(config, checksum=data["checksum"])


class Stored:
    """Gives a class with ``state`` and ``from_state`` its ``save`` and ``load``.

    ``language`` is that of the texts which it learned from.
    """

    language = "en"

    settings: Any

    def state(self) -> State:
        """Return all that a folder must hold to make this again."""
        raise NotImplementedError

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make it again."""
        raise NotImplementedError

    def save(self, folder: Path | str, **facts: Any) -> Config:
        """Write a model folder; ``facts`` (language, treebanks, licence, scores) describe it."""
        return self.state().write(Path(folder), **{"language": self.language} | facts)

    def like(self, **changes: Any) -> Self:
        """Return one with other settings that shares the weights."""
        twin = copy(self)
        if changes:
            twin.settings = replace(self.settings, **changes)
        return twin

    @classmethod
    def load(cls, folder: Path | str, **settings: Any) -> Self:
        """Read a model folder; ``settings`` replace those that it was saved with."""
        state = State.read(Path(folder))
        if (name := getattr(cls, "name", state.config.name)) != state.config.name:
            raise ModelError(f"cannot load {folder}: a model of {state.config.name}, not of {name}")
        try:
            if settings:
                config = replace(state.config, settings={**state.config.settings, **settings})
                state = replace(state, config=config)
            model = cls.from_state(state)
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise ModelError(
                f"cannot load {folder}: {error}; its settings are not those of this version"
            ) from None
        model.language = state.config.language
        return model


def folders() -> Iterator[Path]:
    """Yield all model folders: ours first, then those of other packages."""
    roots = [_HERE]
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        spec = find_spec(entry.module)  # finds a module without running it
        if spec is not None:
            roots += map(Path, spec.submodule_search_locations or ())
    for root in roots:
        for config in sorted((*root.glob(_CONFIG), *root.glob(f"*/{_CONFIG}"))):
            yield config.parent


def models(
    kind: Kind | None = None,
    name: str | None = None,
    *,
    language: str | None = None,
    treebank: str | None = None,
) -> list[Config]:
    """Return the models that are installed, those of a kind, name, language, treebank.

    >>> [model.id for model in models("parser", "li2014")]
    ['li2014_gum', 'li2014_scidtb']
    """
    return [
        model
        for model in map(_known, folders())
        if kind in (None, model.kind)
        and name in (None, model.name)
        and language in (None, model.language)
        and (treebank is None or treebank in model.treebanks)
    ]


@cache
def _known(folder: Path) -> Config:
    return Config.read(folder)


def find(kind: Kind, name: str | None, model: str | Path, language: str = "en") -> Config:
    """Return the model that is meant: a treebank's, one of that folder name, or a path.

    Of several, the one with the best score from raw text, whoever made it.

    >>> find("parser", "li2014", "scidtb").id
    'li2014_scidtb'
    """
    known = models(kind, name)
    if isinstance(model, str):
        for fits in (
            [m for m in known if model in m.treebanks and m.language == language],
            [m for m in known if m.id == model],
        ):
            if fits:
                return max(fits, key=lambda m: m.scores.get("raw", 0.0))
    if not (Path(model) / _CONFIG).is_file():
        choices = sorted({*(m.id for m in known), *(bank for m in known for bank in m.treebanks)})
        raise ModelError(
            f"no model {str(model)!r} of the {kind} {name or ''}: neither a model folder nor one "
            f"of those installed ({', '.join(choices)})"
        )
    found = Config.read(Path(model))
    if (found.kind, name or found.name) != (kind, found.name):
        raise ModelError(f"{model} is a {found.kind}, {found.name}, not the {kind} {name}")
    return found
