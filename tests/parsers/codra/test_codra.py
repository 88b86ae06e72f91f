"""What is particular to the two-stage parser; what all promise is in `test_contract`."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessons import gold
from rhetorica import Document
from rhetorica.errors import ModelError, UnknownName
from rhetorica.parsers.codra import parser as module
from rhetorica.parsers.codra.document import DocumentModel
from rhetorica.parsers.codra.features import GROUPS
from rhetorica.parsers.codra.parser import CodraParser, Settings
from rhetorica.parsers.codra.sentence import SentenceModel
from rhetorica.text import annotate


def small(**changes: object) -> CodraParser:
    values = {
        "sentence_l2": 0.01, "document_l2": 0.01, "label_l2": 0.01, "min_count": 1,
        "iterations": 20, **changes,
    }  # fmt: skip
    return CodraParser(Settings(**values))  # type: ignore[arg-type]


@pytest.mark.parametrize("stages", ["window", "one"])
def test_a_model_without_sentences_says_so(stages: str) -> None:
    trained = small(stages=stages, objective="joins", iterations=2).fit(gold())
    with pytest.raises(ModelError):
        trained.parse_sentences(gold()[0].document)


@pytest.mark.parametrize("settings", [{}, {"passes": 2}, {"stages": "three-way"}], ids=str)
def test_sentences_by_themselves(settings: dict[str, object]) -> None:
    trained = small(**settings).fit(gold())
    found = trained.parse_sentences(gold()[0].document, kbest=3)
    assert [parse.tree.n_edus for parse in found] == [2, 1, 2]
    assert [parse.id for parse in found] == ["lesson0#1", "lesson0#2", "lesson0#3"]
    assert len(found[0].kbest) == 3


def test_long_documents_are_parsed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXACT_UNITS", 6)
    monkeypatch.setattr(module, "BLOCK_UNITS", 4)
    parser = small(iterations=3).fit(gold())
    doc = annotate(Document.from_edus([f"Sentence number {n}." for n in range(40)]))
    parse = parser(doc, kbest=2)
    assert parse.tree.n_edus == 40
    assert not parse.kbest


def test_finished_models_are_kept(tmp_path: Path) -> None:
    first = small(iterations=4).fit(gold(), store=tmp_path)
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(kept) == 2
    second = small(iterations=4).fit(gold(), store=tmp_path)
    assert kept == {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    for parse in gold():
        assert first(parse.document).tree == second(parse.document).tree
    small(iterations=5).fit(gold(), store=tmp_path)
    assert len(list(tmp_path.iterdir())) == 4


def test_groups_can_be_switched_off() -> None:
    for group in GROUPS:
        others = [g for g in GROUPS if g != group]
        for model in (SentenceModel(3, groups=others), DocumentModel(3, groups=others)):
            assert all(template.group != group for template in model.templates)
    assert not SentenceModel(3, groups=["ngrams"]).context_templates
    parser = small(groups=("dominance", "organization"), iterations=2).fit(gold())
    assert parser(gold()[0].document).tree.n_edus == 5


def test_pruning_drops_small_weights() -> None:
    parser = small(iterations=5).fit(gold())
    before = len(parser.models_["sentence"].vocabulary_)
    parser.prune(0.05)
    assert len(parser.models_["sentence"].vocabulary_) < before
    assert parser(gold()[0].document).tree.n_edus == 5


def test_wrong_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName):
        CodraParser(groups=("magic",))
    with pytest.raises(UnknownName):
        CodraParser(stages="both")
    with pytest.raises(ModelError):
        CodraParser.load(tmp_path)
    with pytest.raises(ModelError):
        CodraParser()(gold()[0].document)
