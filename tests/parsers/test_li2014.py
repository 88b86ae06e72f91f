"""The dependency parser: learns little corpora by heart, keeps its promises on any input."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import rhetorica
from rhetorica import DepTree, Document, Parse
from rhetorica.errors import ModelError, UnknownName
from rhetorica.parsers import li2014 as module
from rhetorica.parsers import load_parser
from rhetorica.parsers.li2014 import PAPER, Li2014Parser
from rhetorica.text import annotate

CORPUS = [
    (["We left early", "because it rained."], (-1, 0), ("ROOT", "cause")),
    (["If you come,", "bring some wine.", "We will dance."], (1, -1, 1),
     ("condition", "ROOT", "list")),
    (["She said", "that she was tired", "and that he slept."], (1, -1, 1),
     ("attribution", "ROOT", "list")),
]  # fmt: skip


def gold() -> list[Parse]:
    parses = []
    for units, heads, relations in CORPUS:
        doc = annotate(Document.from_edus(units))
        nuclear = tuple(relation == "list" for relation in relations)
        parses.append(Parse(doc, DepTree(heads, relations, nuclear)))
    return parses


SETTINGS = [
    {},
    {"features": tuple(PAPER)},
    {"decoder": "mst"},
    {"learner": "perceptron"},
    {"convention": "chain"},
]


@pytest.fixture(scope="module", params=range(len(SETTINGS)))
def trained(request: pytest.FixtureRequest) -> Li2014Parser:
    settings = {"aggressiveness": 1.0, "bits": 14, "labelled_loss": True, **SETTINGS[request.param]}
    parser = Li2014Parser(**settings)
    return parser.fit(gold(), epochs=60)


def test_three_documents_are_learned(trained: Li2014Parser) -> None:
    for parse in gold():
        found = trained(parse.document)
        assert found.source == parse.source


def test_saved_and_loaded_is_the_same(trained: Li2014Parser, tmp_path: Path) -> None:
    trained.save(tmp_path / "model")
    again = Li2014Parser.load(tmp_path / "model")
    for parse in gold():
        ours, theirs = trained(parse.document), again(parse.document)
        assert ours.source == theirs.source
        assert ours.scores is not None
        assert theirs.scores is not None
        assert ours.scores.heads == pytest.approx(theirs.scores.heads, abs=1e-2)


def test_training_is_deterministic() -> None:
    first, second = (Li2014Parser(bits=12).fit(gold(), epochs=3) for _ in range(2))
    assert (first.weights_ == second.weights_).all()


def test_early_stop_and_progress() -> None:
    epochs: list[int] = []
    heard: list[str] = []

    def after(epoch: int, parser: Li2014Parser) -> bool:
        epochs.append(epoch)
        return epoch == 2

    Li2014Parser(bits=12).fit(
        gold(), epochs=9, after_epoch=after, progress=lambda what, i, n: heard.append(what)
    )
    assert epochs == [1, 2]
    assert {"features", "epoch 1", "epoch 2"} == set(heard)


def test_probabilities_and_k_best(trained: Li2014Parser) -> None:
    parse = trained(gold()[1].document, kbest=4)
    assert parse.scores is not None
    for values in (parse.scores.heads, parse.scores.arc_relations):
        assert len(values) == 3
        assert all(0 <= value <= 1 for value in values)
    scores = [candidate.score for candidate in parse.kbest]
    assert scores == sorted(scores, reverse=True)
    assert len({candidate.tree for candidate in parse.kbest}) == len(parse.kbest) == 4
    assert parse.kbest[0].tree.heads == parse.dependencies.heads


def test_names_of_features(trained: Li2014Parser) -> None:
    rows = set(trained.weights_.max(axis=1).argsort()[-20:].tolist())
    names = trained.name_features(gold(), rows)
    assert names
    assert set(names) <= rows
    assert all(" is " in name for name in names.values())


def test_long_documents_are_parsed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = Li2014Parser(bits=12).fit(gold(), epochs=3)
    doc = annotate(Document.from_edus(["We left early", "because it rained."] * 60, joiner="\n\n"))
    whole = parser(doc)
    monkeypatch.setattr(module, "EXACT_EDUS", 40)
    monkeypatch.setattr(module, "BLOCK_EDUS", 10)
    monkeypatch.setattr(module, "MARGINAL_EDUS", 5)
    parts = parser(doc)
    assert parts.dependencies.n_edus == whole.dependencies.n_edus == 120
    assert parts.tree.n_edus == 120
    assert parts.scores is not None
    assert all(0 <= p <= 1 for p in parts.scores.heads)


def test_unknown_feature_types_and_models(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'position'"):
        Li2014Parser(features=("positions",))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot load"):
        Li2014Parser.load(tmp_path)
    with pytest.raises(UnknownName, match="li2014"):
        load_parser("li2041")


@pytest.mark.parametrize(
    "text",
    ["", " \n", "word", "One sentence only.", "🌧️ 🌧️", "null\x00byte", "x" * 5000, "מטר יורד"],
)
def test_raw_text_of_any_kind(text: str) -> None:
    parse = rhetorica.load("en", parser="li2014")(text)
    assert "".join("".join(parse.edus).split()) == "".join(text.split())
    assert parse.dependencies.n_edus == len(parse.edus) == parse.tree.n_edus


def test_the_shipped_model_on_a_text() -> None:
    nlp = rhetorica.load("en", parser="li2014")
    text = "When it rains, we stay at home. We read books because we like them."
    parse = nlp(text)
    assert parse.edus[0] == "When it rains,"
    assert parse.dependencies.heads[0] == 1
    assert parse.scores is not None
    assert len(parse.scores.boundaries) == len(parse.edus)
    assert parse.to_rs3().startswith("<rst>")
    assert nlp(text) == parse


def test_given_edus_are_kept() -> None:
    doc = Document.from_edus(["We stayed home because", "it rained."])
    parse = rhetorica.load("en", parser="li2014")(doc)
    assert parse.edus == doc.edu_texts
    assert parse.scores is not None
    assert parse.scores.boundaries == ()


def test_a_stream() -> None:
    nlp = rhetorica.load("en", parser="li2014")
    texts = ["It rained.", "", "We left because it was late."]
    assert [len(parse.edus) for parse in nlp.pipe(texts)] == [1, 0, 2]


def test_a_user_pipeline_can_be_passed() -> None:
    from rhetorica.text.english import load_pipeline

    nlp = rhetorica.load("en", parser="li2014", syntax=load_pipeline())
    assert nlp("It rained.").edus == ["It rained."]


def test_document_is_unchanged() -> None:
    doc = annotate(Document.from_edus(["It rained", "and we left."]))
    parse = load_parser("li2014")(doc)
    assert dataclasses.replace(parse.document) == doc
