"""``rhetorica show``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from rhetorica.cli.common import Failures
from rhetorica.cli.documents import read_placed, write_placed
from rhetorica.cli.options import CorpusName, Force, FromFormat, Inputs, OutPlace, Split, Strict
from rhetorica.cli.output import OUTPUTS, TREE, Sink
from rhetorica.parses import Parse
from rhetorica.render.colours import Theme
from rhetorica.render.layout.parts import Orient, View

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)


@app.command(epilog=OUTPUTS)
def show(
    inputs: Inputs,
    from_: FromFormat = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="One of those below; tree unless --out tells another.",
            show_default=False,
        ),
    ] = None,
    out: OutPlace = None,
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
    force: Force = False,
) -> None:
    """Draw discourse trees: in the terminal, or as pictures.

    Example: `rhetorica show essay.rs3`

    Example: `rhetorica show essay.rs3 -o essay.html`
    """
    sink = Sink.of(to, out, TREE, 1, view=view, force=force, width=width)
    sink.how = {"depth": depth}
    if sink.to == TREE:
        sink.how["clip"] = clip
    else:
        sink.how |= {"theme": theme, "orient": orient, "width": width}
    failures = Failures()

    def found() -> Iterator[tuple[Path, Parse]]:
        for number, one in enumerate(
            read_placed(
                inputs, from_, corpus, split, strict=strict, progress=False, failures=failures
            )
        ):
            if number and sink.to == TREE and sink.out is None:
                typer.echo()
            yield one

    write_placed(found(), sink, failures)
