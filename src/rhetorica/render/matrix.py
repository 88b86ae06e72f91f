"""A confusion matrix as an SVG picture: gold in rows, predicted in columns, darker is more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

_CELL, _TOP, _FONT = 34, 40, "Helvetica, Arial, sans-serif"


def confusion_chart(
    names: Sequence[str], counts: Mapping[tuple[str, str], int], *, title: str = ""
) -> str:
    """Draw how often gold (row) was taken for predicted (column).

    A cell's shade is its share of the row, so that rare names can be read as well as frequent
    ones; its number is the count.

    >>> picture = confusion_chart(["list", "cause"], {("list", "cause"): 3, ("list", "list"): 9})
    >>> picture.count("<rect"), ">9<" in picture
    (3, True)
    """
    left = 24 + 8 * max((len(name) for name in names), default=0)
    side = _CELL * len(names)
    width, height = left + side + 24, _TOP + side + left
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' "
        f"height='{height}' font-family='{_FONT}' font-size='12'>",
        f"<rect width='{width}' height='{height}' fill='#ffffff'/>",
        f"<text x='12' y='24' font-size='15' fill='#222222'>{escape(title)}</text>",
    ]
    for row, gold in enumerate(names):
        y = _TOP + _CELL * row
        total = sum(counts.get((gold, pred), 0) for pred in names)
        lines.append(_text(left - 8, y + 22, gold, "end"))
        for column, pred in enumerate(names):
            if count := counts.get((gold, pred), 0):
                lines += _cell(left + _CELL * column, y, count, count / total, gold, pred)
    for column, name in enumerate(names):
        x, y = left + _CELL * column + 20, _TOP + side + 10
        lines.append(_text(x, y, name, "end", f" transform='rotate(-60 {x} {y})'"))
    return "\n".join([*lines, "</svg>", ""])


def _cell(x: int, y: int, count: int, share: float, gold: str, pred: str) -> list[str]:
    # From white to a dark blue; the number turns white where the cell is dark.
    red, green, blue = (round(255 + share * (end - 255)) for end in (8, 69, 148))
    ink = "#ffffff" if share > 0.5 else "#222222"
    hint = escape(f"{gold} taken for {pred}: {count} ({100 * share:.0f} %)")
    return [
        f"<rect x='{x}' y='{y}' width='{_CELL}' height='{_CELL}' "
        f"fill='#{red:02x}{green:02x}{blue:02x}'><title>{hint}</title></rect>",
        f"<text x='{x + _CELL // 2}' y='{y + 22}' text-anchor='middle' fill='{ink}'>{count}</text>",
    ]


def _text(x: int, y: int, text: str, anchor: str, more: str = "") -> str:
    return (
        f"<text x='{x}' y='{y}' text-anchor='{anchor}' fill='#222222'{more}>{escape(text)}</text>"
    )
