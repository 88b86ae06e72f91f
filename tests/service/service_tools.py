"""Run a service in a thread of the tests; wait for what a page shows."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rhetorica.service import Limits


@contextmanager
def running(
    limits: Limits | None = None,
    *,
    hosts: tuple[str, ...] = (),
    token: str = "",
    start: Any = None,
) -> Iterator[str]:
    """Run a service in a thread; give its address."""
    uvicorn = pytest.importorskip("uvicorn", reason="needs rhetorica[serve]")
    from rhetorica.service.app import make_app
    from rhetorica.service.server import configured, listen

    limits = limits or Limits()
    app = make_app(limits, hosts, token=token, start=start)
    server = uvicorn.Server(configured(app, limits))
    with listen("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def wait_until(page: Any, expression: str, argument: object = None) -> None:
    """Ask a page until something holds: its own way of waiting needs `eval`, which ours forbid."""
    end = time.monotonic() + 60
    while not page.evaluate(expression, argument):
        if time.monotonic() > end:
            raise TimeoutError(expression)
        page.wait_for_timeout(20)
