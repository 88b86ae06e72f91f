"""What is known of each EDU and of each pair of EDUs, as integers that models can combine.

An attribute of an EDU (its first word, the tag of its head, ...) is a string, kept as a 32-bit hash;
an attribute of a pair (same sentence, distance, ...) is a small integer in an n x n array. Models
combine them by templates; nothing here loops over pairs in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np
import numpy.typing as npt

from rhetorica.document import Document
from rhetorica.errors import InvalidDocument
from rhetorica.features.syntax import Syntax

Ints = npt.NDArray[np.int64]

_CONTENT = ("NN", "VB", "JJ", "RB", "CD")
_LIGHT = frozenset("be have do not so very also just more most other such then there here".split())


@lru_cache(maxsize=200_000)
def hashed(text: str) -> int:
    """Return a number for a string, the same on every machine and in every run."""
    return crc32(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class EDUTable:
    """Attributes of a document's EDUs.

    ``units[name]`` has one hash an EDU and a last one for the artificial root; ``pairs[name]`` is
    an (n + 1) x n array over heads (the root last) and dependents.
    """

    n_edus: int
    units: dict[str, Ints]
    pairs: dict[str, Ints]


def edu_table(doc: Document) -> EDUTable:
    """Compute every attribute of a document with EDUs and syntax."""
    if not doc.edus:
        raise InvalidDocument(f"{doc.id or 'the document'} has no EDUs: segment it first")
    syntax = Syntax.of(doc)
    tokens = [list(group) for group in doc.edu_tokens()]
    places = _Places.of(doc)
    heads = [_head_token(syntax, group) for group in tokens]
    owner = _owners(tokens, len(doc.tokens))
    words = _unit_strings(syntax, tokens, heads, owner)
    words |= places.strings(syntax, tokens)
    units = {
        name: np.array([*(hashed(value) for value in column), hashed("root")], dtype=np.int64)
        for name, column in words.items()
    }
    pairs = places.pairs()
    pairs |= _dominance_pairs(syntax, heads, owner, len(tokens))
    pairs["overlap"] = _overlap(syntax, tokens)
    return EDUTable(len(tokens), units, pairs)


def _head_token(syntax: Syntax, group: list[int]) -> int:
    """Return the EDU's head word: of those whose parent lies outside, the one highest up."""
    if not group:
        return -1
    inside = range(group[0], group[-1] + 1)
    outer = [i for i in group if syntax.heads[i] not in inside] or group
    return min(outer, key=lambda i: (syntax.depths[i], syntax.tags[i][:1] in ",.:'`-", i))


def _owners(tokens: Iterable[list[int]], count: int) -> list[int]:
    owner = [-1] * count
    for edu, group in enumerate(tokens):
        for i in group:
            owner[i] = edu
    return owner


def _unit_strings(
    syntax: Syntax, tokens: list[list[int]], heads: list[int], owner: list[int]
) -> dict[str, list[str]]:
    """Return the attributes that words and syntax give, one list of values an attribute."""
    columns: dict[str, list[str]] = {}
    low, tags = syntax.lowered, syntax.tags

    def add(name: str, value: Callable[[list[int], int], str]) -> None:
        columns[name] = [value(group, head) for group, head in zip(tokens, heads, strict=True)]

    def parent(head: int) -> int:
        return syntax.heads[head] if head >= 0 else -1

    add("first", lambda g, h: low[g[0]] if g else "")
    add("last", lambda g, h: low[g[-1]] if g else "")
    add("first2", lambda g, h: " ".join(low[i] for i in g[:2]))
    add("last2", lambda g, h: " ".join(low[i] for i in g[-2:]))
    add("first3", lambda g, h: " ".join(low[i] for i in g[:3]))
    add("tag", lambda g, h: tags[g[0]] if g else "")
    add("tag2", lambda g, h: " ".join(tags[i] for i in g[:2]))
    add("lasttag", lambda g, h: tags[g[-1]] if g else "")
    add("length", lambda g, h: str(_bucket(len(g))))
    add("head", lambda g, h: syntax.lemmas[h] if h >= 0 else "")
    add("headtag", lambda g, h: tags[h] if h >= 0 else "")
    add("headrel", lambda g, h: syntax.deprels[h] if h >= 0 else "")
    add("domtag", lambda g, h: tags[parent(h)] if parent(h) >= 0 else "ROOT")
    add("dominator", lambda g, h: syntax.lemmas[parent(h)] if parent(h) >= 0 else "ROOT")
    add("verbs", lambda g, h: " ".join(dict.fromkeys(tags[i] for i in g if tags[i][:1] in "VM")))
    add("subject", lambda g, h: next((low[i] for i in g if syntax.deprels[i][:5] == "nsubj"), ""))
    add("connective", lambda g, h: _connective(syntax, g))
    add("shape", lambda g, h: _shape(syntax, g))
    return columns


def _connective(syntax: Syntax, group: list[int]) -> str:
    """Return the words before the first noun phrase or verb: where connectives stand."""
    found = []
    for i in group[:4]:
        if syntax.tags[i] in ("IN", "CC", "RB", "WRB", "TO", "WDT", "WP", ","):
            found.append(syntax.lowered[i])
        else:
            break
    return " ".join(found)


def _shape(syntax: Syntax, group: list[int]) -> str:
    if not group:
        return ""
    first, last = syntax.words[group[0]], syntax.words[group[-1]]
    marks = "".join(
        sign
        for sign, there in (
            ("A", first[:1].isupper()),
            ("(", first == "("),
            ('"', first in '"“'),
            ("0", first[:1].isdigit()),
            ("v", any(syntax.tags[i][:2] in ("VB", "MD") for i in group)),
        )
        if there
    )
    return f"{marks} {last if not last[:1].isalnum() else ''}"


@dataclass(frozen=True, slots=True)
class _Places:
    """Where each EDU stands: its number in its sentence, paragraph and document, and theirs."""

    sentence: Ints
    paragraph: Ints
    in_sentence: Ints
    in_paragraph: Ints
    from_sentence_end: Ints
    from_paragraph_end: Ints

    @classmethod
    def of(cls, doc: Document) -> _Places:
        sentence = np.array(doc.edu_sentences(), dtype=np.int64)
        paragraph = np.array(doc.edu_paragraphs(), dtype=np.int64)
        return cls(
            sentence,
            paragraph,
            *(_rank(unit) for unit in (sentence, paragraph)),
            *(_rank(unit[::-1])[::-1] for unit in (sentence, paragraph)),
        )

    def strings(self, syntax: Syntax, tokens: list[list[int]]) -> dict[str, list[str]]:
        n = len(self.sentence)
        sentences_in = _rank_of_groups(self.sentence, self.paragraph)
        roots = [any(syntax.heads[i] < 0 for i in group) for group in tokens]
        return {
            "insentence": [f"{_bucket(a)}" for a in self.in_sentence],
            "sentenceplace": [
                f"{_bucket(a)}/{_bucket(b)}"
                for a, b in zip(self.in_sentence, self.from_sentence_end, strict=True)
            ],
            "paragraphplace": [
                f"{_bucket(a)}/{_bucket(b)}"
                for a, b in zip(self.in_paragraph, self.from_paragraph_end, strict=True)
            ],
            "documentplace": [f"{_bucket(i)}/{_bucket(n - 1 - i)}" for i in range(n)],
            "documentpart": [f"{10 * i // n}" for i in range(n)],
            "paragraphnumber": [f"{_bucket(p)}" for p in self.paragraph],
            "sentenceinparagraph": [f"{_bucket(s)}" for s in sentences_in],
            "role": [
                f"{'R' if root else ''}{'a' if a == 0 else ''}{'z' if z == 0 else ''}"
                f"{'A' if pa == 0 else ''}{'Z' if pz == 0 else ''}"
                for root, a, z, pa, pz in zip(
                    roots,
                    self.in_sentence,
                    self.from_sentence_end,
                    self.in_paragraph,
                    self.from_paragraph_end,
                    strict=True,
                )
            ],
        }

    def pairs(self) -> dict[str, Ints]:
        n = len(self.sentence)
        place = np.arange(n)
        step = place[None, :] - place[:, None]
        sentences = np.abs(self.sentence[None, :] - self.sentence[:, None])
        paragraphs = np.abs(self.paragraph[None, :] - self.paragraph[:, None])
        level = np.where(sentences == 0, 0, np.where(paragraphs == 0, 1, 2))
        side = (step > 0).astype(np.int64)
        far = _buckets(np.abs(step))
        crossed = np.where(level == 0, far, np.where(level == 1, _buckets(sentences), 0))
        crossed = np.where(level == 2, _buckets(paragraphs), crossed)
        between = _sentence_starts_between(self.sentence)
        tables = {
            "same": level * 2 + side,
            "samesentence": (level == 0) * 2 + side,
            "distance": far * 2 + side,
            "where": (crossed * 3 + level) * 2 + side,
            "sentencegap": _buckets(sentences) * 2 + side,
            "adjacent": (np.abs(step) == 1) * 8 + level * 2 + side,
            "between": np.minimum(between, 15) * 2 + side,
        }
        root = np.full((1, n), 255, dtype=np.int64)
        return {name: np.concatenate([table, root]) for name, table in tables.items()}


def _sentence_starts_between(sentence: Ints) -> Ints:
    """Count, for each pair, the EDUs between that begin a sentence, up to 7, and whether any."""
    starts = np.concatenate([[1], (np.diff(sentence) != 0).astype(np.int64)])
    total = np.cumsum(starts)
    return _buckets(np.abs(total[None, :] - total[:, None]))


def _dominance_pairs(
    syntax: Syntax, heads: list[int], owner: list[int], n: int
) -> dict[str, Ints]:
    """Tell which EDU's head word hangs on a word of which other EDU, and by what relation."""
    dominance = np.zeros((n + 1, n), dtype=np.int64)
    dominance[n] = 1
    for edu, head in enumerate(heads):
        parent = syntax.heads[head] if head >= 0 else -1
        if parent >= 0 and owner[parent] >= 0 and owner[parent] != edu:
            relation = hashed(syntax.deprels[head]) & 0xFFFF
            dominance[owner[parent], edu] = 2 + 2 * relation
            dominance[edu, owner[parent]] = 3 + 2 * relation
    return {"dominance": dominance}


def _overlap(syntax: Syntax, tokens: list[list[int]]) -> Ints:
    """Count the content lemmas that two EDUs share, up to 3."""
    n = len(tokens)
    rows: dict[str, list[int]] = {}
    for edu, group in enumerate(tokens):
        lemmas = {
            syntax.lemmas[i] for i in group if syntax.tags[i][:2] in _CONTENT
        }
        for lemma in lemmas - _LIGHT:
            rows.setdefault(lemma, []).append(edu)
    counts = np.zeros((n + 1, n), dtype=np.int64)
    for members in rows.values():
        if len(members) > 1:
            counts[np.ix_(members, members)] += 1
    return np.minimum(counts, 3)


def _rank(groups: Ints) -> Ints:
    """Number the members of each run of equal values from 0."""
    n = len(groups)
    new = np.concatenate([[True], groups[1:] != groups[:-1]]) if n else np.zeros(0, dtype=bool)
    starts = np.maximum.accumulate(np.where(new, np.arange(n), 0)) if n else np.zeros(0, np.int64)
    return np.arange(n) - starts


def _rank_of_groups(inner: Ints, outer: Ints) -> Ints:
    """Number the runs of ``inner`` inside each run of ``outer`` from 0."""
    if not len(inner):
        return np.zeros(0, np.int64)
    new_inner = np.concatenate([[0], (inner[1:] != inner[:-1]).astype(np.int64)])
    total = np.cumsum(new_inner)
    starts = np.concatenate([[True], outer[1:] != outer[:-1]])
    base = np.maximum.accumulate(np.where(starts, total, 0))
    return np.asarray(total - base)


_EDGES = np.array([1, 2, 3, 4, 5, 7, 10, 15, 25, 50])


def _bucket(number: int) -> int:
    return int(np.searchsorted(_EDGES, number, side="right"))


def _buckets(numbers: Ints) -> Ints:
    return np.searchsorted(_EDGES, numbers, side="right").astype(np.int64)
