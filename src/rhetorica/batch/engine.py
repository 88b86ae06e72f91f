"""A batch: documents in, cut into shards, done longest first wherever there is room, shards out."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from rhetorica import workers
from rhetorica.batch.inputs import Item
from rhetorica.batch.shards import Mark, Output, open_output
from rhetorica.batch.work import Result, Work
from rhetorica.document import Document
from rhetorica.errors import RhetoricaError
from rhetorica.progress import Event, Tell, nothing
from rhetorica.workers import Failure

SHARD_CHARACTERS = 4_000_000
"""A shard is closed when it has so many: its results are held until it is done."""
_SMALL = 20_000


@dataclass(frozen=True, slots=True)
class Task:
    """One document of a shard."""

    shard: int
    place: int
    document: Document


Execute = Callable[[Iterable[Task]], Iterator[tuple[Task, "Result | Failure"]]]
"""Does tasks somewhere and yields each with what came of it, in any order."""


@dataclass(slots=True)
class Counts:
    """What came of a batch: documents read, done, set aside; of these, how many an earlier run did.

    ``words`` and ``seconds`` are of this run only.
    """

    read: int = 0
    done: int = 0
    failed: int = 0
    earlier: int = 0
    words: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        parts = [f"{self.read:,} documents: {self.done:,} done", f"{self.failed:,} set aside"]
        if self.earlier:
            parts.append(f"{self.earlier:,} of them by an earlier run")
        if self.words:
            parts.append(f"{self.words / max(self.seconds, 1e-9):,.0f} words a second")
        return ", ".join(parts)


def in_processes(work: Work, jobs: int, *, seconds: float = math.inf) -> Execute:
    """Do tasks in processes on this machine; a document may take so many seconds."""

    def execute(tasks: Iterable[Task]) -> Iterator[tuple[Task, Result | Failure]]:
        return workers.run(partial(_start, work), tasks, jobs, small=_is_small, seconds=seconds)

    return execute


def _start(work: Work) -> Callable[[Task], Result]:
    do = work.start()
    return lambda task: do(task.document)


def _is_small(task: Task) -> bool:
    return len(task.document.text) <= _SMALL


def run_batch(
    items: Iterable[Item],
    out: Path,
    work: Work,
    execute: Execute,
    *,
    shard_size: int | None = None,
    force_mix: bool = False,
    retry_failed: bool = False,
    total: int = 0,
    tell: Tell = nothing,
) -> Counts:
    """Do all documents that are not done yet; results go to ``out``, see `rhetorica.batch.shards`.

    ``total`` is the size of all items, for those who are told how far it has come. With
    ``retry_failed``, shards are done again in which documents failed.
    """
    about = work.about()
    with open_output(out, work.to, about, shard_size=shard_size, force_mix=force_mix) as output:
        batch = _Batch(output, iter(items), retry_failed, total, tell)
        with closing(execute(batch.tasks())) as results:  # type: ignore[type-var]
            for task, result in results:
                batch.take(task, result)
        batch.check()
        return batch.counts


@dataclass(slots=True)
class _Shard:
    number: int
    items: list[Item]
    input: str
    results: dict[int, Any] = field(default_factory=dict)
    failed: dict[int, Failure] = field(default_factory=dict)
    words: int = 0


class _Batch:
    """A run: takes shards from the stream, gives out their documents, writes what is complete."""

    def __init__(
        self, output: Output, items: Iterator[Item], retry: bool, total: int, tell: Tell
    ) -> None:
        self.output, self.items, self.retry = output, items, retry
        self.total, self.tell = total, tell
        self.counts = Counts()
        self.shards = self.size = 0
        self.open: dict[int, _Shard] = {}
        self.began = time.monotonic()

    def tasks(self) -> Iterator[Task]:
        """Yield what is to be done, the longest documents of each shard first."""
        while items := self._cut():
            number, self.shards = self.shards, self.shards + 1
            shard = _Shard(number, items, _digest(items))
            self.counts.read += len(items)
            if self._done_before(shard):
                continue
            self.open[number] = shard
            for place, item in enumerate(items):
                if item.failure:
                    self.take(Task(number, place, item.document), item.failure)
            places = [place for place, item in enumerate(items) if not item.failure]
            for place in sorted(places, key=lambda at: -len(items[at].document.text)):
                yield Task(number, place, items[place].document)

    def _cut(self) -> list[Item]:
        """Take the documents of the next shard: as many as its mark says, or as fit into one."""
        mark = self.output.mark(self.shards)
        if mark:
            return list(islice(self.items, len(mark.ids)))
        items: list[Item] = []
        characters = 0
        while len(items) < self.output.shard_size and characters < SHARD_CHARACTERS:
            item = next(self.items, None)
            if item is None:
                break
            items.append(item)
            characters += len(item.document.text)
        return items

    def _done_before(self, shard: _Shard) -> bool:
        mark = self.output.mark(shard.number)
        if mark is None or (mark.failed and self.retry):
            return False
        if not self.output.is_whole(shard.number, mark):
            return False
        if mark.input != shard.input:
            ids = [item.document.id for item in shard.items]
            pairs = zip(ids, mark.ids, strict=False)
            other = next((f"{now!r} instead of {was!r}" for now, was in pairs if now != was), "")
            raise RhetoricaError(
                f"the documents are not those that shard {shard.number} of {self.output.path} was "
                f"made of ({other or 'other texts or fewer of them'}): give the inputs of the "
                "earlier run, to which more may be added at the end, or choose another folder"
            )
        self._count(mark)
        self.counts.earlier += len(mark.ids)
        self._tell(sum(item.size for item in shard.items))
        return True

    def take(self, task: Task, result: Result | Failure) -> None:
        """Take what came of a document; with the last of a shard, write it."""
        shard = self.open[task.shard]
        if isinstance(result, Failure):
            shard.failed[task.place] = result
        else:
            shard.results[task.place] = result.data
            shard.words += result.words
            self.counts.words += result.words
        if len(shard.results) + len(shard.failed) == len(shard.items):
            self._write(self.open.pop(task.shard))
        self._tell(shard.items[task.place].size)

    def _write(self, shard: _Shard) -> None:
        failed = [_set_aside(shard, place) for place in sorted(shard.failed)]
        ids = [item.document.id for item in shard.items]
        self._count(
            self.output.write(
                shard.number, ids, shard.results, failed, input=shard.input, words=shard.words
            )
        )

    def _count(self, mark: Mark) -> None:
        self.counts.done += mark.done
        self.counts.failed += len(mark.failed)

    def _tell(self, size: int) -> None:
        self.size += size
        self.counts.seconds = time.monotonic() - self.began
        self.tell(Event("batch", self.size, self.total, str(self.counts)))

    def check(self) -> None:
        """See that every document that was read is done or set aside, and nothing else is there."""
        self.counts.seconds = time.monotonic() - self.began
        counts, numbers = self.counts, self.output.numbers()
        if self.open or counts.read != counts.done + counts.failed:
            raise RhetoricaError(
                f"the counts do not add up ({counts}): this is an error in Rhetorica; results are "
                "kept, the same command does what is missing"
            )
        if numbers != list(range(self.shards)):
            raise RhetoricaError(
                f"{self.output.path} holds {len(numbers)} shards and the inputs make "
                f"{self.shards}: inputs of an earlier run are missing"
            )


def _digest(items: list[Item]) -> str:
    """Return a checksum of documents as they came."""
    every = hashlib.sha256()
    for item in items:
        doc = item.document
        layers = repr(doc) if doc.edus or doc.tokens or doc.sentences or doc.paragraphs else ""
        failure = item.failure.message if item.failure else ""
        one = repr((doc.id, doc.text, sorted(doc.meta.items()), layers, failure))
        every.update(hashlib.sha256(one.encode("utf-8", "surrogatepass")).digest())
    return every.hexdigest()


def _set_aside(shard: _Shard, place: int) -> dict[str, Any]:
    """Return a document and its error as a row, which can be the input of another batch."""
    doc, failure = shard.items[place].document, shard.failed[place]
    row: dict[str, Any] = {"id": doc.id}
    if doc.text:
        row["text"] = doc.text
    return {**doc.meta, **row, "error": failure.error, "message": failure.message}
