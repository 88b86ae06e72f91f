"""The guard by itself, without a service behind it: who is let in, how much is read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import pytest

from rhetorica.service.guard import SECURITY_HEADERS, Guard, is_loopback
from rhetorica.service.limits import Limits

GONE = b"the client goes away"


class Asked:
    """One request to a guard: the answer's status and error, what the application got."""

    def __init__(
        self,
        *chunks: bytes,
        method: str = "POST",
        path: str = "/api/parse",
        limits: Limits | None = None,
        hosts: Iterable[str] = (),
        token: str = "",
        kind: str = "http",
        pause: float = 0.0,
        **headers: str,
    ) -> None:
        self.body: bytes | None = None
        self.read = 0
        sent: list[Any] = []
        waiting = list(chunks or (b"",))

        async def application(scope: Any, receive: Any, send: Any) -> None:
            message = await receive()
            self.body = message["body"]
            assert not message.get("more_body")
            self.after = await receive() if kind == "http" else None
            own = [(b"Referrer-Policy", b"origin")]
            await send({"type": "http.response.start", "status": 200, "headers": own})
            await send({"type": "http.response.body", "body": b""})

        async def receive() -> Any:
            await asyncio.sleep(pause)
            if not waiting:
                return {"type": "http.disconnect"}
            chunk = waiting.pop(0)
            if chunk is GONE:
                return {"type": "http.disconnect"}
            self.read += len(chunk)
            return {"type": "http.request", "body": chunk, "more_body": bool(waiting)}

        async def send(message: Any) -> None:
            sent.append(message)

        named = {"host": "127.0.0.1:8000"} | headers
        raw = [(key.replace("_", "-").encode(), value.encode()) for key, value in named.items()]
        scope = {"type": kind, "method": method, "path": path, "headers": raw}
        guard = Guard(application, limits or Limits(), hosts, token)
        asyncio.run(guard(scope, receive, send))
        self.status = sent[0]["status"]
        self.headers = [(key.decode(), value.decode()) for key, value in sent[0]["headers"]]
        self.answer = sent[1]["body"]
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
    refused = Asked(sec_fetch_site=site)
    assert (refused.status, refused.error, refused.body) == (403, "ForeignOrigin", None)
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


def test_what_is_not_http_is_handed_on_unseen() -> None:
    asked = Asked(b"a", kind="lifespan", host="evil.example")
    assert (asked.status, asked.body) == (200, b"a")
    assert asked.headers == [("Referrer-Policy", "origin")]


def test_every_answer_has_the_headers_once() -> None:
    for asked in (Asked(), Asked(host="evil.example")):
        names = [key.lower() for key, _ in asked.headers]
        assert len(names) == len(set(names))
        assert set(SECURITY_HEADERS) <= set(names)
    assert ("Referrer-Policy", "origin") in Asked().headers
    refused = Asked(host="evil.example")
    assert dict(refused.headers)["content-length"] == str(len(refused.answer))
    assert dict(refused.headers)["content-type"] == "application/json"
    assert dict(refused.headers)["connection"] == "close"
    assert "www-authenticate" not in dict(refused.headers)
    assert "evil.example" in json.loads(refused.answer)["message"]


def test_after_the_body_comes_whatever_comes() -> None:
    assert Asked(b"12", b"34").after == {"type": "http.disconnect"}


def test_a_client_that_goes_away_while_it_sends() -> None:
    asked = Asked(b"12", GONE)
    assert (asked.status, asked.error, asked.body) == (400, "Disconnected", None)


def test_slow_uploads_count_as_a_whole() -> None:
    limits = Limits(upload_seconds=0.25)
    assert Asked(b"1", b"2", b"3", limits=limits, pause=0.01).body == b"123"
    asked = Asked(*[b"1"] * 10, limits=limits, pause=0.1)
    assert (asked.status, asked.error, asked.body) == (408, "SlowUpload", None)
    assert 1 <= asked.read <= 3
    assert "0.25 s" in json.loads(asked.answer)["message"]


def test_what_is_a_little_too_long_is_read_to_its_end() -> None:
    limits = Limits(max_bytes=10)
    assert Asked(*[b"0123456789"] * 4, limits=limits).read == 40
    assert Asked(*[b"0123456789"] * 9, limits=limits).read == 50
    assert Asked(b"1", content_length="10", limits=limits).status == 200
    assert Asked(b"1", content_length="x", limits=limits).status == 200


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_looking_is_allowed_from_anywhere(method: str) -> None:
    assert Asked(method=method, origin="http://evil.example").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_doing_is_not(method: str) -> None:
    assert Asked(method=method, origin="http://evil.example").error == "ForeignOrigin"
    assert Asked(method=method).status == 200
    assert Asked(method=method, origin="HTTP://Known.example", host="known.EXAMPLE",
                 hosts=["KNOWN.example"]).status == 200  # fmt: skip


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("Bearer sesame", 200),
        ("bearer  sesame ", 200),
        ("Bearer sesam", 401),
        ("Bearer sesame2", 401),
        ("Basic sesame", 401),
        ("Bearer", 401),
        ("sesame", 401),
        ("", 401),
    ],
)
def test_a_token(given: str, status: int) -> None:
    asked = Asked(b"a", token="sesame", authorization=given)
    assert asked.status == status
    assert asked.body == (b"a" if status == 200 else None)
    if status == 401:
        assert asked.error == "Unauthorized"
        assert ("www-authenticate", "Bearer") in asked.headers


def test_where_a_token_is_not_asked_for() -> None:
    assert Asked(token="sesame").status == 401
    for path in ("/", "/docs", "/static/api.js", "/api/health"):
        assert Asked(token="sesame", path=path, method="GET").status == 200
    for path in ("/api/info", "/api/healthy", "/api/"):
        assert Asked(token="sesame", path=path, method="GET").status == 401
    assert Asked(authorization="Bearer whatever").status == 200


def test_what_only_this_machine_can_reach() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost")] == [
        True
    ] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "10.0.0.1", "::", "example.org", "")] == [
        False
    ] * 5


def test_names_in_brackets() -> None:
    assert Asked(host="[::1]").status == 200
    assert Asked(host="[evil.example]").status == 421
    assert "evil" in json.loads(Asked(host="[EVIL]:80").answer)["message"]
