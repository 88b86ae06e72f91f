from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica.errors import Mismatch
from rhetorica.evaluate import Counts, paired_bootstrap, paired_t_test, significance
from rhetorica.evaluate.significance import t_two_sided


def scores(*correct: int, of: int = 10) -> list[Counts]:
    return [Counts(n, of, of) for n in correct]


def test_a_clear_difference():
    found = paired_bootstrap(scores(*[9, 8, 9, 7] * 10), scores(*[5, 6, 5, 6] * 10))
    assert found.difference == pytest.approx(0.275)
    assert found.p_value < 0.001
    assert 0 < found.low < found.difference < found.high
    assert found.documents == 40


def test_no_resample_is_as_large_and_yet_the_p_value_is_not_zero():
    # The observed sample is one of those that equal systems could give.
    found = paired_bootstrap(scores(*[9] * 20), scores(*[5] * 20), resamples=99)
    assert found.p_value == 1 / 100


def test_the_interval_leaves_out_as_much_below_as_above():
    # One document of four differs, by 1: the difference is Binomial(4, 1/4) / 4 when resampled.
    first, second = scores(1, 0, 0, 0, of=1), scores(0, 0, 0, 0, of=1)
    found = paired_bootstrap(first, second, resamples=20_000, confidence=0.5)
    # P(0) = 0.316 is above a quarter, P(<= 1) = 0.738 below three quarters.
    assert (found.low, found.high) == (0, 0.5)
    wide = paired_bootstrap(first, second, resamples=20_000, confidence=0.95)
    # P(<= 2) = 0.949 is below 0.975, P(<= 3) = 0.996 above.
    assert (wide.low, wide.high) == (0, 0.75)


def test_no_difference():
    same = scores(5, 6, 7)
    found = paired_bootstrap(same, same)
    assert (found.difference, found.low, found.high, found.p_value) == (0, 0, 0, 1)
    assert paired_t_test(same, same).p_value == 1


def test_the_interval_agrees_with_plain_resampling():
    rng = np.random.default_rng(1)
    first = [Counts(int(n), 30, 30) for n in rng.integers(10, 25, 25)]
    second = [Counts(int(n), 30, 28) for n in rng.integers(9, 24, 25)]

    def corpus_f1(counts: list[Counts]) -> float:
        return sum(counts, Counts()).f1

    draws = rng.integers(0, 25, (2000, 25)).tolist()
    plain = [
        corpus_f1([first[i] for i in draw]) - corpus_f1([second[i] for i in draw]) for draw in draws
    ]
    found = paired_bootstrap(first, second)
    assert found.difference == corpus_f1(first) - corpus_f1(second)
    assert [found.low, found.high] == pytest.approx(np.percentile(plain, [2.5, 97.5]), abs=0.01)


def test_the_seed_decides():
    first, second = scores(5, 7, 6, 8, 3), scores(4, 7, 8, 6, 3)
    assert paired_bootstrap(first, second, seed=3) == paired_bootstrap(first, second, seed=3)
    assert paired_bootstrap(first, second, seed=3) != paired_bootstrap(first, second, seed=4)


def test_false_alarms_are_as_rare_as_promised():
    rng = np.random.default_rng(0)
    alarms = 0
    for seed in range(200):
        first, second = (scores(*rng.integers(0, 11, 40).tolist()) for _ in range(2))
        alarms += paired_bootstrap(first, second, resamples=500, seed=seed).p_value < 0.05
    assert 1 <= alarms <= 22


def test_t_test_by_hand():
    # Differences .1 .2 .2: mean 1/6, standard error 1/30, t = 5, two degrees of freedom.
    found = paired_t_test(scores(6, 8, 9), scores(5, 6, 7))
    assert found.difference == pytest.approx(1 / 6)
    assert found.p_value == pytest.approx(1 - 5 / math.sqrt(27))  # closed form for two degrees
    assert found.high - found.difference == pytest.approx(4.302653 / 30, rel=1e-6)
    assert found.low == pytest.approx(2 * found.difference - found.high)


@pytest.mark.parametrize(
    ("t", "degrees", "p"),
    [(12.706205, 1, 0.05), (2.570582, 5, 0.05), (1.697261, 30, 0.1), (2.575829, 10**7, 0.01)],
)
def test_t_distribution_against_tables(t: float, degrees: int, p: float):
    assert t_two_sided(t, degrees) == pytest.approx(p, rel=1e-5)
    assert t_two_sided(-t, degrees) == t_two_sided(t, degrees)


@given(st.floats(-50, 50))
def test_t_distribution_with_one_degree_is_cauchy(t: float):
    assert t_two_sided(t, 1) == pytest.approx(1 - 2 * math.atan(abs(t)) / math.pi, abs=1e-12)


def test_documents_without_units_are_left_out_of_the_t_test():
    empty = [Counts()]
    assert paired_t_test(scores(6, 8, 9) + empty, scores(5, 6, 7) + empty) == paired_t_test(
        scores(6, 8, 9), scores(5, 6, 7)
    )


def test_too_few_documents():
    assert math.isnan(paired_t_test([], []).difference)
    assert math.isnan(paired_t_test(scores(6), scores(5)).p_value)
    assert math.isnan(paired_bootstrap([], []).p_value)
    assert paired_bootstrap([Counts()], [Counts()]).difference == 0


def test_a_constant_difference_is_certain():
    assert paired_t_test([Counts(1, 2, 2)] * 3, [Counts(0, 2, 2)] * 3).p_value == 0


def test_systems_must_share_their_gold():
    with pytest.raises(Mismatch, match="same gold documents"):
        paired_bootstrap(scores(5, 6), scores(5))
    with pytest.raises(Mismatch, match="same gold documents"):
        paired_t_test(scores(5), scores(5, of=12))


def test_ten_thousand_resamples_of_a_tie():
    first, second = scores(*[5, 6] * 150), scores(*[6, 5] * 150)
    assert paired_bootstrap(first, second).difference == 0


def test_what_a_comparison_says_of_itself():
    assert paired_bootstrap(scores(5, 6), scores(5, 5)).test == "bootstrap"
    assert paired_bootstrap([], []).documents == 0
    found = paired_t_test(scores(6, 8, 9), scores(5, 6, 7))
    assert (found.test, found.documents) == ("t-test", 3)
    one = paired_t_test(scores(6), scores(5))
    assert (one.test, one.documents, one.difference) == ("t-test", 1, pytest.approx(0.1))
    assert math.isnan(one.low)
    assert math.isnan(one.high)


def test_two_documents_are_enough_for_a_t_test():
    # Differences .1 .3: mean .2, standard error .1, t = 2 with one degree: a Cauchy distribution.
    found = paired_t_test(scores(6, 8), scores(5, 5))
    assert found.p_value == pytest.approx(1 - 2 * math.atan(2) / math.pi)
    assert found.high == pytest.approx(0.2 + 0.1 * math.tan(0.95 * math.pi / 2))


def test_the_confidence_of_a_t_test_can_be_chosen():
    first, second = scores(6, 8), scores(5, 5)
    half = paired_t_test(first, second, confidence=0.5)
    assert half.high == pytest.approx(0.2 + 0.1)  # the quartile of a Cauchy distribution is 1
    assert half.low == pytest.approx(0.2 - 0.1)


def test_a_constant_difference_bounds_itself():
    found = paired_t_test([Counts(1, 2, 2)] * 3, [Counts(0, 2, 2)] * 3)
    assert (found.low, found.difference, found.high, found.documents) == (0.5, 0.5, 0.5, 3)
    less = paired_t_test([Counts(0, 2, 2)] * 3, [Counts(1, 2, 2)] * 3)
    assert (less.difference, less.p_value) == (-0.5, 0)


def test_the_p_value_counts_what_is_as_large_as_observed():
    # The first of two documents, of 3 and of 5 units, differs. Resampled, the difference is 1, 3/8
    # or 0 with 1/4, 1/2, 1/4; from the observed 3/8, 1 and 0 are as far as that is from zero.
    first, second = [Counts(3, 3, 3), Counts(0, 5, 5)], [Counts(0, 3, 3), Counts(0, 5, 5)]
    found = paired_bootstrap(first, second, resamples=40_000)
    assert found.p_value == pytest.approx(0.5, abs=0.01)
    other = paired_bootstrap(second, first, resamples=40_000)
    assert other.difference == -found.difference
    assert other.p_value == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (scores(6, 5), scores(5, 5)),  # one of two differs: 0, .05 and .1, p = 1/2
        (scores(9, 5, 5, 5), scores(5, 5, 5, 5)),  # one of four
        (scores(8, 6, 5, 4), scores(5, 5, 5, 5)),  # for and against
        (
            [Counts(3, 4, 4), Counts(2, 7, 7), Counts(1, 9, 5)],
            [Counts(1, 4, 3), Counts(2, 7, 7), Counts(2, 9, 9)],
        ),
    ],
)
@pytest.mark.parametrize("seed", range(6))
def test_the_p_value_is_that_of_all_resamples(
    first: list[Counts], second: list[Counts], seed: int
) -> None:
    def difference(draw: tuple[int, ...]) -> Fraction:
        sums = [sum((counts[i] for i in draw), Counts()) for counts in (first, second)]
        ours, theirs = (Fraction(2 * c.correct, c.gold + c.pred) for c in sums)
        return ours - theirs

    every = list(product(range(len(first)), repeat=len(first)))
    observed = difference(tuple(range(len(first))))
    exact = sum(abs(difference(d) - observed) >= abs(observed) for d in every) / len(every)
    found = paired_bootstrap(first, second, seed=seed)
    assert found.difference == pytest.approx(float(observed))
    # Five standard errors: a tie that is lost on one side is ten and more.
    reach = 5 * math.sqrt(exact * (1 - exact) / 10_000)
    assert found.p_value == pytest.approx(exact, abs=reach + 1e-4)


def test_precision_counts_as_much_as_recall():
    # 2 of 4 right with 4 predicted against 2 of 4 with 2 predicted: F is 1/2 and 2/3.
    found = paired_bootstrap([Counts(2, 4, 4)] * 5, [Counts(2, 4, 2)] * 5)
    assert found.difference == pytest.approx(1 / 2 - 2 / 3)
    assert found.low == pytest.approx(found.difference)
    assert found.high == pytest.approx(found.difference)


def test_resampling_in_pieces_draws_as_many(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(significance, "_CELLS_AT_ONCE", 7)
    found = paired_bootstrap(scores(*[9] * 3), scores(*[5] * 3), resamples=99)
    assert found.p_value == 1 / 100
    table = significance._f1_parts(scores(1, 2, 3))
    drawn = significance._resample(np.hstack([table, table]), 11, np.random.default_rng(0))
    assert drawn.tolist() == [0.0] * 11
    monkeypatch.setattr(significance, "_CELLS_AT_ONCE", 1)
    assert len(significance._resample(np.hstack([table, table]), 4, np.random.default_rng(0))) == 4


def test_small_and_large_t_keep_their_digits():
    assert 1 - t_two_sided(1e-8, 5) == pytest.approx(2e-8 * 0.3796066898, rel=1e-4)
    assert t_two_sided(0, 5) == 1
    assert t_two_sided(1e4, 1) == pytest.approx(2 / math.pi / 1e4, rel=1e-6)


def test_the_interval_is_that_of_the_draws():
    rng = np.random.default_rng(5)
    first, second = (scores(*rng.integers(0, 31, 40).tolist(), of=30) for _ in range(2))
    table = np.hstack([significance._f1_parts(first), significance._f1_parts(second)])
    drawn = significance._resample(table, 10_000, np.random.default_rng(0))
    found = paired_bootstrap(first, second)
    assert [found.low, found.high] == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=1e-9)
    assert found == paired_bootstrap(first, second, resamples=10_000, seed=0, confidence=0.95)
    assert paired_t_test(first, second) == paired_t_test(first, second, confidence=0.95)
