"""Tables 3 to 8 of Li et al. (2014): on RST-DT beside the published figures, on GUM and SciDTB dev.

The learner is the paper's: MIRA with the margin as a hard constraint, wrong heads as loss, nuclei
in a chain, dominating nodes of phrase structures where documents have them. On RST-DT it learns
from all of TRAINING, and TEST is scored once. How often documents are seen is not published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rhetorica.evaluate.labelling import LabelCounts
from rhetorica.evaluate.labelling import counts as label_counts
from rhetorica.parsers.li2014 import FEATURE_TYPES, Li2014Parser
from rhetorica.parses import Parse
from rhetorica.progress import Tell, nothing
from rhetorica.reproduce.runs import Runs
from rhetorica.reproduce.tables import (
    BRACKETS,
    NAMES,
    arcs,
    beside,
    cells,
    f1,
    figures,
    percent,
    signature,
    table,
)
from rhetorica.train.treebank import Treebank, read_treebank

TYPES = FEATURE_TYPES
"""The six feature types of section 4.1, in the paper's order."""
PAPER: dict[str, Any] = {
    "aggressiveness": 0.0,
    "convention": "chain",
    "labelled_loss": False,
    "phrases": True,
}
"""What makes the learner the paper's."""
Result = Callable[..., dict[str, Any]]
"""Returns the figures of a setting."""

TABLE3 = {
    "eisner": ((36.02, 26.51), (73.10, 48.55), (73.70, 48.68), (74.47, 49.57), (74.55, 49.83)),
    "mst": ((19.57, 14.79), (72.46, 47.83), (72.80, 47.95), (73.40, 49.15), (73.31, 48.51)),
}
TABLE4 = {
    "eisner": ((37.43, 24.21), (74.51, 40.79), (74.72, 40.41), (75.06, 42.54), (74.85, 42.88)),
    "mst": ((20.80, 13.00), (73.66, 40.54), (74.68, 40.71), (74.94, 42.88), (74.60, 43.09)),
}
"""The published unlabelled and labelled accuracies, with two feature types and more."""
TABLE7 = {
    "MIRA, coarse": (82.9, 73.0, 60.6),
    "MIRA, fine": (83.4, 73.8, 57.8),
    "perceptron, coarse": (82.3, 72.6, 59.4),
}
TABLE8 = {"mira": (45.4, 64.3, 66.84), "perceptron": (43.8, 63.3, 65.37), "baseline": 35.82}


def run(
    runs: Runs, *, epochs: int, coarse: bool, score_coarse: bool = False, **settings: Any
) -> dict[str, Any]:
    """Train and score one setting, or recall it; ``score_coarse``: by classes in any case."""
    treebank = runs.treebank
    by_class = coarse or score_coarse

    def train() -> dict[str, Any]:
        labels = treebank.relations.coarse if coarse else None
        parser = Li2014Parser(**settings, epochs=epochs).fit(treebank.train, coarse=labels)
        preds = [parser(parse.document) for parse in treebank.dev]
        convention = parser.settings.convention
        report = treebank.score(preds, coarse=by_class, convention=convention)
        relations = sum(
            (
                label_counts(gold, pred, root=True, convention=convention, labels=labels)
                for gold, pred in zip(treebank.dev, preds, strict=True)
            ),
            LabelCounts(),
        )
        return figures(report) | {
            "macro": relations.macro()[2],
            "weighted": relations.weighted()[2],
            "accuracy": relations.accuracy.f1,
            "most frequent": most_frequent(relations, treebank, labels),
            "before": on_the_one_before(treebank.dev),
            "top": top_weights(parser, treebank),
        }

    about = {"coarse": coarse, "epochs": epochs, "scored": by_class}
    return runs.figures({**settings, **about}, train)


def top_weights(
    parser: Li2014Parser, treebank: Treebank, count: int = 10
) -> list[tuple[str, str, float]]:
    """Return the features with the largest weights, in words, with relation and weight.

    Features are hashed; they are named by meeting them again in the training documents.
    """
    flat = np.argsort(-np.abs(parser.weights_), axis=None)[: 40 * count]
    rows, columns = np.unravel_index(flat, parser.weights_.shape)
    names = parser.name_features(treebank.train, set(rows.tolist()))
    found = []
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        if row in names:
            nuclearity, relation = parser.labels_[column]
            label = f"{relation} (multinuclear)" if nuclearity == "NN" else relation
            found.append((names[row], label, float(parser.weights_[row, column])))
        if len(found) == count:
            break
    return found


def most_frequent(
    relations: LabelCounts, treebank: Treebank, labels: Callable[[str], str] | None
) -> float:
    """Return the share of the same arcs that the most frequent relation of training would label."""
    counts = Counter(
        labels(relation) if labels else relation
        for parse in treebank.train
        for head, _, relation in parse.dependencies.arcs()
        if head >= 0
    )
    best = max(counts, key=counts.__getitem__) if counts else ""
    gold = relations.per_relation()
    total = sum(found.gold for found in gold.values())
    return gold[best].gold / total if best in gold else 0.0


def reproduce_li2014(
    folders: Mapping[str, Path],
    work: Path,
    *,
    ptb: Path | None = None,
    epochs: int = 8,
    semantic: bool = True,
    quick: bool = False,
    tell: Tell = nothing,
) -> str:
    """Run all experiments and return the tables as Markdown.

    ``folders`` are those of ``rst-dt``, ``gum`` and ``scidtb``; ``ptb`` is the Penn Treebank's, for
    RST-DT's syntax. ``quick`` tries fine relations with all feature types only, not with fewer.
    """
    types = TYPES if semantic else TYPES[:-1]
    parts = []
    for name, folder in folders.items():
        published = name == "rst-dt"
        treebank = read_treebank(
            name, folder, ptb=ptb if published else None, constituency=True, test=published
        ).final()
        runs = Runs(treebank, work, tell)

        def result(
            coarse: bool,
            types: Sequence[str] = types,
            *,
            runs: Runs = runs,
            decoder: str = "eisner",
            learner: str = "mira",
        ) -> dict[str, Any]:
            return run(
                runs,
                epochs=epochs,
                coarse=coarse,
                features=list(types),
                decoder=decoder,
                learner=learner,
                **PAPER,
            )

        parts.append(f"### {name} {treebank.part}\n")
        for coarse in (True, False):
            fewest = 2 if coarse or not quick else len(types)
            parts.append(_feature_table(result, types, coarse, fewest, published=published))
        parts.append(_weights_table(result))
        if name != "scidtb":
            parts.append(_constituency_table(result, published=published))
        parts.append(_relation_table(result, published=published))
    return "\n".join(parts)


TRIED: dict[str, dict[str, Any]] = {
    "extended": {},
    "extended, fine relations": {"coarse": False},
    "extended, Chu-Liu/Edmonds": {"decoder": "mst"},
    "extended, a wrong relation counts as loss, too": {"labelled_loss": True},
    "the paper's types 1 to 5": {"features": list(TYPES[:-1])},
    "the same, a step at most as long as the margin asks": {
        "features": list(TYPES[:-1]),
        "aggressiveness": 0.0,
    },
}
"""Our own trials: what each changes in the shipped settings."""


def tried_table(
    folders: Mapping[str, Path], work: Path, *, epochs: int = 8, tell: Tell = nothing
) -> str:
    """Train with our own settings, one changed at a time; all are scored by coarse relations."""
    parts = []
    for name, folder in folders.items():
        runs = Runs(read_treebank(name, folder), work, tell)
        rows = []
        found: dict[str, Any] = {}
        for title, changes in TRIED.items():
            settings = {"features": [*TYPES[:-1], "extended"], **changes}
            coarse = settings.pop("coarse", True)
            found = run(runs, epochs=epochs, coarse=coarse, score_coarse=True, **settings)
            rows.append((title, *arcs(found).split(" / ")))
        parts.append(
            table(
                f"**What was tried**: {name} dev, gold EDUs, {epochs} epochs, coarse relations.",
                ("setting", "UAS", "LAS"),
                rows,
                signature(found, "labelled", "attachment", "arcs"),
            )
        )
    return "\n".join(parts)


def _feature_table(
    result: Result, types: Sequence[str], coarse: bool, fewest: int, *, published: bool
) -> str:
    number, name = ("3", "coarse") if coarse else ("4", "fine")
    theirs = TABLE3 if coarse else TABLE4
    rows: list[tuple[str, ...]] = []
    last: dict[str, Any] = {}
    for decoder in ("eisner", "mst"):
        for count in range(fewest, len(types) + 1):
            last = result(coarse, types[:count], decoder=decoder)
            kinds = "+".join(str(i) for i in range(1, count + 1))
            known = theirs[decoder][count - 2] if published else (None, None)
            found = map(float, arcs(last).split(" / "))
            rows.append((decoder, kinds, *map(beside, found, known)))
    rows.append(("-", "each EDU on the one before", percent(last["before"]), "-"))
    return table(
        f"**Table {number}**: {name} relations, gold EDUs, MIRA.{BRACKETS if published else ''}",
        ("decoder", "feature types", "UAS", "LAS"),
        rows,
        signature(last, "labelled", "attachment", "arcs"),
    )


def _weights_table(result: Result) -> str:
    return "\n".join(
        table(
            f"**Table {number}**: features with the largest weights, {name} relations (Eisner).",
            ("feature", "relation", "weight"),
            [(name, label, f"{value:.3f}") for name, label, value in result(coarse)["top"]],
        )
        for coarse, number, name in ((True, 5, "coarse"), (False, 6, "fine"))
    )


def _constituency_table(result: Result, *, published: bool) -> str:
    rows = []
    for name, coarse, learner in (
        ("MIRA, coarse", True, "mira"),
        ("MIRA, fine", False, "mira"),
        ("perceptron, coarse", True, "perceptron"),
    ):
        found = result(coarse, learner=learner)
        ours = cells(found, "rst", digits=1)
        if published:
            names = ("span", "nuclearity", "relation")
            shares = (100 * f1(found, "parseval", "rst", figure) for figure in names)
            ours = " / ".join(
                beside(share, theirs, 1) for share, theirs in zip(shares, TABLE7[name], strict=True)
            )
        rows.append((name, cells(found, digits=1), ours))
    return table(
        f"**Table 7**: converted to RST trees, gold EDUs ({NAMES}).{BRACKETS if published else ''}",
        ("parser", "original Parseval", "RST-Parseval"),
        rows,
    )


def _relation_table(result: Result, *, published: bool) -> str:
    rows: list[tuple[str, ...]] = []
    for learner in ("mira", "perceptron"):
        found = result(True, learner=learner)
        known: Any = TABLE8[learner] if published else (None,) * 3
        shares = (100 * found[name] for name in ("macro", "weighted", "accuracy"))
        rows.append((learner, *map(beside, shares, known)))
    baseline = 100 * result(True)["most frequent"]
    theirs: Any = TABLE8["baseline"] if published else None
    return table(
        "**Table 8**: relations of the arcs with the right head, roots among them, coarse "
        f"(accuracy = LAS / UAS).{BRACKETS if published else ''}",
        ("parser", "MAFS", "WAFS", "accuracy"),
        [*rows, ("most frequent relation", "-", "-", beside(baseline, theirs))],
    )


def on_the_one_before(parses: Sequence[Parse]) -> float:
    """Return the share of EDUs that hang on the one before, the first being the root."""
    heads = [
        (head, place)
        for parse in parses
        for place, head in enumerate(parse.dependencies_as("chain").heads)
    ]
    return sum(head == place - 1 for head, place in heads) / max(1, len(heads))
