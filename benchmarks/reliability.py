"""Whether a parser's probabilities mean what they say: table and picture.

    python benchmarks/reliability.py ../shared/data/gum --parser neural --out reliability.svg

Boundaries from raw text, all else with gold EDUs. A point on the diagonal is a probability that is
right; its size tells how many answers stand behind it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rhetorica import Document, load
from rhetorica.corpora import read_corpus
from rhetorica.evaluate.reliability import answers, curve, gather, table
from rhetorica.files import write_text
from rhetorica.pipeline import DEFAULT_PARSER
from rhetorica.render.reliability import reliability_chart


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


if __name__ == "__main__":
    main()
