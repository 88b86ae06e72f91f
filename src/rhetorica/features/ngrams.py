"""Dictionaries of the N-grams with which units begin and end, ranked by what they tell.

Joty, Carenini & Ng (2015, section 4.1.4): instead of a fixed list of cue phrases, the first and
last N words (N = 1, 2, 3) of the two units of a join, and the tags of these words, are ranked by
their mutual information with the labels of the join (structure S and relation R), and the best
are kept. Their equation 7 ranks an N-gram x by the conditional entropy of the labels,

    H(S, R | x) = - sum over s, r of  c(x, s, r) / c(x)  log  c(x, s, r) / c(x)

(as printed, the factor before the logarithm is missing, and it would be infinite). By this alone
whatever was seen once is best, so there is a least count. ``information`` is the mutual information
of the labels with whether the N-gram is there, which weighs how often it is, too.

Numbers of N-grams are small: 0 for one that is not in the dictionary, then by rank from 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from rhetorica.document import Document
from rhetorica.errors import ModelError, UnknownName
from rhetorica.features.syntax import Syntax

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Ranking = Literal["entropy", "information", "frequency"]
RANKINGS: tuple[Ranking, ...] = get_args(Ranking)


class Slot(NamedTuple):
    """Where an N-gram stands: at which edge of a unit, of words or tags, how long."""

    edge: str
    kind: str
    n: int


SLOTS = tuple(map(Slot._make, product(("first", "last"), ("word", "tag"), (1, 2, 3))))
"""The N-grams of a unit; those of the left and of the right unit of a join are kept apart."""
SIDES = 2


@dataclass(frozen=True, slots=True)
class EdgeGrams:
    """The N-grams from the first and up to the last word of each EDU of a document.

    ``grams[slot][edu]`` may reach into the EDUs after (or before) it, as a unit of several EDUs
    does; `fit` tells which are inside a unit. ``starts`` and ``ends`` are the EDUs' tokens.
    """

    grams: tuple[tuple[str, ...], ...]
    starts: Ints
    ends: Ints

    @classmethod
    def of(cls, doc: Document, syntax: Syntax | None = None) -> EdgeGrams:
        """Read the N-grams off a document with tokens and EDUs; words are in lower case."""
        columns = syntax or Syntax.of(doc)
        tokens = doc.edu_tokens()
        rows = []
        for edge, kind, n in SLOTS:
            values = columns.lowered if kind == "word" else columns.tags
            if edge == "first":
                spans = [(group.start, group.start + n) for group in tokens]
            else:
                spans = [(group.stop - n, group.stop) for group in tokens]
            rows.append(tuple(_join(values[max(0, start) : end]) for start, end in spans))
        starts = np.array([group.start for group in tokens], np.int64)
        ends = np.array([group.stop for group in tokens], np.int64)
        return cls(tuple(rows), starts, ends)

    def fit(self, starts: Ints, ends: Ints) -> npt.NDArray[np.bool_]:
        """Tell which N-grams are inside the units ``starts:ends`` (of EDUs): (unit, slot)."""
        lengths = self.ends[ends - 1] - self.starts[starts]
        return np.asarray(lengths[:, None] >= [slot.n for slot in SLOTS])


def _join(values: Sequence[str]) -> str:
    return " ".join(values).replace("\n", " ")


class NGramCounts:
    """How often each N-gram stands in a slot of a side, with each label.

    Labels are numbers below ``n_labels``, one for each pair (S, R) that there is.
    """

    def __init__(self, n_labels: int) -> None:
        if n_labels < 1:
            raise ValueError(f"{n_labels} labels: expected at least 1")
        self.n_labels = n_labels
        self._numbers: list[dict[str, int]] = [{} for _ in SLOTS]
        self._cells: list[Counted] = [Counted() for _ in range(SIDES * len(SLOTS))]
        self._labels = np.zeros(n_labels, np.int64)

    def add(
        self, grams: EdgeGrams, start: Ints, split: Ints, end: Ints, labels: Ints
    ) -> NGramCounts:
        """Count the joins of a document: EDUs ``start:split`` and ``split:end``, with labels."""
        if len(labels) and not 0 <= labels.min() <= labels.max() < self.n_labels:
            raise ValueError(f"labels are numbers from 0 to {self.n_labels - 1}")
        self._labels += np.bincount(labels, minlength=self.n_labels)
        numbers = [
            np.array([table.setdefault(gram, len(table)) for gram in row], np.int64)
            for table, row in zip(self._numbers, grams.grams, strict=True)
        ]
        for side, (first, after) in enumerate(((start, split), (split, end))):
            fits = grams.fit(first, after)
            for slot, (edge, _, _) in enumerate(SLOTS):
                edus = first if edge == "first" else after - 1
                keys = numbers[slot][edus] * self.n_labels + labels
                self._cells[side * len(SLOTS) + slot].add(keys[fits[:, slot]])
        return self

    def table(self, side: int, slot: int) -> tuple[list[str], Ints]:
        """Return the N-grams of a slot, and their counts with each label: (N-gram, label)."""
        grams = list(self._numbers[slot])
        keys, counts = self._cells[side * len(SLOTS) + slot].total()
        table = np.zeros(len(grams) * self.n_labels, np.int64)
        table[keys] = counts
        return grams, table.reshape(len(grams), self.n_labels)

    def best(
        self, size: int, *, ranking: Ranking = "information", min_count: int = 2
    ) -> NGramDictionary:
        """Keep the ``size`` best N-grams of each slot that occur at least ``min_count`` times.

        Of equals the more frequent, then the first by alphabet.
        """
        if ranking not in RANKINGS:
            raise UnknownName("ranking of N-grams", ranking, RANKINGS)
        kept = []
        for side, slot in product(range(SIDES), range(len(SLOTS))):
            grams, table = self.table(side, slot)
            totals = table.sum(axis=1)
            frequent = np.flatnonzero(totals >= max(1, min_count)).tolist()
            frequent.sort(key=grams.__getitem__)
            scores = self._rank(table[frequent], ranking).round(12)
            order = np.lexsort((-totals[frequent], -scores))
            kept.append(tuple(grams[frequent[at]] for at in order[:size].tolist()))
        return NGramDictionary(tuple(kept))

    def _rank(self, table: Ints, ranking: Ranking) -> Floats:
        """Return what is the higher the better."""
        if ranking == "frequency":
            return np.asarray(table.sum(axis=1), np.float64)
        if ranking == "entropy":
            return -conditional_entropy(table)
        return information(table, self._labels)


class Counted:
    """Numbers and how often each was added."""

    def __init__(self) -> None:
        self._keys: list[Ints] = []
        self._counts: list[Ints] = []

    def add(self, keys: Ints) -> None:
        """Count some numbers."""
        found, counts = np.unique(keys, return_counts=True)
        self._keys.append(found)
        self._counts.append(counts)

    def total(self) -> tuple[Ints, Ints]:
        """Return all numbers, in order, and their counts."""
        if not self._keys:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        keys, places = np.unique(np.concatenate(self._keys), return_inverse=True)
        counts = np.bincount(places, weights=np.concatenate(self._counts), minlength=len(keys))
        return keys, counts.astype(np.int64)


def conditional_entropy(counts: npt.ArrayLike) -> Floats:
    """Return H(S, R | x) in nats for rows of counts c(x, label): equation 7.

    >>> conditional_entropy([[2, 0], [1, 1]]).round(3).tolist()
    [0.0, 0.693]
    """
    table = np.asarray(counts, np.float64)
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.abs(_p_log_p(shares).sum(axis=1)))


def information(counts: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
    """Return, in nats, what it tells of the label whether an N-gram is there.

    ``counts`` are rows c(x, label); ``labels`` how often each label occurs, with x or without.

    >>> information([[2, 0], [1, 1]], [2, 2]).round(3).tolist()
    [0.693, 0.0]
    """
    there, totals = np.asarray(counts, np.float64), np.asarray(labels, np.float64)
    everything = max(float(totals.sum()), 1.0)
    entropy = -_p_log_p(totals / everything).sum()
    joint = _p_log_p(there / everything) + _p_log_p((totals - there) / everything)
    share = there.sum(axis=1) / everything
    presence = _p_log_p(share) + _p_log_p(1 - share)
    # I(X; Y) = H(X) + H(Y) - H(X, Y); rounding may leave a trifle below zero.
    return np.asarray(np.maximum(entropy - presence + joint.sum(axis=1), 0.0))


def _p_log_p(shares: Floats) -> Floats:
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(shares * logs)


@dataclass(frozen=True, slots=True)
class NGramDictionary:
    """The N-grams that count, best first, for each side and slot: the left unit's, the right's."""

    grams: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if len(self.grams) != SIDES * len(SLOTS):
            raise ModelError(
                f"{len(self.grams)} lists of N-grams: expected {SIDES * len(SLOTS)}, "
                "for two units and their slots"
            )

    def numbers(self, grams: EdgeGrams) -> tuple[Ints, Ints]:
        """Look up a document's N-grams: numbers for left units and for right ones, (slot, EDU)."""
        tables = [dict(zip(row, range(1, len(row) + 1), strict=True)) for row in self.grams]
        found = [
            [table.get(gram, 0) for gram in row]
            for table, row in zip(tables, grams.grams * SIDES, strict=True)
        ]
        numbers = np.array(found, np.int64).reshape(SIDES, len(SLOTS), len(grams.starts))
        return numbers[0], numbers[1]

    def unit_numbers(
        self, grams: EdgeGrams, starts: Ints, ends: Ints, known: tuple[Ints, Ints] | None = None
    ) -> tuple[Ints, Ints]:
        """Return the numbers of the N-grams of units, as left and as right unit: (unit, slot).

        Units are ranges of EDUs. N-grams longer than a unit have number 0, as unknown ones have.
        ``known`` is what `numbers` says of the document, where that is asked more than once.
        """
        fits = grams.fit(starts, ends)
        last = np.array([slot.edge == "last" for slot in SLOTS])
        edus = np.where(last, (ends - 1)[:, None], starts[:, None])
        left, right = (
            np.where(fits, numbers[np.arange(len(SLOTS)), edus], 0)
            for numbers in known or self.numbers(grams)
        )
        return left, right

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return plain arrays to be saved: the text of all N-grams, and how many each list has."""
        text = "\n".join(gram for row in self.grams for gram in row)
        encoded = text.encode("utf-8", "surrogatepass")
        return {
            "ngram_text": np.frombuffer(encoded, np.uint8).copy(),
            "ngram_counts": np.array([len(row) for row in self.grams], np.int32),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> NGramDictionary:
        """Read what `to_arrays` gave."""
        try:
            text = arrays["ngram_text"].tobytes().decode("utf-8", "surrogatepass")
            ends = np.cumsum(arrays["ngram_counts"])
        except (KeyError, UnicodeDecodeError) as error:
            raise ModelError(f"no N-grams can be read ({error}): train the model again") from error
        lines = text.split("\n") if text else []
        if len(lines) != int(ends[-1] if len(ends) else 0):
            raise ModelError(f"{len(lines)} N-grams, expected {ends[-1:]}: train the model again")
        starts = np.concatenate([[0], ends[:-1]])
        return cls(tuple(tuple(lines[a:b]) for a, b in zip(starts, ends, strict=True)))
