from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given

from rhetorica import AnnotatedTree, DepTree, Document, Join, Node, Parse, RSTTree
from rhetorica.convert import (
    Convention,
    relabel,
    same_units,
    to_annotated,
    to_dependencies,
    to_rst,
    with_levels,
)
from rhetorica.errors import NonProjective
from rhetorica.parses import Candidate
from rhetorica.trees import Label
from strategies import annotated_trees, dep_trees, rst_trees

CONVENTIONS = get_args(Convention)
LARGE = 20_000

both_conventions = pytest.mark.parametrize("convention", CONVENTIONS)


@given(rst_trees(min_edus=0))
def test_rst_to_annotated_and_back(tree: RSTTree) -> None:
    assert to_rst(to_annotated(tree)) == tree


@both_conventions
@given(tree=rst_trees(min_edus=0))
def test_rst_to_dependencies_and_back(convention: Convention, tree: RSTTree) -> None:
    dependencies = to_dependencies(tree, multinuclear=convention)
    assert to_rst(dependencies, multinuclear=convention) == tree


@given(annotated_trees(min_edus=0))
def test_annotated_to_chain_dependencies_goes_by_way_of_binary(tree: AnnotatedTree) -> None:
    direct = to_dependencies(tree, multinuclear="chain")
    assert direct == to_dependencies(to_rst(tree), multinuclear="chain")


@both_conventions
@given(tree=annotated_trees(min_edus=0))
def test_annotated_to_dependencies_to_rst(convention: Convention, tree: AnnotatedTree) -> None:
    dependencies = to_dependencies(tree, multinuclear=convention)
    assert dependencies.is_projective()
    assert to_rst(dependencies, multinuclear=convention) == to_rst(tree)


@given(annotated_trees())
def test_binary_ranges_hold_every_annotated_extent(tree: AnnotatedTree) -> None:
    ranges = {(join.start, join.end) for join in to_rst(tree).joins}
    ranges |= {(i, i + 1) for i in range(tree.n_edus)}
    groups = [i for i, node in enumerate(tree.nodes) if node.role != "nucleus"]
    assert {tree.extents[i] for i in groups} <= ranges


@both_conventions
@given(tree=dep_trees(min_edus=0))
def test_projective_dependencies_to_rst_and_back(convention: Convention, tree: DepTree) -> None:
    again = to_dependencies(to_rst(tree, multinuclear=convention), multinuclear=convention)
    assert (again.heads, again.relations) == (tree.heads, tree.relations)


@given(dep_trees(multinuclear=True))
def test_multinuclear_dependencies_to_rst_and_back(tree: DepTree) -> None:
    again = to_dependencies(to_rst(tree, multinuclear="chain"), multinuclear="chain")
    assert again.heads == tree.heads
    assert again.relations == tree.relations
    assert again.multinuclear == tree.multinuclear


@both_conventions
@given(tree=dep_trees(levels=True))
def test_levels_are_kept(convention: Convention, tree: DepTree) -> None:
    again = to_dependencies(to_rst(tree, multinuclear=convention), multinuclear=convention)
    assert again == tree


@both_conventions
@given(tree=dep_trees(multinuclear=True))
def test_levels_say_what_a_convention_says(convention: Convention, tree: DepTree) -> None:
    levelled = with_levels(tree, multinuclear=convention)
    assert (levelled.heads, levelled.relations) == (tree.heads, tree.relations)
    assert to_rst(levelled) == to_rst(tree, multinuclear=convention)


@given(dep_trees())
def test_dependencies_to_annotated_and_back(tree: DepTree) -> None:
    assert to_dependencies(to_annotated(tree)).heads == tree.heads


@given(dep_trees(projective=False))
def test_only_projective_dependencies_have_an_rst_tree(tree: DepTree) -> None:
    if tree.is_projective():
        assert to_rst(tree).n_edus == tree.n_edus
    else:
        with pytest.raises(NonProjective, match="not contiguous"):
            to_rst(tree)
        with pytest.raises(NonProjective):
            to_annotated(tree)


@pytest.mark.parametrize("make", [to_rst, to_annotated, to_dependencies])
def test_empty_trees(make: object) -> None:
    for tree in (AnnotatedTree(), RSTTree(0), DepTree()):
        assert make(tree).n_edus == 0  # type: ignore[operator]


def test_chain_and_star() -> None:
    tree = RSTTree(3, (Join(0, 1, 3, "NN", "list"), Join(1, 2, 3, "NN", "list")))
    assert to_dependencies(tree, multinuclear="star").heads == (-1, 0, 0)
    assert to_dependencies(tree, multinuclear="chain").heads == (-1, 0, 1)
    assert [node.kind for node in to_annotated(tree).nodes] == ["edu", "edu", "edu", "multinuc"]


def test_nested_nuclei_of_another_relation_stay_nested() -> None:
    tree = RSTTree(3, (Join(0, 1, 3, "NN", "list"), Join(1, 2, 3, "NN", "contrast")))
    assert to_dependencies(tree, multinuclear="star").heads == (-1, 0, 1)
    assert len(to_annotated(tree).nodes) == 5


def test_satellites_nearest_first_right_before_left() -> None:
    nodes = [Node(str(i), "edu", 2, "satellite", f"r{i}") for i in range(5)]
    nodes[2] = Node("2", "edu", -1, "root", "")
    joins = to_rst(AnnotatedTree(tuple(nodes))).joins
    assert [(join.start, join.end, join.relation) for join in joins] == [
        (0, 5, "r0"),
        (1, 5, "r1"),
        (2, 5, "r4"),
        (2, 4, "r3"),
    ]


def test_a_head_takes_its_own_sentence_first() -> None:
    tree = DepTree((1, -1, 1), ("left", "ROOT", "right"))
    assert [join.relation for join in to_rst(tree).joins] == ["left", "right"]
    assert [join.relation for join in to_rst(tree, units=[[0, 0, 1]]).joins] == ["right", "left"]


def test_a_nucleus_left_of_its_head() -> None:
    tree = DepTree((1, -1), ("list", "ROOT"), (True, False))
    assert to_rst(tree).joins == (Join(0, 1, 2, "NN", "list"),)


class TestSameUnits:
    def test_parts_of_an_interrupted_unit(self) -> None:
        tree = DepTree((-1, 0, 0, 2), ("ROOT", "elaboration", "same-unit", "same-unit"))
        assert same_units(tree) == [0, 1, 0, 0]

    def test_other_labels(self) -> None:
        tree = DepTree((-1, 0), ("ROOT", "gleich"))
        assert same_units(tree) == [0, 1]
        assert same_units(tree, {"gleich"}) == [0, 0]

    def test_root_stands_for_itself(self) -> None:
        assert same_units(DepTree((-1,), ("same-unit",))) == [0]

    def test_long_chain(self) -> None:
        for heads in (range(-1, LARGE - 1), [*range(1, LARGE), -1]):
            found = same_units(DepTree(tuple(heads), ("same-unit",) * LARGE))
            assert set(found) == {list(heads).index(-1)}


@pytest.mark.parametrize("nuclearity", ["NS", "SN", "NN"])
@pytest.mark.parametrize("branching", ["right", "left"])
def test_large_trees_convert_without_recursion(nuclearity: str, branching: str) -> None:
    if branching == "right":
        joins = [Join(i, i + 1, LARGE, nuclearity, "list") for i in range(LARGE - 1)]  # type: ignore[arg-type]
    else:
        joins = [Join(0, end - 1, end, nuclearity, "list") for end in range(LARGE, 1, -1)]  # type: ignore[arg-type]
    tree = RSTTree(LARGE, tuple(joins))
    assert to_rst(to_annotated(tree)) == tree
    for convention in CONVENTIONS:
        dependencies = to_dependencies(tree, multinuclear=convention)
        assert to_rst(dependencies, multinuclear=convention) == tree


class TestRelabel:
    @given(annotated_trees())
    def test_shape_stays_and_all_shapes_agree(self, tree: AnnotatedTree) -> None:
        new = relabel(tree, lambda name: f"{name}!")
        assert new.extents == tree.extents
        for old, now in zip(tree.nodes, new.nodes, strict=True):
            assert now.relation == (
                old.relation if old.relation in ("", "span") else f"{old.relation}!"
            )
        assert all(edge.relation.endswith("!") for edge in new.secondary)
        assert to_rst(new) == relabel(to_rst(tree), lambda name: f"{name}!")
        assert to_dependencies(new) == relabel(to_dependencies(tree), lambda name: f"{name}!")

    def test_names_that_become_one_are_in_the_inventory_once(self) -> None:
        tree = replace(
            to_annotated(RSTTree(2, (Join(0, 1, 2, "NN", "list"),))),
            inventory=(("list", "multinuc"), ("sequence", "multinuc"), ("cause", "rst")),
        )
        assert relabel(tree, lambda name: "any").inventory == (("any", "multinuc"), ("any", "rst"))

    def test_nothing_to_map(self) -> None:
        tree = RSTTree(2, (Join(0, 1, 2, "NN", "list"),))
        assert relabel(tree, None) is tree

    def test_parses_with_their_candidates(self) -> None:
        tree = RSTTree(2, (Join(0, 1, 2, "NN", "list"),))
        parse = Parse(Document.from_edus(["A", "B"]), tree, kbest=(Candidate(tree, 1.0),))
        new = parse.relabel(str.upper)
        assert new.tree.joins[0].label == Label("NN", "LIST")
        assert new.kbest[0].tree == new.tree
        assert Parse(parse.document).relabel(str.upper).source is None
