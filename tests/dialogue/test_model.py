"""Models whole: planted structure is found, chains agree, folders keep everything."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rhetorica.dialogue import (
    KINDS,
    Dialogue,
    DialogueModel,
    Entity,
    Preparation,
    Priors,
    Settings,
    Turn,
    agreement,
    choose_states,
    fit,
    flow_of,
    kendall_tau,
)
from rhetorica.dialogue.flow import shown
from rhetorica.dialogue.model import match_labels, typical_turns
from rhetorica.errors import ModelError, RhetoricaError, UnknownName
from rhetorica.progress import Event, Tell
from rhetorica.reproduce.bus import FLOW, bus_dialogues, edges_found, true_edges

CYCLE = {"a": "red green blue", "b": "cat dog cow", "c": "one two three"}
"""Three states that follow one another, each with words of its own."""


def planted(count: int, seed: int = 0) -> list[Dialogue]:
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        turns = []
        for k in range(6):
            name = "abc"[k % 3]
            words = rng.choice(CYCLE[name].split(), 4).tolist()
            if rng.random() < 0.3:
                words.append(["tea", "ale"][number % 2])
            turns.append(Turn("AB"[k % 2], " ".join(words), (name,)))
        found.append(Dialogue(f"d{number}", tuple(turns)))
    return found


TRAIN, TEST = planted(30), planted(8, seed=1)


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest) -> DialogueModel:
    return fit(TRAIN, Settings(model=request.param, states=3, topics=4, sweeps=60, chains=2))


def test_planted_states_are_found(model: DialogueModel) -> None:
    scores = model.score(TEST, orders=20)
    assert scores["v_measure"] > 0.9
    # Each state comes twice in a dialogue: turns of one state may well change places.
    assert scores["kendall_tau"] > 0.6
    assert scores["log_likelihood_per_word"] > -1.6  # about log(1/3), and a rare word
    assert scores["words"] == sum(len(t.text.split()) for d in TEST for t in d.turns)


def test_a_folder_keeps_everything(model: DialogueModel, tmp_path: Path) -> None:
    model.save(tmp_path / "m")
    again = DialogueModel.load(tmp_path / "m")
    assert again.settings == model.settings
    assert again.score(TEST, orders=5) == model.score(TEST, orders=5)
    assert flow_of(again) == flow_of(model)


def test_the_same_seed_gives_the_same_model(model: DialogueModel) -> None:
    settings = replace(model.settings, priors=Priors())
    again = fit(TRAIN, settings)
    assert np.array_equal(again.parameters.words, model.parameters.words)


def test_states_have_probabilities(model: DialogueModel) -> None:
    for applied in model.apply(TEST[:3]):
        assert applied.probabilities.shape == (6, 3)
        assert applied.probabilities.sum(axis=1) == pytest.approx(1)
        assert applied.states == tuple(applied.probabilities.argmax(axis=1))


def test_distributions_are_distributions(model: DialogueModel) -> None:
    p = model.parameters
    assert p.begins.sum() == pytest.approx(1)
    assert p.steps.sum(axis=1) + p.ends == pytest.approx(1)
    assert p.words.sum(axis=1) == pytest.approx(1)
    for rows in (p.topics, p.mixtures, p.shares):
        assert not rows.size or rows.sum(axis=1) == pytest.approx(1)


def test_states_that_nothing_is_in_are_no_part_of_the_flow() -> None:
    found = fit(TRAIN, Settings(model="lm-hmm", states=30, sweeps=40))
    flow = flow_of(found)
    used = {state.number for state in flow.states}
    assert used == set(found.examples)
    assert len(used) < 30
    assert {edge.source for edge in flow.edges} == used | {"start"}
    assert all(state.name and state.examples for state in flow.states)


def test_typical_is_what_is_short_and_like_the_others() -> None:
    said = [
        "Yes, that is correct.",
        "yes that is right",
        "Correct, yes.",
        "Yes, that is correct, and by the way could you tell me what time the concert in Rome is?",
        "Where to?",
        "!",
    ]
    found = typical_turns(Preparation(), [Turn("A", text) for text in said], [0, 0, 0, 0, 1, 1])
    assert found[0][0].text == "Yes, that is correct."
    assert found[0][-1].text == said[3]
    assert [turn.text for turn in found[1]] == ["Where to?"]  # what has no words names nothing


def test_names_show_types_for_what_differs() -> None:
    turn = Turn("A", "Leave  Rome at 5 pm, ok?", (), (Entity(7, 11, "city"),))
    assert shown(turn, Preparation()) == "Leave <city> at <time>, ok?"
    assert shown(turn, Preparation(entities=False, rules=False)) == "Leave Rome at 5 pm, ok?"


def test_chains_are_averaged_after_matching() -> None:
    settings = Settings(model="lm-hmm", states=3, sweeps=40, chains=3, average=True)
    found = fit(TRAIN, settings)
    # Unmatched, states would be blurred into one another.
    assert found.parameters.words.max() > 0.28
    assert found.score(TEST, orders=0)["v_measure"] > 0.9


def test_labels_are_matched_whatever_their_numbers() -> None:
    reference = np.repeat(np.arange(4), 5)
    renumbered = np.array([2, 0, 3, 1])[reference]
    renumbered[0] = 0
    assert match_labels(reference, renumbered, 4).tolist() == [2, 0, 3, 1]


def test_speakers_can_tell_states_apart() -> None:
    """The same words by two people are two states if states know speakers."""
    chats = [
        Dialogue(f"{k}", tuple(Turn("AB"[i % 2], "yes yes", ("AB"[i % 2],)) for i in range(6)))
        for k in range(20)
    ]
    settings = Settings(model="lm-hmm", states=2, sweeps=40, chains=3, speakers=True)
    assert fit(chats, settings).score(chats, orders=0)["v_measure"] > 0.95


def test_the_number_of_states_is_chosen_on_what_is_held_out() -> None:
    settings = Settings(model="lm-hmm", sweeps=30)
    best, figures = choose_states(TRAIN, [1, 3], settings)
    assert best == 3
    assert figures[3] > figures[1] + 0.3


class Stop(Exception):
    """What interrupts a fit."""


def stops(name: str, sweep: int) -> Tell:
    def tell(event: Event) -> None:
        if (event.what, event.at) == (name, sweep):
            raise Stop

    return tell


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("chain", [1, 2])
def test_an_interrupted_fit_goes_on_as_if_it_had_not_been(
    chain: int, average: bool, tmp_path: Path
) -> None:
    settings = Settings(states=3, topics=2, sweeps=20, samples=5, chains=2, average=average)
    whole = fit(TRAIN, settings)
    path = tmp_path / "checkpoint.npz"
    with pytest.raises(Stop):
        fit(TRAIN, settings, checkpoint=path, every=4, tell=stops(f"chain {chain}", 10))
    started: list[Event] = []
    resumed = fit(TRAIN, settings, checkpoint=path, every=4, tell=started.append)
    assert (started[0].what, started[0].at) == (f"chain {chain}", 8)
    assert not path.exists()
    assert resumed.log_joint == whole.log_joint
    assert resumed.settings == whole.settings
    for item in fields(resumed.parameters):
        ours = getattr(resumed.parameters, item.name)
        assert np.array_equal(ours, getattr(whole.parameters, item.name)), item.name


def test_a_checkpoint_of_something_else_is_not_used(tmp_path: Path) -> None:
    settings = Settings(states=3, topics=2, sweeps=20, samples=5)
    path = tmp_path / "checkpoint.npz"
    with pytest.raises(Stop):
        fit(TRAIN, settings, checkpoint=path, every=4, tell=stops("sweeps", 10))
    data = path.read_bytes()
    for dialogues, other, content in (
        (TRAIN, replace(settings, seed=1), data),
        (TRAIN[1:], settings, data),
        (TRAIN, settings, data[: len(data) // 2]),
    ):
        path.write_bytes(content)
        seen: list[Event] = []
        fit(dialogues, other, checkpoint=path, every=4, tell=seen.append)
        assert seen[0].at == 5


def test_one_turn_and_turns_without_known_words_will_do() -> None:
    model = fit(TRAIN, Settings(model="tm-hmmss", states=3, topics=2, sweeps=10, samples=2))
    odd = [Dialogue("x", (Turn("A", "hm"),)), Dialogue("y", (Turn("C", "red"), Turn("A", "!")))]
    scores = model.score(odd)
    assert (scores["unknown_words"], scores["words"]) == (1, 1)
    assert "kendall_tau" not in scores  # too short to be put into another order
    assert "v_measure" not in scores  # no acts to agree with


def test_what_cannot_be_learned_is_refused() -> None:
    with pytest.raises(UnknownName, match="tm-hmmss"):
        Settings(model="tm-hmmsss")
    with pytest.raises(RhetoricaError, match="states is 0"):
        Settings(states=0)
    with pytest.raises(RhetoricaError, match="prior 'word' is 0"):
        Priors(word=0)
    with pytest.raises(RhetoricaError, match="no dialogue has 1 turns"):
        fit([])


def test_a_damaged_folder_is_refused(tmp_path: Path) -> None:
    fit(TRAIN, Settings(model="lm-hmm", states=2, sweeps=3, samples=1)).save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    del config["settings"]["preparation"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="cannot load"):
        DialogueModel.load(tmp_path)


def test_agreement_by_hand() -> None:
    # Two groups of three; one of the second class is in the first group.
    found = agreement([0, 0, 0, 1, 1], ["a", "a", "b", "b", "b"])
    assert found.purity == pytest.approx(0.8)
    assert found.adjusted_rand == pytest.approx((2 - 1.6) / (4 - 1.6))
    assert found.v_measure == pytest.approx(found.homogeneity)  # the table is symmetric
    assert agreement([1, 1], ["a", "a"]).v_measure == 1.0
    assert agreement([0, 1, 0, 1], ["a", "a", "b", "b"]).v_measure == pytest.approx(0, abs=1e-12)
    assert kendall_tau([3, 2, 1, 0]) == -1


def test_the_planted_bus_flow_is_what_it_says() -> None:
    names = {name for edge in true_edges() for name in edge}
    assert names == {*FLOW, "start", "end"}
    assert all(sum(step.after.values()) == pytest.approx(1) for step in FLOW.values())
    assert min(chance for step in FLOW.values() for chance in step.after.values()) >= 0.1
    dialogues = bus_dialogues(200, seed=3)
    seen = {(a.act, b.act) for d in dialogues for a, b in pairwise(d.turns)}
    assert seen == {edge for edge in true_edges() if not {"start", "end"} & set(edge)}
    model = fit(dialogues, Settings(model="lm-hmm", states=30, sweeps=60, speakers=True))
    assert edges_found(model, dialogues).f1 > 0.8
    # With a name for each of 30 states, many edges cannot be right; merged, they can.
    apart = edges_found(model, dialogues, one_to_one=True)
    merged = edges_found(model, dialogues, one_to_one=True, groups=model.groups())
    assert apart.precision < 0.6
    assert merged.f1 > max(0.8, apart.f1)
    assert abs(len(model.groups()) - len(FLOW)) <= 3
