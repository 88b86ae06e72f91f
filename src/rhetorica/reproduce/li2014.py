"""The analogues of Tables 3 to 8 of Li et al. (2014), on GUM and SciDTB dev."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rhetorica.parsers.li2014 import PAPER, Li2014Parser
from rhetorica.parses import Parse
from rhetorica.progress import Tell, nothing
from rhetorica.reproduce.runs import Runs
from rhetorica.reproduce.tables import NAMES, arcs, cells, figures, percent, signature, table
from rhetorica.train.treebank import Treebank, read_treebank

TYPES = (*PAPER, "semantic")
"""The six feature types of section 4.1, in the paper's order."""
Result = Callable[..., dict[str, Any]]
"""Returns the figures of a setting."""


def run(runs: Runs, *, epochs: int, coarse: bool, **settings: Any) -> dict[str, Any]:
    """Train and score one setting, or recall it."""
    treebank = runs.treebank

    def train() -> dict[str, Any]:
        labels = treebank.relations.coarse if coarse else None
        parser = Li2014Parser(**settings, epochs=epochs).fit(treebank.train, coarse=labels)
        preds = [parser(parse.document) for parse in treebank.dev]
        report = treebank.score(preds, coarse=coarse, convention=parser.settings.convention)
        return figures(report) | {
            "macro": report.relations.macro()[2],
            "weighted": report.relations.weighted()[2],
            "accuracy": report.relations.accuracy.f1,
            "top": top_weights(parser, treebank),
        }

    return runs.figures({**settings, "coarse": coarse, "epochs": epochs}, train)


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


def majority_accuracy(treebank: Treebank, *, coarse: bool) -> float:
    """Return how often the most frequent relation of the training data is right on dev."""
    counts: dict[str, int] = {}

    def relations(parses: Sequence[Parse]) -> Iterator[str]:
        for parse in parses:
            for head, _, relation in parse.dependencies.arcs():
                if head >= 0:
                    yield treebank.relations.coarse(relation) if coarse else relation

    for relation in relations(treebank.train):
        counts[relation] = counts.get(relation, 0) + 1
    best = max(counts, key=counts.__getitem__)
    dev = list(relations(treebank.dev))
    return sum(relation == best for relation in dev) / len(dev)


def reproduce_li2014(
    folders: Mapping[str, Path],
    work: Path,
    *,
    epochs: int = 8,
    semantic: bool = True,
    quick: bool = False,
    tell: Tell = nothing,
) -> str:
    """Run all experiments and return the tables as Markdown.

    ``quick`` tries fine relations with all feature types only, not with fewer.
    """
    types = TYPES if semantic else TYPES[:-1]
    parts = []
    for name, folder in folders.items():
        runs = Runs(read_treebank(name, folder), work, tell)

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
                convention="chain",
                labelled_loss=False,
            )

        parts.append(f"## {name}\n")
        for coarse in (True, False):
            fewest = 2 if coarse or not quick else len(types)
            parts.append(_feature_table(result, types, coarse, fewest))
        parts.append(_weights_table(result))
        if name != "scidtb":
            parts.append(_constituency_table(result))
        parts.append(_relation_table(result, runs.treebank))
    return "\n".join(parts)


def _feature_table(result: Result, types: Sequence[str], coarse: bool, fewest: int) -> str:
    number, name = ("3", "coarse") if coarse else ("4", "fine")
    rows, last = [], {}
    for decoder in ("eisner", "mst"):
        for count in range(fewest, len(types) + 1):
            last = result(coarse, types[:count], decoder=decoder)
            kinds = "+".join(str(i) for i in range(1, count + 1))
            rows.append((decoder, kinds, *arcs(last).split(" / ")))
    return table(
        f"**Table {number}**: {name} relations, gold EDUs, MIRA.",
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


def _constituency_table(result: Result) -> str:
    rows = []
    for name, coarse, learner in (
        ("MIRA, coarse", True, "mira"),
        ("MIRA, fine", False, "mira"),
        ("perceptron, coarse", True, "perceptron"),
    ):
        found = result(coarse, learner=learner)
        rows.append((name, cells(found, digits=1), cells(found, "rst", digits=1)))
    return table(
        f"**Table 7**: converted to RST trees, gold EDUs ({NAMES}).",
        ("parser", "original Parseval", "RST-Parseval"),
        rows,
    )


def _relation_table(result: Result, treebank: Treebank) -> str:
    rows = []
    for learner in ("mira", "perceptron"):
        found = result(True, learner=learner)
        averages = (f"{found[name]:.3f}" for name in ("macro", "weighted"))
        rows.append((learner, *averages, percent(found["accuracy"])))
    baseline = percent(majority_accuracy(treebank, coarse=True))
    return table(
        "**Table 8**: relation labelling of correctly attached EDUs, coarse relations.",
        ("parser", "MAFS", "WAFS", "accuracy"),
        [*rows, ("most frequent relation", "-", "-", baseline)],
    )
