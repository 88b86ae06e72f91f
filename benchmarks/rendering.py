"""Does drawing stay linear? Time a picture's making by the number of units.

    python benchmarks/rendering.py

Times are CPU times, the best of three. "per unit" is the time for one unit as a multiple of that in
the smallest document: about 1 means linear.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

from rhetorica import Document, Join, Parse, RSTTree
from rhetorica.render import render_html, render_svg, render_tree
from rhetorica.trees import NUCLEARITIES

SIZES = (250, 1000, 4000, 16000)
DRAWINGS: dict[str, Callable[[Parse], object]] = {
    "terminal": render_tree,
    "svg rst": render_svg,
    "svg dep": lambda parse: render_svg(parse, view="dep"),
    "html": render_html,
}


def balanced(n: int) -> Parse:
    """Make a document with a balanced tree of all nuclearities."""
    texts = [f"this is unit number {i} of a long text," for i in range(n)]
    joins: list[Join] = []
    todo = [(0, n)]
    while todo:
        start, end = todo.pop()
        if end - start > 1:
            split = (start + end) // 2
            nuclearity = NUCLEARITIES[len(joins) % 3]
            joins.append(Join(start, split, end, nuclearity, f"relation-{len(joins) % 7}"))
            todo += [(split, end), (start, split)]
    parse = Parse(Document.from_edus(texts), RSTTree(n, tuple(joins)))
    _ = parse.annotated, parse.dependencies
    return parse


def chain(n: int) -> Parse:
    """Make a document with the deepest tree there is."""
    joins = tuple(Join(i, i + 1, n, "NS", "elaboration-additional") for i in range(n - 1))
    parse = Parse(Document.from_edus(f"unit {i}" for i in range(n)), RSTTree(n, joins))
    _ = parse.annotated, parse.dependencies
    return parse


def best_time(draw: Callable[[Parse], object], parse: Parse) -> float:
    """Return the least CPU time of three."""
    times = []
    for _ in range(3):
        start = process_time()
        draw(parse)
        times.append(process_time() - start)
    return min(times)


def main() -> None:
    """Print a table."""
    print(f"{'drawing':10}{'tree':10}" + "".join(f"{n:>10}" for n in SIZES) + "   per unit")
    for shape in (balanced, chain):
        parses = [shape(n) for n in SIZES]
        for name, draw in DRAWINGS.items():
            each = [best_time(draw, parse) / len(parse.edus) for parse in parses]
            ratios = "".join(f"{value / each[0]:10.2f}" for value in each)
            print(f"{name:10}{shape.__name__:10}{ratios}")


if __name__ == "__main__":
    main()
