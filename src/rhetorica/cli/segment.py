"""``rhetorica segment``."""

from __future__ import annotations

import warnings
from typing import Annotated, Literal

import typer

from rhetorica.batch.files import Job
from rhetorica.cli.analysis import analyse, count_of, text_files
from rhetorica.cli.options import (
    Force,
    Jobs,
    LanguageName,
    ModelName,
    OutPlace,
    Pattern,
    Quiet,
    Strict,
    SyntaxName,
    TextFormat,
    Texts,
)
from rhetorica.cli.output import Sink
from rhetorica.errors import LanguageWarning
from rhetorica.pipeline import AUTO, DEFAULT_MODEL, DEFAULT_SEGMENTER, SEGMENTERS, Recipe

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)


@app.command()
def segment(
    inputs: Texts = None,
    language: LanguageName = AUTO,
    segmenter: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {', '.join(SEGMENTERS)}.")
    ] = DEFAULT_SEGMENTER,
    model: ModelName = DEFAULT_MODEL,
    syntax: SyntaxName = None,
    to: Annotated[
        Literal["edus", "json", "jsonl", "tok"] | None,
        typer.Option(help="Output format; edus unless --out tells another.", show_default=False),
    ] = None,
    out: OutPlace = None,
    jobs: Jobs = "1",
    from_: TextFormat = None,
    strict: Strict = False,
    pattern: Pattern = "",
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Cut raw text, English or Chinese, into elementary discourse units, one a line.

    A blank line stands between paragraphs. `--to json` adds tokens, sentences and how sure each
    boundary is.

    Example: `rhetorica segment umbrella.txt`
    """
    files = text_files(inputs, from_, pattern=pattern)
    sink = Sink.of(to, out, "edus", len(files), force=force)
    if quiet:
        warnings.simplefilter("ignore", LanguageWarning)
    recipe = Recipe(language, parser=None, segmenter=segmenter, model=model, syntax=syntax)
    job = Job(recipe, from_, strict=strict)
    analyse(job, files, count_of(jobs), sink, quiet=quiet)
