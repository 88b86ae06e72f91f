"""The rows of Ji & Eisenstein's table, and the groups of words in their picture."""

from __future__ import annotations

import numpy as np
import pytest

from rhetorica.parsers.dplp import MATRICES
from rhetorica.reproduce.dplp2014 import GROUPS, ROWS, _purities


def test_rows_and_groups_are_sound() -> None:
    assert {settings["matrix"] for *_, settings in ROWS} <= set(MATRICES)
    words = [word for group in GROUPS.values() for word in group]
    assert len(words) == len(set(words))


def test_neighbours_of_one_group_are_counted() -> None:
    words = ["said", "told", "can", "may", "tree", "house"]
    vectors = np.array([[1.0, 0], [1, 0.1], [0, 1], [0.1, 1], [-1, 0], [-1, 0.1]])
    purity, chance = _purities(vectors, words, neighbours=1)
    assert purity == {"modal verbs": 1.0, "reporting verbs": 1.0}
    assert chance["modal verbs"] == pytest.approx(1 / 5)
