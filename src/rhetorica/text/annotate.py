"""Raw text to a document with paragraphs, tokens, sentences and syntax, by language.

Each language has its own front end (`rhetorica.languages`); any spaCy pipeline with a tagger and a
parser can be passed instead. Layers that a document already has are kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from rhetorica.document import Document
from rhetorica.languages import FrontEnd, language, settle
from rhetorica.languages.spacy import with_spacy
from rhetorica.text.layout import (
    find_paragraphs,
    plain_newlines,
    soften_line_breaks,
    whole_characters,
)

if TYPE_CHECKING:
    from spacy.language import Language as Spacy


def annotate(document: Document | str, nlp: Spacy | FrontEnd | None = None) -> Document:
    """Add paragraphs, tokens, sentences and syntax to a text.

    ``nlp`` is a spaCy pipeline or a front end, in place of that of the language.

    >>> doc = annotate("It was wet. We left.")
    >>> [doc.text[start:end] for start, end in doc.sentences]
    ['It was wet.', 'We left.']
    >>> [token.tag for token in doc.tokens]
    ['PRP', 'VBD', 'JJ', '.', 'PRP', 'VBD', '.']
    """
    return next(annotate_all([document], nlp))


def annotate_all(
    documents: Iterable[Document | str], nlp: Spacy | FrontEnd | None = None
) -> Iterator[Document]:
    """Annotate a stream of texts; at any time only a few are in memory."""
    prepared = (_prepared(document, foreign=nlp is not None) for document in documents)
    for code, group in groupby(prepared, lambda doc: doc.language if _needs_syntax(doc) else None):
        if code is None:
            yield from group
        else:
            yield from _analysed(group, _front_end(nlp) if nlp else language(code).front_end)


def _front_end(nlp: Spacy | FrontEnd) -> FrontEnd:
    """Return a front end as it is, or that of a spaCy pipeline (both can be called)."""
    return partial(with_spacy, nlp) if hasattr(nlp, "make_doc") else nlp


def _prepared(document: Document | str, *, foreign: bool) -> Document:
    """Return a document that has paragraphs and, unless a pipeline was passed, a language."""
    doc = document if isinstance(document, Document) else Document(document)
    if not doc.paragraphs:
        doc = replace(doc, paragraphs=find_paragraphs(doc.text))
    return doc if foreign or not _needs_syntax(doc) else settle(doc)


def _needs_syntax(doc: Document) -> bool:
    has = any(token.tag for token in doc.tokens) and any(token.deprel for token in doc.tokens)
    return not has and bool(doc.text.strip())


def _analysed(documents: Iterable[Document], front_end: FrontEnd) -> Iterator[Document]:
    """Run a front end on texts whose wrapped lines are made one; give them their own again."""
    waiting: deque[Document] = deque()

    def readable() -> Iterator[Document]:
        for doc in documents:
            waiting.append(doc)
            yield replace(doc, text=soften_line_breaks(plain_newlines(whole_characters(doc.text))))

    for found in front_end(readable()):
        yield replace(waiting.popleft(), tokens=found.tokens, sentences=found.sentences)
