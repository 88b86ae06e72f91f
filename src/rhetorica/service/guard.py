"""What every request passes first: who is asking, from which page, and how much is sent.

A browser lets any page on the web send requests to a service on this machine. Two checks keep such
pages out: the Host must be an address or a name that we know (a hostile name that is made to
resolve to 127.0.0.1 is still that name), and the Origin, where a browser sends one, must be
our own. Whoever starts the service may ask for a token. Bodies are counted while they arrive, so
one without a Content-Length is bounded, too.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from rhetorica.service.limits import Limits

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
_DRAINED = 4
_HEALTH = "/api/health"
"""May be asked without a token: what watches over a service need not have it."""


class _RefusedError(Exception):
    def __init__(self, status: int, error: str, message: str) -> None:
        self.status, self.error, self.message = status, error, message
        super().__init__(message)


class Guard:
    """An ASGI application around another one."""

    def __init__(
        self, app: App, limits: Limits, hosts: Iterable[str] = (), token: str = ""
    ) -> None:
        self.app, self.limits, self.token = app, limits, token.encode()
        self.hosts = {"localhost", *(host.lower() for host in hosts)}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Check a request and hand it on, its body read; answer it here if it is refused."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = _with_headers(send)
        try:
            headers = _headers(scope)
            self._check_sender(scope["method"], headers)
            self._check_token(scope["path"], headers)
            body = await self._read(receive, headers)
        except _RefusedError as refused:
            await _answer(send, refused)
            return
        if scope["method"] == "HEAD":  # as GET: the server leaves the body out
            scope = {**scope, "method": "GET"}
        await self.app(scope, _replay(body, receive), send)

    def _check_sender(self, method: str, headers: dict[str, str]) -> None:
        host = headers.get("host", "")
        if not self._is_known(host):
            raise _RefusedError(
                421,
                "UnknownHost",
                f"this service does not go by the name {_host_name(host)!r}: use its address or "
                "localhost, or start it with --allow-host",
            )
        origin = headers.get("origin")
        foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if method not in ("GET", "HEAD") and (
            foreign or (origin is not None and origin.partition("://")[2].lower() != host.lower())
        ):
            raise _RefusedError(
                403, "ForeignOrigin", "requests from other sites' pages are refused"
            )

    def _check_token(self, path: str, headers: dict[str, str]) -> None:
        """Refuse whoever does not have the token; the page, which asks for it, is for everybody."""
        if not self.token or not path.startswith("/api/") or path == _HEALTH:
            return
        scheme, _, given = headers.get("authorization", "").partition(" ")
        right = hmac.compare_digest(given.strip().encode("latin-1"), self.token)
        if scheme.lower() != "bearer" or not right:
            raise _RefusedError(
                401,
                "Unauthorized",
                "this service asks for a token: send the header Authorization: Bearer TOKEN",
            )

    def _is_known(self, host: str) -> bool:
        name = _host_name(host)
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self.hosts
        return True  # rebinding needs a name; an address is what it is

    async def _read(self, receive: Receive, headers: dict[str, str]) -> bytes:
        """Return the whole body, refusing one that is too long or too slow."""
        most = self.limits.max_bytes
        parts: list[bytes] = []
        size = 0
        late = time.monotonic() + self.limits.upload_seconds
        more = True
        while more:
            try:
                message = await asyncio.wait_for(receive(), late - time.monotonic())
            except TimeoutError:
                raise _RefusedError(
                    408,
                    "SlowUpload",
                    f"the request was not sent within {self.limits.upload_seconds:g} s",
                ) from None
            if message["type"] == "http.disconnect":
                raise _RefusedError(400, "Disconnected", "the client went away")
            size += len(message.get("body", b""))
            if size <= most:
                parts.append(message.get("body", b""))
            # What is a little too long is read to its end and forgotten, since many clients
            # look at the answer only then.
            more = message.get("more_body", False) and size <= _DRAINED * most
        declared = headers.get("content-length", "")
        if size > most or (declared.isdecimal() and int(declared) > most):
            raise _RefusedError(
                413,
                "TooLarge",
                f"the request is larger than {most:,} bytes, the most that this service takes",
            )
        return b"".join(parts)


def is_loopback(host: str) -> bool:
    """Tell whether an address can be reached from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _headers(scope: Message) -> dict[str, str]:
    return {
        key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]
    }


def _host_name(host: str) -> str:
    """Return a Host header's name, without port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _with_headers(send: Send) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {key.lower() for key, _ in message["headers"]}
            message["headers"] = [
                *message["headers"],
                *(
                    (key.encode(), value.encode())
                    for key, value in SECURITY_HEADERS.items()
                    if key.encode() not in present
                ),
            ]
        await send(message)

    return wrapped


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give the body that was read as one message, then whatever comes."""
    waiting = [body]

    async def replayed() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replayed


async def _answer(send: Send, refused: _RefusedError) -> None:
    body = json.dumps({"error": refused.error, "message": refused.message}).encode()
    await send(
        {
            "type": "http.response.start",
            "status": refused.status,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
                *([(b"www-authenticate", b"Bearer")] if refused.status == 401 else []),
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})
