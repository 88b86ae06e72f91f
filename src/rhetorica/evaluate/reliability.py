"""Do the probabilities of parses mean what they say? Gold and predicted parses -> reliability.

What a parser gave a probability of 0.8 should be right in 80 of 100 cases. Each kind of probability
(see `Scores`) is gathered by tenths; the mean gap between probability and share of right answers,
weighted by how many there are, is the expected calibration error (Naeini et al. 2015).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from rhetorica.convert import relabel, to_rst
from rhetorica.parses import Parse
from rhetorica.trees import RSTTree

BINS = 10
Answers = dict[str, list[tuple[float, bool]]]


class Bin(NamedTuple):
    """Answers of similar probability: their number, mean probability and share that was right."""

    answers: int
    probability: float
    right: float


def answers(gold: Parse, pred: Parse) -> Answers:
    """Return (probability, was it right) of everything that a parse has probabilities of.

    Boundaries can always be compared, the rest only where both have the same EDUs. Nuclearity and
    relation (fine) are asked of ranges that are right.
    """
    scores = pred.scores
    found: Answers = {}
    if scores is None:
        return found
    starts = {edu.start for edu in gold.document.edus}
    if scores.boundaries:
        found["boundaries"] = [
            (p, edu.start in starts)
            for p, edu in zip(scores.boundaries, pred.document.edus, strict=True)
        ]
    if [tuple(e) for e in gold.document.edus] != [tuple(e) for e in pred.document.edus]:
        return found
    if scores.heads:
        heads = zip(gold.dependencies.heads, pred.dependencies.heads, strict=True)
        found["heads"] = [
            (p, right == given) for p, (right, given) in zip(scores.heads, heads, strict=True)
        ]
    if scores.spans:
        found |= _of_joins(gold, pred)
    return found


def _of_joins(gold: Parse, pred: Parse) -> Answers:
    """Return the answers about joins: ranges, and the labels of those that are right."""
    scores = pred.scores
    assert scores is not None
    by_range = {(join.start, join.end): join for join in gold.tree.joins}
    found: Answers = {"spans": [], "nuclearities": [], "relations": []}
    for number, join in enumerate(pred.tree.joins):
        right = by_range.get((join.start, join.end))
        found["spans"].append((scores.spans[number], right is not None))
        if right is not None and scores.nuclearities:
            same = right.nuclearity == join.nuclearity
            found["nuclearities"].append((scores.nuclearities[number], same))
        if right is not None and scores.relations:
            same = right.relation == join.relation
            found["relations"].append((scores.relations[number], same))
    return found


def list_answers(
    gold: Parse, pred: Parse, coarse: Callable[[str], str]
) -> list[tuple[float, bool]]:
    """Return the score of each tree of a k-best list once for each join, and whether it is right.

    A join is right with its range, nuclearity and class of relations.
    """
    right = _labelled(relabel(gold.tree, coarse))
    return [
        (one.score, join in right)
        for one in pred.kbest
        for join in _labelled(relabel(to_rst(one.tree), coarse))
    ]


def _labelled(tree: RSTTree) -> set[tuple[int, int, str, str]]:
    return {(j.start, j.end, j.nuclearity, j.relation) for j in tree.joins}


def gather(parts: Iterable[Answers]) -> Answers:
    """Put the answers of many documents together."""
    whole: Answers = {}
    for part in parts:
        for name, values in part.items():
            whole.setdefault(name, []).extend(values)
    return whole


def curve(values: Sequence[tuple[float, bool]], n_bins: int = BINS) -> list[Bin | None]:
    """Return the reliability of answers by equal steps of probability, None where there are none.

    >>> low, high = curve([(0.9, True), (0.8, True), (0.8, False), (0.1, False)], 2)
    >>> low
    Bin(answers=1, probability=0.1, right=0.0)
    >>> high.answers, round(high.probability, 2), round(high.right, 2)
    (3, 0.83, 0.67)
    """
    groups: list[list[tuple[float, bool]]] = [[] for _ in range(n_bins)]
    for p, right in values:
        groups[min(int(p * n_bins), n_bins - 1)].append((p, right))
    return [
        Bin(
            len(group), sum(p for p, _ in group) / len(group), sum(r for _, r in group) / len(group)
        )
        if group
        else None
        for group in groups
    ]


def calibration_error(bins: Sequence[Bin | None]) -> float:
    """Return the expected calibration error.

    >>> round(calibration_error([Bin(1, 0.1, 0.0), None, Bin(3, 0.8, 0.7)]), 3)
    0.1
    """
    filled = [part for part in bins if part is not None]
    total = sum(part.answers for part in filled)
    return sum(part.answers * abs(part.probability - part.right) for part in filled) / max(total, 1)


def table(curves: Mapping[str, Sequence[Bin | None]]) -> str:
    """Return the reliability of several kinds of probability as a Markdown table."""
    n_bins = max((len(bins) for bins in curves.values()), default=0)
    lines = ["| probability | " + " | ".join(curves) + " |", "|---" * (len(curves) + 1) + "|"]
    for number in range(n_bins):
        cells = []
        for bins in curves.values():
            part = bins[number]
            cells.append("" if part is None else f"{part.probability:.2f} / {part.right:.2f}")
        low, high = number / n_bins, (number + 1) / n_bins
        lines.append(f"| {low:.1f}-{high:.1f} | " + " | ".join(cells) + " |")
    errors = " | ".join(f"{calibration_error(bins):.3f}" for bins in curves.values())
    return "\n".join([*lines, f"| ECE | {errors} |", ""])
