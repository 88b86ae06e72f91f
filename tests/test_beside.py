"""Secondary edges and signals by hand: added, kept by other corrections, removed, written, read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rhetorica import Document, Join, Parse, RSTTree, Signal, write
from rhetorica.edit import (
    add_edge,
    add_signal,
    relabel,
    remove_edge,
    remove_signal,
    secondary_edges,
    set_nuclearity,
    signals,
)
from rhetorica.errors import InvalidEdit
from rhetorica.files import Source
from rhetorica.formats.native import read_json
from rhetorica.formats.rs3 import read_rs3
from rhetorica.parses import Likely, Scores
from rhetorica.text import annotate


@pytest.fixture
def rain() -> Parse:
    doc = Document.from_edus(["It is wet", "because it rained", "all day,", "and I am cold."])
    joins = (
        Join(0, 3, 4, "NN", "joint-list"),
        Join(0, 1, 3, "NS", "causal-cause"),
        Join(1, 2, 3, "NS", "elaboration-attribute"),
    )
    return Parse(doc, RSTTree(4, joins))


def test_edges_join_units_and_survive_a_round_trip(rain: Parse) -> None:
    parse = add_edge(rain, (3, 4), (1, 3), "causal-result")
    parse = add_edge(parse, (2, 3), (0, 1), "context-circumstance")
    expected = [((3, 4), (1, 3), "causal-result"), ((2, 3), (0, 1), "context-circumstance")]
    assert [edge[:3] for edge in secondary_edges(parse)] == expected
    assert parse.tree == rain.tree
    again = read_rs3(Source("rain.rs4", write(parse, "rs4")))
    assert [edge[:3] for edge in secondary_edges(again)] == expected
    changed = relabel(set_nuclearity(parse, (2, 3), "both", "joint-other"), (1, 3), "causal-result")
    assert [edge[:3] for edge in secondary_edges(changed)] == expected
    assert [edge[:3] for edge in secondary_edges(remove_edge(parse, 0))] == expected[1:]


def test_signals_name_words_of_the_unit_or_beside_it(rain: Parse) -> None:
    for base in (rain, Parse(annotate(rain.document), rain.source)):
        parse = add_signal(base, (1, 3), "dm", "dm", "because")
        parse = add_signal(parse, (2, 3), "semantic", "attribute", "it rained")
        parse = add_signal(parse, (3, 4), "syntactic", "parallel")
        found = [(signal.unit, signal.type, signal.words) for signal in signals(parse)]
        assert sorted(found) == [
            ((1, 3), "dm", "because"),
            ((2, 3), "semantic", "it rained"),
            ((3, 4), "syntactic", ""),
        ]
        first = next(i for i, s in enumerate(signals(parse)) if s.type == "dm")
        assert "dm" not in {signal.type for signal in signals(remove_signal(parse, first))}
        # The signals of a relation go with it when its unit is turned.
        turned = set_nuclearity(parse, (1, 3), "both", "joint-other")
        assert "because" in {signal.words for signal in signals(turned)}


def test_a_removed_edge_takes_its_signals_along(rain: Parse) -> None:
    parse = add_edge(add_edge(rain, (3, 4), (1, 2), "a"), (3, 4), (0, 1), "b")
    tree = replace(parse.annotated, signals=(Signal(1, True, "dm", "dm", (8,)),))
    source = replace(parse, source=tree)
    assert [(s.edge, s.unit, s.words) for s in signals(source)] == [(1, (3, 4), "and")]
    left = remove_edge(source, 0)
    assert [s.edge for s in signals(left)] == [0]
    assert not signals(remove_edge(left, 0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: add_edge(p, (0, 1), (0, 1), "x"), "itself"),
        (lambda p: add_edge(p, (0, 2), (3, 4), "x"), "no unit"),
        (lambda p: add_edge(p, (0, 1), (3, 4), "span"), "cannot name"),
        (lambda p: remove_edge(p, 0), "there are 0"),
        (lambda p: add_signal(p, (0, 1), "dm", "dm"), "no relation of its own"),
        (lambda p: add_signal(p, (1, 3), "", "dm"), "needs a type"),
        (lambda p: add_signal(p, (1, 3), "dm", "dm", "although"), "neither in"),
        (lambda p: remove_signal(p, 3), "there are 0"),
    ],
)
def test_what_cannot_be_is_refused(rain: Parse, change: object, message: str) -> None:
    with pytest.raises(InvalidEdit, match=message):
        change(rain)  # type: ignore[operator]


def test_likely_labels_are_kept_merged_and_written(rain: Parse) -> None:
    rows = (
        (Likely("NN", "joint-list", 0.5), Likely("NN", "joint-other", 0.25)),
        (Likely("NS", "causal-cause", 0.5),),
        (Likely("NS", "elaboration-attribute", 1.0),),
    )
    parse = Parse(rain.document, rain.source, Scores(labels=rows))
    assert read_json(Source("x.json", write(parse, "json"))).scores == parse.scores
    coarse = parse.relabel(lambda name: name.partition("-")[0])
    assert coarse.scores is not None
    assert coarse.scores.labels[0] == (Likely("NN", "joint", 0.75),)
    changed = relabel(parse, (1, 3), "explanation-justify")
    assert changed.scores is not None
    assert changed.scores.labels == rows
