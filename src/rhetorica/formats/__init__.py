"""Every file format by name: files and streams to parses, parses to files.

Each format has a module of its own with functions such as `rs3.read_rs3` and `rs3.write_rs3`; this
one chooses among them by name or by a file's extension.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rhetorica.convert import Convention
from rhetorica.errors import FormatError, UnknownName
from rhetorica.files import Readable, Source, document_id, may_be_read
from rhetorica.formats.conllu import read_conllu, write_conllu
from rhetorica.formats.dis import read_dis, write_dis
from rhetorica.formats.disrpt import read_tok, relations_of, write_rels, write_tok
from rhetorica.formats.edus import read_edus, write_edus
from rhetorica.formats.native import read_json, read_jsonl, write_json, write_jsonl
from rhetorica.formats.rs3 import read_rs3, write_rs3, write_rs4
from rhetorica.formats.rsd import read_rsd, write_rsd
from rhetorica.formats.scidtb import read_dep, write_dep
from rhetorica.parses import Parse


@dataclass(frozen=True, slots=True)
class Style:
    """How to write, where a format leaves a choice.

    ``multinuclear`` is the convention of dependency formats; ``tokenized`` writes EDUs as tokens
    with spaces between; ``binary`` makes bracketed trees binary.
    """

    multinuclear: Convention = "star"
    tokenized: bool = False
    binary: bool = False


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its extensions, and how to read and write it (None where it cannot be).

    Where reading mends what is plain, ``read_strictly`` refuses it.
    """

    name: str
    about: str
    suffixes: tuple[str, ...]
    read: Callable[[Source], Iterable[Parse]] | None
    write: Callable[[Sequence[Parse], Style], str]
    many: bool = False
    needs_tokens: bool = False
    read_strictly: Callable[[Source], Iterable[Parse]] | None = None


def _one(read: Callable[[Source], Parse]) -> Callable[[Source], Iterable[Parse]]:
    """Read a format that holds one document."""
    return lambda source: (read(source),)


def _alone(write: Callable[..., str], *choices: str) -> Callable[[Sequence[Parse], Style], str]:
    """Write a format that holds one document; ``choices`` are what it takes of a style."""
    return lambda parses, style: write(
        parses[0], **{name: getattr(style, name) for name in choices}
    )


def _all(write: Callable[[Sequence[Parse]], str]) -> Callable[[Sequence[Parse], Style], str]:
    """Write a format that holds many documents."""
    return lambda parses, style: write(parses)


def _write_rels(parses: Sequence[Parse]) -> str:
    return write_rels(row for parse in parses for row in relations_of(parse))


def _write_jsonl(parses: Sequence[Parse]) -> str:
    return "".join(write_jsonl(parses))


_FORMATS = (
    Format("rs3", "RST tree as RSTTool and rstWeb write it", (".rs3",),
           _one(read_rs3), _alone(write_rs3, "tokenized")),
    Format("rs4", "eRST: .rs3 with secondary edges and signals", (".rs4",),
           _one(read_rs3), _alone(write_rs4, "tokenized")),
    Format("dis", "bracketed tree of RST-DT and GUM, n-ary or binary", (".dis", ".lisp"),
           _one(read_dis), _alone(write_dis, "binary", "tokenized"),
           read_strictly=_one(partial(read_dis, strict=True))),
    Format("rsd", "discourse dependencies in ten columns, as in GUM", (".rsd",),
           _one(read_rsd), _alone(write_rsd, "multinuclear", "tokenized")),
    Format("dep", "SciDTB's JSON of discourse dependencies", (".dep",),
           _one(read_dep), _alone(write_dep, "multinuclear")),
    Format("conllu", "CoNLL-U with the discourse annotation in MISC", (".conllu",),
           read_conllu, _all(write_conllu), many=True, needs_tokens=True),
    Format("tok", "DISRPT tokens with EDU starts", (".tok",),
           read_tok, _all(write_tok), many=True, needs_tokens=True),
    Format("rels", "DISRPT relations between units (written only: it has no whole text)",
           (".rels",), None, _all(_write_rels), many=True, needs_tokens=True),
    Format("json", "Rhetorica's own: everything that a parse has", (".json",),
           _one(read_json), _alone(write_json)),
    Format("jsonl", "the same, one document a line", (".jsonl",),
           read_jsonl, _all(_write_jsonl), many=True),
    Format("edus", "plain text, one EDU a line, blank lines between paragraphs",
           (".edus", ".edu"), _one(read_edus), _alone(write_edus, "tokenized")),
)  # fmt: skip
FORMATS = {format.name: format for format in _FORMATS}
_BY_SUFFIX = {suffix: format for format in FORMATS.values() for suffix in format.suffixes}


def get_format(name: str) -> Format:
    """Return a format by name."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UnknownName("format", name, FORMATS) from None


def format_of(
    path: str | os.PathLike[str], *, more: Iterable[str] = (), remedy: str = ""
) -> Format:
    """Return the format that a file's extension tells (``.gz`` aside).

    If it tells none, the error names those that do, and ``more``; ``remedy`` is what else to do.
    """
    name = os.fspath(path).lower().removesuffix(".gz")
    if found := _BY_SUFFIX.get(Path(name).suffix):
        return found
    raise FormatError(
        os.fspath(path),
        None,
        "the extension does not tell the format; known are "
        f"{', '.join(sorted({*_BY_SUFFIX, *more}))}{remedy}",
    )


_NAME_IT = (
    "; else name the format (--from; in Python read(path, format)). Raw text has no tree yet: "
    "`rhetorica parse` makes one"
)


def read(source: Readable, format: str | None = None, *, strict: bool = False) -> Iterator[Parse]:
    """Read the documents of a file or stream; the format is told by the extension or by name.

    With ``strict``, a file that would be read with a `RepairWarning` is refused.
    """
    chosen = get_format(format) if format else None
    source = Source.of(source)
    chosen = chosen or format_of(source.name, remedy=_NAME_IT)
    if chosen.read is None:
        raise FormatError(source.name, None, f"the format {chosen.name} can be written only")
    reader = chosen.read_strictly if strict and chosen.read_strictly else chosen.read
    return iter(reader(source))


def write(parses: Parse | Iterable[Parse], format: str, style: Style | None = None) -> str:
    """Return the text of a file in a format; most formats hold one document only."""
    chosen = get_format(format)
    items = [parses] if isinstance(parses, Parse) else list(parses)
    if not items:
        raise FormatError(f"<{format}>", None, "nothing to write: there is no document")
    if len(items) > 1 and not chosen.many:
        many = ", ".join(sorted(f.name for f in FORMATS.values() if f.many))
        raise FormatError(
            f"<{format}>",
            None,
            f"{len(items)} documents, but {format} holds one a file: write them one by one, "
            f"or choose among {many}",
        )
    return chosen.write(items, style or Style())


def find_files(path: str | os.PathLike[str], format: str | None = None) -> list[Path]:
    """Return the path itself if it is a file, or all files of the format (or any) below it.

    Where no format is named, a list of units that stands beside its tree, as in RST-DT, is no
    document of its own.
    """
    path = Path(path)
    if not path.is_dir():
        return [path]
    readable = [get_format(format)] if format else [f for f in FORMATS.values() if f.read]
    suffixes = tuple(
        end for chosen in readable for suffix in chosen.suffixes for end in (suffix, suffix + ".gz")
    )
    found = sorted(
        p for p in path.rglob("*") if p.name.lower().endswith(suffixes) and may_be_read(p)
    )
    if not format:
        trees = {(p.parent, document_id(p)) for p in found if format_of(p).name != "edus"}
        found = [
            p
            for p in found
            if format_of(p).name != "edus" or (p.parent, document_id(p)) not in trees
        ]
    if not found:
        raise FormatError(str(path), None, f"no file with {', '.join(suffixes)} in this folder")
    return found
