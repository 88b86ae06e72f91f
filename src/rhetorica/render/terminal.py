"""A tree for the terminal: an outline in text order, or a table of dependencies.

The classical drawing of an RST tree runs off the screen, because it indents once for each
constituent (30 deep and more in a document of 100 EDUs). Here a nucleus stands at the level of
the span that it heads, its satellites one step further in, above it what precedes it in the text
and below it what follows; a multinuclear node gets a line of its own, its nuclei one step further
in. The EDUs thus read from top to bottom as in the text, and the indentation grows only with
the nesting of satellites and multinuclear nodes.

    1 ╭─○ attribution: People say
    2 ● it often rains here,
    3 ╰─○ concession 3–5: although it was dry today
        ╰─○ circumstance 4–5: [list ×2]
    4     ├─● when we came
    5     ╰─● and when we left.

All that comes from files is shown harmlessly: control characters, terminal escapes and marks that
turn the direction of writing become visible symbols.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from rich.cells import cell_len

from rhetorica.errors import RhetoricaError
from rhetorica.parses import Parse
from rhetorica.render.fit import clip, visible, wrap
from rhetorica.render.layout.parts import View, is_dependencies
from rhetorica.trees import AnnotatedTree, DepTree

_MIN_WIDTH = 40
_MIN_TEXT = 40
_STEP = 2


class _Signs(NamedTuple):
    """What the drawing is made of."""

    nucleus: str
    satellite: str
    bar: str
    first: str
    middle: str
    last: str
    dash: str
    to: str
    above: str
    below: str
    more: str
    hidden: str
    times: str


_UNICODE = _Signs("●", "○", "│ ", "╭─", "├─", "╰─", "–", "→", "↑", "↓", "…", "«", "×")
_ASCII = _Signs("N", "S", "| ", ".-", "+-", "`-", "-", "->", "^", "v", "...", "<", "x")


class _Paint(NamedTuple):
    """ANSI codes around the parts of a line; empty when there is no colour."""

    nucleus: str = ""
    satellite: str = ""
    relation: str = ""
    faint: str = ""
    end: str = ""

    def sign(self, text: str, nuclear: bool) -> str:
        return f"{self.nucleus if nuclear else self.satellite}{text}{self.end}"

    def label(self, text: str) -> str:
        return f"{self.relation}{text}{self.end}" if text else ""

    def guide(self, text: str) -> str:
        return f"{self.faint}{text}{self.end}" if text.strip() else text


_PLAIN = _Paint()
_COLOR = _Paint("\x1b[1;32m", "\x1b[36m", "\x1b[33m", "\x1b[2m", "\x1b[0m")


class _Style(NamedTuple):
    width: int
    clip: bool
    signs: _Signs
    paint: _Paint
    depth: int | None


def render_tree(
    parse: Parse,
    *,
    width: int = 100,
    color: bool = False,
    view: View = "rst",
    unicode: bool = True,
    clip: bool = False,
    depth: int | None = None,
) -> str:
    """Draw the tree of a parse; no line is wider than ``width`` (of at least 40) columns.

    ``view`` is "rst", an outline of the n-ary tree (● nucleus, ○ satellite; a range of EDU
    numbers after the relation tells how far a satellite reaches and, after →, what it modifies if
    that is more than the nucleus beside it), or "dependencies", a table with one EDU a row: its
    number, its head with an arrow up or down to where it stands, and its relation. The text is
    wrapped, or with ``clip`` cut to one line. ``depth`` folds what is further in: "… +4" after a
    unit tells that four EDUs that hang on it are not shown. ``color`` adds ANSI codes; without
    ``unicode`` the drawing (not the text) is ASCII, with N and S for nucleus and satellite.

    >>> from rhetorica import Document, Join, RSTTree
    >>> doc = Document.from_edus(["People say", "it is wet", "because it rained."])
    >>> joins = (Join(0, 1, 3, "SN", "attribution"), Join(1, 2, 3, "NS", "cause"))
    >>> print(render_tree(Parse(doc, RSTTree(3, joins))))
    1 ╭─○ attribution →2–3: People say
    2 ● it is wet
    3 ╰─○ cause: because it rained.
    """
    if depth is not None and depth < 1:
        raise RhetoricaError(f"a depth of {depth} shows nothing: it must be at least 1")
    signs, paint = _UNICODE if unicode else _ASCII, _COLOR if color else _PLAIN
    style = _Style(max(width, _MIN_WIDTH), clip, signs, paint, depth)
    texts = [visible(text, unicode=unicode) for text in parse.edus]
    if is_dependencies(view):
        lines = _table(parse.dependencies, texts, style)
    else:
        lines = _outline(parse.annotated, texts, style)
    return "\n".join(lines)


# The outline


@dataclass(slots=True)
class _Unit:
    """A line of the outline and what hangs on it: an EDU, or the heading of a multinuclear node."""

    edu: int  # -1 for a heading
    nuclear: bool
    label: str
    size: int  # how many EDUs there are in it, with all that hangs on it
    before: list[_Unit] = field(default_factory=list)
    after: list[_Unit] = field(default_factory=list)


def _outline(tree: AnnotatedTree, texts: Sequence[str], style: _Style) -> list[str]:
    if not texts:
        return []
    digits = len(str(len(texts)))
    lines: list[str] = []
    for guides, below, unit, hidden in _walk(_units(tree, style.signs), style):
        number = str(unit.edu + 1) if unit.edu >= 0 else ""
        text = texts[unit.edu] if unit.edu >= 0 else ""
        if hidden:
            text = f"{text} {style.signs.more} +{hidden}".strip()
            unit = replace(unit, before=[], after=[])
        lines += _outline_entry(f"{number:>{digits}} ", guides, below, unit, text, style)
    return lines


def _outline_entry(
    number: str, guides: str, below: str, unit: _Unit, text: str, style: _Style
) -> Iterator[str]:
    """Yield the line of a unit and, while its label and text go on, the lines below."""
    signs, paint = style.signs, style.paint
    sign = signs.nucleus if unit.nuclear else signs.satellite
    room = style.width - len(number) - len(guides) - 2
    rows = _fit(f"{unit.label} {text}".strip(), room, room - 2, style)
    rows = list(_paint_label(rows, unit.label, paint))
    yield f"{paint.guide(number + guides)}{paint.sign(sign, unit.nuclear)} {rows[0]}"
    blank, hang = " " * len(number), signs.bar if unit.after else "  "
    for row in rows[1:]:
        yield f"{paint.guide(blank + below + hang)}  {row}"


def _paint_label(rows: Sequence[str], label: str, paint: _Paint) -> Iterator[str]:
    """Paint what of the label is in each row (a break between rows has swallowed one space)."""
    left = label
    for row in rows:
        size = len(row) if left.startswith(row) else len(left) if row.startswith(left) else 0
        yield paint.label(row[:size]) + row[size:]
        left = left[size:].lstrip()


def _units(tree: AnnotatedTree, signs: _Signs) -> _Unit:
    """Make the outline: each unit with the units before and after its line, in text order."""
    top = [_Unit(-1, True, "", tree.n_edus)]
    todo: list[tuple[int, list[_Unit], int]] = [(_root(tree), top, 0)]
    while todo:
        index, siblings, place = todo.pop()
        unit, chain = siblings[place], [index]
        while tree.nodes[chain[-1]].kind == "span":
            chain.append(tree.nuclei[chain[-1]][0])
        core = chain[-1]
        parts = [
            (tree.extents[child], child, "satellite", node)
            for node in chain
            for child in tree.satellites[node]
        ]
        shared = ""
        if tree.nodes[core].kind == "multinuc":
            shared = tree.nodes[tree.nuclei[core][0]].relation
            heading = f"[{visible(shared)} {signs.times}{len(tree.nuclei[core])}]"
            unit.label = f"{unit.label} {heading}" if unit.label else heading
            parts += [(tree.extents[child], child, "nucleus", core) for child in tree.nuclei[core]]
            line_at = tree.extents[tree.nuclei[core][0]][0]
        else:
            unit.edu = line_at = core
        for extent, child, role, node in sorted(parts):
            relation = tree.nodes[child].relation
            if role == "satellite":
                label = _satellite_label(tree, child, node, core, signs)
            else:
                label = "" if relation == shared else f"{visible(relation)}:"
            side = unit.before if extent[0] < line_at else unit.after
            side.append(_Unit(-1, role == "nucleus", label, extent[1] - extent[0]))
            todo.append((child, side, len(side) - 1))
    return top[0]


def _root(tree: AnnotatedTree) -> int:
    return next(index for index, node in enumerate(tree.nodes) if node.parent < 0)


def _satellite_label(
    tree: AnnotatedTree, satellite: int, modified: int, core: int, signs: _Signs
) -> str:
    """Say a satellite's relation, how far it reaches, and what it modifies if that is not plain."""
    start, end = tree.extents[satellite]
    reach = f" {start + 1}{signs.dash}{end}" if end - start > 1 else ""
    target = ""
    if modified != core:
        first, last = tree.extents[tree.nuclei[modified][0]]
        target = f" {signs.to}{first + 1}{signs.dash}{last}"
    return f"{visible(tree.nodes[satellite].relation)}{reach}{target}:"


def _walk(top: _Unit, style: _Style) -> Iterator[tuple[str, str, _Unit, int]]:
    """Yield, line by line, the guides before a unit's sign and those below it, and the unit.

    The last item tells how many EDUs that hang on it are folded away.
    """
    signs = style.signs
    most = max(4, (style.width - _MIN_TEXT) // _STEP)
    bars: list[str] = []  # for each level above, what stands in its column at the moment
    # An entry is a unit to open, or (when opened) its line: depth, unit, connector, bar after it.
    todo: list[tuple[bool, int, _Unit, str, str, str]] = [(False, 0, top, "", "", "")]
    while todo:
        is_line, depth, unit, before, connector, after = todo.pop()
        if is_line:
            yield (
                _guides(bars, depth - 1, connector, most, signs),
                _guides(bars, depth - 1, after, most, signs),
                unit,
                unit.size - (unit.edu >= 0) if depth == style.depth else 0,
            )
            if depth:
                bars[depth - 1] = after
            continue
        if depth:
            del bars[depth - 1 :]
            bars.append(before)
        below: list[tuple[bool, int, _Unit, str, str, str]] = []
        if depth == style.depth:
            todo.append((True, depth, unit, before, connector, after))
            continue
        for place, child in enumerate(unit.before):
            first = place == 0
            edge = signs.first if first else signs.middle
            below.append((False, depth + 1, child, "  " if first else signs.bar, edge, signs.bar))
        below.append((True, depth, unit, before, connector, after))
        for place, child in enumerate(unit.after, 1):
            last = place == len(unit.after)
            edge = signs.last if last else signs.middle
            below.append((False, depth + 1, child, signs.bar, edge, "  " if last else signs.bar))
        todo += reversed(below)


def _guides(bars: Sequence[str], above: int, own: str, most: int, signs: _Signs) -> str:
    """Join the guides of a line; if they are too many, say how many outer ones are left out."""
    if above < most:
        return "".join(bars[: max(0, above)]) + own
    # Leaving out half of them at once keeps neighbouring lines aligned.
    page = most // 2
    hidden = -((most - 1 - above) // page) * page
    return f"{signs.hidden}{hidden} " + "".join(bars[hidden:above]) + own


# The table


def _table(tree: DepTree, texts: Sequence[str], style: _Style) -> list[str]:
    """List the EDUs with head and relation."""
    if not texts:
        return []
    signs, paint = style.signs, style.paint
    digits = len(str(len(texts)))
    relations = [visible(relation) for relation in tree.relations]
    widest = min(max(map(cell_len, relations)), style.width // 3)
    lines: list[str] = []
    for index, (head, text) in enumerate(zip(tree.heads, texts, strict=True)):
        nuclear = head < 0 or tree.multinuclear[index]
        arrow = (signs.above if head < index else signs.below) if head >= 0 else " "
        target = str(head + 1) if head >= 0 else ""
        label = _clip(relations[index], widest, signs)
        label += " " * (widest - cell_len(label))
        margin = 2 * digits + widest + 6
        room = style.width - margin
        rows = _fit(text, room, room, style)
        lines.append(
            paint.guide(f"{index + 1:>{digits}} {arrow}{target:<{digits}} ")
            + paint.sign(signs.nucleus if nuclear else signs.satellite, nuclear)
            + f" {paint.label(label)} {rows[0]}".rstrip()
        )
        lines += [" " * margin + row for row in rows[1:]]
    return lines


# Fitting text into columns


def _fit(text: str, first: int, rest: int, style: _Style) -> list[str]:
    """Break a text into rows of so many columns, or cut it to one."""
    if style.clip:
        return [_clip(text, first, style.signs)]
    if _width(text) <= first:
        return [text]
    return wrap(text, first, rest, _width)


def _clip(text: str, room: int, signs: _Signs) -> str:
    return clip(text, room, _width, signs.more)


def _width(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)
