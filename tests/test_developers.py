"""The pages for developers tell the truth: rooms are in order, answers exist."""

from __future__ import annotations

import re
from pkgutil import resolve_name

import pytest

from test_docs import ROOT
from test_layers import LAYERS

PAGE = (ROOT / "docs" / "developers" / "architecture.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
ANSWERS = {
    question: re.findall(r"`([^`]+)`", answer) for question, answer in ROWS if "?" in question
}


def test_the_table_of_rooms_is_that_of_the_layers() -> None:
    rooms = [room.strip("`") for room, _ in ROWS if re.fullmatch(r"`\w+`", room)]
    assert rooms == LAYERS


def test_there_are_twenty_questions() -> None:
    assert len(ANSWERS) >= 20


@pytest.mark.parametrize("question", ANSWERS)
def test_the_answer_is_there(question: str) -> None:
    assert ANSWERS[question]
    for name in ANSWERS[question]:
        if name.startswith("rhetorica."):
            resolve_name(name)
        else:
            assert (ROOT / name).exists(), name


def test_every_page_is_linked_from_the_architecture() -> None:
    pages = {path.name for path in (ROOT / "docs" / "developers").glob("*.md")}
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", PAGE))
    assert pages - {"architecture.md"} <= linked
