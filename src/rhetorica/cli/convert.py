"""``rhetorica convert``."""

from __future__ import annotations

from typing import Annotated

import typer

from rhetorica import formats
from rhetorica.cli.documents import all_or_one, read_documents
from rhetorica.cli.options import (
    FORMATS_EPILOG,
    CorpusName,
    FromFormat,
    Inputs,
    OutFolder,
    Split,
    Strict,
)
from rhetorica.convert import Convention
from rhetorica.files import file_name, write_text

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)


@app.command(epilog=FORMATS_EPILOG)
def convert(
    inputs: Inputs,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="Output format.")],
    from_: FromFormat = None,
    out: OutFolder = None,
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
    corpus: CorpusName = None,
    split: Split = None,
    strict: Strict = False,
) -> None:
    """Convert discourse trees from one format to another.

    One document goes to standard output unless --out is given; several need --out, or an output
    format that holds many (conllu, tok, rels, jsonl).

    Example: `rhetorica convert essay.rs3 --to rsd`
    """
    chosen = formats.get_format(to)
    style = formats.Style(multinuclear, tokenized, binary)
    parses = read_documents(inputs, from_, corpus, split, strict=strict)
    if out is None:
        write_text("-", formats.write(all_or_one(parses, chosen), to, style))
        return
    names: set[str] = set()
    for number, parse in enumerate(parses, 1):
        name = file_name(parse.id or f"document-{number}", names)
        write_text(out / f"{name}{chosen.suffixes[0]}", formats.write(parse, to, style))
