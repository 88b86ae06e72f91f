"""``rhetorica segment``."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from rhetorica.batch.files import Job
from rhetorica.cli.analysis import analyse, text_files
from rhetorica.cli.options import Inputs, Jobs, ModelName, OutFolder, TextFormat
from rhetorica.pipeline import DEFAULT_MODEL, DEFAULT_SEGMENTER, SEGMENTERS, Recipe

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)


@app.command()
def segment(
    inputs: Inputs,
    segmenter: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {', '.join(SEGMENTERS)}.")
    ] = DEFAULT_SEGMENTER,
    model: ModelName = DEFAULT_MODEL,
    to: Annotated[
        Literal["edus", "json", "jsonl", "tok"], typer.Option(help="Output format.")
    ] = "edus",
    out: OutFolder = None,
    jobs: Jobs = 1,
    from_: TextFormat = None,
) -> None:
    """Cut raw English text into elementary discourse units, one a line.

    A blank line stands between paragraphs. `--to json` adds tokens, sentences and how sure each
    boundary is.

    Example: `rhetorica segment umbrella.txt`
    """
    job = Job(Recipe(parser=None, segmenter=segmenter, model=model), from_)
    paths = text_files(inputs, from_)
    analyse(job, paths, jobs, to, out)
