"""1S-1S and sliding window: the three rules of consolidation, and the vote of three."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from rhetorica.parsers.codra.stages import (
    Analysis,
    Node,
    consolidate,
    one_sentence_one_subtree,
    parse_ranges,
    restrict,
    sliding_window,
    three_way,
    vote,
)
from rhetorica.parsers.codra.units import Layout


def node(start: int, split: int, end: int, label: int = 1, p: float = 0.5) -> Node:
    logs = [math.log(0.01)] * 4
    logs[label] = math.log(p)
    return Node(start, split, end, label, tuple(logs))


def tree(*nodes: Node, edges: tuple[int, ...] = (4, 8)) -> Analysis:
    return Analysis(edges, nodes)


RIGHT = (node(4, 5, 8), node(5, 6, 8), node(6, 7, 8))
LEFT = (node(4, 7, 8, p=0.9), node(4, 6, 7), node(4, 5, 6))


def test_same_in_both() -> None:
    likely = tuple(node(*n[:3], p=0.9) for n in RIGHT)
    assert consolidate(tree(*RIGHT), tree(*likely)) == tree(*RIGHT)


def test_different_but_no_cross() -> None:
    assert consolidate(tree(*RIGHT), tree(*LEFT)) == tree(*LEFT)
    assert consolidate(tree(*LEFT), tree(*RIGHT)) == tree(*LEFT)
    relabelled = (node(4, 5, 8, label=2, p=0.3), *RIGHT[1:])
    assert consolidate(tree(*relabelled), tree(*RIGHT)) == tree(*RIGHT)


def test_cross() -> None:
    # As in Figure 14c: three sub-trees (4-5, 6, 7) against two (4-6, 7).
    three = tree(node(4, 5, 6, p=0.1), edges=(4, 6, 7, 8))
    two = tree(node(4, 5, 7), node(5, 6, 7), edges=(4, 7, 8))
    assert consolidate(three, two) == consolidate(two, three) == three
    assert consolidate(tree(*RIGHT), two) == two
    other = tree(node(5, 6, 8, p=0.9), node(6, 7, 8, p=0.9), edges=(4, 5, 8))
    assert consolidate(two, other) == other


def test_vote() -> None:
    alone = tree(*LEFT)
    apart = tree(node(4, 5, 7), node(5, 6, 7), edges=(4, 7, 8))
    assert vote(alone, apart, apart) == apart
    assert vote(alone, apart, tree(*RIGHT)) == alone
    assert vote(alone, tree(*RIGHT), tree(*RIGHT)) == tree(*RIGHT)
    relabelled = tree(node(4, 7, 8, label=2, p=0.3), *LEFT[1:])
    assert vote(relabelled, tree(*RIGHT), relabelled) == relabelled


def test_restrict_keeps_what_lies_inside() -> None:
    window = Analysis((0, 8), (node(0, 6, 8), node(0, 2, 6), node(2, 4, 6), node(4, 5, 6)))
    assert restrict(window, 4, 8).edges == (4, 6, 7, 8)
    assert [n[:3] for n in restrict(window, 4, 8).nodes] == [(4, 5, 6)]
    assert restrict(window, 0, 2).edges == (0, 1, 2)
    whole = Analysis((0, 3), (node(0, 1, 3), node(1, 2, 3)))
    assert restrict(whole, 0, 3) == whole


class Same:
    """A model to which all joins are alike."""

    def log_probabilities(self, facts: Any, layout: Layout, roots: Any = None) -> Any:
        return np.full((layout.n_joins, 3), -1.0)


@pytest.mark.parametrize("sizes", [(20, 2), (2, 20, 2), (20, 20), (40, 3), (35,), (1,), (1, 1)])
def test_long_sentences_in_windows(sizes: tuple[int, ...]) -> None:
    # Sentences that fit the limit alone, but not with a neighbour, once made the votes uneven.
    model: Any = Same()
    facts: Any = SimpleNamespace(sentences=np.repeat(np.arange(len(sizes)), sizes))
    for found in (sliding_window(model, facts), three_way(model, model, facts)):
        ends = [edge for analysis in found for edge in analysis.edges[1:]]
        assert [0, *ends] == sorted({0, *ends})
        assert ends[-1] == sum(sizes)
        assert len(found) == len(one_sentence_one_subtree(model, facts))


def test_ranges_are_parsed_alike_however_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(41, 41, 41, 4))

    class Model:
        sizes: ClassVar[list[int]] = []

        def log_probabilities(self, facts: Any, layout: Layout) -> Any:
            self.sizes.append(layout.n_joins)
            return table[layout.edges()]

    ranges = [(0, 9), (9, 10), (10, 25), (25, 40)]
    whole = parse_ranges(Model(), None, ranges)  # type: ignore[arg-type]
    assert Model.sizes == [120 + 560 + 560]
    monkeypatch.setattr("rhetorica.parsers.codra.stages._JOINS_AT_ONCE", 600)
    assert parse_ranges(Model(), None, ranges) == whole  # type: ignore[arg-type]
    assert Model.sizes[1:] == [120, 560, 560]
