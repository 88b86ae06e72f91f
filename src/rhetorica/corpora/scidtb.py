"""SciDTB (Yang and Li 2018): discourse dependencies of abstracts, by several annotators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

from rhetorica.errors import FormatError
from rhetorica.formats.scidtb import read_dep
from rhetorica.parses import Parse

_ANNOTATOR = re.compile(r"_anno(\d+)$")
_FOLDERS = {1: "gold", 2: "second_annotate"}


def document_name(name: str) -> str:
    """Return the name of a document without that of its annotator.

    >>> document_name("P16-1069_anno2")
    'P16-1069'
    """
    return _ANNOTATOR.sub("", name)


def read_scidtb(
    folder: Path | str,
    split: str = "train",
    *,
    annotator: int | Literal["all"] = 1,
    repair: bool = True,
) -> Iterator[Parse]:
    """Read the documents of a split (``train``, ``dev``, ...) as one annotator saw them, or "all".

    In train, a document with a single annotation counts as the first annotator's; in the other
    splits the first is the gold annotation. Documents with several annotations share the part of
    their id before ``_anno``: keep them together. Six files are broken; see `read_dep` on what
    ``repair`` does with them.
    """
    base = Path(folder) / split
    paths = _train_paths(base) if split == "train" else _other_paths(base)
    chosen = [path for path, by in paths if annotator in ("all", by)]
    if not chosen:
        raise FormatError(
            str(base), None, f"no .dep file of annotator {annotator!r} here: is this SciDTB?"
        )
    for path in chosen:
        parse = read_dep(path, repair=repair)
        yield replace(parse, document=replace(parse.document, language="en"))


def _train_paths(base: Path) -> list[tuple[Path, int]]:
    paths: list[tuple[Path, int]] = []
    for path in sorted(base.glob("*.dep")):
        match = _ANNOTATOR.search(path.name.partition(".")[0])
        paths.append((path, int(match[1]) if match else 1))
    return paths


def _other_paths(base: Path) -> list[tuple[Path, int]]:
    return [
        (path, annotator)
        for annotator, name in _FOLDERS.items()
        for path in sorted((base / name).glob("*.dep"))
    ]
