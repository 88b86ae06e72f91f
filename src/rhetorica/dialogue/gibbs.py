"""Corpus -> states, sources and topics: collapsed Gibbs sampling of the five models.

All multinomials are integrated out; what is sampled is each utterance's state and each word's
*slot*. A slot is the word's topic in TM-HMM; 0 (state) or 1 + topic in TM-HMMS and TM-HMMSS; 0
(state), 1 (dialogue) or 2 (background) in LM-HMMS; always 0 in LM-HMM. What a state emits are
*items*: topics in TM-HMM, the words of slot 0 elsewhere. So one kernel moves the states of all
models.

Tables of counts that belong to the corpus are kept up to date; those of one dialogue are counted
when the dialogue is visited, so memory does not grow with dialogues times words.

There are three ways to move states, all exact:

- "single": one state at a time given everything else (the paper's equations 1 and 2);
- "joint": the same, but in TM-HMM, where a state can hardly leave the topics of its words, an
  utterance's topics are drawn together with its state;
- "blocked": all states of a dialogue at once (in TM-HMM with the dialogue's topics), by forward
  filtering and backward sampling.

The last two propose with the counts of everything else as if they were fixed parameters, and accept
or stay by Metropolis and Hastings' rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rhetorica.decode.chain import sample_chains
from rhetorica.dialogue.kinds import Kind, Priors
from rhetorica.kernels import compiled, part
from rhetorica.learn.dirichlet import SymmetricPolya, sample_concentration

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Moves = Literal["single", "joint", "blocked"]
MOVES: tuple[Moves, ...] = get_args(Moves)
_EVEN = 1e6
"""A prior of sources beside which counts are nothing."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Dialogues as numbers.

    Dialogue d is the utterances ``dialogues[d]:dialogues[d + 1]``, utterance u the words
    ``utterances[u]:utterances[u + 1]`` of ``words``. An utterance may be without words, a dialogue
    has at least one utterance.
    """

    words: Ints
    utterances: Ints
    dialogues: Ints
    speakers: Ints
    vocabulary: int
    n_speakers: int = 1

    @property
    def n_dialogues(self) -> int:
        """How many dialogues there are."""
        return len(self.dialogues) - 1

    @property
    def n_utterances(self) -> int:
        """How many utterances there are."""
        return len(self.utterances) - 1

    def dialogue_of_words(self) -> Ints:
        """Return the dialogue that each word is in."""
        lengths = np.diff(self.utterances[self.dialogues])
        return np.repeat(np.arange(self.n_dialogues, dtype=np.int32), lengths)


class Part(NamedTuple):
    """One dialogue of a corpus: its words, where its utterances begin in them, its speakers."""

    words: Ints
    offsets: Ints
    speakers: Ints
    utterances: slice
    places: slice

    @classmethod
    def of(cls, corpus: Corpus, dialogue: int) -> Part:
        """Cut a dialogue out."""
        first, last = corpus.dialogues[dialogue : dialogue + 2].tolist()
        begin, end = int(corpus.utterances[first]), int(corpus.utterances[last])
        return cls(
            corpus.words[begin:end],
            corpus.utterances[first : last + 1] - np.int32(begin),
            corpus.speakers[first:last],
            slice(first, last),
            slice(begin, end),
        )


class Counts(NamedTuple):
    """The tables that a sampler keeps: how often what was drawn from which row.

    Index T of ``transitions`` is the outside: its row is how dialogues begin, its column how they
    end. ``items`` is (items x states), ``topics`` (words x topics; LM-HMMS: words x 1, the
    background), ``sources`` (state or topic x states; TM-HMMSS only), ``speakers`` (speakers x
    states).
    """

    transitions: Ints
    items: Ints
    item_totals: Ints
    topics: Ints
    topic_totals: Ints
    sources: Ints
    speakers: Ints

    @classmethod
    def empty(cls, kind: Kind, corpus: Corpus, states: int, topics: int) -> Counts:
        """Make tables in which nothing is counted yet."""
        columns = topics if kind.has_topics else 1
        items = topics if kind.mixes_topics else corpus.vocabulary

        def table(*shape: int) -> Ints:
            return np.zeros(shape, np.int32)

        return cls(
            table(states + 1, states + 1),
            table(items, states),
            table(states),
            table(corpus.vocabulary, columns),
            table(columns),
            table(2, states),
            table(corpus.n_speakers, states),
        )


class Sampler:
    """The state of a Markov chain over states and slots of a corpus, and its moves."""

    def __init__(
        self,
        kind: Kind,
        corpus: Corpus,
        *,
        states: int,
        topics: int,
        priors: Priors,
        rng: np.random.Generator,
        moves: Moves = "single",
        speakers: bool = False,
    ) -> None:
        self.kind, self.corpus, self.n_states, self.n_topics = kind, corpus, states, topics
        self.priors, self.rng, self.moves, self.knows_speakers = priors, rng, moves, speakers
        size = len(corpus.words)
        self.states: Ints = rng.integers(0, states, corpus.n_utterances, np.int32)
        self.slots: Ints = np.zeros(size, np.int32)
        if kind.mixes_topics:
            self.slots = rng.integers(0, topics, size, np.int32)
        elif kind.session == "own":
            self.slots = rng.integers(0, 3, size, np.int32)
        elif kind.session == "shared":
            chosen = 1 + rng.integers(0, topics, size, np.int32)
            self.slots = np.where(rng.random(size) < 0.5, 0, chosen).astype(np.int32)
        self.accepted = self.proposed = 0
        # Below 1, weights of states are raised to it, so that the chain roams (annealing).
        self.power = 1.0
        # While true, all sources are equally likely: words choose by what they are alone.
        self.even_sources = False
        self.counts = self.recounted()

    def recounted(self) -> Counts:
        """Count everything from scratch."""
        counts = Counts.empty(self.kind, self.corpus, self.n_states, self.n_topics)
        for dialogue in range(self.corpus.n_dialogues):
            part = Part.of(self.corpus, dialogue)
            states, slots = self.states[part.utterances], self.slots[part.places]
            self._shift(counts, part, states, slots, 1)
        return counts

    def sweep(self) -> None:
        """Move every state and every slot once."""
        if self.moves == "joint" and self.kind.mixes_topics:
            self._move_jointly()
        elif self.moves == "blocked":
            for dialogue in range(self.corpus.n_dialogues):
                self._move_dialogue(Part.of(self.corpus, dialogue))
        else:
            self._move_states()
        self._move_slots()

    @property
    def _item_prior(self) -> float:
        return self.priors.topic if self.kind.mixes_topics else self.priors.word

    @property
    def _source_prior(self) -> float:
        return _EVEN if self.even_sources else self.priors.source

    def _items(self, words: Ints, slots: Ints) -> Ints:
        """Return what states emit: an item for each word, -1 where the state has no part."""
        if self.kind.mixes_topics:
            return slots
        return np.where(slots == 0, words, -1).astype(np.int32)

    def _columns(self, slots: Ints) -> Ints:
        """Return each word's column in the table of topics, -1 for none."""
        if self.kind.mixes_topics:
            return slots
        return np.maximum(slots - {"none": 1, "own": 2, "shared": 1}[self.kind.session], -1)

    def _move_states(self) -> None:
        corpus, counts, priors = self.corpus, self.counts, self.priors
        _move_states(
            corpus.utterances, corpus.dialogues, corpus.speakers,
            self.states, self._items(corpus.words, self.slots), self.slots,
            counts.transitions, counts.items, counts.item_totals, counts.sources, counts.speakers,
            self.kind.shares_by_state, self.knows_speakers,
            priors.transition, self._item_prior, self._source_prior, priors.speaker, self.power,
            self.rng.random(corpus.n_utterances),
        )  # fmt: skip

    def _move_jointly(self) -> None:
        corpus, counts, priors = self.corpus, self.counts, self.priors
        self.proposed += corpus.n_utterances
        self.accepted += _move_jointly(
            corpus.words, corpus.utterances, corpus.dialogues, corpus.speakers,
            self.states, self.slots, counts.transitions, counts.items, counts.item_totals,
            counts.topics, counts.topic_totals, counts.speakers, self.knows_speakers,
            priors.transition, priors.topic, priors.topic_word, priors.speaker, self.power,
            self.rng.random((corpus.n_utterances, 2)), self.rng.random(len(corpus.words)),
        )  # fmt: skip

    def _move_slots(self) -> None:
        corpus, counts, priors = self.corpus, self.counts, self.priors
        if self.kind.sources == 1 and not self.kind.mixes_topics:
            return
        uniforms = self.rng.random(len(corpus.words))
        if self.kind.mixes_topics:
            _move_topics(
                corpus.words, corpus.utterances, self.states, self.slots,
                counts.items, counts.topics, counts.topic_totals,
                priors.topic, priors.topic_word, uniforms,
            )  # fmt: skip
        elif self.kind.session == "shared":
            _move_shared(
                corpus.words, corpus.utterances, corpus.dialogues, self.states, self.slots,
                counts.items, counts.item_totals, counts.topics, counts.topic_totals,
                counts.sources, self.kind.shares_by_state,
                priors.word, priors.topic_word, priors.topic, self._source_prior, uniforms,
            )  # fmt: skip
        else:
            _move_own(
                corpus.words, corpus.utterances, corpus.dialogues, self.states, self.slots,
                counts.items, counts.item_totals, counts.topics, counts.topic_totals,
                priors.word, priors.session_word, self._source_prior, uniforms,
            )  # fmt: skip

    def _shift(self, counts: Counts, part: Part, states: Ints, slots: Ints, by: int) -> float:
        """Add a dialogue to the counts (by 1) or take it out (by -1).

        When adding, return the log probability, given all that is counted already, of what a block
        move may change: the states, what they emit, and (TM-HMM) the topics' words.
        """
        priors = self.priors
        return float(
            _shift(
                part.words, part.offsets, part.speakers, states, self._items(part.words, slots),
                self._columns(slots), slots, *counts,
                self.kind.mixes_topics, self.kind.shares_by_state, self.knows_speakers,
                priors.transition, self._item_prior, priors.topic_word, self._source_prior,
                priors.speaker, by,
            )
        )  # fmt: skip

    def _move_dialogue(self, part: Part) -> None:
        """Propose all states of a dialogue (TM-HMM: and its topics), and accept or stay."""
        old_states, old_slots = self.states[part.utterances].copy(), self.slots[part.places].copy()
        self._shift(self.counts, part, old_states, old_slots, -1)
        proposal = _Proposal(self, part, old_slots)
        states, slots = proposal.draw()
        new = self._shift(self.counts, part, states, slots, 1) - proposal(states, slots)
        self._shift(self.counts, part, states, slots, -1)
        old = self._shift(self.counts, part, old_states, old_slots, 1)
        old -= proposal(old_states, old_slots)
        self.proposed += 1
        if np.log(self.rng.random()) < new - old:
            self._shift(self.counts, part, old_states, old_slots, -1)
            self._shift(self.counts, part, states, slots, 1)
            self.states[part.utterances], self.slots[part.places] = states, slots
            self.accepted += 1

    def likelihoods(self) -> dict[str, list[Callable[[float], float]]]:
        """Return, for each prior, the log likelihood of its tables as a function of it."""
        kind, corpus, counts, size = self.kind, self.corpus, self.counts, self.n_states
        found: dict[str, list[Callable[[float], float]]] = {
            # Nothing ends before it has begun: the outside's row has no column for the end.
            "transition": [
                SymmetricPolya(counts.transitions[:size]),
                SymmetricPolya(counts.transitions[size:, :size]),
            ]
        }
        found["topic" if kind.mixes_topics else "word"] = [SymmetricPolya(counts.items.T)]
        if self.knows_speakers:
            found["speaker"] = [SymmetricPolya(counts.speakers.T)]
        if kind.has_topics:
            found["topic_word"] = [SymmetricPolya(counts.topics.T)]
        if kind.session == "none":
            return found
        dialogues = corpus.dialogue_of_words()
        table = np.zeros((corpus.n_dialogues, kind.sources), np.int64)
        np.add.at(table, (dialogues, np.minimum(self.slots, kind.sources - 1)), 1)
        found["source"] = [SymmetricPolya(counts.sources.T if kind.shares_by_state else table)]
        if kind.session == "shared":
            table = np.zeros((corpus.n_dialogues, self.n_topics), np.int64)
            inside = self.slots > 0
            np.add.at(table, (dialogues[inside], self.slots[inside] - 1), 1)
            found["topic"] = [SymmetricPolya(table)]
        else:
            found["word"].append(SymmetricPolya(counts.topics.T))
            inside = self.slots == 1
            cells = dialogues[inside].astype(np.int64) * corpus.vocabulary + corpus.words[inside]
            found["session_word"] = [
                SymmetricPolya.sparse(
                    np.unique(cells, return_counts=True)[1], table[:, 1], corpus.vocabulary
                )
            ]
        return found

    def log_joint(self) -> float:
        """Return the log probability of words, states, slots (and speakers) given the priors."""
        return sum(
            likelihood(getattr(self.priors, name))
            for name, parts in self.likelihoods().items()
            for likelihood in parts
        )

    def move_priors(self) -> None:
        """Draw the priors anew by slice sampling, each under a Gamma(1, 1) hyper-prior."""
        changed = {}
        for name, parts in self.likelihoods().items():
            changed[name] = sample_concentration(
                lambda value, parts=parts: sum(part(value) for part in parts),  # type: ignore[misc]
                getattr(self.priors, name),
                self.rng,
            )
        self.priors = replace(self.priors, **changed)


def transition_means(transitions: NDArray[np.int32], prior: float) -> tuple[Floats, Floats, Floats]:
    """Return the expected distributions of first states, next states, and of ending."""
    size = len(transitions) - 1
    begins: Floats = transitions[size, :size] + np.float64(prior)
    rows: Floats = transitions[:size] + np.float64(prior)
    rows /= rows.sum(axis=1, keepdims=True)
    return begins / begins.sum(), rows[:, :size], rows[:, size]


class _Proposal:
    """What a block move proposes, given the counts without the dialogue as if they were certain."""

    def __init__(self, sampler: Sampler, part: Part, slots: Ints) -> None:
        self.sampler, self.part, self.slots = sampler, part, slots
        kind, counts, priors = sampler.kind, sampler.counts, sampler.priors
        prior = sampler._item_prior
        emit = (counts.items + prior) / (counts.item_totals + len(counts.items) * prior)
        logs = np.zeros((len(part.words) + 1, sampler.n_states))
        if kind.mixes_topics:
            beta = priors.topic_word
            total = counts.topic_totals + len(counts.topics) * beta
            # Words x topics and topics x states: how a word may come about in a state.
            self.words_by_topic = (counts.topics[part.words] + beta) / total
            self.topics_by_state = emit
            logs[1:] = np.log(self.words_by_topic @ emit)
        else:
            own = slots == 0
            logs[1:][own] = np.log(emit[part.words[own]])
            if kind.shares_by_state:
                shares = counts.sources + priors.source
                shares = np.log(shares / shares.sum(axis=0))
                logs[1:] += shares[np.minimum(slots, 1)]
        sums = np.cumsum(logs, axis=0)
        self.scores = sums[part.offsets[1:]] - sums[part.offsets[:-1]]
        if sampler.knows_speakers:
            speak = counts.speakers + priors.speaker
            self.scores += np.log(speak / speak.sum(axis=0))[part.speakers]
        begins, steps, ends = transition_means(counts.transitions, priors.transition)
        self.scores[0] += np.log(begins)
        self.scores[-1] += np.log(ends)
        self.steps = np.log(steps)

    def draw(self) -> tuple[Ints, Ints]:
        """Draw states, and topics where they belong to the block."""
        rng = self.sampler.rng
        states = sample_chains(self.scores, self.steps, rng)[0].astype(np.int32)
        if not self.sampler.kind.mixes_topics:
            return states, self.slots
        sums = np.cumsum(self._topic_weights(states), axis=1)
        aims = rng.random(len(sums)) * sums[:, -1]
        return states, (sums[:, :-1] <= aims[:, None]).sum(axis=1).astype(np.int32)

    def _topic_weights(self, states: Ints) -> Floats:
        rows = np.repeat(states, np.diff(self.part.offsets))
        return self.words_by_topic * self.topics_by_state.T[rows]

    def __call__(self, states: Ints, slots: Ints) -> float:
        """Return the log probability of proposing these, up to a constant."""
        total = float(self.scores[np.arange(len(states)), states].sum())
        total += float(self.steps[states[:-1], states[1:]].sum())
        if self.sampler.kind.mixes_topics:
            weights = self._topic_weights(states)
            chosen = weights[np.arange(len(slots)), slots]
            total += float(np.log(chosen / weights.sum(axis=1)).sum())
        return total


@compiled
def _shift(
    words: Ints,
    offsets: Ints,
    speakers: Ints,
    states: Ints,
    items: Ints,
    columns: Ints,
    slots: Ints,
    transitions: Ints,
    item_counts: Ints,
    item_totals: Ints,
    topics: Ints,
    topic_totals: Ints,
    sources: Ints,
    speaker_counts: Ints,
    mixes_topics: bool,
    shares_by_state: bool,
    knows_speakers: bool,
    gamma: float,
    item_prior: float,
    beta: float,
    pi: float,
    sigma: float,
    by: int,
) -> float:
    n, size = len(states), len(item_totals)
    total = 0.0
    before = size
    for u in range(n + 1):
        state = states[u] if u < n else size
        if by > 0:
            kinds = size if before == size else size + 1
            total += np.log(
                (transitions[before, state] + gamma) / (transitions[before].sum() + kinds * gamma)
            )
        transitions[before, state] += by
        if u == n:
            break
        before = state
        if knows_speakers and by > 0:
            row = speaker_counts[:, state]
            total += np.log((row[speakers[u]] + sigma) / (row.sum() + len(row) * sigma))
        speaker_counts[speakers[u], state] += by
        for i in range(offsets[u], offsets[u + 1]):
            item, column, source = items[i], columns[i], min(slots[i], 1)
            if shares_by_state:
                if by > 0:
                    share = sources[source, state] + pi
                    total += np.log(share / (sources[0, state] + sources[1, state] + 2 * pi))
                sources[source, state] += by
            if item >= 0:
                if by > 0:
                    room = item_totals[state] + len(item_counts) * item_prior
                    total += np.log((item_counts[item, state] + item_prior) / room)
                item_counts[item, state] += by
                item_totals[state] += by
            if column >= 0:
                if by > 0 and mixes_topics:
                    room = topic_totals[column] + len(topics) * beta
                    total += np.log((topics[words[i], column] + beta) / room)
                topics[words[i], column] += by
                topic_totals[column] += by
    return total


@part
def _chain_weights(
    weights: Floats,
    transitions: Ints,
    departures: Ints,
    before: int,
    after: int,
    gamma: float,
) -> None:
    """Set the weight of each state between two others, none of its transitions being counted."""
    size = len(weights)
    for s in range(size):
        # The step into s is itself one of the departures that the step out of s sees.
        same = 1 if before == s else 0
        both = 1 if before == s and after == s else 0
        weights[s] = (transitions[before, s] + gamma) * (
            (transitions[s, after] + both + gamma) / (departures[s] + same + (size + 1) * gamma)
        )


@part
def _voice_weights(weights: Floats, speaker_counts: Ints, speaker: int, sigma: float) -> None:
    """Multiply the weight of each state by the chance of its speaker."""
    for s in range(len(weights)):
        row = speaker_counts[:, s]
        weights[s] *= (row[speaker] + sigma) / (row.sum() + len(row) * sigma)


@part
def _choose(weights: Floats, uniform: float) -> int:
    """Choose an index by its share of the sum."""
    aim = uniform * weights.sum()
    last = len(weights) - 1
    for k in range(last):
        aim -= weights[k]
        if aim < 0:
            return k
    return last


@part
def _block_sums(weights: Floats, blocks: Floats) -> float:
    """Sum weights by eights, which do not wait for one another; return the sum of all."""
    total = 0.0
    for j in range(len(blocks)):
        k = 8 * j
        blocks[j] = ((weights[k] + weights[k + 1]) + (weights[k + 2] + weights[k + 3])) + (
            (weights[k + 4] + weights[k + 5]) + (weights[k + 6] + weights[k + 7])
        )
        total += blocks[j]
    for k in range(8 * len(blocks), len(weights)):
        total += weights[k]
    return total


@part
def _locate(weights: Floats, blocks: Floats, aim: float) -> int:
    """Return the index up to which the weights sum to more than ``aim``."""
    j = 0
    while j < len(blocks) and aim >= blocks[j]:
        aim -= blocks[j]
        j += 1
    k = 8 * j
    while k < len(weights) - 1 and aim >= weights[k]:
        aim -= weights[k]
        k += 1
    # Rounding may lead behind the last.
    return min(k, len(weights) - 1)


@part
def _link(
    transitions: Ints, departures: Ints, before: int, state: int, after: int, by: int
) -> None:
    """Count (or forget) the two transitions of a state between two others."""
    transitions[before, state] += by
    transitions[state, after] += by
    if before < len(departures):
        departures[before] += by
    departures[state] += by


@compiled
def _move_states(
    offsets: Ints,
    dialogues: Ints,
    speakers: Ints,
    states: Ints,
    items: Ints,
    slots: Ints,
    transitions: Ints,
    item_counts: Ints,
    item_totals: Ints,
    sources: Ints,
    speaker_counts: Ints,
    shares_by_state: bool,
    knows_speakers: bool,
    gamma: float,
    prior: float,
    pi: float,
    sigma: float,
    power: float,
    uniforms: Floats,
) -> None:
    """Draw each utterance's state given all others."""
    n_items, size = item_counts.shape
    weights = np.empty(size)
    seen = np.zeros(n_items, np.int32)
    departures = np.zeros(size, np.int32)
    for s in range(size):
        departures[s] = transitions[s].sum()
    for d in range(len(dialogues) - 1):
        for u in range(dialogues[d], dialogues[d + 1]):
            begin, end = offsets[u], offsets[u + 1]
            old = states[u]
            before = states[u - 1] if u > dialogues[d] else size
            after = states[u + 1] if u + 1 < dialogues[d + 1] else size
            _link(transitions, departures, before, old, after, -1)
            speaker_counts[speakers[u], old] -= 1
            from_state = 0
            for i in range(begin, end):
                if slots[i] == 0:
                    from_state += 1
                if items[i] >= 0:
                    item_counts[items[i], old] -= 1
                    item_totals[old] -= 1
            if shares_by_state:
                sources[0, old] -= from_state
                sources[1, old] -= end - begin - from_state
            _chain_weights(weights, transitions, departures, before, after, gamma)
            if knows_speakers:
                _voice_weights(weights, speaker_counts, speakers[u], sigma)
            if shares_by_state:
                for s in range(size):
                    a, b = sources[0, s] + pi, sources[1, s] + pi
                    for j in range(from_state):
                        weights[s] *= (a + j) / (a + b + j)
                    for j in range(end - begin - from_state):
                        weights[s] *= (b + j) / (a + b + from_state + j)
            drawn = 0
            for i in range(begin, end):
                item = items[i]
                if item < 0:
                    continue
                again = prior + seen[item]
                room = n_items * prior + drawn
                for s in range(size):
                    weights[s] *= (item_counts[item, s] + again) / (item_totals[s] + room)
                seen[item] += 1
                drawn += 1
                if drawn % 8 == 0:
                    # Long utterances would underflow.
                    top = weights.max()
                    for s in range(size):
                        weights[s] /= top
            if power < 1.0:
                weights[:] = (weights / weights.max()) ** power
            new = _choose(weights, uniforms[u])
            states[u] = new
            _link(transitions, departures, before, new, after, 1)
            speaker_counts[speakers[u], new] += 1
            for i in range(begin, end):
                if items[i] >= 0:
                    seen[items[i]] = 0
                    item_counts[items[i], new] += 1
                    item_totals[new] += 1
            if shares_by_state:
                sources[0, new] += from_state
                sources[1, new] += end - begin - from_state


@part
def _take_topics(
    words: Ints,
    drawn: Ints,
    state: int,
    items: Ints,
    item_totals: Ints,
    topics: Ints,
    topic_totals: Ints,
    alpha: float,
    beta: float,
    by_state: Floats,
    by_topic: Floats,
) -> float:
    """Count an utterance's topics; return their probability over that of proposing them."""
    ratio = 1.0
    room, word_room = len(items) * alpha, len(topics) * beta
    for i in range(len(words)):
        k, word = drawn[i], words[i]
        proposed = (item_totals[state] + room) * by_state[k]
        proposed *= (topic_totals[k] + word_room) * by_topic[i, k]
        ratio *= (items[k, state] + alpha) * (topics[word, k] + beta) / proposed
        items[k, state] += 1
        item_totals[state] += 1
        topics[word, k] += 1
        topic_totals[k] += 1
    return ratio


@part
def _leave_topics(
    words: Ints,
    drawn: Ints,
    state: int,
    items: Ints,
    item_totals: Ints,
    topics: Ints,
    topic_totals: Ints,
) -> None:
    """Forget an utterance's topics."""
    for i in range(len(words)):
        items[drawn[i], state] -= 1
        item_totals[state] -= 1
        topics[words[i], drawn[i]] -= 1
        topic_totals[drawn[i]] -= 1


@compiled
def _move_jointly(
    words: Ints,
    offsets: Ints,
    dialogues: Ints,
    speakers: Ints,
    states: Ints,
    slots: Ints,
    transitions: Ints,
    items: Ints,
    item_totals: Ints,
    topics: Ints,
    topic_totals: Ints,
    speaker_counts: Ints,
    knows_speakers: bool,
    gamma: float,
    alpha: float,
    beta: float,
    sigma: float,
    power: float,
    uniforms: Floats,
    topic_uniforms: Floats,
) -> int:
    """Draw each utterance's state with its topics (TM-HMM); return how many were accepted.

    A word's chance in a state is a sum over topics. Most topics never had the word: what they add
    is the same for all words (``smooth``), so that only the others are visited.
    """
    n_topics, size = items.shape
    room, word_room = n_topics * alpha, len(topics) * beta
    weights, chances, by_state = np.empty(size), np.empty(size), np.empty((n_topics, size))
    scale, smooth, sums = np.empty(n_topics), np.empty(size), np.empty(n_topics)
    longest = 0
    for u in range(len(offsets) - 1):
        longest = max(longest, offsets[u + 1] - offsets[u])
    by_topic, drawn = np.empty((longest, n_topics)), np.empty(longest, np.int32)
    had, blocks = np.empty(n_topics, np.int64), np.empty(n_topics // 8)
    departures = np.zeros(size, np.int32)
    for s in range(size):
        departures[s] = transitions[s].sum()
    accepted = 0
    for d in range(len(dialogues) - 1):
        # From scratch once a dialogue, so that errors of rounding do not add up.
        for k in range(n_topics):
            scale[k] = 1.0 / (topic_totals[k] + word_room)
        for s in range(size):
            _refresh_state(s, items, item_totals, alpha, room, beta, scale, by_state, smooth)
        for u in range(dialogues[d], dialogues[d + 1]):
            begin, end = offsets[u], offsets[u + 1]
            own, present = words[begin:end], slots[begin:end]
            old = states[u]
            before = states[u - 1] if u > dialogues[d] else size
            after = states[u + 1] if u + 1 < dialogues[d + 1] else size
            _link(transitions, departures, before, old, after, -1)
            speaker_counts[speakers[u], old] -= 1
            _leave_topics(own, present, old, items, item_totals, topics, topic_totals)
            _refresh_topics(present, topic_totals, word_room, beta, scale, by_state, smooth)
            _refresh_state(old, items, item_totals, alpha, room, beta, scale, by_state, smooth)
            _chain_weights(weights, transitions, departures, before, after, gamma)
            if knows_speakers:
                _voice_weights(weights, speaker_counts, speakers[u], sigma)
            for i in range(len(own)):
                row = topics[own[i]]
                n_had = 0
                for k in range(n_topics):
                    by_topic[i, k] = (row[k] + beta) * scale[k]
                    if row[k] > 0:
                        had[n_had] = k
                        n_had += 1
                chances[:] = smooth
                # Four at a time: fewer passes over the states.
                for j in range(0, n_had - 3, 4):
                    a, b, c, e = had[j], had[j + 1], had[j + 2], had[j + 3]
                    by_a, by_b = row[a] * scale[a], row[b] * scale[b]
                    by_c, by_e = row[c] * scale[c], row[e] * scale[e]
                    for s in range(size):
                        chances[s] += (by_state[a, s] * by_a + by_state[b, s] * by_b) + (
                            by_state[c, s] * by_c + by_state[e, s] * by_e
                        )
                for j in range(n_had - n_had % 4, n_had):
                    a = had[j]
                    by_a = row[a] * scale[a]
                    for s in range(size):
                        chances[s] += by_state[a, s] * by_a
                for s in range(size):
                    weights[s] *= chances[s]
                if i % 8 == 7:
                    # Long utterances would underflow.
                    weights /= weights.max()
            if power < 1.0:
                weights[:] = (weights / weights.max()) ** power
            new = _choose(weights, uniforms[u, 0])
            for i in range(len(own)):
                for k in range(n_topics):
                    sums[k] = by_state[k, new] * by_topic[i, k]
                total = _block_sums(sums, blocks)
                drawn[i] = _locate(sums, blocks, topic_uniforms[begin + i] * total)
            stay = _take_topics(
                own, present, old, items, item_totals, topics, topic_totals, alpha, beta,
                by_state[:, old], by_topic,
            )  # fmt: skip
            _leave_topics(own, present, old, items, item_totals, topics, topic_totals)
            go = _take_topics(
                own, drawn, new, items, item_totals, topics, topic_totals, alpha, beta,
                by_state[:, new], by_topic,
            )  # fmt: skip
            if power < 1.0 or uniforms[u, 1] * stay < go:
                accepted += 1
                states[u] = new
                present[:] = drawn[: len(own)]
            else:
                _leave_topics(own, drawn, new, items, item_totals, topics, topic_totals)
                _take_topics(
                    own, present, old, items, item_totals, topics, topic_totals, alpha, beta,
                    by_state[:, old], by_topic,
                )  # fmt: skip
            _refresh_topics(present, topic_totals, word_room, beta, scale, by_state, smooth)
            _refresh_state(
                states[u], items, item_totals, alpha, room, beta, scale, by_state, smooth
            )
            _link(transitions, departures, before, states[u], after, 1)
            speaker_counts[speakers[u], states[u]] += 1
    return accepted


@part
def _refresh_state(
    state: int,
    items: Ints,
    item_totals: Ints,
    alpha: float,
    room: float,
    beta: float,
    scale: Floats,
    by_state: Floats,
    smooth: Floats,
) -> None:
    """Find a state's shares of topics anew, and the chance that it gives to words never seen."""
    total = 0.0
    each = 1.0 / (item_totals[state] + room)
    for k in range(len(scale)):
        by_state[k, state] = (items[k, state] + alpha) * each
        total += by_state[k, state] * scale[k]
    smooth[state] = beta * total


@part
def _refresh_topics(
    touched: Ints,
    topic_totals: Ints,
    word_room: float,
    beta: float,
    scale: Floats,
    by_state: Floats,
    smooth: Floats,
) -> None:
    """Find anew what depends on the totals of these topics."""
    for i in range(len(touched)):
        k = touched[i]
        fresh = 1.0 / (topic_totals[k] + word_room)
        change = beta * (fresh - scale[k])
        if change != 0.0:
            scale[k] = fresh
            for s in range(len(smooth)):
                smooth[s] += by_state[k, s] * change


@compiled
def _move_topics(
    words: Ints,
    offsets: Ints,
    states: Ints,
    slots: Ints,
    items: Ints,
    topics: Ints,
    topic_totals: Ints,
    alpha: float,
    beta: float,
    uniforms: Floats,
) -> None:
    """Draw each word's topic given its state (TM-HMM)."""
    size, kinds = topic_totals.shape[0], topics.shape[0]
    room = kinds * beta
    # Multiplying is faster than dividing: the totals are kept as reciprocals.
    shares, scale, sums = np.empty(size), np.empty(size), np.empty(size)
    blocks = np.empty(size // 8)
    for k in range(size):
        scale[k] = 1.0 / (topic_totals[k] + room)
    for u in range(len(offsets) - 1):
        state = states[u]
        for k in range(size):
            shares[k] = items[k, state] + alpha
        for i in range(offsets[u], offsets[u + 1]):
            row = topics[words[i]]
            old = slots[i]
            row[old] -= 1
            shares[old] -= 1.0
            topic_totals[old] -= 1
            scale[old] = 1.0 / (topic_totals[old] + room)
            for k in range(size):
                sums[k] = shares[k] * scale[k] * (row[k] + beta)
            total = _block_sums(sums, blocks)
            new = _locate(sums, blocks, uniforms[i] * total)
            slots[i] = new
            row[new] += 1
            shares[new] += 1.0
            topic_totals[new] += 1
            scale[new] = 1.0 / (topic_totals[new] + room)
            if new != old:
                items[old, state] -= 1
                items[new, state] += 1


@compiled
def _move_shared(
    words: Ints,
    offsets: Ints,
    dialogues: Ints,
    states: Ints,
    slots: Ints,
    items: Ints,
    item_totals: Ints,
    topics: Ints,
    topic_totals: Ints,
    sources: Ints,
    shares_by_state: bool,
    word_prior: float,
    beta: float,
    alpha: float,
    pi: float,
    uniforms: Floats,
) -> None:
    """Draw each word's source, and topic if it is the dialogue's (TM-HMMS, TM-HMMSS)."""
    size, kinds = topic_totals.shape[0], topics.shape[0]
    word_room, room = kinds * word_prior, kinds * beta
    mixture, scale, sums = np.empty(size), np.empty(size), np.empty(size)
    blocks = np.empty(size // 8)
    for k in range(size):
        scale[k] = 1.0 / (topic_totals[k] + room)
    for d in range(len(dialogues) - 1):
        mixture[:] = alpha
        from_state, from_topic = 0, 0
        for i in range(offsets[dialogues[d]], offsets[dialogues[d + 1]]):
            if slots[i] == 0:
                from_state += 1
            else:
                mixture[slots[i] - 1] += 1.0
                from_topic += 1
        for u in range(dialogues[d], dialogues[d + 1]):
            state = states[u]
            for i in range(offsets[u], offsets[u + 1]):
                word, old = words[i], slots[i]
                row = topics[word]
                if old == 0:
                    items[word, state] -= 1
                    item_totals[state] -= 1
                    from_state -= 1
                else:
                    row[old - 1] -= 1
                    topic_totals[old - 1] -= 1
                    scale[old - 1] = 1.0 / (topic_totals[old - 1] + room)
                    from_topic -= 1
                    mixture[old - 1] -= 1.0
                if shares_by_state:
                    sources[min(old, 1), state] -= 1
                for k in range(size):
                    sums[k] = mixture[k] * scale[k] * (row[k] + beta)
                total = _block_sums(sums, blocks)
                if shares_by_state:
                    first, second = sources[0, state] + pi, sources[1, state] + pi
                else:
                    first, second = from_state + pi, from_topic + pi
                by_state = (items[word, state] + word_prior) / (item_totals[state] + word_room)
                by_state *= first * (from_topic + size * alpha) / second
                aim = uniforms[i] * (total + by_state)
                if aim >= total:
                    slots[i] = 0
                    items[word, state] += 1
                    item_totals[state] += 1
                    from_state += 1
                else:
                    new = _locate(sums, blocks, aim)
                    slots[i] = 1 + new
                    row[new] += 1
                    topic_totals[new] += 1
                    scale[new] = 1.0 / (topic_totals[new] + room)
                    from_topic += 1
                    mixture[new] += 1.0
                if shares_by_state:
                    sources[min(slots[i], 1), state] += 1


@compiled
def _move_own(
    words: Ints,
    offsets: Ints,
    dialogues: Ints,
    states: Ints,
    slots: Ints,
    items: Ints,
    item_totals: Ints,
    background: Ints,
    background_total: Ints,
    word_prior: float,
    own_prior: float,
    pi: float,
    uniforms: Floats,
) -> None:
    """Draw each word's source: state, dialogue or background (LM-HMMS)."""
    kinds = background.shape[0]
    word_room, own_room = kinds * word_prior, kinds * own_prior
    own = np.zeros(kinds, np.int32)
    taken = np.zeros(3, np.int32)
    for d in range(len(dialogues) - 1):
        begin, end = offsets[dialogues[d]], offsets[dialogues[d + 1]]
        taken[:] = 0
        for i in range(begin, end):
            taken[slots[i]] += 1
            if slots[i] == 1:
                own[words[i]] += 1
        for u in range(dialogues[d], dialogues[d + 1]):
            state = states[u]
            for i in range(offsets[u], offsets[u + 1]):
                word, old = words[i], slots[i]
                taken[old] -= 1
                if old == 0:
                    items[word, state] -= 1
                    item_totals[state] -= 1
                elif old == 1:
                    own[word] -= 1
                else:
                    background[word, 0] -= 1
                    background_total[0] -= 1
                first = (taken[0] + pi) * (
                    (items[word, state] + word_prior) / (item_totals[state] + word_room)
                )
                second = (taken[1] + pi) * ((own[word] + own_prior) / (taken[1] + own_room))
                third = (taken[2] + pi) * (
                    (background[word, 0] + word_prior) / (background_total[0] + word_room)
                )
                aim = uniforms[i] * (first + second + third)
                new = 0 if aim < first else (1 if aim < first + second else 2)
                slots[i] = new
                taken[new] += 1
                if new == 0:
                    items[word, state] += 1
                    item_totals[state] += 1
                elif new == 1:
                    own[word] += 1
                else:
                    background[word, 0] += 1
                    background_total[0] += 1
        for i in range(begin, end):
            own[words[i]] = 0
