"""Chinese: so far, how to recognise it."""

from __future__ import annotations

import re

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3040-\u30ff]")
_ENOUGH = 8
"""Different characters; a name or a quoted phrase in another language has fewer."""


def looks_chinese(text: str) -> bool:
    """Tell whether most letters of a text are Chinese characters (and none are Japanese kana).

    >>> looks_chinese("昨天下雨了，所以我们没有出门。"), looks_chinese("It rained in 北京.")
    (True, False)
    """
    start = text[:2000]
    found = _HAN.findall(start)
    letters = sum(character.isalpha() for character in start)
    return len(set(found)) >= _ENOUGH and 2 * len(found) > letters and not _KANA.search(start)
