"""Likelihoods, states and orders against sums over everything that could be hidden."""

from __future__ import annotations

import math
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from rhetorica.dialogue.gibbs import Corpus
from rhetorica.dialogue.kinds import KINDS, Kind, Priors
from rhetorica.dialogue.likelihood import Parameters, Reader
from urns import Urns, corpus, slot_count

PRIORS = Priors(session_word=0.5, topic=0.6, source=0.9)
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def parameters(kind: Kind, seed: int, *, speakers: bool = False) -> Parameters:
    rng = np.random.default_rng(seed)

    def rows(count: int, size: int) -> np.ndarray:
        return rng.dirichlet(np.ones(size), count)

    moves = rows(2, 3)
    mixtures = rows(2, 2) if kind.mixes_topics else np.zeros((2, 0))
    topics = rows(2 if kind.has_topics else 1, 4)
    return Parameters(
        rows(1, 2)[0], moves[:, :2], moves[:, 2],
        mixtures @ topics if kind.mixes_topics else rows(2, 4),
        topics, mixtures,
        rows(2, 2) if kind.shares_by_state else np.zeros((2, 0)),
        rows(2, 2) if speakers else np.zeros((2, 0)),
        rows(1, 2)[0],
    )  # fmt: skip


def exact(kind: Kind, p: Parameters, data: Corpus) -> float:
    """The probability of one dialogue's words: the sum over states and slots."""
    total = 0.0
    free = 1 if kind.mixes_topics else slot_count(kind, 2)
    for states in product(range(2), repeat=data.n_utterances):
        for slots in product(range(free), repeat=len(data.words)):
            chance, urns = p.begins[states[0]] * p.ends[states[-1]], Urns()
            for a, b in pairwise(states):
                chance *= p.steps[a, b]
            for u, state in enumerate(states):
                if p.speakers.size:
                    chance *= p.speakers[state, data.speakers[u]]
                for i in range(data.utterances[u], data.utterances[u + 1]):
                    chance *= word_chance(kind, p, urns, state, slots[i], int(data.words[i]))
            total += chance
    return total


def word_chance(kind: Kind, p: Parameters, urns: Urns, state: int, slot: int, word: int) -> float:
    if kind.session == "none":
        return float(p.words[state, word])
    source = min(slot, kind.sources - 1)
    if kind.shares_by_state:
        chance = float(p.shares[state, source])
    else:
        chance = math.exp(urns.take("share", source, kind.sources, PRIORS.source))
    if slot == 0:
        return chance * float(p.words[state, word])
    if kind.session == "shared":
        chance *= math.exp(urns.take("mixture", slot - 1, 2, PRIORS.topic))
        return chance * float(p.topics[slot - 1, word])
    if slot == 1:
        return chance * math.exp(urns.take("own", word, 4, PRIORS.session_word))
    return chance * float(p.topics[0, word])


ONE = corpus([[[0, 1], [], [1, 3, 1]]], 4)


@kinds
@pytest.mark.parametrize("speakers", [False, True])
def test_likelihood_is_the_sum_over_all_that_is_hidden(kind: Kind, speakers: bool) -> None:
    for seed in range(2):
        p = parameters(kind, seed, speakers=speakers)
        reader = Reader(kind, p, PRIORS)
        estimates = [
            float(reader.log_likelihoods(ONE, rng=np.random.default_rng(k), particles=400)[0])
            for k in range(1 if kind.session == "none" else 20)
        ]
        wanted = exact(kind, p, ONE)
        if speakers:
            heard = 0.0
            for states in product(range(2), repeat=3):
                chance = p.begins[states[0]] * p.steps[states[0], states[1]]
                chance *= p.steps[states[1], states[2]]
                for state, voice in zip(states, ONE.speakers, strict=True):
                    chance *= p.speakers[state, voice]
                heard += chance
            wanted /= heard
        if kind.session == "none":
            assert estimates[0] == pytest.approx(math.log(wanted))
            continue
        # The estimate of the probability itself is free of bias.
        chances = np.exp(estimates)
        error = chances.std(ddof=1) / math.sqrt(len(chances))
        assert abs(chances.mean() - wanted) < 4.5 * error
        assert error < 0.02 * wanted


@kinds
def test_likelihoods_of_all_dialogues_sum_to_one(kind: Kind) -> None:
    """Over all words of a shape, and with an end that is certain, nothing else can happen."""
    p = parameters(kind, 3)
    p = Parameters(
        p.begins, p.steps / p.steps.sum(axis=1, keepdims=True), np.ones(2), p.words, p.topics,
        p.mixtures, p.shares, p.speakers, p.occupancy,
    )  # fmt: skip
    reader, total = Reader(kind, p, PRIORS), 0.0
    for words in product(range(4), repeat=2):
        data = corpus([[[words[0]], [words[1]]]], 4)
        rng = np.random.default_rng(1)
        total += math.exp(reader.log_likelihoods(data, rng=rng, particles=200)[0])
    assert total == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("kind", [KINDS["lm-hmm"], KINDS["tm-hmm"]], ids=["lm-hmm", "tm-hmm"])
def test_states_and_orders_are_exact_where_dialogues_have_nothing_of_their_own(kind: Kind) -> None:
    p = parameters(kind, 4)
    reader = Reader(kind, p, PRIORS)
    chances = np.zeros((3, 2))
    for states in product(range(2), repeat=3):
        chance = p.begins[states[0]] * p.ends[states[-1]]
        for a, b in pairwise(states):
            chance *= p.steps[a, b]
        for u, state in enumerate(states):
            for i in range(ONE.utterances[u], ONE.utterances[u + 1]):
                chance *= p.words[state, ONE.words[i]]
        for u, state in enumerate(states):
            chances[u, state] += chance
    chances /= chances.sum(axis=1, keepdims=True)
    assert reader.states(ONE, 0) == pytest.approx(chances)
    orders = np.array(list(permutations(range(3))))
    turns = [[0, 1], [], [1, 3, 1]]
    for order, score in zip(orders, reader.order_scores(ONE, 0, orders), strict=True):
        moved = corpus([[turns[k] for k in order]], 4)
        assert score == pytest.approx(math.log(exact(kind, p, moved)))


@kinds
def test_states_of_clear_words_are_clear(kind: Kind) -> None:
    p = parameters(kind, 5)
    sharp = np.array([[0.97, 0.01, 0.01, 0.01], [0.01, 0.97, 0.01, 0.01]])
    even = np.full(p.topics.shape, 0.25)
    p = Parameters(
        np.full(2, 0.5), np.full((2, 2), 0.4), np.full(2, 0.2), sharp, even, p.mixtures,
        np.full(p.shares.shape, 0.5), p.speakers, np.full(2, 0.5),
    )  # fmt: skip
    data = corpus([[[0, 0, 0], [1, 1], [0, 0]]], 4)
    found = Reader(kind, p, PRIORS).states(data, 0)
    assert found.argmax(axis=1).tolist() == [0, 1, 0]
    assert found.sum(axis=1) == pytest.approx(1)
