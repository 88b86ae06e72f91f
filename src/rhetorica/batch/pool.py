"""Processes that work side by side; one that dies is noticed at once, and its work done again.

Each process loads what it needs once. It writes nothing, so that none can write twice, and it ends
when the process that started it ends, however that came about.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, Self, TypeVar

from rhetorica.errors import RhetoricaError

T = TypeVar("T")
R = TypeVar("R")
Start = Callable[[], Callable[[T], R]]
_DEATHS = 2
"""Who was being worked on when so many processes died is not tried again."""
_BAD_STARTS = 3
_AHEAD = 8


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one piece of work came to nothing: the kind of error, and what it says."""

    error: str
    message: str

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Keep what an exception says; of one that nobody expected, also where it was raised."""
        message = str(error)
        if not isinstance(error, RhetoricaError):
            frames = traceback.extract_tb(error.__traceback__)
            where = f" (in {frames[-1].name}, {frames[-1].filename}:{frames[-1].lineno})"
            message = (message or repr(error)) + (where if frames else "")
        return cls(type(error).__name__, message)


def attempt(work: Callable[[T], R], item: T) -> R | Failure:
    """Do one piece of work; an error is a result like any other."""
    try:
        return work(item)
    except Exception as error:
        return Failure.of(error)


def run(
    start: Start[T, R],
    items: Iterable[T],
    jobs: int,
    *,
    ordered: bool = False,
    small: Callable[[T], bool] = lambda _: True,
) -> Iterator[tuple[T, R | Failure]]:
    """Work on items in up to ``jobs`` processes; yield each with its result, as they come.

    ``start`` is called once in each process and returns what does the work; both must pickle. An
    item during which a process dies is tried once more, then it is a `Failure`. Items are taken
    only as they are needed: a process gets one ahead while those it has are ``small``. With
    ``ordered`` results come in the order of the items, and few wait for their turn.
    """
    pool = _Pool(start, iter(items), jobs, ordered, small)
    try:
        yield from pool.results()
    finally:
        pool.close()


@dataclass(slots=True)
class _Task(Generic[T]):
    number: int
    item: T
    deaths: int = 0


@dataclass(eq=False, slots=True)
class _Worker(Generic[T]):
    process: BaseProcess
    pipe: Connection
    ready: bool = False
    tasks: deque[_Task[T]] = field(default_factory=deque)
    """Those sent, in order: the first is being worked on."""

    @classmethod
    def start(cls, start: Start[T, Any]) -> Self:
        # Spawned, not forked: forking a process with threads of a numeric library can hang.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, start), daemon=True)
        process.start()
        # Only the process itself may hold its end, or its death would not close the pipe.
        theirs.close()
        return cls(process, ours)


class _Pool(Generic[T, R]):
    def __init__(
        self,
        start: Start[T, R],
        items: Iterator[T],
        jobs: int,
        ordered: bool,
        small: Callable[[T], bool],
    ) -> None:
        self.start, self.items, self.jobs, self.small = start, items, jobs, small
        self.ordered = ordered
        self.workers: list[_Worker[T]] = []
        self.pending: deque[_Task[T]] = deque()
        self.finished: dict[int, tuple[T, R | Failure]] = {}
        self.taken = self.given = 0
        self.more = True
        self.bad_starts = 0

    def results(self) -> Iterator[tuple[T, R | Failure]]:
        while True:
            self._take()
            self._hire()
            self._hand_out()
            if not self.pending and not any(worker.tasks for worker in self.workers):
                if not self.more:
                    return
                continue
            heard: dict[Any, _Worker[T]] = {}
            for worker in self.workers:
                heard[worker.pipe] = heard[worker.process.sentinel] = worker
            for worker in dict.fromkeys(heard[one] for one in wait(list(heard))):
                yield from self._hear(worker)

    def close(self) -> None:
        for worker in self.workers:
            worker.process.kill()
        for worker in self.workers:
            worker.process.join()
            worker.pipe.close()

    def _take(self) -> None:
        """Take a few items from the stream."""
        while self.more and len(self.pending) < self.jobs:
            if self.ordered and self.taken - self.given >= _AHEAD * self.jobs:
                return
            try:
                item = next(self.items)
            except StopIteration:
                self.more = False
                return
            self.pending.append(_Task(self.taken, item))
            self.taken += 1

    def _hire(self) -> None:
        """Start as many processes as there is work for."""
        idle = sum(not worker.tasks for worker in self.workers)
        for _ in range(min(self.jobs - len(self.workers), len(self.pending) - idle)):
            self.workers.append(_Worker.start(self.start))

    def _hand_out(self) -> None:
        """Give each process that can work something to do, and a little ahead where it is quick."""
        for ahead in (0, 1):
            for worker in list(self.workers):
                if not self.pending or not worker.ready or len(worker.tasks) != ahead:
                    continue
                if ahead and not (
                    self.small(worker.tasks[0].item) and self.small(self.pending[0].item)
                ):
                    continue
                task = self.pending.popleft()
                worker.tasks.append(task)
                try:
                    worker.pipe.send_bytes(pickle.dumps(task.item, pickle.HIGHEST_PROTOCOL))
                except OSError:
                    continue  # it has died, and will be heard of
            self._take()

    def _hear(self, worker: _Worker[T]) -> Iterator[tuple[T, R | Failure]]:
        """Take what a process has to say, be it only that it is no more."""
        try:
            if not worker.pipe.poll():
                raise EOFError
            said, warned = worker.pipe.recv()
        except (EOFError, OSError):
            yield from self._bury(worker)
            return
        for message, category in warned:
            warnings.warn(message, category, stacklevel=2)
        if worker.ready:
            yield from self._finish(worker.tasks.popleft(), said)
        elif isinstance(said, RhetoricaError):
            raise said
        else:
            worker.ready, self.bad_starts = True, 0

    def _bury(self, worker: _Worker[T]) -> Iterator[tuple[T, R | Failure]]:
        """Let others do what a process that died has left undone."""
        self.workers.remove(worker)
        worker.process.join()
        worker.pipe.close()
        how = _ending(worker.process.exitcode)
        if not worker.ready:
            self.bad_starts += 1
            if self.bad_starts >= _BAD_STARTS:
                raise RhetoricaError(
                    f"worker processes end while they start ({how}): there may be too little "
                    "memory for so many (try fewer jobs); a script that starts them needs "
                    '`if __name__ == "__main__":`'
                )
        self.pending.extendleft(reversed(worker.tasks))
        if worker.tasks:
            task = self.pending[0]
            task.deaths += 1
            if task.deaths >= _DEATHS:
                self.pending.popleft()
                times = f"{task.deaths} worker processes ended while they worked on it"
                yield from self._finish(task, Failure("WorkerDied", f"{times}; the last {how}"))

    def _finish(self, task: _Task[T], result: R | Failure) -> Iterator[tuple[T, R | Failure]]:
        if not self.ordered:
            yield task.item, result
            return
        self.finished[task.number] = task.item, result
        while self.given in self.finished:
            yield self.finished.pop(self.given)
            self.given += 1


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with status {code}"


def _serve(pipe: Connection, start: Start[Any, Any]) -> None:
    """Be a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who started us
    inbox: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(pipe, inbox), daemon=True).start()
    warned: list[tuple[str, type[Warning]]] = []
    warnings.showwarning = lambda message, category, *_: warned.append((str(message), category))
    try:
        work = start()
    except Exception as error:
        ours = isinstance(error, RhetoricaError)
        pipe.send((error if ours else RhetoricaError(Failure.of(error).message), warned))
        return
    pipe.send((None, warned))
    while True:
        warned.clear()
        data = inbox.get()
        pipe.send((attempt(lambda data: work(pickle.loads(data)), data), warned))


def _listen(pipe: Connection, inbox: SimpleQueue[bytes]) -> None:
    """Take in work while other work is being done, and end the process when nobody sends any.

    So sending never waits for a busy worker, and no worker outlives the process that started it.
    """
    try:
        while True:
            inbox.put(pipe.recv_bytes())
    except (EOFError, OSError):
        os._exit(0)
