"""A bus line's telephone service, made up: dialogues whose flowchart is known.

After the paper's BusTime corpus (its section 2): the system asks for a route, the places of
departure and arrival and, perhaps, the time, confirms what it has not understood well, answers, and
asks what else it can do; system and user alternate. Every word of every turn is, with the
probability ``noise``, replaced by a word drawn from the whole vocabulary, as a speech recogniser
might hear it. What is to be found again are the states and which follows which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rhetorica.dialogue import Dialogue, DialogueModel, Turn
from rhetorica.dialogue.flow import END, START
from rhetorica.dialogue.merge import Groups
from rhetorica.dialogue.model import match_labels

THRESHOLD = 0.05
"""An edge belongs to the flow if it is at least so probable; every true one is twice as much."""


@dataclass(frozen=True, slots=True)
class Step:
    """A state of the service: who speaks, what may be said, what may follow."""

    speaker: str
    sentences: tuple[str, ...]
    after: dict[str, float]


FLOW: dict[str, Step] = {
    "welcome": Step(
        "System",
        (
            "welcome to the bus information line how may i help you",
            "hello this is the bus information service how can i help you today",
        ),
        {"request": 1.0},
    ),
    "request": Step(
        "User",
        (
            "i need a bus schedule",
            "i would like to know when my bus comes",
            "schedule information please",
        ),
        {"ask route": 0.75, "ask departure": 0.25},
    ),
    "ask route": Step(
        "System",
        (
            "say a route like <route> or say i am not sure",
            "which route do you want you can say <route> or not sure",
        ),
        {"route": 1.0},
    ),
    "route": Step(
        "User",
        ("<route>", "the <route> line", "route number <route> please", "i think it is <route>"),
        {"confirm route": 0.6, "ask departure": 0.4},
    ),
    "confirm route": Step(
        "System",
        (
            "i thought you said <route> is that right",
            "the route <route> did i get that right",
        ),
        {"yes": 0.75, "no": 0.25},
    ),
    "ask departure": Step(
        "System",
        (
            "say where you are leaving from like <place>",
            "tell me the stop where you want to get on the bus",
        ),
        {"place": 1.0},
    ),
    "place": Step(
        "User",
        ("<place>", "from <place>", "at the corner of <place> and <place>", "near <place>"),
        {"confirm place": 0.5, "ask arrival": 0.3, "ask time": 0.2},
    ),
    "confirm place": Step(
        "System",
        (
            "okay <place> is this the right stop",
            "did you mean the stop at <place>",
        ),
        {"yes": 0.7, "no": 0.3},
    ),
    "yes": Step(
        "User",
        ("yes", "yes that is correct", "right", "yeah correct"),
        {"ask departure": 0.3, "ask arrival": 0.35, "ask time": 0.35},
    ),
    "no": Step(
        "User",
        ("no", "no that is wrong", "wrong", "not at all"),
        {"ask route": 0.5, "ask departure": 0.5},
    ),
    "ask arrival": Step(
        "System",
        (
            "where are you going to",
            "what is your destination today",
        ),
        {"destination": 1.0},
    ),
    "destination": Step(
        "User",
        ("to <place>", "i am going to <place>", "my destination is <place>", "downtown"),
        {"confirm place": 0.4, "ask time": 0.6},
    ),
    "ask time": Step(
        "System",
        (
            "when would you like to travel",
            "at what time do you want to leave now or later",
        ),
        {"time": 1.0},
    ),
    "time": Step(
        "User",
        ("now", "at <time>", "tomorrow at <time>", "the next one leaving after <time>"),
        {"answer": 1.0},
    ),
    "answer": Step(
        "System",
        (
            "the next <route> leaves <place> at <time> and arrives at <place> at <time>",
            "there is a <route> from <place> to <place> departing at <time>",
        ),
        {"another": 0.35, "goodbye": 0.65},
    ),
    "another": Step(
        "User",
        ("when is the following bus", "and the one after that", "give me the previous bus"),
        {"answer": 1.0},
    ),
    "goodbye": Step(
        "User",
        ("goodbye", "thank you bye", "thanks that is all"),
        {END: 1.0},
    ),
}
BEGIN = "welcome"

Edges = frozenset[tuple[str, str]]


def true_edges() -> Edges:
    """Return which state may follow which, beginning and end included."""
    inside = {(name, after) for name, step in FLOW.items() for after in step.after}
    return frozenset({(START, BEGIN)} | inside)


def bus_dialogues(count: int, *, noise: float = 0.3, seed: int = 0) -> list[Dialogue]:
    """Make dialogues; the name of each turn's state stands in its acts.

    >>> [turn.act for turn in bus_dialogues(1)[0].turns][:3]
    ['welcome', 'request', 'ask route']
    """
    rng = np.random.default_rng(seed)
    vocabulary = sorted(
        {word for step in FLOW.values() for text in step.sentences for word in text.split()}
    )
    found = []
    for number in range(count):
        turns, name = [], BEGIN
        while name != END:
            step = FLOW[name]
            words = step.sentences[rng.integers(len(step.sentences))].split()
            heard = [
                vocabulary[rng.integers(len(vocabulary))] if rng.random() < noise else word
                for word in words
            ]
            turns.append(Turn(step.speaker, " ".join(heard), (name,)))
            name = str(rng.choice(list(step.after), p=list(step.after.values())))
        found.append(Dialogue(f"bus-{number}", tuple(turns)))
    return found


@dataclass(frozen=True, slots=True)
class Found:
    """How much of the true flow a model has found."""

    precision: float
    recall: float
    states: float
    """The share of turns whose state has the name of theirs."""

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall of edges."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def edges_found(
    model: DialogueModel,
    dialogues: Sequence[Dialogue],
    *,
    threshold: float = THRESHOLD,
    one_to_one: bool = False,
    groups: Groups = (),
) -> Found:
    """Compare a model's flow with the true one, after its states got true states' names.

    A state has the name of the true one that most of its turns are in; several states with one name
    are taken together (a model may well have a state for each way to say a thing). With
    ``one_to_one``, states are matched so that as many turns as possible are in the right one, and a
    state that is left over keeps a name of its own: all its edges are wrong. States that no turn is
    in are no part of the flow. States in one of the ``groups`` count as one.
    """
    names = list(FLOW)
    gold = [names.index(turn.act) for dialogue in dialogues for turn in dialogue.turns]
    said = [state for applied in model.apply(dialogues, groups) for state in applied.states]
    p, size = model.parameters, model.parameters.n_states
    used = sorted(set(said))
    called = [f"extra {state}" for state in range(size)]
    if one_to_one:
        matched = match_labels(np.array(gold), np.array(said), max(len(names), size))
        for k, state in enumerate(matched[: len(names)]):
            if state < size:
                called[state] = names[k]
    else:
        table = np.zeros((size, len(names)), np.int64)
        np.add.at(table, (said, gold), 1)
        for state in used:
            called[state] = names[int(table[state].argmax())]
    for first, *others in groups:
        for state in others:
            called[state] = called[first]
    used = sorted({*used, *(s for group in groups for s in group if group[0] in used)})
    # Rows: how often each state is left for each, and for the end; then by names.
    flows: dict[tuple[str, str], float] = {}
    for s in used:
        for t in used:
            key = (called[s], called[t])
            flows[key] = flows.get(key, 0.0) + float(p.occupancy[s] * p.steps[s, t])
        key = (called[s], END)
        flows[key] = flows.get(key, 0.0) + float(p.occupancy[s] * p.ends[s])
        key = (START, called[s])
        flows[key] = flows.get(key, 0.0) + float(p.begins[s])
    totals: dict[str, float] = {}
    for (source, _), flow in flows.items():
        totals[source] = totals.get(source, 0.0) + flow
    edges = {key for key, flow in flows.items() if flow >= threshold * totals[key[0]]}
    true = true_edges()
    right = len(edges & true)
    same = sum(called[state] == names[k] for state, k in zip(said, gold, strict=True))
    return Found(right / max(1, len(edges)), right / len(true), same / len(gold))
