"""Weights: gradients are those of the loss; features are the same however they are summed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from rhetorica.kernels import using
from rhetorica.parsers.codra.crf import ChainWeights, chain_loss, softmax_loss
from rhetorica.parsers.codra.rows import Attributes, Features, Template, Vocabulary, row_sums
from rhetorica.parsers.codra.treecrf import TreeExample, join_scores, tree_loss
from rhetorica.parsers.codra.units import Layout


def slopes_agree(function, point: np.ndarray, places: np.ndarray) -> None:
    _, slope = function(point)
    for at in places:
        values = []
        for step in (1e-2, -1e-2):
            moved = point.copy()
            moved[at] += step
            values.append(function(moved)[0])
        assert slope[at] == pytest.approx((values[0] - values[1]) / 2e-2, abs=2e-2, rel=1e-2)


def test_slope_of_the_simplified_model() -> None:
    rng = np.random.default_rng(0)
    matrix = csr_matrix(rng.integers(0, 2, (20, 6)).astype(np.float32))
    gold, sizes = rng.integers(0, 3, 20), rng.random(20) + 0.5
    point = rng.normal(size=18)
    slopes_agree(lambda p: softmax_loss(p, matrix, gold, sizes, 3, 0.1), point, np.arange(18))


def test_slope_of_the_chain() -> None:
    rng = np.random.default_rng(1)
    layout = Layout.of([range(5), range(4, 7)])
    own = csr_matrix(rng.integers(0, 2, (layout.n_joins, 4)).astype(np.float32))
    around = csr_matrix(rng.integers(0, 2, (layout.n_joins, 3)).astype(np.float32))
    gold = np.zeros(layout.n_joins, np.int64)
    gold[[0, 9, 10]] = 1, 2, 1
    point = rng.normal(size=ChainWeights(4, 3, 3).size)
    sequences = layout.sequences()
    places = rng.choice(len(point), 15, replace=False)
    slopes_agree(lambda p: chain_loss(p, own, around, sequences, gold, 3, 0.1), point, places)


def features() -> Features:
    layout = Layout.of([range(6)])
    rng = np.random.default_rng(2)
    attributes = Attributes(
        layout,
        {"a": rng.integers(0, 3, len(layout.unit_starts))},
        {"e": rng.integers(0, 3, 6)},
        {"p": rng.integers(0, 4, layout.n_joins)},
    )
    templates = [
        Template("g", text)
        for text in ("L:a", "R:a", "W:a", "K:e", "P:p", "L:a R:a", "K:e P:p", "L:a K:e R:a")
    ]
    return Features.of(attributes, templates, 16)


def test_places_add_up_to_all_features_of_a_join() -> None:
    hashed = features()
    every = np.arange(hashed.layout.n_joins)
    vocabulary = Vocabulary.of([hashed.select(every)], 16, min_count=2)
    mapped = hashed.map(vocabulary)
    weights = np.random.default_rng(3).normal(size=(len(vocabulary), 4)).astype(np.float32)
    weights[0] = 0
    expected = row_sums(mapped.select(every), weights)
    assert np.allclose(mapped.scores(weights), expected, atol=1e-5)
    with using("numpy"):
        assert np.allclose(mapped.scores(weights), expected, atol=1e-5)
    column = weights[:, 1].astype(np.float64)
    assert np.allclose(join_scores(mapped, column), expected[:, 1], atol=1e-5)


def test_the_same_attributes_in_another_template_are_another_feature() -> None:
    first, second = Template("g", "L:a"), Template("g", "R:a")
    assert first.salt != second.salt
    assert Template("g", "L:a K:e").place == "P"


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_slope_of_the_likelihood_of_trees(backend) -> None:
    hashed = features()
    vocabulary = Vocabulary.of([hashed.select(np.arange(hashed.layout.n_joins))], 16, min_count=1)
    mapped = hashed.map(vocabulary)
    start, split, end = hashed.layout.edges()
    gold = np.zeros(hashed.layout.n_joins, bool)
    for i, k, j in ((0, 2, 5), (0, 1, 2), (2, 3, 5), (3, 4, 5)):
        gold |= (start == i) & (split == k) & (end == j)
    point = np.random.default_rng(4).normal(size=len(vocabulary))
    point[0] = 0
    with using(backend):
        slopes_agree(
            lambda p: tree_loss(p, [TreeExample(mapped, gold)], 0.2),
            point,
            np.arange(1, len(point)),
        )
