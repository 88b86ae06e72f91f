"""The three shapes of a discourse analysis: binary RST tree, tree as annotated, dependency tree.

Trees hold EDU indices (0-based), never text, and are flat: no recursive node class, so that
20,000 EDUs neither hit the recursion limit nor cost more than a few tuples. All are checked when
made and never change; `rhetorica.convert` goes from one to another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple, cast

from rhetorica.errors import InvalidTree

Nuclearity = Literal["NS", "SN", "NN"]
NUCLEARITIES: tuple[Nuclearity, ...] = ("NS", "SN", "NN")
Kind = Literal["edu", "span", "multinuc"]
Role = Literal["root", "nucleus", "satellite"]
RelationType = Literal["rst", "multinuc"]

ROOT = -1
"""The head of the top EDU of a dependency tree, the parent of the root of an annotated tree."""
ROOT_RELATION = "ROOT"


class Label(NamedTuple):
    """What holds between two units: which is the nucleus, and the relation; in this order.

    In a dependency the head comes first: its satellites are "NS", other nuclei "NN".
    """

    nuclearity: Nuclearity
    relation: str

    @classmethod
    def read(cls, row: Sequence[str]) -> Label:
        """Make a label of a row in a model's config.

        >>> Label.read(["SN", "cause"])
        Label(nuclearity='SN', relation='cause')
        """
        nuclearity, relation = row
        return cls(cast("Nuclearity", nuclearity), relation)


class Join(NamedTuple):
    """An internal node of a binary tree: EDUs ``start:split`` and ``split:end``, joined.

    ``nuclearity`` tells which of the two is the nucleus (left "NS", right "SN", both "NN");
    ``relation`` is the satellite's relation to the nucleus, or the one the nuclei share.
    """

    start: int
    split: int
    end: int
    nuclearity: Nuclearity
    relation: str

    @property
    def label(self) -> Label:
        """Nuclearity and relation."""
        return Label(self.nuclearity, self.relation)


@dataclass(frozen=True, slots=True)
class RSTTree:
    """A binary RST tree over ``n_edus`` units: its n - 1 joins in preorder.

    >>> tree = RSTTree(3, (Join(0, 1, 3, "SN", "cause"), Join(1, 2, 3, "NN", "list")))
    >>> [join.relation for join in tree.joins]
    ['cause', 'list']
    """

    n_edus: int
    joins: tuple[Join, ...] = ()

    def __post_init__(self) -> None:
        if self.n_edus < 0:
            raise InvalidTree(f"a tree cannot have {self.n_edus} EDUs")
        if len(self.joins) != max(0, self.n_edus - 1):
            raise InvalidTree(
                f"a binary tree over {self.n_edus} EDUs has {max(0, self.n_edus - 1)} joins, "
                f"not {len(self.joins)}"
            )
        todo = [(0, self.n_edus)] if self.n_edus > 1 else []
        for join in self.joins:
            start, split, end, nuclearity, _ = join
            if not todo or todo[-1] != (start, end) or not start < split < end:
                raise InvalidTree(
                    f"join {start}:{split}:{end} does not fit: "
                    + (f"expected one of {todo[-1][0]}-{todo[-1][1]}" if todo else "none expected")
                    + " (joins go in preorder: parent, left part, right part)"
                )
            if nuclearity not in NUCLEARITIES:
                raise InvalidTree(f"nuclearity {nuclearity!r} is not NS, SN or NN")
            todo.pop()
            if end - split > 1:
                todo.append((split, end))
            if split - start > 1:
                todo.append((start, split))

    @classmethod
    def from_joins(cls, n_edus: int, joins: Sequence[Join]) -> RSTTree:
        """Make a tree from joins in any order."""
        return cls(n_edus, tuple(sorted(joins, key=lambda join: (join[0], -join[2]))))

    def children(self, join: Join) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the two EDU ranges that a join joins."""
        return (join.start, join.split), (join.split, join.end)


class Node(NamedTuple):
    """An EDU or a group of an annotated tree.

    A satellite's ``parent`` is the node that it modifies. A nucleus's parent is the group that it
    makes up: alone in a "span" group (relation "span"), with others in a "multinuc" group.
    """

    id: str
    kind: Kind
    parent: int
    role: Role
    relation: str


class SecondaryEdge(NamedTuple):
    """An eRST relation beside the tree, between two nodes (given by their index)."""

    id: str
    source: int
    target: int
    relation: str


class Signal(NamedTuple):
    """What in the text shows a relation: words (0-based tokens of the document), layout, syntax.

    ``source`` is the index of the node whose relation it shows or, when ``secondary``, the index
    of the secondary edge.
    """

    source: int
    secondary: bool
    type: str
    subtype: str
    tokens: tuple[int, ...] = ()
    status: str = ""


@dataclass(frozen=True)
class AnnotatedTree:
    """An RST tree as people annotate it: n-ary, with secondary edges and signals (eRST).

    ``nodes`` begin with the EDUs in text order, so that EDU i is node i; groups follow in any
    order. ``inventory`` lists the relations that the annotation scheme offers (a name may be
    there twice, once for each type), ``signal_types`` its signals.
    """

    nodes: tuple[Node, ...] = ()
    secondary: tuple[SecondaryEdge, ...] = ()
    signals: tuple[Signal, ...] = ()
    inventory: tuple[tuple[str, RelationType], ...] = ()
    signal_types: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        _check_nodes(self.nodes)
        count = len(self.nodes)
        for edge in self.secondary:
            if not (0 <= edge.source < count and 0 <= edge.target < count):
                raise InvalidTree(f"secondary edge {edge.id} joins a node that does not exist")
        edges = len(self.secondary)
        for signal in self.signals:
            if not 0 <= signal[0] < (edges if signal[1] else count):
                raise InvalidTree(f"a {signal.type} signal belongs to nothing that exists")
        _ = self.extents  # checks that every constituent is contiguous

    @cached_property
    def n_edus(self) -> int:
        """How many EDUs there are."""
        return sum(1 for node in self.nodes if node.kind == "edu")

    @property
    def nuclei(self) -> list[list[int]]:
        """For each node, its nuclei in text order (none for an EDU)."""
        return self._layout[0]

    @property
    def satellites(self) -> list[list[int]]:
        """For each node, the satellites that modify it, in text order."""
        return self._layout[1]

    @property
    def bottom_up(self) -> list[int]:
        """Node indices, children before parents."""
        return self._layout[2]

    @property
    def extents(self) -> list[tuple[int, int]]:
        """For each node, the range of EDUs of itself together with its satellites."""
        return self._layout[3]

    @cached_property
    def _layout(self) -> tuple[list[list[int]], list[list[int]], list[int], list[tuple[int, int]]]:
        """Derive, once, what every use of the tree needs: see the four properties above."""
        nodes = self.nodes
        nuclei: list[list[int]] = [[] for _ in nodes]
        satellites: list[list[int]] = [[] for _ in nodes]
        order: list[int] = []
        for index, (_, _, parent, role, _) in enumerate(nodes):
            if parent < 0:
                order.append(index)
            elif role == "nucleus":
                nuclei[parent].append(index)
            else:
                satellites[parent].append(index)
        for index in order:  # grows while it runs
            order += nuclei[index]
            order += satellites[index]
        if len(order) < len(nodes):
            _check_acyclic([node.parent for node in nodes], [node.id for node in nodes])
        order.reverse()
        extents = _contiguous_extents(nodes, order, self.n_edus)
        for siblings in (nuclei, satellites):
            for children in siblings:
                if len(children) > 1:
                    children.sort(key=extents.__getitem__)
        for index, group in enumerate(nuclei):
            if any(extents[left][1] != extents[right][0] for left, right in pairwise(group)):
                raise InvalidTree(f"node {nodes[index].id}: a satellite stands between its nuclei")
        return nuclei, satellites, order, extents


def _contiguous_extents(
    nodes: Sequence[Node], bottom_up: Sequence[int], n_edus: int
) -> list[tuple[int, int]]:
    """Return the range of EDUs below each node, which must have no gaps."""
    firsts, lasts, sizes = [n_edus] * len(nodes), [0] * len(nodes), [0] * len(nodes)
    firsts[:n_edus] = range(n_edus)
    lasts[:n_edus] = range(1, n_edus + 1)
    sizes[:n_edus] = [1] * n_edus
    for index in bottom_up:
        first, last, size = firsts[index], lasts[index], sizes[index]
        if last - first != size:
            raise InvalidTree(
                f"node {nodes[index].id} is not contiguous: EDUs {first + 1} to {last} (counted "
                f"from 1), but only {size} of these {last - first} are below it",
                nodes[index].id,
            )
        parent = nodes[index].parent
        if parent >= 0:
            if first < firsts[parent]:
                firsts[parent] = first
            if last > lasts[parent]:
                lasts[parent] = last
            sizes[parent] += size
    return list(zip(firsts, lasts, strict=True))


def _check_nodes(nodes: Sequence[Node]) -> None:
    """Check what each node must be by itself and towards its parent, and that all hang together."""
    if not nodes:
        return
    count = len(nodes)
    seen: set[str] = set()
    roots: list[Node] = []
    in_groups = False
    has_nucleus = [node.kind == "edu" for node in nodes]
    for index, (id, kind, parent, role, _) in enumerate(nodes):
        if id in seen:
            raise InvalidTree(f"two nodes have the id {id}", id)
        seen.add(id)
        if kind != "edu":
            in_groups = True
        elif in_groups:
            raise InvalidTree(f"EDU {id} comes after a group: EDUs must come first", id)
        if (parent < 0) != (role == "root"):
            raise InvalidTree(f"node {id} is a {role} but has parent {parent}", id)
        if parent < 0:
            roots.append(nodes[index])
            continue
        if parent >= count:
            why = f"node {id} has parent {parent}, but there are {count} nodes"
            raise InvalidTree(why, id)
        if role == "nucleus":
            above = nodes[parent]
            if above.kind == "edu":
                why = f"node {id} is a nucleus of EDU {above.id}, which has no parts"
                raise InvalidTree(why, id)
            if above.kind == "span" and has_nucleus[parent]:
                raise InvalidTree(f"span {above.id} has two nuclei, {id} is the second", above.id)
            has_nucleus[parent] = True
    if len(roots) > 1:
        names = ", ".join(node.id for node in roots[:5])
        raise InvalidTree(f"{len(roots)} roots ({names}), expected one", roots[0].id)
    for node, supported in zip(nodes, has_nucleus, strict=True):
        if not supported:
            raise InvalidTree(f"group {node.id} has no nucleus", node.id)


def _check_acyclic(parents: Sequence[int], names: Sequence[object]) -> None:
    """Check that following parents from anywhere leads to a root."""
    # For each node, the walk that first came by (from 1); a walk that meets itself is a cycle.
    walk_of = [0] * len(parents)
    for start in range(len(parents)):
        at, walk = start, start + 1
        while at >= 0 and not walk_of[at]:
            walk_of[at] = walk
            at = parents[at]
        if at >= 0 and walk_of[at] == walk:
            cycle = [at]
            while (above := parents[cycle[-1]]) != at:
                cycle.append(above)
            way = " -> ".join(str(names[i]) for i in (*cycle[:8], at))
            raise InvalidTree(f"cycle: {way}", str(names[at]))


@dataclass(frozen=True, slots=True)
class DepTree:
    """A discourse dependency tree: for each EDU its head EDU (-1 for the root) and relation.

    ``multinuclear[i]`` tells that EDU i and its head are nuclei of one multinuclear relation.
    ``levels[i]``, where known, tells when the head takes EDU i, innermost (0) first; dependents
    with the same head and level belong to one n-ary node. With levels, conversion to
    constituency is exact; without, it has to guess between left and right dependents.

    >>> tree = DepTree((-1, 0, 0), ("ROOT", "cause", "list"), (False, False, True))
    >>> tree.root
    0
    """

    heads: tuple[int, ...] = ()
    relations: tuple[str, ...] = ()
    multinuclear: tuple[bool, ...] = ()
    levels: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.heads)
        if not self.multinuclear:
            object.__setattr__(self, "multinuclear", (False,) * count)
        if len(self.relations) != count or len(self.multinuclear) != count:
            raise InvalidTree(
                f"{count} heads, {len(self.relations)} relations, {len(self.multinuclear)} "
                "multinuclear flags: there must be one of each per EDU"
            )
        if self.levels and len(self.levels) != count:
            raise InvalidTree(f"{len(self.levels)} levels for {count} EDUs")
        if not count:
            return
        roots = [index + 1 for index, head in enumerate(self.heads) if head == ROOT]
        if len(roots) != 1:
            raise InvalidTree(f"{len(roots)} roots {roots[:5]}, expected one (EDU numbers from 1)")
        for index, head in enumerate(self.heads):
            if not -1 <= head < count:
                raise InvalidTree(f"EDU {index + 1} has head {head + 1} of {count} EDUs")
        _check_acyclic(self.heads, range(1, count + 1))

    @property
    def n_edus(self) -> int:
        """How many EDUs there are."""
        return len(self.heads)

    @property
    def root(self) -> int:
        """The EDU whose head is -1; -1 in an empty tree."""
        return self.heads.index(ROOT) if self.heads else ROOT

    def dependents(self) -> list[list[int]]:
        """Return, for each EDU, the EDUs that depend on it, in text order."""
        dependents: list[list[int]] = [[] for _ in self.heads]
        for index, head in enumerate(self.heads):
            if head >= 0:
                dependents[head].append(index)
        return dependents

    def labels(self) -> list[Label]:
        """Return, for each EDU, the label of the arc to its head."""
        pairs = zip(self.multinuclear, self.relations, strict=True)
        return [Label("NN" if nuclear else "NS", relation) for nuclear, relation in pairs]

    def arcs(self) -> Iterator[tuple[int, int, str]]:
        """Yield (head, dependent, relation) for every EDU, the root's with head -1."""
        return zip(self.heads, range(len(self.heads)), self.relations, strict=True)

    def is_projective(self) -> bool:
        """Tell whether every EDU's descendants, with itself, are contiguous."""
        return crossing(self.heads) is None


def subtree_extents(heads: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Return first and last EDU of each EDU's subtree, and its size."""
    count = len(heads)
    firsts, lasts, sizes = list(range(count)), list(range(count)), [1] * count
    waiting = [0] * count
    for head in heads:
        if head >= 0:
            waiting[head] += 1
    ready = [index for index in range(count) if not waiting[index]]
    for index in ready:  # grows while it runs: leaves first, then whatever they complete
        head = heads[index]
        if head >= 0:
            firsts[head] = min(firsts[head], firsts[index])
            lasts[head] = max(lasts[head], lasts[index])
            sizes[head] += sizes[index]
            waiting[head] -= 1
            if not waiting[head]:
                ready.append(head)
    return firsts, lasts, sizes


def crossing(heads: Sequence[int]) -> int | None:
    """Return an EDU whose subtree is not contiguous, None if the tree is projective."""
    firsts, lasts, sizes = subtree_extents(heads)
    for index, size in enumerate(sizes):
        if lasts[index] - firsts[index] + 1 != size:
            return index
    return None
