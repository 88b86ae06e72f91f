"""What every segmenter promises, run over the whole table of segmenters.

Segmenters trained here on a few sentences (one that learns belongs into `SMALL`), and the models
that ship, on texts of all kinds. What is particular to a segmenter is tested in a file of its own.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from lessons import ODD, TEXTS, in_threads, sentences, visible
from rhetorica import Document, Parse, Span
from rhetorica.errors import ModelError, UnknownLanguage, UnknownName
from rhetorica.models.store import models
from rhetorica.pipeline import SEGMENTERS, load, load_segmenter, segment, segment_all
from rhetorica.segmenters.boundaries import cut
from rhetorica.segmenters.crf import CRFSegmenter
from rhetorica.segmenters.features import PAPER
from rhetorica.segmenters.logistic import LogisticSegmenter
from rhetorica.text import annotate
from strategies import documents

NAMES = tuple(SEGMENTERS)
# Segmenters trained here.


def crf(**changes: Any) -> CRFSegmenter:
    return CRFSegmenter(**{"l2": 0.1, "l1": 0.0, "min_count": 1} | changes).fit(sentences() * 3)


def logistic(**changes: Any) -> LogisticSegmenter:
    return LogisticSegmenter(**{"l2": 0.02, "bags": 3} | changes).fit(sentences() * 3)


SMALL: dict[str, tuple[Callable[..., Any], list[dict[str, Any]]]] = {
    "crf": (crf, [{}, {"groups": PAPER}]),
    "logistic": (logistic, [{}]),
}
VARIANTS = [(name, changes) for name, (_, settings) in SMALL.items() for changes in settings]


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda variant: " ".join(map(str, variant)))
def trained(request: pytest.FixtureRequest) -> Any:
    name, changes = request.param
    return SMALL[name][0](**changes)


def test_every_segmenter_that_learns_is_trained_here() -> None:
    learners = {name for name in NAMES if hasattr(type(load_segmenter(name)), "fit")}
    learners -= {"ensemble"}  # learns from what others say; has a file of its own
    assert learners == set(SMALL)


def test_a_few_sentences_are_learned(trained: Any) -> None:
    for doc in sentences():
        found = cut(doc, trained.boundaries(doc), threshold=trained.threshold).document
        assert found.edu_texts == doc.edu_texts


def test_saved_and_loaded_is_the_same(trained: Any, tmp_path: Path) -> None:
    trained.save(tmp_path / "model")
    again = type(trained).load(tmp_path / "model")
    assert again.threshold == trained.threshold
    for doc in sentences():
        assert again.boundaries(doc) == pytest.approx(trained.boundaries(doc), abs=2e-3)


@pytest.mark.parametrize("name", SMALL)
def test_training_is_deterministic(name: str) -> None:
    train, settings = SMALL[name]
    first, second = train(**settings[-1]), train(**settings[-1])
    doc = annotate("I stayed because the road was wet.")
    assert first.boundaries(doc) == second.boundaries(doc)


@pytest.mark.parametrize("name", SMALL)
def test_a_folder_that_is_no_model(name: str, tmp_path: Path) -> None:
    for text in ("{", "{}", "[]"):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(ModelError, match="cannot load"):
            type(load_segmenter(name)).load(tmp_path)


# Models that ship.


SHIPPED = [(model.name, bank) for model in models("segmenter") for bank in model.treebanks]
"""The models in the package: name of the segmenter, treebank."""


def test_every_segmenter_that_learns_has_a_model() -> None:
    assert {name for name, _ in SHIPPED} == {*SMALL, "ensemble"}


def run(name: str, texts: list[str]) -> list[Parse]:
    return list(segment_all(texts, segmenter=name))


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def alone(name: str) -> list[Parse]:
    """The texts cut one by one, in one thread."""
    return [parse for text in TEXTS for parse in run(name, [text])]


def test_unknown_names() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'crf'"):
        load_segmenter("crff")
    with pytest.raises(ModelError, match="no model"):
        load_segmenter("crf", "klingon")


@pytest.mark.parametrize(("name", "model"), [*SHIPPED, ("neural", "gum"), ("neural", "scidtb")])
def test_every_shipped_model_loads_and_cuts(name: str, model: str) -> None:
    doc = segment(TEXTS[0], segmenter=name, model=model)
    assert len(doc.edus) > 1
    assert visible("".join(doc.edu_texts)) == visible(TEXTS[0])


def test_probabilities(name: str) -> None:
    segmenter = load_segmenter(name)
    assert 0 < segmenter.threshold < 1
    for text in TEXTS:
        doc = annotate(text)
        found = segmenter.boundaries(doc)
        assert len(found) == len(doc.tokens)
        assert all(0 <= value <= 1 for value in found)
    for parse in run(name, TEXTS):
        assert parse.scores is None or len(parse.scores.boundaries) == len(parse.edus)
        if parse.scores:
            assert all(segmenter.threshold < p <= 1 for p in parse.scores.boundaries)


def test_the_same_again(name: str, alone: list[Parse]) -> None:
    assert [parse for text in TEXTS for parse in run(name, [text])] == alone


def test_the_order_of_a_batch_does_not_matter(name: str, alone: list[Parse]) -> None:
    assert run(name, TEXTS) == alone
    assert run(name, TEXTS[::-1]) == alone[::-1]


def test_given_sentences_are_boundaries(name: str) -> None:
    text = "We left. It rained."
    doc = segment(Document(text, sentences=(Span(0, 8), Span(9, 19))), segmenter=name)
    assert {0, 9} <= {edu.start for edu in doc.edus}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_any_text(name: str, text: str) -> None:
    doc = segment(Document(text, language="en"), segmenter=name)
    assert doc.text == text
    assert visible("".join(doc.edu_texts)) == visible(text)


@settings(max_examples=8)
@given(documents())
def test_nothing_is_lost(name: str, doc: Document) -> None:
    # Declared, since four different Chinese characters by chance are a text in Chinese.
    found = segment(Document(doc.text, language="en"), segmenter=name)
    assert visible("".join(found.edu_texts)) == visible(doc.text)


@pytest.mark.parametrize("name", [n for n in NAMES if "zh" not in SEGMENTERS[n].languages])
def test_what_looks_chinese_is_refused_by_those_who_do_not_know_it(name: str) -> None:
    with pytest.raises(UnknownLanguage, match=r"looks like Chinese .* if it is not .* 'en'"):
        segment("下雨了 漢", segmenter=name)
    assert segment("下雨了", segmenter=name).text == "下雨了"  # too little to tell


def test_eight_threads_give_the_same_answers(name: str, alone: list[Parse]) -> None:
    assert in_threads(lambda text: run(name, [text])[0], TEXTS * 8) == alone * 8


def test_pickled_and_back_is_the_same(name: str, alone: list[Parse]) -> None:
    again = pickle.loads(pickle.dumps(load(parser=None, segmenter=name)))
    assert list(again.pipe(TEXTS)) == alone
