"""Dialogues -> model -> states of dialogues: fit, apply, score, keep in a folder.

>>> from rhetorica.dialogue import Dialogue, Settings, Turn, fit
>>> lines = ("Hello, how can I help?", "I need a bus.", "Where to?", "To the airport.", "Bye!")
>>> chats = [Dialogue(f"d{k}", tuple(Turn("AB"[i % 2], t) for i, t in enumerate(lines)))
...          for k in range(20)]
>>> model = fit(chats, Settings(model="lm-hmm", states=5, sweeps=30))
>>> model.score(chats)["log_likelihood_per_word"] > -2
True
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rhetorica.dialogue.agreement import agreement, kendall_tau
from rhetorica.dialogue.checkpoint import Checkpoint, Draw
from rhetorica.dialogue.gibbs import MOVES, Corpus, Floats, Ints, Moves, Sampler, transition_means
from rhetorica.dialogue.kinds import KINDS, Kind, Priors, kind_named
from rhetorica.dialogue.likelihood import Parameters, Reader
from rhetorica.dialogue.merge import Groups, Merge, count_transitions, groups_after, merges
from rhetorica.dialogue.prepare import Lexicon, Preparation
from rhetorica.dialogue.types import Dialogue, Entity, Turn
from rhetorica.errors import RhetoricaError, UnknownName
from rhetorica.files import digest
from rhetorica.learn.dirichlet import posterior_mean
from rhetorica.models.store import Config, State, Stored
from rhetorica.progress import Event, Tell, nothing

_WARM = 0.1
"""The power of states' weights when annealing begins; it ends with 1."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is fitted.

    ``topics`` is not used by models without topics. In the first share ``anneal`` of the sweeps
    states move freely at first and less and less so, which keeps chains out of poor places; the
    last ``samples`` sweeps are averaged. ``moves`` are those of `gibbs`: "single", as in the paper,
    "joint" (the same but for tm-hmm) or "blocked". ``speakers``: states know who speaks.
    Of several ``chains`` the one with the best log joint probability is kept, or, with ``average``,
    all are averaged after their states and topics were matched.
    """

    model: str = "tm-hmmss"
    states: int = 20
    topics: int = 40
    sweeps: int = 200
    anneal: float = 0.5
    samples: int = 10
    chains: int = 1
    average: bool = False
    moves: Moves = "joint"
    speakers: bool = False
    sample_priors: bool = True
    priors: Priors = field(default_factory=Priors)
    seed: int = 0

    def __post_init__(self) -> None:
        kind_named(self.model)
        if self.moves not in MOVES:
            raise UnknownName("moves", self.moves, MOVES)
        for name in ("states", "topics", "sweeps", "samples", "chains"):
            if getattr(self, name) < 1:
                raise RhetoricaError(f"{name} is {getattr(self, name)}: expected at least 1")

    @property
    def kind(self) -> Kind:
        """The model, with what it is made of."""
        return KINDS[self.model]


@dataclass(frozen=True, slots=True)
class Applied:
    """A dialogue with its states: the most likely at each turn, and all probabilities (n, T)."""

    dialogue: Dialogue
    states: tuple[int, ...]
    probabilities: Floats


def fit(
    dialogues: Iterable[Dialogue],
    settings: Settings | None = None,
    *,
    preparation: Preparation | None = None,
    tell: Tell = nothing,
    checkpoint: Path | None = None,
    every: int = 50,
) -> DialogueModel:
    """Learn the flow behind dialogues.

    ``checkpoint`` is a file that is written after each ``every`` sweeps. If it is there already,
    left by an interrupted fit of the same dialogues with the same settings, that fit goes on from
    it, and ends as if it had never stopped; at the end it is deleted.
    """
    settings, preparation = settings or Settings(), preparation or Preparation()
    kept = preparation.kept(dialogues)
    if not kept:
        raise RhetoricaError(
            f"no dialogue has {preparation.min_turns} turns or more: nothing to learn from"
        )
    lexicon = Lexicon.of(kept, preparation)
    corpus, _ = lexicon.encode(kept, preparation)
    turns = [turn for dialogue in kept for turn in dialogue.turns]
    workshop = _Workshop(settings, preparation, lexicon, corpus, turns)
    key = workshop.key()
    mark = Checkpoint.read(checkpoint, key) if checkpoint else None
    draws = list(mark.draws) if mark else []
    for chain in range(mark.chain if mark else 0, settings.chains):
        found = []
        for number, sampler in workshop.run(chain, mark, tell):
            if number > settings.sweeps - settings.samples:
                found.append(draw_of(sampler))
            elif checkpoint and number % every == 0:
                Checkpoint.of(chain, number, sampler, draws).write(checkpoint, key)
        draws = draws + found if settings.average else max(draws, found, key=_log_joint)
        mark = None
    if checkpoint:
        checkpoint.unlink(missing_ok=True)
    return workshop.model(draws)


def choose_states(
    dialogues: Sequence[Dialogue],
    candidates: Sequence[int],
    settings: Settings | None = None,
    *,
    preparation: Preparation | None = None,
    held_out: float = 0.2,
    tell: Tell = nothing,
) -> tuple[int, dict[int, float]]:
    """Choose the number of states by the log likelihood per word of dialogues that are held out.

    Returns the choice and all figures. Every dialogue whose number falls into the share
    ``held_out`` (evenly spread) is held out.
    """
    settings, preparation = settings or Settings(), preparation or Preparation()
    step = max(2, round(1 / held_out))
    train = [d for k, d in enumerate(dialogues) if k % step]
    test = [d for k, d in enumerate(dialogues) if k % step == 0]
    if not train or not test:
        raise RhetoricaError("too few dialogues to hold some out: give at least 2")
    figures = {}
    for states in candidates:
        chosen = replace(settings, states=states)
        model = fit(train, chosen, preparation=preparation, tell=tell)
        figures[states] = float(model.score(test, orders=0)["log_likelihood_per_word"])
        tell(Event(f"{states} states", note=f"log likelihood per word {figures[states]:.4f}"))
    return max(figures, key=figures.__getitem__), figures


def draw_of(sampler: Sampler) -> Draw:
    """Keep what a sampler has now."""
    return Draw(
        sampler.states.copy(),
        sampler.slots.copy(),
        parameters_of(sampler),
        sampler.priors,
        sampler.log_joint(),
    )


def parameters_of(sampler: Sampler) -> Parameters:
    """Return the expected distributions given a sampler's states and slots."""
    kind, counts, priors, size = sampler.kind, sampler.counts, sampler.priors, sampler.n_states
    begins, steps, ends = transition_means(counts.transitions, priors.transition)
    topics = posterior_mean(counts.topics.T, priors.topic_word if kind.has_topics else priors.word)
    mixtures = np.zeros((size, 0))
    if kind.mixes_topics:
        mixtures = posterior_mean(counts.items.T, priors.topic)
        words = mixtures @ topics
    else:
        words = posterior_mean(counts.items.T, priors.word)
    occupancy = np.bincount(sampler.states, minlength=size) + priors.transition
    return Parameters(
        begins, steps, ends, words,
        topics if kind.has_topics or kind.session == "own" else np.zeros((0, len(words[0]))),
        mixtures,
        posterior_mean(counts.sources.T, priors.source)
        if kind.shares_by_state
        else np.zeros((size, 0)),
        posterior_mean(counts.speakers.T, priors.speaker)
        if sampler.knows_speakers
        else np.zeros((size, 0)),
        occupancy / occupancy.sum(),
    )  # fmt: skip


class _Workshop:
    """Runs chains and makes models of what they draw."""

    def __init__(
        self,
        settings: Settings,
        preparation: Preparation,
        lexicon: Lexicon,
        corpus: Corpus,
        turns: Sequence[Turn],
    ) -> None:
        self.settings, self.preparation = settings, preparation
        self.lexicon, self.corpus, self.turns = lexicon, corpus, turns

    def key(self) -> str:
        """Tell this fit from all others."""
        corpus = [getattr(self.corpus, f.name) for f in fields(Corpus)]
        data = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in corpus))
        setting = [asdict(self.settings), asdict(self.preparation)]
        return digest([*setting, self.lexicon.words, data.hexdigest()])

    def run(self, chain: int, mark: Checkpoint | None, tell: Tell) -> Iterable[tuple[int, Sampler]]:
        """Yield each sweep's number and the sampler after it, from ``mark`` on."""
        settings, words = self.settings, max(1, len(self.corpus.words))
        name = f"chain {chain + 1}" if settings.chains > 1 else "sweeps"
        sampler = Sampler(
            settings.kind,
            self.corpus,
            states=settings.states,
            topics=settings.topics,
            priors=settings.priors,
            rng=np.random.default_rng([settings.seed, chain]),
            moves=settings.moves,
            speakers=settings.speakers,
        )
        cooling = settings.anneal * (settings.sweeps - settings.samples)
        if mark:
            mark.restore(sampler)
            tell(Event(name, mark.sweep, settings.sweeps, "goes on from the checkpoint"))
        for number in range(mark.sweep + 1 if mark else 1, settings.sweeps + 1):
            warmth = 1.0 - number / cooling if number < cooling else 0.0
            sampler.power = 1.0 - warmth * (1.0 - _WARM)
            # Else warm states, which say little, lose their words to the topics for good.
            sampler.even_sources = warmth > 0
            sampler.sweep()
            if settings.sample_priors:
                sampler.move_priors()
            if number % 5 == 0 or number == settings.sweeps:
                note = f"log joint per word {sampler.log_joint() / words:.3f}"
                tell(Event(name, number, settings.sweeps, note))
            yield number, sampler

    def model(self, draws: Sequence[Draw]) -> DialogueModel:
        states = draws[-1].states
        priors = _mean_priors([draw.priors for draw in draws])
        transitions = count_transitions(states, self.corpus.dialogues, self.settings.states)
        return DialogueModel(
            replace(self.settings, priors=priors),
            self.preparation,
            self.lexicon,
            average(draws, self.settings),
            typical_turns(self.preparation, self.turns, states.tolist()),
            _log_joint(draws),
            merges(transitions, priors.transition),
        )


def average(draws: Sequence[Draw], settings: Settings) -> Parameters:
    """Average parameters over draws, after states and topics got the last draw's numbers.

    States and topics have no names: the same ones may have other numbers in another draw, or in
    another chain. They are matched by how many utterances (words) they share.
    """
    last = draws[-1]
    matched = []
    for draw in draws:
        states = match_labels(last.states, draw.states, settings.states)
        topics = np.arange(len(draw.parameters.topics), dtype=np.int32)
        if settings.kind.has_topics:
            first = 0 if settings.kind.mixes_topics else 1
            inside = (last.slots >= first) & (draw.slots >= first)
            topics = match_labels(
                last.slots[inside] - first, draw.slots[inside] - first, settings.topics
            )
        matched.append(_renumbered(draw.parameters, states, topics))
    return Parameters(
        **{
            item.name: np.mean([getattr(p, item.name) for p in matched], axis=0)
            for item in fields(Parameters)
        }
    )


def match_labels(reference: Ints, labels: Ints, size: int) -> Ints:
    """Return, for each number in ``reference``, the number in ``labels`` that means the same.

    The one-to-one match with the most agreement (the Hungarian method).

    >>> match_labels(np.array([0, 0, 1, 2]), np.array([2, 2, 0, 1]), 3).tolist()
    [2, 0, 1]
    """
    from scipy.optimize import linear_sum_assignment

    table = np.zeros((size, size))
    np.add.at(table, (reference, labels), 1)
    return np.asarray(linear_sum_assignment(-table)[1].astype(np.int32))


def _log_joint(draws: Sequence[Draw]) -> float:
    return float(np.mean([draw.log_joint for draw in draws])) if draws else -np.inf


def _renumbered(p: Parameters, states: Ints, topics: Ints) -> Parameters:
    mixtures = p.mixtures[states]
    return Parameters(
        p.begins[states],
        p.steps[np.ix_(states, states)],
        p.ends[states],
        p.words[states],
        p.topics[topics],
        mixtures[:, topics] if mixtures.size else mixtures,
        p.shares[states],
        p.speakers[states],
        p.occupancy[states],
    )


def _mean_priors(priors: Sequence[Priors]) -> Priors:
    return Priors(
        **{f.name: float(np.mean([getattr(p, f.name) for p in priors])) for f in fields(Priors)}
    )


def typical_turns(
    preparation: Preparation, turns: Sequence[Turn], states: Sequence[int], count: int = 5
) -> dict[int, tuple[Turn, ...]]:
    """Find, for each state, the turns in it that are most like all others in it.

    Likeness is the cosine of the sets of their words, rare words weighing more (inverse document
    frequency). A long turn that says many things is like few others: names come out short.
    """
    sets = [tuple(sorted(set(preparation.words(turn)))) for turn in turns]
    spread = Counter(word for words in sets for word in words)
    weight = {word: math.log(1 + len(turns) / times) for word, times in spread.items()}
    sums: dict[int, defaultdict[str, float]] = {}
    found: dict[int, dict[tuple[str, ...], Turn]] = {}
    for turn, words, state in zip(turns, sets, states, strict=True):
        if not words:
            continue
        found.setdefault(state, {}).setdefault(words, turn)
        length = math.sqrt(sum(weight[word] ** 2 for word in words))
        there = sums.setdefault(state, defaultdict(float))
        for word in words:
            there[word] += weight[word] / length

    def likeness(state: int, words: tuple[str, ...]) -> float:
        length = math.sqrt(sum(weight[word] ** 2 for word in words))
        return sum(sums[state][word] * weight[word] for word in words) / length

    typical = {}
    for state, kinds in found.items():
        best = sorted((-likeness(state, words), words) for words in kinds)[:count]
        typical[state] = tuple(kinds[words] for _, words in best)
    return typical


class DialogueModel(Stored):
    """A flow that was found: its states, what is said in them, how they follow one another."""

    name = "dialogue"

    def __init__(
        self,
        settings: Settings,
        preparation: Preparation,
        lexicon: Lexicon,
        parameters: Parameters,
        examples: Mapping[int, tuple[Turn, ...]],
        log_joint: float,
        merges: Sequence[Merge] = (),
    ) -> None:
        self.settings, self.preparation, self.lexicon = settings, preparation, lexicon
        self.parameters, self.examples, self.log_joint = parameters, examples, log_joint
        self.merges = tuple(merges)
        self._reader = Reader(settings.kind, parameters, settings.priors)

    def groups(self, count: int | None = None) -> Groups:
        """Return which states are only wordings of one step, the most frequent of each first.

        They are merged into ``count`` groups, or, with None, as far as the dialogues speak for it
        (see `rhetorica.dialogue.merge`).
        """
        joined = {state for merge in self.merges for state in merge[:2]}
        return groups_after(sorted(joined or self.examples), self.merges, count)

    def apply(self, dialogues: Iterable[Dialogue], groups: Groups = ()) -> list[Applied]:
        """Find the states of dialogues, with their probabilities.

        Of states in one of the ``groups``, the first stands for all.
        """
        kept = list(dialogues)
        corpus, _ = self.lexicon.encode(kept, self.preparation)
        found = []
        for number, dialogue in enumerate(kept):
            chances = self._reader.states(corpus, number)
            for first, *others in groups:
                chances[:, first] += chances[:, others].sum(axis=1)
                chances[:, others] = 0.0
            found.append(Applied(dialogue, tuple(chances.argmax(axis=1).tolist()), chances))
        return found

    def score(
        self,
        dialogues: Iterable[Dialogue],
        *,
        particles: int = 20,
        orders: int = 100,
        seed: int = 0,
        groups: Groups = (),
    ) -> dict[str, float]:
        """Measure how well the model expects dialogues, and agrees with their acts, if any.

        ``kendall_tau`` is that of the most likely among the true order and ``orders`` random ones
        (none: 0 orders). Words that the model does not know are left out and counted. States in one
        of the ``groups`` are one where they are compared with acts.
        """
        kept = self.preparation.kept(dialogues)
        if not kept:
            raise RhetoricaError(f"no dialogue has {self.preparation.min_turns} turns or more")
        corpus, unknown = self.lexicon.encode(kept, self.preparation)
        rng = np.random.default_rng(seed)
        logs = self._reader.log_likelihoods(corpus, rng=rng, particles=particles)
        words = len(corpus.words)
        result: dict[str, float] = {
            "dialogues": len(kept),
            "utterances": corpus.n_utterances,
            "words": words,
            "unknown_words": unknown,
            "log_likelihood": float(logs.sum()),
            "log_likelihood_per_word": float(logs.sum() / max(1, words)),
            "perplexity": float(np.exp(-logs.sum() / max(1, words))),
        }
        if orders:
            taus = self.order_taus(corpus, orders=orders, rng=rng)
            if len(taus):
                result["kendall_tau"] = float(np.mean(taus))
        acts = [turn.act for dialogue in kept for turn in dialogue.turns]
        if any(acts):
            states = [state for found in self.apply(kept, groups) for state in found.states]
            result |= asdict(agreement(states, acts))
        return result

    def log_likelihoods(
        self, dialogues: Iterable[Dialogue], *, particles: int = 20, seed: int = 0
    ) -> tuple[Floats, Ints]:
        """Return each dialogue's log likelihood, and how many words it has."""
        corpus, _ = self.lexicon.encode(list(dialogues), self.preparation)
        rng = np.random.default_rng(seed)
        lengths = np.diff(corpus.utterances[corpus.dialogues])
        return self._reader.log_likelihoods(corpus, rng=rng, particles=particles), lengths

    def order_scores(self, corpus: Corpus, number: int, orders: NDArray[np.int64]) -> Floats:
        """Return the log probability of each of these orders of a dialogue's utterances."""
        return self._reader.order_scores(corpus, number, orders)

    def order_taus(self, corpus: Corpus, *, orders: int, rng: np.random.Generator) -> list[float]:
        """Return, for each dialogue of three utterances or more, how true its best order is."""
        taus = []
        for number in range(corpus.n_dialogues):
            n = int(corpus.dialogues[number + 1] - corpus.dialogues[number])
            if n < 3:
                continue
            tried = np.array([np.arange(n), *(rng.permutation(n) for _ in range(orders))])
            scores = self.order_scores(corpus, number, tried)
            taus.append(kendall_tau(tried[int(scores.argmax())].tolist()))
        return taus

    def state(self) -> State:
        """Return all that a folder must hold to make this again."""
        settings = {
            "fit": asdict(self.settings),
            "preparation": asdict(self.preparation),
            "log_joint": self.log_joint,
            "merges": self.merges,
        }
        lexicon = {
            "words": self.lexicon.words,
            "speakers": self.lexicon.speakers,
            "examples": {
                state: [[turn.speaker, turn.text, turn.entities] for turn in turns]
                for state, turns in self.examples.items()
            },
        }
        return State(
            Config(kind="dialogue", name=self.name, settings=settings),
            {f.name: getattr(self.parameters, f.name) for f in fields(Parameters)},
            {"lexicon.json": json.dumps(lexicon, ensure_ascii=False).encode("utf-8")},
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make it again."""
        data: Any = state.config.settings
        lexicon = json.loads(state.file("lexicon.json"))
        settings = {**data["fit"], "priors": Priors(**data["fit"]["priors"])}
        examples = {
            int(state): tuple(
                Turn(speaker, text, (), tuple(Entity(*entity) for entity in entities))
                for speaker, text, entities in turns
            )
            for state, turns in lexicon["examples"].items()
        }
        return cls(
            Settings(**settings),
            Preparation.from_json(data["preparation"]),
            Lexicon(lexicon["words"], lexicon["speakers"]),
            Parameters(**state.arrays),
            examples,
            data["log_joint"],
            # Folders of earlier versions have none.
            [Merge(*merge) for merge in data.get("merges", ())],
        )
