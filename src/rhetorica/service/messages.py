"""What goes to a worker and what comes back: a task, an answer, or a problem in the usual shape."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rhetorica.errors import MissingExtra, RhetoricaError
from rhetorica.service.limits import OutOfMemory, TooBusy, TooLarge, WorkerDied

JSON = "application/json"
PLAIN = "text/plain; charset=utf-8"
_STATUS = {TooLarge: 413, OutOfMemory: 413, TooBusy: 429, MissingExtra: 501, WorkerDied: 503}
_LONGEST = 1_000


class Task(NamedTuple):
    """A request on its way to a worker: the name of what to do, and the body as it came."""

    name: str
    body: bytes


class Answer(NamedTuple):
    """The body of an answer, its type and its status."""

    body: bytes
    media: str = JSON
    status: int = 200


def as_json(data: object) -> Answer:
    """Write plain data as JSON."""
    return Answer(json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode())


def problem(status: int, error: str, message: str) -> Answer:
    """Say why something is refused."""
    # Parts of a request may be quoted, and those may hold half characters, or a million of them.
    short = message if len(message) <= _LONGEST else f"{message[:_LONGEST]} …"
    safe = short.encode("utf-8", "replace").decode()
    return as_json({"error": error, "message": safe})._replace(status=status)


def refusal(error: RhetoricaError) -> Answer:
    """Answer an error that a client can cause."""
    kinds = (status for kind, status in _STATUS.items() if isinstance(error, kind))
    return problem(next(kinds, 422), type(error).__name__, str(error))


def invalid(problems: Sequence[Mapping[str, Any]]) -> Answer:
    """Answer a request that is not what was expected: where something is wrong, and what."""
    said = "; ".join(map(_describe, problems[:5]))
    fields = any(found.get("type") in ("missing", "extra_forbidden") for found in problems)
    hint = " (/docs tells the fields of each request, with an example)" if fields else ""
    return problem(422, "InvalidRequest", f"{said}{hint}")


def _describe(found: Mapping[str, Any]) -> str:
    where = ".".join(map(str, found["loc"]))
    return f"{where}: {found['msg']}" if where else str(found["msg"])
