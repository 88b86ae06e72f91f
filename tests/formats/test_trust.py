"""What files may do to us: readers are linear, nothing is lost in silence, errors are ours."""

from __future__ import annotations

import gzip
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rhetorica import Document, Join, Parse, RSTTree, Span, Token, files, formats
from rhetorica.cli import app
from rhetorica.errors import FormatError, InvalidDocument, RepairWarning, RhetoricaError
from rhetorica.files import Source, write_bytes, write_text
from rhetorica.formats.dis import read_dis

DIGITS = "9" * 5000


def parse_of(*edus: str, relation: str = "cause") -> Parse:
    joins = tuple(Join(i, i + 1, len(edus), "NS", relation) for i in range(len(edus) - 1))
    return Parse(Document.from_edus(edus, id="x"), RSTTree(len(edus), joins))


def read(text: str, format: str) -> Parse:
    (parse,) = formats.read(Source(f"x.{format}", text), format)
    return parse


def rs3(body: str) -> str:
    return f"<rst><header/><body>{body}</body></rst>"


@pytest.mark.parametrize(
    ("format", "body", "why"),
    [
        ("rs3", rs3('<segment id="1">foo <b>bar</b> baz</segment>'), "tag <b>"),
        (
            "rs3",
            rs3(
                '<segment id="1">a</segment>'
                '<group id="2" type="span"><segment id="3">b</segment></group>'
            ),
            "segment 3 is not directly below",
        ),
        (
            "rs3",
            rs3('<segment id="1">a</segment></body><body><segment id="2">b</segment>'),
            "segment 2 is not",
        ),
        (
            "rs3",
            rs3(
                '<segment id="1" parent="4" relname="list">a</segment>'
                '<segment id="2" parent="4" relname="cause">b</segment>'
                '<segment id="3" parent="4" relname="list">c</segment>'
                '<group id="4" type="multinuc"/>'
            ).replace(
                "<header/>",
                '<header><relations><rel name="cause" type="rst"/></relations></header>',
            ),
            "satellite stands between",
        ),
        ("dis", "( Root (span 1 1) ( Nucleus (leaf 1) (text _!a_!) ) )", "without"),
        ("dis", "( Root (leaf 1) (text _!a_!) (text _!b_!) )", "cannot read"),
        (
            "dis",
            "( Root (leaf 1) (text _!a_!) ( Nucleus (leaf 1) (rel2par span) (text _!b_!) ) )",
            "with parts",
        ),
        ("dep", '{"root": [{"id": 0, "id": 1}]}', "twice"),
        ("dep", '{"root": [' + DIGITS + "]}", "digits|JSON"),
        ("rsd", f"{DIGITS}\ta\t0\t_\t_\t_\t0\tROOT\t_\t_\n", "whole number"),
        ("rsd", f"1\ta\t0\t_\t_\t_\t{DIGITS}\tROOT\t_\t_\n", "whole number"),
        ("conllu", f"{DIGITS}\ta\t_\t_\t_\t_\t0\troot\t_\t_\n", "whole number"),
        ("tok", f"{DIGITS}\ta\t_\t_\t_\t_\t_\t_\t_\tSeg=B-seg\n", "whole number"),
        ("json", "{" + DIGITS + "}", "JSON"),
        ("json", '{"a": ' + DIGITS + "}", "JSON|digits"),
    ],
)  # fmt: skip
def test_broken_files_are_refused_with_their_name(format: str, body: str, why: str) -> None:
    with pytest.raises(FormatError, match=why) as caught:
        read(body, format)
    assert caught.value.path == f"x.{format}"
    assert len(str(caught.value)) < 400  # a hostile value is not printed whole


@pytest.mark.parametrize(
    ("format", "attack"),
    [
        # An error at the end makes the reader look for a line: once quadratic.
        (
            "rs3",
            lambda n: rs3(
                '<segment id="1">a<![CDATA[' + "<segment " * n + "]]></segment>"
                '<segment id="1">b</segment>'
            ),
        ),
        ("json", lambda n: "{" + ", ".join(f'"k{i}": 1' for i in range(n)) + ', "k0": 2}'),
        ("dep", lambda n: "{" + ", ".join(f'"k{i}": 1' for i in range(n)) + ', "k0": 2}'),
        ("dis", lambda n: "( Root " + "( Nucleus (rel2par span) " * n),
        ("rsd", lambda n: "1\ta\t0\t_\t_\t_\t0\tROOT\t_\t_\n" * n),
        ("conllu", lambda n: "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n" * n),
        ("tok", lambda n: "1\ta\t_\t_\t_\t_\t_\t_\t_\tSeg=B-seg\n" * n),
        ("edus", lambda n: "a\n" * n + "<S>\n"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_readers_are_linear(format: str, attack: Callable[[int], str]) -> None:
    """Eight times the input may cost some forty times the work at most: quadratic is sixty-four.

    Measured by the clock of the process, best of three.
    """

    def cost(n: int) -> float:
        text = attack(n)
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            with pytest.raises(FormatError):
                read(text, format)
            best = min(best, time.process_time() - start)
        return best

    small, large = max(cost(2_500), 2e-3), cost(20_000)
    assert large < 40 * small


@pytest.mark.parametrize("format", ["dis", "edus", "dep"])
def test_texts_that_a_format_cannot_hold_are_refused(format: str) -> None:
    mark = "<P>" if format == "dis" else "<S>"
    with pytest.raises(FormatError, match=mark):
        parse_of(f"We met {mark}", "and left.").to(format)
    inside = parse_of(f"We met {mark} here", "and left.")
    assert read(inside.to(format), format).edus == inside.edus


@pytest.mark.parametrize("format", ["edus", "dis", "tok", "conllu", "rs3", "rsd", "dep"])
def test_a_text_of_which_nothing_would_be_written_is_refused(format: str) -> None:
    with pytest.raises(RhetoricaError, match=r"no EDUs|no tokens"):
        Parse(Document("It rained.")).to(format)
    assert formats.write(Parse(Document("It rained.")), "json")


@pytest.mark.parametrize("format", ["tok", "conllu"])
@pytest.mark.parametrize(("start", "end", "lost"), [(1, 5, "'R'"), (0, 4, "'.'"), (0, 5, None)])
def test_characters_outside_tokens_are_not_lost(
    format: str, start: int, end: int, lost: str | None
) -> None:
    doc = Document(" Rain. ", (Span(1, 6),), tokens=(Token(start + 1, end + 1),), id="x")
    parse = Parse(doc, RSTTree(1, ()))
    if lost is None:
        assert read(parse.to(format), format).edus == ["Rain."]
    else:
        with pytest.raises(InvalidDocument, match=f"x: {lost} is in no token"):
            parse.to(format)


@pytest.mark.parametrize("format", ["rs3", "rs4"])
def test_the_relation_of_an_only_nucleus_does_no_harm(format: str) -> None:
    text = parse_of("a", "b", "c").to("dis")
    odd = text.replace("(rel2par span)", "(rel2par spam)", 1)
    assert odd != text
    parse = read(odd, "dis")
    assert read(parse.to(format), format).tree == parse.tree == parse_of("a", "b", "c").tree


def test_dis_relations_of_two_words_come_back() -> None:
    parse = parse_of("a", "b", relation="my relation")
    assert read(parse.to("dis"), "dis").tree == parse.tree
    for relation in ("a (b)", "a  b", "_!", ""):
        with pytest.raises(FormatError, match="relation"):
            parse_of("a", "b", relation=relation).to("dis")
    with pytest.raises(FormatError, match="_!"):
        parse_of("a _! b", "c").to("dis")


def test_dis_paragraph_marks_and_text_that_looks_like_them() -> None:
    parse = parse_of("a <P> b", "c")
    marked = replace(parse.document, paragraphs=(Span(0, 7), Span(8, 9)))
    again = read(replace(parse, document=marked).to("dis"), "dis")
    assert again.edus == ["a <P> b", "c"]
    assert len(again.document.paragraphs) == 2


def test_dis_spans_that_contradict_their_leaves_are_read_by_the_leaves() -> None:
    text = parse_of("a", "b", "c").to("dis").replace("(span 2 3)", "(span 2 4)")
    with pytest.warns(RepairWarning, match="span 2 4 holds the EDUs 2 to 3"):
        parse = read_dis(StringIO(text))
    assert parse.tree == parse_of("a", "b", "c").tree
    with pytest.raises(FormatError, match="holds the EDUs"):
        read_dis(StringIO(text), strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_dis(StringIO(parse_of("a", "b", "c").to("dis")), strict=True)


def test_strict_on_the_command_line(tmp_path: Path) -> None:
    text = parse_of("a", "b", "c").to("dis")
    broken, whole = tmp_path / "broken.dis", tmp_path / "whole.dis"
    broken.write_text(text.replace("(span 2 3)", "(span 2 4)"))
    whole.write_text(text)
    commands = [
        ["convert", "--to", "edus"],
        ["score", str(whole)],
        ["show"],
        ["stats"],
        ["segment", "--segmenter", "sentence", "--quiet"],
    ]
    for command in commands:
        assert CliRunner().invoke(app, [*command, str(whole), "--strict"]).exit_code == 0
        refused = CliRunner().invoke(app, [*command, str(broken), "--strict"])
        assert refused.exit_code == 1, refused.output
        assert "holds the EDUs" in refused.output + str(refused.exception)
    with pytest.warns(RepairWarning):
        assert CliRunner().invoke(app, ["show", str(broken)]).exit_code == 0


def test_damaged_and_oversized_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.RS3.GZ"
    write_text(path, parse_of("a", "b").to("rs3"))
    assert next(iter(formats.read(path))).edus == ["a", "b"]
    data = gzip.compress(b"x" * 10_000)
    for at in range(10, len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        with pytest.raises(FormatError):
            next(iter(formats.read(path)))
    path.write_bytes(data)
    monkeypatch.setattr(files, "MOST_UNPACKED", 9_999)
    with pytest.raises(FormatError, match="unpacks to more than"):
        next(iter(formats.read(path)))


def test_write_errors_name_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for target in (
        tmp_path / "file" / "below.rs3",
        tmp_path / ("n" * 300),
        tmp_path,
        tmp_path / "nul\0name",
        tmp_path / "lone\ud800",
    ):
        with pytest.raises(FormatError, match="cannot be written"):
            write_bytes(target, b"data")
    longest = tmp_path / ("n" * 250)
    write_bytes(longest, b"data")
    assert longest.read_bytes() == b"data"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["file", longest.name])
