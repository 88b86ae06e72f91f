"""Phrase structure of a document's sentences, as features want it.

A bracketed tree of a sentence, as in the Penn Treebank, becomes flat arrays of nodes over the
document's tokens. The head of a phrase is its highest word in the dependency tree: no head table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rhetorica.document import Document
from rhetorica.errors import InvalidDocument
from rhetorica.features.syntax import Syntax

_BRACKET = re.compile(r"\(\s*([^\s()]*)|\)|([^\s()]+)")


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of a document: for each node its label, parent, head word and children.

    ``leaves`` gives each token's node (its preterminal).
    """

    labels: list[str]
    parents: list[int]
    heads: list[int]
    children: list[list[int]]
    leaves: list[int]

    @classmethod
    def of(cls, doc: Document, syntax: Syntax) -> Phrases | None:
        """Read a document's phrase structures, None if it has none."""
        if not doc.constituency:
            return None
        labels: list[str] = []
        parents: list[int] = []
        children: list[list[int]] = []
        leaves: list[int] = []
        for tree, sentence in zip(doc.constituency, syntax.sentences, strict=True):
            _read_tree(tree, labels, parents, children, leaves)
            if len(leaves) != sentence.stop:
                raise InvalidDocument(
                    f"{doc.id}: a phrase structure has {len(leaves) - sentence.start} words for a "
                    f"sentence of {len(sentence)}: {tree[:60]}"
                )
        heads = _heads(parents, leaves, syntax)
        return cls(labels, parents, heads, children, leaves)

    def between(self, token: int) -> tuple[int, int, int]:
        """Return the lowest node over a token and the next, and its children towards either."""
        path = [self.leaves[token]]
        while self.parents[path[-1]] >= 0:
            path.append(self.parents[path[-1]])
        places = {node: place for place, node in enumerate(path)}
        right = self.leaves[token + 1]
        while self.parents[right] not in places:
            right = self.parents[right]
        node = self.parents[right]
        return node, path[places[node] - 1], right

    def around(self, token: int) -> list[tuple[str, int]]:
        """Return label and head word of the five nodes between a token and the next.

        The lowest common ancestor N, its children towards either token, its parent and its right
        sibling; a node that is missing has head -1.
        """
        node, left, right = self.between(token)
        parent = self.parents[node]
        sibling = -1
        if parent >= 0:
            siblings = self.children[parent]
            after = siblings.index(node) + 1
            sibling = siblings[after] if after < len(siblings) else -1
        return [
            (self.labels[at], self.heads[at]) if at >= 0 else ("", -1)
            for at in (node, left, right, parent, sibling)
        ]


def _read_tree(
    tree: str, labels: list[str], parents: list[int], children: list[list[int]], leaves: list[int]
) -> None:
    """Append the nodes of one bracketed tree."""
    open_nodes: list[int] = []
    for match in _BRACKET.finditer(tree):
        label, word = match.groups()
        if label is not None:
            parent = open_nodes[-1] if open_nodes else -1
            node = len(labels)
            # Function tags (NP-SBJ) say more than a parser knows.
            labels.append(label if label.startswith("-") else re.split("[-=]", label)[0])
            parents.append(parent)
            children.append([])
            if parent >= 0:
                children[parent].append(node)
            open_nodes.append(node)
        elif word is not None:
            leaves.append(open_nodes[-1])
        else:
            open_nodes.pop()


def _heads(parents: list[int], leaves: list[int], syntax: Syntax) -> list[int]:
    """Return each node's head: of the words below it, the one highest in the dependency tree."""
    heads = [-1] * len(parents)
    for token, leaf in enumerate(leaves):
        at = leaf
        while at >= 0:
            best = heads[at]
            if best >= 0 and syntax.depths[best] <= syntax.depths[token]:
                break
            heads[at] = token
            at = parents[at]
    return heads
