"""RST Discourse Treebank (Carlson et al. 2002, LDC2002T07): for those who hold the licence.

The corpus's folder has ``TRAINING`` and ``TEST``; each document is a tree (``wsj_0600.out.dis``),
its raw text (``wsj_0600.out``, or ``file1`` for five documents) and its units one a line
(``wsj_0600.out.edus``). There is no dev set: every tenth document of ``TRAINING``, by name, is one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rhetorica.corpora.layers import place
from rhetorica.corpora.ptb import article, find_article, with_phrases
from rhetorica.document import Document, Span
from rhetorica.errors import FormatError, Mismatch, RepairWarning, UnknownName
from rhetorica.files import Source, document_id
from rhetorica.formats.dis import read_dis
from rhetorica.formats.edus import read_edus
from rhetorica.parses import Parse

FOLDERS = {"train": "TRAINING", "dev": "TRAINING", "training": "TRAINING", "test": "TEST"}
DEV = 10
"""Of the training documents, the last of every so many are dev."""


def read_rstdt(
    folder: Path | str, split: str | None = None, *, ptb: Path | str | None = None
) -> Iterator[Parse]:
    """Read the documents of a split, or all.

    ``training`` and ``test`` are those of the corpus; ``dev`` is every tenth document of
    ``training``, by name, and ``train`` the others. A document has its raw text where that file is
    there, with paragraphs from its blank lines; otherwise the text is that of the units, with
    paragraphs from their ``<P>`` marks. ``ptb`` is the folder of the Penn Treebank, for syntax: a
    document without an article there is left without, and a `RepairWarning` tells.
    """
    folder = Path(folder)
    if split is not None and split not in FOLDERS:
        raise UnknownName("split of RST-DT:", split, FOLDERS)
    wanted = [FOLDERS[split]] if split else list(dict.fromkeys(FOLDERS.values()))
    paths = sorted(
        (
            path
            for path in folder.rglob("*.dis")
            if any(part in wanted for part in path.relative_to(folder).parts)
            or (split is None and path.parent == folder)
        ),
        key=lambda path: (path.parent, document_id(path)),
    )
    if not paths:
        why = f"no .dis file below {' or '.join(wanted)}" if folder.is_dir() else "no such folder"
        said = f"{why}; expected the corpus's folder, with TRAINING and TEST somewhere below it"
        raise FormatError(str(folder), None, said)
    for number, path in enumerate(paths, 1):
        if split in ("train", "dev") and (split == "dev") != (number % DEV == 0):
            continue
        parse = read_dis(path)
        doc = replace(_with_raw_text(parse.document, path), language="en")
        yield replace(parse, document=_with_syntax(doc, ptb) if ptb else doc)


def _with_syntax(doc: Document, ptb: Path | str) -> Document:
    """Add the treebank's syntax, where it has the article."""
    path = find_article(ptb, doc.id)
    why = f"the Penn Treebank has no {article(doc.id)}.mrg"
    if path is not None:
        try:
            return with_phrases(doc, path)
        except Mismatch as error:
            why = str(error)
    warnings.warn(f"{doc.id}: {why}; its syntax will be predicted", RepairWarning, stacklevel=3)
    return doc


def _with_raw_text(doc: Document, path: Path) -> Document:
    raw = path.with_suffix("")
    if not raw.is_file():
        return doc
    text = Source.of(raw).text
    lines = Path(f"{raw}.edus")
    why = ""
    # A few trees quote their text a little wrongly; the file with one unit a line is right.
    for units in (doc.edu_texts, read_edus(lines).edus if lines.is_file() else []):
        try:
            edus = place(units, text)
        except Mismatch as error:
            why = why or str(error)
        else:
            if len(edus) == len(doc.edus):
                return Document(text, tuple(edus), paragraphs=_paragraphs(text), id=doc.id)
    warnings.warn(
        f"{path}: {why or 'other units than the raw text has'}; the text of the tree is taken",
        RepairWarning,
        stacklevel=4,
    )
    return doc


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
