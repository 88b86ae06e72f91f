"""A picture of a tree as SVG: what `layout` says, written down.

The picture is one string without scripts, references or ids, so that it can be a file, stand in a
page beside others, or go through a converter. What comes from the parse is escaped; characters
that XML forbids are shown as ``<U+0000>``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

from rhetorica.parses import Parse
from rhetorica.render.colours import Theme, style_sheet
from rhetorica.render.fit import runs_right_to_left, visible
from rhetorica.render.layout.dependencies import layout_dependencies
from rhetorica.render.layout.legend import with_legend
from rhetorica.render.layout.parts import (
    LABEL_SIZE,
    LINE_HEIGHT,
    Box,
    Edge,
    Key,
    Label,
    Layout,
    Line,
    Orient,
    Point,
    Shape,
    View,
    is_dependencies,
)
from rhetorica.render.layout.rst import heads, layout_rst
from rhetorica.render.overview import overview_svg
from rhetorica.render.paths import arrow, steps
from rhetorica.trees import AnnotatedTree, DepTree

# Around a line it puts punctuation on the right side; not every renderer knows "direction".
_RIGHT_TO_LEFT = "\u200f"
FAINTEST = 0.35


def render_svg(
    parse: Parse,
    *,
    view: View = "rst",
    theme: Theme = "auto",
    orient: Orient = "auto",
    width: float | None = None,
    depth: int | None = None,
    folded: Collection[int] = (),
    background: bool = True,
    legend: bool = True,
) -> str:
    """Draw a parse as an SVG picture.

    ``view`` is "rst" (classical notation), "dep", or "overview": the whole structure without the
    texts, for long documents. ``orient`` is "down" (EDUs side by side, root
    on top), "right" (EDUs below each other, the tree beside them) or "auto", which chooses by the
    number of EDUs. ``width`` in pixels is kept as far as is sensible. The ``theme`` "auto" follows
    the reader's setting. Nodes of ``parse.annotated`` in ``folded``, and groups more than
    ``depth`` levels below the root, are drawn as one leaf.

    What the parser is less sure of is fainter; pointing at it shows the probabilities. Elements
    of class ``rh-edu`` (text), ``rh-node`` (the line over a span) and ``rh-edge`` have the
    attributes ``data-node`` (number in ``parse.annotated.nodes``; in the dependency view that of
    the EDU, which is the same), ``data-start`` and ``data-end`` (half-open range of EDUs, from
    0); an edge also has ``data-parent``, ``data-role``, ``data-relation`` and where known
    ``data-p-span``, ``data-p-nuclearity``, ``data-p-relation``, ``data-p-head``.

    >>> from rhetorica import Document, Join, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained."])
    >>> svg = render_svg(Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "cause"),))))
    >>> svg.startswith("<svg "), svg.count("<text"), 'data-relation="cause"' in svg
    (True, 8, True)
    """
    sheet = style_sheet(theme)
    if view == "overview":
        return overview_svg(parse, theme, sheet, width=width, background=background)
    picture = picture_of(
        parse, view, orient=orient, width=width, depth=depth, folded=folded, legend=legend
    )
    return "".join(picture.write(theme, sheet, background))


def picture_of(
    parse: Parse,
    view: View,
    *,
    orient: Orient = "auto",
    width: float | None = None,
    depth: int | None = None,
    folded: Collection[int] = (),
    legend: bool = True,
) -> Picture:
    """Lay out a parse, and find what is said about its parts."""
    breaks = _paragraph_starts(parse)
    if is_dependencies(view):
        tree = parse.dependencies if parse.edus else DepTree()
        layout = layout_dependencies(tree, parse.edus, orient=orient, width=width, breaks=breaks)
        known = _arc_scores(parse, range(len(parse.edus)))
        extents = [(index, index + 1) for index in range(tree.n_edus)]
    else:
        nodes = parse.annotated if parse.edus else AnnotatedTree()
        layout = layout_rst(
            nodes, parse.edus, orient=orient, width=width, depth=depth, folded=folded,
            breaks=breaks,
        )  # fmt: skip
        known = _join_scores(parse) or _arc_scores(parse, heads(nodes))
        extents = nodes.extents
    if legend:
        layout = with_legend(layout, dependencies=is_dependencies(view), unsure=bool(known))
    what = "Dependency tree" if is_dependencies(view) else "RST tree"
    return Picture(f"{what} of {len(parse.edus)} units", parse, layout, extents, known)


def _paragraph_starts(parse: Parse) -> set[int]:
    if len(parse.document.paragraphs) < 2:
        return set()
    numbers = parse.document.edu_paragraphs()
    return {i for i in range(1, len(numbers)) if numbers[i] != numbers[i - 1]}


# Probabilities, by the number of the node whose edge they belong to.

Known = Mapping[int, Mapping[str, float]]


def _join_scores(parse: Parse) -> Known:
    """Find the probabilities of each satellite and of the nuclei of multinuclear nodes."""
    scores = parse.scores
    if not scores or not (scores.spans or scores.nuclearities or scores.relations):
        return {}
    place = {(join.start, join.end): i for i, join in enumerate(parse.tree.joins)}
    columns = {
        "span": scores.spans,
        "nuclearity": scores.nuclearities,
        "relation": scores.relations,
    }
    return {
        node: {name: column[place[part]] for name, column in columns.items() if column}
        for node, part in _joins(parse.annotated)
        if part in place
    }


def _joins(tree: AnnotatedTree) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield each satellite and each of several nuclei with the range of EDUs of its join."""
    for node, nuclei in enumerate(tree.nuclei):
        start, end = node, node + 1
        if nuclei:
            start, end = tree.extents[nuclei[0]][0], tree.extents[nuclei[-1]][1]
        if len(nuclei) > 1:  # binary trees branch to the right: n nuclei make n - 1 joins
            yield nuclei[0], (start, end)
            yield from (
                (child, (tree.extents[before][0], end)) for before, child in pairwise(nuclei)
            )
        # Binary trees take satellites as `convert.to_rst` does: after it, then before it.
        before = [child for child in tree.satellites[node] if tree.extents[child][0] < start]
        for child in [*tree.satellites[node][len(before) :], *reversed(before)]:
            start, end = min(start, tree.extents[child][0]), max(end, tree.extents[child][1])
            yield child, (start, end)


def _arc_scores(parse: Parse, head_of: Collection[int]) -> Known:
    """Find the probabilities of the dependency that each node's most central EDU has."""
    scores = parse.scores
    if not scores:
        return {}
    columns = {"head": scores.heads, "relation": scores.arc_relations}
    return {
        node: {name: column[head] for name, column in columns.items() if column}
        for node, head in enumerate(head_of)
    }


@dataclass(frozen=True, slots=True)
class Picture:
    """A layout and what is said about its parts."""

    title: str
    parse: Parse
    layout: Layout
    extents: list[tuple[int, int]]
    known: Known

    def write(self, theme: Theme, sheet: str, background: bool) -> Iterator[str]:
        """Write the picture, part by part."""
        layout = self.layout
        wide, high = _number(layout.width), _number(layout.height)
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="rhetorica rh-{theme}" role="img" '
            f'aria-label="{_attribute(self.title)}" width="{wide}" height="{high}" '
            f'viewBox="0 0 {wide} {high}" data-orient="{layout.orient}">\n'
            f"<style>{sheet}</style>\n"
        )
        if background:
            yield f'<rect class="rh-paper" width="{wide}" height="{high}"/>\n'
        yield from map(self._line, layout.lines)
        yield from map(self._edge, layout.edges)
        yield from map(self._box, layout.boxes)
        # Names come last, so that no line runs through them.
        for edge in layout.edges:
            if edge.label or edge.tag:
                yield self._labels(edge)
        yield from map(self._key, layout.legend)
        yield "</svg>\n"

    def _line(self, line: Line) -> str:
        (x1, y1), (x2, y2) = line.first, line.last
        number = f"{line.start + 1}–{line.end}"
        flat = self.layout.orient == "down"
        text = _text("rh-range", x1, y1 + 11, number) if flat else ""
        return (
            f'<g class="rh-node"{_data(node=line.node, start=line.start, end=line.end)}>'
            f"<title>{number}</title>"
            f'<path class="rh-span" d="{_path("line", [(x1, y1), (x2, y2)])}"/>{text}</g>\n'
        )

    def _edge(self, edge: Edge) -> str:
        tip = f'<path class="rh-tip" d="{_arrow(*edge.tip)}"/>' if edge.tip else ""
        return (
            f'<g class="rh-edge rh-{edge.kind}"{self._facts(edge)}{self._opacity(edge)}>'
            f"<title>{self._title(edge)}</title>"
            f'<path class="rh-line" d="{_path(edge.shape, edge.points)}"/>{tip}</g>\n'
        )

    def _label(self, label: Label, kind: str = "rh-label") -> str:
        share = {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor]
        anchor = "" if label.anchor == "start" else f' text-anchor="{label.anchor}"'
        x, y = label.x + share * label.width, label.y + LABEL_SIZE - 1
        return _text(kind, x, y, label.text, anchor)

    def _key(self, key: Key) -> str:
        name = self._label(key.label, "rh-key")
        if key.kind is None:
            return f'<g class="rh-legend">{name}</g>\n'
        tip = f'<path class="rh-tip" d="{_arrow(*key.tip)}"/>' if key.tip else ""
        line = f'<path class="rh-line" d="{_path("line", key.points)}"/>'
        return f'<g class="rh-legend rh-{key.kind}">{line}{tip}{name}</g>\n'

    def _labels(self, edge: Edge) -> str:
        tag = self._label(edge.tag, "rh-range") if edge.tag else ""
        name = self._label(edge.label) if edge.label else ""
        return (
            f'<g class="rh-edge rh-{edge.kind}"{self._facts(edge)}>'
            f"<title>{self._title(edge)}</title>{tag}{name}</g>\n"
        )

    def _box(self, box: Box) -> str:
        facts = _data(node=box.node, start=box.start, end=box.end)
        folded = " rh-folded" if box.end - box.start > 1 else ""
        start = (
            f'<g class="rh-edu{folded}"{facts}>{self._box_title(box)}'
            f'<rect class="rh-panel" x="{_number(box.x)}" y="{_number(box.y)}" '
            f'width="{_number(box.width)}" height="{_number(box.height)}" rx="4"/>'
        )
        return start + "".join(self._box_text(box)) + "</g>\n"

    def _box_text(self, box: Box) -> Iterator[str]:
        if self.layout.orient == "down":
            first, number_x = box.y + 30, box.text_x
            centre = number = ' text-anchor="middle"'
            number_y = box.y + 14
        else:
            number_y = first = box.y + (box.height - LINE_HEIGHT * len(box.lines)) / 2 + 13
            number_x, centre, number = box.text_x - 8, "", ' text-anchor="end"'
        yield _text("rh-number", number_x, number_y, box.number, number)
        mark = _RIGHT_TO_LEFT if runs_right_to_left("".join(box.lines)) else ""
        for place, line in enumerate(box.lines):
            line = f"{mark}{line}{mark}"
            yield _text("rh-text", box.text_x, first + place * LINE_HEIGHT, line, centre)

    def _box_title(self, box: Box) -> str:
        scores = self.parse.scores
        sure = ""
        if scores and scores.boundaries and box.end - box.start == 1:
            sure = f" (boundary {scores.boundaries[box.start]:.2f})"
        return f"<title>{box.number}{sure}</title>"

    def _facts(self, edge: Edge) -> str:
        start, end = self.extents[edge.node]
        known = self.known.get(edge.node, {})
        return _data(
            node=edge.node,
            start=start,
            end=end,
            parent=edge.parent,
            role={"multinuc": "nucleus"}.get(edge.kind, edge.kind),
            relation=edge.relation,
            **{f"p-{name}": f"{value:.4f}" for name, value in known.items()},
        )

    def _title(self, edge: Edge) -> str:
        start, end = self.extents[edge.node]
        reach = f"{start + 1}–{end}" if end - start > 1 else f"{start + 1}"
        sure = ", ".join(f"{k} {v:.2f}" for k, v in self.known.get(edge.node, {}).items())
        name = escape(visible(edge.relation, unicode=False))
        return f"{name} {reach}" + (f" ({sure})" if sure else "")

    def _opacity(self, edge: Edge) -> str:
        shade = self.shade(edge)
        return f' opacity="{shade:.2f}"' if shade is not None else ""

    def shade(self, edge: Edge) -> float | None:
        """Return how opaque a line is, by the least of its probabilities; None where unknown.

        Names are never faint: those that are unsure must be read, too.
        """
        known = self.known.get(edge.node)
        if not known or edge.kind == "nucleus":
            return None
        return FAINTEST + (1 - FAINTEST) * min(1.0, max(0.0, min(known.values())))


# Markup


def _data(**facts: Any) -> str:
    return "".join(
        f' data-{name}="{_attribute(value) if isinstance(value, str) else value}"'
        for name, value in facts.items()
    )


def _attribute(text: str) -> str:
    return escape(visible(text, unicode=False), quote=True)


def _text(kind: str, x: float, y: float, text: str, more: str = "") -> str:
    return (
        f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}"{more}>'
        f"{escape(text, quote=False)}</text>"
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _points(*points: Point) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _path(shape: Shape, points: Sequence[Point]) -> str:
    return "".join(f"{step.pen}{_points(*step.points)}" for step in steps(shape, points))


def _arrow(tip: Point, direction: Point) -> str:
    first, *rest = arrow(tip, direction)
    return f"M{_points(first)}L{_points(*rest)}Z"
