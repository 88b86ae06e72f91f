"""``rhetorica convert``."""

from __future__ import annotations

from typing import Annotated

import typer

from rhetorica import formats
from rhetorica.cli.common import Failures
from rhetorica.cli.documents import read_placed, write_placed
from rhetorica.cli.options import (
    CorpusName,
    Force,
    FromFormat,
    Inputs,
    OutPlace,
    PennTreebank,
    Split,
    Strict,
)
from rhetorica.cli.output import OUTPUTS, Sink
from rhetorica.convert import Convention

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)


@app.command(epilog=OUTPUTS)
def convert(
    inputs: Inputs,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="One of those below; needed unless --out tells it.",
            show_default=False,
        ),
    ] = None,
    from_: FromFormat = None,
    out: OutPlace = None,
    multinuclear: Annotated[
        Convention,
        typer.Option(
            help="In dependencies, later nuclei hang on the first (star) or the one before (chain)."
        ),
    ] = "star",
    binary: Annotated[bool, typer.Option(help="Write bracketed trees (dis) binary.")] = False,
    tokenized: Annotated[
        bool, typer.Option(help="Write EDUs as tokens with spaces, where tokens are known.")
    ] = False,
    tokenize: Annotated[
        bool,
        typer.Option(
            "--tokenize",
            help="Add tokens and syntax (English) to documents without, where the format needs "
            "them: conllu, tok, rels.",
        ),
    ] = False,
    corpus: CorpusName = None,
    split: Split = None,
    ptb: PennTreebank = None,
    strict: Strict = False,
    force: Force = False,
) -> None:
    """Convert discourse trees from one format to another.

    One document goes to standard output unless --out is given; several need --out, or an output
    format that holds many (conllu, tok, rels, jsonl). A file that cannot be read is named, and the
    others are converted.

    Example: `rhetorica convert essay.rs3 --to rsd`

    Example: `rhetorica convert essay.rs3 -o essay.conllu --tokenize`
    """
    style = formats.Style(multinuclear, tokenized, binary)
    sink = Sink.of(to, out, "", 1, force=force, style=style, tokenize=tokenize)
    failures = Failures()
    found = read_placed(inputs, from_, corpus, split, ptb=ptb, strict=strict, failures=failures)
    write_placed(found, sink, failures)
