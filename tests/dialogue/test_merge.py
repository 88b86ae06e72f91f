"""Merging states: gains are those of the probability written out, wordings of one step join."""

from __future__ import annotations

from math import lgamma
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rhetorica.dialogue import Dialogue, DialogueModel, Settings, Turn, agreement, fit, flow_of
from rhetorica.dialogue.merge import Groups, Merge, count_transitions, groups_after, merges
from rhetorica.errors import RhetoricaError


def urn(counts: list[int], prior: float) -> float:
    """Return the log probability of draws from an urn that is filled up after each."""
    room = len(counts) * prior
    cells = sum(lgamma(n + prior) - lgamma(prior) for n in counts)
    return lgamma(room) - lgamma(room + sum(counts)) + cells


def log_probability(sequences: list[list[int]], groups: Groups, prior: float) -> float:
    """Return that of the sequences: a group after a group, a state by its group."""
    of = {state: k for k, group in enumerate(groups) for state in group}
    size = len(groups)
    table = np.zeros((size + 1, size + 1), int)
    for states in sequences:
        steps = [size, *(of[state] for state in states), size]
        np.add.at(table, (steps[:-1], steps[1:]), 1)
    total = urn(table[size, :size].tolist(), prior)
    total += sum(urn(table[k].tolist(), prior) for k in range(size))
    times = np.bincount([state for states in sequences for state in states], minlength=99)
    return total + sum(urn([int(times[state]) for state in group], 1.0) for group in groups)


def flat(sequences: list[list[int]], size: int) -> NDArray[np.int64]:
    ends = np.cumsum([0, *(len(states) for states in sequences)])
    return count_transitions([s for states in sequences for s in states], ends, size)


@pytest.mark.parametrize("seed", range(4))
def test_gains_are_those_of_the_probability_written_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Number 3 never occurs.
    sequences = [rng.choice([0, 1, 2, 4, 5], rng.integers(1, 9)).tolist() for _ in range(12)]
    order = merges(flat(sequences, 6), 0.3)
    used = sorted({state for states in sequences for state in states})
    assert len(order) == len(used) - 1
    for count in range(len(used), 1, -1):
        before = groups_after(used, order, count)
        now = log_probability(sequences, before, 0.3)
        tried = []
        for a in range(count):
            for b in range(a + 1, count):
                rest = [group for k, group in enumerate(before) if k not in (a, b)]
                joined = (*rest, before[a] + before[b])
                tried.append(log_probability(sequences, joined, 0.3) - now)
        gain = order[len(used) - count].gain
        assert gain == pytest.approx(max(tried))
        after = groups_after(used, order, count - 1)
        assert log_probability(sequences, after, 0.3) - now == pytest.approx(gain)


def test_wordings_of_one_step_join_and_others_do_not() -> None:
    rng = np.random.default_rng(0)
    # Steps a, b, c in turn; 0 and 1 are wordings of a, 2 and 3 of b; 4 is c.
    wordings = ((0, 1), (2, 3), (4,))
    sequences = [
        [int(rng.choice(wordings[k % 3])) for k in range(rng.integers(4, 10))] for _ in range(50)
    ]
    order = merges(flat(sequences, 5), 0.1)
    assert {frozenset(g) for g in groups_after(range(5), order)} == {
        frozenset(group) for group in wordings
    }
    assert len(groups_after(range(5), order, 1)) == 1
    assert len(groups_after(range(5), order, 9)) == 5


def test_what_cannot_be_merged_is_refused() -> None:
    with pytest.raises(RhetoricaError, match="not 0"):
        groups_after([0, 1], [Merge(0, 1, 1.0)], 0)
    with pytest.raises(RhetoricaError, match="fit the model again"):
        groups_after([0, 1], [])
    assert merges(count_transitions([0, 0], [0, 2], 3), 0.1) == ()
    assert groups_after([0], []) == ((0,),)


SAID = {
    "hello": ("welcome to this line", "good morning who is there"),
    "ask": ("my bus did not come", "where has that train gone"),
    "answer": ("it will be late today", "sorry we have no news"),
}


def chats(count: int) -> list[Dialogue]:
    rng = np.random.default_rng(1)
    return [
        Dialogue(
            f"d{k}",
            tuple(
                Turn("Agent" if act != "ask" else "Client", str(rng.choice(SAID[act])), (act,))
                for act in ("hello", *["ask", "answer"] * rng.integers(1, 4))
            ),
        )
        for k in range(count)
    ]


@pytest.fixture(scope="module")
def model() -> DialogueModel:
    return fit(chats(60), Settings(model="lm-hmm", states=8, sweeps=80, chains=2))


def test_a_model_tells_the_steps_of_its_flow(model: DialogueModel) -> None:
    dialogues = chats(60)
    acts = [turn.act for dialogue in dialogues for turn in dialogue.turns]
    groups = model.groups()
    assert len(groups) == 3
    applied = model.apply(dialogues, groups)
    said = [state for found in applied for state in found.states]
    assert agreement(said, acts).v_measure == pytest.approx(1)
    assert np.allclose(applied[0].probabilities.sum(axis=1), 1)
    apart = model.score(dialogues, orders=0)
    together = model.score(dialogues, orders=0, groups=groups)
    assert together["v_measure"] > apart["v_measure"] + 0.1
    assert together["log_likelihood"] == apart["log_likelihood"]


def test_merged_states_are_one_box(model: DialogueModel) -> None:
    flow = flow_of(model, groups=model.groups(), examples=2)
    assert len(flow.states) == 3
    first = next(s for s in flow.states if any("welcome" in text for text in s.examples))
    # Both wordings are seen, although they are different states.
    assert set(first.examples) >= set(SAID["hello"])
    assert sum(state.share for state in flow.states) == pytest.approx(1, abs=0.01)
    for name in ("start", *(state.number for state in flow.states)):
        leaving = sum(edge.probability for edge in flow.edges if edge.source == name)
        assert leaving == pytest.approx(1, abs=0.02)
    assert max(e.probability for e in flow.edges if e.source == "start") > 0.95


def test_a_folder_keeps_what_was_merged(model: DialogueModel, tmp_path: Path) -> None:
    model.save(tmp_path)
    again = DialogueModel.load(tmp_path)
    assert again.merges == model.merges
    assert again.groups(2) == model.groups(2)
