"""Milliseconds of a parser alone, by number of EDUs, after a first call that compiles.

    python benchmarks/parsers.py examples/umbrella.txt --parser li2014

Prints the time, its growth from row to row beside that of the EDUs, and the share of the features.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rhetorica import Document
from rhetorica.features.edus import EDUTable
from rhetorica.pipeline import load_parser, segment
from rhetorica.text import annotate

SIZES = (30, 100, 300, 1000, 3000)


def cut_to(doc: Document, n_edus: int) -> Document:
    """Return the document up to its n-th EDU."""
    end = doc.edus[n_edus - 1].end
    text = Document(doc.text[:end], edus=doc.edus[:n_edus])
    return annotate(replace(text, paragraphs=tuple(p for p in doc.paragraphs if p.end <= end)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", type=Path, help="a file of English text, repeated as needed")
    parser.add_argument("--parser", default="li2014")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    options = parser.parse_args()
    text = options.text.read_text("utf-8").strip()
    per_copy = len(segment(text).edus)
    # A text may be cut a little differently in a longer one: a few copies to spare.
    long = segment("\n\n".join([text] * (max(options.sizes) * 6 // (5 * per_copy) + 2)))
    parse = load_parser(options.parser)
    parse(cut_to(long, 10))
    table = Table(title=f"{options.parser}, CPU milliseconds")
    for name in ("EDUs", "parse", "features", "growth of EDUs", "growth of time"):
        table.add_column(name, justify="right")
    before: tuple[int, float] | None = None
    for size in options.sizes:
        doc = cut_to(long, size)
        start = time.process_time()
        EDUTable.of(doc)
        features = time.process_time() - start
        start = time.process_time()
        parse(doc)
        seconds = time.process_time() - start
        growth = ["-", "-"]
        if before:
            growth = [f"{size / before[0]:.1f}", f"{seconds / before[1]:.1f}"]
        table.add_row(str(size), f"{1000 * seconds:.1f}", f"{1000 * features:.1f}", *growth)
        before = size, seconds
    Console().print(table)


if __name__ == "__main__":
    main()
