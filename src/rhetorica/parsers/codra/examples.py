"""Training data of CODRA's models: segments of gold trees, with the labels of their joins."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rhetorica.parsers.codra.features import ChainKind, Facts
from rhetorica.parsers.codra.sentence import Example
from rhetorica.parsers.codra.stages import LONGEST
from rhetorica.parsers.codra.units import Layout, runs
from rhetorica.parses import Parse
from rhetorica.trees import Label, RSTTree

Ints = npt.NDArray[np.int64]

NOT_JOINED = Label.read(("", ""))
"""The first label: of two units that are no join of the tree."""

WINDOW_EDUS = 10
"""Longer windows of two sentences are left out of training, unless told: few, with most joins."""
TREE_UNITS = 90
"""A document with more units gives sub-trees of its gold tree up to this size, unless told."""
ONE_STAGE_EDUS = 160


def label_names(parses: Sequence[Parse]) -> list[Label]:
    """Return the labels of gold trees, by relation, after the one for "not joined"."""
    found = {join.label for parse in parses for join in parse.tree.joins}
    return [NOT_JOINED, *sorted(found, key=lambda label: (label.relation, label.nuclearity))]


@dataclass(frozen=True)
class Lessons:
    """Gold analyses, and the training data that they give.

    ``chains`` and ``phrases`` are those of `Facts.of`. Windows of more than ``window_edus`` EDUs
    are left out, and of documents with more than ``tree_units`` units what lies above sub-trees of
    that size. The last ``others`` of the trees are another parser's. Facts are collected when first
    asked for.
    """

    parses: Sequence[Parse]
    labels: Sequence[Label]
    chains: ChainKind | None = "graded"
    phrases: bool = False
    window_edus: int = WINDOW_EDUS
    tree_units: int = TREE_UNITS
    others: int = 0

    @cached_property
    def facts(self) -> list[Facts]:
        """The facts of each document."""
        return [
            Facts.of(parse.document, chains=self.chains, phrases=self.phrases)
            for parse in self.parses
        ]

    def sentences(self, *, window: bool = False) -> list[Example]:
        """Return the sentences of each document, or its windows of two sentences.

        A sentence that falls into several sub-trees gives what joins it has.
        """
        examples = []
        for parse, fact in zip(self.parses, self.facts, strict=True):
            sentences = runs(fact.sentences.tolist())
            ranges = sentences
            longest = LONGEST
            if window:
                ranges = [(a[0], b[1]) for a, b in itertools.pairwise(sentences)]
                longest = self.window_edus
            layout = Layout.of([np.arange(a, b + 1) for a, b in ranges if 1 < b - a <= longest])
            examples.append(Example(fact, layout, self._gold(parse, layout)))
        return examples

    def documents(self, *, whole: bool = False) -> list[Example]:
        """Return documents as segments of sub-trees of sentences, or (``whole``) of EDUs.

        Where the gold tree does not keep to a sentence, its largest constituents inside are the
        units.
        """
        examples = []
        own = len(self.parses) - self.others
        for number, (parse, fact) in enumerate(zip(self.parses, self.facts, strict=True)):
            tree = parse.tree
            edges = list(range(tree.n_edus + 1)) if whole else sentence_units(tree, fact)
            for segment in gold_segments(tree, edges, ONE_STAGE_EDUS if whole else self.tree_units):
                layout = Layout.of([segment])
                gold = self._gold(parse, layout)
                examples.append(Example(fact, layout, gold, by_hand=number < own))
        return examples

    def _gold(self, parse: Parse, layout: Layout) -> Ints:
        return gold_labels(parse.tree, layout, self.labels)


def gold_labels(tree: RSTTree, layout: Layout, labels: Sequence[Label]) -> Ints:
    """Return the label of each join of a layout, 0 for those that are not in the tree.

    A label that is not known counts as one that is never right: its join is left at 0.
    """
    index = {label: number for number, label in enumerate(labels)}
    known = {(join.start, join.split, join.end): index.get(join.label, 0) for join in tree.joins}
    edges = zip(*(edge.tolist() for edge in layout.edges()), strict=True)
    return np.array([known.get(join, 0) for join in edges], np.int64)


def sentence_units(tree: RSTTree, facts: Facts) -> list[int]:
    """Return where the largest constituents inside sentences begin, and the end."""
    ends: dict[int, list[int]] = {}
    for join in tree.joins:
        ends.setdefault(join.start, []).append(join.end)
    edges = [0]
    for start, end in runs(facts.sentences.tolist()):
        at = start
        while at < end:
            at = max((e for e in ends.get(at, []) if e <= end), default=at + 1)
            edges.append(at)
    return edges


def gold_segments(tree: RSTTree, edges: Sequence[int], largest: int) -> list[list[int]]:
    """Return the largest sub-trees of a tree with at most so many units, as their units' edges."""
    place = {edge: at for at, edge in enumerate(edges)}
    splits = {(join.start, join.end): join.split for join in tree.joins}
    found = []
    todo = [(0, tree.n_edus)]
    while todo:
        start, end = todo.pop()
        if start not in place or end not in place or place[end] - place[start] < 2:
            continue
        if place[end] - place[start] <= largest:
            found.append(list(edges[place[start] : place[end] + 1]))
        else:
            split = splits[start, end]
            todo += [(split, end), (start, split)]
    return found
