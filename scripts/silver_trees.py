"""What a run's teacher thinks of automatic text -> its best trees, for `rhetorica train --also`.

    python scripts/silver_trees.py RUN DATA/amalgum/academic.conllu.gz ... --out silver.jsonl \
        --syntax neural

RUN is the folder of `rhetorica train neural --silver ... --teacher ensemble`, which labels text
(EDUs, then trees) before it trains: `silver.npz`, `lessons/`, `settings.json`. The files are
some of those that it was given. With `--syntax`, words, sentences and syntax are ours, as they will
be where a parser is used; AMALGUM's own have no lemmas.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from rhetorica.files import write_text
from rhetorica.formats import write
from rhetorica.parses import Parse
from rhetorica.pipeline import load_syntax
from rhetorica.train.neural.silver import choose, silver_examples
from rhetorica.train.neural.teach import Lessons, best_tree, with_edus
from rhetorica.train.treebank import with_syntax


def silver_trees(run: Path, files: list[Path]) -> Iterator[Parse]:
    """Yield the documents that have lessons, with the teacher's EDUs and best trees."""
    words = json.loads((run / "settings.json").read_text("utf-8"))["silver_words"]
    lessons = Lessons(run / "lessons")
    with np.load(run / "silver.npz") as stored:
        for path in files:
            for example in silver_examples(choose(path, words), stored):
                taught = lessons.read(example)
                if taught.lessons and taught.gold is not None:
                    doc = with_edus(taught)
                    tree = best_tree(taught.lessons[0], len(doc.edus))
                    yield replace(taught.gold, document=doc, source=tree)


def main() -> None:
    """Write the trees."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("run", type=Path)
    asked.add_argument("files", type=Path, nargs="+")
    asked.add_argument("--out", type=Path, required=True, metavar="FILE.jsonl")
    asked.add_argument("--syntax", default="", metavar="NAME", help="neural or spacy")
    given = asked.parse_args()
    found = list(silver_trees(given.run, given.files))
    if given.syntax:
        found = with_syntax(found, predicted=True, nlp=load_syntax(given.syntax))
    write_text(given.out, write(found, "jsonl"))
    words = sum(len(parse.document.tokens) for parse in found)
    print(f"{len(found)} documents, {words:,} words")


if __name__ == "__main__":
    main()
