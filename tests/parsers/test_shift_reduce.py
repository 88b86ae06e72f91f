"""The shift-reduce parser: learns little corpora by heart, keeps its promises on any input."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import rhetorica
from rhetorica import Document, Join, Parse, RSTTree, kernels
from rhetorica.cli.train import train as train_app
from rhetorica.document import Span
from rhetorica.errors import Mismatch, ModelError, UnknownName
from rhetorica.models import model_path
from rhetorica.parsers import load_parser
from rhetorica.parsers.shift_reduce import ShiftReduceParser
from rhetorica.reproduce.heilman_sagae2015 import LEVELS, level_of, write_into
from rhetorica.text import annotate

CORPUS = [
    (["We left early", "because it rained."], [Join(0, 1, 2, "NS", "cause")]),
    (["If you come,", "bring some wine.", "We will dance."],
     [Join(0, 2, 3, "NN", "list"), Join(0, 1, 2, "SN", "condition")]),
    (["She said", "that she was tired", "and that he slept."],
     [Join(0, 1, 3, "SN", "attribution"), Join(1, 2, 3, "NN", "list")]),
    (["It rained."], []),
]  # fmt: skip
SETTINGS = [
    {"explore": 0},
    {"explore": 0, "samples": 0},
    {"explore": 1, "folds": 2},
    {"features": "paper", "explore": 0},
    {"features": "paper", "explore": 1, "folds": 2},
    {"explore": 0, "without": ("words", "pairs"), "beam": 1, "samples": 0},
]


def gold() -> list[Parse]:
    return [
        Parse(annotate(Document.from_edus(units)), RSTTree(len(units), tuple(joins)))
        for units, joins in CORPUS
    ]


def train(**settings: object) -> ShiftReduceParser:
    common = {"strength": 100.0, "label_strength": 100.0, "min_count": 1, "epochs": 30}
    return ShiftReduceParser(**{**common, **settings}).fit(gold())  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=range(len(SETTINGS)))
def trained(request: pytest.FixtureRequest) -> ShiftReduceParser:
    return train(**SETTINGS[request.param])


def test_documents_are_learned(trained: ShiftReduceParser) -> None:
    for parse in gold():
        assert trained(parse.document).source == parse.source


def test_saved_and_loaded_is_the_same(trained: ShiftReduceParser, tmp_path: Path) -> None:
    trained.calibrate(gold())
    trained.save(tmp_path / "model")
    again = ShiftReduceParser.load(tmp_path / "model", beam=trained.beam)
    for parse in gold():
        ours, theirs = trained(parse.document, kbest=2), again(parse.document, kbest=2)
        assert ours.source == theirs.source
        assert ours.scores is not None
        assert theirs.scores is not None
        assert ours.scores.relations == pytest.approx(theirs.scores.relations, abs=1e-2)
        assert ours.scores.spans == pytest.approx(theirs.scores.spans, abs=5e-2)


def test_training_is_deterministic() -> None:
    first, second = (train(explore=1, folds=2, epochs=3) for _ in range(2))
    for name, model in first.models_.items():
        assert (model.weights == second.models_[name].weights).all()


def test_probabilities_and_k_best(trained: ShiftReduceParser) -> None:
    parse = trained(gold()[1].document, kbest=4)
    assert parse.scores is not None
    for values in (parse.scores.spans, parse.scores.nuclearities, parse.scores.relations):
        assert len(values) == 2
        assert all(0 <= value <= 1 for value in values)
    scores = [candidate.score for candidate in parse.kbest]
    assert scores == sorted(scores, reverse=True)
    assert len({candidate.tree for candidate in parse.kbest}) == len(parse.kbest) == 4
    assert parse.kbest[0].tree == parse.source
    assert all(score <= 0 for score in scores)


def test_progress_is_told() -> None:
    heard: list[str] = []
    ShiftReduceParser(epochs=2, explore=1, folds=2).fit(
        gold(), progress=lambda what, at, total: heard.append(what)
    )
    assert heard[0] == "features"
    assert "exploration 1" in heard
    assert heard[-1].startswith("label: loss")


def test_relations_can_be_mapped() -> None:
    parser = ShiftReduceParser(epochs=2, explore=0).fit(gold(), coarse=lambda name: "any")
    assert {relation for _, relation in parser.actions_.labels} == {"any"}


def test_without_numba_the_same_comes_out(trained: ShiftReduceParser) -> None:
    doc = gold()[2].document
    with kernels.using("numpy"):
        plain = trained(doc, kbest=3)
    compiled = trained(doc, kbest=3)
    assert [c.tree for c in plain.kbest] == [c.tree for c in compiled.kbest]
    assert np.allclose([c.score for c in plain.kbest], [c.score for c in compiled.kbest], atol=1e-4)


def test_unknown_names_and_models(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'extended'"):
        ShiftReduceParser(features="extend")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="Did you mean 'words'"):
        ShiftReduceParser(without=("word",))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot load"):
        ShiftReduceParser.load(tmp_path)
    with pytest.raises(ModelError, match="cannot load"):
        ShiftReduceParser.load(tmp_path / "nowhere")


def test_nothing_to_learn_from() -> None:
    with pytest.raises(ModelError, match="none with two EDUs"):
        ShiftReduceParser().fit(gold()[3:])


def test_a_damaged_model_says_so(tmp_path: Path) -> None:
    train(epochs=1, explore=0).save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "colour": "blue"}))
    with pytest.raises(ModelError, match="colour"):
        ShiftReduceParser.load(tmp_path)


@pytest.mark.parametrize(
    "text",
    ["", " \n", "word", "One sentence only.", "🌧️ 🌧️", "null\x00byte", "x" * 5000, "מטר יורד"],
)
def test_raw_text_of_any_kind(text: str) -> None:
    parse = rhetorica.load("en", parser="shift-reduce")(text)
    assert "".join("".join(parse.edus).split()) == "".join(text.split())
    assert parse.dependencies.n_edus == len(parse.edus) == parse.tree.n_edus


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
    parser = ShiftReduceParser.load(model_path("shift_reduce_gum"), samples=1)
    assert parser(doc).tree.n_edus == 15_000


def test_given_edus_are_kept_and_the_document_is_unchanged() -> None:
    doc = annotate(Document.from_edus(["We stayed home because", "it rained."]))
    parse = load_parser("shift-reduce")(doc)
    assert parse.document == doc
    assert parse.provenance["parser"] == "shift-reduce"


UMUC_LIKE = """<rst><header><relations>
<rel name="cause" type="rst"/><rel name="list" type="multinuc"/>
</relations></header><body>
<segment id="1" parent="4" relname="span">The dog barked</segment>
<segment id="2" parent="1" relname="cause">because it was hungry,</segment>
<segment id="3" parent="5" relname="list">and the cat slept.</segment>
<group id="4" type="span" parent="5" relname="list"/><group id="5" type="multinuc"/>
</body></rst>
"""


def test_commands(tmp_path: Path) -> None:
    for split in ("train", "dev"):
        folder = tmp_path / "corpus" / "rs3_original" / split
        folder.mkdir(parents=True)
        (folder / "dog.rs3").write_text(UMUC_LIKE, encoding="utf-8")
    runner = CliRunner()
    model = tmp_path / "model"
    trained = runner.invoke(
        train_app,
        ["shift-reduce", str(tmp_path / "corpus"), "--corpus", "umuc", "--out", str(model),
         "--strength", "1,4", "--explore", "0", "--epochs", "2"],
    )  # fmt: skip
    assert trained.exit_code == 0, trained.output
    assert (model / "weights.npz").is_file()
    assert json.loads((model / "config.json").read_text())["relations"].startswith("umuc")
    parse = rhetorica.load("en", parser="shift-reduce", model=model)("It rained, so we left.")
    assert parse.tree.n_edus == len(parse.edus)


def test_tables_are_put_where_they_belong(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- heilman-sagae2015 -->\nold\n<!-- /heilman-sagae2015 -->\nafter\n")
    for _ in range(2):
        write_into(page, "| new |\n")
        text = page.read_text()
        assert text.startswith("before\n")
        assert text.endswith("after\n")
        assert "| new |" in text
        assert "old" not in text
    page.write_text("nothing")
    with pytest.raises(Mismatch, match="no place"):
        write_into(page, "| new |")


def test_where_a_range_lies() -> None:
    doc = annotate(Document.from_edus(["It rained,", "so we left.", "He slept.", "She sang."]))
    doc = dataclasses.replace(
        doc,
        sentences=(Span(0, 22), Span(23, 32), Span(33, 42)),
        paragraphs=(Span(0, 32), Span(33, 42)),
    )
    level = level_of(doc)
    assert [level(0, 2), level(0, 3), level(2, 4)] == list(LEVELS)
