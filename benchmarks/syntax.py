"""How good automatic syntax is on a dev set: words, sentences, tags, heads, relations.

    python benchmarks/syntax.py ../shared/data/gum --corpus gum --neural MODEL_FOLDER

Prints Markdown, one row a pipeline and input: F1 over words, those with the right range (and tag,
head, head and relation) being right; relations with their subtypes. "raw" is from the bare text,
"words" with gold words and sentences.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rhetorica import Document
from rhetorica.corpora import read_corpus
from rhetorica.parsers.neural import NeuralParser
from rhetorica.parsers.neural.syntax import NeuralSyntax
from rhetorica.text import annotate

COLUMNS = ("words", "sentences", "tags", "lemmas", "UAS", "LAS")


def facts(doc: Document) -> Counter[tuple[str, ...]]:
    """Return what can be right or wrong about a document."""
    found: Counter[tuple[str, ...]] = Counter()
    for token in doc.tokens:
        place = f"{token.start}-{token.end}"
        head = "root"
        if token.head is not None and token.head >= 0:
            head = f"{doc.tokens[token.head].start}-{doc.tokens[token.head].end}"
        found["words", place] += 1
        found["tags", place, token.tag] += 1
        found["lemmas", place, token.lemma] += 1
        found["UAS", place, head] += 1
        found["LAS", place, head, token.deprel] += 1
    found.update(("sentences", f"{start}-{end}") for start, end in doc.sentences)
    return found


def bare(doc: Document) -> Document:
    """Take a document's words and sentences, but not their syntax."""
    tokens = tuple(
        token._replace(lemma="", pos="", tag="", feats="", head=None, deprel="")
        for token in doc.tokens
    )
    return replace(doc, tokens=tokens, edus=(), constituency=())


def main() -> None:
    """Annotate, compare, print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--corpus", default="gum")
    arguments.add_argument("--split", default="dev")
    arguments.add_argument("--neural", type=Path, help="a model folder with syntax")
    options = arguments.parse_args()
    golds = [parse.document for parse in read_corpus(options.corpus, options.folder, options.split)]
    ways: dict[str, Callable[[Document], Document]] = {"spacy": annotate}
    if options.neural:
        ways["neural"] = NeuralSyntax(NeuralParser.load(options.neural).network)
    print(f"| syntax | input | {' | '.join(COLUMNS)} | words/CPU-s |")
    print("|" + "---|" * (len(COLUMNS) + 3))
    for name, way in ways.items():
        way(Document("It rained, so we left."))  # load
        for label, docs in (
            ("raw", [Document(doc.text) for doc in golds]),
            ("words", [bare(doc) for doc in golds]),
        ):
            began = time.process_time()
            found = [way(doc) for doc in docs]
            seconds = time.process_time() - began
            right, wanted, given = Counter[str](), Counter[str](), Counter[str]()
            for gold, doc in zip(golds, found, strict=True):
                one, other = facts(gold), facts(doc)
                for total, some in ((wanted, one), (given, other), (right, one & other)):
                    for fact, count in some.items():
                        total[fact[0]] += count
            scores = [200 * right[c] / (wanted[c] + given[c]) for c in COLUMNS]
            cells = " | ".join(f"{score:.1f}" for score in scores)
            print(f"| {name} | {label} | {cells} | {wanted['words'] / seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
