"""The paper's equations by hand-worked counts; counts kept against counts from scratch."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rhetorica.errors import RhetoricaError, UnknownName
from rhetorica.words.dp4 import Neighbours, Sampler, Settings, base_measure
from rhetorica.words.general import WordCounts, clauses_of
from rhetorica.words.lattice import ANY, EDGE, Lattice, atoms_of

TEXTS = ["红花开，红花红。", "红花开了", "蓝天白云", "白云蓝天，红花开"]
DOMAINS = [0, 0, 1, 1]
GENERAL = WordCounts.of([["红花", "开", "了"], ["红花", "红"], ["蓝天", "有", "白云"]])


def sampler(settings: Settings | None = None, **changes: object) -> Sampler:
    chosen = settings or Settings(longest=3, decay=0.0, neighbours=1, **changes)  # type: ignore[arg-type]
    lattice = Lattice(TEXTS, chosen.longest)
    rng = np.random.default_rng(0)
    return Sampler(lattice, DOMAINS, chosen, general=GENERAL, rng=rng)


def cut(one: Sampler, words: str) -> Sampler:
    """Cut all clauses as written, words separated by spaces, clauses by bars."""
    lengths = [len(word) for clause in words.split("|") for word in clause.split()]
    one.cuts[:] = False
    one.cuts[np.cumsum(lengths) - 1] = True
    one.tally = one.recounted()
    return one


WORDS = "红花 开|红花 红|红花 开 了|蓝天 白云|白云 蓝天|红花 开"


def test_atoms_and_clauses() -> None:
    found = atoms_of("２０１４年，用ＢＥＲＴ模型。")
    assert found.atoms == ["2014", "年", "用", "BERT", "模", "型"]
    assert found.breaks == [True, False, True, False, False, False]
    lattice = Lattice(TEXTS, 3)
    assert np.diff(lattice.clauses).tolist() == [3, 3, 4, 4, 4, 3]
    assert lattice.text_of_clause.tolist() == [0, 0, 1, 2, 3, 3]
    [number] = lattice.numbers(["红花开"])
    assert lattice.name(number) == "红花开"
    assert lattice.frequency[number] == 3
    assert lattice.numbers(["白花", "云蓝", "红花开了吗"]).tolist()[0] == -1
    assert lattice.length(lattice.numbers(["红", "红花", "红花开"])).tolist() == [1, 2, 3]
    assert Lattice([], 3).n_atoms == 0


def test_equation_1() -> None:
    lattice = Lattice(["红花红"], longest=2)
    # 红 2, 花 1, 红花 1, 花红 1, and the end of one clause
    base = base_measure(lattice)
    assert base[lattice.numbers(["红", "花", "红花"])] == pytest.approx([2 / 6, 1 / 6, 1 / 6])
    assert base[EDGE] == pytest.approx(1 / 6)
    assert base.sum() == pytest.approx(1.0)
    colder = base_measure(lattice, decay=math.log(2))
    assert colder[lattice.numbers(["红花"])[0]] == pytest.approx(0.5 / 5)


def test_equations_2_to_6() -> None:
    one = cut(sampler(), WORDS)
    a0, a1, a2, a3 = one.settings.alpha
    [flower, opens] = one.lattice.numbers(["红花", "开"])
    base = base_measure(one.lattice)
    # General: 8 words and 3 ends; texts: 13 words and 6 ends. 开: once and three times.
    p1 = (4 + a0 * base[opens]) / (30 + a0)
    assert one.corpus_probability(np.array([opens]))[0] == pytest.approx(p1)
    # 红花 is followed twice in general and four times here: by 开 once and three times.
    p2 = (4 + a1 * p1) / (6 + a1)
    # In the first domain three times, twice by 开; in text 0 once of twice, in text 1 once.
    p3 = (2 + a2 * p2) / (3 + a2)
    likeness = one.neighbours.similarity[0, 0]
    assert one.neighbours.documents[0, 0] == 1
    assert likeness == pytest.approx(3 / 4)  # 红花开 of 红花开了
    p4 = (1 + likeness + a3 * p3) / (2 + likeness + a3)
    first, last = one.lattice.clauses[:2].tolist()
    _, between = one.score(first, last, 0)
    assert between[2, 1, 0] == pytest.approx(math.log(p4))
    # A clause's score is that of its words and of its end.
    scores, _ = one.score(first, last, 0)
    ends = _p4(one, 0, opens, EDGE)
    begins = _p4(one, 0, EDGE, flower)
    assert scores[0, 1, 1] == pytest.approx(math.log(begins))
    assert scores[2, 0, 0] == pytest.approx(math.log(ends))


def _p4(one: Sampler, text: int, before: int, word: int) -> float:
    """Equations 2 to 6 from counts of the words as they are cut, in plain Python."""
    size, a = one.lattice.size, one.settings.alpha
    domain, document = 1 + DOMAINS[text], 1 + one.n_domains + text
    counts = dict(zip(*(part.tolist() for part in one.recounted().items()), strict=True))

    def count(context: int, first: int, second: int) -> int:
        return int(counts.get((context * size + first) * size + second, 0))

    p = (count(0, ANY, word) + a[0] * one.base[word]) / (count(0, ANY, ANY) + a[0])
    p = (count(0, before, word) + a[1] * p) / (count(0, before, ANY) + a[1])
    p = (count(domain, before, word) + a[2] * p) / (count(domain, before, ANY) + a[2])
    seen, all_seen = float(count(document, before, word)), float(count(document, before, ANY))
    near = one.neighbours
    for other, likeness in zip(near.documents[text], near.similarity[text], strict=True):
        context = 1 + one.n_domains + int(other)
        seen += likeness * count(context, before, word)
        all_seen += likeness * count(context, before, ANY)
    return float((seen + a[3] * p) / (all_seen + a[3]))


def test_all_scores_of_all_clauses() -> None:
    one = cut(sampler(), WORDS)
    for clause, text in enumerate(one.lattice.text_of_clause.tolist()):
        first, last = one.lattice.clauses[clause : clause + 2].tolist()
        scores, between = one.score(first, last, text)
        strings = one.lattice.strings[first:last]
        for i in range(1, last - first):
            for x in range(min(i, 3)):
                for y in range(min(3, last - first - i)):
                    expected = _p4(one, text, strings[i - x - 1, x], strings[i, y])
                    assert between[i, x, y] == pytest.approx(math.log(expected))
        assert np.isneginf(scores[0, 0, 1])


def test_equations_7_and_8() -> None:
    one = cut(sampler(), WORDS)
    a0, _, a2, a3 = one.settings.alpha
    [sky] = one.lattice.numbers(["蓝天"])
    p1 = (3 + a0 * one.base[sky]) / (30 + a0)
    # Domain 1 has six words and three ends, two of them 蓝天.
    p3 = (2 + a2 * p1) / (9 + a2)
    rows = {(row.place, row.word): row for row in one.termhood()}
    assert rows[1, sky].score == pytest.approx(p3 / p1)
    assert rows[1, sky].count == 2
    likeness = one.neighbours.similarity[2, 0]
    p4 = (1 + likeness + a3 * p3) / (3 + likeness * 6 + a3)
    keys = {(row.place, row.word): row for row in one.keyness()}
    assert keys[2, sky].score == pytest.approx(p4 / p1)
    assert (0, sky) not in keys


@pytest.mark.parametrize("moves", ["sample", "viterbi"])
def test_counts_are_those_from_scratch_after_every_sweep(moves: str) -> None:
    one = sampler(moves=moves, term_score=1.2, term_count=2, keyword_score=1.5, keyword_count=1)
    for number in range(6):
        one.sweep()
        if number >= 3:
            one.join()
            one.freeze()
        kept, fresh = one.tally.items(), one.recounted().items()
        assert kept[0].tolist() == fresh[0].tolist()
        assert kept[1].tolist() == fresh[1].tolist()
        assert one.cuts[one.lattice.clauses[1:] - 1].all()


def test_frozen_words_stay() -> None:
    one = cut(sampler(term_score=1.0, term_count=2, keyword_score=math.inf), WORDS)
    one._begun = True
    one.freeze()
    [sky] = one.lattice.numbers(["蓝天"])
    assert (1, sky) in one.terms
    held = np.flatnonzero(one.held)
    assert len(held)
    before = {int(k): int(one.held[k]) for k in held}
    for _ in range(20):
        one.sweep()
        for start, length in before.items():
            inside = one.cuts[start : start + length].tolist()
            assert inside == [False] * (length - 1) + [True]
            assert start == 0 or one.cuts[start - 1]


def test_words_that_attract_each_other_are_joined() -> None:
    texts = ["神经网络", "用神经网络", "神经网络好", "大网络", "很大很好", "天气很大"]
    lattice = Lattice(texts, 4)
    settings = Settings(longest=4, neighbours=0, join=2.0, join_score=0.0)
    one = Sampler(lattice, [0] * 6, settings, rng=np.random.default_rng(0))
    cut(one, "神经 网络|用 神经 网络|神经 网络 好|大 网络|很 大 很 好|天气 很 大")
    assert one.join() == 3
    _, words, _ = one.tokens()
    assert [lattice.name(word) for word in words[:3]] == ["神经网络", "用", "神经网络"]
    assert one.tally.items()[1].tolist() == one.recounted().items()[1].tolist()


def test_neighbours_stay_in_their_domain() -> None:
    found = Neighbours.of(["甲乙丙", "甲乙", "甲", "甲乙丙"], [0, 0, 0, 1], 2)
    assert found.documents[0].tolist() == [1, 2]
    assert found.similarity[0] == pytest.approx([2 / 3, 1 / 3])
    assert found.similarity[3].tolist() == [0.0, 0.0]
    assert Neighbours.of(["甲"], [0], 0).documents.shape == (1, 0)


def test_counts_of_general_text() -> None:
    sentences = [["我", "爱", "花", "，", "爱", "天"], ["花", "开"]]
    found = WordCounts.of(sentences)
    assert found.words == ("天", "开", "我", "爱", "花")
    assert found.counts.tolist() == [1, 1, 1, 2, 2]
    assert found.total == 10  # seven words, three ends of clauses
    assert found.followed.tolist() == [3, 1, 1, 1, 2, 2]
    often = WordCounts.of(sentences, at_least=2)
    assert often.words == ("爱", "花")
    assert often.total == 10
    both = found + WordCounts.of([["花", "红"]])
    again = WordCounts.of([*sentences, ["花", "红"]])
    assert both.words == again.words
    for name in ("counts", "pairs", "followed"):
        assert getattr(both, name).tolist() == getattr(again, name).tolist()
    assert both.total == again.total
    stored = WordCounts.from_arrays(found.arrays())
    assert stored.words == found.words
    assert stored.pairs.tolist() == found.pairs.tolist()
    assert list(clauses_of(["。", "好", "！"])) == [("好",)]


def test_settings_are_checked() -> None:
    with pytest.raises(UnknownName, match="moves"):
        Settings(moves="best")  # type: ignore[arg-type]
    with pytest.raises(RhetoricaError, match="alpha"):
        Settings(alpha=(1.0, 1.0, 1.0, 0.0))
    with pytest.raises(RhetoricaError, match="longest"):
        Settings(longest=0)
