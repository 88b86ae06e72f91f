"""Where CODRA's time goes (features, CRF, CKY), by number of EDUs, and words a second.

    python benchmarks/codra.py examples/umbrella.txt

The text is repeated to the wanted sizes; EDUs and syntax are given, and not counted. Shares are of
the parser's CPU time: "features" is everything from the document to rows of weights, "CRF" scoring,
marginals and sums over trees, "CKY" the decoders; the rest is Python between them.

    python benchmarks/codra.py --chain ../shared/data/gum

measures the dynamic CRF alone on all sentences of GUM's training documents, beside a
forward-backward over all pairs of labels, with random scores.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from parsers import cut_to
from rhetorica.corpora import read_corpus
from rhetorica.kernels import compiled
from rhetorica.learn.crf import Potentials, log_marginals, loss_and_gradient
from rhetorica.parsers.codra import document, rows, sentence, stages
from rhetorica.parsers.codra.features import Facts
from rhetorica.parsers.codra.units import Layout, runs
from rhetorica.pipeline import load_parser, segment

SIZES = (30, 100, 300, 1000, 3000, 15000)
LABELS = 29
"""GUM's coarse relations with their nuclearities, and "not joined"."""


class Stopwatch:
    """Sums the CPU time of functions by what they are for; calls inside others count once."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self._inside = 0

    def wrap(self, owner: Any, name: str, kind: str) -> None:
        """Replace a function by one that is timed."""
        function: Callable[..., Any] = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            self._inside += 1
            start = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                self._inside -= 1
                if not self._inside:
                    self.spent[kind] += time.process_time() - start

        setattr(owner, name, timed)


def watch() -> Stopwatch:
    """Time the steps of the parser."""
    clock = Stopwatch()
    clock.wrap(Facts, "of", "features")
    clock.wrap(rows.Features, "of", "features")
    clock.wrap(rows.Features, "map", "features")
    clock.wrap(sentence, "sentence_attributes", "features")
    clock.wrap(document, "document_attributes", "features")
    clock.wrap(rows.Features, "scores", "CRF")
    clock.wrap(sentence, "log_marginals", "CRF")
    clock.wrap(document, "join_scores", "CRF")
    clock.wrap(document, "inside_outside", "CRF")
    clock.wrap(document, "sum_rows", "CRF")
    clock.wrap(stages, "cky", "CKY")
    clock.wrap(document, "cky", "CKY")
    return clock


@compiled
def all_pairs(scores: Any, chain: Any, offsets: Any, joins: Any) -> float:
    """Walk forward and backward over all pairs of labels: O(T M^2)."""
    labels = scores.shape[1]
    forward, backward = np.empty((64, labels)), np.zeros((64, labels))
    total = 0.0
    for s in range(len(offsets) - 1):
        start = offsets[s]
        n = offsets[s + 1] - start
        forward[0] = scores[joins[start]]
        for t in range(1, n):
            for c in range(labels):
                terms = forward[t - 1] + chain[:, c]
                top = terms.max()
                forward[t, c] = (
                    top + np.log(np.exp(terms - top).sum()) + scores[joins[start + t], c]
                )
        backward[n - 1] = 0.0
        for back in range(1, n):
            t = n - 1 - back
            for c in range(labels):
                terms = backward[t + 1] + chain[c] + scores[joins[start + t + 1]]
                top = terms.max()
                backward[t, c] = top + np.log(np.exp(terms - top).sum())
        total += forward[n - 1].max() + backward[0].max()
    return total


def measure_chain(folder: Path) -> None:
    """Print how long the dynamic CRF takes over all sequences of GUM's training sentences."""
    segments = []
    for parse in read_corpus("gum", folder, "train"):
        ranges = runs(parse.document.edu_sentences())
        segments += [np.arange(b - a + 1) for a, b in ranges if b - a > 1]
    layout = Layout.of(segments)
    sequences = layout.sequences()
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(layout.n_joins, LABELS)) for _ in range(3)]
    potentials = Potentials(*tables, *rng.normal(size=(2, LABELS)))
    gold = np.zeros(layout.n_joins, np.int64)
    chain = rng.normal(size=(LABELS, LABELS))
    print(
        f"{len(segments):,} sentences, {layout.n_joins:,} joins, "
        f"{len(sequences.offsets) - 1:,} sequences of {len(sequences.items):,} places, "
        f"{LABELS} labels"
    )
    for name, function in (
        ("marginals, O(T M)", lambda: log_marginals(potentials, sequences)),
        ("loss and gradient, O(T M)", lambda: loss_and_gradient(potentials, sequences, gold)),
        (
            "forward-backward, O(T M^2)",
            lambda: all_pairs(tables[0], chain, sequences.offsets, sequences.items),
        ),
    ):
        function()
        start = time.process_time()
        function()
        print(f"{name}: {time.process_time() - start:.3f} CPU-s")


def main() -> None:
    """Measure and print Markdown."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument(
        "text", type=Path, nargs="?", help="a file of English text, repeated as needed"
    )
    arguments.add_argument("--chain", type=Path, help="GUM's folder: measure the dynamic CRF only")
    arguments.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    arguments.add_argument("--model", default="gum", help="a treebank, or a model folder")
    options = arguments.parse_args()
    if options.chain:
        measure_chain(options.chain)
        return
    if not options.text:
        arguments.error("give a text, or --chain and GUM's folder")
    text = options.text.read_text("utf-8").strip()
    per_copy = len(segment(text).edus)
    long = segment("\n\n".join([text] * (max(options.sizes) * 6 // (5 * per_copy) + 2)))
    parse = load_parser("codra", options.model)
    parse(cut_to(long, 60))
    clock = watch()
    print("| EDUs | words | words/CPU-s | features | CRF | CKY | rest | growth of EDUs | of time |")
    print("|---" * 9 + "|")
    before: tuple[int, float] | None = None
    for size in options.sizes:
        doc = cut_to(long, size)
        clock.spent.clear()
        start = time.process_time()
        parse(doc)
        seconds = time.process_time() - start
        words = len(doc.text.split())
        shares = [clock.spent[kind] / seconds for kind in ("features", "CRF", "CKY")]
        cells = [f"{100 * share:.0f} %" for share in (*shares, 1 - sum(shares))]
        growth = ["-", "-"]
        if before:
            growth = [f"{size / before[0]:.1f}", f"{seconds / before[1]:.1f}"]
        row = [f"{size:,}", f"{words:,}", f"{words / seconds:,.0f}", *cells, *growth]
        print(f"| {' | '.join(row)} |", flush=True)
        before = size, seconds


if __name__ == "__main__":
    main()
