"""GCDT (Peng et al. 2022): Chinese RST trees with words, sentences and paragraphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rhetorica.corpora.layers import cut_by_words, read_one_conllu
from rhetorica.document import Document, Span
from rhetorica.errors import FormatError
from rhetorica.files import Source
from rhetorica.formats.rs3 import read_rs3
from rhetorica.parses import Parse


def read_gcdt(folder: Path | str, split: str | None = None) -> Iterator[Parse]:
    """Read the documents of a split (``train`` or ``dev``), or all."""
    folder = Path(folder)
    paths = sorted((folder / "rs3").glob(f"{split or '*'}/*.rs3"))
    if not paths:
        raise FormatError(str(folder / "rs3"), None, f"no .rs3 file of the split {split or 'any'}")
    for path in paths:
        part, name = path.parent.name, path.stem
        doc = read_one_conllu(folder / "conllu" / part / f"{name}.conllu")
        layout = Source.of(folder / "xml" / part / f"{name}.xml")
        doc = replace(_with_paragraphs(doc, layout), language="zh", id=name)
        yield cut_by_words(doc, read_rs3(path), path)


def _with_paragraphs(doc: Document, layout: Source) -> Document:
    """Add paragraphs from the XML file, which has a sentence a line and blank lines between."""
    starts: list[int] = []
    at, fresh = 0, True
    for line in layout.text.splitlines():
        line = line.strip()
        if not line or (line.startswith("<") and line.endswith(">")):
            fresh = True
        else:
            if fresh:
                starts.append(at)
            fresh = False
            at += 1
    if at != len(doc.sentences):
        raise layout.error(f"{at} lines of text, but the syntax has {len(doc.sentences)} sentences")
    ends = [*starts[1:], at]
    return replace(
        doc,
        paragraphs=tuple(
            Span(doc.sentences[first].start, doc.sentences[last - 1].end)
            for first, last in zip(starts, ends, strict=True)
        ),
    )
