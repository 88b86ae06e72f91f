"""What the layout of a raw text says: which line breaks separate and which only wrap, paragraphs.

A blank line always separates. A single line break separates (is "hard") where lines look like
headings, list items or turns, and joins (is "soft") in hard-wrapped prose; where neither is clear
it is "open", and the reader of the words decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from rhetorica.document import Document, Span

Break = Literal["hard", "soft", "open"]

_HALVES = re.compile(r"[\ud800-\udfff]")
_BLANK = re.compile(r"(\n[^\S\n]*\n\s*|[\f\v]\s*)")
_WIDE = r"[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]"  # Chinese characters and marks
_BESIDE_WIDE = re.compile(rf" (?={_WIDE})|(?<={_WIDE}) ")
_LIST_MARKER = re.compile(r"\s*(?:[-*•·–—>#]\s|\(?[0-9]{1,3}[.)]\s|\(?[A-Za-z][.)]\s)")
# Prose is wrapped at some width in this range; wider lines are whole paragraphs.
_MIN_WRAP, _MAX_WRAP = 45, 130
# A ragged or partly overlong block may break a little before its widest line.
_WRAP_SLACK = 10


def plain_newlines(text: str) -> str:
    """Make every line end one newline without changing the length: offsets stay the user's."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    return text.replace("\u2028", "\n").replace("\u2029", "\n").replace("\x85", "\n")


def whole_characters(text: str) -> str:
    """Replace halves of characters (lone surrogates), which cannot be encoded; keep the length."""
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text)


def classify_line_breaks(lines: Sequence[str]) -> list[Break]:
    """Say of every break in a block of lines whether it is hard, soft or open.

    Greedy wrapping puts a word on the next line only if it does not fit, so a break after which
    the next word would have fitted was made by the writer.
    """
    width = max(len(line.rstrip()) for line in lines)
    pairs = [(line.rstrip(), following.split(None, 1)) for line, following in pairwise(lines)]
    full = [
        bool(words) and len(line) + 1 + len(words[0]) + _WRAP_SLACK > width for line, words in pairs
    ]
    # One full line alone may be a title over a byline; two of them are wrapped prose.
    is_prose = sum(full) >= 2
    kinds: list[Break] = []
    for (_, words), following, is_full in zip(pairs, lines[1:], full, strict=True):
        continues = bool(words) and words[0][0].islower()
        if width > _MAX_WRAP or _LIST_MARKER.match(following):
            kinds.append("hard")
        elif width < _MIN_WRAP or not is_full:
            kinds.append("open" if continues else "hard")
        else:
            kinds.append("soft" if continues or is_prose else "open")
    return kinds


def single_breaks(text: str) -> Iterator[tuple[int, Break]]:
    """Yield the offset and the class of every newline inside a block of lines."""
    start = 0
    for block in _BLANK.split(text):
        if block.strip():
            lines = block.split("\n")
            offset = start - 1
            for line, kind in zip(lines, classify_line_breaks(lines), strict=False):
                offset += len(line) + 1
                yield offset, kind
        start += len(block)


def soften_line_breaks(text: str) -> str:
    """Replace the newlines of hard-wrapped prose by spaces; the length stays the same."""
    characters = list(text)
    for offset, kind in single_breaks(text):
        if kind == "soft":
            characters[offset] = " "
    return "".join(characters)


def as_written(doc: Document) -> str:
    """Return the text of a treebank's document as one writes it.

    Chinese has no space between sentences, and here a blank line between paragraphs; where a
    treebank has its words apart, none between them, either. Other texts are as they are.

    >>> sentences, whole = (Span(0, 4), Span(5, 8)), (Span(0, 8),)
    >>> as_written(Document("下雨了。 走吧！", (), (), sentences, whole, language="zh"))
    '下雨了。走吧！'
    >>> as_written(Document("我们 用 了 两 种 neural nets 。", language="zh"))
    '我们用了两种neural nets。'
    """
    if doc.language != "zh":
        return doc.text
    whole = (Span(0, len(doc.text)),)
    sentences = doc.sentences or doc.paragraphs or whole
    text = "\n\n".join(
        "".join(doc.text[a:b] for a, b in sentences if start <= a < end)
        for start, end in doc.paragraphs or whole
    )
    apart = len(_BESIDE_WIDE.findall(text)) > len(text) / 5
    return _BESIDE_WIDE.sub("", text) if apart else text


def find_paragraphs(text: str) -> tuple[Span, ...]:
    r"""Return the stretches of text between blank lines and hard line breaks.

    >>> find_paragraphs("A Title\nSome text.\n\nMore.")
    (Span(start=0, end=7), Span(start=8, end=18), Span(start=20, end=25))
    """
    text = plain_newlines(text)
    cuts = [(offset, offset + 1) for offset, kind in single_breaks(text) if kind == "hard"]
    cuts += [match.span() for match in _BLANK.finditer(text)]
    spans: list[Span] = []
    at = 0
    for cut, after in [*sorted(cuts), (len(text), len(text))]:
        block = text[at:cut]
        if stripped := block.strip():
            start = at + len(block) - len(block.lstrip())
            spans.append(Span(start, start + len(stripped)))
        at = max(at, after)
    return tuple(spans)
