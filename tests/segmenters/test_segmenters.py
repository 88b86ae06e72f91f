"""The segmenters: one contract for all, learning from little, bad input, nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from rhetorica import Document, Span
from rhetorica.errors import ModelError, UnknownName
from rhetorica.segmenters import SEGMENTERS, load_segmenter, segment, segment_all
from rhetorica.segmenters.boundaries import Segmenter, cut
from rhetorica.segmenters.crf import CRFSegmenter
from rhetorica.segmenters.features import GROUPS, PAPER
from rhetorica.segmenters.logistic import LogisticSegmenter
from rhetorica.text import annotate
from strategies import documents

UNITS = [
    ["We left early", "because it rained."],
    ["The man", "who lives here", "says", "that he is tired."],
    ["If you come,", "bring some wine."],
    ["She slept", "while he was reading."],
    ["They stayed", "although it was cold."],
    ["He said", "that the shop was closed."],
]


def training_documents() -> list[Document]:
    from dataclasses import replace

    docs = []
    for units in UNITS * 3:
        doc = Document.from_edus(units)
        docs.append(replace(annotate(Document(doc.text)), edus=doc.edus))
    return docs


@pytest.fixture(scope="module", params=["crf", "crf-paper", "logistic"])
def trained(request: pytest.FixtureRequest) -> CRFSegmenter | LogisticSegmenter:
    docs = training_documents()
    if request.param == "logistic":
        return LogisticSegmenter(l2=0.02, bags=3).fit(docs)
    groups = PAPER if request.param == "crf-paper" else GROUPS
    return CRFSegmenter(groups=groups, l2=0.1, l1=0.0, min_count=1).fit(docs)


def test_a_few_sentences_are_learned(trained: CRFSegmenter | LogisticSegmenter) -> None:
    for doc in training_documents():
        found = cut(doc, trained.boundaries(doc), threshold=trained.threshold).document
        assert found.edu_texts == doc.edu_texts


def test_saved_and_loaded_is_the_same(
    trained: CRFSegmenter | LogisticSegmenter, tmp_path: Path
) -> None:
    trained.save(tmp_path / "model")
    again = type(trained).load(tmp_path / "model")
    for doc in training_documents()[: len(UNITS)]:
        assert again.boundaries(doc) == pytest.approx(trained.boundaries(doc), abs=2e-3)


def test_training_is_deterministic(trained: CRFSegmenter | LogisticSegmenter) -> None:
    if isinstance(trained, LogisticSegmenter):
        again: Segmenter = LogisticSegmenter(l2=0.02, bags=3).fit(training_documents())
    else:
        again = CRFSegmenter(groups=trained.groups, l2=0.1, l1=0.0, min_count=1).fit(
            training_documents()
        )
    doc = annotate("I stayed because the road was wet.")
    assert again.boundaries(doc) == trained.boundaries(doc)


@pytest.mark.parametrize("name", SEGMENTERS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n\n ",
        "word",
        "One sentence only.",
        "🌧️ 🌧️",
        "null\x00byte here",
        "x" * 50_000,
        "one\r\ntwo\rthree\n\nfour",
        "Es regnet, weil der Himmel grau ist.",
        "هذا نص عربي قصير.",
    ],
)
def test_every_segmenter_takes_any_text(name: str, text: str) -> None:
    doc = segment(text, segmenter=name)
    assert doc.text == text
    assert "".join("".join(doc.edu_texts).split()) == "".join(text.split())


@settings(max_examples=30)
@given(documents())
def test_nothing_is_lost(doc: Document) -> None:
    found = segment(Document(doc.text))
    assert "".join("".join(found.edu_texts).split()) == "".join(doc.text.split())


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


def test_unknown_names() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'crf'"):
        load_segmenter("crff")
    with pytest.raises(ModelError, match="no model"):
        load_segmenter("crf", "klingon")


def test_a_damaged_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    for name in ("crf", "logistic"):
        with pytest.raises(ModelError, match="cannot load"):
            load_segmenter(name, tmp_path)


def test_calibration_is_learned_and_keeps_the_cuts() -> None:
    docs = training_documents()
    model = CRFSegmenter(l2=0.1, l1=0.0, min_count=1).fit(docs)
    before = [cut(doc, model.boundaries(doc), threshold=model.threshold).document for doc in docs]
    model.slope, model.bias = 0.5, -0.4
    after = [cut(doc, model.boundaries(doc), threshold=model.threshold).document for doc in docs]
    assert [doc.edus for doc in before] == [doc.edus for doc in after]
    assert model.threshold < 0.5


def test_fitted_calibration_makes_probabilities_honest() -> None:
    from rhetorica.segmenters.calibration import calibrated, fit_calibration

    class Overconfident:
        name, threshold = "loud", 0.5

        def boundaries(self, doc: Document) -> list[float]:
            return [0.999 if i % 2 else 0.001 for i in range(len(doc.tokens))]

    docs = training_documents()
    slope, bias = fit_calibration(Overconfident(), docs)
    low, high = calibrated([0.001, 0.999], slope, bias)
    assert 0.001 < low < 0.9
    assert high < 0.999
