"""A document with syntax to a document with EDUs, by one of several segmenters.

| name | what | trained |
|---|---|---|
| ``neural`` | the neural parser's own; needs no syntax (default) | yes |
| ``crf`` | Heilman & Sagae (2015) with features of our own | yes |
| ``logistic`` | CODRA's (Joty et al. 2015) | yes |
| ``rules`` | connectives and punctuation | no |
| ``sentence`` | every sentence is an EDU | no |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rhetorica.document import Document
from rhetorica.errors import UnknownName
from rhetorica.models import store
from rhetorica.parses import Parse
from rhetorica.segmenters.baselines import RuleSegmenter, SentenceSegmenter
from rhetorica.segmenters.boundaries import Segmenter, cut
from rhetorica.text import annotate_all

if TYPE_CHECKING:
    from spacy.language import Language

SEGMENTERS = ("neural", "crf", "logistic", "rules", "sentence")
DEFAULT_SEGMENTER = "neural"
DEFAULT_MODEL = "gum"


@cache
def load_segmenter(name: str = "crf", model: str | Path = DEFAULT_MODEL) -> Segmenter:
    """Return a segmenter of documents with tokens; ``model`` names a treebank or is a folder."""
    if name == "sentence":
        return SentenceSegmenter()
    if name == "rules":
        return RuleSegmenter()
    if name == "neural":
        from rhetorica.parsers import load_parser

        return load_parser(name, model)  # type: ignore[return-value]
    if name not in SEGMENTERS:
        raise UnknownName("segmenter", name, SEGMENTERS)
    folder = store.find("segmenter", name, model).folder
    if name == "crf":
        from rhetorica.segmenters.crf import CRFSegmenter

        return CRFSegmenter.load(folder)
    from rhetorica.segmenters.logistic import LogisticSegmenter

    return LogisticSegmenter.load(folder)


def segment(
    text: str | Document,
    *,
    segmenter: str | Segmenter = DEFAULT_SEGMENTER,
    model: str | Path = DEFAULT_MODEL,
    nlp: Language | None = None,
) -> Document:
    """Cut a text into EDUs; layers that a document has (gold syntax, sentences) are used.

    >>> segment("We stayed because it rained.").edu_texts
    ['We stayed', 'because it rained.']
    """
    parse = next(segment_all([text], segmenter=segmenter, model=model, nlp=nlp))
    return parse.document


def segment_all(
    texts: Iterable[str | Document],
    *,
    segmenter: str | Segmenter = DEFAULT_SEGMENTER,
    model: str | Path = DEFAULT_MODEL,
    nlp: Language | None = None,
) -> Iterator[Parse]:
    """Cut a stream of texts into EDUs; the results carry the probability of each EDU's start."""
    if segmenter == "neural":
        yield from _segment_by_parser(texts, model)
        return
    chosen = load_segmenter(segmenter, model) if isinstance(segmenter, str) else segmenter
    for doc in annotate_all(texts, nlp):
        parse = cut(doc, chosen.boundaries(doc), threshold=chosen.threshold)
        doc = parse.document
        yield replace(parse, document=replace(doc, language=doc.language or "en"))


def _segment_by_parser(texts: Iterable[str | Document], model: str | Path) -> Iterator[Parse]:
    from rhetorica.parsers import load_parser

    parser = load_parser("neural", model)
    for text in texts:
        given = Document(text) if isinstance(text, str) else text
        yield parser.segment(replace(given, edus=()))  # type: ignore[attr-defined]
