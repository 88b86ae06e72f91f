"""The routes of the service, and how errors are answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from rhetorica.errors import RhetoricaError
from rhetorica.formats import FORMATS
from rhetorica.formats.native import schema as parse_schema
from rhetorica.pipeline import DEFAULT_PARSER, DEFAULT_SEGMENTER, PARSERS, SEGMENTERS
from rhetorica.relations import relation_set, relation_set_names
from rhetorica.service import schemas, tasks
from rhetorica.service.guard import SECURITY_HEADERS, Guard
from rhetorica.service.limits import Limits, TooBusy
from rhetorica.service.messages import JSON, Answer, Task, problem, refusal
from rhetorica.service.tasks import TASKS
from rhetorica.service.work import Workers
from rhetorica.version import __version__
from rhetorica.workers import Start

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
        401: "without the token that this service asks for",
        403: "from another site's page",
        408: "sent too slowly",
        413: "too large",
        421: "called by an unknown name",
        422: "cannot be done, or not in time",
        429: "too many requests at once",
        501: "needs an optional part that is not installed",
        503: "worker processes die of it, or do not start",
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
_REQUEST_NAME = "rhetorica-request"
"""The header by which a client names its request, to ask how far it has come."""
_LONGEST_NAME = 64


Pool = Workers[Task, Answer | list[Task]]


def make_app(
    limits: Limits,
    hosts: tuple[str, ...],
    *,
    token: str = "",
    warm: bool = False,
    start: Start[Task, Answer | list[Task]] | None = None,
) -> FastAPI:
    """Make the application; when ``warm``, workers and models are ready before they are needed."""
    workers: Pool = Workers(start or partial(tasks.start, limits, warm), limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if warm:
            workers.warm()
        yield
        await workers.close()

    app = FastAPI(
        title="Rhetorica",
        version=__version__,
        description=_ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,  # FastAPI's page loads its parts from elsewhere; ours is static/docs.html
        redoc_url=None,
        lifespan=lifespan,
    )
    _add_work(app, limits, workers)
    _add_facts(app, limits, workers)
    _add_pages(app)
    _add_errors(app)
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]
    app.add_middleware(Guard, limits=limits, hosts=hosts, token=token)
    return app


def _add_work(app: FastAPI, limits: Limits, workers: Pool) -> None:
    async def work(task: Task, name: str) -> Answer | list[Task]:
        large = task.name == "dialogue" or len(task.body) > limits.small_bytes
        return await workers.run(task, large=large, name=name)

    async def done(task: Task, name: str = "") -> Answer:
        found = await work(task, name)
        return found if isinstance(found, Answer) else await together(found)

    async def together(parts: list[Task]) -> Answer:
        # A few at a time: one batch must not fill the queue for everybody else.
        turns = asyncio.Semaphore(limits.workers)

        async def one(part: Task) -> bytes:
            async with turns:
                try:
                    found = await done(part)
                except RhetoricaError as error:
                    found = refusal(error)
            return b'{"parse":%b}' % found.body if found.status == 200 else found.body

        results = await asyncio.gather(*map(one, parts))
        return Answer(b'{"results":[%b]}' % b",".join(results))

    def route(path: str, content: dict[str, Any], **headers: str) -> Callable[[Any], Any]:
        """Give a path to a task; the function below it has only its description."""

        async def endpoint(request: Request) -> Response:
            if not _is_json(request):
                kind = request.headers.get("content-type", "none")
                return _response(
                    problem(422, "InvalidRequest", f"content-type {kind}, expected {JSON}")
                )
            task = Task(path, await request.body())
            name = request.headers.get(_REQUEST_NAME, "")[:_LONGEST_NAME]
            answer = await _unless_gone(request, done(task, name))
            return _response(answer, headers)

        def describe(function: Callable[[], None]) -> None:
            reference = {"$ref": f"#/components/schemas/{TASKS[path][0].__name__}"}
            app.post(
                f"/api/{path}",
                responses={200: {"description": "done", "content": content}, **_PROBLEMS},
                response_class=Response,
                name=function.__name__,
                description=function.__doc__,
                openapi_extra={"requestBody": {"required": True, "content": _json(reference)}},
            )(endpoint)

        return describe

    @route("parse", {**_json(_PARSE), "text/plain": _TEXT})
    def parse() -> None:
        """Parse a text: EDUs, tree, dependencies, probabilities."""

    results = {"type": "array", "items": {"anyOf": _BATCH_ITEM}}

    @route("parse/batch", _json({"type": "object", "properties": {"results": results}}))
    def parse_batch() -> None:
        """Parse several texts; each gets a parse or its own error, in order."""

    @route("segment", {**_json(_PARSE), "text/plain": _TEXT})
    def segment() -> None:
        """Cut a text into elementary discourse units."""

    @route("convert", {**_json(_PARSE), "text/plain": _TEXT})
    def convert() -> None:
        """Write a document in another format."""

    @route("score", _json({"type": "object"}))
    def score() -> None:
        """Score analyses against the right ones, with every metric that applies."""

    @route("compare", _json({"type": "object"}))
    def compare() -> None:
        """Tell where two analyses of one text differ, and how far they agree."""

    pictures = {kind.partition(";")[0]: _TEXT for kind in tasks.PICTURES.values()}

    @route("render", pictures, **{"content-security-policy": _PICTURE_SECURITY})
    def render() -> None:
        """Draw a tree as SVG, PNG, PDF, LaTeX or a page."""

    @route("edit", _json(_PARSE))
    def edit() -> None:
        """Correct a parse by hand: relations, nuclearity, attachment, EDU boundaries."""

    @route("edit/points", _json({"$ref": "#/components/schemas/Points"}))
    def edit_points() -> None:
        """Tell which units a unit can be attached to."""

    @route("dialogue", _json({"type": "object"}))
    def dialogue() -> None:
        """Find the flow behind dialogues: states, what is said in them, what leads where."""

    @route("view", _json({"type": "object"}))
    def view() -> None:
        """Prepare a parse for the page."""


async def _unless_gone(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer:
    """Wait for an answer; when the client goes away, nobody needs it, and the work is ended."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        return problem(400, "Disconnected", "the client went away")
    finally:
        task.cancel()
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _is_json(request: Request) -> bool:
    """Tell whether a body says that it is JSON, which a form on another site's page cannot."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == JSON or (kind.startswith("application/") and kind.endswith("+json"))


def _add_facts(app: FastAPI, limits: Limits, workers: Pool) -> None:
    @app.get("/api/health", responses={503: {"model": schemas.Health}})
    async def health(response: Response) -> schemas.Health:
        """Tell whether the service takes work, and how busy it is; 503 if it cannot work."""
        response.status_code = 503 if workers.status == "failing" else 200
        return schemas.Health(
            status=workers.status,
            version=__version__,
            running=workers.running,
            waiting=workers.waiting,
            workers=workers.alive,
            replaced=workers.replaced,
        )

    @app.get("/api/progress/{name}")
    async def progress(name: str) -> schemas.Progress:
        """Tell how much of a text has been read, of the request with this `rhetorica-request`."""
        return schemas.Progress(read=workers.progress(name[:_LONGEST_NAME]))

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
            "languages": schemas.languages(),
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
    async def refused(_: Request, error: RhetoricaError) -> Response:
        later = {"retry-after": str(error.seconds)} if isinstance(error, TooBusy) else {}
        return _response(refusal(error), later)

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        message = str(error.detail)
        if error.status_code == 404:
            message = f"there is nothing at {request.url.path}; /docs lists what there is"
        if error.status_code == 405:
            allowed = (error.headers or {}).get("Allow", "another method")
            message = f"{request.url.path} takes {allowed}, not {request.method}"
        return _response(problem(error.status_code, "HTTPError", message), error.headers)

    @app.exception_handler(Exception)
    async def failed(_: Request, error: Exception) -> Response:
        # Answered outside the guard, which adds these headers elsewhere.
        message = "this is a mistake in Rhetorica; its log says more"
        return _response(problem(500, "InternalError", message), SECURITY_HEADERS)


def _response(answer: Answer, headers: Mapping[str, str] | None = None) -> Response:
    return Response(answer.body, answer.status, headers, media_type=answer.media)


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
        every = [(shape, "validation") for shape, _ in TASKS.values()]
        place = "#/components/schemas/{model}"
        parts |= models_json_schema(every, ref_template=place)[1]["$defs"]  # type: ignore[arg-type]
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
