"""How far a long work has come: the one thing that trainings and parsers tell whoever listens.

The library never prints. What learns takes ``tell``, a function that hears `Event`s; by default
nobody listens. What parses has no such argument, so that all parsers are called alike: it tells
whoever is `listening` around the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """What is being done, the step reached out of how many, and what is to be said about it.

    Without ``total`` it is a finding rather than a step, such as the scores of a model.

    >>> print(Event("epoch 2", 7, 20), Event("dev", note="full 41.30"), sep="; ")
    epoch 2: 7 of 20; dev: full 41.30
    """

    what: str
    at: int = 0
    total: int = 0
    note: str = ""

    def __str__(self) -> str:
        step = f"{self.at} of {self.total}" if self.total else ""
        said = ", ".join(part for part in (step, self.note) if part)
        return f"{self.what}: {said}" if said else self.what


Tell = Callable[[Event], None]


def nothing(_event: Event) -> None:
    """Hear an event and keep it to oneself."""


_listener: ContextVar[Tell] = ContextVar("listener", default=nothing)


@contextmanager
def listening(tell: Tell) -> Iterator[None]:
    """Have ``tell`` hear how far the parsing has come that is done in this block.

    >>> heard = []
    >>> with listening(heard.append):
    ...     announce(Event("reading", 1, 2))
    >>> announce(Event("reading", 2, 2))  # nobody listens any more
    >>> print(*heard)
    reading: 1 of 2
    """
    before = _listener.set(tell)
    try:
        yield
    finally:
        _listener.reset(before)


def announce(event: Event) -> None:
    """Tell an event to whoever listens around this call."""
    _listener.get()(event)


def steps(tell: Tell, what: str, total: int, figure: str = "loss") -> Callable[[int, float], None]:
    """Return a function that tells the number of a step and a figure, as learners give them."""
    return lambda at, value: tell(Event(what, at, total, f"{figure} {value:,.4g}"))
