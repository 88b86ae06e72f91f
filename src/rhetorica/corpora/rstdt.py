"""RST Discourse Treebank (Carlson et al. 2002, LDC2002T07): for those who hold the licence.

The corpus's folder has ``TRAINING`` and ``TEST``; each document is a tree (``wsj_0600.out.dis``),
its raw text (``wsj_0600.out``, or ``file1`` for five documents) and its units one a line
(``wsj_0600.out.edus``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rhetorica.corpora.layers import place
from rhetorica.document import Document, Span
from rhetorica.errors import FormatError, Mismatch
from rhetorica.files import Source
from rhetorica.formats.dis import read_dis
from rhetorica.formats.edus import read_edus
from rhetorica.parses import Parse

SPLITS = {"train": "TRAINING", "test": "TEST"}


def read_rstdt(folder: Path | str, split: str | None = None) -> Iterator[Parse]:
    """Read the documents of a split (``train`` or ``test``), or all.

    A document has its raw text where that file is there, with paragraphs from its blank lines;
    otherwise the text is that of the units, with paragraphs from their ``<P>`` marks.
    """
    folder = Path(folder)
    wanted = [SPLITS.get(split, split)] if split else list(SPLITS.values())
    paths = sorted(
        path
        for path in folder.rglob("*.dis")
        if any(part in wanted for part in path.relative_to(folder).parts)
        or (split is None and path.parent == folder)
    )
    if not paths:
        raise FormatError(str(folder), None, f"no .dis file below {' or '.join(wanted)}")
    for path in paths:
        parse = read_dis(path)
        doc = replace(_with_raw_text(parse.document, path), language="en")
        yield replace(parse, document=doc)


def _with_raw_text(doc: Document, path: Path) -> Document:
    raw = path.with_suffix("")
    if not raw.is_file():
        return doc
    text = Source.of(raw).text
    try:
        edus = place(doc.edu_texts, text)
    except Mismatch as error:
        # A few trees quote their text a little wrongly; the file with one unit a line is right.
        lines = Path(f"{raw}.edus")
        if not lines.is_file():
            raise FormatError(str(path), None, str(error)) from None
        try:
            edus = place(read_edus(lines).edus, text)
        except Mismatch as again:
            raise FormatError(str(lines), None, str(again)) from None
    return Document(text, tuple(edus), paragraphs=_paragraphs(text), id=doc.id)


def _paragraphs(text: str) -> tuple[Span, ...]:
    """Return the stretches of text between blank lines."""
    spans: list[Span] = []
    at = start = end = 0
    inside = False
    for line in text.splitlines(keepends=True):
        if line.strip():
            if not inside:
                start = at + len(line) - len(line.lstrip())
            inside, end = True, at + len(line.rstrip())
        elif inside:
            spans.append(Span(start, end))
            inside = False
        at += len(line)
    if inside:
        spans.append(Span(start, end))
    return tuple(spans)
