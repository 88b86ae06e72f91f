"""Documents for a batch, one at a time: folders, patterns, texts, tables, standard input.

A document that cannot be read does not end the stream: it comes as an item that says why.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import Any

from rhetorica import formats
from rhetorica.batch.rows import PACKED, READERS
from rhetorica.batch.tables import as_meta
from rhetorica.document import Document
from rhetorica.errors import FormatError, MissingExtra, RhetoricaError, UnknownName
from rhetorica.files import document_id, may_be_read, read_raw
from rhetorica.formats.native import FORMAT, from_dict
from rhetorica.workers import Failure

KINDS: Mapping[str, tuple[str, ...]] = {
    "text": (".txt",),
    "lines": (),
    "jsonl": (".jsonl", ".ndjson"),
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet",),
}
"""What a file may hold, beside our formats: a text, a text a line, a text a row; by extension."""


@dataclass(frozen=True, slots=True)
class Item:
    """A document to be done, or why there is none; ``size`` is its share of the bytes read."""

    document: Document
    size: int = 0
    failure: Failure | None = None


class WrongColumn(RhetoricaError):
    """A table without the column that was asked for: no row of it can be read."""


@dataclass(frozen=True)
class Inputs:
    """A stream of documents that can be read again, always in the same order.

    ``kind`` is one of `KINDS` or a format, where the extension does not tell. What is below
    ``leave_out`` (the folder for the results) is no input.
    """

    paths: Sequence[str]
    kind: str | None = None
    text_column: str = "text"
    id_column: str | None = None
    leave_out: Path | None = None

    def __post_init__(self) -> None:
        known = {*KINDS, *(name for name, found in formats.FORMATS.items() if found.read)}
        if self.kind is not None and self.kind not in known:
            raise UnknownName("kind of input", self.kind, known)
        for path in self.paths:
            if path != "-" and not has_magic(path) and not Path(path).exists():
                raise FormatError(path, None, "no such file or folder")

    def __iter__(self) -> Iterator[Item]:
        for id, path in self.files():
            try:
                yield from self._read(id, path)
            except (MissingExtra, WrongColumn):
                raise
            except RhetoricaError as error:
                yield Item(Document("", id=id), failure=Failure.of(error))
            except OSError as error:
                gone = FormatError(str(path), None, error.strerror or str(error))
                yield Item(Document("", id=id), failure=Failure.of(gone))

    def total(self) -> int:
        """Return the bytes of all files, or 0 where standard input is among them."""
        if "-" in self.paths:
            return 0
        # A link whose file is gone is as large as its own name.
        return sum(path.stat(follow_symlinks=path.exists()).st_size for _, path in self.files())

    def files(self) -> Iterator[tuple[str, Path]]:
        """Yield the files, each with the id of a document that is all of it."""
        for given in self.paths:
            path = Path(given)
            if given == "-":
                yield "stdin", path
            elif path.is_file():
                yield document_id(path), path
            elif path.is_dir():
                yield from self._below(path)
            else:
                yield from self._fitting(path)

    def _fitting(self, pattern: Path) -> Iterator[tuple[str, Path]]:
        start = Path(pattern.anchor)
        found = sorted(start.glob(str(pattern.relative_to(start))))
        if not found:
            raise FormatError(str(pattern), None, "no file fits this pattern")
        for path in found:
            if may_be_read(path) and not self._is_output(path):
                yield document_id(path), path

    def _below(self, folder: Path) -> Iterator[tuple[str, Path]]:
        found = False
        for here, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if not self._is_output(Path(here, name)))
            for path in (Path(here, name) for name in sorted(names)):
                if self._tells(path) and may_be_read(path):
                    found = True
                    yield path.relative_to(folder).with_name(document_id(path)).as_posix(), path
        if not found:
            raise FormatError(str(folder), None, f"no file with {', '.join(self._ends())} in it")

    def _is_output(self, path: Path) -> bool:
        out = self.leave_out
        return out is not None and path.resolve().is_relative_to(out.resolve())

    def _ends(self) -> tuple[str, ...]:
        """Return the extensions of files in folders that are inputs."""
        if self.kind is None:
            return tuple(end for ends in KINDS.values() for end in ends)
        if self.kind in KINDS:
            return KINDS[self.kind] or KINDS["text"]
        return formats.get_format(self.kind).suffixes

    def _tells(self, path: Path) -> bool:
        return _unpacked(path).lower().endswith(self._ends())

    def _read(self, id: str, path: Path) -> Iterator[Item]:
        kind = self.kind or ("jsonl" if str(path) == "-" else _kind_of(path))
        if kind in READERS:
            yield from self._rows(kind, id, path)
            return
        size = 0 if str(path) == "-" else path.stat().st_size
        if kind == "text":
            yield Item(Document(read_raw(path), id=id), size)
            return
        for parse in formats.read(path, kind):
            yield Item(parse.document, size)
            size = 0  # of the first document, for all

    def _rows(self, kind: str, name: str, path: Path) -> Iterator[Item]:
        def check(columns: Sequence[str]) -> None:
            for column, option in ((self.text_column, "text"), (self.id_column, "id")):
                if column and column not in columns:
                    raise WrongColumn(
                        f"{path}: no column {column!r}, there are {', '.join(columns)}: name the "
                        f"right one with --{option}-column"
                    )

        try:
            for number, size, row in READERS[kind](path, check, self.text_column):
                id = f"{name}-{number}"
                try:
                    if isinstance(row, RhetoricaError):
                        raise row
                    yield Item(self._document(row, str(path), number, id), size)
                except RhetoricaError as error:
                    yield Item(Document("", id=id), size, Failure.of(error))
        except FormatError as error:
            why = f"the rest of the file cannot be read: {error.why}"
            raise FormatError(str(path), error.line, why) from None

    def _document(self, row: dict[str, Any], where: str, number: int, id: str) -> Document:
        """Make a document of a row; one in our own JSON keeps its layers."""
        if row.get("format") == FORMAT and "document" in row:
            return from_dict(row, where, line=number, id=id).document
        rest = dict(row)
        text = rest.pop(self.text_column, None)
        named = rest.pop(self.id_column or "id", None)
        missing = [name for name in (self.text_column, self.id_column) if name and name not in row]
        if missing:
            columns = ", ".join(map(str, row)) or "none"
            raise FormatError(where, number, f"no column {missing[0]!r}, there are: {columns}")
        if not isinstance(text, str):
            raise FormatError(where, number, f"{self.text_column!r} is {text!r}, not a text")
        return Document(text, id=id if named is None else str(named), meta=as_meta(rest))


def _unpacked(path: Path) -> str:
    return path.stem if path.suffix.lower() in PACKED else path.name


def _kind_of(path: Path) -> str:
    suffix = Path(_unpacked(path)).suffix.lower()
    kind = next((kind for kind, ends in KINDS.items() if suffix in ends), None)
    return kind or told_by(str(path)) or "text"


_NOT_TEXT = {
    ".doc", ".docx", ".epub", ".htm", ".html", ".odt", ".pdf", ".png", ".ppt", ".pptx", ".rtf",
    ".svg", ".tex", ".xls", ".xlsx", ".zip",
}  # fmt: skip


def told_by(path: str) -> str | None:
    """Return the format that a file's extension tells, None for raw text; refuse what is neither.

    >>> told_by("essay.rs3"), told_by("essay.txt"), told_by("README")
    ('rs3', None, None)
    """
    suffix = Path(path.lower().removesuffix(".gz")).suffix
    if suffix in _NOT_TEXT:
        raise FormatError(
            path,
            None,
            f"{suffix} files are not plain text: save the text as .txt first (pandoc -t plain, "
            "pdftotext or your word processor can), or name the format by --from",
        )
    known = (format for format in formats.FORMATS.values() if suffix in format.suffixes)
    return next((format.name for format in known if format.read), None)
