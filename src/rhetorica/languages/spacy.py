"""Tokens, sentences, tags, lemmas and dependencies by a spaCy pipeline, ours or a user's own.

Layers that a document already has (gold tokens, gold sentences) are kept.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rhetorica.document import Document, Span, Token
from rhetorica.kernels import numeric_threads

if TYPE_CHECKING:
    from spacy.language import Language as Spacy
    from spacy.tokens import Doc

_CHUNK = 20_000
"""Characters that are analysed at a time; texts are cut for this between paragraphs."""
_LONGEST = 30_000
"""Paragraphs of more characters are cut, too, as memory grows with them: after what may end a
sentence, if there is one, else between words."""
_END = re.compile(r"[.!?][\"'”’)\]]*\s+")
_SPACE = re.compile(r"\s+")
_BATCH = 4
_ONE_AT_A_TIME = RLock()
"""Pipelines share vocabularies that threads must not change at the same time."""


class _Piece(NamedTuple):
    """A part of a document that is analysed by itself, ``text[start:end]``.

    ``marks`` are those places in it, from its start, where sentences are known to start.
    """

    doc: Document
    start: int
    end: int
    marks: set[int]

    @property
    def is_last(self) -> bool:
        return self.end == len(self.doc.text)


def with_spacy(nlp: Spacy, documents: Iterable[Document]) -> Iterator[Document]:
    """Annotate a stream of documents; at any time only a few are in memory."""
    pieces = (piece for document in documents for piece in _pieces(document))
    tokens: list[Token] = []
    starts: list[int] = []
    # The stream is somebody else's, and may wait for a thread that waits for the lock: it is not
    # asked for more while we hold it.
    while batch := list(islice(pieces, _BATCH)):
        read: list[tuple[Document, list[Token], list[int]]] = []
        with _ONE_AT_A_TIME, numeric_threads():
            spacy_docs = nlp.pipe([_made(piece, nlp) for piece in batch], batch_size=_BATCH)
            for piece, spacy_doc in zip(batch, spacy_docs, strict=True):
                starts += _read_tokens(spacy_doc, piece.start, tokens)
                if piece.is_last:
                    read.append((piece.doc, tokens, starts))
                    tokens, starts = [], []
        for found in read:
            yield _with_syntax(*found)


def _pieces(doc: Document) -> Iterator[_Piece]:
    """Cut a text into pieces for the pipeline."""
    cuts = [0] if doc.tokens else _cuts(doc)
    starts = sorted(span.start for span in (doc.sentences or doc.paragraphs))
    for start, end in zip(cuts, [*cuts[1:], len(doc.text)], strict=True):
        inside = starts[bisect_left(starts, start) : bisect_left(starts, end)]
        yield _Piece(doc, start, end, {at - start for at in inside})


def _made(piece: _Piece, nlp: Spacy) -> Doc:
    """Make a spaCy document of a piece, with what is known of it."""
    doc = piece.doc
    if doc.tokens:
        return _from_tokens(piece, nlp)
    made = nlp.make_doc(doc.text[piece.start : piece.end])
    _mark(made, piece.marks, known=bool(doc.sentences))
    return made


def _cuts(doc: Document) -> list[int]:
    """Return where the pieces of a text start."""
    cuts = [0]
    starts = [0, *(span.start for span in doc.paragraphs[1:])]
    inside = sorted(span.start for span in doc.sentences)  # known: cut between them only
    for start, end in zip(starts, [*starts[1:], len(doc.text)], strict=True):
        is_long = end - start > _LONGEST
        if start - cuts[-1] > _CHUNK or (is_long and start > cuts[-1]):
            cuts.append(start)
        while is_long and end - cuts[-1] > _LONGEST:
            at = _cut(doc.text, cuts[-1], inside)
            if at >= end:
                break
            cuts.append(at)
    return cuts


def _cut(text: str, start: int, sentences: list[int]) -> int:
    """Return where to cut a long paragraph whose next piece starts here."""
    low, high = start + _CHUNK, start + _LONGEST
    if sentences:
        place = bisect_left(sentences, low)
        return sentences[place] if place < len(sentences) else len(text)
    for mark in (_END, _SPACE):
        if found := mark.search(text, low, high):
            return found.end()
    found = _SPACE.search(text, high)
    return found.end() if found else len(text)


def _from_tokens(given: _Piece, nlp: Spacy) -> Doc:
    """Make a spaCy document of tokens that are given already."""
    from spacy.tokens import Doc as SpacyDoc

    doc = given.doc
    words = [doc.form(token) for token in doc.tokens]
    ends = [*(token.start for token in doc.tokens[1:]), len(doc.text)]
    spaces = [end > token.end for token, end in zip(doc.tokens, ends, strict=True)]
    piece = SpacyDoc(nlp.vocab, words=words, spaces=spaces)
    numbers = {i for i, token in enumerate(doc.tokens) if token.start in given.marks}
    _mark(piece, {piece[i].idx for i in numbers}, known=bool(doc.sentences))
    return piece


def _mark(piece: Doc, starts: set[int], *, known: bool) -> None:
    """Tell the pipeline where sentences start: for certain there, and only there if ``known``."""
    from spacy.attrs import SENT_START

    # Setting one array costs one pass; setting a token's attribute scans the whole document.
    marks = [1 if token.idx in starts else -known for token in piece]
    piece.from_array(SENT_START, np.array(marks, dtype="int64").astype("uint64"))


def _read_tokens(piece: Doc, offset: int, tokens: list[Token]) -> list[int]:
    """Append a piece's tokens, white space left out; return the indices that start sentences."""
    columns = ("IDX", "LENGTH", "LEMMA", "POS", "TAG", "HEAD", "DEP", "SENT_START", "IS_SPACE")
    table = piece.to_array(list(columns)).astype("int64").tolist() if len(piece) else []
    strings = piece.vocab.strings
    names: dict[int, str] = {}

    def name(key: int) -> str:
        if key not in names:
            names[key] = strings[key & 0xFFFFFFFFFFFFFFFF] if key else ""
        return names[key]

    base = len(tokens)
    numbers: list[int] = []  # of each spaCy token, the number of the token at or before it
    for row in table:
        numbers.append(base if not numbers else numbers[-1])
        if not row[8]:
            numbers[-1] = base
            base += 1
    starts: list[int] = []
    pending = True
    for i, (at, length, lemma, pos, tag, head, dep, sentence, space) in enumerate(table):
        pending = pending or sentence == 1
        if space:
            continue
        governor = i + head
        is_root = head == 0 or bool(table[governor][8])
        if pending:
            starts.append(len(tokens))
            pending = False
        tokens.append(
            Token(
                offset + at,
                offset + at + length,
                lemma=name(lemma),
                pos=name(pos),
                tag=name(tag),
                head=-1 if is_root else numbers[governor],
                deprel="root" if is_root else name(dep),
            )
        )
    return starts


def _with_syntax(doc: Document, tokens: list[Token], starts: list[int]) -> Document:
    if not tokens:
        return doc
    if doc.tokens:  # the words were given: they keep their place and form
        tokens = [
            given._replace(
                lemma=given.lemma or found.lemma,
                pos=given.pos or found.pos,
                tag=given.tag or found.tag,
                head=found.head,
                deprel=found.deprel,
            )
            for given, found in zip(doc.tokens, tokens, strict=True)
        ]
    sentences = doc.sentences
    if not sentences:
        ends = [*starts[1:], len(tokens)]
        sentences = tuple(
            Span(tokens[first].start, tokens[last - 1].end)
            for first, last in zip(starts, ends, strict=True)
        )
    return replace(doc, tokens=tuple(tokens), sentences=sentences)
