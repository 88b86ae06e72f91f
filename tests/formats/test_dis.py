"""Bracketed trees: small files by hand, RST-DT's habits, broken brackets."""

from __future__ import annotations

import pytest
from hypothesis import given

from rhetorica import AnnotatedTree, Document, Join, Parse, RSTTree
from rhetorica.errors import FormatError
from rhetorica.files import Source
from rhetorica.formats.dis import read_dis, write_dis
from strategies import annotated_trees, rst_trees

SMALL = """( Root (span 1 4)
  ( Nucleus (span 1 2) (rel2par span)
    ( Nucleus (leaf 1) (rel2par span) (text _!It rained (a lot)_!) )
    ( Satellite (leaf 2) (rel2par result) (text _!so we left.<P>_!) )
  )
  ( Satellite (leaf 3) (rel2par comment) (text _!A pity,_!) )
  ( Satellite (leaf 4) (rel2par elaboration) (text _!for all of us._!) )
)
"""


def read(text: str, name: str = "wsj_1.out.dis") -> Parse:
    return read_dis(Source(name, text))


def test_a_small_file() -> None:
    parse = read(SMALL)
    assert parse.id == "wsj_1"
    assert parse.edus[0] == "It rained (a lot)"
    assert [parse.document.text[s:e] for s, e in parse.document.paragraphs] == [
        "It rained (a lot) so we left.",
        "A pity, for all of us.",
    ]
    assert [join[:4] for join in parse.tree.joins] == [
        (0, 3, 4, "NS"),
        (0, 2, 3, "NS"),
        (0, 1, 2, "NS"),
    ]
    assert parse.dependencies.heads == (-1, 0, 0, 0)
    assert write_dis(parse).replace(" \n", "\n") == SMALL


def test_nuclei_and_a_satellite_in_one_node() -> None:
    text = """( Root (span 1 3)
  ( Nucleus (leaf 1) (rel2par List) (text _!a_!) )
  ( Nucleus (leaf 2) (rel2par List) (text _!b_!) )
  ( Satellite (leaf 3) (rel2par comment) (text _!c_!) )
)
"""
    parse = read(text)
    assert [join[3:] for join in parse.tree.joins] == [("NS", "comment"), ("NN", "List")]
    assert write_dis(parse).replace(" \n", "\n") == text


def test_lisp_dialect_and_error_marks() -> None:
    text = (
        "(ROOT (SPAN |1| |2|) (SATELLITE (LEAF 1) (REL2PAR cause) (TEXT _!a b_!)) //TT_ERR\n"
        "(NUCLEUS (LEAF 2) (REL2PAR span) (TEXT _!c_!)))"
    )
    assert read(text, "x.lisp").tree.joins[0] == (0, 1, 2, "SN", "cause")


def test_one_edu() -> None:
    parse = read("( Root (leaf 1) (text _!Hello._!) )")
    assert parse.edus == ["Hello."]
    assert read(write_dis(parse)).source == parse.source


@given(annotated_trees())
def test_n_ary_trees_round_trip_as_constituents(tree: AnnotatedTree) -> None:
    doc = Document.from_edus([f"unit ( {i}" for i in range(tree.n_edus)])
    parse = Parse(doc, tree)
    assert read(write_dis(parse)).tree == parse.tree


@given(rst_trees())
def test_binary_trees_round_trip(tree: RSTTree) -> None:
    doc = Document.from_edus([f"unit {i} )" for i in range(tree.n_edus)])
    assert read(write_dis(Parse(doc, tree), binary=True)).tree == tree


def test_depth_costs_no_recursion() -> None:
    n = 3000
    tree = RSTTree(n, tuple(Join(i, i + 1, n, "NN" if i % 2 else "NS", "r") for i in range(n - 1)))
    doc = Document.from_edus([f"u{i}" for i in range(n)])
    assert read(write_dis(Parse(doc, tree), binary=True)).tree == tree


BROKEN = {
    "empty": ("", 1, "empty"),
    "no tree": ("hello", 1, "unexpected"),
    "unbalanced": (SMALL.rstrip().removesuffix(")"), 1, "never closed"),
    "truncated": (SMALL[:150], 4, "never closed"),
    "one bracket too many": (SMALL + ")", 9, "after the end"),
    "missing EDU": (SMALL.replace("(leaf 3)", "(leaf 7)"), 6, "leaf 7, expected leaf 3"),
    "bad number": (SMALL.replace("(leaf 3)", "(leaf x)"), 6, "cannot read"),
    "no text": (SMALL.replace(" (text _!A pity,_!)", ""), 6, "no text"),
    "empty text": (SMALL.replace("A pity,", " "), 6, "no text"),
    "no nucleus": (
        SMALL.replace("( Nucleus (span", "( Satellite (span"),
        1,
        "without a nucleus",
    ),
    "stray word": (SMALL.replace("(rel2par result)", "(rel2par result) stray"), 4, "stray"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_name_file_and_line(name: str) -> None:
    text, line, word = BROKEN[name]
    with pytest.raises(FormatError, match=word) as caught:
        read(text)
    assert (caught.value.path, caught.value.line) == ("wsj_1.out.dis", line)
