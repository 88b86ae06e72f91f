"""Features as rows of a weight matrix: templates over attributes, hashed, looked up, summed.

An attribute belongs to a place: L and R (the left and the right unit of a join), W (the whole), K
(the edge between the two, an EDU number) or P (the join itself). A template is a group and a string
such as ``"L:last R:first"``. Templates that look at one place only are made once for each unit or
edge and not once for each join: in a document of n sentences that is n^2 instead of n^3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.features.edus import hashed
from rhetorica.learn.hashing import Rows, Vocabulary, mix, sum_rows
from rhetorica.learn.treecrf import Block
from rhetorica.parsers.codra.units import Layout

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Words = npt.NDArray[np.uint64]

PLACES = "LRWKP"
_PARTS = ("left", "right", "whole", "edge", "join")


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
    def salt(self) -> int:
        """Its own start value: the same attributes in another template are another feature."""
        return hashed(f"{self.group} {self.text}") * 0x85EBCA6B


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
    left: Rows
    right: Rows
    whole: Rows
    edge: Rows
    join: Rows

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
                table[:, column] = mix(template.salt, values, bits, shift=31)
            tables[place] = table
        return cls(layout, *(tables[place] for place in PLACES))

    @property
    def blocks(self) -> list[Block]:
        """The tables, with the row in each that a join has; that of joins comes first."""
        layout = self.layout
        return [
            Block(self.join),
            Block(self.left, layout.left),
            Block(self.right, layout.right),
            Block(self.whole, layout.whole),
            Block(self.edge, layout.unit_ends[layout.left]),
        ]

    def select(self, joins: Ints) -> Rows:
        """Return all features of some joins, (joins, templates)."""
        own, *others = self.blocks
        return np.concatenate([*(b.rows[b.at(joins)] for b in others), own.rows[joins]], axis=1)

    def map(self, vocabulary: Vocabulary) -> Features:
        """Turn hashes to rows of weights."""
        return Features(self.layout, *(vocabulary.table[getattr(self, part)] for part in _PARTS))

    def scores(self, weights: Floats) -> Floats:
        """Return the scores of all joins, (joins, labels); features must have been mapped."""
        blocks = list(self.score_blocks(weights, max(1, self.layout.n_joins)))
        return blocks[0] if blocks else np.zeros((0, weights.shape[1]), np.float32)

    def score_blocks(self, weights: Floats, size: int) -> Iterator[Floats]:
        """Yield the scores of all joins, so many joins at a time, to bound memory."""
        own, *others = self.blocks
        sums = [(block, sum_rows(weights, block.rows)) for block in others if block.rows.size]
        for start in range(0, self.layout.n_joins, size):
            here = slice(start, start + size)
            result = sum_rows(weights, own.rows[here])
            for block, found in sums:
                result += found[block.at(here)]
            yield result


def choose(templates: Sequence[Template], groups: Collection[str]) -> list[Template]:
    """Return the templates of some groups."""
    return [template for template in templates if template.group in groups]


def _values(attributes: Attributes, where: str, name: str, place: str) -> Words:
    if place == "P":
        return attributes.at(where, name, slice(None))
    table = attributes.edges if place == "K" else attributes.units
    return table[name].astype(np.uint64)
