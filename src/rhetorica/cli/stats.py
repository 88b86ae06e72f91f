"""``rhetorica stats``."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from rhetorica.cli.common import table
from rhetorica.cli.documents import read_documents
from rhetorica.cli.options import CorpusName, FromFormat, Inputs, Labels, Split, Strict, labels_of
from rhetorica.describe import corpus_statistics

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)


@app.command()
def stats(
    inputs: Inputs,
    from_: FromFormat = None,
    corpus: CorpusName = None,
    split: Split = None,
    labels: Labels = None,
    strict: Strict = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Describe a corpus: sizes, relations inside and across sentences, leaky sentences.

    Example: `rhetorica stats gum/ --corpus gum --split train --labels gum`
    """
    relations = labels_of(labels)
    statistics = corpus_statistics(
        read_documents(inputs, from_, corpus, split, strict=strict),
        labels=relations.coarse if relations else None,
    )
    if as_json:
        typer.echo(json.dumps(statistics.to_dict(), indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    for title, header, rows in statistics.tables():
        console.print(table(title, header, rows))
