"""Processes that do the work of batches and of the service; one that dies or hangs is replaced.

A `Worker` is one process: it loads what it needs once, takes what is sent and sends back what came
of it. It writes nothing, so that none can write twice, and it ends when the process that started it
ends, however that came about. `run` sends a stream of items through several of them.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import signal
import sys
import time
import traceback
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from rhetorica.errors import RhetoricaError
from rhetorica.progress import Event, listening

T = TypeVar("T")
R = TypeVar("R")
Start = Callable[[], Callable[[T], R]]
_DEATHS = 2
"""Who was being worked on when so many processes died is not tried again."""
_BAD_STARTS = 3
_AHEAD = 8
_DYING = 5.0


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one piece of work came to nothing: the kind of error, and what it says."""

    error: str
    message: str

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Keep what an exception says; of one that nobody expected, also where it was raised."""
        message = str(error)
        if isinstance(error, MemoryError):  # numpy has one of its own
            return cls("MemoryError", message or "out of memory")
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


class Worker(Generic[T, R]):
    """A process that works on what it is sent, in order; ``start`` is called in it, once.

    Both ``start`` and what is sent must pickle. With ``memory``, so many bytes are all that it may
    have (where the system can hold it to that): what needs more fails with a MemoryError.
    """

    def __init__(self, start: Start[T, R], *, memory: int = 0) -> None:
        if multiprocessing.current_process().daemon:
            raise RhetoricaError(
                "worker processes cannot be started from a daemonic process, such as one of a "
                "multiprocessing.Pool: do the work there itself, with one job"
            )
        # Spawned, not forked: forking a process with threads of a numeric library can hang. So
        # whatever start method a program has chosen does not matter here.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        # Written there and read here, at any time: the last step told of, and how many there are.
        self._steps = context.RawArray("q", 2)
        self.process: BaseProcess = context.Process(
            target=_serve, args=(theirs, start, memory, self._steps), daemon=True
        )
        _launch(self.process, start)
        # Only the process itself may hold its end, or its death would not close the pipe.
        theirs.close()

    @property
    def progress(self) -> float | None:
        """How far its work has come, from 0 to 1, as the work itself tells; None until it does."""
        at, total = self._steps
        return min(1.0, at / total) if total else None

    def send(self, item: T) -> None:
        """Send something to work on; the process takes it in even while it works."""
        self._steps[:] = (0, 0)
        self.pipe.send_bytes(pickle.dumps(item, pickle.HIGHEST_PROTOCOL))

    def receive(self) -> R | Failure:
        """Wait for the next result, the first of which is None: ``start`` is done.

        EOFError tells that the process has ended.
        """
        try:
            said, warned = self.pipe.recv()
        except OSError as error:  # so does a connection that was reset
            raise EOFError from error
        for message, category in warned:
            warnings.warn(message, category, stacklevel=2)
        if isinstance(said, RhetoricaError):
            raise said
        found: R | Failure = said
        return found

    @property
    def alive(self) -> bool:
        """Whether the process has not ended."""
        return not wait([self.process.sentinel], 0)

    def kill(self) -> None:
        """End the process now, whatever it does."""
        self.process.kill()

    def close(self) -> None:
        """End the process and forget it."""
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def bury(self) -> str:
        """Forget a process that has ended by itself; tell how."""
        self.process.join(_DYING)  # its end of the pipe is closed a little earlier
        self.close()
        code = self.process.exitcode
        if code is not None and code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with status {code}"


def run(
    start: Start[T, R],
    items: Iterable[T],
    jobs: int,
    *,
    ordered: bool = False,
    small: Callable[[T], bool] = lambda _: True,
    seconds: float = math.inf,
) -> Iterator[tuple[T, R | Failure]]:
    """Work on items in up to ``jobs`` processes; yield each with its result, as they come.

    ``start`` is called once in each process and returns what does the work; both must pickle. An
    item during which a process dies is tried once more, then it is a `Failure`; so is one that
    takes more than ``seconds``, at once. Items are taken only as they are needed: a process gets
    one ahead while those it has are ``small``. With ``ordered`` results come in the order of the
    items, and few wait for their turn.
    """
    pool = _Pool(start, iter(items), jobs, ordered, small, seconds)
    try:
        yield from pool.results()
    finally:
        pool.close()


_launching = Lock()


def _launch(process: BaseProcess, start: Start[Any, Any]) -> None:
    """Start a process; a script that does so needs no ``if __name__ == "__main__"``.

    A spawned process runs the program's main module again, for what is defined there. Where nothing
    of it is needed, there must seem to be none.
    """
    if b"__main__" in pickle.dumps(start):
        process.start()
        return
    with _launching:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            process.start()
        finally:
            sys.modules["__main__"] = main


@dataclass(slots=True)
class _Task(Generic[T]):
    number: int
    item: T
    deaths: int = 0


@dataclass(eq=False, slots=True)
class _Hand(Generic[T, R]):
    """A worker of a pool, and what it has to do."""

    worker: Worker[T, R]
    ready: bool = False
    tasks: deque[_Task[T]] = field(default_factory=deque)
    """Those sent, in order: the first is being worked on."""
    since: float = 0.0
    """When that began."""


class _Pool(Generic[T, R]):
    def __init__(
        self,
        start: Start[T, R],
        items: Iterator[T],
        jobs: int,
        ordered: bool,
        small: Callable[[T], bool],
        seconds: float,
    ) -> None:
        self.start, self.items, self.jobs, self.small = start, items, jobs, small
        self.ordered, self.seconds = ordered, seconds
        self.hands: list[_Hand[T, R]] = []
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
            if not self.pending and not any(hand.tasks for hand in self.hands):
                if not self.more:
                    return
                continue
            heard: dict[Any, _Hand[T, R]] = {}
            for hand in self.hands:
                heard[hand.worker.pipe] = heard[hand.worker.process.sentinel] = hand
            for hand in dict.fromkeys(heard[one] for one in wait(list(heard), self._patience())):
                yield from self._hear(hand)
            yield from self._end_late()

    def close(self) -> None:
        for hand in self.hands:
            hand.worker.kill()
        for hand in self.hands:
            hand.worker.close()

    def _patience(self) -> float | None:
        """Return how long to wait until a process has had its time; None without a limit."""
        since = [hand.since for hand in self.hands if hand.tasks]
        if math.isinf(self.seconds) or not since:
            return None
        return max(0.0, min(since) + self.seconds - time.monotonic())

    def _end_late(self) -> Iterator[tuple[T, R | Failure]]:
        """End processes that take too long for an item, and set the item aside."""
        if math.isinf(self.seconds):
            return
        now = time.monotonic()
        for hand in [h for h in self.hands if h.tasks and now - h.since > self.seconds]:
            if hand.worker.pipe.poll():
                continue  # just done
            self.hands.remove(hand)
            hand.worker.close()
            late = hand.tasks.popleft()
            self.pending.extendleft(reversed(hand.tasks))
            why = f"not done within {self.seconds:g} s: its worker process was ended"
            yield from self._finish(late, Failure("TooSlow", why))

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
        idle = sum(not hand.tasks for hand in self.hands)
        for _ in range(min(self.jobs - len(self.hands), len(self.pending) - idle)):
            self.hands.append(_Hand(Worker(self.start)))

    def _hand_out(self) -> None:
        """Give each process that can work something to do, and a little ahead where it is quick."""
        for ahead in (0, 1):
            for hand in self.hands:
                if not self.pending or not hand.ready or len(hand.tasks) != ahead:
                    continue
                if ahead and not (
                    self.small(hand.tasks[0].item) and self.small(self.pending[0].item)
                ):
                    continue
                task = self.pending.popleft()
                if not hand.tasks:
                    hand.since = time.monotonic()
                hand.tasks.append(task)
                with suppress(OSError):  # if it has died, that will be heard of
                    hand.worker.send(task.item)
            self._take()

    def _hear(self, hand: _Hand[T, R]) -> Iterator[tuple[T, R | Failure]]:
        """Take what a process has to say, be it only that it is no more."""
        try:
            if not hand.worker.pipe.poll():
                raise EOFError
            said = hand.worker.receive()
        except (EOFError, OSError):
            yield from self._bury(hand)
            return
        if hand.ready:
            hand.since = time.monotonic()
            yield from self._finish(hand.tasks.popleft(), said)
        else:
            hand.ready, self.bad_starts = True, 0

    def _bury(self, hand: _Hand[T, R]) -> Iterator[tuple[T, R | Failure]]:
        """Let others do what a process that died has left undone."""
        self.hands.remove(hand)
        how = hand.worker.bury()
        if not hand.ready:
            self.bad_starts += 1
            if self.bad_starts >= _BAD_STARTS:
                raise RhetoricaError(
                    f"worker processes end while they start ({how}): there may be too little "
                    "memory for so many (try fewer jobs)"
                )
        self.pending.extendleft(reversed(hand.tasks))
        if hand.tasks:
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


def _serve(pipe: Connection, start: Start[Any, Any], memory: int, steps: Any) -> None:
    """Be a worker process."""

    def tell(event: Event) -> None:
        if event.total:
            steps[:] = (event.at, event.total)

    _bound(memory)
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
        with listening(tell):
            found = attempt(lambda data: work(pickle.loads(data)), data)
        pipe.send((found, warned))


def _listen(pipe: Connection, inbox: SimpleQueue[bytes]) -> None:
    """Take in work while other work is being done, and end the process when nobody sends any.

    So sending never waits for a busy worker, and no worker outlives the process that started it.
    """
    try:
        while True:
            inbox.put(pipe.recv_bytes())
    except (EOFError, OSError):
        os._exit(0)
    finally:  # no memory for what was sent
        os._exit(1)


def _bound(memory: int) -> None:
    """Bound the memory of this process, where that can be done."""
    if not memory:
        return
    try:
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        least = memory if most == resource.RLIM_INFINITY else min(memory, most)
        resource.setrlimit(resource.RLIMIT_DATA, (least, most))
    except (ImportError, OSError, ValueError):
        return  # another system: it is bounded by what the machine has
