"""Syntax as features want it: columns of a document's tokens, and what a dependency tree tells.

Everything here is linear in the number of tokens (times the depth of a sentence's tree).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rhetorica.document import Document
from rhetorica.errors import InvalidDocument
from rhetorica.languages import Language, language_of


@dataclass(frozen=True, slots=True)
class Syntax:
    """The tokens of a document in columns.

    ``heads`` are indices of tokens, -1 for the root of a sentence; ``depths`` count arcs to the
    root; ``lefts`` and ``rights`` are the first and last token of each token's subtree.
    ``sentences`` are ranges of tokens. ``language`` knows what the tags mean.
    """

    words: list[str]
    lowered: list[str]
    tags: list[str]
    lemmas: list[str]
    deprels: list[str]
    heads: list[int]
    depths: list[int]
    lefts: list[int]
    rights: list[int]
    sentences: list[range]
    language: Language

    @classmethod
    def of(cls, doc: Document) -> Syntax:
        """Read the columns off a document, which must have tokens with tags and heads."""
        tokens = doc.tokens
        if doc.text.strip() and not tokens:
            raise InvalidDocument(f"{doc.id or 'the document'} has no tokens: annotate it first")
        words = [doc.form(token) for token in tokens]
        heads = [-1 if token.head is None else token.head for token in tokens]
        depths = _depths(heads)
        lefts, rights = _extents(heads, depths)
        sentences = doc.sentence_tokens() if doc.sentences else [range(len(tokens))]
        return cls(
            words,
            [word.lower() for word in words],
            [token.tag for token in tokens],
            [token.lemma for token in tokens],
            [token.deprel for token in tokens],
            heads,
            depths,
            lefts,
            rights,
            [sentence for sentence in sentences if sentence],
            language_of(doc),
        )

    def common_ancestor(self, first: int, second: int) -> tuple[int, int, int]:
        """Return the lowest common ancestor of two tokens and its children towards either.

        The ancestor is -1 where the two have none (two roots in one sentence). A child is the
        ancestor itself where that is the token.
        """
        heads, depths = self.heads, self.depths
        below_first, below_second = first, second
        while first != second:
            if depths[first] >= depths[second]:
                below_first, first = first, heads[first]
            else:
                below_second, second = second, heads[second]
            if first < 0 or second < 0:
                return -1, below_first, below_second
        return first, below_first, below_second


def _depths(heads: Sequence[int]) -> list[int]:
    """Return each token's distance to its root; a cycle (a broken parse) is cut where it closes."""
    depths = [-1] * len(heads)
    for start in range(len(heads)):
        path: list[int] = []
        at = start
        while at >= 0 and depths[at] < 0:
            depths[at] = 0
            path.append(at)
            at = heads[at]
        base = depths[at] + 1 if at >= 0 else 0
        for above, index in enumerate(reversed(path)):
            depths[index] = base + above
    return depths


def _extents(heads: Sequence[int], depths: Sequence[int]) -> tuple[list[int], list[int]]:
    lefts, rights = list(range(len(heads))), list(range(len(heads)))
    for index in sorted(range(len(heads)), key=depths.__getitem__, reverse=True):
        head = heads[index]
        if head >= 0:
            if lefts[index] < lefts[head]:
                lefts[head] = lefts[index]
            if rights[index] > rights[head]:
                rights[head] = rights[index]
    return lefts, rights
