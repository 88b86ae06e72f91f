from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica import Document, Parse, Span
from rhetorica.errors import InvalidDocument, Mismatch
from rhetorica.evaluate import Alignment, align, pair
from rhetorica.evaluate.align import sentence_starts
from strategies import documents


def test_edus_are_ranges_of_visible_characters():
    gold = Document.from_edus(["It 's wet ,", "I said ."])
    pred = Document("\n It's wet, I\tsaid.", edus=(Span(0, 7), Span(7, 19)))
    found = align(gold, pred)
    assert found == Alignment((0, 8, 14), (0, 4, 14))
    assert not found.same_edus


def test_white_space_at_the_edge_of_an_edu_makes_no_difference():
    gold = Document("ab cd", edus=(Span(0, 3), Span(3, 5)))
    pred = Document("ab cd", edus=(Span(0, 2), Span(3, 5)))
    assert align(gold, pred).same_edus


def test_empty_texts_and_texts_without_edus():
    assert align(Document(""), Document(" \n")) == Alignment((0,), (0,))
    assert align(Document.from_edus(["ab"]), Document("a b")) == Alignment((0, 2), (0,))


def test_a_different_text_is_named_and_shown():
    gold = Document.from_edus(["It was wet", "because it rained ."], id="gold-doc")
    pred = Document.from_edus(["It was wet", "because it rains."], id="pred-doc")
    with pytest.raises(Mismatch) as caught:
        align(gold, pred)
    message = str(caught.value)
    assert "'gold-doc'" in message
    assert "'pred-doc'" in message
    assert "from character 22 on" in message
    assert "'e' (near ' wet because it rained .')" in message
    assert "'s' (near ' wet because it rains.')" in message


def test_a_text_that_goes_on_is_told_from_one_that_ends():
    with pytest.raises(Mismatch, match=re.escape("'c' (near 'a b c') in gold and the end (near")):
        align(Document.from_edus(["a b c"]), Document.from_edus(["ab"]))


def test_an_edu_of_white_space_is_refused():
    doc = Document("a \n b", edus=(Span(0, 1), Span(1, 3), Span(4, 5)), id="d")
    with pytest.raises(InvalidDocument, match="EDU 2 of 'd' holds nothing but white space"):
        assert align(doc, doc).same_edus


def test_sentences_need_not_cover_the_text():
    doc = Document("x ab. cd.", sentences=(Span(2, 5), Span(6, 9)))
    assert sentence_starts(doc) == {1, 4}


@given(documents(layers=False), st.data())
def test_spacing_does_not_matter(doc: Document, data: st.DataObject):
    texts = [
        "".join(char + data.draw(st.sampled_from(["", " "])) for char in text if not char.isspace())
        for text in doc.edu_texts
    ]
    assert align(doc, Document.from_edus(texts, joiner="\n\n")).same_edus


def test_long_texts():
    doc = Document.from_edus(["some words of an EDU ."] * 20_000)
    assert align(doc, doc).same_edus


def named(*ids: str) -> list[Parse]:
    return [Parse(Document("", id=id)) for id in ids]


def test_documents_are_paired_by_id():
    paired = pair(named("a", "b"), named("b", "a"))
    assert [(gold.id, pred.id) for gold, pred in paired] == [("a", "a"), ("b", "b")]


def test_documents_without_usable_ids_are_paired_by_order():
    assert [(g.id, p.id) for g, p in pair(named("a", ""), named("", "b"))] == [("a", ""), ("", "b")]
    assert len(pair(named("a", "a"), named("a", "b"))) == 2
    assert pair([], []) == []


def test_missing_documents_are_listed():
    with pytest.raises(Mismatch, match="no prediction for 2 of 3 documents: b, c "):
        pair(named("a", "b", "c"), named("a"))
    with pytest.raises(Mismatch, match="no gold analysis for 1 of 2 documents: z "):
        pair(named("a"), named("a", "z"))
    with pytest.raises(Mismatch, match=re.escape("1, 2, 3, 4, 5, ...")):
        pair(named(*"123456789"), named())
    with pytest.raises(Mismatch, match="2 gold documents but 1 predicted"):
        pair(named("", ""), named("a"))
