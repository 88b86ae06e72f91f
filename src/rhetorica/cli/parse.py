"""``rhetorica parse``."""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from rhetorica.batch.files import Job
from rhetorica.cli.analysis import analyse, count_of, text_files
from rhetorica.cli.options import (
    Force,
    Jobs,
    LabelKind,
    LanguageName,
    ModelName,
    OutPlace,
    ParserName,
    Pattern,
    Quiet,
    SegmenterName,
    Strict,
    SyntaxName,
    TextFormat,
    Texts,
)
from rhetorica.cli.output import OUTPUTS, TREE, Sink
from rhetorica.errors import LanguageWarning
from rhetorica.pipeline import AUTO, DEFAULT_MODEL, DEFAULT_PARSER, Recipe
from rhetorica.render.layout.parts import View

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)


@app.command(epilog=OUTPUTS)
def parse(
    inputs: Texts = None,
    edus: Annotated[
        bool,
        typer.Option("--edus", help="Inputs hold one EDU a line, a blank line between paragraphs."),
    ] = False,
    language: LanguageName = AUTO,
    parser: ParserName = DEFAULT_PARSER,
    model: ModelName = DEFAULT_MODEL,
    segmenter: SegmenterName = None,
    syntax: SyntaxName = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="One of those below; tree unless --out tells another.",
            show_default=False,
        ),
    ] = None,
    view: Annotated[View, typer.Option(help="What tree and pictures show.")] = "rst",
    out: OutPlace = None,
    jobs: Jobs = "1",
    kbest: Annotated[int, typer.Option(min=1, help="Also keep the K best trees (in json).")] = 1,
    beam: Annotated[
        int | None,
        typer.Option(min=1, help="shift-reduce, dplp: keep so many states, and do not vote."),
    ] = None,
    votes: Annotated[
        int | None,
        typer.Option(min=0, help="shift-reduce, dplp: let so many sequences of actions vote."),
    ] = None,
    from_: TextFormat = None,
    labels: LabelKind = "own",
    strict: Strict = False,
    pattern: Pattern = "",
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Parse raw text, English or Chinese: units, dependencies, RST tree.

    The neural parsers and the ensemble give GUM's 32 relations, the others their 15 classes;
    `--labels coarse` makes them alike. Files in other formats (.rs3, .json, .edus, ...) keep their
    units.

    Example: `rhetorica parse umbrella.txt`

    Example: `rhetorica parse umbrella.txt -o umbrella.rs3`

    Example: `rhetorica parse texts/ --to json --out parses/ --jobs auto`
    """
    options: dict[str, int] = {}
    if beam is not None:
        options = {"beam": beam, "samples": 0}
    if votes is not None:
        options["samples"] = votes
    recipe = Recipe(language, parser, segmenter, model, syntax, options)
    files = text_files(inputs, from_, edus=edus, pattern=pattern)
    sink = Sink.of(to, out, TREE, len(files), view=view, force=force)
    if quiet:
        warnings.simplefilter("ignore", LanguageWarning)
    analyse(
        Job(recipe, from_, edus, kbest, strict),
        files,
        count_of(jobs),
        sink,
        change=recipe.coarsened if labels == "coarse" else lambda parse: parse,
        quiet=quiet,
    )
