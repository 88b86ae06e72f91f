"""How much a client may ask for: size, time, requests at once."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from rhetorica.errors import RhetoricaError


def _workers() -> int:
    return min(4, os.cpu_count() or 1)


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a service; every one has a clear answer when it is reached.

    ``max_bytes`` of a request (413), ``max_chars`` of a text (413), ``max_batch`` texts in one
    batch (413), ``upload_seconds`` to send a request (408), ``seconds`` to work on it (422),
    ``workers`` requests at a time with ``queue`` more waiting (429).
    """

    max_bytes: int = 16_000_000
    max_chars: int = 1_000_000
    max_batch: int = 256
    upload_seconds: float = 30.0
    seconds: float = 300.0
    workers: int = field(default_factory=_workers)
    queue: int = 64

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            least = 0 if name == "queue" else 1e-9
            if (value := getattr(self, name)) < least:
                raise RhetoricaError(f"the limit {name} is {value}, it must be above 0")


class TooLarge(RhetoricaError):
    """A text beyond the limit."""


class TooSlow(RhetoricaError):
    """Work that was not done within the limit."""


class TooBusy(RhetoricaError):
    """More requests at once than the limit."""
