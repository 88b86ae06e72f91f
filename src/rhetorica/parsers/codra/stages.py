"""From EDUs to sub-trees of sentences, and from these to the document's tree (section 4.3).

- `one_sentence_one_subtree` (1S-1S): every sentence is parsed by itself.
- `sliding_window`: every two neighbouring sentences are parsed together; each sentence then has
  two analyses, of which three rules choose one. It may fall into several sub-trees ("leaky").
- `three_way`: the combination that the article calls promising (section 6.4.3): 1S-1S and both
  windows vote. A sentence falls apart only if both windows say so; otherwise the tree that two
  of the three agree on is taken, and where there is none, the most probable.

An `Analysis` is a row of sub-trees over adjacent EDUs, with a log probability.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.decode import cky, cky_kbest, unpack_splits
from rhetorica.parsers.codra.features import Facts
from rhetorica.parsers.codra.sentence import SentenceModel
from rhetorica.parsers.codra.units import Layout, best_joins, join_numbers, runs

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LONGEST = 30
"""Longer sentences (in EDUs) are cut for the dynamic CRF, and put together by the second stage."""


class Node(NamedTuple):
    """A join of a tree with its label and the log probabilities of all labels (0: not joined)."""

    start: int
    split: int
    end: int
    label: int
    logs: tuple[float, ...]

    @property
    def score(self) -> float:
        """The log probability of its join and label."""
        return self.logs[self.label]


class Analysis(NamedTuple):
    """One or more sub-trees that cover the EDUs between the first and the last of ``edges``."""

    edges: tuple[int, ...]
    nodes: tuple[Node, ...]

    @property
    def score(self) -> float:
        """The log probability: the sum over nodes."""
        return sum(node.score for node in self.nodes)

    @property
    def shape(self) -> tuple[tuple[int, int, int, int], ...]:
        """What makes two analyses the same: joins and labels."""
        return tuple(node[:4] for node in self.nodes)


def pieces(facts: Facts, *, longest: int = LONGEST) -> list[tuple[int, int]]:
    """Return the EDU ranges of sentences; those longer than the limit are cut in equal parts."""
    found = []
    for start, end in runs(facts.sentences.tolist()):
        parts = -(-(end - start) // longest)
        cuts = [start + (end - start) * part // parts for part in range(parts + 1)]
        found += list(itertools.pairwise(cuts))
    return found


def parse_ranges(
    model: SentenceModel,
    facts: Facts,
    ranges: Sequence[tuple[int, int]],
    roots: SentenceModel | None = None,
) -> list[Analysis]:
    """Parse ranges of EDUs, each by itself, and return their best trees.

    With ``roots``, a model without sub-structural features, this is the second of two passes.
    """
    layout, logs = _scored(model, facts, ranges, roots)
    return [_best(layout, logs, segment) for segment in range(len(ranges))]


def parse_kbest(
    model: SentenceModel,
    facts: Facts,
    ranges: Sequence[tuple[int, int]],
    k: int,
    roots: SentenceModel | None = None,
) -> list[list[Analysis]]:
    """Return the k best trees, with labels, of ranges of EDUs."""
    layout, logs = _scored(model, facts, ranges, roots)
    return [_kbest(layout, logs, segment, k) for segment in range(len(ranges))]


def one_sentence_one_subtree(
    model: SentenceModel, facts: Facts, roots: SentenceModel | None = None
) -> list[Analysis]:
    """Parse every sentence by itself."""
    return parse_ranges(model, facts, pieces(facts), roots)


def sliding_window(
    model: SentenceModel, facts: Facts, roots: SentenceModel | None = None
) -> list[Analysis]:
    """Parse windows of two sentences, and choose one of the two analyses of each sentence."""
    return [consolidate(*both) for both in _windows(model, facts, roots)]


def three_way(
    alone: SentenceModel,
    window: SentenceModel,
    facts: Facts,
    *,
    alone_roots: SentenceModel | None = None,
    window_roots: SentenceModel | None = None,
) -> list[Analysis]:
    """Let 1S-1S and the two windows of each sentence vote."""
    single = one_sentence_one_subtree(alone, facts, alone_roots)
    return [
        vote(first, *both)
        for first, both in zip(single, _windows(window, facts, window_roots), strict=True)
    ]


def consolidate(before: Analysis, after: Analysis) -> Analysis:
    """Choose between the analyses of a sentence in the windows with the one before and after it.

    Same in both: that one. Different, but one tree in both: the more probable. Cross (several
    sub-trees in either): the one with more sub-trees; of equals, the more probable.
    """
    if before.shape == after.shape and before.edges == after.edges:
        return before
    if len(before.edges) != len(after.edges):
        return before if len(before.edges) > len(after.edges) else after
    return before if before.score >= after.score else after


def vote(alone: Analysis, before: Analysis, after: Analysis) -> Analysis:
    """Choose one of three analyses of a sentence; ``alone`` is always a single tree."""
    if len(before.edges) > 2 and len(after.edges) > 2:
        return consolidate(before, after)
    if before.shape == after.shape and len(before.edges) == 2:
        return before
    # Windows see more, but say less of labels: a tree of the sentence alone needs one witness or
    # the higher probability.
    whole = [one for one in (before, after) if len(one.edges) == 2]
    if any(one.shape == alone.shape for one in whole):
        return alone
    return max([alone, *whole], key=lambda one: one.score)


def _windows(
    model: SentenceModel, facts: Facts, roots: SentenceModel | None
) -> list[tuple[Analysis, Analysis]]:
    """Return the two analyses of each sentence; both are the same where it has one window only.

    That is so at the ends of a text, and beside a sentence that would make the window longer than
    `LONGEST`; a sentence without any window is parsed by itself.
    """
    sentences = pieces(facts)
    windows = {
        at: (a[0], b[1])
        for at, (a, b) in enumerate(itertools.pairwise(sentences))
        if b[1] - a[0] <= LONGEST
    }
    chosen = []
    for at, sentence in enumerate(sentences):
        around = [windows[place] for place in (at - 1, at) if place in windows] or [sentence]
        chosen.append((around[0], around[-1]))
    ranges = sorted({window for both in chosen for window in both})
    trees = dict(zip(ranges, parse_ranges(model, facts, ranges, roots), strict=True))
    return [
        (restrict(trees[before], *sentence), restrict(trees[after], *sentence))
        for sentence, (before, after) in zip(sentences, chosen, strict=True)
    ]


def restrict(analysis: Analysis, start: int, end: int) -> Analysis:
    """Keep the sub-trees of an analysis that lie within a range of EDUs."""
    inside = tuple(node for node in analysis.nodes if start <= node.start and node.end <= end)
    edges = [start]
    tops: dict[int, int] = {}
    for node in inside:
        tops[node.start] = max(node.end, tops.get(node.start, 0))
    while edges[-1] < end:
        edges.append(tops.get(edges[-1], edges[-1] + 1))
    return Analysis(tuple(edges), inside)


def pass_roots(model: SentenceModel, facts: Facts, layout: Layout) -> Ints:
    """Return the root label of the best sub-tree over each unit by a first pass; 0 for EDUs."""
    logs = model.log_probabilities(facts, layout)[:, 1:]
    found = np.zeros(len(layout.unit_starts), np.int64)
    for segment in range(len(layout.bounds)):
        here = logs[layout.joins_of(segment)]
        if not len(here):
            continue
        best = best_joins(here.max(axis=1), layout.size(segment))
        units = np.flatnonzero(best >= 0)
        found[layout.unit_offsets[segment] + units] = here[best[units]].argmax(axis=1) + 1
    return found


def _scored(
    model: SentenceModel,
    facts: Facts,
    ranges: Sequence[tuple[int, int]],
    roots: SentenceModel | None,
) -> tuple[Layout, Floats]:
    layout = Layout.of([np.arange(start, end + 1) for start, end in ranges])
    known = pass_roots(roots, facts, layout) if roots else None
    return layout, model.log_probabilities(facts, layout, known)


def _best(layout: Layout, logs: Floats, segment: int) -> Analysis:
    n = layout.size(segment)
    edges = (int(layout.bounds[segment][0]), int(layout.bounds[segment][-1]))
    if n < 2:
        return Analysis(edges, ())
    here = logs[layout.joins_of(segment)]
    labels = here[:, 1:].argmax(axis=1) + 1
    tree = cky(here[np.arange(len(here)), labels])
    numbers = join_numbers(n, tree.joins)
    return _analysis(edges, here, tree.joins, numbers, labels[numbers].tolist())


def _kbest(layout: Layout, logs: Floats, segment: int, k: int) -> list[Analysis]:
    n = layout.size(segment)
    edges = (int(layout.bounds[segment][0]), int(layout.bounds[segment][-1]))
    if n < 2:
        return [Analysis(edges, ())]
    here = logs[layout.joins_of(segment)]
    table = np.stack(
        [unpack_splits(here[:, label], fill=-np.inf) for label in range(1, here.shape[1])], axis=3
    )
    found = []
    for tree in cky_kbest(np.zeros(len(here)), k, labels=table):
        numbers = join_numbers(n, tree.joins)
        labels = [label + 1 for label in tree.labels]
        found.append(_analysis(edges, here, tree.joins, numbers, labels))
    return found


def _analysis(
    edges: tuple[int, int],
    logs: Floats,
    places: Sequence[tuple[int, int, int]],
    numbers: Ints,
    labels: Sequence[int],
) -> Analysis:
    base = edges[0]
    nodes = tuple(
        Node(base + i, base + k, base + j, label, tuple(logs[number].tolist()))
        for (i, k, j), number, label in zip(places, numbers, labels, strict=True)
    )
    return Analysis(edges, nodes)
