"""A neural model -> the same with honest probabilities, after a change of how trees are chosen.

    python scripts/calibrate_neural.py MODEL gcdt DATA/gcdt

Fits slope and bias of the probabilities of heads, spans, nuclearities and relations again, on the
dev documents of the model's treebank; weights, temperatures and the threshold stay.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from rhetorica.corpora import read_corpus
from rhetorica.parsers.neural import NeuralParser
from rhetorica.train.neural.calibrate import fit_scales
from rhetorica.train.neural.export import change


def main() -> None:
    """Fit, and write the config anew."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("model", type=Path)
    asked.add_argument("corpus")
    asked.add_argument("folder", type=Path)
    given = asked.parse_args()
    golds = list(read_corpus(given.corpus, given.folder, "dev"))
    parser = NeuralParser.load(given.model)
    parser.network.config = replace(parser.network.config, scales={})
    scales = fit_scales(parser, golds)
    change(given.model, {"scales": scales})
    for name, (slope, bias) in scales.items():
        print(f"{name}: {slope} {bias}")


if __name__ == "__main__":
    main()
