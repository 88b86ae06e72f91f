"""``rhetorica models``."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from rhetorica.cli.common import table
from rhetorica.models import store
from rhetorica.pipeline import ENSEMBLE

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)


@app.command()
def models(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compare every file with its checksum first.")
    ] = False,
) -> None:
    """List the models that are installed: with the package, and by other packages.

    `--model` takes a treebank or a model's name. The score is from raw text, in percent on dev: a
    parser's full Parseval, a segmenter's F1. All scores, licences and folders are in the JSON; each
    folder's README.md says how it was made.

    Example: `rhetorica models`
    """
    found = store.models()
    if check:
        for model in found:
            model.check()
    rows = [
        {
            "kind": model.kind,
            "model": model.id,
            "name": model.name,
            "language": model.language,
            "treebanks": ", ".join(model.treebanks),
            "relations": _given(model),
            "raw": model.scores.get("raw"),
            "scores": dict(model.scores),
            "licence": model.licence,
            "folder": str(model.folder),
        }
        for model in found
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    shown = ("model", "kind", "language", "treebanks", "relations", "raw")
    cells = ([row[name] for name in shown] for row in rows)
    title = "Models (raw: full Parseval or F1 on dev, from raw text)"
    header = ("lang" if name == "language" else name for name in shown)  # 80 columns are few
    Console(highlight=False).print(table(title, header, cells))


def _given(model: store.Config) -> str:
    """Return the label set of what a model gives; - where it gives no relations."""
    if model.kind in ("segmenter", "words"):
        return "-"
    # An ensemble votes for classes and gives the relations within them.
    is_ensemble = model.name == ENSEMBLE and model.kind == "parser"
    return f"{model.relations.partition(' ')[0]} fine" if is_ensemble else model.relations
