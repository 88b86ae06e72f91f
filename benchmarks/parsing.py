"""How well the parsers do on a dev set, with gold EDUs and from raw text.

    python benchmarks/parsing.py ../shared/data/gum --corpus gum --parsers li2014

Prints Markdown with one row a parser and setting, and the signatures. "raw" means from the bare
text: the pipeline's own sentences, syntax and EDUs; relations are compared by coarse class. A
Chinese corpus is laid out as one writes: no space between sentences, blank lines between
paragraphs ("one line": no break at all; "spaced": as distributed, a space between sentences). With
gold EDUs, sentences and paragraphs are gold, too ("alone": these are automatic); parsers that read
syntax are scored with gold and with automatic syntax (``--syntax spacy``: that of our spaCy
pipeline). ``--genres`` adds the figures from raw text of each genre, worst units first.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

from rhetorica import Document, Parse, load
from rhetorica.corpora import PREDICTED_SYNTAX, read_corpus
from rhetorica.evaluate import Report, evaluate
from rhetorica.pipeline import PARSERS
from rhetorica.relations import relation_set
from rhetorica.text.layout import as_written

COLUMNS = (
    ("segmentation", "all", "starts"),
    ("parseval", "original", "span"),
    ("parseval", "original", "nuclearity"),
    ("parseval", "original", "relation"),
    ("parseval", "original", "full"),
    ("attachment", "unlabelled", "arcs"),
    ("attachment", "labelled", "arcs"),
)


def raw_texts(golds: list[Parse]) -> dict[str, list[str]]:
    """Return the bare texts of documents in several layouts."""
    docs = [gold.document for gold in golds]
    distributed = [doc.text for doc in docs]
    if docs[0].language != "zh":
        return {
            "raw text": distributed,
            "raw text, one line": [" ".join(text.split()) for text in distributed],
        }
    written = [as_written(doc) for doc in docs]
    return {
        "raw text": written,
        "raw text, one line": [text.replace("\n\n", "") for text in written],
        "raw text, spaced": distributed,
    }


def main() -> None:
    """Parse, score, print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--corpus", default="gum")
    arguments.add_argument("--split", default="dev")
    arguments.add_argument("--parsers", nargs="*", default=PARSERS)
    arguments.add_argument("--segmenter", help="else each parser's own choice")
    arguments.add_argument("--model", help="a model folder, else the one that ships")
    arguments.add_argument("--syntax", help="front end for parsers that need one; else the best")
    arguments.add_argument("--genres", action="store_true", help="also by genre, from raw text")
    options = arguments.parse_args()
    golds = list(read_corpus(options.corpus, options.folder, options.split))
    relations = relation_set(options.corpus)
    signatures: set[str] = set()
    raw: dict[str, Report] = {}
    print("| parser | input | seg | span | nuc | rel | full | UAS | LAS | words/CPU-s |")
    print("|" + "---|" * 10)
    for name in options.parsers:
        model = options.model or options.corpus
        reads = "syntax" in PARSERS[name].needs
        pipeline = load(
            golds[0].document.language,
            parser=name,
            model=model,
            segmenter=options.segmenter,
            syntax=options.syntax if reads else None,
        )
        bare = [replace(parse.document, tokens=(), constituency=()) for parse in golds]
        analysed = reads and any(parse.document.tokens for parse in golds)
        inputs = {
            **({"gold EDUs and syntax": [parse.document for parse in golds]} if analysed else {}),
            "gold EDUs": bare,
            "gold EDUs alone": [
                Document(doc.text, id=doc.id, edus=doc.edus, language=doc.language) for doc in bare
            ],
            **{
                label: [
                    Document(text, id=parse.id) for parse, text in zip(golds, texts, strict=True)
                ]
                for label, texts in raw_texts(golds).items()
            },
        }
        pipeline(Document.from_edus(["It rained", "so we left."]))  # load and compile
        for label, docs in inputs.items():
            start = time.process_time()
            preds: list[Parse] = [replace(parse) for parse in pipeline.pipe(docs)]
            seconds = time.process_time() - start
            report = evaluate(
                golds,
                preds,
                labels=relations.coarse,
                label_name=relations.label_name,
                corpus=f"{options.corpus}-{options.split}",
                syntax="predicted" if options.corpus in PREDICTED_SYNTAX else "gold",
            )
            if label == "raw text":
                raw[name] = report
            cells = [f"{100 * report[key].f1:.2f}" for key in COLUMNS]
            words = sum(len(parse.document.text.split()) for parse in golds)
            print(
                f"| {name} | {label} | {' | '.join(cells)} | {words / seconds:,.0f} |", flush=True
            )
            signatures |= {row.signature for row in report.table() if row.metric != "labelling"}
    print()
    for signature in sorted(signatures):
        print(f"`{signature}`")
    if options.genres:
        print_genres(golds, raw)


def print_genres(golds: list[Parse], reports: dict[str, Report]) -> None:
    """Print EDU F1 and span / nuclearity / full by genre, in the order of the first parser's F1."""
    genre_of = {gold.id: gold.document.meta.get("genre", "all") for gold in golds}
    rows: dict[str, list[Report]] = {}
    for genre in set(genre_of.values()):
        rows[genre] = [
            replace(
                report,
                documents=tuple(doc for doc in report.documents if genre_of[doc.id] == genre),
            )
            for report in reports.values()
        ]
    columns = [COLUMNS[place] for place in (0, 1, 2, 4)]
    print(f"\n| genre | documents | {' | '.join(reports)} |")
    print("|---|---|" + "---|" * len(reports))
    for genre, found in sorted(rows.items(), key=lambda row: row[1][0][columns[0]].f1):
        cells = (
            "{:.1f}; {:.1f} / {:.1f} / {:.1f}".format(*(100 * report[key].f1 for key in columns))
            for report in found
        )
        print(f"| {genre} | {len(found[0].documents)} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
