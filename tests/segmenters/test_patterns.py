"""CODRA's segmenter: its patterns and estimates by hand; the CRF's best sequence, and phrases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lessons import sentences
from rhetorica.document import Document, Span, Token
from rhetorica.errors import RepairWarning
from rhetorica.features.phrases import Phrases
from rhetorica.features.syntax import Syntax
from rhetorica.learn.crfsuite import open_tagger
from rhetorica.segmenters.crf import BEGIN, CRFSegmenter
from rhetorica.segmenters.logistic import (
    LogisticSegmenter,
    _Corpus,
    _count_patterns,
    _estimate,
    _Estimates,
    _patterns,
    _rules,
    _sentence_rows,
)

PHRASES = (
    "(S (NP (PRP We)) (VP (VBD left) (SBAR (IN because) (S (NP (PRP it)) (VP (VBD rained))))) "
    "(. .))",
)


def worked(*, phrases: bool = True) -> Document:
    rows = (
        ("We", "PRP", 1, "nsubj"), ("left", "VBD", -1, "root"), ("because", "IN", 4, "mark"),
        ("it", "PRP", 4, "nsubj"), ("rained", "VBD", 1, "advcl"), (".", ".", 1, "punct"),
    )  # fmt: skip
    tokens, at = [], 0
    for word, tag, head, relation in rows:
        tokens.append(Token(at, at + len(word), tag=tag, head=head, deprel=relation))
        at += len(word) + 1
    text = " ".join(row[0] for row in rows)
    return Document(
        text,
        (Span(0, 7), Span(8, len(text))),
        tuple(tokens),
        (Span(0, len(text)),),
        language="en",
        constituency=PHRASES if phrases else (),
    )


def test_productions_at_a_boundary() -> None:
    doc = worked()
    syntax = Syntax.of(doc)
    phrases = Phrases.of(doc, syntax)
    rule = list(_rules(syntax, range(6), phrases))[1]  # before "because"
    assert (rule.label, rule.word, rule.at) == ("VP", "left", 1)
    assert rule.parts == [("VBD", "VBD", "left"), ("SBAR", "VBD", "rained")]
    assert rule.spelled(1) == "VBD/VBD | SBAR/VBD"
    assert rule.spelled(1, lexical=True) == "VBD/VBD(left) | SBAR/VBD(rained)"
    rule = list(_rules(syntax, range(6), None))[1]
    assert (rule.label, rule.word, rule.at) == ("root", "left", 2)
    assert rule.spelled() == "nsubj/PRP =/VBD | advcl/VBD punct/."
    assert rule.spelled(1) == "=/VBD | advcl/VBD"
    patterns = list(_patterns(syntax, range(6), phrases))[1]
    assert patterns[3] == "dVP:VBD/VBD(left) | SBAR/VBD(rained)"
    assert patterns[5] == "fVP:VBD/VBD | SBAR/VBD^because"
    assert patterns[-1] == "i^because"


def test_estimates_leave_out_the_own_fold() -> None:
    doc = worked()
    syntax = Syntax.of(doc)
    starts = [False, False, True, False, False, False]
    never = [False] * 6
    corpus = [
        _Corpus(syntax, starts, 0), _Corpus(syntax, starts, 0), _Corpus(syntax, starts, 1),
        _Corpus(syntax, never, 1),
    ]  # fmt: skip
    counts = _count_patterns(corpus)
    assert counts["i^because"][:2] == [[2, 2], [1, 2]]
    assert _Estimates(counts, 0).get("i^because") == _estimate(1, 2)
    assert _Estimates(counts, 1).get("i^because") == _estimate(2, 2)
    assert _Estimates(counts, 4).get("i^because") == _estimate(3, 4)
    alone = _count_patterns(corpus[:2])
    assert _Estimates(alone, 0).get("i^because") is None  # seen in its own fold only


def test_rows_of_tokens() -> None:
    syntax = Syntax.of(worked())
    patterns = list(_patterns(syntax, range(6), None))
    rows = _sentence_rows(syntax, range(6), patterns, {"i^because": 0.7})
    assert len(rows) == 5
    because = dict(rows[1])
    assert because["t=VBD|IN"] == because["t1=IN"] == 1.0
    assert because["rel"] == pytest.approx(2 / 6)
    assert because["start"] == pytest.approx(2 / 20)
    assert because["end"] == pytest.approx(4 / 20)
    assert because["pi"] == pytest.approx(0.7)
    assert because["pi4"] == 1.0  # above 0.02, 0.1, 0.3 and 0.6
    assert because["pe?"] == 1.0  # not known
    assert because["-t1=VBD"] == because["+t1=PRP"] == 1.0


def test_phrases_can_be_learned_from_and_missing_ones_are_told() -> None:
    docs = [worked()] * 6
    model = LogisticSegmenter(phrases=True, l2=0.5, bags=2).fit(docs)
    assert any("SBAR" in pattern for pattern in model.patterns_)
    assert model.boundaries(worked())[2] > 0.5
    with pytest.warns(RepairWarning, match="no phrase structures"):
        model.boundaries(worked(phrases=False))
    crf = CRFSegmenter(phrases=True, iterations=5, min_count=1).fit(docs)
    with pytest.warns(RepairWarning, match="no phrase structures"):
        crf.boundaries(worked(phrases=False))


def test_the_strength_is_found_by_cross_validation() -> None:
    docs = [replace(doc, id=str(number)) for number, doc in enumerate(sentences() * 2)]
    model = LogisticSegmenter(bags=1).fit(docs)
    assert model.settings.l2 == max(
        model.cross_validation_, key=model.cross_validation_.__getitem__
    )
    assert len(model.cross_validation_) == 4


def test_the_best_sequence_is_cut() -> None:
    """By Viterbi, units begin where crfsuite's own best sequence has them."""
    docs = list(sentences())
    for iterations in (1, 3, 8):
        model = CRFSegmenter(decoding="viterbi", iterations=iterations, min_count=1, l1=0.0)
        model.fit(docs)
        tagger = open_tagger(model.weights_)
        for doc in docs:
            said = [p > model.threshold for p in model.boundaries(doc)]
            for sentence, features in model._features(doc):
                best = [label == BEGIN for label in tagger.tag(features)]
                assert said[sentence.start + 1 : sentence.stop] == best[1:]
