"""Time sweeps of the word models, and how far they get with each.

    python benchmarks/words.py [--characters 1000000]
    python benchmarks/words.py --score zh_gsd13simp-ud1-dev.conllu.gz

A made-up collection: words of a Zipfian lexicon in random order, two domains, documents of 400
characters. Per model: seconds of CPU a sweep, a million characters; F1 against the planted words
after so many sweeps (mixing); the ratio of times.

With ``--score``, instead: F1 of the segmenter that ships on text that is cut into words, and of the
tools beside it that are installed (the extra ``compare-zh``).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from rhetorica.document import Span
from rhetorica.evaluate.counts import NOTHING
from rhetorica.evaluate.words import word_counts
from rhetorica.progress import nothing
from rhetorica.reproduce.cao2014 import Cutter, spans_in, tools
from rhetorica.words import load, read_segmented
from rhetorica.words.dp4 import Sampler, Settings
from rhetorica.words.hdp import HDPSampler
from rhetorica.words.lattice import Lattice
from rhetorica.words.model import spans_of

CHECKED = (1, 2, 5, 10)


def make(characters: int, rng: np.random.Generator) -> tuple[list[str], list[list[Span]]]:
    """Draw texts from a lexicon of 5,000 words of one to four characters."""
    letters = [chr(0x4E00 + k) for k in range(1500)]
    sizes = rng.choice([1, 2, 3, 4], 5000, p=[0.1, 0.6, 0.2, 0.1])
    lexicon = ["".join(rng.choice(letters, size)) for size in sizes]
    shares = 1 / np.arange(1, 5001)
    texts, gold, total = [], [], 0
    while total < characters:
        text, words = "", []
        for number in rng.choice(5000, 200, p=shares / shares.sum()).tolist():
            words.append(Span(len(text), len(text) + len(lexicon[number])))
            text += lexicon[number]
            if rng.random() < 0.1:
                words.append(Span(len(text), len(text) + 1))
                text += "，"
        texts.append(text)
        gold.append(words)
        total += len(text)
    return texts, gold


def score(path: Path) -> None:
    """Print how well sentences are cut, by ours and by others."""
    sentences = read_segmented(path)
    cutters: dict[str, Cutter] = {
        "shipped": lambda text: [text[a:b] for a, b in load().words(text)]
    }
    cutters |= {name: cut for name, (cut, _) in tools(nothing).items() if cut}
    print(f"| words of {path.name} | F1 |\n|---|---|")
    for name, cut in cutters.items():
        counts = NOTHING
        for words in sentences:
            text = "".join(words)
            counts += word_counts(spans_in(text, words), spans_in(text, cut(text)))
        print(f"| {name} | {100 * counts.f1:.2f} |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--characters", type=int, default=1_000_000)
    parser.add_argument("--sweeps", type=int, default=5)
    parser.add_argument("--score", type=Path, metavar="FILE")
    given = parser.parse_args()
    if given.score:
        score(given.score)
        return
    rng = np.random.default_rng(0)
    texts, gold = make(given.characters, rng)
    settings = Settings()
    lattice = Lattice(texts, settings.longest)
    domains = [number % 2 for number in range(len(texts))]
    seconds = {}
    print("| model | CPU s a sweep, 1 million characters | F1 after sweeps |\n|---|---|---|")
    for name in ("dp4 sample", "dp4 viterbi", "hdp"):
        if name == "hdp":
            one: HDPSampler | Sampler = HDPSampler(lattice, settings, rng=rng)
        else:
            one = Sampler(lattice, domains, settings, rng=rng)
        reached, spent = [], []
        for number in range(1, given.sweeps + 1):
            start = time.process_time()
            one.sweep("viterbi" if name.endswith("viterbi") else "sample")
            spent.append(time.process_time() - start)
            if number in CHECKED:
                pred = spans_of(lattice, one.cuts)
                counts = [word_counts(g, p) for g, p in zip(gold, pred, strict=True)]
                reached.append(f"{number}: {100 * sum(counts, NOTHING).f1:.1f}")
        # The first sweep compiles, and begins without words.
        seconds[name] = min(spent[1:] or spent) * 1e6 / lattice.n_atoms
        print(f"| {name} | {seconds[name]:.1f} | {', '.join(reached)} |", flush=True)
    print(f"\nhdp : dp4 sample = {seconds['hdp'] / seconds['dp4 sample']:.2f}")


if __name__ == "__main__":
    main()
