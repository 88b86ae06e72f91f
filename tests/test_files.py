"""Text in and out: names, encodings, packed files; written wholly or not at all."""

from __future__ import annotations

import gzip
import os
import stat
import sys
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest

from rhetorica import files
from rhetorica.errors import FormatError
from rhetorica.files import (
    Source,
    decode,
    digest,
    document_id,
    encode,
    file_name,
    may_be_read,
    read_raw,
    write_bytes,
    write_text,
)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "tree.rs3"
    write_text(target, "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FormatError, match="No space"):
        write_bytes(target, b"new")
    monkeypatch.undo()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["tree.rs3"]


def test_an_interrupted_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "chmod", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "tree.rs3", b"new")
    assert not list(tmp_path.iterdir())


def test_names_of_documents() -> None:
    assert document_id(Path("a/wsj_0601.out.dis")) == "wsj_0601"
    assert document_id(Path("essay.RS3.GZ")) == "essay"
    assert document_id(Path("v1.2.txt")) == "v1.2"
    for suffix in (
        "gz rs3 rs4 dis lisp rsd dep conllu tok rels json jsonl txt edu edus out xml"
    ).split():
        assert document_id(Path(f"essay.{suffix}")) == "essay"
    assert Source("<stdin>", "").stem == ""
    assert Source("x/essay.rs3", "").stem == "essay"


def test_every_kind_of_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    lines = "one\ntwo\nthree\n"
    source = Source.of(path)
    assert (source.name, source.text) == (str(path), lines)
    assert Source.of(source) is source
    assert Source.of(str(path)).text == lines
    with path.open("rb") as stream:
        assert Source.of(stream) == Source(str(path), lines)
    assert Source.of(StringIO("a\r\nb")) == Source("<stream>", "a\nb")
    # A user's text is left as it is, but for the mark of the byte order.
    assert read_raw(path) == "one\r\ntwo\rthree\n"
    for read in (lambda: Source.of("-"), lambda: Source("<stdin>", read_raw("-"))):
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO("é\n".encode())))
        assert read() == Source("<stdin>", "é\n")


def test_lines() -> None:
    source = Source("x.rs3", "ab\ncd\n")
    assert [source.line_at(at) for at in (-5, 0, 2, 3, 5, 6)] == [1, 1, 1, 2, 2, 3]
    assert [Source("x", "\na").line_at(at) for at in (0, 1)] == [1, 2]
    assert str(source.error("bad", 3)) == "x.rs3:3: bad"
    assert str(source.error("bad")) == "x.rs3: bad"
    source.require_content()
    with pytest.raises(FormatError, match=r"^x:1: the file is empty$"):
        Source("x", " \n\t").require_content()


def test_what_is_not_utf_8_is_told_with_its_place() -> None:
    with pytest.raises(FormatError, match=r"^x:2: not UTF-8: byte 0xe9 at offset 4\. Convert"):
        decode(b"ab\n\x41\xe9\n", "x")
    for mark in (b"\xff\xfe", b"\xfe\xff"):
        with pytest.raises(FormatError, match=r"^x:1: .*offset 0\. It looks like UTF-16\. Conv"):
            decode(mark + b"a\0", "x")
    assert decode("é\r".encode(), "x") == "é\n"
    with pytest.raises(FormatError, match=r"^x:2: "):
        decode(b"\n\xe9", "x")
    with pytest.raises(FormatError, match=r"^x: this is a Word"):
        decode(b"PK\x03\x04\xb2", "x")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04\x14\0\xb2", "Word, OpenDocument or zip file.*save its text as .txt"),
        (b"%PDF-1.4\n%\xe2\xe3", "PDF file.*pdftotext"),
        (b"%PDF-1.4\n1 0 obj", "PDF file"),
        (b"{\\rtf1 It rained.}", "rich text"),
        (b"\xef\xbb\xbf\n<!DOCTYPE  HTML><p>It rained.", "web page"),
        (b'<?xml version="1.0"?>\n<rst>\n<header>', "a tree in rs3 .*--from rs3$"),
        (b"( Root (span 1 2)", "a tree in dis: .*--from dis$"),
        (b"\xd0\xcf\x11\xe0\xa1", "an old Word or Excel file"),
        (b"\x1f\x8b\x08", "packed by gzip: name it .gz, or unpack it first$"),
        (b"<HTML>It rained.", "web page"),
        ("It rained.".encode("utf-16"), "iconv -f UTF-16"),
    ],
)
def test_what_is_no_text_is_told_by_how_it_begins(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "essay.txt"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_raw(path)


def test_a_text_may_begin_with_anything_else(tmp_path: Path) -> None:
    path = tmp_path / "essay.txt"
    for text in ("<b>It</b> rained.", "{It rained.}", "( Root and branch )", "PK is a name.", ""):
        path.write_text(text)
        assert read_raw(path) == text


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FormatError, match=r"none\.txt: No such file or directory$"):
        read_raw(tmp_path / "none.txt")
    with pytest.raises(FormatError, match="s a directory"):
        read_raw(tmp_path)
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"\xe9")))
    with pytest.raises(FormatError, match=r"^<stdin>:1: not UTF-8"):
        read_raw("-")


def test_what_is_to_be_read_in_a_folder(tmp_path: Path) -> None:
    for name in ("file", ".hidden"):
        (tmp_path / name).write_text("It rained.")
    (tmp_path / "folder").mkdir()
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / ".gone").symlink_to("nowhere")
    found = sorted(path.name for path in tmp_path.iterdir() if may_be_read(path))
    assert found == ["file", "gone"]


def test_packed_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new" / "a.rs3.GZ"
    write_text(path, "abcde")
    first = path.read_bytes()
    assert gzip.decompress(first) == b"abcde"
    assert first[4:8] == bytes(4)  # no time: the same content, the same file
    assert read_raw(path) == "abcde"
    assert files.MOST_UNPACKED == 2**30
    monkeypatch.setattr(files, "MOST_UNPACKED", 5)
    assert read_raw(path) == "abcde"
    monkeypatch.setattr(files, "MOST_UNPACKED", 4)
    with pytest.raises(FormatError, match="more than 4 bytes"):
        read_raw(path)
    monkeypatch.undo()
    for damaged in (first[:-3], b"no gzip at all", first[:12] + b"\xff" + first[13:]):
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match="damaged gzip file"):
            read_raw(path)
    plain = tmp_path / "a.rs3"
    write_text(plain, "abcde")
    assert plain.read_bytes() == b"abcde"


def test_where_text_can_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = StringIO()
    write_text(stream, "to a stream")
    assert stream.getvalue() == "to a stream"
    write_text("-", "to the screen")
    assert capsys.readouterr().out == "to the screen"
    write_text(str(tmp_path / "a"), "é")
    assert (tmp_path / "a").read_bytes() == "é".encode()
    for name in ("b", "c"):  # folders are made where there are none
        write_text(tmp_path / "new" / "folder" / name, "in it")


def test_half_characters_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"^x:3: .*lone surrogate '\\ud800'"):
        encode("\nb\nc\ud800\n", "x")
    with pytest.raises(FormatError, match=r"a:1: "):
        write_text(tmp_path / "a", "\ud800")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["nul\0", "half\ud800", "x" * 300])
def test_names_that_cannot_be(tmp_path: Path, name: str) -> None:
    with pytest.raises(FormatError, match=r"cannot be written: (?!None|\[Errno)"):
        write_bytes(tmp_path / name, b"a")
    assert not list(tmp_path.iterdir())


def test_files_are_as_readable_as_others(tmp_path: Path) -> None:
    before = os.umask(0o026)
    try:
        write_bytes(tmp_path / "ours", b"")
        (tmp_path / "plain").write_bytes(b"")
        assert os.umask(0o026) == 0o026
        ours, plain = (tmp_path / name for name in ("ours", "plain"))
        assert stat.S_IMODE(ours.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    finally:
        os.umask(before)


def test_names_for_files() -> None:
    taken: set[str] = set()
    names = [file_name(id, taken) for id in ("a", "A", "a", "", ".", "b" * 300, "é" * 300)]
    assert names[:5] == ["a", "A-2", "a-3", "_", "_."]
    assert names[5] == "b" * 180
    assert names[6] == "é" * 90
    assert taken == {name.casefold() for name in names}
    assert file_name(".x", taken) == "_.x"
    odd = file_name('/\\:*?"<>|\n\x7f\ud800z', taken)
    assert odd == "_" * 12 + "z"


def test_short_names_for_values() -> None:
    assert digest([1, 2]) == digest((1, 2)) == digest([1, 2])
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert len({digest(value) for value in (1, "1", [1], {"a": 1}, {"a": 2}, None)}) == 6
    assert len(digest("x")) == 16
