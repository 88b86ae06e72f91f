"""What is particular to a segmenter; what all promise is in `test_contract`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lessons import sentences
from rhetorica import Document, Span
from rhetorica.pipeline import load_segmenter, segment, segment_all
from rhetorica.segmenters.boundaries import cut
from rhetorica.segmenters.crf import CRFSegmenter


@pytest.mark.parametrize("name", ["crf", "logistic"])
def test_shipped_models_know_clauses(name: str) -> None:
    doc = segment("He stayed at home because it was raining. She said that she would come.",
                  segmenter=name)  # fmt: skip
    assert doc.edu_texts == [
        "He stayed at home",
        "because it was raining.",
        "She said",
        "that she would come.",
    ]
    (parse,) = segment_all([doc.text], segmenter=name)
    assert parse.scores is not None
    assert all(load_segmenter(name).threshold < p <= 1 for p in parse.scores.boundaries)


def test_baselines() -> None:
    text = "We left early because it rained. The train was late."
    assert len(segment(text, segmenter="sentence").edus) == 2
    assert segment(text, segmenter="rules").edu_texts == [
        "We left early",
        "because it rained.",
        "The train was late.",
    ]


def test_gold_sentences_are_respected() -> None:
    doc = Document("We left. It rained.", sentences=(Span(0, 19),))
    assert segment(doc, segmenter="sentence").edus == (Span(0, 19),)


def test_calibration_is_learned_and_keeps_the_cuts() -> None:
    docs = sentences() * 3
    model = CRFSegmenter(l2=0.1, l1=0.0, min_count=1).fit(docs)
    before = [cut(doc, model.boundaries(doc), threshold=model.threshold).document for doc in docs]
    model.settings = replace(model.settings, slope=0.5, bias=-0.4)
    after = [cut(doc, model.boundaries(doc), threshold=model.threshold).document for doc in docs]
    assert [doc.edus for doc in before] == [doc.edus for doc in after]
    assert model.threshold < 0.5


def test_fitted_calibration_makes_probabilities_honest() -> None:
    from rhetorica.learn.calibration import calibrated
    from rhetorica.segmenters.calibration import fit_calibration

    class Overconfident:
        name, threshold = "loud", 0.5

        def boundaries(self, doc: Document) -> list[float]:
            return [0.999 if i % 2 else 0.001 for i in range(len(doc.tokens))]

    docs = sentences() * 3
    slope, bias = fit_calibration(Overconfident(), docs)
    low, high = calibrated([0.001, 0.999], slope, bias)
    assert 0.001 < low < 0.9
    assert high < 0.999
