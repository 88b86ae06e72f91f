"""What is particular to the shift-reduce parser; what all promise is in `test_contract`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import rhetorica
from lessons import gold, single
from rhetorica import Document, Join, Parse, RSTTree
from rhetorica.errors import ModelError, UnknownName
from rhetorica.features.edus import EDUTable
from rhetorica.models.store import Config, find, seal
from rhetorica.parsers.shift_reduce import ShiftReduceParser
from rhetorica.text import annotate

SETTINGS = [{}, {"samples": 0}, {"features": "paper"}, {"without": ("words", "pairs"), "beam": 1}]


def train(**settings: object) -> ShiftReduceParser:
    common = {"strength": 100.0, "label_strength": 100.0, "min_count": 1}
    common |= {"epochs": 30, "explore": 0}
    return ShiftReduceParser(**{**common, **settings}).fit(gold())  # type: ignore[arg-type]


@pytest.mark.parametrize("samples", [0, 8])
def test_the_papers_branching_inside(samples: int) -> None:
    """Lists branch to the left in the parser, and to the right again in what it says."""
    units = ["We sang,", "we ate,", "we slept", "and we left."]
    joins = tuple(Join(i, i + 1, 4, "NN", "joint") for i in range(3))
    lesson = Parse(annotate(Document.from_edus(units)), RSTTree(4, joins))
    common = {"strength": 100.0, "min_count": 1, "epochs": 30, "explore": 0, "features": "paper"}
    parser = ShiftReduceParser(
        **common, samples=samples, branching="left", head="word", phrases=True
    ).fit([lesson, *gold()])  # type: ignore[arg-type]
    assert parser._target(lesson, None).joins[1] == Join(0, 2, 3, "NN", "joint")
    found = parser(lesson.document, kbest=2)
    assert found.tree == lesson.tree
    assert found.scores is not None
    assert len(found.scores.spans) == 3
    assert parser.ballot(lesson.document).labels
    assert ShiftReduceParser.from_state(parser.state()).settings.branching == "left"


def test_head_words_as_they_are() -> None:
    doc = gold()[0].document
    lemma, word = (EDUTable.of(doc, head=kind).strings["head"] for kind in ("lemma", "word"))
    assert lemma[0] == "leave"
    assert word[0] == "left"


def test_progress_is_told() -> None:
    heard: list[str] = []
    ShiftReduceParser(epochs=2, explore=1, folds=2).fit(
        gold(), tell=lambda event: heard.append(str(event))
    )
    assert heard[0] == "features: 1 of 3"
    assert "exploration 1: 2 of 2" in heard
    assert heard[-1].startswith("label: 2 of 2, loss")


def test_relations_can_be_mapped() -> None:
    parser = ShiftReduceParser(epochs=2, explore=0).fit(gold(), coarse=lambda name: "any")
    assert {relation for _, relation in parser.actions_.labels} == {"any"}


def test_unknown_names() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'extended'"):
        ShiftReduceParser(features="extend")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="Did you mean 'words'"):
        ShiftReduceParser(without=("word",))


def test_nothing_to_learn_from() -> None:
    with pytest.raises(ModelError, match="none with two EDUs"):
        ShiftReduceParser().fit([single()])


def test_a_damaged_model_says_so(tmp_path: Path) -> None:
    train(epochs=1).save(tmp_path)
    config = Config.read(tmp_path)
    seal(tmp_path, dataclasses.replace(config, settings={**config.settings, "colour": "blue"}))
    with pytest.raises(ModelError, match="colour"):
        ShiftReduceParser.load(tmp_path)


def test_the_shipped_model_on_a_text() -> None:
    nlp = rhetorica.load("en", parser="shift-reduce")
    text = "When it rains, we stay at home. We read books because we like them."
    parse = nlp(text)
    assert parse.edus[0] == "When it rains,"
    assert Join(0, 1, 2, "SN", parse.tree.joins[1].relation) in parse.tree.joins
    assert parse.scores is not None
    assert len(parse.scores.boundaries) == len(parse.edus)
    assert len(parse.scores.spans) == len(parse.edus) - 1
    assert parse.to_rs3().startswith("<rst>")
    assert nlp(text) == parse


def test_a_book() -> None:
    edus = ["We left early", "because it rained.", "She said", "that she was tired."] * 3750
    doc = Document.from_edus(edus, joiner="\n")
    bare = annotate(Document.from_edus(edus[:4], joiner="\n"))
    # Syntax is copied, not computed: what is tested here is the parser.
    step = len(bare.text) + 1
    tokens, n = [], len(bare.tokens)
    for copy in range(3750):
        for token in bare.tokens:
            head = token.head if token.head is None or token.head < 0 else token.head + copy * n
            tokens.append(
                token._replace(
                    start=token.start + copy * step, end=token.end + copy * step, head=head
                )
            )
    doc = dataclasses.replace(doc, tokens=tuple(tokens))
    parser = ShiftReduceParser.load(find("parser", "shift-reduce", "gum").folder, samples=1)
    assert parser(doc).tree.n_edus == 15_000
