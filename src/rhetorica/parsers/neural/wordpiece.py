"""Text -> word pieces with their places: BERT's uncased WordPiece, without a tokenizer library.

Every piece knows the characters of the user's text that it stands for, the case of its word and
the white space before it: the encoder has no capitals and no line breaks of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Row: TypeAlias = tuple[int, int, int, int, bool]
"""A piece: id, start, end, case (or kind), whether it begins a word."""

MAX_WORD = 100
"""Longer words are not looked up, as in BERT."""
CASES = 3
LAYOUTS = 4
TYPES = CASES * LAYOUTS
"""How many kinds of piece there are: case (lower, initial, capitals) x white space before."""
_ATTACHED, _SPACE, _LINE, _BLANK = range(LAYOUTS)
_CHUNK = re.compile(r"\S+")
_CACHED_CHUNKS = 50_000
_CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of a text: ids, character ranges, kinds, and which of them begin a word."""

    ids: Ints
    starts: Ints
    ends: Ints
    types: Ints
    begins: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def layouts(self) -> Ints:
        """The white space before each piece: 0 none, 1 space, 2 line break, 3 blank line."""
        return self.types % LAYOUTS


class WordPieces(NamedTuple):
    """Words as pieces: the first and the last one, and whether the word begins inside the first.

    Treebanks cut "don't" into "do" and "n't" where WordPiece has "don", "'" and "t".
    """

    firsts: Ints
    lasts: Ints
    inside: Ints


def locate_words(pieces: Pieces, starts: Sequence[int], ends: Sequence[int]) -> WordPieces:
    """Find the pieces of words given by their characters.

    A word that the tokenizer drops (a control character) falls on the next piece.
    """
    firsts = np.minimum(np.searchsorted(pieces.ends, starts, side="right"), len(pieces) - 1)
    lasts = np.maximum(np.searchsorted(pieces.starts, ends) - 1, firsts)
    return WordPieces(firsts, lasts, (pieces.starts[firsts] < starts).astype(np.int64))


class WordPiece:
    """BERT's uncased tokenizer.

    >>> pieces = WordPiece(["[UNK]", "un", "##able", "."])("Unable.")
    >>> pieces.ids.tolist(), pieces.starts.tolist(), pieces.begins.tolist()
    ([1, 2, 3], [0, 2, 6], [True, False, True])
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = tuple(vocabulary)
        self._index = {piece: index for index, piece in enumerate(vocabulary)}
        self._unknown = self._index["[UNK]"]
        # Most chunks of a text come again and again; the cache lives as long as this object.
        self._chunk = lru_cache(maxsize=_CACHED_CHUNKS)(self._cut_chunk)

    @classmethod
    def read(cls, text: str) -> WordPiece:
        """Make it from a vocabulary file, a piece a line; Chinese ones have U+2028 as a piece."""
        return cls(text.replace("\r\n", "\n").removesuffix("\n").split("\n"))

    def index(self, piece: str) -> int:
        """Return the number of a piece of the vocabulary."""
        return self._index[piece]

    def __call__(self, text: str, cuts: Sequence[int] = ()) -> Pieces:
        """Cut a text into pieces, and at the given offsets in any case.

        At least one piece stands between two cuts, an unknown one if need be.
        """
        rows: list[Row] = []
        before = 0
        edges = [*cuts, len(text) + 1]
        edge = covered = 0
        for match in _CHUNK.finditer(text):
            layout = _layout(text, before, match.start())
            at, before = match.start(), match.end()
            while at < before:
                while edges[edge] <= at:
                    edge += 1
                end = min(before, edges[edge])
                found = self._chunk(text[at:end])
                if not found and edge != covered:
                    found = ((self._unknown, 0, end - at, 0, True),)
                for id, start, stop, case, begins in found:
                    kind = case * LAYOUTS + (layout if begins else _ATTACHED)
                    rows.append((id, at + start, at + stop, kind, begins))
                    layout = _ATTACHED if begins else layout
                covered = edge
                at = end
        table = np.array(rows, dtype=np.int64).reshape(-1, 5)
        ids, starts, ends, kinds, words = table.T
        return Pieces(ids, starts, ends, kinds, words.astype(bool))

    def _cut_chunk(self, chunk: str) -> tuple[Row, ...]:
        """Cut a stretch without white space: rows of id, start, end, case, begins a word."""
        rows: list[Row] = []
        for letters, places in _words(chunk):
            case = _case(chunk[places[0] : places[-1] + 1])
            for number, (id, first, last) in enumerate(self._cut_word(letters)):
                rows.append((id, places[first], places[last - 1] + 1, case, number == 0))
        return tuple(rows)

    def _cut_word(self, word: str) -> list[tuple[int, int, int]]:
        """Cut a word greedily into the longest known pieces: rows of id, start, end."""
        whole = [(self._unknown, 0, len(word))]
        if len(word) > MAX_WORD:
            return whole
        found: list[tuple[int, int, int]] = []
        at = 0
        while at < len(word):
            end = len(word)
            while end > at:
                id = self._index.get(("##" if at else "") + word[at:end])
                if id is not None:
                    break
                end -= 1
            else:
                return whole
            found.append((id, at, end))
            at = end
        return found


def _layout(text: str, start: int, end: int) -> int:
    """Return the kind of white space between two words."""
    if not start:
        return _BLANK
    breaks = _line_breaks(text[start:end])
    return (_SPACE, _LINE, _BLANK)[min(breaks, 2)]


def _line_breaks(space: str) -> int:
    return space.replace("\r\n", "\n").replace("\r", "\n").count("\n")


def _words(chunk: str) -> list[tuple[str, list[int]]]:
    """Split at punctuation and CJK characters: lower-cased words with the places of letters."""
    words: list[tuple[str, list[int]]] = []
    letters: list[str] = []
    places: list[int] = []
    for at, character in enumerate(chunk):
        kind = _kind(character)
        if kind == "removed":
            continue
        if kind == "alone" and letters:
            words.append(("".join(letters), places))
            letters, places = [], []
        for letter in _fold(character):
            letters.append(letter)
            places.append(at)
        if kind == "alone" and letters:
            words.append(("".join(letters), places))
            letters, places = [], []
    if letters:
        words.append(("".join(letters), places))
    return words


@lru_cache(maxsize=4096)
def _kind(character: str) -> str:
    """Tell whether a character is dropped, a word by itself, or part of a word."""
    code = ord(character)
    if code in (0, 0xFFFD) or unicodedata.category(character).startswith("C"):
        return "removed"
    ascii_mark = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    if ascii_mark or unicodedata.category(character).startswith("P"):
        return "alone"
    if any(first <= code <= last for first, last in _CJK):
        return "alone"
    return "inside"


@lru_cache(maxsize=4096)
def _fold(character: str) -> str:
    """Lower-case a character and take its accents away."""
    apart = unicodedata.normalize("NFD", character)
    kept = "".join(part for part in apart if unicodedata.category(part) != "Mn")
    return kept.lower()


def _case(word: str) -> int:
    """Return 0 for lower case or none, 1 for an initial capital, 2 for capitals throughout."""
    if not word[:1].isupper():
        return 0
    return 2 if len(word) > 1 and word.isupper() else 1
