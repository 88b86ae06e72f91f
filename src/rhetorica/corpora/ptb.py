"""Penn Treebank (Marcus et al. 1993, LDC99T42): syntax for RST-DT's documents, by article.

RST-DT's texts are articles of the treebank, whose trees stand in files such as
``wsj/06/wsj_0601.mrg``. An article's trees are aligned with the text by their characters; they give
words, tags, sentences and phrase structures. Dependencies come from head rules in the manner of
Magerman (1995) and Collins (1999), as the discourse parsers of the time read them off the trees;
the label of an arc is that of the dependent's phrase.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from rhetorica.corpora.layers import read_brackets
from rhetorica.document import Document, Span, Token
from rhetorica.errors import FormatError, Mismatch

RENAMED = {
    "file1": "wsj_0764",
    "file2": "wsj_0430",
    "file3": "wsj_0766",
    "file4": "wsj_0778",
    "file5": "wsj_2172",
}
"""Five documents of RST-DT are not named after their article; its documentation says which."""
ENOUGH = 0.9
"""The share of characters that must be found in the text: below, it is another article."""
SURE = 5
"""So many equal characters show that two texts go on together."""
REACH = 1000
"""At most so many characters are left out at one place."""

_WRITTEN = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]"}
_QUOTES = {"``": '"', "''": '"'}
_PIECE = re.compile(r"\(\s*([^\s()]*)|\)|([^\s()]+)")
_EMPTY = "-NONE-"
_MARKS = frozenset("`` '' , . : -LRB- -RRB-".split())


@dataclass(slots=True)
class _Node:
    """A constituent: its label as it stands, its parts, or its word."""

    label: str
    parent: _Node | None = None
    word: str = ""
    parts: list[_Node] = field(default_factory=list)
    head: int = -1
    """The place, among the words of the sentence, of its lexical head."""

    @property
    def kind(self) -> str:
        """The label without function tags."""
        return _kind(self.label)


def article(name: str) -> str:
    """Return the treebank's name of a document of RST-DT.

    >>> article("file3"), article("wsj_0601")
    ('wsj_0766', 'wsj_0601')
    """
    return RENAMED.get(name, name)


def find_article(folder: Path | str, name: str) -> Path | None:
    """Return the file with the trees of a document of RST-DT, or None if the treebank has none."""
    return _articles(Path(folder)).get(article(name))


@cache
def _articles(folder: Path) -> dict[str, Path]:
    """Return the treebank's files by their articles; some editions have names in capitals."""
    pattern = "[wW][sS][jJ]_*.[mM][rR][gG]"
    found = {path.stem.lower(): path for path in sorted(folder.rglob(pattern))}
    if not found:
        raise FormatError(
            str(folder), None, "no wsj_*.mrg below this folder: is this the Penn Treebank?"
        )
    return found


def with_phrases(doc: Document, path: Path) -> Document:
    """Give a document the words, tags, sentences, dependencies and phrases of its article.

    Words that do not stand in the text are left out of the trees; characters of the text that are
    in no word go with the next one. A `Mismatch` tells that text and article are not the same.
    """
    trees = [tree for text in read_brackets(path) if (tree := _read(text)) is not None]
    leaves = [list(_leaves(tree)) for tree in trees]
    plain = "``" not in doc.text  # some editions have the treebank's quotes in the text, too
    words = [_written(leaf.word, quotes=plain) for row in leaves for leaf in row]
    places = iter(_align(words, doc.text, str(path)))
    tokens: list[Token] = []
    sentences: list[Span] = []
    constituency: list[str] = []
    for tree, row in zip(trees, leaves, strict=True):
        spans = {id(leaf): next(places) for leaf in row}
        kept = _pruned(tree, {key for key, span in spans.items() if span is not None})
        if kept is None:
            continue
        row = list(_leaves(kept))
        _find_heads(kept, row)
        base = len(tokens)
        for leaf in row:
            start, end = spans[id(leaf)] or Span(0, 0)
            head, relation = _attachment(leaf, row)
            tokens.append(
                Token(start, end, tag=leaf.label, head=base + head if head >= 0 else -1,
                      deprel=relation)
            )  # fmt: skip
        sentences.append(Span(tokens[base].start, tokens[-1].end))
        constituency.append(_bracketed(kept))
    return replace(
        doc, tokens=tuple(tokens), sentences=tuple(sentences), constituency=tuple(constituency)
    )


def _read(text: str) -> _Node | None:
    """Read a bracketed tree without its empty elements and the nameless bracket around it."""
    root = _Node("")
    at = root
    for match in _PIECE.finditer(text):
        label, word = match.groups()
        if label is not None:
            at = _Node(label, at)
            if at.parent is not None:
                at.parent.parts.append(at)
        elif word is not None:
            at.word = word
        elif at.parent is not None:
            at = at.parent
    kept = {id(leaf) for leaf in _leaves(root) if leaf.label != _EMPTY}
    found = _pruned(root, kept)
    while found is not None and not found.label and len(found.parts) == 1:
        found = found.parts[0]
        found.parent = None
    return found


def _leaves(tree: _Node) -> Iterator[_Node]:
    todo = [tree]
    while todo:
        node = todo.pop()
        if node.word:
            yield node
        todo += reversed(node.parts)


def _pruned(tree: _Node, kept: set[int]) -> _Node | None:
    """Leave out the words that are not kept, and what is empty without them."""
    order = []
    todo = [tree]
    while todo:
        node = todo.pop()
        order.append(node)
        todo += node.parts
    for node in reversed(order):  # parts before wholes
        node.parts = [part for part in node.parts if part.parts or id(part) in kept]
    return tree if tree.parts or id(tree) in kept else None


def _bracketed(tree: _Node) -> str:
    """Write a tree on one line."""
    pieces: list[str] = []
    todo: list[_Node | str] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            pieces.append(node)
        elif node.word:
            pieces.append(f" ({node.label} {node.word})")
        else:
            pieces.append(f" ({node.label or 'ROOT'}")
            todo += [")", *reversed(node.parts)]
    return "".join(pieces).strip()


def _written(word: str, *, quotes: bool) -> str:
    """Return a word as it stands in a text, which may have plain ``quotes``."""
    if quotes and word in _QUOTES:
        return _QUOTES[word]
    return _WRITTEN.get(word) or word.replace("\\/", "/").replace("\\*", "*")


def _align(words: Sequence[str], text: str, name: str) -> list[Span | None]:
    """Find words in a text by their characters; None for a word that does not stand there."""
    visible = [at for at, character in enumerate(text) if not character.isspace()]
    theirs = "".join(words)
    ours = "".join(text[at] for at in visible)
    place = _places(theirs, ours)
    found = sum(at >= 0 for at in place)
    if found < ENOUGH * max(len(theirs), len(ours)):
        raise Mismatch(
            f"{name}: {found} of {len(theirs)} characters of this article stand in the text, which "
            f"has {len(ours)}: is it another article?"
        )
    spans: list[Span | None] = []
    at = covered = 0
    last = -1
    for word in words:
        hits = [i for i in place[at : at + len(word)] if i >= 0]
        at += len(word)
        if not hits:
            spans.append(None)
            continue
        # What lies between, of the text alone, goes with this word.
        spans.append(Span(visible[covered], visible[hits[-1]] + 1))
        covered, last = hits[-1] + 1, len(spans) - 1
    if last >= 0 and (end := spans[last]) is not None:
        spans[last] = Span(end.start, visible[-1] + 1)
    return spans


def _places(theirs: str, ours: str) -> list[int]:
    """Return, for each character of one string, its place in the other, or -1.

    The two are read side by side; where they part, the nearest place is looked for at which they
    go on together.
    """
    place = [-1] * len(theirs)
    i = j = 0
    while i < len(theirs) and j < len(ours):
        if theirs[i] == ours[j]:
            place[i] = j
            i, j = i + 1, j + 1
        elif (skipped := _skip(theirs, ours, i, j)) is not None:
            i, j = i + skipped[0], j + skipped[1]
        else:
            break
    return place


def _skip(theirs: str, ours: str, i: int, j: int) -> tuple[int, int] | None:
    """Return how many characters of either to leave out so that they agree again."""
    for total in range(1, REACH):
        for left in range(total + 1):
            rest = theirs[i + left : i + left + SURE]
            if rest and ours.startswith(rest, j + total - left):
                return left, total - left
    return None


def _kind(label: str) -> str:
    return label if label.startswith("-") else re.split("[-=|]", label, maxsplit=1)[0]


_HEADS: dict[str, tuple[bool, str]] = {
    # Whether parts are looked through from the left, and what is looked for, the best first.
    "ADJP": (True, "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
    "ADVP": (False, "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": (False, "CC RB IN"),
    "FRAG": (False, ""),
    "INTJ": (True, ""),
    "LST": (False, "LS :"),
    "NAC": (True, "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "PP": (False, "IN TO VBG VBN RP FW"),
    "PRN": (True, ""),
    "PRT": (False, "RP"),
    "QP": (True, "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    "RRC": (False, "VP NP ADVP ADJP PP"),
    "S": (True, "TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": (True, "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": (True, "SQ S SINV SBARQ FRAG"),
    "SINV": (True, "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": (True, "VBZ VBD VBP VB MD VP SQ"),
    "UCP": (False, ""),
    "VP": (True, "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
    "WHADJP": (True, "CC WRB JJ ADJP"),
    "WHADVP": (False, "CC WRB"),
    "WHNP": (True, "WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": (False, "IN TO FW"),
}
_NOUNS = frozenset("NN NNP NNPS NNS NX POS JJR".split())


def _find_heads(tree: _Node, row: Sequence[_Node]) -> None:
    """Give every node of a sentence the place of its lexical head."""
    for place, leaf in enumerate(row):
        leaf.head = place
    order = []
    todo = [tree]
    while todo:
        node = todo.pop()
        order.append(node)
        todo += node.parts
    for node in reversed(order):
        if node.parts:
            node.head = _head_part(node).head
            for part in node.parts:
                part.parent = node


def _head_part(node: _Node) -> _Node:
    """Return the part that is the head of a phrase."""
    parts = [part for part in node.parts if part.kind not in _MARKS] or node.parts
    if node.kind in ("NP", "NX"):
        return _head_of_noun_phrase(parts)
    from_left, wanted = _HEADS.get(node.kind, (False, ""))
    row = parts if from_left else parts[::-1]
    for kind in wanted.split():
        for part in row:
            if part.kind == kind:
                return part
    return row[0]


def _head_of_noun_phrase(parts: Sequence[_Node]) -> _Node:
    if parts[-1].kind == "POS":
        return parts[-1]
    for kinds, row in (
        (_NOUNS, parts[::-1]),
        ({"NP"}, parts),
        ({"$", "ADJP", "PRN"}, parts[::-1]),
        ({"CD"}, parts[::-1]),
        ({"JJ", "JJS", "RB", "QP"}, parts[::-1]),
    ):
        for part in row:
            if part.kind in kinds:
                return part
    return parts[-1]


def _attachment(leaf: _Node, row: Sequence[_Node]) -> tuple[int, str]:
    """Return the place of a word's governor, -1 for the root of the sentence, and its relation.

    The relation is named by the largest phrase that the word heads; subjects are called as in
    Universal Dependencies, since features know that name.
    """
    place = leaf.head
    node = leaf
    while node.parent is not None and node.parent.head == place:
        node = node.parent
    if node.parent is None:
        return -1, "root"
    if node.kind in _MARKS:
        return node.parent.head, "punct"
    name = "nsubj" if "-SBJ" in node.label else node.label.split("=")[0].lower()
    return node.parent.head, re.sub(r"-\d+$", "", name)
