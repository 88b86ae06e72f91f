"""What ``parse`` and ``segment`` share: raw texts in, results out as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import typer
from rich.console import Console

from rhetorica import formats
from rhetorica.batch.files import Job, SetAside, run_jobs
from rhetorica.cli.common import progress_bar, say, say_error
from rhetorica.cli.documents import at_most_one
from rhetorica.cli.pictures import PICTURES, draw, save_picture
from rhetorica.errors import RhetoricaError
from rhetorica.files import file_name, write_text
from rhetorica.parses import Parse
from rhetorica.render.layout.parts import View
from rhetorica.render.terminal import render_tree
from rhetorica.text import annotate


def text_files(inputs: Iterable[str], format: str | None) -> list[str]:
    """Return the files to be analysed: those named, and those of the right kind in folders."""
    paths: list[str] = []
    for item in inputs:
        if item == "-" or not Path(item).is_dir():
            paths.append(item)
        elif format:
            paths += map(str, formats.find_files(item, format))
        elif found := sorted(Path(item).rglob("*.txt")):
            paths += map(str, found)
        else:
            raise RhetoricaError(f"{item}: no .txt file in this folder")
    return paths


def analyse(
    job: Job, paths: Sequence[str], jobs: int, to: str, out: Path | None, view: View = "rst"
) -> None:
    """Analyse files and write results as they come; what fails is reported, the rest goes on."""
    failed: list[str] = []

    def report(what: object) -> None:
        failed.append(str(what))
        say_error(what)

    def good() -> Iterator[Parse]:
        with progress_bar(enabled=len(paths) > 1) as bar:
            found = run_jobs(job, paths, jobs)
            for one in bar.track(found, total=len(paths), description="analysing"):
                if isinstance(one, SetAside):
                    report(one)
                else:
                    yield one

    parses = at_most_one(good(), to) if to in PICTURES and out is None else good()
    names: set[str] = set()
    for number, parse in enumerate(parses, 1):
        try:
            _write(parse, to, out, view, number, names)
        except RhetoricaError as error:
            report(f"{parse.id}: {error}" if parse.id and parse.id not in str(error) else error)
    if failed:
        if len(paths) > 1:
            say(f"{len(failed)} failed, see above; the others are done")
        raise typer.Exit(1)


def _write(
    parse: Parse, to: str, out: Path | None, view: View, number: int, names: set[str]
) -> None:
    """Write one result to a folder or to standard output."""
    console = Console(highlight=False)
    drawn = to == "tree" or to in PICTURES
    if not (drawn or parse.document.tokens) and formats.get_format(to).needs_tokens:
        parse = replace(parse, document=annotate(parse.document))
    if to in PICTURES:
        save_picture(draw(parse, to, view=view), parse.id, to, out, number, names)
        return
    if not parse.document.edus:
        text = ""
    elif to == "tree":
        color = out is None and console.is_terminal and not console.no_color
        text = render_tree(parse, width=console.width, color=color, view=view) + "\n"
    else:
        text = formats.write(parse, to)
    if out is not None:
        suffix = ".txt" if to == "tree" else formats.get_format(to).suffixes[0]
        name = file_name(parse.id or f"document-{number}", names)
        write_text(out / f"{name}{suffix}", text)
    else:
        if number > 1 and (to == "tree" or not formats.get_format(to).many):
            typer.echo()
        write_text("-", text)
