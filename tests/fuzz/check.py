"""What must hold of every input: ours or a FormatError, in time, nothing lost, round trips."""

from __future__ import annotations

import json
import random
import time
import warnings
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

from fuzz.mutate import mutated
from rhetorica import Document, Join, Parse, RSTTree, Span, Token, formats
from rhetorica.errors import FormatError, InvalidTree, NonProjective, RepairWarning, RhetoricaError
from rhetorica.files import Source
from rhetorica.formats import FORMATS

SLOW = 2.0
READABLE = tuple(name for name, format in FORMATS.items() if format.read)


def _parse(id: str, edus: list[str], joins: tuple[Join, ...]) -> Parse:
    doc = Document.from_edus(edus, id=id)
    tokens = [
        Token(edu.start + at, edu.start + at + len(word))
        for edu in doc.edus
        for word, at in _words(doc.text[edu.start : edu.end])
    ]
    half = len(doc.edus) // 2
    cut = doc.edus[half].start if half else 0
    parts = (Span(0, cut - 1), Span(cut, len(doc.text))) if cut else (Span(0, len(doc.text)),)
    doc = replace(doc, tokens=tuple(tokens), sentences=parts, paragraphs=parts)
    return Parse(doc, RSTTree(len(edus), joins))


def _words(text: str) -> Iterator[tuple[str, int]]:
    at = 0
    for word in text.split():
        at = text.index(word, at)
        yield word, at
        at += len(word)


PARSES = (
    _parse("one", ["Rain."], ()),
    _parse(
        "wet",
        ["People say", "it is wet", "because it rained", "and poured,", "all day."],
        (
            Join(0, 1, 5, "SN", "attribution"),
            Join(1, 2, 5, "NS", "cause"),
            Join(2, 4, 5, "NS", "circumstance"),
            Join(2, 3, 4, "NN", "list"),
        ),
    ),
    _parse(
        "odd",
        ["Emoji 😀 & <tags>", "שלום עולם", "日本語。"],
        (Join(0, 1, 3, "NN", "joint"), Join(1, 2, 3, "NS", "elaboration-additional")),
    ),
)


def seeds(format: str) -> list[str]:
    """Return small files of our own in a format."""
    found = [formats.write(parse, format) for parse in PARSES]
    if FORMATS[format].many:
        found.append(formats.write(PARSES, format))
    return found


class Failure(Exception):
    """What went wrong with an input."""


def check(format: str, text: str, to: str = "") -> str:
    """Read an input, and write it again, also ``to`` another format.

    Return "accepted" or "refused", or raise a `Failure`.
    """
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RepairWarning)
            parses = list(formats.read(Source(f"x.{format}", text), format))
    except FormatError as error:
        _in_time(begin)
        if len(str(error)) > 1000:
            raise Failure(f"a message of {len(str(error))} characters") from None
        return "refused"
    except Exception as error:
        raise Failure(f"uncaught {type(error).__name__}: {str(error)[:100]}") from error
    _in_time(begin)
    _nothing_lost(format, text, parses)
    for parse in parses:
        _usable(parse)
        _comes_back(format, parse)
        if to:
            _comes_back(to, _with_words(parse) if FORMATS[to].needs_tokens else parse, of=format)
    return "accepted"


def _with_words(parse: Parse) -> Parse:
    """Add tokens, the words between spaces, if there are none."""
    doc = parse.document
    if doc.tokens:
        return parse
    tokens = [
        Token(edu.start + at, edu.start + at + len(word))
        for edu in doc.edus
        for word, at in _words(doc.text[edu.start : edu.end])
    ]
    return replace(parse, document=replace(doc, tokens=tuple(tokens)))


def _in_time(begin: float) -> None:
    if (seconds := time.process_time() - begin) > SLOW:
        raise Failure(f"took {seconds:.1f} s")


def _usable(parse: Parse) -> None:
    """Every shape can be had, but for the constituents of crossing arcs."""
    if parse.source is None:
        return
    try:
        _ = parse.dependencies, parse.annotated, parse.tree
    except NonProjective:
        pass
    except InvalidTree as error:
        raise Failure(f"read, and then unusable: {error}") from None


def _comes_back(format: str, parse: Parse, of: str = "") -> None:
    try:
        text = formats.write(parse, format)
    except RhetoricaError:
        return  # a clear refusal is allowed, a change in silence is not
    what = f"{of} to {format}" if of else "round trip"
    try:
        (again,) = formats.read(Source(f"x.{format}", text), format)
    except FormatError as error:
        if not parse.document.text.strip():
            return  # there is nothing to be lost
        raise Failure(f"{what}: own output unreadable: {error}") from None
    if _squeezed(again.edus) != _squeezed(parse.edus):
        raise Failure(f"{what} changes the EDUs")
    if parse.source is not None and again.source is not None:
        # A tree of constituents cannot tell which of several nuclei was the head.
        shape = _joins if of and format in ("rs3", "rs4", "dis") else _arcs
        if shape(parse) != shape(again):
            raise Failure(f"{what} changes the tree")


def _joins(parse: Parse) -> list[tuple[object, ...]]:
    joins = parse.tree.joins
    names = _squeezed([join.relation for join in joins])
    return [(*join[:4], name) for join, name in zip(joins, names, strict=True)]


def _arcs(parse: Parse) -> list[tuple[int, str]]:
    """Return heads and relations; most formats have no place for what the root is called."""
    tree = parse.dependencies
    arcs = zip(tree.heads, _squeezed(list(tree.relations)), strict=True)
    return [(head, name if head >= 0 else "") for head, name in arcs]


def _squeezed(texts: list[str]) -> list[str]:
    # What XML and line-based formats cannot hold is replaced by U+FFFD or a space, as documented.
    kept = ["".join(c for c in text if c.isprintable() and not c.isspace()) for text in texts]
    return [text.replace("\ufffd", "") for text in kept]


def _nothing_lost(format: str, text: str, parses: list[Parse]) -> None:
    """Compare the characters of the units with those that a second, crude reader sees."""
    expected = _crude(format, text)
    if expected is None:
        return
    found = Counter("".join("".join(parse.document.text.split()) for parse in parses))
    if missing := Counter("".join(expected.split())) - found:
        raise Failure(f"characters lost: {''.join(missing.elements())[:40]!r}")


def _crude(format: str, text: str) -> str | None:
    if format in ("rs3", "rs4"):
        root = ElementTree.fromstring(text.lstrip("\ufeff"))
        return "".join("".join(body.itertext()) for body in root.iter("segment"))
    if format == "dep":
        nodes = json.loads(text.lstrip("\ufeff"))["root"][1:]
        return "".join(node["text"].strip().removesuffix("<S>") for node in nodes)
    if format == "edus":
        return "".join(row.strip().removesuffix("<S>") for row in text.split("\n"))
    if format == "rsd":
        rows = [row.split("\t") for row in text.replace("\r", "\n").split("\n") if row.strip()]
        return "".join(row[1] for row in rows if len(row) == 10)
    return None


def check_growth(
    format: str, text: Callable[[int], str], clock: Callable[[], float] = time.process_time
) -> None:
    """Eight times the input may cost some forty times the work at most: quadratic is sixty-four."""

    def cost(size: int) -> float:
        begin = clock()
        with suppress(RhetoricaError), warnings.catch_warnings():
            warnings.simplefilter("ignore", RepairWarning)
            for parse in formats.read(Source(f"x.{format}", text(size)), format):
                _usable(parse)
        return clock() - begin

    small = max(cost(20_000), 2e-3)
    # Something else may have had to be done just then: the best of three counts.
    if all(cost(160_000) > 40 * small for _ in range(3)):
        raise Failure(f"{format}: not linear: {text(100)!r}")


def run(format: str, count: int, seed: int = 0) -> Counter[str]:
    """Check so many mutated files of a format; return how many were accepted and refused."""
    rng = random.Random(f"{format}-{seed}")
    start = seeds(format)
    outcomes: Counter[str] = Counter()
    for number in range(count):
        text = mutated(rng, start)
        try:
            outcomes[check(format, text, READABLE[number % len(READABLE)])] += 1
        except Failure as failure:
            raise Failure(
                f"{format}, input {number} of seed {seed}: {failure}\n{text!r}"
            ) from failure
    return outcomes
