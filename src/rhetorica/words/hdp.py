"""``hdp``: the bigram model of Goldwater, Griffiths & Johnson (2009) with its own sampler.

Two levels: G1 ~ DP(a0, P0), H_v ~ DP(a1, G1). P0 spells a word atom by atom: it goes on with
probability 1/2, each atom by its relative frequency. The sampler visits every place between two
atoms and decides whether a word ends there, given all other words. Who sits at which table is
summed over; only how many tables serve a word in a restaurant is kept (Chen, Du & Buntine 2011).
As in the original, the two ways to read a place are compared without the change that their own
first words make to the unigram level.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhetorica.kernels import compiled, part
from rhetorica.learn.dirichlet import closing_odds
from rhetorica.learn.tally import Tally, slot_of
from rhetorica.words.dp4 import Moves, Settings
from rhetorica.words.general import WordCounts
from rhetorica.words.lattice import EDGE, Lattice

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
_ROOM = 16  # keys that a visit to a place may add, at most
_AT_ONCE = 20_000
_GOES_ON = 0.5


class HDPSampler:
    """The words of texts as they are cut at present, counts of customers and tables, the moves."""

    def __init__(
        self,
        lattice: Lattice,
        settings: Settings,
        *,
        general: WordCounts | None = None,
        rng: np.random.Generator,
    ) -> None:
        self.lattice, self.settings, self.rng = lattice, settings, rng
        self.base = lattice.spelling(_GOES_ON)
        self.odds = closing_odds(2048, 32)
        self.general = general
        self.cuts: NDArray[np.bool_] = rng.random(lattice.n_atoms) < 0.5
        self._count()

    def _count(self) -> None:
        """Seat the general words and those of the texts as they are cut."""
        lattice = self.lattice
        self.tally = Tally(8 * lattice.n_atoms + 1024)
        if self.general:
            numbers = np.concatenate([[EDGE], lattice.numbers(self.general.words)])
            first, second, times = self.general.pairs.T
            self.tally.make_room(6 * len(times))
            self.tally.used += _seat(
                self.tally.keys, self.tally.values, numbers[first], numbers[second], times,
                self.base, np.array(self.settings.alpha), lattice.size, self._seed(),
            )  # fmt: skip
        self.cuts[lattice.clauses[1:] - 1] = True
        # No word may be longer than the longest string.
        since = 0
        for place, ends in enumerate(self.cuts.tolist()):
            since += 1
            if ends or since == lattice.longest:
                self.cuts[place], since = True, 0
        befores, words = self._pairs()
        self.tally.make_room(5 * len(words))
        self.tally.used += _begin(
            self.tally.keys, self.tally.values, befores, words, self.base,
            np.array(self.settings.alpha), lattice.size, self._seed(),
        )  # fmt: skip

    def _pairs(self) -> tuple[Longs, Longs]:
        """Return all words and ends of clauses, and what stands before each."""
        [ends] = np.nonzero(self.cuts)
        starts = np.append(0, ends[:-1] + 1) if len(ends) else ends
        words = self.lattice.strings[starts, ends - starts]
        last = np.isin(ends, self.lattice.clauses[1:] - 1)
        # After each clause's last word comes its end, which is also what the next comes after.
        every = np.insert(words, np.flatnonzero(last) + 1, EDGE)
        return np.append(EDGE, every[:-1]).astype(np.int64), every

    def _seed(self) -> int:
        return int(self.rng.integers(2**31))

    def sweep(self, _moves: Moves | None = None) -> float:
        """Visit every place once; return the log score of all words."""
        clauses = self.lattice.clauses
        first = 0
        while first < len(clauses) - 1:
            last = int(np.searchsorted(clauses, clauses[first] + _AT_ONCE, side="left"))
            last = min(max(last, first + 1), len(clauses) - 1)
            self.tally.make_room(_ROOM * int(clauses[last] - clauses[first]))
            self.tally.used += _sweep(
                self.tally.keys, self.tally.values, self.lattice.strings,
                clauses[first : last + 1], self.cuts, self.base, self.odds,
                np.array(self.settings.alpha), self.lattice.size, self._seed(),
            )  # fmt: skip
            first = last
        return _log_score(
            self.tally.keys, self.tally.values, *self._pairs(), self.base,
            np.array(self.settings.alpha), self.lattice.size,
        )  # fmt: skip

    def kept(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint needs: cuts and all counts."""
        keys, values = self.tally.items()
        return {"cuts": self.cuts.copy(), "keys": keys, "values": values}

    def restore(self, kept: Mapping[str, NDArray[Any]]) -> None:
        """Go back to what `kept` gave."""
        self.cuts = np.array(kept["cuts"], np.bool_)
        self.tally = Tally(len(kept["keys"]))
        self.tally.add(kept["keys"], kept["values"])


@part
def _bump(keys: Longs, values: Longs, key: int, amount: int) -> int:
    """Change a count; tell whether its key is new."""
    slot = slot_of(keys, key)
    new = 0
    if keys[slot] == -1:
        keys[slot] = key
        new = 1
    values[slot] += amount
    return new


@part
def _unigram(keys: Longs, values: Longs, base: Floats, alpha: Floats, word: int) -> float:
    """Return p1: by the tables that serve a word."""
    tables = float(values[slot_of(keys, word)])
    return float((tables + alpha[0] * base[word]) / (values[slot_of(keys, 0)] + alpha[0]))


@part
def _sit(
    keys: Longs, values: Longs, base: Floats, alpha: Floats, size: int, before: int, word: int
) -> int:  # fmt: skip
    """Seat a word after its neighbour, at a table that is there or a new one; as `_bump`."""
    pair = before * size + word
    weight = alpha[1] * _unigram(keys, values, base, alpha, word)
    opens = np.random.random() * (values[slot_of(keys, pair)] + weight) < weight
    new = 0
    for key in (pair, before * size, size * size + pair, word, 0):
        if opens or key == pair or key == before * size:
            new += _bump(keys, values, key, 1)
    return new


@compiled
def _seat(
    keys: Longs, values: Longs, first: Longs, second: Longs, times: Longs, base: Floats,
    alpha: Floats, size: int, seed: int,
) -> int:  # fmt: skip
    """Seat general text; words that are no strings of the lattice count for the sums only."""
    np.random.seed(seed)
    new = 0
    for k in range(times.shape[0]):
        word = second[k]
        weight = alpha[1] * 1e-6
        for customer in range(times[k]):
            if word >= 0:
                weight = alpha[1] * _unigram(keys, values, base, alpha, word)
            if np.random.random() * (customer + weight) < weight:
                opened = size * size + first[k] * size + word if first[k] >= 0 else -1
                for key in (0, word, opened if word >= 0 else -1):
                    if key >= 0:
                        new += _bump(keys, values, key, 1)
        pair = first[k] * size + word if word >= 0 else -1
        for key in (first[k] * size, pair):
            if first[k] >= 0 and key >= 0:
                new += _bump(keys, values, key, times[k])
    return new


@compiled
def _begin(
    keys: Longs, values: Longs, befores: Longs, words: Longs, base: Floats, alpha: Floats,
    size: int, seed: int,
) -> int:  # fmt: skip
    """Seat words, each after its neighbour; return how many keys are new."""
    np.random.seed(seed)
    new = 0
    for k in range(words.shape[0]):
        new += _sit(keys, values, base, alpha, size, befores[k], words[k])
    return new


@compiled
def _sweep(
    keys: Longs, values: Longs, strings: Longs, clauses: Longs, cuts: Any, base: Floats,
    odds: Floats, alpha: Floats, size: int, seed: int,
) -> int:  # fmt: skip
    """Visit the places of some clauses; return how many keys are new."""
    np.random.seed(seed)
    new = 0
    longest = strings.shape[1]
    # The words around a place: read as one word (two pairs) or as two (three pairs). Parts of a
    # kernel are put in where they are called, so each is called in one place, in a loop.
    first, second = np.zeros(5, np.int64), np.zeros(5, np.int64)
    for c in range(clauses.shape[0] - 1):
        low, high = clauses[c], clauses[c + 1]
        for i in range(low, high - 1):
            start = i
            while start > low and not cuts[start - 1]:
                start -= 1
            end = i + 1
            while not cuts[end]:
                end += 1
            if end - start + 1 > longest:
                continue  # one word would be too long: the cut stays
            before, after = 1, 1
            if start > low:
                left_most = start - 1
                while left_most > low and not cuts[left_most - 1]:
                    left_most -= 1
                before = strings[left_most, start - 1 - left_most]
            if end + 1 < high:
                right_most = end + 1
                while not cuts[right_most]:
                    right_most += 1
                after = strings[end + 1, right_most - end - 1]
            whole = strings[start, end - start]
            left, right = strings[start, i - start], strings[i + 1, end - i - 1]
            first[0], first[1], first[2], first[3], first[4] = before, whole, before, left, right
            second[0], second[1], second[2], second[3], second[4] = (
                whole, after, left, right, after,
            )  # fmt: skip
            here, ends = (2, 5) if cuts[i] else (0, 2)
            for k in range(here, ends):
                pair = first[k] * size + second[k]
                customers = slot_of(keys, pair)
                tables = slot_of(keys, size * size + pair)
                most = odds.shape[0] - 1
                count = values[customers]
                # Beyond the table of odds, those who sit alone are spread over more customers.
                chance = odds[min(count, most), min(values[tables], odds.shape[1] - 1)]
                if np.random.random() < chance * min(1.0, most / count):
                    values[tables] -= 1
                    values[slot_of(keys, second[k])] -= 1
                    values[slot_of(keys, 0)] -= 1
                values[customers] -= 1
                values[slot_of(keys, first[k] * size)] -= 1
            one, two = 1.0, 1.0
            for k in range(5):
                # Pairs before this one, in the same reading, are customers already.
                more, more_all = 0, 0
                for other in range(0 if k < 2 else 2, k):
                    if first[other] == first[k]:
                        more_all += 1
                        if second[other] == second[k]:
                            more += 1
                p = alpha[1] * _unigram(keys, values, base, alpha, second[k])
                p += values[slot_of(keys, first[k] * size + second[k])] + more
                p /= values[slot_of(keys, first[k] * size)] + more_all + alpha[1]
                if k < 2:
                    one *= p
                else:
                    two *= p
            cuts[i] = np.random.random() * (one + two) < two
            here, ends = (2, 5) if cuts[i] else (0, 2)
            for k in range(here, ends):
                new += _sit(keys, values, base, alpha, size, first[k], second[k])
    return new


@compiled
def _log_score(
    keys: Longs, values: Longs, befores: Longs, words: Longs, base: Floats, alpha: Floats,
    size: int,
) -> float:  # fmt: skip
    """Return the sum of log p2 over all words."""
    total = 0.0
    for k in range(words.shape[0]):
        p = alpha[1] * _unigram(keys, values, base, alpha, words[k])
        p += values[slot_of(keys, befores[k] * size + words[k])]
        total += np.log(p / (values[slot_of(keys, befores[k] * size)] + alpha[1]))
    return total
