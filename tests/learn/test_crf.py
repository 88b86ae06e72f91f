"""The chain without neighbours both chosen: brute force, numeric gradients, known optima."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from rhetorica.learn.crf import (
    ChainWeights,
    Potentials,
    Sequences,
    chain_loss,
    fit_chain,
    log_marginals,
    loss_and_gradient,
)


def sequences_of(*rows: list[int]) -> Sequences:
    """Put rows together; an item is read where it stands first."""
    items = np.concatenate([np.array(row) for row in rows])
    reads = np.zeros(len(items), bool)
    reads[np.unique(items, return_index=True)[1]] = True
    return Sequences(np.cumsum([0, *map(len, rows)]), items, reads)


ROWS = sequences_of([0, 1, 2, 3], [0, 4, 3], [5], [2, 5, 1, 0], [6, 7])
N_ITEMS = 8
GOLD = np.array([1, 0, 2, 0, 0, 0, 0, 1])
"""Labels under which no row has two chosen neighbours."""


def potentials(items: int, labels: int, seed: int) -> Potentials:
    rng = np.random.default_rng(seed)
    tables = [rng.normal(size=(items, labels)) for _ in range(3)]
    return Potentials(*tables, rng.normal(size=labels), rng.normal(size=labels))


def rows_of(sequences: Sequences) -> list[np.ndarray]:
    return np.split(sequences.items, sequences.offsets[1:-1])


def sequence_log_likelihood(potentials: Potentials, row: np.ndarray, labels: np.ndarray) -> float:
    """Return the unnormalised log weight of labels on one row; -inf where it is impossible.

    This is equation 1 without Z, said plainly; inference is checked against it.
    """
    own, before, after, enter, leave = potentials
    total = 0.0
    for t, (item, label) in enumerate(zip(row, labels, strict=True)):
        total += own[item, label]
        if t:
            total += before[row[t - 1], label]
            last = labels[t - 1]
            if last and label:
                return -np.inf
            total += leave[last] if last else enter[label]
        if t + 1 < len(row):
            total += after[row[t + 1], label]
    return float(total)


def enumerate_weights(scores: Potentials, row: np.ndarray, labels: int) -> dict:
    """Return the weight of every labelling of a row."""
    return {
        states: np.exp(sequence_log_likelihood(scores, row, np.array(states)))
        for states in product(range(labels), repeat=len(row))
    }


@pytest.mark.parametrize("labels", [2, 3, 4])
def test_marginals_equal_brute_force(labels: int) -> None:
    scores = potentials(N_ITEMS, labels, labels)
    found = np.exp(log_marginals(scores, ROWS))
    assert np.allclose(found.sum(axis=1), 1)
    for s, row in enumerate(rows_of(ROWS)):
        weights = enumerate_weights(scores, row, labels)
        whole = sum(weights.values())
        for t in np.flatnonzero(ROWS.reads[ROWS.offsets[s] : ROWS.offsets[s + 1]]):
            for label in range(labels):
                share = sum(w for states, w in weights.items() if states[t] == label) / whole
                assert found[row[t], label] == pytest.approx(share)


def test_loss_equals_brute_force() -> None:
    scores = potentials(N_ITEMS, 3, 1)
    expected = 0.0
    for row in rows_of(ROWS):
        weights = enumerate_weights(scores, row, 3)
        expected += np.log(sum(weights.values())) - np.log(weights[tuple(GOLD[row].tolist())])
    assert loss_and_gradient(scores, ROWS, GOLD)[0] == pytest.approx(expected)


def test_gradient_equals_differences() -> None:
    scores = potentials(N_ITEMS, 3, 3)
    _, gradient = loss_and_gradient(scores, ROWS, GOLD)
    for table, slopes in zip(scores, gradient, strict=True):
        for index in np.ndindex(table.shape):
            kept = table[index]
            losses = []
            for step in (1e-5, -1e-5):
                table[index] = kept + step
                losses.append(loss_and_gradient(scores, ROWS, GOLD)[0])
            table[index] = kept
            assert slopes[index] == pytest.approx((losses[0] - losses[1]) / 2e-5, abs=1e-4)


def test_neighbours_are_never_both_chosen() -> None:
    scores = potentials(4, 3, 5)
    row = np.array([0, 1, 2])
    assert sequence_log_likelihood(scores, row, np.array([1, 2, 0])) == -np.inf
    assert np.isfinite(sequence_log_likelihood(scores, row, np.array([1, 0, 2])))


def test_large_scores_do_not_overflow() -> None:
    scores = Potentials(*(table * 1e4 for table in potentials(N_ITEMS, 3, 6)))
    logs = log_marginals(scores, ROWS)
    assert np.isfinite(logs[~np.isneginf(logs)]).all()
    assert np.exp(logs).sum(axis=1) == pytest.approx(1)
    assert np.isfinite(loss_and_gradient(scores, ROWS, GOLD)[0])


def test_slope_of_the_weights() -> None:
    rng = np.random.default_rng(1)
    own = csr_matrix(rng.integers(0, 2, (N_ITEMS, 4)).astype(np.float32))
    around = csr_matrix(rng.integers(0, 2, (N_ITEMS, 3)).astype(np.float32))
    point = rng.normal(size=ChainWeights(4, 3, 3).size)
    _, slope = chain_loss(point, own, around, ROWS, GOLD, 3, 0.1)
    for at in range(len(point)):
        values = []
        for step in (1e-2, -1e-2):
            moved = point.copy()
            moved[at] += step
            values.append(chain_loss(moved, own, around, ROWS, GOLD, 3, 0.1)[0])
        assert slope[at] == pytest.approx((values[0] - values[1]) / 2e-2, abs=2e-2, rel=1e-2)


def test_it_learns_what_features_tell() -> None:
    own = csr_matrix(np.eye(N_ITEMS, dtype=np.float32))
    nothing = csr_matrix((N_ITEMS, 0), dtype=np.float32)
    heard: list[float] = []
    own_weights, before, after, enter, leave = fit_chain(
        own, nothing, ROWS, GOLD, 3, l2=1e-3, iterations=50,
        progress=lambda step, loss: heard.append(loss),
    )  # fmt: skip
    assert before.shape == after.shape == (0, 3)
    assert heard == sorted(heard, reverse=True)
    empty = np.zeros((N_ITEMS, 3))
    tables = (own_weights, empty, empty, enter, leave)
    found = log_marginals(Potentials(*(t.astype(np.float64) for t in tables)), ROWS)
    assert (found.argmax(axis=1) == GOLD).all()
    assert np.exp(found.max(axis=1)).min() > 0.9
