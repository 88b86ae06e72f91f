"""The multi-sentential model, over units that are sub-trees of sentences.

Two ways to learn it from the same features:

- ``joins`` is the paper's: a CRF of two nodes, R and S, on every pair of adjacent units (equations
  5 and 6), trained on the joins of gold trees and as many others, drawn at random. The decoder
  multiplies P(R, S = 1).
- ``trees`` is ours: structure scores from the likelihood of whole trees (`treecrf`), relations
  given the join. The decoder multiplies the probabilities of spans, summed over trees, and leaves
  relations out (the article's equation 11, which it faults): they are chosen afterwards, as that
  finds better trees. A k-best list is ranked with them (`DocumentModel.labelled`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rhetorica.decode import Bracketing, cky, cky_kbest, inside_outside
from rhetorica.features.ngrams import NGramDictionary
from rhetorica.learn.hashing import Vocabulary, matrix, prune, sum_rows
from rhetorica.learn.links import log_softmax
from rhetorica.learn.softmax import fit_softmax
from rhetorica.learn.treecrf import TreeExample, fit_trees, join_scores
from rhetorica.parsers.codra.features import DOCUMENT, Distance, Facts, document_attributes
from rhetorica.parsers.codra.rows import Features, Template
from rhetorica.parsers.codra.sentence import BITS, Example, balanced, ngram_dictionary, templates
from rhetorica.parsers.codra.units import Layout, best_joins, join_numbers, joins, unit_number

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Objective = Literal["joins", "trees"]

SMALLEST = 1e-9
"""Probabilities of spans are kept at least so far from 0 and 1."""
BLOCK_JOINS = 100_000
"""So many joins are scored at a time, to bound memory."""


@dataclass(frozen=True)
class Chart:
    """Scores of the joins of one segment, ready for the decoders.

    ``split`` are log probabilities of joins with their best label; or, where these are not to be
    had, ``span`` are log probabilities of spans (bounds x bounds).
    """

    features: Features
    split: Floats | None
    span: Floats | None = None

    @property
    def size(self) -> int:
        """How many base units there are."""
        return self.features.layout.size(0)

    def best(self) -> Bracketing:
        """Return the best tree over base units."""
        return cky(self.split, self.span)

    def kbest(self, k: int) -> list[Bracketing]:
        """Return the k best trees."""
        return cky_kbest(self.split, k, self.span)

    def best_joins(self) -> Ints:
        """Return the top join of each unit's best tree, by unit number; -1 for base units."""
        scores = np.zeros(self.features.layout.n_joins) if self.split is None else self.split
        if self.span is not None:
            start, _, end = joins(self.size)
            scores = scores + self.span[start, end]
        return best_joins(scores, self.size)

    def numbers(self, places: Sequence[tuple[int, int, int]]) -> Ints:
        """Return the numbers of joins of base units."""
        return join_numbers(self.size, places)


@dataclass
class DocumentModel:
    """Scores every join of units across sentences; learned by `fit`."""

    labels: int
    _: KW_ONLY
    groups: Sequence[str]
    objective: Objective = "trees"
    l2: float = 1.0
    label_l2: float = 1.0
    min_count: int = 5
    ngram_size: int = 600
    ngram_share: float = 0.0
    boundaries: bool = False
    distance: Distance = "sentences"
    iterations: int = 60
    seed: int = 0

    @property
    def templates(self) -> list[Template]:
        """The templates of the chosen groups."""
        return templates(DOCUMENT, self.groups, boundaries=self.boundaries)

    def fit(
        self, examples: Sequence[Example], *, progress: Callable[[int, float], None] | None = None
    ) -> DocumentModel:
        """Learn from gold labels of joins, one segment an example.

        With the likelihood of trees, structure is learned from trees by hand alone: those of
        another parser teach relations, but make spans across sentences worse (docs/codra.md).
        """
        rng = np.random.default_rng(self.seed)
        samples = [balanced(example.gold, rng) for example in examples]
        self.ngrams_ = ngram_dictionary(
            examples, samples, self.labels, self.ngram_size, self.min_count, self.ngram_share
        )
        rows = []
        for example, chosen in zip(examples, samples, strict=True):
            features = self._features(example.facts, example.layout.only(chosen), example.roots)
            rows.append(features.select(np.arange(len(chosen))))
        self.vocabulary_ = Vocabulary.of(rows, BITS, min_count=self.min_count)
        every = matrix(self.vocabulary_.table[np.concatenate(rows)], len(self.vocabulary_))
        gold = np.concatenate([e.gold[chosen] for e, chosen in zip(examples, samples, strict=True)])
        if self.objective == "joins":
            self.weights_ = fit_softmax(
                every, gold, self.labels, l2=self.l2, iterations=self.iterations, progress=progress
            )
            self.structure_ = np.zeros(0)
            return self
        there = gold > 0
        given_join = fit_softmax(
            every[there], gold[there] - 1, self.labels - 1, l2=self.label_l2, iterations=60
        )
        self.weights_ = np.pad(given_join, ((0, 0), (1, 0)))
        data = [
            TreeExample(
                self._features(e.facts, e.layout, e.roots).map(self.vocabulary_).blocks, e.gold > 0
            )
            for e in examples
            if e.by_hand
        ]
        self.structure_ = fit_trees(
            data, len(self.vocabulary_), l2=self.l2, iterations=self.iterations, progress=progress
        )
        return self

    def _features(self, facts: Facts, layout: Layout, roots: Ints | None) -> Features:
        attributes = document_attributes(facts, layout, self.ngrams_, roots, self.distance)
        return Features.of(attributes, self.templates, BITS)

    def chart(self, facts: Facts, layout: Layout, roots: Ints | None = None) -> Chart:
        """Score all joins of a layout of one segment."""
        features = self._features(facts, layout, roots).map(self.vocabulary_)
        if self.objective == "joins":
            best = [
                log_softmax(scores.astype(np.float64))[:, 1:].max(axis=1)
                for scores in features.score_blocks(self.weights_, BLOCK_JOINS)
            ]
            return Chart(features, np.concatenate([np.zeros(0), *best]))
        scores = join_scores(features.blocks, self.structure_)
        _, spans, _ = inside_outside(scores)
        return Chart(features, None, np.log(np.clip(spans, SMALLEST, 1 - SMALLEST)))

    def labelled(self, chart: Chart) -> Chart:
        """Return the chart with the best label of each join, so that trees are ranked with them."""
        if self.objective == "joins":
            return chart
        best = [
            log_softmax(scores[:, 1:].astype(np.float64)).max(axis=1)
            for scores in chart.features.score_blocks(self.weights_, BLOCK_JOINS)
        ]
        return Chart(chart.features, np.concatenate([np.zeros(0), *best]), chart.span)

    def log_probabilities(self, chart: Chart, numbers: Ints) -> Floats:
        """Return log P(R, S) of some joins, (joins, labels).

        With ``trees``, S = 1 means that the range is a span of the tree.
        """
        scores = sum_rows(self.weights_, chart.features.select(numbers)).astype(np.float64)
        if self.objective == "joins":
            return log_softmax(scores)
        logs = np.empty_like(scores)
        layout = chart.features.layout
        bounds = layout.bounds[0]
        start = np.searchsorted(bounds, layout.unit_starts[layout.left[numbers]])
        end = np.searchsorted(bounds, layout.unit_ends[layout.right[numbers]])
        if chart.span is None:
            raise ValueError("this chart has no span probabilities")
        inside = chart.span[start, end]
        logs[:, 0] = np.log1p(-np.exp(inside))
        logs[:, 1:] = log_softmax(scores[:, 1:]) + inside[:, None]
        return logs

    def prune(self, threshold: float) -> None:
        """Drop small weights."""
        tables = [self.weights_]
        if len(self.structure_):
            tables.append(self.structure_[:, None].astype(np.float32))
        self.vocabulary_, kept = prune(self.vocabulary_, tables, threshold)
        self.weights_ = kept[0]
        if len(self.structure_):
            self.structure_ = kept[1][:, 0].astype(np.float64)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what was learned, to be saved."""
        return {
            "hashes": self.vocabulary_.hashes,
            "weights": self.weights_,
            "structure": self.structure_.astype(np.float32),
            **self.ngrams_.to_arrays(),
        }

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> DocumentModel:
        """Take over what was saved."""
        self.vocabulary_ = Vocabulary(arrays["hashes"], BITS)
        self.weights_ = arrays["weights"].astype(np.float32)
        self.structure_ = arrays["structure"].astype(np.float64)
        self.ngrams_ = NGramDictionary.from_arrays(arrays)
        return self


def unit_roots(model: DocumentModel, chart: Chart, known: Mapping[tuple[int, int], int]) -> Ints:
    """Return the root label of every unit: of base units as known, of others by a first pass.

    For a unit of several base units, this is the label of the best join by which the chart makes
    it. ``known`` are labels of EDU ranges.
    """
    layout = chart.features.layout
    n = chart.size
    best = chart.best_joins()
    units = np.flatnonzero(best >= 0)
    roots = np.zeros(len(layout.unit_starts), np.int64)
    logs = model.log_probabilities(chart, best[units])
    roots[units] = logs[:, 1:].argmax(axis=1) + 1
    places = np.arange(n)
    roots[unit_number(places, places + 1)] = [
        known.get(edges, 0) for edges in pairwise(layout.bounds[0].tolist())
    ]
    return roots
