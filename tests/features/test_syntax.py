"""Columns of syntax, common ancestors, phrases, chunks."""

from __future__ import annotations

import pytest

from rhetorica import Document, Span, Token
from rhetorica.errors import InvalidDocument
from rhetorica.features.phrases import Phrases
from rhetorica.features.syntax import Syntax
from rhetorica.languages.english import chunk

WORDS = ["its", "efforts", "to", "sell", "cars", "failed"]
HEADS = [1, 5, 3, 1, 3, -1]
TAGS = ["PRP$", "NNS", "TO", "VB", "NNS", "VBD"]
TREE = (
    "(S (NP (NP (PRP$ its) (NNS efforts)) (S (TO to) (VP (VB sell) (NP (NNS cars))))) "
    "(VP (VBD failed)))"
)


def document(constituency: tuple[str, ...] = ()) -> Document:
    text = " ".join(WORDS)
    tokens, at = [], 0
    for word, head, tag in zip(WORDS, HEADS, TAGS, strict=True):
        tokens.append(Token(at, at + len(word), tag=tag, head=head, deprel=f"d{tag}"))
        at += len(word) + 1
    return Document(
        text, tokens=tuple(tokens), sentences=(Span(0, len(text)),), constituency=constituency
    )


def test_columns() -> None:
    syntax = Syntax.of(document())
    assert syntax.depths == [2, 1, 3, 2, 3, 0]
    assert syntax.lefts == [0, 0, 2, 2, 4, 0]
    assert syntax.rights == [0, 4, 2, 4, 4, 5]
    assert syntax.sentences == [range(6)]


def test_common_ancestor() -> None:
    syntax = Syntax.of(document())
    assert syntax.common_ancestor(0, 1) == (1, 0, 1)
    assert syntax.common_ancestor(1, 2) == (1, 1, 3)
    assert syntax.common_ancestor(4, 5) == (5, 1, 5)


def test_two_roots_have_no_common_ancestor() -> None:
    doc = Document("a b", tokens=(Token(0, 1, head=-1), Token(2, 3, head=-1)))
    assert Syntax.of(doc).common_ancestor(0, 1) == (-1, 0, 1)


def test_a_cycle_does_no_harm() -> None:
    doc = Document("a b", tokens=(Token(0, 1, head=1), Token(2, 3, head=0)))
    assert len(Syntax.of(doc).depths) == 2


def test_phrases_and_their_heads() -> None:
    doc = document((TREE,))
    syntax = Syntax.of(doc)
    phrases = Phrases.of(doc, syntax)
    assert phrases is not None
    # Between "efforts" and "to": NP(efforts) -> NP(efforts) S(sell), below S(failed), before VP.
    assert phrases.around(1) == [("NP", 1), ("NP", 1), ("S", 3), ("S", 5), ("VP", 5)]
    assert Phrases.of(document(), syntax) is None


def test_phrases_that_do_not_fit() -> None:
    doc = document(("(S (NN word))",))
    with pytest.raises(InvalidDocument, match="1 words for a sentence of 6"):
        Phrases.of(doc, Syntax.of(doc))


def test_no_tokens_is_a_clear_error() -> None:
    with pytest.raises(InvalidDocument, match="annotate it first"):
        Syntax.of(Document("some text"))


def test_chunks() -> None:
    assert chunk(TAGS) == ["B-NP", "I-NP", "B-VP", "I-VP", "B-NP", "B-VP"]
    assert chunk([]) == []
    assert chunk(["DT", "NN", "DT", "NN"]) == ["B-NP", "I-NP", "B-NP", "I-NP"]
