"""Lines of a raw text -> where EDUs must begin, and where none may: lists, turns, tables, rules.

Encoders know little of layout: their corpora have lost the marks of list items, the names before
turns, the bars of tables. What a line's look makes sure is decided here; all else is left to the
model. The English of the words does not matter; Chinese marks, which stand without spaces, have
rules of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.languages.chinese import HAN
from rhetorica.text.layout import plain_newlines

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[Any]

_OPENING = frozenset("([{\"'“‘«*_")
_WIDE_OPENING = frozenset("（［｛《〈【〔「『")
_WIDE_CLOSING = frozenset("）］｝》〉】〕」』、，。；：！？")
_DASH = re.compile(
    rf"(?:^|(?<=[{HAN}）］》】」』”’。，；：！？]))[^\S\n]*(?P<dash>[—―─]{{2,}})[^\S\n]*(?=[\w（《「『“‘])",
    re.MULTILINE,
)
"""The dash of Chinese, two characters wide. In GCDT's train part a unit begins with every one."""
_SURE = "•·‣▪◦●○"
_ITEM = re.compile(
    rf"(?:(?P<sure>[{_SURE}]|\[\d{{1,3}}\])|(?P<heading>\#{{1,6}})|(?P<sign>[-*–—+])"
    r"|(?P<quote>>+)|(?P<number>\(?\d{1,3}[.)])|(?P<letter>\(?(?:[A-Za-z]|[ivx]{2,4})[.)]))"
    r"[^\S\n]+(?:\[[ xX✓]?\][^\S\n]+)?(?=\S)"
)
_ALWAYS = ("sure", "heading", "quote")
"""Marks that need no second of their sort."""
_TURN = re.compile(
    r"(?:[(\[]\d[\d:.,]*[)\]]\s?)?[A-Z][\w.'’-]*(?:[ ][A-Z0-9][\w.'’-]*){0,3}"
    r"[^\S\n]?:[^\S\n]+(?=\S)"
)
_CELLS = re.compile(r"[^\S\n]*\|[^\S\n]*|\t+")
_LONGEST_ROW = 160
"""A longer line may have cells with whole sentences, whose EDUs the model finds."""
_SHARE_OF_TURNS = 0.4
_FINAL = (".", "?", "!", ":", ";", '"', "'", "”", "’", ")", "]")


@dataclass(frozen=True, slots=True)
class Cues:
    """What is sure of EDUs.

    One begins at each of ``starts``; none in ``closed`` (ranges of offsets, both ends among them);
    what would begin later in one of ``whole`` begins with it.
    """

    starts: tuple[int, ...] = ()
    closed: tuple[tuple[int, int], ...] = ()
    whole: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    text: str
    after_blank: bool

    @property
    def is_rule(self) -> bool:
        return not any(character.isalnum() for character in self.text)


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines that are not blank, without the space around them."""
    at, blank = 0, True
    for raw in text.split("\n"):
        bare = raw.strip()
        if bare:
            start = at + raw.index(bare)
            yield _Line(start, start + len(bare), bare, blank)
        blank = not bare
        at += len(raw) + 1


def line_cues(text: str) -> Cues:
    r"""Return what the lines of a text say about EDUs.

    >>> line_cues("To buy:\n- apples\n- pears")
    Cues(starts=(8, 17), closed=((9, 10), (18, 19)), whole=())
    """
    text = plain_newlines(text)
    if "\n" not in text:
        return Cues()
    lines = list(_lines(text))
    marks = [_ITEM.match(line.text) for line in lines]
    kinds = [_kind(mark) for mark in marks]
    counts = Counter(kinds)
    turns = [_TURN.match(line.text) for line in lines]
    dialogue = sum(map(bool, turns)) >= max(2, _SHARE_OF_TURNS * len(lines))
    rows = _table_rows(lines)
    starts: list[int] = []
    closed: list[tuple[int, int]] = []
    whole: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        mark, kind, turn = marks[number], kinds[number], turns[number]
        before = lines[number - 1] if number else None
        follows = before is not None and kinds[number - 1] == "quote"
        headed = before is not None and kinds[number - 1] == "heading"
        if line.is_rule and before:
            closed.append((line.start, line.end - 1))
        elif number in rows:
            starts.append(line.start)
            if len(line.text) <= _LONGEST_ROW:
                closed.append((line.start + 1, line.end - 1))
        elif mark and kind == "quote" and follows and not line.after_blank:
            whole.append((line.start, line.start + mark.end()))
        elif mark and (line.after_blank or kind in _ALWAYS or counts[kind] > 1):
            starts.append(line.start)
            closed.append((line.start + 1, line.start + mark.end()))
        elif turn and dialogue:
            starts.append(line.start)
            closed.append((line.start + 1, line.start + turn.end()))
        elif headed or (before and (before.is_rule or _separate(before, line))):
            starts.append(line.start)
    return Cues(tuple(starts), tuple(closed), tuple(whole))


def _kind(mark: re.Match[str] | None) -> str:
    """Return what sort of mark it is: lists have at least two of a sort."""
    if mark is None:
        return ""
    sorts = (*_ALWAYS, "number", "letter")
    return mark["sign"] or next(sort for sort in sorts if mark[sort])


def _separate(before: _Line, line: _Line) -> bool:
    """Tell whether a blank line parts two lines; in text set wide it stands inside sentences."""
    return line.after_blank and (before.text.endswith(_FINAL) or not line.text[0].islower())


def _table_rows(lines: list[_Line]) -> set[int]:
    """Return the lines that are rows of tables: neighbours with the same number of cells."""
    cells = [len(_CELLS.findall(line.text.strip("|"))) for line in lines]
    found: set[int] = set()
    for number in range(1, len(lines)):
        if cells[number] and cells[number] == cells[number - 1] and not lines[number].after_blank:
            found |= {number - 1, number}
    return found


def make_sure(begins: Floats, offsets: Ints, text: str, threshold: float) -> Floats:
    r"""Return the probabilities that EDUs begin at these offsets: 1 or 0 where layout is sure.

    >>> make_sure(np.array([0.9, 0.8, 0.1]), np.array([0, 2, 9]), "- apples\n- pears", 0.5).tolist()
    [0.9, 0.0, 1.0]
    """
    starts = begins > threshold
    mended = starts.copy()
    mend_starts(mended, offsets, text)
    return np.where(mended == starts, begins, mended.astype(begins.dtype))


def mend_starts(starts: Bools, offsets: Ints, text: str) -> None:
    """Let EDUs begin where the layout makes it sure, and not where it cannot be.

    ``starts`` tells of each piece of text, by its offset, whether an EDU begins there; it is
    changed in place. An opening quotation mark, bracket or star goes with the word after it, as
    does the dash of Chinese, a closing mark of Chinese with what is before, and what has neither
    letter nor digit with what is before, or on a new line with what follows.
    """
    cues = line_cues(text)
    _mend_wide_marks(starts, offsets, text)
    for first, last in cues.whole:
        inside = slice(*np.searchsorted(offsets, [first, last + 1]))
        if starts[inside].any():
            starts[inside] = False
            starts[inside.start] = True
    for place in np.flatnonzero(starts).tolist():
        first = place
        while first and _opens(text, int(offsets[first - 1]), int(offsets[first])):
            first -= 1
        starts[place] = False
        if first < place or not _clings(text, int(offsets[first])):
            starts[first] = True
    for first, last in cues.closed:
        starts[slice(*np.searchsorted(offsets, [first, last + 1]))] = False
    sure = np.searchsorted(offsets, cues.starts)
    starts[sure[sure < len(offsets)]] = True
    starts[:1] = True
    _join_wordless(starts, offsets, text)


def _mend_wide_marks(starts: Bools, offsets: Ints, text: str) -> None:
    """Let no EDU begin with a closing mark of Chinese, and one with each of its dashes."""
    for place in np.flatnonzero(starts).tolist():
        after = place
        while after and after < len(offsets) and _closes(text, int(offsets[after])):
            after += 1
        if after > place:
            starts[place:after] = False
            if after < len(offsets):
                starts[after] = True
    for match in _DASH.finditer(text):
        first, last = np.searchsorted(offsets, [match.start("dash"), match.end() + 1]).tolist()
        if first < len(offsets) and offsets[first] == match.start("dash"):
            starts[first:last] = False
            starts[first] = True


def _closes(text: str, start: int) -> bool:
    """Tell whether a closing mark of Chinese stands here, right after something."""
    before, mark = text[start - 1], text[start]
    if before.isspace():
        return False
    # The curly marks are those of English, too, where they may be apostrophes.
    return mark in _WIDE_CLOSING or (mark in "”’" and not before.isascii())


def _opens(text: str, start: int, after: int) -> bool:
    """Tell whether what starts here is an opening mark right before the next piece."""
    if after == start + 1 and text[start] in _WIDE_OPENING:
        return True
    alone = start == 0 or text[start - 1].isspace() or text[start - 1] in _OPENING
    return text[start] in _OPENING and alone and after == start + 1


def _clings(text: str, start: int) -> bool:
    """Tell whether a character belongs to the one before: no space between, and no dash."""
    if start == 0:
        return False
    pair = text[start - 1 : start + 1]
    return pair.isascii() and not pair[0].isspace() and "-" not in pair and '"' not in pair


def _join_wordless(starts: Bools, offsets: Ints, text: str) -> None:
    """Give units without a letter or digit to what is before; on a new line, to what follows."""
    places = np.flatnonzero(starts).tolist()
    bounds = [*(int(offsets[place]) for place in places), len(text)]
    for number, place in enumerate(places):
        unit = text[bounds[number] : bounds[number + 1]]
        if any(character.isalnum() for character in unit):
            continue
        line = text[text.rfind("\n", 0, bounds[number]) + 1 : bounds[number]]
        if number + 1 < len(places) and "\n" not in unit and not line.strip():
            starts[places[number + 1]] = False
        elif number:
            starts[place] = False
