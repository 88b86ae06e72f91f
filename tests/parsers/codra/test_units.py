"""Units, joins and sequences: Algorithms 1 and 2."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rhetorica.decode import cky, packed_size
from rhetorica.parsers.codra.units import (
    Layout,
    best_joins,
    join_number,
    joins,
    sequences,
    unit_number,
    units,
)


@pytest.mark.parametrize("n", range(8))
def test_numbers_go_through(n: int) -> None:
    start, split, end = joins(n)
    assert len(start) == packed_size(n)
    assert join_number(n, start, split, end).tolist() == list(range(len(start)))
    assert unit_number(*units(n)).tolist() == list(range(n * (n + 1) // 2))


def paper_sequences(n: int) -> list[list[tuple[int, int]]]:
    """Do as Algorithm 1 is printed, with half-open ranges from 0."""
    found = []
    for i in range(1, n):
        for j in range(i + 1, n + 1):
            for k in range(i if j == n else i + 1, j):
                before = [(e - 1, e) for e in range(1, i)]
                after = [(e - 1, e) for e in range(j + 1, n + 1)]
                found.append([*before, (i - 1, k), (k, j), *after])
    return found


@pytest.mark.parametrize("n", range(2, 9))
def test_sequences_are_those_of_algorithm_1(n: int) -> None:
    expected = {
        tuple(
            int(join_number(n, *np.array([[a[0]], [a[1]], [b[1]]]))[0])
            for a, b in itertools.pairwise(row)
        )
        for row in paper_sequences(n)
    }
    found = sequences(n)
    rows = [
        tuple(found.items[a:b].tolist())
        for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)
    ]
    assert len(rows) == len(set(rows)) == len(paper_sequences(n))
    assert set(rows) == expected


@pytest.mark.parametrize("n", range(9))
def test_every_join_is_read_once(n: int) -> None:
    found = sequences(n)
    assert sorted(found.items[found.reads].tolist()) == list(range(packed_size(n)))


def test_the_example_of_figure_6() -> None:
    # Four EDUs: one sequence at the bottom, three at each of the two levels above.
    lengths = np.diff(sequences(4).offsets).tolist()
    assert sorted(lengths) == [1, 1, 1, 2, 2, 2, 3]


def test_layout_numbers_segments_through() -> None:
    layout = Layout.of([[0, 1, 2], [2, 5], [5, 6, 8, 9]])
    assert layout.n_joins == 1 + 0 + 4
    start, split, end = layout.edges()
    assert list(zip(start.tolist(), split.tolist(), end.tolist(), strict=True)) == [
        (0, 1, 2), (5, 6, 8), (6, 8, 9), (5, 6, 9), (5, 8, 9),
    ]  # fmt: skip
    rows = layout.sequences()
    assert sorted(rows.items[rows.reads].tolist()) == [0, 1, 2, 3, 4]
    few = layout.only(np.array([1, 4]))
    assert few.n_joins == 2
    assert few.edges()[2].tolist() == [8, 9]


def test_best_joins_agree_with_the_decoder() -> None:
    n = 6
    scores = np.random.default_rng(1).normal(size=packed_size(n))
    tree = cky(scores)
    start, split, end = joins(n)
    best = best_joins(scores, n)
    for i, k, j in tree.joins:
        top = best[unit_number(*np.array([[i], [j]]))][0]
        assert (start[top], split[top], end[top]) == (i, k, j)
