"""Your own trees as a corpus: a folder with a part for each split, in any format that is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rhetorica.errors import FormatError
from rhetorica.formats import find_files, read
from rhetorica.parses import Parse
from rhetorica.relations import Relation, RelationSet, read_relation_set
from rhetorica.trees import ROOT_RELATION

CLASSES = "relations.tsv"


def read_own(folder: Path | str, split: str | None = None) -> Iterator[Parse]:
    """Read the trees of a split, or all: files below ``train/``, ``dev/``, or ``train.jsonl``."""
    folder = Path(folder)
    if not folder.is_dir():
        raise FormatError(str(folder), None, "no such folder; expected one with train and dev")
    places = sorted(p for p in folder.iterdir() if p.is_dir() or p.suffix == ".jsonl")
    if split:
        places = [place for place in places if place.stem == split]
        if not places:
            why = f"no folder {split} and no file {split}.jsonl; put the trees of this split there"
            raise FormatError(str(folder), None, why)
    for place in places:
        for path in find_files(place):
            yield from read(path)


def own_relations(folder: Path | str, parses: Iterable[Parse]) -> RelationSet:
    """Return the relations of your trees, with the classes that ``relations.tsv`` there gives.

    Without such a file each relation is a class of its own.
    """
    file = Path(folder) / CLASSES
    if file.is_file():
        return read_relation_set(file)
    found = {
        (unit.relation, unit.multinuclear)
        for parse in parses
        for unit in parse.units
        if unit.relation and unit.relation != ROOT_RELATION
    }
    rows = (Relation(name, "multinuc" if both else "rst", name) for name, both in sorted(found))
    return RelationSet("own", tuple(rows))
