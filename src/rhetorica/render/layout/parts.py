"""The parts of a picture, and what all layouts share: columns and rows of text, labels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias, get_args

from rhetorica.errors import UnknownName
from rhetorica.render.fit import clip, measure, visible, wrap

View = Literal["rst", "dep", "dependencies", "overview"]
Orient = Literal["auto", "down", "right"]
EdgeKind = Literal["nucleus", "satellite", "multinuc", "root"]
Shape = Literal["line", "curve", "bracket"]
Anchor = Literal["start", "middle", "end"]
Point: TypeAlias = tuple[float, float]

FONT_SIZE, LABEL_SIZE, TAG_SIZE = 13.0, 11.0, 10.0
LINE_HEIGHT, LABEL_HEIGHT = 17.0, 12.0
MAX_DOWN = 10
"""More EDUs than this are laid out to the right, unless the caller says otherwise."""

MARGIN = 16.0
LANE, LANE_RIGHT = 26.0, 9.0
"""How far apart arrows run beside each other, above the text and to its right."""
ROW = 30.0
PAD = 8.0
_MAX_LABEL = 190.0
_TEXT_WIDTH, _MIN_TEXT_WIDTH, _MAX_TEXT_WIDTH = 460.0, 260.0, 720.0
_COLUMN, _MIN_COLUMN, _MAX_COLUMN = 140.0, 104.0, 240.0
_PAGE = 1000.0
_NUMBER = 16.0
_PARAGRAPH = 10.0

text_width = measure(FONT_SIZE)
label_width = measure(LABEL_SIZE)
tag_width = measure(TAG_SIZE)


class Box(NamedTuple):
    """The text of an EDU or of a folded node: a rectangle, its rows of text, its number.

    Rows begin at ``text_x``, or in the layout "down" have their middle there.
    """

    node: int
    start: int
    end: int
    x: float
    y: float
    width: float
    height: float
    text_x: float
    number: str
    lines: tuple[str, ...]


class Line(NamedTuple):
    """The line over a span of EDUs ``start:end``, with its ends."""

    node: int
    start: int
    end: int
    first: Point
    last: Point


class Label(NamedTuple):
    """A relation's name or a number: its text, and the rectangle that it fills."""

    text: str
    x: float
    y: float
    width: float
    height: float
    anchor: Anchor


class Edge(NamedTuple):
    """A connection between two nodes, from the lower one (``node``) to what it hangs on.

    ``points`` are the ends and corners ("line": straight, "bracket": with rounded corners) or the
    four points of a cubic curve. ``tip`` is where an arrow ends and the direction it has there.
    ``tag`` is the number of the lower node again, where that is far away.
    """

    kind: EdgeKind
    node: int
    parent: int
    relation: str
    shape: Shape
    points: tuple[Point, ...]
    tip: tuple[Point, Point] | None = None
    label: Label | None = None
    tag: Label | None = None


class Key(NamedTuple):
    """An entry of the legend: a sample of a line (without points there is none), and its name."""

    kind: EdgeKind | None
    points: tuple[Point, ...]
    tip: tuple[Point, Point] | None
    label: Label


@dataclass(frozen=True, slots=True)
class Layout:
    """A picture's size and parts."""

    orient: Literal["down", "right"]
    width: float
    height: float
    boxes: tuple[Box, ...] = ()
    lines: tuple[Line, ...] = ()
    edges: tuple[Edge, ...] = ()
    legend: tuple[Key, ...] = ()


def is_dependencies(view: str) -> bool:
    """Tell whether a view is that of dependencies ("dep" for short)."""
    if view not in get_args(View):
        raise UnknownName("view", view, get_args(View))
    return view in ("dep", "dependencies")


def choose(orient: Orient, leaves: int) -> Literal["down", "right"]:
    """Return the orientation that suits so many EDUs, unless one is asked for."""
    if orient not in get_args(Orient):
        raise UnknownName("orientation", orient, get_args(Orient))
    if orient == "auto":
        return "down" if leaves <= MAX_DOWN else "right"
    return orient


class Leaf(NamedTuple):
    """What gets a box: an EDU or a folded group, with its number and text."""

    node: int
    start: int
    end: int
    number: str
    text: str


def relation_name(relation: str) -> str:
    """Return a relation's name on one row, cut where it is very long."""
    return clip(visible(relation, unicode=False), _MAX_LABEL, label_width)


def column_width(relations: Iterable[str], count: int, width: float | None) -> float:
    """Choose how wide the column of an EDU is: no relation's name may be wider."""
    widest = max(
        (min(_MAX_LABEL, label_width(visible(name, unicode=False))) for name in relations),
        default=0.0,
    )
    least = max(_MIN_COLUMN, widest + 14)
    wished = (width - 2 * MARGIN) / count if width else max(_COLUMN, min(_PAGE / count, 200.0))
    return max(least, min(wished, _MAX_COLUMN))


def column_box(leaf: Leaf, x: float, y: float, column: float) -> Box:
    """Put a leaf's text into a column: its number, and below it the rows of its text."""
    room = column - 12
    lines = tuple(wrap(leaf.text, room - 2 * PAD, room - 2 * PAD, text_width))
    height = _NUMBER + len(lines) * LINE_HEIGHT + PAD
    return Box(
        leaf.node, leaf.start, leaf.end, x - room / 2, y, room, height, x, leaf.number, lines
    )  # fmt: skip


def text_column(
    leaves: Sequence[Leaf], width: float | None, beside: float, breaks: Collection[int]
) -> tuple[Box, ...]:
    """Stack the texts; they get what the tree leaves of the width."""
    gutter = max(label_width(leaf.number) for leaf in leaves) + 2 * PAD
    wished = width - beside - gutter - MARGIN - PAD if width else _TEXT_WIDTH
    room = max(_MIN_TEXT_WIDTH, min(wished, _MAX_TEXT_WIDTH))
    starts = set(breaks)
    rows = [tuple(wrap(leaf.text, room, room, text_width)) for leaf in leaves]
    room = max(text_width(line) for lines in rows for line in lines)
    boxes: list[Box] = []
    y = MARGIN
    for leaf, lines in zip(leaves, rows, strict=True):
        height = max(ROW, len(lines) * LINE_HEIGHT + 10)
        y += _PARAGRAPH if boxes and leaf.start in starts else 0
        boxes.append(
            Box(leaf.node, leaf.start, leaf.end, MARGIN, y, gutter + room + PAD, height - 2,
                MARGIN + gutter, leaf.number, lines)
        )  # fmt: skip
        y += height
    return tuple(boxes)


def centred(x: float, baseline: float, name: str) -> Label:
    """Put a name above a line, its middle at ``x``."""
    wide = label_width(name)
    return Label(name, x - wide / 2, baseline - LABEL_SIZE + 2, wide, LABEL_HEIGHT, "middle")


def row_label(name: str, x: float, y: float) -> Label:
    """Put a name above a line."""
    return Label(name, x, y - LABEL_HEIGHT - 2, label_width(name), LABEL_HEIGHT, "start")


def free_label(name: str, x: float, y: float) -> Label:
    """Put a name where there is no line: its middle on that of the row."""
    return Label(name, x, y - LABEL_HEIGHT / 2, label_width(name), LABEL_HEIGHT, "start")


_OPPOSITE: dict[Anchor, Anchor] = {"start": "end", "middle": "middle", "end": "start"}


def mirrored(layout: Layout) -> Layout:
    """Turn a picture whose tree stands right of the text around: the root comes to the left.

    So it stands in the terminal and on the page, too. What is written in a box stays as it is.
    """
    wide = layout.width

    def turned(point: Point) -> Point:
        return wide - point[0], point[1]

    def label(old: Label | None) -> Label | None:
        if old is None:
            return None
        return old._replace(x=wide - old.x - old.width, anchor=_OPPOSITE[old.anchor])

    def tip(old: tuple[Point, Point] | None) -> tuple[Point, Point] | None:
        return None if old is None else (turned(old[0]), (-old[1][0], old[1][1]))

    def box(old: Box) -> Box:
        x = wide - old.x - old.width
        return old._replace(x=x, text_x=old.text_x + x - old.x)

    return replace(
        layout,
        boxes=tuple(map(box, layout.boxes)),
        lines=tuple(o._replace(first=turned(o.first), last=turned(o.last)) for o in layout.lines),
        edges=tuple(
            old._replace(
                points=tuple(map(turned, old.points)),
                tip=tip(old.tip),
                label=label(old.label),
                tag=label(old.tag),
            )
            for old in layout.edges
        ),
    )
