"""EDUs to trees, one module a parser; and the whole way from raw text.

| name | what |
|---|---|
| ``neural`` | a small pretrained encoder, RST trees and dependencies; needs no syntax (default) |
| ``li2014`` | discourse dependencies, linear model and exact decoding (Li et al. 2014) |
| ``shift-reduce`` | RST trees in one pass over the text, with a beam (Heilman & Sagae 2015) |
| ``codra`` | RST trees of sentences, then of the document, by CRFs and CKY (Joty et al. 2015) |
| ``dplp`` | RST trees in one pass, words seen through a learned projection (Ji & Eisenstein 2014) |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rhetorica.document import Document
from rhetorica.errors import UnknownName
from rhetorica.models import store
from rhetorica.parses import Parse, Scores
from rhetorica.segmenters import load_segmenter
from rhetorica.segmenters.boundaries import Segmenter, cut
from rhetorica.text import annotate_all

if TYPE_CHECKING:
    from spacy.language import Language

PARSERS = ("neural", "li2014", "shift-reduce", "codra", "dplp")
DEFAULT_PARSER = "neural"
DEFAULT_MODEL = "gum"
LANGUAGES = ("en",)


class Parser(Protocol):
    """What all parsers do: take a document with EDUs and syntax, return a parse."""

    name: str

    def __call__(self, doc: Document, /, *, kbest: int = 1) -> Parse:
        """Parse a document."""
        ...


@cache
def load_parser(name: str = DEFAULT_PARSER, model: str | Path = DEFAULT_MODEL) -> Parser:
    """Return a parser; ``model`` names a treebank (gum, scidtb) or a folder of your own."""
    if name not in PARSERS:
        raise UnknownName("parser", name, PARSERS)
    folder = store.find("parser", name, model).folder
    if name == "neural":
        from rhetorica.parsers.neural import NeuralParser

        parser = NeuralParser.load(folder)
        return parser if Path(model).is_dir() else NeuralParser(parser.network, scheme=str(model))
    if name == "shift-reduce":
        from rhetorica.parsers.shift_reduce import ShiftReduceParser

        return ShiftReduceParser.load(folder)
    if name == "codra":
        from rhetorica.parsers.codra.parser import CodraParser

        return CodraParser.load(folder)
    if name == "dplp":
        from rhetorica.parsers.dplp import DPLPParser

        return DPLPParser.load(folder)
    from rhetorica.parsers.li2014 import Li2014Parser

    return Li2014Parser.load(folder)


class TextParser(Protocol):
    """What `load` returns: raw text in, parse out."""

    def __call__(self, text: str | Document, /, *, kbest: int = 1) -> Parse:
        """Parse a text; EDUs, sentences, paragraphs and syntax that a document has are kept."""
        ...

    def pipe(self, texts: Iterable[str | Document], *, kbest: int = 1) -> Iterator[Parse]:
        """Parse a stream of texts, one at a time."""
        ...


class Pipeline:
    """From raw text to a parse in steps: syntax, segmenter, parser.

    >>> import rhetorica
    >>> nlp = rhetorica.load("en", parser="li2014")
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
    segmenter: str | None = None,
    syntax: Language | None = None,
) -> TextParser:
    """Load everything that turns raw text into a parse.

    ``model`` names the treebank whose conventions and relations to follow (gum: general text with
    GUM's relations; scidtb: scientific abstracts), or a model folder. The neural parser finds EDUs
    itself unless a ``segmenter`` is named; others use the CRF. ``syntax`` may be any spaCy
    pipeline with a tagger and a parser, in place of ours.
    """
    if language not in LANGUAGES:
        raise UnknownName("language", language, LANGUAGES)
    chosen = load_parser(parser, model)
    if parser == "neural" and segmenter in (None, "neural"):
        return chosen  # type: ignore[return-value]
    segmenter_model = model if isinstance(model, str) and not Path(model).is_dir() else "gum"
    return Pipeline(chosen, load_segmenter(segmenter or "crf", segmenter_model), syntax)
