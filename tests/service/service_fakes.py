"""Work for worker processes that needs no model; the words of a text say how it goes."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from rhetorica.errors import RhetoricaError
from rhetorica.progress import Event, announce
from rhetorica.service.limits import Limits
from rhetorica.service.messages import Answer, Task, as_json


def do(told: str) -> str:
    """Do what the words say; return the id of this process."""
    for word in told.split():
        name, _, value = word.partition("=")
        if name == "SLEEP":
            time.sleep(float(value))
        while name == "UNTIL" and not Path(value).exists():
            time.sleep(0.02)
        if name == "TOUCH":
            Path(value).touch()
        if name == "TELL":  # so many steps of how many
            announce(Event("reading", *map(int, value.split("/"))))
        if name == "KILL" or (name == "KILL-ONCE" and not Path(value).exists()):
            if value:
                Path(value).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "EAT":  # so many MB
            bytearray(int(value) * 1_000_000)
        if name == "BUG":
            raise KeyError("bug")
    return str(os.getpid())


def start() -> Callable[[str], str]:
    return do


def start_unless(hold: str) -> Callable[[str], str]:
    """Start as soon as a file is not there."""
    while Path(hold).exists():
        time.sleep(0.02)
    return do


def start_badly(folder: str = "") -> Callable[[str], str]:
    """Do not start; leave a file behind each time."""
    if folder:
        Path(folder, str(os.getpid())).touch()
    raise RhetoricaError("no such model")


def start_but_once(died: str) -> Callable[[str], str]:
    """Die at the first start."""
    if not Path(died).exists():
        Path(died).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return do


def start_never() -> Callable[[str], str]:
    os._exit(3)


def start_timed() -> Callable[[Task], tuple[float, float]]:
    """Be a real worker that tells how much CPU its start took, and what it was asked."""
    from rhetorica.service.tasks import start as start_worker  # loads much

    work = start_worker(Limits(), warm=True)
    start = time.process_time()

    def timed(task: Task) -> tuple[float, float]:
        begin = time.process_time()
        work(task)
        return start, time.process_time() - begin

    return timed


def start_service() -> Callable[[Task], Answer]:
    """Answer requests with what they said; LONG=5 gives an answer of 5 MB."""
    return _answer


def _answer(task: Task) -> Answer:
    told = json.loads(task.body)["content"]
    if told.startswith("LONG="):
        return Answer(b"x" * int(told[5:]) * 1_000_000)
    return as_json({"pid": do(told), "told": told})
