"""Documents in and out of the commands: files, folders, streams, with progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import typer

from rhetorica import formats
from rhetorica.cli.common import Failures, progress_bar
from rhetorica.cli.output import Sink
from rhetorica.corpora import read_corpus
from rhetorica.errors import RhetoricaError
from rhetorica.parses import Parse


class Found(NamedTuple):
    """A file that was asked for, and in which folder below the one that was named it stands."""

    path: str
    folder: Path = Path()

    @classmethod
    def below(cls, named: str, path: Path) -> Found:
        """Make it of a file that was found where a folder, or the file itself, was named."""
        folder = path.parent.relative_to(named) if Path(named).is_dir() else Path()
        return cls(str(path), folder)


def read_placed(
    inputs: Iterable[str],
    format: str | None,
    corpus: str | None = None,
    split: str | None = None,
    *,
    ptb: Path | None = None,
    strict: bool = False,
    progress: bool = True,
    failures: Failures | None = None,
) -> Iterator[tuple[Path, Parse]]:
    """Read all inputs, each document with the folder of its file below what was named.

    ``ptb`` is the folder of the Penn Treebank, which gives RST-DT its syntax. There is a progress
    bar when there is a terminal and more than one file. With ``failures``, a file that cannot be
    read is reported there, and the others are read.
    """
    if ptb is not None and corpus != "rst-dt":
        raise typer.BadParameter("--ptb gives RST-DT its syntax: say --corpus rst-dt, too")
    if corpus:
        options = {"ptb": ptb} if ptb is not None else {}
        with progress_bar(enabled=progress) as bar:
            task = bar.add_task("reading", total=None)
            for folder in inputs:
                for parse in read_corpus(corpus, folder, split, **options):
                    bar.advance(task)
                    yield Path(), parse
        return
    if format:
        formats.get_format(format)  # a name that nobody knows is no fault of the files
    files: list[Found] = []
    for item in inputs:
        found = [] if item == "-" else formats.find_files(item, format)
        files += [Found.below(item, path) for path in found] or [Found(item)]
    with progress_bar(enabled=progress and len(files) > 1) as bar:
        for file in bar.track(files, description="reading"):
            try:
                for parse in formats.read(file.path, format, strict=strict):
                    yield file.folder, parse
            except RhetoricaError as error:
                if failures is None:
                    raise
                failures.report(error)


def read_documents(
    inputs: Iterable[str],
    format: str | None,
    corpus: str | None = None,
    split: str | None = None,
    *,
    ptb: Path | None = None,
    strict: bool = False,
    progress: bool = True,
) -> Iterator[Parse]:
    """Read all inputs, see `read_placed`."""
    found = read_placed(inputs, format, corpus, split, ptb=ptb, strict=strict, progress=progress)
    for _, parse in found:
        yield parse


def write_placed(placed: Iterable[tuple[Path, Parse]], sink: Sink, failures: Failures) -> None:
    """Write documents where they belong; one that cannot be written is reported, the rest goes on.

    Ends the command with an error if anything was reported.
    """
    done = 0
    for folder, parse in placed:
        try:
            sink.write(parse, folder=folder)
            done += 1
        except RhetoricaError as error:
            if sink.takes_one:
                raise
            failures.report(error)
    sink.finish()
    failures.finish(many=done + failures.count > 1)
