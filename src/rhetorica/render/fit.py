"""Text that fits: harmless characters only, broken into rows by any measure of width.

The terminal measures in columns, the pictures in pixels; both break rows in the same places.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

Measure: TypeAlias = Callable[[str], float]

_KEEP = "\u200c\u200d"  # joiners: emoji and Persian need them, and they do no harm
_CJK = "\u2e80-\u2fff\u3040-\u9fff\uac00-\ud7af\uf900-\ufaff\uff10-\uff5a"
_CJK_CLOSING = (
    "\u3001\u3002\u3009\u300b\u300d\u300f\u3011\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
)
_PIECES = re.compile(rf"[{_CJK}][{_CJK_CLOSING}]*|[^{_CJK}]+")

# Helvetica's advance widths in thousandths of an em, for the printable ASCII characters from
# space on. Arial and Liberation Sans have the same.
_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
# Readers may have other fonts, some of them wider.
_SLACK = 1.15


def visible(text: str, *, unicode: bool = True) -> str:
    r"""Put a text on one line, with a visible symbol for each character that could do harm.

    >>> visible("a\n b\x1b[31m")
    'a b␛[31m'
    """
    text = " ".join(text.split())
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in _KEEP else _symbol(char, unicode) for char in text
    )


@lru_cache(maxsize=1024)
def _symbol(char: str, unicode: bool) -> str:
    if unicode and char < " ":
        return chr(0x2400 + ord(char))
    if unicode and char == "\x7f":
        return "␡"
    if unicodedata.category(char) == "Co":
        return char
    return f"<U+{ord(char):04X}>"


def runs_right_to_left(text: str) -> bool:
    """Tell whether the first letter that has a direction runs from right to left.

    >>> runs_right_to_left("1. שלום, world"), runs_right_to_left("Hello, שלום")
    (True, False)
    """
    if text.isascii():
        return False
    sides = map(unicodedata.bidirectional, text)
    return next((side != "L" for side in sides if side in ("L", "R", "AL")), False)


def measure(size: float) -> Measure:
    """Return a function that tells how wide a text is in a sans-serif font of so many pixels.

    It is an estimate, a little too wide for most fonts.

    >>> measure(10)("ill") < measure(10)("mmm") < measure(10)("下雨了")
    True
    """
    factor = size * _SLACK / 1000

    def width(text: str) -> float:
        return sum(map(_em, text)) * factor

    return width


@lru_cache(maxsize=8192)
def _em(char: str) -> int:
    """Return a character's width in thousandths of an em."""
    code = ord(char)
    if 32 <= code < 127:
        return _WIDTHS[code - 32]
    if unicodedata.combining(char) or char in _KEEP:
        return 0
    if unicodedata.east_asian_width(char) in "WF":
        return 1000
    base = unicodedata.normalize("NFD", char)[0]
    if base != char:
        return _em(base)
    # Letters of other scripts, arrows, symbols: most are narrower than this.
    return 1000 if code > 0xFFFF else 700 if unicodedata.category(char)[0] in "LS" else 556


def wrap(text: str, first: float, rest: float, width: Measure) -> list[str]:
    """Break at spaces and between Chinese characters; a word that fits no row is cut."""
    rows: list[str] = []
    row, used, room = "", 0.0, max(0, first)
    space = width(" ")
    for word in text.split(" "):
        glue, gap = (" ", space) if row else ("", 0.0)
        for piece in _pieces(word):
            size = width(piece)
            if used + gap + size <= room:
                row, used = row + glue + piece, used + gap + size
            else:
                rows.append(row)
                room = max(2, rest)
                *whole, row = _cut(piece, room, width) if size > room else [piece]
                rows += whole
                used = width(row)
            glue, gap = "", 0.0
    return [*rows, row]


def clip(text: str, room: float, width: Measure, more: str = "…") -> str:
    """Cut a text to a room, with a sign that there is more."""
    if width(text) <= room:
        return text
    kept = _cut(text, max(0, room - width(more)), width, once=True)[0]
    return kept.rstrip() + (more if width(more) <= room else more[: max(0, int(room))])


def _pieces(word: str) -> list[str]:
    return [word] if word.isascii() else _PIECES.findall(word)


def _cut(text: str, room: float, width: Measure, *, once: bool = False) -> list[str]:
    """Cut a text into parts of at most a width (or one character); with ``once``, the first."""
    parts: list[str] = []
    start, used = 0, 0.0
    for at, char in enumerate(text):
        size = width(char)
        if used + size > room and (once or at > start):
            parts.append(text[start:at])
            if once:
                return parts
            start, used = at, 0.0
        used += size
    return [*parts, text[start:]]
