"""Documents in and out of the commands: files, folders, streams, with progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from rhetorica import formats
from rhetorica.cli.common import progress_bar
from rhetorica.corpora import read_corpus
from rhetorica.errors import RhetoricaError
from rhetorica.parses import Parse


def read_documents(
    inputs: Iterable[str],
    format: str | None,
    corpus: str | None = None,
    split: str | None = None,
    *,
    strict: bool = False,
    progress: bool = True,
) -> Iterator[Parse]:
    """Read all inputs, with a progress bar when there is a terminal and more than one file."""
    if corpus:
        with progress_bar(enabled=progress) as bar:
            task = bar.add_task("reading", total=None)
            for folder in inputs:
                for parse in read_corpus(corpus, folder, split):
                    bar.advance(task)
                    yield parse
        return
    paths: list[str | Path] = []
    for item in inputs:
        paths += [item] if item == "-" else formats.find_files(item, format)
    with progress_bar(enabled=progress and len(paths) > 1) as bar:
        for path in bar.track(paths, description="reading"):
            yield from formats.read(path, format, strict=strict)


def all_or_one(parses: Iterator[Parse], chosen: formats.Format) -> list[Parse]:
    """Take all documents, but only one where the format holds one."""
    if chosen.many:
        return list(parses)
    return at_most_one(parses, chosen.name)


def at_most_one(parses: Iterable[Parse], to: str) -> list[Parse]:
    """Refuse a second document before anything is written, where a file holds one."""
    found = list(islice(parses, 2))
    if len(found) > 1:
        raise RhetoricaError(
            f"more than one document, and {to} holds one a file: give --out FOLDER"
        )
    return found
