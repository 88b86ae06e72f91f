"""A whole document in one picture: units as blocks, from the largest on the left to EDUs.

Rows are EDUs in the order of the text, however low; columns are levels of the tree. So hundreds of
EDUs fit on a page, and one sees which stretches belong together. Where there is room a block has
its relation in it; beside the blocks stand the most central EDUs of stretches as high as a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rhetorica.nodes import TreeNode
from rhetorica.parses import Parse
from rhetorica.render.colours import Theme
from rhetorica.render.fit import clip, measure, visible

_MARGIN, _HEIGHT, _LOWEST, _HIGHEST = 16.0, 1100.0, 1.5, 16.0
_LEVELS, _WIDEST, _NARROWEST = 620.0, 130.0, 7.0
_LINE, _LEGEND, _TEXT = 13.0, 28.0, 460.0
_small = measure(10.0)
_KINDS = (("nucleus", "nucleus"), ("satellite", "satellite"), ("multinuc", "multinuclear"))


def overview_svg(
    parse: Parse, theme: Theme, sheet: str, *, width: float | None, background: bool
) -> str:
    """Draw the overview of a parse; `rhetorica.render.render_svg` is how to call it."""
    return "".join(_Overview(parse, width).write(theme, sheet, background))


class _Overview:
    def __init__(self, parse: Parse, width: float | None) -> None:
        self.parse = parse
        self.nodes = list(parse.root or ())
        self.row = min(_HIGHEST, max(_LOWEST, _HEIGHT / max(1, len(parse.edus))))
        levels = 1 + max((node.depth for node in self.nodes), default=0)
        text = max(160.0, width - _LEVELS) if width else _TEXT
        room = (width - text if width else _LEVELS) / levels
        self.column = min(_WIDEST, max(_NARROWEST, room))
        self.text_x = 2 * _MARGIN + self.column * levels
        self.width = self.text_x + text + _MARGIN
        self.text = text
        self.bottom = _MARGIN + self.row * len(parse.edus)
        self.height = self.bottom + _LEGEND + (_MARGIN if self.nodes else 0.0)

    def write(self, theme: Theme, sheet: str, background: bool) -> Iterator[str]:
        wide, high = f"{self.width:.1f}", f"{self.height:.1f}"
        about = f"Overview of {len(self.parse.edus)} units"
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="rhetorica rh-{theme}" role="img" '
            f'aria-label="{about}" width="{wide}" height="{high}" '
            f'viewBox="0 0 {wide} {high}" data-orient="overview">\n<style>{sheet}</style>\n'
        )
        if background:
            yield f'<rect class="rh-paper" width="{wide}" height="{high}"/>\n'
        yield from map(self._block, self.nodes)
        yield from self._texts()
        yield from self._legend()
        yield "</svg>\n"

    def _top(self, edu: int) -> float:
        return _MARGIN + self.row * edu

    def _high(self, node: TreeNode) -> float:
        return self.row * (node.range[1] - node.range[0])

    def _block(self, node: TreeNode) -> str:
        start, end = node.range
        x, y = _MARGIN + self.column * node.depth, self._top(start)
        high = self._high(node)
        # An EDU reaches as far as the levels do, so that the right edge is straight.
        wide = self.text_x - _MARGIN - x if node.is_edu else self.column
        name = "" if node.relation in ("", "span") else visible(node.relation, unicode=False)
        reach = f"{start + 1}–{end}" if end - start > 1 else f"{start + 1}"
        inside = self._name(name, x, y, wide, high) if name else ""
        return (
            f'<g class="rh-{_kind(node)}" data-start="{start}" data-end="{end}">'
            f"<title>{escape(f'{name or node.role} {reach}')}</title>"
            f'<rect class="rh-block" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" '
            f'height="{high:.1f}"/>{inside}</g>\n'
        )

    def _name(self, name: str, x: float, y: float, wide: float, high: float) -> str:
        """Write a relation into its block: along it, down it, or if it is a long name its class."""
        shown = escape(name, quote=False)
        if high >= _LINE and _small(name) <= wide - 6:
            return f'<text class="rh-in" x="{x + 3:.1f}" y="{y + 10:.1f}">{shown}</text>'
        if wide >= _LINE and _small(name) <= high - 6:
            across, down = f"{x + wide / 2 + 3:.1f}", f"{y + high - 4:.1f}"
            turn = f'transform="rotate(-90 {across} {down})"'
            return f'<text class="rh-in" x="{across}" y="{down}" {turn}>{shown}</text>'
        kind = name.partition("-")[0]
        return self._name(kind, x, y, wide, high) if kind != name else ""

    def _texts(self) -> Iterator[str]:
        """Write the most central EDUs of stretches that are as high as a line."""
        for node in self._stretches():
            start, end = node.range
            reach = f"{start + 1}–{end}" if end - start > 1 else f"{start + 1}"
            text = f"{reach}  {visible(node.head.text, unicode=False)}"
            y = self._top(start) + min(11.0, self._high(node) - 2)
            yield (
                f'<text class="rh-key" x="{self.text_x:.1f}" y="{y:.1f}" data-start="{start}" '
                f'data-end="{end}">{escape(clip(text, self.text, _small), quote=False)}</text>\n'
            )

    def _stretches(self) -> Iterator[TreeNode]:
        """Cut the text into the smallest units that leave room for a line each."""
        waiting = self.nodes[:1]
        while waiting:
            node = waiting.pop()
            parts = node.children
            if parts and all(self._high(part) >= _LINE for part in parts):
                waiting += reversed(parts)
            else:
                yield node

    def _legend(self) -> Iterator[str]:
        x, y = _MARGIN, self.bottom + _LEGEND
        here = {_kind(node) for node in self.nodes}
        for kind, name in _KINDS:
            if kind in here:
                yield (
                    f'<g class="rh-legend rh-{kind}"><rect class="rh-block" x="{x:.1f}" '
                    f'y="{y - 9:.1f}" width="18" height="10"/><text class="rh-key" '
                    f'x="{x + 24:.1f}" y="{y:.1f}">{name}</text></g>\n'
                )
                x += 46 + _small(name)


def _kind(node: TreeNode) -> str:
    if node.role == "satellite":
        return "satellite"
    return "nucleus" if node.relation in ("", "span") else "multinuc"
