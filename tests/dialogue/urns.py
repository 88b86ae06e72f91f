"""The models written down a second time, word by word, as slowly and plainly as can be."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np

from rhetorica.dialogue.gibbs import Corpus
from rhetorica.dialogue.kinds import Kind, Priors


def corpus(dialogues: list[list[list[int]]], vocabulary: int) -> Corpus:
    words = [w for dialogue in dialogues for turn in dialogue for w in turn]
    turns = np.cumsum([0, *(len(turn) for dialogue in dialogues for turn in dialogue)])
    bounds = np.cumsum([0, *map(len, dialogues)])
    voices = [i % 2 for dialogue in dialogues for i in range(len(dialogue))]

    def numbers(values: object) -> np.ndarray:
        return np.array(values, np.int32)

    return Corpus(numbers(words), numbers(turns), numbers(bounds), numbers(voices), vocabulary, 2)


class Urns:
    """Polya urns by name: each draw is a bit more likely the next time."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[object, object]] = Counter()
        self.totals: Counter[object] = Counter()

    def chance(self, urn: object, ball: object, kinds: int, prior: float) -> float:
        return (self.counts[urn, ball] + prior) / (self.totals[urn] + kinds * prior)

    def take(self, urn: object, ball: object, kinds: int, prior: float) -> float:
        chance = self.chance(urn, ball, kinds, prior)
        self.counts[urn, ball] += 1
        self.totals[urn] += 1
        return math.log(chance)

    def draw(self, urn: object, kinds: int, prior: float, rng: np.random.Generator) -> int:
        chances = np.cumsum([self.chance(urn, ball, kinds, prior) for ball in range(kinds)])
        ball = int(np.searchsorted(chances[:-1], rng.random() * chances[-1], side="right"))
        self.take(urn, ball, kinds, prior)
        return ball


def word_urn(kind: Kind, slot: int, state: int, dialogue: int) -> tuple[object, str]:
    """Return the urn that a word is drawn from, and the name of its prior."""
    if kind.mixes_topics:
        return ("topic", slot), "topic_word"
    if slot == 0:
        return ("state", state), "word"
    if kind.session == "shared":
        return ("topic", slot - 1), "topic_word"
    return (("own", dialogue), "session_word") if slot == 1 else ("background", "word")


def log_joint(
    kind: Kind,
    data: Corpus,
    states: tuple[int, ...],
    slots: tuple[int, ...],
    priors: Priors,
    *,
    n_states: int,
    n_topics: int,
    speakers: bool = False,
) -> float:
    urns, total = Urns(), 0.0
    for d in range(data.n_dialogues):
        before: object = "outside"
        for u in range(data.dialogues[d], data.dialogues[d + 1]):
            state = states[u]
            kinds = n_states if before == "outside" else n_states + 1
            total += urns.take(("next", before), state, kinds, priors.transition)
            if speakers:
                total += urns.take(("voice", state), int(data.speakers[u]), 2, priors.speaker)
            before = state
            for i in range(data.utterances[u], data.utterances[u + 1]):
                slot = slots[i]
                if kind.mixes_topics:
                    total += urns.take(("mixture", state), slot, n_topics, priors.topic)
                elif kind.session != "none":
                    owner = ("share", state if kind.shares_by_state else ("dialogue", d))
                    source = min(slot, kind.sources - 1)
                    total += urns.take(owner, source, kind.sources, priors.source)
                    if kind.session == "shared" and slot:
                        total += urns.take(("session", d), slot - 1, n_topics, priors.topic)
                urn, prior = word_urn(kind, slot, state, d)
                value = getattr(priors, prior)
                total += urns.take(urn, int(data.words[i]), data.vocabulary, value)
        total += urns.take(("next", before), "outside", n_states + 1, priors.transition)
    return total


def slot_count(kind: Kind, n_topics: int) -> int:
    if kind.mixes_topics:
        return n_topics
    return {"none": 1, "own": 3, "shared": 1 + n_topics}[kind.session]


Hidden = tuple[tuple[int, ...], tuple[int, ...]]


def every(kind: Kind, data: Corpus, n_states: int, n_topics: int) -> Iterator[Hidden]:
    for states in product(range(n_states), repeat=data.n_utterances):
        for slots in product(range(slot_count(kind, n_topics)), repeat=len(data.words)):
            yield states, slots
