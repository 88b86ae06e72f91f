"""Words in the plane as an SVG picture: a cloud of grey points, some groups coloured and named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from rhetorica.errors import RhetoricaError

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5C00")
"""Colours that people with any kind of colour vision can tell apart (Okabe & Ito 2008)."""
SHAPES = ("circle", "square", "diamond", "triangle")
"""Groups differ in shape, too, so that the picture can be printed in black and white."""
_FONT = "font-family='DejaVu Sans, Verdana, Arial, sans-serif'"
_INK = "#222222"
_SIDE, _MARGIN, _LEGEND = 900, 40, 28


def scatter(
    places: Sequence[tuple[float, float]],
    names: Sequence[str],
    groups: Mapping[str, Sequence[str]],
    *,
    title: str = "",
) -> str:
    """Draw named points; those whose name is in a group are coloured and labelled.

    >>> picture = scatter([(0, 0), (1, 1), (2, 0)], ["may", "said", "tree"], {"modal": ["may"]})
    >>> picture.startswith("<svg"), picture.count("<text")
    (True, 2)
    """
    if len(places) != len(names):
        raise RhetoricaError(f"{len(places)} places for {len(names)} names: one each is needed")
    group_of = {name: i for i, members in enumerate(groups.values()) for name in members}
    spots = _fit(places)
    top = _LEGEND if title else 0
    named = [(spot, name) for spot, name in zip(spots, names, strict=True) if name in group_of]
    labels = _spread(named)
    lowest = max((y for _, y in [*spots, *(place for place, _ in labels)]), default=0.0)
    height = top + round(lowest) + _MARGIN + _LEGEND
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_SIDE} {height}' "
        f"width='{_SIDE}' height='{height}'>",
        f"<rect width='{_SIDE}' height='{height}' fill='#ffffff'/>",
    ]
    if title:
        lines.append(_text(_MARGIN, 24, title, size=16))
    lines.append(f"<g transform='translate(0 {top})'>")
    lines += [
        f"<circle cx='{x:.1f}' cy='{y:.1f}' r='1.8' fill='#bdbdbd'/>"
        for (x, y), name in zip(spots, names, strict=True)
        if name not in group_of
    ]
    for (x, y), name in named:
        group = group_of[name]
        lines.append(_mark(x, y, group))
    for (x, y), name in labels:
        lines.append(_text(x, y, name, size=12))
    lines.append("</g>")
    at = float(_MARGIN)
    for i, group_name in enumerate(groups):
        y = height - 10
        lines.append(_mark(at, y - 4, i))
        lines.append(_text(at + 9, y, group_name, size=13))
        at += 30 + 8 * len(group_name)
    return "\n".join([*lines, "</svg>", ""])


def _fit(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Move and scale points into the picture, both directions alike."""
    if not places:
        return []
    lows = [min(place[i] for place in places) for i in (0, 1)]
    extent = max(max(place[i] for place in places) - lows[i] for i in (0, 1)) or 1.0
    scale = (_SIDE - 3 * _MARGIN) / extent
    return [(_MARGIN + scale * (x - lows[0]), _MARGIN + scale * (y - lows[1])) for x, y in places]


def _spread(
    named: Sequence[tuple[tuple[float, float], str]],
) -> list[tuple[tuple[float, float], str]]:
    """Place labels right of their points, moved down where one would cover another."""
    taken: list[tuple[float, float, float]] = []
    found = []
    for (x, y), name in sorted(named, key=lambda entry: (entry[0][1], entry[0][0])):
        left, width, base = x + 6, 6.6 * len(name), y + 4
        while any(
            abs(base - other) < 11 and left < start + length and start < left + width
            for start, length, other in taken
        ):
            base += 4
        taken.append((left, width, base))
        found.append(((left, base), name))
    return found


def _mark(x: float, y: float, group: int) -> str:
    colour, shape = COLOURS[group % len(COLOURS)], SHAPES[group % len(SHAPES)]
    if shape == "circle":
        return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='4' fill='{colour}'/>"
    corners = {
        "square": ((-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)),
        "diamond": ((0, -5), (5, 0), (0, 5), (-5, 0)),
        "triangle": ((0, -5), (4.6, 3.6), (-4.6, 3.6)),
    }[shape]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f"<polygon points='{points}' fill='{colour}'/>"


def _text(x: float, y: float, text: str, *, size: int) -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' {_FONT} font-size='{size}' fill='{_INK}' "
        f"stroke='#ffffff' stroke-width='2.5' paint-order='stroke'>{escape(text)}</text>"
    )
