"""Discourse units of a segment, the joins of adjacent units, and CODRA's unit sequences.

A segment is a row of n base units: the EDUs of a sentence (or of two), or the sub-trees of a
document's sentences. A unit is a range ``a:b`` of base units, a join ``(i, k, j)`` two adjacent
units ``i:k`` and ``k:j``. Both are numbered: units by end, then start; joins in the packed layout
of `rhetorica.decode.cky`, so that an array over joins is what the decoders take.

Algorithm 1 of the paper makes sequences of units: for a join, its two units and all other base
units, without duplicates. Adjacent units of a sequence are themselves joins, so a sequence is a row
of join numbers. Algorithm 2 lists the joins alone: `joins`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from rhetorica.decode import packed_size
from rhetorica.learn.crf import Sequences

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Joins(NamedTuple):
    """All joins of n base units, in the decoders' order."""

    starts: Ints
    splits: Ints
    ends: Ints


def unit_count(n: int) -> int:
    """Return how many units (ranges) n base units have."""
    return n * (n + 1) // 2


def unit_number(start: Ints, end: Ints) -> Ints:
    """Return the number of the unit ``start:end``; it does not depend on n."""
    return end * (end - 1) // 2 + start


def join_number(n: int, start: Ints, split: Ints, end: Ints) -> Ints:
    """Return the numbers of joins of n base units.

    >>> join_number(4, *np.array([[1], [2], [4]])).tolist()
    [5]
    """
    w = end - start - 2
    before = n * w * (w + 1) // 2 - w * (w + 1) * (2 * w + 1) // 6
    return np.asarray(before + start * (w + 1) + (split - start - 1))


def join_numbers(n: int, places: Sequence[tuple[int, int, int]]) -> Ints:
    """Return the numbers of joins given as triples, as decoders return them."""
    rows = np.array(places, np.int64).reshape(-1, 3)
    return join_number(n, rows[:, 0], rows[:, 1], rows[:, 2])


@lru_cache(maxsize=512)
def units(n: int) -> tuple[Ints, Ints]:
    """Return starts and ends of all units, by number."""
    ends = np.repeat(np.arange(1, n + 1), np.arange(1, n + 1))
    starts = np.concatenate([np.arange(end) for end in range(1, n + 1)] or [np.zeros(0, np.int64)])
    return _fixed(starts), _fixed(ends)


@lru_cache(maxsize=512)
def joins(n: int) -> Joins:
    """Return all joins of n base units, by number (Algorithm 2).

    >>> [tuple(map(int, join)) for join in zip(*joins(3))]
    [(0, 1, 2), (1, 2, 3), (0, 1, 3), (0, 2, 3)]
    """
    rows: list[list[Ints]] = [[np.zeros(0, np.int64)] for _ in range(3)]
    for width in range(2, n + 1):
        start = np.repeat(np.arange(n - width + 1), width - 1)
        rows[0].append(start)
        rows[1].append(start + np.tile(np.arange(1, width), n - width + 1))
        rows[2].append(start + width)
    return Joins(*(_fixed(np.concatenate(parts)) for parts in rows))


@lru_cache(maxsize=64)
def sequences(n: int) -> Sequences:
    """Return the sequences of Algorithm 1 for a segment of n base units.

    >>> found = sequences(4)
    >>> len(found.offsets) - 1, int(found.reads.sum()) == packed_size(4)
    (7, True)
    """
    start, split, end = joins(n)
    own = (end == n) | (split - start >= 2)
    rows: list[Ints] = []
    reads: list[Bools] = []
    for i, k, j in zip(start[own].tolist(), split[own].tolist(), end[own].tolist(), strict=True):
        # The edges between units: single base units before and after, the two units between.
        bounds = np.array([*range(i + 1), k, *range(j, n + 1)])
        row = join_number(n, bounds[:-2], bounds[1:-1], bounds[2:])
        rows.append(row)
        reads.append(_read_here(n, i, k, j, bounds))
    lengths = [len(row) for row in rows]
    return Sequences(
        _fixed(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)),
        _fixed(np.concatenate([np.zeros(0, np.int64), *rows])),
        _fixed(np.concatenate([np.zeros(0, np.bool_), *reads])),
    )


def _read_here(n: int, i: int, k: int, j: int, bounds: Ints) -> Bools:
    """Mark the joins of a sequence that no other sequence is made for.

    Its own join; for a sequence with one larger unit, also the join of that unit with the base
    unit before it, whose own sequence would be the same; for the row of base units, all joins.
    """
    left, right = bounds[:-2], bounds[2:]
    own = (left == i) & (bounds[1:-1] == k) & (right == j)
    if j - k == 1 and k - i == 1:
        return np.ones(len(own), np.bool_)
    if j - k == 1 and i > 0 and k < n:
        own |= (left == i - 1) & (bounds[1:-1] == i) & (right == k)
    return np.asarray(own)


def best_joins(scores: npt.NDArray[np.float64], n: int) -> Ints:
    """Return, for each unit, the number of the top join of its best tree; -1 for base units.

    ``scores`` are those of joins and add up over a tree.
    """
    found = np.full(unit_count(n), -1, np.int64)
    best = np.zeros((n + 1, n + 1))
    start, split, end = joins(n)
    at = 0
    for width in range(2, n + 1):
        rows = n - width + 1
        block = slice(at, at + rows * (width - 1))
        i, k, j = start[block], split[block], end[block]
        totals = (scores[block] + best[i, k] + best[k, j]).reshape(rows, width - 1)
        choice = totals.argmax(axis=1)
        spans = np.arange(rows)
        best[spans, spans + width] = totals[spans, choice]
        found[unit_number(spans, spans + width)] = at + spans * (width - 1) + choice
        at = block.stop
    return found


@dataclass(frozen=True, slots=True)
class Layout:
    """Units and joins of many segments in a row.

    ``bounds[s]`` are the EDU numbers where the base units of segment s begin, and the last end.
    Units have EDU ranges; joins have the numbers of their left, right and whole unit, of their
    segment, and (for context) of the join before and after them in the row of base units, or -1.
    """

    bounds: tuple[Ints, ...]
    unit_offsets: Ints
    join_offsets: Ints
    unit_starts: Ints
    unit_ends: Ints
    unit_segments: Ints
    left: Ints
    right: Ints
    whole: Ints
    segments: Ints

    @classmethod
    def of(cls, bounds: Iterable[Sequence[int] | Ints]) -> Layout:
        """Lay out segments, given the EDU numbers of their base units' edges."""
        edges = tuple(np.asarray(row, dtype=np.int64) for row in bounds)
        sizes = [len(row) - 1 for row in edges]
        unit_offsets = _offsets([unit_count(n) for n in sizes])
        join_offsets = _offsets([packed_size(n) for n in sizes])
        columns: list[list[Ints]] = [[np.zeros(0, np.int64)] for _ in range(7)]
        for segment, (row, n) in enumerate(zip(edges, sizes, strict=True)):
            base = unit_offsets[segment]
            first, last = units(n)
            start, split, end = joins(n)
            for column, values in zip(
                columns,
                (
                    row[first],
                    row[last],
                    np.full(len(first), segment),
                    base + unit_number(start, split),
                    base + unit_number(split, end),
                    base + unit_number(start, end),
                    np.full(len(start), segment),
                ),
                strict=True,
            ):
                column.append(values)
        return cls(edges, unit_offsets, join_offsets, *(np.concatenate(c) for c in columns))

    @property
    def n_joins(self) -> int:
        """How many joins there are in all."""
        return len(self.left)

    def only(self, joins: Ints) -> Layout:
        """Keep some joins only, for training; segments and numbers of joins are lost."""
        return replace(
            self,
            join_offsets=np.array([0, len(joins)]),
            left=self.left[joins],
            right=self.right[joins],
            whole=self.whole[joins],
            segments=self.segments[joins],
        )

    def size(self, segment: int) -> int:
        """Return how many base units a segment has."""
        return len(self.bounds[segment]) - 1

    def joins_of(self, segment: int) -> slice:
        """Return where a segment's joins are."""
        return slice(int(self.join_offsets[segment]), int(self.join_offsets[segment + 1]))

    def edges(self) -> tuple[Ints, Ints, Ints]:
        """Return the EDU numbers of start, split and end of all joins."""
        return self.unit_starts[self.left], self.unit_ends[self.left], self.unit_ends[self.right]

    def sequences(self) -> Sequences:
        """Return the sequences of all segments, their joins numbered through."""
        sizes = [len(row) - 1 for row in self.bounds]
        return Sequences.joined([(sequences(n), packed_size(n)) for n in sizes])


def runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the ranges of equal neighbours.

    >>> runs([0, 0, 1, 2, 2])
    [(0, 2), (2, 3), (3, 5)]
    """
    found, start = [], 0
    for at in range(1, len(numbers) + 1):
        if at == len(numbers) or numbers[at] != numbers[start]:
            found.append((start, at))
            start = at
    return found


def _offsets(sizes: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


Array = TypeVar("Array", Ints, Bools)


def _fixed(array: Array) -> Array:
    """Forbid changes: the arrays are shared by all who ask."""
    array.setflags(write=False)
    return array
