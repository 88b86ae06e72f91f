"""The intra-sentential model: the dynamic CRF over the sequences of Algorithm 1.

Without the chain (``chain=False``) it is the simplified CRF on all joins, trained on as many
negative as positive examples: the paper's CRF-NC. It sees the same features, those of neighbouring
pairs among them: its neighbours are those of the row in which the dynamic CRF reads a join.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.features.ngrams import SLOTS, EdgeGrams, NGramCounts, NGramDictionary
from rhetorica.learn.crf import Potentials, Sequences, fit_chain, log_marginals
from rhetorica.learn.hashing import Vocabulary, matrix, prune
from rhetorica.learn.links import log_softmax
from rhetorica.learn.softmax import fit_softmax
from rhetorica.parsers.codra.features import (
    BOUNDARIES,
    CONTEXT,
    SENTENCE,
    WORDS,
    Facts,
    sentence_attributes,
)
from rhetorica.parsers.codra.rows import Features, Template, choose
from rhetorica.parsers.codra.units import Layout

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]
Arrays = Mapping[str, npt.NDArray[Any]]

BITS = 22


@dataclass(frozen=True)
class Example:
    """Segments of one document, with the labels of their joins (0: not joined).

    ``by_hand`` is false where another parser has made the tree.
    """

    facts: Facts
    layout: Layout
    gold: Ints
    roots: Ints | None = None
    by_hand: bool = True


@dataclass
class SentenceModel:
    """Gives every join inside a segment its probabilities; learned by `fit`."""

    labels: int
    _: KW_ONLY
    groups: Sequence[str]
    chain: bool = True
    l2: float = 0.1
    min_count: int = 3
    context_count: int = 5
    ngram_size: int = 600
    ngram_share: float = 0.0
    boundaries: bool = False
    iterations: int = 100
    seed: int = 0

    @property
    def templates(self) -> list[Template]:
        """The templates of the chosen groups."""
        return templates(SENTENCE, self.groups, boundaries=self.boundaries)

    @property
    def context_templates(self) -> list[Template]:
        """The templates of neighbouring pairs; none if context is off."""
        if "context" not in self.groups:
            return []
        known = {template.text for template in self.templates}
        return [Template("context", text) for text in CONTEXT if text in known]

    def _features(
        self, facts: Facts, layout: Layout, roots: Ints | None
    ) -> tuple[Features, Features]:
        attributes = sentence_attributes(facts, layout, self.ngrams_, roots)
        return (
            Features.of(attributes, self.templates, BITS),
            Features.of(attributes, self.context_templates, BITS),
        )

    def fit(
        self, examples: Sequence[Example], *, progress: Callable[[int, float], None] | None = None
    ) -> SentenceModel:
        """Learn from gold labels of joins."""
        samples = [np.arange(example.layout.n_joins) for example in examples]
        self.ngrams_ = ngram_dictionary(
            examples, samples, self.labels, self.ngram_size, self.min_count, self.ngram_share
        )
        own, context = [], []
        for example in examples:
            first, second = self._features(example.facts, example.layout, example.roots)
            every = np.arange(example.layout.n_joins)
            own.append(first.select(every))
            context.append(second.select(every))
        gold = np.concatenate([example.gold for example in examples])
        self.vocabulary_ = Vocabulary.of(own, BITS, min_count=self.min_count)
        self.context_vocabulary_ = Vocabulary.of(context, BITS, min_count=self.context_count)
        rows = matrix(self.vocabulary_.table[np.concatenate(own)], len(self.vocabulary_))
        around = matrix(
            self.context_vocabulary_.table[np.concatenate(context)], len(self.context_vocabulary_)
        )
        options: dict[str, Any] = {
            "l2": self.l2, "iterations": self.iterations, "progress": progress
        }  # fmt: skip
        sequences = Sequences.joined(
            [(example.layout.sequences(), example.layout.n_joins) for example in examples]
        )
        if self.chain:
            tables = fit_chain(rows, around, sequences, gold, self.labels, **options)
        else:
            tables = self._fit_alone(rows, around, sequences, gold, options)
        self.tables_ = tables
        return self

    def _fit_alone(
        self, rows: Any, around: Any, sequences: Sequences, gold: Ints, options: dict[str, Any]
    ) -> list[Weights]:
        """Learn from single joins, with the features of the pairs before and after them."""
        from scipy.sparse import hstack, vstack

        chosen = balanced(gold, np.random.default_rng(self.seed))
        before, after = neighbours(sequences, len(gold))
        beyond = vstack([around, around[:1] * 0], format="csr") if around.shape[0] else around
        table = hstack([rows[chosen], beyond[before[chosen]], beyond[after[chosen]]], format="csr")
        weights = fit_softmax(table, gold[chosen], self.labels, **options)
        cuts = np.cumsum([rows.shape[1], around.shape[1]])
        none = np.zeros(self.labels, np.float32)
        return [*np.split(weights, cuts), none, none]

    def log_probabilities(self, facts: Facts, layout: Layout, roots: Ints | None = None) -> Floats:
        """Return log P(R, S) of all joins, (joins, labels)."""
        own, around = self._features(facts, layout, roots)
        scores = own.map(self.vocabulary_).scores(self.tables_[0]).astype(np.float64)
        near = around.map(self.context_vocabulary_)
        before, after = (near.scores(table).astype(np.float64) for table in self.tables_[1:3])
        sequences = layout.sequences()
        if not self.chain:
            beyond = np.zeros((1, self.labels))
            places = neighbours(sequences, len(scores))
            for table, place in zip((before, after), places, strict=True):
                scores += np.concatenate([table, beyond])[place]
            return log_softmax(scores)
        chain = (self.tables_[3].astype(np.float64), self.tables_[4].astype(np.float64))
        return log_marginals(Potentials(scores, before, after, *chain), sequences)

    def prune(self, threshold: float) -> None:
        """Drop small weights."""
        own, before, after, enter, leave = self.tables_
        self.vocabulary_, (own,) = prune(self.vocabulary_, [own], threshold)
        self.context_vocabulary_, (before, after) = prune(
            self.context_vocabulary_, [before, after], threshold
        )
        self.tables_ = [own, before, after, enter, leave]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what was learned, to be saved."""
        names = ("own", "before", "after", "enter", "leave")
        return {
            "hashes": self.vocabulary_.hashes,
            "context_hashes": self.context_vocabulary_.hashes,
            **dict(zip(names, self.tables_, strict=True)),
            **self.ngrams_.to_arrays(),
        }

    def restore(self, arrays: Arrays) -> SentenceModel:
        """Take over what was saved."""
        self.vocabulary_ = Vocabulary(arrays["hashes"], BITS)
        self.context_vocabulary_ = Vocabulary(arrays["context_hashes"], BITS)
        names = ("own", "before", "after", "enter", "leave")
        self.tables_ = [arrays[name].astype(np.float32) for name in names]
        self.ngrams_ = NGramDictionary.from_arrays(arrays)
        return self


def templates(
    known: Sequence[Template], groups: Sequence[str], *, boundaries: bool = False
) -> list[Template]:
    """Return the templates of some groups; with ``boundaries``, the article's unigrams."""
    chosen = [Template("bias", "P:one"), *choose(known, groups)]
    if not boundaries:
        return chosen
    return [t for t in chosen if t.text not in WORDS] + choose(BOUNDARIES, groups)


def neighbours(sequences: Sequences, count: int) -> tuple[Ints, Ints]:
    """Return the items before and after each item where it is read; ``count`` stands for none."""
    offsets, items, reads = sequences
    before, after = (np.full(count, count, np.int64) for _ in range(2))
    places = np.flatnonzero(reads)
    starts = np.zeros(len(items) + 1, np.bool_)
    starts[offsets] = True
    inner = places[~starts[places]]
    before[items[inner]] = items[inner - 1]
    inner = places[~starts[places + 1]]
    after[items[inner]] = items[inner + 1]
    return before, after


def ngram_dictionary(
    examples: Sequence[Example],
    samples: Sequence[Ints],
    labels: int,
    size: int,
    min_documents: int,
    share: float = 0.0,
) -> NGramDictionary:
    """Rank the N-grams of some joins by mutual information; keep those of enough documents.

    With a ``share``, as in the article: all single words and tags, and that share of the longer
    N-grams, ranked by the entropy of labels given them (its equation 7).
    """
    counts = NGramCounts(labels)
    documents: dict[int, EdgeGrams] = {}
    for example, chosen in zip(examples, samples, strict=True):
        start, split, end = (edge[chosen] for edge in example.layout.edges())
        counts.add(example.facts.grams, start, split, end, example.gold[chosen])
        documents[id(example.facts)] = example.facts.grams
    if share:
        whole = counts.best(sys.maxsize, ranking="entropy", min_count=1).grams
        return NGramDictionary(
            tuple(
                row if SLOTS[at % len(SLOTS)].n == 1 else row[: round(share * len(row))]
                for at, row in enumerate(whole)
            )
        )
    ranked = counts.best(10 * size).grams
    spread: list[Counter[str]] = [Counter() for _ in SLOTS]
    for grams in documents.values():
        for counter, row in zip(spread, grams.grams, strict=True):
            counter.update(set(row))
    kept = [
        tuple(gram for gram in row if spread[at % len(SLOTS)][gram] >= min_documents)[:size]
        for at, row in enumerate(ranked)
    ]
    return NGramDictionary(tuple(kept))


def balanced(gold: Ints, rng: np.random.Generator, ratio: float = 1.0) -> Ints:
    """Choose all positive examples and ``ratio`` times as many negative ones, in order."""
    positive, negative = np.flatnonzero(gold), np.flatnonzero(gold == 0)
    wanted = min(round(ratio * len(positive)), len(negative))
    drawn = rng.choice(negative, wanted, replace=False)
    return np.sort(np.concatenate([positive, drawn]))
