"""Files through one analysis, one after the other or side by side: `parse` and `segment` do this.

Results come in the order of the files, and few are in memory at a time, however many there are. A
file that fails does not end the stream: it comes as what was set aside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rhetorica import formats, workers
from rhetorica.batch.inputs import told_by
from rhetorica.document import Document
from rhetorica.files import document_id, read_raw
from rhetorica.formats.edus import read_edus
from rhetorica.parses import Parse
from rhetorica.pipeline import Pipeline, Recipe, load
from rhetorica.workers import Failure


@dataclass(frozen=True)
class Job:
    """What to do with each file: all that a worker process must know.

    ``format`` tells that the inputs are not raw text, as a known extension does; with ``edus`` they
    hold one EDU a line; with ``strict``, what would be read with a warning is refused.
    """

    recipe: Recipe
    format: str | None = None
    edus: bool = False
    kbest: int = 1
    strict: bool = False

    def load(self) -> Callable[[str], Iterator[Parse]]:
        """Return what analyses the documents of a file."""
        return partial(self._analyse, load(self.recipe))

    def start(self) -> Callable[[str], list[Parse]]:
        """Return what a worker process does with a file."""
        analyse = self.load()
        return lambda path: list(analyse(path))

    def _analyse(self, pipeline: Pipeline, path: str) -> Iterator[Parse]:
        return pipeline.pipe(self._read(path), kbest=self.kbest)

    def _read(self, path: str) -> Iterator[Document]:
        if self.edus:
            yield read_edus(path).document
        elif format := self.format or told_by(path):
            yield from (parse.document for parse in formats.read(path, format, strict=self.strict))
        else:
            yield Document(read_raw(path), id="" if path == "-" else document_id(Path(path)))


@dataclass(frozen=True, slots=True)
class SetAside:
    """A file that could not be analysed, or not to its end, and why."""

    path: str
    failure: Failure

    def __str__(self) -> str:
        message = self.failure.message
        return message if message.startswith(self.path) else f"{self.path}: {message}"


def run_jobs(
    job: Job, paths: Sequence[str], jobs: int = 1
) -> Iterator[tuple[str, Parse | SetAside]]:
    """Analyse files, in up to ``jobs`` processes; each result comes with the path of its file."""
    if jobs == 1 or len(paths) < 2:
        analyse = job.load()
        for path in paths:
            for found in _until_it_fails(path, analyse(path)):
                yield path, found
        return
    for path, parses in workers.run(job.start, paths, min(jobs, len(paths)), ordered=True):
        if isinstance(parses, Failure):
            yield path, SetAside(path, parses)
        else:
            yield from ((path, parse) for parse in parses)


def _until_it_fails(path: str, parses: Iterator[Parse]) -> Iterator[Parse | SetAside]:
    while True:
        try:
            parse = next(parses)
        except StopIteration:
            return
        except Exception as error:
            yield SetAside(path, Failure.of(error))
            return
        yield parse
