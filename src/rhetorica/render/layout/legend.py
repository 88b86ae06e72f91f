"""The legend below a picture: a sample of each kind of line that it has, with its name."""

from __future__ import annotations

from dataclasses import replace

from rhetorica.render.layout.parts import (
    LABEL_HEIGHT,
    MARGIN,
    EdgeKind,
    Key,
    Label,
    Layout,
    label_width,
)

_SAMPLE, _GAP, _ROW = 30.0, 22.0, 18.0
_TREE: dict[EdgeKind, str] = {
    "nucleus": "nucleus",
    "satellite": "satellite, arrow to its nucleus",
    "multinuc": "multinuclear",
}
_ARCS: dict[EdgeKind, str] = {
    "root": "root",
    "satellite": "satellite, arrow from its head",
    "multinuc": "multinuclear with its head",
}
_UNSURE = "fainter: less sure"


def with_legend(layout: Layout, *, dependencies: bool, unsure: bool) -> Layout:
    """Add a legend below a picture, in as many rows as it needs; one without lines has none."""
    kinds = {edge.kind for edge in layout.edges}
    names = _ARCS if dependencies else _TREE
    entries: list[tuple[EdgeKind | None, str]] = [(k, n) for k, n in names.items() if k in kinds]
    if not entries:
        return layout
    entries += [(None, _UNSURE)] if unsure else []
    keys: list[Key] = []
    x, y, wide = MARGIN, layout.height, layout.width
    for kind, name in entries:
        sample = _SAMPLE + 6 if kind else 0.0
        size = sample + label_width(name)
        if x > MARGIN and x + size > layout.width - MARGIN:
            x, y = MARGIN, y + _ROW
        label = Label(name, x + sample, y - LABEL_HEIGHT / 2, size - sample, LABEL_HEIGHT, "start")
        points = ((x, y), (x + _SAMPLE, y)) if kind else ()
        arrow = kind == "satellite" or (dependencies and kind is not None)
        tip = ((x + _SAMPLE, y), (1.0, 0.0)) if arrow else None
        keys.append(Key(kind, points, tip, label))
        x += size + _GAP
        wide = max(wide, x - _GAP + MARGIN)
    return replace(layout, width=wide, height=y + MARGIN, legend=tuple(keys))
