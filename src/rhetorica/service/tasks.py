"""What each request does: requests in, bytes out; nothing of HTTP, and run in a worker process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from rhetorica import edit, formats, render
from rhetorica.dialogue import Settings, fit, flow_of, read_dialogues
from rhetorica.document import Document
from rhetorica.errors import FormatError, RhetoricaError
from rhetorica.evaluate import evaluate
from rhetorica.evaluate.diff import diff
from rhetorica.files import Source, decode
from rhetorica.formats.native import from_dict, write_json
from rhetorica.parses import Parse
from rhetorica.pipeline import Pipeline, Recipe, load
from rhetorica.relations import explain, relation_set
from rhetorica.render.flow import flow_html, flow_svg
from rhetorica.service import schemas
from rhetorica.service.limits import Limits, TooLarge
from rhetorica.service.messages import JSON, PLAIN, Answer, Task, as_json, invalid, problem, refusal
from rhetorica.service.view import page_view

PICTURES = {
    "svg": "image/svg+xml",
    "html": "text/html; charset=utf-8",
    "png": "image/png",
    "pdf": "application/pdf",
    "latex": "text/plain; charset=utf-8",
}
"""What a picture in each format is sent as."""
_AGREEMENT = {
    "EDUs": ("segmentation", "all", "starts"),
    "spans": ("parseval", "original", "span"),
    "nuclearity": ("parseval", "original", "nuclearity"),
    "relations": ("parseval", "original", "relation"),
    "all three": ("parseval", "original", "full"),
    "heads": ("attachment", "unlabelled", "arcs"),
}
"""The figures that are shown for two analyses, by their names on the page."""
_FIRST = "When it rained, we stayed at home, because nobody likes that. The boats were late, too."
"""Has all that a parser looks at, relations and sentences, so that all is loaded and compiled."""


class Models(dict[Recipe, Pipeline]):
    """Pipelines by recipe, loaded when first asked for."""

    def __missing__(self, recipe: Recipe) -> Pipeline:
        self[recipe] = load(recipe)
        return self[recipe]


def start(limits: Limits, warm: bool = False) -> Callable[[Task], Answer | list[Task]]:
    """Return what answers requests; called once in each worker process.

    When ``warm``, the default parser is loaded now. A batch comes back as its parts.
    """
    models = Models()
    if warm:
        models[_recipe(schemas.ParseOptions.model_validate({}))](_FIRST)
    return partial(_answer, models, limits)


def _answer(models: Models, limits: Limits, task: Task) -> Answer | list[Task]:
    shape, does = TASKS[task.name]
    try:
        data = json.loads(task.body)
    except (ValueError, RecursionError) as error:
        return problem(400, "NotJSON", f"the request is not JSON: {error}")
    try:
        return does(models, limits, shape.model_validate(data))
    except ValidationError as error:
        return invalid(error.errors(include_url=False, include_context=False, include_input=False))
    except RhetoricaError as error:
        return refusal(error)


def parse(models: Models, limits: Limits, request: schemas.ParseRequest) -> Answer:
    """Parse one document."""
    doc = _one(read(limits, request)).document
    return _written(models[_recipe(request)](doc, kbest=request.kbest), request.to)


def _recipe(options: schemas.ParseOptions) -> Recipe:
    return Recipe(options.language, options.parser, options.segmenter, options.model)


def parts(_: Models, limits: Limits, request: schemas.BatchRequest) -> list[Task]:
    """Make a request of every document of a batch."""
    if len(request.documents) > limits.max_batch:
        raise TooLarge(
            f"{len(request.documents)} documents, the most in a batch is {limits.max_batch}"
        )
    how = request.model_dump(exclude={"documents"})
    return [
        Task("parse", json.dumps(content.model_dump() | how).encode())
        for content in request.documents
    ]


def segment(models: Models, limits: Limits, request: schemas.SegmentRequest) -> Answer:
    """Cut one document into EDUs, anew."""
    recipe = Recipe(request.language, None, request.segmenter, request.model)
    parse = models[recipe].segment(_one(read(limits, request)).document)
    return _written(parse, request.to)


def convert(_: Models, limits: Limits, request: schemas.ConvertRequest) -> Answer:
    """Write documents in another format."""
    parses = read(limits, request)
    style = formats.Style(request.multinuclear, request.tokenized, request.binary)
    text = formats.write([_with_tokens(parse, request.to) for parse in parses], request.to, style)
    return Answer(_encoded(text), JSON if request.to == "json" else PLAIN)


def score(_: Models, limits: Limits, request: schemas.ScoreRequest) -> Answer:
    """Score documents against the right ones."""
    golds, preds = read(limits, request.gold), read(limits, request.predicted)
    if len(golds) == len(preds) == 1:  # what they are called does not matter then
        golds, preds = ([_renamed(parses[0], "document")] for parses in (golds, preds))
    labels = relation_set(request.labels) if request.labels else None
    report = evaluate(
        golds,
        preds,
        labels=labels.coarse if labels else None,
        label_name=labels.label_name if labels else "as-is",
        convention=request.multinuclear,
    )
    return as_json(report.to_dict())


def compare(_: Models, limits: Limits, request: schemas.CompareRequest) -> Answer:
    """Tell where two analyses of one text differ, and how far they agree."""
    this, other = (
        _renamed(_one(read(limits, content)), "document")
        for content in (request.this, request.other)
    )
    if request.labels:
        coarse = relation_set(request.labels).coarse
        this, other = this.relabel(coarse), other.relabel(coarse)
    report = evaluate([this], [other], label_name=request.labels or "as-is")
    figures = {name: report[key].f1 for name, key in _AGREEMENT.items() if key in report.totals}
    return as_json(
        {
            "figures": {name: None if f != f else round(f, 4) for name, f in figures.items()},
            "differences": [found._asdict() for found in diff(this, other)],
            "views": [page_view(this), page_view(other)],
        }
    )


def draw(_: Models, limits: Limits, request: schemas.RenderRequest) -> Answer:
    """Draw one document."""
    parse = _one(read(limits, request))
    media = PICTURES[request.to]
    if request.to == "html":
        return Answer(_encoded(render.render_html(parse, theme=request.theme)), media)
    how: Any = {"view": request.view, "theme": request.theme, "orient": request.orient}
    if request.to == "latex":
        return Answer(_encoded(render.render_latex(parse, view=request.view)), media)
    if request.to in ("png", "pdf"):
        paint = render.render_png if request.to == "png" else render.render_pdf
        return Answer(paint(parse, **how), media)
    return Answer(_encoded(render.render_svg(parse, **how)), media)


def correct(_: Models, limits: Limits, request: schemas.EditRequest) -> Answer:
    """Apply corrections one after the other."""
    parse = _one(read(limits, request))
    for operation in request.operations:
        parse = _apply(parse, operation)
    return Answer(_encoded(write_json(parse, indent=None)))


def points(_: Models, limits: Limits, request: schemas.PointsRequest) -> Answer:
    """Tell where a unit can be attached."""
    parse = _one(read(limits, request))
    return as_json({"points": edit.attachment_points(parse, request.unit)})


def view(_: Models, limits: Limits, request: schemas.Content) -> Answer:
    """Prepare one document for the page."""
    return as_json(page_view(_one(read(limits, request))))


def dialogue(_: Models, limits: Limits, request: schemas.DialogueRequest) -> Answer:
    """Find the flow behind dialogues: as data, as a picture and as a page."""
    _check_length(limits, len(request.content))
    source = Source("input", decode(_encoded(request.content), "input"))
    settings = Settings(
        model=request.model, states=request.states, topics=request.topics, sweeps=request.sweeps,
        samples=min(10, request.sweeps), seed=request.seed,
    )  # fmt: skip
    reading = read_dialogues(source, format=request.format)
    model = fit(reading.dialogues, settings)
    flow = flow_of(model, groups=model.groups() if request.merge else ())
    return as_json(
        {
            "dialogues": len(reading.dialogues),
            "empty_turns": reading.empty_turns,
            "flow": flow.to_json(),
            "svg": flow_svg(flow, threshold=request.threshold),
            "html": flow_html(flow, threshold=request.threshold),
            "mermaid": flow.to_mermaid(request.threshold),
        }
    )


def relations_of(name: str) -> dict[str, list[dict[str, str]]]:
    """Return the relations of a set, and its classes, with what they mean."""
    found = relation_set(name).relations
    classes = sorted({(relation.coarse, relation.type) for relation in found})
    return {
        "relations": [_meaning(r.name, r.type) | {"class": r.coarse} for r in found],
        "classes": [_meaning(label, type) for label, type in classes],
    }


def _meaning(name: str, type: str) -> dict[str, str]:
    meaning = explain(name)
    return {
        "name": name,
        "type": type,
        "definition": meaning.definition,
        "example": meaning.example,
    }


def read(limits: Limits, content: schemas.Content) -> list[Parse]:
    """Return the documents of a request; raw text is a document without EDUs."""
    name = content.name or "input"
    if isinstance(content.content, dict):
        if content.format != "json":
            raise FormatError(name, None, f"an object is json, not {content.format}: give a string")
        return _checked(limits, [from_dict(content.content, name, id=content.name)])
    # By way of bytes, as files come: the same rules for line ends and byte order marks.
    data = _encoded(content.content, name)
    if content.format == "text":
        text = data.decode("utf-8-sig")
        return _checked(limits, [Parse(Document(text, id=content.name))])
    source = Source(name, decode(data, name))
    parses = list(formats.read(source, content.format))
    if not content.name:
        parses = [_renamed(p, "") if p.id == name else p for p in parses]
    return _checked(limits, parses)


def _written(parse: Parse, to: str) -> Answer:
    if to == "json":
        return Answer(_encoded(write_json(parse, indent=None)))
    return Answer(_encoded(formats.write(_with_tokens(parse, to), to)), PLAIN)


def _with_tokens(parse: Parse, to: str) -> Parse:
    """Add tokens and syntax, if they are missing and the format needs them."""
    return parse.tokenized() if formats.get_format(to).needs_tokens else parse


_EDITS: dict[str, Callable[..., Parse]] = {
    "relabel": edit.relabel,
    "nuclearity": edit.set_nuclearity,
    "reattach": edit.reattach,
    "split": edit.split_edu,
    "merge": edit.merge_edus,
    "choose": edit.choose,
    "begin": edit.begin,
    "add-edge": edit.add_edge,
    "remove-edge": edit.remove_edge,
    "add-signal": edit.add_signal,
    "remove-signal": edit.remove_signal,
}
"""What does an operation of `schemas`; its other fields are the function's arguments."""


def _apply(parse: Parse, operation: schemas.Operation) -> Parse:
    return _EDITS[operation.op](parse, **operation.model_dump(exclude={"op"}))


def _one(parses: list[Parse]) -> Parse:
    if len(parses) != 1:
        raise FormatError("input", None, f"{len(parses)} documents, expected one")
    return parses[0]


def _checked(limits: Limits, parses: list[Parse]) -> list[Parse]:
    _check_length(limits, sum(len(parse.document.text) for parse in parses))
    return parses


def _check_length(limits: Limits, size: int) -> None:
    if size > limits.max_chars:
        raise TooLarge(
            f"the text has {size:,} characters, the most that this service takes is "
            f"{limits.max_chars:,}: send it in parts, or start it with a higher --max-chars"
        )


def _renamed(parse: Parse, id: str) -> Parse:
    return replace(parse, document=replace(parse.document, id=id))


def _encoded(text: str, name: str = "answer") -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FormatError(
            name, None, f"half of a surrogate pair, {text[error.start]!r}, is not a character"
        ) from None


Does = Callable[[Models, Limits, Any], Answer | list[Task]]
TASKS: dict[str, tuple[type[schemas.Model], Does]] = {
    "parse": (schemas.ParseRequest, parse),
    "parse/batch": (schemas.BatchRequest, parts),
    "segment": (schemas.SegmentRequest, segment),
    "convert": (schemas.ConvertRequest, convert),
    "score": (schemas.ScoreRequest, score),
    "compare": (schemas.CompareRequest, compare),
    "render": (schemas.RenderRequest, draw),
    "edit": (schemas.EditRequest, correct),
    "edit/points": (schemas.PointsRequest, points),
    "dialogue": (schemas.DialogueRequest, dialogue),
    "view": (schemas.Content, view),
}
"""What can be asked for: its path, the shape of the request, and what is done."""
