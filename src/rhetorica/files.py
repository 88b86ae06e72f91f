"""Text in and out: the border where bytes become characters and errors get a file and a line."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

from rhetorica.errors import FormatError

MOST_UNPACKED = 1 << 30
"""A packed file may hold so many bytes: a small one can be made to fill any memory."""
Readable: TypeAlias = "str | os.PathLike[str] | IO[str] | IO[bytes] | Source"


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a file, with the name under which errors speak of it."""

    name: str
    text: str

    @classmethod
    def of(cls, source: Readable) -> Source:
        """Read a path (``-`` is standard input, ``.gz`` is unpacked) or an open stream."""
        if isinstance(source, Source):
            return source
        if isinstance(source, (str, os.PathLike)):
            if os.fspath(source) == "-":
                return cls("<stdin>", decode(sys.stdin.buffer.read(), "<stdin>"))
            return cls(str(source), decode(_read_bytes(Path(source)), str(source)))
        data = source.read()
        name = str(getattr(source, "name", "<stream>"))
        return cls(name, decode(data, name) if isinstance(data, bytes) else _plain_lines(data))

    @property
    def stem(self) -> str:
        """The file's name without folder and extensions: the document's id."""
        if self.name.startswith("<"):
            return ""
        return document_id(Path(self.name))

    def error(self, why: str, line: int | None = None) -> FormatError:
        """Make the error that names this file."""
        return FormatError(self.name, line, why)

    def line_at(self, offset: int) -> int:
        """Return the number of the line that holds a character offset, from 1."""
        return self.text.count("\n", 0, max(0, offset)) + 1

    def require_content(self) -> None:
        """Refuse a file that holds nothing."""
        if not self.text.strip():
            raise self.error("the file is empty", 1)


_EXTENSIONS = {
    ".gz", ".rs3", ".rs4", ".dis", ".lisp", ".rsd", ".dep", ".conllu", ".tok", ".rels", ".json",
    ".jsonl", ".txt", ".edu", ".edus", ".out", ".xml",
}  # fmt: skip


def document_id(path: Path) -> str:
    """Return a file's name without its known extensions (``wsj_0601.out.dis`` -> ``wsj_0601``)."""
    name = path.name
    while (suffix := Path(name).suffix).lower() in _EXTENSIONS:
        name = name[: -len(suffix)]
    return name


_SAVE = "save its text as .txt first (pandoc -t plain, pdftotext or your word processor can)"
_BINARY = (
    (b"pk\x03\x04", f"a Word, OpenDocument or zip file, not plain text: {_SAVE}"),
    (b"\xd0\xcf\x11\xe0", f"an old Word or Excel file, not plain text: {_SAVE}"),
    (b"%pdf-", f"a PDF file, not plain text: {_SAVE}"),
    (b"\x1f\x8b", "packed by gzip: name it .gz, or unpack it first"),
)
_MARKUP = (
    (b"{\\rtf", f"rich text (RTF), not plain text: {_SAVE}"),
    (b"<!doctype html", f"a web page, not plain text: {_SAVE}"),
    (b"<html", f"a web page, not plain text: {_SAVE}"),
    (b"<rst>", "a tree in rs3 or rs4: name it .rs3, or say --from rs3"),
    (b"( root (span", "a tree in dis: name it .dis, or say --from dis"),
)


def read_raw(source: str | os.PathLike[str]) -> str:
    """Read a user's text as it is: line ends stay, so that offsets are those of the file."""
    if os.fspath(source) == "-":
        data, name = sys.stdin.buffer.read(), "<stdin>"
    else:
        data, name = _read_bytes(Path(source)), str(source)
    if why := _begins_as(data, _BINARY + _MARKUP):
        raise FormatError(name, None, f"this is {why}")
    return _decode(data, name)


def _begins_as(data: bytes, table: Sequence[tuple[bytes, str]]) -> str:
    """Tell what a file is that begins so (in small letters), whatever its name; "" if unknown."""
    head = b" ".join(data[:200].removeprefix(b"\xef\xbb\xbf").lower().split())
    head = re.sub(rb"^<\?xml[^>]*> ?", b"", head)
    return next((why for start, why in table if head.startswith(start)), "")


def decode(data: bytes, name: str) -> str:
    """Decode UTF-8 (with or without byte order mark); line ends become newlines."""
    return _plain_lines(_decode(data, name))


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        if why := _begins_as(data, _BINARY):
            raise FormatError(name, None, f"this is {why}") from None
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        raise FormatError(
            name,
            line,
            f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}."
            f"{' It looks like UTF-16.' if wide else ''} Convert it first: iconv -f "
            f"{'UTF-16' if wide else 'ENCODING'} -t UTF-8 OLD > NEW",
        ) from None


def _plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def may_be_read(path: Path) -> bool:
    """Tell whether something in a folder is to be read: a file, or a link whose file is gone.

    The link cannot be read, and whoever tries will say so; left out, it would not be missed. What
    is hidden, with a name that begins with a dot, belongs to other programs.
    """
    return not path.name.startswith(".") and (path.is_file() or not path.exists())


def _read_bytes(path: Path) -> bytes:
    try:
        if path.suffix.lower() == ".gz":
            with gzip.open(path) as file:
                data = file.read(MOST_UNPACKED + 1)
            if len(data) > MOST_UNPACKED:
                why = f"unpacks to more than {MOST_UNPACKED:,} bytes: unpack and split it first"
                raise FormatError(str(path), None, why)
            return data
        return path.read_bytes()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(str(path), None, f"damaged gzip file: {error}") from None
    except IsADirectoryError:
        why = "is a directory: its files are read one by one"
        raise FormatError(str(path), None, why) from None
    except OSError as error:
        raise FormatError(str(path), None, error.strerror or str(error)) from None


def write_text(target: str | os.PathLike[str] | IO[str], text: str) -> None:
    """Write to a stream, to standard output (``-``), or to a file: wholly or not at all."""
    if not isinstance(target, (str, os.PathLike)):
        target.write(text)
    elif os.fspath(target) == "-":
        sys.stdout.write(text)
    else:
        write_bytes(target, encode(text, str(target)))


def encode(text: str, name: str) -> bytes:
    """Encode as UTF-8; a lone surrogate, which UTF-8 cannot hold, is an error with its line."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        why = f"cannot be written as UTF-8: lone surrogate {text[error.start]!r} in the text"
        raise FormatError(name, line, why) from None


def write_bytes(target: str | os.PathLike[str], data: bytes) -> None:
    """Write a file by way of a temporary one beside it, so that no half-written file is left."""
    path = Path(target)
    try:
        _write_whole(path, data)
    except (OSError, ValueError) as error:  # ValueError: a NUL or a lone surrogate in the name
        why = getattr(error, "strerror", None) or str(error)
        raise FormatError(str(path), None, f"cannot be written: {why}") from None


def _write_whole(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # A short prefix of our own: with the file's name in it, long names would grow too long.
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".rhetorica.")
    try:
        with os.fdopen(handle, "wb") as file:
            if path.suffix.lower() == ".gz":
                # A fixed time stamp, so that the same content gives the same file.
                data = gzip.compress(data, mtime=0)
            file.write(data)
        # mkstemp makes files that only the owner can read; give what a plain open would give.
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


_UNFIT = re.compile('[/\\\\:*?"<>|\x00-\x1f\x7f\ud800-\udfff]')
_LONGEST_NAME = 180


def file_name(id: str, taken: set[str]) -> str:
    """Return a name for a document's file: one that no other has, and that leaves no folder.

    >>> taken = set()
    >>> [file_name(id, taken) for id in ("a/b", "a_b", "A_B", "..", "../x")]
    ['a_b', 'a_b-2', 'A_B-3', '_..', '_.._x']
    """
    # Bytes count, and the end of the name must leave room for a number and an extension.
    base = _UNFIT.sub("_", id).encode()[:_LONGEST_NAME].decode(errors="ignore")
    base = name = f"_{base}" if base[:1] in ("", ".") else base
    number = 2
    while name.casefold() in taken:  # some file systems take no notice of case
        name, number = f"{base}-{number}", number + 1
    taken.add(name.casefold())
    return name


def digest(value: Any) -> str:
    """Return a short name for a value that JSON can write: the same for the same value.

    >>> digest({"a": 1, "b": [2]}) == digest({"b": (2,), "a": 1})
    True
    """
    return hashlib.sha1(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
