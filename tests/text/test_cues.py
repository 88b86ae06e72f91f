"""What lines look like, and where EDUs begin because of it."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from rhetorica.pipeline import load_parser, segment
from rhetorica.text.cues import line_cues, mend_starts

LAYOUTS = {
    "dashes": ("To buy:\n\n- apples\n- pears\n", ["To buy:", "- apples", "- pears"]),
    "bullets": ("You need:\n• a pot\n• an onion", ["You need:", "• a pot", "• an onion"]),
    "numbers": ("1. Open it.\n2. Look.\n3) Smile.", ["1. Open it.", "2. Look.", "3) Smile."]),
    "letters": ("(a) Wash them.\n(b) Dry them.", ["(a) Wash them.", "(b) Dry them."]),
    "nested": ("* one\n  * one and a half\n* two", ["* one", "* one and a half", "* two"]),
    "boxes": ("- [ ] Buy milk\n- [x] Call Ben", ["- [ ] Buy milk", "- [x] Call Ben"]),
    "heading": (
        "# Usage\nRun it.\n\n## More\nStop it.",
        ["# Usage", "Run it.", "## More", "Stop it."],
    ),
    "underlined": (
        "Introduction\n============\n\nIt rained.",
        ["Introduction\n============", "It rained."],
    ),
    "turns": (
        "ANNA: Did it rain?\nBEN: It did.\nDr. Smith: Good.",
        ["ANNA: Did it rain?", "BEN: It did.", "Dr. Smith: Good."],
    ),
    "stamped turns": (
        "[00:01] Speaker 1: Hello.\n[00:04] Speaker 2: Hi.",
        ["[00:01] Speaker 1: Hello.", "[00:04] Speaker 2: Hi."],
    ),
    "bars": (
        "Name | Age\n--- | ---\nAnna | 34\nBen | 29\n\nThat was all.",
        ["Name | Age\n--- | ---", "Anna | 34", "Ben | 29", "That was all."],
    ),
    "tabs": ("Year\tSales\n2019\t34.5\n2020\t36.0", ["Year\tSales", "2019\t34.5", "2020\t36.0"]),
    "references": (
        "[1] A. Smith. Rain.\n[2] B. Brown. Snow.",
        ["[1] A. Smith. Rain.", "[2] B. Brown. Snow."],
    ),
    "rule": ("One.\n\n* * *\n\nTwo.", ["One.\n\n* * *", "Two."]),
    "quoted lines": ("He wrote:\n> We are late.", ["He wrote:", "> We are late."]),
}


@cache
def parsers(name: str) -> Any:
    """Load a parser once."""
    return load_parser(name)


def cut(text: str, said: list[str] | None = None) -> list[str]:
    """Cut a text where units begin, after the marks of a model that begins one at each of some."""
    words = [at for at in range(len(text)) if not text[at].isspace()]
    offsets = np.array(words)
    starts = np.zeros(len(words), dtype=bool)
    for piece in said or ():
        starts[words.index(text.index(piece))] = True
    mend_starts(starts, offsets, text)
    bounds = [*offsets[starts].tolist(), len(text)]
    return [text[a:b].strip() for a, b in pairwise(bounds)]


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_whatever_the_model_says(name: str) -> None:
    text, units = LAYOUTS[name]
    assert cut(text) == units
    # A model that cuts after marks, names and bars changes nothing.
    marks = [unit.split()[1] for unit in units if not unit[0].isalpha() and len(unit.split()) > 1]
    assert [u for u in cut(text, [m for m in marks if m[0].isalpha()]) if u[0] in "-•*(#>"] == [
        unit for unit in units if unit[0] in "-•*(#>"
    ]


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("parser", ["neural", "neural-fast"])
def test_layouts_through_the_parser(name: str, parser: str) -> None:
    text, units = LAYOUTS[name]
    doc = parsers(parser).segment(text).document
    found = {doc.text[edu.start : edu.end] for edu in doc.edus}
    if name != "references":  # inside them the model decides
        assert found == set(units)
    starts = {edu.start for edu in doc.edus}
    assert {text.index(unit) for unit in units} <= starts
    assert {text.index(unit) for unit in units} <= {part.start for part in doc.paragraphs}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_through_other_segmenters(name: str) -> None:
    text, units = LAYOUTS[name]
    doc = segment(text, segmenter="crf")
    assert {text.index(unit) for unit in units} <= {edu.start for edu in doc.edus}


@pytest.mark.parametrize(
    "text",
    [
        "It was late.",
        "The plan - if there was one - failed,\nand nobody minded.",
        "He had seen it in chapter\n12. Nobody else had.",
        "Note: it rained all day.\nWe went home early.\nNobody was sad.\nIt was late.",
        "The lines of this text\n\nstand far apart\n\nfrom each other.",
    ],
)
def test_prose_is_left_to_the_model(text: str) -> None:
    assert line_cues(text).starts == ()
    assert line_cues(text).closed == ()


def test_marks_go_with_their_words() -> None:
    assert cut("We left (it rained) early.", ["it"]) == ["We left", "(it rained) early."]
    assert cut('He said "we left" then.', ["we"]) == ["He said", '"we left" then.']
    assert cut("Do not *ever* open it.", ["ever"]) == ["Do not", "*ever* open it."]
    assert cut("Call your friend(s) now.", ["(s)"]) == ["Call your friend(s) now."]
    assert cut("We left - it rained.", ["- it", "it"]) == ["We left -", "it rained."]
    assert cut("— Who? Nobody.", ["Who"]) == ["— Who? Nobody."]
    assert cut("我们走了，因为下雨。", ["因"]) == ["我们走了，", "因为下雨。"]


def test_marks_of_chinese() -> None:
    assert cut("他带了水——天很热。", ["天"]) == ["他带了水", "——天很热。"]
    assert cut("他带了水——天很热。") == ["他带了水", "——天很热。"]
    assert cut("他说：\n——走吧。", ["走"]) == ["他说：", "——走吧。"]
    assert cut("他走了（天黑了）才回来。", ["天"]) == ["他走了", "（天黑了）才回来。"]
    assert cut("“天黑了。”他说。", ["”"]) == ["“天黑了。”", "他说。"]
    assert cut("天黑了（很晚）。", ["）", "。"]) == ["天黑了（很晚）。"]
    # Ranges, and the dashes of other languages, are left to the model.
    for text in ("从1999——2003年。", "Mr. D—— left.", "走——", "走——！"):
        assert cut(text) == [text]


def test_quoted_lines_that_run_on() -> None:
    text = "> The train had\n> broken down when\n> we came."
    assert cut(text) == [text]
    assert cut(text, ["we"]) == ["> The train had\n> broken down when", "> we came."]


def test_any_text_keeps_a_first_unit() -> None:
    for text in ("-", "* * *", "\n\n---\n\n", "- \n- \n", "a |\n b |", ">", "1.\n2.", "|\n|"):
        stripped = text.strip()
        if stripped:
            assert "".join("".join(cut(text)).split()) == "".join(text.split())
    assert line_cues("").starts == ()
