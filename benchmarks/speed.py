"""Words per second from raw text, by stage and by length, on one core.

    python benchmarks/speed.py examples/umbrella.txt

The text is repeated to documents of several lengths. Prints rates and the ratio of time per word
to that of the shortest document: about 1 where the cost is linear.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rhetorica import Document
from rhetorica.pipeline import load_parser, load_segmenter
from rhetorica.segmenters.boundaries import cut
from rhetorica.text import annotate

LENGTHS = (500, 2000, 8000, 32000)


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return CPU seconds and result."""
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def stages(text: str, segmenter: str, parser: str) -> list[tuple[str, float]]:
    """Return the CPU seconds of each stage for one document."""
    syntax, doc = timed(lambda: annotate(Document(text)))
    chosen = load_segmenter(segmenter)
    segmentation, parse = timed(
        lambda: cut(doc, chosen.boundaries(doc), threshold=chosen.threshold)
    )
    tree = load_parser(parser)
    parsing, _ = timed(lambda: tree(parse.document))
    return [
        ("syntax", syntax),
        (f"segment: {segmenter}", segmentation),
        (f"parse: {parser}", parsing),
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", type=Path, help="a file of English text")
    parser.add_argument("--segmenter", default="crf")
    parser.add_argument("--parser", default="li2014")
    parser.add_argument("--words", type=int, nargs="*", default=LENGTHS)
    options = parser.parse_args()
    text = options.text.read_text("utf-8").strip()
    words = len(text.split())
    stages(text, options.segmenter, options.parser)  # load models, compile kernels
    table = Table(title="words per CPU-second (time per word relative to the first row)")
    for name in ("words", "syntax", options.segmenter, options.parser, "all"):
        table.add_column(name, justify="right")
    first: list[float] = []
    for length in options.words:
        copies = max(1, round(length / words))
        found = stages("\n\n".join([text] * copies), options.segmenter, options.parser)
        seconds = [value for _, value in found]
        per_word = [value / (copies * words) for value in (*seconds, sum(seconds))]
        first = first or per_word
        cells = [
            f"{1 / value:,.0f} ({value / base:.2f})"
            for value, base in zip(per_word, first, strict=True)
        ]
        table.add_row(f"{copies * words:,}", *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
