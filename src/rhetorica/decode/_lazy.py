"""Find the k best derivations of a hypergraph lazily (Huang & Chiang 2005, Algorithm 3).

The dynamic programmes fill their charts with best scores only; this module asks them for the
edges of those nodes that turn out to matter. Nodes are integers, work is kept on an explicit stack
(trees may be deeper than Python's recursion limit), and all ties are broken by edge number, so
that results never depend on anything but the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from rhetorica.decode._arrays import Floats

LEAF = -1
"""A tail that has one derivation, of score 0."""


class Edges(NamedTuple):
    """All ways to derive a node.

    ``scores[e]`` is the best score by edge e. It must be, added in this order:
    ``weights[e]`` + the best of each node in ``tails[e]`` + ``bonus``.
    """

    scores: Floats
    weights: Floats
    tails: Callable[[int], Sequence[int]]
    bonus: float = 0.0


class Derivation(NamedTuple):
    """One way to derive a node: an edge, and the rank of the derivation of each of its tails."""

    score: float
    edge: int
    ranks: tuple[int, ...]


class _Node:
    """A node's derivations found so far, and the candidates for the next."""

    __slots__ = ("edges", "exhausted", "found", "heap", "pending")

    def __init__(self, edges: Edges, k: int) -> None:
        self.edges = edges
        # Each derivation by the best k edges beats any by the others.
        order = np.argsort(-edges.scores, kind="stable")[:k]
        self.heap = [
            (-float(edges.scores[e]), int(e), (0,) * len(edges.tails(int(e))))
            for e in order
            if edges.scores[e] > -np.inf
        ]
        self.found: list[Derivation] = []
        self.pending = False
        self.exhausted = False


class LazyKBest:
    """The best derivations of every node of a hypergraph, found when asked for."""

    def __init__(self, expand: Callable[[int], Edges], k: int) -> None:
        self._expand, self._k = expand, k
        self._nodes: dict[int, _Node] = {}

    def derivations(self, node: int) -> list[Derivation]:
        """Return the k best derivations of a node, best first (fewer if there are fewer)."""
        self._find(node, self._k)
        return self._nodes[node].found

    def walk(self, node: int, rank: int) -> Iterator[tuple[int, int]]:
        """Yield (node, edge) of a derivation in preorder."""
        stack = [(node, rank)]
        while stack:
            node, rank = stack.pop()
            self._find(node, rank + 1)
            state = self._nodes[node]
            chosen = state.found[rank]
            yield node, chosen.edge
            tails = state.edges.tails(chosen.edge)
            stack.extend(
                pair
                for pair in reversed(list(zip(tails, chosen.ranks, strict=True)))
                if pair[0] != LEAF
            )

    def _find(self, node: int, count: int) -> None:
        """Make sure that the node's ``count`` best derivations are found, if it has so many."""
        stack = [(node, count)]
        while stack:
            node, count = stack[-1]
            state = self._nodes.get(node)
            if state is None:
                state = self._nodes[node] = _Node(self._expand(node), self._k)
            if len(state.found) >= count or state.exhausted:
                stack.pop()
                continue
            if state.pending:
                missing = self._missing(state)
                if missing:
                    stack.extend(missing)
                    continue
                self._push_successors(state)
            if state.heap:
                score, edge, ranks = heappop(state.heap)
                state.found.append(Derivation(-score, edge, ranks))
                state.pending = True
            else:
                state.exhausted = True

    def _missing(self, state: _Node) -> list[tuple[int, int]]:
        """List what must be found in the tails before the last derivation's successors."""
        _, edge, ranks = state.found[-1]
        wanted = [
            (tail, rank + 2)
            for tail, rank in zip(state.edges.tails(edge), ranks, strict=True)
            if tail != LEAF
        ]
        return [(tail, count) for tail, count in wanted if not self._settled(tail, count)]

    def _settled(self, node: int, count: int) -> bool:
        state = self._nodes.get(node)
        return state is not None and (len(state.found) >= count or state.exhausted)

    def _push_successors(self, state: _Node) -> None:
        """Offer the derivations that are one rank worse in one tail.

        A tail moves only while all tails after it are at their best: each combination of ranks is
        then reached in one way, and offered once.
        """
        _, edge, ranks = state.found[-1]
        tails = state.edges.tails(edge)
        for place in reversed(range(len(tails))):
            tail, rank = tails[place], ranks[place] + 1
            if tail != LEAF and len(self._nodes[tail].found) > rank:
                moved = (*ranks[:place], rank, *ranks[place + 1 :])
                heappush(state.heap, (-self._score(state.edges, edge, moved), edge, moved))
            if ranks[place]:
                break
        state.pending = False

    def _score(self, edges: Edges, edge: int, ranks: tuple[int, ...]) -> float:
        total = float(edges.weights[edge])
        for tail, rank in zip(edges.tails(edge), ranks, strict=True):
            if tail != LEAF:
                total += self._nodes[tail].found[rank].score
        return total + edges.bonus
