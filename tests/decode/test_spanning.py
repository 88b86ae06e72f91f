from __future__ import annotations

import math

import numpy as np
import pytest

from brute import arc_score, dependency_trees, is_projective, is_tree
from rhetorica.decode import (
    eisner,
    eisner_marginals,
    kbest_spanning,
    matrix_tree_marginals,
    spanning_tree,
)

SIZES = range(6)
ROOTS = pytest.mark.parametrize("single_root", [True, False])


def trees(n: int, single_root: bool) -> list[tuple[int, ...]]:
    return dependency_trees(n, single_root=single_root)


def cases(n: int, single_root: bool) -> list[np.ndarray]:
    """Random scores; ties; forbidden arcs (few, many); all equal; of any size; tempting cycles."""
    rng = np.random.default_rng(n)
    shape = (n + 1, n + 1)
    sparse = []
    for share in (0.3, 0.6):
        scores = rng.normal(size=shape)
        scores[rng.random(shape) < share] = -np.inf
        every = trees(n, single_root)
        for dependent, head in enumerate(every[rng.integers(len(every))]):
            scores[head + 1, dependent + 1] = 0.0  # at least one tree is allowed
        sparse.append(scores)
    roots = rng.normal(size=shape)
    roots[0] += 5  # all would like to be roots
    return [
        rng.normal(size=shape) * 3,
        rng.integers(0, 2, shape).astype(float),
        *sparse,
        np.zeros(shape),
        rng.normal(size=shape) * 400,
        rng.choice([0.0, -700.0, -1400.0], shape),
        roots,
    ]


@ROOTS
@pytest.mark.parametrize("n", [*SIZES, 6])
def test_best_tree_is_the_best_of_all(n: int, single_root: bool) -> None:
    for scores in cases(n, single_root):
        heads = tuple(spanning_tree(scores, single_root=single_root).tolist())
        assert heads in trees(n, single_root)
        best = max(arc_score(scores, tree) for tree in trees(n, single_root))
        assert arc_score(scores, heads) == pytest.approx(best, abs=1e-9)


@ROOTS
def test_best_tree_of_many_small_graphs(single_root: bool) -> None:
    rng = np.random.default_rng(9)
    for _ in range(150):
        scores = rng.integers(0, 4, (5, 5)).astype(float)
        scores[rng.random((5, 5)) < 0.3] = -np.inf
        best = max(arc_score(scores, tree) for tree in trees(4, single_root))
        if best == -np.inf:
            with pytest.raises(ValueError, match="forbidden"):
                spanning_tree(scores, single_root=single_root)
        else:
            heads = spanning_tree(scores, single_root=single_root)
            assert arc_score(scores, tuple(heads.tolist())) == best


@ROOTS
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("k", [1, 4, 30, 2000])
def test_kbest_is_the_sorted_list_of_all(n: int, k: int, single_root: bool) -> None:
    if n == 5 and k == 2000:
        pytest.skip("many trees, and nothing that n = 4 does not show")
    for scores in cases(n, single_root):
        found = kbest_spanning(scores, k, single_root=single_root)
        every = sorted((arc_score(scores, tree) for tree in trees(n, single_root)), reverse=True)
        expected = [score for score in every if score > -np.inf][:k]
        assert [score for _, score in found] == pytest.approx(expected, abs=1e-9)
        assert [score for _, score in found] == sorted((s for _, s in found), reverse=True)
        assert len({tuple(heads.tolist()) for heads, _ in found}) == len(found)
        for heads, score in found:
            assert tuple(heads.tolist()) in trees(n, single_root)
            assert arc_score(scores, tuple(heads.tolist())) == pytest.approx(score, abs=1e-9)


@ROOTS
@pytest.mark.parametrize("n", SIZES)
def test_marginals_are_sums_over_all(n: int, single_root: bool) -> None:
    for scores in cases(n, single_root):
        log_partition, marginals = matrix_tree_marginals(scores, single_root=single_root)
        every = trees(n, single_root)
        totals = np.array([arc_score(scores, tree) for tree in every])
        expected = np.logaddexp.reduce(totals)
        assert log_partition == pytest.approx(expected, abs=1e-9)
        probabilities = np.zeros((n + 1, n + 1))
        for tree, total in zip(every, totals, strict=True):
            for dependent, head in enumerate(tree):
                probabilities[head + 1, dependent + 1] += math.exp(total - expected)
        np.testing.assert_allclose(marginals, probabilities, atol=1e-9)


@ROOTS
@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
def test_marginals_of_a_large_graph_add_up(scale: float, single_root: bool) -> None:
    n = 60
    scores = np.random.default_rng(0).normal(size=(n + 1, n + 1)) * scale
    log_partition, marginals = matrix_tree_marginals(scores, single_root=single_root)
    heads = spanning_tree(scores, single_root=single_root)
    assert marginals.min() > -1e-9
    np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1, atol=1e-9)
    assert log_partition >= arc_score(scores, tuple(heads.tolist())) - 1e-6
    if single_root:
        assert marginals[0].sum() == pytest.approx(1)
    if scale == 1000:
        assert marginals[heads + 1, np.arange(1, n + 1)].min() > 0.99


def test_the_number_of_all_trees() -> None:
    # Cayley: n ** (n - 1) rooted trees over n units, (n + 1) ** (n - 1) with any number of roots.
    n = 50
    zeros = np.zeros((n + 1, n + 1))
    log_partition, marginals = matrix_tree_marginals(zeros)
    assert log_partition == pytest.approx((n - 1) * math.log(n))
    np.testing.assert_allclose(marginals[0, 1:], 1 / n)
    log_partition, _ = matrix_tree_marginals(zeros, single_root=False)
    assert log_partition == pytest.approx((n - 1) * math.log(n + 1))


def test_a_chain_longer_than_floats_reach() -> None:
    # One allowed tree, each of whose arcs is the worst in its column by 290 nats: products of
    # weights underflow, and the sums are made of logarithms.
    n = 30
    scores = np.full((n + 1, n + 1), -np.inf)
    scores[np.arange(n), np.arange(1, n + 1)] = -290.0
    scores[np.arange(2, n + 1), np.arange(1, n)] = 0.0
    log_partition, marginals = matrix_tree_marginals(scores)
    assert log_partition == pytest.approx(-290.0 * n)
    np.testing.assert_allclose(marginals[np.arange(n), np.arange(1, n + 1)], 1)


def test_agrees_with_eisner_where_the_best_tree_is_projective() -> None:
    rng = np.random.default_rng(3)
    for n in (5, 20, 60):
        gold = eisner(rng.normal(size=(n + 1, n + 1)))
        scores = rng.normal(size=(n + 1, n + 1))
        scores[gold + 1, np.arange(1, n + 1)] += 20
        np.testing.assert_array_equal(eisner(scores), gold)
        np.testing.assert_array_equal(spanning_tree(scores), gold)
        together = eisner_marginals(scores)[1] - matrix_tree_marginals(scores)[1]
        assert np.abs(together).max() < 0.01


@pytest.mark.parametrize("n", [50, 300])
@ROOTS
def test_large_trees(n: int, single_root: bool) -> None:
    scores = np.random.default_rng(n).normal(size=(n + 1, n + 1))
    heads = spanning_tree(scores, single_root=single_root)
    assert is_tree(tuple(heads.tolist()))
    assert not is_projective(tuple(heads.tolist()))
    total = arc_score(scores, tuple(heads.tolist()))
    if single_root:
        assert np.count_nonzero(heads < 0) == 1
        assert total > arc_score(scores, tuple(eisner(scores).tolist()))
    found = kbest_spanning(scores, 3, single_root=single_root)
    np.testing.assert_array_equal(found[0][0], heads)
    assert found[0][1] > found[1][1] > found[2][1]


def test_one_root_is_exact_beside_scores_of_a_billion() -> None:
    # A root penalty larger than all scores would swallow the differences that matter here.
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(5, 5)) * 1e-3
    scores[2, 1] = scores[4, 3] = -1e12
    scores[0] += 1e9
    best = max(
        trees(4, True),
        key=lambda tree: arc_score(scores - 1e9 * (np.arange(5) == 0)[:, None], tree),
    )
    assert tuple(spanning_tree(scores).tolist())[1:] == best[1:]


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8])
def test_number_types(dtype: type) -> None:
    scores = np.random.default_rng(1).integers(-9, 9, (8, 8))
    expected = spanning_tree(scores.astype(float))
    np.testing.assert_array_equal(spanning_tree(scores.astype(dtype)), expected)
    np.testing.assert_array_equal(spanning_tree(np.asfortranarray(scores)), expected)


@pytest.mark.parametrize(
    "decode", [spanning_tree, matrix_tree_marginals, lambda scores: kbest_spanning(scores, 2)]
)
@pytest.mark.parametrize(
    ("scores", "why"),
    [
        (np.zeros((3, 4)), "3 x 4"),
        (np.zeros((0, 0)), "0 x 0"),
        (np.full((3, 3), np.nan), "NaN"),
        (np.full((3, 3), np.inf), "infinite"),
    ],
)
def test_malformed_scores_are_refused(decode, scores: np.ndarray, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        decode(scores)


def test_no_tree_at_all() -> None:
    apart = np.full((3, 3), -np.inf)
    apart[0, 1] = apart[0, 2] = 0.0
    assert spanning_tree(apart, single_root=False).tolist() == [-1, -1]
    for decode in (spanning_tree, matrix_tree_marginals):
        with pytest.raises(ValueError, match="forbidden"):
            decode(apart)
    assert kbest_spanning(apart, 3) == []
    with pytest.raises(ValueError, match="k is 0"):
        kbest_spanning(apart, 0)
