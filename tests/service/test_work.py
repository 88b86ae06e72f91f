"""Worker processes behind the service: what ends them, who waits for whom, what is told."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rhetorica.errors import RhetoricaError
from rhetorica.service.limits import Limits, OutOfMemory, TooBusy, TooSlow, WorkerDied
from rhetorica.service.work import Workers
from service_fakes import start, start_badly, start_but_once, start_never, start_unless

Scene = Callable[[Workers[str, str]], Awaitable[None]]


_others: set[int | None] = set()


@pytest.fixture(autouse=True)
def _know_others() -> None:
    """Remember the processes and threads of servers that other tests keep."""
    _others.clear()
    _others.update(one.pid for one in multiprocessing.active_children())
    _others.update(one.ident for one in threading.enumerate())


def children() -> list[Any]:
    """Return the processes that began in this test."""
    return [one for one in multiprocessing.active_children() if one.pid not in _others]


def play(scene: Scene, begin: Any = start, **limits: Any) -> None:
    """Do something with workers, in an event loop of its own; then they end, and leave nothing."""
    limits = {"workers": 1, "spare": 0, "seconds": 30.0, "memory": 0, **limits}

    unheard: list[dict[str, Any]] = []

    async def whole() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, about: unheard.append(about))
        workers: Workers[str, str] = Workers(begin, Limits(**limits))
        try:
            await scene(workers)
        finally:
            await workers.close()
            assert workers.alive == 0

    asyncio.run(whole())
    gc.collect()
    assert not unheard
    assert not children()
    threads = [one for one in threading.enumerate() if one.ident not in _others]
    assert not [one for one in threads if one.name.startswith("rhetorica")]


def begun(work: Coroutine[Any, Any, str]) -> asyncio.Task[str]:
    return asyncio.create_task(work)


async def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def is_gone(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    return False


def test_a_process_is_started_when_needed_and_kept() -> None:
    async def scene(workers: Workers[str, str]) -> None:
        assert (workers.alive, workers.status) == (0, "ok")
        first = await workers.run("a")
        assert first == await workers.run("b", large=True)
        assert (workers.alive, workers.running, workers.waiting, workers.replaced) == (1, 0, 0, 0)
        with pytest.raises(RuntimeError, match=r"KeyError: 'bug' \(in do, .*service_fakes.py"):
            await workers.run("BUG")
        assert await workers.run("c") == first
        await workers.close()
        await until(lambda: is_gone(first))
        assert await workers.run("d") != first

    play(scene)


def test_warm_workers_are_there_before_they_are_needed() -> None:
    async def scene(workers: Workers[str, str]) -> None:
        workers.warm()
        await until(lambda: workers.alive == 2)
        assert workers.running == 0
        found = await asyncio.gather(workers.run("SLEEP=0.2"), workers.run("SLEEP=0.2"))
        assert len(set(found)) == 2

    play(scene, workers=2)


def test_how_far_work_has_come_can_be_asked(tmp_path: Path) -> None:
    go, on = tmp_path / "go", tmp_path / "on"

    async def scene(workers: Workers[str, str]) -> None:
        told = f"UNTIL={go} TELL=1/4 UNTIL={on} TELL=4/4"
        work = begun(workers.run(told, name="mine"))
        await until(lambda: workers.alive == 1)
        assert workers.progress("mine") is None
        go.touch()
        await until(lambda: workers.progress("mine") == 0.25)
        assert workers.progress("other's") is None
        on.touch()
        await work
        assert workers.progress("mine") is None
        # The next work at the same place begins anew; one without a name cannot be asked.
        on.unlink()
        again = begun(workers.run(f"UNTIL={on}", name="next"))
        await until(lambda: workers.running == 1)
        await until(lambda: workers.progress("next") is None)
        on.touch()
        await again
        await workers.run("TELL=1/2")
        assert workers.progress("") is None

    play(scene)


def test_what_takes_too_long_is_ended_and_its_process_replaced(tmp_path: Path) -> None:
    async def scene(workers: Workers[str, str]) -> None:
        first = await workers.run("a")
        with pytest.raises(TooSlow, match=r"not done within 0\.5 s.*--timeout"):
            await workers.run(f"SLEEP=1.5 TOUCH={tmp_path / 'late'}")
        assert workers.running == 0
        await until(lambda: is_gone(first))
        second = await workers.run("b")
        assert second != first
        assert workers.replaced == 1
        await asyncio.sleep(1.2)
        assert not (tmp_path / "late").exists()

    play(scene, seconds=0.5)


def test_the_limit_of_time_is_kept_however_short_it_is() -> None:
    async def scene(workers: Workers[str, str]) -> None:
        workers.warm()
        await until(lambda: workers.alive == 1)
        with pytest.raises(TooSlow):
            await workers.run("SLEEP=0.8")

    play(scene, seconds=0.05)


def test_nobody_is_left_who_wants_it(tmp_path: Path) -> None:
    at_work, late = tmp_path / "at-work", tmp_path / "late"

    async def scene(workers: Workers[str, str]) -> None:
        first = await workers.run("a")
        # Small work may end by itself: to replace a process would cost more.
        small = begun(workers.run(f"TOUCH={at_work} SLEEP=0.05"))
        await until(at_work.exists)
        small.cancel()
        await until(small.done)
        assert small.cancelled()
        assert workers.running == 0
        assert await workers.run("b") == first
        at_work.unlink()
        large = begun(workers.run(f"TOUCH={at_work} SLEEP=60 TOUCH={late}", large=True))
        await until(at_work.exists)
        assert workers.running == 1
        large.cancel()
        await until(lambda: is_gone(first))
        assert workers.running == 0
        second = await workers.run("c")
        at_work.unlink()
        small = begun(workers.run(f"TOUCH={at_work} SLEEP=60 TOUCH={late}"))
        await until(at_work.exists)
        small.cancel()
        began = time.monotonic()
        await until(lambda: is_gone(second))
        assert time.monotonic() - began < 30
        assert not late.exists()
        assert workers.replaced == 2

    play(scene)


def test_who_dies_is_replaced_and_the_work_tried_again(tmp_path: Path) -> None:
    async def scene(workers: Workers[str, str]) -> None:
        first = await workers.run("a")
        second = await workers.run(f"KILL-ONCE={tmp_path / 'killed'}")
        assert second != first
        with pytest.raises(WorkerDied, match=r"2 worker processes ended .* SIGKILL"):
            await workers.run("KILL")
        assert workers.status == "ok"
        third = await workers.run("b")
        os.kill(int(third), 9)  # one that has nothing to do
        await until(lambda: workers.alive == 0)
        assert await workers.run("c") != third
        assert workers.replaced == 4

    play(scene)


def test_memory_is_bounded() -> None:
    pytest.importorskip("resource", reason="needs limits of memory")

    async def scene(workers: Workers[str, str]) -> None:
        await workers.run("EAT=50")
        with pytest.raises(OutOfMemory, match=r"more than 400 MB.*--memory"):
            await workers.run("EAT=500")
        await workers.run("EAT=50")
        assert workers.replaced == 2  # it was tried in a fresh one, too

    play(scene, memory=400)


def test_small_requests_do_not_wait_for_large_ones(tmp_path: Path) -> None:
    end = tmp_path / "end"

    async def scene(workers: Workers[str, str]) -> None:
        large = [begun(workers.run(f"SLEEP=60 TOUCH={end}", large=True)) for _ in range(3)]
        small = [await workers.run("a") for _ in range(3)]
        assert len(set(small)) == 1
        assert (workers.running, workers.waiting, workers.status) == (1, 2, "ok")
        large[1].cancel()  # one that waits
        await until(lambda: workers.waiting == 1)
        large[0].cancel()
        await until(lambda: large[0].done() and workers.waiting == 0)
        assert (workers.running, large[2].done()) == (1, False)
        large[2].cancel()

    play(scene, workers=2)


async def abandoned(workers: Workers[str, str], folder: Path) -> None:
    """Have a process ended, and hold up all that are to start: see `start_unless`."""
    (folder / "hold").touch()
    task = begun(workers.run(f"TOUCH={folder / 'begun'} SLEEP=60", large=True))
    await until((folder / "begun").exists)
    task.cancel()
    await until(task.done)


def test_a_spare_process_takes_the_place_of_one_that_ends(tmp_path: Path) -> None:
    async def scene(workers: Workers[str, str]) -> None:
        workers.warm()
        await until(lambda: workers.alive == 2)
        first = await workers.run("a")
        assert [await workers.run("a") for _ in range(2)] == [first, first]
        # While another one starts, which takes long:
        await abandoned(workers, tmp_path)
        second = await workers.run("b")
        assert second != first
        assert (workers.alive, workers.running, workers.status) == (1, 0, "ok")
        (tmp_path / "hold").unlink()
        await until(lambda: workers.alive == 2)
        (tmp_path / "hold").touch()
        third = await workers.run(f"KILL-ONCE={tmp_path / 'killed'}")
        assert third not in (first, second)
        assert workers.alive == 1
        (tmp_path / "hold").unlink()
        await until(lambda: workers.alive == 2)
        assert workers.replaced == 2
        # They stand in for each other, they do not work at the same time.
        both = [begun(workers.run("SLEEP=0.3", large=large)) for large in (False, True)]
        await until(lambda: workers.running == 1)
        assert workers.waiting == 1
        assert await both[0] == await both[1]

    play(scene, partial(start_unless, str(tmp_path / "hold")), spare=1)


def test_a_spare_process_works_for_one_at_a_time(tmp_path: Path) -> None:
    at_work, killed, end = (tmp_path / name for name in ("at-work", "killed", "end"))

    async def scene(workers: Workers[str, str]) -> None:
        workers.warm()
        await until(lambda: workers.alive == 3)
        (tmp_path / "hold").touch()
        told = f"KILL-ONCE={killed} TOUCH={at_work} UNTIL={end}"
        first = begun(workers.run(told))
        await until(at_work.exists)  # in the spare process
        second = await asyncio.wait_for(workers.run("b"), 30)
        end.touch()
        assert await first != second

    play(scene, partial(start_unless, str(tmp_path / "hold")), workers=2, spare=1)


def test_a_spare_process_is_not_started_before_it_is_needed() -> None:
    async def scene(workers: Workers[str, str]) -> None:
        first = await workers.run("a")
        assert await workers.run("b") == first
        await asyncio.sleep(0.5)
        assert (workers.alive, len(children())) == (1, 1)

    play(scene, spare=1)


def test_an_idle_process_that_dies_is_replaced() -> None:
    async def scene(workers: Workers[str, str]) -> None:
        workers.warm()
        await until(lambda: workers.alive == 2)
        first = await workers.run("a")
        os.kill(int(first), 9)
        await until(lambda: workers.alive == 1)
        second = await workers.run("b")
        await until(lambda: workers.alive == 2)
        assert (second == first, workers.replaced) == (False, 1)

    play(scene, spare=1)


def test_large_requests_leave_the_last_process_that_works_to_small_ones(tmp_path: Path) -> None:
    hold = tmp_path / "hold"

    async def scene(workers: Workers[str, str]) -> None:
        workers.warm()
        await until(lambda: workers.alive == 2)
        hold.touch()
        os.kill(int(await workers.run("a")), 9)
        await until(lambda: workers.alive == 1)
        large = begun(workers.run("SLEEP=60", large=True))
        await until(lambda: workers.waiting == 1)
        small = [await workers.run("b") for _ in range(3)]
        assert (workers.waiting, workers.running, large.done()) == (1, 0, False)
        hold.unlink()
        await until(lambda: workers.running == 1)
        await workers.run("c")
        assert (len(set(small)), large.done()) == (1, False)
        large.cancel()

    play(scene, partial(start_unless, str(hold)), workers=2)


def test_the_order_of_arrival_is_kept() -> None:
    async def scene(workers: Workers[str, str]) -> None:
        done: list[str] = []

        async def one(name: str, large: bool) -> None:
            await workers.run("SLEEP=0.01", large=large)
            done.append(name)

        await asyncio.gather(one("a", False), one("b", True), one("c", False), one("d", True))
        assert done == ["a", "b", "c", "d"]

    play(scene)


@pytest.mark.parametrize(("queue", "spare"), [(0, 0), (0, 1), (1, 0)])
def test_queues_are_bounded(queue: int, spare: int) -> None:
    async def scene(workers: Workers[str, str]) -> None:
        await workers.run("a")
        tasks = [begun(workers.run("SLEEP=60")) for _ in range(1 + queue)]
        await until(lambda: (workers.running, workers.waiting) == (1, queue))
        assert workers.status == "busy"
        with pytest.raises(TooBusy, match=f"1 requests .* and {queue} wait") as refused:
            await workers.run("b")
        assert 1 <= refused.value.seconds <= 60
        assert workers.waiting == queue
        if queue:  # the other lane has a queue of its own
            tasks.append(begun(workers.run("c", large=True)))
            await until(lambda: workers.waiting == 2)
        for task in tasks:
            task.cancel()
        await until(lambda: (workers.running, workers.waiting, workers.status) == (0, 0, "ok"))

    play(scene, queue=queue, spare=spare)


def refusal_of(workers: Workers[str, str], tasks: list[asyncio.Task[str]]) -> TooBusy:
    """Return the one refusal among requests, all of which have been made."""
    (found,) = [task.exception() for task in tasks if task.done()]
    assert isinstance(found, TooBusy)
    for task in tasks:
        task.cancel()
    return found


@pytest.mark.parametrize(
    ("workers", "queue", "large", "seconds"),
    [(1, 3, False, 4), (3, 3, True, 2), (1, 64, False, 60)],  # a second each, so many at a time
)
def test_when_to_come_back(workers: int, queue: int, large: bool, seconds: int) -> None:
    async def scene(workers: Workers[str, str]) -> None:
        at_once = 2 if large else 1
        tasks = [begun(workers.run("a", large=large)) for _ in range(at_once + queue + 1)]
        await until(lambda: tasks[-1].done())
        assert refusal_of(workers, tasks).seconds == seconds

    play(scene, workers=workers, queue=queue)


def test_when_to_come_back_follows_how_long_work_takes() -> None:
    async def scene(workers: Workers[str, str]) -> None:
        workers.warm()
        await until(lambda: workers.alive == 1)
        for _ in range(10):  # at once, where a second was expected: each time a tenth less
            await workers.run("a")
        tasks = [begun(workers.run("SLEEP=60")) for _ in range(41)]
        await until(lambda: tasks[-1].done())
        assert 12 <= refusal_of(workers, tasks).seconds <= 30

    play(scene, queue=39)


def test_waiting_has_an_end_and_an_answer_of_its_own() -> None:
    async def scene(workers: Workers[str, str]) -> None:
        await workers.run("a")
        slow = begun(workers.run("SLEEP=60"))
        await until(lambda: workers.running == 1)
        with pytest.raises(TooBusy, match=r"none ended within 0\.3 s and 0 wait"):
            await workers.run("b")
        assert (workers.running, workers.waiting) == (1, 0)
        slow.cancel()

    play(scene, wait_seconds=0.3)


def test_workers_that_do_not_start_are_told_of(tmp_path: Path) -> None:
    async def never(workers: Workers[str, str]) -> None:
        with pytest.raises(WorkerDied, match=r"end while they start \(ended with status 3\)"):
            await workers.run("a")
        assert (workers.status, workers.running) == ("failing", 0)

    async def once(workers: Workers[str, str]) -> None:
        with pytest.raises(RhetoricaError, match="no such model"):
            await workers.run("a")
        await asyncio.sleep(0.1)
        await until(lambda: not children())
        assert len(list(tmp_path.iterdir())) == 1  # the next request tries again, nobody else

    async def badly(workers: Workers[str, str]) -> None:
        with pytest.raises(RhetoricaError, match="no such model"):
            await workers.run("a")
        assert workers.status == "failing"

    play(never, start_never)
    play(badly, start_badly)
    play(once, partial(start_badly, str(tmp_path)))


def test_a_process_that_is_killed_while_it_starts_is_no_failure(tmp_path: Path) -> None:
    async def scene(workers: Workers[str, str]) -> None:
        workers.warm()
        await until(lambda: workers.alive == 1)
        assert (workers.status, workers.replaced) == ("ok", 1)
        await workers.run("a")

    play(scene, partial(start_but_once, str(tmp_path / "died")))


def test_who_leaves_just_when_it_is_their_turn_gives_the_place_back() -> None:
    async def scene(workers: Workers[str, str]) -> None:
        first = begun(workers.run("SLEEP=0.2"))
        second = begun(workers.run("a"))
        await until(lambda: workers.waiting == 1)
        first.add_done_callback(lambda _: second.cancel())
        await first
        await until(second.done)
        assert (workers.running, workers.waiting) == (0, 0)
        assert await asyncio.wait_for(workers.run("b"), 30) == first.result()

    play(scene)


def test_closing_while_a_process_is_replaced(tmp_path: Path) -> None:
    async def scene(workers: Workers[str, str]) -> None:
        await workers.run("a")
        await abandoned(workers, tmp_path)
        await workers.close()
        assert not children()
        (tmp_path / "hold").unlink()
        await workers.run("b")

    play(scene, partial(start_unless, str(tmp_path / "hold")))


def test_closing_ends_what_runs_and_what_waits() -> None:
    async def scene(workers: Workers[str, str]) -> None:
        first = await workers.run("a")
        tasks = [begun(workers.run("SLEEP=60")) for _ in range(3)]
        await until(lambda: (workers.running, workers.waiting) == (1, 2))
        await workers.close()
        assert (workers.running, workers.waiting, workers.alive) == (0, 0, 0)
        assert is_gone(first)
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(error) for error in found] == [WorkerDied] * 3

    play(scene)
