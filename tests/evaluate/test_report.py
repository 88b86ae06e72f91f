from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhetorica
from rhetorica import DepTree, Document, Join, Parse, RSTTree, Span, Token
from rhetorica.errors import Mismatch
from rhetorica.evaluate import Counts, Key, Report, evaluate
from rhetorica.formats.rs3 import read_rs3
from rhetorica.formats.rsd import read_rsd
from strategies import parses, rst_trees

THREE = RSTTree(3, (Join(0, 1, 3, "NS", "cause"), Join(1, 2, 3, "NN", "list")))
OTHER = RSTTree(3, (Join(0, 1, 3, "NS", "cause"), Join(1, 2, 3, "NS", "joint")))
CROSSING = DepTree((2, 3, -1, 2), ("x", "y", "ROOT", "z"))


def document(*edus: str, id: str = "", sentences: bool = False) -> Document:
    doc = Document.from_edus(edus, id=id)
    return replace(doc, sentences=(Span(0, len(doc.text)),)) if sentences else doc


def rows(report: Report) -> dict[tuple[str, str, str], tuple[int, float | None]]:
    return {
        (row.metric, row.variant, row.figure): (row.documents, row.f1) for row in report.table()
    }


def test_one_document():
    doc = document("a", "b", "c", sentences=True)
    found = rows(evaluate([Parse(doc, THREE)], [Parse(doc, OTHER)]))
    assert found == {
        ("segmentation", "all", "starts"): (1, 1),
        ("segmentation", "inside", "starts"): (1, 1),
        ("parseval", "original", "span"): (1, 1),
        ("parseval", "original", "nuclearity"): (1, 1 / 2),
        ("parseval", "original", "relation"): (1, 1 / 2),
        ("parseval", "original", "full"): (1, 1 / 2),
        ("parseval", "rst", "span"): (1, 1),
        ("parseval", "rst", "nuclearity"): (1, 3 / 4),
        ("parseval", "rst", "relation"): (1, 2 / 4),
        ("parseval", "rst", "full"): (1, 2 / 4),
        ("attachment", "unlabelled", "arcs"): (1, 1),
        ("attachment", "labelled", "arcs"): (1, 2 / 3),
        ("labelling", "found-arcs", "macro"): (1, pytest.approx(1 / 3)),
        ("labelling", "found-arcs", "weighted"): (1, 1 / 2),
        ("labelling", "found-arcs", "accuracy"): (1, 1 / 2),
    }


def test_corpus_scores_are_quotients_of_sums():
    small, large = document("a", "b"), document("a", "b", "c")
    pair = RSTTree(2, (Join(0, 1, 2, "NS", "cause"),))
    report = evaluate(
        [Parse(small, pair), Parse(large, THREE)], [Parse(small, pair), Parse(large, OTHER)]
    )
    assert report["parseval", "original", "full"] == Counts(2, 3, 3)


def test_each_metric_counts_the_documents_it_applies_to():
    two, four = document("a", "b"), document("a", "b", "c", "d", sentences=True)
    golds = [
        Parse(two, RSTTree(2, (Join(0, 1, 2, "NS", "r"),))),
        Parse(four, CROSSING),
        Parse(two),
    ]
    preds = [golds[0], golds[1], golds[0]]
    found = rows(evaluate(golds, preds))
    assert found["segmentation", "all", "starts"] == (3, 1)
    assert found["segmentation", "inside", "starts"] == (1, 1)
    assert found["parseval", "original", "full"] == (1, 1)
    assert found["attachment", "labelled", "arcs"] == (2, 1)


def test_signatures_tell_the_settings():
    doc = document("a", "b", "c")
    report = evaluate(
        [Parse(doc, THREE)],
        [Parse(doc, OTHER)],
        labels=str.upper,
        label_name="loud",
        convention="chain",
        corpus="tiny",
    )
    version = f"v{rhetorica.__version__}"
    signatures = {(row.metric, row.figure): row.signature for row in report.table()}
    assert signatures["segmentation", "starts"] == (
        f"segmentation:all|average:micro|corpus:tiny|{version}"
    )
    assert signatures["parseval", "full"] == (
        f"parseval:rst|labels:loud|edus:gold|average:micro|corpus:tiny|{version}"
    )
    assert signatures["attachment", "arcs"] == (
        "attachment:labelled|labels:loud|edus:gold|multinuclear:chain|average:micro|corpus:tiny|"
        + version
    )
    assert "|average:macro|" in signatures["labelling", "macro"]


def test_signatures_tell_what_the_data_are():
    gold = Parse(document("a", "b"), DepTree((-1, 0), ("ROOT", "same-unit")))
    pred = Parse(document("ab"), DepTree((-1,), ("ROOT",)))
    report = evaluate([gold], [pred])
    assert report.signature(Key("attachment", "labelled", "arcs")).startswith(
        "attachment:labelled|labels:as-is|edus:predicted|same-unit:kept|multinuclear:as-is|"
    )


def test_signatures_tell_whose_syntax_it_was():
    doc = document("It", "rained")
    words = (
        Token(0, 2, tag="PRP", head=1, deprel="nsubj"),
        Token(3, 9, tag="VBD", head=-1, deprel="root"),
    )
    gold = Parse(replace(doc, tokens=words))
    other = Parse(replace(doc, tokens=(words[0]._replace(tag="NN"), words[1])))
    for pred, wanted in ((gold, "syntax:gold|"), (other, "syntax:predicted|")):
        assert wanted in evaluate([gold], [pred]).table()[0].signature
    assert "syntax" not in evaluate([gold], [Parse(doc)]).table()[0].signature
    both = evaluate([gold, gold], [gold, other]).table()[0].signature
    assert "syntax:predicted|" in both
    ours = evaluate([gold], [gold], syntax="predicted").table()[0].signature
    assert "syntax:predicted|" in ours


def test_a_map_without_a_name_does_not_pass_for_none():
    gold = Parse(document("a", "b", "c"), THREE)
    assert "|labels:custom|" in evaluate([gold], [gold], labels=str.upper).table()[-1].signature


def test_nothing_to_score():
    assert evaluate([], []).table() == []
    empty = evaluate([Parse(Document(""), RSTTree(0))], [Parse(Document(""), RSTTree(0))])
    assert {row.f1 for row in empty.table()} == {None}
    one = document("a", sentences=True)
    found = rows(evaluate([Parse(one, RSTTree(1))], [Parse(one, RSTTree(1))]))
    assert found["parseval", "rst", "span"] == (1, None)
    assert found["attachment", "unlabelled", "arcs"] == (1, 1)
    assert found["labelling", "found-arcs", "accuracy"] == (1, None)


def test_reports_become_json():
    doc = document("a", "b", "c", id="d")
    report = evaluate([Parse(doc, THREE)], [Parse(doc, OTHER)])
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert data["documents"] == 1
    assert data["scores"][0]["metric"] == "segmentation"
    assert data["per_document"][0]["id"] == "d"
    assert data["per_document"][0]["counts"]["parseval:original:full"] == {
        "correct": 1,
        "gold": 2,
        "pred": 2,
    }
    assert data["relations"]["cause"] == {"correct": 1, "gold": 1, "pred": 1}


def test_two_systems():
    docs = [document("a", "b", "c", id=str(i)) for i in range(30)]
    golds = [Parse(doc, THREE) for doc in docs]
    worse = [Parse(doc, OTHER if i % 3 else THREE) for i, doc in enumerate(docs)]
    good, bad = evaluate(golds, golds), evaluate(golds, worse)
    compared = {row[:3]: row for row in good.compare(bad)}
    full = compared["parseval", "original", "full"]
    assert (full.first, full.second) == (1, pytest.approx(2 / 3))
    assert full.bootstrap.difference == pytest.approx(1 / 3)
    assert full.bootstrap.p_value < 0.001
    assert full.t_test.p_value < 0.001
    assert full.t_test.documents == 30
    assert compared["parseval", "original", "span"].bootstrap.p_value == 1
    assert bad.compare(good, resamples=100)[3].bootstrap.documents == 30


def test_systems_with_and_without_gold_edus_are_told_apart():
    gold = Parse(document("a", "b", "c"), THREE)
    own = Parse(document("a", "b c"), RSTTree(2, (Join(0, 1, 2, "NS", "cause"),)))
    row = evaluate([gold], [gold]).compare(evaluate([gold], [own]))[-1]
    assert "edus:gold" in row.signature
    assert " vs " in row.signature


def test_only_like_is_compared_with_like():
    doc = document("a", "b", "c", id="d")
    gold = Parse(doc, THREE)
    report = evaluate([gold], [gold])
    with pytest.raises(Mismatch, match="labels 'as-is' and 'x'"):
        report.compare(evaluate([gold], [gold], labels=str, label_name="x"))
    with pytest.raises(Mismatch, match="not about the same documents"):
        report.compare(evaluate([], []))


@given(parses())
def test_any_parse_against_itself_is_perfect(parse: Parse):
    report = evaluate([parse], [parse])
    assert {row.f1 for row in report.table()} <= {1, None}
    json.dumps(report.to_dict(), allow_nan=False)


@given(st.data())
def test_counts_add_up_and_swap(data: st.DataObject):
    golds = [Parse(document(*"abcde"[: tree.n_edus]), tree)
             for tree in data.draw(st.lists(rst_trees(max_edus=5), max_size=3))]  # fmt: skip
    preds = [replace(gold, source=data.draw(rst_trees(n_edus=gold.tree.n_edus))) for gold in golds]
    report, swapped = evaluate(golds, preds), evaluate(preds, golds)
    for key, counts in report.totals.items():
        alone = [evaluate([g], [p])[key] for g, p in zip(golds, preds, strict=True)]
        assert counts == sum(alone, Counts())
        back = swapped[key]
        assert counts == Counts(back.correct, back.pred, back.gold)


def test_gum_against_its_own_dependency_files(shared: Path):
    golds = [read_rs3(path) for path in sorted((shared / "gum" / "rst").rglob("*.rs4"))]
    preds = [read_rsd(path) for path in sorted((shared / "gum" / "rst").rglob("*.rsd"))]
    report = evaluate(golds, preds, corpus="gum")
    assert {row.f1 for row in report.table()} == {1}
    assert {row.documents for row in report.table()} == {len(golds)}
