"""Folds with disjoint training sets: learn an ensemble on m examples, score on all the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rhetorica.learn.experts import (
    METHODS,
    Randomised,
    Settings,
    Table,
    Vote,
    edit_distances,
    hamming_loss,
    learn,
)

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Score:
    """Hamming losses and edit distances, one a fold."""

    hamming: tuple[float, ...]
    edits: tuple[float, ...]


def fold_rows(count: int, size: int, folds: int, seed: int) -> list[Ints]:
    """Return the training rows of each fold: disjoint, drawn at random."""
    if size * folds > count:
        raise ValueError(f"{folds} disjoint training sets of {size}, but only {count} examples")
    order = np.random.default_rng(seed).permutation(count)
    return [np.sort(order[at * size : (at + 1) * size]) for at in range(folds)]


def score_rule(
    rule: Vote | Randomised, table: Table, *, padding: bool, seed: int
) -> tuple[float, float]:
    """Return Hamming loss and mean edit distance of a rule on a table."""
    if isinstance(rule, Randomised):
        pred = rule.predict(table.symbols, np.random.default_rng(seed))
    else:
        pred = rule.predict(table.symbols)
    distance = float(edit_distances(pred, table.truth).mean())
    return hamming_loss(pred, table.truth, padding=padding), distance


def score_methods(
    table: Table,
    settings: Settings,
    *,
    size: int,
    folds: int = 10,
    seed: int = 0,
    padding: bool = True,
) -> dict[str, Score]:
    """Learn by every method on each fold's rows; score on the rest."""
    splits = [(table, rows) for rows in fold_rows(len(table), size, folds, seed)]
    return score_splits(splits, settings, seed=seed, padding=padding)


def score_splits(
    splits: list[tuple[Table, Ints]], settings: Settings, *, seed: int = 0, padding: bool = True
) -> dict[str, Score]:
    """Learn by every method on the rows of each table; score on the table's other rows."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in METHODS}
    for fold, (table, rows) in enumerate(splits):
        rest = np.ones(len(table), dtype=bool)
        rest[rows] = False
        for name in METHODS:
            rule = learn(name, table[rows], replace(settings, seed=seed + fold))
            found[name].append(score_rule(rule, table[rest], padding=padding, seed=seed + fold))
    return {
        name: Score(tuple(h for h, _ in values), tuple(e for _, e in values))
        for name, values in found.items()
    }
