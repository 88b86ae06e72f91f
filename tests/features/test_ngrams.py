"""N-gram dictionaries: counts, equation 7, mutual information by hand, numbers of units."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica import Document, Span, Token
from rhetorica.errors import ModelError, UnknownName
from rhetorica.features.ngrams import (
    SLOTS,
    EdgeGrams,
    NGramCounts,
    NGramDictionary,
    Slot,
    conditional_entropy,
    information,
)


def document(*edus: str) -> Document:
    tokens, spans, at = [], [], 0
    for edu in edus:
        first = at
        for word in edu.split():
            tokens.append(Token(at, at + len(word), tag=word[:1].upper(), head=-1))
            at += len(word) + 1
        spans.append(Span(first, at - 1))
    return Document(" ".join(edus), tuple(spans), tuple(tokens))


def slot(edge: str, kind: str, n: int) -> int:
    return SLOTS.index(Slot(edge, kind, n))


def joins(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    start, split, end = np.array(list(combinations(range(n + 1), 3)), np.int64).reshape(-1, 3).T
    return start, split, end


def test_equation_7() -> None:
    # c(x) = 8, with labels 4, 2, 2, 0: 1/2 log 2 + 2 (1/4 log 4)
    assert conditional_entropy([[4, 2, 2, 0]])[0] == pytest.approx(0.5 * log(2) + 0.5 * log(4))
    assert conditional_entropy([[5, 0], [3, 3], [0, 0]]).tolist() == [0, pytest.approx(log(2)), 0]


def test_mutual_information() -> None:
    # Eight joins, four with each label; x stands in two of the first and one of the second.
    labels, there = np.array([4, 4]), np.array([2, 1])
    expected = 0.0
    for counts, share in ((there, 3 / 8), (labels - there, 5 / 8)):
        for count, label in zip(counts, labels, strict=True):
            expected += count / 8 * log((count / 8) / (share * label / 8))
    assert information([there], labels)[0] == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=6))
def test_information_is_lost_entropy(rows: list[tuple[int, int]]) -> None:
    there = np.array([count for count, _ in rows])
    labels = there + [more for _, more in rows]
    total = max(1, labels.sum())
    whole = conditional_entropy([labels])[0]
    parts = conditional_entropy([there, labels - there])
    share = there.sum() / total
    expected = whole - share * parts[0] - (labels.sum() / total - share) * parts[1]
    assert information([there], labels)[0] == pytest.approx(max(0, expected), abs=1e-9)


def test_grams_of_a_document() -> None:
    grams = EdgeGrams.of(document("But he left", "because", "it rained"))
    assert grams.grams[slot("first", "word", 1)] == ("but", "because", "it")
    assert grams.grams[slot("first", "word", 2)] == ("but he", "because it", "it rained")
    assert grams.grams[slot("last", "word", 2)] == ("he left", "left because", "it rained")
    assert grams.grams[slot("last", "tag", 3)] == ("B H L", "H L B", "B I R")
    fits = grams.fit(np.array([1, 1]), np.array([2, 3]))
    assert fits[0].tolist() == [n == 1 for _, _, n in SLOTS]
    assert fits[1].all()


def test_counts_and_numbers() -> None:
    doc = document("a b", "because c d", "a b", "and c d")
    grams = EdgeGrams.of(doc)
    start, split, end = joins(4)
    labels = (np.array(doc.edu_texts)[split] == "because c d").astype(np.int64)
    counts = NGramCounts(2).add(grams, start, split, end, labels)
    names, table = counts.table(1, slot("first", "word", 1))
    assert table.sum() == len(labels)
    assert table[names.index("because")].tolist() == [0, (labels == 1).sum()]
    best = counts.best(2)
    assert best.grams[len(SLOTS) + slot("first", "word", 1)][0] == "because"
    left, right = best.unit_numbers(grams, np.array([1, 1, 0]), np.array([2, 4, 1]))
    column = slot("first", "word", 1)
    assert right[0, column] == right[1, column] == 1
    assert right[2, column] != 1
    # A unit of two words has no N-gram of three.
    assert left[2, slot("first", "word", 3)] == right[2, slot("last", "tag", 3)] == 0


def test_rankings() -> None:
    doc = document("x q", "y q", "x q", "z q", "x q", "z q")
    start = np.arange(5)
    counts = NGramCounts(2).add(
        EdgeGrams.of(doc), start, start + 1, start + 2, np.array([0, 0, 1, 1, 1])
    )
    column = len(SLOTS) + slot("first", "word", 1)  # y 0, x 0, z 1, x 1, z 1
    assert counts.best(9, ranking="frequency", min_count=1).grams[column] == ("x", "z", "y")
    assert counts.best(9, ranking="entropy", min_count=1).grams[column] == ("z", "y", "x")
    assert counts.best(9, ranking="entropy").grams[column] == ("z", "x")
    assert counts.best(1).grams[column] == ("z",)
    with pytest.raises(UnknownName, match="entropy"):
        counts.best(1, ranking="luck")  # type: ignore[arg-type]


def test_documents_add_up() -> None:
    docs = [document("a b", "c d", "a d"), document("c", "a b", "🙂 d", "a")]
    together = NGramCounts(3)
    tables = np.zeros(3, np.int64)
    for doc in docs:
        start, split, end = joins(len(doc.edus))
        labels = (start + end) % 3
        together.add(EdgeGrams.of(doc), start, split, end, labels)
        alone = NGramCounts(3).add(EdgeGrams.of(doc), start, split, end, labels)
        names, table = alone.table(0, 0)
        tables += table[names.index("a")]
    names, table = together.table(0, 0)
    assert table[names.index("a")].tolist() == tables.tolist()


def test_saved_and_read() -> None:
    doc = document("a b", "ü 🙂", "שלום d", "a b")
    grams = EdgeGrams.of(doc)
    start, split, end = joins(4)
    best = NGramCounts(1).add(grams, start, split, end, start * 0).best(50, min_count=1)
    assert NGramDictionary.from_arrays(best.to_arrays()) == best
    empty = NGramDictionary(((),) * 24)
    assert NGramDictionary.from_arrays(empty.to_arrays()) == empty
    arrays = best.to_arrays()
    with pytest.raises(ModelError, match="train the model again"):
        NGramDictionary.from_arrays({"ngram_counts": arrays["ngram_counts"]})
    with pytest.raises(ModelError, match="expected"):
        NGramDictionary.from_arrays(arrays | {"ngram_counts": arrays["ngram_counts"] + 1})
    with pytest.raises(ModelError, match="expected 24"):
        NGramDictionary(())


def test_no_edus() -> None:
    grams = EdgeGrams.of(Document(""))
    nothing = np.zeros(0, np.int64)
    counts = NGramCounts(2).add(grams, nothing, nothing, nothing, nothing)
    best = counts.best(3)
    assert [part.shape for part in best.unit_numbers(grams, nothing, nothing)] == [(0, 12)] * 2
    with pytest.raises(ValueError, match="from 0 to 1"):
        NGramCounts(2).add(grams, nothing, nothing, nothing, np.array([2]))
