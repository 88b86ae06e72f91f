"""Relation inventories and their fine-to-coarse maps; the tables are data files.

A set's file has three columns: relation, type (``rst`` for a satellite's relation, ``multinuc`` for
one of equal nuclei) and class. A user's own file may leave out the type.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import NamedTuple

from rhetorica.errors import RepairWarning, UnknownName
from rhetorica.files import Readable, Source
from rhetorica.parses import Parse
from rhetorica.trees import ROOT_RELATION, DepTree, RelationType

_FILES = {"gum": "gum", "gcdt": "gum", "rst-dt": "rst-dt", "scidtb": "scidtb", "umuc": "umuc"}
# "null" is what SciDTB writes on EDUs that are attached to nothing.
_NOT_RELATIONS = {ROOT_RELATION, "span", "null", ""}


class Relation(NamedTuple):
    """A relation of an inventory: its name, its type, and the class that it belongs to."""

    name: str
    type: RelationType
    coarse: str


class Meaning(NamedTuple):
    """What a relation means, with an example: [ ] encloses the satellite, / separates nuclei."""

    relation: str
    definition: str
    example: str

    def __str__(self) -> str:
        return f"{self.relation}: {self.definition} Example: {self.example}"


def explain(relation: str) -> Meaning:
    """Return what a relation, or a class of relations, of any of our sets means.

    >>> print(explain("adversative-concession").example)
    [Although it rained all day,] the match was played.
    """
    known = _meanings()
    for form in _spellings(relation.lower()):
        if form in known:
            return known[form]._replace(relation=relation)
    raise UnknownName("relation", relation, known)


@cache
def _meanings() -> dict[str, Meaning]:
    file = resources.files("rhetorica") / "data" / "relations" / "glossary.tsv"
    rows = (line.split("\t") for line in file.read_text("utf-8").splitlines() if line[0] != "#")
    return {
        name: Meaning(name, definition, example)
        for names, definition, example in rows
        if names != "relations"
        for name in names.split(", ")
    }


@dataclass(frozen=True)
class RelationSet:
    """The relations of one annotation scheme.

    >>> gum = relation_set("gum")
    >>> gum.coarse("joint-list"), gum.coarse("same-unit"), len(gum.classes)
    ('joint', 'same-unit', 15)
    >>> relation_set("rst-dt").coarse("Elaboration-Object-Attribute-e")
    'elaboration'
    """

    name: str
    relations: tuple[Relation, ...]
    _coarse: dict[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        coarse = {relation.coarse.lower(): relation.coarse for relation in self.relations}
        coarse |= {relation.name.lower(): relation.coarse for relation in self.relations}
        object.__setattr__(self, "_coarse", coarse)

    @property
    def classes(self) -> tuple[str, ...]:
        """The coarse classes, sorted."""
        return tuple(sorted({relation.coarse for relation in self.relations}))

    @property
    def label_name(self) -> str:
        """How a score's signature names these coarse labels, for example ``coarse15``."""
        return f"coarse{len(self.classes)}"

    def coarse(self, label: str) -> str:
        """Return the class of a relation; a class maps to itself, as do ROOT, span and null."""
        if label in _NOT_RELATIONS:
            return label
        for form in _spellings(label.lower()):
            if found := self._coarse.get(form):
                return found
        raise UnknownName(
            f"relation in the set {self.name!r}:", label, {r.name for r in self.relations}
        )

    def knows(self, label: str) -> bool:
        """Tell whether a relation has a class."""
        return label in _NOT_RELATIONS or any(f in self._coarse for f in _spellings(label.lower()))

    def extended(self, labels: Iterable[str]) -> tuple[RelationSet, tuple[str, ...]]:
        """Return the set with unknown relations as classes of their own, and which these are.

        >>> relation_set("gum").extended(["joint-list", "digression"])[1]
        ('digression',)
        """
        unknown = tuple(sorted({label.lower() for label in labels if not self.knows(label)}))
        if not unknown:
            return self, ()
        rows = (Relation(name, "rst", name) for name in unknown)
        return RelationSet(self.name, (*self.relations, *rows)), unknown

    def multinuclear(self) -> frozenset[str]:
        """Return the names of the relations that can hold between equal nuclei."""
        return frozenset(r.name for r in self.relations if r.type == "multinuc")


def covering(relations: RelationSet, parses: Iterable[Parse]) -> RelationSet:
    """Return the set with what relations of documents it lacks, each a class of its own.

    A `RepairWarning` names them. Where the set lacks most, it is that of another corpus, and an
    `UnknownName` says so.
    """
    found: set[str] = set()
    for parse in parses:
        tree = parse.source
        if isinstance(tree, DepTree):
            found.update(tree.relations)
        elif tree is not None:
            found.update(join.relation for join in parse.tree.joins)
    extended, unknown = relations.extended(found)
    if len(unknown) > len(found - _NOT_RELATIONS) / 2:
        relations.coarse(unknown[0])  # raises: nobody knows its class
    if unknown:
        warnings.warn(
            f"{', '.join(unknown)}: not in the inventory of {relations.name}; each is a class of "
            "its own",
            RepairWarning,
            stacklevel=3,
        )
    return extended


def _spellings(label: str) -> list[str]:
    """Return the forms to look a label up by: as it is, without RST-DT's suffixes and typos."""
    label = label.replace("_", "-") if label.startswith("same") else label
    bare = label.removesuffix("-e")
    forms = [label, bare]
    forms += [bare.removesuffix("-n").removesuffix("-s"), f"{bare}-n", f"{bare}-s"]
    if bare in ("sameunit", "textualorganization"):
        forms.append({"sameunit": "same-unit"}.get(bare, "textual-organization"))
    return forms


def relation_set_names() -> list[str]:
    """Return the names of the sets that ship with the package."""
    return sorted(_FILES)


@cache
def relation_set(name: str) -> RelationSet:
    """Return an inventory that ships with the package."""
    if name not in _FILES:
        raise UnknownName("relation set", name, _FILES)
    file = resources.files("rhetorica") / "data" / "relations" / f"{_FILES[name]}.tsv"
    return _read(Source(f"{_FILES[name]}.tsv", file.read_text("utf-8")), name)


def read_relation_set(source: Readable) -> RelationSet:
    """Read a user's own map: lines of ``relation<tab>class`` or ``relation<tab>type<tab>class``."""
    source = Source.of(source)
    source.require_content()
    return _read(source, source.stem or "custom")


def _read(source: Source, name: str) -> RelationSet:
    rows: list[Relation] = []
    for number, line in enumerate(source.text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if cells[0] == "relation" and cells[-1] == "class":
            continue
        if len(cells) == 2:
            cells.insert(1, "rst")
        if len(cells) != 3 or not all(cells) or cells[1] not in ("rst", "multinuc"):
            raise source.error(
                "expected relation<tab>class or relation<tab>rst|multinuc<tab>class, "
                f"found {line[:60]!r}",
                number,
            )
        rows.append(Relation(cells[0], "multinuc" if cells[1] == "multinuc" else "rst", cells[2]))
    if not rows:
        raise source.error("no relation in this file", 1)
    return RelationSet(name, tuple(rows))
