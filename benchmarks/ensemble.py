"""What an ensemble costs: beside its members one by one, and for a long text.

    python benchmarks/ensemble.py ../shared/data/gum
    python benchmarks/ensemble.py ../shared/data/gum --long 100000

Prints CPU-seconds and words per CPU-second from raw text, on one core, of the ensemble and of each
member as a parser of its own (with the same syntax and EDUs, which then everyone needs for itself),
and the ratio of the ensemble to the sum of its members. ``--long``: one document of so many words,
made of the corpus' texts one after the other, its CPU-seconds and the peak of memory. ``--threads``
compares the time of members that vote one after another and side by side, on so many cores.
"""

from __future__ import annotations

import argparse
import resource
import time
from contextlib import AbstractContextManager
from itertools import cycle
from pathlib import Path
from typing import cast
from unittest.mock import patch

from rhetorica import Document, cores, load
from rhetorica.corpora import read_corpus
from rhetorica.kernels import numeric_threads
from rhetorica.parsers.ensemble import EnsembleParser
from rhetorica.pipeline import Pipeline

_WARM = "It rained. We left early because it was wet, and nobody was sad."


def main() -> None:
    """Parse, measure, print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--corpus", default="gum")
    arguments.add_argument("--split", default="dev")
    arguments.add_argument("--documents", type=int, default=10, help="how many to parse")
    arguments.add_argument("--model", help="a model folder, else the one that ships")
    arguments.add_argument("--long", type=int, default=0, help="words of one long document")
    arguments.add_argument("--threads", type=int, default=0)
    options = arguments.parse_args()
    golds = list(read_corpus(options.corpus, options.folder, options.split))
    language = golds[0].document.language
    model = options.model or options.corpus
    nlp = load(language, parser="ensemble", model=model)
    nlp(_WARM)
    texts = [gold.document.text for gold in golds]
    with _on(1):  # CPU-seconds are those of one core
        if options.long:
            _long(nlp, texts, options.long)
        elif options.threads:
            _threads(nlp, texts[: options.documents], options.threads)
        else:
            _members(nlp, texts[: options.documents])


def _on(count: int) -> AbstractContextManager[object]:
    """Let an ensemble see so many cores that are free."""
    return patch.object(cores, "free", lambda: count)


def _members(nlp: Pipeline, texts: list[str]) -> None:
    """Print what the ensemble costs, and what its members cost alone."""
    words = sum(len(text.split()) for text in texts)
    rows = {"ensemble": _seconds(nlp, texts)}
    for member in cast(EnsembleParser, nlp.parser).members_:
        alone = Pipeline(nlp.recipe, member, nlp.segmenter, nlp.syntax)
        alone(_WARM)
        rows[f"{member.name}, alone"] = _seconds(alone, texts)
    total = sum(rows.values()) - rows["ensemble"]
    print("| parser | CPU-s | words/CPU-s |\n|---|---|---|")
    for name, seconds in rows.items():
        print(f"| {name} | {seconds:.1f} | {words / seconds:,.0f} |")
    print(f"\n{words:,} words. Ensemble / sum of members: {rows['ensemble'] / total:.2f}")


def _seconds(nlp: Pipeline, texts: list[str]) -> float:
    start = time.process_time()
    for _ in nlp.pipe(texts):
        pass
    return time.process_time() - start


def _long(nlp: Pipeline, texts: list[str], words: int) -> None:
    """Print time and memory of one long document."""
    before = _peak()
    parts: list[str] = []
    count = 0
    for text in cycle(texts):
        parts.append(text)
        count += len(text.split())
        if count >= words:
            break
    start = time.process_time()
    parse = nlp(Document("\n\n".join(parts)))
    seconds = time.process_time() - start
    print("| words | EDUs | CPU-s | words/CPU-s | MB before | MB at most |\n" + "|---" * 6 + "|")
    print(
        f"| {count:,} | {len(parse.edus):,} | {seconds:.0f} | {count / seconds:,.0f} | "
        f"{before:,.0f} | {_peak():,.0f} |"
    )


def _peak() -> float:
    """Return the most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _threads(nlp: Pipeline, texts: list[str], threads: int) -> None:
    """Print the seconds of members' votes, one after another and side by side."""
    found = {1: 0.0, threads: 0.0}
    for text in texts:
        doc = nlp(text).document  # leaves the encoder's states behind, as on the way to the votes
        for count in found:
            start = time.perf_counter()
            with _on(count), numeric_threads(1):
                cast(EnsembleParser, nlp.parser).ballots(doc)
            found[count] += time.perf_counter() - start
    print("| threads | seconds |\n|---|---|")
    for count, seconds in found.items():
        print(f"| {count} | {seconds:.2f} |")


if __name__ == "__main__":
    main()
