"""Ensembles learned and measured on little documents, by the commands that the docs name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lessons import LESSONS
from rhetorica import Document, Parse, RSTTree, load
from rhetorica.cli import app
from rhetorica.convert import relabel
from rhetorica.errors import RhetoricaError
from rhetorica.models.store import Config
from rhetorica.parsers.ensemble import Settings
from rhetorica.parsers.ensemble.parser import METHODS
from rhetorica.relations import relation_set
from rhetorica.reproduce.ensemble import dependency_tables, ensemble_tables
from rhetorica.reproduce.tables import read_tables
from rhetorica.train.ensemble import halves
from rhetorica.train.treebank import Treebank, with_syntax

MEMBERS = "shift-reduce:gum,shift-reduce:gum?beam=4&samples=0"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_train_ensemble(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "my_ensemble"
    result = run(
        "train", "ensemble", corpus, "--corpus", "umuc", "--out", out, "--members", MEMBERS
    )
    assert result.exit_code == 0, result.output
    config = Config.read(out)
    assert (config.kind, config.name, config.treebanks) == ("parser", "ensemble", ("umuc",))
    assert config.settings["members"] == MEMBERS
    for name, count in (("calibration", 2), ("label_calibration", 4), ("tree_calibration", 2)):
        assert len(config.settings[name]) == count
    card = (out / "README.md").read_text("utf-8")
    assert MEMBERS in card
    assert "parseval:original:full" in card
    nlp = load("en", parser="ensemble", model=out, segmenter="crf", syntax="spacy")
    found = nlp("We stayed at home because it rained. So we read a book.", kbest=2)
    assert len(found.kbest) == 2
    assert len(nlp.parser.members_) == 2


def test_train_ensemble_segmenter(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "my_segmenter"
    options = ("--corpus", "umuc", "--out", out, "--members", "crf:gum,logistic:gum")
    result = run("train", "ensemble-segmenter", corpus, *options)
    assert result.exit_code == 0, result.output
    assert Config.read(out).kind == "segmenter"
    nlp = load("en", parser=None, segmenter="ensemble", model=out, syntax="spacy")
    assert nlp("We stayed at home because it rained.").edus[0] == "We stayed at home"


def test_a_wrong_member_is_named(corpus: Path, tmp_path: Path) -> None:
    for members, why in (
        ("shift-reduce:gum,perceptron", "unknown member of an ensemble 'perceptron'"),
        ("codra:no_such_model", "no_such_model"),
    ):
        options = ("--corpus", "umuc", "--out", tmp_path / "out", "--members", members)
        result = run("train", "ensemble", corpus, *options)
        assert result.exit_code == 1
        assert why in str(result.exception)
        assert not (tmp_path / "out").exists()


def little_bank(name: str) -> Treebank:
    golds = [
        Parse(Document.from_edus(units, id=f"d{number}"), RSTTree(len(units), joins))
        for number, (units, joins) in enumerate(LESSONS)
    ]
    if name == "scidtb":
        names = {"causal": "cause", "contingency": "condition", "mode": "manner-means"}
        names |= {"elaboration": "elab-addition", "explanation": "exp-reason"}
        golds = [
            Parse(gold.document, relabel(gold.dependencies, lambda name: names.get(name, name)))
            for gold in golds
        ]
    return Treebank(name, [], with_syntax(golds), relation_set(name), dev_syntax="predicted")


def test_tables_of_the_ensemble() -> None:
    members = "shift-reduce,shift-reduce?beam=4&samples=0"
    text = ensemble_tables(little_bank("gum"), Settings(members=members))
    tables = read_tables(text)
    rows = tables["members", "weights", "dev"]
    assert {how for *_, found in [(None, rows["all"])] for how, _ in found} == set(METHODS)
    assert len([name for name in rows if name.startswith("without")]) == 2
    assert set(tables["members", "EDUs", "dev"]) == {"`shift-reduce`, alone", "all"}
    sure = tables["members", "boundaries", "spans", "nuclearities", "relations", "k-best"]
    ((*figures,),) = sure["all"]
    assert all(0 <= float(figure) <= 1 for figure in figures)
    assert len(re.findall(r"All against `shift-reduce`: span", text)) == 2


def test_tables_of_dependencies() -> None:
    text = dependency_tables(little_bank("scidtb"), Settings(members="li2014,neural-fast"))
    rows = read_tables(text)["members", "weights", "decoder", "UAS", "LAS", "LAS, classes"]
    assert {how for how, *_ in rows["all"]} == set(METHODS)
    assert {decoder for how, decoder, *_ in rows["all"] if how == "reparsing"} == {
        "eisner",
        "spanning",
    }


def test_halves() -> None:
    for taught, scored in halves(5):
        assert sorted(taught + scored) == list(range(5))
    with pytest.raises(RhetoricaError, match="at least 2"):
        halves(1)
