"""Run the application: start, and stop without dropping what is running."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from fastapi import FastAPI

from rhetorica.errors import RhetoricaError
from rhetorica.service.connections import BACKLOG, bounded
from rhetorica.service.limits import Limits


def configured(app: FastAPI, limits: Limits) -> uvicorn.Config:
    """Return how the application is run; what runs when it is stopped may take its time."""
    return uvicorn.Config(
        app,
        http=bounded(limits),
        ws="none",
        backlog=BACKLOG,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=math.ceil(limits.seconds),
    )


def run(
    app: FastAPI, host: str, port: int, *, limits: Limits, started: Callable[[str], None] | None
) -> None:
    """Serve until SIGTERM or SIGINT; what is running then is finished."""
    config = configured(app, limits)
    with listen(host, port) as listener, suppress(KeyboardInterrupt):
        if started:
            shown = f"[{host}]" if ":" in host else host
            started(f"http://{shown}:{listener.getsockname()[1]}")
        uvicorn.Server(config).run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """Open a socket that clients can connect to; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise RhetoricaError(
            f"cannot listen on {host} port {port}: {error.strerror or error}; choose another "
            "--host or --port (port 0 takes any that is free)"
        ) from None
    # Only where the protocol is named does asyncio send answers without delay; else every one
    # waits some 40 ms for the client to acknowledge its head before its body is sent.
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, listener.detach())
