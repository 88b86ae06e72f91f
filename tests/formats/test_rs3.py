"""The .rs3 / .rs4 reader and writer: small files by hand, broken files, names of file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from rhetorica import AnnotatedTree, DepTree, Document, Parse, to_dependencies
from rhetorica.errors import FormatError, RepairWarning
from rhetorica.files import Source
from rhetorica.formats.rs3 import read_rs3, write_rs3, write_rs4
from strategies import annotated_trees, documents

HEADER = """<rst>
<header>
<relations>
<rel name="cause" type="rst"/>
<rel name="list" type="multinuc"/>
<rel name="aside" type="rst"/>
</relations>
</header>
<body>
"""
SMALL = (
    HEADER
    + """<segment id="1" parent="5" relname="span">The dog barked</segment>
<segment id="2" parent="1" relname="cause">because it was hungry ,</segment>
<segment id="3" parent="6" relname="list">and the cat slept .</segment>
<group id="5" type="span" parent="6" relname="list"/>
<group id="6" type="multinuc"/>
<secedges>
<secedge id="3-2" source="3" target="2" relname="cause"/>
</secedges>
<signals>
<signal source="2" type="dm" subtype="dm" tokens="4" status="gold"/>
<signal source="3-2" type="lexical" subtype="indicative_word" tokens="9,10"/>
</signals>
</body>
</rst>
"""
)


def read(text: str, name: str = "small.rs3", **options: bool) -> Parse:
    return read_rs3(Source(name, text), **options)


def test_a_small_file() -> None:
    parse = read(SMALL)
    assert parse.edus == ["The dog barked", "because it was hungry ,", "and the cat slept ."]
    assert parse.id == "small"
    assert [join[:4] for join in parse.tree.joins] == [(0, 2, 3, "NN"), (0, 1, 2, "NS")]
    assert parse.dependencies.heads == (-1, 0, 0)
    assert parse.dependencies.relations == ("ROOT", "cause", "list")
    assert parse.dependencies.multinuclear == (False, False, True)
    first, second = parse.annotated.signals
    assert first.tokens == (3,)
    assert (second.secondary, second.source, second.tokens) == (True, 0, (8, 9))
    assert parse.annotated.secondary[0].source == 2


def test_round_trip_keeps_everything() -> None:
    parse = read(SMALL)
    assert read(write_rs4(parse)).source == parse.source


def test_rs3_has_no_place_for_the_extension() -> None:
    text = write_rs3(read(SMALL))
    assert "signal" not in text
    assert "secedge" not in text


@given(annotated_trees(extras=False))
def test_any_tree_round_trips(tree: AnnotatedTree) -> None:
    # The format cannot tell a satellite of a multinuclear node from one of its nuclei when they
    # have one name, so satellites get names of their own.
    nodes = tuple(
        node._replace(relation=f"s-{node.relation}") if node.role == "satellite" else node
        for node in tree.nodes
    )
    doc = Document.from_edus([f"unit <{i}> & more" for i in range(tree.n_edus)], id="small")
    again = read(write_rs4(Parse(doc, AnnotatedTree(nodes))))
    assert again.document == doc
    assert again.annotated.nodes == nodes


def test_a_satellite_of_a_multinuclear_node() -> None:
    parse = read(
        HEADER
        + """<segment id="1" parent="4" relname="list">One</segment>
<segment id="2" parent="4" relname="list">two</segment>
<segment id="3" parent="4" relname="aside">(as they say)</segment>
<group id="4" type="multinuc" parent="5" relname="span"/>
<group id="5" type="span"/>
</body></rst>"""
    )
    assert parse.tree.joins[0] == (0, 2, 3, "NS", "aside")
    assert to_dependencies(parse.tree).heads == (-1, 0, 0)


BROKEN = {
    "empty": ("", 1, "empty"),
    "white space": (" \n\n", 1, "empty"),
    "no xml": ("just text", 1, "not well-formed"),
    "truncated": (SMALL[: SMALL.index("<secedges>")], 15, "not well-formed"),
    "no body": ("<rst><header/></rst>", 1, "<body>"),
    "no segments": ("<rst><body></body></rst>", 1, "<segment>"),
    "unknown parent": (SMALL.replace('parent="6"', 'parent="77"', 1), 12, "77"),
    "cycle": (
        SMALL.replace(
            '<group id="6" type="multinuc"/>',
            '<group id="6" type="multinuc" parent="5" relname="span"/>',
        ).replace('parent="5" relname="span">The', 'parent="5" relname="cause">The'),
        None,
        "cycle",
    ),
    "two roots": (SMALL.replace(' parent="6" relname="list"/>', "/>"), 13, "roots"),
    "same id twice": (SMALL.replace('<segment id="3"', '<segment id="2"'), 12, "two nodes"),
    "no id": (SMALL.replace('<segment id="3"', "<segment"), 10, "no id"),
    "unknown group type": (
        SMALL.replace('type="multinuc"/>\n<sec', 'type="odd"/>\n<sec'),
        14,
        "odd",
    ),
    "segment without text": (SMALL.replace("The dog barked", " "), 10, "no text"),
    "childless group": (
        SMALL.replace("<group", '<group id="9" type="span" parent="6" relname="list"/>\n<group', 1),
        13,
        "no nucleus",
    ),
    "discontinuous": (
        HEADER
        + """<segment id="1" parent="4" relname="list">One</segment>
<segment id="2" parent="5" relname="list">two</segment>
<segment id="3" parent="4" relname="list">three</segment>
<group id="4" type="multinuc" parent="5" relname="list"/>
<group id="5" type="multinuc"/>
</body></rst>""",
        13,
        "contiguous",
    ),
    "secondary edge to nowhere": (SMALL.replace('target="2"', 'target="99"'), 16, "99"),
    "signal of nothing": (SMALL.replace('signal source="2"', 'signal source="99"'), 19, "99"),
    "signal tokens": (SMALL.replace('tokens="9,10"', 'tokens="9;10"'), 20, "9;10"),
    "entity": ('<!DOCTYPE r [<!ENTITY a "b">]>' + SMALL, 1, "entity"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_name_file_and_line(name: str) -> None:
    text, line, word = BROKEN[name]
    with pytest.raises(FormatError, match=word) as caught:
        read(text, "bad.rs3")
    assert caught.value.path == "bad.rs3"
    if line:
        assert caught.value.line == line


def test_repair_joins_several_roots() -> None:
    broken = SMALL.replace(' parent="6" relname="list"/>', "/>")
    with pytest.warns(RepairWarning, match="2 roots"):
        parse = read(broken, repair=True)
    assert parse.tree.joins[0].relation == "joint"


def test_repair_joins_two_nuclei_of_a_span() -> None:
    broken = SMALL.replace(
        '<group id="6" type="multinuc"/>', '<group id="6" type="span"/>'
    ).replace('relname="list"', 'relname="span"')
    with pytest.raises(FormatError, match="two nuclei"):
        read(broken)
    with pytest.warns(RepairWarning, match="2 nuclei"):
        parse = read(broken, repair=True)
    assert parse.tree.joins[0].nuclearity == "NN"


def test_other_encodings_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.rs3"
    path.write_bytes(SMALL.replace("\n", "\r\n").encode("utf-8-sig"))
    assert read_rs3(path).edus == read(SMALL).edus
    path.write_bytes(SMALL.replace("dog", "d\xf8g").encode("latin-1"))
    with pytest.raises(FormatError, match="not UTF-8") as caught:
        read_rs3(path)
    assert caught.value.line == 10


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="No such file"):
        read_rs3(tmp_path / "none.rs3")


@given(documents())
def test_any_text_survives_up_to_what_xml_can_hold(doc: Document) -> None:
    n = len(doc.edus)
    if not n:
        return
    tree = DepTree((-1, *range(n - 1)), ("ROOT",) + ("list",) * (n - 1))
    again = read(write_rs3(Parse(doc, tree)))
    assert len(again.edus) == n
    assert again.dependencies.heads == tree.heads
