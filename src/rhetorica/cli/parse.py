"""``rhetorica parse``."""

from __future__ import annotations

from typing import Annotated

import typer

from rhetorica import formats
from rhetorica.batch.files import Job
from rhetorica.cli.analysis import analyse, text_files
from rhetorica.cli.options import FORMATS_EPILOG, Inputs, Jobs, ModelName, OutFolder, TextFormat
from rhetorica.cli.pictures import PICTURE_LIST, PICTURES, check_picture
from rhetorica.pipeline import DEFAULT_MODEL, DEFAULT_PARSER, PARSERS, SEGMENTERS, Recipe
from rhetorica.render.layout.parts import View

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)


@app.command(epilog=f"{FORMATS_EPILOG}\n\nPictures:\n\n{PICTURE_LIST}")
def parse(
    inputs: Inputs,
    edus: Annotated[
        bool,
        typer.Option("--edus", help="Inputs hold one EDU a line, a blank line between paragraphs."),
    ] = False,
    parser: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {', '.join(PARSERS)}.")
    ] = DEFAULT_PARSER,
    model: ModelName = DEFAULT_MODEL,
    segmenter: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"One of {', '.join(SEGMENTERS)}; else the parser's own, or crf."
        ),
    ] = None,
    to: Annotated[
        str, typer.Option(metavar="FORMAT", help="tree (to look at), or a format or picture below.")
    ] = "tree",
    view: Annotated[View, typer.Option(help="What tree and pictures show.")] = "rst",
    out: OutFolder = None,
    jobs: Jobs = 1,
    kbest: Annotated[int, typer.Option(min=1, help="Also keep the K best trees (in json).")] = 1,
    from_: TextFormat = None,
) -> None:
    """Parse raw English text: units, dependencies, RST tree.

    Example: `rhetorica parse umbrella.txt`
    """
    check_picture(to)
    if to not in ("tree", *PICTURES):
        formats.get_format(to)
    recipe = Recipe("en", parser, segmenter, model)
    job = Job(recipe, from_, edus, kbest)
    paths = list(inputs) if edus else text_files(inputs, from_)
    analyse(job, paths, jobs, to, out, view)
