"""Chinese: a front end without a model, words without spaces, and where its models are not."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhetorica
from rhetorica import Document, Recipe
from rhetorica.errors import InvalidRecipe, ModelError, RhetoricaError, UnknownLanguage
from rhetorica.languages import language, recognise
from rhetorica.languages.chinese import looks_chinese, sentences
from rhetorica.models import store
from rhetorica.parsers.neural.wordpiece import WordPiece
from rhetorica.pipeline import load_parser, models_of
from rhetorica.text import annotate
from rhetorica.train.neural.data import PARAGRAPH, SENTENCE, Example, lay_out
from rhetorica.trees import DepTree

TEXT = "昨天下了一整天的雨，所以我们没有出门。今天天气好了，大家都去公园散步。"
ODD = st.text(alphabet="雨天我们，。！？“”…「」abＡ１2 \n\t\u3000\u200b🌧שְ٣々漢", max_size=60)


class TestFrontEnd:
    def test_sentences_and_words(self) -> None:
        doc = annotate("下雨了！“真的？”\n\n我用Python 3写的。")
        assert doc.language == "zh"
        found = [doc.text[a:b] for a, b in doc.sentences]
        assert found == ["下雨了！", "“真的？”", "我用Python 3写的。"]
        words = [doc.form(token) for token in doc.tokens]
        assert words[-7:] == ["我", "用", "Python", "3", "写", "的", "。"]

    @given(ODD)
    def test_no_character_is_lost(self, text: str) -> None:
        doc = annotate(Document(text, language="zh"))
        seen = "".join(doc.text[token.start : token.end] for token in doc.tokens)
        assert seen == "".join(text.split()) or not text.strip()
        assert all(token.start < token.end for token in doc.tokens)

    @given(ODD)
    def test_sentences_cover_the_text(self, text: str) -> None:
        spans = list(sentences(text))
        assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
        assert all(a.end <= b.start for a, b in pairwise(spans))

    def test_layers_that_are_there_stay(self) -> None:
        known = annotate(Document(TEXT))
        assert annotate(known).sentences == known.sentences


class TestRecognition:
    @pytest.mark.parametrize(
        ("text", "yes"),
        [
            (TEXT, True),
            ("昨天下了一整天的雨，所以我們沒有出門。", True),  # traditional characters
            ("我们用 Python 写了一个 parser，它很快。", True),  # not most letters
            ("The signs say 小心地滑 and 请勿吸烟 in red and white.", False),
            ("你好谢谢再见 are hello, thanks, bye.", False),
            ("我们用Python写了一个程序，它运行得很快，结果也很好。", True),
            ("昨日は雨でした。", False),
            ("비가 왔다.", False),
            ("", False),
        ],
    )
    def test_of_texts(self, text: str, yes: bool) -> None:
        assert looks_chinese(text) is yes
        assert (recognise(text) == "zh") is yes

    def test_roles_are_those_of_the_chinese_treebank(self) -> None:
        tags = language("zh").tags
        assert tags.finite == tags.verbs == {"VV", "VA", "VC", "VE"}
        assert tags.is_mark("PU")
        assert not tags.is_mark("VV")


def without_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide Chinese models, where some are installed."""
    ours = [folder for folder in store.folders() if store.Config.read(folder).language != "zh"]
    monkeypatch.setattr(store, "folders", lambda: iter(ours))


class TestWithoutThePackage:
    def test_the_error_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        without_chinese(monkeypatch)
        with pytest.raises(UnknownLanguage, match=r"Chinese \(zh\).*install .*rhetorica-zh"):
            rhetorica.parse(TEXT)
        with pytest.raises(ModelError, match="install the package rhetorica-zh"):
            rhetorica.load("zh")
        with pytest.raises(ModelError, match="install the package rhetorica-zh"):
            rhetorica.load("zh", parser="shift-reduce")
        with pytest.raises(ModelError, match="install the package rhetorica-zh"):
            load_parser("neural", language="zh")

    def test_a_parser_without_chinese_names_those_with(self) -> None:
        with pytest.raises(InvalidRecipe, match=r"li2014 knows en, not 'zh': choose neural or"):
            Recipe("zh", "li2014")
        with pytest.raises(UnknownLanguage, match=r"li2014 knows en, not 'zh': choose neural or"):
            rhetorica.load(parser="li2014")(TEXT)

    def test_english_goes_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        without_chinese(monkeypatch)
        assert models_of(Recipe()) == models_of(Recipe("en"))
        parses = list(rhetorica.load().pipe(["It rained.", Document("雨", language="en")]))
        assert [parse.document.language for parse in parses] == ["en", "en"]

    def test_what_is_said_to_be_english_is(self) -> None:
        parse = rhetorica.load()(Document(TEXT, language="en"))
        assert "".join(parse.edus) == TEXT


def test_the_treebank_goes_with_the_language() -> None:
    assert Recipe("zh").model == "gcdt"
    assert Recipe("en", model="gcdt").model == "gum"
    assert Recipe().model == "gum"
    assert Recipe("zh", model="scidtb").model == "scidtb"
    with pytest.raises(RhetoricaError, match="language 'xx'"):
        Recipe("xx")


def test_the_vocabulary_may_hold_line_separators() -> None:
    tokenizer = WordPiece.read("[UNK]\n\u2028\n雨\r\n天\n")
    assert tokenizer.vocabulary == ("[UNK]", "\u2028", "雨", "天")


class TestLayout:
    example = Example(
        "rain",
        "gcdt",
        ("下雨", "了", "。", "我们", "走", "。", "天晴"),
        (False,) * 7,
        np.arange(7),
        np.array([PARAGRAPH, 0, 0, SENTENCE, 0, 0, PARAGRAPH]),
        DepTree((), ()),
        None,
        unspaced=True,
    )

    def test_plain(self) -> None:
        text, starts = lay_out(self.example, None)
        assert text == "下雨了。我们走。\n\n天晴"
        assert starts == [0, 2, 3, 4, 6, 7, 10]

    @pytest.mark.parametrize("seed", range(40))
    def test_at_random(self, seed: int) -> None:
        text, starts = lay_out(self.example, random.Random(seed))
        words = self.example.words
        assert [text[at : at + len(w)] for at, w in zip(starts, words, strict=True)] == [*words]
        assert "".join(text.split()) == "".join(words)
