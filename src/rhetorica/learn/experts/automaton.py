"""Path experts: an acyclic automaton whose transitions carry (position, expert).

A path from the initial to the final state names one expert a position: a *path expert* (Cortes,
Kuznetsov & Mohri 2014, section 3.1). The full automaton (their Figure 1) has one state a position
and allows every mixture; others (Figure 2) allow some mixtures only, for example none that changes
its expert twice.

All weights are logarithms, one a transition (arrays that end in E, the number of transitions);
leading axes are independent weightings. Operations are linear in the automaton:

- `push`: the same distribution over paths, with the weights out of every state adding up to 1
  (weight pushing, Mohri 1997), and the logarithm of the whole sum;
- `marginals`: how probable it is that a path takes a transition;
- `best`: the path of the highest sum; `sample`: paths drawn from pushed weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """States in the order of their level; state 0 is initial, the last one final.

    Transition e leads from ``sources[e]`` to ``targets[e]`` with expert ``experts[e]``; the level
    of its source is its position. Transitions are sorted by source. Made by `full` and `of`.
    """

    n_experts: int
    levels: Ints
    sources: Ints
    targets: Ints
    experts: Ints

    @classmethod
    def full(cls, n_experts: int, length: int) -> Automaton:
        """Allow every sequence of experts: Figure 1.

        >>> Automaton.full(3, 4).count()
        81
        """
        if n_experts < 1 or length < 1:
            raise ValueError(f"{n_experts} experts, {length} positions: at least one of each")
        sources = np.repeat(np.arange(length), n_experts)
        experts = np.tile(np.arange(n_experts), length)
        return cls(n_experts, np.arange(length + 1), sources, sources + 1, experts)

    @classmethod
    def of(cls, transitions: Iterable[tuple[int, int, int]], n_experts: int) -> Automaton:
        """Make an automaton of transitions (source, target, expert); 0 is the initial state.

        Every state must lie on a path from 0 to the one final state, and be reached by paths of
        one length only, so that its position is known; two transitions that leave a state carry
        different experts, so that a sequence of experts is one path.

        >>> stick_or_switch = Automaton.of([(0, 1, 0), (0, 2, 1), (1, 3, 0), (2, 3, 1)], 2)
        >>> stick_or_switch.count()
        2
        """
        arcs = sorted(set(transitions))
        _check_arcs(arcs, n_experts)
        level = _levels(arcs)
        order = sorted(level, key=lambda state: (level[state], state))
        number = {state: at for at, state in enumerate(order)}
        rows = sorted((number[source], expert, number[target]) for source, target, expert in arcs)
        table = np.array(rows, dtype=np.int64)
        levels = np.array([level[state] for state in order], dtype=np.int64)
        return cls(n_experts, levels, table[:, 0], table[:, 2], table[:, 1])

    @property
    def length(self) -> int:
        """Return the number of positions."""
        return int(self.levels[-1])

    @property
    def positions(self) -> Ints:
        """Return the position of every transition."""
        return self.levels[self.sources]

    @property
    def is_full(self) -> bool:
        """Tell whether every sequence of experts is a path."""
        return len(self.levels) == self.length + 1 and len(self.sources) == (
            self.length * self.n_experts
        )

    def count(self) -> int:
        """Return the number of paths."""
        ahead = [0] * (len(self.levels) - 1) + [1]
        for source, target in zip(self.sources[::-1], self.targets[::-1], strict=True):
            ahead[source] += ahead[target]
        return ahead[0]

    def edges(self, table: npt.ArrayLike) -> Floats:
        """Spread a table (..., positions, experts) over the transitions: (..., E)."""
        values = np.asarray(table, dtype=np.float64)
        if values.shape[-2:] != (self.length, self.n_experts):
            raise ValueError(
                f"a table of {values.shape[-2:]} positions and experts; the automaton has "
                f"{(self.length, self.n_experts)}"
            )
        return np.asarray(values[..., self.positions, self.experts])

    def table(self, values: Floats) -> Floats:
        """Add up what transitions (..., E) have in common: (..., positions, experts)."""
        cells = self.positions * self.n_experts + self.experts
        result = np.zeros((*values.shape[:-1], self.length * self.n_experts))
        order = np.argsort(cells, kind="stable")
        unique, starts = np.unique(cells[order], return_index=True)
        result[..., unique] = np.add.reduceat(values[..., order], starts, axis=-1)
        return result.reshape(*values.shape[:-1], self.length, self.n_experts)

    def push(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return log weights that sum to one out of every state, and the log of the whole sum."""
        ahead = self._ahead(weights, np.logaddexp)
        pushed = weights + ahead[..., self.targets] - ahead[..., self.sources]
        return pushed, ahead[..., 0]

    def marginals(self, weights: Floats) -> Floats:
        """Return the probability of every transition: (..., E)."""
        shares = np.exp(self.push(weights)[0])
        reached = np.zeros((*weights.shape[:-1], len(self.levels)))
        reached[..., 0] = 1
        for here in self._slices():
            shares[..., here] *= reached[..., self.sources[here]]
            order = np.argsort(self.targets[here], kind="stable")
            states, starts = np.unique(self.targets[here][order], return_index=True)
            taken = shares[..., here][..., order]
            reached[..., states] = np.add.reduceat(taken, starts, axis=-1)
        return shares

    def best(self, weights: Floats) -> tuple[Ints, Floats]:
        """Return the experts (..., positions) of the best path, and its sum."""
        ahead = self._ahead(weights, np.maximum)
        through = weights + ahead[..., self.targets]
        choice = np.zeros((*weights.shape[:-1], len(self.levels)), dtype=np.int64)
        starts = np.searchsorted(self.sources, np.arange(len(self.levels)))
        for state in range(len(self.levels) - 1):
            start, end = starts[state], starts[state + 1]
            choice[..., state] = start + through[..., start:end].argmax(axis=-1)
        at = np.zeros(weights.shape[:-1], dtype=np.int64)
        path = np.zeros((*weights.shape[:-1], self.length), dtype=np.int64)
        for position in range(self.length):
            edge = np.take_along_axis(choice, at[..., None], axis=-1)[..., 0]
            path[..., position] = self.experts[edge]
            at = self.targets[edge]
        return path, ahead[..., 0]

    def sample(self, pushed: Floats, count: int, rng: np.random.Generator) -> Ints:
        """Draw paths from one weighting (E) that `push` made: experts (count, positions)."""
        starts = np.searchsorted(self.sources, np.arange(len(self.levels)))
        paths = np.zeros((count, self.length), dtype=np.int64)
        at = np.zeros(count, dtype=np.int64)
        draws = rng.random((self.length, count))
        for position in range(self.length):
            edge = np.zeros(count, dtype=np.int64)
            for state in np.unique(at):
                shares = np.exp(pushed[starts[state] : starts[state + 1]])
                here = at == state
                steps = np.cumsum(shares)
                edge[here] = starts[state] + np.searchsorted(
                    steps[:-1], draws[position, here] * steps[-1], side="right"
                )
            paths[:, position] = self.experts[edge]
            at = self.targets[edge]
        return paths

    def _slices(self) -> Iterator[slice]:
        """Yield the transitions of every position, from the first on."""
        ends = np.searchsorted(self.positions, np.arange(self.length + 1))
        for position in range(self.length):
            yield slice(ends[position], ends[position + 1])

    def _ahead(self, weights: Floats, add: np.ufunc) -> Floats:
        """Return what lies between every state and the final one: (..., states)."""
        ahead = np.zeros((*weights.shape[:-1], len(self.levels)))
        for here in reversed(list(self._slices())):
            states, starts = np.unique(self.sources[here], return_index=True)
            through = weights[..., here] + ahead[..., self.targets[here]]
            ahead[..., states] = add.reduceat(through, starts, axis=-1)
        return ahead


def _check_arcs(arcs: list[tuple[int, int, int]], n_experts: int) -> None:
    if not arcs:
        raise ValueError("an automaton without transitions: at least one is needed")
    seen = set()
    for source, target, expert in arcs:
        if not 0 <= expert < n_experts:
            raise ValueError(
                f"transition {source} to {target} has expert {expert}; there are {n_experts}, "
                "counted from 0"
            )
        if (source, expert) in seen:
            raise ValueError(
                f"two transitions leave state {source} with expert {expert}: a sequence of experts "
                "would be two paths; join their targets"
            )
        seen.add((source, expert))


def _levels(arcs: list[tuple[int, int, int]]) -> dict[int, int]:
    """Return every state's distance from state 0; check that the states make an automaton."""
    leaving: dict[int, list[int]] = {}
    states = {0}
    for source, target, _ in arcs:
        leaving.setdefault(source, []).append(target)
        states |= {source, target}
    finals = sorted(states - leaving.keys())
    if len(finals) != 1:
        raise ValueError(
            f"states without transitions out of them: {finals or 'none'}; expected one, the final"
        )
    level = {0: 0}
    front = [0]
    while front:
        following: list[int] = []
        for state in front:
            for target in leaving.get(state, []):
                depth = level[state] + 1
                if level.setdefault(target, depth) != depth:
                    raise ValueError(
                        f"state {target} is reached after {level[target]} and after {depth} "
                        "positions: a state has one position, and no path comes back to it"
                    )
                following.append(target)
        front = sorted(set(following))
    lost = sorted(states - level.keys())
    if lost:
        raise ValueError(f"states that no path from state 0 reaches: {lost}; leave them out")
    return level
