"""Annotate GUM's training documents with syntax by pipelines that have not seen them.

What learns from syntax (segmenters, parsers) should learn from syntax as wrong as it will meet. The
shipped pipeline knows GUM's training documents by heart, so for each fold a pipeline is trained on
the other folds and annotates the fold's documents, from their raw text. The result is one CoNLL-U
file a document, with the gold EDU starts.

    python scripts/jackknife_syntax.py --gum DATA/gum --ewt DATA/ud_en_ewt --out runs/jackknife
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import spacy
from thinc.api import use_ops

from rhetorica import Document, Parse, write
from rhetorica.corpora.gum import read_gum
from rhetorica.segment.boundaries import cut
from rhetorica.source import write_text
from rhetorica.text import annotate_all

TRAINER = Path(__file__).with_name("train_syntax.py")


def train_fold(options: argparse.Namespace, fold: int, out: Path) -> None:
    """Train a pipeline without the documents of a fold, unless it is there already."""
    if (out / "config.cfg").is_file():
        return
    arguments = ["--gum", options.gum, "--ewt", options.ewt, "--out", out]
    arguments += ["--fold", f"{fold}/{options.folds}", "--epochs", options.epochs]
    arguments += ["--gum-only-epochs", 2, "--eval-every", options.epochs]
    subprocess.run([sys.executable, TRAINER, *map(str, arguments)], check=True)


def annotate_fold(model: Path, parses: Iterable[Parse], out: Path) -> None:
    """Annotate the raw text of documents and write them with their gold EDU starts."""
    with use_ops("numpy", use_blis=False):
        nlp = spacy.load(model)
    golds = [parse.document for parse in parses]
    raw = [Document(gold.text, id=gold.id) for gold in golds]
    for gold, doc in zip(golds, annotate_all(raw, nlp), strict=True):
        # An EDU that starts inside a token of the pipeline cannot be marked; it joins the last.
        starts = {edu.start for edu in gold.edus}
        annotated = cut(doc, [float(token.start in starts) for token in doc.tokens])
        write_text(out / f"{gold.id}.conllu", write(annotated, "conllu"))


def main() -> None:
    """Train and annotate fold by fold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gum", type=Path, required=True, help="the GUM folder")
    parser.add_argument("--ewt", type=Path, required=True, help="folder of en_ewt-ud-*.conllu.gz")
    parser.add_argument("--out", type=Path, required=True, help="folder for the CoNLL-U files")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=7)
    options = parser.parse_args()
    parses = list(read_gum(options.gum, "train"))
    for fold in range(options.folds):
        model = options.out / "models" / f"fold{fold}"
        train_fold(options, fold, model)
        annotate_fold(model, parses[fold :: options.folds], options.out)


if __name__ == "__main__":
    main()
