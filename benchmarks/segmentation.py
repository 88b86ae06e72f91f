"""How well the segmenters do on GUM dev or SciDTB dev: the tables of docs/segmentation.md.

    python benchmarks/segmentation.py ../shared/data/gum --corpus gum
    python benchmarks/segmentation.py ../shared/data/gum --ablation

Prints Markdown: all EDU starts and inside sentences, with gold sentences and syntax and from raw
text; by genre; calibration. ``--ablation`` trains the CRF without each group of features.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rhetorica import Document
from rhetorica.corpora import read_corpus
from rhetorica.evaluate.counts import Counts
from rhetorica.segmenters import SEGMENTERS, load_segmenter
from rhetorica.segmenters.boundaries import Segmenter
from rhetorica.segmenters.calibration import said_and_true
from rhetorica.segmenters.crf import CRFSegmenter
from rhetorica.segmenters.features import GROUPS, PAPER
from rhetorica.text import annotate_all
from rhetorica.train.segmenters import segmentation_score, with_predicted_syntax

BINS = 10


def figures(counts: Counts) -> str:
    """Return precision, recall and F1 in percent."""
    return " | ".join(f"{100 * x:.2f}" for x in (counts.precision, counts.recall, counts.f1))


def calibration(segmenter: Segmenter, docs: Sequence[Document]) -> tuple[float, list[str]]:
    """Return the expected calibration error over tokens inside sentences, and a table."""
    values, hits = said_and_true(segmenter, docs)
    bins = np.minimum((values * BINS).astype(int), BINS - 1)
    error, lines = 0.0, []
    for b in range(BINS):
        inside = bins == b
        if inside.any():
            gap = abs(values[inside].mean() - hits[inside].mean())
            error += gap * inside.mean()
            lines.append(
                f"| {b / BINS:.1f}-{(b + 1) / BINS:.1f} | {inside.sum()} | "
                f"{values[inside].mean():.3f} | {hits[inside].mean():.3f} |"
            )
    return error, lines


def score_all(
    golds: list[Document], given: list[Document], raw: list[Document], model: str
) -> None:
    """Print the main table, the genres and the calibration."""
    print("| segmenter | text | all P | R | F1 | inside P | R | F1 |\n|" + "---|" * 8)
    for name in SEGMENTERS:
        if name == "neural":
            continue  # scored with its parser, by benchmarks/parsing.py
        segmenter = load_segmenter(name, model)
        for label, docs in (("gold sentences and syntax", given), ("raw", raw)):
            everywhere = segmentation_score(segmenter, golds, docs)
            inside = segmentation_score(segmenter, golds, docs, "inside")
            print(f"| {name} | {label} | {figures(everywhere)} | {figures(inside)} |", flush=True)
    genres: dict[str, list[int]] = {}
    for number, gold in enumerate(golds):
        genres.setdefault(gold.meta.get("genre", "all"), []).append(number)
    if len(genres) > 1:
        print("\n| genre | crf, raw: P | R | F1 |\n|---|---|---|---|")
        crf = load_segmenter("crf", model)
        for genre, numbers in sorted(genres.items()):
            counts = segmentation_score(crf, [golds[i] for i in numbers], [raw[i] for i in numbers])
            print(f"| {genre} | {figures(counts)} |")
    for name in ("crf", "logistic"):
        error, lines = calibration(load_segmenter(name, model), raw)
        print(f"\n{name}: expected calibration error {error:.4f}\n")
        print("| said | tokens | mean said | share true |\n|---|---|---|---|")
        print("\n".join(lines))


def ablation(train: list[Document], golds: list[Document], raw: list[Document], l2: float) -> None:
    """Print what the CRF loses without each group of features."""
    print("| features | all P | R | F1 |\n|---|---|---|---|")
    settings = {"all": GROUPS, "paper": PAPER}
    settings |= {f"without {group}": tuple(g for g in GROUPS if g != group) for group in GROUPS}
    for name, groups in settings.items():
        model = CRFSegmenter(groups=groups, l2=l2, iterations=50).fit(train)
        print(f"| {name} | {figures(segmentation_score(model, golds, raw))} |", flush=True)


def main() -> None:
    """Read the corpus, score, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--corpus", default="gum", choices=("gum", "scidtb"))
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--l2", type=float, default=0.5)
    options = parser.parse_args()
    golds = [parse.document for parse in read_corpus(options.corpus, options.folder, "dev")]
    raw = with_predicted_syntax(golds)
    if options.ablation:
        train = [parse.document for parse in read_corpus(options.corpus, options.folder, "train")]
        ablation(list(annotate_all(train)), golds, raw, options.l2)
    else:
        given = list(annotate_all(replace(gold, edus=()) for gold in golds))
        score_all(golds, given, raw, options.corpus)


if __name__ == "__main__":
    main()
