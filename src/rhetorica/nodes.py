"""A parse to walk: its tree as nodes with parents and children, its EDUs as objects.

The trees underneath stay flat (`rhetorica.trees`); nodes are light views of a row of numbers, made
when asked for. A node is an EDU, a nucleus with its satellites, or a group of nuclei. Nothing here
recurses, so a document of 20,000 EDUs is walked like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Literal, NamedTuple

from rhetorica.document import Span
from rhetorica.edit import Unit, units
from rhetorica.errors import InvalidDocument, InvalidTree, UnknownName
from rhetorica.parses import Parse, Scores
from rhetorica.trees import ROOT, Role

Within = Literal["sentence", "paragraph"]
WITHIN: tuple[Within, ...] = ("sentence", "paragraph")


@dataclass(frozen=True, slots=True, repr=False)
class EDU:
    """An elementary discourse unit: its text, its place, and how it hangs in the dependency tree.

    ``head`` is the number of its head EDU, -1 for the root and None without a tree; ``score`` the
    probability of that head, ``boundary`` that a unit begins here, None where not known.
    """

    index: int
    text: str
    start: int
    end: int
    sentence: int | None
    paragraph: int | None
    head: int | None
    relation: str
    multinuclear: bool
    score: float | None
    boundary: float | None

    def __repr__(self) -> str:
        label = "" if self.head is None else f" {self.relation}"
        label += "" if self.head in (None, ROOT) else f" of {self.head}"
        return f"<EDU {self.index}{label}: {_short(self.text)!r}>"


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:38]} …"


class Link(NamedTuple):
    """A relation between two nodes: a satellite and its nucleus, or two nuclei side by side.

    Of two nuclei the earlier one is called ``nucleus``; ``multinuclear`` tells the cases apart.
    """

    relation: str
    nucleus: TreeNode
    satellite: TreeNode
    multinuclear: bool
    score: float | None

    @property
    def texts(self) -> tuple[str, str]:
        """The texts of nucleus and satellite."""
        return self.nucleus.text, self.satellite.text


@dataclass(frozen=True)
class _Walk:
    """What all nodes of a tree share: its units in preorder, and what is known of them."""

    parse: Parse
    units: list[Unit]
    children: list[list[int]]
    depths: list[int]
    sure: dict[tuple[int, int], float]
    sure_relations: dict[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node of an RST tree, made by `Parse.root`.

    >>> from rhetorica import Document, Join, Parse, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained", "all day."])
    >>> joins = (Join(0, 1, 3, "NS", "cause"), Join(1, 2, 3, "NS", "elaboration"))
    >>> root = Parse(doc, RSTTree(3, joins)).root
    >>> root.nucleus.text, root.satellites[0].relation, root.satellites[0].text
    ('It is wet', 'cause', 'because it rained all day.')
    >>> [node.text for node in root.leaves()]
    ['It is wet', 'because it rained', 'all day.']
    """

    _walk: _Walk = field(repr=False, compare=False)
    _index: int = field(repr=False)

    @property
    def _unit(self) -> Unit:
        return self._walk.units[self._index]

    def _at(self, index: int) -> TreeNode:
        return TreeNode(self._walk, index)

    def __eq__(self, other: object) -> bool:
        """Nodes are equal that stand at the same place of equal parses."""
        if not isinstance(other, TreeNode):
            return NotImplemented
        same = self._walk is other._walk or self._walk.parse == other._walk.parse
        return same and self._index == other._index

    def __hash__(self) -> int:
        return hash((self._index, self.range))

    def __repr__(self) -> str:
        label = self.role if self.relation in ("", "span") else f"{self.role} {self.relation}"
        return f"<{label} {self.range[0] + 1}-{self.range[1]}: {_short(self.text)!r}>"

    def __iter__(self) -> Iterator[TreeNode]:
        """Yield the node and all below it in preorder: a node before its parts, in text order."""
        end = self.range[1]
        for index in range(self._index, len(self._walk.units)):
            if self._walk.units[index].start >= end:
                return
            yield self._at(index)

    @property
    def children(self) -> tuple[TreeNode, ...]:
        """The parts, in text order; an EDU has none."""
        return tuple(self._at(index) for index in self._walk.children[self._index])

    @property
    def parent(self) -> TreeNode | None:
        """The node that this one is part of, None for the whole text."""
        return None if self._unit.parent == ROOT else self._at(self._unit.parent)

    @property
    def role(self) -> Role:
        """The part it plays in its parent: root, nucleus or satellite."""
        return self._unit.role

    @property
    def relation(self) -> str:
        """A satellite's relation to its nucleus, or the one that nuclei share; "span" if neither.

        The whole text has none: "".
        """
        return "" if self.role == "root" else self._unit.relation

    @property
    def nuclei(self) -> tuple[TreeNode, ...]:
        """The children that are nuclei."""
        return tuple(child for child in self.children if child.role == "nucleus")

    @property
    def nucleus(self) -> TreeNode | None:
        """The nucleus, the first one of several; None for an EDU."""
        return next(iter(self.nuclei), None)

    @property
    def satellites(self) -> tuple[TreeNode, ...]:
        """The children that are satellites."""
        return tuple(child for child in self.children if child.role == "satellite")

    @property
    def is_edu(self) -> bool:
        """Whether this is an EDU, a leaf."""
        return self._unit.kind == "edu"

    @property
    def is_multinuclear(self) -> bool:
        """Whether this is a group of nuclei."""
        return self._unit.kind == "multinuc"

    @property
    def range(self) -> tuple[int, int]:
        """The EDUs below it, half-open and 0-based."""
        return self._unit.start, self._unit.end

    @property
    def span(self) -> Span:
        """The characters that it covers, from its first EDU to its last."""
        edus = self._walk.parse.document.edus
        return Span(edus[self._unit.start].start, edus[self._unit.end - 1].end)

    @property
    def text(self) -> str:
        """Its characters as they stand in the text."""
        start, end = self.span
        return self._walk.parse.document.text[start:end]

    @property
    def edus(self) -> list[EDU]:
        """Its EDUs."""
        return self._walk.parse.units[self._unit.start : self._unit.end]

    @property
    def head(self) -> EDU:
        """Its most nuclear EDU: the nucleus of its nucleus, all the way down."""
        return self._walk.parse.units[self._unit.head]

    @property
    def score(self) -> float | None:
        """The probability that its range is a unit of the tree, where the parser gives one."""
        return self._walk.sure.get(self.range)

    @property
    def relation_score(self) -> float | None:
        """The probability of its relation, where the parser gives one."""
        return self._walk.sure_relations.get(self.range)

    @property
    def depth(self) -> int:
        """How many nodes are above it."""
        return self._walk.depths[self._index]

    def leaves(self) -> Iterator[TreeNode]:
        """Yield the EDUs below it, as nodes, in text order."""
        return (node for node in self if node.is_edu)

    def ancestors(self) -> Iterator[TreeNode]:
        """Yield its parent, that one's parent, up to the whole text."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def path(self, other: TreeNode) -> list[TreeNode]:
        """Return the nodes from this one up to the nearest common one and down to the other."""
        if other._walk is not self._walk and other._walk.parse != self._walk.parse:
            raise InvalidTree("a path leads from node to node of one tree; these are of two")
        up, down = [self], [other]
        while up[-1]._index != down[-1]._index:
            longer = up if up[-1].depth >= down[-1].depth else down
            above = longer[-1].parent
            assert above is not None  # the deeper of two different nodes is never the root
            longer.append(above)
        return up + down[-2::-1]


def root_of(parse: Parse) -> TreeNode | None:
    """Return the node of the whole text, None where there are no EDUs."""
    found = units(parse)
    if not found:
        return None
    children: list[list[int]] = [[] for _ in found]
    depths = [0] * len(found)
    for index, unit in enumerate(found):
        if unit.parent != ROOT:
            children[unit.parent].append(index)
            depths[index] = depths[unit.parent] + 1
    sure, relations = _probabilities(parse)
    return TreeNode(_Walk(parse, found, children, depths, sure, relations), 0)


def _probabilities(
    parse: Parse,
) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], float]]:
    """Return how sure ranges are to be units, and ranges to have their relations."""
    scores = parse.scores or Scores()
    if not scores.spans and not scores.relations:
        return {}, {}
    sure: dict[tuple[int, int], float] = {}
    relations: dict[tuple[int, int], float] = {}
    for number, join in enumerate(parse.tree.joins):
        if scores.spans:
            sure[join.start, join.end] = scores.spans[number]
        for part, letter in zip(parse.tree.children(join), join.nuclearity, strict=True):
            if scores.relations and (letter == "S" or join.nuclearity == "NN"):
                relations[part] = scores.relations[number]
    return sure, relations


def edus_of(parse: Parse) -> list[EDU]:
    """Return the EDUs of a parse with what is known of each."""
    doc, scores = parse.document, parse.scores or Scores()
    tree = parse.dependencies if parse.source is not None else None
    sentences = doc.edu_sentences() if doc.sentences else None
    paragraphs = doc.edu_paragraphs() if doc.paragraphs else None
    return [
        EDU(
            index,
            doc.text[start:end],
            start,
            end,
            sentences[index] if sentences else None,
            paragraphs[index] if paragraphs else None,
            tree.heads[index] if tree else None,
            tree.relations[index] if tree else "",
            tree.multinuclear[index] if tree else False,
            scores.heads[index] if scores.heads else None,
            scores.boundaries[index] if scores.boundaries else None,
        )
        for index, (start, end) in enumerate(doc.edus)
    ]


def links(root: TreeNode, pattern: str = "*", *, within: Within | None = None) -> Iterator[Link]:
    """Yield the relations below a node whose name fits a pattern (``causal*``), in preorder.

    ``within`` keeps those whose parts stand in one sentence, or in one paragraph.
    """
    if within is not None and within not in WITHIN:
        raise UnknownName("place for relations", within, WITHIN)
    doc = root._walk.parse.document
    if within is not None and not (doc.sentences if within == "sentence" else doc.paragraphs):
        raise InvalidDocument(
            f"{doc.id or 'the document'} does not say where its {within}s are: "
            "`parse.tokenized()` finds them"
        )
    for node in root:
        for nucleus, satellite in _pairs(node):
            if fnmatchcase(satellite.relation, pattern) and _inside(nucleus, satellite, within):
                multinuclear = satellite.role == "nucleus"
                score = satellite.relation_score
                yield Link(satellite.relation, nucleus, satellite, multinuclear, score)


def _pairs(node: TreeNode) -> Iterator[tuple[TreeNode, TreeNode]]:
    children = node.children
    if node.is_multinuclear:
        yield from pairwise(children)
    elif nucleus := node.nucleus:
        yield from ((nucleus, satellite) for satellite in node.satellites)


def _inside(first: TreeNode, second: TreeNode, within: Within | None) -> bool:
    if within is None:
        return True
    # Sentences and paragraphs follow each other: where both ends are in one, so is all between.
    edus = first._walk.parse.units
    begin = min(first.range[0], second.range[0])
    end = max(first.range[1], second.range[1])
    ends = edus[begin], edus[end - 1]
    places = {edu.sentence if within == "sentence" else edu.paragraph for edu in ends}
    return len(places) == 1
