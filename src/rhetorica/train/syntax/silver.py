"""AMALGUM -> documents for the first stage of training, its labels brought to today's scheme.

AMALGUM's trees are automatic, by parsers far larger than ours, and follow the guidelines of
2020-22: GUM and English-EWT have renamed some relations and tags since. Its spaces are guessed;
clitics ("do n't", "Kongo 's") always stand apart, and are joined here as they are in real text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rhetorica.document import Document, Span, Token
from rhetorica.train.neural.silver import choose

UNMARKED = ("npmod", "tmod")
"""Subtypes that are one now, `unmarked`."""
CLASSES = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
)
QUOTES_AND_STOPS = ("``", "''", ".")
CLITIC = re.compile(r"['’](?:s|re|ll|ve|d|m)|n['’]t", re.IGNORECASE)


def read_silver(files: Iterable[Path | str], words: int) -> list[Document]:
    """Read about so many words of each file (0: all), in today's labels."""
    return [
        present_scheme(join_clitics(parse.document))
        for file in files
        for parse in choose(file, words)
    ]


def join_clitics(doc: Document) -> Document:
    """Return a document without the spaces before clitics.

    >>> doc = Document("We do n't .", tokens=(Token(0, 2), Token(3, 5), Token(6, 9), Token(10, 11)))
    >>> joined = join_clitics(doc)
    >>> joined.text, [joined.form(token) for token in joined.tokens]
    ("We don't .", ['We', 'do', "n't", '.'])
    """
    gone = [
        token.start - 1
        for token in doc.tokens
        if CLITIC.fullmatch(doc.form(token)) and doc.text[token.start - 1 : token.start] == " "
    ]
    if not gone:
        return doc
    kept = zip([-1, *gone], [*gone, len(doc.text)], strict=True)
    text = "".join(doc.text[start + 1 : end] for start, end in kept)

    def move(offset: int) -> int:
        return offset - bisect_left(gone, offset)

    def moved(spans: Iterable[Span]) -> tuple[Span, ...]:
        return tuple(Span(move(span.start), move(span.end)) for span in spans)

    return replace(
        doc,
        text=text,
        tokens=tuple(t._replace(start=move(t.start), end=move(t.end)) for t in doc.tokens),
        edus=moved(doc.edus),
        sentences=moved(doc.sentences),
        paragraphs=moved(doc.paragraphs),
    )


def present_scheme(doc: Document) -> Document:
    """Return a document with the labels that GUM and EWT have today, where a rule can tell."""
    children: dict[int, list[Token]] = {}
    for token in doc.tokens:
        if token.head is not None and token.head >= 0:
            children.setdefault(token.head, []).append(token)
    tokens = [
        token._replace(
            deprel=_relation(doc, token, children.get(place, ()), children),
            tag=_tag(doc, token),
            pos=_class(token),
        )
        for place, token in enumerate(doc.tokens)
    ]
    return replace(doc, tokens=tuple(tokens))


def _relation(
    doc: Document, token: Token, own: Sequence[Token], children: dict[int, list[Token]]
) -> str:
    name, _, subtype = token.deprel.partition(":")
    if name == "root":
        return name
    if subtype in UNMARKED:
        return f"{name}:unmarked"
    if token.deprel == "obl" and token.head is not None:
        by = any(each.deprel == "case" and doc.form(each).lower() == "by" for each in own)
        passive = any(each.deprel.endswith(":pass") for each in children[token.head])
        head = doc.tokens[token.head]
        if by and (passive or (head.tag == "VBN" and head.deprel == "acl")):
            return "obl:agent"
    return token.deprel


def _tag(doc: Document, token: Token) -> str:
    form = doc.form(token)
    if form == "$":
        return "$"
    before, after = doc.text[token.start - 1 : token.start], doc.text[token.end : token.end + 1]
    joins = before.isalnum() and after.isalnum()
    return "HYPH" if form == "-" and token.pos == "PUNCT" and joins else token.tag


def _class(token: Token) -> str:
    if token.pos in CLASSES:
        return token.pos
    return "PUNCT" if token.pos in QUOTES_AND_STOPS else "X"
