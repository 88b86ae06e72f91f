"""Break files: mutations of bytes, lines, fields, numbers and structure, by a seeded generator."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

NASTY = (
    "", " ", "\t", "\n", "\r\n", "\0", "\ufeff", "\u2028", "\u202e", "\ud83d\ude00", "é", "漢",
    "<P>", "<S>", "_!", "(", ")", "<", ">", "&", "&lt;", "&#0;", "]]>", "<![CDATA[", "<!--",
    "-->", '"', "'", "\\", "{", "}", "[", "]", ":", ",", "|", "=", "_", "-", "->", "#",
    "# newdoc id = x", "0", "-1", "1", "2", "99", "1e309", "NaN", "null", "true", "9" * 30,
    "9" * 5000, "１", "+1", "1_0", "ROOT", "span", "multinuc", "_m", "_r", "Seg=B-seg", "Seg=O",
    "root",
)  # fmt: skip
_NUMBER = re.compile(r"-?\d+")
_FIELD = re.compile(r"[^\t\n]+")
_TAG = re.compile(r"<[^>\n]*>")
_ATTRIBUTE = re.compile(r'"[^"\n]*"')

Mutation = Callable[[random.Random, str, Sequence[str]], str]


def _at(rng: random.Random, text: str) -> int:
    return rng.randrange(len(text) + 1)


def _cut(rng: random.Random, text: str, _: Sequence[str]) -> str:
    start = _at(rng, text)
    return text[:start] + text[min(len(text), start + rng.choice((1, 1, 2, 8, 60))) :]


def _insert(rng: random.Random, text: str, _: Sequence[str]) -> str:
    at = _at(rng, text)
    return text[:at] + rng.choice(NASTY) + text[at:]


def _repeat(rng: random.Random, text: str, _: Sequence[str]) -> str:
    start = _at(rng, text)
    piece = text[start : start + rng.choice((1, 10, 80))]
    return text[:start] + piece * rng.choice((2, 3, 50)) + text[start:]


def _lines(rng: random.Random, text: str, _: Sequence[str]) -> str:
    rows = text.split("\n")
    i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
    kind = rng.randrange(4)
    if kind == 0:
        rows[i], rows[j] = rows[j], rows[i]
    elif kind == 1:
        rows.insert(j, rows[i])
    elif kind == 2:
        del rows[i]
    else:
        rows.insert(i, "")
    return "\n".join(rows)


def _replace_one(pattern: re.Pattern[str]) -> Mutation:
    def mutate(rng: random.Random, text: str, others: Sequence[str]) -> str:
        found = list(pattern.finditer(text))
        if not found:
            return _insert(rng, text, others)
        match = rng.choice(found)
        other = rng.choice(found)[0] if rng.random() < 0.5 else rng.choice(NASTY)
        return text[: match.start()] + other + text[match.end() :]

    return mutate


def _splice(rng: random.Random, text: str, others: Sequence[str]) -> str:
    other = rng.choice(others)
    return text[: _at(rng, text)] + other[_at(rng, other) :]


def _truncate(rng: random.Random, text: str, _: Sequence[str]) -> str:
    return text[: _at(rng, text)]


MUTATIONS: tuple[Mutation, ...] = (
    _cut, _insert, _repeat, _lines, _splice, _truncate,
    _replace_one(_NUMBER), _replace_one(_FIELD), _replace_one(_TAG), _replace_one(_ATTRIBUTE),
)  # fmt: skip


def mutated(rng: random.Random, seeds: Sequence[str]) -> str:
    """Return one of the seeds after one to four mutations."""
    text = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 2, 4))):
        text = rng.choice(MUTATIONS)(rng, text, seeds)
    return text


_PIECE = re.compile(r"<[^>]*>|\([^()]*|\w+|\t[^\t]*|[{\[]")


def grown(rng: random.Random, seeds: Sequence[str]) -> Callable[[int], str]:
    """Return texts that grow: a seed with something in it again and again, up to a size."""
    seed = rng.choice(seeds)
    pieces = [*NASTY, *seed.split("\n"), *_PIECE.findall(seed)]
    chosen = "".join(rng.choice(pieces) for _ in range(rng.choice((1, 1, 2, 3))))[:200]
    piece = (chosen or "a") + rng.choice(("", "\n"))
    at = _at(rng, seed)
    return lambda size: seed[:at] + piece * (size // len(piece)) + seed[at:]
