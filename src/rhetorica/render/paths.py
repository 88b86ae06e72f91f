"""The lines of a picture as steps of a pen: what SVG and PDF write in their own words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from rhetorica.render.layout.parts import Point, Shape

_RADIUS = 7.0


class Step(NamedTuple):
    """Move to a point (M), draw a line to it (L), a quadratic (Q) or a cubic curve (C)."""

    pen: str
    points: tuple[Point, ...]


def steps(shape: Shape, points: Sequence[Point]) -> list[Step]:
    """Return how to draw a line with corners, one with round corners, or a cubic curve."""
    begin = Step("M", (points[0],))
    if shape == "curve":
        return [begin, Step("C", tuple(points[1:]))]
    if shape == "line":
        return [begin, *(Step("L", (point,)) for point in points[1:])]
    parts = [begin]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(_RADIUS, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        start, end = _towards(corner, before, radius), _towards(corner, after, radius)
        parts += [Step("L", (start,)), Step("Q", (corner, end))]
    return [*parts, Step("L", (points[-1],))]


def arrow(tip: Point, direction: Point) -> tuple[Point, Point, Point]:
    """Return the corners of the head of an arrow that ends at a point."""
    (x, y), length = tip, math.hypot(*direction)
    dx, dy = direction[0] / length, direction[1] / length
    back = (x - 8 * dx, y - 8 * dy)
    return (
        tip,
        (back[0] - 3.2 * dy, back[1] + 3.2 * dx),
        (back[0] + 3.2 * dy, back[1] - 3.2 * dx),
    )


def _towards(start: Point, end: Point, far: float) -> Point:
    whole = math.dist(start, end)
    if not whole:
        return start
    share = far / whole
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
