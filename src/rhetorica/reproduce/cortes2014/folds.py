"""Ten folds with disjoint training sets: learn on m examples, score on all the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rhetorica.learn.experts import (
    METHODS,
    Randomised,
    Settings,
    Table,
    edit_distances,
    hamming_loss,
    learn,
)


@dataclass(frozen=True, slots=True)
class Score:
    """Mean and standard deviation over folds, of Hamming loss and of edit distance."""

    hamming: tuple[float, float]
    edits: tuple[float, float]


def fold_rows(count: int, size: int, folds: int, seed: int) -> list[np.ndarray]:
    """Return the training rows of each fold: disjoint, drawn at random."""
    if size * folds > count:
        raise ValueError(
            f"{folds} disjoint training sets of {size} need more than {count} examples"
        )
    order = np.random.default_rng(seed).permutation(count)
    return [np.sort(order[at * size : (at + 1) * size]) for at in range(folds)]


def score_methods(
    table: Table,
    settings: Settings,
    *,
    size: int,
    folds: int = 10,
    seed: int = 0,
    padding: bool = True,
    edits: bool = False,
    methods: tuple[str, ...] = tuple(METHODS),
) -> dict[str, Score]:
    """Learn by every method on each fold's rows; score on the rest."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in methods}
    for fold, rows in enumerate(fold_rows(len(table), size, folds, seed)):
        rest = np.ones(len(table), dtype=bool)
        rest[rows] = False
        learnt, held = table[rows], table[rest]
        for name in methods:
            rule = learn(name, learnt, replace(settings, seed=seed + fold))
            if isinstance(rule, Randomised):
                pred = rule.predict(held.symbols, np.random.default_rng(seed + fold))
            else:
                pred = rule.predict(held.symbols)
            distance = float(edit_distances(pred, held.truth).mean()) if edits else 0.0
            found[name].append((hamming_loss(pred, held.truth, padding=padding), distance))
    return {name: _score(np.array(values)) for name, values in found.items()}


def _score(values: np.ndarray) -> Score:
    means, spread = values.mean(axis=0), values.std(axis=0)
    return Score((float(means[0]), float(spread[0])), (float(means[1]), float(spread[1])))
