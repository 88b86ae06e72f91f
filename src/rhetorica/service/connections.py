"""Connections: so many at a time, none idle for long, none that is never read from.

An HTTP server waits for whoever has opened a connection. One client could open hundreds, send
nothing, and shut everybody else out. So the clock runs for every connection, and where there is no
room for a new one, the one that has been idle longest makes room.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from rhetorica.service.limits import Limits

BACKLOG = 128
"""So many are accepted in one go, before any of them is counted."""
_OTHER_FILES = 128
_SLOWEST = 1_000
"""Whoever takes fewer bytes a second of an answer is taken to be gone."""


def bounded(limits: Limits) -> type[H11Protocol]:
    """Return the protocol of connections within limits."""
    most = min(limits.connections, _descriptors() - BACKLOG - _OTHER_FILES)
    seconds = limits.idle_seconds

    class Bounded(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._unsent = 0
            self._restart()
            if len(self.connections) > max(1, most):
                others: Any = self.connections
                idle = [other for other in others if other.is_idle]
                # If nobody else is idle, the newcomer is.
                min(idle, key=lambda other: other.since).transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            self._clock.cancel()
            super().connection_lost(exc)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._clock.cancel()
            self._restart()

        @property
        def is_idle(self) -> bool:
            """Whether no request is being worked on, be it that its head is not complete."""
            return self.cycle is None or self.cycle.response_complete

        def _restart(self) -> None:
            self.since = time.monotonic()
            self._clock = asyncio.get_running_loop().call_later(seconds, self._look)

        def _look(self) -> None:
            """Close a connection without a request, or whose client takes none of the answer."""
            before, self._unsent = self._unsent, self.transport.get_write_buffer_size()
            is_stuck = before > 0 and before - self._unsent < min(before, _SLOWEST * seconds)
            if is_stuck or (self.is_idle and not self._unsent):
                self.transport.abort()
            else:
                self._restart()

    return Bounded


def _descriptors() -> int:
    """Return how many files and connections this process may have open."""
    try:
        import resource
    except ImportError:  # not on every system
        return 1024
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
