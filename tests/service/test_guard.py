"""The guard by itself, without a service behind it: who is let in, how much is read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import pytest

from rhetorica.service.guard import Guard
from rhetorica.service.limits import Limits


class Asked:
    """One request to a guard: the answer's status and error, what the application got."""

    def __init__(
        self,
        *chunks: bytes,
        method: str = "POST",
        path: str = "/api/parse",
        limits: Limits | None = None,
        hosts: Iterable[str] = (),
        **headers: str,
    ) -> None:
        self.body: bytes | None = None
        self.read = 0
        sent: list[Any] = []
        waiting = list(chunks or (b"",))

        async def application(scope: Any, receive: Any, send: Any) -> None:
            self.body = (await receive())["body"]
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        async def receive() -> Any:
            chunk = waiting.pop(0)
            self.read += len(chunk)
            return {"type": "http.request", "body": chunk, "more_body": bool(waiting)}

        async def send(message: Any) -> None:
            sent.append(message)

        named = {"host": "127.0.0.1:8000"} | headers
        raw = [(key.replace("_", "-").encode(), value.encode()) for key, value in named.items()]
        scope = {"type": "http", "method": method, "path": path, "headers": raw}
        guard = Guard(application, limits or Limits(), hosts)
        asyncio.run(guard(scope, receive, send))
        self.status = sent[0]["status"]
        self.error = json.loads(sent[1]["body"])["error"] if sent[1]["body"] else ""


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000", "10.0.0.7", "Known.example:80"],
)
def test_names_that_are_ours(host: str) -> None:
    assert Asked(host=host, hosts=["known.example"]).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil-localhost",
        "localhost.evil.example",
        "evil.localhost",
        "notknown.example",
        "known.example.evil",
        "127.0.0.1.evil.example",
        "",
    ],
)
def test_names_that_only_look_like_ours(host: str) -> None:
    asked = Asked(host=host, hosts=["known.example"])
    assert (asked.status, asked.error, asked.body) == (421, "UnknownHost", None)


@pytest.mark.parametrize("site", ["same-site", "cross-site"])
def test_pages_of_other_sites(site: str) -> None:
    # A page on another port of the same machine is "same-site".
    assert Asked(sec_fetch_site=site).error == "ForeignOrigin"
    assert Asked(sec_fetch_site=site, method="GET").status == 200


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_our_own_page(site: str) -> None:
    assert Asked(sec_fetch_site=site, origin="http://127.0.0.1:8000").status == 200


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://[::1", "http://evil.example", "http://127.0.0.1:80001", "127.0.0.1:8000"],
)
def test_origins_that_are_not_ours(origin: str) -> None:
    assert Asked(origin=origin).error == "ForeignOrigin"


def test_a_body_as_large_as_can_be() -> None:
    limits = Limits(max_bytes=10)
    assert Asked(b"12345", b"67890", limits=limits).body == b"1234567890"
    asked = Asked(b"12345", b"678901", limits=limits)
    assert (asked.status, asked.error, asked.body) == (413, "TooLarge", None)
    assert Asked(b"1", content_length="11", limits=limits).error == "TooLarge"


def test_a_body_without_end_is_not_read_to_its_end() -> None:
    asked = Asked(*[b"0123456789"] * 1000, limits=Limits(max_bytes=10))
    assert asked.error == "TooLarge"
    assert asked.read <= 60
