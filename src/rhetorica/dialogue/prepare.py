"""Dialogues -> words -> numbers: entities become their types, words are counted and numbered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from rhetorica.dialogue.gibbs import Corpus
from rhetorica.dialogue.porter import stem
from rhetorica.dialogue.types import Dialogue, Turn
from rhetorica.errors import RhetoricaError

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
RULES: tuple[tuple[str, str], ...] = (
    ("email", r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    ("time", r"\d{1,2}(?::\d{2})?\s?(?:[ap]\.m\.|[ap]m\b)|\d{1,2}:\d{2}(?::\d{2})?\b"),
    (
        "date",
        rf"\d{{4}}-\d{{2}}-\d{{2}}\b|\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}\b"
        rf"|{_MONTH}\.?\s\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s\d{{4}})?"
        rf"|\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}\b"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    ),
    ("phone", r"\+?\(?\d{3}\)?[\s.-]?\d{3}[\s.-]?\d{3,4}\b"),
    ("number", r"\d+(?:[.,]\d+)*(?:st|nd|rd|th)?\b"),
)
"""Entities that are recognised by how they are written, in the order in which they are tried."""

STOP_WORDS = frozenset(
    "a about above after again against all am an and any are as at be because been before being "
    "below between both but by can could did do does doing down during each few for from further "
    "had has have having he her here hers herself him himself his how i if in into is it its "
    "itself just me more most my myself no nor not now of off on once only or other our ours "
    "ourselves out over own same she should so some such than that the their theirs them "
    "themselves then there these they this those through to too under until up very was we were "
    "what when where which while who whom why will with would you your yours yourself yourselves "
    "i'm i've i'd i'll it's that's you're you've you'll you'd he's she's we're we've we'll they're "
    "don't doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't haven't hasn't "
    "what's where's there's let's".split()
)

_WORD = re.compile(r"<[^<>\s]+>|[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Preparation:
    """How turns become words.

    ``entities``: annotated ones become their types; ``rules``: so do times, dates, mail addresses,
    phone numbers and other numbers; ``patterns`` are your own (type, regular expression), tried
    first. The paper's two corpora: BusTime has ``entities`` and ``min_turns=20``; TechSupport
    ``stop_words``, ``stem`` and ``min_turns=30``, too.

    >>> Preparation().words(Turn("Client", "I'm at bob@example.org, call at 5 pm."))
    ["i'm", 'at', '<email>', 'call', 'at', '<time>']
    """

    entities: bool = True
    rules: bool = True
    patterns: tuple[tuple[str, str], ...] = ()
    stop_words: bool = False
    stem: bool = False
    min_turns: int = 1
    min_count: int = 2

    def __post_init__(self) -> None:
        for type_, pattern in self.patterns:
            if not re.fullmatch(r"[^<>\s]+", type_):
                raise RhetoricaError(f"{type_!r} cannot be a type: it has a space or < or >")
            try:
                re.compile(pattern)
            except re.error as error:
                raise RhetoricaError(f"the pattern of <{type_}> is wrong: {error}") from None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Preparation:
        """Make it of what a model folder holds."""
        patterns = tuple((str(a), str(b)) for a, b in data["patterns"])
        return cls(**{**data, "patterns": patterns})

    def words(self, turn: Turn) -> list[str]:
        """Return a turn's words, in small letters, entities as ``<type>``."""
        found = [word.lower().replace("’", "'") for word in _WORD.findall(self.typed(turn))]
        if self.stop_words:
            found = [word for word in found if word not in STOP_WORDS]
        if self.stem:
            found = [word if word[0] == "<" else stem(word) for word in found]
        return found

    def typed(self, turn: Turn) -> str:
        """Return a turn's text with ``<type>`` in place of each entity."""
        text = turn.text
        if self.entities:
            for start, end, type_ in reversed(turn.entities):
                text = f"{text[:start]} <{type_}> {text[end:]}"
        return _typing(self.patterns, self.rules)(text)

    def kept(self, dialogues: Iterable[Dialogue]) -> list[Dialogue]:
        """Return the dialogues that are long enough."""
        return [dialogue for dialogue in dialogues if len(dialogue.turns) >= self.min_turns]


@lru_cache(maxsize=64)
def _typing(patterns: tuple[tuple[str, str], ...], rules: bool) -> Callable[[str], str]:
    """Return the function that puts types in place of what the patterns find."""
    every = patterns + (RULES if rules else ())
    if not every:
        return str
    # Groups by number: a type may occur twice, and need not be an identifier.
    parts = "|".join(f"(?P<r{k}>{pattern})" for k, (_, pattern) in enumerate(every))
    finder = re.compile(rf"(?<![\w<])(?:{parts})", re.IGNORECASE)

    def name(match: re.Match[str]) -> str:
        return f" <{every[int((match.lastgroup or 'r0')[1:])][0]}> "

    def replace(text: str) -> str:
        # What is a type already is not looked into.
        pieces = re.split(r"(<[^<>\s]+>)", text)
        pieces[::2] = [finder.sub(name, piece) for piece in pieces[::2]]
        return "".join(pieces)

    return replace


class Lexicon:
    """The words and speakers that a model knows, by number."""

    def __init__(self, words: Sequence[str], speakers: Sequence[str]) -> None:
        self.words, self.speakers = tuple(words), tuple(speakers)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    @classmethod
    def of(cls, dialogues: Iterable[Dialogue], preparation: Preparation) -> Lexicon:
        """Collect the words that are frequent enough, most frequent first."""
        counts: Counter[str] = Counter()
        speakers: dict[str, None] = {}
        for dialogue in dialogues:
            for turn in dialogue.turns:
                counts.update(preparation.words(turn))
                speakers.setdefault(turn.speaker)
        kept = [(-n, word) for word, n in counts.items() if n >= preparation.min_count]
        if not kept:
            raise RhetoricaError(
                f"no word occurs {preparation.min_count} times: nothing to learn from. Give more "
                "dialogues, or a smaller min_count"
            )
        return cls([word for _, word in sorted(kept)], list(speakers))

    def encode(self, dialogues: Sequence[Dialogue], preparation: Preparation) -> tuple[Corpus, int]:
        """Return dialogues as numbers, and how many of their words are not known (left out)."""
        numbers, speakers = self._numbers, {name: k for k, name in enumerate(self.speakers)}
        words: list[int] = []
        utterances, bounds, voices = [0], [0], []
        unknown = 0
        for dialogue in dialogues:
            for turn in dialogue.turns:
                found = [numbers.get(word, -1) for word in preparation.words(turn)]
                words += [number for number in found if number >= 0]
                unknown += found.count(-1)
                utterances.append(len(words))
                # Whoever was never heard speaks as the first speaker.
                voices.append(speakers.get(turn.speaker, 0))
            bounds.append(len(utterances) - 1)

        def numbered(values: list[int]) -> Any:
            return np.array(values, np.int32)

        corpus = Corpus(
            numbered(words), numbered(utterances), numbered(bounds), numbered(voices),
            len(self.words), max(1, len(self.speakers)),
        )  # fmt: skip
        return corpus, unknown
