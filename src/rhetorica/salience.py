"""Which EDUs matter most, by their place in the tree; and summaries made of them.

Two classic ways, both deterministic and linear in the number of EDUs:

- ``marcu``: an EDU counts as high as the highest node that it represents, being its nucleus's
  nucleus all the way down (promotion sets; Marcu 1999). Of several nuclei, all represent
  their group.
- ``hirao``: the depth in the dependency tree, nuclei hanging on the first (Hirao et al. 2013).
"""

from __future__ import annotations

from typing import Literal

from rhetorica.edit import units
from rhetorica.errors import UnknownName
from rhetorica.parses import Parse
from rhetorica.trees import ROOT

Method = Literal["marcu", "hirao"]
METHODS: tuple[Method, ...] = ("marcu", "hirao")


def levels(parse: Parse, method: Method = "hirao") -> list[int]:
    """Return, for each EDU, how far from the centre of the text it is: 0 for the most central.

    >>> from rhetorica import Document, Join, Parse, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained", "all day."])
    >>> joins = (Join(0, 1, 3, "NS", "cause"), Join(1, 2, 3, "NS", "elaboration"))
    >>> levels(Parse(doc, RSTTree(3, joins)))
    [0, 1, 2]
    """
    if method == "hirao":
        return _dependency_depths(parse)
    if method == "marcu":
        return _promotion_depths(parse)
    raise UnknownName("way to weigh EDUs", method, METHODS)


def central(parse: Parse, count: int, method: Method = "hirao") -> list[int]:
    """Return the ``count`` most central EDUs, in text order; of equals, the earlier ones."""
    if count < 0:
        raise ValueError(f"a summary of {count} EDUs: the number must not be negative")
    level = levels(parse, method)
    return sorted(sorted(range(len(level)), key=level.__getitem__)[:count])


def _dependency_depths(parse: Parse) -> list[int]:
    tree = parse.dependencies
    depths = [-1] * tree.n_edus
    for start in range(tree.n_edus):
        way = [start]
        while depths[way[-1]] < 0 and tree.heads[way[-1]] != ROOT:
            way.append(tree.heads[way[-1]])
        base = max(depths[way[-1]], 0)
        for steps, edu in enumerate(reversed(way)):
            depths[edu] = base + steps
    return depths


def _promotion_depths(parse: Parse) -> list[int]:
    # In preorder a parent comes before its parts: what it stands for is known when they are met.
    found = units(parse)
    depths, highest = [0] * len(found), [0] * len(found)
    leaves: list[int] = []
    for index, unit in enumerate(found):
        if unit.parent != ROOT:
            depths[index] = depths[unit.parent] + 1
            promoted = unit.role == "nucleus"
            highest[index] = highest[unit.parent] if promoted else depths[index]
        if unit.kind == "edu":
            leaves.append(highest[index])
    return leaves
