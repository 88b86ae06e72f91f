"""Tables 3 to 9 and Figure 18 of Joty, Carenini & Ng (2015).

On RST-DT they stand beside the published figures: models learn from all of TRAINING, and TEST is
scored once; elsewhere (GUM, UMUC) dev is scored. The rows named as in the article have its features
only (the seven groups of Table 1), its objective and two passes (CRF-O: one); "ours" adds the
eighth group, has one pass and learns from whole trees ("ours, joins": from single joins). Every
model is kept in a working folder, and rows share models, so an interrupted run goes on where it
stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rhetorica.document import Document
from rhetorica.evaluate import Key, Report, oracle_scores, parseval
from rhetorica.evaluate.align import squeeze
from rhetorica.evaluate.labelling import counts as label_counts
from rhetorica.evaluate.significance import paired_bootstrap
from rhetorica.models import store
from rhetorica.parsers.codra.parser import (
    EXACT_UNITS,
    PAPER,
    PAPER_GROUPS,
    CodraParser,
    Settings,
)
from rhetorica.parsers.codra.rerank import K
from rhetorica.parsers.codra.stages import LONGEST
from rhetorica.parsers.codra.units import runs
from rhetorica.parses import Parse
from rhetorica.progress import Event, Tell, nothing
from rhetorica.reproduce.heilman_sagae2015 import LEVELS, level_of
from rhetorica.reproduce.runs import Runs
from rhetorica.reproduce.tables import BRACKETS, beside, signature, table
from rhetorica.segmenters.boundaries import cut
from rhetorica.segmenters.crf import CRFSegmenter
from rhetorica.segmenters.logistic import LogisticSegmenter
from rhetorica.settings import plain
from rhetorica.train.treebank import read_dev, read_treebank
from rhetorica.trees import Join, RSTTree

FIGURES: tuple[parseval.Figure, ...] = ("span", "nuclearity", "relation")
KS = (1, 2, 3, 4, 5, 10, 15, 20, 25, 30)
FEWEST = 10
"""With fewer documents to draw from, a bootstrap says nothing."""

TABLES = range(3, 10)
INSIDE = ("sentence",)
OURS: dict[str, Any] = {name: value for name, value in plain(Settings()).items() if name in PAPER}
RERANKED: dict[str, Any] = {**OURS, "rerank": K}
ROWS: dict[str, dict[str, Any]] = {
    "CRF-O": {"stages": "one", "passes": 1},
    "CRF-T": {"chain": False},
    "TSP 1-1": {},
    "TSP SW": {"stages": "window"},
    "three-way": {"stages": "three-way"},
    "ours, joins": {**OURS, "objective": "joins"},
    "ours, 1-1": OURS,
    "ours, 1-1, reranked": RERANKED,
    "ours, three-way": {**OURS, "stages": "three-way"},
}
"""The parsers of Table 6, by what they change in the paper's setting."""
WHOLE: dict[str, Any] = {"window_edus": LONGEST, "tree_units": EXACT_UNITS}
"""On the article's corpus, whose documents are short, windows and upper joins are learned, too."""
SENTENCE_STEPS = ("dominance", "organization", "ngrams", "context", "substructure")
DOCUMENT_STEPS = ("organization", "ngrams", "chains", "context", "substructure")
"""Table 9: groups in the order in which they are added (text structure goes with organization)."""


def settings(**changes: Any) -> Settings:
    """Return the paper's setting with some changes; groups decide whether there are two passes."""
    values: dict[str, Any] = {**PAPER, **changes}
    if values["objective"] == "joins":
        # The likelihood of single joins is a smaller number than that of trees.
        values.setdefault("document_l2", 5.0)
    if "substructure" not in values["groups"]:
        values["passes"] = 1
    return Settings(**values)


@dataclass(frozen=True)
class Experiments(Runs):
    """Parsers of one treebank, trained once, and what they say of its dev documents.

    ``published`` tells that figures of the article are of the same documents.
    """

    published: bool = False

    def parser(
        self, *, parts: Sequence[str] = ("sentence", "document"), **changes: Any
    ) -> CodraParser:
        """Train a parser, or put it together from models that are there."""
        self.tell(Event(self.treebank.name, note=str(changes or "the paper")))
        limits = WHOLE if self.published else {}
        return CodraParser(settings(**{**limits, **changes})).fit(
            self.treebank.train,
            coarse=self.treebank.relations.coarse,
            store=self._path({}, ""),
            tell=self.tell,
            parts=parts,
        )

    @cached_property
    def sentences(self) -> list[list[Parse | None]]:
        """The gold trees of the sentences of dev documents; None for those without one."""
        return [gold_sentences(parse) for parse in self.treebank.dev]

    def sentence_report(self, parser: CodraParser, docs: Sequence[Document]) -> Report:
        """Score a parser on sentences that have a tree, each by itself."""
        golds, preds = self.sentence_pairs(parser, docs)
        return self.treebank.score(preds, golds, part="-sentences")

    def sentence_pairs(
        self, parser: CodraParser, docs: Sequence[Document], k: int = 1
    ) -> tuple[list[Parse], list[Parse]]:
        """Return gold and predicted trees of the sentences that have a gold tree."""
        golds, preds = [], []
        for doc, wanted in zip(docs, self.sentences, strict=True):
            found = {parse.id: parse for parse in parser.parse_sentences(doc, kbest=k)}
            for gold in wanted:
                pred = found.get(gold.id) if gold else None
                # Where a gold EDU reaches into the next sentence (UMUC), automatic EDUs may not.
                if gold and pred and squeeze(gold.document.text) == squeeze(pred.document.text):
                    golds.append(gold)
                    preds.append(pred)
        return golds, preds

    def segmenter(self, name: str) -> CRFSegmenter | LogisticSegmenter:
        """Train a segmenter on the same documents, or recall it.

        The article's reads phrase structures, if all documents have them.
        """
        kind: Any = {"logistic": LogisticSegmenter, "crf": CRFSegmenter}[name]
        every = (*self.treebank.train, *self.treebank.dev)
        phrases = name == "logistic" and all(parse.document.constituency for parse in every)

        def train(path: Path) -> None:
            docs = [parse.document for parse in self.treebank.train]
            kind(phrases=phrases).fit(docs, tell=self.tell).save(path)

        setting = {"segmenter": name, "phrases": phrases}
        found: CRFSegmenter | LogisticSegmenter = self.model(setting, train, kind.load)
        return found

    def segmented(self, name: str = "logistic") -> list[Document]:
        """Return the dev documents with the EDUs of a segmenter, on the corpus's syntax."""
        model = self.segmenter(name)
        docs = [parse.document for parse in self.treebank.dev]
        return [cut(doc, model.boundaries(doc), threshold=model.threshold).document for doc in docs]


def gold_sentences(parse: Parse) -> list[Parse | None]:
    """Return the sentences of a document as documents, with their trees; None where leaky."""
    doc, tree = parse.document, parse.tree
    joins = {(join.start, join.end): join for join in tree.joins}
    found: list[Parse | None] = []
    sentences = doc.edu_sentences()
    for start, end in runs(sentences):
        if end - start > 1 and (start, end) not in joins:
            found.append(None)
            continue
        inside = tuple(
            Join(join.start - start, join.split - start, join.end - start, *join[3:])
            for join in tree.joins
            if start <= join.start and join.end <= end
        )
        part = Document.from_edus(doc.edu_texts[start:end], id=f"{doc.id}#{sentences[start] + 1}")
        found.append(Parse(part, RSTTree(end - start, inside)))
    return found


def leaky(parses: Sequence[Parse]) -> tuple[int, int]:
    """Count the sentences of several EDUs, and those of them that have no tree of their own."""
    several = without = 0
    for parse in parses:
        for sentence, (start, end) in zip(
            gold_sentences(parse), runs(parse.document.edu_sentences()), strict=True
        ):
            several += end - start > 1
            without += sentence is None
    return several, without


def confusion(
    golds: Sequence[Parse], preds: Sequence[Parse], coarse: Callable[[str], str]
) -> Counter[tuple[str, str]]:
    """Count the relations of constituents (as in Table 2) that were found: (gold, predicted)."""
    found = (
        label_counts(gold, pred, units="rst", labels=coarse)
        for gold, pred in zip(golds, preds, strict=True)
    )
    return sum((one.pairs for one in found), Counter())


def reproduce_codra2015(
    folders: Mapping[str, Path],
    work: Path,
    *,
    ptb: Path | None = None,
    only: Collection[int] = TABLES,
    tell: Tell = nothing,
) -> tuple[str, Counter[tuple[str, str]]]:
    """Run all experiments; return the tables as Markdown, and Figure 18's counts.

    ``folders`` are those of ``rst-dt``, ``gum`` and ``umuc`` (Tables 3 to 6 only); ``ptb`` is the
    Penn Treebank's, for RST-DT's syntax. ``only`` are the tables that are wanted; Figure 18 comes
    with the sixth.
    """
    parts = []
    counts: Counter[tuple[str, str]] = Counter()
    for name, folder in folders.items():
        theirs = name == "rst-dt"
        treebank = read_treebank(
            name, folder, ptb=ptb if theirs else None, constituency=True, test=theirs
        ).final()
        runs_ = Experiments(treebank, work, tell, published=theirs)
        parts.append(f"### {name} {treebank.part}\n\n{_leaky_line(runs_)}\n")
        if theirs:
            parts.append(f"{BRACKETS.strip()}\n")
        parts += [
            make(runs_) for make, n in ((_table3, 3), (_table4, 4), (_table5, 5)) if n in only
        ]
        if 6 in only:
            found, preds = _table6(runs_)
            parts.append(found)
            coarse = runs_.treebank.relations.coarse
            counts = counts or confusion(runs_.treebank.dev, preds["TSP 1-1"], coarse)
        if name != "umuc":
            later = ((_table7, 7), (_table8, 8), (_table9, 9))
            parts += [make(runs_) for make, n in later if n in only]
    return "\n".join(parts), counts


TABLE3 = (88.0, 92.3, 90.1)
TABLE4 = {"CRF-NC": (95.1, 87.7, 76.6), "PAR-S": (96.5, 89.4, 79.8)}
TABLE5 = {"PAR-S": ((80.8, 84.0, 82.4), (75.2, 78.1, 76.6), (66.1, 68.8, 67.5))}
TABLE6 = {
    "CRF-O": (77.02, 63.84, 48.46),
    "CRF-T": (81.34, 66.52, 53.01),
    "TSP 1-1": (82.56, 68.32, 55.83),
    "TSP SW": (83.84, 68.90, 55.87),
}
TABLE7 = {"PAR-S": (79.77, 84.42, 86.55, 87.68, 88.09, 90.37, 91.74, 92.57, 92.95, 93.22)}
TABLE8 = {"TSP 1-1": (55.83, 56.52, 56.67, 56.80, 56.91, 57.23, 57.54, 57.65, 57.67, 57.74)}
TABLE9 = {
    "sentences": (
        (91.3, 78.2, 66.2), (92.1, 80.3, 68.1), (93.3, 83.8, 74.1), (94.6, 86.8, 76.3),
        (96.5, 89.4, 79.8),
    ),
    "documents": (
        (74.2, 60.6, 46.3), (75.8, 63.7, 50.1), (78.5, 65.6, 52.4), (80.9, 66.9, 53.6),
        (82.6, 68.3, 55.8),
    ),
}  # fmt: skip
"""Published: precision, recall, F (3); span, nuclearity, relation by RST-Parseval (4 to 6, 9); by
number of trees (7, 8)."""


def _table3(experiments: Experiments) -> str:
    rows, notes = [], ""
    for name in ("logistic", "crf"):
        docs = experiments.segmented(name)
        report = experiments.treebank.score(Parse(doc) for doc in docs)
        counts = report["segmentation", "inside", "starts"]
        known = TABLE3 if experiments.published and name == "logistic" else (None,) * 3
        shares = (100 * value for value in (counts.precision, counts.recall, counts.f1))
        rows.append((f"`{name}`", *map(beside, shares, known, (1,) * 3)))
        notes = signature(report, "inside", "segmentation", "starts")
    return table(
        "**Table 3**: segmenters of the same documents, boundaries inside sentences; `logistic` is "
        "the article's.",
        ("segmenter", "precision", "recall", "F"),
        rows,
        notes,
    )


def shipped_table(gum: Path) -> str:
    """Score the shipped model on GUM dev: whole trees, sentences, and by where a span lies."""
    treebank = read_dev("gum", gum)
    experiments = Experiments(treebank, Path())
    parser = CodraParser.load(store.find("parser", "codra", "gum").folder)
    docs = [parse.document for parse in treebank.dev]
    preds = [parser(doc) for doc in docs]
    reports = {
        "documents": treebank.score(preds),
        "sentences by themselves": experiments.sentence_report(parser, docs),
    }
    wanted, found = Counter[str](), Counter[str]()
    for gold, pred in zip(treebank.dev, preds, strict=True):
        level = level_of(gold.document)
        spans = {(join.start, join.end) for join in pred.tree.joins}
        for join in gold.tree.joins:
            place = level(join.start, join.end)
            wanted[place] += 1
            found[place] += (join.start, join.end) in spans
    shares = ", ".join(f"{100 * found[n] / max(1, wanted[n]):.1f} % {n}" for n in LEVELS)
    return (
        _scores_table("**The shipped model**, gold EDUs and syntax, RST-Parseval.", reports, "rst")
        + f"\nShare of the gold spans that are found: {shares}.\n"
    )


def _leaky_line(experiments: Experiments) -> str:
    parts = []
    for split, parses in (("train", experiments.treebank.train), ("dev", experiments.treebank.dev)):
        several, without = leaky(parses)
        parts.append(f"{split}: {without} of {several} ({100 * without / max(1, several):.1f} %)")
    return f"Sentences of several EDUs that have no tree of their own: {'; '.join(parts)}."


def _table4(experiments: Experiments) -> str:
    docs = [parse.document for parse in experiments.treebank.dev]
    rows = {
        "CRF-NC": experiments.parser(parts=INSIDE, chain=False),
        "PAR-S": experiments.parser(parts=INSIDE),
        "ours": experiments.parser(parts=INSIDE, **OURS),
        "ours, reranked": experiments.parser(parts=INSIDE, **RERANKED),
    }
    reports = {name: experiments.sentence_report(p, docs) for name, p in rows.items()}
    return _scores_table(
        "**Table 4**: inside sentences, gold EDUs, RST-Parseval.",
        reports,
        "rst",
        against="CRF-NC",
        known=TABLE4 if experiments.published else {},
    )


def _table5(experiments: Experiments) -> str:
    rows, notes = [], ""
    for name, changes in (("PAR-S", {}), ("ours", OURS)):
        parser = experiments.parser(parts=INSIDE, **changes)
        report = experiments.sentence_report(parser, experiments.segmented())
        counts = [report["parseval", "rst", figure] for figure in FIGURES]
        shares = [(found.precision, found.recall, found.f1) for found in counts]
        known = TABLE5.get(name) if experiments.published else None
        row = [name]
        for ours, theirs in zip(shares, known or ((None,) * 3,) * 3, strict=True):
            row.append(" / ".join(beside(100 * x, y, 1) for x, y in zip(ours, theirs, strict=True)))
        rows.append(row)
        notes = signature(report, "rst")
    return table(
        "**Table 5**: inside sentences, EDUs of `logistic` (Table 3), RST-Parseval, P / R / F.",
        ("parser", *FIGURES),
        rows,
        notes,
    )


def _table6(experiments: Experiments) -> tuple[str, dict[str, list[Parse]]]:
    golds = experiments.treebank.dev
    preds = {}
    for name, changes in ROWS.items():
        parser = experiments.parser(**changes)
        preds[name] = [parser(parse.document) for parse in golds]
    reports = {name: experiments.treebank.score(found) for name, found in preds.items()}
    text = "\n".join(
        [
            _scores_table(
                "**Table 6**: documents, gold EDUs, RST-Parseval.",
                reports,
                "rst",
                against="TSP 1-1",
                known=TABLE6 if experiments.published else {},
            ),
            _scores_table("The same by original Parseval.", reports, "original", against="TSP 1-1"),
        ]
    )
    return text, preds


def _table7(experiments: Experiments) -> str:
    docs = [parse.document for parse in experiments.treebank.dev]
    rows = {}
    for name, changes in (("PAR-S", {}), ("ours", OURS)):
        parser = experiments.parser(parts=INSIDE, **changes)
        pairs = experiments.sentence_pairs(parser, docs, max(KS))
        rows[name] = _oracle(experiments, *pairs)
    reranker = experiments.parser(parts=INSIDE, **RERANKED)
    chosen = _oracle(experiments, *experiments.sentence_pairs(reranker, docs))[0]
    first, best = rows["ours"][0], rows["ours"][KS.index(K)]
    share = (chosen - first) / (best - first) if best > first else 0.0
    table = _oracle_table(
        "**Table 7**: oracle of k-best trees of sentences, gold EDUs.",
        rows,
        TABLE7 if experiments.published else {},
    )
    return (
        f"{table}\nThe tree that the reranker chooses among the first {K} of ours has "
        f"{100 * chosen:.2f}: {100 * share:.0f} % of the way from the first to the best of them.\n"
    )


def _table8(experiments: Experiments) -> str:
    golds = experiments.treebank.dev
    rows = {}
    for name in ("TSP 1-1", "ours, 1-1"):
        parser = experiments.parser(**ROWS[name])
        preds = [parser(parse.document, kbest=max(KS)) for parse in golds]
        rows[name] = _oracle(experiments, golds, preds)
    return _oracle_table(
        "**Table 8**: oracle of k-best trees of documents, gold EDUs.",
        rows,
        TABLE8 if experiments.published else {},
    )


def _oracle(
    experiments: Experiments, golds: Sequence[Parse], preds: Sequence[Parse]
) -> list[float]:
    scores = oracle_scores(golds, preds, k=max(KS), labels=experiments.treebank.relations.coarse)
    return [scores[k - 1].mean for k in KS]


def _oracle_table(
    title: str, rows: Mapping[str, Sequence[float]], known: Mapping[str, Sequence[float]]
) -> str:
    return table(
        f"{title} Mean F of the relation figure of RST-Parseval (their equation 15).",
        ("k", *map(str, KS)),
        [
            (name, *map(beside, (100 * mean for mean in means), known.get(name, (None,) * len(KS))))
            for name, means in rows.items()
        ],
    )


def _table9(experiments: Experiments) -> str:
    docs = [parse.document for parse in experiments.treebank.dev]
    inside = {}
    for last in range(1, len(SENTENCE_STEPS) + 1):
        groups = SENTENCE_STEPS[:last]
        name = f"{'+ ' if last > 1 else ''}{groups[-1]}"
        every = last == len(SENTENCE_STEPS)
        parser = experiments.parser(parts=INSIDE, groups=PAPER_GROUPS if every else groups)
        inside[name] = experiments.sentence_report(parser, docs)
    across = {}
    full = experiments.parser(parts=INSIDE)
    for last in range(1, len(DOCUMENT_STEPS) + 1):
        groups = ("structure", *DOCUMENT_STEPS[:last])
        every = last == len(DOCUMENT_STEPS)
        parser = experiments.parser(parts=("document",), groups=PAPER_GROUPS if every else groups)
        # The sentences' trees are those of all groups: only the second stage is compared.
        mixed = parser.with_sentences_of(full)
        name = f"{'+ ' if last > 1 else ''}{groups[-1]}"
        preds = [mixed(doc) for doc in docs]
        across[name] = experiments.treebank.score(preds)
    return "\n".join(
        [
            _scores_table(
                "**Table 9**, sentences: groups of features.",
                inside,
                "rst",
                known=_by_row(experiments, inside, "sentences"),
            ),
            _scores_table(
                "**Table 9**, documents (TSP 1-1): groups of features.",
                across,
                "rst",
                known=_by_row(experiments, across, "documents"),
            ),
        ]
    )


def _by_row(
    experiments: Experiments, rows: Mapping[str, Report], part: str
) -> dict[str, tuple[float, ...]]:
    """Return Table 9's figures under the names of our rows."""
    return dict(zip(rows, TABLE9[part], strict=True)) if experiments.published else {}


def _scores_table(
    title: str,
    reports: Mapping[str, Report],
    variant: str,
    *,
    against: str | None = None,
    known: Mapping[str, Sequence[float]] | None = None,
) -> str:
    """Write a table; figures that differ from the named row's (p < 0.01, bootstrap) get a star."""
    few = len(next(iter(reports.values())).documents) < FEWEST
    against = None if few else against
    star = f" *: differs from {against}, p < 0.01 (paired bootstrap)." if against else ""
    rows = []
    for name, report in reports.items():
        row = [name]
        theirs = (*(known or {}).get(name, (None,) * 3), None)
        for figure, other in zip((*FIGURES, "full"), theirs, strict=True):
            key = ("parseval", variant, figure)
            differs = against and name != against and _differs(report, reports[against], key)
            row.append(beside(100 * report[key].f1, other) + ("*" if differs else ""))
        rows.append(row)
    first = next(iter(reports.values()))
    columns = ("parser", *FIGURES, "full")
    return table(f"{title}{star}", columns, rows, signature(first, variant))


def _differs(first: Report, second: Report, key: tuple[str, str, str]) -> bool:
    name = Key(*key)
    pairs = [
        (a.counts[name], b.counts[name])
        for a, b in zip(first.documents, second.documents, strict=True)
        if name in a.counts and name in b.counts
    ]
    test = paired_bootstrap([a for a, _ in pairs], [b for _, b in pairs], resamples=2000)
    return test.p_value < 0.01
