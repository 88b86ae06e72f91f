"""Model -> flow: states with names, words and examples, and what leads where; as text formats.

Pictures of it are drawn by `rhetorica.render.flow`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rhetorica.dialogue.gibbs import Floats
from rhetorica.dialogue.model import DialogueModel, typical_turns
from rhetorica.dialogue.prepare import Preparation
from rhetorica.dialogue.types import Dialogue, Turn

START, END = "start", "end"


@dataclass(frozen=True, slots=True)
class FlowState:
    """A state: what it is called, how often it occurs, what is said in it.

    ``words`` are the most telling ones with their probabilities in the state. ``place`` is when it
    comes, on average, in turns from the beginning. ``topics`` are the states' main topics in
    tm-hmm, each with its share and its most likely words.
    """

    number: int
    name: str
    share: float
    place: float
    words: tuple[tuple[str, float], ...]
    examples: tuple[str, ...] = ()
    speaker: str = ""
    topics: tuple[tuple[float, tuple[str, ...]], ...] = ()


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
) -> Flow:
    """Make a model's flow; names and examples are of these dialogues, else of those it is from."""
    p = model.parameters
    vocabulary = model.lexicon.words
    marginal = p.occupancy @ p.words
    # A word is telling if it is likely here and less so elsewhere.
    telling = p.words * np.log(p.words / marginal)
    given = model.apply(dialogues)
    typical = model.examples
    if given:
        typical = typical_turns(
            p,
            model.lexicon,
            model.preparation,
            [turn for applied in given for turn in applied.dialogue.turns],
            [state for applied in given for state in applied.states],
        )
    places = expected_places(p.begins, p.steps)
    # States that no turn is in are no part of the flow.
    kept = [s for s in range(p.n_states) if typical.get(s)]
    states = []
    for s in kept:
        best = np.argsort(-telling[s], kind="stable")[:words]
        found = [(vocabulary[w], float(p.words[s, w])) for w in best]
        turns = typical[s]
        topics: list[tuple[float, tuple[str, ...]]] = []
        if p.mixtures.size:
            for k in np.argsort(-p.mixtures[s], kind="stable")[:3]:
                top = np.argsort(-p.topics[k], kind="stable")[:5]
                topics.append((float(p.mixtures[s, k]), tuple(vocabulary[w] for w in top)))
        states.append(
            FlowState(
                s,
                _short(shown(turns[0], model.preparation)),
                float(p.occupancy[s]),
                float(places[s]),
                tuple(found),
                tuple(turn.text for turn in turns[:examples]),
                _speaker(turns),
                tuple(topics),
            )
        )
    edges = [Edge(START, s, float(p.begins[s])) for s in kept]
    for s in kept:
        edges += [Edge(s, t, float(p.steps[s, t])) for t in kept]
        edges.append(Edge(s, END, float(p.ends[s])))
    facts = f"{model.settings.model}, {len(kept)} states"
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
    """Return a turn's text with its annotated entities as types."""
    text = turn.text
    if preparation.entities:
        for start, end, type_ in reversed(turn.entities):
            text = f"{text[:start]}<{type_}>{text[end:]}"
    return " ".join(text.split())


def _short(text: str, longest: int = 60) -> str:
    if len(text) <= longest:
        return text
    return text[:longest].rsplit(" ", 1)[0] + " …"


def _speaker(turns: Sequence[Turn]) -> str:
    """Name who speaks, if it is always the same."""
    voices = {turn.speaker for turn in turns}
    return voices.pop() if len(voices) == 1 else ""
