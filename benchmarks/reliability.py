"""Whether a parser's probabilities mean what they say: table and picture.

    python benchmarks/reliability.py ../shared/data/gum --parser neural --out reliability.svg

Boundaries from raw text, all else with gold EDUs. A point on the diagonal is a probability that is
right; its size tells how many answers stand behind it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from rhetorica import Document, load
from rhetorica.corpora import read_corpus
from rhetorica.evaluate.reliability import Bin, answers, calibration_error, curve, gather, table
from rhetorica.files import write_text
from rhetorica.pipeline import DEFAULT_PARSER
from rhetorica.render.scatter import COLOURS

_SIDE, _LEFT, _TOP, _LEGEND = 360, 56, 40, 190


def main() -> None:
    """Parse, compare, print, draw."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--corpus", default="gum")
    arguments.add_argument("--split", default="dev")
    arguments.add_argument("--parser", default=DEFAULT_PARSER)
    arguments.add_argument("--model", help="a model folder, else the one that ships")
    arguments.add_argument("--out", type=Path, help="SVG file to write")
    options = arguments.parse_args()
    golds = list(read_corpus(options.corpus, options.folder, options.split))
    pipeline = load("en", parser=options.parser, model=options.model or options.corpus)
    raw = pipeline.pipe(Document(gold.document.text, id=gold.id) for gold in golds)
    starts = gather(answers(gold, pred) for gold, pred in zip(golds, raw, strict=True))
    given = pipeline.pipe(gold.document for gold in golds)
    rest = gather(answers(gold, pred) for gold, pred in zip(golds, given, strict=True))
    found = rest | {"boundaries": starts.get("boundaries", [])}
    curves = {name: curve(values) for name, values in found.items() if values}
    print(table(curves))
    if options.out:
        write_text(
            options.out, reliability_chart(curves, title=f"{options.parser}, {options.corpus}")
        )


def reliability_chart(curves: Mapping[str, Sequence[Bin | None]], *, title: str = "") -> str:
    """Draw probability against share of right answers; the diagonal is where they agree."""
    width, height = _LEFT + _SIDE + _LEGEND, _TOP + _SIDE + 56
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' "
        f"height='{height}' font-family='Helvetica, Arial, sans-serif' font-size='13'>",
        f"<rect width='{width}' height='{height}' fill='#ffffff'/>",
        f"<text x='{_LEFT}' y='24' font-size='15' fill='#222222'>{escape(title)}</text>",
        *_axes(),
    ]
    for number, (name, bins) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        lines += _curve(bins, colour)
        x, y = _LEFT + _SIDE + 16, _TOP + 14 + 22 * number
        label = f"{name} (ECE {calibration_error(bins):.3f})"
        lines.append(f"<rect x='{x}' y='{y - 9}' width='12' height='4' fill='{colour}'/>")
        lines.append(f"<text x='{x + 18}' y='{y}' fill='#222222'>{escape(label)}</text>")
    return "\n".join([*lines, "</svg>", ""])


def _axes() -> list[str]:
    """Draw frame, diagonal and scales from 0 to 1."""
    right, bottom = _LEFT + _SIDE, _TOP + _SIDE
    lines = [
        f"<rect x='{_LEFT}' y='{_TOP}' width='{_SIDE}' height='{_SIDE}' fill='none' "
        "stroke='#999999'/>",
        f"<line x1='{_LEFT}' y1='{bottom}' x2='{right}' y2='{_TOP}' stroke='#999999' "
        "stroke-dasharray='4 4'/>",
    ]
    for tenth in range(0, 11, 2):
        x, y = _place(tenth / 10, tenth / 10)
        text = f"{tenth / 10:.1f}"
        lines.append(f"<text x='{x:.0f}' y='{bottom + 18}' text-anchor='middle'>{text}</text>")
        lines.append(f"<text x='{_LEFT - 8}' y='{y + 4:.0f}' text-anchor='end'>{text}</text>")
    middle = _LEFT + _SIDE / 2
    lines.append(
        f"<text x='{middle}' y='{bottom + 42}' text-anchor='middle'>mean probability</text>"
    )
    lines.append(
        f"<text transform='translate(16 {_TOP + _SIDE / 2}) rotate(-90)' text-anchor='middle'>"
        "share that was right</text>"
    )
    return lines


def _curve(bins: Sequence[Bin | None], colour: str) -> list[str]:
    """Draw one line through the bins; a point's area tells how many answers it stands for."""
    filled = [part for part in bins if part is not None]
    most = max((part.answers for part in filled), default=1)
    places = [_place(part.probability, part.right) for part in filled]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    lines = [f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='1.5'/>"]
    for part, (x, y) in zip(filled, places, strict=True):
        radius = 2 + 6 * (part.answers / most) ** 0.5
        lines.append(
            f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius:.1f}' fill='{colour}' "
            f"fill-opacity='0.7'><title>{part.answers}</title></circle>"
        )
    return lines


def _place(x: float, y: float) -> tuple[float, float]:
    return _LEFT + _SIDE * x, _TOP + _SIDE * (1 - y)


if __name__ == "__main__":
    main()
