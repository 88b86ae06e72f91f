"""The bigram model with its character-wise sampler: its counts, and planted words."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from rhetorica.learn.dirichlet import closing_odds
from rhetorica.learn.tally import Tally
from rhetorica.words.dp4 import Settings
from rhetorica.words.general import WordCounts
from rhetorica.words.hdp import HDPSampler
from rhetorica.words.lattice import ANY, EDGE, Lattice


def planted(rng: np.random.Generator, n: int) -> tuple[list[str], list[set[int]]]:
    words = ["甲乙丙", "丁戊", "己庚辛壬", "癸", "丙甲", "壬己"]
    texts, ends = [], []
    for _ in range(n):
        drawn = [words[k] for k in rng.choice(6, size=4)]
        texts.append("".join(drawn))
        ends.append(set(np.cumsum([len(word) for word in drawn]).tolist()))
    return texts, ends


def test_counts_are_those_of_the_words() -> None:
    rng = np.random.default_rng(0)
    texts, _ = planted(rng, 30)
    lattice = Lattice(texts, 4)
    general = WordCounts.of([["甲乙丙", "丁戊", "子"]] * 3)
    one = HDPSampler(lattice, Settings(longest=4), general=general, rng=rng)
    pairs = Counter({("甲乙丙", "丁戊"): 3, ("", "甲乙丙"): 3})
    for _ in range(3):
        one.sweep()
    for clause in range(len(texts)):
        first, last = lattice.clauses[clause : clause + 2].tolist()
        ends = [0, *(1 + np.flatnonzero(one.cuts[first:last])).tolist()]
        words = [texts[clause][a:b] for a, b in pairwise(ends)]
        pairs.update(pairwise(["", *words, ""]))
    size, tables = lattice.size, 0
    for (before, word), count in pairs.items():
        [v, w] = [EDGE if not part else int(lattice.numbers([part])[0]) for part in (before, word)]
        [found, opened] = one.tally.get(np.array([v * size + w, size * size + v * size + w]))
        assert found == count
        assert 1 <= opened <= count
        tables += int(opened)
    # Besides, the tables of pairs with a word that is no string here.
    assert one.tally.get(np.array([ANY]))[0] >= tables


def test_planted_words_are_found_again() -> None:
    rng = np.random.default_rng(1)
    texts, gold = planted(rng, 150)
    lattice = Lattice(texts, 4)
    one = HDPSampler(lattice, Settings(longest=4), rng=rng)
    scores = [one.sweep() for _ in range(60)]
    assert scores[-1] > scores[0]
    right = found = total = 0
    for clause, ends in enumerate(gold):
        first, last = lattice.clauses[clause : clause + 2].tolist()
        mine = set((1 + np.flatnonzero(one.cuts[first:last])).tolist())
        right, found, total = right + len(mine & ends), found + len(mine), total + len(ends)
    assert 2 * right / (found + total) > 0.85


def test_closing_odds() -> None:
    odds = closing_odds(5, 5)
    # Seatings of 5 customers at 2 tables: 24 + 20 + ... by cycles: S(5, 2) = 50, S(4, 1) = 6.
    assert odds[5, 2] == pytest.approx(6 / 50)
    assert odds[4, 4] == 1.0
    assert odds[4, 1] == 0.0
    assert np.isfinite(odds).all()


def test_spelling_is_a_distribution_over_what_can_be_spelled() -> None:
    lattice = Lattice(["甲乙", "甲"], 2)
    base = lattice.spelling(0.5)
    one, two = lattice.numbers(["甲", "甲乙"])
    share = 3 / 5  # three atoms, two ends
    assert base[EDGE] == pytest.approx(2 / 5)
    assert base[one] == pytest.approx(share * 0.5 * 2 / 3)
    assert base[two] == pytest.approx(share * 0.5 * (2 / 3) * 0.5 * (1 / 3))


def test_tally() -> None:
    rng = np.random.default_rng(2)
    tally, plain = Tally(4), Counter()
    for _ in range(20):
        keys = rng.integers(0, 500, 50)
        amounts = rng.integers(-2, 3, 50)
        tally.add(keys, amounts)
        for key, amount in zip(keys.tolist(), amounts.tolist(), strict=True):
            plain[key] += amount
    assert tally.get(np.arange(500)).tolist() == [plain[k] for k in range(500)]
    keys, values = tally.items()
    assert dict(zip(keys.tolist(), values.tolist(), strict=True)) == {
        k: v for k, v in plain.items() if v
    }
    assert math.log2(len(tally.keys)).is_integer()
