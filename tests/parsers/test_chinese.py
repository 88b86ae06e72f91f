"""The Chinese models (the package rhetorica-zh): whatever comes is parsed, and nothing is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import rhetorica
from rhetorica import Document, Recipe
from rhetorica.cli import app
from rhetorica.models.store import models
from rhetorica.pipeline import PARSERS, front_end, models_of, segment
from rhetorica.render.svg import render_svg
from rhetorica.text import annotate

pytestmark = pytest.mark.skipif(
    not models("parser", language="zh"),
    reason="the package rhetorica-zh is not installed (packages/rhetorica-zh)",
)

TEXT = "昨天下了一整天的雨，所以我们没有出门。今天天气好了，大家都去公园散步。"
TRICKY = [
    "下雨了",
    "雨",
    "昨天下了一整天的雨，所以我们没有出门",  # no final mark
    "昨天下了一整天的雨，所以我們沒有出門。今天天氣好了，大家都去公園散步。",  # traditional
    "我们用 Python 3.11 写了一个 parser，它能 parse raw text，and it is fast。",
    "ＡＢＣ　１２３，全角字符也没有问题。",
    "שלום 今天下雨了，所以我们没有出门。مرحبا",
    "今天下雨🌧️，所以我们没有出门😀。👨‍👩‍👧 一家人都在家。",
    "“真的吗？”他问，“你确定？”",
    "一。\n\n二。\r\n\r\n三。\u2028四。\u3000\u3000五。",
    "……！！！？？？",
    "雨" * 3000,
    "\u200b\ufeff雨\x00天\x1b[31m",
    "𠮷野家在哪里？我想吃牛肉饭，因为我饿了。",
]


@pytest.fixture(scope="module")
def nlp() -> rhetorica.pipeline.Pipeline:
    return rhetorica.load("zh")


def bare(text: str) -> str:
    return "".join(text.split())


def check(text: str, parse: rhetorica.Parse) -> None:
    """The EDUs are the text, in order, and there is a tree over them."""
    assert parse.document.text == text
    assert bare("".join(parse.edus)) == bare(text)
    assert parse.tree.n_edus == len(parse.edus)
    assert parse.document.language == "zh"


class TestParsing:
    def test_recognised_by_itself(self, nlp: rhetorica.pipeline.Pipeline) -> None:
        parse = rhetorica.parse(TEXT)
        assert parse.document.language == "zh"
        assert parse.edus == nlp(TEXT).edus
        assert parse.edus[:2] == ["昨天下了一整天的雨，", "所以我们没有出门。"]
        assert parse.provenance["scheme"] == "gcdt"
        assert parse.scores is not None
        assert all(0 <= p <= 1 for p in parse.scores.spans)

    def test_languages_side_by_side(self) -> None:
        texts = [
            "It rained, so we stayed at home.",
            TEXT,
            "We left.",
            Document("雨", language="en"),
        ]
        parses = list(rhetorica.load().pipe(texts))
        assert [parse.document.language for parse in parses] == ["en", "zh", "en", "en"]

    def test_a_condition_is_seen(self, nlp: rhetorica.pipeline.Pipeline) -> None:
        parse = nlp("如果明天天晴，我就拿它去修一修。")
        assert parse.edus == ["如果明天天晴，", "我就拿它去修一修。"]
        assert parse.tree.joins[0].label == ("SN", "contingency-condition")

    @pytest.mark.parametrize("text", TRICKY)
    def test_any_text(self, nlp: rhetorica.pipeline.Pipeline, text: str) -> None:
        check(text, nlp(text))

    @settings(max_examples=25, deadline=None)
    @given(
        st.text(
            alphabet="雨天我们因为所以，。！？“”…「漢們abＡ１2 \n\t\u3000\u200b🌧שְ٣々", max_size=50
        )
    )
    def test_no_character_is_lost(self, nlp: rhetorica.pipeline.Pipeline, text: str) -> None:
        check(text, nlp(text))

    def test_given_edus_stay(self, nlp: rhetorica.pipeline.Pipeline) -> None:
        edus = ["昨天下雨了，", "我们没出门。", "今天天晴。"]
        parse = nlp(replace(Document.from_edus(edus), language="zh"))
        assert parse.edus == edus

    def test_abstracts(self) -> None:
        if not models("parser", "neural", language="zh", treebank="scidtb"):
            pytest.skip("this model has no scheme scidtb")
        parse = rhetorica.load("zh", model="scidtb")("该文提出一种方法，以提高句法分析的准确率。")
        assert parse.dependencies.n_edus == len(parse.edus)


class TestWords:
    @pytest.mark.parametrize("text", TRICKY)
    def test_words_are_the_text(self, text: str) -> None:
        doc = annotate(Document(text, language="zh"), front_end("zh"))
        seen = "".join(doc.text[token.start : token.end] for token in doc.tokens)
        assert seen == bare(text)

    def test_words_and_tags(self) -> None:
        doc = annotate(Document(TEXT, language="zh"), front_end("zh"))
        words = [doc.form(token) for token in doc.tokens]
        assert {"昨天", "所以", "我们", "公园", "散步"} <= {*words}
        assert dict(zip(words, (t.tag for t in doc.tokens), strict=True))["我们"] == "PN"
        assert len(doc.sentences) == 2


@pytest.mark.parametrize(
    "name", [n for n, offer in PARSERS.items() if "zh" in offer.languages and n != "neural"]
)
def test_other_parsers(name: str) -> None:
    if not models("parser", name, language="zh"):
        pytest.skip(f"there is no Chinese model of {name}")
    nlp = rhetorica.load("zh", parser=name)
    for text in (TEXT, *TRICKY[:6]):
        check(text, nlp(text))
    assert {model.language for model in models_of(Recipe("zh", name))} == {"zh"}


class TestEverywhere:
    def test_command(self, tmp_path: Path) -> None:
        (tmp_path / "essay.zh.txt").write_text(TEXT, "utf-8")
        found = CliRunner().invoke(app, ["parse", str(tmp_path / "essay.zh.txt"), "--to", "edus"])
        assert found.exit_code == 0, found.output
        assert "所以我们没有出门。" in found.stdout.splitlines()

    def test_segmenting(self) -> None:
        assert segment(TEXT).edu_texts[0] == "昨天下了一整天的雨，"
        assert segment(TEXT, segmenter="sentence", language="zh").edu_texts == [
            "昨天下了一整天的雨，所以我们没有出门。",
            "今天天气好了，大家都去公园散步。",
        ]

    def test_spacy(self) -> None:
        spacy = pytest.importorskip("spacy")
        nlp = spacy.blank("zh")
        nlp.add_pipe("rhetorica")
        doc = nlp(TEXT)
        assert [span.text for span in doc._.edus] == doc._.discourse.edus

    def test_picture(self, nlp: rhetorica.pipeline.Pipeline) -> None:
        assert "所以我们没有出门。" in bare(render_svg(nlp(TEXT)))
