"""English text to tokens, sentences, tags, lemmas and dependencies, by a spaCy pipeline.

The pipeline that ships with the package is trained by ``scripts/train_syntax.py``; any other spaCy
pipeline with a tagger and a parser can be passed instead. Layers that a document already has (gold
tokens, gold sentences, gold syntax) are kept.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from rhetorica.document import Document, Span, Token
from rhetorica.errors import ModelError
from rhetorica.models import store
from rhetorica.text.layout import find_paragraphs, plain_newlines, soften_line_breaks

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_CHUNK = 20_000
"""Characters that are analysed at a time; texts are cut for this between paragraphs only."""
_BATCH = 4


def annotate(document: Document | str, nlp: Language | None = None) -> Document:
    """Add paragraphs, tokens, sentences and syntax to a text.

    >>> doc = annotate("It was wet. We left.")
    >>> [doc.text[start:end] for start, end in doc.sentences]
    ['It was wet.', 'We left.']
    >>> [token.tag for token in doc.tokens]
    ['PRP', 'VBD', 'JJ', '.', 'PRP', 'VBD', '.']
    """
    return next(annotate_all([document], nlp))


def annotate_all(
    documents: Iterable[Document | str], nlp: Language | None = None
) -> Iterator[Document]:
    """Annotate a stream of texts; at any time only a few are in memory."""
    nlp = nlp or load_pipeline()
    pieces = (piece for document in documents for piece in _pieces(document, nlp))
    spacy_docs = nlp.pipe(
        ((spacy_doc, (doc, offset, last)) for doc, offset, last, spacy_doc in pieces),
        as_tuples=True,
        batch_size=_BATCH,
    )
    tokens: list[Token] = []
    starts: list[int] = []
    for spacy_doc, (doc, offset, last) in spacy_docs:
        if not _has_syntax(doc):
            starts += _read_tokens(spacy_doc, offset, tokens)
        if last:
            yield _with_syntax(doc, tokens, starts)
            tokens, starts = [], []


@cache
def load_pipeline() -> Language:
    """Load the pipeline that ships with the package."""
    import spacy
    from thinc.api import use_ops

    path = store.find("syntax", None, "en_syntax").check()
    try:
        # NumPy's matrix product is three times as fast here as the one bundled with thinc.
        with use_ops("numpy", use_blis=False):
            nlp = spacy.load(path)
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot load the syntax pipeline {path}: {error}") from None
    nlp.max_length = sys.maxsize  # long texts are cut into pieces here
    return nlp


def _has_syntax(doc: Document) -> bool:
    return any(token.tag for token in doc.tokens) and any(token.deprel for token in doc.tokens)


def _pieces(document: Document | str, nlp: Language) -> Iterator[tuple[Document, int, bool, Doc]]:
    """Cut a text into pieces for the pipeline: document, offset, whether it is the last, piece."""
    doc = document if isinstance(document, Document) else Document(document)
    if not doc.paragraphs:
        doc = replace(doc, paragraphs=find_paragraphs(doc.text))
    if _has_syntax(doc) or not doc.text.strip():
        yield doc, 0, True, nlp.make_doc("")
    elif doc.tokens:
        yield doc, 0, True, _from_tokens(doc, nlp)
    else:
        text = soften_line_breaks(plain_newlines(doc.text))
        starts = {span.start for span in (doc.sentences or doc.paragraphs)}
        cuts = [0]
        for span in doc.paragraphs[1:]:
            if span.start - cuts[-1] > _CHUNK:
                cuts.append(span.start)
        for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True):
            piece = nlp.make_doc(text[start:end])
            _mark(piece, {at - start for at in starts}, known=bool(doc.sentences))
            yield doc, start, end == len(text), piece


def _from_tokens(doc: Document, nlp: Language) -> Doc:
    """Make a spaCy document of tokens that are given already."""
    from spacy.tokens import Doc as SpacyDoc

    words = [doc.form(token) for token in doc.tokens]
    ends = [*(token.start for token in doc.tokens[1:]), len(doc.text)]
    spaces = [end > token.end for token, end in zip(doc.tokens, ends, strict=True)]
    piece = SpacyDoc(nlp.vocab, words=words, spaces=spaces)
    starts = {span.start for span in (doc.sentences or doc.paragraphs)}
    numbers = {i for i, token in enumerate(doc.tokens) if token.start in starts}
    _mark(piece, {piece[i].idx for i in numbers}, known=bool(doc.sentences))
    return piece


def _mark(piece: Doc, starts: set[int], *, known: bool) -> None:
    """Tell the pipeline where sentences start: for certain there, and only there if ``known``."""
    from spacy.attrs import SENT_START

    # Setting one array costs one pass; setting a token's attribute scans the whole document.
    marks = [1 if token.idx in starts else -known for token in piece]
    piece.from_array(SENT_START, np.array(marks, dtype="int64").astype("uint64"))


def _read_tokens(piece: Doc, offset: int, tokens: list[Token]) -> list[int]:
    """Append a piece's tokens, white space left out; return the indices that start sentences."""
    columns = ("IDX", "LENGTH", "LEMMA", "POS", "TAG", "HEAD", "DEP", "SENT_START", "IS_SPACE")
    table = piece.to_array(list(columns)).astype("int64").tolist() if len(piece) else []
    strings = piece.vocab.strings
    names: dict[int, str] = {}

    def name(key: int) -> str:
        if key not in names:
            names[key] = strings[key & 0xFFFFFFFFFFFFFFFF] if key else ""
        return names[key]

    base = len(tokens)
    numbers: list[int] = []  # of each spaCy token, the number of the token at or before it
    for row in table:
        numbers.append(base if not numbers else numbers[-1])
        if not row[8]:
            numbers[-1] = base
            base += 1
    starts: list[int] = []
    pending = True
    for i, (at, length, lemma, pos, tag, head, dep, sentence, space) in enumerate(table):
        pending = pending or sentence == 1
        if space:
            continue
        governor = i + head
        is_root = head == 0 or bool(table[governor][8])
        if pending:
            starts.append(len(tokens))
            pending = False
        tokens.append(
            Token(
                offset + at,
                offset + at + length,
                lemma=name(lemma),
                pos=name(pos),
                tag=name(tag),
                head=-1 if is_root else numbers[governor],
                deprel="root" if is_root else name(dep),
            )
        )
    return starts


def _with_syntax(doc: Document, tokens: list[Token], starts: list[int]) -> Document:
    if not tokens:
        return doc
    if doc.tokens:  # the words were given: they keep their place and form
        tokens = [
            given._replace(
                lemma=given.lemma or found.lemma,
                pos=given.pos or found.pos,
                tag=given.tag or found.tag,
                head=found.head,
                deprel=found.deprel,
            )
            for given, found in zip(doc.tokens, tokens, strict=True)
        ]
    sentences = doc.sentences
    if not sentences:
        ends = [*starts[1:], len(tokens)]
        sentences = tuple(
            Span(tokens[first].start, tokens[last - 1].end)
            for first, last in zip(starts, ends, strict=True)
        )
    return replace(doc, tokens=tuple(tokens), sentences=sentences)


_COMMON = frozenset(
    "the of and to in a is that it for was on are as with be i you he she they we this have from "
    "or had by not but what all were when your can there an which do their if will so my me at "
    "his her has out about no just like who get would them said been our know more".split()
)


def looks_english(text: str) -> bool:
    """Guess whether a text is English: common words are too many to miss. Short texts pass."""
    words = text.lower().split(None, 400)[:400]
    if len(words) < 20:
        return True
    known = sum(word.strip(".,;:!?\"'()") in _COMMON for word in words)
    return known / len(words) > 0.1
