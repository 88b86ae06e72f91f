"""A list of words with how frequent they are: what is in it at a place, and the best way through.

Frequencies are kept as a few steps on a logarithmic scale, which is all that the features need.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from rhetorica.errors import FormatError
from rhetorica.files import Readable, Source
from rhetorica.words.characters import kind

LONGEST = 6
_STEP = 1.8 * math.log(2)  # how much more frequent a word of the next step is, as a logarithm
_TOTAL = 18.0  # of all frequencies, as a logarithm: that of a list of 60 million words


class Matches(NamedTuple):
    """For each character, the length of the longest word that begins, ends, goes on there."""

    begins: list[int]
    ends: list[int]
    inside: list[int]


class Dictionary:
    """Words of at most `LONGEST` characters, each with the step of its frequency (0 to 9).

    >>> words = Dictionary({"北京": 5, "大学": 5, "北京大学": 2, "大": 6})
    >>> words.matches("北京大学").begins
    [4, 0, 2, 0]
    >>> words.path("在北京大学")
    ['s', 'b4', 'm', 'm', 'e4']
    """

    def __init__(self, steps: Mapping[str, int]) -> None:
        self.steps = dict(steps)

    @classmethod
    def read(cls, source: Readable, *, min_count: int = 1) -> Dictionary:
        """Read lines of word, frequency and perhaps more, separated by spaces."""
        file = Source.of(source)
        steps = {}
        for number, line in enumerate(file.text.splitlines(), 1):
            cells = line.split()
            if not cells:
                continue
            if len(cells) < 2 or not cells[1].isdecimal():
                raise FormatError(file.name, number, "expected a word and how often it occurs")
            word, count = cells[0], int(cells[1])
            if count >= min_count and len(word) <= LONGEST and all(kind(c) in "hn" for c in word):
                steps[word] = min(9, int(math.log(count + 1) / _STEP))
        return cls(steps)

    @classmethod
    def from_bytes(cls, data: bytes) -> Dictionary:
        """Read what `to_bytes` wrote."""
        return cls({line[:-1]: int(line[-1]) for line in data.decode("utf-8").split()})

    def to_bytes(self) -> bytes:
        """Write the words in order, each with its step."""
        return "\n".join(f"{word}{step}" for word, step in sorted(self.steps.items())).encode()

    def matches(self, text: str) -> Matches:
        """Find all words of two characters or more in a text; lengths above 5 count as 5."""
        n = len(text)
        found = Matches([0] * n, [0] * n, [0] * n)
        begins, ends, inside = found
        for i in range(n):
            for j in range(i + 2, min(n, i + LONGEST) + 1):
                if text[i:j] in self.steps:
                    length = min(j - i, 5)
                    begins[i] = max(begins[i], length)
                    ends[j - 1] = max(ends[j - 1], length)
                    for k in range(i + 1, j - 1):
                        inside[k] = max(inside[k], length)
        return found

    def path(self, text: str) -> list[str]:
        """Cut a text into the most probable words; return each character's place in its word.

        ``s`` for a word of one character, ``b`` and ``e`` with the length for its first and last,
        ``m`` for others.
        """
        n = len(text)
        best, back = [0.0] + [-math.inf] * n, [0] * (n + 1)
        for i in range(n):
            for j in range(i + 1, min(n, i + LONGEST) + 1):
                step = self.steps.get(text[i:j], 0 if j == i + 1 else -1)
                if step >= 0 and (score := best[i] + step * _STEP - _TOTAL) > best[j]:
                    best[j], back[j] = score, i
        places = ["m"] * n
        while n:
            start = back[n]
            length = min(n - start, 4)
            places[n - 1] = f"e{length}"
            places[start] = f"b{length}" if length > 1 else "s"
            n = start
        return places
