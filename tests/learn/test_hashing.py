"""Hashed features: shipped weights depend on every bit; rows are looked up, summed and pruned."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica.kernels import _compile
from rhetorica.learn.hashing import (
    Vocabulary,
    matrix,
    mix,
    prune,
    spread,
    stack_rows,
    sum_rows,
    top_bits,
)

GOLDEN = 0x9E3779B97F4A7C15
numbers = st.integers(0, 2**64 - 1)


def plainly(salt: int, values: list[int], bits: int, shift: int) -> int:
    """Hash with Python's own integers."""
    for value in values:
        salt = (salt ^ value) * GOLDEN % 2**64
        salt ^= salt >> shift
    return salt * GOLDEN % 2**64 >> 64 - bits


def one_hash(salt, value, bits, shift):
    return top_bits(spread(salt ^ value, shift), bits)


# Not cached: numba could not import this module by its name to find it again.
one_hash_compiled = cache(lambda: _compile(one_hash, cached=False))


@given(numbers, st.lists(numbers, max_size=4), st.integers(1, 31), st.sampled_from([29, 31]))
def test_mixing_is_what_it_was_when_models_were_trained(
    salt: int, values: list[int], bits: int, shift: int
) -> None:
    columns = [np.array([value], np.uint64) for value in values]
    assert mix(salt, columns, bits, shift=shift) == plainly(salt, values, bits, shift)


@given(numbers, numbers)
def test_parts_in_kernels_give_the_same(salt: int, value: int) -> None:
    found = one_hash_compiled()(np.uint64(salt), np.uint64(value), 22, np.uint64(29))
    assert int(found) == plainly(salt, [value], 22, 29)


@pytest.mark.parametrize("shift", [29, 31])
def test_hashes_collide_no_more_than_by_chance(shift: int) -> None:
    # Small numbers in a row, pairs of them, and few-bit differences are what features are made of.
    count, bits = 2**14, 20
    one, two = np.divmod(np.arange(count), 128)
    for columns in ([np.arange(count)], [one, two], [two << 20, one << 40]):
        found = mix(7, columns, bits, shift=shift)
        distinct = len(np.unique(found))
        by_chance = 2**bits * (1 - (1 - 2.0**-bits) ** count)
        assert distinct > by_chance - 5 * np.sqrt(by_chance - count + count**2 / 2**bits + 1)
        halves = np.bincount(found >> (bits - 1), minlength=2) / count
        assert halves == pytest.approx([0.5, 0.5], abs=0.05)


def test_other_salts_and_orders_are_other_features() -> None:
    one, two = np.arange(100), np.arange(100, 200)
    base = mix(1, [one, two], 30, shift=29)
    assert not (base == mix(2, [one, two], 30, shift=29)).any()
    assert not (base == mix(1, [two, one], 30, shift=29)).any()


def test_vocabulary_counts_documents_or_occurrences() -> None:
    documents = [np.array([[5, 5], [3, 5]]), np.array([[5, 9]])]
    known = Vocabulary.of(documents, 4, min_count=2)
    assert known.hashes.tolist() == [5]
    assert len(known) == 2
    assert known.table[[5, 3, 9]].tolist() == [1, 0, 0]
    rows = stack_rows([part.astype(np.int32) for part in (documents[0], np.array([[9]]))])
    assert rows.tolist() == [[5, 5], [3, 5], [9, -1]]
    counted = Vocabulary.counted(rows, 4, min_count=1)
    assert counted.hashes.tolist() == [3, 5, 9]
    assert Vocabulary.counted(rows, 4, min_count=3).hashes.tolist() == [5]
    assert Vocabulary.of([], 4, min_count=1).hashes.tolist() == []


@given(st.integers(0, 1), st.sampled_from([np.float32, np.float64]), st.integers(0, 99))
def test_rows_are_summed(first: int, dtype: type, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, 6, (7, seed % 5)).astype(np.int32)
    weights = rng.normal(size=(6, 3)).astype(dtype)
    expected = [sum((weights[r] for r in row if r >= first), np.zeros(3)) for row in rows]
    found = sum_rows(weights, rows, first)
    assert found.dtype == dtype
    assert np.allclose(found, expected, atol=1e-5)
    if first == 1:
        assert np.allclose(matrix(rows, 6) @ weights, expected, atol=1e-5)


def test_pruning_drops_small_weights_and_what_they_belonged_to() -> None:
    known = Vocabulary(np.array([2, 4, 8], np.uint32), 4)
    tables = [
        np.array([[0, 0], [0.5, 0.01], [0.02, -0.01], [0, 0]], np.float32),
        np.array([[0], [0], [0.03], [-1]], np.float32),
    ]
    kept, (first, second) = prune(known, tables, 0.1)
    assert kept.hashes.tolist() == [2, 8]
    assert first.tolist() == [[0, 0], [0.5, 0], [0, 0]]
    assert second.tolist() == [[0], [0], [-1]]
