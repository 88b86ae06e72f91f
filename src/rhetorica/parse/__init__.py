"""EDUs to trees, one module a parser; and the whole way from raw text.

| name | what |
|---|---|
| ``li2014`` | discourse dependencies, linear model and exact decoding (Li et al. 2014) |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rhetorica.document import Document
from rhetorica.errors import UnknownName
from rhetorica.models import model_path
from rhetorica.parses import Parse, Scores
from rhetorica.segment import DEFAULT_SEGMENTER, load_segmenter
from rhetorica.segment.boundaries import Segmenter, cut
from rhetorica.text import annotate_all

if TYPE_CHECKING:
    from spacy.language import Language

PARSERS = ("li2014",)
DEFAULT_PARSER = "li2014"
DEFAULT_MODEL = "gum"
LANGUAGES = ("en",)


class Parser(Protocol):
    """What all parsers do: take a document with EDUs and syntax, return a parse."""

    name: str

    def __call__(self, doc: Document, *, kbest: int = 1) -> Parse:
        """Parse a document."""
        ...


@cache
def load_parser(name: str = DEFAULT_PARSER, model: str | Path = DEFAULT_MODEL) -> Parser:
    """Return a parser; ``model`` names a treebank (gum, scidtb) or a folder of your own."""
    if name not in PARSERS:
        raise UnknownName("parser", name, PARSERS)
    from rhetorica.parse.li2014 import Li2014Parser

    return Li2014Parser.load(model_path(model if Path(model).is_dir() else f"{name}_{model}"))


class Pipeline:
    """From raw text to a parse: syntax, segmenter, parser.

    >>> import rhetorica
    >>> nlp = rhetorica.load("en")
    >>> parse = nlp("We stayed at home because it rained.")
    >>> parse.edus
    ['We stayed at home', 'because it rained.']
    >>> parse.dependencies.heads
    (-1, 0)
    """

    def __init__(
        self, parser: Parser, segmenter: Segmenter, syntax: Language | None = None
    ) -> None:
        self.parser = parser
        self.segmenter = segmenter
        self.syntax = syntax

    def __call__(self, text: str | Document, *, kbest: int = 1) -> Parse:
        """Parse a text; EDUs, sentences, paragraphs and syntax that a document has are kept."""
        return next(self.pipe([text], kbest=kbest))

    def pipe(self, texts: Iterable[str | Document], *, kbest: int = 1) -> Iterator[Parse]:
        """Parse a stream of texts, one at a time."""
        for doc in annotate_all(texts, self.syntax):
            boundaries: tuple[float, ...] = ()
            if not doc.edus and doc.tokens:
                probabilities = self.segmenter.boundaries(doc)
                segmented = cut(doc, probabilities, threshold=self.segmenter.threshold)
                doc = segmented.document
                boundaries = segmented.scores.boundaries if segmented.scores else ()
            parse = self.parser(replace(doc, language=doc.language or "en"), kbest=kbest)
            scores = replace(parse.scores or Scores(), boundaries=boundaries)
            yield replace(parse, scores=scores if parse.scores or boundaries else None)


def load(
    language: str = "en",
    *,
    parser: str = DEFAULT_PARSER,
    model: str | Path = DEFAULT_MODEL,
    segmenter: str = DEFAULT_SEGMENTER,
    syntax: Language | None = None,
) -> Pipeline:
    """Load everything that turns raw text into a parse.

    ``model`` names the treebank whose conventions and relations to follow (gum: general text with
    GUM's relations; scidtb: scientific abstracts), or a model folder. ``syntax`` may be any spaCy
    pipeline with a tagger and a parser, in place of ours.
    """
    if language not in LANGUAGES:
        raise UnknownName("language", language, LANGUAGES)
    segmenter_model = model if isinstance(model, str) and not Path(model).is_dir() else "gum"
    return Pipeline(load_parser(parser, model), load_segmenter(segmenter, segmenter_model), syntax)
