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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.decode import Bracketing, cky, cky_kbest, unpack_splits
from rhetorica.parsers.codra.features import Facts
from rhetorica.parsers.codra.sentence import SentenceModel
from rhetorica.parsers.codra.units import Layout, best_joins, join_numbers, runs

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LONGEST = 30
"""Longer sentences (in EDUs) are cut for the dynamic CRF, and put together by the second stage."""
_JOINS_AT_ONCE = 50_000
"""So many joins are scored at a time, to bound memory."""


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


@dataclass(frozen=True)
class TwoPasses:
    """A model with sub-structural features, and the one without that finds sub-structures."""

    first: SentenceModel
    second: SentenceModel

    def log_probabilities(self, facts: Facts, layout: Layout) -> Floats:
        """Return log P(R, S) of all joins, (joins, labels)."""
        return self.second.log_probabilities(facts, layout, pass_roots(self.first, facts, layout))


Passes = SentenceModel | TwoPasses


def parse_ranges(model: Passes, facts: Facts, ranges: Sequence[tuple[int, int]]) -> list[Analysis]:
    """Parse ranges of EDUs, each by itself, and return their best trees."""
    return [best for [best] in _parse(model, facts, ranges, _best)]


def parse_kbest(
    model: Passes, facts: Facts, ranges: Sequence[tuple[int, int]], k: int
) -> list[list[Analysis]]:
    """Return the k best trees, with labels, of ranges of EDUs."""
    return _parse(model, facts, ranges, partial(_kbest, k=k))


def one_sentence_one_subtree(model: Passes, facts: Facts) -> list[Analysis]:
    """Parse every sentence by itself."""
    return parse_ranges(model, facts, pieces(facts))


def sliding_window(model: Passes, facts: Facts) -> list[Analysis]:
    """Parse windows of two sentences, and choose one of the two analyses of each sentence."""
    return [consolidate(*both) for both in _windows(model, facts)]


def three_way(alone: Passes, window: Passes, facts: Facts) -> list[Analysis]:
    """Let 1S-1S and the two windows of each sentence vote."""
    single = one_sentence_one_subtree(alone, facts)
    return [vote(one, *both) for one, both in zip(single, _windows(window, facts), strict=True)]


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


def _windows(model: Passes, facts: Facts) -> list[tuple[Analysis, Analysis]]:
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
    trees = dict(zip(ranges, parse_ranges(model, facts, ranges), strict=True))
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


def _parse(
    model: Passes,
    facts: Facts,
    ranges: Sequence[tuple[int, int]],
    decode: Callable[[Floats], list[Bracketing]],
) -> list[list[Analysis]]:
    """Score the joins of ranges, as many at once as fit, then let a decoder find their trees."""
    return [
        trees for some in _groups(ranges) for trees in _parse_at_once(model, facts, some, decode)
    ]


def _groups(ranges: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Cut a list of ranges where they have too many joins together."""
    group: list[tuple[int, int]] = []
    joins = 0
    for start, end in ranges:
        own = ((end - start) ** 3 - (end - start)) // 6
        if group and joins + own > _JOINS_AT_ONCE:
            yield group
            group, joins = [], 0
        group.append((start, end))
        joins += own
    if group:
        yield group


def _parse_at_once(
    model: Passes,
    facts: Facts,
    ranges: Sequence[tuple[int, int]],
    decode: Callable[[Floats], list[Bracketing]],
) -> list[list[Analysis]]:
    layout = Layout.of([np.arange(start, end + 1) for start, end in ranges])
    logs = model.log_probabilities(facts, layout)
    found = []
    for segment, (start, end) in enumerate(ranges):
        here = logs[layout.joins_of(segment)]
        trees = decode(here) if end - start > 1 else [Bracketing([], 0.0, [])]
        found.append([_analysis(start, end, here, tree) for tree in trees])
    return found


def _best(logs: Floats) -> list[Bracketing]:
    labels = logs[:, 1:].argmax(axis=1) + 1
    tree = cky(logs[np.arange(len(logs)), labels])
    numbers = join_numbers(len(tree.joins) + 1, tree.joins)
    return [tree._replace(labels=labels[numbers].tolist())]


def _kbest(logs: Floats, k: int) -> list[Bracketing]:
    table = np.stack(
        [unpack_splits(logs[:, label], fill=-np.inf) for label in range(1, logs.shape[1])], axis=3
    )
    trees = cky_kbest(np.zeros(len(logs)), k, labels=table)
    return [tree._replace(labels=[label + 1 for label in tree.labels]) for tree in trees]


def _analysis(start: int, end: int, logs: Floats, tree: Bracketing) -> Analysis:
    """Count EDUs from the text's first, and note what all labels of each join get."""
    rows = logs[join_numbers(end - start, tree.joins)].tolist()
    nodes = tuple(
        Node(start + i, start + k, start + j, label, tuple(row))
        for (i, k, j), label, row in zip(tree.joins, tree.labels, rows, strict=True)
    )
    return Analysis((start, end), nodes)
