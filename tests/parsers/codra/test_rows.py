"""Features of joins are the same however they are summed."""

from __future__ import annotations

import numpy as np

from rhetorica.learn.hashing import Vocabulary
from rhetorica.learn.treecrf import join_scores
from rhetorica.parsers.codra.rows import Attributes, Features, Template
from rhetorica.parsers.codra.units import Layout


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
    expected = weights[mapped.select(every)].sum(axis=1)
    assert np.allclose(mapped.scores(weights), expected, atol=1e-5)
    column = weights[:, 1].astype(np.float64)
    assert np.allclose(join_scores(mapped.blocks, column), expected[:, 1], atol=1e-5)


def test_the_same_attributes_in_another_template_are_another_feature() -> None:
    first, second = Template("g", "L:a"), Template("g", "R:a")
    assert first.salt != second.salt
    assert Template("g", "L:a K:e").place == "P"
