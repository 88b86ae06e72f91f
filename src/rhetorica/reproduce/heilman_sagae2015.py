"""The tables of Heilman & Sagae (2015): on RST-DT beside the published ones, on GUM and UMUC dev.

Their Table 1 (segmentation), Table 2 (accuracy), Table 3 (gold against automatic syntax), the
strengths of section 5, the beams that they mention but do not use; then what our features are
worth, and where errors are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from rhetorica.document import Document
from rhetorica.evaluate import Report
from rhetorica.evaluate.counts import Counts
from rhetorica.parsers.shift_reduce import BEAM, STRENGTH_GRID, ShiftReduceParser
from rhetorica.parsers.transition.templates import GROUPS
from rhetorica.parses import Parse
from rhetorica.pipeline import SPACY_SYNTAX, load
from rhetorica.progress import Tell, nothing
from rhetorica.reproduce.runs import Runs
from rhetorica.reproduce.tables import (
    BRACKETS,
    FIGURES,
    NAMES,
    arcs,
    beside,
    cells,
    percent,
    signature,
    table,
)
from rhetorica.segmenters.boundaries import cut
from rhetorica.segmenters.crf import L2_GRID, CRFSegmenter
from rhetorica.segmenters.features import PAPER as SEGMENTER_FEATURES
from rhetorica.train.treebank import Treebank, read_treebank

TABLES = (
    "segmentation", "accuracy", "raw", "umuc", "strengths", "syntax", "search", "features",
    "levels", "relations",
)  # fmt: skip
"""The tables on GUM, by names."""
BEAMS = (1, 2, 4, 8, 16, 32)
VOTES = (4, 8, 16, 32, 64)
LEVELS = ("inside a sentence", "sentences of a paragraph", "across paragraphs")
PAPER: dict[str, Any] = {
    "features": "paper",
    "explore": 0,
    "min_count": 1,
    "branching": "left",
    "head": "word",
    "phrases": True,
    "epochs": 200,
    "tolerance": 1e-3,
}
"""Their training: one classifier, gold states, until it has converged. Its strength is chosen."""
SEGMENTER: dict[str, Any] = {
    "groups": SEGMENTER_FEATURES,
    "l1": 0.0,
    "min_count": 1,
    "decoding": "viterbi",
}
"""Their segmenter; its strength is chosen on dev."""
SAMPLES = 32
"""Votes, where nothing else is said: the shipped parser takes fewer, to be faster."""
GREEDY: dict[str, Any] = {"samples": 0, "beam": 1}
"""How they search."""
TABLE1 = (90.2, 83.5, 86.7)
TABLE2 = (83.5, 68.1, 55.1)
TABLE3 = {"automatic": (83.5, 69.3, 57.4), "gold": (84.7, 71.2, 59.4)}
"""Published: precision, recall, F; span, nuclearity, relation (with nuclearity)."""


@dataclass(frozen=True)
class Experiments(Runs):
    """Trains parsers, and remembers them."""

    def parser(
        self, *, syntax: str = "gold", beam: int = BEAM, samples: int = SAMPLES, **settings: Any
    ) -> ShiftReduceParser:
        """Train a parser, or recall it; ``beam`` and ``samples`` are set afterwards."""

        def train(path: Path) -> None:
            treebank = self.automatic if syntax == "automatic" else self.treebank
            parser = ShiftReduceParser(**settings)
            parser.fit(treebank.train, coarse=treebank.relations.coarse).save(path)

        parser = self.model({**settings, "syntax": syntax}, train, ShiftReduceParser.load)
        return ShiftReduceParser.from_state(parser.state(), beam=beam, samples=samples)

    def segmenter(self, *, syntax: str = "gold", **settings: Any) -> CRFSegmenter:
        """Train a segmenter, or recall it."""

        def train(path: Path) -> None:
            treebank = self.automatic if syntax == "automatic" else self.treebank
            docs = [parse.document for parse in treebank.train]
            CRFSegmenter(**settings).fit(docs).save(path)

        return self.model({**settings, "syntax": syntax}, train, CRFSegmenter.load)

    @cached_property
    def automatic(self) -> Treebank:
        """The documents with our own sentences, paragraphs and syntax."""
        return self.treebank.automatic()

    def report(self, parser: ShiftReduceParser, dev: Sequence[Parse] | None = None) -> Report:
        """Parse dev documents with gold EDUs and score them."""
        return self.treebank.score(parser(parse.document) for parse in dev or self.treebank.dev)

    def cuts(self, segmenter: CRFSegmenter, *, syntax: str = "gold") -> Report:
        """Cut dev documents and score their EDUs."""
        dev = self.automatic.dev if syntax == "automatic" else self.treebank.dev
        docs = [parse.document for parse in dev]
        threshold = segmenter.threshold
        return self.treebank.score(
            cut(doc, segmenter.boundaries(doc), threshold=threshold) for doc in docs
        )


def reproduce_heilman_sagae(
    gum: Path | None,
    work: Path,
    *,
    umuc: Path | None = None,
    rst_dt: Path | None = None,
    ptb: Path | None = None,
    ablation: bool = True,
    only: Collection[str] = TABLES,
    strengths: Sequence[float] = (),
    l2: Sequence[float] = (),
    tell: Tell = nothing,
) -> str:
    """Run all experiments and return the tables as Markdown; ``ablation`` takes half the time.

    ``only`` are the tables of GUM that are wanted. On RST-DT (``rst_dt``; ``ptb`` for gold syntax)
    strengths are chosen on dev, and TEST is scored once, beside the published figures. The paper's
    nine ``strengths`` of the parser, and thirteen of the segmenter (``l2``), are tried unless
    others are given.
    """
    parts: list[str] = []
    grid, cuts = tuple(strengths) or STRENGTH_GRID, tuple(l2) or L2_GRID
    if rst_dt is not None:
        treebank = read_treebank("rst-dt", rst_dt, ptb=ptb, constituency=True, test=True)
        parts += _published_tables(treebank, work, grid, cuts, gold=ptb is not None, tell=tell)
    if gum is None:
        return "\n".join(parts)
    runs = Experiments(read_treebank("gum", gum, constituency=True), work, tell)
    tuned = cache(lambda: _strength_table(runs, grid))

    def paper() -> dict[str, Any]:
        return {**PAPER, "strength": tuned()[0]}

    make: dict[str, Callable[[], str]] = {
        "segmentation": lambda: _segmenter_table(runs, runs, ("gold", "automatic"), cuts),
        "accuracy": lambda: _accuracy_table(runs, paper()),
        "raw": lambda: _raw_table(runs),
        "umuc": lambda: _umuc_table(runs, umuc) if umuc else "",
        "strengths": lambda: tuned()[1],
        "syntax": lambda: _syntax_table(runs, paper()),
        "search": lambda: _beam_table(runs, paper()),
        "features": lambda: _feature_table(runs) if ablation else "",
        "levels": lambda: _level_table(runs, paper()),
        "relations": lambda: _relation_table(runs),
    }
    parts += [make[name]() for name in TABLES if name in only]
    return "\n".join(part for part in parts if part)


def _published_tables(
    treebank: Treebank,
    work: Path,
    grid: Sequence[float],
    cuts: Sequence[float],
    *,
    gold: bool,
    tell: Tell,
) -> list[str]:
    """Make Tables 1 to 3 on their own corpus."""
    tuning, final = Experiments(treebank, work, tell), Experiments(treebank.final(), work, tell)
    kinds = ("automatic", "gold") if gold else ("automatic",)
    rows, dev_rows = [], []
    notes: dict[str, None] = {}
    for syntax in kinds:
        strength, report = _best_strength(tuning, grid, syntax)
        dev_rows.append((syntax, f"{strength:g}", _beside(report, TABLE3[syntax])))
        settings = {**PAPER, **GREEDY, "strength": strength}
        parser = final.parser(syntax=syntax, **settings)
        held = final.automatic.dev if syntax == "automatic" else final.treebank.dev
        found = final.report(parser, held)
        known = TABLE2 if syntax == "automatic" else None
        rows.append((syntax, _beside(found, known), cells(found)))
        notes[signature(found, "rst")] = None
    return [
        "## rst-dt\n",
        _segmenter_table(tuning, final, kinds, cuts, published=TABLE1),
        table(
            "**Table 2**: TEST, gold EDUs, `paper`, greedy; RST-Parseval of span / nuclearity / "
            f"both with relation.{BRACKETS}",
            ("syntax", "RST-Parseval", f"original Parseval ({NAMES})"),
            rows,
            *notes,
        ),
        table(
            "**Table 3**: dev (every tenth document of TRAINING), gold EDUs, RST-Parseval.",
            ("syntax", "strength", "span / nuclearity / both with relation"),
            dev_rows,
        ),
    ]


def _beside(report: Report, known: Sequence[float] | None) -> str:
    names = ("span", "nuclearity", "full")
    found = (100 * report["parseval", "rst", name].f1 for name in names)
    return " / ".join(map(beside, found, known or (None,) * 3, (1,) * 3))


def _best_strength(
    runs: Experiments, grid: Sequence[float], syntax: str = "gold"
) -> tuple[float, Report]:
    """Return the strength of the published features that is best on dev, and its scores."""
    dev = runs.automatic.dev if syntax == "automatic" else runs.treebank.dev
    reports = {
        strength: runs.report(runs.parser(syntax=syntax, **PAPER, **GREEDY, strength=strength), dev)
        for strength in grid
    }
    best = max(reports, key=lambda strength: reports[strength]["parseval", "original", "full"].f1)
    return best, reports[best]


def _segmenter_table(
    tuning: Experiments,
    final: Experiments,
    kinds: Sequence[str],
    grid: Sequence[float],
    *,
    published: Sequence[float] | None = None,
) -> str:
    """Make Table 1: boundaries inside sentences, by whose syntax is seen."""
    rows = []
    notes: dict[str, None] = {}
    for syntax in kinds:
        phrases = syntax == "gold"
        settings: dict[str, Any] = {**SEGMENTER, "phrases": phrases}

        def figure(l2: float, syntax: str = syntax, settings: Any = settings) -> float:
            model = tuning.segmenter(syntax=syntax, l2=l2, **settings)
            return tuning.cuts(model, syntax=syntax)["segmentation", "inside", "starts"].f1

        l2 = max(grid, key=figure)
        report = final.cuts(final.segmenter(syntax=syntax, l2=l2, **settings), syntax=syntax)
        counts = report["segmentation", "inside", "starts"]
        known = published if published and syntax == "automatic" else (None,) * 3
        shares = (100 * value for value in (counts.precision, counts.recall, counts.f1))
        tree = "phrases" if phrases else "dependencies"
        rows.append((f"{syntax} ({tree})", f"{l2:g}", *map(beside, shares, known)))
        notes[signature(report, "inside", "segmentation", "starts")] = None
    return table(
        "**Table 1**: segmenter, boundaries inside sentences; their features, Viterbi; L2 chosen "
        f"on dev, of {', '.join(f'{value:g}' for value in grid)}.{BRACKETS if published else ''}",
        ("syntax", "L2", "precision", "recall", "F1"),
        rows,
        *notes,
    )


def _strength_table(runs: Experiments, grid: Sequence[float]) -> tuple[float, str]:
    """Tune the strength of the published features; return the best, and the table."""
    rows = []
    best = (-1.0, 0.0)
    for strength in grid:
        parser = runs.parser(**PAPER, **GREEDY, strength=strength)
        report = runs.report(parser)
        count = sum(int((model.weights != 0).sum()) for model in parser.models_.values())
        rows.append((f"{strength:g}", cells(report), f"{count:,}"))
        best = max(best, (report["parseval", "original", "full"].f1, strength))
    return best[1], table(
        "**Strength of the L1 penalty** (section 5; `paper` features, greedy; larger is weaker)",
        ("strength", NAMES, "weights"),
        rows,
    )


def _accuracy_table(runs: Experiments, paper: dict[str, Any]) -> str:
    reports = {
        name: runs.report(runs.parser(**settings))
        for name, settings in (
            ("`paper`, greedy (as published)", {**paper, **GREEDY}),
            ("`paper`, votes", paper),
            ("`extended`, gold states only, greedy", {"explore": 0, **GREEDY}),
            ("`extended`, gold states only, votes", {"explore": 0}),
            ("`extended`, exploration, greedy", GREEDY),
            (f"`extended`, exploration, votes of {SAMPLES}", {}),
        )
    }
    last = next(reversed(reports.values()))
    return table(
        f"**Accuracy** (Table 2), gold EDUs and syntax ({NAMES})",
        ("parser", "original Parseval", "RST-Parseval", "UAS / LAS"),
        [(name, cells(r), cells(r, "rst"), arcs(r)) for name, r in reports.items()],
        signature(last),
        signature(last, "rst"),
    )


def _raw_table(runs: Experiments) -> str:
    pipeline = load("en", parser="shift-reduce", segmenter="crf", syntax=SPACY_SYNTAX)
    golds = runs.treebank.dev
    report = runs.treebank.score(
        pipeline.pipe(Document(gold.document.text, id=gold.id) for gold in golds)
    )
    edus = percent(report["segmentation", "all", "starts"].f1)
    return table(
        "**From raw text** (shipped model): EDUs of the CRF, syntax of our spaCy pipeline",
        ("segmentation", "original Parseval", "RST-Parseval"),
        [(edus, cells(report), cells(report, "rst"))],
        signature(report),
    )


def _umuc_table(runs: Experiments, folder: Path) -> str:
    """Parse another treebank: with the model of GUM, and with one of its own."""
    own = replace(runs, treebank=read_treebank("umuc", folder))
    foreign = [runs.parser()(parse.document) for parse in own.treebank.dev]
    # GUM's relations are not those of UMUC: only spans and nuclearity can be compared.
    bare = own.treebank.score(foreign, coarse=False)
    report = own.report(own.parser())
    return table(
        "**UMUC dev** (UN Security Council; gold EDUs, our sentences and syntax)",
        ("trained on", "original Parseval", "RST-Parseval"),
        [
            ("GUM", *(cells(bare, kind, FIGURES[:2]) + " / - / -" for kind in ("original", "rst"))),
            ("UMUC", cells(report), cells(report, "rst")),
        ],
        signature(report),
    )


def _syntax_table(runs: Experiments, paper: dict[str, Any]) -> str:
    rows = []
    for name, settings in (
        ("`paper`, greedy", {**paper, **GREEDY}),
        ("`extended`, votes", {"explore": 0}),
    ):
        for syntax in ("gold", "automatic"):
            parser = runs.parser(syntax=syntax, **settings)
            for applied in ("gold", "automatic"):
                dev = runs.automatic.dev if applied == "automatic" else None
                rows.append((name, syntax, applied, cells(runs.report(parser, dev))))
    return table(
        "**Gold and automatic syntax** (Table 3), gold EDUs, trained on gold states only",
        ("features", "trained with", "applied to", NAMES),
        rows,
    )


def _beam_table(runs: Experiments, paper: dict[str, Any]) -> str:
    searches: dict[str, dict[str, Any]] = {
        **{f"beam {beam}": {"beam": beam, "samples": 0} for beam in BEAMS},
        **{f"votes of {samples}": {"samples": samples} for samples in VOTES},
    }
    return table(
        "**Beams and votes**, gold EDUs and syntax, original Parseval (figures as above)",
        ("search", "`paper`", "`extended`"),
        [
            (name, *(cells(runs.report(runs.parser(**given, **how))) for given in (paper, {})))
            for name, how in searches.items()
        ],
    )


def _feature_table(runs: Experiments) -> str:
    without: dict[str, list[str]] = {
        "all": [],
        **{f"without {group}": [group] for group in GROUPS},
        "without any (`paper`, two classifiers)": list(GROUPS),
    }
    return table(
        "**What our features are worth**: without a group (gold states only, votes)",
        ("features", NAMES),
        [
            (name, cells(runs.report(runs.parser(explore=0, without=groups))))
            for name, groups in without.items()
        ],
    )


def level_of(doc: Document) -> Callable[[int, int], str]:
    """Return a function that says where a range of EDUs lies."""
    sentences, paragraphs = doc.edu_sentences(), doc.edu_paragraphs()

    def level(start: int, end: int) -> str:
        if sentences[start] == sentences[end - 1]:
            return LEVELS[0]
        return LEVELS[1] if paragraphs[start] == paragraphs[end - 1] else LEVELS[2]

    return level


def _matches(
    runs: Experiments, parser: Any, group: Callable[[Parse], Callable[[Any], str]]
) -> tuple[Counter[str], Counter[str], Counter[str], Counter[str]]:
    """Count, by group, the units of gold and parser, those found, and those found with label."""
    coarse = runs.treebank.relations.coarse
    gold_counts, pred_counts = Counter[str](), Counter[str]()
    spans, full = Counter[str](), Counter[str]()
    for gold in runs.treebank.dev:
        of = group(gold)
        pred = parser(gold.document).tree
        units = {(join.start, join.end): join for join in gold.tree.joins}
        for join in gold.tree.joins:
            gold_counts[of(join)] += 1
        for join in pred.joins:
            pred_counts[of(join)] += 1
            found = units.get((join.start, join.end))
            if found is None:
                continue
            spans[of(found)] += 1
            same = found.nuclearity == join.nuclearity
            full[of(found)] += same and coarse(found.relation) == coarse(join.relation)
    return gold_counts, pred_counts, spans, full


def _level_table(runs: Experiments, paper: dict[str, Any]) -> str:
    def group(gold: Parse) -> Callable[[Any], str]:
        level = level_of(gold.document)
        return lambda join: level(join.start, join.end)

    rows: list[tuple[object, ...]] = []
    share: tuple[int, ...] = ()
    for name, settings in (("`paper`, greedy", {**paper, **GREEDY}), ("`extended`, votes", {})):
        golds, preds, spans, full = _matches(runs, runs.parser(**settings), group)
        found = (
            " / ".join(percent(Counts(c[k], golds[k], preds[k]).f1) for c in (spans, full))
            for k in LEVELS
        )
        rows.append((name, *found))
        share = tuple(golds[k] for k in LEVELS)
    return table(
        "**Where the errors are**: F1 of spans / of labelled spans by where a unit lies",
        ("parser", *LEVELS),
        [*rows, ("units in gold", *share)],
    )


def _relation_table(runs: Experiments) -> str:
    coarse = runs.treebank.relations.coarse
    golds, preds, spans, full = _matches(
        runs, runs.parser(), lambda gold: lambda join: str(coarse(join.relation))
    )
    return table(
        "**Relations** (`extended`): units in gold, share whose span is found, F1 of labelled "
        "spans",
        ("relation", "units", "span found", "labelled F1"),
        [
            (
                name,
                count,
                percent(spans[name] / count, 1),
                percent(Counts(full[name], count, preds[name]).f1, 1),
            )
            for name, count in golds.most_common()
        ],
    )
