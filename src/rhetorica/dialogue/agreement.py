"""Two labellings of the same things -> how well they agree, whatever the labels are called."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of found groups with true classes, each from 0 (1 is best).

    ``homogeneity``: groups are of one class; ``completeness``: classes are in one group;
    ``v_measure``: their harmonic mean (Rosenberg & Hirschberg 2007). ``adjusted_rand``: pairs
    agreed on, 0 by chance (Hubert & Arabie 1985). ``purity``: the share of things that are in
    their group's largest class, which rises with the number of groups.
    """

    v_measure: float
    homogeneity: float
    completeness: float
    adjusted_rand: float
    purity: float


def agreement(found: Sequence[Hashable], true: Sequence[Hashable]) -> Agreement:
    """Compare groups that were found with true classes.

    >>> agreement([0, 0, 1, 1], ["b", "b", "a", "a"]).v_measure
    1.0
    """
    if len(found) != len(true):
        raise ValueError(f"{len(found)} found labels, {len(true)} true ones")
    table = _contingency(found, true)
    total = float(table.sum())
    if not total:
        return Agreement(1.0, 1.0, 1.0, 1.0, 1.0)
    groups, classes = table.sum(axis=1), table.sum(axis=0)
    joint = _entropy(table.ravel())
    homogeneity = 1.0 - _share(joint - _entropy(groups), _entropy(classes))
    completeness = 1.0 - _share(joint - _entropy(classes), _entropy(groups))
    both = homogeneity + completeness
    return Agreement(
        2 * homogeneity * completeness / both if both else 0.0,
        homogeneity,
        completeness,
        _adjusted_rand(table),
        float(table.max(axis=1).sum() / total),
    )


def _contingency(found: Sequence[Hashable], true: Sequence[Hashable]) -> NDArray[np.int64]:
    rows = {label: k for k, label in enumerate(dict.fromkeys(found))}
    columns = {label: k for k, label in enumerate(dict.fromkeys(true))}
    table = np.zeros((len(rows), len(columns)), np.int64)
    for a, b in zip(found, true, strict=True):
        table[rows[a], columns[b]] += 1
    return table


def _entropy(counts: NDArray[np.int64]) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _share(part: float, whole: float) -> float:
    return min(1.0, max(0.0, part / whole)) if whole > 1e-12 else 0.0


def _adjusted_rand(table: NDArray[np.int64]) -> float:
    def pairs(counts: NDArray[np.int64]) -> float:
        return float((counts * (counts - 1) / 2).sum())

    total = pairs(table.sum(keepdims=True))
    both, rows, columns = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    expected = rows * columns / total if total else 0.0
    most = (rows + columns) / 2
    return (both - expected) / (most - expected) if most != expected else 1.0


def kendall_tau(order: Sequence[int]) -> float:
    """Return Kendall's tau of an order of 0, 1, 2, ... against the natural one (1: the same).

    >>> kendall_tau([0, 1, 2]), kendall_tau([2, 1, 0]), round(kendall_tau([1, 0, 2]), 3)
    (1.0, -1.0, 0.333)
    """
    n = len(order)
    if n < 2:
        return 1.0
    places = np.asarray(order)
    inversions = int(np.triu(places[:, None] > places[None, :]).sum())
    return 1.0 - 2.0 * inversions / math.comb(n, 2)
