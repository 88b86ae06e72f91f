"""The .rsd reader and writer: small files by hand, broken files, round trips."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica import AnnotatedTree, DepTree, Document, Node, Parse, SecondaryEdge, Signal, Token
from rhetorica.errors import FormatError
from rhetorica.files import Source
from rhetorica.formats.rsd import read_rsd, write_rsd
from strategies import dep_trees, documents, plain_words


def row(number: object, text: str, level: object, head: object, label: str) -> str:
    return (
        f"{number}\t{text}\t{level}\t_\t_\tpos1=NN|len=2\t{head}\t{label}\t2:cause:0:0:_\tdm-so-3-_"
    )


SMALL = "\n".join(
    [
        row(1, "The dog barked", 0, 0, "ROOT"),
        row(2, "because it was hungry ,", 0, 1, "cause_r"),
        row(3, "and the cat slept .", 1, 1, "elab-enum_member_m"),
    ]
)


def read(text: str) -> Parse:
    return read_rsd(Source("folder/small.rsd", text))


def test_a_small_file() -> None:
    parse = read(SMALL)
    assert parse.id == "small"
    assert parse.edus == ["The dog barked", "because it was hungry ,", "and the cat slept ."]
    assert parse.source == DepTree(
        (-1, 0, 0), ("ROOT", "cause", "elab-enum_member"), (False, False, True), (0, 0, 1)
    )


def test_line_ends_and_byte_order_mark_do_not_matter() -> None:
    data = ("\ufeff" + SMALL.replace("\n", "\r\n") + "\r\n\r\n").encode()
    stream = BytesIO(data)
    stream.name = "small.rsd"
    assert read_rsd(stream) == read(SMALL)


def test_any_script() -> None:
    texts = ["היום ירד גשם ,", "🌧️👩‍👩‍👧", "下雨 了 。"]
    rows = [row(i, t, "_", i - 1, "ROOT" if i == 1 else "cause_r") for i, t in enumerate(texts, 1)]
    parse = read("\n".join(rows))
    assert parse.edus == texts
    assert parse.dependencies.levels == ()
    assert read(write_rsd(parse)) == parse


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("", 1, "empty"),
        (" \n\n", 1, "empty"),
        (SMALL[:-10], 3, "9 columns"),
        (SMALL.replace("\t_\t_\t", "\t_\t", 1), 1, "9 columns"),
        (SMALL.replace("2\tbecause", "x\tbecause"), 2, "'x'"),
        (SMALL.replace("2\tbecause", "4\tbecause"), 2, "EDU 4 comes where 2"),
        (SMALL.replace("because it was hungry ,", " "), 2, "no text"),
        (SMALL.replace("\t1\tcause_r", "\t-1\tcause_r"), 2, "'-1'"),
        (SMALL.replace("\t1\tcause_r", "\t１\tcause_r"), 2, "whole number"),
        (SMALL.replace("\t1\tcause_r", "\t7\tcause_r"), 2, "head 7"),
        (SMALL.replace("\t1\tcause_r", "\t0\tcause_r"), 2, "second root"),
        (SMALL.replace("\t0\tROOT", "\t2\tROOT"), 1, "root"),
        (
            SMALL.replace("\t1\tcause_r", "\t3\tcause_r").replace("\t1\telab", "\t2\telab"),
            2,
            "cycle",
        ),
        (SMALL.replace("ry ,\t0", "ry ,\t_"), 2, "the level is '_'"),
    ],
)
def test_broken_files_name_file_and_line(text: str, line: int, why: str) -> None:
    with pytest.raises(FormatError, match=why) as caught:
        read(text)
    assert (caught.value.path, caught.value.line) == ("folder/small.rsd", line)


def test_wrong_encoding_names_the_line() -> None:
    with pytest.raises(FormatError, match="not UTF-8") as caught:
        read_rsd(BytesIO(SMALL.encode() + "\né".encode("latin-1")))
    assert caught.value.line == 4


@given(st.data())
def test_round_trip(data: st.DataObject) -> None:
    projective, levels = data.draw(st.booleans()), data.draw(st.booleans())
    tree = data.draw(dep_trees(projective=projective, multinuclear=True, levels=levels))
    document = data.draw(documents(n_edus=tree.n_edus, word=plain_words, layers=False))
    again = read(write_rsd(Parse(document, tree)))
    assert again.source == tree
    assert [text.split() for text in again.edus] == [text.split() for text in document.edu_texts]
    assert read(write_rsd(again)) == again


def test_text_is_written_on_one_line_or_as_words() -> None:
    document = Document(
        "It's\twet.\nReally.",
        ((0, 9), (10, 17)),  # type: ignore[arg-type]
        tuple(Token(*span) for span in ((0, 2), (2, 4), (5, 8), (8, 9), (10, 16), (16, 17))),
    )
    parse = Parse(document, DepTree((-1, 0), ("ROOT", "evaluation_m")))
    assert read(write_rsd(parse)).edus == ["It's wet.", "Really."]
    assert read(write_rsd(parse, tokenized=True)).edus == ["It 's wet .", "Really ."]
    assert read(write_rsd(parse)).source == parse.source


def test_secondary_edges_and_signals_are_written() -> None:
    tree = AnnotatedTree(
        (
            Node("1", "edu", 3, "nucleus", "span"),
            Node("2", "edu", 0, "satellite", "cause"),
            Node("3", "edu", 3, "satellite", "result"),
            Node("4", "span", -1, "root", ""),
        ),
        (SecondaryEdge("3-2", 2, 1, "contrast"),),
        (
            Signal(1, False, "dm", "dm", (2,), "gold"),
            Signal(1, False, "graphical", "layout"),
            Signal(0, True, "orphan", "orphan", (4, 5), "gold"),
        ),
    )
    text = "It rained Because warm And yet dry"
    tokens, at = [], 0
    for word in text.split():
        tokens.append(Token(at, at + len(word)))
        at += len(word) + 1
    document = Document(text, ((0, 9), (10, 22), (23, 34)), tuple(tokens))  # type: ignore[arg-type]
    columns = [line.split("\t")[6:] for line in write_rsd(Parse(document, tree)).splitlines()]
    assert columns == [
        ["0", "ROOT", "_", "_"],
        ["1", "cause_r", "_", "dm-because-3-gold;graphical-layout-_-_"],
        ["1", "result_r", "2:contrast:0:0:orphan-and yet-5-6-gold", "_"],
    ]
