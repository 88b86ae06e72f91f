"""What is particular to the shift-reduce parser; what all promise is in `test_contract`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import rhetorica
from lessons import gold, single
from rhetorica import Document, Join
from rhetorica.cli.train import train as train_app
from rhetorica.document import Span
from rhetorica.errors import Mismatch, ModelError, UnknownName
from rhetorica.models.store import find
from rhetorica.parsers.shift_reduce import ShiftReduceParser
from rhetorica.reproduce.heilman_sagae2015 import LEVELS, level_of, write_into
from rhetorica.text import annotate

SETTINGS = [{}, {"samples": 0}, {"features": "paper"}, {"without": ("words", "pairs"), "beam": 1}]


def train(**settings: object) -> ShiftReduceParser:
    common = {"strength": 100.0, "label_strength": 100.0, "min_count": 1}
    common |= {"epochs": 30, "explore": 0}
    return ShiftReduceParser(**{**common, **settings}).fit(gold())  # type: ignore[arg-type]


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
    config = json.loads((tmp_path / "config.json").read_text())
    config["settings"]["colour"] = "blue"
    (tmp_path / "config.json").write_text(json.dumps(config))
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
