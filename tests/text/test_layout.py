"""Line breaks and paragraphs of raw text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica.text.layout import find_paragraphs, plain_newlines, soften_line_breaks

WRAPPED = (
    "This is a piece of prose that somebody has wrapped by hand at about\n"
    "seventy columns, as people do in mails. It goes on over several lines\n"
    "and none of them is a paragraph of its own, whatever a reader of lines\n"
    "may think.\n"
)


def paragraphs(text: str) -> list[str]:
    return [text[start:end] for start, end in find_paragraphs(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\n", []),
        ("one", ["one"]),
        ("one\n\ntwo", ["one", "two"]),
        ("one\r\n\r\ntwo\r\n", ["one", "two"]),
        ("one\n \t\n\n two  ", ["one", "two"]),
        ("one\x0ctwo", ["one", "two"]),
        ("A Title\nThe text begins here.", ["A Title", "The text begins here."]),
        ("Buy:\n- eggs\n- milk\n- tea", ["Buy:", "- eggs", "- milk", "- tea"]),
        ("ANNA: Hello.\nBEN: Hi there.", ["ANNA: Hello.", "BEN: Hi there."]),
    ],
)
def test_paragraphs(text: str, expected: list[str]) -> None:
    assert paragraphs(text) == expected


def test_wrapped_prose_is_one_paragraph() -> None:
    assert paragraphs(WRAPPED) == [WRAPPED.strip()]
    assert "\n" not in soften_line_breaks(WRAPPED).strip()


def test_a_heading_above_wrapped_prose() -> None:
    assert paragraphs(f"On Wrapping\n\n{WRAPPED}\nThe End") == [
        "On Wrapping",
        WRAPPED.strip(),
        "The End",
    ]


@given(st.text(st.sampled_from("aB. \n\r\t\x0c\u2028-1:"), max_size=200))
def test_lengths_stay_and_nothing_is_lost(text: str) -> None:
    assert len(plain_newlines(text)) == len(text)
    assert len(soften_line_breaks(plain_newlines(text))) == len(text)
    assert "".join("".join(paragraphs(text)).split()) == "".join(text.split())
