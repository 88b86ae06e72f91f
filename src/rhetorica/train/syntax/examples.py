"""Gold documents -> training examples: pieces of texts in many layouts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.attrs import SENT_START
from spacy.tokens import Doc
from spacy.training import Example

from rhetorica.document import Document, locate
from rhetorica.text.layout import find_paragraphs


@dataclass(frozen=True, slots=True)
class Sentence:
    """The gold words of one sentence; heads are local, a root is its own head."""

    words: list[str]
    spaces: list[bool]
    pos: list[str]
    tags: list[str]
    heads: list[int]
    deps: list[str]


@dataclass(frozen=True, slots=True)
class Layout:
    """How paragraphs and sentences of a training copy are put together."""

    paragraph_break: str = "\n\n"
    double_space: bool = False
    lower: bool = False
    drop_final: bool = False


def paragraphs_of(doc: Document) -> list[list[Sentence]]:
    """Return the sentences of a document, by paragraphs."""
    found: dict[int, list[Sentence]] = {}
    places = locate([span.start for span in doc.sentences], doc.paragraphs)
    for place, group in zip(places, doc.sentence_tokens(), strict=True):
        tokens = [doc.tokens[i] for i in group]
        ends = [*(token.start for token in doc.tokens[group.start + 1 : group.stop]), None]
        sentence = Sentence(
            [doc.form(token) for token in tokens],
            [
                doc.text[token.end : token.end + 1].isspace() if end is None else end > token.end
                for token, end in zip(tokens, ends, strict=True)
            ],
            [token.pos for token in tokens],
            [token.tag for token in tokens],
            [i if t.head in (None, -1) else t.head - group.start for i, t in enumerate(tokens)],
            ["ROOT" if token.head == -1 else token.deprel for token in tokens],
        )
        found.setdefault(place, []).append(sentence)
    return list(found.values())


def training_examples(
    vocab: Any, documents: Sequence[Document], rng: random.Random, augment: float
) -> list[Any]:
    """Make one pass of shuffled training examples with random layouts and chunk sizes."""
    examples = []
    for document in documents:
        for chunk in _chunks(paragraphs_of(document), rng.randint(40, 160)):
            builder = _Builder(_random_layout(rng, augment))
            builder.add_paragraphs(chunk)
            plain = Doc(vocab, words=builder.words, spaces=builder.spaces)
            _mark_paragraphs(plain)
            gold = Doc(
                vocab,
                words=builder.words,
                spaces=builder.spaces,
                pos=builder.pos,
                tags=builder.tags,
                heads=builder.heads,
                deps=builder.deps,
            )
            examples.append(Example(plain, gold))
    rng.shuffle(examples)
    return examples


def _random_layout(rng: random.Random, augment: float) -> Layout:
    """Draw a layout: mostly blank lines, at times single newlines or one running text."""
    paragraph_break = rng.choices(("\n\n", "\n", " "), (0.6, 0.2, 0.2))[0]
    double_space = rng.random() < 0.1
    draw = rng.random()
    return Layout(paragraph_break, double_space, draw < augment, augment <= draw < 2 * augment)


def _mark_paragraphs(doc: Any) -> None:
    """Force a sentence start at the first word of every paragraph, before parsing."""
    begins = {span.start for span in find_paragraphs(doc.text)}
    starts = np.array([token.idx in begins for token in doc], dtype="uint64")
    starts[:1] = 1
    # One array for all tokens: the setter of a single token scans the whole Doc.
    doc.from_array([SENT_START], starts.reshape(-1, 1))


class _Builder:
    """Collects words and annotation of a spaCy Doc, including its white-space tokens."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.words: list[str] = []
        self.spaces: list[bool] = []
        self.pos: list[str] = []
        self.tags: list[str] = []
        self.heads: list[int] = []
        self.deps: list[str] = []

    def add_white_space(self, text: str) -> None:
        """Add a white-space token that depends on the word before it."""
        self.words.append(text)
        self.spaces.append(False)
        self.pos.append("SPACE")
        self.tags.append("_SP")
        self.heads.append(len(self.words) - 2)
        self.deps.append("dep")

    def add_sentence(self, sentence: Sentence) -> None:
        """Add the words of a sentence."""
        base = len(self.words)
        count = len(sentence.words)
        if self.layout.drop_final and count > 1 and sentence.tags[-1] == ".":
            # Only a leaf can go without breaking the tree.
            count -= count - 1 not in sentence.heads
        words = sentence.words[:count]
        self.words += [word.lower() for word in words] if self.layout.lower else words
        self.spaces += sentence.spaces[:count]
        self.heads += [base + head for head in sentence.heads[:count]]
        self.pos += sentence.pos[:count]
        self.tags += sentence.tags[:count]
        self.deps += sentence.deps[:count]
        if count < len(sentence.words):
            self.spaces[-1] = sentence.spaces[-1]

    def add_paragraphs(self, paragraphs: Sequence[Sequence[Sentence]]) -> None:
        """Add paragraphs with the separators of the layout."""
        for p, paragraph in enumerate(paragraphs):
            if p and self.layout.paragraph_break == " ":
                self.spaces[-1] = True
            elif p:
                self.spaces[-1] = False
                self.add_white_space(self.layout.paragraph_break)
            for s, sentence in enumerate(paragraph):
                if s and self.layout.double_space and self.spaces[-1]:
                    self.add_white_space(" ")
                self.add_sentence(sentence)
        self.spaces[-1] = False


def _chunks(paragraphs: Sequence[Sequence[Sentence]], size: int) -> Iterator[list[list[Sentence]]]:
    """Yield runs of sentences of about so many words, grouped by paragraph.

    Long paragraphs are cut, because the oracle of the parser is quadratic in the length.
    """
    chunk: list[list[Sentence]] = []
    words = 0
    for paragraph in paragraphs:
        chunk.append([])
        for i, sentence in enumerate(paragraph):
            chunk[-1].append(sentence)
            words += len(sentence.words)
            if words >= size:
                yield chunk
                chunk, words = [[]] if i + 1 < len(paragraph) else [], 0
    if chunk:
        yield chunk
