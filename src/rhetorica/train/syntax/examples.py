"""Gold documents -> training examples: pieces of texts in many layouts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import SENT_START
from spacy.tokens import Doc
from spacy.training import Example

from rhetorica.document import Document, locate
from rhetorica.text.layout import find_paragraphs


class Word(NamedTuple):
    """A gold word, whether a space follows it, and its syntax; a root is its own head."""

    text: str
    space: bool
    pos: str
    tag: str
    head: int
    dep: str


Sentence = list[Word]
"""Heads count from the first word of the sentence."""


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
    for place_of, group in zip(places, doc.sentence_tokens(), strict=True):
        words = []
        for place, token in enumerate(doc.tokens[group.start : group.stop]):
            last = place + 1 == len(group)
            after = token.end + 1 if last else doc.tokens[group[place + 1]].start
            space = doc.text[token.end : after].isspace() if last else after > token.end
            head = place if token.head in (None, -1) else token.head - group.start
            dep = "ROOT" if token.head == -1 else token.deprel
            words.append(Word(doc.form(token), space, token.pos, token.tag, head, dep))
        found.setdefault(place_of, []).append(words)
    return list(found.values())


def training_examples(
    vocab: Any, documents: Sequence[Document], rng: random.Random, augment: float
) -> list[Any]:
    """Make one pass of shuffled training examples with random layouts and chunk sizes."""
    examples = []
    for document in documents:
        for chunk in _chunks(paragraphs_of(document), rng.randint(40, 160)):
            words = _laid_out(chunk, _random_layout(rng, augment))
            texts, spaces, pos, tags, heads, deps = map(list, zip(*words, strict=True))
            plain = Doc(vocab, words=texts, spaces=spaces)
            _mark_paragraphs(plain)
            gold = Doc(
                vocab, words=texts, spaces=spaces, pos=pos, tags=tags, heads=heads, deps=deps
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


def _laid_out(paragraphs: Sequence[Sequence[Sentence]], layout: Layout) -> list[Word]:
    """Put paragraphs into a row of words, white-space tokens included; heads count through it."""
    words: list[Word] = []

    def add_white_space(text: str) -> None:
        """Add a white-space token that depends on the word before it."""
        words.append(Word(text, False, "SPACE", "_SP", len(words) - 1, "dep"))

    def follow(space: bool) -> None:
        words[-1] = words[-1]._replace(space=space)

    for p, paragraph in enumerate(paragraphs):
        if p:
            follow(layout.paragraph_break == " ")
            if layout.paragraph_break != " ":
                add_white_space(layout.paragraph_break)
        for s, sentence in enumerate(paragraph):
            if s and layout.double_space and words[-1].space:
                add_white_space(" ")
            base, kept = len(words), sentence
            if layout.drop_final and len(sentence) > 1 and sentence[-1].tag == ".":
                # Only a leaf can go without breaking the tree.
                is_leaf = all(word.head != len(sentence) - 1 for word in sentence)
                kept = sentence[:-1] if is_leaf else sentence
            for word in kept:
                text = word.text.lower() if layout.lower else word.text
                words.append(word._replace(text=text, head=base + word.head))
            if len(kept) < len(sentence):
                follow(sentence[-1].space)
    follow(False)
    return words


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
            words += len(sentence)
            if words >= size:
                yield chunk
                chunk, words = [[]] if i + 1 < len(paragraph) else [], 0
    if chunk:
        yield chunk
