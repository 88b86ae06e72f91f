"""Trainings that are recalled, and the tables made of them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from lessons import gold
from rhetorica import RSTTree
from rhetorica.errors import Mismatch
from rhetorica.progress import Event
from rhetorica.relations import relation_set
from rhetorica.reproduce import runs as module
from rhetorica.reproduce.runs import Runs
from rhetorica.reproduce.tables import arcs, cells, figures, signature, table, write_into
from rhetorica.train.treebank import Treebank


def treebank(name: str = "tiny") -> Treebank:
    return Treebank(name, gold(), gold(), relation_set("gum"))


def test_a_training_is_made_once_for_each_setting(tmp_path: Path) -> None:
    made: list[float] = []
    heard: list[Event] = []
    runs = Runs(treebank(), tmp_path, heard.append)

    def train(strength: float) -> dict[str, float]:
        made.append(strength)
        return {"full": strength}

    for strength in (1.0, 2.0, 1.0):
        found = runs.figures({"strength": strength}, partial(train, strength))
        assert found["full"] == strength
    assert made == [1.0, 2.0]
    assert len(heard) == 2
    other = Runs(treebank("other"), tmp_path)
    assert other.figures({"strength": 1.0}, lambda: train(9.0))["full"] == 9.0


def test_what_is_kept_is_of_these_trees_and_this_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(treebank(), tmp_path)
    assert runs.figures({}, lambda: {"full": 1.0})["full"] == 1.0
    first, *others = gold()
    joins = [join._replace(relation="other") for join in first.tree.joins]
    changed = replace(first, source=RSTTree(first.tree.n_edus, tuple(joins)))
    other = replace(runs, treebank=replace(treebank(), train=[changed, *others]))
    assert other.figures({}, lambda: {"full": 2.0})["full"] == 2.0
    monkeypatch.setattr(module, "code", lambda: "that of another version")
    assert runs.figures({}, lambda: {"full": 3.0})["full"] == 3.0
    monkeypatch.undo()
    assert runs.figures({}, lambda: {"full": 4.0})["full"] == 1.0
    module.code.cache_clear()
    before = module.code()
    monkeypatch.setattr(module, "CODE", module.CODE[:-1])
    module.code.cache_clear()
    assert module.code() != before
    module.code.cache_clear()


def test_a_model_is_kept_only_when_it_is_finished(tmp_path: Path) -> None:
    runs = Runs(treebank(), tmp_path)

    def train(path: Path, config: str | None) -> None:
        path.mkdir(exist_ok=True)
        (path / "weights").write_text("7")
        if config is None:
            raise KeyboardInterrupt
        (path / "config.json").write_text(config)

    def load(path: Path) -> int:
        return int(json.loads((path / "config.json").read_text()))

    with pytest.raises(KeyboardInterrupt):
        runs.model({"seed": 1}, lambda path: train(path, None), load)
    assert runs.model({"seed": 1}, lambda path: train(path, "1"), load) == 1
    assert runs.model({"seed": 1}, lambda path: train(path, "2"), load) == 1


def test_figures_that_were_kept_make_the_same_cells() -> None:
    report = treebank().score(gold())
    kept = json.loads(json.dumps(figures(report)))
    for variant in ("original", "rst"):
        assert cells(kept, variant) == cells(report, variant) == "100.00 / 100.00 / 100.00 / 100.00"
        assert signature(kept, variant) == signature(report, variant)
    assert f"parseval:rst|labels:{relation_set('gum').label_name}" in signature(report, "rst")
    assert "corpus:tiny-dev" in signature(report)
    assert arcs(report) == arcs(kept) == "100.00 / 100.00"
    assert cells(report, names=("span",), digits=1) == "100.0"


def test_a_table_ends_with_its_notes() -> None:
    text = table("**T**", ("a", "b"), [(1, "x"), (2, "y")], "`s`")
    assert text == "**T**\n\n| a | b |\n|---|---|\n| 1 | x |\n| 2 | y |\n\n`s`\n"


def test_tables_are_put_where_they_belong(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- paper2015 -->\nold\n<!-- /paper2015 -->\nafter\n")
    for _ in range(2):
        write_into(page, "paper2015", "| new |\n")
        text = page.read_text()
        assert text.startswith("before\n")
        assert text.endswith("after\n")
        assert text.count("| new |") == 1
        assert "old" not in text
    page.write_text("<!-- paper2015 -->\nnot closed")
    with pytest.raises(Mismatch, match="no place"):
        write_into(page, "paper2015", "| new |")


def test_some_tables_replace_those_of_their_title(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- p -->\n\n### gum dev\n\nold line\n\n**Table 4**: old\n\n| a |\n\n"
        "The same.\n\n| b |\n\n**Table 9**, sentences: old\n\n"
        "### umuc dev\n\n**Table 4**: kept\n\n<!-- /p -->\nafter\n"
    )
    printed = (
        "### gum dev\n\nnew line\n\n**Table 3**: new\n\n| c |\n\n**Table 4**: new\n\n| d |\n\n"
        "**Table 9**, documents: new\n"
    )
    wanted = (
        "before\n<!-- p -->\n\n### gum dev\n\nnew line\n\n**Table 3**: new\n\n| c |\n\n"
        "**Table 4**: new\n\n| d |\n\n**Table 9**, documents: new\n\n"
        "**Table 9**, sentences: old\n\n### umuc dev\n\n**Table 4**: kept\n\n<!-- /p -->\nafter\n"
    )
    for _ in range(2):
        write_into(page, "p", printed, part=True)
        assert page.read_text() == wanted
    write_into(page, "p", "### gum dev\n", part=False)
    assert page.read_text() == "before\n<!-- p -->\n\n### gum dev\n\n<!-- /p -->\nafter\n"
