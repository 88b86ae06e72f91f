"""Texts -> words, terms and keywords: fit, apply, keep in a folder.

>>> from rhetorica.words import Text, fit
>>> texts = [Text(f"t{k}", "神经网络学习。网络学习神经网络。", "计算机") for k in range(4)]
>>> model = fit(texts, method="fmm", segmented=[["神经", "网络", "学习"]])
>>> model.cut("学习神经网络。")
['学习', '神经', '网络', '。']
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from rhetorica.document import Span
from rhetorica.errors import RhetoricaError, UnknownName
from rhetorica.files import digest
from rhetorica.models.store import Config, State, Stored
from rhetorica.progress import Event, Tell, nothing
from rhetorica.words.dp4 import Sampler, Scored, Settings
from rhetorica.words.extract import Ranked, candidates, count_with_candidates, is_term, rank
from rhetorica.words.general import WordCounts, clauses_of
from rhetorica.words.hdp import HDPSampler
from rhetorica.words.lattice import Lattice
from rhetorica.words.matching import match_words
from rhetorica.words.segmenter import CRFWords, load
from rhetorica.words.texts import Text

Method = Literal["dp4", "hdp", "crf", "fmm", "rmm"]
METHODS: dict[str, str] = {
    "dp4": "words, terms and keywords learned together (Cao et al. 2014)",
    "hdp": "bigram model with character-wise sampler (Goldwater et al. 2009)",
    "crf": "characters tagged by a CRF trained on the segmented text, or the shipped one",
    "fmm": "forward maximum matching with the words of the segmented text",
    "rmm": "reverse maximum matching",
}
Save = Callable[[dict[str, NDArray[Any]]], object]


@dataclass(frozen=True, slots=True)
class Cut:
    """A text with the ranges of its words and its keywords, strongest first."""

    text: Text
    words: tuple[Span, ...]
    keywords: tuple[Ranked, ...]


class WordsModel(Stored):
    """What was found in a collection: its words, the terms of its domains, keywords of its texts.

    `words` and `cut` apply it to any text.
    """

    name = "collection"
    language = "zh"

    def __init__(
        self,
        method: Method,
        settings: Settings,
        cuts: Sequence[Cut],
        terms: Mapping[str, Sequence[Ranked]],
        counts: WordCounts,
        segmenter: CRFWords | None = None,
    ) -> None:
        self.method, self.settings, self.counts = method, settings, counts
        self.texts = tuple(cuts)
        self.terms = {domain: tuple(rows) for domain, rows in terms.items()}
        self.segmenter = segmenter
        self._vocabulary = frozenset(counts.words)

    def words(self, text: str) -> list[Span]:
        """Return the ranges of the words of a text: all of it but white space."""
        if self.method == "crf":
            return (self.segmenter or load()).words(text)
        if self.method in ("fmm", "rmm"):
            return match_words(text, self._vocabulary, reverse=self.method == "rmm")
        settings = replace(self.settings, neighbours=0)
        lattice = Lattice([text], settings.longest)
        rng = np.random.default_rng(settings.seed)
        sampler = Sampler(lattice, [0], settings, general=self.counts, rng=rng)
        for _ in range(2):  # once more, now that the words of the text itself are known
            sampler.sweep("viterbi")
        [found] = spans_of(lattice, sampler.cuts)
        return found

    def cut(self, text: str) -> list[str]:
        """Cut a text into words."""
        return [text[start:end] for start, end in self.words(text)]

    def state(self) -> State:
        """Return all that a folder must hold to make this again."""
        data = {
            "texts": [
                {
                    **asdict(cut.text),
                    "words": cut.words,
                    "keywords": [astuple(row) for row in cut.keywords],
                }
                for cut in self.texts
            ],
            "terms": {name: [astuple(row) for row in rows] for name, rows in self.terms.items()},
        }
        files: dict[str, bytes | Path] = {
            "collection.json": json.dumps(data, ensure_ascii=False).encode("utf-8")
        }
        if self.segmenter:
            files |= self.segmenter.state().files
        settings = {"method": self.method, "fit": asdict(self.settings)}
        return State(Config("words", self.name, settings), self.counts.arrays(), files)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make it again."""
        data = json.loads(state.file("collection.json"))
        stored: Any = state.config.settings
        own = None
        if "weights.crfsuite.xz" in state.files:
            own = CRFWords.from_state(replace(state, config=Config("words", "crf")))
        cuts = [
            Cut(
                Text(row["id"], row["text"], row["domain"]),
                tuple(Span(*span) for span in row["words"]),
                tuple(Ranked(*one) for one in row["keywords"]),
            )
            for row in data["texts"]
        ]
        terms = {name: [Ranked(*row) for row in rows] for name, rows in data["terms"].items()}
        settings = Settings(**{**stored["fit"], "alpha": tuple(stored["fit"]["alpha"])})
        counts = WordCounts.from_arrays(state.arrays)
        return cls(stored["method"], settings, cuts, terms, counts, own)


def fit(
    texts: Iterable[Text],
    settings: Settings | None = None,
    *,
    method: Method = "dp4",
    segmented: Iterable[Sequence[str]] | None = None,
    segmenter: CRFWords | None = None,
    supervised: bool = True,
    tell: Tell = nothing,
    checkpoint: Save | None = None,
    every: int = 5,
    resume: Mapping[str, NDArray[Any]] | None = None,
) -> WordsModel:
    """Learn the words, terms and keywords of texts.

    The counts of ``segmented`` (sentences of words) are imposed on the corpus level, and those of
    the texts as ``segmenter`` cuts them. With neither, it is the shipped segmenter's; without
    ``supervised`` none are imposed. The method ``crf`` cuts by ``segmenter`` or, without it, by
    one that it trains on ``segmented``. ``checkpoint`` gets, after each ``every`` sweeps, arrays
    from which ``resume`` goes on: with the same texts, settings and method the result is the same
    as without an interruption.
    """
    settings, kept = settings or Settings(), list(texts)
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)
    if not kept:
        raise RhetoricaError("no texts: nothing to learn from")
    general = segmented is not None or segmenter is not None or supervised
    if not general and method in ("crf", "fmm", "rmm"):
        raise RhetoricaError(f"{method} learns from segmented text: it has no unsupervised form")
    sentences = [list(words) for words in segmented or ()]
    counts = WordCounts.of(sentences)
    if method == "crf":
        if segmenter is None and segmented is not None:
            segmenter = CRFWords().fit(sentences, tell=tell)
        model = WordsModel(method, settings, (), {}, counts, segmenter)
    else:
        if segmenter or (general and segmented is None):
            first = segmenter or load()
            counts += WordCounts.of(_forms(kept, [first.words(text.text) for text in kept]))
        if method in ("dp4", "hdp"):
            return _Workshop(kept, settings, method, counts, tell).run(checkpoint, every, resume)
        model = WordsModel(method, settings, (), {}, counts)
    return _extracted(model, kept, [model.words(text.text) for text in kept])


class _Workshop:
    """Runs the sampler of a method over texts and makes a model of what it finds."""

    def __init__(
        self,
        texts: Sequence[Text],
        settings: Settings,
        method: Method,
        general: WordCounts,
        tell: Tell,
    ) -> None:
        self.texts, self.settings, self.method = texts, settings, method
        self.general, self.tell = general, tell
        self.names = sorted({text.domain for text in texts})
        self.lattice = Lattice([text.text for text in texts], settings.longest)
        numbers = {name: number for number, name in enumerate(self.names)}
        domains = [numbers[text.domain] for text in texts]
        rng = np.random.default_rng(settings.seed)
        if method == "hdp":
            self.sampler: Sampler | HDPSampler = HDPSampler(
                self.lattice, settings, general=general, rng=rng
            )
        else:
            self.sampler = Sampler(self.lattice, domains, settings, general=general, rng=rng)

    @property
    def signature(self) -> str:
        """What a checkpoint must be of to be gone on from."""
        settings = {**asdict(self.settings), "sweeps": 0}
        rows = [asdict(text) for text in self.texts]
        return digest([rows, settings, self.method, self.general.total])

    def run(
        self, checkpoint: Save | None, every: int, resume: Mapping[str, NDArray[Any]] | None
    ) -> WordsModel:
        settings, sampler, done = self.settings, self.sampler, 0
        if resume is not None and str(resume["signature"]) == self.signature:
            done = int(resume["done"])
            sampler.restore(resume)
        atoms = max(1, self.lattice.n_atoms)
        for number in range(done + 1, settings.sweeps + 1):
            # Each sweep has a seed of its own, so that a run can go on from any of them.
            sampler.rng = np.random.default_rng([settings.seed, number])
            log = sampler.sweep()
            if isinstance(sampler, Sampler) and number > settings.settle * settings.sweeps:
                if number - 1 <= settings.settle * settings.sweeps and np.isfinite(settings.join):
                    sampler.join()
                sampler.freeze()
            note = f"log likelihood per character {log / atoms:.3f}"
            self.tell(Event("sweeps", number, settings.sweeps, note))
            if checkpoint and number % every == 0 and number < settings.sweeps:
                state = {"signature": np.array(self.signature), "done": np.array(number)}
                checkpoint(state | sampler.kept())
        if isinstance(sampler, Sampler):
            sampler.rng = np.random.default_rng([settings.seed, settings.sweeps + 1])
            sampler.sweep("viterbi")
        spans = spans_of(self.lattice, sampler.cuts)
        counts = self.general + WordCounts.of(_forms(self.texts, spans))
        model = WordsModel(self.method, settings, (), {}, counts)
        if isinstance(sampler, HDPSampler):
            return _extracted(model, self.texts, spans)
        terms = self._ranked(sampler.termhood(), settings.term_count)
        keywords = self._ranked(sampler.keyness(), 1)
        cuts = [
            Cut(text, tuple(words), keywords.get(number, ()))
            for number, (text, words) in enumerate(zip(self.texts, spans, strict=True))
        ]
        named = {name: terms.get(number, ()) for number, name in enumerate(self.names)}
        return WordsModel(self.method, settings, cuts, named, counts)

    def _ranked(self, rows: Iterable[Scored], least: int) -> dict[int, tuple[Ranked, ...]]:
        """Order scored words by place, strongest first."""
        found: dict[int, list[tuple[float, Ranked]]] = {}
        for row in rows:
            word = self.lattice.name(row.word)
            if row.score > 1 and is_term(word) and row.count >= least:
                weight = row.score
                if self.settings.rank == "gain":
                    weight = row.count * float(np.log(row.score)) * (min(len(word), 4) - 1)
                found.setdefault(row.place, []).append((weight, Ranked(word, row.count, row.score)))
        return {
            place: tuple(one for _, one in sorted(there, key=lambda pair: (-pair[0], pair[1].word)))
            for place, there in found.items()
        }


def spans_of(lattice: Lattice, cuts: NDArray[np.bool_]) -> list[list[Span]]:
    """Return the ranges of the words of each text, its marks included."""
    found, first = [], 0
    for text in lattice.texts:
        spans, start = list(text.marks), 0
        for end in np.flatnonzero(cuts[first : first + len(text.atoms)]).tolist():
            spans.append(Span(text.spans[start].start, text.spans[end].end))
            start = end + 1
        found.append(sorted(spans))
        first += len(text.atoms)
    return found


def _forms(texts: Sequence[Text], spans: Sequence[Sequence[Span]]) -> list[list[str]]:
    return [[text.text[a:b] for a, b in words] for text, words in zip(texts, spans, strict=True)]


def _extracted(
    model: WordsModel, texts: Sequence[Text], spans: Sequence[Sequence[Span]]
) -> WordsModel:
    """Add the terms and keywords of texts that are cut: those of the methods without their own."""
    clauses = [list(clauses_of(words)) for words in _forms(texts, spans)]
    joined = candidates(clause for rows in clauses for clause in rows)
    counted = [count_with_candidates(rows, joined) for rows in clauses]
    domains: dict[str, Counter[str]] = {}
    everywhere: Counter[str] = Counter()
    for text, counts in zip(texts, counted, strict=True):
        domains.setdefault(text.domain, Counter()).update(counts)
        everywhere.update(counts)
    general = Counter(dict(zip(model.counts.words, model.counts.counts.tolist(), strict=True)))
    general.update(everywhere)
    cuts = [
        Cut(text, tuple(words), tuple(rank(counts, general)))
        for text, words, counts in zip(texts, spans, counted, strict=True)
    ]
    least = model.settings.term_count
    terms = {name: rank(counts, general, least=least) for name, counts in sorted(domains.items())}
    return WordsModel(model.method, model.settings, cuts, terms, model.counts, model.segmenter)
