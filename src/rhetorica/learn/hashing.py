"""Hashed features: values mixed to numbers of some bits, numbers looked up, rows of weights summed.

A feature is a salt (of its template) and some values. Each value is taken in (by xor, or by adding:
the one who mixes decides) and `spread`; `top_bits` cuts the hash out. Both are parts of kernels
and work on whole arrays, too. Shipped weights depend on every detail of it, so that ``shift``, by
which models differ, stays what a model was trained with.

A `Vocabulary` knows which hashes have weights, and their rows; row 0 is for all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.kernels import compiled, part

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]
Floats32 = npt.NDArray[np.float32]

MIX = np.uint64(0x9E3779B97F4A7C15)
"""2 ** 64 divided by the golden ratio: multiplying by it moves every bit to the upper ones."""


@part
def spread(value: Any, shift: np.uint64) -> Any:
    """Let every bit of a 64-bit number change the upper half, and that the lower one."""
    mixed = value * MIX
    return mixed ^ (mixed >> shift)


@part
def top_bits(value: Any, bits: int) -> Any:
    """Return the hash of what was mixed: a number of so many bits."""
    return (value * MIX) >> np.uint64(64 - bits)


def mix(salt: int, values: Sequence[npt.NDArray[Any]], bits: int, *, shift: int) -> Ints:
    """Hash the values (arrays of one length) of a template.

    >>> first, second, third = mix(1, [np.array([3, 4, 3])], 16, shift=29)
    >>> first == third, first == second
    (np.True_, np.False_)
    """
    with np.errstate(over="ignore"):
        mixed: Any = np.uint64(salt % 2**64)
        for column in values:
            mixed = spread(mixed ^ column.astype(np.uint64), np.uint64(shift))
        return np.asarray(top_bits(mixed, bits)).astype(np.int64)


@dataclass(frozen=True)
class Vocabulary:
    """The hashes that have weights; row 0 is for all others, and its weights are zero."""

    hashes: npt.NDArray[np.uint32]
    bits: int

    @classmethod
    def of(cls, rows: Sequence[npt.NDArray[Any]], bits: int, *, min_count: int) -> Vocabulary:
        """Keep the hashes that occur in enough documents, given the rows of each.

        Examples are not counted: where many share a feature, what stands in a document once would
        seem to be frequent, and a model would learn its documents by heart.
        """
        seen = [np.zeros(0, np.int32), *map(np.unique, rows)]
        hashes, counts = np.unique(np.concatenate(seen), return_counts=True)
        return cls(hashes[counts >= min_count].astype(np.uint32), bits)

    @classmethod
    def counted(cls, hashes: npt.NDArray[Any], bits: int, *, min_count: int) -> Vocabulary:
        """Keep the hashes that occur often enough; numbers below 0 stand for nothing."""
        counts = np.bincount(hashes[hashes >= 0], minlength=2**bits)
        return cls(np.flatnonzero(counts >= min_count).astype(np.uint32), bits)

    def __len__(self) -> int:
        return len(self.hashes) + 1

    @cached_property
    def table(self) -> Rows:
        """The row of each hash."""
        table = np.zeros(2**self.bits, np.int32)
        table[self.hashes] = np.arange(1, len(self.hashes) + 1)
        return table


def prune(
    vocabulary: Vocabulary, tables: Sequence[Floats32], threshold: float
) -> tuple[Vocabulary, list[Floats32]]:
    """Drop weights that are smaller than a threshold, and features that have no others."""
    kept = [np.where(np.abs(table) < threshold, 0, table).astype(np.float32) for table in tables]
    used = np.any([np.abs(table).max(axis=1) > 0 for table in kept], axis=0)
    used[0] = True
    return (
        Vocabulary(vocabulary.hashes[used[1:]], vocabulary.bits),
        [table[used] for table in kept],
    )


def matrix(rows: Rows, width: int) -> Any:
    """Return the sparse matrix (examples x weights) of rows, without row 0."""
    from scipy.sparse import csr_matrix

    keep = rows > 0
    offsets = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
    columns = rows[keep]
    values = np.ones(len(columns), np.float32)
    return csr_matrix((values, columns, offsets), shape=(len(rows), width))


def stack_rows(rows: Sequence[Rows]) -> Rows:
    """Put parts of different width together, padded by -1."""
    width = max((block.shape[1] for block in rows), default=0)
    whole = np.full((sum(map(len, rows)), width), -1, dtype=np.int32)
    at = 0
    for block in rows:
        whole[at : at + len(block), : block.shape[1]] = block
        at += len(block)
    return whole


@compiled
def sum_rows(weights: npt.NDArray[Any], rows: Rows, first: int = 1) -> npt.NDArray[Any]:
    """Sum the rows of weights that each example has: (examples, labels).

    Numbers below ``first`` stand for no row.
    """
    labels = weights.shape[1]
    totals = np.zeros((len(rows), labels), dtype=weights.dtype)
    for example in range(len(rows)):
        for at in range(rows.shape[1]):
            row = rows[example, at]
            if row >= first:
                for label in range(labels):
                    totals[example, label] += weights[row, label]
    return totals
