"""``.edu``, ``.edus``: one EDU a line, a blank line between paragraphs: file <-> Parse.

SciDTB gives its segmentation like this, with ``<S>`` at the end of a sentence; so does RST-DT,
whose lines are indented.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from rhetorica.document import Document, Span, locate
from rhetorica.errors import FormatError, InvalidDocument
from rhetorica.files import Readable, Source
from rhetorica.formats._arcs import edu_lines
from rhetorica.parses import Parse

SENTENCE_END = "<S>"


def read_edus(source: Readable) -> Parse:
    r"""Read the EDUs (and paragraphs, if there are blank lines; sentences, if marked); no tree.

    >>> from io import StringIO
    >>> read_edus(StringIO("   Wet,\n   because it rained.\n")).edus
    ['Wet,', 'because it rained.']
    """
    source = Source.of(source)
    source.require_content()
    texts: list[str] = []
    ends: list[bool] = []
    starts: list[int] = []
    fresh = True
    for line, row in enumerate(source.text.split("\n"), 1):
        text, is_end = split_sentence_end(row)
        if not text:
            if is_end:
                raise source.error(f"{SENTENCE_END} stands alone, expected an EDU before it", line)
            fresh = True
            continue
        if fresh:
            starts.append(len(texts))
            fresh = False
        texts.append(text)
        ends.append(is_end)
    return Parse(join_edus(texts, ends, starts, id=source.stem))


def write_edus(parse: Parse, *, tokenized: bool = False, sentence_ends: bool = False) -> str:
    """Return the file's text; ``sentence_ends`` marks the last EDU of a sentence with ``<S>``."""
    document = parse.document
    check_cut(document)
    paragraphs = document.edu_paragraphs() if document.paragraphs else [0] * len(document.edus)
    ends = last_of_sentence(document) if sentence_ends else [False] * len(document.edus)
    rows: list[str] = []
    before = 0
    texts = edu_lines(document, tokenized=tokenized)
    check_no_mark(
        SENTENCE_END, "edus", [text for text, end in zip(texts, ends, strict=True) if not end]
    )
    for text, paragraph, is_end in zip(texts, paragraphs, ends, strict=True):
        if paragraph != before and rows:
            rows.append("")
        before = paragraph
        rows.append(f"{text} {SENTENCE_END}" if is_end else text)
    return "".join(f"{row}\n" for row in rows)


def check_cut(document: Document) -> None:
    """Refuse a text without EDUs, of which nothing would be written."""
    if document.text.strip() and not document.edus:
        raise InvalidDocument(
            f"{document.id or 'the document'} has no EDUs: segment or parse it first, or choose "
            "json, which keeps the text as it is"
        )


def check_no_mark(mark: str, format: str, texts: Iterable[str]) -> None:
    """Refuse an EDU whose own text ends like a mark of the format: it would come back changed."""
    for text in texts:
        if text.endswith(mark):
            raise FormatError(
                f"<{format}>",
                None,
                f"the EDU {text[-40:]!r} ends in {mark}, which is a mark of this format and would "
                "be lost: change the text, or choose another format (json keeps everything)",
            )


def split_sentence_end(text: str) -> tuple[str, bool]:
    """Return the text without surrounding space and ``<S>``, and whether that was there."""
    text = text.strip()
    if text.endswith(SENTENCE_END):
        return text[: -len(SENTENCE_END)].rstrip(), True
    return text, False


def join_edus(
    texts: list[str], sentence_ends: list[bool], paragraph_starts: list[int], *, id: str
) -> Document:
    """Make a document of EDUs: paragraphs stand apart, sentences end where they are marked.

    The last EDU ends a sentence in any case; without any mark, sentences are unknown.
    """
    parts: list[str] = []
    edus: list[Span] = []
    at = 0
    breaks = set(paragraph_starts[1:])
    for index, text in enumerate(texts):
        if index:
            gap = "\n\n" if index in breaks else " "
            parts.append(gap)
            at += len(gap)
        parts.append(text)
        edus.append(Span(at, at + len(text)))
        at += len(text)
    sentences: list[int] = []
    if any(sentence_ends):
        sentences = [0, *(i + 1 for i, is_end in enumerate(sentence_ends[:-1]) if is_end)]
    return Document(
        "".join(parts),
        tuple(edus),
        sentences=_spans(edus, sentences),
        paragraphs=_spans(edus, paragraph_starts if breaks else []),
        id=id,
    )


def _spans(edus: list[Span], starts: list[int]) -> tuple[Span, ...]:
    """Return the spans of groups of EDUs that begin at the given EDUs."""
    return tuple(
        Span(edus[start].start, edus[end - 1].end) for start, end in pairwise([*starts, len(edus)])
    )


def last_of_sentence(document: Document) -> list[bool]:
    """Tell, for each EDU, whether a sentence ends with it (the last one to begin in it)."""
    if not document.sentences or not document.edus:
        return [False] * len(document.edus)
    # The sentence of an EDU's last character: an EDU may reach over a sentence break.
    inside = locate([edu.end - 1 for edu in document.edus], document.sentences)
    return [a != b for a, b in pairwise(inside)] + [True]
