"""Votes, ESPBoost, SLE, baselines, tables and measures."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_tools import FIGURE_2, paths_of, random_table
from rhetorica.errors import Mismatch, UnknownName
from rhetorica.learn.experts import (
    METHODS,
    MISSING,
    PAD,
    Automaton,
    Settings,
    Table,
    Vote,
    best_expert,
    edit_distances,
    espboost,
    hamming_loss,
    learn,
    plain_majority,
    sle,
)
from rhetorica.learn.experts.rules import Randomised


def score_of(vote: Vote, said: np.ndarray, symbols: tuple[int, ...], product: bool) -> float:
    votes = [
        sum(w for w, s in zip(vote.weights[k], said[k], strict=True) if s == symbol)
        for k, symbol in enumerate(symbols)
    ]
    return float(np.prod(votes)) if product else float(sum(votes))


@given(st.integers(0, 1000))
def test_vote_is_the_best_of_all_sequences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, 3, 3, 3, missing=0.1, symbols=3)
    vote = Vote(rng.random((3, 3)))
    pred = vote.predict(table.symbols)
    for said, row in zip(table.symbols, pred, strict=True):
        every = itertools.product([MISSING, 0, 1, 2], repeat=3)
        heard = np.where(said == MISSING, -9, said)
        best = max(score_of(vote, heard, y, False) for y in every)
        assert score_of(vote, heard, tuple(row), False) == pytest.approx(best)


@pytest.mark.parametrize("product", [True, False])
@given(st.integers(0, 1000))
def test_restricted_vote_is_the_best_of_all_paths(product, seed: int) -> None:
    rng = np.random.default_rng(seed)
    automaton = Automaton.of(FIGURE_2, 3)
    table = random_table(rng, 3, 3, 3)
    vote = Vote(rng.random((3, 3)), automaton, "product" if product else "sum")
    pred = vote.predict(table.symbols)
    for said, row in zip(table.symbols, pred, strict=True):
        outputs = [tuple(said[np.arange(3), list(path)]) for path, _ in paths_of(automaton)]
        assert tuple(row) in outputs
        best = max(score_of(vote, said, y, product) for y in outputs)
        assert score_of(vote, said, tuple(row), product) == pytest.approx(best)


def test_sum_and_product_differ_within_an_automaton() -> None:
    # Two paths: votes 9 and 1, or 4 and 4.
    automaton = Automaton.of([(0, 1, 0), (0, 2, 1), (1, 3, 0), (2, 3, 1)], 2)
    weights = np.array([[9.0, 4.0], [1.0, 4.0]])
    said = np.array([[[0, 1], [0, 1]]])
    assert Vote(weights, automaton, "sum").predict(said).tolist() == [[0, 0]]
    assert Vote(weights, automaton, "product").predict(said).tolist() == [[1, 1]]


def test_ties_go_to_the_order_given() -> None:
    said = np.array([[[5, 6, 7]]])
    weights = np.ones((1, 3))
    assert Vote(weights).predict(said).tolist() == [[5]]
    assert Vote(weights, first=(2, 1)).predict(said).tolist() == [[7]]
    # Sums in another order differ in their last digits: still a tie.
    assert Vote(np.array([[0.3, 0.1, 0.2]])).predict(np.array([[[5, 6, 6]]])).tolist() == [[5]]


def test_where_no_weighted_expert_speaks_the_others_are_asked() -> None:
    vote = Vote(np.array([[1.0, 0.0, 0.0]]))
    assert vote.predict(np.array([[[MISSING, 8, 9]]])).tolist() == [[8]]


def test_where_nobody_says_anything_the_ensemble_does_not_either() -> None:
    said = np.full((1, 1, 3), MISSING)
    assert Vote(np.ones((1, 3))).predict(said).tolist() == [[MISSING]]


def test_predictions_of_another_shape_are_an_error() -> None:
    with pytest.raises(ValueError, match="learned for"):
        Vote(np.ones((2, 3))).predict(np.zeros((1, 3, 3), dtype=np.int64))
    with pytest.raises(ValueError, match="finite"):
        Vote(np.full((2, 3), np.nan))


def margins_of(table: Table, path: np.ndarray) -> np.ndarray:
    said = table.symbols[:, np.arange(table.length), path]
    return np.where(said == MISSING, 0, np.where(said == table.truth, 1, -1))


def objective(table: Table, paths: np.ndarray, steps: np.ndarray) -> float:
    total = sum(
        (a * margins_of(table, h) for h, a in zip(paths, steps, strict=True)),
        np.zeros(table.truth.shape),
    )
    return float(np.exp(-total).mean())


@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_espboost_descends_as_algorithm_1_says(seed: int, gaps: bool, full: bool) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, 15, 3, 3, missing=0.15 * gaps)
    automaton = Automaton.full(3, 3) if full else Automaton.of(FIGURE_2, 3)
    found = espboost(table, rounds=6, automaton=automaton)
    if "without mistakes" in found.stopped:
        return
    every = [np.array(path) for path, _ in paths_of(automaton)]
    spread = np.full(table.truth.shape, 1 / table.truth.size)
    for t, (path, step) in enumerate(zip(found.paths, found.steps, strict=True)):
        # The direction: the steepest of all paths, by the derivative of F itself.
        slopes = []
        for other in every:
            both = np.vstack([found.paths[:t], other])
            ahead = objective(table, both, np.append(found.steps[:t], 1e-6))
            behind = objective(table, both, np.append(found.steps[:t], -1e-6))
            slopes.append((ahead - behind) / 2e-6)
        own = -(spread * margins_of(table, path)).sum()
        now = objective(table, found.paths[:t], found.steps[:t])
        assert own * now == pytest.approx(min(slopes), abs=1e-6)
        # The step: the minimum along it, by a line search.
        both = np.vstack([found.paths[:t], path])
        low, high = 0.0, 10.0
        while high - low > 1e-7:
            third = (high - low) / 3
            left = objective(table, both, np.append(found.steps[:t], low + third))
            right = objective(table, both, np.append(found.steps[:t], high - third))
            low, high = (low, high - third) if left < right else (low + third, high)
        assert step == pytest.approx(low, abs=1e-5)
        wrong = spread[margins_of(table, path) < 0].sum()
        assert found.errors[t] == pytest.approx(wrong)
        if not gaps:
            assert step == pytest.approx(0.5 * np.log((1 - wrong) / wrong))
            assert found.normalisers[t] == pytest.approx(2 * np.sqrt(wrong * (1 - wrong)))
        # D_t by its definition, Z_t by its products.
        total = sum(
            a * margins_of(table, h)
            for h, a in zip(found.paths[: t + 1], found.steps[: t + 1], strict=True)
        )
        spread = np.exp(-total) / np.exp(-total).sum()
        assert np.prod(found.normalisers[: t + 1]) == pytest.approx(np.exp(-total).mean())


@given(st.integers(0, 1000), st.floats(0.01, 0.4))
def test_lemma_3_and_theorem_5_hold(seed: int, rho: float) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, 20, 3, 3)
    found = espboost(table, rounds=8)
    if not len(found.steps):
        return
    loss = hamming_loss(found.vote.predict(table.symbols), table.truth)
    assert loss <= objective(table, found.paths, found.steps) + 1e-9
    # Margins of the scores themselves: right symbol minus the best wrong one.
    scores = np.zeros((*table.truth.shape, 4))
    for path, step in zip(found.paths, found.steps, strict=True):
        said = table.symbols[:, np.arange(3), path]
        scores += step * (said[..., None] == np.arange(4))
    scores /= found.steps.sum()
    right = np.take_along_axis(scores, table.truth[..., None], axis=2)[..., 0]
    np.put_along_axis(scores, table.truth[..., None], -np.inf, axis=2)
    margin_loss = (right - scores.max(axis=2) <= rho).mean()
    errors = found.errors
    limit = 2.0 ** len(errors) * np.prod(np.sqrt(errors ** (1 - rho) * (1 - errors) ** (1 + rho)))
    assert margin_loss <= limit + 1e-9


def test_espboost_says_why_it_stops() -> None:
    bad = Table(np.array([[[1, 1]], [[2, 2]]]), np.array([[0], [0]]))
    found = espboost(bad)
    assert "weak-learning assumption fails" in found.stopped
    assert not len(found.steps)
    assert found.vote.weights.tolist() == [[1.0, 1.0]]
    good = Table(np.array([[[0, 1]], [[3, 2]]]), np.array([[0], [3]]))
    found = espboost(good)
    assert "without mistakes" in found.stopped
    assert found.paths.tolist() == [[0]]
    mixed = random_table(np.random.default_rng(0), 50, 4, 3)
    assert espboost(mixed, rounds=3).stopped == "all 3 rounds done"
    assert "weak-learning" in espboost(mixed, rounds=300, edge=0.1).stopped


def greedy_mistakes(table: Table, bag: list[int]) -> int:
    """A plain vote, written out: most votes, then who was chosen first."""
    wrong = 0
    for said, right in zip(table.symbols, table.truth, strict=True):
        for k in range(table.length):
            counts: dict[int, int] = {}
            for expert in bag:
                if said[k, expert] != MISSING:
                    counts[said[k, expert]] = counts.get(said[k, expert], 0) + 1
            leaders = [s for s in counts if counts[s] == max(counts.values())]
            wrong += (leaders[0] if leaders else MISSING) != right[k]
    return wrong


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_sle_adds_the_best_expert_every_round(missing: float) -> None:
    table = random_table(np.random.default_rng(5), 25, 3, 4, missing=missing)
    bag: list[int] = []
    for rounds in range(1, 9):
        counts = sle(table, rounds=rounds, seed=1).weights[0]
        before = np.bincount(np.array(bag, dtype=np.int64), minlength=4)
        added = int((counts - before).argmax())
        assert (counts - before).sum() == 1
        mistakes = [greedy_mistakes(table, [*bag, other]) for other in range(4)]
        assert mistakes[added] == min(mistakes)
        bag.append(added)
        pred = sle(table, rounds=rounds, seed=1).predict(table.symbols)
        if not missing:  # else the others are asked where the chosen say nothing
            assert (pred != table.truth).sum() == greedy_mistakes(table, bag)


def test_baselines() -> None:
    table = Table.of(["ab", "ab", "ab"], [["ab", "ab", "xx"], ["xx", "xx", "ab"], ["xb"] * 3])
    assert best_expert(table).weights.tolist() == [[1, 0, 0], [1, 0, 0]]
    assert plain_majority(table).predict(table.symbols)[0].tolist() == [2, 1]


def test_every_method_learns_who_is_right_where() -> None:
    # Two experts, each right at one of two positions only; a path is perfect.
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=(60, 2))
    said = np.stack([truth, truth], axis=2)
    said[:, 1, 0] = (truth[:, 1] + 1) % 4
    said[:, 0, 1] = (truth[:, 0] + 1) % 4
    table = Table(said, truth)
    settings = Settings(beta=0.5, epsilon=2.0)
    for name in METHODS:
        rule = learn(name, table, settings)
        if isinstance(rule, Randomised):
            assert rule.expected_loss(table.hamming(normalised=True)) < 0.1
        else:
            loss = hamming_loss(rule.predict(table.symbols), table.truth)
            whole = name in ("SLE", "Best", "Majority")
            assert loss == pytest.approx(0.5 if whole else 0.0), name
    with pytest.raises(UnknownName, match="MVote"):
        learn("MVotes", table)
    with pytest.raises(ValueError, match="no examples"):
        learn("MVote", table[:0])


def test_unequal_lengths_need_padding() -> None:
    with pytest.raises(Mismatch, match="expert 1 has 1 positions in example 0"):
        Table.of(["ab"], [["ab"], ["a"]])
    with pytest.raises(Mismatch, match="example 1 has 1 positions"):
        Table.of(["ab", "a"], [["ab", "a"]])
    with pytest.raises(Mismatch, match="expert 0 has 2 sequences, expected 1"):
        Table.of(["ab"], [["ab", "ab"]])
    table = Table.of(["ab", "a"], [["abc", "a"], ["a", None]], pad=True)
    assert table.symbols[..., 0].tolist() == [[0, 1, 2], [0, PAD, PAD]]
    assert table.symbols[..., 1].tolist() == [[0, PAD, PAD], [MISSING] * 3]
    assert table.hamming()[..., 0].tolist() == [[0, 0, 1], [0, 0, 0]]
    assert table.hamming()[..., 1].tolist() == [[0, 1, 0], [1, 1, 1]]


def test_tables_are_checked() -> None:
    with pytest.raises(ValueError, match="expected"):
        Table(np.zeros((2, 3, 2), dtype=np.int64), np.zeros((2, 2), dtype=np.int64))
    with pytest.raises(ValueError, match="at least one expert"):
        Table(np.zeros((2, 3, 0), dtype=np.int64), np.zeros((2, 3), dtype=np.int64))
    with pytest.raises(ValueError, match="no right symbol"):
        Table(np.zeros((1, 1, 1), dtype=np.int64), np.full((1, 1), MISSING))


def slow_edits(a: list[int], b: list[int]) -> int:
    if not a or not b:
        return len(a) + len(b)
    return min(
        slow_edits(a[1:], b[1:]) + (a[0] != b[0]),
        slow_edits(a[1:], b) + 1,
        slow_edits(a, b[1:]) + 1,
    )


words = st.lists(st.integers(0, 2), max_size=5)


@given(words, words)
def test_edit_distance_is_that_of_its_definition(a: list[int], b: list[int]) -> None:
    pad = lambda word: np.array([word + [PAD] * (6 - len(word))])  # noqa: E731
    assert edit_distances(pad(a), pad(b)).tolist() == [slow_edits(a, b)]


def test_hamming_loss_with_and_without_padding() -> None:
    pred, truth = np.array([[1, PAD, PAD]]), np.array([[1, 2, PAD]])
    assert hamming_loss(pred, truth) == pytest.approx(1 / 3)
    assert hamming_loss(pred, truth, padding=False) == pytest.approx(1 / 2)
