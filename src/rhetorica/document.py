"""A text and its layers: tokens, sentences, paragraphs, elementary discourse units (EDUs).

Every layer points into the untouched text by half-open, 0-based character ranges, so that
whatever is printed or exported maps back to the user's own characters.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rhetorica.errors import InvalidDocument


class Span(NamedTuple):
    """A half-open range of characters, ``text[start:end]``."""

    start: int
    end: int


class Token(NamedTuple):
    """A word with its place in the text and, where known, its syntax.

    ``head`` is the index of the governing token in the document, -1 for the root of a sentence
    and None where syntax is unknown. ``form`` is given only where it differs from the text (a
    contraction such as French "du" = "de" + "le", whose words share one span). ``continues``
    says that the word belongs to the same surface token as the word before ("do" + "n't").
    """

    start: int
    end: int
    form: str = ""
    lemma: str = ""
    pos: str = ""
    tag: str = ""
    feats: str = ""
    head: int | None = None
    deprel: str = ""
    continues: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its layers; a layer that is not known is empty.

    EDUs cover every character of the text that is not white space. ``constituency`` holds one
    bracketed phrase structure per sentence where a corpus supplies it.

    >>> doc = Document("Wet, because it rained.", edus=(Span(0, 4), Span(5, 23)))
    >>> doc.edu_texts
    ['Wet,', 'because it rained.']
    """

    text: str
    edus: tuple[Span, ...] = ()
    tokens: tuple[Token, ...] = ()
    sentences: tuple[Span, ...] = ()
    paragraphs: tuple[Span, ...] = ()
    id: str = ""
    language: str = ""
    constituency: tuple[str, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        _check_layer("EDU", self.edus, self.text, must_cover=True)
        _check_layer("sentence", self.sentences, self.text, must_cover=False)
        _check_layer("paragraph", self.paragraphs, self.text, must_cover=False)
        _check_tokens(self.tokens, len(self.text))
        if self.constituency and len(self.constituency) != len(self.sentences):
            raise InvalidDocument(
                f"{len(self.constituency)} constituency trees for {len(self.sentences)} sentences"
            )

    @classmethod
    def from_edus(cls, texts: Iterable[str], *, joiner: str = " ", id: str = "") -> Document:
        """Make a document whose text is the given EDUs, joined."""
        parts: list[str] = []
        edus: list[Span] = []
        at = 0
        for text in texts:
            parts.append(text)
            edus.append(Span(at, at + len(text)))
            at += len(text) + len(joiner)
        return cls(joiner.join(parts), tuple(edus), id=id)

    @property
    def edu_texts(self) -> list[str]:
        """The characters of each EDU, as they stand in the text."""
        return [self.text[start:end] for start, end in self.edus]

    def tokenized_edu_texts(self) -> list[str]:
        """Return each EDU as its token forms with single spaces (as it stands, without tokens)."""
        if not self.tokens:
            return self.edu_texts
        return [" ".join(self.form(self.tokens[i]) for i in tokens) for tokens in self.edu_tokens()]

    def form(self, token: Token) -> str:
        """Return a token's word form."""
        return token.form or self.text[token.start : token.end]

    def edu_tokens(self) -> list[range]:
        """Return, for each EDU, the range of its tokens."""
        return group_by_span([token.start for token in self.tokens], self.edus)

    def sentence_tokens(self) -> list[range]:
        """Return, for each sentence, the range of its tokens."""
        return group_by_span([token.start for token in self.tokens], self.sentences)

    def edu_sentences(self) -> list[int]:
        """Return, for each EDU, the index of the sentence that holds its first character."""
        return locate([edu.start for edu in self.edus], self.sentences)

    def edu_paragraphs(self) -> list[int]:
        """Return, for each EDU, the index of the paragraph that holds its first character."""
        return locate([edu.start for edu in self.edus], self.paragraphs)


def locate(offsets: Sequence[int], spans: Sequence[Span]) -> list[int]:
    """Return, for each character offset, the index of the last span that starts at or before it.

    Offsets before the first span, and all offsets when there are no spans, get index 0.
    """
    starts = [span.start for span in spans]
    return [max(0, bisect_right(starts, offset) - 1) for offset in offsets]


def group_by_span(offsets: Sequence[int], spans: Sequence[Span]) -> list[range]:
    """Return, for each span, the range of indices of the (ascending) offsets inside it."""
    groups: list[range] = []
    at = 0
    for start, end in spans:
        while at < len(offsets) and offsets[at] < start:
            at += 1
        first = at
        while at < len(offsets) and offsets[at] < end:
            at += 1
        groups.append(range(first, at))
    return groups


def _check_layer(name: str, spans: tuple[Span, ...], text: str, *, must_cover: bool) -> None:
    """Check that spans are in order, not empty, inside the text, and cover it if they must."""
    if not spans:
        return
    at = 0
    for index, (start, end) in enumerate(spans):
        if not at <= start < end:
            raise InvalidDocument(
                f"{name} {index} is the range {start}-{end}, after one that ends at {at}: "
                f"{name}s must be in text order, not empty and not overlapping"
            )
        if must_cover and start > at:
            _check_gap(name, text, at, start)
        at = end
    if at > len(text):
        raise InvalidDocument(f"{name} {len(spans) - 1} ends at {at}, past the text's {len(text)}")
    if must_cover:
        _check_gap(name, text, at, len(text))


def _check_gap(name: str, text: str, start: int, end: int) -> None:
    if text[start:end].strip():
        raise InvalidDocument(
            f"characters {start}-{end} ({text[start : min(end, start + 30)]!r}) are in no {name}: "
            f"{name}s must cover all that is not white space"
        )


def _check_tokens(tokens: tuple[Token, ...], length: int) -> None:
    """Check that tokens are in text order and that heads exist; words may share one span."""
    at, before = 0, (0, 0)
    count = len(tokens)
    for index, token in enumerate(tokens):
        start, end = token[0], token[1]
        if start >= end or (start < at and (start, end) != before):
            raise InvalidDocument(
                f"token {index} is the range {start}-{end}, after one that ends at {at}: tokens "
                "must be in text order, not empty and not overlapping"
            )
        if token.head is not None and not -1 <= token.head < count:
            raise InvalidDocument(
                f"token {index} has head {token.head}, but there are {count} tokens"
            )
        at, before = end, (start, end)
    if at > length:
        raise InvalidDocument(
            f"token {count - 1} ends at {at}, past the text's {length} characters"
        )
