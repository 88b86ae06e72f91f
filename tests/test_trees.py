from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from rhetorica import AnnotatedTree, DepTree, Join, Node, RSTTree, SecondaryEdge, Signal
from rhetorica.errors import InvalidTree
from rhetorica.trees import Label, crossing, subtree_extents
from strategies import annotated_trees, dep_trees, rst_trees

LARGE = 20_000


def edu(id: str, parent: int, role: str, relation: str = "r") -> Node:
    return Node(id, "edu", parent, role, relation)  # type: ignore[arg-type]


def group(id: str, parent: int, role: str, relation: str = "r", kind: str = "span") -> Node:
    return Node(id, kind, parent, role, relation)  # type: ignore[arg-type]


class TestRSTTree:
    def test_empty_and_single(self) -> None:
        assert RSTTree(0).joins == RSTTree(1).joins == ()

    @given(rst_trees())
    def test_joins_in_any_order(self, tree: RSTTree) -> None:
        assert RSTTree.from_joins(tree.n_edus, tree.joins[::-1]) == tree

    @given(rst_trees())
    def test_parts_of_a_join_are_joins_or_edus(self, tree: RSTTree) -> None:
        ranges = {(join.start, join.end) for join in tree.joins}
        ranges |= {(i, i + 1) for i in range(tree.n_edus)}
        assert all(part in ranges for join in tree.joins for part in tree.children(join))

    @pytest.mark.parametrize(
        ("n_edus", "joins", "message"),
        [
            (-1, (), "cannot have -1 EDUs"),
            (2, (), "has 1 joins, not 0"),
            (1, (Join(0, 1, 2, "NS", "r"),), "has 0 joins, not 1"),
            (2, (Join(0, 2, 2, "NS", "r"),), "0:2:2 does not fit"),
            (2, (Join(0, 0, 2, "NS", "r"),), "0:0:2 does not fit"),
            (2, (Join(0, 1, 2, "SS", "r"),), "'SS' is not NS, SN or NN"),
            (3, (Join(1, 2, 3, "NS", "r"), Join(0, 1, 3, "NS", "r")), "expected one of 0-3"),
            (4, (Join(0, 2, 4, "NS", "r"), Join(2, 3, 4, "NS", "r"), Join(0, 1, 2, "NS", "r")),
             "expected one of 0-2 .joins go in preorder"),
            (3, (Join(0, 1, 3, "NS", "r"), Join(0, 1, 2, "NS", "r")), "0:1:2 does not fit"),
        ],
    )  # fmt: skip
    def test_invalid(self, n_edus: int, joins: tuple[Join, ...], message: str) -> None:
        with pytest.raises(InvalidTree, match=message):
            RSTTree(n_edus, joins)


class TestAnnotatedTree:
    def test_empty(self) -> None:
        assert AnnotatedTree().n_edus == 0
        assert AnnotatedTree().bottom_up == []

    @given(annotated_trees())
    def test_children_are_in_text_order_and_contiguous(self, tree: AnnotatedTree) -> None:
        for index in range(len(tree.nodes)):
            for children in (tree.nuclei[index], tree.satellites[index]):
                ranges = [tree.extents[child] for child in children]
                assert all(a[1] <= b[0] for a, b in pairwise(ranges))
            assert all(
                b[0] == a[1] for a, b in pairwise(tree.extents[c] for c in tree.nuclei[index])
            )

    @given(annotated_trees())
    def test_bottom_up_lists_every_node_before_its_parent(self, tree: AnnotatedTree) -> None:
        place = {index: at for at, index in enumerate(tree.bottom_up)}
        assert len(place) == len(tree.nodes)
        for index, node in enumerate(tree.nodes):
            assert node.parent < 0 or place[index] < place[node.parent]

    @given(annotated_trees())
    def test_root_covers_everything(self, tree: AnnotatedTree) -> None:
        root = next(index for index, node in enumerate(tree.nodes) if node.role == "root")
        assert tree.extents[root] == (0, tree.n_edus)

    @pytest.mark.parametrize(
        ("nodes", "message"),
        [
            ([edu("1", -1, "root"), edu("2", -1, "root")], r"2 roots \(1, 2\), expected one"),
            ([edu("1", 1, "satellite"), edu("2", 0, "satellite")], "cycle: 1 -> 2 -> 1"),
            ([edu("1", -1, "root"), edu("1", 0, "satellite")], "two nodes have the id 1"),
            ([edu("1", -1, "root"), edu("2", 7, "satellite")], "parent 7, but there are 2"),
            ([edu("1", -1, "root"), edu("2", 0, "nucleus")], "nucleus of EDU 1"),
            ([edu("1", -1, "satellite")], "1 is a satellite but has parent -1"),
            ([edu("1", 0, "root")], "1 is a root but has parent 0"),
            ([group("1", -1, "root"), edu("2", 0, "nucleus")], "EDU 2 comes after a group"),
            ([edu("1", -1, "root"), group("2", 0, "satellite")], "group 2 has no nucleus"),
            ([edu("1", 2, "nucleus"), edu("2", 2, "nucleus"), group("3", -1, "root")],
             "span 3 has two nuclei, 2 is the second"),
            ([edu("1", -1, "root"), edu("2", 2, "nucleus"), group("3", 1, "satellite")], "cycle"),
            ([edu("1", 2, "satellite"), edu("2", 3, "nucleus"), edu("3", 3, "nucleus"),
              group("4", -1, "root", kind="multinuc")],
             "node 3 is not contiguous"),
        ],
    )  # fmt: skip
    def test_invalid(self, nodes: list[Node], message: str) -> None:
        with pytest.raises(InvalidTree, match=message):
            AnnotatedTree(tuple(nodes))

    def test_edges_and_signals_must_belong_to_something(self) -> None:
        nodes = (edu("1", -1, "root"),)
        with pytest.raises(InvalidTree, match="secondary edge 1-9"):
            AnnotatedTree(nodes, secondary=(SecondaryEdge("1-9", 0, 8, "r"),))
        with pytest.raises(InvalidTree, match="dm signal belongs to nothing"):
            AnnotatedTree(nodes, signals=(Signal(1, False, "dm", "dm"),))
        with pytest.raises(InvalidTree, match="dm signal belongs to nothing"):
            AnnotatedTree(nodes, signals=(Signal(0, True, "dm", "dm"),))


class TestDepTree:
    def test_empty_and_single(self) -> None:
        assert DepTree().n_edus == 0
        assert DepTree().is_projective()
        assert DepTree((-1,), ("ROOT",)).root == 0

    @pytest.mark.parametrize(
        ("heads", "message"),
        [
            ((-1, -1), r"2 roots \[1, 2\]"),
            ((1, 0), r"0 roots \[\]"),
            ((-1, 2, 1), "cycle: 2 -> 3 -> 2"),
            ((-1, 1), "cycle: 2 -> 2"),
            ((-1, 2), "EDU 2 has head 3 of 2"),
            ((-1, -2), "EDU 2 has head -1 of 2"),
        ],
    )
    def test_invalid(self, heads: tuple[int, ...], message: str) -> None:
        with pytest.raises(InvalidTree, match=message):
            DepTree(heads, ("r",) * len(heads))

    def test_columns_must_be_as_long_as_heads(self) -> None:
        with pytest.raises(InvalidTree, match="2 heads, 1 relations"):
            DepTree((-1, 0), ("ROOT",))
        with pytest.raises(InvalidTree, match="1 multinuclear flags"):
            DepTree((-1, 0), ("ROOT", "r"), (True,))
        with pytest.raises(InvalidTree, match="1 levels for 2 EDUs"):
            DepTree((-1, 0), ("ROOT", "r"), levels=(0,))

    @given(dep_trees(projective=False))
    def test_extents_and_crossing_equal_brute_force(self, tree: DepTree) -> None:
        below = [{i} for i in range(tree.n_edus)]
        for index in range(tree.n_edus):
            at = index
            while (at := tree.heads[at]) >= 0:
                below[at].add(index)
        firsts, lasts, sizes = subtree_extents(tree.heads)
        assert firsts == [min(some) for some in below]
        assert lasts == [max(some) for some in below]
        assert sizes == [len(some) for some in below]
        assert tree.is_projective() == all(max(s) - min(s) + 1 == len(s) for s in below)

    @given(dep_trees())
    def test_drawn_trees_are_projective(self, tree: DepTree) -> None:
        assert crossing(tree.heads) is None

    @given(dep_trees(projective=False))
    def test_dependents_and_arcs(self, tree: DepTree) -> None:
        dependents = tree.dependents()
        assert sorted(sum(dependents, [tree.root])) == list(range(tree.n_edus))
        for head, dependent, relation in tree.arcs():
            assert tree.relations[dependent] == relation
            assert (dependent in dependents[head]) if head >= 0 else dependent == tree.root


@pytest.mark.parametrize("to_the_right", [True, False])
def test_deep_trees(to_the_right: bool) -> None:
    heads = range(-1, LARGE - 1) if to_the_right else [*range(1, LARGE), -1]
    tree = DepTree(tuple(heads), ("r",) * LARGE)
    assert tree.is_projective()
    joins = [Join(i, i + 1, LARGE, "NS", "r") for i in range(LARGE - 1)]
    if not to_the_right:
        joins = [Join(0, end - 1, end, "SN", "r") for end in range(LARGE, 1, -1)]
    RSTTree(LARGE, tuple(joins))
    nodes = [
        edu(str(i), head, "satellite" if head >= 0 else "root") for i, head in enumerate(heads)
    ]
    assert AnnotatedTree(tuple(nodes)).extents[tree.root] == (0, LARGE)


class TestLabels:
    def test_one_order_whatever_a_model_has(self) -> None:
        label = Label("SN", "cause")
        assert Label.read(["SN", "cause"]) == label
        with pytest.raises(ValueError, match="unpack"):
            Label.read(["SN", "cause", "more"])

    def test_of_joins_and_arcs(self) -> None:
        assert Join(0, 1, 2, "SN", "cause").label == Label("SN", "cause")
        tree = DepTree((-1, 0, 0), ("ROOT", "cause", "list"), (False, False, True))
        assert tree.labels() == [("NS", "ROOT"), ("NS", "cause"), ("NN", "list")]
