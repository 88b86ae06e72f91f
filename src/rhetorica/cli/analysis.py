"""What ``parse`` and ``segment`` share: raw texts in, results out as they come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from rhetorica import cores, formats
from rhetorica.batch.files import Job, SetAside, run_jobs
from rhetorica.batch.inputs import told_by
from rhetorica.cli.common import Failures, errors, new_bar, progress_bar
from rhetorica.cli.documents import Found
from rhetorica.cli.output import Sink
from rhetorica.errors import FormatError, RhetoricaError
from rhetorica.files import document_id, may_be_read
from rhetorica.parses import Parse
from rhetorica.progress import Event, listening

if TYPE_CHECKING:
    from rich.progress import TaskID

T = TypeVar("T")


def _watched(found: Iterator[T], *, enabled: bool) -> Iterator[T]:
    """Show how much of a single long text has been read, as the parser tells it."""
    if not (enabled and errors.is_terminal):
        yield from found
        return
    bar = new_bar()
    task: TaskID | None = None

    def show(event: Event) -> None:
        nonlocal task
        if task is None and event.at < event.total:
            bar.start()
            task = bar.add_task(event.what, total=event.total)
        if task is not None:
            bar.update(task, completed=event.at, total=event.total)

    try:
        with listening(show):
            for one in found:
                bar.stop()  # before the result is written
                yield one
    finally:
        bar.stop()


def text_files(
    inputs: Sequence[str] | None, format: str | None, *, edus: bool = False, pattern: str = ""
) -> list[Found]:
    """Return the files to be analysed: those named, those in folders, or standard input."""
    if not inputs:
        if sys.stdin is None or sys.stdin.isatty():
            raise typer.BadParameter("name a file or folder, or send a text: ... | rhetorica parse")
        return [Found("-")]
    patterns = [pattern] if pattern else ["*.edus", "*.edu", "*.txt"] if edus else ["*.txt"]
    paths: list[Found] = []
    for item in inputs:
        if item == "-" or not Path(item).is_dir():
            if item != "-" and not Path(item).exists():
                hint = "; to parse a text itself: echo 'the text' | rhetorica parse -"
                raise FormatError(item, None, f"no such file{hint if ' ' in item else ''}")
            paths.append(Found(item))
        elif format and not pattern:
            paths += [Found.below(item, path) for path in formats.find_files(item, format)]
        elif found := sorted(chain.from_iterable(map(Path(item).rglob, patterns))):
            paths += [Found.below(item, path) for path in found if may_be_read(path)]
        else:
            raise RhetoricaError(
                f"{item}: no file {' or '.join(patterns)} in this folder; --pattern names others"
            )
    return paths


def count_of(jobs: str) -> int:
    """Return the number of processes that ``--jobs`` means."""
    if jobs == "auto":
        return cores.allowed()
    if not jobs.isdecimal() or not int(jobs):
        raise typer.BadParameter(f"--jobs is {jobs!r}, expected a number from 1, or auto")
    return int(jobs)


def analyse(
    job: Job,
    files: Sequence[Found],
    jobs: int,
    sink: Sink,
    *,
    change: Callable[[Parse], Parse] = lambda parse: parse,
    quiet: bool = False,
) -> None:
    """Analyse files and write results as they come; what fails is reported, the rest goes on."""
    failures = Failures()
    folder_of = {file.path: file.folder for file in files}

    def wanted() -> Iterator[str]:
        for file in files:
            try:
                # A raw text is one document of the file's name: no need to parse it in vain.
                if file.path != "-" and not job.format and told_by(file.path) is None:
                    sink.check_free(document_id(Path(file.path)), file.folder)
                yield file.path
            except RhetoricaError as error:
                failures.report(error)

    def good() -> Iterator[tuple[str, Parse]]:
        paths = list(wanted())
        with progress_bar(enabled=len(paths) > 1 and not quiet) as bar:
            found = run_jobs(job, paths, jobs) if paths else iter(())
            if len(paths) == 1:
                found = _watched(found, enabled=not quiet)
            for path, one in bar.track(found, total=len(paths), description="analysing"):
                if isinstance(one, SetAside):
                    failures.report(one)
                else:
                    yield path, one

    for path, parse in good():
        try:
            title = str(folder_of[path] / parse.id) if len(files) > 1 else ""
            sink.write(change(parse), folder=folder_of[path], title=title)
        except RhetoricaError as error:
            failures.report(
                f"{parse.id}: {error}" if parse.id and parse.id not in str(error) else error
            )
    sink.finish()
    failures.finish(many=len(files) > 1)
