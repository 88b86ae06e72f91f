"""Score k-best lists by the best tree that they hold: what a perfect reranker would reach."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rhetorica.evaluate.align import align, pair
from rhetorica.evaluate.counts import Counts, Labels
from rhetorica.evaluate.parseval import Figure, ParsevalCounts, Variant, constituents, match
from rhetorica.parses import Parse
from rhetorica.trees import RSTTree


@dataclass(frozen=True, slots=True)
class OracleScore:
    """The score of the best of the first ``k`` trees of each document.

    ``counts`` sums over the chosen trees (micro average). ``mean`` is the mean of their F over the
    documents that have constituents at all: CODRA's equation 15.
    """

    k: int
    counts: ParsevalCounts
    mean: float


def oracle_scores(
    golds: Iterable[Parse],
    preds: Iterable[Parse],
    *,
    k: int | None = None,
    figure: Figure = "relation",
    variant: Variant = "rst",
    labels: Labels | None = None,
) -> list[OracleScore]:
    """Return the oracle scores for 1, 2, ... k trees, k being the longest list if not given.

    In each document the tree with the best F of the ``figure`` is chosen, the higher ranked one of
    equals (CODRA, section 6.4.4, uses the relation figure of RST-Parseval). A list shorter than k
    gives what it has; a parse without a list is a list of one.
    """
    ladders = [_best_so_far(*both, figure, variant, labels) for both in pair(golds, preds)]
    depth = max(map(len, ladders), default=0) if k is None else k
    scores = []
    for size in range(1, depth + 1):
        chosen = [ladder[min(size, len(ladder)) - 1] for ladder in ladders]
        f1s = [f1 for counts in chosen if not math.isnan(f1 := counts.figure(figure).f1)]
        mean = sum(f1s) / len(f1s) if f1s else math.nan
        scores.append(OracleScore(size, sum(chosen, ParsevalCounts()), mean))
    return scores


def _best_so_far(
    gold: Parse, pred: Parse, figure: Figure, variant: Variant, labels: Labels | None
) -> list[ParsevalCounts]:
    """Return, for each candidate, the counts of the best one up to it."""
    alignment = align(gold.document, pred.document)
    target = constituents(gold.tree, alignment.gold, variant=variant, labels=labels)
    best: list[ParsevalCounts] = []
    for tree in _candidates(pred):
        found = constituents(tree, alignment.pred, variant=variant, labels=labels)
        counts = match(target, found)
        better = not best or _rank(counts.figure(figure)) > _rank(best[-1].figure(figure))
        best.append(counts if better else best[-1])
    return best


def _candidates(pred: Parse) -> list[RSTTree]:
    if not pred.kbest:
        return [pred.tree]
    return [Parse(pred.document, candidate.tree).tree for candidate in pred.kbest]


def _rank(counts: Counts) -> float:
    """Return the F, 0 where there is nothing to score."""
    return 0.0 if math.isnan(counts.f1) else counts.f1
