"""Time WordNet: loading it, comparing the words and the EDUs of a document, matching words.

    python benchmarks/wordnet.py [--quick]

Documents are made up: two nouns and one verb an EDU, words with many senses more often (so that
there are rather more senses to compare than in a real document). Times are CPU times, the best of
some runs. "growth" is the factor from one size to the next, where pairs of EDUs grow by about ten;
all senses are left out where they take minutes. "scipy" solves the matchings one by one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from time import process_time

import numpy as np

from rhetorica import Document, Span, Token
from rhetorica.features.wordnet import (
    POS,
    SENSES,
    Pos,
    WordNet,
    assign_one_by_one,
    best_matching,
    edu_similarities,
    load_wordnet,
)

TAGS: dict[Pos, tuple[str, float]] = {"n": ("NN", 2.0), "v": ("VB", 1.2)}
MOST_EDUS_WITH_ALL_SENSES = 300
SHAPES = [(2, 2), (2, 4), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8)]


def best_time(run: Callable[[], object]) -> float:
    """Return the best CPU time of three runs, or of fewer if they take long."""
    times: list[float] = []
    while len(times) < 3 and sum(times) < 1:
        start = process_time()
        run()
        times.append(process_time() - start)
    return min(times)


def common_lemmas(wordnet: WordNet, pos: Pos) -> list[str]:
    """Return some thousand single words, those with most senses first."""
    words = [lemma for lemma in wordnet.all_lemmas(pos) if lemma.isalpha()]
    return sorted(words, key=lambda word: -len(wordnet.synsets(word, pos)))[:4000]


def make_document(n_edus: int) -> Document:
    """Make up a document of lemmas that WordNet knows."""
    rng = np.random.default_rng(n_edus)
    wordnet = load_wordnet()
    lemmas = {pos: common_lemmas(wordnet, pos) for pos in POS}
    parts: list[str] = []
    tokens: list[Token] = []
    edus: list[Span] = []
    at = 0
    for _ in range(n_edus):
        start = at
        words = [("so", "RB")]
        for pos, (tag, mean) in TAGS.items():
            odds = 1 / (np.arange(len(lemmas[pos])) + 20)
            drawn = rng.choice(len(odds), rng.poisson(mean), p=odds / odds.sum())
            words += [(lemmas[pos][index], tag) for index in drawn]
        for lemma, tag in words:
            tokens.append(Token(at, at + len(lemma), lemma=lemma, tag=tag))
            parts.append(lemma)
            at += len(lemma) + 1
        edus.append(Span(start, at - 1))
    return Document(" ".join(parts), edus=tuple(edus), tokens=tuple(tokens))


def load_afresh() -> WordNet:
    """Load WordNet as a new process would."""
    load_wordnet.cache_clear()
    return load_wordnet()


def factor(above: float | None, below: float | None) -> str:
    """Format a ratio."""
    return "-" if above is None or below is None else f"x {above / below:.1f}"


def print_documents(sizes: list[int]) -> None:
    """Time comparing all EDUs of a document, with few and with all senses."""
    choices: tuple[int | None, ...] = (SENSES, None)
    names = [f"{senses or 'all'} senses" for senses in choices]
    header = "".join(f"{name:>14}{'growth':>10}" for name in names)
    print(f"{'EDUs':>6}{header}  ratio")
    before: list[float | None] = [None, None]
    for n in sizes:
        doc = make_document(n)
        now: list[float | None] = [
            best_time(partial(edu_similarities, doc, senses=senses))
            if senses or n <= MOST_EDUS_WITH_ALL_SENSES
            else None
            for senses in choices
        ]
        cells = "".join(
            f"{'-' if taken is None else f'{taken * 1000:,.0f} ms':>14}{factor(taken, then):>10}"
            for taken, then in zip(now, before, strict=True)
        )
        print(f"{n:>6}{cells}  {factor(now[1], now[0])}", flush=True)
        before = now


def print_matching(count: int) -> None:
    """Time the matching of many pairs together against one by one."""
    print(f"\n{'words':>6}{'together':>14}{'scipy':>14}  ratio (time for one matching)")
    for few, many in SHAPES:
        weights = np.random.default_rng(few).random((5, count, few, many), np.float32)
        together = best_time(partial(best_matching, weights, enumerate_up_to=few))
        single = best_time(partial(assign_one_by_one, weights))
        cells = "".join(f"{taken / (5 * count) * 1e6:>11.2f} µs" for taken in (together, single))
        print(f"{f'{few} x {many}':>6}{cells}  {factor(single, together)}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Time WordNet.")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick: bool = parser.parse_args().quick
    print(f"loading: {best_time(load_afresh) * 1000:.0f} ms\n")
    print_documents([30, 100] if quick else [30, 100, 300, 1000])
    print_matching(200 if quick else 2000)


if __name__ == "__main__":
    main()
