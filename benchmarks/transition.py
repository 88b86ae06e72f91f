"""Speed of a shift-reduce parser, given EDUs and syntax, and from raw text, on one core.

    python benchmarks/transition.py examples/umbrella.txt --parser shift-reduce

The text is repeated to documents of several lengths. Prints EDUs and words per CPU-second of the
parser alone by beam and length, the time per EDU relative to that at 100 EDUs (about 1 where the
cost is linear), and words per CPU-second from raw text, by stage.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rhetorica import Document
from rhetorica.pipeline import load_parser, load_segmenter
from rhetorica.segmenters.boundaries import cut
from rhetorica.text import annotate

SIZES = (100, 1000, 5000)
BEAMS = (1, 4, 8, 16, 32)
VOTES = (8, 16, 32)
REPEATS = 3


def best_of(run: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the least CPU seconds of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def set_search(parser: Any, settings: dict[str, int]) -> None:
    """Give a parser other widths to search with."""
    parser.settings = replace(parser.settings, **settings)


def is_set(parser: Any, settings: dict[str, int]) -> bool:
    """Tell whether a parser searches with these widths."""
    return all(getattr(parser.settings, name) == value for name, value in settings.items())


def cut_to(doc: Document, n_edus: int) -> Document:
    """Return the document up to its n-th EDU, with its syntax."""
    end = doc.edus[n_edus - 1].end
    tokens = [token for token in doc.tokens if token.end <= end]
    return replace(
        doc,
        text=doc.text[:end],
        edus=doc.edus[:n_edus],
        # A word whose head is cut off becomes a root.
        tokens=tuple(
            t._replace(head=-1) if t.head is not None and t.head >= len(tokens) else t
            for t in tokens
        ),
        sentences=tuple(span for span in doc.sentences if span.end <= end),
        paragraphs=tuple(span for span in doc.paragraphs if span.end <= end),
    )


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("text", type=Path, help="a file of English text, repeated as needed")
    arguments.add_argument("--parser", default="shift-reduce")
    arguments.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    arguments.add_argument("--beams", type=int, nargs="*", default=BEAMS)
    arguments.add_argument("--votes", type=int, nargs="*", default=VOTES)
    options = arguments.parse_args()
    text = options.text.read_text("utf-8").strip()
    segmenter = load_segmenter("crf")
    parser: Any = load_parser(options.parser)

    def segmented(doc: Document) -> Document:
        return cut(doc, segmenter.boundaries(doc), threshold=segmenter.threshold).document

    per_copy = len(segmented(annotate(text)).edus)
    copies = max(options.sizes) * 6 // (5 * per_copy) + 2
    whole = "\n\n".join([text] * copies)
    syntax = best_of(lambda: annotate(whole), 1)
    annotated = annotate(whole)
    segmentation = best_of(lambda: segmented(annotated), 1)
    long = segmented(annotated)
    parser(cut_to(long, min(100, *options.sizes)))  # load and compile
    table = Table(title=f"{options.parser} given EDUs and syntax, per CPU-second")
    for name in ("search", "EDUs", "EDUs/s", "words/s", "time per EDU (relative)"):
        table.add_column(name, justify="right")
    given = {n: getattr(parser.settings, n) for n in ("beam", "samples")}
    searches = [{"beam": beam, "samples": 0} for beam in options.beams]
    searches += [{"beam": given["beam"], "samples": samples} for samples in options.votes]
    for search in searches:
        set_search(parser, {name: search[name] for name in given})
        told = f"votes of {search['samples']}" if search["samples"] else f"beam {search['beam']}"
        first = 0.0
        for size in options.sizes:
            doc = cut_to(long, size)
            seconds = best_of(lambda doc=doc: parser(doc))  # type: ignore[misc]
            first = first or seconds / size
            words = len(doc.text.split())
            table.add_row(
                f"{told}{' (default)' if is_set(parser, given) else ''}",
                f"{size:,}",
                f"{size / seconds:,.0f}",
                f"{words / seconds:,.0f}",
                f"{seconds / size / first:.2f}",
            )
    set_search(parser, given)
    parsing = best_of(lambda: parser(long), 1)
    words = len(long.text.split())
    console = Console()
    console.print(table)
    stages = {"syntax": syntax, "crf": segmentation, options.parser: parsing}
    rates = [f"{name} {words / seconds:,.0f}" for name, seconds in stages.items()]
    total = words / sum(stages.values())
    told = f"{', '.join(rates)}; all {total:,.0f}"
    console.print(f"From raw text, {words:,} words, words per CPU-second: {told}")


if __name__ == "__main__":
    main()
