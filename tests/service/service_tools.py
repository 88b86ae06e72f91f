"""Run a service in a thread of the tests."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rhetorica.service import Limits, create_app


@contextmanager
def running(limits: Limits | None = None, **options: object) -> Iterator[str]:
    """Run a service in a thread; give its address."""
    uvicorn = pytest.importorskip("uvicorn", reason="needs rhetorica[serve]")
    app = create_app(limits, **options)  # type: ignore[arg-type]
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on"))
    from rhetorica.service.server import listen

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
