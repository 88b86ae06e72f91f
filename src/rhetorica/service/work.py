"""Where the work is done: worker processes that time, memory or a client's leaving can end.

The event loop only passes bytes on, so that nothing a client sends can hold it up. There are two
lanes with a queue each: large requests never take the last place, so that small ones need not wait
for them. A process that is ended, or ends, is replaced; until then a spare one takes its place.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from rhetorica.errors import RhetoricaError
from rhetorica.service.limits import Limits, OutOfMemory, TooBusy, TooSlow, WorkerDied
from rhetorica.workers import Failure, Start, Worker

T = TypeVar("T")
R = TypeVar("R")

Status = Literal["ok", "busy", "failing"]
_TRIES = 2
_GRACE = 1.0
"""Small work is let run for so many seconds when nobody waits for it any more: a new process costs
more than that, and whoever asks and leaves, again and again, should not get one each time."""
_LONGEST_WAIT = 60


class Workers(Generic[T, R]):
    """Worker processes, seen from the event loop; ``start`` is called once in each.

    ``replaced`` counts those that were ended, or ended by themselves.
    """

    def __init__(self, start: Start[T, R], limits: Limits) -> None:
        self.limits = limits
        self.replaced = 0
        self._start = start
        self._places = [_Place[T, R]() for _ in range(limits.workers + limits.spare)]
        self._free = list(self._places)
        self._small = _Lane[T, R](limits.workers)
        self._large = _Lane[T, R](max(1, limits.workers - 1))
        self._arrivals = 0
        self._mean = 1.0
        self._failing = self._closing = False
        self._named: dict[str, _Turn[T, R]] = {}
        self._chores: set[asyncio.Task[None]] = set()
        self._threads: ThreadPoolExecutor | None = None

    @property
    def running(self) -> int:
        """How many requests are being worked on."""
        return self._small.taken + self._large.taken

    @property
    def waiting(self) -> int:
        """How many requests wait for a place."""
        return len(self._small.waiting) + len(self._large.waiting)

    @property
    def alive(self) -> int:
        """How many processes can work, or do."""
        return sum(place.alive for place in self._places)

    @property
    def status(self) -> Status:
        """Whether the next request is taken ("ok"), refused for now ("busy") or lost."""
        if self._failing and not self.alive:
            return "failing"
        has_room = bool(self._free) and self.running < self.limits.workers
        return "ok" if has_room or len(self._small.waiting) < self.limits.queue else "busy"

    def warm(self) -> None:
        """Start all processes now, so that no request waits for one."""
        while self._free:
            self._later(self._tidy(self._free.pop()))

    def progress(self, name: str) -> float | None:
        """Tell how far the work of this name has come, from 0 to 1; None if that is not known."""
        turn = self._named.get(name)
        worker = turn.place.worker if turn is not None else None
        return worker.progress if worker is not None else None

    async def run(self, item: T, *, large: bool = False, name: str = "") -> R:
        """Do something in a process; refuse if too many wait, end it if it takes too long.

        When the task that awaits this is cancelled, what it has begun is ended, too. By its
        ``name``, if it has one, `progress` can be asked for meanwhile.
        """
        lane = self._large if large else self._small
        turn = _Turn(await self._take(lane))
        if name:
            self._named[name] = turn
        grace = 0.0
        began = time.monotonic()
        try:
            result = await self._work(turn, item)
            self._mean += 0.1 * (time.monotonic() - began - self._mean)
            return result
        except asyncio.CancelledError:
            grace = 0.0 if large else _GRACE
            raise
        finally:
            lane.taken -= 1
            if self._named.get(name) is turn:
                del self._named[name]
            place = turn.place
            if place.ready and place.thread is not None and place.thread.done():
                self._give_back(place)
            else:
                self._later(self._tidy(place, grace))

    async def close(self) -> None:
        """End all processes, and what they do; the next request would start new ones."""
        self._closing = True
        while True:
            for place in self._places:
                place.kill()
            if not self._chores and not self.running:
                break
            await asyncio.sleep(0.02)  # those who wait for a process are told that it has ended
        for place in self._places:
            if place.worker is not None:
                await self._thread(place, self._bury, place)
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None
        self._closing = False

    async def _work(self, turn: _Turn[T, R], item: T) -> R:
        """Have it done by the process at a place, if need be by another one after it."""
        end = math.inf
        trouble: RhetoricaError | None = None
        for _ in range(_TRIES):
            place = turn.place = self._able(turn.place)
            await self._thread(place, self._prepare, place)
            # Starting a process is our own affair and does not count.
            end = min(end, time.monotonic() + self.limits.seconds)
            try:
                found = await self._thread(place, place.ask, item, until=end)
            except TimeoutError:
                raise TooSlow(
                    f"not done within {self.limits.seconds:g} s, the most that this service spends "
                    "on a request: send a shorter text, or start it with a higher --timeout"
                ) from None
            except EOFError:
                how = await self._thread(place, self._bury, place)
                trouble = WorkerDied(
                    f"{_TRIES} worker processes ended while they worked on this; the last {how}"
                )
                continue
            if not isinstance(found, Failure):
                result: R = found
                return result
            if found.error != "MemoryError":
                raise RuntimeError(f"{found.error}: {found.message}")
            # The process may hold what earlier work needed: a fresh one tells.
            place.kill()
            await self._thread(place, self._bury, place)
            trouble = OutOfMemory(
                f"this needs more than {self.limits.memory:,} MB, the most that a worker process "
                "may have: send a shorter text, or start the service with a higher --memory"
            )
        assert trouble is not None
        raise trouble

    async def _take(self, lane: _Lane[T, R]) -> _Place[T, R]:
        """Wait for a place."""
        self._arrivals += 1
        ticket = _Ticket[T, R](self._arrivals, asyncio.get_running_loop().create_future())
        lane.waiting.append(ticket)
        self._replace_the_dead()
        self._assign()
        try:
            if not ticket.turn.done():
                if len(lane.waiting) > self.limits.queue:
                    raise self._too_busy(lane, f"{self.running} requests are being worked on")
                await asyncio.wait([ticket.turn], timeout=self.limits.wait_seconds)
                if not ticket.turn.done():
                    raise self._too_busy(lane, f"none ended within {self.limits.wait_seconds:g} s")
            return ticket.turn.result()
        except BaseException:
            if ticket.turn.done():
                lane.taken -= 1
                self._give_back(ticket.turn.result())
            else:
                lane.waiting.remove(ticket)
            raise

    def _assign(self) -> None:
        """Give free places to those who may have one, in the order in which they came."""
        while self._free and self.running < self.limits.workers:
            usable = len(self._free) + self.running  # the others are being tidied
            is_last = usable == self._large.taken + 1 < len(self._places)
            lanes = [self._small] if is_last else [self._small, self._large]
            lane = min(lanes, key=lambda lane: lane.first)
            if lane.first == math.inf:
                return
            lane.taken += 1
            # The one that was used last has what it loaded at hand.
            place = max(reversed(self._free), key=lambda place: place.ready)
            self._free.remove(place)
            lane.waiting.popleft().turn.set_result(place)

    def _able(self, place: _Place[T, R]) -> _Place[T, R]:
        """Return a place, or a free one that is ready if it is not; it is tidied meanwhile."""
        if place.ready or not (others := [other for other in self._free if other.alive]):
            return place
        self._free.remove(others[-1])
        self._later(self._tidy(place))
        return others[-1]

    def _replace_the_dead(self) -> None:
        """Replace processes that have ended with nothing to do."""
        for place in [place for place in self._free if place.ready and not place.alive]:
            self._free.remove(place)
            self._later(self._tidy(place))

    def _give_back(self, place: _Place[T, R]) -> None:
        self._free.append(place)
        self._assign()

    async def _tidy(self, place: _Place[T, R], grace: float = 0.0) -> None:
        """End what still runs at a place, replace a process that has ended, and give it back."""
        if place.thread is not None and not place.thread.done():
            # One that only starts has nothing to be ended for.
            await asyncio.wait([place.thread], timeout=grace if place.ready else None)
            if not place.thread.done():
                place.kill()
                await asyncio.wait([place.thread])
                await self._thread(place, self._bury, place)
        if place.ready and not place.alive:
            await self._thread(place, self._bury, place)
        if not place.ready and not self._failing and not self._closing:
            with suppress(RhetoricaError):  # else the next request tries again, and is told
                await self._thread(place, self._prepare, place)
        self._free.insert(0, place)
        self._assign()

    def _prepare(self, place: _Place[T, R]) -> None:
        """Have a process that can work; waits until it can.

        One that ends while it starts may have been killed by somebody else, two are a reason.
        """
        if place.ready:
            return
        how = ""
        for _ in range(_TRIES):
            if self._closing:
                raise WorkerDied("the service is being stopped")
            place.worker = Worker(self._start, memory=self.limits.memory * 1_000_000)
            try:
                place.worker.receive()
            except EOFError:
                how = self._bury(place)
            except RhetoricaError:
                self._bury(place)
                self._failing = True
                raise
            else:
                place.ready, self._failing = True, False
                return
        self._failing = True
        raise WorkerDied(f"worker processes end while they start ({how})")

    def _bury(self, place: _Place[T, R]) -> str:
        """Forget a process that has ended; tell how it did."""
        assert place.worker is not None
        worker, place.worker, place.ready = place.worker, None, False
        self.replaced += 1
        return worker.bury()

    async def _thread(
        self,
        place: _Place[T, R],
        function: Callable[..., Any],
        *arguments: Any,
        until: float = math.inf,
    ) -> Any:
        """Call something that waits, in a thread; a place has one at a time."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(len(self._places), thread_name_prefix="rhetorica")
        loop = asyncio.get_running_loop()
        thread = place.thread = loop.run_in_executor(self._threads, function, *arguments)
        # Whoever is cancelled does not look at the outcome any more.
        thread.add_done_callback(lambda done: done.cancelled() or done.exception())
        timeout = None if until == math.inf else max(0.0, until - time.monotonic())
        await asyncio.wait([thread], timeout=timeout)
        if not thread.done():
            raise TimeoutError
        return thread.result()

    def _later(self, chore: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(chore)
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)

    def _too_busy(self, lane: _Lane[T, R], why: str) -> TooBusy:
        seconds = min(_LONGEST_WAIT, math.ceil(self._mean * len(lane.waiting) / lane.most))
        return TooBusy(f"{why} and {self.waiting - 1} wait: try again later", seconds)


@dataclass(eq=False, slots=True)
class _Place(Generic[T, R]):
    """Room for one process, which is started when it is needed."""

    worker: Worker[T, R] | None = None
    ready: bool = False
    thread: asyncio.Future[Any] | None = None

    @property
    def alive(self) -> bool:
        """Whether there is a process that can work."""
        worker = self.worker
        return self.ready and worker is not None and worker.alive

    def ask(self, item: T) -> R | Failure:
        """Send work and wait for its result."""
        assert self.worker is not None
        try:
            self.worker.send(item)
        except OSError as error:
            raise EOFError from error
        return self.worker.receive()

    def kill(self) -> None:
        """End the process; whoever waits for it is told by an EOFError."""
        if self.worker is not None:
            self.worker.kill()


@dataclass(slots=True)
class _Turn(Generic[T, R]):
    """The place where a request is worked on, which may change."""

    place: _Place[T, R]


@dataclass(eq=False, slots=True)
class _Ticket(Generic[T, R]):
    number: int
    turn: asyncio.Future[_Place[T, R]]


@dataclass(slots=True)
class _Lane(Generic[T, R]):
    """Those who wait for a place, in order; ``most`` of them may have one at a time."""

    most: int
    taken: int = 0
    waiting: deque[_Ticket[T, R]] = field(default_factory=deque)

    @property
    def first(self) -> float:
        """The number of the first who waits, if a place may be had."""
        return self.waiting[0].number if self.waiting and self.taken < self.most else math.inf
