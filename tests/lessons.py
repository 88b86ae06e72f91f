"""Three little texts with their trees, and texts of all kinds: what the contract suites share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any

from rhetorica import Document, Join, Parse, RSTTree, Scores
from rhetorica.text import annotate

LESSONS = [
    (
        ["We left early", "because it rained.", "Nobody was sad.", "We had seen enough", "anyway."],
        (
            Join(0, 2, 5, "NS", "elaboration"),
            Join(0, 1, 2, "NS", "causal"),
            Join(2, 3, 5, "NS", "explanation"),
            Join(3, 4, 5, "NS", "mode"),
        ),
    ),
    (
        ["If you come,", "bring some wine.", "We will dance."],
        (Join(0, 2, 3, "NN", "joint"), Join(0, 1, 2, "SN", "contingency")),
    ),
    (
        ["She said", "that she was tired,", "that he slept", "and that they sang."],
        (
            Join(0, 1, 4, "SN", "attribution"),
            Join(1, 2, 4, "NN", "joint"),
            Join(2, 3, 4, "NN", "joint"),
        ),
    ),
]

UNITS = [
    ["We left early", "because it rained."],
    ["The man", "who lives here", "says", "that he is tired."],
    ["If you come,", "bring some wine."],
    ["She slept", "while he was reading."],
    ["They stayed", "although it was cold."],
    ["He said", "that the shop was closed."],
]
"""Sentences for segmenters to learn."""

TEXTS = [
    "When it rains, we stay at home. We read books because we like them.",
    "The old umbrella leaked. Although it was expensive, nobody had ever repaired it, "
    "and now it was too late.",
    "",
    "Bread needs four things: flour, water, salt and time.\n\nYeast helps, but it is not needed. "
    "If you keep some dough, it will rise by itself the next day.",
    "Wait!",
    "She said that the shop was closed. He went anyway, hoping to find a window open. "
    "There was none, so he walked home in the rain.",
]
"""Plain texts, some of several sentences, one of none."""

ODD = {
    "empty": "",
    "blank": " \n\t\n ",
    "word": "word",
    "sentence": "One sentence only.",
    "no final newline": "It rained.\nWe left because it was late",
    "CRLF": "It rained.\r\nWe left,\r\nbecause it was late.\r\n\r\nThen we slept.\rAll night.\r\n",
    "tabs": "\tIt rained\tand\twe left.\t\tThen\twe slept.\t",
    "blanks": "It\u00a0rained\u2028and\u2003we\u3000left.\x0bThen\x0cwe slept.\u2029So\x85what?",
    "emoji": "🌧️ 🌧️ Rain 👩‍👩‍👧 again, because 🙂🙂🙂.",
    "right to left": "هذا نص عربي قصير. ירד גשם, ולכן נשארנו בבית.",
    "mixed directions": "He said שלום \u202ebecause\u202c it was مساء.",
    "Chinese": "因为下雨，所以我们留在家里。他很高兴。",
    "NUL": "null\x00byte here, because\x00\x00 it \x00 rained.",
    "only NUL": "\x00",
    "controls": "It \x01rained\x7f, \ufeffbecause\u200b \u200dit\u00ad could.",
    "combining": "e\u0301" + "\u0301" * 50 + " was cafe\u0301.",
    "long word": "x" * 5000,
    "only marks": "... !!! ??? --- ((( ;;; \"\"\" '''",
    "numbers": "1 2 3. 4,000.50 5/6 7:8 2021-01-01 https://example.org/a_b?c=d&e=f",
    "lone surrogate": "It rained \ud83d and \udc00we left, because \udfff it was late.",
    "only a surrogate": "\ud800",
    "3,000 words": "When it rains, we stay at home. We read books because we like them. " * 200
    + "\n\n"
    + "She said that the shop was closed, so he walked home in the rain.\n" * 20,
}
"""Texts that a program meets sooner or later, by what is odd about them."""


@cache
def gold() -> tuple[Parse, ...]:
    """The lessons as analysed documents, with syntax."""
    return tuple(
        Parse(
            replace(annotate(Document.from_edus(units, id=f"lesson{number}")), language="en"),
            RSTTree(len(units), joins),
        )
        for number, (units, joins) in enumerate(LESSONS)
    )


@cache
def single() -> Parse:
    """A text of one unit, which has a tree without joins."""
    return Parse(annotate(Document.from_edus(["It rained."])), RSTTree(1))


@cache
def sentences() -> tuple[Document, ...]:
    """The sentences with syntax, and the EDUs that a segmenter should find."""
    docs = [Document.from_edus(units) for units in UNITS]
    return tuple(replace(annotate(Document(doc.text)), edus=doc.edus) for doc in docs)


def visible(text: str) -> str:
    """What of a text must be found again in its EDUs."""
    return "".join(text.split())


def in_range(scores: Scores | None) -> bool:
    """Tell whether all probabilities are between 0 and 1."""
    if scores is None:
        return True
    likely = (one.probability for row in scores.labels for one in row)
    names = [name for name in scores.__slots__ if name != "labels"]
    plain = (value for name in names for value in getattr(scores, name))
    return all(0 <= value <= 1 for value in (*plain, *likely))


def close(ours: Scores | None, theirs: Scores | None, *, within: float) -> bool:
    """Tell whether two parses are as sure of the same things."""
    if ours is None or theirs is None:
        return ours is theirs
    return all(
        len(getattr(ours, name)) == len(getattr(theirs, name))
        and all(
            abs(a - b) <= within
            for a, b in zip(getattr(ours, name), getattr(theirs, name), strict=True)
        )
        for name in ours.__slots__
    )


def has_surrogates(text: str) -> bool:
    """Tell whether a text holds half characters, which no file can."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def in_threads(
    function: Callable[[Any], Any], inputs: Sequence[Any], *, threads: int = 8
) -> list[Any]:
    """Call a function from several threads that take turns as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(function, inputs))
    finally:
        sys.setswitchinterval(before)
