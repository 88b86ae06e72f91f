"""The experiments of sections 5.1 to 5.5: tables of experts, and the scores of all methods on them.

Where the paper's data cannot be had, its design is kept: see each function.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rhetorica.learn.experts import Settings, Table, learn
from rhetorica.reproduce.cortes2014.artificial import DESIGNS, SETS, Reading
from rhetorica.reproduce.cortes2014.chains import ChainModel, Data, crf, logistic, perceptron, svm
from rhetorica.reproduce.cortes2014.folds import (
    Score,
    fold_rows,
    score_methods,
    score_rule,
    score_splits,
)
from rhetorica.reproduce.cortes2014.sequences import read_letters, read_tagged, tagging_data

Scores = dict[str, Score]
Ints = npt.NDArray[np.int64]
SEED = 1


def settings_for(reading: Reading) -> Settings:
    """Return beta, delta, epsilon and T_SLE of the paper, with the loss that a reading has.

    The perturbation of FPL is uniform as described (Kalai & Vempala); exponential noise of the same
    scale comes nearer to the paper's figures.
    """
    if reading == "described":
        return Settings(normalised=True)
    return Settings(noise="exponential")


def artificial(name: str, reading: Reading, *, count: int = 40_000, size: int = 200) -> Scores:
    """Score all methods on ADS1, ADS2 or ADS3 (Tables 1 and 2)."""
    table = SETS[name](count, DESIGNS[reading], SEED)
    return score_methods(table, settings_for(reading), size=size)


def letters(folder: Path | str, *, folds: int = 10, size: int = 200) -> Scores:
    """Score all methods on handwritten words (section 5.3).

    The words are dealt into folds at random (the original folds are not in the copy that we have,
    and only 55 different words occur). On each fold in turn four experts are trained; the ensemble
    learns from ``size`` words of the other folds and is scored on what remains.
    """
    data = read_letters(folder)
    splits = []
    for fold, own in enumerate(fold_rows(len(data), len(data) // folds, folds, SEED)):
        rest = np.setdiff1d(np.arange(len(data)), own)
        taught, left = data.pick(own), data.pick(rest)
        experts = [crf(taught), perceptron(taught), svm(taught), logistic(taught)]
        table = Table.of(left.cut(left.labels), [e.predict(left) for e in experts], pad=True)
        splits.append((table, fold_rows(len(table), size, 1, SEED + fold)[0]))
    return score_splits(splits, Settings(noise="exponential"), padding=False)


@dataclass(frozen=True, slots=True)
class Tagging:
    """GUM's sentences: those that experts are trained on come first."""

    data: Data
    taught: int

    @property
    def left(self) -> Data:
        """Return the sentences that no expert has seen."""
        return self.data.pick(np.arange(self.taught, len(self.data)))


def read_tagging(folder: Path | str, taught: int = 1000) -> Tagging:
    """Read GUM's sentences in random order, ``taught`` of them for the experts."""
    sentences = read_tagged(folder)
    order = np.random.default_rng(SEED).permutation(len(sentences))
    data, _ = tagging_data([sentences[at] for at in order], taught)
    return Tagging(data, taught)


def _tagged(experts: list[ChainModel], left: Data) -> Table:
    return Table.of(left.cut(left.labels), [e.predict(left) for e in experts], pad=True)


def tr1(tagging: Tagging, *, size: int = 800) -> Scores:
    """Score tagging with four SVMs, four logistic regressions, and a CRF on all (Table 5)."""
    parts = np.array_split(np.arange(tagging.taught), 4)
    experts = [svm(tagging.data.pick(part)) for part in parts]
    experts += [logistic(tagging.data.pick(part)) for part in parts]
    experts.append(crf(tagging.data.pick(np.arange(tagging.taught)), iterations=40))
    table = _tagged(experts, tagging.left)
    settings = Settings(beta=0.95, noise="exponential")
    return score_methods(table, settings, size=size, padding=False)


def tr2(tagging: Tagging, *, size: int = 1000) -> Scores:
    """Score tagging with five structured taggers on disjoint parts (Table 5)."""
    parts = np.array_split(np.arange(tagging.taught), 5)
    experts = [perceptron(tagging.data.pick(part), epochs=5) for part in parts]
    table = _tagged(experts, tagging.left)
    settings = Settings(beta=0.98, noise="exponential")
    return score_methods(table, settings, size=size, padding=False)


def listed_first_as_target(folder: Path | str, *, beta: float, words: int, size: int) -> Scores:
    """Score the design of PDS1 and PDS2 (Tables 3 and 4) on k-best lists of handwritten words.

    For each word 20 sequences are ranked by a CRF that was trained on other words. The first is
    the target, the other 19 are the experts.
    """
    data = read_letters(folder)
    order = np.random.default_rng(SEED).permutation(len(data))
    taught, rest = order[: len(data) // 10], order[len(data) // 10 :]
    left = data.pick(np.sort(rest)[:words])
    lists = crf(data.pick(np.sort(taught))).kbest(left, 20)
    full = [found for found in lists if len(found) == 20]
    table = Table.of(
        [found[0] for found in full],
        [[found[rank] for found in full] for rank in range(1, 20)],
        pad=True,
    )
    settings = Settings(beta=beta, noise="exponential")
    return score_methods(table, settings, size=size, padding=False)


@dataclass(frozen=True, slots=True)
class Lists:
    """Sentences of 2 to 15 words with the k best taggings of a CRF."""

    truth: list[list[int]]
    ranked: list[list[list[int]]]

    def table(self, p: int, low: int, high: int = 15) -> Table:
        """Return those of some lengths that have p taggings: rank j is expert j."""
        chosen = [
            at
            for at, right in enumerate(self.truth)
            if low <= len(right) <= high and len(self.ranked[at]) >= p
        ]
        return Table.of(
            [self.truth[at] for at in chosen],
            [[self.ranked[at][rank] for at in chosen] for rank in range(p)],
            pad=True,
        )


def tagging_lists(tagging: Tagging, k: int = 50, count: int = 2500) -> Lists:
    """Rank taggings of some sentences by a CRF trained on a quarter of what experts may see."""
    model = crf(tagging.data.pick(np.arange(tagging.taught // 4)), iterations=40)
    sizes = np.diff(tagging.data.offsets)
    every = np.arange(tagging.taught, len(tagging.data))
    some = tagging.data.pick(every[(sizes[every] >= 2) & (sizes[every] <= 15)][:count])
    return Lists(some.cut(some.labels), model.kbest(some, k))


def listed(lists: Lists, p: int, *, size: int, low: int = 5) -> tuple[Scores, int, int]:
    """Score the design of SDS (Tables 6 and 7): the top p entries of lists as experts, l > 4.

    Returns also the number of sentences, and of those to learn from (as many as ten disjoint sets
    leave, at most ``size``).
    """
    table = lists.table(p, low)
    size = min(size, len(table) // 11)
    settings = Settings(beta=0.97, noise="exponential")
    return score_methods(table, settings, size=size, padding=False), len(table), size


def short_and_long(lists: Lists, p: int, *, size: int) -> dict[str, float]:
    """Score the paper's rule (section 5.5): the best expert for l <= 4, the ensemble for l > 4.

    Hamming loss over all words, with the best expert everywhere, the vote everywhere, and the rule.
    """
    settings = Settings(beta=0.97)
    short, long = lists.table(p, 2, 4), lists.table(p, 5)
    found = {}
    for name, methods in {
        "Best": ("Best", "Best"),
        "MVote": ("MVote", "MVote"),
        "rule": ("Best", "MVote"),
    }.items():
        losses, words = 0.0, 0
        for table, method in zip((short, long), methods, strict=True):
            rows = fold_rows(len(table), min(size, len(table) // 2), 1, SEED)[0]
            rest = np.ones(len(table), dtype=bool)
            rest[rows] = False
            held = table[rest]
            loss, _ = score_rule(
                learn(method, table[rows], settings), held, padding=False, seed=SEED
            )
            count = int((held.truth >= 0).sum())
            losses, words = losses + loss * count, words + count
        found[name] = losses / words
    return found
