"""Plain files with one EDU a line."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica import Parse
from rhetorica.errors import FormatError
from rhetorica.files import Source
from rhetorica.formats.edus import read_edus, write_edus
from strategies import documents, plain_words


def read(text: str) -> Parse:
    return read_edus(Source("a.edus", text))


def test_indented_lines_and_paragraphs() -> None:
    parse = read("   Wet,\n   because it rained.\n\n\n   Then 🌧️ ended.\n")
    assert parse.edus == ["Wet,", "because it rained.", "Then 🌧️ ended."]
    assert parse.source is None
    doc = parse.document
    assert doc.text == "Wet, because it rained.\n\nThen 🌧️ ended."
    assert [doc.text[a:b] for a, b in doc.paragraphs] == [
        "Wet, because it rained.", "Then 🌧️ ended.",
    ]  # fmt: skip
    assert doc.sentences == ()


def test_sentence_marks() -> None:
    text = "We show\nthat it rains . <S>\nGood . <S>\n"
    parse = read(text)
    assert parse.edus == ["We show", "that it rains .", "Good ."]
    assert [tuple(s) for s in parse.document.sentences] == [(0, 23), (24, 30)]
    assert parse.document.paragraphs == ()
    assert write_edus(parse, sentence_ends=True) == text


def test_line_ends_and_byte_order_mark_do_not_matter() -> None:
    stream = BytesIO("\ufeffWet,\r\n\r\nגשם".encode())
    stream.name = "a.edus"
    assert read_edus(stream) == read("Wet,\n\nגשם\n")


@pytest.mark.parametrize(("text", "line"), [("", 1), ("\n \n", 1), ("Wet\n <S>\n", 2)])
def test_broken_files_name_file_and_line(text: str, line: int) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert (caught.value.path, caught.value.line) == ("a.edus", line)


@given(st.data())
def test_round_trip(data: st.DataObject) -> None:
    document = data.draw(documents(word=plain_words))
    first = read(write_edus(Parse(document), sentence_ends=True))
    assert [text.split() for text in first.edus] == [text.split() for text in document.edu_texts]
    assert first.document.edu_sentences() == document.edu_sentences()
    assert first.document.edu_paragraphs() == document.edu_paragraphs()
    assert read(write_edus(first, sentence_ends=True)) == first
