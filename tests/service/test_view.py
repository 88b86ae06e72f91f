"""What the page gets: every unit once, texts that add up, how far each EDU is from the centre."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from rhetorica import Candidate, DepTree, Document, Join, Parse, RSTTree, Scores
from rhetorica.edit import units
from rhetorica.errors import RhetoricaError
from rhetorica.service import Limits
from rhetorica.service.view import levels, page_view
from strategies import parses


@settings(max_examples=60)
@given(parses())
def test_any_parse_can_be_shown(parse: Parse) -> None:
    view = page_view(parse)
    json.dumps(view)
    text = "".join(edu["gap"] + edu["text"] for edu in view["edus"]) + view["tail"]
    assert text == (parse.document.text if parse.document.edus else "")
    if view["units"]:
        assert len(view["levels"]) == len(parse.edus)
        assert 0 in view["levels"]


def example() -> Parse:
    joins = (
        Join(0, 1, 4, "SN", "a"),
        Join(1, 3, 4, "NN", "b"),
        Join(1, 2, 3, "NS", "c"),
    )
    other = (Join(0, 3, 4, "NS", "x"), Join(0, 1, 3, "SN", "a"), Join(1, 2, 3, "NS", "c"))
    scores = Scores(spans=(0.9, 0.8, 0.7), nuclearities=(0.6, 0.5, 0.4), relations=(0.3, 0.2, 0.1))
    return Parse(
        Document.from_edus("abcd"),
        RSTTree(4, joins),
        scores,
        (Candidate(RSTTree(4, joins), 0.0), Candidate(RSTTree(4, other), -1.0)),
    )


def test_levels_count_the_satellites_on_the_way() -> None:
    assert levels(units(example())) == [1, 0, 1, 0]


def test_probabilities_and_alternatives_of_units() -> None:
    found = {(unit["start"], unit["end"]): unit for unit in page_view(example())["units"]}
    assert found[0, 4]["p"] == {"span": 0.9}
    assert found[1, 3]["p"] == {"span": 0.7, "nuclearity": 0.5, "relation": 0.2}
    assert found[2, 3]["p"] == {"nuclearity": 0.4, "relation": 0.1}
    assert found[3, 4]["alternatives"] == [{"choice": ["satellite", "x", 0, 3], "ranks": [1]}]
    assert "alternatives" not in found[2, 3]


def test_crossing_arcs_have_no_units_but_a_reason() -> None:
    tree = DepTree((-1, 3, 0, 0), ("ROOT", "a", "b", "c"))
    view = page_view(Parse(Document.from_edus("abcd"), tree))
    assert view["units"] == []
    assert view["dependencies"]["heads"] == (-1, 3, 0, 0)
    assert "contiguous" in view["warnings"][0]


def test_limits_are_checked() -> None:
    assert Limits(queue=0).queue == 0
    with pytest.raises(RhetoricaError, match="max_bytes is 0"):
        Limits(max_bytes=0)
