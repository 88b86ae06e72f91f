"""The attributes of EDUs and of pairs that Li et al.'s features are made of: a worked example."""

from __future__ import annotations

import numpy as np
import pytest

from rhetorica.document import Document, Span, Token
from rhetorica.features.edus import EDUTable
from rhetorica.parsers.li2014 import FEATURE_TYPES, PAPER, Li2014Parser, Settings
from rhetorica.settings import about

WORDS = "We left early because it rained . Nobody was sad ."
TAGS = "PRP VBD RB IN PRP VBD . NN VBD JJ ."
HEADS = (1, -1, 1, 5, 5, 1, 1, 9, 9, -1, 9)
RELATIONS = "nsubj root advmod mark nsubj advcl punct nsubj cop root punct"
PHRASES = (
    "(S (NP (PRP We)) (VP (VBD left) (ADVP (RB early)) (SBAR (IN because) (S (NP (PRP it)) "
    "(VP (VBD rained))))) (. .))",
    "(S (NP (NN Nobody)) (VP (VBD was) (ADJP (JJ sad))) (. .))",
)


def worked() -> Document:
    """Three EDUs, the first two in one sentence, all in one paragraph."""
    tokens, at = [], 0
    rows = zip(WORDS.split(), TAGS.split(), HEADS, RELATIONS.split(), strict=True)
    for word, tag, head, relation in rows:
        token = Token(at, at + len(word), lemma=word.lower(), tag=tag, head=head, deprel=relation)
        tokens.append(token)
        at += len(word) + 1
    edus = (Span(0, 13), Span(14, 33), Span(34, 50))
    sentences = (Span(0, 33), Span(34, 50))
    return Document(
        WORDS, edus, tuple(tokens), sentences, (Span(0, 50),), language="en", constituency=PHRASES
    )


def test_words_tags_and_lengths() -> None:
    strings = EDUTable.of(worked()).strings
    assert strings["first"] == ["we", "because", "nobody"]
    assert strings["last"] == ["early", ".", "."]
    assert strings["first2"] == ["we left", "because it", "nobody was"]
    assert strings["last2"] == ["left early", "rained .", "sad ."]
    assert strings["tag"] == ["PRP", "IN", "NN"]
    assert strings["tag2"] == ["PRP VBD", "IN PRP", "NN VBD"]
    assert strings["length"] == ["3", "4", "4"]


def test_places() -> None:
    strings = EDUTable.of(worked()).strings
    assert strings["insentence"] == ["0", "1", "0"]
    assert strings["sentenceplace"] == ["0/1", "1/0", "0/0"]
    assert strings["paragraphplace"] == ["0/2", "1/1", "2/0"]
    assert strings["documentplace"] == ["0/2", "1/1", "2/0"]
    assert strings["documentpart"] == ["0", "3", "6"]


def test_pairs_of_head_and_dependent() -> None:
    """The last bit is 1 where the head comes first; the last row is that of the root as head."""
    pairs = EDUTable.of(worked()).pairs(np.arange(3))
    assert pairs["samesentence"][:3].tolist() == [[2, 3, 1], [2, 2, 1], [0, 0, 2]]
    assert pairs["distance"][:3].tolist() == [[0, 3, 5], [2, 0, 3], [4, 2, 0]]
    assert all(len(set(table[3].tolist())) == 1 for table in pairs.values())


def test_dominating_nodes() -> None:
    """By dependencies, the word above the EDU's head word; by phrases, the attachment node."""
    strings = EDUTable.of(worked()).strings
    assert strings["headtag"] == ["VBD", "VBD", "JJ"]
    assert strings["domtag"] == ["ROOT", "VBD", "ROOT"]
    found = EDUTable.of(worked(), phrases=True)
    assert found.strings["headtag"] == ["VBD", "VBD", "JJ"]
    assert found.strings["domtag"] == ["ROOT", "VP", "ROOT"]
    assert found.strings["headrel"] == ["S", "SBAR", "S"]
    assert found.dominators.tolist() == [-1, 0, -1]


def test_the_six_types_are_those_of_the_paper() -> None:
    texts = {name: {str(t) for t in templates} for name, templates in PAPER.items()}

    def both(*names: str) -> set[str]:
        return {f"{side} {name}" for side in ("head", "dependent") for name in names}

    def paired(*names: str) -> set[str]:
        return {f"head {name} & dependent {name}" for name in names}

    # The last two words and the pair of first bigrams stand among the paper's best features.
    assert texts == {
        "word": both("first", "last", "first2", "last2") | paired("first", "last", "first2"),
        "pos": both("tag", "tag2") | paired("tag"),
        "position": both("sentenceplace", "paragraphplace", "documentplace")
        | paired("documentpart")
        | {
            "pair samesentence",
            "pair distance",
            "head insentence & dependent insentence & pair samesentence",
            "head paragraphplace & dependent paragraphplace & pair same",
        },
        "length": both("length"),
        "syntactic": both("domtag", "headtag") | paired("domtag", "headtag"),
    }
    assert about(Settings)["features"].named["paper"] == FEATURE_TYPES
    assert len(FEATURE_TYPES) == 6


def test_templates_become_the_rows_of_their_values() -> None:
    """Arcs that agree in what a template looks at have the same row there, others another."""
    parser = Li2014Parser(features=("word", "position"), bits=20)
    doc = worked()
    arcs = parser.arcs(doc)
    templates = parser._column_templates()
    heads, dependents = np.array([(1, 0), (0, 1), (0, 2), (2, 1), (-1, 0)]).T
    rows = arcs.rows(heads, dependents)
    table = EDUTable.of(doc)
    pairs = table.pairs(np.arange(3))

    def value(column: int, head: int, dependent: int) -> tuple[object, ...]:
        t = templates[column]
        return (
            table.strings[t.head][head] if t.head and head >= 0 else head if t.head else None,
            table.strings[t.dependent][dependent] if t.dependent else None,
            int(pairs[t.pair][head, dependent]) if t.pair else None,
        )

    for column in range(rows.shape[1]):
        values = [value(column, h, d) for h, d in np.stack([heads, dependents], 1).tolist()]
        for a, first in enumerate(values):
            for b, second in enumerate(values):
                assert (rows[a, column] == rows[b, column]) == (first == second)


@pytest.mark.parametrize("decoder", ["eisner", "mst"])
def test_similarities_are_named_by_their_values(decoder: str) -> None:
    from lessons import gold

    parser = Li2014Parser(features=("semantic",), bits=10, epochs=2, decoder=decoder).fit(gold())
    rows = set(np.flatnonzero(abs(parser.weights_).max(axis=1) > 0).tolist())
    names = parser.name_features(gold(), rows).values()
    ranges = [name for name in names if " of the pair is " in name and not name.endswith("root")]
    assert ranges
    assert all(name.rsplit(" is ")[1] == "0" or " to " in name for name in ranges)
