"""Tables of texts, a row at a time: JSON Lines, CSV, Parquet, or simply a text a line.

A row that cannot be read comes as the error that says why; only what leaves no hope for the rest of
a file is raised.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

from rhetorica.batch.tables import pyarrow
from rhetorica.errors import FormatError, MissingExtra, RhetoricaError

Row: TypeAlias = tuple[int, int, "dict[str, Any] | RhetoricaError"]
"""Its number from 1, the bytes that it took in the file, and what it holds."""
Check: TypeAlias = Callable[[Sequence[str]], None]
"""Looks at the names of a table's columns before its rows are read."""
PACKED = (".gz", ".zst")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_ROWS_AT_ONCE = 256


def read_jsonl(path: Path, _check: Check, column: str) -> Iterator[Row]:
    """Read an object a line."""
    for number, size, line in _lines(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            # UnicodeDecodeError is a ValueError, too.
            yield number, size, FormatError(str(path), number, f"not JSON in UTF-8: {error}")
            continue
        good = isinstance(row, dict)
        yield number, size, row if good else FormatError(str(path), number, "expected an object")


def read_lines(path: Path, _check: Check, column: str) -> Iterator[Row]:
    """Read a text a line."""
    for number, size, line in _lines(path):
        try:
            yield number, size, {column: line.decode("utf-8-sig" if number == 1 else "utf-8")}
        except UnicodeDecodeError as error:
            yield number, size, FormatError(str(path), number, f"not UTF-8: {error}")


def read_csv(path: Path, check: Check, column: str) -> Iterator[Row]:
    """Read a table with a head; ``.tsv`` has tabs between columns, else there are commas."""
    csv.field_size_limit(sys.maxsize)
    name = path.with_suffix("").name if path.suffix.lower() in PACKED else path.name
    tabs = name.lower().endswith(".tsv")
    with opened(path) as (content, place):
        # Bytes that are not UTF-8 are marked, and found again in the row that holds them.
        text = io.TextIOWrapper(content, "utf-8-sig", errors="surrogateescape", newline="")
        reader = csv.DictReader(text, delimiter="\t" if tabs else ",")
        check(reader.fieldnames or ())
        before, number = 0, 0
        while True:
            number += 1
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield number, 0, FormatError(str(path), reader.line_num, f"not CSV: {error}")
                continue
            size, before = place() - before, place()
            if None in row:
                why = f"{len(row.pop(None))} cells more than columns"
            elif _NOT_UTF8.search("".join(cell for cell in row.values() if cell)):
                why = "not UTF-8"
            else:
                yield number, size, dict(row)
                continue
            yield number, size, FormatError(str(path), reader.line_num, why)


def read_parquet(path: Path, check: Check, column: str) -> Iterator[Row]:
    """Read a Parquet file, a few hundred rows at a time."""
    arrow, parquet = pyarrow()
    try:
        with parquet.ParquetFile(path) as file:
            check(file.schema_arrow.names)
            size = path.stat().st_size // max(1, file.metadata.num_rows)
            number = 0
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                for row in batch.to_pylist():
                    number += 1
                    yield number, size, row
    except (arrow.ArrowException, OSError) as error:
        raise FormatError(str(path), None, f"not a Parquet file: {error}") from None


READERS = {"jsonl": read_jsonl, "lines": read_lines, "csv": read_csv, "parquet": read_parquet}


def _lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yield lines that are not empty: number, bytes in the file, content."""
    with opened(path) as (content, place):
        before = 0
        for number, line in enumerate(content, 1):
            if line.strip():
                size, before = place() - before, place()
                yield number, size, line.rstrip(b"\r\n")


@contextmanager
def opened(path: Path) -> Iterator[tuple[IO[bytes], Callable[[], int]]]:
    """Open a file, packed or not, or standard input; also say how far it has been read."""
    if str(path) == "-":
        yield sys.stdin.buffer, lambda: 0
        return
    damage: tuple[type[Exception], ...] = (EOFError, zlib.error, gzip.BadGzipFile)
    suffix = path.suffix.lower()
    try:
        with path.open("rb") as raw:
            if suffix == ".gz":
                yield gzip.GzipFile(fileobj=raw), raw.tell  # type: ignore[misc]
            elif suffix == ".zst":
                zstandard = _zstandard()
                damage = (*damage, zstandard.ZstdError)
                reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
                yield io.BufferedReader(reader), raw.tell
            else:
                yield raw, raw.tell
    except damage as error:
        raise FormatError(str(path), None, f"damaged {suffix} file: {error}") from None
    except OSError as error:
        raise FormatError(str(path), None, error.strerror or str(error)) from None


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("reading .zst", "batch") from None
    return zstandard
