"""WMWP and FPL, and the conversions to batch, against enumeration and the paper's bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_tools import FIGURE_2, automata, paths_of, random_table
from rhetorica.learn.experts import (
    Automaton,
    Rounds,
    Vote,
    best_beta,
    cross_validated,
    fpl,
    gamma,
    hamming_loss,
    majority,
    randomised,
    regret_bound,
    wmwp,
)
from rhetorica.learn.experts.batch import best_suffix

BETA = 0.8


def losses_for(automaton: Automaton, seed: int, rounds: int = 6) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((rounds, automaton.length, automaton.n_experts))


def path_losses(automaton: Automaton, losses: np.ndarray) -> np.ndarray:
    """Losses of all paths: (rounds, paths)."""
    positions = np.arange(automaton.length)
    return np.stack(
        [losses[:, positions, list(path)].sum(axis=1) for path, _ in paths_of(automaton)], axis=1
    )


@given(automata(), st.integers(0, 1000))
def test_distribution_of_every_round_is_equation_2(automaton: Automaton, seed: int) -> None:
    losses = losses_for(automaton, seed)
    rounds = wmwp(losses, beta=BETA, automaton=automaton)
    each = path_losses(automaton, losses)
    shares = np.full(each.shape[1], 1 / each.shape[1])
    for t in range(len(losses)):
        edges = [e for _, e in paths_of(automaton)]
        found = np.array([np.exp(rounds.weights[t, e].sum()) for e in edges])
        assert found == pytest.approx(shares)
        assert rounds.losses[t] == pytest.approx(shares @ each[t])
        table = np.zeros((automaton.length, automaton.n_experts))
        for (path, _), share in zip(paths_of(automaton), shares, strict=True):
            table[np.arange(automaton.length), list(path)] += share
        assert rounds.shares[t] == pytest.approx(table)
        shares = shares * BETA ** each[t]
        shares /= shares.sum()


def test_local_updates_of_equation_3_are_those_of_the_full_automaton() -> None:
    automaton = Automaton.full(3, 4)
    losses = losses_for(automaton, 5)
    rounds = wmwp(losses, beta=BETA)
    weights = np.full((4, 3), 1 / 3)
    for t in range(len(losses)):
        assert np.exp(rounds.weights[t]).reshape(4, 3) == pytest.approx(weights)
        weights = weights * BETA ** losses[t]
        weights /= weights.sum(axis=1, keepdims=True)


def test_local_updates_are_not_exact_for_other_automata() -> None:
    automaton = Automaton.of(FIGURE_2, 3)
    losses = losses_for(automaton, 5)
    local = np.zeros(len(automaton.sources))
    for t in range(len(losses)):
        local += automaton.edges(losses[t]) * np.log(BETA)
        for state in range(len(automaton.levels) - 1):
            here = automaton.sources == state
            local[here] -= np.logaddexp.reduce(local[here])
    more = np.concatenate([losses, losses[:1]])
    pushed = wmwp(more, beta=BETA, automaton=automaton).weights[-1]
    assert np.abs(np.exp(local) - np.exp(pushed)).max() > 0.01


@given(automata(), st.integers(0, 1000), st.floats(0.05, 0.99), st.integers(1, 40))
def test_regret_is_within_its_bound(
    automaton: Automaton, seed: int, beta: float, count: int
) -> None:
    losses = losses_for(automaton, seed, count)
    rounds = wmwp(losses, beta=beta, automaton=automaton)
    best = path_losses(automaton, losses).sum(axis=0).min()
    limit = regret_bound(best, automaton.count(), beta=beta, bound=rounds.bound)
    assert rounds.losses.sum() <= limit + 1e-9
    tuned = best_beta(automaton.count(), count, bound=rounds.bound)
    if tuned < 1:
        regret = wmwp(losses, beta=tuned, automaton=automaton).losses.sum() - best
        assert regret <= rounds.bound * np.sqrt(count * np.log(automaton.count()) / 2) + 1e-9


def test_regret_bound_is_not_idle() -> None:
    # One path never loses: the bound is ln N / (1 - beta) and comes near.
    losses = np.ones((200, 1, 2))
    losses[:, :, 0] = 0
    found = wmwp(losses, beta=0.95).losses.sum()
    limit = regret_bound(0, 2, beta=0.95, bound=1.0)
    assert 0.95 * limit < found < limit


@given(automata(), st.integers(0, 1000))
def test_fpl_follows_the_leader_after_noise(automaton: Automaton, seed: int) -> None:
    losses = losses_for(automaton, seed)
    rounds = fpl(losses, epsilon=1e9, automaton=automaton, seed=seed)
    each = path_losses(automaton, losses)
    allowed = [path for path, _ in paths_of(automaton)]
    for t in range(1, len(losses)):
        path = tuple(rounds.shares[t].argmax(axis=1))
        assert allowed.index(path) == each[:t].sum(axis=0).argmin()
        assert rounds.losses[t] == pytest.approx(each[t, allowed.index(path)])
    drawn = automaton.sample(rounds.weights[-1], 5, np.random.default_rng(0))
    assert (drawn == rounds.shares[-1].argmax(axis=1)).all()


def test_noise_of_fpl_has_its_size() -> None:
    losses = np.zeros((4000, 1, 2))
    losses[0, 0, 1] = 1
    # Expert 1 is behind by 1; noise between 0 and 2 brings it to the front in (2 - 1)^2 / (2 * 4).
    shares = fpl(losses, epsilon=0.5, seed=3).shares[1:, 0, 1].mean()
    assert shares == pytest.approx(1 / 8, abs=0.02)
    shares = fpl(losses, epsilon=0.5, seed=3, noise="exponential").shares[1:, 0, 1].mean()
    assert shares == pytest.approx(np.exp(-0.5) / 2, abs=0.03)


@given(st.integers(0, 1000), st.integers(1, 30))
def test_suffix_is_the_minimum_of_gamma(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    suffered = rng.random(count)
    rounds = Rounds(
        Automaton.full(1, 1), np.zeros((count, 1)), np.ones((count, 1, 1)), suffered, 1.0
    )
    values = [gamma(suffered[t:], bound=1.0, delta=0.05) for t in range(count)]
    assert best_suffix(rounds, delta=0.05) == int(np.argmin(values))


@given(automata(), st.integers(0, 500))
def test_gamma_reads_expected_losses_off_transitions(automaton: Automaton, seed: int) -> None:
    losses = losses_for(automaton, seed)
    rounds = wmwp(losses, beta=BETA, automaton=automaton)
    each = path_losses(automaton, losses)
    edges = [e for _, e in paths_of(automaton)]
    first = [
        sum(np.exp(rounds.weights[t, e].sum()) * each[t, at] for at, e in enumerate(edges))
        for t in range(len(losses))
    ]
    assert rounds.losses == pytest.approx(np.array(first))


def test_theorem_1_holds_on_drawn_samples() -> None:
    # p known experts; the true losses are known, so both sides are.
    rng = np.random.default_rng(0)
    length, experts, size, delta = 3, 4, 60, 0.1
    held = 0
    excess = []
    for _ in range(40):
        accuracy = rng.uniform(0.2, 0.95, size=(length, experts))
        losses = (rng.random((size, length, experts)) > accuracy) / length
        beta = best_beta(experts**length, size, bound=1.0)
        rule = randomised(wmwp(losses, beta=beta, bound=1.0), delta=delta / (2 * size))
        true = ((1 - accuracy) / length * rule.shares()).sum()
        best = ((1 - accuracy) / length).min(axis=1).sum()
        limit = 2 * np.sqrt(length * np.log(experts) / size)
        limit += 2 * np.sqrt(np.log(2 * size / delta) / size)
        held += true <= best + limit
        excess.append(true - best)
    assert held == 40
    # The bound is loose; what it bounds is neither zero nor negative.
    assert min(excess) > 0
    assert np.mean(excess) < 0.25


@given(st.integers(0, 1000), st.booleans())
def test_proposition_2_vote_loses_at_most_twice_what_drawing_does(seed: int, wide: bool) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, 20, 3, 3, missing=0.1 * wide)
    automaton = Automaton.of(FIGURE_2, 3) if wide else None
    rounds = wmwp(table.hamming(), beta=BETA, automaton=automaton)
    start = best_suffix(rounds, delta=0.05)
    other = random_table(rng, 30, 3, 3, missing=0.1 * wide)
    voted = hamming_loss(majority(rounds).predict(other.symbols), other.truth)
    drawn = randomised(rounds).expected_loss(other.hamming(normalised=True))
    assert voted <= 2 * drawn + 1e-9
    assert randomised(rounds).shares() == pytest.approx(rounds.shares[start:].mean(axis=0))


def test_drawn_predictions_lose_what_is_expected() -> None:
    rng = np.random.default_rng(4)
    table = random_table(rng, 4000, 3, 3)
    rule = randomised(wmwp(table[:50].hamming(), beta=BETA, automaton=Automaton.of(FIGURE_2, 3)))
    found = hamming_loss(rule.predict(table.symbols, rng), table.truth)
    assert found == pytest.approx(rule.expected_loss(table.hamming(normalised=True)), abs=0.02)


@pytest.mark.parametrize("algorithm", [wmwp, fpl])
def test_cross_validation_takes_the_round_that_did_best_later(algorithm) -> None:
    rng = np.random.default_rng(6)
    table = random_table(rng, 40, 3, 4, missing=0.1)
    losses = table.hamming(normalised=True)
    rounds = wmwp(losses, beta=0.3) if algorithm is wmwp else fpl(losses, epsilon=0.5)
    values = []
    for t in range(40):
        vote = Vote(rounds.shares[t])
        left = 40 - t
        later = hamming_loss(vote.predict(table.symbols[t:]), table.truth[t:])
        values.append(later + rounds.bound * np.sqrt(np.log(40 * 41 / 0.05) / (2 * left)))
    vote, chosen = cross_validated(rounds, table.symbols, losses, delta=0.05)
    assert chosen == int(np.argmin(values))
    assert (vote.weights == rounds.shares[chosen]).all()


def test_what_breaks_the_bounds_is_an_error() -> None:
    losses = np.ones((3, 2, 2))
    with pytest.raises(ValueError, match="more than the bound 1"):
        wmwp(losses, beta=0.9, bound=1.0)
    losses[2, 0, 1] = -0.5
    with pytest.raises(ValueError, match="expert 1 at position 0 of example 2"):
        wmwp(losses, beta=0.9)
    with pytest.raises(ValueError, match="beta 1"):
        wmwp(np.ones((3, 2, 2)), beta=1.0)
    with pytest.raises(ValueError, match="epsilon"):
        fpl(np.ones((3, 2, 2)), epsilon=0.0)
    with pytest.raises(ValueError, match="examples, positions, experts"):
        wmwp(np.ones((3, 2)), beta=0.9)
    with pytest.raises(ValueError, match="delta"):
        randomised(wmwp(np.ones((3, 2, 2)), beta=0.9), delta=0.0)
    with pytest.raises(ValueError, match="above 0"):
        wmwp(np.ones((3, 2, 2)), beta=0.9, bound=0.0)
