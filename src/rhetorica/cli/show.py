"""``rhetorica show``."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.console import Console

from rhetorica.cli.documents import at_most_one, read_documents
from rhetorica.cli.options import (
    FORMATS_EPILOG,
    CorpusName,
    FromFormat,
    Inputs,
    OutFolder,
    Split,
    Strict,
)
from rhetorica.cli.pictures import check_picture, draw, save_picture
from rhetorica.files import file_name, write_text
from rhetorica.render.colours import Theme
from rhetorica.render.layout.parts import Orient, View
from rhetorica.render.terminal import render_tree

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)


@app.command(epilog=FORMATS_EPILOG)
def show(
    inputs: Inputs,
    from_: FromFormat = None,
    to: Annotated[
        Literal["tree", "svg", "html", "png"],
        typer.Option(help="tree: in the terminal; else a picture (html: a page with both views)."),
    ] = "tree",
    out: OutFolder = None,
    view: Annotated[View, typer.Option(help="Constituents (rst), or heads (dep).")] = "rst",
    width: Annotated[
        int | None,
        typer.Option(min=20, help="Columns; else those of the terminal. Of pictures, pixels."),
    ] = None,
    depth: Annotated[
        int | None, typer.Option(min=1, help="Fold what is deeper in the RST tree.")
    ] = None,
    clip: Annotated[bool, typer.Option(help="In the terminal, one line an EDU.")] = False,
    theme: Annotated[Theme, typer.Option(help="Colours of pictures.")] = "auto",
    orient: Annotated[
        Orient,
        typer.Option(
            help="Pictures: EDUs side by side (down), below each other (right), or by their number."
        ),
    ] = "auto",
    corpus: CorpusName = None,
    split: Split = None,
    strict: Strict = False,
) -> None:
    """Draw discourse trees: in the terminal, or as pictures.

    Example: `rhetorica show essay.rs3`

    Example: `rhetorica show essay.rs3 --to html > essay.html`
    """
    console = Console(highlight=False)
    color = out is None and console.is_terminal and not console.no_color
    names: set[str] = set()
    check_picture(to)
    parses = read_documents(inputs, from_, corpus, split, strict=strict, progress=False)
    if to != "tree" and out is None:
        parses = iter(at_most_one(parses, to))
    for number, parse in enumerate(parses, 1):
        if to != "tree":
            data = draw(parse, to, view=view, theme=theme, orient=orient, width=width, depth=depth)
            save_picture(data, parse.id, to, out, number, names)
            continue
        text = render_tree(
            parse,
            width=width or console.width,
            color=color,
            view=view,
            clip=clip,
            depth=depth,
        )
        if out is not None:
            name = file_name(parse.id or f"document-{number}", names)
            write_text(out / f"{name}.txt", text + "\n")
            continue
        if number > 1:
            typer.echo()
        typer.echo(text)
