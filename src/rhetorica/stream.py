"""Many files through one analysis: one after the other, or side by side in several processes.

Results come in the order of the inputs and one at a time, so memory stays flat however many files
there are.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rhetorica import formats
from rhetorica.document import Document
from rhetorica.parses import Parse
from rhetorica.segment import segment_all
from rhetorica.source import document_id, read_raw


@dataclass(frozen=True)
class Job:
    """What to do with each file: all that a worker process must know."""

    task: str
    segmenter: str
    model: str
    format: str | None = None


def run_jobs(job: Job, paths: Sequence[str], jobs: int = 1) -> Iterator[Parse]:
    """Analyse files, in up to ``jobs`` processes."""
    if jobs == 1 or len(paths) < 2:
        yield from _analyse(job, _read_all(job, paths))
        return
    # Spawned, not forked: forking a process with threads of a numeric library can hang.
    with multiprocessing.get_context("spawn").Pool(min(jobs, len(paths))) as pool:
        for parses in pool.imap(_analyse_file, [(job, path) for path in paths]):
            yield from parses


def read_documents(path: str, format: str | None = None) -> Iterator[Document]:
    """Read a file of raw text or, in a format, of documents whose EDUs are forgotten."""
    if format is None:
        id = "" if path == "-" else document_id(Path(path))
        yield Document(read_raw(path), id=id)
    else:
        for parse in formats.read(path, format):
            yield replace(parse.document, edus=())


def _read_all(job: Job, paths: Sequence[str]) -> Iterator[Document]:
    for path in paths:
        yield from read_documents(path, job.format)


def _analyse(job: Job, docs: Iterator[Document]) -> Iterator[Parse]:
    return segment_all(docs, segmenter=job.segmenter, model=job.model)


def _analyse_file(work: tuple[Job, str]) -> list[Parse]:
    job, path = work
    return list(_analyse(job, read_documents(path, job.format)))
