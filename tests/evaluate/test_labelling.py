from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figure16 import HUMAN, SYSTEM
from rhetorica import DepTree, Document, Parse
from rhetorica.evaluate import Counts, LabelCounts, labelling
from strategies import rst_trees

# cause: 2 of 3 right; joint: 1 of 1, and once wrongly predicted; list: never gold.
PAIRS = Counter(
    {("cause", "cause"): 2, ("cause", "joint"): 1, ("joint", "joint"): 1, ("joint", "list"): 1}
)


def test_averages():
    counts = LabelCounts(PAIRS)
    assert counts.per_relation() == {
        "cause": Counts(2, 3, 2),
        "joint": Counts(1, 2, 2),
        "list": Counts(0, 0, 1),
    }
    assert counts.accuracy.f1 == 3 / 5
    assert counts.macro().f1 == pytest.approx((4 / 5 + 1 / 2 + 0) / 3)
    assert counts.macro().precision == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert counts.weighted().f1 == pytest.approx((3 * 4 / 5 + 2 * 1 / 2) / 5)
    assert counts.weighted().recall == pytest.approx(3 / 5)


def test_all_charges_for_wrong_structure():
    counts = LabelCounts(PAIRS, Counter({"cause": 1}), Counter({"list": 2}))
    assert counts.per_relation("all")["cause"] == Counts(2, 4, 2)
    assert counts.per_relation("all")["list"] == Counts(0, 0, 3)
    assert counts.macro("all").f1 == pytest.approx((4 / 6 + 1 / 2 + 0) / 3)
    assert counts.macro("found") == LabelCounts(PAIRS).macro()


def test_arcs_without_the_root():
    doc = Document.from_edus(["a", "b", "c", "d"])
    found = labelling.counts(
        Parse(doc, DepTree((-1, 0, 1, 0), ("ROOT", "cause", "list", "purpose"))),
        Parse(doc, DepTree((-1, 0, 1, 2), ("ROOT", "joint", "list", "cause"))),
    )
    assert found.pairs == Counter({("cause", "joint"): 1, ("list", "list"): 1})
    assert (found.missed, found.spurious) == (Counter(["purpose"]), Counter(["cause"]))


def test_nuclearity_of_arcs():
    doc = Document.from_edus(["a", "b", "c"])
    parse = Parse(doc, DepTree((1, -1, 1), ("cause", "ROOT", "list"), (False, False, True)))
    found = labelling.counts(parse, parse, nuclearity=True)
    assert set(found.pairs) == {("cause-SN", "cause-SN"), ("list-NN", "list-NN")}


def test_constituents_of_codra_table_2():
    found = labelling.counts(HUMAN, SYSTEM, units="rst")
    # Seven ranges agree; 2-4, "span" for the human, bears no relation.
    assert found.pairs == Counter(
        {
            ("Attribution", "Attribution"): 1,
            ("Contrast", "Contrast"): 3,
            ("Same-Unit", "Joint"): 2,
        }
    )
    assert found.missed == Counter({"Elaboration": 1, "Contrast": 1})
    with_roles = labelling.counts(HUMAN, SYSTEM, units="rst", nuclearity=True)
    assert with_roles.pairs["Attribution-S", "Attribution-S"] == 1
    internal = labelling.counts(HUMAN, SYSTEM, units="original", nuclearity=True)
    assert internal.pairs["Contrast-NN", "Attribution-SN"] == 1


def test_confusion_matrix():
    labels, matrix = LabelCounts(PAIRS).confusion()
    assert labels == ("cause", "joint", "list")
    assert matrix.tolist() == [[2, 1, 0], [0, 1, 1], [0, 0, 0]]
    assert LabelCounts(PAIRS).confusion().table().split("\n") == [
        "         1  2  3",
        "1 cause  2  1  .",
        "2 joint  .  1  1",
        "3 list   .  .  .",
    ]


def test_nothing_to_label():
    nothing = LabelCounts()
    assert math.isnan(nothing.macro().f1)
    assert math.isnan(nothing.weighted().f1)
    assert math.isnan(nothing.accuracy.f1)
    assert nothing.confusion().matrix.shape == (0, 0)
    assert nothing.confusion().table() == ""


@given(st.data(), st.sampled_from(["arcs", "original", "rst"]))
def test_two_trees(data: st.DataObject, units: labelling.Units):
    gold = data.draw(rst_trees())
    pred = data.draw(rst_trees(n_edus=gold.n_edus))
    doc = Document.from_edus([f"e{i}" for i in range(gold.n_edus)])
    first, second = Parse(doc, gold), Parse(doc, pred)
    there = labelling.counts(first, second, units=units)
    back = labelling.counts(second, first, units=units)
    assert there.pairs == Counter({(b, a): n for (a, b), n in back.pairs.items()})
    assert there.missed == back.spurious
    assert (there + back).accuracy == there.accuracy + back.accuracy
    assert there.confusion().matrix.sum() == there.pairs.total()
    itself = labelling.counts(first, first, units=units)
    assert itself.macro().f1 == 1 or not itself.pairs
