"""Dominance sets: which EDU of a sentence hangs on which other, and by what in the syntax.

Soricut & Marcu (2003), and after them Joty, Carenini & Ng (2015, section 4.1.4), take them from a
lexicalised phrase structure. Every EDU but one has a *head node*, the highest node whose lexical
head is a word of the EDU; the parent of this node, whose lexical head is a word of another EDU, is
its *attachment node*, and the other EDU dominates it. Where only dependencies are known, the head
node is the EDU's head word (of the words whose parent lies outside, the highest), the attachment
node is its parent, and tags stand for the labels of nodes.

Two adjacent units are linked by the element whose dominated EDU is the head of one unit (its EDU
highest up) and whose dominating EDU is in the other. The article looks only at the two EDUs at the
edge between the units, which are often not linked to each other; they come second here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.document import Document
from rhetorica.features.phrases import Phrases
from rhetorica.features.syntax import Syntax

Ints = npt.NDArray[np.int64]

NONE, LEFT, RIGHT = 0, 1, 2
"""Which of two units dominates the other: neither, the left one, the right one."""


class Links(NamedTuple):
    """How pairs of units are linked: which dominates, and the dominated EDU (-1: none)."""

    directions: Ints
    edus: Ints


@dataclass(frozen=True, slots=True)
class Dominance:
    """The dominance sets of a document's sentences; one value an EDU in each column.

    ``dominators`` are EDUs, -1 where nothing dominates. ``heads`` and ``attachments`` are tokens,
    the lexical heads of head node and attachment node (-1: none), ``head_labels`` and
    ``attachment_labels`` the labels of these nodes.
    """

    dominators: Ints
    heads: Ints
    attachments: Ints
    head_labels: tuple[str, ...]
    attachment_labels: tuple[str, ...]
    syntax: Syntax
    _highest_first: _Lowest
    _highest_last: _Lowest

    @classmethod
    def of(
        cls, doc: Document, syntax: Syntax | None = None, phrases: Phrases | None = None
    ) -> Dominance:
        """Compute the sets of a document with EDUs and syntax, and phrases where they are known."""
        columns = syntax or Syntax.of(doc)
        groups = [list(group) for group in doc.edu_tokens()]
        owner = owners(groups, len(doc.tokens))
        # A comma hangs on the verb of the main clause, far above the clause that it closes.
        is_mark = columns.language.tags.is_mark
        groups = [[i for i in group if not is_mark(columns.tags[i])] or group for group in groups]
        if phrases is None:
            heads = [head_token(columns, group) for group in groups]
            above = [columns.heads[head] if head >= 0 else -1 for head in heads]
            head_labels = [columns.tags[head] if head >= 0 else "" for head in heads]
            above_labels = [columns.tags[token] if token >= 0 else "" for token in above]
        else:
            nodes = _head_nodes(phrases, owners(groups, len(doc.tokens)), len(groups))
            parents = [phrases.parents[node] if node >= 0 else -1 for node in nodes]
            heads, above = (
                [phrases.heads[n] if n >= 0 else -1 for n in ns] for ns in (nodes, parents)
            )
            head_labels, above_labels = (
                [phrases.labels[n] if n >= 0 else "" for n in ns] for ns in (nodes, parents)
            )
        depths = [columns.depths[head] if head >= 0 else len(doc.tokens) for head in heads]
        places = np.arange(len(heads))
        order = np.array(depths, np.int64) * (len(heads) + 1)
        return cls(
            np.array(dominators(above, owner), np.int64),
            np.array(heads, np.int64),
            np.array(above, np.int64),
            tuple(head_labels),
            tuple(above_labels),
            columns,
            _Lowest.of(order + places),
            _Lowest.of(order + places[::-1]),
        )

    def attributes(self) -> dict[str, list[str]]:
        """Return columns of strings to be indexed by `Links.edus`; the last value is for none."""
        syntax = self.syntax
        there = (self.dominators >= 0).tolist()

        def column(values: Iterable[str]) -> list[str]:
            return [v if ok else "" for v, ok in zip(values, there, strict=True)] + [""]

        heads, attachments = self.heads.tolist(), self.attachments.tolist()
        return {
            "head_label": column(self.head_labels),
            "attachment_label": column(self.attachment_labels),
            "head_lemma": column(_at(syntax.lemmas, syntax.lowered, token) for token in heads),
            "attachment_lemma": column(
                _at(syntax.lemmas, syntax.lowered, token) for token in attachments
            ),
            "relation": column(syntax.deprels[t] if t >= 0 else "" for t in heads),
        }

    def across(self, start: npt.ArrayLike, split: npt.ArrayLike, end: npt.ArrayLike) -> Links:
        """Tell how adjacent units, EDUs ``start:split`` and ``split:end``, are linked.

        Units that reach over several sentences may be asked for, but are hardly ever linked.
        """
        i, k, j = (np.atleast_1d(np.asarray(part, np.int64)) for part in (start, split, end))
        if len(i) and not (i.min() >= 0 and (i < k).all() and (k < j).all()):
            raise ValueError("units must be start < split < end")
        if len(j) and j.max() > len(self.dominators):
            raise ValueError(f"a unit ends at {j.max()} of {len(self.dominators)} EDUs")
        # Of EDUs equally high up, the one nearest to the other unit is the unit's head.
        left_head, right_head = self._highest_last.argmin(i, k), self._highest_first.argmin(k, j)
        above_left, above_right = (
            self.dominators[edus] if len(edus) else edus for edus in (left_head, right_head)
        )
        edus = np.full(len(i), -1, np.int64)
        directions = np.zeros(len(i), np.int64)
        # What is written later counts more.
        for found, direction, edu in (
            (self._at(k - 1) == k, RIGHT, k - 1),
            (self._at(k) == k - 1, LEFT, k),
            ((above_left >= k) & (above_left < j), RIGHT, left_head),
            ((above_right >= i) & (above_right < k), LEFT, right_head),
        ):
            directions = np.where(found, direction, directions)
            edus = np.where(found, edu, edus)
        return Links(directions, edus)

    def _at(self, edus: Ints) -> Ints:
        return self.dominators[edus] if len(edus) else edus


def head_token(syntax: Syntax, group: list[int]) -> int:
    """Return the EDU's head word: of those whose parent lies outside, the one highest up."""
    if not group:
        return -1
    inside = range(group[0], group[-1] + 1)
    outer = [i for i in group if syntax.heads[i] not in inside] or group
    is_mark = syntax.language.tags.is_mark
    return min(outer, key=lambda i: (syntax.depths[i], is_mark(syntax.tags[i]), i))


def owners(tokens: Iterable[list[int]], count: int) -> list[int]:
    """Return the EDU of each token, -1 for a token in none."""
    owner = [-1] * count
    for edu, group in enumerate(tokens):
        for i in group:
            owner[i] = edu
    return owner


def dominators(attachments: Sequence[int], owner: Sequence[int]) -> list[int]:
    """Return the EDU that holds each EDU's attachment (a token), -1 for none and for itself."""
    found = [owner[token] if token >= 0 else -1 for token in attachments]
    return [-1 if above == edu else above for edu, above in enumerate(found)]


def _at(lemmas: list[str], words: list[str], token: int) -> str:
    return (lemmas[token] or words[token]) if token >= 0 else ""


def _head_nodes(phrases: Phrases, owner: Sequence[int], count: int) -> list[int]:
    """Return the highest node whose lexical head is in each EDU, the first of equals, or -1."""
    nodes, best = [-1] * count, [0] * count
    depths = [0] * len(phrases.parents)
    for node, (parent, head) in enumerate(zip(phrases.parents, phrases.heads, strict=True)):
        # Parents come before their children.
        depths[node] = depths[parent] + 1 if parent >= 0 else 0
        edu = owner[head] if head >= 0 else -1
        if edu >= 0 and (nodes[edu] < 0 or depths[node] < best[edu]):
            nodes[edu], best[edu] = node, depths[node]
    return nodes


@dataclass(frozen=True, slots=True)
class _Lowest:
    """Find the place of the lowest of values in ranges: values are all different.

    ``levels[l][i]`` is the place of the lowest of the 2^l values from i on.
    """

    values: Ints
    levels: tuple[Ints, ...]

    @classmethod
    def of(cls, values: Ints) -> _Lowest:
        levels = [np.arange(len(values))]
        width = 1
        while 2 * width <= len(values):
            below = levels[-1]
            a, b = below[:-width], below[width:]
            levels.append(np.where(values[a] < values[b], a, b))
            width *= 2
        return cls(values, tuple(levels))

    def argmin(self, starts: Ints, ends: Ints) -> Ints:
        """Return the place of the lowest value in each range, which must not be empty."""
        found = np.zeros(len(starts), np.int64)
        spans = np.frexp(np.asarray(ends - starts, np.float64))[1] - 1
        for level in np.unique(spans).tolist():
            here = spans == level
            table = self.levels[level]
            a, b = table[starts[here]], table[ends[here] - 2**level]
            found[here] = np.where(self.values[a] < self.values[b], a, b)
        return found
