"""What ``parse`` and ``segment`` share: raw texts in, results out as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import typer
from rich.console import Console

from rhetorica import formats
from rhetorica.cli.common import progress_bar
from rhetorica.cli.documents import file_name
from rhetorica.cli.pictures import PICTURES, at_most_one, draw, save_picture
from rhetorica.errors import RhetoricaError
from rhetorica.files import write_text
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


def with_progress(parses: Iterator[Parse], total: int) -> Iterator[Parse]:
    """Show how many of the documents are done."""
    with progress_bar(enabled=total > 1) as bar:
        yield from bar.track(parses, total=total, description="analysing")


def write_stream(parses: Iterator[Parse], to: str, out: Path | None, view: View = "rst") -> None:
    """Write results as they come: to a folder, or one after the other to standard output."""
    console = Console(highlight=False)
    color = out is None and console.is_terminal and not console.no_color
    names: set[str] = set()
    if to in PICTURES and out is None:
        parses = at_most_one(parses, to)
    for number, parse in enumerate(parses, 1):
        drawn = to == "tree" or to in PICTURES
        if not (drawn or parse.document.tokens) and formats.get_format(to).needs_tokens:
            parse = replace(parse, document=annotate(parse.document))
        if to in PICTURES:
            save_picture(draw(parse, to, view=view), parse.id, to, out, number, names)
            continue
        if not parse.document.edus:
            text = ""
        elif to == "tree":
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
