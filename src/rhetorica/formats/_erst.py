"""What eRST has beside the tree, moved from nodes to EDUs: secondary edges and signals.

In dependencies a node is spoken of by its head EDU, so that its signals and its secondary edges
become those of that EDU, as in GUM's ``.rsd`` files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from rhetorica.document import Document
from rhetorica.trees import AnnotatedTree, Signal

Ranges: TypeAlias = tuple[tuple[int, int], ...]
WORDY = frozenset({"dm", "orphan"})
"""Signals that are words (discourse markers): named by the words instead of their subtype."""


class SecondaryArc(NamedTuple):
    """A secondary edge between EDUs; depths tell which of an EDU's nodes are meant.

    A node's depth is the number of times that its head EDU has taken dependents below it.
    """

    head: int
    relation: str
    depth: int
    head_depth: int
    signals: list[Signal]


class Extras(NamedTuple):
    """For each EDU, its secondary arcs to heads and the signals of its own relation."""

    arcs: list[list[SecondaryArc]]
    signals: list[list[Signal]]


def extras(tree: AnnotatedTree) -> Extras:
    """Return the secondary arcs and signals of each EDU, in the order of the annotation."""
    heads, depths = _heads_and_depths(tree)
    signals: list[list[Signal]] = [[] for _ in range(tree.n_edus)]
    of_edge: list[list[Signal]] = [[] for _ in tree.secondary]
    for signal in tree.signals:
        if signal.secondary:
            of_edge[signal.source].append(signal)
        else:
            signals[heads[signal.source]].append(signal)
    arcs: list[list[SecondaryArc]] = [[] for _ in range(tree.n_edus)]
    for edge, own in zip(tree.secondary, of_edge, strict=True):
        arcs[heads[edge.source]].append(
            SecondaryArc(
                heads[edge.target], edge.relation, depths[edge.source], depths[edge.target], own
            )
        )
    return Extras(arcs, signals)


def _heads_and_depths(tree: AnnotatedTree) -> tuple[list[int], list[int]]:
    """Return, for each node, its head EDU and how often that has taken dependents by then."""
    heads, depths = list(range(len(tree.nodes))), [0] * len(tree.nodes)
    taken = [0] * tree.n_edus
    for index in tree.bottom_up:
        if nuclei := tree.nuclei[index]:
            heads[index] = heads[nuclei[0]]
            taken[heads[index]] += len(nuclei) > 1
        depths[index] = taken[heads[index]]
        taken[heads[index]] += len(tree.satellites[index])
    return heads, depths


def signal_text(signal: Signal, document: Document) -> str:
    """Return a signal as ``type-subtype-tokens-status``; tokens are numbered from 1."""
    name = signal.subtype
    if signal.type in WORDY and signal.tokens and max(signal.tokens) < len(document.tokens):
        forms = (document.form(document.tokens[token]) for token in signal.tokens)
        name = " ".join(forms).lower()
    words = format_ranges(merge_ranges((token, token + 1) for token in signal.tokens))
    return f"{signal.type}-{name}-{words or '_'}-{signal.status or '_'}"


def merge_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Join ranges that follow one another."""
    merged: list[tuple[int, int]] = []
    for start, end in ranges:
        if merged and merged[-1][1] == start:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return tuple(merged)


def format_ranges(ranges: Ranges) -> str:
    """Write ranges of words as files have them: numbers from 1, both ends included.

    >>> format_ranges(((87, 93), (102, 103)))
    '88-93,103'
    """
    return ",".join(str(end) if end - start == 1 else f"{start + 1}-{end}" for start, end in ranges)
