"""The ensemble segmenter, with members made for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rhetorica import Document, Span, Token
from rhetorica.errors import ModelError
from rhetorica.segmenters.boundaries import gold_starts
from rhetorica.segmenters.ensemble import EnsembleSegmenter


def documents(count: int, seed: int) -> list[Document]:
    """Forty words each, in sentences of ten; some words begin an EDU."""
    rng = np.random.default_rng(seed)
    found = []
    for at in range(count):
        text = " ".join(["word"] * 40)
        tokens = tuple(Token(5 * i, 5 * i + 4) for i in range(40))
        starts = [i for i in range(40) if i % 10 == 0 or rng.random() < 0.15]
        edus = tuple(Span(5 * a, 5 * b - 1) for a, b in zip(starts, [*starts[1:], 40], strict=True))
        sentences = tuple(Span(50 * i, 50 * i + 49) for i in range(4))
        doc = Document(text, edus, tokens=tokens, sentences=sentences, id=f"d{at}")
        found.append(doc)
    return found


class Guess:
    """Says the truth, with some noise on its log-odds."""

    threshold = 0.5

    def __init__(self, name: str, noise: float) -> None:
        self.name, self.noise = name, noise

    def boundaries(self, doc: Document) -> list[float]:
        seed = (int(doc.id[1:]), len(self.name), round(100 * self.noise))
        rng = np.random.default_rng(seed)
        odds = np.where(gold_starts(doc), 2.0, -2.0) + self.noise * rng.normal(size=40)
        return (1 / (1 + np.exp(-odds))).tolist()


def mistakes(segmenter, docs: list[Document]) -> int:
    return sum(
        (p > segmenter.threshold) != start
        for doc in docs
        for p, start in zip(segmenter.boundaries(doc), gold_starts(doc), strict=True)
    )


def test_two_are_better_than_each_and_the_better_one_counts_more() -> None:
    docs = documents(60, 0)
    good, bad = Guess("good", 1.2), Guess("worse", 2.5)
    model = EnsembleSegmenter(members="a,b").gather([good, bad]).fit(docs[:30])
    assert mistakes(model, docs[30:]) < min(mistakes(good, docs[30:]), mistakes(bad, docs[30:]))
    assert model.weights_[0, 0] > model.weights_[0, 1] > 0
    # All sentences here begin with an EDU, and it knows.
    assert all(model.boundaries(docs[0])[i] > model.threshold for i in (0, 10, 20, 30))


def test_saved_and_loaded_it_says_the_same(tmp_path: Path) -> None:
    docs = documents(10, 1)
    voters = [Guess("a", 1.0), Guess("b", 2.0)]
    model = EnsembleSegmenter(members="a,b:mine").gather(voters).fit(docs)
    model.save(tmp_path, treebanks=("gum",))
    again = EnsembleSegmenter.load(tmp_path)
    assert [one[:2] for one in again.members] == [("a", ""), ("b", "mine")]
    assert again.threshold == model.threshold
    with pytest.raises(ModelError, match="without members"):
        again.boundaries(docs[0])
    with pytest.raises(ModelError, match="trained with"):
        again.gather(voters[:1])
    assert again.gather(voters).boundaries(docs[0]) == model.boundaries(docs[0])
    assert again.gather(voters).boundaries(Document("")) == []
