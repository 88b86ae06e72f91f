"""``rhetorica score``."""

from __future__ import annotations

import itertools
import json
from typing import Annotated, Any

import typer
from rich.console import Console

from rhetorica.cli.common import plain, table
from rhetorica.cli.documents import read_documents
from rhetorica.cli.options import Labels, Strict, labels_of
from rhetorica.convert import Convention
from rhetorica.evaluate import Report, evaluate
from rhetorica.relations import covering

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)


@app.command()
def score(
    gold: Annotated[str, typer.Argument(help="File or folder with the right trees.")],
    pred: Annotated[str, typer.Argument(help="File or folder with the trees to be scored.")],
    compare: Annotated[
        str | None, typer.Option(help="Another system's trees: is the difference significant?")
    ] = None,
    labels: Labels = None,
    multinuclear: Annotated[
        Convention, typer.Option(help="Convention of the dependencies: star or chain.")
    ] = "star",
    gold_format: Annotated[
        str | None, typer.Option("--gold-format", metavar="FORMAT", help="Format of GOLD.")
    ] = None,
    pred_format: Annotated[
        str | None, typer.Option("--pred-format", metavar="FORMAT", help="Format of PRED.")
    ] = None,
    strict: Strict = False,
    corpus: Annotated[str, typer.Option(help="Name of the data, for the signature.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Score trees against gold trees: segmentation, Parseval, attachment, relations.

    Documents are paired by name, units by their characters, so predicted EDUs are fine.

    Example: `rhetorica score gold/ predicted/ --labels gum --compare baseline/`
    """
    golds = list(read_documents([gold], gold_format, strict=strict))
    systems = {
        path: list(read_documents([path], pred_format, strict=strict))
        for path in (pred, compare)
        if path
    }
    relations = classes = labels_of(labels)
    if relations:
        relations = covering(relations, golds)
        classes = covering(relations, itertools.chain(*systems.values()))

    def run(path: str) -> Report:
        return evaluate(
            golds,
            systems[path],
            labels=classes.coarse if classes else None,
            label_name=relations.label_name if relations else "as-is",
            convention=multinuclear,
            corpus=corpus,
        )

    report = run(pred)
    other = run(compare) if compare else None
    if as_json:
        data: dict[str, Any] = report.to_dict()
        if other:
            data = {
                "first": data,
                "second": other.to_dict(),
                "comparison": _comparison(report, other),
            }
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    _print_report(report)
    if other:
        _print_comparison(report, other)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}"


def _print_report(report: Report) -> None:
    console = Console(highlight=False)
    rows = [
        (
            f"{r.metric} {r.variant}",
            r.figure,
            r.documents,
            *map(_percent, (r.precision, r.recall, r.f1)),
        )
        for r in report.table()
    ]
    header = ("metric", "figure", "documents", "P", "R", "F1")
    console.print(table("scores (percent)", header, rows))
    for signature in dict.fromkeys(row.signature for row in report.table()):
        console.print(plain(signature), soft_wrap=True)


def _comparison(report: Report, other: Report) -> list[dict[str, Any]]:
    return [
        {
            "metric": row.metric,
            "variant": row.variant,
            "figure": row.figure,
            "first": row.first,
            "second": row.second,
            "p_bootstrap": row.bootstrap.p_value,
            "p_t_test": row.t_test.p_value,
        }
        for row in report.compare(other)
    ]


def _print_comparison(report: Report, other: Report) -> None:
    rows = [
        (
            f"{row['metric']} {row['variant']}",
            row["figure"],
            _percent(row["first"]),
            _percent(row["second"]),
            f"{row['p_bootstrap']:.4f}",
            f"{row['p_t_test']:.4f}",
        )
        for row in _comparison(report, other)
    ]
    header = ("metric", "figure", "first", "second", "p (bootstrap)", "p (t-test)")
    Console(highlight=False).print(table("first against second (F1, percent)", header, rows))
