"""Many files through one analysis: one after the other, or side by side in several processes.

Results come in the order of the inputs and one at a time, so memory stays flat however many files
there are.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rhetorica import formats
from rhetorica.document import Document
from rhetorica.files import document_id, read_raw
from rhetorica.formats.edus import read_edus
from rhetorica.parses import Parse
from rhetorica.pipeline import Recipe, load


@dataclass(frozen=True)
class Job:
    """What to do with each file: all that a worker process must know.

    ``format`` tells that the inputs are not raw text; with ``edus`` they hold one EDU a line.
    """

    recipe: Recipe
    format: str | None = None
    edus: bool = False
    kbest: int = 1


def run_jobs(job: Job, paths: Sequence[str], jobs: int = 1) -> Iterator[Parse]:
    """Analyse files, in up to ``jobs`` processes."""
    if jobs == 1 or len(paths) < 2:
        yield from _analyse(job, _read_all(job, paths))
        return
    # Spawned, not forked: forking a process with threads of a numeric library can hang.
    with multiprocessing.get_context("spawn").Pool(min(jobs, len(paths))) as pool:
        for parses in pool.imap(_analyse_file, [(job, path) for path in paths]):
            yield from parses


def _read_all(job: Job, paths: Sequence[str]) -> Iterator[Document]:
    for path in paths:
        if job.edus:
            yield read_edus(path).document
        elif job.format is None:
            yield Document(read_raw(path), id="" if path == "-" else document_id(Path(path)))
        else:
            yield from (parse.document for parse in formats.read(path, job.format))


def _analyse(job: Job, docs: Iterator[Document]) -> Iterator[Parse]:
    return load(job.recipe).pipe(docs, kbest=job.kbest)


def _analyse_file(work: tuple[Job, str]) -> list[Parse]:
    job, path = work
    return list(_analyse(job, _read_all(job, [path])))
