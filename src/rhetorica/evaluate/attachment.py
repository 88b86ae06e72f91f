"""Score discourse dependencies: unlabelled and labelled attachment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from rhetorica.convert import Convention
from rhetorica.evaluate.align import Alignment, align
from rhetorica.evaluate.counts import NOTHING, Counts, Labels
from rhetorica.parses import Parse
from rhetorica.trees import ROOT_RELATION, DepTree


class Arc(NamedTuple):
    """An arc by the character ranges of its ends; the head of the root is None."""

    dependent: tuple[int, int]
    head: tuple[int, int] | None


Arcs: TypeAlias = Mapping[Arc, str]


@dataclass(frozen=True, slots=True)
class AttachmentCounts:
    """Arcs with the right head, and arcs with the right relation besides.

    With gold EDUs every EDU has one arc in either tree, so that precision, recall and F are one
    figure: UAS and LAS.
    """

    unlabelled: Counts = NOTHING
    labelled: Counts = NOTHING

    def __add__(self, other: AttachmentCounts) -> AttachmentCounts:
        return AttachmentCounts(self.unlabelled + other.unlabelled, self.labelled + other.labelled)


def counts(
    gold: Parse,
    pred: Parse,
    *,
    convention: Convention = "star",
    labels: Labels | None = None,
    alignment: Alignment | None = None,
) -> AttachmentCounts:
    """Count the arcs of two dependency trees, which may stand on different EDUs.

    The arc from outside the tree to its root counts like any other, and its relation is always
    ROOT. ``convention`` says how the nuclei of a multinuclear relation hang together when an RST
    tree is turned into dependencies; a tree that was given as dependencies stays as it is.

    >>> from rhetorica import Document
    >>> doc = Document.from_edus(["It is wet", "because it rained", "all day."])
    >>> gold = Parse(doc, DepTree((-1, 0, 1), ("ROOT", "cause", "elaboration")))
    >>> pred = Parse(doc, DepTree((-1, 0, 0), ("ROOT", "result", "elaboration")))
    >>> counts(gold, pred).unlabelled.f1 == 2 / 3, counts(gold, pred).labelled.f1 == 1 / 3
    (True, True)
    """
    alignment = alignment or align(gold.document, pred.document)
    return match(
        arcs(gold.dependencies_as(convention), alignment.gold, labels=labels),
        arcs(pred.dependencies_as(convention), alignment.pred, labels=labels),
    )


def match(gold: Arcs, pred: Arcs) -> AttachmentCounts:
    """Count how far two sets of arcs agree."""
    both = [relation == pred[arc] for arc, relation in gold.items() if arc in pred]
    return AttachmentCounts(
        Counts(len(both), len(gold), len(pred)), Counts(sum(both), len(gold), len(pred))
    )


def arcs(tree: DepTree, bounds: Sequence[int], *, labels: Labels | None = None) -> Arcs:
    """Return the arcs of a tree whose EDU i is the range ``bounds[i]:bounds[i + 1]``."""
    ranges = list(pairwise(bounds))
    found: dict[Arc, str] = {}
    for head, dependent, relation in tree.arcs():
        if head < 0:
            found[Arc(ranges[dependent], None)] = ROOT_RELATION
        else:
            name = labels(relation) if labels else relation
            found[Arc(ranges[dependent], ranges[head])] = name
    return found
