"""The RST tree: what is drawn of it, then from top to bottom or from left to right."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rhetorica.errors import RhetoricaError
from rhetorica.render.fit import visible
from rhetorica.render.layout.parts import (
    LABEL_HEIGHT,
    LANE,
    LANE_RIGHT,
    MARGIN,
    ROW,
    Box,
    Edge,
    Label,
    Layout,
    Leaf,
    Line,
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
    row_label,
    tag_width,
    text_column,
)
from rhetorica.trees import AnnotatedTree

_LEVEL = 30.0
_TAIL = 16.0
_FAR = 240.0


def layout_rst(
    tree: AnnotatedTree,
    texts: Sequence[str],
    *,
    orient: Orient = "auto",
    width: float | None = None,
    depth: int | None = None,
    folded: Collection[int] = (),
    breaks: Collection[int] = (),
) -> Layout:
    """Lay out an RST tree with the texts of its EDUs.

    ``width`` is what is wished for: texts are made narrower or wider as far as is sensible.
    ``folded`` nodes, and groups more than ``depth`` levels below the top, become leaves. EDUs in
    ``breaks`` start a paragraph, which the layout to the right shows by a gap.
    """
    drawn = _draw(tree, depth, folded)
    leaves = _leaves(drawn, texts)
    way = choose(orient, len(leaves))
    if not leaves:
        return Layout(way, 2 * MARGIN, 2 * MARGIN)
    if way == "down":
        return _Down(drawn, leaves, width).layout()
    return mirrored(_Right(drawn, leaves, width, breaks).layout())


def heads(tree: AnnotatedTree) -> list[int]:
    """Return, for each node, its most central EDU (the first nucleus all the way down)."""
    head = list(range(len(tree.nodes)))
    for index in tree.bottom_up:
        if tree.nuclei[index]:
            head[index] = head[tree.nuclei[index][0]]
    return head


@dataclass(slots=True)
class _Drawn:
    """The part of a tree that is drawn; lists go by the number of the node.

    A satellite stands beside its nucleus, so a node and its satellites (and theirs) make one row.
    """

    tree: AnnotatedTree
    top_down: list[int]
    is_leaf: list[bool]
    cores: list[tuple[int, int]]  # the EDUs of a node without its own satellites
    position: list[float]  # along the text
    lane: list[int]  # how far out a satellite's arrow runs
    lanes: list[int]  # how many arrows run beside each other in a node's row
    names: list[float]  # how wide the relations' names in a node's row are

    def relation(self, node: int) -> str:
        return self.tree.nodes[node].relation


def _draw(tree: AnnotatedTree, depth: int | None, folded: Collection[int]) -> _Drawn:
    """Choose the nodes that are drawn, parents before children."""
    if depth is not None and depth < 1:
        raise RhetoricaError(f"a depth of {depth} shows nothing: it must be at least 1")
    count = len(tree.nodes)
    hidden = set(folded)
    if wrong := [node for node in hidden if not 0 <= node < count]:
        raise RhetoricaError(f"cannot fold node {min(wrong)}: the tree has {count} nodes, from 0")
    level = [0] * count
    is_leaf = [node.kind == "edu" for node in tree.nodes]
    order = [tree.bottom_up[-1]] if count else []
    for index in order:  # grows while it runs
        if index in hidden or (depth is not None and level[index] >= depth):
            is_leaf[index] = True
        if not is_leaf[index]:
            for child in tree.nuclei[index]:
                level[child] = level[index] + 1
            order += tree.nuclei[index]
        for child in tree.satellites[index]:
            level[child] = level[index]
        order += tree.satellites[index]
    cores = [
        (tree.extents[nuclei[0]][0], tree.extents[nuclei[-1]][1]) if nuclei else (index, index + 1)
        for index, nuclei in enumerate(tree.nuclei)
    ]
    zeros = [0.0] * count
    return _Drawn(tree, order, is_leaf, cores, zeros, [0] * count, [0] * count, zeros.copy())


def _leaves(drawn: _Drawn, texts: Sequence[str]) -> list[Leaf]:
    """List the leaves in text order, folded groups with the text of their most central EDU."""
    head = heads(drawn.tree)
    leaves = []
    for node in drawn.top_down:
        if drawn.is_leaf[node]:
            start, end = drawn.cores[node]
            text = visible(texts[head[node]], unicode=False)
            if end - start > 1:
                text = f"… {text} …"
            leaves.append(Leaf(node, start, end, _range(start, end), text))
    return sorted(leaves, key=lambda leaf: leaf.start)


def _range(start: int, end: int) -> str:
    """Write a range of EDUs as people count them."""
    return f"{start + 1}–{end}" if end - start > 1 else str(start + 1)


def _find_lanes(drawn: _Drawn) -> None:
    """Give each satellite's arrow a lane: farther out than all that it passes."""
    for node in reversed(drawn.top_down):
        start = drawn.cores[node][0]
        satellites = drawn.tree.satellites[node]
        before = [child for child in satellites if drawn.cores[child][0] < start]
        for side in (before[::-1], satellites[len(before) :]):
            last = 0
            for child in side:
                last = drawn.lane[child] = 1 + max(last, drawn.lanes[child])
                name = label_width(relation_name(drawn.relation(child)))
                drawn.names[node] = max(drawn.names[node], drawn.names[child], name)
            drawn.lanes[node] = max(drawn.lanes[node], last)


def _find_positions(drawn: _Drawn, leaves: Sequence[Leaf], centres: Sequence[float]) -> None:
    """Give each node its position along the text: its nucleus's, or the middle of several."""
    for leaf, centre in zip(leaves, centres, strict=True):
        drawn.position[leaf.node] = centre
    for node in reversed(drawn.top_down):
        if not drawn.is_leaf[node]:
            nuclei = [drawn.position[child] for child in drawn.tree.nuclei[node]]
            drawn.position[node] = _middle(nuclei)


def _middle(positions: Sequence[float]) -> float:
    """Return the middle of first and last, or a nucleus that is so close that lines would meet."""
    middle = (positions[0] + positions[-1]) / 2
    nearest = min(positions, key=lambda position: abs(position - middle))
    return nearest if abs(nearest - middle) < ROW / 2 - 1 else middle


class _Down:
    """EDUs side by side, the root on top; a row's arrows run above it."""

    def __init__(self, drawn: _Drawn, leaves: Sequence[Leaf], width: float | None) -> None:
        self.drawn, self.leaves = drawn, leaves
        self.column = column_width(
            {drawn.relation(node) for node in drawn.top_down}, len(leaves), width
        )
        _find_lanes(drawn)
        middles = [MARGIN + self.column * (place + 0.5) for place in range(len(leaves))]
        _find_positions(drawn, leaves, middles)
        self.left = {leaf.start: MARGIN + self.column * i for i, leaf in enumerate(leaves)}
        self.right = {leaf.end: MARGIN + self.column * (i + 1) for i, leaf in enumerate(leaves)}
        self.top = [0.0] * len(drawn.tree.nodes)
        self.lines: list[Line] = []
        self.edges: list[Edge] = []

    def layout(self) -> Layout:
        drawn, top = self.drawn, self.top
        root = drawn.top_down[0]
        top[root] = MARGIN + drawn.lanes[root] * LANE
        for node in drawn.top_down:
            for child in drawn.tree.satellites[node]:
                top[child] = top[node]
                self.edges.append(self._arrow(child, node))
            if not drawn.is_leaf[node]:
                self._group(node)
        boxes = tuple(
            column_box(leaf, drawn.position[leaf.node], top[leaf.node], self.column)
            for leaf in self.leaves
        )
        return Layout(
            "down",
            2 * MARGIN + self.column * len(boxes),
            max(box.y + box.height for box in boxes) + MARGIN,
            boxes,
            tuple(self.lines),
            tuple(self.edges),
        )

    def _group(self, node: int) -> None:
        """Draw a group's line and what leads down from it to its nuclei."""
        drawn = self.drawn
        x, y = drawn.position[node], self.top[node]
        start, end = drawn.cores[node]
        ends = (self.left[start] + 6, y), (self.right[end] - 6, y)
        self.lines.append(Line(node, start, end, *ends))
        nuclei = drawn.tree.nuclei[node]
        several = len(nuclei) > 1
        spread = y + _LEVEL + (LABEL_HEIGHT + 10 if several else 0)
        below = spread + LANE * max(drawn.lanes[child] for child in nuclei)
        label = None
        if several:
            label = centred(x, spread - 8, relation_name(drawn.relation(nuclei[0])))
        for child in nuclei:
            self.top[child] = below
            at = drawn.position[child]
            # Spokes spread above the arrows of their row, and go straight down through these.
            bends = ((at, spread),) if several and below > spread else ()
            self.edges.append(
                Edge(
                    "multinuc" if several else "nucleus", child, node, drawn.relation(child),
                    "line", ((at, below), *bends, (x, y)), None, label,
                )
            )  # fmt: skip
            label = None

    def _arrow(self, satellite: int, nucleus: int) -> Edge:
        """Draw a satellite's arrow: a curve from its top to its nucleus's top."""
        drawn, y = self.drawn, self.top[nucleus]
        relation = drawn.relation(satellite)
        start, end = drawn.position[satellite], drawn.position[nucleus]
        end += 5 if start > end else -5  # beside the line that comes down to the nucleus
        high = y - drawn.lane[satellite] * LANE + 8
        control = y - (y - high) * 4 / 3  # a cubic rises to three quarters of its control points
        lean = (start - end) * 0.12
        tip = (end, y - 1)
        return Edge(
            "satellite", satellite, nucleus, relation, "curve",
            ((start, y), (start - lean, control), (end + lean, control), tip),
            (tip, (-lean, y - control)),
            centred((start + end) / 2, high - 4, relation_name(relation)),
        )  # fmt: skip


class _Right:
    """EDUs below each other, the root at the right; a row's arrows run to the right of it.

    Distances are from the text, which stands left here: the picture is turned around in the end.
    """

    def __init__(
        self, drawn: _Drawn, leaves: Sequence[Leaf], width: float | None, breaks: Collection[int]
    ) -> None:
        self.drawn = drawn
        count = len(drawn.tree.nodes)
        self.away = [0.0] * count  # a node's distance from the text
        self.reach = [0.0] * count  # the farthest in its row: there the row's arrows begin
        _find_lanes(drawn)
        self._find_columns()
        root = drawn.top_down[0]
        self.depth = self.reach[root] + self._zone([root]) + MARGIN
        self.boxes: tuple[Box, ...] = text_column(leaves, width, self.depth, breaks)
        self.left = self.boxes[0].x + self.boxes[0].width
        _find_positions(drawn, leaves, [box.y + box.height / 2 for box in self.boxes])
        self.above = {box.start: box.y for box in self.boxes}
        self.below = {box.end: box.y + box.height for box in self.boxes}
        self.front = self.reach.copy()
        self.lines: list[Line] = []
        self.edges: list[Edge] = []

    def layout(self) -> Layout:
        drawn = self.drawn
        for node in drawn.top_down:
            for child in drawn.tree.satellites[node]:
                self.front[child] = self.front[node]
                self.edges.append(self._arrow(child, node))
            if not drawn.is_leaf[node]:
                self._group(node)
        bottom = self.boxes[-1].y + self.boxes[-1].height
        return Layout(
            "right", self.left + self.depth, bottom + MARGIN, self.boxes, tuple(self.lines),
            tuple(self.edges),
        )  # fmt: skip

    def _find_columns(self) -> None:
        """Find each node's distance from the text, leaves first: as far out as its parts need."""
        drawn, reach = self.drawn, self.reach
        for node in reversed(drawn.top_down):
            if not drawn.is_leaf[node]:
                nuclei = drawn.tree.nuclei[node]
                out = max(reach[child] for child in nuclei) + self._zone(nuclei)
                if len(nuclei) > 1:
                    out += label_width(relation_name(drawn.relation(nuclei[0]))) + _TAIL
                elif not drawn.lanes[nuclei[0]]:
                    out += _TAIL  # a span without satellites
                self.away[node] = out
            satellites = drawn.tree.satellites[node]
            reach[node] = max([self.away[node], *(reach[child] for child in satellites)])

    def _zone(self, nodes: Sequence[int]) -> float:
        """Return how deep the room for the arrows and names of these nodes' rows must be."""
        lanes = max(self.drawn.lanes[node] for node in nodes)
        names = max(self.drawn.names[node] for node in nodes)
        return names + lanes * LANE_RIGHT + _TAIL if lanes else 0.0

    def _point(self, node: int) -> Point:
        return self.left + self.away[node], self.drawn.position[node]

    def _group(self, node: int) -> None:
        """Draw a span's line and that to its nucleus, or the bracket of several nuclei."""
        drawn = self.drawn
        nuclei = drawn.tree.nuclei[node]
        front = max(self.reach[child] for child in nuclei)
        x, y = self._point(node)
        for child in nuclei:
            self.front[child] = front
        if len(nuclei) > 1:
            label: Label | None = self._bracket_label(nuclei, front, y)
            for child in nuclei:
                start_x, at = self._point(child)
                points = ((start_x, at), (x, at), (x, y))
                self.edges.append(
                    Edge(
                        "multinuc", child, node, drawn.relation(child), "bracket", points, None,
                        label, self._tag(child),
                    )
                )  # fmt: skip
                label = None
            return
        start, end = drawn.cores[node]
        ends = (x, self.above[start] + 3), (x, self.below[end] - 3)
        self.lines.append(Line(node, start, end, *ends))
        child = nuclei[0]
        self.edges.append(
            Edge(
                "nucleus", child, node, drawn.relation(child), "line",
                (self._point(child), (x, y)), None, None, self._tag(child),
            )
        )  # fmt: skip

    def _bracket_label(self, nuclei: Sequence[int], front: float, y: float) -> Label:
        """Place the relation of several nuclei: on the line of one of them, or between two."""
        on_line = any(self.drawn.position[child] == y for child in nuclei)
        name = relation_name(self.drawn.relation(nuclei[0]))
        return (row_label if on_line else free_label)(
            name, self.left + front + self._zone(nuclei) + 5, y
        )

    def _arrow(self, satellite: int, nucleus: int) -> Edge:
        """Draw a satellite's arrow: out along its row, then up or down to the nucleus's line."""
        drawn = self.drawn
        relation, front = drawn.relation(satellite), self.left + self.front[nucleus]
        start, end = drawn.position[satellite], drawn.position[nucleus]
        out = front + drawn.names[nucleus] + _TAIL - 8 + (drawn.lane[satellite] - 1) * LANE_RIGHT
        turn = 1.0 if start < end else -1.0
        tip = (out, end - turn)
        return Edge(
            "satellite", satellite, nucleus, relation, "bracket",
            (self._point(satellite), (out, start), tip), (tip, (0.0, turn)),
            row_label(relation_name(relation), front + 5, start), self._tag(satellite),
        )  # fmt: skip

    def _tag(self, node: int) -> Label | None:
        """Repeat a node's number at the end of a long line."""
        number = _range(*self.drawn.cores[node])
        wide = tag_width(number)
        if self.front[node] - self.away[node] < wide + _FAR:
            return None
        x, y = self.left + self.front[node], self.drawn.position[node]
        return Label(number, x - wide - 2, y - LABEL_HEIGHT - 2, wide, LABEL_HEIGHT, "end")
