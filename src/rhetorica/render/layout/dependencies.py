"""Dependencies: arcs above the texts, or brackets beside them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rhetorica.render.fit import visible
from rhetorica.render.layout.parts import (
    LABEL_HEIGHT,
    LANE,
    LANE_RIGHT,
    MARGIN,
    PAD,
    Edge,
    EdgeKind,
    Layout,
    Leaf,
    Orient,
    Point,
    centred,
    choose,
    column_box,
    column_width,
    free_label,
    label_width,
    mirrored,
    relation_name,
    text_column,
)
from rhetorica.trees import DepTree

_ARROW = 9.0


def layout_dependencies(
    tree: DepTree,
    texts: Sequence[str],
    *,
    orient: Orient = "auto",
    width: float | None = None,
    breaks: Collection[int] = (),
) -> Layout:
    """Lay out a dependency tree (projective or not) with the texts of its EDUs."""
    leaves = [
        Leaf(index, index, index + 1, str(index + 1), visible(text, unicode=False))
        for index, text in enumerate(texts)
    ]
    way = choose(orient, len(leaves))
    if not leaves:
        return Layout(way, 2 * MARGIN, 2 * MARGIN)
    if way == "down":
        return _dependencies_down(tree, leaves, width)
    return mirrored(_dependencies_right(tree, leaves, width, breaks))


def _edge_kind(tree: DepTree, index: int) -> EdgeKind:
    if tree.heads[index] < 0:
        return "root"
    return "multinuc" if tree.multinuclear[index] else "satellite"


def _name(tree: DepTree, index: int) -> str:
    """Return the label of an EDU: its relation; files call the root's ROOT, people do not."""
    return "root" if tree.heads[index] < 0 else relation_name(tree.relations[index])


def _dependencies_down(tree: DepTree, leaves: Sequence[Leaf], width: float | None) -> Layout:
    column = column_width(tree.relations, len(leaves), width)
    arcs = [(min(i, head), max(i, head)) for i, head in enumerate(tree.heads) if head >= 0]
    lanes = dict(zip(arcs, nesting(arcs, len(leaves)), strict=True))
    top = MARGIN + LANE * (max(lanes.values(), default=0) + 1)
    boxes = tuple(
        column_box(leaf, MARGIN + column * (place + 0.5), top, column)
        for place, leaf in enumerate(leaves)
    )
    offsets = _arc_offsets(tree, column)
    edges = []
    for index, head in enumerate(tree.heads):
        x = boxes[index].x + boxes[index].width / 2
        name = _name(tree, index)
        if head < 0:
            points: tuple[Point, ...] = ((x, MARGIN + LABEL_HEIGHT + 2), (x, top - 1))
            label = centred(x, MARGIN + LABEL_HEIGHT - 2, name)
        else:
            start = boxes[head].x + boxes[head].width / 2 + offsets[index]
            high = top - lanes[min(index, head), max(index, head)] * LANE + 6
            points = ((start, top), (start, high), (x, high), (x, top - 1))
            label = centred((start + x) / 2, high - 4, name)
        tip = ((x, top - 1), (0.0, 1.0))
        edges.append(Edge(_edge_kind(tree, index), index, head, tree.relations[index], "bracket",
                          points, tip, label))  # fmt: skip
    bottom = max(box.y + box.height for box in boxes)
    return Layout(
        "down", 2 * MARGIN + column * len(leaves), bottom + MARGIN, boxes, (), tuple(edges)
    )


def _arc_offsets(tree: DepTree, column: float) -> list[float]:
    """Spread the arcs that leave one head: the shortest starts farthest out, so none cross."""
    offsets = [0.0] * tree.n_edus
    for head, dependents in enumerate(tree.dependents()):
        after = [i for i in dependents if i > head]
        before = [i for i in reversed(dependents) if i < head]
        for side, sign in ((after, 1), (before, -1)):
            step = min(8.0, column / 3 / max(1, len(side)))
            for place, index in enumerate(side):
                offsets[index] = sign * step * (len(side) - place)
    return offsets


def _dependencies_right(
    tree: DepTree, leaves: Sequence[Leaf], width: float | None, breaks: Collection[int]
) -> Layout:
    dependents = tree.dependents()
    # One bracket for all dependents on one side of a head.
    brackets: list[tuple[int, int]] = []
    for head, below in enumerate(dependents):
        if below and below[0] < head:
            brackets.append((below[0], head))
        if below and below[-1] > head:
            brackets.append((head, below[-1]))
    lanes = dict(zip(brackets, nesting(brackets, len(leaves)), strict=True))
    shown = [_name(tree, index) for index in range(tree.n_edus)]
    names = max(map(label_width, shown)) + 2 * PAD
    beside = names + (max(lanes.values(), default=0) + 1) * LANE_RIGHT + 2 * MARGIN
    boxes = text_column(leaves, width, beside, breaks)
    left = boxes[0].x + boxes[0].width
    middles = [box.y + box.height / 2 for box in boxes]
    near = left + names
    edges = []
    for index, head in enumerate(tree.heads):
        y, relation = middles[index], tree.relations[index]
        tip = ((near, y), (-1.0, 0.0))
        kind = _edge_kind(tree, index)
        label = free_label(shown[index], left + PAD, y)
        if head < 0:
            points: tuple[Point, ...] = ((near + LANE_RIGHT + _ARROW, y), (near, y))
        else:
            below = dependents[head]
            farthest = below[0] if index < head else below[-1]
            lane = lanes[min(head, farthest), max(head, farthest)]
            out = near + _ARROW + lane * LANE_RIGHT
            start = middles[head] + (-7 if index < head else 7)
            points = ((near - 2, start), (out, start), (out, y), (near, y))
        edges.append(Edge(kind, index, head, relation, "bracket", points, tip, label))
    bottom = boxes[-1].y + boxes[-1].height
    return Layout("right", left + beside, bottom + MARGIN, boxes, (), tuple(edges))


def nesting(arcs: Sequence[tuple[int, int]], count: int) -> list[int]:
    """Return for each arc how far out it runs: 1, or one more than any shorter arc it meets.

    Arcs (low, high) join two of ``count`` places; those that only touch do not meet. Takes
    n log n steps: a tree over the gaps between places holds the outermost lane so far.

    >>> nesting([(0, 1), (1, 2), (0, 2), (2, 3)], 4)
    [1, 1, 2, 1]
    """
    size = 1
    while size < count:
        size *= 2
    inner, whole = [0] * (2 * size), [0] * (2 * size)  # highest anywhere in a part; in all of it
    lanes = [0] * len(arcs)
    for place in sorted(range(len(arcs)), key=lambda i: (arcs[i][1] - arcs[i][0], arcs[i])):
        low, high = arcs[place]
        parts = _parts(low + size, high + size)
        lane = 1 + max((max(inner[part], _above(whole, part)) for part in parts), default=0)
        for part in parts:
            whole[part] = max(whole[part], lane)
            while part:
                inner[part] = max(inner[part], lane)
                part //= 2
        lanes[place] = lane
    return lanes


def _parts(low: int, high: int) -> list[int]:
    """Return the nodes of a binary tree in an array that together cover leaves low to high - 1."""
    parts = []
    while low < high:
        if low & 1:
            parts.append(low)
            low += 1
        if high & 1:
            high -= 1
            parts.append(high)
        low //= 2
        high //= 2
    return parts


def _above(whole: Sequence[int], part: int) -> int:
    highest = 0
    while part:
        highest = max(highest, whole[part])
        part //= 2
    return highest
