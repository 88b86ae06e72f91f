"""The samplers against enumeration, recounting, and Geweke's joint test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rhetorica.dialogue.gibbs import MOVES, Corpus, Moves, Sampler
from rhetorica.dialogue.kinds import KINDS, Kind, Priors
from urns import Urns, corpus, every, log_joint, slot_count, word_urn

PRIORS = Priors(
    transition=0.5, word=0.4, session_word=0.3, topic_word=0.6, topic=0.7, source=0.8, speaker=0.5
)
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
CASES = [
    (kind, moves)
    for kind in KINDS.values()
    for moves in MOVES
    if moves != "joint" or kind.mixes_topics  # elsewhere the same as single
]
cases = pytest.mark.parametrize(
    ("kind", "moves"), CASES, ids=[f"{kind.name}-{moves}" for kind, moves in CASES]
)


def sampler(
    kind: Kind, data: Corpus, moves: Moves = "single", *, states: int = 2, topics: int = 2,
    seed: int = 0, speakers: bool = True, priors: Priors = PRIORS,
) -> Sampler:  # fmt: skip
    return Sampler(
        kind, data, states=states, topics=topics, priors=priors,
        rng=np.random.default_rng(seed), moves=moves, speakers=speakers,
    )  # fmt: skip


def random_corpus(seed: int, vocabulary: int = 6) -> Corpus:
    rng = np.random.default_rng(seed)
    return corpus(
        [
            [rng.integers(0, vocabulary, rng.integers(0, 12)).tolist() for _ in range(length)]
            for length in rng.integers(1, 6, 8)
        ],
        vocabulary,
    )


@kinds
@pytest.mark.parametrize("speakers", [False, True])
def test_log_joint_is_that_of_the_urns(kind: Kind, speakers: bool) -> None:
    for seed in range(3):
        chain = sampler(kind, random_corpus(seed), states=3, seed=seed, speakers=speakers)
        chain.sweep()
        expected = log_joint(
            kind, chain.corpus, tuple(chain.states), tuple(chain.slots), PRIORS,
            n_states=3, n_topics=2, speakers=speakers,
        )  # fmt: skip
        assert chain.log_joint() == pytest.approx(expected)


@cases
def test_counts_stay_what_counting_from_scratch_gives(kind: Kind, moves: Moves) -> None:
    chain = sampler(kind, random_corpus(3), moves, states=3, topics=4)
    for _ in range(5):
        chain.sweep()
        chain.move_priors()
        for kept, counted in zip(chain.counts, chain.recounted(), strict=True):
            assert np.array_equal(kept, counted)


TINY = corpus([[[0, 1], [2]], [[0, 0]]], 3)


@cases
def test_sampling_visits_what_enumeration_says(kind: Kind, moves: Moves) -> None:
    hidden = list(every(kind, TINY, 2, 2))
    logs = np.array(
        [
            log_joint(kind, TINY, *both, PRIORS, n_states=2, n_topics=2, speakers=True)
            for both in hidden
        ]
    )
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    # How often each pair of neighbours is in one state, and each word in each slot: all that is
    # asked of a sampler; the numbers of states and topics themselves are without meaning.
    size = slot_count(kind, 2)
    states = np.array([both[0] for both in hidden])
    slots = np.array([both[1] for both in hidden])
    expected = features(states, slots, size).T @ chances
    chain = sampler(kind, TINY, moves, seed=1)
    sweeps = 2000 if moves == "single" else 600
    seen_states, seen_slots = [], []
    for _ in range(sweeps):
        chain.sweep()
        seen_states.append(chain.states.copy())
        seen_slots.append(chain.slots.copy())
    seen = features(np.array(seen_states), np.array(seen_slots), size)
    means = seen[: sweeps - sweeps % 50].reshape(50, -1, seen.shape[1]).mean(axis=1)
    errors = means.std(axis=0, ddof=1) / np.sqrt(50)
    assert np.all(np.abs(seen.mean(axis=0) - expected) < 4.5 * errors + 1e-3)


def features(states: np.ndarray, slots: np.ndarray, size: int) -> np.ndarray:
    columns = [states == k for k in range(2)]
    columns += [(states[:, a] == states[:, b])[:, None] for a, b in ((0, 1), (1, 2), (0, 2))]
    columns += [slots == k for k in range(size)]
    columns += [(slots[:, :1] == slots[:, 3:4]) & (states[:, :1] == states[:, 2:3])]
    return np.concatenate(columns, axis=1).astype(float)


def draw_words(chain: Sampler, urns: Urns) -> None:
    """Draw the words (and speakers) anew, given states and slots."""
    data, kind, priors, rng = chain.corpus, chain.kind, chain.priors, chain.rng
    words, voices = np.empty_like(data.words), np.empty_like(data.speakers)
    for d in range(data.n_dialogues):
        for u in range(data.dialogues[d], data.dialogues[d + 1]):
            state = int(chain.states[u])
            voices[u] = urns.draw(("voice", state), 2, priors.speaker, rng)
            for i in range(data.utterances[u], data.utterances[u + 1]):
                urn, prior = word_urn(kind, int(chain.slots[i]), state, d)
                words[i] = urns.draw(urn, data.vocabulary, getattr(priors, prior), rng)
    chain.corpus = replace(data, words=words, speakers=voices)
    chain.counts = chain.recounted()


def draw_all(kind: Kind, shape: Corpus, rng: np.random.Generator) -> Sampler:
    """Draw priors, states, slots and words from the model, until the shape is the wanted one."""
    while True:
        urns, states, slots = Urns(), [], []
        names = ("transition", "word", "session_word", "topic_word", "topic", "source", "speaker")
        priors = Priors(**{name: float(rng.gamma(1.0)) + 1e-8 for name in names})
        fits = True
        for d in range(shape.n_dialogues):
            before: object = "outside"
            for u in range(shape.dialogues[d], shape.dialogues[d + 1]):
                kinds = 2 if before == "outside" else 3
                state = urns.draw(("next", before), kinds, priors.transition, rng)
                fits = fits and state < 2
                states.append(state)
                before = state
                for _ in range(shape.utterances[u], shape.utterances[u + 1]):
                    slot = 0
                    if kind.mixes_topics:
                        slot = urns.draw(("mixture", state), 2, priors.topic, rng)
                    elif kind.session != "none":
                        owner = ("share", state if kind.shares_by_state else ("dialogue", d))
                        slot = urns.draw(owner, kind.sources, priors.source, rng)
                        if kind.session == "shared" and slot:
                            slot = 1 + urns.draw(("session", d), 2, priors.topic, rng)
                    slots.append(slot)
            fits = fits and urns.draw(("next", before), 3, priors.transition, rng) == 2
            if not fits:
                break
        if fits:
            chain = sampler(kind, shape, seed=int(rng.integers(2**31)), priors=priors)
            chain.states, chain.slots = np.array(states, np.int32), np.array(slots, np.int32)
            draw_words(chain, urns)
            return chain


def summary(chain: Sampler) -> list[float]:
    words, states, slots = chain.corpus.words, chain.states, chain.slots
    return [
        float((words == words[0]).mean()),
        float((words == 0).mean() * (states == 0).mean()),
        float((states[:-1] == states[1:]).mean()),
        float((slots == 0).mean()),
        float(len(set(zip(words.tolist(), slots.tolist(), strict=True)))),
        float((chain.corpus.speakers == states).mean()),
        *(float(np.log(getattr(chain.priors, name))) for name in chain.likelihoods()),
    ]


@cases
def test_joint_distribution_after_geweke(kind: Kind, moves: Moves) -> None:
    """Drawing all from the model, and moving from draw to draw, must give the same distribution.

    Geweke (2004): moves are hidden variables given words, priors given those, words given both.
    """
    shape = corpus([[[0, 0, 0], [0, 0]], [[0, 0]]], 3)
    rng = np.random.default_rng(5)
    free = np.array([summary(draw_all(kind, shape, rng)) for _ in range(300)])
    chain = draw_all(kind, shape, rng)
    chain.moves = moves
    rows = []
    rounds = 400 if moves == "single" else 200
    for _ in range(rounds):
        chain.sweep()
        chain.move_priors()
        draw_words(chain, Urns())
        rows.append(summary(chain))
    moved = np.array(rows)
    batches = moved.reshape(40, -1, moved.shape[1]).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / 40 + free.var(axis=0, ddof=1) / len(free))
    assert np.all(np.abs(moved.mean(axis=0) - free.mean(axis=0)) < 4.5 * error + 1e-3)
