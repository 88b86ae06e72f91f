"""Work for worker processes that needs no model; words in a text say how it goes wrong.

BAD: an error. KILL: the process is killed. KILL-ONCE=FILE: only if the file is not there yet.
SLEEP=SECONDS: it takes a while. The process writes its id to FILE for PID=FILE.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rhetorica.batch.engine import Execute, Task
from rhetorica.batch.files import Job
from rhetorica.batch.work import Result, Work
from rhetorica.document import Document, Span
from rhetorica.errors import FormatError
from rhetorica.parses import Parse
from rhetorica.trees import DepTree
from rhetorica.workers import Failure, attempt


def parse(doc: Document) -> Parse:
    """Take the whole text as one EDU."""
    for word in doc.text[:500].split():
        name, _, value = word.partition("=")
        if name == "BAD":
            raise FormatError(doc.id, 1, "bad")
        if name == "BUG":
            raise KeyError("bug")
        if name == "KILL":
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "KILL-ONCE" and not Path(value).exists():
            Path(value).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "PID":
            Path(value).write_text(str(os.getpid()))
        if name == "SLEEP":
            time.sleep(float(value))
    text = doc.text.strip()
    start = doc.text.index(text)
    edus = (Span(start, start + len(text)),) if text else ()
    found = Document(doc.text, edus, id=doc.id, meta=doc.meta)
    return Parse(found, DepTree((-1,), ("ROOT",)) if edus else DepTree())


@dataclass(frozen=True)
class Fake(Work):
    """Work with this parser."""

    recipe: Any = None
    version: str = "1"

    def about(self) -> dict[str, Any]:
        return {"version": self.version, "kbest": self.kbest}

    def load(self) -> Callable[[Document], Parse]:
        return parse


def start() -> Callable[[Document], str]:
    """Work that returns what it is given."""
    return lambda doc: parse(doc).document.text


def start_badly() -> Callable[[Document], str]:
    raise FormatError("model", None, "no such model")


def start_never() -> Callable[[Document], str]:
    os._exit(3)


def here(work: Work) -> Execute:
    """Do tasks in this process."""
    do = work.start()

    def execute(tasks: Iterable[Task]) -> Iterator[tuple[Task, Result | Failure]]:
        for task in tasks:
            yield task, attempt(do, task.document)

    return execute


@dataclass(frozen=True)
class FakeJob(Job):
    """Files with this parser."""

    recipe: Any = None

    def load(self) -> Callable[[str], Iterator[Parse]]:
        return lambda path: (parse(doc) for doc in self._read(path))


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait, but not for ever."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
