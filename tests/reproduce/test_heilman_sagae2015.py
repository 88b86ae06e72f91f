"""Where the errors of Heilman & Sagae's parser are."""

from __future__ import annotations

import dataclasses

from rhetorica import Document
from rhetorica.document import Span
from rhetorica.reproduce.heilman_sagae2015 import LEVELS, level_of
from rhetorica.text import annotate


def test_where_a_range_lies() -> None:
    doc = annotate(Document.from_edus(["It rained,", "so we left.", "He slept.", "She sang."]))
    doc = dataclasses.replace(
        doc,
        sentences=(Span(0, 22), Span(23, 32), Span(33, 42)),
        paragraphs=(Span(0, 32), Span(33, 42)),
    )
    level = level_of(doc)
    assert [level(0, 2), level(0, 3), level(2, 4)] == list(LEVELS)
