"""Rhetorica's own JSON (``.json``; ``.jsonl`` with one document a line): everything a parse has.

The command line and the service speak it. Its shape is fixed by a JSON Schema, see `schema`.

``source`` is the tree in the shape in which it was read or predicted, and it alone decides when a
file is read. ``rst`` (binary joins) and ``dependencies`` (later nuclei hang on the first) are
views for programs that want one shape whatever the source was: written where they can be derived,
checked when read, and used only if there is no ``source``: then ``rst``, failing that
``dependencies``. A program that makes parses itself may therefore write just one of them.

Positions are 0-based and ranges half-open, in characters (Unicode code points) of ``text``.
Tokens go by columns, since one object per word would be mostly key names.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache, partial
from importlib import resources
from itertools import chain
from typing import Any, Literal, NamedTuple, NoReturn, cast, get_args, get_origin, get_type_hints

from rhetorica.convert import Tree, to_dependencies
from rhetorica.document import Document, Span, Token
from rhetorica.errors import FormatError, InvalidDocument, InvalidTree, NonProjective
from rhetorica.files import Readable, Source
from rhetorica.parses import Candidate, Parse, Scores
from rhetorica.trees import AnnotatedTree, DepTree, RSTTree

FORMAT = "rhetorica"
VERSION = 1

_WIDTH = 100
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of this format.

    >>> schema()["title"]
    'Rhetorica parse'
    """
    file = resources.files("rhetorica") / "data" / "parse.schema.json"
    return cast(dict[str, Any], json.loads(file.read_text(encoding="utf-8")))


# Writing


def write_json(parse: Parse, *, indent: int | None = 2, views: bool = True) -> str:
    """Write one document; ``indent=None`` puts everything on one line.

    >>> from rhetorica import Join, RSTTree
    >>> doc = Document.from_edus(["It is wet:", "it rained."])
    >>> parse = Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "cause"),)))
    >>> from_dict(json.loads(write_json(parse))) == parse
    True
    """
    data = to_dict(parse, views=views)
    text = _dump(data) if indent is None else _lay_out(data, indent, 0)
    if _SURROGATE_PAIR.search(text):
        raise InvalidDocument(
            f"{parse.id or 'the document'} holds a surrogate pair as two characters, which JSON "
            "cannot tell from one: mend the text with "
            "text.encode('utf-16', 'surrogatepass').decode('utf-16')"
        )
    # UTF-8 has no lone surrogates, but JSON can escape them.
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def write_jsonl(parses: Iterable[Parse], *, views: bool = True) -> Iterator[str]:
    """Write documents as JSON Lines, yielding each line with its end."""
    for parse in parses:
        yield write_json(parse, indent=None, views=views)


def to_dict(parse: Parse, *, views: bool = True) -> dict[str, Any]:
    """Return a parse as plain dicts and lists; without ``views`` only what reading needs."""
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "document": _document_to_dict(parse.document),
    }
    if parse.source is not None:
        data["source"] = _tree_to_dict(parse.source)
        if views:
            with suppress(NonProjective):  # then there are no constituents to show
                data["rst"] = _rst_to_dict(parse.tree)
            data["dependencies"] = _dependencies_to_dict(to_dependencies(parse.source))
    if parse.scores is not None:
        data["scores"] = _scores_to_dict(parse.scores)
    if parse.kbest:
        data["kbest"] = [
            {"score": _finite(entry.score, "k-best score"), "tree": _tree_to_dict(entry.tree)}
            for entry in parse.kbest
        ]
    if parse.provenance:
        data["provenance"] = _strings_to_dict(parse.provenance, "provenance")
    return data


def _document_to_dict(doc: Document) -> dict[str, Any]:
    data: dict[str, Any] = {"id": doc.id}
    if doc.language:
        data["language"] = doc.language
    data["text"] = doc.text
    if doc.meta:
        data["meta"] = _strings_to_dict(doc.meta, "meta")
    data["edus"] = [list(span) for span in doc.edus]
    for name, spans in (("sentences", doc.sentences), ("paragraphs", doc.paragraphs)):
        if spans:
            data[name] = [list(span) for span in spans]
    if doc.tokens:
        data["tokens"] = _tokens_to_columns(doc.tokens)
    if doc.constituency:
        data["constituency"] = list(doc.constituency)
    return data


def _tokens_to_columns(tokens: Sequence[Token]) -> dict[str, list[Any]]:
    columns = dict(zip(Token._fields, map(list, zip(*tokens, strict=True)), strict=True))
    defaults = Token._field_defaults
    return {
        name: column
        for name, column in columns.items()
        if name not in defaults or any(value != defaults[name] for value in column)
    }


def _tree_to_dict(tree: Tree) -> dict[str, Any]:
    if isinstance(tree, AnnotatedTree):
        return {"type": "annotated", **_annotated_to_dict(tree)}
    if isinstance(tree, RSTTree):
        return {"type": "rst", **_rst_to_dict(tree)}
    return {"type": "dependencies", **_dependencies_to_dict(tree)}


def _annotated_to_dict(tree: AnnotatedTree) -> dict[str, Any]:
    data: dict[str, Any] = {"nodes": [node._asdict() for node in tree.nodes]}
    if tree.secondary:
        data["secondary"] = [edge._asdict() for edge in tree.secondary]
    if tree.signals:
        data["signals"] = [
            {**signal._asdict(), "tokens": list(signal.tokens)} for signal in tree.signals
        ]
    if tree.inventory:
        data["inventory"] = [list(entry) for entry in tree.inventory]
    if tree.signal_types:
        data["signal_types"] = [[name, list(subtypes)] for name, subtypes in tree.signal_types]
    return data


def _rst_to_dict(tree: RSTTree) -> dict[str, Any]:
    return {"n_edus": tree.n_edus, "joins": [join._asdict() for join in tree.joins]}


def _dependencies_to_dict(tree: DepTree) -> dict[str, Any]:
    data: dict[str, Any] = {"heads": list(tree.heads), "relations": list(tree.relations)}
    if any(tree.multinuclear):
        data["multinuclear"] = list(tree.multinuclear)
    if tree.levels:
        data["levels"] = list(tree.levels)
    return data


def _scores_to_dict(scores: Scores) -> dict[str, list[Any]]:
    columns = {f.name: getattr(scores, f.name) for f in fields(scores) if f.name != "labels"}
    data: dict[str, list[Any]] = {
        name: [_finite(value, f"score for {name}") for value in column]
        for name, column in columns.items()
        if column
    }
    if scores.labels:
        for _, _, probability in chain.from_iterable(scores.labels):
            _finite(probability, "score for labels")
        data["labels"] = [[likely._asdict() for likely in row] for row in scores.labels]
    return data


def _finite(value: float, what: str) -> float:
    if not math.isfinite(value):
        raise InvalidTree(f"a {what} is {value}: JSON has finite numbers only")
    return float(value)


def _strings_to_dict(mapping: Mapping[str, str], what: str) -> dict[str, str]:
    for key, value in mapping.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise InvalidDocument(f"{what} {key!r} is {value!r}: keys and values must be strings")
    return dict(mapping)


def _dump(value: Any) -> str:
    return _ENCODER.encode(value)


def _lay_out(value: Any, indent: int, level: int) -> str:
    """Lay out JSON so that people can read it: small things on one line, long columns filled.

    Recursion goes as deep as the format nests (five levels), not as deep as trees do.
    """
    room = _WIDTH - level * indent
    if not isinstance(value, (dict, list)) or not value or _is_small(value, room):
        return _dump(value)
    pad, close = " " * (indent * (level + 1)), " " * (indent * level)
    if isinstance(value, dict):
        body = ",\n".join(
            f"{pad}{_dump(key)}: {_lay_out(part, indent, level + 1)}" for key, part in value.items()
        )
        return f"{{\n{body}\n{close}}}"
    if isinstance(value[0], dict) or (isinstance(value[0], list) and not _is_small(value[0], 30)):
        parts = ",\n".join(pad + _lay_out(part, indent, level + 1) for part in value)
    else:
        parts = _fill([_dump(part) for part in value], pad)
    return f"[\n{parts}\n{close}]"


def _is_small(value: Any, room: int) -> bool:
    """Tell whether a value fits into a line; what has too many parts is not even tried."""
    return len(value) <= room // 3 and len(_dump(value)) <= room


def _fill(parts: Iterable[str], pad: str) -> str:
    lines: list[list[str]] = [[]]
    width = len(pad)
    for part in parts:
        if lines[-1] and width + len(part) + 2 > _WIDTH:
            lines.append([])
            width = len(pad)
        lines[-1].append(part)
        width += len(part) + 2
    return ",\n".join(pad + ", ".join(line) for line in lines)


# Reading


def read_json(source: Readable) -> Parse:
    """Read one document."""
    source = Source.of(source)
    source.require_content()
    return from_dict(load_json(source.text, source), source.name, id=source.stem)


def read_jsonl(source: Readable) -> Iterator[Parse]:
    """Read JSON Lines, one document a line; empty lines are passed over."""
    source = Source.of(source)
    # Only "\n" ends a line here: str.splitlines would also cut at U+2028 inside a string.
    for number, line in enumerate(source.text.split("\n"), 1):
        if line.strip():
            yield from_dict(load_json(line, source, number), source.name, line=number)


def from_dict(data: Any, where: str = "<data>", *, line: int | None = None, id: str = "") -> Parse:
    """Make a parse from what `to_dict` gives; an error says ``where`` and names the JSON path.

    A document without id gets ``id``.

    >>> from_dict({"format": "rhetorica", "version": 1, "document": {"edus": []}})
    Traceback (most recent call last):
    rhetorica.errors.FormatError: <data>: document: 'text' is missing
    """
    try:
        return _read_parse(data, id)
    except _MalformedError as error:
        raise FormatError(where, line, f"{error.path}: {error.why}") from None


def load_json(text: str, source: Source, line: int | None = None) -> Any:
    """Parse a whole file, or the given line of one."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        why = f"not JSON: {error.msg} (column {error.colno})"
        raise source.error(why, line or error.lineno) from None
    except RecursionError:
        raise source.error("not JSON that can be read: nested too deeply", line) from None
    except ValueError as error:
        raise source.error(f"not JSON that can be read: {error}", line) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict, refusing a key that is there twice: one of the two would be lost."""
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"the key {key!r} is there twice in one object")
        result[key] = value
    return result


class _MalformedError(Exception):
    def __init__(self, path: str, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(why)


class _At(NamedTuple):
    """A value and its JSON path; each method checks that it is what is expected."""

    value: Any
    path: str

    def fail(self, expected: str) -> NoReturn:
        shown = repr(self.value)
        shown = shown if len(shown) <= 40 else shown[:39] + "…"
        raise _MalformedError(self.path, f"expected {expected}, found {shown}")

    def object(self, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, _At]:
        """Check the keys of an object; return its parts."""
        if not isinstance(self.value, dict):
            self.fail("an object")
        for key in required:
            if key not in self.value:
                raise _MalformedError(self.path, f"{key!r} is missing")
        known = {*required, *optional}
        for key in self.value:
            if key not in known:
                raise _MalformedError(
                    self.path, f"unknown key {key!r}, expected {', '.join((*required, *optional))}"
                )
        prefix = "" if self.path == _TOP else self.path + "."
        return {key: _At(value, prefix + key) for key, value in self.value.items()}

    def items(self) -> Iterator[_At]:
        if not isinstance(self.value, list):
            self.fail("an array")
        return (_At(value, f"{self.path}[{index}]") for index, value in enumerate(self.value))

    def plain(self, kind: _Kind) -> Any:
        """Check a plain value."""
        if not kind.good(self.value):
            self.fail(kind.expected)
        return self.value

    def column(self, kind: _Kind) -> list[Any]:
        """Check an array of plain values."""
        if not isinstance(self.value, list):
            self.fail("an array")
        for index, value in enumerate(self.value):
            if not kind.good(value):
                _At(value, f"{self.path}[{index}]").fail(kind.expected)
        return self.value

    def number(self) -> float:
        try:
            value = float(self.value) if type(self.value) in (int, float) else math.nan
        except OverflowError:  # an integer too large for a float
            value = math.inf
        if not math.isfinite(value):
            self.fail("a finite number")
        return value

    def one_of(self, names: Sequence[str]) -> Any:
        if type(self.value) is not str or self.value not in names:
            self.fail(" or ".join(map(repr, names)))
        return self.value

    def string_map(self) -> dict[str, str]:
        if not isinstance(self.value, dict):
            self.fail("an object with strings")
        return {
            key: _At(value, f"{self.path}.{key}").plain(_STRING)
            for key, value in self.value.items()
        }

    def spans(self) -> tuple[Span, ...]:
        return tuple(Span(start, end) for start, end in self.column(_SPAN))

    def pair(self) -> tuple[_At, _At]:
        if type(self.value) is not list or len(self.value) != 2:
            self.fail("an array of two")
        first, second = self.items()
        return first, second


class _Kind(NamedTuple):
    """What a plain value must be: in words, and as a test."""

    expected: str
    good: Callable[[Any], bool]


# type() rather than isinstance(), because True is an int in Python.
_STRING = _Kind("a string", lambda value: type(value) is str)
_BOOLEAN = _Kind("true or false", lambda value: type(value) is bool)
_INTEGER = _Kind("an integer >= 0", lambda value: type(value) is int and value >= 0)
_HEAD = _Kind("an integer >= -1", lambda value: type(value) is int and value >= -1)
_TOKEN_HEAD = _Kind("an integer >= -1 or null", lambda value: value is None or _HEAD.good(value))
_SPAN = _Kind(
    "a pair [start, end] of integers >= 0",
    lambda value: type(value) is list and len(value) == 2 and all(map(_INTEGER.good, value)),
)
_PLAIN: dict[Any, _Kind] = {str: _STRING, bool: _BOOLEAN, int: _INTEGER}
_REQUIRED: dict[Any, tuple[str, ...]] = {
    AnnotatedTree: ("nodes",),
    RSTTree: ("n_edus", "joins"),
    DepTree: ("heads", "relations"),
    Scores: (),
}
"""What must be there of a class whose other fields may be left out."""
_types = cache(get_type_hints)


def _read(at: _At, kind: Any, name: str = "") -> Any:
    """Read a value of a type: plain, a literal, a tuple, or a class with fields of such types."""
    if kind is float:
        return at.number()
    if kind in _PLAIN:
        return at.plain(_HEAD if name == "parent" else _PLAIN[kind])
    if get_origin(kind) is Literal:
        return at.one_of(get_args(kind))
    if get_origin(kind) is tuple:
        first, last = get_args(kind)
        if last is not ...:
            one, other = at.pair()
            return _read(one, first), _read(other, last)
        if first in _PLAIN:
            return tuple(at.column(_HEAD if name == "heads" else _PLAIN[first]))
        return tuple(_read(item, first) for item in at.items())
    types = _types(kind)
    required = _REQUIRED.get(kind, tuple(types))
    part = at.object(required, [field for field in types if field not in required])
    return kind(**{field: _read(value, types[field], field) for field, value in part.items()})


_TOP = "top level"


def _read_parse(data: Any, id: str) -> Parse:
    top = _At(data, _TOP)
    if not isinstance(data, dict):
        top.fail("an object")
    _check_version(data)
    part = top.object(
        ("format", "version", "document"),
        ("source", "rst", "dependencies", "scores", "kbest", "provenance"),
    )
    document = _read_document(part["document"], id)
    rst = _read_view(part.get("rst"), partial(_read, kind=RSTTree), document)
    dependencies = _read_view(part.get("dependencies"), partial(_read, kind=DepTree), document)
    source = _read_view(part.get("source"), _read_tree, document)
    try:
        return Parse(
            document,
            next((tree for tree in (source, rst, dependencies) if tree is not None), None),
            _read(part["scores"], Scores) if "scores" in part else None,
            tuple(map(_read_candidate, part["kbest"].items())) if "kbest" in part else (),
            part["provenance"].string_map() if "provenance" in part else {},
        )
    except InvalidTree as error:
        raise _MalformedError(_TOP, str(error)) from None


def _check_version(data: dict[str, Any]) -> None:
    """Check what kind of file this is before anything else, so that the message is to the point."""
    if data.get("format") != FORMAT:
        raise _MalformedError(
            _TOP, f'expected "format": "{FORMAT}", found {data.get("format")!r}: not our JSON'
        )
    version = data.get("version")
    if type(version) is int and version > VERSION:
        raise _MalformedError(
            "version",
            f"this file has version {version}, this program reads {VERSION}: it was made by a "
            "newer rhetorica, upgrade to read it (pip install -U rhetorica)",
        )
    if type(version) is not int or version != VERSION:
        _At(version, "version").fail(str(VERSION))


def _read_document(at: _At, id: str) -> Document:
    part = at.object(
        ("text",),
        ("id", "language", "meta", "edus", "sentences", "paragraphs", "tokens", "constituency"),
    )
    try:
        return Document(
            part["text"].plain(_STRING),
            part["edus"].spans() if "edus" in part else (),
            _read_tokens(part["tokens"]) if "tokens" in part else (),
            part["sentences"].spans() if "sentences" in part else (),
            part["paragraphs"].spans() if "paragraphs" in part else (),
            part["id"].plain(_STRING) if "id" in part else id,
            part["language"].plain(_STRING) if "language" in part else "",
            tuple(part["constituency"].column(_STRING)) if "constituency" in part else (),
            part["meta"].string_map() if "meta" in part else {},
        )
    except InvalidDocument as error:
        raise _MalformedError(at.path, str(error)) from None


def _read_tokens(at: _At) -> tuple[Token, ...]:
    part = at.object(("start", "end"), Token._fields[2:])
    columns = {
        name: column.column(_TOKEN_HEAD if name == "head" else _PLAIN[_types(Token)[name]])
        for name, column in part.items()
    }
    count = len(columns["start"])
    for name, column in columns.items():
        if len(column) != count:
            raise _MalformedError(
                f"{at.path}.{name}", f"{len(column)} values for {count} tokens (as in 'start')"
            )
    defaults = Token._field_defaults
    full = [columns.get(name) or [defaults.get(name)] * count for name in Token._fields]
    return tuple(map(Token._make, zip(*full, strict=True)))


def _read_view(at: _At | None, read: Callable[[_At], Tree], document: Document) -> Tree | None:
    """Read a tree, if it is there, and check that it is one over the document's EDUs."""
    if at is None:
        return None
    try:
        tree = read(at)
    except InvalidTree as error:
        raise _MalformedError(at.path, str(error)) from None
    if tree.n_edus != len(document.edus):
        raise _MalformedError(
            at.path, f"a tree over {tree.n_edus} EDUs for a text with {len(document.edus)}"
        )
    return tree


def _read_tree(at: _At) -> Tree:
    if not isinstance(at.value, dict):
        at.fail("an object")
    kinds = {"annotated": AnnotatedTree, "rst": RSTTree, "dependencies": DepTree}
    name = _At(at.value.get("type"), f"{at.path}.type").one_of(tuple(kinds))
    inner = _At({key: value for key, value in at.value.items() if key != "type"}, at.path)
    return cast(Tree, _read(inner, kinds[name]))


def _read_candidate(at: _At) -> Candidate:
    part = at.object(("score", "tree"))
    try:
        tree = _read_tree(part["tree"])
    except InvalidTree as error:
        raise _MalformedError(part["tree"].path, str(error)) from None
    if isinstance(tree, AnnotatedTree):
        part["tree"].fail("a tree of type 'rst' or 'dependencies'")
    return Candidate(tree, part["score"].number())
