"""Model -> flow: states with names, words and examples, and what leads where; as text formats.

Pictures of it are drawn by `rhetorica.render.flow`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from rhetorica.dialogue.gibbs import Floats
from rhetorica.dialogue.merge import Groups
from rhetorica.dialogue.model import DialogueModel, typical_turns
from rhetorica.dialogue.prepare import Preparation
from rhetorica.dialogue.types import Dialogue, Turn

START, END = "start", "end"


@dataclass(frozen=True, slots=True)
class FlowState:
    """A state: what it is called, how often it occurs, what is said in it.

    ``words`` are the most telling ones with their probabilities in the state. ``place`` is when it
    comes, on average, in turns from the beginning. ``topics`` are the states' main topics in
    tm-hmm, each with its share and its most likely words. ``others`` are states that were merged
    with it.
    """

    number: int
    name: str
    share: float
    place: float
    words: tuple[tuple[str, float], ...]
    examples: tuple[str, ...] = ()
    speaker: str = ""
    topics: tuple[tuple[float, tuple[str, ...]], ...] = ()
    others: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """That one state follows another, with this probability; "start" and "end" are outside."""

    source: int | str
    target: int | str
    probability: float


@dataclass(frozen=True, slots=True)
class Flow:
    """The flowchart behind dialogues."""

    title: str
    states: tuple[FlowState, ...]
    edges: tuple[Edge, ...]

    def above(self, threshold: float) -> tuple[Edge, ...]:
        """Return the edges that are at least so probable, most probable first."""
        kept = [edge for edge in self.edges if edge.probability >= threshold]
        return tuple(sorted(kept, key=lambda edge: -edge.probability))

    def to_json(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        return asdict(self)

    def to_mermaid(self, threshold: float = 0.1) -> str:
        """Write the flow for Mermaid, which many wikis and Markdown viewers draw."""
        lines = ["flowchart TD", "  start((start))", "  end_((end))"]
        for state in self.states:
            label = state.name.replace('"', "'").replace("<", "‹").replace(">", "›")
            lines.append(f'  s{state.number}["{state.number + 1}. {label}"]')
        for edge in self.above(threshold):
            source, target = _node(edge.source, "end_"), _node(edge.target, "end_")
            lines.append(f"  {source} -->|{edge.probability:.2f}| {target}")
        return "\n".join(lines) + "\n"

    def to_dot(self, threshold: float = 0.1) -> str:
        """Write the flow for Graphviz."""
        lines = ["digraph flow {", "  node [shape=box, style=rounded];"]
        lines += ["  start [shape=circle];", "  end [shape=doublecircle];"]
        for state in self.states:
            words = ", ".join(word for word, _ in state.words[:5])
            label = _quoted(f"{state.number + 1}. {state.name}") + "\\n" + _quoted(words)
            lines.append(f'  s{state.number} [label="{label}"];')
        for edge in self.above(threshold):
            width = 0.5 + 4 * edge.probability
            lines.append(
                f"  {_node(edge.source)} -> {_node(edge.target)} "
                f'[label="{edge.probability:.2f}", penwidth={width:.1f}];'
            )
        return "\n".join([*lines, "}", ""])


def _node(name: int | str, end: str = "end") -> str:
    if name == END:
        return end
    return START if name == START else f"s{name}"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def flow_of(
    model: DialogueModel,
    dialogues: Iterable[Dialogue] = (),
    *,
    words: int = 8,
    examples: int = 3,
    title: str = "",
    groups: Groups = (),
) -> Flow:
    """Make a model's flow; names and examples are of these dialogues, else of those it is from.

    States in one of the ``groups`` (see `DialogueModel.groups`) become one, called by the first.
    """
    p = model.parameters
    vocabulary = model.lexicon.words
    given = model.apply(dialogues)
    typical = model.examples
    if given:
        typical = typical_turns(
            model.preparation,
            [turn for applied in given for turn in applied.dialogue.turns],
            [state for applied in given for state in applied.states],
        )
    # States that no turn is in are no part of the flow.
    used = [s for s in range(p.n_states) if typical.get(s)]
    merged = {group[0]: [s for s in group if s in typical] for group in groups}
    joined = {s for group in groups for s in group}
    members = {s: [s] for s in used if s not in joined} | {k: v for k, v in merged.items() if v}
    numbers = sorted(members)
    rows = [members[k] for k in numbers]
    # Each group's share of its states: what is true of it is their mean.
    shares = np.zeros((len(rows), p.n_states))
    for k, row in enumerate(rows):
        shares[k, row] = p.occupancy[row] / p.occupancy[row].sum()
    says = shares @ p.words
    # A word is telling if it is likely here and less so elsewhere.
    telling = says * np.log(says / (p.occupancy @ p.words))
    places = shares @ expected_places(p.begins, p.steps)
    states = []
    for k, row in enumerate(rows):
        best = np.argsort(-telling[k], kind="stable")[:words]
        # Merged states take turns, so that each wording is seen.
        lists = [typical[s] for s in row]
        turns = [turn for turns in zip_longest(*lists) for turn in turns if turn]
        topics: list[tuple[float, tuple[str, ...]]] = []
        if p.mixtures.size:
            mixture = shares[k] @ p.mixtures
            for topic in np.argsort(-mixture, kind="stable")[:3]:
                top = np.argsort(-p.topics[topic], kind="stable")[:5]
                topics.append((float(mixture[topic]), tuple(vocabulary[w] for w in top)))
        states.append(
            FlowState(
                numbers[k],
                _short(shown(turns[0], model.preparation)),
                float(p.occupancy[row].sum()),
                float(places[k]),
                tuple((vocabulary[w], float(says[k, w])) for w in best),
                tuple(turn.text for turn in turns[: max(examples, len(row) if examples else 0)]),
                _speaker(turns),
                tuple(topics),
                tuple(s for s in row if s != numbers[k]),
            )
        )
    edges = [
        Edge(START, s, float(p.begins[row].sum())) for s, row in zip(numbers, rows, strict=True)
    ]
    for k, s in enumerate(numbers):
        leads = shares[k] @ p.steps
        edges += [Edge(s, t, float(leads[row].sum())) for t, row in zip(numbers, rows, strict=True)]
        edges.append(Edge(s, END, float(shares[k] @ p.ends)))
    facts = f"{model.settings.model}, {len(rows)} states"
    return Flow(title or facts, tuple(states), tuple(edges))


def expected_places(begins: Floats, steps: Floats) -> Floats:
    """Return how many turns come before a state's occurrences, on average.

    >>> expected_places(np.array([1.0, 0.0]), np.array([[0.0, 1.0], [0.0, 0.0]])).tolist()
    [0.0, 1.0]
    """
    visits, moments = np.zeros(len(begins)), np.zeros(len(begins))
    now = begins
    for turn in range(1000):
        visits, moments = visits + now, moments + turn * now
        now = now @ steps
        if now.sum() < 1e-6:
            break
    return np.asarray(moments / np.maximum(visits, 1e-12))


def shown(turn: Turn, preparation: Preparation) -> str:
    """Return a turn's text with its entities as types."""
    text = " ".join(preparation.typed(turn).split())
    return re.sub(r"(<[^<>\s]+>) (?=[.,;:!?])", r"\1", text)


def _short(text: str, longest: int = 60) -> str:
    if len(text) <= longest:
        return text
    return text[:longest].rsplit(" ", 1)[0] + " …"


def _speaker(turns: Sequence[Turn]) -> str:
    """Name who speaks, if it is always the same."""
    voices = {turn.speaker for turn in turns}
    return voices.pop() if len(voices) == 1 else ""
