"""The article's experiments: sentences as documents, leaky ones counted."""

from __future__ import annotations

from rhetorica import Document, Join, Parse, RSTTree, Span
from rhetorica.render.matrix import confusion_chart
from rhetorica.reproduce.codra2015 import confusion, gold_sentences, leaky, settings


def leaking() -> Parse:
    """Two sentences of two EDUs and one of one; the second sentence has no tree of its own."""
    doc = Document(
        "a b c d e",
        edus=tuple(Span(2 * i, 2 * i + 1) for i in range(5)),
        sentences=(Span(0, 3), Span(4, 7), Span(8, 9)),
        id="doc",
    )
    joins = (
        Join(0, 3, 5, "NS", "x"),
        Join(0, 2, 3, "NN", "y"),
        Join(0, 1, 2, "SN", "z"),
        Join(3, 4, 5, "NS", "y"),
    )
    return Parse(doc, RSTTree(5, joins))


def test_sentences_are_documents() -> None:
    first, second, third = gold_sentences(leaking())
    assert first is not None
    assert first.id == "doc#1"
    assert first.tree.joins == (Join(0, 1, 2, "SN", "z"),)
    assert second is None
    assert third is not None
    assert third.tree.n_edus == 1
    assert leaky([leaking()]) == (2, 1)


def test_confusion_counts_constituents_that_were_found() -> None:
    gold = leaking()
    joins = (
        Join(0, 2, 5, "NS", "x"),
        Join(0, 1, 2, "SN", "y"),
        Join(2, 3, 5, "NN", "z"),
        Join(3, 4, 5, "NS", "y"),
    )
    pred = Parse(gold.document, RSTTree(5, joins))
    # Both have the five EDUs, 0-2 and 3-5; of these, relations are borne in both by EDU 0 (a
    # satellite: z, y), EDU 2 (a nucleus of y, of z), EDU 4 (a satellite of y) and by 0-2 and 3-5
    # in one of them only, as the other calls them a span.
    counts = confusion([gold], [pred], str.upper)
    assert counts == {("Z", "Y"): 1, ("Y", "Z"): 1, ("Y", "Y"): 1, ("X", "Z"): 1}
    picture = confusion_chart(["X", "Y", "Z"], counts, title="a < b")
    assert picture.count("<title>") == len(counts)
    assert "a &lt; b" in picture


def test_empty_matrix_is_a_picture() -> None:
    assert confusion_chart([], {}).startswith("<svg")


def test_one_pass_without_substructures() -> None:
    assert settings().passes == 2
    assert settings(groups=("ngrams",)).passes == 1
