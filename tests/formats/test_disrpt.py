"""The DISRPT formats: small files by hand, broken files, rows from trees and trees from rows."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica import AnnotatedTree, DepTree, Document, Node, Parse, SecondaryEdge, Signal, Token
from rhetorica.convert import same_units
from rhetorica.corpora.disrpt import read_disrpt, read_disrpt_relations
from rhetorica.errors import FormatError, InvalidDocument, InvalidTree
from rhetorica.files import Source
from rhetorica.formats.disrpt import (
    HEADER,
    Relation,
    dependencies_from_rels,
    format_ranges,
    parse_ranges,
    read_rels,
    read_tok,
    relations_of,
    write_rels,
    write_tok,
)
from strategies import dep_trees

TOK = """# newdoc id = first
1	Wet	_	_	_	_	_	_	_	Seg=B-seg
2-3	don't	_	_	_	_	_	_	_	_
2	do	_	_	_	_	_	_	_	Seg=B-seg
3	n't	_	_	_	_	_	_	_	Seg=O
4-5	da	_	_	_	_	_	_	_	_
4	de	_	_	_	_	_	_	_	Seg=O
5	a	_	_	_	_	_	_	_	Seg=O

# newdoc id = second
1	גשם	_	_	_	_	_	_	_	Seg=B-seg
2	🌧️	_	_	_	_	_	_	_	Seg=O
"""
ROW = "d|1-2,5|3-4|a b <*> e|c d|a b <*> e|c d|1-5|1-5|a b c d e|a b c d e|1<2|none|cause|causal"
ROW = ROW.replace("|", "\t")
RELS = "\t".join(HEADER) + "\n" + ROW + "\n"


def rels(text: str) -> list[Relation]:
    return list(read_rels(Source("d/x.rels", text)))


def test_tok() -> None:
    first, second = read_tok(Source("x.tok", TOK))
    assert first.document.text == "Wet don't da"
    assert first.edus == ["Wet", "don't da"]
    assert first.document.sentences == ()
    assert (second.id, second.document.text) == ("second", "גשם 🌧️")
    assert write_tok([first, second]) == TOK
    assert write_tok(second) == TOK[TOK.index("# newdoc id = second") :]


def test_tok_line_ends_and_byte_order_mark_do_not_matter() -> None:
    data = BytesIO(("\ufeff" + TOK.rstrip().replace("\n", "\r\n")).encode())
    assert write_tok(read_tok(data)) == TOK


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        (TOK[:-15], 12),
        (TOK.replace("2\t🌧️", "3\t🌧️"), 12),
        (TOK.replace("Seg=B-seg", "Seg=O", 1), 2),
    ],
)
def test_broken_tok_names_file_and_line(text: str, line: int) -> None:
    with pytest.raises(FormatError) as caught:
        list(read_tok(Source("x.tok", text)))
    assert (caught.value.path, caught.value.line) == ("x.tok", line)


def test_rels() -> None:
    [row] = rels(RELS)
    assert (row.unit1, row.unit2, row.sentence1) == (((0, 2), (4, 5)), ((2, 4),), ((0, 5),))
    assert (row.head, row.dependent) == (row.unit1, row.unit2)
    assert row._replace(direction="1>2").head == row.unit2
    assert (row.type, row.orig_label, row.label) == ("none", "cause", "causal")
    assert write_rels([row]) == RELS
    stream = BytesIO(("\ufeff" + RELS.rstrip().replace("\n", "\r\n")).encode())
    assert list(read_rels(stream)) == [row]


def test_rels_of_earlier_years() -> None:
    keep = [i for i, name in enumerate(HEADER) if name not in ("u1_raw", "u2_raw", "rel_type")]
    old = "\n".join("\t".join(r.split("\t")[i] for i in keep) for r in RELS.splitlines())
    assert rels(old) == rels(RELS)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("", 1, "empty"),
        (ROW, 1, "lacks the column"),
        (RELS[:-8], 2, "14 columns"),
        (RELS.replace("1<2", "2>1"), 2, "direction"),
        (RELS.replace("\t3-4\t", "\t3-x\t"), 2, "'3-x'"),
        (RELS.replace("\t3-4\t", "\t\t"), 2, "''"),
        (RELS.replace("\t3-4\t", "\t4-3\t"), 2, "count up"),
        (RELS.replace("\t3-4\t", "\t0-3\t"), 2, "count up"),
        (RELS.replace("1-2,5", "5,1-2"), 2, "count up"),
    ],
)
def test_broken_rels_name_file_and_line(text: str, line: int, why: str) -> None:
    with pytest.raises(FormatError, match=why) as caught:
        rels(text)
    assert (caught.value.path, caught.value.line) == ("d/x.rels", line)


@given(st.sets(st.integers(0, 20), min_size=1))
def test_ranges_round_trip(tokens: set[int]) -> None:
    runs = [(t, t + 1) for t in sorted(tokens)]
    assert parse_ranges(format_ranges(tuple(runs))) == tuple(runs)


def document(*edus: str, sentences: bool = True) -> Document:
    """Make a document of EDUs whose words are separated by spaces; each is a sentence."""
    plain = Document.from_edus(edus, id="d")
    tokens = []
    for start, end in plain.edus:
        for word in plain.text[start:end].split():
            tokens.append(Token(start, start + len(word)))
            start += len(word) + 1
    return Document(
        plain.text, plain.edus, tuple(tokens), plain.edus if sentences else (), id=plain.id
    )


DISCONTINUOUS = DepTree(
    (3, 0, 0, -1, 2), ("cause", "aside", "same-unit", "ROOT", "result"),
)  # fmt: skip


def arcs(parse: Parse, *, reattach: bool = True) -> list[tuple[str, str, str, str]]:
    return [
        (row.unit1_text, row.unit2_text, row.direction, row.orig_label)
        for row in relations_of(parse, reattach=reattach)
    ]


def test_rows_of_a_tree_with_an_interrupted_unit() -> None:
    parse = Parse(document("a b", "( c )", "d", "e f", "g"), DISCONTINUOUS)
    assert arcs(parse) == [
        ("a b <*> d", "e f", "1>2", "cause"),
        ("a b <*> d", "( c )", "1<2", "aside"),
        ("a b <*> d", "g", "1<2", "result"),
    ]
    assert arcs(parse, reattach=False)[2] == ("d", "g", "1<2", "result")
    row = relations_of(parse, {"cause": "causal"})[0]
    assert (row.unit1, row.sentence1, row.sentence1_text) == (((0, 2), (5, 6)), ((0, 2),), "a b")
    assert (row.label, row.type) == ("causal", "none")


def test_rows_give_words_and_surface_tokens() -> None:
    first = next(read_tok(Source("x.tok", TOK)))
    [row] = relations_of(Parse(first.document, DepTree((-1, 0), ("ROOT", "Cause"))), {"cause": "x"})
    assert (row.unit2_text, row.unit2_raw, row.label) == ("do n't de a", "don't da", "x")
    assert row.sentence1 == ((0, 5),)


def test_rows_of_secondary_edges_and_signals() -> None:
    tree = AnnotatedTree(
        (
            Node("1", "edu", 3, "nucleus", "span"),
            Node("2", "edu", 0, "satellite", "cause"),
            Node("3", "edu", 3, "satellite", "result"),
            Node("4", "span", -1, "root", ""),
        ),
        (SecondaryEdge("3-2", 2, 1, "contrast"), SecondaryEdge("3-4", 2, 3, "again")),
        (Signal(1, False, "dm", "dm", (2,)), Signal(0, True, "orphan", "orphan", (4,))),
    )
    rows = relations_of(Parse(document("a b", "c", "d e"), tree))
    assert [(row.unit1_text, row.unit2_text, row.orig_label, row.type) for row in rows] == [
        ("a b", "c", "cause", "explicit"),
        ("a b", "d e", "result", "implicit"),
        ("c", "d e", "contrast", "explicit"),
    ]
    again = dependencies_from_rels(document("a b", "c", "d e"), rows, secondary=True)
    assert again.heads == (-1, 0, 0)


def test_rows_need_tokens() -> None:
    with pytest.raises(InvalidDocument, match="no tokens"):
        relations_of(Parse(Document.from_edus(["a"]), DepTree((-1,), ("ROOT",))))


@given(st.data())
def test_a_tree_survives_its_rows(data: st.DataObject) -> None:
    tree = data.draw(dep_trees(projective=False))
    doc = document(*(f"w{i} x" for i in range(tree.n_edus)))
    rows = relations_of(Parse(doc, tree))
    first = same_units(tree)
    if any(part < first[part] for part in range(tree.n_edus)) or first.count(tree.root) == len(
        first
    ):
        return  # units whose head part is not the first in the text, or without any row
    again = dependencies_from_rels(doc, rows)
    assert again.heads == tuple(first[head] if head >= 0 else -1 for head in tree.heads)
    assert again.relations == tree.relations
    assert relations_of(Parse(doc, again)) == rows


def test_rows_that_make_no_tree() -> None:
    doc = document("a b", "c", "d")
    rows = relations_of(Parse(doc, DepTree((-1, 0, 1), ("ROOT", "cause", "list"))))
    with pytest.raises(InvalidTree, match="two heads"):
        dependencies_from_rels(doc, [*rows, rows[0]._replace(unit1=rows[1].unit2)])
    with pytest.raises(InvalidTree, match="roots"):
        dependencies_from_rels(doc, rows[:1])
    with pytest.raises(InvalidTree, match="whole EDUs"):
        dependencies_from_rels(doc, [rows[0]._replace(unit1=((0, 1),)), rows[1]])


def test_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "eng.rst.tiny"
    folder.mkdir()
    with pytest.raises(FormatError, match=r"eng\.rst\.tiny_dev"):
        list(read_disrpt(folder, "dev"))
    doc = document("a b", "c", "d")
    tree = DepTree((-1, 0, 1), ("ROOT", "cause", "list"), (False, False, True))
    (folder / "eng.rst.tiny_dev.tok").write_text(write_tok(Parse(doc)), encoding="utf-8")
    [parse] = read_disrpt(folder, "dev")
    assert parse.source is None
    with pytest.raises(FormatError, match=r"_dev\.rels"):
        read_disrpt_relations(folder, "dev")
    rows = relations_of(Parse(doc, tree))
    (folder / "eng.rst.tiny_dev.rels").write_text(write_rels(rows), encoding="utf-8")
    [parse] = read_disrpt(str(folder), "dev")
    assert parse.source == tree
    assert (parse.id, parse.document.language) == ("d", "en")
    assert read_disrpt_relations(folder, "dev") == {"d": rows}
