"""The syntax pipeline: layers, offsets, given layers kept, all kinds of input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings

from rhetorica import Document, Span, Token
from rhetorica.languages.english import load_pipeline
from rhetorica.languages.spacy import _cuts
from rhetorica.text import annotate, annotate_all
from rhetorica.text.layout import find_paragraphs
from strategies import documents

TEXT = "Hard Times\n\nDr. Smith doesn't sleep well. He reads (a lot), because he can.\n"


def test_layers() -> None:
    doc = annotate(TEXT)
    assert next(doc.text[s:e] for s, e in doc.paragraphs) == "Hard Times"
    assert [doc.text[s:e] for s, e in doc.sentences] == [
        "Hard Times",
        "Dr. Smith doesn't sleep well.",
        "He reads (a lot), because he can.",
    ]
    words = [doc.form(token) for token in doc.tokens]
    assert words[2:7] == ["Dr.", "Smith", "does", "n't", "sleep"]
    by_word = dict(zip(words, doc.tokens, strict=True))
    assert by_word["because"].tag == "IN"
    assert by_word["reads"].lemma == "read"
    assert doc.form(doc.tokens[by_word["because"].head or 0]) == "can"
    assert sum(token.head == -1 for token in doc.tokens) == 3


def test_offsets_point_into_the_users_text() -> None:
    text = "One line.\r\n\r\n  \u00c9mile\tleft \U0001f600 early.\u2029Then he slept."
    doc = annotate(text)
    assert doc.text == text
    joined = "".join(text[token.start : token.end] for token in doc.tokens)
    assert joined == "".join(text.split())


def test_given_sentences_and_tokens_are_kept() -> None:
    text = "a b c d"
    doc = Document(text, tokens=tuple(Token(i, i + 1) for i in range(0, 7, 2)))
    assert [t[:2] for t in annotate(doc).tokens] == [t[:2] for t in doc.tokens]
    sentences = (Span(0, 3), Span(4, 7))
    given_sentences = replace(doc, sentences=sentences)
    assert annotate(given_sentences).sentences == sentences
    plain = Document("It rained. We left.", sentences=(Span(0, 19),))
    assert annotate(plain).sentences == (Span(0, 19),)


def test_gold_syntax_is_kept() -> None:
    gold = Document(
        "It rains.",
        tokens=(
            Token(0, 2, tag="PRP", head=1, deprel="nsubj"),
            Token(3, 8, tag="ODD", head=-1, deprel="root"),
            Token(8, 9, tag=".", head=1, deprel="punct"),
        ),
        sentences=(Span(0, 9),),
    )
    assert annotate(gold).tokens == gold.tokens


def test_a_stream_keeps_its_order() -> None:
    texts = [f"Text number {i} is here. It ends." for i in range(40)]
    texts[7] = ""
    docs = list(annotate_all(texts))
    assert [doc.text for doc in docs] == texts
    assert all(len(doc.sentences) == 2 for i, doc in enumerate(docs) if i != 7)


def test_a_stream_may_wait_for_another_thread_that_annotates() -> None:
    nlp = load_pipeline()
    done: list[bool] = []

    def waiting() -> Iterator[str]:
        for text in ("It rained.", "We left.", "It was late."):
            other = Thread(target=annotate, args=("Nobody knew.", nlp), daemon=True)
            other.start()
            other.join(20)
            done.append(not other.is_alive())
            yield text

    assert len(list(annotate_all(waiting(), nlp))) == len(done) == 3
    assert all(done)


def test_long_texts_are_cut_between_paragraphs() -> None:
    paragraph = "The dog barked at the cat. The cat did not care at all.\n\n"
    doc = annotate(paragraph * 1500)
    assert len(doc.sentences) == 3000
    assert len(doc.tokens) == 1500 * 15
    heads = [token.head for token in doc.tokens]
    assert all(
        head is not None and abs(head - i) < 10 for i, head in enumerate(heads) if head != -1
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n ",
        "word",
        "🌧️",
        "\x00",
        "\x1b[31mred",
        "x" * 50_000,
        "!?" * 5000,
        "אבג מטר",
        "下雨了。",
    ],
)
def test_any_text(text: str) -> None:
    doc = annotate(text)
    assert "".join(text[t.start : t.end] for t in doc.tokens) == "".join(text.split())


@settings(max_examples=40)
@given(documents())
def test_nothing_is_lost(doc: Document) -> None:
    found = annotate(Document(doc.text))
    assert "".join(doc.text[t.start : t.end] for t in found.tokens) == "".join(doc.text.split())


def pieces(text: str, **layers: Any) -> list[str]:
    doc = Document(text, paragraphs=find_paragraphs(text), **layers)
    starts = _cuts(doc)
    assert starts == sorted(set(starts))
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]


def test_long_paragraphs_are_cut_after_sentences_or_between_words() -> None:
    prose = "It rained, as always (so they say.) " * 5000
    parts = pieces(prose)
    assert len(parts) > 4
    assert max(map(len, parts)) <= 30_000
    assert all(part.endswith("say.) ") for part in parts)
    endless = "and it rained " * 10_000
    assert max(map(len, pieces(endless))) <= 30_000
    assert {word for part in pieces(endless) for word in part.split()} == {"and", "it", "rained"}
    assert pieces("x" * 100_000) == ["x" * 100_000]  # a word is never cut
    assert [len(part) for part in pieces("x" * 40_000 + " " + "y" * 40_000)] == [40_001, 40_000]


def test_paragraphs_of_usual_length_stay_whole() -> None:
    text = "\n\n".join(["word " * 3_000] * 6)
    assert [part.count("\n\n") for part in pieces(text)] == [2, 2, 1]
    with_a_long_one = "Short.\n\n" + "word " * 10_000 + "\n\nShort."
    assert pieces(with_a_long_one)[0] == "Short.\n\n"


def test_long_paragraphs_are_cut_between_known_sentences() -> None:
    text = "a b. " * 20_000
    sentences = tuple(Span(at, at + 24_999) for at in range(0, 100_000, 25_000))
    assert [len(part) for part in pieces(text, sentences=sentences)] == [25_000] * 4
    whole = (Span(0, len(text) - 1),)
    assert pieces(text, sentences=whole) == [text]


def test_a_sentence_without_end_is_annotated_in_parts() -> None:
    doc = annotate(" ".join(["and it rained"] * 4000))
    assert len(doc.tokens) == 12_000
    assert max(end - start for start, end in doc.sentences) <= 30_000
