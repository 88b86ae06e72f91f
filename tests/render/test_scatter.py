"""Maps of words: well-formed pictures in which no label covers another."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from rhetorica.errors import RhetoricaError
from rhetorica.render.scatter import COLOURS, _spread, scatter


def test_the_picture_is_well_formed_and_has_everything() -> None:
    picture = scatter(
        [(0, 0), (5, 1), (2, 3), (1, 1)],
        ["may", "<b>", "said & done", "tree"],
        {"modal": ["may"], "odd": ["<b>", "said & done"]},
        title="Words",
    )
    root = ET.fromstring(picture)
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(text or "" for text in texts) == sorted(
        ["Words", "may", "<b>", "said & done", "modal", "odd"]
    )
    assert COLOURS[0] in picture
    assert COLOURS[1] in picture
    assert picture.count("#bdbdbd") == 1


def test_labels_do_not_cover_each_other() -> None:
    named = [((100.0, 100.0 + i), f"word{i}") for i in range(8)]
    bases = sorted(y for (_, y), _ in _spread(named))
    assert all(second - first >= 10.9 for first, second in pairwise(bases))


def test_no_points_and_one_point() -> None:
    assert ET.fromstring(scatter([], [], {})).tag.endswith("svg")
    assert "alone" in scatter([(3, 3)], ["alone"], {"group": ["alone"]})
    with pytest.raises(RhetoricaError, match="1 places for 2 names"):
        scatter([(0, 0)], ["a", "b"], {})
