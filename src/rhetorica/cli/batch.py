"""``rhetorica batch``."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from rhetorica.batch.engine import Counts, Execute, in_processes, run_batch
from rhetorica.batch.inputs import KINDS, Inputs
from rhetorica.batch.shards import SHARD_SIZE
from rhetorica.batch.work import Work
from rhetorica.cli.analysis import count_of
from rhetorica.cli.common import errors, progress_bar, say, tell
from rhetorica.cli.options import (
    FORMATS_EPILOG,
    Jobs,
    LabelKind,
    LanguageName,
    ModelName,
    ParserName,
    SegmenterName,
    SyntaxName,
)
from rhetorica.pipeline import AUTO, DEFAULT_MODEL, DEFAULT_PARSER, Recipe
from rhetorica.progress import Event, Tell

app = typer.Typer(rich_markup_mode="markdown", add_completion=False)
_SECONDS = 60


@app.command(epilog=FORMATS_EPILOG)
def batch(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Folders, files (.txt, .jsonl, .csv, .tsv, .parquet; .gz, .zst), patterns; - is "
            "standard input (jsonl).",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")],
    language: LanguageName = AUTO,
    parser: ParserName = DEFAULT_PARSER,
    model: ModelName = DEFAULT_MODEL,
    segmenter: SegmenterName = None,
    syntax: SyntaxName = None,
    segment_only: Annotated[bool, typer.Option("--segment-only", help="Stop after EDUs.")] = False,
    kbest: Annotated[int, typer.Option(min=1, help="Also keep the K best trees (in jsonl).")] = 1,
    labels: LabelKind = "own",
    to: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            help="jsonl or parquet: many documents a file; a format below: a file a document.",
        ),
    ] = "jsonl",
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="KIND",
            help=f"What the inputs hold ({', '.join(KINDS)}, or a format below); else told by the "
            "extension.",
        ),
    ] = None,
    text_column: Annotated[str, typer.Option(help="Column of tables with the text.")] = "text",
    id_column: Annotated[
        str | None, typer.Option(help="Column with the document's name; else id, or the row.")
    ] = None,
    jobs: Jobs = "auto",
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Work on a dask cluster: the address of its scheduler, or local:N.",
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            metavar="SECONDS",
            help="Set aside a document that takes longer; else it may take any time.",
        ),
    ] = None,
    shard_size: Annotated[
        int | None,
        typer.Option(min=1, help=f"Documents in a file of results; {SHARD_SIZE} unless told."),
    ] = None,
    force_mix: Annotated[
        bool,
        typer.Option("--force-mix", help="Go on though recipe, version or models have changed."),
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try again what was set aside before.")
    ] = False,
) -> None:
    """Parse very many documents, in processes or on a cluster; an ended run goes on.

    Results are `part-*.jsonl` in the folder, which `rhetorica.read` reads. Ended by Ctrl-C or
    otherwise, the same command goes on where it was. Documents that fail are set aside in
    `failed.jsonl`; the exit status is then 1.

    Example: `rhetorica batch texts/ --out parsed`
    """
    chosen = None if segment_only else parser
    recipe = Recipe(language, chosen, segmenter, model, syntax)
    work = Work(recipe, to, kbest, coarse=labels == "coarse")
    found = Inputs(inputs, from_, text_column, id_column, leave_out=out)
    try:
        with _place(work, jobs, cluster, timeout or math.inf) as execute, _progress() as show:
            counts = run_batch(
                found,
                out,
                work,
                execute,
                shard_size=shard_size,
                force_mix=force_mix,
                retry_failed=retry_failed,
                total=found.total(),
                tell=show,
            )
    except KeyboardInterrupt:
        say("stopped; the same command goes on where this one was")
        raise typer.Exit(130) from None
    _summary(counts, out)


def _summary(counts: Counts, out: Path) -> None:
    say(str(counts))
    if counts.failed:
        say(f"what was set aside, and why, is in {out / 'failed.jsonl'}")
        raise typer.Exit(1)


@contextmanager
def _place(work: Work, jobs: str, cluster: str | None, seconds: float) -> Iterator[Execute]:
    if cluster is not None:
        from rhetorica.batch.cluster import on_cluster

        with on_cluster(cluster, work, seconds=seconds, tell=tell) as execute:
            yield execute
        return
    yield in_processes(work, count_of(jobs), seconds=seconds)


@contextmanager
def _progress() -> Iterator[Tell]:
    """Show a bar with words a second and the time left; without a terminal, a line a minute."""
    with progress_bar(enabled=True) as bar:
        task = bar.add_task("batch", total=None)
        last = time.monotonic()

        def show(event: Event) -> None:
            nonlocal last
            bar.update(task, description=event.note, completed=event.at, total=event.total or None)
            if not errors.is_terminal and time.monotonic() - last > _SECONDS:
                last = time.monotonic()
                say(event.note)

        yield show
