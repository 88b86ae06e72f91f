"""A linear model of labelled arcs: hashed features of head, dependent and pair, times weights.

A template names an attribute of the head, of the dependent and of the pair, or leaves any out; its
value is hashed to a row of the weight matrix, whose columns are labels. Templates of one side only
are looked up once a unit, the others once a pair, in a compiled loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.kernels import compiled, part
from rhetorica.learn.hashing import MIX, spread, top_bits

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float32]

_SHIFT = np.uint64(29)


class Template(NamedTuple):
    """A feature: attributes of the head, the dependent and the pair; "" where there is none."""

    head: str = ""
    dependent: str = ""
    pair: str = ""

    @classmethod
    def read(cls, text: str) -> Template:
        """Read attributes with their places: H (head), D (dependent), P (pair).

        >>> Template.read("H:role P:where")
        Template(head='role', dependent='', pair='where')
        """
        sides = {"H": "head", "D": "dependent", "P": "pair"}
        return cls(**{sides[part[0]]: part[2:] for part in text.split()})

    @property
    def one_sided(self) -> bool:
        """Whether it looks at the head alone, or at the dependent alone."""
        return not self.pair and not (self.head and self.dependent)

    def __str__(self) -> str:
        parts = (("head", self.head), ("dependent", self.dependent), ("pair", self.pair))
        return " & ".join(f"{side} {name}" for side, name in parts if name)


@dataclass(frozen=True, slots=True)
class Arcs:
    """The features of all arcs of one document, ready to be scored.

    ``head_rows`` and ``dependent_rows`` are the weights' rows of templates that look at one side:
    (n + 1, templates) and (n, templates). For the other templates, ``head_values`` and
    ``dependent_values`` hold attributes, ``pair_of`` says which of the pairs' attributes in
    ``pair_values`` (n + 1, n, attributes) each has; the first of them is always 0.
    """

    n: int
    head_rows: Ints
    dependent_rows: Ints
    head_values: Words
    dependent_values: Words
    pair_values: npt.NDArray[np.uint32]
    pair_of: Ints
    salts: Words
    bits: int

    @classmethod
    def of(
        cls,
        units: Mapping[str, Ints],
        pairs: Mapping[str, Ints],
        templates: Sequence[Template],
        bits: int,
    ) -> Arcs:
        """Look up the attributes that the templates name; units' last value is the root's."""
        n = len(next(iter(units.values()))) - 1
        salts = np.arange(1, len(templates) + 1, dtype=np.uint64) * MIX
        nothing = np.zeros(n + 1, dtype=np.uint64)
        names = sorted({t.pair for t in templates if t.pair})
        tables = [np.zeros((n + 1, n)), *(pairs[name] for name in names)]
        place = {"": 0} | {name: i for i, name in enumerate(names, 1)}
        single = [(t, s) for t, s in zip(templates, salts, strict=True) if t.one_sided]
        double = [(t, s) for t, s in zip(templates, salts, strict=True) if not t.one_sided]

        def unit(name: str) -> Words:
            return units[name].astype(np.uint64) if name else nothing

        def rows(side: str) -> Ints:
            chosen = [(t, s) for t, s in single if getattr(t, side)]
            found = [_hash(s, unit(getattr(t, side)), nothing, nothing, bits) for t, s in chosen]
            return np.stack(found, axis=1) if found else np.zeros((n + 1, 0), dtype=np.int64)

        def stacked(arrays: list[Words], shape: tuple[int, ...]) -> Words:
            return np.stack(arrays) if arrays else np.zeros((0, *shape), dtype=np.uint64)

        return cls(
            n,
            rows("head"),
            rows("dependent")[:n],
            stacked([unit(t.head) for t, _ in double], (n + 1,)),
            stacked([unit(t.dependent)[:n] for t, _ in double], (n,)),
            np.stack([table.astype(np.uint32) for table in tables], axis=2),
            np.array([place[t.pair] for t, _ in double], dtype=np.int64),
            np.array([s for _, s in double], dtype=np.uint64),
            bits,
        )

    def rows(self, heads: Ints, dependents: Ints) -> Ints:
        """Return the rows of weights of some arcs, (arcs, templates); head n is the root."""
        pairs = _hash(
            self.salts[:, None],
            self.head_values[:, heads],
            self.dependent_values[:, dependents],
            self.pair_values[heads, dependents].T[self.pair_of].astype(np.uint64),
            self.bits,
        )
        return np.concatenate(
            [self.head_rows[heads], self.dependent_rows[dependents], pairs.T], axis=1
        )

    def scores(self, weights: Floats, root_label: int) -> tuple[Floats, Ints]:
        """Score every arc with its best label: (n + 1, n) scores and labels, the root last.

        Arcs of the root have the root's label, others any other.
        """
        heads = weights[self.head_rows].sum(axis=1)
        dependents = weights[self.dependent_rows].sum(axis=1)
        return _best_labels(
            heads,
            dependents,
            self.head_values,
            self.dependent_values,
            self.pair_values,
            self.pair_of,
            self.salts,
            self.bits,
            weights,
            root_label,
        )


@part
def _row(salt: Any, head: Any, dependent: Any, pair: Any, bits: int) -> Any:
    """Return the row of weights of a feature, or of arrays of them."""
    mixed = spread(salt ^ head, _SHIFT)
    mixed = spread(mixed + dependent, _SHIFT)
    return top_bits(mixed + pair, bits)


def _hash(salt: Words, head: Words, dependent: Words, pair: Words, bits: int) -> Ints:
    with np.errstate(over="ignore"):
        return np.asarray(_row(salt, head, dependent, pair, bits)).astype(np.int64)


@compiled
def _best_labels(
    heads: Floats,
    dependents: Floats,
    head_values: Words,
    dependent_values: Words,
    pair_values: npt.NDArray[np.uint32],
    pair_of: Ints,
    salts: Words,
    bits: int,
    weights: Floats,
    root_label: int,
) -> tuple[Floats, Ints]:
    n, width = dependents.shape
    scores = np.empty((n + 1, n), dtype=np.float32)
    labels = np.empty((n + 1, n), dtype=np.int64)
    total = np.empty(width, dtype=np.float32)
    for i in range(n + 1):
        for j in range(n):
            for label in range(width):
                total[label] = heads[i, label] + dependents[j, label]
            for t in range(len(salts)):
                pair = np.uint64(pair_values[i, j, pair_of[t]])
                row = _row(salts[t], head_values[t, i], dependent_values[t, j], pair, bits)
                for label in range(width):
                    total[label] += weights[row, label]
            best = root_label
            if i < n:
                best = 0 if root_label != 0 else 1
                for label in range(width):
                    if label != root_label and total[label] > total[best]:
                        best = label
            scores[i, j], labels[i, j] = total[best], best
    return scores, labels
