"""The Porter stemmer: English words without their endings (Porter 1980, "An algorithm for suffix
stripping"), with the two later departures of its author (``logi`` and ``bli``).
"""  # noqa: D205

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
    ("logi", "log"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def _consonant(word: str, i: int) -> bool:
    if word[i] in "aeiou":
        return False
    return word[i] != "y" or i == 0 or not _consonant(word, i - 1)


def _measure(stem: str) -> int:
    """Count the times that a vowel is followed by a consonant: m in [C](VC)^m[V]."""
    kinds = [_consonant(stem, i) for i in range(len(stem))]
    return sum(not before and after for before, after in pairwise(kinds))


def _has_vowel(stem: str) -> bool:
    return any(not _consonant(stem, i) for i in range(len(stem)))


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _consonant(word, len(word) - 1)


def _short(word: str) -> bool:
    """Tell whether the word ends consonant, vowel, consonant, the last not w, x or y."""
    n = len(word)
    return (
        n > 2
        and _consonant(word, n - 3)
        and not _consonant(word, n - 2)
        and _consonant(word, n - 1)
        and word[-1] not in "wxy"
    )


def _replace(word: str, pairs: tuple[tuple[str, str], ...]) -> str:
    """Apply the rule of the longest ending that fits, if its stem has a measure above 0."""
    fitting = [pair for pair in pairs if word.endswith(pair[0])]
    if not fitting:
        return word
    ending, better = max(fitting, key=lambda pair: len(pair[0]))
    stem = word[: -len(ending)]
    return stem + better if _measure(stem) > 0 else word


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return the stem of a word in small letters; short words stay.

    >>> [stem(word) for word in ("connections", "connected", "relational", "happy")]
    ['connect', 'connect', 'relat', 'happi']
    """
    if len(word) <= 2:
        return word
    word = _plurals(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(_replace(word, _STEP_2), _STEP_3)
    word = _residue(word)
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _plurals(word: str) -> str:
    if word.endswith("sses") or word.endswith("ies"):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        root = word[: -len(ending)]
        if word.endswith(ending):
            if not _has_vowel(root):
                return word
            if root.endswith(("at", "bl", "iz")):
                return root + "e"
            if _doubled(root) and root[-1] not in "lsz":
                return root[:-1]
            return root + "e" if _measure(root) == 1 and _short(root) else root
    return word


def _residue(word: str) -> str:
    fitting = [ending for ending in _STEP_4 if word.endswith(ending)]
    if not fitting:
        return word
    ending = max(fitting, key=len)
    root = word[: -len(ending)]
    if _measure(root) > 1 and (ending != "ion" or root.endswith(("s", "t"))):
        return root
    return word
