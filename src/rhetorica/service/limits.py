"""How much a client may ask for: size, time, requests at once."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from rhetorica.errors import RhetoricaError


def _workers() -> int:
    return max(2, min(4, os.cpu_count() or 1))


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a service; every one has a clear answer when it is reached.

    ``max_bytes`` of a request (413), ``max_chars`` of a text (413), ``max_batch`` texts in one
    batch (413), ``upload_seconds`` to send a request (408), ``seconds`` to work on it (422),
    ``memory`` of a worker process in MB, 0 for any (413), ``workers`` requests at a time with
    ``queue`` more waiting of those that have up to ``small_bytes``, and as many of those that have
    more, each for up to ``wait_seconds`` (429), ``spare`` processes more than that, to take the
    place of one that has ended, ``connections`` at a time (one that is idle is closed for a new
    one), ``idle_seconds`` for a connection without a request, or whose answer is not read.
    """

    max_bytes: int = 16_000_000
    max_chars: int = 1_000_000
    max_batch: int = 256
    upload_seconds: float = 30.0
    seconds: float = 300.0
    memory: int = 4_000
    workers: int = field(default_factory=_workers)
    spare: int = 1
    queue: int = 64
    wait_seconds: float = 60.0
    small_bytes: int = 20_000
    connections: int = 400
    idle_seconds: float = 15.0

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            least = 0 if name in ("queue", "memory", "spare") else 1e-9
            if (value := getattr(self, name)) < least:
                raise RhetoricaError(f"the limit {name} is {value}, it must be above 0")


class TooLarge(RhetoricaError):
    """A text beyond the limit."""


class TooSlow(RhetoricaError):
    """Work that was not done within the limit."""


class TooBusy(RhetoricaError):
    """More requests at once than the limit; worth trying again after ``seconds``."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class OutOfMemory(RhetoricaError):
    """Work that needs more memory than the limit."""


class WorkerDied(RhetoricaError):
    """Work that processes die of."""
