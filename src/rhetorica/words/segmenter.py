"""``crf``: words by a linear-chain CRF that tags characters; the general segmenter is one.

Each character begins, continues or ends a word, or is one (Xue 2003). It is seen with its
neighbours (single characters, pairs, a triple), their kinds, and repetitions (Zhao et al. 2006);
with a dictionary also by the words that begin, end and go on there and by the dictionary's most
probable way through the text. White space always ends a word and is in none.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rhetorica.document import Span
from rhetorica.errors import ModelError
from rhetorica.learn.crfsuite import open_tagger, train_crf
from rhetorica.models.store import Config, State, Stored, find
from rhetorica.progress import Tell, nothing, steps
from rhetorica.settings import made, plain, setting
from rhetorica.words.characters import kind, normalise
from rhetorica.words.dictionary import Dictionary

GENERAL = "words_gsd"
_WEIGHTS, _DICTIONARY = "weights.crfsuite.xz", "dictionary.txt.xz"


@dataclass(frozen=True, slots=True)
class Settings:
    """How the segmenter is trained."""

    l1: float = setting(0.3, "L1 regularisation; it makes the model small.")
    l2: float = setting(0.3, "L2 regularisation.")
    iterations: int = setting(80, "Steps of L-BFGS, at most.")
    min_count: int = setting(1, "Drop features seen less often.")


class CRFWords(Stored):
    """Learns and applies the segmenter; after `fit` or `load` it has ``weights_``.

    >>> sentences = [["我", "爱", "北京"], ["北京", "很", "大"], ["我", "很", "好"]] * 3
    >>> model = CRFWords(iterations=20).fit(sentences)
    >>> text = "我爱 北京"
    >>> [text[start:end] for start, end in model.words(text)]
    ['我', '爱', '北京']
    """

    name = "crf"
    language = "zh"

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        dictionary: Dictionary | None = None,
        **changes: Any,
    ) -> None:
        self.settings = made(Settings, settings, changes)
        self.dictionary = dictionary

    def fit(self, sentences: Iterable[Sequence[str]], *, tell: Tell = nothing) -> CRFWords:
        """Learn from sentences that are cut into words."""
        rows = (
            (
                self._features(normalise("".join(piece))),
                [tag for word in piece for tag in _tags(len(word))],
            )
            for words in sentences
            for piece in _pieces_of(words)
        )
        self.weights_ = train_crf(
            rows,
            l1=self.settings.l1,
            l2=self.settings.l2,
            iterations=self.settings.iterations,
            min_count=self.settings.min_count,
            progress=steps(tell, "iterations", self.settings.iterations),
        )
        return self

    def words(self, text: str) -> list[Span]:
        """Return the ranges of the words: all of the text but white space."""
        tagger = open_tagger(self.weights_)
        plain_text = normalise(text)
        found = []
        for start, end in _pieces(plain_text):
            first = start
            for at, tag in enumerate(tagger.tag(self._features(plain_text[start:end])), start):
                if tag in "BS" and at > first:
                    found.append(Span(first, at))
                    first = at
            found.append(Span(first, end))
        return found

    def state(self) -> State:
        """Return settings, weights and dictionary."""
        files: dict[str, bytes | Path] = {_WEIGHTS: lzma.compress(self.weights_)}
        if self.dictionary:
            files[_DICTIONARY] = lzma.compress(self.dictionary.to_bytes())
        return State(Config("words", self.name, plain(self.settings)), files=files)

    @classmethod
    def from_state(cls, state: State) -> CRFWords:
        """Make it again."""
        words = None
        try:
            if _DICTIONARY in state.files:
                words = Dictionary.from_bytes(lzma.decompress(state.file(_DICTIONARY)))
            model = cls(**state.config.settings, dictionary=words)
            model.weights_ = lzma.decompress(state.file(_WEIGHTS))
        except lzma.LZMAError as error:
            raise ModelError(f"damaged weights: {error}") from None
        if "B" not in open_tagger(model.weights_).labels():
            raise ModelError("these CRF weights are not those of a word segmenter")
        return model

    def _features(self, text: str) -> list[list[str]]:
        rows = character_features(text)
        if self.dictionary:
            _add_dictionary(rows, text, self.dictionary)
        return rows


def load(model: str | Path = GENERAL) -> CRFWords:
    """Return the segmenter of a model folder, or the general one, which is installed.

    >>> text = "他们住在北京。"
    >>> [text[start:end] for start, end in load().words(text)]
    ['他们', '住', '在', '北京', '。']
    """
    return _loaded(find("words", CRFWords.name, model, "zh").folder)


@lru_cache(maxsize=2)
def _loaded(folder: Path) -> CRFWords:
    return CRFWords.load(folder)


def segment(text: str) -> list[str]:
    """Cut a text into words by the general segmenter.

    >>> segment("我们一起去看电影。")
    ['我们', '一起', '去', '看', '电影', '。']
    """
    return [text[start:end] for start, end in load().words(text)]


def character_features(text: str) -> list[list[str]]:
    """Return, for each character, what the CRF sees of it and its neighbours."""
    padded = ["<2", "<1", *text, ">1", ">2"]
    kinds = ["<", "<", *map(kind, text), ">", ">"]
    rows = []
    for i in range(len(text)):
        a, b, c, d, e = padded[i : i + 5]
        k = "".join(kinds[i : i + 5])
        row = [
            f"0{c}", f"-{b}", f"+{d}", f"={a}", f"#{e}", f"1{b}{c}", f"2{c}{d}", f"3{a}{b}",
            f"4{d}{e}", f"5{b}{d}", f"7{b}{c}{d}", f"t{k}", f"u{k[1:4]}",
        ]  # fmt: skip
        same = (c == b, c == a, d == c, d == b, e == c)
        row += [f"r{number}" for number, equal in enumerate(same) if equal]
        rows.append(row)
    return rows


def _add_dictionary(rows: list[list[str]], text: str, words: Dictionary) -> None:
    """Add what a dictionary says of each character to its features."""
    begins, ends, inside = words.matches(text)
    path = ["<", *words.path(text), ">"]
    last = len(rows) - 1
    for i, row in enumerate(rows):
        b, e, m = begins[i], ends[i], inside[i]
        before, here, after = path[i : i + 3]
        row += [
            f"Db{b}", f"De{e}", f"Di{m}", f"Dx{b}{e}{m}", f"Dc{b}{e}{text[i]}",
            f"P{here}", f"Q{before}{here}", f"R{here}{after}", f"S{here}{text[i]}",
            f"V{before}{here}{after}",
        ]  # fmt: skip
        if i:
            row.append(f"Dp{ends[i - 1]}{b}{m}")
        if i < last:
            row.append(f"Dn{begins[i + 1]}{e}{m}")


def _tags(length: int) -> list[str]:
    return ["S"] if length == 1 else ["B", *["M"] * (length - 2), "E"]


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges between white space."""
    start = -1
    for at, character in enumerate(text):
        if character.isspace():
            if start >= 0:
                yield start, at
            start = -1
        elif start < 0:
            start = at
    if start >= 0:
        yield start, len(text)


def _pieces_of(words: Sequence[str]) -> Iterator[list[str]]:
    """Cut a sentence where its text had a space: between words of Latin letters."""
    piece: list[str] = []
    for word in words:
        if not word or any(map(str.isspace, word)):
            raise ValueError(f"{word!r} is no word: it must have characters, and no white space")
        if piece and kind(piece[-1][-1]) == "l" and kind(word[0]) == "l":
            yield piece
            piece = []
        piece.append(word)
    if piece:
        yield piece
