from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from brute import Joins, binary_trees, labellings
from rhetorica import Join, RSTTree
from rhetorica.decode import (
    cky,
    cky_kbest,
    inside_outside,
    mbr_cky,
    pack_splits,
    packed_size,
    split_block,
    top_down_marginals,
    unpack_splits,
)

SIZES = range(7)
Scores = tuple[np.ndarray | None, np.ndarray | None]


def cases(n: int) -> list[Scores]:
    """Splits and spans; one of them alone; ties; forbidden joins; all equal; of any size."""
    rng = np.random.default_rng(n)
    m = n + 1
    split, span = rng.normal(size=(m, m, m)), rng.normal(size=(m, m))
    sparse, holes = split.copy(), span.copy()
    sparse[rng.random((m, m, m)) < 0.3] = -np.inf
    sparse[:, range(m), range(m)] = np.nan  # never read: k < j
    for i, j in zip(range(n), range(1, m), strict=True):
        sparse[i, j, n] = 0.0  # the right-branching tree is always there
        holes[i, j] = np.nan  # never read: single units
    return [
        (split, span),
        (split, None),
        (None, span),
        (rng.integers(0, 2, (m, m, m)), rng.integers(0, 2, (m, m))),
        (sparse, holes),
        (np.zeros((m, m, m)), None),
        (split * 1000, span * 1000),
        (split.astype(np.float32), span.astype(np.float32)),
    ]


def tree_score(scores: Scores, joins: Joins) -> float:
    split, span = scores
    total = 0.0
    for i, k, j in joins:
        total += 0.0 if split is None else float(split[i, k, j])
        total += 0.0 if span is None else float(span[i, j])
    return total


@pytest.mark.parametrize("n", SIZES)
def test_best_tree_is_the_best_of_all(n: int) -> None:
    for scores in cases(n):
        tree = cky(*scores)
        assert tuple(tree.joins) in binary_trees(0, n)
        best = max(tree_score(scores, joins) for joins in binary_trees(0, n))
        assert tree.score == pytest.approx(best, abs=1e-9)
        assert tree_score(scores, tuple(tree.joins)) == pytest.approx(best, abs=1e-9)
        RSTTree(n, tuple(Join(*join, "NN", "r") for join in tree.joins))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("k", [1, 5, 500])
def test_kbest_is_the_sorted_list_of_all(n: int, k: int) -> None:
    for scores in cases(n):
        found = cky_kbest(scores[0], k, scores[1])
        every = sorted((tree_score(scores, joins) for joins in binary_trees(0, n)), reverse=True)
        expected = [score for score in every if score > -np.inf][:k]
        got = [tree.score for tree in found]
        assert got == pytest.approx(expected, abs=1e-9)
        assert got == sorted(got, reverse=True)
        assert len({tuple(tree.joins) for tree in found}) == len(found)
        for tree in found:
            assert tree.labels == []
            assert tree_score(scores, tuple(tree.joins)) == pytest.approx(tree.score, abs=1e-9)


def label_score(labels: np.ndarray, joins: Joins, chosen: Sequence[int]) -> float:
    cells = [join if labels.ndim == 4 else (join[0], join[2]) for join in joins]
    return sum(float(labels[(*cell, x)]) for cell, x in zip(cells, chosen, strict=True))


@pytest.mark.parametrize("n", range(5))
@pytest.mark.parametrize("by_split", [False, True])
@pytest.mark.parametrize("k", [1, 7, 2000])
@pytest.mark.parametrize("ties", [False, True])
def test_kbest_with_labels_is_the_sorted_list_of_all(
    n: int, by_split: bool, k: int, ties: bool
) -> None:
    rng = np.random.default_rng(n + 100)
    m, count = n + 1, 3
    shape = (m, m, m, count) if by_split else (m, m, count)
    labels = rng.normal(size=shape)
    if ties:
        labels = labels.round().astype(np.float32)
    labels[..., 0][rng.random(shape[:-1]) < 0.3] = -np.inf
    for scores in cases(n):
        every = [
            tree_score(scores, joins) + label_score(labels, joins, chosen)
            for joins in binary_trees(0, n)
            for chosen in labellings(joins, count)
        ]
        expected = [score for score in sorted(every, reverse=True) if score > -np.inf][:k]
        found = cky_kbest(scores[0], k, scores[1], labels)
        got = [tree.score for tree in found]
        assert got == pytest.approx(expected, abs=1e-9)
        assert got == sorted(got, reverse=True)
        assert len({(*tree.joins, *tree.labels) for tree in found}) == len(found)
        for tree in found:
            joins = tuple(tree.joins)
            again = tree_score(scores, joins) + label_score(labels, joins, tree.labels)
            assert again == pytest.approx(tree.score, abs=1e-9)


@pytest.mark.parametrize("n", SIZES)
def test_marginals_are_sums_over_all(n: int) -> None:
    for scores in cases(n):
        log_partition, spans, splits = inside_outside(*scores)
        totals = np.array([tree_score(scores, joins) for joins in binary_trees(0, n)])
        expected = np.logaddexp.reduce(totals)
        assert log_partition == pytest.approx(expected, abs=1e-9)
        span_sums, split_sums = np.zeros((n + 1, n + 1)), np.zeros((n + 1,) * 3)
        span_sums[range(n), range(1, n + 1)] = 1.0
        for joins, total in zip(binary_trees(0, n), totals, strict=True):
            for i, k, j in joins:
                span_sums[i, j] += math.exp(total - expected)
                split_sums[i, k, j] += math.exp(total - expected)
        np.testing.assert_allclose(spans, span_sums, atol=1e-9)
        dense = splits if scores[0] is not None else unpack_splits(splits)
        if n:  # nothing packed is taken for one unit
            np.testing.assert_allclose(dense, split_sums, atol=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 9, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_top_down_pass_is_inside_outside_of_log_probabilities(n: int, dtype: type) -> None:
    rng = np.random.default_rng(n)
    packed = np.empty(packed_size(n), dtype)
    for width in range(2, n + 1):
        weights = rng.random((n - width + 1, width - 1))
        split_block(packed, n, width)[:] = weights / weights.sum(axis=1, keepdims=True)
    dense = unpack_splits(packed) if n else np.zeros((1, 1, 1))
    spans = top_down_marginals(dense)
    log_partition, expected, _ = inside_outside(np.log(np.where(dense > 0, dense, 1)))
    assert log_partition == pytest.approx(0, abs=1e-4)
    np.testing.assert_allclose(spans, expected, atol=1e-5 if dtype == np.float32 else 1e-9)
    assert np.triu(spans, 2).sum() == pytest.approx(max(0, n - 1), abs=1e-4)


def test_minimum_bayes_risk_maximises_expected_matches() -> None:
    rng = np.random.default_rng(8)
    for n in (2, 5, 6):
        _, spans, _ = inside_outside(rng.normal(size=(n + 1,) * 3) * 2)
        tree = mbr_cky(spans)
        best = max(sum(spans[i, j] for i, _, j in joins) for joins in binary_trees(0, n))
        assert tree.score == pytest.approx(best)
        assert sum(spans[i, j] for i, _, j in tree.joins) == pytest.approx(best)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 11])
def test_packing_round_trips(n: int) -> None:
    dense = np.random.default_rng(n).normal(size=(n + 1,) * 3).astype(np.float32)
    packed = pack_splits(dense)
    assert packed.dtype == np.float32
    assert packed.size == packed_size(n)
    again = unpack_splits(packed, fill=-1)
    for i, k, j in np.ndindex(again.shape):
        assert again[i, k, j] == (dense[i, k, j] if i < k < j else -1)
    for width in range(2, n + 1):
        block = split_block(packed, n, width)
        assert block[-1, 0] == dense[n - width, n - width + 1, n]
        assert np.shares_memory(block, packed)
    assert cky(packed) == cky(dense)
    np.testing.assert_array_equal(inside_outside(packed)[2], pack_splits(inside_outside(dense)[2]))


def test_large_trees() -> None:
    n = 150
    rng = np.random.default_rng(0)
    packed, span = rng.normal(size=packed_size(n)), rng.normal(size=(n + 1, n + 1))
    tree = cky(packed, span)
    RSTTree(n, tuple(Join(*join, "NN", "r") for join in tree.joins))
    found = cky_kbest(packed, 20, span)
    assert found[0].joins == tree.joins
    assert found[0].score == tree.score
    assert len({tuple(other.joins) for other in found}) == 20
    _, spans, splits = inside_outside(packed, span)
    assert np.triu(spans, 2).sum() == pytest.approx(n - 1)
    assert splits.sum() == pytest.approx(n - 1)


def test_a_chain_of_a_thousand_units_needs_no_recursion() -> None:
    n = 1000
    span = np.zeros((n + 1, n + 1))
    span[:, n] = 1.0
    assert cky(None, span).joins == [(i, i + 1, n) for i in range(n - 1)]


def test_a_deep_list_of_trees_needs_no_recursion() -> None:
    n = 500
    span = np.zeros((n + 1, n + 1))
    span[:, n] = 1.0
    found = cky_kbest(None, 3, span, np.ones((n + 1, n + 1, 2)) * [0.5, 0.25])
    assert [tree.score for tree in found] == [1.5 * (n - 1) - x for x in (0, 0.25, 0.25)]


@pytest.mark.parametrize(
    ("split", "span", "why"),
    [
        (None, None, "neither"),
        (np.zeros((3, 3, 4)), None, "expected"),
        (np.zeros((0, 0, 0)), None, "expected"),
        (np.zeros((3, 3)), None, "dimensions"),
        (np.zeros(3), None, "packed split has 3 values"),
        (np.zeros(4), np.zeros((3, 3)), "span is for 2 units, split for 3"),
        (np.zeros((4, 4, 4)), np.zeros((3, 3)), "span is for 2 units, split for 3"),
        (None, np.zeros((3, 4)), "expected"),
        (None, np.zeros(3), "dimensions"),
        (np.full(4, np.nan), None, "NaN"),
        (None, np.full((3, 3), np.nan), "NaN"),
        (None, np.full((3, 3), np.inf), "infinite"),
        (np.full((3, 3, 3), "a"), None, "real numbers"),
    ],
)
def test_malformed_scores_are_refused(
    split: np.ndarray | None, span: np.ndarray | None, why: str
) -> None:
    for decode in (cky, inside_outside, lambda split, span: cky_kbest(split, 2, span)):
        with pytest.raises(ValueError, match=why):
            decode(split, span)


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (np.zeros((3, 3)), "2 dimensions"),
        (np.zeros((3, 4, 2)), "expected"),
        (np.zeros((3, 3, 0)), "at least one label"),
        (np.full((3, 3, 2), np.nan), "NaN"),
        (np.full((3, 3, 3, 2), np.nan), "NaN"),
    ],
)
def test_malformed_labels_are_refused(labels: np.ndarray, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        cky_kbest(None, 2, np.zeros((3, 3)), labels)


@pytest.mark.parametrize(
    ("probs", "why"),
    [
        (np.array([1.0, 1.0, 0.5, 0.2]), "0:3 have probabilities that add up to 0.7"),
        (np.array([1.0, 1.0, 1.5, -0.5]), "negative"),
        (np.array([1.0, np.nan, 0.5, 0.5]), "NaN"),
    ],
)
def test_malformed_probabilities_are_refused(probs: np.ndarray, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        top_down_marginals(probs)


def test_no_tree_at_all() -> None:
    span = np.zeros((4, 4))
    span[0, 3] = -np.inf
    for decode in (cky, inside_outside):
        with pytest.raises(ValueError, match="forbidden"):
            decode(None, span)
    assert cky_kbest(None, 3, span) == []
    with pytest.raises(ValueError, match="k is 0"):
        cky_kbest(None, 0, span)
