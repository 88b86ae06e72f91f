from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rhetorica import DepTree, Document, Join, Parse, RSTTree
from rhetorica.evaluate import AttachmentCounts, Counts, attachment
from strategies import dep_trees


def both(gold: DepTree, pred: DepTree) -> tuple[Parse, Parse]:
    doc = Document.from_edus([f"e{i}" for i in range(gold.n_edus)])
    return Parse(doc, gold), Parse(doc, pred)


def test_uas_and_las_with_gold_edus():
    found = attachment.counts(
        *both(
            DepTree((-1, 0, 1, 0), ("ROOT", "cause", "list", "purpose")),
            DepTree((-1, 0, 0, 0), ("ROOT", "cause", "list", "result")),
        )
    )
    assert found.unlabelled == Counts(3, 4, 4)  # the root's arc, 1 and 3
    assert found.labelled == Counts(2, 4, 4)
    assert found.unlabelled.precision == found.unlabelled.recall == found.unlabelled.f1


def test_a_wrong_root_costs_its_arc():
    found = attachment.counts(
        *both(DepTree((-1, 0), ("ROOT", "r")), DepTree((1, -1), ("r", "ROOT")))
    )
    assert found == AttachmentCounts(Counts(0, 2, 2), Counts(0, 2, 2))


def test_the_name_of_the_root_relation_is_not_judged():
    found = attachment.counts(*both(DepTree((-1,), ("ROOT",)), DepTree((-1,), ("root",))))
    assert found.labelled == Counts(1, 1, 1)


def test_labels_are_mapped_but_not_the_root():
    gold, pred = both(
        DepTree((-1, 0), ("ROOT", "causal-cause")), DepTree((-1, 0), ("ROOT", "causal-result"))
    )
    known = {"causal-cause": "causal", "causal-result": "causal"}
    assert attachment.counts(gold, pred, labels=known.__getitem__).labelled == Counts(2, 2, 2)


def test_predicted_edus():
    gold = Parse(Document.from_edus(["a", "b", "c d"]), DepTree((-1, 0, 1), ("ROOT", "r", "s")))
    pred = Parse(
        Document.from_edus(["a", "b", "c", "d"]), DepTree((-1, 0, 1, 2), ("ROOT", "r", "s", "t"))
    )
    found = attachment.counts(gold, pred)
    assert found.unlabelled == Counts(2, 3, 4)  # the last gold EDU is two in the prediction
    assert (found.labelled.precision, found.labelled.recall) == (1 / 2, 2 / 3)


def test_conventions_for_multinuclear_relations():
    three = RSTTree(3, (Join(0, 1, 3, "NN", "list"), Join(1, 2, 3, "NN", "list")))
    doc = Document.from_edus(["a", "b", "c"])
    gold, chain = Parse(doc, three), Parse(doc, DepTree((-1, 0, 1), ("ROOT", "list", "list")))
    assert attachment.counts(gold, chain, convention="chain").labelled == Counts(3, 3, 3)
    assert attachment.counts(gold, chain, convention="star").labelled == Counts(2, 3, 3)


def test_empty_document():
    assert attachment.counts(*both(DepTree(), DepTree())) == AttachmentCounts()


@given(st.data())
def test_two_trees(data: st.DataObject):
    gold = data.draw(dep_trees(projective=False))
    pred = data.draw(dep_trees(n_edus=gold.n_edus, projective=False))
    found = attachment.counts(*both(gold, pred))
    assert found.unlabelled.correct == sum(
        a == b for a, b in zip(gold.heads, pred.heads, strict=True)
    )
    assert found.labelled.correct <= found.unlabelled.correct
    assert attachment.counts(*both(gold, gold)).labelled.f1 == 1
    assert (found + found).labelled == found.labelled + found.labelled
