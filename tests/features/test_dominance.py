"""Dominance sets: the article's Figure 9, dependencies and phrases, units of several EDUs."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica import Document, Span, Token
from rhetorica.features.dominance import LEFT, NONE, RIGHT, Dominance
from rhetorica.features.edus import EDUTable
from rhetorica.features.phrases import Phrases
from rhetorica.features.syntax import Syntax

# A sentence of the shape of Figure 9: three EDUs, of which the third dominates the first by its
# verb of saying, and the first the second by the noun that an infinitive belongs to. Infinitives
# hang on "to", as in the figure's head rules.
SENTENCE = """
The DT 1 det 0
mill NN 3 nsubj:pass 0
was VBD 3 aux:pass 0
hamstrung VBN 15 ccomp 0
in IN 6 case 0
its PRP$ 6 nmod:poss 0
efforts NNS 3 obl 0
to TO 6 acl 1
meet VB 7 xcomp 1
the DT 10 det 1
needs NNS 8 obj 1
of IN 12 case 1
towns NNS 10 nmod 1
, , 15 punct 1
owners NNS 15 nsubj 2
say VBP -1 root 2
. . 15 punct 2
"""
TREE = (
    "(S (S (NP (DT The) (NN mill)) (VP (VBD was) (VP (VBN hamstrung) (PP (IN in) (NP (NP "
    "(PRP$ its) (NNS efforts)) (S (TO to) (VP (VB meet) (NP (NP (DT the) (NNS needs)) (PP (IN of) "
    "(NP (NNS towns)))))))))) (, ,)) (NP (NNS owners)) (VP (VBP say)) (. .))"
)


def document(table: str, constituency: tuple[str, ...] = ()) -> Document:
    """Make a document of rows: word, tag, head, relation, EDU."""
    tokens: list[Token] = []
    edus: list[Span] = []
    text = ""
    for row in table.split("\n"):
        if not row.strip():
            continue
        word, tag, head, deprel, edu = row.split()
        start, end = len(text), len(text) + len(word)
        tokens.append(Token(start, end, lemma=word, tag=tag, head=int(head), deprel=deprel))
        if int(edu) == len(edus):
            edus.append(Span(start, end))
        edus[-1] = Span(edus[-1].start, end)
        text += word + " "
    return Document(
        text.strip(),
        tuple(edus),
        tuple(tokens),
        (Span(0, len(text) - 1),),
        constituency=constituency,
    )


class Element(NamedTuple):
    """One element of a dominance set: ``dominator`` > ``dominated``, as EDUs.

    ``attachment`` and ``head`` are word and label at the attachment node and at the head node;
    ``relation`` is the dependency relation of the head's word.
    """

    dominator: int
    attachment: tuple[str, str]
    dominated: int
    head: tuple[str, str]
    relation: str


def elements(dominance: Dominance) -> list[Element]:
    """Return the sets' elements, by dominated EDU."""
    words = dominance.syntax.words
    return [
        Element(
            int(dominance.dominators[edu]),
            (words[dominance.attachments[edu]], dominance.attachment_labels[edu]),
            edu,
            (words[dominance.heads[edu]], dominance.head_labels[edu]),
            dominance.syntax.deprels[dominance.heads[edu]],
        )
        for edu in np.flatnonzero(dominance.dominators >= 0).tolist()
    ]


def test_figure_9() -> None:
    doc = document(SENTENCE, (TREE,))
    syntax = Syntax.of(doc)
    dominance = Dominance.of(doc, syntax, Phrases.of(doc, syntax))
    # 3 > 1 > 2, with (1, efforts/NP) > (2, to/S) and (3, say/S) > (1, hamstrung/S).
    assert elements(dominance) == [
        Element(2, ("say", "S"), 0, ("hamstrung", "S"), "ccomp"),
        Element(0, ("efforts", "NP"), 1, ("to", "S"), "acl"),
    ]
    links = dominance.across([0, 0], [1, 2], [2, 3])
    assert links.directions.tolist() == [LEFT, RIGHT]
    assert links.edus.tolist() == [1, 0]


def test_figure_9_by_dependencies() -> None:
    dominance = Dominance.of(document(SENTENCE))
    assert elements(dominance) == [
        Element(2, ("say", "VBP"), 0, ("hamstrung", "VBN"), "ccomp"),
        Element(0, ("efforts", "NNS"), 1, ("to", "TO"), "acl"),
    ]
    assert dominance.dominators.tolist() == [2, 0, -1]
    # 1 and 2-3: the head of 2-3 is 3, which nothing dominates; 3 dominates 1.
    links = dominance.across([0, 1, 0], [1, 2, 2], [3, 3, 3])
    assert links.directions.tolist() == [RIGHT, NONE, RIGHT]
    assert links.edus.tolist() == [0, -1, 0]
    columns = dominance.attributes()
    assert [columns["relation"][edu] for edu in links.edus] == ["ccomp", "", "ccomp"]
    assert columns["head_label"] == ["VBN", "TO", "", ""]
    assert columns["attachment_lemma"][1] == "efforts"


def test_links_at_the_edge_come_second() -> None:
    # EDU 0 hangs on 1, 2 on 0 and 3 on 2; the heads of 0-1 and 2-3 are 1 and 2.
    rows = "a X 1 p 0\nb X -1 root 1\nc X 0 q 2\nd X 2 r 3"
    dominance = Dominance.of(document(rows))
    assert dominance.across(0, 2, 4).edus.tolist() == [2]
    assert dominance.across(0, 2, 4).directions.tolist() == [LEFT]
    # In 0-1 and 2 the head of 2 is linked; in 1 and 2-3 nothing is.
    assert dominance.across([0, 1], [2, 2], [3, 4]).edus.tolist() == [2, -1]


def test_agrees_with_the_table_of_edus() -> None:
    # But for marks: the table, whose hashes trained models know, takes the comma for a head.
    doc = document(SENTENCE.replace(", , 15", ", , 7"))
    assert EDUTable.of(doc).dominators.tolist() == Dominance.of(doc).dominators.tolist()
    assert Dominance.of(document(SENTENCE)).dominators.tolist() == [2, 0, -1]


def slow_link(dominance: Dominance, i: int, k: int, j: int) -> tuple[int, int]:
    depths = [dominance.syntax.depths[head] for head in dominance.heads.tolist()]
    above = dominance.dominators.tolist()
    left = min(range(i, k), key=lambda edu: (depths[edu], -edu))
    right = min(range(k, j), key=lambda edu: (depths[edu], edu))
    if i <= above[right] < k:
        return LEFT, right
    if k <= above[left] < j:
        return RIGHT, left
    if above[k] == k - 1:
        return LEFT, k
    return (RIGHT, k - 1) if above[k - 1] == k else (NONE, -1)


@given(st.data())
def test_units_by_brute_force(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 9))
    order = data.draw(st.permutations(range(n)))
    heads = [0] * n
    for place, token in enumerate(order):
        heads[token] = order[data.draw(st.integers(0, place - 1))] if place else -1
    cuts = data.draw(st.lists(st.booleans(), min_size=n - 1, max_size=n - 1))
    edus = np.concatenate([[0], np.cumsum(cuts)])
    rows = [f"w X {head} d {edu}" for head, edu in zip(heads, edus, strict=True)]
    dominance = Dominance.of(document("\n".join(rows)))
    triples = list(combinations(range(int(edus[-1]) + 2), 3))
    links = dominance.across(*np.array(triples, np.int64).reshape(-1, 3).T)
    found = list(zip(links.directions.tolist(), links.edus.tolist(), strict=True))
    assert found == [slow_link(dominance, *triple) for triple in triples]


def test_edge_cases() -> None:
    nothing = Dominance.of(Document(""))
    assert elements(nothing) == []
    assert nothing.across([], [], []).edus.tolist() == []
    assert nothing.attributes()["relation"] == [""]
    one = Dominance.of(document("Word NN -1 root 0"))
    assert one.dominators.tolist() == [-1]
    with pytest.raises(ValueError, match="start < split < end"):
        one.across(0, 0, 1)
    with pytest.raises(ValueError, match="of 1 EDUs"):
        one.across(0, 1, 2)


def test_many_edus() -> None:
    n = 20_000
    rows = "\n".join(f"w X {i - 1} d {i}" for i in range(n))
    dominance = Dominance.of(document(rows))
    starts = np.zeros(n - 2, np.int64)
    links = dominance.across(starts, np.arange(1, n - 1), np.full(n - 2, n))
    assert (links.edus == np.arange(1, n - 1)).all()
