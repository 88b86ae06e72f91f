"""Languages: recognised, declared, refused; roles of tags; one front end each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import rhetorica
from rhetorica import Document, Join, Parse, RSTTree, Span, Token
from rhetorica.errors import LanguageWarning, UnknownLanguage, UnknownName
from rhetorica.features.edus import EDUTable
from rhetorica.languages import (
    LANGUAGES,
    check_language,
    common_language,
    language,
    language_of,
    recognise,
    settle,
)
from rhetorica.parsers.li2014 import Li2014Parser
from rhetorica.pipeline import PARSERS, SEGMENTERS, load_parser, load_segmenter, segment
from rhetorica.text import annotate, annotate_all

CHINESE = "昨天下了一整天的雨，所以我们没有出门。今天天气好了，大家都去公园散步。"
FRENCH = (
    "Hier il pleuvait toute la journée et nous sommes restés chez nous pour lire des livres. " * 2
)


def chinese() -> Document:
    """Return a Chinese document that has all its layers, as a treebank would."""
    words = ["下雨", "了", "，", "我们", "没", "出门", "。"]
    tags = ["VV", "SP", "PU", "PN", "AD", "VV", "PU"]
    heads = [5, 0, 0, 5, 5, -1, 5]
    starts = [sum(map(len, words[:i])) for i in range(len(words))]
    return Document(
        "".join(words),
        edus=(Span(0, 4), Span(4, 10)),
        tokens=tuple(
            Token(start, start + len(word), lemma=word, tag=tag, head=head, deprel="dep")
            for start, word, tag, head in zip(starts, words, tags, heads, strict=True)
        ),
        sentences=(Span(0, 10),),
        paragraphs=(Span(0, 10),),
        id="rain",
        language="zh",
    )


def test_the_table() -> None:
    assert all(code == one.code for code, one in LANGUAGES.items())
    assert language("en-GB") is language("EN") is language("en")
    with pytest.raises(UnknownName, match="language 'xx'"):
        language("xx")
    assert language_of(Document("It rained.")).code == "en"
    assert language_of(chinese()).code == "zh"
    with pytest.raises(UnknownLanguage, match=r"rain is in .de., .*installed: en, zh"):
        language_of(replace(chinese(), language="de"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "en"),
        ("Rain.", "en"),
        ("It was raining all day, and so we did not go out of the house at all. " * 3, "en"),
        (FRENCH, ""),
        (CHINESE, "zh"),
        ("下雨了。", "en"),  # too short to tell
        ("The word 雨 is Chinese, and so are 昨天, 今天, 明天, 天气 and 公园.", "en"),
        ("昨日は一日中雨が降っていたので、私たちは外に出ませんでした。今日は天気が良い。", ""),
        ("Nous sommes restés à la maison parce qu'il pleuvait.", ""),
        ("Wir sind zu Hause geblieben, weil es regnete.", ""),
        ("Nos quedamos en casa porque llovía.", "en"),  # one word is no proof
        ("נשארנו בבית כי ירד גשם.", ""),
        ("Мы остались дома.", ""),
        ("She loves the Rue de la Paix and La Boca.", "en"),
        ("Coffee keeps tired people awake during long meetings.", "en"),
        ("π, μ and σ", "en"),
    ],
)
def test_recognition(text: str, code: str) -> None:
    assert recognise(text) == code


def test_what_a_document_declares_holds() -> None:
    assert settle(Document(CHINESE, language="en")).language == "en"
    assert settle(Document(CHINESE, language="zh"), ["zh"]).language == "zh"
    with pytest.raises(UnknownLanguage, match="is in 'zh'"):
        settle(Document("It rained.", language="zh"), ["en"])


def test_otherwise_the_text_decides() -> None:
    assert settle(Document("It rained.")).language == "en"
    assert settle(Document(CHINESE)).language == "zh"
    with pytest.raises(UnknownLanguage, match=r'looks like Chinese \(zh\).*language="en"'):
        settle(Document(CHINESE), ["en"])
    with pytest.warns(LanguageWarning, match="hier does not look like English"):
        assert settle(Document(FRENCH, id="hier")).language == "en"


def test_that_a_text_might_be_english_proves_nothing() -> None:
    assert settle(Document("下雨了。"), ["zh"]).language == "zh"
    with pytest.warns(LanguageWarning, match="does not look like Chinese"):
        assert settle(Document(FRENCH), ["zh"]).language == "zh"


@pytest.mark.parametrize("name", PARSERS)
def test_no_parser_takes_a_document_of_another_language(name: str) -> None:
    with pytest.raises(UnknownLanguage, match="rain is in 'zh'"):
        load_parser(name)(chinese())
    with pytest.raises(UnknownLanguage, match="looks like Chinese"):
        rhetorica.load("en", parser=name)(CHINESE)
    if "zh" not in PARSERS[name].languages:
        with pytest.raises(UnknownLanguage, match=rf"Chinese .*{name} knows en.*choose neural or"):
            rhetorica.load(parser=name)(CHINESE)


@pytest.mark.parametrize("name", SEGMENTERS)
def test_only_segmenters_that_are_not_trained_take_it(name: str) -> None:
    doc = replace(chinese(), edus=())
    if name in ("sentence", "rules"):
        assert load_segmenter(name).boundaries(doc) == [1, 0, 0, 0, 0, 0, 0]
        return
    with pytest.raises(UnknownLanguage, match="rain is in 'zh'"):
        load_segmenter(name).boundaries(doc)
    with pytest.raises(UnknownLanguage, match="looks like Chinese"):
        segment(CHINESE, segmenter=name, language="en")


def test_features_know_what_they_cannot_read() -> None:
    with pytest.raises(UnknownLanguage):
        EDUTable.of(replace(chinese(), language="de"))
    verbs = EDUTable.of(chinese()).attributes["verbs"].tolist()
    assert verbs[0] == verbs[1]


def test_a_foreign_text_is_told_before_it_is_parsed() -> None:
    with pytest.warns(LanguageWarning, match="does not look like English"):
        annotate(FRENCH)
    with pytest.raises(UnknownLanguage):
        annotate(Document(FRENCH, language="fr"))


def test_syntax_that_is_there_needs_no_front_end() -> None:
    assert annotate(chinese()) == chinese()


def test_check() -> None:
    parser = load_parser("li2014")
    check_language(Document("Rain."), parser)  # type: ignore[arg-type]
    check_language(Document("Rain.", language="en-US"), parser)  # type: ignore[arg-type]
    with pytest.raises(UnknownLanguage, match=r"li2014 model knows: en"):
        check_language(Document("Rain.", language="de"), parser)  # type: ignore[arg-type]


def test_a_model_knows_the_language_that_it_learned(tmp_path: Path) -> None:
    doc = annotate(Document.from_edus(["It rained", "because it was wet."]))
    gold = Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "cause"),)))
    parser = Li2014Parser(bits=10, epochs=1).fit([gold])
    assert parser.language == "en"
    parser.save(tmp_path, language="de")
    again = Li2014Parser.load(tmp_path)
    assert again.language == "de"
    with pytest.raises(UnknownLanguage, match=r"is in 'en'.*knows: de"):
        again(doc)
    again.save(tmp_path / "more")
    assert Li2014Parser.load(tmp_path / "more").language == "de"


def test_documents_of_several_languages_make_no_model() -> None:
    assert common_language([Document("Rain."), Document("Rain.", language="en-GB")]) == "en"
    with pytest.raises(UnknownLanguage, match=r"several languages \(en, zh\)"):
        common_language([Document("Rain."), chinese()])


class TestRoles:
    def test_of_english(self) -> None:
        tags = language("en").tags
        assert tags.finite < tags.verbs
        assert tags.participles < tags.verbs
        assert tags.nouns < tags.content
        assert "MD" not in tags.content
        assert all(map(tags.is_mark, [",", ".", ":", "``", "''", "-LRB-"]))
        assert not any(map(tags.is_mark, ["NN", "$", "IN"]))
        assert tags.is_symbol("$")
        assert not tags.is_symbol("NN")

    def test_of_another_language(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A language that is only facts works as one with a module of its own."""

        def by_character(docs: Iterable[Document]) -> Iterator[Document]:
            for doc in docs:
                tokens = [
                    Token(i, i + 1, lemma=c, tag="PU" if c in "，。" else "VV", head=-1, deprel="x")
                    for i, c in enumerate(doc.text)
                    if not c.isspace()
                ]
                yield replace(doc, tokens=tuple(tokens), sentences=doc.paragraphs)

        english = language("en")
        tags = replace(english.tags, verbs=frozenset({"VV"}), is_mark=lambda tag: tag == "PU")
        made = replace(language("zh"), front_end=by_character, tags=tags)
        monkeypatch.setitem(LANGUAGES, "zh", made)
        docs = list(annotate_all([CHINESE, "It rained.", Document("下\n雨", language="zh")]))
        assert [doc.language for doc in docs] == ["zh", "en", "zh"]
        assert [len(doc.tokens) for doc in docs] == [len(CHINESE), 3, 2]
        assert docs[2].text == "下\n雨"
        doc = replace(chinese(), language="zh")
        assert len(set(EDUTable.of(doc).attributes["verbs"].tolist())) == 1


def test_several_threads_can_annotate() -> None:
    texts = [f"Text number {n} says that it rained, and we left. " * 8 for n in range(12)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(annotate, texts)) == [annotate(text) for text in texts]
