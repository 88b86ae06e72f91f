"""Characters of Chinese text: what kind each is, and the one form of those that have several.

The first step of everything in `rhetorica.words`. Offsets stay: one character becomes one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN = re.compile(f"[{HAN}]")
_NUMERALS = frozenset("〇零一二三四五六七八九十百千万亿两廿卅")
_STOPS = {"。": ".", "｡": "."}


@cache
def _plain(character: str) -> str:
    """Return the half-width form of a full-width character, others as they are."""
    if character in _STOPS:
        return _STOPS[character]
    form = unicodedata.normalize("NFKC", character)
    return form if len(form) == 1 else character


def normalise(text: str) -> str:
    """Write full-width letters, digits and marks half-width; every offset stays the same.

    >>> normalise("２０１４年，ＤＰ模型。")
    '2014年,DP模型.'
    """
    return "".join(map(_plain, text))


@cache
def kind(character: str) -> str:
    """Return the kind of a character, as one letter.

    ``n`` a Chinese numeral, ``h`` another Chinese character, ``d`` a digit, ``l`` a Latin letter,
    ``a`` another letter, ``s`` a space, ``p`` anything else (marks, symbols).

    >>> "".join(map(kind, "三月4日,A"))
    'nhdhpl'
    """
    if character in _NUMERALS:
        return "n"
    if _HAN.match(character):
        return "h"
    if character.isdigit():
        return "d"
    if character.isalpha():
        return "l" if character.isascii() else "a"
    return "s" if character.isspace() else "p"
