"""``rhetorica stats``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import Console

from rhetorica.cli.common import table
from rhetorica.cli.documents import read_documents
from rhetorica.cli.options import (
    CorpusName,
    FromFormat,
    Inputs,
    Labels,
    PennTreebank,
    Split,
    Strict,
    labels_of,
)
from rhetorica.describe import corpus_statistics
from rhetorica.parses import Parse
from rhetorica.relations import covering

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)


@app.command()
def stats(
    inputs: Inputs,
    from_: FromFormat = None,
    corpus: CorpusName = None,
    split: Split = None,
    ptb: PennTreebank = None,
    labels: Labels = None,
    strict: Strict = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Describe a corpus: sizes, relations inside and across sentences, leaky sentences.

    Example: `rhetorica stats gum/ --corpus gum --split train --labels gum`

    Example: `rhetorica stats rst_dt/ --corpus rst-dt --ptb treebank_3/ --labels rst-dt`
    """
    parses: Iterable[Parse] = read_documents(inputs, from_, corpus, split, ptb=ptb, strict=strict)
    relations = labels_of(labels)
    if relations:
        parses = list(parses)
        relations = covering(relations, parses)
    statistics = corpus_statistics(
        parses,
        labels=relations.coarse if relations else None,
    )
    if as_json:
        typer.echo(json.dumps(statistics.to_dict(), indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    for title, header, rows in statistics.tables():
        console.print(table(title, header, rows))
