"""Learn whom to trust where, from documents that no member was trained on.

Two families. **Votes**: the algorithms of Cortes, Kuznetsov & Mohri (2014) and their baselines
(`rhetorica.learn.experts`), which see the members' trees. A binary tree over n EDUs has exactly one
join for each of the n - 1 places between EDUs; so position k is the join that splits at k, its
symbol the range that the join makes, and a second table has the labels of joins whose range is
right (elsewhere a member says nothing). The paper's fixed number of positions becomes classes of
positions: inside a sentence, before a sentence, before a paragraph, in short and in long documents.
On the full automaton positions do not depend on each other, so that a class can be learned from all
its positions in all documents, one a round.

**Stacked**: members' probabilities, also of ranges outside their trees, are the evidence of a
logistic regression for each class of ranges: how probable is it that this range is a unit? Labels
are mixed log-linearly, each member with an exponent of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rhetorica.decode import Chosen
from rhetorica.document import Document
from rhetorica.learn import experts
from rhetorica.learn.calibration import log_odds
from rhetorica.learn.lbfgs import minimise
from rhetorica.learn.links import log_softmax, sigmoid
from rhetorica.learn.logistic import fit_logistic
from rhetorica.parsers.ensemble.candidates import CLASSES, Candidates, split_levels
from rhetorica.trees import Label, RSTTree

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LONG = 100
"""Documents with more EDUs are long."""
SPLIT_CLASSES = 6
WITHOUT_CLASSES = ("reparsing", "SLE", "Best", "Majority")
"""Ways of learning that have one weight a member, wherever it is."""
_SMOOTH = 0.01
_PRIOR = 0.3
_SURE = 0.004
_AT_ONCE = 8192
"""Ranges whose labels are judged together: a long text has a hundred thousand."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A document, what members say of it, the right joins (k, 3), and their labels' numbers."""

    doc: Document
    said: Candidates
    joins: Ints
    labels: Ints

    @classmethod
    def of(cls, doc: Document, said: Candidates, gold: RSTTree, labels: Sequence[Label]) -> Example:
        """Put together what members say and the right tree, whose labels are among ``labels``."""
        joins = [(join.start, join.split, join.end) for join in gold.joins]
        numbers = [labels.index(Label(join.nuclearity, join.relation)) for join in gold.joins]
        return cls(
            doc, said, np.array(joins, np.int64).reshape(-1, 3), np.array(numbers, dtype=np.int64)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Stacked:
    """``ranges`` (classes, 2 x members + 1): log-odds, own trees, bias; ``labels``: exponents."""

    ranges: Floats
    labels: Floats

    def judge(self, said: Candidates, doc: Document) -> tuple[Floats, Floats]:
        """Return the probability of each range, and of each label if it is a unit."""
        weights = self.ranges[said.classes]
        odds = (_evidence(said) * weights[:, :-1]).sum(axis=1) + weights[:, -1]
        mixed = np.empty((len(said.ranges), said.labels.shape[2]))
        for at in range(0, len(mixed), _AT_ONCE):
            here = slice(at, at + _AT_ONCE)
            exponents = self.labels[said.classes[here]]
            mixed[here] = np.einsum("rml,rm->rl", _log_labels(said.labels[here]), exponents)
        return sigmoid(odds), np.exp(log_softmax(mixed))


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Weights (split classes, members) that add up to 1: for ranges, and for labels of joins."""

    ranges: Floats
    labels: Floats

    def judge(self, said: Candidates, doc: Document) -> tuple[Floats, Floats]:
        """Return the votes for each range, and for each label of it."""
        classes = split_classes(doc)
        values = np.zeros(len(said.ranges))
        labels = np.full((len(said.ranges), said.labels.shape[2]), 1e-9)
        for m, tree in enumerate(said.trees):
            starts, splits, ends = _places(tree)
            rows, kind = said.rows(starts, ends), classes[splits - 1]
            values[rows] += self.ranges[kind, m]
            best = said.labels[rows, m].argmax(axis=1)
            labels[rows, best] += self.labels[kind, m]
        return values, labels / labels.sum(axis=1, keepdims=True)


def split_classes(doc: Document) -> Ints:
    """Return the class of each place between EDUs."""
    return split_levels(doc) + 3 * (len(doc.edus) > LONG)


def fit_stacked(examples: Sequence[Example], *, l2: float) -> Stacked:
    """Fit the logistic regressions and the exponents of labels, a class at a time.

    A class that does not occur has the weights of all together.
    """
    evidence = np.concatenate([_evidence(one.said) for one in examples])
    logs = np.concatenate([_log_labels(one.said.labels) for one in examples])
    classes = np.concatenate([one.said.classes for one in examples])
    right = np.concatenate([_right(one) for one in examples])
    ranges, labels = [], []
    for number in range(len(CLASSES)):
        here = classes == number
        true = right[here] >= 0
        if not true.any() or true.all():
            here, true = np.ones(len(right), dtype=bool), right >= 0
        weights, bias = fit_logistic(evidence[here], true.astype(np.float64), l2)
        ranges.append([*weights, bias])
        labels.append(fit_exponents(logs[here][true], right[here][true]))
    return Stacked(np.array(ranges), np.array(labels))


def fit_votes(examples: Sequence[Example], method: str) -> Votes:
    """Learn weights by one of the methods of `rhetorica.learn.experts`, or "reparsing".

    That is the baseline of Sagae & Lavie (2006): each member's accuracy is its weight everywhere.
    """
    members = len(examples[0].said.trees)
    rows = [_rows(one) for one in examples]
    classes = np.concatenate([split_classes(one.doc) for one in examples])
    tables = []
    for symbols, truth in (
        (np.concatenate([r.ranges for r in rows]), np.concatenate([r.gold for r in rows])),
        (np.concatenate([r.labels for r in rows]), np.concatenate([r.label for r in rows])),
    ):
        whole = experts.Table(symbols[:, None, :], truth[:, None])
        found = np.zeros((SPLIT_CLASSES, members))
        for number in range(SPLIT_CLASSES):
            here = classes == number
            table = whole[here] if here.any() and method not in WITHOUT_CLASSES else whole
            found[number] = member_weights(table, method)
        tables.append(found)
    return Votes(*tables)


def member_weights(table: experts.Table, method: str) -> Floats:
    """Return a weight for each member that is learned from one position a row; their sum is 1."""
    if method == "reparsing":
        weights = 1 - table.hamming().mean(axis=(0, 1))
    else:
        rule = experts.learn(method, table)
        shares = rule.shares() if isinstance(rule, experts.Randomised) else rule.weights
        weights = shares[0]
    return np.asarray(weights / max(weights.sum(), 1e-9))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Ranges and labels of members (splits, members) and of gold (splits)."""

    ranges: Ints
    gold: Ints
    labels: Ints
    label: Ints


def _rows(one: Example) -> _Rows:
    n, said = one.said.n_edus, one.said
    gold, label = np.zeros(max(0, n - 1), np.int64), np.zeros(max(0, n - 1), np.int64)
    gold[one.joins[:, 1] - 1] = one.joins[:, 0] * (n + 1) + one.joins[:, 2]
    label[one.joins[:, 1] - 1] = one.labels
    ranges = np.zeros((len(gold), len(said.trees)), dtype=np.int64)
    labels = np.full((len(gold), len(said.trees)), experts.MISSING)
    for m, tree in enumerate(said.trees):
        starts, places, ends = _places(tree)
        ranges[places - 1, m] = starts * (n + 1) + ends
        same = ranges[places - 1, m] == gold[places - 1]
        rows = said.rows(starts[same], ends[same])
        labels[places[same] - 1, m] = said.labels[rows, m].argmax(axis=1)
    return _Rows(ranges, gold, labels, label)


def _right(one: Example) -> Ints:
    """Return the gold label of each candidate, -1 where the range is no unit."""
    gold = dict(zip(map(tuple, one.joins[:, [0, 2]].tolist()), one.labels.tolist(), strict=True))
    return np.array([gold.get(tuple(pair), -1) for pair in one.said.ranges.tolist()], np.int64)


def _places(tree: Iterable[Chosen]) -> tuple[Ints, Ints, Ints]:
    table = np.array([(t.start, t.split, t.end) for t in tree], np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _evidence(said: Candidates) -> Floats:
    """Return what speaks for each range: members' log-odds, and whether it is in their trees."""
    return np.concatenate([log_odds(said.shares, least=_SURE), said.own], axis=1)


def _log_labels(votes: Floats) -> Floats:
    """Return members' log probabilities of labels (ranges, members, labels), smoothed."""
    sums = votes.sum(axis=2, keepdims=True)
    shares = np.divide(votes, sums, out=np.zeros_like(votes), where=sums > 0)
    # Who has no votes for a range prefers no label.
    return np.where(sums > 0, np.log(shares + _SMOOTH), 0.0)


def fit_exponents(logs: Floats, gold: Ints) -> Floats:
    """Return the exponent of each member under which the gold labels are most probable."""
    each = np.arange(len(gold))

    def objective(point: Floats) -> tuple[float, Floats]:
        scores = log_softmax(np.einsum("rml,m->rl", logs, point))
        apart = point - _PRIOR
        slope = np.einsum("rml,rl->m", logs, np.exp(scores)) - logs[each, :, gold].sum(axis=0)
        loss = -float(scores[each, gold].sum()) + 2 * float(apart @ apart)
        return loss, np.asarray(slope + 4 * apart)

    return np.asarray(minimise(objective, np.full(logs.shape[1], _PRIOR), iterations=100))
