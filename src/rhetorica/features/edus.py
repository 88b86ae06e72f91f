"""What is known of each EDU and of each pair of EDUs, as integers that models can combine.

An attribute of an EDU (its first word, the tag of its head, ...) is a string, kept as a 32-bit
hash; an attribute of a pair (same sentence, distance, ...) is a small integer in an n x n array.
Models combine them by templates; nothing here loops over pairs in Python. Pairs are made for some
EDUs at a time, so that a book need not have all of its pairs in memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from zlib import crc32

import numpy as np
import numpy.typing as npt

from rhetorica.document import Document
from rhetorica.errors import InvalidDocument
from rhetorica.features.dominance import Dominance, dominators, head_token, owners
from rhetorica.features.phrases import Phrases
from rhetorica.features.syntax import Syntax

Ints = npt.NDArray[np.int64]
Head = Literal["lemma", "word"]


@lru_cache(maxsize=200_000)
def hashed(text: str) -> int:
    """Return a number for a string, the same on every machine and in every run."""
    return crc32(text.encode("utf-8", "surrogatepass"))


def hashes(column: Iterable[str]) -> Ints:
    """Return the numbers of strings."""
    return np.fromiter(map(hashed, column), np.int64)


@dataclass(frozen=True, slots=True)
class EDUTable:
    """Attributes of a document's EDUs: a value an EDU in each column.

    ``strings[name]`` are the values of an attribute, ``attributes[name]`` their hashes.
    """

    strings: dict[str, list[str]]
    attributes: dict[str, Ints]
    places: Places
    dominators: Ints
    dominations: Ints
    lemmas: list[set[str]]
    syntax: Syntax

    @classmethod
    def of(cls, doc: Document, *, phrases: bool = False, head: Head = "lemma") -> EDUTable:
        """Compute the attributes of a document with EDUs and syntax.

        With ``phrases``, dominance is that of the phrase structure (Soricut & Marcu 2003), where
        the document has any: ``domtag`` is the label of an EDU's attachment node, ``headrel`` that
        of its head node. ``head`` tells whether the head word is given as its lemma, or as it is,
        in lower case.
        """
        if not doc.edus:
            raise InvalidDocument(f"{doc.id or 'the document'} has no EDUs: segment it first")
        syntax = Syntax.of(doc)
        tokens = [list(group) for group in doc.edu_tokens()]
        places = Places.of(doc)
        heads = [head_token(syntax, group) for group in tokens]
        strings = _unit_strings(syntax, tokens, heads) | places.strings(syntax, tokens)
        if head == "word":
            strings["head"] = [syntax.lowered[at] if at >= 0 else "" for at in heads]
        above, dominations = _dominance(syntax, heads, owners(tokens, len(doc.tokens)))
        if phrases and (found := Phrases.of(doc, syntax)) is not None:
            nodes = Dominance.of(doc, syntax, found)
            strings["domtag"] = [label or "ROOT" for label in nodes.attachment_labels]
            strings["headrel"] = list(nodes.head_labels)
            above = nodes.dominators
            dominations = np.where(above >= 0, hashes(nodes.head_labels) & 0xFFFF, 0)
        return cls(
            strings,
            {name: hashes(column) for name, column in strings.items()},
            places,
            above,
            dominations,
            [_content_lemmas(syntax, group) for group in tokens],
            syntax,
        )

    def units(self, members: Ints) -> dict[str, Ints]:
        """Return the attributes of some EDUs, and a last value for the artificial root."""
        root = hashed("root")
        return {name: np.append(values[members], root) for name, values in self.attributes.items()}

    def pairs(self, members: Ints) -> dict[str, Ints]:
        """Return the attributes of pairs: (n + 1) x n arrays, the last row for the root as head."""
        pairs = self.places.pairs(members)
        pairs["dominance"] = self._dominance_pairs(members)
        pairs["overlap"] = self._overlap(members)
        return pairs

    def _dominance_pairs(self, members: Ints) -> Ints:
        """Tell whose head word hangs on a word of whom, in which direction, by which relation."""
        n = len(members)
        table = np.zeros((n + 1, n), dtype=np.int64)
        table[n] = 1
        place = {int(member): i for i, member in enumerate(members)}
        for i, member in enumerate(members.tolist()):
            above = place.get(int(self.dominators[member]))
            if above is not None:
                table[above, i] = 2 + 2 * self.dominations[member]
                table[i, above] = 3 + 2 * self.dominations[member]
        return table

    def _overlap(self, members: Ints) -> Ints:
        """Count the content lemmas that two EDUs share, up to 3."""
        holders: dict[str, list[int]] = {}
        for i, member in enumerate(members.tolist()):
            for lemma in self.lemmas[member]:
                holders.setdefault(lemma, []).append(i)
        counts = np.zeros((len(members) + 1, len(members)), dtype=np.int64)
        for found in holders.values():
            if len(found) > 1:
                counts[np.ix_(found, found)] += 1
        return np.minimum(counts, 3)


def _unit_strings(
    syntax: Syntax, tokens: list[list[int]], heads: list[int]
) -> dict[str, list[str]]:
    """Return the attributes that words and syntax give, one list of values an attribute."""
    columns: dict[str, list[str]] = {}
    low, tags, verbs = syntax.lowered, syntax.tags, syntax.language.tags.verbs

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
    add("verbs", lambda g, h: " ".join(dict.fromkeys(tags[i] for i in g if tags[i] in verbs)))
    add("subject", lambda g, h: next((low[i] for i in g if syntax.deprels[i][:5] == "nsubj"), ""))
    add("connective", lambda g, h: _connective(syntax, g))
    add("shape", lambda g, h: _shape(syntax, g))
    return columns


def _connective(syntax: Syntax, group: list[int]) -> str:
    """Return the words before the first noun phrase or verb: where connectives stand."""
    found = []
    for i in group[:4]:
        if syntax.tags[i] in syntax.language.tags.connectives:
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
            ("v", any(syntax.tags[i] in syntax.language.tags.verbs for i in group)),
        )
        if there
    )
    return f"{marks} {last if not last[:1].isalnum() else ''}"


@dataclass(frozen=True, slots=True)
class Places:
    """Where each EDU stands: its number in its sentence, paragraph and document, and theirs."""

    sentence: Ints
    paragraph: Ints
    in_sentence: Ints
    in_paragraph: Ints
    from_sentence_end: Ints
    from_paragraph_end: Ints

    @classmethod
    def of(cls, doc: Document) -> Places:
        """Read the places off a document."""
        sentence = np.array(doc.edu_sentences(), dtype=np.int64)
        paragraph = np.array(doc.edu_paragraphs(), dtype=np.int64)
        return cls(
            sentence,
            paragraph,
            *(_rank(unit) for unit in (sentence, paragraph)),
            *(_rank(unit[::-1])[::-1] for unit in (sentence, paragraph)),
        )

    def strings(self, syntax: Syntax, tokens: list[list[int]]) -> dict[str, list[str]]:
        """Return the places as attributes of EDUs."""
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

    def pairs(self, members: Ints) -> dict[str, Ints]:
        """Return how pairs of EDUs stand to each other: side, distance, what lies between."""
        n = len(members)
        sentence, paragraph = self.sentence[members], self.paragraph[members]
        step = members[None, :] - members[:, None]
        sentences = np.abs(sentence[None, :] - sentence[:, None])
        paragraphs = np.abs(paragraph[None, :] - paragraph[:, None])
        level = np.where(sentences == 0, 0, np.where(paragraphs == 0, 1, 2))
        side = (step > 0).astype(np.int64)
        far = _buckets(np.abs(step))
        crossed = np.where(level == 0, far, np.where(level == 1, _buckets(sentences), 0))
        crossed = np.where(level == 2, _buckets(paragraphs), crossed)
        tables = {
            "same": level * 2 + side,
            "samesentence": (level == 0) * 2 + side,
            "distance": far * 2 + side,
            "where": (crossed * 3 + level) * 2 + side,
            "sentencegap": _buckets(sentences) * 2 + side,
            "adjacent": (np.abs(step) == 1) * 8 + level * 2 + side,
        }
        root = np.full((1, n), 255, dtype=np.int64)
        return {name: np.concatenate([table, root]) for name, table in tables.items()}


def _dominance(syntax: Syntax, heads: list[int], owner: list[int]) -> tuple[Ints, Ints]:
    """Return, for each EDU, the EDU that its head word hangs on (or -1) and by which relation."""
    attachments = [syntax.heads[head] if head >= 0 else -1 for head in heads]
    above = np.array(dominators(attachments, owner), dtype=np.int64)
    relations = np.zeros(len(heads), dtype=np.int64)
    for edu in np.flatnonzero(above >= 0).tolist():
        relations[edu] = hashed(syntax.deprels[heads[edu]]) & 0xFFFF
    return above, relations


def _content_lemmas(syntax: Syntax, group: list[int]) -> set[str]:
    language = syntax.language
    found = {syntax.lemmas[i] for i in group if syntax.tags[i] in language.tags.content}
    return found - language.light


def run_starts(groups: Ints) -> npt.NDArray[np.bool_]:
    """Tell where runs of equal values begin."""
    return np.append(True, groups[1:] != groups[:-1])[: len(groups)]


def _rank(groups: Ints) -> Ints:
    """Return the number of each value in its run of equal values, from 0."""
    places = np.arange(len(groups))
    return places - np.maximum.accumulate(np.where(run_starts(groups), places, 0))


def _rank_of_groups(inner: Ints, outer: Ints) -> Ints:
    """Return, for each value, the number of its run of ``inner`` in its run of ``outer``."""
    total = np.cumsum(run_starts(inner))
    return np.asarray(total - np.maximum.accumulate(np.where(run_starts(outer), total, 0)))


_EDGE_LIST = [1, 2, 3, 4, 5, 7, 10, 15, 25, 50]
_EDGES = np.array(_EDGE_LIST)


def _bucket(number: int) -> int:
    return bisect_right(_EDGE_LIST, number)


def _buckets(numbers: Ints) -> Ints:
    return np.searchsorted(_EDGES, numbers, side="right").astype(np.int64)
