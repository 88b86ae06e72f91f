"""Where the errors of Heilman & Sagae's parser are."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rhetorica import Document
from rhetorica.cli import app
from rhetorica.document import Span
from rhetorica.reproduce import heilman_sagae2015 as module
from rhetorica.reproduce.heilman_sagae2015 import LEVELS, level_of
from rhetorica.text import annotate


def test_where_a_range_lies() -> None:
    doc = annotate(Document.from_edus(["It rained,", "so we left.", "He slept.", "She sang."]))
    doc = dataclasses.replace(
        doc,
        sentences=(Span(0, 22), Span(23, 32), Span(33, 42)),
        paragraphs=(Span(0, 32), Span(33, 42)),
    )
    level = level_of(doc)
    assert [level(0, 2), level(0, 3), level(2, 4)] == list(LEVELS)


def test_tables_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "read_treebank", lambda *_, **__: None)
    for name in ("raw", "relation", "level", "accuracy", "strength"):
        made = (0.5, "strengths") if name == "strength" else name
        monkeypatch.setattr(module, f"_{name}_table", lambda *_, made=made: made)
    page = tmp_path / "page.md"
    page.write_text("<!-- heilman-sagae2015 -->\n**kept**\n<!-- /heilman-sagae2015 -->\n")
    command = ["reproduce", "heilman-sagae2015", "--gum", "gum", "--work", str(tmp_path)]
    done = CliRunner().invoke(app, [*command, "--tables", "relations,strengths,raw"])
    assert done.stdout.split() == ["raw", "strengths", "relation"]
    done = CliRunner().invoke(app, [*command, "--tables", "levels", "--into", str(page)])
    assert done.exit_code == 0, done.output
    assert "**kept**" in page.read_text()
    done = CliRunner().invoke(app, [*command, "--tables", "row"])
    assert "Did you mean 'raw'" in done.output + str(done.exception)
