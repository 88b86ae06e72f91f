"""Speed of the dialogue models against tomotopy's LDA, with one worker, in one run.

    python benchmarks/dialogue.py SGD_TRAIN.jsonl [--topics 40] [--states 20] [--sweeps 20]

Prints words per second and sweep, and the ratio of tomotopy's LDA to each model. All have 20 sweeps
to warm up: tomotopy takes half its speed from what it prepares in its first ten.
"""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from itertools import pairwise

import numpy as np

from rhetorica.dialogue import KINDS, Preparation, Priors, read_dialogues
from rhetorica.dialogue.gibbs import MOVES, Corpus, Moves, Sampler
from rhetorica.dialogue.prepare import Lexicon

WARM_UP = 20


def ours(
    corpus: Corpus, model: str, moves: Moves, *, states: int, topics: int, sweeps: int
) -> float:
    """Return words per second of a model's sweeps (CPU time, after compiling)."""
    sampler = Sampler(
        KINDS[model], corpus, states=states, topics=topics, priors=Priors(),
        rng=np.random.default_rng(0), moves=moves,
    )  # fmt: skip
    for _ in range(WARM_UP if moves != "blocked" else 1):
        sampler.sweep()
    start = time.process_time()
    for _ in range(sweeps):
        sampler.sweep()
    return len(corpus.words) * sweeps / (time.process_time() - start)


def theirs(corpus: Corpus, *, topics: int, sweeps: int) -> float:
    """Return words per second of tomotopy's LDA; a dialogue is a document."""
    tomotopy = import_module("tomotopy")
    model = tomotopy.LDAModel(k=topics, seed=1)
    bounds = corpus.utterances[corpus.dialogues]
    for begin, end in pairwise(bounds.tolist()):
        if end > begin:
            model.add_doc([str(word) for word in corpus.words[begin:end]])
    model.train(WARM_UP, workers=1)
    start = time.process_time()
    model.train(sweeps, workers=1)
    return len(corpus.words) * sweeps / (time.process_time() - start)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dialogues")
    parser.add_argument("--topics", type=int, default=40)
    parser.add_argument("--states", type=int, default=20)
    parser.add_argument("--sweeps", type=int, default=20)
    options = parser.parse_args()
    dialogues = list(read_dialogues(options.dialogues).dialogues)
    preparation = Preparation()
    corpus, _ = Lexicon.of(dialogues, preparation).encode(dialogues, preparation)
    rival = theirs(corpus, topics=options.topics, sweeps=options.sweeps)
    print(
        f"{corpus.n_dialogues} dialogues, {corpus.n_utterances} utterances, {len(corpus.words)} "
        f"words, {options.states} states, {options.topics} topics\n"
    )
    print("| system | words a second and sweep | time against LDA |\n|---|---|---|")
    print(f"| tomotopy's LDA, one worker | {rival:,.0f} | 1.00 |")
    for model, kind in KINDS.items():
        for moves in MOVES:
            if moves == "joint" and not kind.mixes_topics:
                continue  # the same as single
            sweeps = options.sweeps if moves != "blocked" else max(1, options.sweeps // 10)
            speed = ours(
                corpus, model, moves, states=options.states, topics=options.topics, sweeps=sweeps
            )
            print(f"| {model}, {moves} | {speed:,.0f} | {rival / speed:.2f} |", flush=True)


if __name__ == "__main__":
    main()
