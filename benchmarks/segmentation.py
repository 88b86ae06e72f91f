"""How well the segmenters do on GUM dev or SciDTB dev: the tables of docs/segmentation.md.

    python benchmarks/segmentation.py ../shared/data/gum --corpus gum
    python benchmarks/segmentation.py ../shared/data/gum --ablation

Prints Markdown: all EDU starts and inside sentences, with gold sentences and syntax and from raw
text; by genre; calibration. ``--ablation`` trains the CRF without each group of features,
``--published`` both segmenters with published features, on dependencies and on phrase structures.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rhetorica import Document, Parse
from rhetorica.evaluate import evaluate
from rhetorica.evaluate.counts import Counts
from rhetorica.pipeline import SEGMENTERS, load_segmenter
from rhetorica.protocols import Segmenter
from rhetorica.segmenters.boundaries import cut
from rhetorica.segmenters.calibration import said_and_true
from rhetorica.segmenters.crf import CRFSegmenter
from rhetorica.segmenters.features import GROUPS, PAPER
from rhetorica.segmenters.logistic import LogisticSegmenter
from rhetorica.train.treebank import Treebank, read_treebank, with_syntax

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


def score(
    segmenter: Segmenter, golds: Sequence[Parse], docs: Sequence[Document], variant: str = "all"
) -> str:
    """Score a segmenter on documents with (gold or predicted) syntax against gold EDUs."""
    threshold = segmenter.threshold
    preds = [cut(doc, segmenter.boundaries(doc), threshold=threshold) for doc in docs]
    return figures(evaluate(golds, preds)["segmentation", variant, "starts"])


def score_all(treebank: Treebank, raw: list[Document]) -> None:
    """Print the main table, the genres and the calibration."""
    golds, model = treebank.dev, treebank.name
    given = [parse.document for parse in golds]
    known = "gold sentences" + (" and syntax" if treebank.dev_syntax == "gold" else "")
    print("| segmenter | text | all P | R | F1 | inside P | R | F1 |\n|" + "---|" * 8)
    for name in SEGMENTERS:
        if name.startswith("neural") or name == "ensemble":
            continue  # scored with parsers, by benchmarks/parsing.py
        segmenter = load_segmenter(name, model)
        for label, docs in ((known, given), ("raw", raw)):
            everywhere = score(segmenter, golds, docs)
            inside = score(segmenter, golds, docs, "inside")
            print(f"| {name} | {label} | {everywhere} | {inside} |", flush=True)
    genres: dict[str, list[int]] = {}
    for number, gold in enumerate(golds):
        genres.setdefault(gold.document.meta.get("genre", "all"), []).append(number)
    if len(genres) > 1:
        print("\n| genre | crf, raw: P | R | F1 |\n|---|---|---|---|")
        crf = load_segmenter("crf", model)
        for genre, numbers in sorted(genres.items()):
            found = score(crf, [golds[i] for i in numbers], [raw[i] for i in numbers])
            print(f"| {genre} | {found} |")
    for name in ("crf", "logistic"):
        error, lines = calibration(load_segmenter(name, model), raw)
        print(f"\n{name}: expected calibration error {error:.4f}\n")
        print("| said | tokens | mean said | share true |\n|---|---|---|---|")
        print("\n".join(lines))


def ablation(train: list[Document], golds: list[Parse], raw: list[Document], l2: float) -> None:
    """Print what the CRF loses without each group of features."""
    print("| features | all P | R | F1 |\n|---|---|---|---|")
    settings = {"all": GROUPS, "paper": PAPER}
    settings |= {f"without {group}": tuple(g for g in GROUPS if g != group) for group in GROUPS}
    for name, groups in settings.items():
        model = CRFSegmenter(groups=groups, l2=l2, iterations=50).fit(train)
        print(f"| {name} | {score(model, golds, raw)} |", flush=True)


def published(train: list[Document], golds: list[Parse]) -> None:
    """Print how the two papers' segmenters do on gold syntax, by what the nodes of trees are."""
    print("| segmenter | nodes | inside P | R | F1 |\n|---|---|---|---|---|")
    given = [parse.document for parse in golds]
    for nodes in ("dependencies", "phrases"):
        phrases = nodes == "phrases"
        decoding = "viterbi" if phrases else "marginals"
        crf = CRFSegmenter(
            groups=PAPER, l1=0.0, iterations=50, phrases=phrases, decoding=decoding
        ).fit(train)
        print(f"| crf | {nodes} | {score(crf, golds, given, 'inside')} |", flush=True)
        logistic = LogisticSegmenter(l2=0.5, bags=2, phrases=phrases).fit(train)
        print(f"| logistic | {nodes} | {score(logistic, golds, given, 'inside')} |", flush=True)


def main() -> None:
    """Read the corpus, score, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--corpus", default="gum", choices=("gum", "scidtb"))
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--published", action="store_true")
    parser.add_argument("--l2", type=float, default=0.5)
    options = parser.parse_args()
    treebank = read_treebank(options.corpus, options.folder, constituency=options.published)
    if options.published:
        published([parse.document for parse in treebank.train], treebank.dev)
        return
    raw = [parse.document for parse in with_syntax(treebank.dev, predicted=True)]
    if options.ablation:
        train = [parse.document for parse in treebank.train]
        ablation(train, treebank.dev, raw, options.l2)
    else:
        score_all(treebank, raw)


if __name__ == "__main__":
    main()
