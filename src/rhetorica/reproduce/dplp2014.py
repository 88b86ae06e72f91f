"""The experiments of Ji & Eisenstein (2014) on GUM: Table 3, Figure 3, and the map of words.

`reproduce_dplp2014` makes the tables, `word_map` places the most frequent words in the plane as
their Figure 4 does, and tells how often neighbours in the learned space are of one group of words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.corpora import read_corpus
from rhetorica.document import Document
from rhetorica.errors import ModelError
from rhetorica.evaluate import evaluate
from rhetorica.files import write_text
from rhetorica.learn.projection import FORMS, Problem, Projection, nmf_projection
from rhetorica.learn.tsne import tsne
from rhetorica.models import store
from rhetorica.parsers import load
from rhetorica.parsers.dplp import DPLPParser
from rhetorica.relations import relation_set
from rhetorica.reproduce import Say, Treebank, read_treebank
from rhetorica.train.dplp import score_dplp

FIGURES = ("span", "nuclearity", "relation", "full")
WIDTHS = (30, 60, 90, 150)
L2_GRID = (20.0, 100.0)
TAU = 1.0
"""The paper tries lambda in 1, 10, 50, 100 and tau in 1, 0.1, 0.01, 0.001; here fewer."""
STARTS = ("random", "words")
ROWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("4. Basic features | A = 0", {"matrix": "none", "features": "paper"}),
    ("6. NMF | concatenation", {"matrix": "nmf", "features": "none", "width": 150}),
    ("7. Bag-of-words | A = I", {"matrix": "identity", "features": "paper"}),
    ("- Bag-of-words | A = I", {"matrix": "identity", "features": "none"}),
    ("8. DPLP | concatenation", {"matrix": "concatenation", "features": "none"}),
    ("9. DPLP | difference", {"matrix": "difference", "features": "none"}),
    ("10. DPLP | concatenation", {"matrix": "concatenation", "features": "paper"}),
    ("11. DPLP | general", {"matrix": "general", "features": "paper", "width": 30}),
    ("ours | A = 0", {"matrix": "none", "features": "extended"}),
    ("ours | A = I", {"matrix": "identity", "features": "extended"}),
    ("ours | concatenation", {"matrix": "concatenation", "features": "extended"}),
)
"""The rows of Table 3 (5 needs word vectors that are not ours to give), and ours."""
PUBLISHED = {"folds": 0, "branching": "right", "min_count": 1}
"""What makes the parser the one of the paper, besides matrix and features."""

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


class Experiments:
    """Runs trainings and remembers their figures in a folder."""

    def __init__(self, folder: Path, treebank: Treebank, *, say: Say) -> None:
        self.folder, self.treebank, self.say = folder, treebank, say
        self._problems: dict[str, tuple[Problem, DPLPParser]] = {}

    def best(self, **settings: Any) -> dict[str, Any]:
        """Return the figures of the best regulariser on dev, as the paper chooses it."""
        found = [self.run(l2=l2, tau=TAU, **settings) for l2 in L2_GRID]
        return max(found, key=lambda figures: float(figures["original-full"]))

    def run(self, **settings: Any) -> dict[str, Any]:
        """Train and score one setting, or recall it."""
        key = json.dumps([self.treebank.name, settings], sort_keys=True)
        path = self.folder / f"{hashlib.sha1(key.encode()).hexdigest()[:16]}.json"
        if path.is_file():
            return dict(json.loads(path.read_text("utf-8")))
        report = score_dplp(
            self.train(**settings),
            self.treebank.dev,
            self.treebank.relations,
            f"{self.treebank.name}-dev",
        )
        figures: dict[str, Any] = {"settings": settings}
        for variant in ("original", "rst"):
            for figure in FIGURES:
                figures[f"{variant}-{figure}"] = report["parseval", variant, figure].f1
        figures["signature"] = next(
            row.signature for row in report.table() if row.metric == "parseval"
        )
        write_text(path, json.dumps(figures, indent=1))
        self.say(f"{key}: span {figures['original-span']:.4f} full {figures['original-full']:.4f}")
        return figures

    def train(self, **settings: Any) -> DPLPParser:
        """Train one setting."""
        parser = DPLPParser(**settings)
        shared = {k: v for k, v in settings.items() if k in ("features", *PUBLISHED)}
        if settings.get("folds", DPLPParser().folds):
            shared["l2"] = settings["l2"]
        key = json.dumps(shared, sort_keys=True)
        if key not in self._problems:
            coarse = self.treebank.relations.coarse
            self._problems[key] = parser.prepare(self.treebank.train, coarse=coarse), parser
        problem, first = self._problems[key]
        parser.actions_, parser.words_, parser.keys_ = first.actions_, first.words_, first.keys_
        return parser.fit_problem(problem)


def reproduce_dplp2014(gum: Path, work: Path, *, say: Say = print) -> str:
    """Run all experiments and return the tables as Markdown."""
    runs = Experiments(work, read_treebank("gum", gum), say=say)
    return "\n".join([_main_table(runs), _width_table(runs)])


def _main_table(runs: Experiments) -> str:
    lines = [
        "**Table 3**: forms of A and baselines, gold EDUs (span / nuclearity / relation / full).\n",
        "| method | matrix | features | K | start | lambda | original Parseval | RST-Parseval |",
        "|---|---|---|---|---|---|---|---|",
    ]
    signature = ""
    for name, settings in ROWS:
        published = {} if settings["features"] == "extended" else PUBLISHED
        for start in STARTS if settings["matrix"] in FORMS else STARTS[:1]:
            figures = runs.best(**settings, **published, start=start)
            lines.append(f"| {name} | {settings['features']} | {_row(figures)} |")
            signature = figures["signature"]
    return "\n".join([*lines, "", f"`{signature}`", ""])


def _row(figures: dict[str, Any]) -> str:
    chosen = figures["settings"]
    learned = chosen["matrix"] in FORMS
    width = str(chosen.get("width", 60)) if learned or chosen["matrix"] == "nmf" else "-"
    cells = [
        " / ".join(f"{100 * figures[f'{variant}-{figure}']:.2f}" for figure in FIGURES)
        for variant in ("original", "rst")
    ]
    start = chosen["start"] if learned else "-"
    return " | ".join([width, start, f"{chosen['l2']:g}", *cells])


def _width_table(runs: Experiments) -> str:
    lines = [
        "**Figure 3**: effect of K, with the paper's features, A starting from the words' weights "
        "(original Parseval, span / full).\n",
        "| form | " + " | ".join(f"K = {width}" for width in WIDTHS) + " |",
        "|---|" + "---|" * len(WIDTHS),
    ]
    for form in ("concatenation", "general"):
        cells = []
        for width in WIDTHS:
            settings = {"matrix": form, "features": "paper", "width": width, **PUBLISHED}
            figures = runs.best(**settings, start="words")
            span, full = (100 * figures[f"original-{figure}"] for figure in ("span", "full"))
            cells.append(f"{span:.2f} / {full:.2f}")
        lines.append(f"| {form} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def shipped_table(folders: Mapping[str, Path], *, parser: str = "dplp") -> str:
    """Score the shipped model on dev sets: with gold EDUs, and from raw text."""
    lines = [
        "**The shipped model** on dev sets (span / nuclearity / relation / full).\n",
        "| corpus | input | EDUs | original Parseval | RST-Parseval |",
        "|---|---|---|---|---|",
    ]
    signatures: list[str] = []
    pipeline = load("en", parser=parser)
    for name, folder in folders.items():
        golds = list(read_corpus(name, folder, "dev"))
        relations = relation_set(name)
        inputs = {
            "gold EDUs": [gold.document for gold in golds],
            "raw text": [Document(gold.document.text, id=gold.id) for gold in golds],
        }
        for label, docs in inputs.items():
            report = evaluate(
                golds,
                pipeline.pipe(docs),
                labels=relations.coarse,
                label_name=relations.label_name,
                corpus=f"{name}-dev",
            )
            edus = 100 * report["segmentation", "all", "starts"].f1
            cells = [
                " / ".join(f"{100 * report['parseval', kind, f].f1:.2f}" for f in FIGURES)
                for kind in ("original", "rst")
            ]
            lines.append(f"| {name} | {label} | {edus:.2f} | {cells[0]} | {cells[1]} |")
            signatures += [row.signature for row in report.table() if row.metric == "parseval"]
    return "\n".join([*lines, "", *(f"`{s}`" for s in dict.fromkeys(signatures)), ""])


def search_table(gum: Path) -> str:
    """Score the shipped model on GUM dev with gold EDUs, by how it searches."""
    parser = DPLPParser.load(store.find("parser", "dplp", "gum").folder)
    golds = list(read_corpus("gum", gum, "dev"))
    lines = [
        "**Search**, the shipped model, GUM dev, gold EDUs (original Parseval).\n",
        "| search | span | nuclearity | relation | full |",
        "|---|---|---|---|---|",
    ]
    for name, parser.beam, parser.samples in (
        ("greedy", 1, 0),
        ("beam of 4", 4, 0),
        ("beam of 8", 8, 0),
        ("votes of 8", 1, 8),
        ("votes of 16", 1, 16),
        ("votes of 32", 1, 32),
    ):
        report = score_dplp(parser, golds, relation_set("gum"), "gum-dev")
        cells = [f"{100 * report['parseval', 'original', f].f1:.2f}" for f in FIGURES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def word_map(
    gum: Path, *, nmf: bool = False, count: int = 1000, l2: float = 50.0, tau: float = 1.0
) -> WordMap:
    """Learn a concatenation projection with K = 60 from words alone; place the frequent words.

    The projection starts from the weights of words. With ``nmf``, the space is NMF's instead.
    """
    treebank = read_treebank("gum", gum)
    settings: dict[str, Any] = PUBLISHED
    parser = DPLPParser(features="none", l2=l2, tau=tau, start="words", **settings)
    problem = parser.prepare(treebank.train, coarse=treebank.relations.coarse)
    if nmf:
        projection = nmf_projection(problem.units, parser.width)
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
