"""The likelihood of binary trees: enumeration, numeric gradients, a tree that is learned."""

from __future__ import annotations

import numpy as np
import pytest

from rhetorica.decode import cky, pack_splits, packed_size
from rhetorica.learn.treecrf import Block, TreeExample, fit_trees, join_scores, tree_loss

N = 5
SIZE = 9
"""Rows of weights; row 0 is for nothing."""


def blocks(seed: int = 2) -> list[Block]:
    rng = np.random.default_rng(seed)
    joins = packed_size(N)
    return [
        Block(rng.integers(0, SIZE, (joins, 3)).astype(np.int32)),
        Block(rng.integers(0, SIZE, (6, 2)).astype(np.int32), rng.integers(0, 6, joins)),
        Block(np.zeros((4, 0), np.int32), rng.integers(0, 4, joins)),
    ]


def numbers() -> np.ndarray:
    """Return the number of each join [i, k, j]."""
    table = np.zeros((N + 1,) * 3)
    places = [
        (i, k, i + width)
        for width in range(2, N + 1)
        for i in range(N - width + 1)
        for k in range(i + 1, i + width)
    ]
    for number, place in enumerate(places):
        table[place] = number
    assert (pack_splits(table) == np.arange(packed_size(N))).all()
    return table.astype(int)


def trees(i: int, j: int) -> list[list[tuple[int, int, int]]]:
    if j - i < 2:
        return [[]]
    return [
        [(i, k, j), *left, *right]
        for k in range(i + 1, j)
        for left in trees(i, k)
        for right in trees(k, j)
    ]


def gold(tree: list[tuple[int, int, int]]) -> np.ndarray:
    number = numbers()
    found = np.zeros(packed_size(N), bool)
    found[[number[join] for join in tree]] = True
    return found


def weights(seed: int = 4) -> np.ndarray:
    found = np.random.default_rng(seed).normal(size=SIZE)
    found[0] = 0
    return found


def test_scores_are_sums_of_weights() -> None:
    point = weights()
    single, shared, _ = blocks()
    expected = [
        point[single.rows[join]].sum() + point[shared.rows[shared.of[join]]].sum()
        for join in range(packed_size(N))
    ]
    assert join_scores(blocks(), point) == pytest.approx(expected)


def test_loss_equals_enumeration() -> None:
    every = trees(0, N)
    assert len(every) == 14  # Catalan
    scores = join_scores(blocks(), weights())
    number = numbers()
    totals = [sum(scores[number[join]] for join in tree) for tree in every]
    for tree, total in zip(every, totals, strict=True):
        loss, _ = tree_loss(weights(), [TreeExample(blocks(), gold(tree))], 0.0)
        assert loss == pytest.approx(np.logaddexp.reduce(totals) - total)


def test_slope_equals_differences() -> None:
    examples = [
        TreeExample(blocks(seed), gold(tree))
        for seed, tree in ((2, trees(0, N)[3]), (5, trees(0, N)[9]))
    ]
    point = weights()
    _, slope = tree_loss(point, examples, 0.2)
    assert slope[0] == 0
    for at in range(1, SIZE):
        values = []
        for step in (1e-5, -1e-5):
            moved = point.copy()
            moved[at] += step
            values.append(tree_loss(moved, examples, 0.2)[0])
        assert slope[at] == pytest.approx((values[0] - values[1]) / 2e-5, abs=1e-4)


def test_a_tree_is_learned() -> None:
    joins = packed_size(N)
    own = [Block(np.arange(1, joins + 1, dtype=np.int32)[:, None])]
    tree = trees(0, N)[7]
    found = fit_trees([TreeExample(own, gold(tree))], joins + 1, l2=1e-2, iterations=50)
    assert found[0] == 0
    assert sorted(cky(join_scores(own, found)).joins) == sorted(tree)
