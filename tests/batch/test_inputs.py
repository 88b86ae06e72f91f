"""What can be given to a batch: every kind of file, and files that are broken."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from batch_fakes import Fake, here
from rhetorica.batch.engine import run_batch
from rhetorica.batch.inputs import Inputs, Item, WrongColumn
from rhetorica.errors import FormatError, MissingExtra, UnknownName
from rhetorica.formats.native import write_json

ROWS = [
    {"id": "a", "text": "One.", "year": 1990},
    {"id": "b", "text": "Zwei – drei."},
    {"id": 3, "text": "", "tags": ["x", "y"]},
]
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode()


def read(*paths: Path | str, **options: Any) -> list[Item]:
    inputs = Inputs([str(path) for path in paths], **options)
    items = list(inputs)
    assert [item.document for item in inputs] == [item.document for item in items]
    return items


def good(items: list[Item]) -> list[tuple[str, str]]:
    return [(item.document.id, item.document.text) for item in items if not item.failure]


def bad(items: list[Item]) -> list[tuple[str, str]]:
    return [(item.document.id, item.failure.message) for item in items if item.failure]


def pack(data: bytes, end: str) -> bytes:
    if end == ".gz":
        return gzip.compress(data)
    if end == ".zst":
        zstandard = pytest.importorskip("zstandard")
        half = len(data) // 2  # in two frames, as parallel packers write
        return b"".join(map(zstandard.ZstdCompressor().compress, (data[:half], data[half:])))
    return data


@pytest.mark.parametrize("end", ["", ".gz", ".zst"])
def test_json_lines(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"rows.jsonl{end}"
    path.write_bytes(pack(LINES, end))
    items = read(path)
    assert good(items) == [("a", "One."), ("b", "Zwei – drei."), ("3", "")]
    assert [dict(item.document.meta) for item in items] == [
        {"year": "1990"},
        {},
        {"tags": '["x", "y"]'},
    ]
    assert sum(item.size for item in items) <= path.stat().st_size
    assert Inputs([str(path)]).total() == path.stat().st_size


def test_broken_lines_are_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    lines = [b'{"text": "ok"}', b'{"text":', b"\xff", b"[1]", b'{"t": 1}', b'{"text": 5}', b""]
    path.write_bytes(b"\n".join([*lines, b'{"text": "x"}']))
    items = read(path)
    assert good(items) == [("rows-1", "ok"), ("rows-8", "x")]
    assert [id_ for id_, _ in bad(items)] == ["rows-2", "rows-3", "rows-4", "rows-5", "rows-6"]
    assert all(f"{path}:{n}: " in why for n, (_, why) in enumerate(bad(items), 2))
    assert "no column 'text', there are: t" in bad(items)[3][1]


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b'name,body,year\nx,"Two\nlines, yes",1\ny,\xff\xfe,2\nz,a,b,c,d\nw,last,\n')
    items = read(path, text_column="body", id_column="name")
    assert good(items) == [("x", "Two\nlines, yes"), ("w", "last")]
    assert items[0].document.meta == {"year": "1"}
    assert [why for _, why in bad(items)] == [
        f"{path}:4: not UTF-8",
        f"{path}:5: 2 cells more than columns",
    ]
    with pytest.raises(WrongColumn, match="no column 'text', there are name, body, year"):
        read(path)
    tabs = tmp_path / "rows.tsv"
    tabs.write_text("id\ttext\n1\ta, b\n")
    assert good(read(tabs)) == [("1", "a, b")]


def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    columns = {"id": ["a", "b"], "text": ["One.", None], "year": [1, 2]}
    parquet.write_table(arrow.table(columns), path)
    items = read(path)
    assert good(items) == [("a", "One.")]
    assert items[0].document.meta == {"year": "1"}
    assert "not a text" in bad(items)[0][1]
    with pytest.raises(WrongColumn):
        read(path, text_column="body")
    path.write_bytes(b"PAR1 not really")
    assert "the rest of the file cannot be read" in bad(read(path))[0][1]


def test_folders_patterns_and_files(tmp_path: Path) -> None:
    for name in ("b/x.txt", "a/x.txt", "a/y.jsonl", "a/z.pdf", ".hidden.txt", "out/part-0.jsonl"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(LINES if name.endswith("jsonl") else name.encode())
    found = good(read(tmp_path / "in", leave_out=tmp_path / "in" / "out"))
    assert found == [
        ("a/x", "a/x.txt"),
        ("a", "One."),
        ("b", "Zwei – drei."),
        ("3", ""),
        ("b/x", "b/x.txt"),
    ]
    assert good(read(tmp_path / "in" / "*" / "x.txt")) == [("x", "a/x.txt"), ("x", "b/x.txt")]
    assert good(read(tmp_path / "in" / "a" / "z.pdf", kind="text")) == [("z.pdf", "a/z.pdf")]
    with pytest.raises(FormatError, match="no such file"):
        read(tmp_path / "none")
    with pytest.raises(FormatError, match="no file fits"):
        read(tmp_path / "*.none")
    with pytest.raises(FormatError, match=r"no file with \.rs3"):
        read(tmp_path / "in", kind="rs3")
    with pytest.raises(UnknownName):
        read(tmp_path, kind="word")


def test_files_that_cannot_be_read_are_set_aside(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"fine")
    (tmp_path / "b.txt").write_bytes(b"caf\xe9")
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(LINES * 50)[:-20])
    (tmp_path / "d.txt").write_bytes(b"fine, too")
    items = read(tmp_path)
    assert good(items)[0] == ("a", "fine")
    assert good(items)[-1] == ("d", "fine, too")
    (text, why), (rows, broken) = bad(items)
    assert (text, rows) == ("b", "c")
    assert "not UTF-8" in why
    assert "the rest of the file cannot be read: damaged .gz file" in broken


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(data: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8"))

    given(LINES)
    assert good(list(Inputs(["-"])))[1] == ("b", "Zwei – drei.")
    given("\ufeffOne.\n\nZwei\r\n".encode())
    assert good(list(Inputs(["-"], "lines"))) == [("stdin-1", "One."), ("stdin-3", "Zwei")]
    given(b"All\nof it")
    assert good(list(Inputs(["-"], "text"))) == [("stdin", "All\nof it")]
    assert Inputs(["-"]).total() == 0


def test_our_own_json_keeps_its_layers(tmp_path: Path) -> None:
    from rhetorica.document import Document
    from rhetorica.parses import Parse

    parse = Parse(Document.from_edus(["It is wet", "because it rained."], id="wet"))
    path = tmp_path / "parses.jsonl"
    path.write_text(write_json(parse, indent=None))
    assert [item.document for item in read(path)] == [parse.document]
    path.with_name("wet.edus").write_text("It is wet\nbecause it rained.\n")
    assert read(path.with_name("wet.edus"), kind="edus")[0].document.edus == parse.document.edus


def test_what_is_not_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name in ("a.jsonl.zst", "a.parquet"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(MissingExtra, match=r"rhetorica\[batch\]"):
            read(tmp_path / name)


def test_the_output_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One.")
    out = tmp_path / "out"
    for _ in range(2):
        inputs = Inputs([str(tmp_path)], leave_out=out)
        counts = run_batch(inputs, out, Fake(), here(Fake()), total=inputs.total())
        assert counts.read == 1


def test_other_formats_are_told_by_their_extension(tmp_path: Path) -> None:
    tree, word = tmp_path / "essay.rs3", tmp_path / "report.docx"
    tree.write_text(
        '<rst><header><relations><rel name="cause" type="rst"/></relations></header><body>'
        '<segment id="1">It is wet</segment>'
        '<segment id="2" parent="1" relname="cause">because it rained.</segment></body></rst>'
    )
    word.write_bytes(b"PK\x03\x04")
    kept, failed = read(tree, word)
    assert kept.document.edu_texts == ["It is wet", "because it rained."]
    assert failed.failure
    assert ".docx files are not plain text" in failed.failure.message
