"""The proper model: its sampler against enumeration, Geweke's test, and words that it drew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np
import pytest

from rhetorica.words.proper import EDGE, Clause, ProperSampler, Spelling

ALPHA = (3.0, 4.0, 5.0, 6.0)
BASE = Spelling({"a": 0.6, "b": 0.4}, longest=3, edge=0.3)


def cuts(text: str, longest: int) -> Iterator[tuple[str, ...]]:
    if not text:
        yield ()
    for size in range(1, min(longest, len(text)) + 1):
        for rest in cuts(text[size:], longest):
            yield (text[:size], *rest)


def log_evidence(clauses: list[tuple[int, tuple[str, ...]]], domains: list[int]) -> float:
    """The probability of words, summed over all seatings, from the definition of the model.

    What the next customer gets depends on how many customers of each dish a restaurant has; those
    of an upper level are the tables below. So states are tuples of counts.
    """
    states: dict[frozenset[tuple[tuple[int, int, str, str], int]], float] = {frozenset(): 1.0}
    for document, words in clauses:
        for before, word in pairwise((EDGE, *words, EDGE)):
            places = [(3, document, before), (2, domains[document], before), (1, 0, before)]
            levels = [*places, (0, 0, EDGE)]
            after: dict[frozenset[tuple[tuple[int, int, str, str], int]], float] = {}
            for state, chance in states.items():
                counts = dict(state)
                weight = chance
                fresh = dict(counts)
                for level, number, context in levels:
                    key = (level, number, context, word)
                    total = sum(c for k, c in counts.items() if k[:3] == key[:3])
                    size = ALPHA[level] + total
                    fresh[key] = counts.get(key, 0) + 1
                    if counts.get(key):  # at a table that is there: no upper level hears of it
                        there = frozenset(fresh.items())
                        after[there] = after.get(there, 0.0) + weight * counts[key] / size
                    weight *= ALPHA[level] / size
                there = frozenset(fresh.items())
                after[there] = after.get(there, 0.0) + weight * BASE.probability(word)
            states = after
    return float(np.log(sum(states.values())))


def test_the_sampler_draws_from_the_exact_posterior() -> None:
    texts, domains = [(0, "aba"), (1, "abb")], [0, 0]
    every = list(product(*(list(cuts(text, 3)) for _, text in texts)))
    logs = np.array(
        [
            log_evidence([(d, w) for (d, _), w in zip(texts, words, strict=True)], domains)
            for words in every
        ]
    )
    exact = np.exp(logs - logs.max())
    exact /= exact.sum()
    assert len(every) == 16
    rng = np.random.default_rng(0)
    clauses = [Clause(document, list(text)) for document, text in texts]
    sampler = ProperSampler(clauses, domains, BASE, alpha=ALPHA, rng=rng)
    seen: Counter[tuple[tuple[str, ...], ...]] = Counter()
    for _ in range(3000):
        sampler.sweep()
        seen[tuple(tuple(clause.words) for clause in clauses)] += 1
    # Short texts, because the error is that of counting: with two texts of five letters (169 ways
    # to cut them) the distance falls from 0.087 after 1,500 sweeps to 0.068, 0.051 and 0.038 after
    # 3,000, 6,000 and 12,000, nearly as the root of their number.
    found = np.array([seen[words] for words in every]) / seen.total()
    assert np.abs(found - exact).sum() / 2 < 0.04
    # The rule is needed: the proposal alone is something else.
    assert 0.5 < sampler.accepted / sampler.proposed < 0.999


def statistics(sampler: ProperSampler) -> list[float]:
    words = [word for clause in sampler.clauses for word in clause.words]
    return [
        len(words),
        len(set(words)),
        sum(map(len, words)),
        sampler.tables,
        sum(word == "a" for word in words),
    ]


def empty(rng: np.random.Generator) -> ProperSampler:
    # Words that follow themselves are reinforced: clauses stay short only if many tables are new
    # and the end is likely.
    base = Spelling({"a": 0.6, "b": 0.4}, longest=3, edge=0.6)
    sampler = ProperSampler([], [0, 0, 1], base, alpha=(5.0, 10.0, 15.0, 20.0), rng=rng)
    sampler.clauses = [Clause(document, []) for document in (0, 1, 2)]
    for clause in sampler.clauses:
        sampler.speak(clause)
    return sampler


def test_geweke() -> None:
    """Draws from the prior, and a chain that moves words and redraws texts, agree."""
    rng = np.random.default_rng(1)
    prior = np.array([statistics(empty(rng)) for _ in range(1000)])
    chain = empty(rng)
    rows = []
    for step in range(3000):
        chain.sweep()
        chain.redraw(chain.clauses[step % 3])
        rows.append(statistics(chain))
    found = np.array(rows)
    # Batches of 60 are nearly independent: their spread gives the error of the chain's mean.
    batches = found.reshape(50, 60, -1).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / 50 + prior.var(axis=0, ddof=1) / len(prior))
    assert np.all(np.abs(found.mean(axis=0) - prior.mean(axis=0)) / error < 3.5)


def test_customers_of_a_level_are_tables_of_the_one_below() -> None:
    rng = np.random.default_rng(2)
    sampler = empty(rng)
    for _ in range(30):
        sampler.sweep()
    rooms = sampler._rooms
    for word in [EDGE, "a", "b", "ab"]:
        below = sum(len(room.seats(word)) for key, room in rooms.items() if key[0] == 1)
        assert sampler.unigrams.count(word) == below
    tokens = sum(len(clause.words) + 1 for clause in sampler.clauses)
    assert sum(room.customers for key, room in rooms.items() if key[0] == 3) == tokens


def ends(clause: Clause) -> set[int]:
    return set(np.cumsum([len(word) for word in clause.words])[:-1].tolist())


def agreement(found: list[Clause], gold: list[Clause]) -> float:
    right = sum(len(ends(a) & ends(b)) for a, b in zip(found, gold, strict=True))
    return 2 * right / sum(len(ends(clause)) for clause in [*found, *gold])


def test_words_of_a_corpus_drawn_from_the_model_are_found_again() -> None:
    # Long words of ten letters, which a few tables serve again and again.
    rng = np.random.default_rng(2)
    base = Spelling(dict.fromkeys("abcdefghij", 0.1), longest=4, edge=0.15, goes_on=0.75)
    alpha, domains = (8.0, 200.0, 200.0, 200.0), [0, 0, 1]
    speaker = ProperSampler([], domains, base, alpha=alpha, rng=rng)
    drawn = [Clause(number % 3, []) for number in range(60)]
    for clause in drawn:
        speaker.speak(clause)
    gold = [clause for clause in drawn if clause.words]
    clauses = []
    for clause in gold:
        text, cut = clause.text, []
        while text:
            size = int(rng.integers(1, 5))
            cut.append(text[:size])
            text = text[size:]
        clauses.append(Clause(clause.document, cut))
    assert agreement(clauses, gold) < 0.45
    sampler = ProperSampler(clauses, domains, base, alpha=alpha, rng=rng)
    for _ in range(9):
        sampler.sweep()
    assert agreement(clauses, gold) > 0.88
    often = [word for word, n in Counter(w for c in gold for w in c.words).items() if n >= 8]
    found = Counter(word for clause in clauses for word in clause.words)
    assert len(often) > 10
    assert sum(found[word] >= 4 for word in often) >= 0.9 * len(often)


def test_the_base_measure_is_one() -> None:
    small = Spelling({"a": 0.6, "b": 0.4}, longest=3, edge=0.3)
    words = ["".join(part) for size in (1, 2, 3) for part in product("ab", repeat=size)]
    assert sum(map(small.probability, [EDGE, *words])) == pytest.approx(1.0)
    rng = np.random.default_rng(4)
    drawn = Counter(small.draw(rng) for _ in range(20000))
    for word in [EDGE, "a", "ab", "bbb"]:
        assert drawn[word] / 20000 == pytest.approx(small.probability(word), abs=0.012)
