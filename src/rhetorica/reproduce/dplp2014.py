"""The experiments of Ji & Eisenstein (2014), on RST-DT or GUM: Table 3, Figure 3, the map of words.

`reproduce_dplp2014` makes the tables: rows named as in the paper learn as published (A starts in
[0, 1], the rate is 1 / t, lambda and tau are chosen on dev); on RST-DT, TEST is then scored once by
a parser of all of TRAINING. `word_map` places the most frequent words in the plane as their Figure
4 does, and tells how often neighbours in the learned space are of one group of words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.document import Document
from rhetorica.errors import ModelError, RhetoricaError, UnknownName
from rhetorica.learn.projection import FORMS, Projection, nmf_projection
from rhetorica.learn.tsne import tsne
from rhetorica.models import store
from rhetorica.parsers.dplp import DPLPParser, Problems
from rhetorica.pipeline import SPACY_SYNTAX, load
from rhetorica.progress import Tell, nothing
from rhetorica.reproduce.runs import Runs
from rhetorica.reproduce.tables import (
    BRACKETS,
    FIGURES,
    NAMES,
    beside,
    cells,
    f1,
    figures,
    percent,
    signature,
    table,
)
from rhetorica.train.treebank import read_dev, read_treebank

RST = "RST-Parseval"
WIDTHS = (30, 60, 90, 150)
L2_GRID = (1.0, 10.0, 50.0, 100.0)
TAUS = (1.0, 0.1, 0.01, 0.001)
"""The values of lambda and of tau that the paper tries (section 4.1)."""
ROWS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("4. Basic features", "A = 0", {"matrix": "none", "features": "paper"}),
    ("6. NMF", "concatenation", {"matrix": "nmf", "features": "none", "width": 150}),
    ("7. Bag-of-words", "A = I", {"matrix": "identity", "features": "paper"}),
    ("- Bag-of-words", "A = I", {"matrix": "identity", "features": "none"}),
    ("8. DPLP", "concatenation", {"matrix": "concatenation", "features": "none"}),
    ("9. DPLP", "difference", {"matrix": "difference", "features": "none"}),
    ("10. DPLP", "concatenation", {"matrix": "concatenation", "features": "paper"}),
    ("11. DPLP", "general", {"matrix": "general", "features": "paper", "width": 30}),
    ("ours", "A = 0", {"matrix": "none", "features": "extended"}),
    ("ours", "A = I", {"matrix": "identity", "features": "extended"}),
    ("ours", "concatenation", {"matrix": "concatenation", "features": "extended"}),
)
"""The rows of Table 3, and ours; 5 needs word vectors, which a user must give."""
VECTORS = ("5. Word embeddings", "concatenation", {"matrix": "vectors", "features": "none"})
TABLE3 = {
    "4": (79.43, 67.98, 52.96),
    "5": (75.28, 67.14, 53.79),
    "6": (78.57, 67.66, 54.80),
    "7": (79.85, 69.01, 60.21),
    "8": (80.91, 69.39, 58.96),
    "9": (80.47, 68.61, 58.27),
    "10": (82.08, 71.13, 61.63),
    "11": (81.60, 70.95, 61.75),
}
"""Published: span, nuclearity, relation by RST-Parseval."""
PUBLISHED: dict[str, Any] = {
    "folds": 0,
    "branching": "right",
    "min_count": 1,
    "samples": 0,
    "start": "uniform",
    "rate": "published",
}
"""What makes the parser the one of the paper, besides matrix and features."""
OURS: dict[str, Any] = {"min_count": 2, "samples": 0, "start": "words", "rate": "mean"}

GROUPS: dict[str, tuple[str, ...]] = {
    "conjunction": tuple("and or also besides plus additionally furthermore moreover".split()),
    "contrast": tuple("but however though although yet while whereas nevertheless despite".split()),
    "precedence": tuple("before then until till later next finally eventually".split()),
    "result": tuple("so thus therefore hence consequently accordingly".split()),
    "succession": tuple("after since once when afterwards".split()),
    "modal verbs": tuple("can could may might must shall should will would 'll ca wo".split()),
    "reporting verbs": tuple(
        "say says said saying tell tells told telling think thinks thought believe believes report "
        "reported claim claims claimed suggest suggests suggested explain explained argue argued "
        "argues note noted notes know knew show shows showed asked".split()
    ),
}
"""Words whose place in the map is of interest: five kinds of connectives, two kinds of verbs."""


@dataclass(frozen=True)
class WordMap:
    """Frequent words, their places in the plane, and how well groups hold together.

    ``purity`` is the share of the ten nearest neighbours (in the space, not in the plane) of a
    grouped word that are of its group; ``chance`` the share that random neighbours would have.
    """

    words: tuple[str, ...]
    places: tuple[tuple[float, float], ...]
    purity: dict[str, float]
    chance: dict[str, float]


@dataclass(frozen=True)
class Experiments(Runs):
    """Trainings that share what does not depend on the regularisers."""

    lambdas: tuple[float, ...] = L2_GRID
    taus: tuple[float, ...] = TAUS
    problems: Problems = field(default_factory=dict)

    @cached_property
    def final(self) -> Experiments:
        """The trainings whose figures are printed: the same, unless there is a test set."""
        treebank = self.treebank.final()
        return self if treebank is self.treebank else Experiments(treebank, self.folder, self.tell)

    def best(self, **settings: Any) -> dict[str, Any]:
        """Return the figures of the regularisers that are best on dev, as the paper does."""
        taus = self.taus if settings["matrix"] in FORMS else (1.0,)
        found = [self.run(l2=l2, tau=tau, **settings) for l2 in self.lambdas for tau in taus]
        best = max(found, key=lambda figures: f1(figures, "parseval", "original", "full"))
        return self.final.run(**best["settings"])

    def run(self, **settings: Any) -> dict[str, Any]:
        """Train and score one setting, or recall it."""

        def train() -> dict[str, Any]:
            coarse = self.treebank.relations.coarse
            parser = DPLPParser(**settings)
            parser.fit(self.treebank.train, coarse=coarse, problems=self.problems)
            report = self.treebank.score(parser(gold.document) for gold in self.treebank.dev)
            return figures(report) | {"settings": settings}

        return self.figures(settings, train)


def reproduce_dplp2014(
    folders: Mapping[str, Path],
    work: Path,
    *,
    ptb: Path | None = None,
    vectors: Path | None = None,
    lambdas: Sequence[float] = (),
    taus: Sequence[float] = (),
    rows: Sequence[str] = (),
    tell: Tell = nothing,
) -> str:
    """Run all experiments and return the tables as Markdown.

    ``folders`` are those of ``rst-dt`` and ``gum``; ``ptb`` is the Penn Treebank's, for RST-DT's
    syntax; ``vectors`` a file of word vectors, for row 5. ``lambdas`` and ``taus`` are tried on
    dev; unless told, the paper's (but of tau 1 alone, where it is not the paper's corpus).
    ``rows`` are those of Table 3 that are wanted (``4``, ``ours``), all and Figure 3 if none.
    """
    known = {_number(name) for name, *_ in (*ROWS, VECTORS)}
    for name in rows:
        if name not in known:
            raise UnknownName("row of Table 3:", name, known)
    if vectors is None and _number(VECTORS[0]) in rows:
        raise RhetoricaError("row 5 has word vectors: give --vectors")
    parts = []
    for name, folder in folders.items():
        theirs = name == "rst-dt"
        treebank = read_treebank(name, folder, ptb=ptb if theirs else None, test=theirs)
        tried = tuple(taus) or (TAUS if theirs else TAUS[:1])
        runs = Experiments(treebank, work, tell, tuple(lambdas) or L2_GRID, tried)
        parts.append(_main_table(runs, vectors, rows, published=theirs))
        if not rows:
            parts.append(_width_table(runs))
    return "\n".join(parts)


def _number(row: str) -> str:
    """Return what a row of Table 3 is called by: its number, or its first word."""
    return row.split(maxsplit=1)[0].rstrip(".")


def _main_table(
    runs: Experiments, vectors: Path | None, only: Sequence[str], *, published: bool
) -> str:
    rows, found = [], {}
    chosen = list(ROWS)
    if vectors is not None:
        name, matrix, settings = VECTORS
        chosen.insert(1, (name, matrix, {**settings, "vectors": str(vectors)}))
    for name, matrix, settings in chosen:
        if only and _number(name) not in only:
            continue
        theirs = OURS if settings["features"] == "extended" else PUBLISHED
        # How A starts and steps is of no matter where it is not learned.
        learned = settings["matrix"] in FORMS
        starts = [theirs]
        if learned and theirs is PUBLISHED:
            starts.append({**theirs, "start": "words", "rate": "mean"})
        for how in starts:
            found = runs.best(**settings, **how)
            known = TABLE3.get(_number(name)) if published and how is PUBLISHED else None
            rows.append((name, matrix, settings["features"], *_row(found, known)))
    note = BRACKETS if published else ""
    treebank = runs.final.treebank
    return table(
        f"**Table 3**: {treebank.name} {treebank.part}, forms of A and baselines, gold EDUs "
        f"({NAMES}).{note}",
        (
            "method",
            "matrix",
            "features",
            "K",
            "start, rate",
            "lambda, tau",
            "original Parseval",
            RST,
        ),
        rows,
        signature(found),
        signature(found, "rst"),
    )


def _row(found: dict[str, Any], known: Sequence[float] | None = None) -> tuple[str, ...]:
    chosen = found["settings"]
    learned = chosen["matrix"] in FORMS
    width = str(chosen.get("width", 60)) if learned or chosen["matrix"] == "nmf" else "-"
    start = f"{chosen['start']}, {chosen['rate']}" if learned else "-"
    strengths = f"{chosen['l2']:g}" + (f", {chosen['tau']:g}" if learned else "")
    ours = cells(found, "rst")
    if known:
        shares = [100 * f1(found, "parseval", "rst", name) for name in FIGURES]
        ours = " / ".join(map(beside, shares, (*known, None)))
    return width, start, strengths, cells(found), ours


def _width_table(runs: Experiments) -> str:
    rows = []
    for form in ("concatenation", "general"):
        settings: dict[str, Any] = {"matrix": form, "features": "paper"}
        found = [runs.best(**settings, **PUBLISHED, width=width) for width in WIDTHS]
        rows.append((form, *(cells(one, names=("span", "full")) for one in found)))
    return table(
        "**Figure 3**: effect of K, with the paper's features and learning (original Parseval, "
        "span / full).",
        ("form", *(f"K = {width}" for width in WIDTHS)),
        rows,
    )


def shipped_table(folders: Mapping[str, Path]) -> str:
    """Score the shipped model on dev sets: with gold EDUs, and from raw text."""
    rows = []
    signatures: list[str] = []
    pipeline = load("en", parser="dplp", segmenter="crf", syntax=SPACY_SYNTAX)
    for name, folder in folders.items():
        treebank = read_dev(name, folder)
        golds = treebank.dev
        inputs = {
            "gold EDUs": [gold.document for gold in golds],
            "raw text": [Document(gold.document.text, id=gold.id) for gold in golds],
        }
        for label, docs in inputs.items():
            report = treebank.score(pipeline.pipe(docs))
            edus = percent(report["segmentation", "all", "starts"].f1)
            rows.append((name, label, edus, cells(report), cells(report, "rst")))
            signatures += [signature(report), signature(report, "rst")]
    return table(
        f"**The shipped model** on dev sets ({NAMES}); raw text: EDUs of `crf`, spaCy syntax.",
        ("corpus", "input", "EDUs", "original Parseval", RST),
        rows,
        *dict.fromkeys(signatures),
    )


def search_table(gum: Path) -> str:
    """Score the shipped model on GUM dev with gold EDUs, by how it searches."""
    parser = DPLPParser.load(store.find("parser", "dplp", "gum").folder)
    treebank = read_dev("gum", gum)
    rows = []
    for name, beam, samples in (
        ("greedy", 1, 0),
        ("beam of 4", 4, 0),
        ("beam of 8", 8, 0),
        ("votes of 8", 1, 8),
        ("votes of 16", 1, 16),
        ("votes of 32", 1, 32),
    ):
        parser.settings = replace(parser.settings, beam=beam, samples=samples)
        report = treebank.score(parser(gold.document) for gold in treebank.dev)
        rows.append((name, *cells(report).split(" / ")))
    return table(
        "**Search**, the shipped model, GUM dev, gold EDUs (original Parseval).",
        ("search", *FIGURES),
        rows,
    )


def word_map(
    gum: Path, *, nmf: bool = False, count: int = 1000, l2: float = 50.0, tau: float = 1.0
) -> WordMap:
    """Learn a concatenation projection with K = 60 from words alone; place the frequent words.

    The projection starts from the weights of words. With ``nmf``, the space is NMF's instead.
    """
    treebank = read_treebank("gum", gum)
    how = {**PUBLISHED, "start": "words", "rate": "mean"}
    parser = DPLPParser(features="none", l2=l2, tau=tau, **how)
    problem = parser.prepare(treebank.train, coarse=treebank.relations.coarse)
    if nmf:
        projection = nmf_projection(problem.units, parser.settings.width)
    else:
        projection = _learned(parser.fit_problem(problem))
    totals = np.asarray(problem.units.sum(axis=0)).reshape(-1)
    frequent = np.argsort(-totals, kind="stable")[:count]
    names = list(parser.words_)
    words = tuple(names[i] for i in frequent)
    vectors = projection.parts[0][frequent].astype(np.float64)
    # Only the direction of a word's vector tells what it says; its length, how much.
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    places = tuple((float(x), float(y)) for x, y in tsne(vectors))
    purity, chance = _purities(vectors, words)
    return WordMap(words, places, purity, chance)


def _learned(parser: DPLPParser) -> Projection:
    if parser.projection_ is None:
        raise ModelError("the parser has no projection: train one of the three forms")
    return parser.projection_


def _purities(
    vectors: npt.NDArray[np.float64], words: Sequence[str], neighbours: int = 10
) -> tuple[dict[str, float], dict[str, float]]:
    """Return, for each group, the share of its words' nearest neighbours that belong to it."""
    nearness = vectors @ vectors.T
    np.fill_diagonal(nearness, -np.inf)
    nearest = np.argsort(-nearness, axis=1, kind="stable")[:, :neighbours]
    purity, chance = {}, {}
    for name, group in GROUPS.items():
        inside = np.isin(words, group)
        if inside.sum() > 1:
            purity[name] = float(inside[nearest[inside]].mean())
            chance[name] = float((inside.sum() - 1) / (len(words) - 1))
    return purity, chance
