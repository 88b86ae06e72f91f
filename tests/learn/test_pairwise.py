"""Hashed features of pairs: scores equal the sum of their rows' weights."""

from __future__ import annotations

import numpy as np
import pytest

from rhetorica.learn.pairwise import Arcs, Template

TEMPLATES = [
    Template(head="a"),
    Template(dependent="b"),
    Template(head="a", dependent="b"),
    Template(pair="p"),
    Template(head="b", pair="p"),
    Template(head="a", dependent="a", pair="q"),
]


def arcs(n: int, seed: int = 0, templates: list[Template] = TEMPLATES) -> Arcs:
    rng = np.random.default_rng(seed)
    units = {name: rng.integers(0, 2**32, n + 1) for name in "ab"}
    pairs = {name: rng.integers(0, 9, (n + 1, n)) for name in "pq"}
    return Arcs.of(units, pairs, templates, bits=10)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_scores_are_sums_of_weights(n: int) -> None:
    weights = np.random.default_rng(1).normal(size=(1024, 4)).astype(np.float32)
    found = arcs(n)
    scores, labels = found.scores(weights, root_label=2)
    for head in range(n + 1):
        for dependent in range(n):
            rows = found.rows(np.array([head]), np.array([dependent]))[0]
            assert len(rows) == len(TEMPLATES)
            totals = weights[rows].sum(axis=0)
            if head == n:
                expected = 2
            else:
                totals[2] = -np.inf
                expected = int(totals.argmax())
            assert labels[head, dependent] == expected
            assert scores[head, dependent] == pytest.approx(totals[expected], abs=1e-4)


def test_different_templates_use_different_rows() -> None:
    found = arcs(3, templates=[Template(head="a"), Template(dependent="a")])
    rows = found.rows(np.array([1]), np.array([1]))[0]
    assert rows[0] != rows[1]


def test_rows_do_not_depend_on_the_machine() -> None:
    units = {"a": np.array([1, 2, 3])}
    found = Arcs.of(units, {}, [Template(head="a")], bits=16)
    assert (
        found.head_rows[:, 0].tolist()
        == Arcs.of(units, {}, [Template(head="a")], 16).head_rows[:, 0].tolist()
    )
    assert len(set(found.head_rows[:, 0].tolist())) == 3


def test_templates_speak() -> None:
    assert str(Template(head="first", pair="same")) == "head first & pair same"
