"""The routes of the service, and how errors are answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from rhetorica.errors import MissingExtra, RhetoricaError
from rhetorica.formats import FORMATS
from rhetorica.formats.native import schema as parse_schema
from rhetorica.pipeline import DEFAULT_PARSER, DEFAULT_SEGMENTER, PARSERS, SEGMENTERS
from rhetorica.relations import relation_set, relation_set_names
from rhetorica.service import schemas, tasks
from rhetorica.service.guard import SECURITY_HEADERS, Guard
from rhetorica.service.limits import Limits, TooBusy, TooLarge
from rhetorica.service.work import Models, Workers
from rhetorica.version import __version__

_STATIC = Path(str(resources.files("rhetorica.service"))) / "static"
_ABOUT = (
    "Texts to discourse units, relations and trees. Requests and answers are JSON; a parse is "
    "Rhetorica's own JSON, whose schema is at `/api/schema`. Errors are answered with 4xx and an "
    "object with `error` and `message`."
)
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.Problem, "description": about}
    for status, about in {
        400: "not JSON",
        403: "from another site's page",
        408: "sent too slowly",
        413: "too large",
        421: "called by an unknown name",
        422: "cannot be done, or not in time",
        429: "too many requests at once",
        501: "needs an optional part that is not installed",
    }.items()
}
_PARSE = {"$ref": "#/components/schemas/Parse"}
_BATCH_ITEM = [
    {"type": "object", "properties": {"parse": _PARSE}, "required": ["parse"]},
    {"$ref": "#/components/schemas/Problem"},
]
_TEXT = {"schema": {"type": "string"}}
# What is drawn may be opened by itself; nothing in it may run or load.
_PICTURE_SECURITY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


def make_app(limits: Limits, hosts: tuple[str, ...]) -> FastAPI:
    """Make the application."""
    models, workers = Models(), Workers(limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(workers.close)

    app = FastAPI(
        title="Rhetorica",
        version=__version__,
        description=_ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,  # FastAPI's page loads its parts from elsewhere; ours is static/docs.html
        redoc_url=None,
        lifespan=lifespan,
    )
    _add_work(app, limits, models, workers)
    _add_facts(app, limits, workers)
    _add_pages(app)
    _add_errors(app)
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]
    app.add_middleware(Guard, limits=limits, hosts=hosts)
    return app


def _add_work(app: FastAPI, limits: Limits, models: Models, workers: Workers) -> None:
    async def answer(work: Callable[[], tasks.Answer], **headers: str) -> Response:
        body, media = await workers.run(work)
        return Response(body, media_type=media, headers=headers)

    def route(path: str, content: dict[str, Any]) -> Callable[[Any], Any]:
        responses = {200: {"description": "done", "content": content}, **_PROBLEMS}
        return app.post(f"/api/{path}", responses=responses, response_class=Response)

    @route("parse", {**_json(_PARSE), "text/plain": _TEXT})
    async def parse(request: schemas.ParseRequest) -> Response:
        """Parse a text: EDUs, tree, dependencies, probabilities."""
        return await answer(partial(tasks.parse, models, limits, request))

    @route(
        "parse/batch",
        _json(
            {
                "type": "object",
                "properties": {"results": {"type": "array", "items": {"anyOf": _BATCH_ITEM}}},
            }
        ),
    )
    async def parse_batch(request: schemas.BatchRequest) -> Response:
        """Parse several texts; each gets a parse or its own error, in order."""
        if len(request.documents) > limits.max_batch:
            raise TooLarge(
                f"{len(request.documents)} documents, the most in a batch is {limits.max_batch}"
            )
        work = partial(tasks.parse_in_batch, models, limits, request)
        # A few at a time: one batch must not fill the queue for everybody else.
        turns = asyncio.Semaphore(limits.workers)

        async def one(content: schemas.Content) -> dict[str, Any]:
            async with turns:
                return await workers.run(partial(work, content))

        results = await asyncio.gather(*map(one, request.documents))
        return await answer(partial(tasks.as_json, {"results": results}))

    @route("segment", {**_json(_PARSE), "text/plain": _TEXT})
    async def segment(request: schemas.SegmentRequest) -> Response:
        """Cut a text into elementary discourse units."""
        return await answer(partial(tasks.segment, models, limits, request))

    @route("convert", {**_json(_PARSE), "text/plain": _TEXT})
    async def convert(request: schemas.ConvertRequest) -> Response:
        """Write a document in another format."""
        return await answer(partial(tasks.convert, limits, request))

    @route("score", _json({"type": "object"}))
    async def score(request: schemas.ScoreRequest) -> Response:
        """Score analyses against the right ones, with every metric that applies."""
        return await answer(partial(tasks.score, limits, request))

    @route("render", {"image/svg+xml": _TEXT, "image/png": _TEXT, "text/html": _TEXT})
    async def render(request: schemas.RenderRequest) -> Response:
        """Draw a tree as SVG, PNG or a page."""
        return await answer(
            partial(tasks.draw, limits, request),
            **{"content-security-policy": _PICTURE_SECURITY},
        )

    @route("edit", _json(_PARSE))
    async def edit(request: schemas.EditRequest) -> Response:
        """Correct a parse by hand: relations, nuclearity, attachment, EDU boundaries."""
        return await answer(partial(tasks.correct, limits, request))

    @route("edit/points", _json({"$ref": "#/components/schemas/Points"}))
    async def edit_points(request: schemas.PointsRequest) -> Response:
        """Tell which units a unit can be attached to."""
        return await answer(partial(tasks.points, limits, request))

    @route("dialogue", _json({"type": "object"}))
    async def dialogue(request: schemas.DialogueRequest) -> Response:
        """Find the flow behind dialogues: states, what is said in them, what leads where."""
        return await answer(partial(tasks.dialogue, limits, request))

    @route("view", _json({"type": "object"}))
    async def view(request: schemas.Content) -> Response:
        """Prepare a parse for the page."""
        return await answer(partial(tasks.view, limits, request))


def _add_facts(app: FastAPI, limits: Limits, workers: Workers) -> None:
    @app.get("/api/health")
    async def health() -> schemas.Health:
        """Tell that the service runs, and how busy it is."""
        return schemas.Health(version=__version__, running=workers.running)

    @app.get("/api/version")
    async def version() -> dict[str, str]:
        """Tell the version."""
        return {"version": __version__}

    @app.get("/api/schema")
    async def schema() -> dict[str, Any]:
        """Return the JSON Schema of a parse."""
        return parse_schema()

    @app.get("/api/relations")
    async def relations() -> dict[str, Any]:
        """List the relations and classes of every set, with definition and example."""
        return {name: tasks.relations_of(name) for name in relation_set_names()}

    @app.get("/api/info")
    async def info() -> dict[str, Any]:
        """List what can be asked for: parsers, models, formats, relations, limits."""
        return {
            "version": __version__,
            "parsers": {name: schemas.models_of(name) for name in PARSERS},
            "parser": DEFAULT_PARSER,
            "segmenters": {name: schemas.models_of(name) for name in SEGMENTERS},
            "segmenter": DEFAULT_SEGMENTER,
            "formats": {
                format.name: {
                    "about": format.about,
                    "suffixes": format.suffixes,
                    "readable": format.read is not None,
                }
                for format in FORMATS.values()
            },
            "relations": {
                name: [[r.name, r.type] for r in relation_set(name).relations]
                for name in relation_set_names()
            },
            "limits": {name: getattr(limits, name) for name in limits.__dataclass_fields__},
        }


def _add_pages(app: FastAPI) -> None:
    fresh = {"cache-control": "no-cache"}

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(_STATIC / "index.html", headers=fresh)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> FileResponse:
        return FileResponse(_STATIC / "docs.html", headers=fresh)

    @app.get("/dialogue", include_in_schema=False)
    async def dialogue() -> FileResponse:
        return FileResponse(_STATIC / "dialogue.html", headers=fresh)

    app.mount("/static", StaticFiles(directory=_STATIC), name="static")


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(RhetoricaError)
    async def refused(_: Request, error: RhetoricaError) -> JSONResponse:
        return _problem(_status(error), type(error).__name__, str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        problems = error.errors()
        if problems and problems[0]["type"] == "json_invalid":
            why = problems[0].get("ctx", {}).get("error", "")
            return _problem(400, "NotJSON", f"the request is not JSON: {why}")
        return _problem(422, "InvalidRequest", "; ".join(map(_describe, problems[:5])))

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> JSONResponse:
        message = str(error.detail)
        if error.status_code == 404:
            message = f"there is nothing at {request.url.path}; /docs lists what there is"
        return _problem(error.status_code, "HTTPError", message, error.headers)

    @app.exception_handler(Exception)
    async def failed(_: Request, error: Exception) -> JSONResponse:
        # Answered outside the guard, which adds these headers elsewhere.
        message = "this is a mistake in Rhetorica; its log says more"
        return _problem(500, "InternalError", message, SECURITY_HEADERS)


def _status(error: RhetoricaError) -> int:
    for kind, status in ((TooLarge, 413), (TooBusy, 429), (MissingExtra, 501)):
        if isinstance(error, kind):
            return status
    return 422


def _describe(problem: dict[str, Any]) -> str:
    """Say where in a request something is wrong, and what."""
    where = ".".join(str(part) for part in problem["loc"][1:])
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])


def _problem(status: int, error: str, message: str, headers: Any = None) -> JSONResponse:
    more = {"retry-after": "1"} if status == 429 else dict(headers or {})
    # Parts of a request may be quoted, and those may hold half characters.
    safe = message.encode("utf-8", "replace").decode()
    return JSONResponse({"error": error, "message": safe}, status, more)


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Describe the service, with the schema of parses among its own."""
    if app.openapi_schema is None:
        found = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        parts = found["components"]["schemas"]
        parse = parse_schema()
        for name, part in parse.pop("$defs").items():
            parts[f"parse_{name}"] = _renamed(part)
        parse.pop("$schema")
        parts["Parse"] = _renamed(parse)
        parts["Points"] = schemas.Points.model_json_schema()
        for name in ("HTTPValidationError", "ValidationError"):
            parts.pop(name, None)  # errors have one shape here: Problem
        app.openapi_schema = found
    return app.openapi_schema


def _renamed(schema: Any) -> Any:
    """Point the references of the parse schema to where its parts are in this description."""
    if isinstance(schema, dict):
        return {
            key: value.replace("#/$defs/", "#/components/schemas/parse_")
            if key == "$ref"
            else _renamed(value)
            for key, value in schema.items()
        }
    return [_renamed(item) for item in schema] if isinstance(schema, list) else schema
