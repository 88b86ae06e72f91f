"""UMUC (UN Security Council speeches): RST trees over untokenised text, no sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rhetorica.errors import FormatError
from rhetorica.formats.rs3 import read_rs3
from rhetorica.parses import Parse


def read_umuc(
    folder: Path | str,
    split: str | None = None,
    *,
    relations: str = "original",
    repair: bool = True,
) -> Iterator[Parse]:
    """Read the documents of a split (``train`` or ``dev``), or all.

    ``relations`` is ``original`` or ``gum_relations`` (the corpus's own mapping to GUM-like
    labels). A dev file has two roots and a train file a span with two nuclei; unless ``repair``
    is off these are joined, with a warning (see `read_rs3`).
    """
    folder = Path(folder) / f"rs3_{relations}"
    paths = sorted(folder.glob(f"{split or '*'}/*.rs3"))
    if not paths:
        raise FormatError(str(folder), None, f"no .rs3 file of the split {split or 'any'}")
    for path in paths:
        parse = read_rs3(path, repair=repair)
        yield replace(parse, document=replace(parse.document, language="en"))
