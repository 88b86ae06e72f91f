"""Features as rows of a weight matrix: templates over attributes, hashed, looked up, summed.

An attribute belongs to a place: L and R (the left and the right unit of a join), W (the whole), K
(the edge between the two, an EDU number) or P (the join itself). A template is a group and a string
such as ``"L:last R:first"``. Templates that look at one place only are made once for each unit or
edge and not once for each join: in a document of n sentences that is n^2 instead of n^3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.features.edus import hashed
from rhetorica.kernels import kernel
from rhetorica.parsers.codra.units import Layout

Ints = npt.NDArray[np.int64]
Rows32 = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
Words = npt.NDArray[np.uint64]

PLACES = "LRWKP"
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(31)


class Template(NamedTuple):
    """A feature: its group, and the attributes that it combines, each with its place."""

    group: str
    text: str

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The places and names of its attributes."""
        return [(part[0], part[2:]) for part in self.text.split()]

    @property
    def place(self) -> str:
        """The one place that it looks at, or P."""
        places = {place for place, _ in self.parts}
        return places.pop() if len(places) == 1 else "P"

    @property
    def salt(self) -> np.uint64:
        """Its own start value: the same attributes in another template are another feature."""
        return np.uint64(hashed(f"{self.group} {self.text}")) * np.uint64(0x85EBCA6B)


@dataclass(frozen=True)
class Attributes:
    """Attributes of units, of edges (by EDU number) and of joins of one layout."""

    layout: Layout
    units: Mapping[str, Ints]
    edges: Mapping[str, Ints]
    joins: Mapping[str, Ints]

    def at(self, place: str, name: str, joins: slice | Ints) -> Words:
        """Return an attribute for some joins."""
        if place == "P":
            return self.joins[name][joins].astype(np.uint64)
        if place == "K":
            splits = self.layout.unit_ends[self.layout.left[joins]]
            return self.edges[name][splits].astype(np.uint64)
        return self.units[name][self._unit(place)[joins]].astype(np.uint64)

    def _unit(self, place: str) -> Ints:
        return {"L": self.layout.left, "R": self.layout.right, "W": self.layout.whole}[place]


@dataclass(frozen=True)
class Features:
    """The hashed features of a layout: a table for each place, (units, edges or joins) x templates.

    ``numbers`` are the hashes cut to some bits; a `Vocabulary` turns them to rows of weights.
    """

    layout: Layout
    left: Rows32
    right: Rows32
    whole: Rows32
    edge: Rows32
    join: Rows32

    @classmethod
    def of(cls, attributes: Attributes, templates: Sequence[Template], bits: int) -> Features:
        """Hash all templates over all places."""
        layout = attributes.layout
        tables = {}
        for place in PLACES:
            chosen = [t for t in templates if t.place == place]
            if place == "P":
                count = layout.n_joins
            elif place == "K":
                count = len(next(iter(attributes.edges.values()))) if attributes.edges else 0
            else:
                count = len(layout.unit_starts)
            table = np.zeros((count, len(chosen)), np.int32)
            for column, template in enumerate(chosen):
                values = [_values(attributes, where, name, place) for where, name in template.parts]
                table[:, column] = _hash(template.salt, values, bits)
            tables[place] = table
        return cls(layout, *(tables[place] for place in PLACES))

    def select(self, joins: Ints) -> Rows32:
        """Return all features of some joins, (joins, templates)."""
        layout = self.layout
        splits = layout.unit_ends[layout.left[joins]]
        return np.concatenate(
            [
                self.left[layout.left[joins]],
                self.right[layout.right[joins]],
                self.whole[layout.whole[joins]],
                self.edge[splits],
                self.join[joins],
            ],
            axis=1,
        )

    def map(self, vocabulary: Vocabulary) -> Features:
        """Turn hashes to rows of weights."""
        table = vocabulary.table
        return Features(
            self.layout,
            *(table[part] for part in (self.left, self.right, self.whole, self.edge, self.join)),
        )

    def scores(self, weights: Floats) -> Floats:
        """Return the scores of all joins, (joins, labels); features must have been mapped."""
        blocks = list(self.score_blocks(weights, max(1, self.layout.n_joins)))
        return blocks[0] if blocks else np.zeros((0, weights.shape[1]), np.float32)

    def score_blocks(self, weights: Floats, size: int) -> Iterator[Floats]:
        """Yield the scores of all joins, so many joins at a time, to bound memory."""
        layout = self.layout
        parts = [row_sums(rows, weights) for rows in (self.left, self.right, self.whole, self.edge)]
        for start in range(0, layout.n_joins, size):
            here = slice(start, start + size)
            result = row_sums(self.join[here], weights)
            result += parts[0][layout.left[here]]
            result += parts[1][layout.right[here]]
            result += parts[2][layout.whole[here]]
            if self.edge.size:
                result += parts[3][layout.unit_ends[layout.left[here]]]
            yield result


@dataclass(frozen=True)
class Vocabulary:
    """The hashes that have weights; row 0 is for all others, and its weights are zero."""

    hashes: npt.NDArray[np.uint32]
    bits: int

    @classmethod
    def of(cls, rows: Sequence[Rows32], bits: int, *, min_count: int) -> Vocabulary:
        """Keep the hashes that occur in enough documents, given the rows of each.

        Joins are not counted: a unit takes part in many, so that words which stand in the text
        once would seem to be frequent, and the model would learn its documents by heart.
        """
        seen = [np.zeros(0, np.int32), *(np.unique(part) for part in rows)]
        hashes, counts = np.unique(np.concatenate(seen), return_counts=True)
        return cls(hashes[counts >= min_count].astype(np.uint32), bits)

    def __len__(self) -> int:
        return len(self.hashes) + 1

    @cached_property
    def table(self) -> Rows32:
        """The row of each hash."""
        table = np.zeros(2**self.bits, np.int32)
        table[self.hashes] = np.arange(1, len(self.hashes) + 1)
        return table


def prune(
    vocabulary: Vocabulary, tables: Sequence[Floats], threshold: float
) -> tuple[Vocabulary, list[Floats]]:
    """Drop weights that are smaller than a threshold, and features that have no others."""
    kept = [np.where(np.abs(table) < threshold, 0, table).astype(np.float32) for table in tables]
    used = np.any([np.abs(table).max(axis=1) > 0 for table in kept], axis=0)
    used[0] = True
    return (
        Vocabulary(vocabulary.hashes[used[1:]], vocabulary.bits),
        [table[used] for table in kept],
    )


def matrix(rows: Rows32, width: int) -> Any:
    """Return the sparse matrix (examples x weights) of rows, without row 0."""
    from scipy.sparse import csr_matrix

    keep = rows > 0
    offsets = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
    columns = rows[keep]
    values = np.ones(len(columns), np.float32)
    return csr_matrix((values, columns, offsets), shape=(len(rows), width))


def choose(templates: Sequence[Template], groups: Collection[str]) -> list[Template]:
    """Return the templates of some groups."""
    return [template for template in templates if template.group in groups]


def _values(attributes: Attributes, where: str, name: str, place: str) -> Words:
    if place == "P":
        return attributes.at(where, name, slice(None))
    table = attributes.edges if place == "K" else attributes.units
    return table[name].astype(np.uint64)


def _hash(salt: np.uint64, values: Sequence[Words], bits: int) -> Rows32:
    with np.errstate(over="ignore"):
        mixed: Any = salt
        for column in values:
            mixed = (mixed ^ column) * _MIX
            mixed = mixed ^ (mixed >> _SHIFT)
        mixed = mixed * _MIX
    return np.asarray(mixed >> np.uint64(64 - bits)).astype(np.int32)


def _row_sums_numpy(rows: Rows32, weights: Floats) -> Floats:
    total = np.zeros((len(rows), weights.shape[1]), np.float32)
    for column in range(rows.shape[1]):
        total += weights[rows[:, column]]
    return total


@kernel(_row_sums_numpy)
def row_sums(rows: Rows32, weights: Floats) -> Floats:
    """Sum the rows of weights that each example has: (examples, labels)."""
    examples, templates = rows.shape
    labels = weights.shape[1]
    total = np.zeros((examples, labels), np.float32)
    for example in range(examples):
        for template in range(templates):
            row = rows[example, template]
            if row > 0:
                for label in range(labels):
                    total[example, label] += weights[row, label]
    return total
