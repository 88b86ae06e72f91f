"""The dynamic CRF: marginals equal brute force, gradients numeric ones, both backends agree."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rhetorica.kernels import Backend, using
from rhetorica.parsers.codra.dcrf import (
    Potentials,
    log_marginals,
    loss_and_gradient,
    sequence_log_likelihood,
)
from rhetorica.parsers.codra.units import Layout


def potentials(joins: int, labels: int, seed: int) -> Potentials:
    rng = np.random.default_rng(seed)
    tables = [rng.normal(size=(joins, labels)) for _ in range(3)]
    return Potentials(*tables, rng.normal(size=labels), rng.normal(size=labels))


def gold_labels(layout: Layout, seed: int, labels: int) -> np.ndarray:
    """Label the joins of a random tree over each segment."""
    rng = np.random.default_rng(seed)
    found = np.zeros(layout.n_joins, np.int64)
    start, split, end = layout.edges()
    for segment in range(len(layout.bounds)):
        todo = [(int(layout.bounds[segment][0]), int(layout.bounds[segment][-1]))]
        while todo:
            a, b = todo.pop()
            if b - a > 1:
                k = int(rng.integers(a + 1, b))
                found[(start == a) & (split == k) & (end == b)] = rng.integers(1, labels)
                todo += [(a, k), (k, b)]
    return found


def enumerate_weights(scores: Potentials, row: np.ndarray, labels: int) -> dict:
    """Return the weight of every labelling of a sequence."""
    return {
        states: np.exp(sequence_log_likelihood(scores, row, np.array(states)))
        for states in product(range(labels), repeat=len(row))
    }


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize(("n", "labels"), [(2, 4), (3, 3), (4, 3), (5, 2)])
def test_marginals_equal_brute_force(n: int, labels: int, backend: Backend) -> None:
    layout = Layout.of([range(n + 1)])
    sequences = layout.sequences()
    scores = potentials(layout.n_joins, labels, n)
    with using(backend):
        found = np.exp(log_marginals(scores, sequences))
    assert np.allclose(found.sum(axis=1), 1)
    for s in range(len(sequences.offsets) - 1):
        places = slice(sequences.offsets[s], sequences.offsets[s + 1])
        row = sequences.joins[places]
        weights = enumerate_weights(scores, row, labels)
        whole = sum(weights.values())
        for t in np.flatnonzero(sequences.reads[places]):
            for label in range(labels):
                share = sum(w for states, w in weights.items() if states[t] == label) / whole
                assert found[row[t], label] == pytest.approx(share)


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_loss_equals_brute_force(backend: Backend) -> None:
    layout = Layout.of([range(5), range(4, 7)])
    sequences = layout.sequences()
    scores = potentials(layout.n_joins, 3, 1)
    gold = gold_labels(layout, 2, 3)
    expected = 0.0
    for s in range(len(sequences.offsets) - 1):
        row = sequences.joins[sequences.offsets[s] : sequences.offsets[s + 1]]
        weights = enumerate_weights(scores, row, 3)
        expected += np.log(sum(weights.values())) - np.log(weights[tuple(gold[row].tolist())])
    with using(backend):
        assert loss_and_gradient(scores, sequences, gold)[0] == pytest.approx(expected)


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_gradient_equals_differences(backend: Backend) -> None:
    layout = Layout.of([range(5), range(4, 7), range(6, 9)])
    sequences = layout.sequences()
    scores = potentials(layout.n_joins, 3, 3)
    gold = gold_labels(layout, 4, 3)
    with using(backend):
        _, gradient = loss_and_gradient(scores, sequences, gold)
        for table, slopes in zip(scores, gradient, strict=True):
            for index in np.ndindex(table.shape):
                kept = table[index]
                losses = []
                for step in (1e-5, -1e-5):
                    table[index] = kept + step
                    losses.append(loss_and_gradient(scores, sequences, gold)[0])
                table[index] = kept
                assert slopes[index] == pytest.approx((losses[0] - losses[1]) / 2e-5, abs=1e-4)


def test_neighbours_are_never_both_joined() -> None:
    scores = potentials(4, 3, 5)
    row = np.array([0, 1, 2])
    assert sequence_log_likelihood(scores, row, np.array([1, 2, 0])) == -np.inf
    assert np.isfinite(sequence_log_likelihood(scores, row, np.array([1, 0, 2])))
