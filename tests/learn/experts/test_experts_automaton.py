"""Path experts against the enumeration of all paths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_tools import FIGURE_2, automata, paths_of, random_automaton
from rhetorica.learn.experts import Automaton


def test_full_automaton_has_every_sequence() -> None:
    full = Automaton.full(2, 3)
    found = {tuple(path) for path, _ in paths_of(full)}
    assert found == {(a, b, c) for a in range(2) for b in range(2) for c in range(2)}
    assert full.is_full
    assert full.count() == 8


def test_given_automaton_has_its_sequences_only() -> None:
    automaton = Automaton.of(FIGURE_2, 3)
    assert not automaton.is_full
    assert automaton.count() == len(paths_of(automaton)) == 4
    assert {tuple(path) for path, _ in paths_of(automaton)} == {
        (0, 0, 2),
        (0, 1, 1),
        (2, 0, 2),
        (2, 2, 1),
    }


@given(automata(), st.integers(0, 1000))
def test_operations_agree_with_enumeration(automaton: Automaton, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(2, len(automaton.sources)))
    found = paths_of(automaton)
    assert automaton.count() == len(found)
    for row in range(2):
        sums = np.array([weights[row, edges].sum() for _, edges in found])
        shares = np.exp(sums) / np.exp(sums).sum()
        pushed, total = automaton.push(weights)
        assert total[row] == pytest.approx(np.log(np.exp(sums).sum()))
        # Pushed weights: the product along a path is its probability,
        again = np.array([np.exp(pushed[row, edges].sum()) for _, edges in found])
        assert again == pytest.approx(shares)
        # and they add up to one out of every state.
        for state in range(len(automaton.levels) - 1):
            assert np.exp(pushed[row, automaton.sources == state]).sum() == pytest.approx(1)
        expected = np.zeros(len(automaton.sources))
        for (_, edges), share in zip(found, shares, strict=True):
            expected[edges] += share
        assert automaton.marginals(weights)[row] == pytest.approx(expected)
        path, best = automaton.best(weights)
        assert best[row] == pytest.approx(sums.max())
        assert tuple(path[row]) == tuple(found[int(sums.argmax())][0])


@given(automata(), st.integers(0, 1000))
def test_table_and_edges_keep_sums_of_paths(automaton: Automaton, seed: int) -> None:
    table = np.random.default_rng(seed).random((automaton.length, automaton.n_experts))
    edges = automaton.edges(table)
    marginals = automaton.marginals(np.zeros(len(edges)))
    by_edge = (marginals * edges).sum()
    assert by_edge == pytest.approx((automaton.table(marginals) * table).sum())
    assert automaton.table(marginals).sum(axis=1) == pytest.approx(np.ones(automaton.length))


def test_samples_follow_the_distribution() -> None:
    rng = np.random.default_rng(1)
    automaton = random_automaton(rng, 2, 3)
    weights = rng.normal(size=len(automaton.sources))
    pushed, _ = automaton.push(weights)
    drawn = automaton.sample(pushed, 20000, rng)
    for path, edges in paths_of(automaton):
        share = np.exp(pushed[edges].sum())
        found = (drawn == np.array(path)).all(axis=1).mean()
        assert found == pytest.approx(share, abs=4 * np.sqrt(share / 20000))


@pytest.mark.parametrize(
    ("transitions", "why"),
    [
        ([], "without transitions"),
        ([(0, 1, 5)], "expert 5"),
        ([(0, 1, 0), (0, 2, 0), (1, 3, 0), (2, 3, 0)], "two transitions leave state 0"),
        ([(0, 1, 0), (1, 2, 0), (0, 2, 1)], "reached after"),
        ([(0, 1, 0), (1, 0, 0)], "none"),
        ([(0, 1, 0), (0, 2, 1)], r"\[1, 2\]"),
        ([(0, 1, 0), (4, 1, 1)], r"no path from state 0 reaches: \[4\]"),
        ([(0, 1, 0), (1, 1, 1), (1, 2, 0)], "reached after"),
    ],
)
def test_what_is_no_automaton_is_named(transitions: list[tuple[int, int, int]], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Automaton.of(transitions, 2)


def test_table_of_another_shape_is_an_error() -> None:
    with pytest.raises(ValueError, match="positions and experts"):
        Automaton.full(2, 3).edges(np.zeros((2, 2)))
