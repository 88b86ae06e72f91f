from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica import Document, Parse, Span
from rhetorica.errors import InvalidDocument
from rhetorica.evaluate import Counts, segmentation


def parse(*edus: str, sentences: tuple[Span, ...] = ()) -> Parse:
    doc = Document.from_edus(edus)
    return Parse(Document(doc.text, doc.edus, sentences=sentences))


# Two sentences: "aa bb cc." (EDUs aa bb | cc.) and "dd ee ff." (EDUs dd | ee | ff.).
GOLD = parse("aa bb", "cc.", "dd", "ee", "ff.", sentences=(Span(0, 9), Span(10, 19)))


def test_all_starts():
    pred = parse("aa", "bb cc.", "dd", "ee ff.")
    assert segmentation.counts(GOLD, pred) == Counts(3, 5, 4)  # aa, dd and ee


def test_starts_inside_sentences():
    pred = parse("aa", "bb cc.", "dd", "ee ff.")
    found = segmentation.counts(GOLD, pred, variant="inside")
    assert found == Counts(1, 3, 2)  # ee of cc, ee, ff; bb is wrong
    assert (found.precision, found.f1) == (1 / 2, 2 / 5)


def test_missing_a_sentence_start_is_no_matter_inside():
    pred = parse("aa bb", "cc. dd", "ee", "ff.")
    assert segmentation.counts(GOLD, pred, variant="inside") == Counts(3, 3, 3)
    assert segmentation.counts(GOLD, pred) == Counts(4, 5, 4)


def test_sentences_are_needed_for_the_inside_variant():
    with pytest.raises(InvalidDocument, match="no sentences"):
        segmentation.counts(parse("a", "b"), parse("a", "b"), variant="inside")


def test_empty_and_single():
    empty = segmentation.counts(parse(), parse())
    assert empty == Counts()
    assert math.isnan(empty.f1)
    assert segmentation.counts(parse(), parse(), variant="inside") == Counts()
    assert segmentation.counts(parse("a"), parse("a")) == Counts(1, 1, 1)
    only = parse("a", sentences=(Span(0, 1),))
    assert segmentation.counts(only, only, variant="inside") == Counts()


def test_no_predicted_edus():
    found = segmentation.counts(parse("a", "b"), Parse(Document("a b")))
    assert found == Counts(0, 2, 0)
    assert (found.precision, found.recall, found.f1) == (0, 0, 0)


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_f1_is_the_harmonic_mean(correct: int, missed: int, spurious: int):
    counts = Counts(correct, correct + missed, correct + spurious)
    p, r = counts.precision, counts.recall
    if p + r > 0:
        assert counts.f1 == pytest.approx(2 * p * r / (p + r))
