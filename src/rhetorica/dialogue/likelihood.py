"""Parameters and new dialogues -> likelihoods, states, orders.

States are always summed out exactly by forward filtering. What a dialogue brings of its own (its
shares of sources, its mixture of topics, its words) is unknown for a new dialogue. Its likelihood
is estimated from left to right with particles (Wallach et al. 2009; Buntine 2009; here with the
states of each particle summed out, and resampling, which makes the estimate of the probability
free of bias). For the states of a dialogue, and to compare orders of its utterances, it is
estimated by expectation maximisation instead, which has no noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhetorica.decode.chain import chain_marginals
from rhetorica.dialogue.gibbs import Corpus, Floats, Ints, Part
from rhetorica.dialogue.kinds import Kind, Priors
from rhetorica.kernels import compiled

_STEPS = 15
"""Steps of expectation maximisation: what a dialogue says settles within a few."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a sampler has learned, as distributions.

    ``begins`` (T), ``steps`` (T, T) and ``ends`` (T) are those of the chain: a row of ``steps`` and
    its end sum to 1. ``words`` (T, V) are the states' words (TM-HMM: mixed from the topics by
    ``mixtures`` (T, K)), ``topics`` (K, V) the topics' (LM-HMMS: of the background, K = 1),
    ``shares`` (T, 2) the states' shares of sources (TM-HMMSS), ``speakers`` (T, S) who speaks in a
    state, or no columns, and ``occupancy`` (T) how often a state occurs.
    """

    begins: Floats
    steps: Floats
    ends: Floats
    words: Floats
    topics: Floats
    mixtures: Floats
    shares: Floats
    speakers: Floats
    occupancy: Floats

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return len(self.begins)


class Reader:
    """A model's parameters, put to use on dialogues."""

    def __init__(self, kind: Kind, parameters: Parameters, priors: Priors) -> None:
        self.kind, self.parameters, self.priors = kind, parameters, priors
        self._emit = np.ascontiguousarray(parameters.words.T)
        self._topics = np.ascontiguousarray(parameters.topics.T)
        with np.errstate(divide="ignore"):
            self._begins, self._steps = np.log(parameters.begins), np.log(parameters.steps)
            self._ends, self._speak = np.log(parameters.ends), np.log(parameters.speakers)

    def log_likelihoods(
        self, corpus: Corpus, *, rng: np.random.Generator, particles: int = 20
    ) -> Floats:
        """Return the log probability of each dialogue's words (given its speakers).

        Exact for models in which dialogues have nothing of their own; ``particles`` is not used
        there. It includes that the dialogue ends where it ends.
        """
        return np.array(
            [
                self._log_likelihood(Part.of(corpus, d), rng, particles)
                for d in range(corpus.n_dialogues)
            ]
        )

    def _log_likelihood(self, part: Part, rng: np.random.Generator, particles: int) -> float:
        p, n = self.parameters, len(part.words)
        session = {"none": 0, "own": 1, "shared": 2}[self.kind.session]
        particles = particles if session else 1
        _, local = np.unique(part.words, return_inverse=True)
        voices = (
            p.speakers[:, part.speakers].T
            if p.speakers.size
            else np.ones((len(part.speakers), p.n_states))
        )
        total = _left_to_right(
            part.words, local.astype(np.int32), part.offsets, np.ascontiguousarray(voices),
            p.begins, p.steps, p.ends, self._emit, self._topics, p.shares,
            session, self.kind.shares_by_state, self.priors.topic, self.priors.session_word,
            self.priors.source, particles, rng.random((n if session else 0, particles)),
            rng.random(n),
        )  # fmt: skip
        return float(total) - self._log_speakers(part)

    def _log_speakers(self, part: Part) -> float:
        """Return the log probability of the speakers alone, and of ending there."""
        if not self.parameters.speakers.size:
            return 0.0
        scores = self._speak[:, part.speakers].T.copy()
        scores[0] += self._begins
        # Only what the words add is wanted: the end counts with them, not with the speakers.
        return chain_marginals(scores, self._steps)[0]

    def states(self, corpus: Corpus, dialogue: int) -> Floats:
        """Return the probability of each state for each utterance of a dialogue."""
        part = Part.of(corpus, dialogue)
        session = self._session(part, ordered=True)
        return chain_marginals(self._scores(part, session), self._steps)[1]

    def order_scores(self, corpus: Corpus, dialogue: int, orders: NDArray[np.int64]) -> Floats:
        """Return the log probability of a dialogue's utterances in each of these orders.

        What the dialogue has of its own is estimated without regard to order, so that no order is
        favoured; given it, each order's probability is exact.
        """
        part = Part.of(corpus, dialogue)
        emissions = self._emissions(part, self._session(part, ordered=False))
        if self.parameters.speakers.size:
            emissions = emissions + self._speak[:, part.speakers].T
        top = emissions.max(axis=1, keepdims=True)
        weights, p = np.exp(emissions - top), self.parameters
        belief = np.broadcast_to(p.begins, (len(orders), p.n_states))
        total = np.full(len(orders), float(top.sum()))
        for place in range(orders.shape[1]):
            belief = (belief @ p.steps if place else belief) * weights[orders[:, place]]
            scale = belief.sum(axis=1)
            total += np.log(scale)
            belief = belief / scale[:, None]
        return np.asarray(total + np.log(belief @ p.ends))

    def _scores(self, part: Part, session: _Session) -> Floats:
        scores = self._emissions(part, session)
        if self.parameters.speakers.size:
            scores += self._speak[:, part.speakers].T
        scores[0] += self._begins
        scores[-1] += self._ends
        return scores

    def _emissions(self, part: Part, session: _Session) -> Floats:
        """Return the log probability of each utterance's words in each state."""
        logs = np.zeros((len(part.words) + 1, self.parameters.n_states))
        logs[1:] = np.log(self._word_chances(part, session))
        sums = np.cumsum(logs, axis=0)
        return np.asarray(sums[part.offsets[1:]] - sums[part.offsets[:-1]])

    def _word_chances(self, part: Part, session: _Session) -> Floats:
        by_state = self._emit[part.words] * session.shares[:, 0]
        return np.asarray(by_state + session.chances[:, None] * session.shares[:, 1])

    def _session(self, part: Part, *, ordered: bool) -> _Session:
        """Estimate what a dialogue brings of its own.

        ``ordered``: the states follow one another by the chain; else each is as likely as it is
        anywhere.
        """
        kind, p, n = self.kind, self.parameters, len(part.words)
        if kind.session == "none" or not n:
            still = np.zeros((p.n_states, 2))
            still[:, 0] = 1.0
            return _Session(still, np.zeros(n))
        topics = self._topics[part.words]
        rows = np.repeat(np.arange(len(part.offsets) - 1), np.diff(part.offsets))
        _, local = np.unique(part.words, return_inverse=True)
        shares = np.full((p.n_states, 2), 0.5)
        if kind.shares_by_state:
            shares = p.shares
        elif kind.session == "own":
            shares = np.tile([1 / 3, 2 / 3], (p.n_states, 1))
        mixture = np.full(topics.shape[1], 1 / topics.shape[1])
        own: Floats = np.zeros(int(local.max()) + 1)
        taken: Floats = np.full(3, n / 3)
        for _ in range(_STEPS):
            if kind.session == "own":
                pi, beta = self.priors.source, self.priors.session_word
                room = own.sum() + beta * len(p.words[0])
                mine, common = (taken[1:] + pi) / (taken[1:] + pi).sum()
                parts = np.stack([mine * (own[local] + beta) / room, common * topics[:, 0]], 1)
            else:
                parts = topics * mixture
            session = _Session(shares, parts.sum(axis=1))
            chances = self._word_chances(part, session)
            posterior = self._posterior(part, session, ordered)[rows]
            from_session = (posterior * (session.chances[:, None] * shares[:, 1]) / chances).sum(
                axis=1
            )
            weights = parts * (from_session / session.chances)[:, None]
            if kind.session == "own":
                own = np.bincount(local, weights[:, 0]).astype(np.float64)
                taken = np.array([n - from_session.sum(), *weights.sum(axis=0)])
                share = (taken + self.priors.source) / (n + 3 * self.priors.source)
                shares = np.tile([share[0], 1 - share[0]], (p.n_states, 1))
                continue
            mixture = weights.sum(axis=0) + self.priors.topic
            mixture /= mixture.sum()
            if not kind.shares_by_state:
                share = (n - from_session.sum() + self.priors.source) / (n + 2 * self.priors.source)
                shares = np.tile([share, 1 - share], (p.n_states, 1))
        return session

    def _posterior(self, part: Part, session: _Session, ordered: bool) -> Floats:
        if ordered:
            return chain_marginals(self._scores(part, session), self._steps)[1]
        with np.errstate(divide="ignore"):
            scores = self._emissions(part, session) + np.log(self.parameters.occupancy)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


class _Session(NamedTuple):
    """What a dialogue brings: shares (T, 2) of state and dialogue, each word's chance by it (n)."""

    shares: Floats
    chances: Floats


@compiled
def _left_to_right(
    words: Ints,
    local: Ints,
    offsets: Ints,
    voices: Floats,
    begins: Floats,
    steps: Floats,
    ends: Floats,
    emit: Floats,
    topics: Floats,
    shares: Floats,
    session: int,
    shares_by_state: bool,
    alpha: float,
    own_prior: float,
    pi: float,
    particles: int,
    uniforms: Floats,
    resampling: Floats,
) -> float:
    """Return the estimated log probability of a dialogue's words (and speakers).

    A particle holds the sources and topics of the words so far (as counts) and, exactly, the
    probability of each state given them.
    """
    size, n_topics, kinds = len(begins), topics.shape[1], emit.shape[0]
    belief = np.empty((particles, size))
    weights = np.full(particles, 1.0 / particles)
    mixture = np.zeros((particles, n_topics))
    taken = np.zeros((particles, 3))
    own = np.zeros((particles, (local.max() + 1) if len(local) else 1))
    by_state, by_topic = np.empty(size), np.empty(n_topics)
    chosen = np.empty(particles, np.int64)
    total = 0.0
    for u in range(len(offsets) - 1):
        for p in range(particles):
            now = begins.copy()
            if u > 0:
                now[:] = 0.0
                for s in range(size):
                    for t in range(size):
                        now[t] += belief[p, s] * steps[s, t]
            heard = 0.0
            for s in range(size):
                belief[p, s] = now[s] * voices[u, s]
                heard += belief[p, s]
            for s in range(size):
                belief[p, s] /= heard
            weights[p] *= heard
        for i in range(offsets[u], offsets[u + 1]):
            word = words[i]
            for p in range(particles):
                # The shares of state and session, by state or by dialogue.
                room = taken[p].sum() + (3 if session == 1 else 2) * pi
                first = second = 0.0
                for s in range(size):
                    share = 1.0
                    if session > 0:
                        share = shares[s, 0] if shares_by_state else (taken[p, 0] + pi) / room
                    by_state[s] = belief[p, s] * share * emit[word, s]
                    first += by_state[s]
                    second += belief[p, s] * (1.0 - share)
                mass = mine = scale = 0.0
                if session == 1:
                    mine = (own[p, local[i]] + own_prior) / (taken[p, 1] + kinds * own_prior)
                    mine *= (taken[p, 1] + pi) / room
                    common = topics[word, 0] * (taken[p, 2] + pi) / room
                    mass = mine + common
                elif session == 2:
                    for k in range(n_topics):
                        by_topic[k] = (mixture[p, k] + alpha) * topics[word, k]
                        mass += by_topic[k]
                    scale = second / (taken[p, 1] + n_topics * alpha)
                    mass *= scale
                chance = first + mass
                weights[p] *= chance
                if session == 0:
                    for s in range(size):
                        belief[p, s] = by_state[s] / first
                    continue
                aim = uniforms[i, p] * chance
                if aim < first:
                    taken[p, 0] += 1.0
                    for s in range(size):
                        belief[p, s] = by_state[s] / first
                elif session == 1:
                    if aim < first + mine:
                        taken[p, 1] += 1.0
                        own[p, local[i]] += 1.0
                    else:
                        taken[p, 2] += 1.0
                else:
                    taken[p, 1] += 1.0
                    aim = (aim - first) / scale
                    k = 0
                    while k < n_topics - 1 and aim >= by_topic[k]:
                        aim -= by_topic[k]
                        k += 1
                    mixture[p, k] += 1.0
                    if shares_by_state:
                        for s in range(size):
                            belief[p, s] *= (1.0 - shares[s, 0]) / second
            mass = weights.sum()
            total += np.log(mass)
            weights /= mass
            if particles > 1 and 1.0 / (weights * weights).sum() < 0.5 * particles:
                # Systematic resampling: one draw places all.
                sums = 0.0
                place = 0
                for p in range(particles):
                    sums += weights[p] * particles
                    while place < particles and place + resampling[i] < sums:
                        chosen[place] = p
                        place += 1
                while place < particles:
                    chosen[place] = particles - 1
                    place += 1
                belief, mixture = belief[chosen], mixture[chosen]
                taken, own = taken[chosen], own[chosen]
                weights[:] = 1.0 / particles
    last = 0.0
    for p in range(particles):
        last += weights[p] * (belief[p] * ends).sum()
    return float(total + np.log(last))
