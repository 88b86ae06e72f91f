"""The package over HTTP, and the page in the browser: `create_app` and `serve`.

| module | what |
|---|---|
| `limits` | how much, how long, how many at once |
| `guard` | what is checked before a request is looked at: host, origin, size |
| `connections` | how many, and how long they may be idle |
| `work` | worker processes, the lanes that lead to them, and what ends them |
| `schemas` | the shape of requests |
| `tasks` | what each request does, in a worker: plain functions, nothing of HTTP |
| `messages` | what goes to a worker and comes back; problems, all in one shape |
| `view` | a parse as the page needs it |
| `app` | routes and errors |
| `server` | start, warn, stop |
| ``static/`` | the page: plain modules of JavaScript, no build step, nothing from elsewhere |

FastAPI and uvicorn are an extra, ``rhetorica[serve]``; without it these functions say so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rhetorica.errors import MissingExtra
from rhetorica.service.limits import Limits

if TYPE_CHECKING:
    from fastapi import FastAPI


def create_app(
    limits: Limits | None = None,
    *,
    hosts: tuple[str, ...] = (),
    token: str = "",
    warm: bool = False,
) -> FastAPI:
    """Make the application, to be run by any ASGI server; ``hosts`` are names it may be called by.

    With a ``token``, requests must carry it (``Authorization: Bearer ...``). When ``warm``, workers
    are started, and the default parser loaded, with the application and not with the first request.

    >>> create_app().title
    'Rhetorica'
    """
    try:
        from rhetorica.service.app import make_app
    except ImportError as error:
        raise _missing(error) from None
    return make_app(limits or Limits(), hosts, token=token, warm=warm)


def serve(
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    limits: Limits | None = None,
    hosts: tuple[str, ...] = (),
    token: str = "",
    started: Callable[[str], None] | None = None,
) -> None:
    """Run the service until it is told to stop (SIGTERM, SIGINT); running requests are finished.

    ``started`` is called with its address as soon as it can be reached; port 0 is any free one.
    """
    limits = limits or Limits()
    app = create_app(limits, hosts=(*hosts, host), token=token, warm=True)
    from rhetorica.service.server import run

    run(app, host, port, limits=limits, started=started)


def _missing(error: ImportError) -> Exception:
    """Tell a missing extra from an error of our own."""
    wanted = (error.name or "").split(".")[0]
    if wanted in ("fastapi", "pydantic", "starlette", "uvicorn"):
        return MissingExtra("the service", "serve")
    return error


__all__ = ["Limits", "create_app", "serve"]
