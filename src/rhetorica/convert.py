"""From one shape of a discourse analysis to another: annotated (n-ary), binary RST, dependencies.

Three functions, `to_annotated`, `to_rst` and `to_dependencies`, take a tree of any shape. The
correspondence of headed binary trees and dependency trees is that of Li et al. (2014), section 2.

Two conventions exist for the nuclei of a multinuclear relation. "chain" is Li et al.'s: a tree is
made binary by grouping the latter n - 1 nodes, so each later nucleus depends on the one before.
"star" is that of GUM's ``.rsd`` files: all later nuclei depend on the first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal, TypeAlias, TypeVar, cast

from rhetorica.errors import NonProjective
from rhetorica.trees import (
    ROOT,
    ROOT_RELATION,
    AnnotatedTree,
    DepTree,
    Join,
    Node,
    Role,
    RSTTree,
    crossing,
)

Convention = Literal["chain", "star"]
Tree: TypeAlias = AnnotatedTree | RSTTree | DepTree
AnyTree = TypeVar("AnyTree", bound=Tree)
RelationMap: TypeAlias = Callable[[str], str]
"""A map from relation to relation, such as `RelationSet.coarse`."""

SPAN = "span"
SAME_UNIT = frozenset({"same-unit", "sameunit", "same_unit"})


def to_rst(
    tree: Tree, *, multinuclear: Convention = "star", units: Sequence[Sequence[int]] = ()
) -> RSTTree:
    """Make a binary RST tree: nuclei right-branching, satellites nearest first.

    A dependency tree must be projective. If it has no levels, ``multinuclear`` says which
    convention it follows, and ``units`` (for each EDU the number of its sentence, then the number
    of its paragraph) lets a head take what is in its own sentence before what is not; all else
    equal, it takes right dependents before left ones. (Over GUM dev, this restores 92 % of the
    spans, 87 % without ``units``; taking left ones first, 86 % and 78 %.)
    """
    if isinstance(tree, RSTTree):
        return tree
    if isinstance(tree, AnnotatedTree):
        return _binarize(tree)
    return _dependencies_to_rst(tree, multinuclear, units)


def to_annotated(
    tree: Tree, *, multinuclear: Convention = "star", units: Sequence[Sequence[int]] = ()
) -> AnnotatedTree:
    """Make an n-ary tree: right-branching nuclei of one relation become one multinuclear node."""
    if isinstance(tree, AnnotatedTree):
        return tree
    return _debinarize(to_rst(tree, multinuclear=multinuclear, units=units))


def to_dependencies(tree: Tree, *, multinuclear: Convention = "star") -> DepTree:
    """Make a dependency tree; the head of a node is its (leftmost) nucleus's head."""
    if isinstance(tree, DepTree):
        return tree
    if isinstance(tree, AnnotatedTree):
        return _annotated_to_dependencies(tree, multinuclear)
    if multinuclear == "star":
        return _annotated_to_dependencies(_debinarize(tree), multinuclear)
    return _binary_to_dependencies(tree)


def relabel(tree: AnyTree, mapping: RelationMap | None) -> AnyTree:
    """Give every relation of a tree another name (None: leave them); its shape stays.

    What only holds a tree together (the root's label, "span") keeps its name.

    >>> tree = RSTTree(2, (Join(0, 1, 2, "NN", "joint-list"),))
    >>> relabel(tree, lambda name: name.partition("-")[0]).joins[0].relation
    'joint'
    """
    return tree if mapping is None else cast("AnyTree", _relabelled(tree, mapping))


def _relabelled(tree: Tree, mapping: RelationMap) -> Tree:
    if isinstance(tree, RSTTree):
        joins = (join._replace(relation=mapping(join.relation)) for join in tree.joins)
        return replace(tree, joins=tuple(joins))
    if isinstance(tree, DepTree):
        relations = (
            ROOT_RELATION if head == ROOT else mapping(relation)
            for head, _, relation in tree.arcs()
        )
        return replace(tree, relations=tuple(relations))
    nodes = (
        node if node.relation in ("", SPAN) else node._replace(relation=mapping(node.relation))
        for node in tree.nodes
    )
    edges = (edge._replace(relation=mapping(edge.relation)) for edge in tree.secondary)
    inventory = dict.fromkeys((mapping(name), kind) for name, kind in tree.inventory)
    return replace(tree, nodes=tuple(nodes), secondary=tuple(edges), inventory=tuple(inventory))


def _nearest_first(tree: AnnotatedTree, index: int) -> list[int]:
    """Order a node's satellites: those to its right, nearest first, then those to its left."""
    satellites = tree.satellites[index]
    core = tree.extents[tree.nuclei[index][0]][0] if tree.nuclei[index] else index
    right = [child for child in satellites if tree.extents[child][0] > core]
    left = [child for child in satellites if tree.extents[child][0] < core]
    return [*right, *reversed(left)]


def _binarize(tree: AnnotatedTree) -> RSTTree:
    joins: list[Join] = []
    cores: list[tuple[int, int]] = [(0, 0)] * len(
        tree.nodes
    )  # a node with what it has taken so far
    for index in tree.bottom_up:
        nuclei = [(cores[child], tree.nodes[child].relation) for child in tree.nuclei[index]]
        cores[index] = _join_nuclei(nuclei, joins) if nuclei else (index, index + 1)
        for child in _nearest_first(tree, index):
            cores[index] = _join_satellite(
                cores[index], cores[child], tree.nodes[child].relation, joins
            )
    return RSTTree.from_joins(tree.n_edus, joins)


def _join_nuclei(
    parts: Sequence[tuple[tuple[int, int], str]], joins: list[Join]
) -> tuple[int, int]:
    """Join neighbouring ranges as nuclei, right-branching; the first names no relation."""
    end = parts[-1][0][1]
    for ((start, split), _), (_, relation) in pairwise(parts):
        joins.append(Join(start, split, end, "NN", relation))
    return parts[0][0][0], end


def _join_satellite(
    nucleus: tuple[int, int], satellite: tuple[int, int], relation: str, joins: list[Join]
) -> tuple[int, int]:
    if satellite[0] < nucleus[0]:
        join = Join(*satellite, nucleus[1], "SN", relation)
    else:
        join = Join(*nucleus, satellite[1], "NS", relation)
    joins.append(join)
    return join.start, join.end


def _debinarize(tree: RSTTree) -> AnnotatedTree:
    if not tree.n_edus:
        return AnnotatedTree()
    joins = {(join.start, join.end): join for join in tree.joins}
    nodes: list[Node | None] = [None] * tree.n_edus
    # Each entry is a range and how it hangs on what is above; nuclei come off the stack before
    # their satellites, which need the nucleus's number: given as (range of the nucleus).
    number: dict[tuple[int, int], int] = {}
    todo: list[tuple[tuple[int, int], int | tuple[int, int], Role, str]] = [
        ((0, tree.n_edus), ROOT, "root", "")
    ]
    while todo:
        part, above, role, relation = todo.pop()
        parent = number[above] if isinstance(above, tuple) else above
        join = joins.get(part)
        if join is None:
            number[part] = part[0]
            nodes[part[0]] = Node(str(part[0] + 1), "edu", parent, role, relation)
            continue
        here = number[part] = len(nodes)
        kind: Literal["span", "multinuc"] = "multinuc" if join.nuclearity == "NN" else "span"
        nodes.append(Node(str(here + 1), kind, parent, role, relation))
        left, right = tree.children(join)
        if join.nuclearity == "NN":
            members = [left]
            while (below := joins.get(right)) and below[3:] == join[3:]:
                members.append((below.start, below.split))
                right = (below.split, below.end)
            members.append(right)
            todo += [(member, here, "nucleus", join.relation) for member in reversed(members)]
        else:
            nucleus, satellite = (left, right) if join.nuclearity == "NS" else (right, left)
            todo.append((satellite, nucleus, "satellite", join.relation))
            todo.append((nucleus, here, "nucleus", SPAN))
    return AnnotatedTree(tuple(node for node in nodes if node))


def _annotated_to_dependencies(tree: AnnotatedTree, convention: Convention) -> DepTree:
    n = tree.n_edus
    heads, relations = [ROOT] * n, [ROOT_RELATION] * n
    multinuclear, levels, taken = [False] * n, [0] * n, [0] * n
    head_of = list(range(len(tree.nodes)))
    nodes = tree.nodes

    def attach(child: int, head: int, nuclear: bool) -> None:
        dependent = head_of[child]
        heads[dependent], relations[dependent] = head, nodes[child][4]
        multinuclear[dependent], levels[dependent] = nuclear, taken[head]

    all_nuclei, all_satellites = tree.nuclei, tree.satellites
    for index in tree.bottom_up:
        if nuclei := all_nuclei[index]:
            head = head_of[index] = head_of[nuclei[0]]
            if len(nuclei) > 1 and convention == "star":
                for child in nuclei[1:]:
                    attach(child, head, True)
                taken[head] += 1
            elif len(nuclei) > 1:
                for before, child in pairwise(nuclei):
                    attach(child, head_of[before], True)
                    taken[head_of[before]] += 1
        if satellites := all_satellites[index]:
            head = head_of[index]
            if len(satellites) > 1:
                satellites = _nearest_first(tree, index)
            for child in satellites:
                attach(child, head, False)
                taken[head] += 1
    return DepTree(tuple(heads), tuple(relations), tuple(multinuclear), tuple(levels))


def _binary_to_dependencies(tree: RSTTree) -> DepTree:
    n = tree.n_edus
    heads, relations = [ROOT] * n, [ROOT_RELATION] * n
    multinuclear, levels, taken = [False] * n, [0] * n, [0] * n
    head_of: dict[tuple[int, int], int] = {(i, i + 1): i for i in range(n)}
    for join in reversed(tree.joins):  # preorder backwards: parts before wholes
        left, right = (head_of[part] for part in tree.children(join))
        head, dependent = (right, left) if join.nuclearity == "SN" else (left, right)
        head_of[join.start, join.end] = head
        heads[dependent], relations[dependent] = head, join.relation
        multinuclear[dependent], levels[dependent] = join.nuclearity == "NN", taken[head]
        taken[head] += 1
    return DepTree(tuple(heads), tuple(relations), tuple(multinuclear), tuple(levels))


def _dependencies_to_rst(
    tree: DepTree, convention: Convention, units: Sequence[Sequence[int]]
) -> RSTTree:
    if not tree.n_edus:
        return RSTTree(0)
    if (bad := crossing(tree.heads)) is not None:
        raise NonProjective(
            f"the dependents of EDU {bad + 1} are not contiguous with it: only a projective "
            "dependency tree has an RST tree (keep it as dependencies, or parse with Eisner's "
            "algorithm, which gives projective trees only)"
        )
    dependents = tree.dependents()
    order = [tree.root]
    for head in order:  # grows while it runs
        order += dependents[head]
    joins: list[Join] = []
    extents = [(i, i + 1) for i in range(tree.n_edus)]
    for head in reversed(order):
        for group in _attachment_order(tree, head, dependents[head], convention, units):
            here, first = extents[head], group[0]
            if tree.multinuclear[first]:
                parts = [(here, ""), *((extents[i], tree.relations[i]) for i in group)]
                if (
                    extents[first][0] < here[0]
                ):  # a nucleus left of its head: its relation is the join's
                    parts = [(extents[first], ""), (here, tree.relations[first])]
                extents[head] = _join_nuclei(parts, joins)
            else:
                extents[head] = _join_satellite(here, extents[first], tree.relations[first], joins)
    return RSTTree.from_joins(tree.n_edus, joins)


def _attachment_order(
    tree: DepTree,
    head: int,
    dependents: Sequence[int],
    convention: Convention,
    units: Sequence[Sequence[int]],
) -> list[list[int]]:
    """Return the groups of dependents in the order in which the head takes them.

    A group is one dependent, or all the right nuclei of one n-ary node.
    """
    right = [i for i in dependents if i > head]
    left = [i for i in reversed(dependents) if i < head]

    def key(i: int) -> int:
        return tree.levels[i] if tree.levels else sum(unit[i] != unit[head] for unit in units)

    merged: list[int] = []
    while left or right:
        # Only the nearest on either side can be next; right goes first where the key does not tell.
        side = right if not left or (right and key(right[0]) <= key(left[0])) else left
        merged.append(side.pop(0))
    groups: list[list[int]] = []
    for i in merged:
        before = groups[-1][-1] if groups else None
        if (
            before is not None
            and head < before < i
            and tree.multinuclear[before]
            and tree.multinuclear[i]
            and (
                tree.levels[before] == tree.levels[i]
                if tree.levels
                else convention == "star" and tree.relations[before] == tree.relations[i]
            )
        ):
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def with_levels(
    tree: DepTree, *, multinuclear: Convention = "star", units: Sequence[Sequence[int]] = ()
) -> DepTree:
    """Say in which order heads take their dependents, as `to_rst` would read the tree.

    The tree can then be turned into constituency without knowing its convention.

    >>> tree = DepTree((-1, 0, 0), ("ROOT", "list", "list"), (False, True, True))
    >>> with_levels(tree).levels, with_levels(tree, multinuclear="chain").levels
    ((0, 0, 0), (0, 0, 1))
    """
    if tree.levels or not tree.is_projective():
        return tree
    levels = [0] * tree.n_edus
    for head, dependents in enumerate(tree.dependents()):
        groups = _attachment_order(tree, head, dependents, multinuclear, units)
        for level, group in enumerate(groups):
            for dependent in group:
                levels[dependent] = level
    return replace(tree, levels=tuple(levels))


def same_units(tree: DepTree, labels: Collection[str] = SAME_UNIT) -> list[int]:
    """Return, for each EDU, the first part of the discontinuous unit that it belongs to.

    The parts of a unit that is interrupted by another are joined by the pseudo-relation
    same-unit. EDUs that are whole stand for themselves.

    >>> same_units(DepTree((-1, 0, 0), ("ROOT", "elaboration", "same-unit")))
    [0, 1, 0]
    """
    first = list(range(tree.n_edus))
    for index in range(tree.n_edus):
        path: list[int] = []
        at = index
        # What an earlier climb has found is not climbed again, so that long chains stay cheap.
        while first[at] == at and tree.relations[at] in labels and tree.heads[at] >= 0:
            path.append(at)
            at = tree.heads[at]
        for part in path:
            first[part] = first[at]
    return first
