"""Score RST trees by their constituents: original Parseval and Marcu's RST-Parseval.

Figures of the two variants are not comparable. With gold EDUs, RST-Parseval counts every leaf as a
span that was found, and spreads one decision over two siblings, so its figures are higher (Morey,
Muller & Asher 2017).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rhetorica.evaluate.align import Alignment, align
from rhetorica.evaluate.counts import NOTHING, Counts, Labels
from rhetorica.parses import Parse
from rhetorica.trees import RSTTree

Variant = Literal["original", "rst"]
Figure = Literal["span", "nuclearity", "relation", "full"]
FIGURES: tuple[Figure, ...] = ("span", "nuclearity", "relation", "full")

Constituents: TypeAlias = Mapping[tuple[int, int], tuple[str, str]]
"""Ranges of characters (white space not counted), each with its nuclearity and relation."""

SPAN = "span"
"""What RST-Parseval calls the relation of the nucleus of a mononuclear relation."""


@dataclass(frozen=True, slots=True)
class ParsevalCounts:
    """Constituents that agree in their range, and in nuclearity, relation or both besides."""

    span: Counts = NOTHING
    nuclearity: Counts = NOTHING
    relation: Counts = NOTHING
    full: Counts = NOTHING

    def __add__(self, other: ParsevalCounts) -> ParsevalCounts:
        return ParsevalCounts(
            self.span + other.span,
            self.nuclearity + other.nuclearity,
            self.relation + other.relation,
            self.full + other.full,
        )

    def figure(self, name: Figure) -> Counts:
        """Return the counts behind one of the four figures."""
        found: Counts = getattr(self, name)
        return found


def counts(
    gold: Parse,
    pred: Parse,
    *,
    variant: Variant = "original",
    labels: Labels | None = None,
    alignment: Alignment | None = None,
) -> ParsevalCounts:
    """Count the constituents of two binary trees, which may stand on different EDUs.

    A document of one EDU has no constituents in either variant.

    >>> from rhetorica import Document, Join
    >>> doc = Document.from_edus(["It is wet", "because it rained."])
    >>> gold = Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "cause"),)))
    >>> pred = Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "result"),)))
    >>> counts(gold, pred).relation, counts(gold, pred, variant="rst").relation
    (Counts(correct=0, gold=1, pred=1), Counts(correct=1, gold=2, pred=2))
    """
    alignment = alignment or align(gold.document, pred.document)
    return match(
        constituents(gold.tree, alignment.gold, variant=variant, labels=labels),
        constituents(pred.tree, alignment.pred, variant=variant, labels=labels),
    )


def match(gold: Constituents, pred: Constituents) -> ParsevalCounts:
    """Count how far two sets of constituents agree."""
    both = [(label, pred[part]) for part, label in gold.items() if part in pred]
    agreeing = (
        len(both),
        sum(a[0] == b[0] for a, b in both),
        sum(a[1] == b[1] for a, b in both),
        sum(a == b for a, b in both),
    )
    return ParsevalCounts(*(Counts(correct, len(gold), len(pred)) for correct in agreeing))


def constituents(
    tree: RSTTree,
    bounds: Sequence[int],
    *,
    variant: Variant = "original",
    labels: Labels | None = None,
) -> Constituents:
    """Return the constituents of a tree whose EDU i is the range ``bounds[i]:bounds[i + 1]``.

    "original" (Morey et al. 2017): the internal nodes, root included; a node carries the pattern
    NS, SN or NN of its parts and the relation that joins them. "rst" (Marcu 2000; CODRA, section
    6.2.2): all nodes but the root, leaves included; a node carries its own nuclearity, N or S, and
    its relation towards its sibling, which for the nucleus of a mononuclear relation is "span".
    """
    found: dict[tuple[int, int], tuple[str, str]] = {}
    for start, split, end, nuclearity, relation in tree.joins:
        name = labels(relation) if labels else relation
        left, middle, right = bounds[start], bounds[split], bounds[end]
        if variant == "original":
            found[left, right] = (nuclearity, name)
            continue
        mononuclear = nuclearity != "NN"
        for part, role in zip(((left, middle), (middle, right)), nuclearity, strict=True):
            found[part] = (role, SPAN if mononuclear and role == "N" else name)
    return found
