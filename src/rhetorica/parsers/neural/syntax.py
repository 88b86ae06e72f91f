"""Text -> words, sentences, tags, lemmas and dependencies, by the neural model's own encoder.

The twin of the syntax heads in `rhetorica.train.neural.model`. Words are cut by rule
(`rhetorica.text.words`) or, in languages without spaces, by a head of their own; sentences begin
where the segmentation head says so, tags and heads are read off the states of a word's first and
last piece, and each sentence gets the best tree of all
(`rhetorica.decode.spanning`). Parsers that need syntax do without spaCy (``syntax="neural"``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rhetorica.decode import spanning_tree
from rhetorica.document import Document, Span, Token
from rhetorica.errors import ModelError
from rhetorica.parsers.neural.network import Floats, Network, affine
from rhetorica.parsers.neural.wordpiece import Pieces, WordPieces, locate_words
from rhetorica.text.layout import find_paragraphs
from rhetorica.text.words import split_words

Ints = npt.NDArray[np.int64]

LONGEST = 200
"""Words of a sentence that are parsed together; longer stretches without an end are cut."""
_AT_ONCE = 512
_WORDS_AT_ONCE = 4096
_FORBIDDEN = -1e4
_SLOPE = 0.1
_VISIBLE = re.compile(r"\S+")


class NeuralSyntax:
    """Adds tokens, sentences, paragraphs and syntax to documents; layers they have are kept."""

    def __init__(self, network: Network, language: str = "en") -> None:
        if not network.config.tags or "syntax.tags.weight" not in network.weights:
            raise ModelError(
                f"the model {network.config.name!r} has no syntax: take a newer one, or spaCy's"
            )
        self.network, self.language = network, language
        self._root = network.config.deprels.index("root")

    def __call__(self, document: Document | str) -> Document:
        """Annotate one text."""
        doc = document if isinstance(document, Document) else Document(document)
        if not doc.paragraphs:
            doc = replace(doc, paragraphs=find_paragraphs(doc.text))
        if _has_syntax(doc) or not doc.text.strip():
            return doc
        pieces = self.network.tokenizer(doc.text)
        if not len(pieces):  # nothing but control characters: read as an unknown word
            pieces = self.network.tokenizer(doc.text, [doc.paragraphs[0].start])
        states = self.network.states(pieces)
        words = [Span(*token[:2]) for token in doc.tokens] or self._words(doc, pieces, states)
        starts, ends = zip(*words, strict=True)
        located = locate_words(pieces, starts, ends)
        edges = self._sentences(doc, words, pieces, states, located)
        tags, heads, relations = parse_words(self.network, states, located, edges, self._root)
        del states  # 3 kB a piece
        return self._filled(doc, words, edges, tags, heads, relations)

    def pipe(self, documents: Iterable[Document | str]) -> Iterator[Document]:
        """Annotate many texts, in order."""
        return map(self, documents)

    def _words(self, doc: Document, pieces: Pieces, states: Floats) -> list[Span]:
        """Return the words of a text; together they are all of it but white space."""
        text = doc.text
        if not self.network.unspaced:
            return split_words(text)
        known = [
            span.start for layer in (doc.edus, doc.sentences, doc.paragraphs) for span in layer
        ]
        apart = (pieces.layouts > 0) | np.isin(pieces.starts, known)
        begins = ((self.network.word_starts(states) > 0.5) | apart) & pieces.begins
        # What the tokenizer drops goes with the word before it; at a space, words end in any case.
        words: list[Span] = []
        for start, end in pairwise([0, *pieces.starts[begins][1:].tolist(), len(text)]):
            words += (
                Span(start + part.start(), start + part.end())
                for part in _VISIBLE.finditer(text[start:end])
            )
        return words

    def _sentences(
        self,
        doc: Document,
        words: Sequence[Span],
        pieces: Pieces,
        states: Floats,
        located: WordPieces,
    ) -> list[int]:
        """Return the words at which sentences begin, and at the end the number of words."""
        starts = np.array([word.start for word in words])
        known = doc.sentences or doc.paragraphs
        begins = _flags(starts, known)
        if not doc.sentences:
            marks = self.network.marks(states)
            larger = marks[:, 2:].sum(axis=1)
            # Sentences are made of EDUs: where these are known, none begins anywhere else, and
            # the only question left is which of them begin one.
            certain = larger > marks[:, 1] if doc.edus else larger > 0.5
            likely = (certain & pieces.begins)[located.firsts]
            # Of several words on one piece the first begins the sentence.
            likely &= _flags(starts, doc.edus) if doc.edus else located.inside == 0
            begins |= likely
        begins[0] = True
        return [*np.flatnonzero(begins).tolist(), len(words)]

    def _filled(
        self,
        doc: Document,
        words: Sequence[Span],
        edges: Sequence[int],
        tags: Ints,
        heads: Ints,
        relations: Ints,
    ) -> Document:
        config, lemmas = self.network.config, self.network.lemmas
        given = doc.tokens or tuple(Token(*word) for word in words)
        tokens: list[Token] = []
        rows = zip(given, tags.tolist(), heads.tolist(), relations.tolist(), strict=True)
        for token, number, head, relation in rows:
            tag, deprel = token.tag or config.tags[number], config.deprels[relation]
            tokens.append(
                token._replace(
                    lemma=token.lemma or lemmas(doc.form(token), tag),
                    pos=token.pos or (universal_tag(tag, deprel) if self.language == "en" else tag),
                    tag=tag,
                    head=head,
                    deprel=deprel,
                )
            )
        sentences = doc.sentences or tuple(
            Span(words[first].start, words[last - 1].end) for first, last in pairwise(edges)
        )
        return replace(
            doc, language=doc.language or self.language, tokens=tuple(tokens), sentences=sentences
        )


def _flags(starts: Ints, spans: Sequence[Span]) -> npt.NDArray[np.bool_]:
    """Tell for each word whether it is the first at or after the beginning of a span."""
    flags = np.zeros(len(starts), dtype=bool)
    places = np.searchsorted(starts, [span.start for span in spans])
    flags[places[places < len(starts)]] = True
    return flags


def _has_syntax(doc: Document) -> bool:
    return any(token.tag for token in doc.tokens) and any(token.deprel for token in doc.tokens)


def parse_words(
    network: Network, states: Floats, words: WordPieces, edges: Sequence[int], root: int
) -> tuple[Ints, Ints, Ints]:
    """Return the tag, head (-1: root) and relation of each word, sentence by sentence."""
    tags, heads, relations = np.empty((3, len(words.firsts)), dtype=np.int64)
    for sentences in _some(cut_edges(edges)):
        first, last = sentences[0][0], sentences[-1][1]
        here = slice(first, last)
        x = np.concatenate([states[words.firsts[here]], states[words.lasts[here]]], axis=1)
        x += network.weights["syntax.inside.weight"][words.inside[here]]
        inner = [(start - first, end - first) for start, end in sentences]
        tags[here], found, relations[here] = _parse(network, x, inner, root)
        heads[here] = np.where(found < 0, -1, found + first)
    return tags, heads, relations


def _some(sentences: Iterable[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield some sentences after the other: the vectors of all words of a book need gigabytes."""
    found: list[tuple[int, int]] = []
    for sentence in sentences:
        found.append(sentence)
        if sentence[1] - found[0][0] >= _WORDS_AT_ONCE:
            yield found
            found = []
    if found:
        yield found


def _parse(
    network: Network, x: Floats, sentences: Iterable[tuple[int, int]], root: int
) -> tuple[Ints, Ints, Ints]:
    """Return the tag, head and relation of each word of some sentences, from the words' vectors."""
    w = network.weights
    tags: Ints = affine(x, w, "syntax.tags").argmax(axis=1)
    parts = affine(x, w, "syntax.parts")
    parts = np.maximum(parts, _SLOPE * parts)
    dependents, governors, low, high = np.split(parts, 4, axis=1)
    asking = with_one(dependents) @ w["syntax.product"]
    heads = np.empty(len(x), dtype=np.int64)
    for start, end in sentences:
        table = np.full((end - start + 1, end - start + 1), -np.inf)
        table[0, 1:] = asking[start:end] @ w["syntax.root"][0]
        table[1:, 1:] = governors[start:end] @ asking[start:end].T
        np.fill_diagonal(table[1:, 1:], _FORBIDDEN)
        found = spanning_tree(table)
        heads[start:end] = np.where(found < 0, -1, found + start)
    ends = np.concatenate([high, w["syntax.root"][1:]])
    relations = np.empty(len(x), dtype=np.int64)
    for at in range(0, len(x), _AT_ONCE):
        here = slice(at, at + _AT_ONCE)
        scores = relation_scores(network, low[here], ends[heads[here]])
        # The relation "root" is that of roots, and of nothing else.
        scores[:, root] = np.where(heads[here] < 0, np.inf, -np.inf)
        relations[here] = scores.argmax(axis=1)
    return tags, heads, relations


def relation_scores(network: Network, dependents: Floats, heads: Floats) -> Floats:
    """Return the scores (arcs, relations) of arcs given by the vectors of their ends."""
    maps = network.weights["syntax.relations"]
    d, h = with_one(dependents), with_one(heads)
    mixed = (d @ maps.transpose(1, 0, 2).reshape(d.shape[1], -1)).reshape(len(d), len(maps), -1)
    scores = np.asarray(mixed @ h[:, :, None], dtype=np.float32)
    return scores[..., 0]


def with_one(x: Floats) -> Floats:
    """Return vectors with a 1 at the end, so that a product has room for a bias."""
    return np.pad(x, ((0, 0), (0, 1)), constant_values=1.0)


def cut_edges(edges: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Return the ranges between edges, cut where they are longer than `LONGEST`.

    >>> list(cut_edges([0, 3, 3 + LONGEST + 1]))
    [(0, 3), (3, 203), (203, 204)]
    """
    for start, end in pairwise(edges):
        for at in range(start, end, LONGEST):
            yield at, min(at + LONGEST, end)


_UNIVERSAL = {
    "CC": "CCONJ",
    "CD": "NUM",
    "DT": "DET",
    "EX": "PRON",
    "FW": "X",
    "JJ": "ADJ",
    "LS": "X",
    "MD": "AUX",
    "NN": "NOUN",
    "PD": "DET",
    "PO": "PART",
    "PR": "PRON",
    "RB": "ADV",
    "RP": "ADP",
    "SY": "SYM",
    "UH": "INTJ",
    "VB": "VERB",
    "WD": "PRON",
    "WP": "PRON",
    "WR": "ADV",
    "$": "SYM",
}


def universal_tag(tag: str, deprel: str) -> str:
    """Return the universal part of speech of a Penn tag, with the relation's help.

    >>> universal_tag("VBZ", "cop"), universal_tag("IN", "mark"), universal_tag("NNPS", "obj")
    ('AUX', 'SCONJ', 'PROPN')
    """
    relation = deprel.partition(":")[0]
    if tag.startswith("NNP"):
        return "PROPN"
    if tag.startswith("VB"):
        return "AUX" if relation in ("aux", "cop") else "VERB"
    if tag == "IN":
        return "SCONJ" if relation == "mark" else "ADP"
    if tag == "TO":
        return "PART" if relation == "mark" else "ADP"
    if tag == "DT" and relation not in ("det", "advmod"):
        return "PRON"
    if tag[:2] in _UNIVERSAL:
        return _UNIVERSAL[tag[:2]]
    return "PUNCT" if not tag[:1].isalpha() or tag in ("HYPH", "NFP") else "X"
