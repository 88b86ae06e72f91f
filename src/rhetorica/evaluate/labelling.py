"""Score relation labels apart from structure: F per relation, its averages, the confusion matrix.

Li et al. (2014), Table 8, give the macro-averaged F (MAFS), the weighted F (WAFS) and the accuracy
of relation labels, after Hernault et al. (2010). They do not say over which units, but their
accuracy of 66.84 is the labelled accuracy of their Table 3 divided by the unlabelled one (49.83 /
74.55): the arcs with the right head, those of roots among them (``root``). Two readings are offered
by name: "found" looks only at units whose structure is right (an arc with the right head, a
constituent with the right range), which is how CODRA's Figure 18 is made, too, and the default
here; "all" also charges a relation for its units that were missed or made up.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from rhetorica.convert import Convention
from rhetorica.evaluate.align import Alignment, align
from rhetorica.evaluate.attachment import arcs
from rhetorica.evaluate.counts import Counts, Labels
from rhetorica.evaluate.parseval import SPAN, constituents
from rhetorica.parses import Parse
from rhetorica.trees import DepTree

if TYPE_CHECKING:
    import numpy as np

Units = Literal["arcs", "original", "rst"]
Scope = Literal["found", "all"]
_Labelled: TypeAlias = Mapping[object, str]


class Average(NamedTuple):
    """Precision, recall and F, each averaged over relations."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """Which relation was taken for which.

    ``pairs`` counts (gold, predicted) labels of units found in both trees, ``missed`` the labels of
    units in the gold tree only, ``spurious`` those in the predicted tree only.
    """

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    spurious: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: LabelCounts) -> LabelCounts:
        return LabelCounts(
            self.pairs + other.pairs, self.missed + other.missed, self.spurious + other.spurious
        )

    @property
    def accuracy(self) -> Counts:
        """The units found in both trees, and those of them with the right label."""
        total = self.pairs.total()
        return Counts(sum(n for (a, b), n in self.pairs.items() if a == b), total, total)

    def per_relation(self, scope: Scope = "found") -> dict[str, Counts]:
        """Return the counts of each relation, the most frequent in gold first."""
        correct: Counter[str] = Counter()
        gold: Counter[str] = Counter(self.missed if scope == "all" else ())
        pred: Counter[str] = Counter(self.spurious if scope == "all" else ())
        for (a, b), n in self.pairs.items():
            gold[a] += n
            pred[b] += n
            correct[a] += n * (a == b)
        names = sorted(gold.keys() | pred.keys(), key=lambda name: (-gold[name], name))
        return {name: Counts(correct[name], gold[name], pred[name]) for name in names}

    def macro(self, scope: Scope = "found") -> Average:
        """Average over the relations that occur in either tree, each counting alike (MAFS).

        A relation that is predicted but never right, or never predicted, has an F of 0. This is
        what scikit-learn calls "macro".
        """
        return self._average(scope, lambda counts: 1)

    def weighted(self, scope: Scope = "found") -> Average:
        """Average over relations, each counting as often as it occurs in gold (WAFS)."""
        return self._average(scope, lambda counts: counts.gold)

    def confusion(self) -> Confusion:
        """Return the matrix over units found in both trees (CODRA, Figure 18)."""
        import numpy as np  # the counts above do without it

        labels = tuple(self.per_relation())
        index = {label: i for i, label in enumerate(labels)}
        matrix = np.zeros((len(labels), len(labels)), dtype=np.int64)
        for (a, b), n in self.pairs.items():
            matrix[index[a], index[b]] = n
        return Confusion(labels, matrix)

    def _average(self, scope: Scope, weight: Callable[[Counts], int]) -> Average:
        weighed = [(weight(counts), counts) for counts in self.per_relation(scope).values()]
        total = sum(n for n, _ in weighed)
        if not total:
            return Average(math.nan, math.nan, math.nan)
        return Average(
            sum(n * counts.precision for n, counts in weighed) / total,
            sum(n * counts.recall for n, counts in weighed) / total,
            sum(n * counts.f1 for n, counts in weighed) / total,
        )


class Confusion(NamedTuple):
    """How often each gold label (row) was given each label (column), frequent gold labels first."""

    labels: tuple[str, ...]
    matrix: np.ndarray

    def table(self) -> str:
        """Return the matrix as plain text, a zero as a dot; columns are numbered like the rows."""
        cells = [[str(n) if n else "." for n in row] for row in self.matrix.tolist()]
        numbers = [str(i + 1) for i in range(len(self.labels))]
        names = [f"{i} {label}" for i, label in zip(numbers, self.labels, strict=True)]
        wide = max((len(text) for row in (numbers, *cells) for text in row), default=0)
        first = max(map(len, names), default=0)
        lines = [
            "  ".join([name.ljust(first), *(text.rjust(wide) for text in row)])
            for name, row in zip(["", *names], [numbers, *cells], strict=True)
        ]
        return "\n".join(lines)


def counts(
    gold: Parse,
    pred: Parse,
    *,
    units: Units = "arcs",
    nuclearity: bool = False,
    root: bool = False,
    convention: Convention = "star",
    labels: Labels | None = None,
    alignment: Alignment | None = None,
) -> LabelCounts:
    """Count which relations were taken for which.

    ``units`` are the arcs of the dependency tree (the root's, whose relation is given, only with
    ``root``), the internal nodes of the binary tree ("original", as in original Parseval), or all
    its nodes but the root ("rst", as in RST-Parseval and CODRA's Table 2; nodes that either tree
    calls "span" bear no relation and are left out). With ``nuclearity``, labels tell it apart:
    cause-NS, cause-SN, or cause-S and joint-N with units "rst".

    >>> from rhetorica import Document
    >>> doc = Document.from_edus(["It is wet", "because it rained", "all day."])
    >>> gold = Parse(doc, DepTree((-1, 0, 1), ("ROOT", "cause", "elaboration")))
    >>> pred = Parse(doc, DepTree((-1, 0, 1), ("ROOT", "elaboration", "elaboration")))
    >>> found = counts(gold, pred)
    >>> found.accuracy.f1, round(found.macro().f1, 3), round(found.weighted().f1, 3)
    (0.5, 0.333, 0.333)
    >>> print(found.confusion().table())
                   1  2
    1 cause        .  1
    2 elaboration  .  1
    """
    alignment = alignment or align(gold.document, pred.document)
    gold_units, pred_units = (
        arc_labels(
            parse.dependencies_as(convention),
            bounds,
            labels=labels,
            nuclearity=nuclearity,
            root=root,
        )
        if units == "arcs"
        else _constituent_labels(parse, bounds, units, labels, nuclearity)
        for parse, bounds in ((gold, alignment.gold), (pred, alignment.pred))
    )
    return match(gold_units, pred_units)


def match(gold: _Labelled, pred: _Labelled) -> LabelCounts:
    """Count the pairs of labels of units in both, and the labels of units in one only.

    A unit that bears no relation in one of the two (label "") is left out.
    """
    return LabelCounts(
        Counter(
            (label, pred[unit]) for unit, label in gold.items() if label and pred.get(unit, "")
        ),
        Counter(label for unit, label in gold.items() if label and unit not in pred),
        Counter(label for unit, label in pred.items() if label and unit not in gold),
    )


def arc_labels(
    tree: DepTree,
    bounds: tuple[int, ...],
    *,
    labels: Labels | None = None,
    nuclearity: bool = False,
    root: bool = False,
) -> _Labelled:
    """Return the relations of a tree's arcs, the root's only with ``root``."""
    found = arcs(tree, bounds, labels=labels)
    labelled: dict[object, str] = {}
    for (arc, name), multinuclear in zip(found.items(), tree.multinuclear, strict=True):
        if arc.head is None:
            if root:
                labelled[arc] = name
            continue
        pattern = "NN" if multinuclear else "NS" if arc.head < arc.dependent else "SN"
        labelled[arc] = f"{name}-{pattern}" if nuclearity else name
    return labelled


def _constituent_labels(
    parse: Parse,
    bounds: tuple[int, ...],
    variant: Literal["original", "rst"],
    labels: Labels | None,
    nuclearity: bool,
) -> _Labelled:
    labelled: dict[object, str] = {}
    for part, (role, name) in constituents(
        parse.tree, bounds, variant=variant, labels=labels
    ).items():
        if variant == "rst" and name == SPAN:
            labelled[part] = ""
        else:
            labelled[part] = f"{name}-{role}" if nuclearity else name
    return labelled
