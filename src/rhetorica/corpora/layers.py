"""Put together what a corpus keeps in different files: text and syntax, units and tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rhetorica.document import Document, Span
from rhetorica.errors import FormatError, Mismatch
from rhetorica.files import Source
from rhetorica.formats.conllu import read_conllu
from rhetorica.parses import Parse


def read_one_conllu(path: Path) -> Document:
    """Read a CoNLL-U file that holds one document."""
    documents = [parse.document for parse in read_conllu(path)]
    if len(documents) != 1:
        raise FormatError(str(path), None, f"{len(documents)} documents, expected one")
    return documents[0]


def cut_by_words(doc: Document, units: Parse, path: Path) -> Parse:
    """Give a document the EDUs and tree of a parse whose text is the same words, space-separated.

    Words are counted, not compared: a handful of GUM's differ between its layers.
    """
    tokens = doc.tokens
    edus: list[Span] = []
    at = 0
    for text in units.edus:
        first, at = at, at + len(text.split())
        if at > len(tokens):
            break
        edus.append(Span(tokens[first].start, tokens[at - 1].end))
    if at != len(tokens):
        words = sum(len(text.split()) for text in units.edus)
        raise FormatError(str(path), None, f"{words} words, but the syntax has {len(tokens)}")
    return replace(units, document=replace(doc, edus=tuple(edus), id=doc.id or units.id))


def place(pieces: Sequence[str], text: str) -> list[Span]:
    """Find consecutive pieces in a text, ignoring how either puts its white space.

    >>> place(["a b", "c."], "a  b c.")
    [Span(start=0, end=4), Span(start=5, end=7)]
    """
    visible = [index for index, character in enumerate(text) if not character.isspace()]
    spans: list[Span] = []
    at = 0
    for piece in pieces:
        first = at
        for character in piece:
            if character.isspace():
                continue
            if at == len(visible) or text[visible[at]] != character:
                found = text[visible[at] :][:20] if at < len(visible) else "the end"
                raise Mismatch(f"unit {piece[:40]!r} does not stand in the text: found {found!r}")
            at += 1
        if at > first:
            spans.append(Span(visible[first], visible[at - 1] + 1))
    if at < len(visible):
        raise Mismatch(f"the text goes on with {text[visible[at] :][:20]!r} where the units end")
    return spans


def read_brackets(path: Path) -> tuple[str, ...]:
    """Read phrase structures: bracketed trees, one after the other, each returned on one line."""
    source = Source.of(path)
    trees: list[str] = []
    depth = start = 0
    for at, character in enumerate(source.text):
        if character == "(":
            if not depth:
                start = at
            depth += 1
        elif character == ")":
            depth -= 1
            if not depth:
                trees.append(" ".join(source.text[start : at + 1].split()))
    if depth:
        raise source.error("unbalanced brackets in this tree", source.line_at(start))
    return tuple(trees)
