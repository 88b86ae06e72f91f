"""What ``parse`` and ``segment`` share: raw texts in, results out as they come."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from rhetorica import formats
from rhetorica.batch.files import Job, SetAside, run_jobs
from rhetorica.cli.common import progress_bar, say, say_error
from rhetorica.cli.pictures import PICTURES, draw, write_picture
from rhetorica.errors import FormatError, RhetoricaError
from rhetorica.files import file_name, write_text
from rhetorica.parses import Parse
from rhetorica.render.layout.parts import View
from rhetorica.render.terminal import render_tree
from rhetorica.text import annotate

_EMPTY = ("edus", "conllu", "tok", "rels")
"""Formats in which a document without text is an empty file."""


def text_files(
    inputs: Sequence[str] | None, format: str | None, *, edus: bool = False, pattern: str = ""
) -> list[str]:
    """Return the files to be analysed: those named, those in folders, or standard input."""
    if not inputs:
        if sys.stdin is None or sys.stdin.isatty():
            raise typer.BadParameter("name a file or folder, or send a text: ... | rhetorica parse")
        return ["-"]
    patterns = [pattern] if pattern else ["*.edus", "*.edu", "*.txt"] if edus else ["*.txt"]
    paths: list[str] = []
    for item in inputs:
        if item == "-" or not Path(item).is_dir():
            if item != "-" and not Path(item).exists():
                hint = "; to parse a text itself: echo 'the text' | rhetorica parse -"
                raise FormatError(item, None, f"no such file{hint if ' ' in item else ''}")
            paths.append(item)
        elif format and not pattern:
            paths += map(str, formats.find_files(item, format))
        elif found := sorted(chain.from_iterable(map(Path(item).rglob, patterns))):
            paths += [str(path) for path in found if path.is_file()]
        else:
            raise RhetoricaError(
                f"{item}: no file {' or '.join(patterns)} in this folder; --pattern names others"
            )
    return paths


def count_of(jobs: str) -> int:
    """Return the number of processes that ``--jobs`` means."""
    if jobs == "auto":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if not jobs.isdecimal() or not int(jobs):
        raise typer.BadParameter(f"--jobs is {jobs!r}, expected a number from 1, or auto")
    return int(jobs)


@dataclass
class Sink:
    """Where results go: a file that ``--out`` names by its extension, a folder, standard output."""

    to: str
    out: Path | None = None
    view: View = "rst"
    force: bool = False
    named: bool = False
    _names: set[str] = field(default_factory=set)
    _number: int = 0

    @classmethod
    def of(cls, to: str | None, out: Path | None, default: str, files: int, **more: Any) -> Sink:
        """Check before any work that the results can be written."""
        kinds = {f".{picture}": picture for picture in PICTURES}
        kinds |= {suffix: f.name for f in formats.FORMATS.values() for suffix in f.suffixes}
        told = kinds.get(out.suffix.lower()) if out and not out.is_dir() else None
        sink = cls(to or told or default, out, **more)
        many = sink.to == "tree" or (sink.to in formats.FORMATS and sink._format.many)
        if not (sink.to == "tree" or sink.to in PICTURES):
            formats.get_format(sink.to)
        if told and out:
            if files > 1 and not many:
                raise RhetoricaError(f"{files} files, and {out} holds one: give a folder")
            sink.named = True
        elif out is None and files > 1 and not many:
            raise RhetoricaError(f"{files} files, and {sink.to} holds one: give --out FOLDER")
        if out is not None:
            folder = out.parent if sink.named else out
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise RhetoricaError(f"--out {out}: {error.strerror}") from None
            if not os.access(folder, os.W_OK):
                raise RhetoricaError(f"--out {out}: this folder cannot be written to")
        return sink

    @property
    def _format(self) -> formats.Format:
        return formats.get_format(self.to)

    def path(self, parse: Parse) -> Path | None:
        """Return the file for a result, None for standard output; never one that is there."""
        if self.out is None or self.named:
            path = self.out
        else:
            end = ".txt" if self.to == "tree" else f".{self.to}"
            if self.to in formats.FORMATS:
                end = self._format.suffixes[0]
            path = (
                self.out / f"{file_name(parse.id or f'document-{self._number}', self._names)}{end}"
            )
        if path is not None and path.exists() and not self.force:
            raise FormatError(str(path), None, "is there already: --force replaces it")
        return path

    def write(self, parse: Parse, *, title: str = "") -> None:
        """Write one result."""
        self._number += 1
        path = self.path(parse)
        if self.to in PICTURES:
            write_picture(draw(parse, self.to, view=self.view), self.to, path)
            return
        if self.to != "tree" and not parse.document.tokens and self._format.needs_tokens:
            parse = replace(parse, document=annotate(parse.document))
        text = self._text(parse, colour=path is None)
        if path is None and title and self.to == "tree":
            text = f"{'' if self._number == 1 else chr(10)}== {title}\n{text}"
        write_text("-" if path is None else path, text)

    def _text(self, parse: Parse, *, colour: bool) -> str:
        if not parse.document.edus:
            if self.to == "tree" or self.to in _EMPTY:
                say(f"{parse.id or 'the input'}: no text")
                return ""
            if self.to not in ("json", "jsonl"):
                raise RhetoricaError(f"{parse.id or 'the input'}: no text, nothing to write")
        if self.to != "tree":
            return formats.write(parse, self.to)
        console = Console(highlight=False)
        colour = colour and console.is_terminal and not console.no_color
        return render_tree(parse, width=console.width, color=colour, view=self.view) + "\n"


def analyse(
    job: Job,
    paths: Sequence[str],
    jobs: int,
    sink: Sink,
    *,
    change: Callable[[Parse], Parse] = lambda parse: parse,
    quiet: bool = False,
) -> None:
    """Analyse files and write results as they come; what fails is reported, the rest goes on."""
    failed: list[str] = []

    def report(what: object) -> None:
        failed.append(str(what))
        say_error(what)

    def good() -> Iterator[Parse]:
        with progress_bar(enabled=len(paths) > 1 and not quiet) as bar:
            found = run_jobs(job, paths, jobs)
            for one in bar.track(found, total=len(paths), description="analysing"):
                if isinstance(one, SetAside):
                    report(one)
                else:
                    yield one

    for parse in good():
        try:
            sink.write(change(parse), title=parse.id if len(paths) > 1 else "")
        except RhetoricaError as error:
            report(f"{parse.id}: {error}" if parse.id and parse.id not in str(error) else error)
    if failed:
        if len(paths) > 1:
            say(f"{len(failed)} failed, see above; the others are done")
        raise typer.Exit(1)
