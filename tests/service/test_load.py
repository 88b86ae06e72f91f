"""The service when much is asked of it: long work, crowds, deaths, idle and slow connections."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from subprocess import PIPE
from typing import Any

import httpx
import pytest

from rhetorica.service import Limits
from rhetorica.service.messages import Task
from rhetorica.workers import Failure, Worker
from service_fakes import start_service, start_timed
from service_tools import running

LIMITS = Limits(
    workers=2, queue=1, seconds=20, memory=1000, small_bytes=1000, idle_seconds=1, connections=20
)
LARGE = " " * 2000


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running(LIMITS, start=start_service) as url:
        yield url


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client
        until(lambda: health(client)["running"] == 0)


def ask(client: httpx.Client, content: str) -> httpx.Response:
    return client.post("/api/view", json={"content": content})


def health(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/health").json()
    return found


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def opened(address: str, data: bytes = b"") -> socket.socket:
    host, port = address.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=30)
    connection.sendall(data)
    return connection


def request(content: str) -> bytes:
    body = json.dumps({"content": content})
    head = "POST /api/view HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def test_health_tells_what_is_going_on(client: httpx.Client, address: str) -> None:
    ask(client, "a")
    before = health(client)
    assert before["status"] == "ok"
    assert before["workers"] >= 1
    with ExitStack() as stack:
        for _ in range(2):  # the second waits: one place is for small requests
            stack.enter_context(opened(address, request("SLEEP=15" + LARGE)))
        until(lambda: (health(client)["running"], health(client)["waiting"]) == (1, 1))
        refused = ask(client, "a" + LARGE)
        assert refused.status_code == 429
        assert refused.json()["error"] == "TooBusy"
        assert int(refused.headers["retry-after"]) >= 1
        assert ask(client, "a").json()["told"] == "a"
    # Both clients have gone: nobody works for them any more.
    until(lambda: (health(client)["running"], health(client)["waiting"]) == (0, 0))
    until(lambda: health(client)["workers"] >= 2)
    assert health(client)["replaced"] > before["replaced"]


def test_deaths_and_memory_have_answers(client: httpx.Client) -> None:
    dead = ask(client, "KILL")
    assert (dead.status_code, dead.json()["error"]) == (503, "WorkerDied")
    hungry = ask(client, "EAT=2000")
    assert (hungry.status_code, hungry.json()["error"]) == (413, "OutOfMemory")
    wrong = httpx.post(f"{client.base_url}/api/view", json={"content": "BUG"}, timeout=60)
    assert (wrong.status_code, wrong.json()["error"]) == (500, "InternalError")
    assert "bug" not in wrong.text
    assert ask(client, "a").status_code == 200


def test_late_work_is_ended() -> None:
    limits = Limits(workers=1, seconds=0.2)
    with running(limits, start=start_service) as url, httpx.Client(base_url=url) as client:
        late = client.post("/api/view", json={"content": "SLEEP=60"}, timeout=60)
        assert (late.status_code, late.json()["error"]) == (422, "TooSlow")
        assert client.post("/api/view", json={"content": "a"}, timeout=60).status_code == 200


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: local"])
def test_idle_connections_are_closed(address: str, sent: bytes) -> None:
    with opened(address, sent) as connection:
        began = time.monotonic()
        with suppress(ConnectionResetError):
            assert connection.recv(1) == b""
        assert time.monotonic() - began < 20


def received(connection: socket.socket) -> int:
    """Read until the connection is reset; return how much came."""
    read = 0
    with suppress(ConnectionResetError):
        while chunk := connection.recv(1_000_000):
            read += len(chunk)
    return read


def test_a_long_answer_that_nobody_reads_is_dropped(address: str, client: httpx.Client) -> None:
    with opened(address, request("LONG=30")) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        until(lambda: b"200 OK" in connection.recv(1000, socket.MSG_PEEK))
        time.sleep(4)
        assert received(connection) < 30_000_000


def test_a_long_answer_that_is_read_slowly_comes_whole(address: str) -> None:
    with opened(address, request("LONG=30")) as connection:
        read = 0
        while read < 30_000_000:
            read += len(connection.recv(5_000_000))
            time.sleep(0.3)


def test_who_is_idle_makes_room(address: str, client: httpx.Client) -> None:
    with ExitStack() as stack:
        for _ in range(3 * LIMITS.connections):
            stack.enter_context(opened(address))
        assert ask(client, "a").status_code == 200


def test_no_more_connections_than_files() -> None:
    resource = pytest.importorskip("resource", reason="needs limits of files")
    from rhetorica.service import connections

    assert connections._descriptors() == resource.getrlimit(resource.RLIMIT_NOFILE)[0]


SERVER = """
import sys
sys.path.insert(0, {path!r})
from service_fakes import start_service, start_timed
from rhetorica.service import Limits
from rhetorica.service.messages import Task
from rhetorica.workers import Failure, Worker
from rhetorica.service.app import make_app
from rhetorica.service.server import run
limits = Limits(workers=1)
run(make_app(limits, (), start=start_service), "127.0.0.1", 0, limits=limits,
    started=lambda address: print(address, flush=True))
"""


def test_stopping_finishes_what_is_running(tmp_path: Path) -> None:
    at_work = tmp_path / "at-work"
    # As a plain script: starting processes must not need a guard around it.
    script = tmp_path / "script.py"
    script.write_text(SERVER.format(path=str(Path(__file__).parent)))
    command = [sys.executable, str(script)]
    with (
        subprocess.Popen(command, stdout=PIPE, text=True) as process,
        ThreadPoolExecutor(1) as pool,
    ):
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            with httpx.Client(base_url=address, timeout=60) as client:
                answer = pool.submit(ask, client, f"TOUCH={at_work} SLEEP=1")
                until(at_work.exists)
                process.terminate()
                pid = answer.result().json()["pid"]
            assert process.wait(30) in (0, -15)
            until(lambda: not is_running(int(pid)))
        finally:
            process.kill()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_token_is_asked_for() -> None:
    limits = Limits(workers=1)
    with (
        running(limits, token="s\u00e9same", start=start_service) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        assert client.get("/").status_code == 200
        assert client.get("/static/api.js").status_code == 200
        assert client.get("/api/health").status_code == 200
        for given in ("", "Bearer", "Bearer no", "Basic s\u00e9same", "Bearer s\u00e9sam"):
            headers = {"authorization": given.encode()} if given else {}
            refused = client.get("/api/info", headers=headers)
            assert (refused.status_code, refused.json()["error"]) == (401, "Unauthorized")
            assert refused.headers["www-authenticate"] == "Bearer"
        headers = {"authorization": "Bearer s\u00e9same".encode()}
        assert client.get("/api/info", headers=headers).status_code == 200
        body = {"content": "a"}
        assert client.post("/api/view", json=body).status_code == 401
        assert client.post("/api/view", json=body, headers=headers).status_code == 200


def test_a_warm_worker_has_loaded_all_that_a_request_needs() -> None:
    worker: Worker[Task, tuple[float, float]] = Worker(start_timed)
    try:
        worker.receive()
        body = {"content": "We stayed at home because it rained. Nobody complained."}
        worker.send(Task("parse", json.dumps(body).encode()))
        found = worker.receive()
        assert not isinstance(found, Failure)
        start, request = found
        assert request < 0.15 * start
    finally:
        worker.close()
