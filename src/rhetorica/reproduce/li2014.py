"""The analogues of Tables 3 to 8 of Li et al. (2014), on GUM and SciDTB dev."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rhetorica.evaluate import evaluate
from rhetorica.files import write_text
from rhetorica.parsers.li2014 import PAPER, Li2014Parser
from rhetorica.parses import Parse
from rhetorica.reproduce import Say, Treebank, read_treebank

TYPES = (*PAPER, "semantic")
"""The six feature types of section 4.1, in the paper's order."""


class Experiments:
    """Runs trainings and remembers their figures in a folder."""

    def __init__(self, folder: Path, *, epochs: int, say: Say) -> None:
        self.folder, self.epochs, self.say = folder, epochs, say

    def run(self, treebank: Treebank, *, coarse: bool, **settings: Any) -> dict[str, Any]:
        """Train and score one setting, or recall it."""
        key = json.dumps([treebank.name, coarse, self.epochs, settings], sort_keys=True)
        path = self.folder / f"{hashlib.sha1(key.encode()).hexdigest()[:16]}.json"
        if path.is_file():
            return dict(json.loads(path.read_text("utf-8"))["figures"])
        labels = treebank.relations.coarse if coarse else None
        parser = Li2014Parser(**settings)
        parser.fit(treebank.train, epochs=self.epochs, coarse=labels)
        figures = score(parser, treebank, coarse=coarse)
        figures["top"] = top_weights(parser, treebank)
        write_text(path, json.dumps({"setting": json.loads(key), "figures": figures}, indent=1))
        self.say(f"{key}: UAS {figures['uas']:.4f} LAS {figures['las']:.4f}")
        return figures


def score(parser: Li2014Parser, treebank: Treebank, *, coarse: bool) -> dict[str, Any]:
    """Parse the dev documents with gold EDUs and return the paper's figures."""
    preds = [parser(parse.document) for parse in treebank.dev]
    labels = treebank.relations.coarse if coarse else None
    report = evaluate(
        treebank.dev,
        preds,
        labels=labels,
        label_name=treebank.relations.label_name if coarse else "as-is",
        convention=parser.convention,
        corpus=f"{treebank.name}-dev",
    )
    figures: dict[str, Any] = {
        "uas": report["attachment", "unlabelled", "arcs"].f1,
        "las": report["attachment", "labelled", "arcs"].f1,
        "macro": report.relations.macro()[2],
        "weighted": report.relations.weighted()[2],
        "accuracy": report.relations.accuracy.f1,
        "signatures": sorted({row.signature for row in report.table()}),
    }
    for variant in ("original", "rst"):
        for figure in ("span", "nuclearity", "relation", "full"):
            if ("parseval", variant, figure) in report.totals:
                figures[f"{variant}-{figure}"] = report["parseval", variant, figure].f1
    return figures


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
    say: Say = print,
) -> str:
    """Run all experiments and return the tables as Markdown.

    ``quick`` tries fine relations with all feature types only, not with fewer.
    """
    runs = Experiments(work, epochs=epochs, say=say)
    treebanks = [read_treebank(name, folder) for name, folder in folders.items()]
    types = TYPES if semantic else TYPES[:-1]
    parts = []
    for treebank in treebanks:
        parts.append(f"## {treebank.name}\n")
        for coarse in (True, False):
            fewest = 2 if coarse or not quick else len(types)
            parts.append(_feature_table(runs, treebank, types, coarse, fewest))
        parts.append(_weights_table(runs, treebank, types))
        if treebank.name != "scidtb":
            parts.append(_constituency_table(runs, treebank, types))
        parts.append(_relation_table(runs, treebank, types))
    return "\n".join(parts)


def _settings(
    types: Sequence[str], decoder: str = "eisner", learner: str = "mira"
) -> dict[str, Any]:
    return {
        "features": list(types),
        "decoder": decoder,
        "learner": learner,
        "convention": "chain",
        "labelled_loss": False,
    }


def _feature_table(
    runs: Experiments, treebank: Treebank, types: Sequence[str], coarse: bool, fewest: int
) -> str:
    number, name = ("3", "coarse") if coarse else ("4", "fine")
    lines = [
        f"**Table {number}**: {name} relations, gold EDUs, MIRA.\n",
        "| decoder | feature types | UAS | LAS |",
        "|---|---|---|---|",
    ]
    signature = ""
    for decoder in ("eisner", "mst"):
        for last in range(fewest, len(types) + 1):
            figures = runs.run(treebank, coarse=coarse, **_settings(types[:last], decoder))
            kinds = "+".join(str(i) for i in range(1, last + 1))
            lines.append(
                f"| {decoder} | {kinds} | {100 * figures['uas']:.2f} | {100 * figures['las']:.2f} |"
            )
            signature = next(s for s in figures["signatures"] if "attachment:labelled" in s)
    return "\n".join([*lines, "", f"`{signature}`", ""])


def _weights_table(runs: Experiments, treebank: Treebank, types: Sequence[str]) -> str:
    lines = []
    for coarse, number in ((True, 5), (False, 6)):
        figures = runs.run(treebank, coarse=coarse, **_settings(types))
        name = "coarse" if coarse else "fine"
        lines += [
            f"**Table {number}**: features with the largest weights, {name} relations (Eisner).\n",
            "| feature | relation | weight |",
            "|---|---|---|",
        ]
        lines += [f"| {name} | {label} | {value:.3f} |" for name, label, value in figures["top"]]
        lines.append("")
    return "\n".join(lines)


def _constituency_table(runs: Experiments, treebank: Treebank, types: Sequence[str]) -> str:
    lines = [
        "**Table 7**: converted to RST trees, gold EDUs (span / nuclearity / relation / full).\n",
        "| parser | original Parseval | RST-Parseval |",
        "|---|---|---|",
    ]
    rows = (
        ("MIRA, coarse", True, "mira"),
        ("MIRA, fine", False, "mira"),
        ("perceptron, coarse", True, "perceptron"),
    )
    for name, coarse, learner in rows:
        figures = runs.run(treebank, coarse=coarse, **_settings(types, learner=learner))
        cells = [
            " / ".join(
                f"{100 * figures[f'{variant}-{figure}']:.1f}"
                for figure in ("span", "nuclearity", "relation", "full")
            )
            for variant in ("original", "rst")
        ]
        lines.append(f"| {name} | {cells[0]} | {cells[1]} |")
    return "\n".join([*lines, ""])


def _relation_table(runs: Experiments, treebank: Treebank, types: Sequence[str]) -> str:
    lines = [
        "**Table 8**: relation labelling of correctly attached EDUs, coarse relations.\n",
        "| parser | MAFS | WAFS | accuracy |",
        "|---|---|---|---|",
    ]
    for learner in ("mira", "perceptron"):
        figures = runs.run(treebank, coarse=True, **_settings(types, learner=learner))
        lines.append(
            f"| {learner} | {figures['macro']:.3f} | {figures['weighted']:.3f} | "
            f"{100 * figures['accuracy']:.2f} |"
        )
    baseline = majority_accuracy(treebank, coarse=True)
    lines.append(f"| most frequent relation | - | - | {100 * baseline:.2f} |")
    return "\n".join([*lines, ""])
