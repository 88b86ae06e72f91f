"""Small automata, all their paths, and generated tables of experts."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from rhetorica.learn.experts import MISSING, Automaton, Table

# Four of the 27 sequences of three experts.
FIGURE_2 = [
    *[(0, 1, 0), (0, 2, 2), (1, 3, 0), (1, 4, 1), (2, 3, 0), (2, 4, 2)],
    *[(3, 5, 2), (4, 5, 1)],
]


def paths_of(automaton: Automaton) -> list[tuple[tuple[int, ...], list[int]]]:
    """All paths: their experts, and their transitions."""
    found = []
    pending: list[tuple[int, tuple[int, ...], list[int]]] = [(0, (), [])]
    while pending:
        state, experts, edges = pending.pop()
        if state == len(automaton.levels) - 1:
            found.append((experts, edges))
            continue
        for edge in np.flatnonzero(automaton.sources == state):
            step = (*experts, int(automaton.experts[edge]))
            pending.append((int(automaton.targets[edge]), step, [*edges, int(edge)]))
    return found


def random_automaton(rng: np.random.Generator, width: int, length: int) -> Automaton:
    """Up to ``width`` states a level, three experts; what lies on no path is left out."""
    states = [[0]]
    for level in range(1, length):
        states.append([level * 10 + i for i in range(width)])
    states.append([length * 10])
    arcs = set()
    for here, there in itertools.pairwise(states):
        for source in here:
            for expert in range(3):
                if rng.random() < 0.7 or expert == 0:
                    arcs.add((source, int(rng.choice(there)), expert))
    reached = {0}
    for source, target, _ in sorted(arcs):
        if source in reached:
            reached.add(target)
    return Automaton.of([arc for arc in arcs if arc[0] in reached], 3)


@st.composite
def automata(draw: st.DrawFn) -> Automaton:
    seed, length = draw(st.integers(0, 10_000)), draw(st.integers(1, 4))
    if draw(st.booleans()):
        return Automaton.full(draw(st.integers(1, 3)), length)
    return random_automaton(np.random.default_rng(seed), draw(st.integers(1, 3)), length)


def random_table(
    rng: np.random.Generator,
    examples: int,
    length: int,
    experts: int,
    *,
    missing: float = 0.0,
    symbols: int = 4,
) -> Table:
    """Experts that are right more often than not, at different positions."""
    truth = rng.integers(symbols, size=(examples, length))
    accuracy = rng.uniform(0.3, 0.95, size=(length, experts))
    right = rng.random((examples, length, experts)) < accuracy
    said = np.where(right, truth[..., None], rng.integers(symbols, size=right.shape))
    said[rng.random(said.shape) < missing] = MISSING
    return Table(said, truth)
