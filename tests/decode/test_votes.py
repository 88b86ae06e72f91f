"""Votes for joins: counted, and elected as all trees in a list would be."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica.decode import Votes, elect, elect_kbest


def trees(i: int, j: int) -> list[list[tuple[int, int, int]]]:
    if j - i < 2:
        return [[]]
    return [
        [(i, k, j), *left, *right]
        for k in range(i + 1, j)
        for left in trees(i, k)
        for right in trees(k, j)
    ]


@given(st.integers(2, 6), st.integers(1, 6), st.integers(0, 999))
def test_the_elected_tree_is_the_best_of_all(n: int, voters: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    every = trees(0, n)
    chosen = [every[i] for i in rng.integers(len(every), size=voters)]
    joins = np.array([join for tree in chosen for join in tree])
    labels = rng.random((len(joins), 2)) / voters
    votes = Votes.of(joins, labels)
    shares: dict[tuple[int, int], float] = {}
    for (start, _, end), count in zip(joins.tolist(), labels.sum(axis=1).tolist(), strict=True):
        shares[start, end] = shares.get((start, end), 0.0) + count
    known = set(map(tuple, joins.tolist()))

    def total(tree: list[tuple[int, int, int]]) -> float:
        return sum(shares[start, end] for start, _, end in tree)

    elected = elect(n, votes)
    found = [(join.start, join.split, join.end) for join in elected]
    assert found in every  # preorder, and a tree
    assert set(found) <= known
    assert total(found) == pytest.approx(max(total(t) for t in every if set(t) <= known))
    listed = elect_kbest(n, votes, 5)
    best = sorted((total(t) for t in every if set(t) <= known), reverse=True)[:5]
    assert [score for _, _, score in listed] == pytest.approx(best)
    trees_ = [[(join.start, join.split, join.end) for join in tree] for tree, _, _ in listed]
    assert len({tuple(tree) for tree in trees_}) == len(best)
    assert all(tree in every and set(tree) <= known for tree in trees_)
    assert [total(tree) for tree in trees_] == pytest.approx(best)
    for join, row in zip(elected, votes.labels_of(elected), strict=True):
        assert join.share == pytest.approx(min(1, shares[join.start, join.end]))
        assert row.sum() == pytest.approx(shares[join.start, join.end])


def test_no_votes_no_tree() -> None:
    nothing = Votes.of(np.zeros((0, 3), np.int64), np.zeros((0, 2)))
    assert elect(0, nothing) == elect(1, nothing) == []
    with pytest.raises(ValueError, match="no tree over 2 units"):
        elect(2, nothing)
    # Both halves of the whole are missing.
    lonely = Votes.of(np.array([[0, 2, 4]]), np.ones((1, 1)))
    with pytest.raises(ValueError, match="no tree over 4 units"):
        elect(4, lonely)


@given(st.integers(2, 4), st.integers(0, 999))
def test_k_best_trees_with_labels_are_the_best_of_all(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    every = trees(0, n)
    chosen = [every[i] for i in rng.integers(len(every), size=3)]
    joins = np.array([join for tree in chosen for join in tree])
    votes = Votes.of(joins, rng.random((len(joins), 1)))
    pairs = {(start, end) for start, _, end in joins.tolist()}
    losses = {pair: np.cumsum(rng.random(2)).tolist() for pair in sorted(pairs)}
    shares: dict[tuple[int, int], float] = {}
    for (start, _, end), count in zip(votes.joins.tolist(), votes.votes.tolist(), strict=True):
        shares[start, end] = shares.get((start, end), 0.0) + count
    known = set(map(tuple, joins.tolist()))
    totals = []
    for tree in (t for t in every if set(t) <= known):
        for ranks in product(range(3), repeat=len(tree)):
            cost = sum([0.0, *losses[s, e]][r] for (s, _, e), r in zip(tree, ranks, strict=True))
            totals.append(sum(shares[s, e] for s, _, e in tree) - cost)
    found = elect_kbest(n, votes, 6, losses)
    assert [score for _, _, score in found] == pytest.approx(sorted(totals, reverse=True)[:6])
    assert len({(tuple(map(str, tree)), tuple(ranks)) for tree, ranks, _ in found}) == len(found)
