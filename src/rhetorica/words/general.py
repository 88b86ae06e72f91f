"""Counts of words and word pairs in text that is cut already: what is imposed on the corpus level.

The semi-supervised half of the models: such counts are added to those of the texts at hand and
never change. They come from segmented general text, from the folder of the shipped segmenter (only
words and pairs that occur twice or more in its training text), or from a fitted model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhetorica.words.characters import normalise
from rhetorica.words.lattice import ANY, EDGE, Lattice, atoms_of

Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WordCounts:
    """How often words and pairs of words occur.

    Word k has the number k + 1 in ``pairs`` (rows of first, second, count); number 0 is the
    edge of a clause. ``followed`` says how often each number is followed by anything, pairs that
    are not listed included, and ``total`` is the number of all words and ends of clauses.
    """

    words: tuple[str, ...] = ()
    counts: Longs = field(default_factory=lambda: np.zeros(0, np.int64))
    pairs: Longs = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    followed: Longs = field(default_factory=lambda: np.zeros(1, np.int64))
    total: int = 0

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], *, at_least: int = 1) -> WordCounts:
        """Count words and pairs of sentences; list those that occur ``at_least`` so often.

        >>> found = WordCounts.of([["你", "好", "，", "你", "好", "吗"]])
        >>> found.words, found.counts.tolist(), found.total
        (('你', '吗', '好'), [2, 1, 2], 7)
        """
        words: Counter[str] = Counter()
        pairs: Counter[tuple[str, str]] = Counter()
        for sentence in sentences:
            for clause in clauses_of(sentence):
                words.update(clause)
                pairs.update(zip(("", *clause), (*clause, ""), strict=True))
        followed: Counter[str] = Counter()
        for (first, _), count in pairs.items():
            followed[first] += count
        kept = sorted(word for word, count in words.items() if count >= at_least)
        numbers = {"": 0} | {word: number for number, word in enumerate(kept, 1)}
        rows = sorted(
            (numbers[first], numbers[second], count)
            for (first, second), count in pairs.items()
            if count >= at_least and first in numbers and second in numbers
        )
        return cls(
            tuple(kept),
            np.array([words[word] for word in kept], np.int64),
            np.array(rows, np.int64).reshape(-1, 3),
            np.array([followed[word] for word in numbers], np.int64),
            words.total() + followed[""],
        )

    def __add__(self, other: WordCounts) -> WordCounts:
        words = sorted({*self.words, *other.words})
        numbers = {"": 0} | {word: number for number, word in enumerate(words, 1)}
        counts, followed = np.zeros(len(words), np.int64), np.zeros(len(words) + 1, np.int64)
        rows = []
        for one in (self, other):
            place = np.array([numbers[word] for word in ("", *one.words)], np.int64)
            counts[place[1:] - 1] += one.counts
            followed[place] += one.followed
            first, second, times = one.pairs.T
            rows.append(np.stack([place[first] * len(numbers) + place[second], times], axis=1))
        both = np.concatenate(rows)
        keys, where = np.unique(both[:, 0], return_inverse=True)
        times = np.bincount(where, both[:, 1], len(keys)).astype(np.int64)
        pairs = np.stack([*np.divmod(keys, len(numbers)), times], axis=1)
        return WordCounts(tuple(words), counts, pairs, followed, self.total + other.total)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a model folder keeps of them."""
        return {
            "general_words": np.array("\n".join(self.words)),
            "general_counts": self.counts,
            "general_pairs": self.pairs,
            "general_followed": self.followed,
            "general_total": np.array(self.total),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> WordCounts:
        """Make them again."""
        words = tuple(filter(None, str(arrays["general_words"]).split("\n")))
        return cls(
            words,
            arrays["general_counts"],
            arrays["general_pairs"],
            arrays["general_followed"],
            int(arrays["general_total"]),
        )

    def keyed(self, lattice: Lattice) -> tuple[Longs, Longs]:
        """Return the keys that a `Tally` of a lattice's corpus level has them under, and counts.

        Words and pairs that cannot occur in the lattice are left out; the sums hold them.
        """
        numbers = np.concatenate([[EDGE], lattice.numbers(self.words)])
        size = lattice.size
        known = numbers >= 0
        first, second, times = self.pairs.T
        inside = known[first] & known[second]
        words = known[1:]
        keys = [
            np.array([ANY, EDGE], np.int64),
            numbers[1:][words],
            numbers[known] * size,
            numbers[first[inside]] * size + numbers[second[inside]],
        ]
        clauses = self.followed[0]
        values = [
            np.array([self.total, clauses], np.int64),
            self.counts[words],
            self.followed[known],
            times[inside],
        ]
        return np.concatenate(keys), np.concatenate(values).astype(np.int64)


def clauses_of(sentence: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Cut a sentence of words into clauses: marks, which are no words of the model, end one.

    >>> list(clauses_of(["你", "好", "！", "ＡＢ", "班"]))
    [('你', '好'), ('AB', '班')]
    """
    clause: list[str] = []
    for word in sentence:
        if atoms_of(word).atoms:
            clause.append(normalise(word))
        elif clause:
            yield tuple(clause)
            clause = []
    if clause:
        yield tuple(clause)
