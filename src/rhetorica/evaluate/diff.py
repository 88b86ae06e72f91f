"""Where two analyses of one text differ, unit by unit: what a person wants to look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from rhetorica.evaluate.align import align
from rhetorica.nodes import TreeNode
from rhetorica.parses import Parse

Bounds = tuple[int, int]


class Difference(NamedTuple):
    """One difference: of an EDU's start, of a unit that only one tree has, or of a unit's label.

    ``this`` and ``other`` say what each analysis has ("" for nothing): the label of the unit, as in
    ``satellite causal-cause``, or the EDU that begins there. ``text`` is what they differ about,
    ``here`` and ``there`` its range of EDUs in each analysis, where it has one.
    """

    kind: Literal["edu", "unit", "label"]
    text: str
    this: str
    other: str
    here: Bounds | None = None
    there: Bounds | None = None

    def __str__(self) -> str:
        text = self.text if len(self.text) <= 60 else f"{self.text[:58]} …"
        return f"{self.kind:5} {self.this or '(none)'} | {self.other or '(none)'}: {text}"


def diff(this: Parse, other: Parse) -> list[Difference]:
    """Return where two analyses of one text differ: EDUs first, then units in text order.

    Texts are compared without their white space, as everywhere in scoring.

    >>> from rhetorica import Document, Join, Parse, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained."])
    >>> cause, result = (
    ...     Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", name),))) for name in ("cause", "result")
    ... )
    >>> print(*diff(cause, result))
    label satellite cause | satellite result: because it rained.
    """
    bounds = align(this.document, other.document)
    found = list(_starts(this, other, bounds.gold, bounds.pred))
    if this.source is None or other.source is None:
        return found
    mine, theirs = _units(this, bounds.gold), _units(other, bounds.pred)
    for place in sorted(mine.keys() | theirs.keys(), key=lambda place: (place[0], -place[1])):
        one, two = mine.get(place), theirs.get(place)
        where = one.range if one else None, two.range if two else None
        if one is None or two is None:
            node = one or two
            if node is not None and not node.is_edu:  # EDUs are told by their starts
                found.append(Difference("unit", node.text, _label(one), _label(two), *where))
        elif _label(one) != _label(two):
            found.append(Difference("label", one.text, _label(one), _label(two), *where))
    return found


def _starts(
    this: Parse, other: Parse, mine: tuple[int, ...], theirs: tuple[int, ...]
) -> Iterator[Difference]:
    here = {at: i for i, at in enumerate(mine[: len(this.edus)])}
    there = {at: i for i, at in enumerate(theirs[: len(other.edus)])}
    for at in sorted(here.keys() ^ there.keys()):
        if at in here:
            i = here[at]
            yield Difference("edu", this.edus[i], this.edus[i], "", (i, i + 1))
        else:
            i = there[at]
            yield Difference("edu", other.edus[i], "", other.edus[i], None, (i, i + 1))


def _units(parse: Parse, bounds: tuple[int, ...]) -> dict[Bounds, TreeNode]:
    root = parse.root
    nodes = root or ()
    return {(bounds[node.range[0]], bounds[node.range[1]]): node for node in nodes}


def _label(node: TreeNode | None) -> str:
    if node is None:
        return ""
    return node.role if node.relation in ("", "span") else f"{node.role} {node.relation}"
