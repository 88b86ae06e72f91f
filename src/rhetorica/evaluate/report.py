"""Score a whole corpus with every metric that applies, and compare two systems."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, NamedTuple

from rhetorica.convert import SAME_UNIT, Convention
from rhetorica.document import Document
from rhetorica.errors import Mismatch, NonProjective
from rhetorica.evaluate import attachment, labelling, parseval, segmentation
from rhetorica.evaluate.align import Alignment, align, pair
from rhetorica.evaluate.counts import NOTHING, Counts, Labels, signature
from rhetorica.evaluate.labelling import LabelCounts
from rhetorica.evaluate.significance import Comparison, paired_bootstrap, paired_t_test
from rhetorica.parses import Parse
from rhetorica.trees import DepTree, RSTTree

AS_IS = "as-is"
"""The name of relation labels that are compared as they are."""
GivenSyntax = Literal["gold", "predicted"]
"""Where words, tags and dependencies come from: annotators, or a parser of syntax."""


class Key(NamedTuple):
    """What a figure measures: ``parseval``, ``original``, ``span``."""

    metric: str
    variant: str
    figure: str

    def __str__(self) -> str:
        return ":".join(self)


class Row(NamedTuple):
    """One line of results; a quotient is None where there was nothing to score.

    ``documents`` tells how many documents the figure covers.
    """

    metric: str
    variant: str
    figure: str
    documents: int
    precision: float | None
    recall: float | None
    f1: float | None
    signature: str


class ComparedRow(NamedTuple):
    """One line of a comparison: a figure of two systems, and the two tests of their difference."""

    metric: str
    variant: str
    figure: str
    first: float | None
    second: float | None
    bootstrap: Comparison
    t_test: Comparison
    signature: str


@dataclass(frozen=True, slots=True)
class DocumentScore:
    """The counts of one document, for each figure that applies to it.

    ``relations`` are labels over the arcs of the dependency trees, None without trees. ``syntax``
    tells whether the prediction's words, tags and dependencies are gold or predicted; it is empty
    where the prediction has none.
    """

    id: str
    same_edus: bool
    counts: Mapping[Key, Counts]
    relations: LabelCounts | None = None
    has_same_unit: bool = False
    given_dependencies: bool = False
    syntax: GivenSyntax | Literal[""] = ""


@dataclass(frozen=True)
class Report:
    """The scores of a system: per document, and for the corpus.

    ``labels``, ``convention`` and ``corpus`` are the settings that signatures name.
    """

    documents: tuple[DocumentScore, ...]
    labels: str = AS_IS
    convention: Convention = "star"
    corpus: str = ""

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """The figures that apply to at least one document."""
        found = {key for doc in self.documents for key in doc.counts}
        return tuple(key for key in ALL_KEYS if key in found)

    @cached_property
    def totals(self) -> dict[Key, Counts]:
        """The counts of each figure, summed over the documents to which it applies."""
        return {
            key: sum((doc.counts[key] for doc in self.documents if key in doc.counts), NOTHING)
            for key in self.keys
        }

    @cached_property
    def relations(self) -> LabelCounts:
        """Which relations were taken for which, over the arcs of the dependency trees."""
        return sum((doc.relations for doc in self._labelled if doc.relations), LabelCounts())

    def __getitem__(self, key: tuple[str, str, str]) -> Counts:
        """Return the summed counts of a figure, such as ("parseval", "original", "full")."""
        return self.totals[Key(*key)]

    @cached_property
    def _labelled(self) -> list[DocumentScore]:
        return [doc for doc in self.documents if doc.relations is not None]

    def covered(self, key: Key) -> list[DocumentScore]:
        """Return the documents to which a figure applies."""
        return [doc for doc in self.documents if key in doc.counts]

    def table(self) -> list[Row]:
        """Return the corpus scores, one row per figure."""
        rows = []
        for key, counts in self.totals.items():
            quotients = (counts.precision, counts.recall, counts.f1)
            rows.append(self._row(key, len(self.covered(key)), quotients))
        if self._labelled:
            accuracy = self.relations.accuracy
            for figure, quotients in (
                ("macro", self.relations.macro()),
                ("weighted", self.relations.weighted()),
                ("accuracy", (accuracy.precision, accuracy.recall, accuracy.f1)),
            ):
                key = Key("labelling", "found-arcs", figure)
                rows.append(self._row(key, len(self._labelled), quotients))
        return rows

    def signature(self, key: Key) -> str:
        """Return what one must know to compare a figure with another."""
        covered = self._labelled if key.metric == "labelling" else self.covered(key)
        fields = {}
        if key.metric != "segmentation":
            fields["labels"] = self.labels
            fields["edus"] = "gold" if all(doc.same_edus for doc in covered) else "predicted"
            if any(doc.has_same_unit for doc in covered):
                fields["same_unit"] = "kept"
        if known := {doc.syntax for doc in covered if doc.syntax}:
            fields["syntax"] = "gold" if known == {"gold"} else "predicted"
        if key.metric in ("attachment", "labelling"):
            as_given = covered and all(doc.given_dependencies for doc in covered)
            fields["multinuclear"] = "as-is" if as_given else self.convention
        average = key.figure if key.figure in ("macro", "weighted") else "micro"
        return signature(key.metric, key.variant, **fields, average=average, corpus=self.corpus)

    def compare(
        self, other: Report, *, resamples: int = 10_000, seed: int = 0
    ) -> list[ComparedRow]:
        """Compare with another system on the same gold, over the documents that both cover."""
        self._check_comparable(other)
        rows = []
        for key in self.keys:
            both = [
                (mine.counts[key], theirs.counts[key])
                for mine, theirs in zip(self.documents, other.documents, strict=True)
                if key in mine.counts and key in theirs.counts
            ]
            if not both:
                continue
            first, second = [mine for mine, _ in both], [theirs for _, theirs in both]
            rows.append(
                ComparedRow(
                    *key,
                    _defined(sum(first, NOTHING).f1),
                    _defined(sum(second, NOTHING).f1),
                    paired_bootstrap(first, second, resamples=resamples, seed=seed),
                    paired_t_test(first, second),
                    _either(self.signature(key), other.signature(key)),
                )
            )
        return rows

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain data, ready for JSON."""
        relations = self.relations.per_relation()
        return {
            "documents": len(self.documents),
            "scores": [row._asdict() for row in self.table()],
            "relations": {name: _plain(counts) for name, counts in relations.items()},
            "per_document": [
                {
                    "id": doc.id,
                    "edus": "gold" if doc.same_edus else "predicted",
                    "counts": {str(key): _plain(counts) for key, counts in doc.counts.items()},
                }
                for doc in self.documents
            ],
        }

    def _row(self, key: Key, documents: int, quotients: Iterable[float]) -> Row:
        precision, recall, f1 = (_defined(value) for value in quotients)
        return Row(*key, documents, precision, recall, f1, self.signature(key))

    def _check_comparable(self, other: Report) -> None:
        for name in ("labels", "convention", "corpus"):
            if (mine := getattr(self, name)) != (theirs := getattr(other, name)):
                raise Mismatch(
                    f"the two reports have different settings: {name} {mine!r} and {theirs!r}; "
                    "score both systems alike, then compare"
                )
        if [doc.id for doc in self.documents] != [doc.id for doc in other.documents]:
            raise Mismatch(
                f"the two reports are not about the same documents in the same order "
                f"({len(self.documents)} and {len(other.documents)} documents)"
            )


def evaluate(
    golds: Iterable[Parse],
    preds: Iterable[Parse],
    *,
    labels: Labels | None = None,
    label_name: str = AS_IS,
    convention: Convention = "star",
    corpus: str = "",
    syntax: GivenSyntax = "gold",
) -> Report:
    """Score predicted analyses against gold ones with every metric that applies.

    Documents are paired by id or, where ids are missing or not unique, by order. ``labels`` maps
    relation names (fine to coarse) before they are compared, and ``label_name`` names that map in
    signatures (a map without a name is called "custom"). ``syntax`` says whether words, tags and
    dependencies of the gold documents are gold, too, or were predicted: signatures tell what a
    parser had.

    Segmentation is scored for every document (inside sentences where gold has them), attachment and
    relation labels where both sides have a tree, Parseval where both trees are projective; each row
    of the report tells how many documents it covers.

    >>> from rhetorica import Document, Join
    >>> doc = Document.from_edus(["It is wet", "because it rained."])
    >>> gold = Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "cause"),)))
    >>> report = evaluate([gold], [gold], corpus="tiny")
    >>> report["parseval", "original", "full"]
    Counts(correct=1, gold=1, pred=1)
    """
    mapped = cache(labels) if labels else None
    return Report(
        tuple(_score(gold, pred, mapped, convention, syntax) for gold, pred in pair(golds, preds)),
        "custom" if labels and label_name == AS_IS else label_name,
        convention,
        corpus,
    )


VARIANTS: tuple[parseval.Variant, ...] = ("original", "rst")
ALL_KEYS = (
    Key("segmentation", "all", "starts"),
    Key("segmentation", "inside", "starts"),
    *(Key("parseval", variant, figure) for variant in VARIANTS for figure in parseval.FIGURES),
    Key("attachment", "unlabelled", "arcs"),
    Key("attachment", "labelled", "arcs"),
)
"""All figures that are counted per document, in the order of reports."""


def _score(
    gold: Parse, pred: Parse, labels: Labels | None, convention: Convention, given: GivenSyntax
) -> DocumentScore:
    alignment = align(gold.document, pred.document)
    found: dict[Key, Counts] = {}
    variants: tuple[segmentation.Variant, ...] = ("all", "inside")
    for variant in variants if gold.document.sentences else variants[:1]:
        found[Key("segmentation", variant, "starts")] = segmentation.counts(
            gold, pred, variant=variant, alignment=alignment
        )
    syntax = _syntax(gold.document, pred.document, given)
    if gold.source is None or pred.source is None:
        return DocumentScore(gold.id, alignment.same_edus, found, syntax=syntax)
    found |= _parseval(gold, pred, labels, alignment)
    gold_tree, pred_tree = (parse.dependencies_as(convention) for parse in (gold, pred))
    arcs = attachment.match(
        attachment.arcs(gold_tree, alignment.gold, labels=labels),
        attachment.arcs(pred_tree, alignment.pred, labels=labels),
    )
    found[Key("attachment", "unlabelled", "arcs")] = arcs.unlabelled
    found[Key("attachment", "labelled", "arcs")] = arcs.labelled
    return DocumentScore(
        gold.id,
        alignment.same_edus,
        found,
        labelling.match(
            labelling.arc_labels(gold_tree, alignment.gold, labels=labels),
            labelling.arc_labels(pred_tree, alignment.pred, labels=labels),
        ),
        not SAME_UNIT.isdisjoint((*gold_tree.relations, *pred_tree.relations)),
        isinstance(gold.source, DepTree) and isinstance(pred.source, DepTree),
        syntax,
    )


def _syntax(gold: Document, pred: Document, given: GivenSyntax) -> GivenSyntax | Literal[""]:
    """Tell whose syntax a prediction had, ``given`` being that of the gold document."""

    def of(doc: Document) -> list[tuple[object, ...]]:
        return [(t.start, t.end, t.tag, t.head, t.deprel) for t in doc.tokens if t.deprel]

    known = of(pred)
    if not known:
        return ""
    return given if known == of(gold) else "predicted"


def _parseval(
    gold: Parse, pred: Parse, labels: Labels | None, alignment: Alignment
) -> dict[Key, Counts]:
    """Count constituents in both variants; none where a tree is not projective."""
    gold_tree, pred_tree = _rst_tree(gold), _rst_tree(pred)
    if gold_tree is None or pred_tree is None:
        return {}
    found: dict[Key, Counts] = {}
    for variant in VARIANTS:
        counts = parseval.match(
            parseval.constituents(gold_tree, alignment.gold, variant=variant, labels=labels),
            parseval.constituents(pred_tree, alignment.pred, variant=variant, labels=labels),
        )
        for figure in parseval.FIGURES:
            found[Key("parseval", variant, figure)] = counts.figure(figure)
    return found


def _rst_tree(parse: Parse) -> RSTTree | None:
    try:
        return parse.tree
    except NonProjective:
        return None


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def _either(first: str, second: str) -> str:
    """Return two signatures as one; they differ where one system had gold EDUs and one its own."""
    return first if first == second else f"{first} vs {second}"


def _plain(counts: Counts) -> dict[str, int]:
    return {"correct": counts.correct, "gold": counts.gold, "pred": counts.pred}
