"""Connectives: what they say weighs on the relation of the unit that begins with one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rhetorica
from rhetorica import Document
from rhetorica.document import Span
from rhetorica.languages import LANGUAGES
from rhetorica.models.store import models
from rhetorica.parsers.neural.connectives import Connectives
from rhetorica.relations import relation_set
from rhetorica.trees import Label

LABELS = [
    Label("SN", "causal-cause"),
    Label("SN", "adversative-concession"),
    Label("NN", "joint-list"),
    Label("NN", "same-unit"),
]


def weighed(edus: list[str], language: str = "zh") -> Any:
    """Return the labels of a join of two EDUs that were all as likely."""
    text = "".join(edus)
    cut = (Span(0, len(edus[0])), Span(len(edus[0]), len(text)))
    doc = Document(text, language=language, edus=cut)
    p = np.full((1, len(LABELS)), 0.25, np.float32)
    return Connectives(doc, LABELS).weigh(p, [(0, 1, 2)])[0]


def test_other_classes_are_doubted() -> None:
    p = weighed(["因为下雨了，", "所以我没去上学。"])
    assert p.sum() == pytest.approx(1)
    assert p[0] == p[3] > 3 * p[1]
    assert p[1] == p[2]
    assert (weighed(["因为下雨了，", "所以我没去上学。"], "zh-CN") == p).all()


@pytest.mark.parametrize(
    ("second", "best"),
    [("但我没去。", 1), ("但是我没去。", 1), ("“但是我没去。”", 1), ("並且下雪了。", 2)],
)
def test_the_longest_after_any_mark(second: str, best: int) -> None:
    assert weighed(["下雨了，", second]).argmax() == best


def test_nothing_is_said_without_one() -> None:
    assert (weighed(["下雨了，", "我没去。"]) == 0.25).all()
    assert (weighed(["所以", "我没去。"]) == 0.25).all()  # the first part does not count
    assert (weighed(["It rained", "so we left."], "en") == 0.25).all()
    assert (weighed(["下雨了，", "……"]) == 0.25).all()


def test_classes_are_those_of_the_treebank() -> None:
    known = {*relation_set("gcdt").classes}
    for one in LANGUAGES.values():
        assert {name for names in one.connectives.values() for name in names} <= known


@pytest.mark.skipif(not models("parser", "neural", language="zh"), reason="no rhetorica-zh")
@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("因为下雨了，所以我没去上学。", "causal"),
        ("他生病了，因此没有来开会。", "causal"),
        ("因為路上很滑，所以大家走得很慢。", "causal"),
        ("她很聪明，但是不努力。", "adversative"),
    ],
)
def test_plain_sentences(text: str, relation: str) -> None:
    [join] = rhetorica.load("zh", parser="neural")(text).tree.joins
    assert join.relation.startswith(relation)
