"""SciDTB's .dep: small files by hand, broken files, round trips."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica import DepTree, Document, Parse
from rhetorica.corpora.scidtb import read_scidtb
from rhetorica.errors import FormatError, RepairWarning
from rhetorica.files import Source
from rhetorica.formats.scidtb import read_dep, write_dep
from strategies import dep_trees, documents, plain_words

NODES: list[dict[str, Any]] = [
    {"id": 0, "parent": -1, "text": "ROOT", "relation": "null"},
    {"id": 1, "parent": 2, "text": "We show ", "relation": "attribution"},
    {"id": 2, "parent": 0, "text": 'that the "id": 7 is lost . <S>', "relation": "ROOT"},
    {"id": 3, "parent": 2, "text": "It was small , \r", "relation": "elab-addition"},
    {"id": 4, "parent": 3, "text": "and blue . <S>   ", "relation": "joint"},
]


def dump(nodes: object = NODES) -> str:
    return json.dumps({"root": nodes}, indent="\t")


def read(text: str, **options: bool) -> Parse:
    return read_dep(Source("d/X01-1.edu.txt.dep", text), **options)


def changed(index: int, **values: object) -> str:
    return dump([node | (values if i == index else {}) for i, node in enumerate(NODES)])


def without(index: int, key: str) -> str:
    return dump([{k: v for k, v in node.items() if (i, k) != (index, key)}
                 for i, node in enumerate(NODES)])  # fmt: skip


def test_a_small_file() -> None:
    parse = read(dump())
    doc = parse.document
    assert parse.id == "X01-1"
    assert parse.edus == [
        "We show", 'that the "id": 7 is lost .', "It was small ,", "and blue .",
    ]  # fmt: skip
    assert [doc.text[a:b] for a, b in doc.sentences] == [
        'We show that the "id": 7 is lost .', "It was small , and blue .",
    ]  # fmt: skip
    assert parse.source == DepTree(
        (1, -1, 1, 2),
        ("attribution", "ROOT", "elab-addition", "joint"),
        (False, False, False, True),
    )


def test_line_ends_and_byte_order_mark_do_not_matter() -> None:
    stream = BytesIO(("\ufeff" + dump().replace("\n", "\r\n")).encode())
    stream.name = "X01-1.dep"
    assert read_dep(stream) == read(dump())
    assert read("\ufeff" + dump()) == read(dump())


def test_the_last_edu_ends_a_sentence_without_a_mark() -> None:
    assert read(changed(4, text="and blue .")) == read(dump())


def test_without_marks_sentences_are_unknown() -> None:
    nodes = [node | {"text": node["text"].replace("<S>", "")} for node in NODES]
    parse = read(dump(nodes))
    assert parse.document.sentences == ()
    assert read(write_dep(parse)) == parse


def test_written_as_the_corpus_has_it() -> None:
    nodes = [node | {"text": node["text"]} for node in NODES]
    nodes[3]["text"], nodes[4]["text"] = "It was small , ", "and blue . <S>"
    assert write_dep(read(dump(nodes)), bom=True) == "\ufeff" + dump(nodes)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("", 1, "empty"),
        (dump()[:120], 11, "not JSON|nested too deeply"),
        ("[" * 100_000, None, "not JSON|nested too deeply"),
        ("[1]", 1, '"root"'),
        ('{"root": 3}', 1, '"root"'),
        (dump([]), 1, "artificial root"),
        (dump(NODES[:1]), 1, "artificial root"),
        (dump([*NODES[:2], 7]), None, "not an object"),
        (changed(2, id=5), 16, "node 5 comes where 2"),
        (changed(2, id="2"), 16, "whole number"),
        (changed(2, id=True), 16, "whole number"),
        (changed(3, parent="x"), 22, "parent 'x'"),
        (without(3, "parent"), 22, "parent None"),
        (changed(3, relation=None), 22, "relation None"),
        (changed(3, text=" "), 22, "no text"),
        (changed(3, text=" <S> "), 22, "no text"),
        (changed(3, parent=9), 22, "head 9"),
        (changed(3, parent=-2), 22, "head -2"),
        (changed(3, parent=-1), 22, "attached to nothing"),
        (changed(3, parent=0), 22, "second root"),
        (changed(2, parent=1), 10, "root"),
        (changed(3, parent=4), 22, "cycle"),
    ],
)
def test_broken_files_name_file_and_line(text: str, line: int | None, why: str) -> None:
    with pytest.raises(FormatError, match=why) as caught:
        read(text)
    assert (caught.value.path, caught.value.line) == ("d/X01-1.edu.txt.dep", line)


@pytest.mark.parametrize(("parent", "relation"), [(-1, "null"), (0, "ROOT")])
def test_repair_attaches_loose_edus_to_the_root(parent: int, relation: str) -> None:
    text = changed(4, parent=parent, relation=relation)
    with pytest.warns(RepairWarning, match=r"X01-1\.edu\.txt\.dep:28: EDU 4 .* attached to EDU 2"):
        parse = read(text, repair=True)
    assert parse.dependencies.heads == (1, -1, 1, 1)
    assert parse.dependencies.relations[3] == relation


def test_repair_needs_a_root() -> None:
    with pytest.raises(FormatError, match="attached to nothing"):
        read(changed(2, parent=-1), repair=True)


def test_any_script() -> None:
    texts = ["היום ירד גשם ,", "🌧️👩‍👩‍👧", "下雨 了 。"]
    parse = Parse(Document.from_edus(texts, id="X01-1"), DepTree((1, -1, 1), ("a", "ROOT", "b")))
    assert read(write_dep(parse)) == parse


@given(st.data())
def test_round_trip(data: st.DataObject) -> None:
    tree = data.draw(dep_trees(projective=False))
    flat = DepTree(tree.heads, tree.relations)
    document = data.draw(documents(n_edus=tree.n_edus, word=plain_words, layers=False))
    first = read(write_dep(Parse(document, flat)))
    assert first.dependencies.heads == tree.heads
    assert first.dependencies.relations == tree.relations
    assert [text.split() for text in first.edus] == [text.split() for text in document.edu_texts]
    assert read(write_dep(first)) == first


def test_a_folder_with_several_annotators(tmp_path: Path) -> None:
    for name in (
        "train/A",
        "train/B_anno1",
        "train/B_anno2",
        "dev/gold/C",
        "dev/second_annotate/C",
    ):
        path = tmp_path / f"{name}.edu.txt.dep"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dump(), encoding="utf-8-sig")

    def ids(split: str, **options: Any) -> list[str]:
        return [parse.id for parse in read_scidtb(tmp_path, split, **options)]

    assert ids("train") == ["A", "B_anno1"]
    assert ids("train", annotator=2) == ["B_anno2"]
    assert ids("train", annotator="all") == ["A", "B_anno1", "B_anno2"]
    assert ids("dev") == ids("dev", annotator=2) == ["C"]
    assert ids("dev", annotator="all") == ["C", "C"]
    assert next(read_scidtb(tmp_path)).document.language == "en"
    with pytest.raises(FormatError, match="is this SciDTB"):
        ids("test")
