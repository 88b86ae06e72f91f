from __future__ import annotations

import math

import numpy as np
import pytest

from brute import arc_score, dependency_trees, is_projective, is_tree
from rhetorica import DepTree
from rhetorica.decode import eisner, eisner_kbest, eisner_marginals

SIZES = range(7)


def trees(n: int) -> list[tuple[int, ...]]:
    return dependency_trees(n, projective=True)


def cases(n: int) -> list[np.ndarray]:
    """Random scores; few values, so that ties are many; some arcs forbidden; all equal; large."""
    rng = np.random.default_rng(n)
    shape = (n + 1, n + 1)
    forbidden = rng.normal(size=shape)
    forbidden[rng.random(shape) < 0.3] = -np.inf
    forbidden[np.arange(n), np.arange(1, n + 1)] = 0.0  # a chain is always there
    return [
        rng.normal(size=shape) * 3,
        rng.integers(0, 2, shape).astype(float),
        forbidden,
        np.zeros(shape),
        rng.normal(size=shape) * 400,
    ]


@pytest.mark.parametrize("n", SIZES)
def test_best_tree_is_the_best_of_all(n: int) -> None:
    for scores in cases(n):
        heads = tuple(eisner(scores).tolist())
        assert heads in trees(n)
        best = max(arc_score(scores, tree) for tree in trees(n))
        assert arc_score(scores, heads) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("n", SIZES)
def test_several_roots(n: int) -> None:
    every = [
        heads
        for heads in dependency_trees(n, single_root=False)
        if is_projective((-1, *(head + 1 for head in heads)))
    ]
    for scores in cases(n):
        heads = tuple(eisner(scores, single_root=False).tolist())
        best = max(arc_score(scores, tree) for tree in every)
        assert heads in every
        assert arc_score(scores, heads) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("k", [1, 3, 20, 1000])
def test_kbest_is_the_sorted_list_of_all(n: int, k: int) -> None:
    for scores in cases(n):
        found = eisner_kbest(scores, k)
        every = sorted((arc_score(scores, tree) for tree in trees(n)), reverse=True)
        expected = [score for score in every if score > -np.inf][:k]
        assert [score for _, score in found] == pytest.approx(expected, abs=1e-9)
        assert [score for _, score in found] == sorted((s for _, s in found), reverse=True)
        assert len({tuple(heads.tolist()) for heads, _ in found}) == len(found)
        for heads, score in found:
            assert tuple(heads.tolist()) in trees(n)
            assert arc_score(scores, tuple(heads.tolist())) == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize("n", SIZES)
def test_marginals_are_sums_over_all(n: int) -> None:
    for scores in cases(n):
        log_partition, marginals = eisner_marginals(scores)
        totals = np.array([arc_score(scores, tree) for tree in trees(n)])
        expected = np.logaddexp.reduce(totals)
        assert log_partition == pytest.approx(expected, abs=1e-9)
        probabilities = np.zeros((n + 1, n + 1))
        for tree, total in zip(trees(n), totals, strict=True):
            for dependent, head in enumerate(tree):
                probabilities[head + 1, dependent + 1] += math.exp(total - expected)
        np.testing.assert_allclose(marginals, probabilities, atol=1e-9)


@pytest.mark.parametrize("n", [40, 200])
def test_large_trees_are_projective_and_agree_with_kbest_and_marginals(n: int) -> None:
    scores = np.random.default_rng(n).normal(size=(n + 1, n + 1))
    heads = tuple(eisner(scores).tolist())
    assert is_tree(heads)
    assert is_projective(heads)
    DepTree(heads, ("r",) * n)
    first, second = eisner_kbest(scores, 2)
    assert tuple(first[0].tolist()) == heads
    assert second[1] < first[1]
    _, marginals = eisner_marginals(scores * 200)
    np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1, atol=1e-9)
    assert marginals[np.array(heads) + 1, np.arange(1, n + 1)].min() > 0.5


def test_a_chain_of_six_hundred_units_needs_no_recursion() -> None:
    n = 600
    scores = np.full((n + 1, n + 1), -1.0)
    scores[np.arange(n), np.arange(1, n + 1)] = 1.0
    chain = np.arange(-1, n - 1)
    np.testing.assert_array_equal(eisner(scores), chain)
    found = eisner_kbest(scores, 3)
    np.testing.assert_array_equal(found[0][0], chain)
    assert [score for _, score in found] == [n, n - 2, n - 2]


def test_column_zero_and_diagonal_are_not_read() -> None:
    scores = np.random.default_rng(0).normal(size=(6, 6))
    expected = eisner(scores)
    before = scores.copy()
    scores[:, 0] = np.nan
    np.fill_diagonal(scores, np.inf)
    np.testing.assert_array_equal(eisner(scores), expected)
    assert np.isnan(scores[1, 0])  # the caller's array is left alone
    np.testing.assert_array_equal(scores[0, 1:], before[0, 1:])


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8])
def test_number_types(dtype: type) -> None:
    scores = np.random.default_rng(1).integers(-9, 9, (8, 8))
    np.testing.assert_array_equal(eisner(scores.astype(dtype)), eisner(scores.astype(float)))
    np.testing.assert_array_equal(eisner(scores.tolist()), eisner(scores.astype(float)))
    fortran = np.asfortranarray(scores.astype(float))
    np.testing.assert_array_equal(eisner(fortran), eisner(scores.astype(float)))


@pytest.mark.parametrize(
    "decode", [eisner, eisner_marginals, lambda scores: eisner_kbest(scores, 2)]
)
@pytest.mark.parametrize(
    ("scores", "why"),
    [
        (np.zeros((3, 4)), "3 x 4"),
        (np.zeros((0, 0)), "0 x 0"),
        (np.zeros(3), "1 dimensions"),
        (np.full((3, 3), np.nan), "NaN"),
        (np.full((3, 3), np.inf), "infinite"),
        (np.full((3, 3), "a"), "real numbers"),
    ],
)
def test_malformed_scores_are_refused(decode, scores: np.ndarray, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        decode(scores)


def test_no_tree_at_all() -> None:
    scores = np.zeros((4, 4))
    scores[:, 2] = -np.inf
    for decode in (eisner, eisner_marginals):
        with pytest.raises(ValueError, match="forbidden"):
            decode(scores)
    assert eisner_kbest(scores, 3) == []
    with pytest.raises(ValueError, match="k is 0"):
        eisner_kbest(scores, 0)
