"""The transition system: oracle and replay, search against brute force, states and features."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica import Document, Join, RSTTree
from rhetorica.convert import to_dependencies
from rhetorica.decode import elect
from rhetorica.errors import InvalidDocument, InvalidTree, UnknownName
from rhetorica.formats.rs3 import read_rs3
from rhetorica.learn.hashing import MIX
from rhetorica.parsers.transition import (
    SHIFT,
    Actions,
    Forest,
    Item,
    distributions,
    left_branching,
    oracle,
    replay,
    right_branching,
    search,
)
from rhetorica.parsers.transition.exploration import DynamicOracle
from rhetorica.parsers.transition.features import (
    ATTRIBUTES,
    BITS,
    StateReader,
    Templates,
    Units,
    known_bits,
)
from rhetorica.parsers.transition.looks import POINTERS, STATE
from rhetorica.parsers.transition.templates import LABEL, PAPER, PAPER_BAGS, STRUCTURE
from rhetorica.parsers.transition.voting import WholeSteps, draw, vote
from rhetorica.text import annotate
from rhetorica.trees import Label
from strategies import rst_trees

ACTIONS = Actions((Label("NN", "list"), Label("NS", "cause"), Label("SN", "cause")))


def random_scorer(seed: int, n_actions: int):  # type: ignore[no-untyped-def]
    """Scores that depend on the item on top and the one below, but not on how they are numbered."""
    table = np.random.default_rng(seed).normal(size=(7, 7, 5, 5, n_actions))

    def score(forest: Forest, states: np.ndarray) -> np.ndarray:
        top, below = forest.stack(states, 2).T
        columns = [forest.column(Item.START, top), forest.column(Item.END, top)]
        kinds = [forest.column(Item.ACTION, item) + 1 for item in (top, below)]
        return np.asarray(table[columns[0] % 7, columns[1] % 7, kinds[0], kinds[1]])

    return score


def all_sequences(n_edus: int, n_actions: int) -> list[tuple[int, ...]]:
    found = []
    for sequence in product(range(n_actions), repeat=2 * n_edus - 1):
        read = depth = 0
        for action in sequence:
            read, depth = (read + 1, depth + 1) if action == SHIFT else (read, depth - 1)
            if read > n_edus or depth < 1:
                break
        else:
            if read == n_edus and depth == 1:
                found.append(sequence)
    return found


@given(rst_trees(min_edus=0, max_edus=12))
def test_oracle_and_replay_are_inverse(tree: RSTTree) -> None:
    actions = Actions.of([tree])
    sequence = oracle(tree, actions)
    assert len(sequence) == max(0, 2 * tree.n_edus - 1)
    assert replay(tree.n_edus, sequence, actions) == tree


@given(rst_trees(max_edus=12))
def test_a_forest_builds_the_tree_and_its_heads(tree: RSTTree) -> None:
    actions = Actions.of([tree])
    sequence = oracle(tree, actions)
    forest = Forest(tree.n_edus, actions)
    states = forest.run(sequence)
    last = forest.size - 1
    assert forest.tree(last) == tree
    found, taken = forest.path(last)
    assert found.tolist() == states.tolist()
    assert taken.tolist() == sequence
    assert all(forest.valid(states)[range(len(states)), sequence])
    assert forest.column(Item.HEAD, np.array([last]))[0] == to_dependencies(tree).root
    assert forest.queue(np.array([last])).tolist() == [tree.n_edus]
    assert forest.column(Item.DEPTH, np.array([last])).tolist() == [1]


def test_every_gum_tree_comes_back(shared: Path) -> None:
    paths = sorted((shared / "gum" / "rst" / "rstweb").glob("*.rs4"))
    trees = [read_rs3(path).tree for path in paths]
    actions = Actions.of(trees)
    for number, tree in enumerate(trees):
        sequence = oracle(tree, actions)
        assert replay(tree.n_edus, sequence, actions) == tree
        if number % 10:
            continue
        forest = Forest(tree.n_edus, actions)
        right, labels = DynamicOracle(tree, actions).targets(forest, forest.run(sequence))
        moves = np.array(sequence)
        assert (right == np.stack([moves == SHIFT, moves != SHIFT], axis=1)).all()
        assert (labels[moves != SHIFT] == moves[moves != SHIFT]).all()


@given(rst_trees(max_edus=12))
def test_branching_to_the_other_side_and_back(tree: RSTTree) -> None:
    right, left = right_branching(tree), left_branching(tree)
    assert right_branching(right) == right == right_branching(left)
    assert left_branching(left) == left == left_branching(right)
    assert {join for join in tree.joins if join.nuclearity != "NN"} <= set(right.joins)


@pytest.mark.parametrize("n_edus", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("normalize", [True, False])
def test_an_endless_beam_equals_brute_force(n_edus: int, seed: int, normalize: bool) -> None:
    score = random_scorer(seed, len(ACTIONS))
    expected = []
    for sequence in all_sequences(n_edus, len(ACTIONS)):
        forest = Forest(n_edus, ACTIONS)
        states = forest.run(sequence)
        rows = np.where(forest.valid(states), score(forest, states), -np.inf)
        if normalize:
            rows = rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))
        total = rows[range(len(states)), list(sequence)].sum()
        expected.append((float(total), replay(n_edus, sequence, ACTIONS)))
    expected.sort(key=lambda pair: -pair[0])
    found = search(n_edus, ACTIONS, score, width=10_000, kbest=10_000, normalize=normalize)
    assert len(found) == len(expected)
    assert [one.score for one in found] == pytest.approx([total for total, _ in expected])
    assert [one.tree for one in found] == [tree for _, tree in expected]
    if normalize:
        assert sum(np.exp(one.score) for one in found) == pytest.approx(1)


@given(st.integers(0, 8), st.integers(1, 6), st.integers(1, 4), st.integers(0, 99))
def test_beams(n_edus: int, width: int, kbest: int, seed: int) -> None:
    score = random_scorer(seed, len(ACTIONS))
    found = search(n_edus, ACTIONS, score, width=width, kbest=kbest)
    assert 1 <= len(found) <= kbest
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert len({one.tree for one in found}) == len(found)
    again = search(n_edus, ACTIONS, score, width=width, kbest=kbest)
    assert [(one.tree, one.score) for one in again] == [(one.tree, one.score) for one in found]
    greedy = search(n_edus, ACTIONS, score)[0]
    wide = search(n_edus, ACTIONS, score, width=10_000)[0] if n_edus < 4 else found[0]
    if n_edus < 4:
        assert wide.score >= max(greedy.score, found[0].score) - 1e-9


def test_ties_go_to_the_lower_action() -> None:
    def indifferent(forest: Forest, states: np.ndarray) -> np.ndarray:
        return np.zeros((len(states), len(ACTIONS)))

    tree = search(3, ACTIONS, indifferent)[0].tree
    assert tree.joins == (Join(0, 1, 3, "NN", "list"), Join(1, 2, 3, "NN", "list"))


def test_distributions_sum_to_one() -> None:
    score = random_scorer(3, len(ACTIONS))
    forest = Forest(4, ACTIONS)
    found = search(4, ACTIONS, score, width=3, forest=forest)[0]
    shares = distributions(forest, found.states, score)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert shares[0, SHIFT] == 1
    chosen = shares[range(len(found.actions)), found.actions]
    assert np.log(chosen).sum() == pytest.approx(found.score)


def test_a_forest_grows() -> None:
    forest = Forest(50, ACTIONS)
    states = np.zeros(500, dtype=np.int64)
    for _ in range(3):
        states = forest.apply(states, np.zeros(500, dtype=np.int64))
    assert forest.size == 1501
    assert forest.queue(states).tolist() == [3] * 500


@pytest.mark.parametrize("sequence", [[1], [0, 0, 0], [0, 1], [0, 9, 0], [0, 0], [0], [0, 0, -1]])
def test_what_cannot_be_done_is_refused(sequence: list[int]) -> None:
    with pytest.raises(InvalidTree):
        replay(2, sequence, ACTIONS)


def test_actions_are_checked() -> None:
    with pytest.raises(InvalidTree, match="not NS, SN or NN"):
        Actions((Label("SS", "cause"),))  # type: ignore[arg-type]
    with pytest.raises(InvalidTree, match="twice"):
        Actions((Label("NS", "cause"), Label("NS", "cause")))
    with pytest.raises(InvalidTree, match="'contrast'"):
        ACTIONS.reduce(Label("NN", "contrast"))
    with pytest.raises(InvalidTree, match="-1"):
        Forest(-1, ACTIONS)
    with pytest.raises(InvalidTree, match="width 0"):
        search(2, ACTIONS, random_scorer(0, len(ACTIONS)), width=0)


@given(rst_trees(min_edus=2, max_edus=7), st.integers(0, 99))
def test_the_dynamic_oracle_keeps_what_can_be_kept(tree: RSTTree, seed: int) -> None:
    """From any state, following it builds every gold unit that could still be built there."""
    actions = Actions.of([tree])
    dynamic = DynamicOracle(tree, actions)
    gold = {(join.start, join.end) for join in tree.joins}
    rng = np.random.default_rng(seed)
    forest = Forest(tree.n_edus, actions)
    state = 0
    for _ in range(int(rng.integers(0, 2 * tree.n_edus - 1))):
        choices = np.flatnonzero(forest.valid(np.array([state]))[0])
        state = int(forest.apply(np.array([state]), rng.choice(choices, 1))[0])
    starts, at = set(), state
    while at:
        starts.add(int(forest.items[at, Item.START]))
        at = int(forest.items[at, Item.BELOW])
    top = tuple(forest.items[state, [Item.START, Item.END]].tolist())
    end = top[1]
    reachable = {
        (a, b) for a, b in gold if b >= end and (a in starts or a >= end) and (a, b) != top
    }
    # What ends where the stack ends, or goes on, but cannot be made of whole items, is lost.
    while forest.valid(np.array([state])).any():
        right, _ = dynamic.targets(forest, np.array([state]))
        move = int(rng.choice(np.flatnonzero(right[0])))
        action = SHIFT if move == 0 else 1
        state = int(forest.apply(np.array([state]), np.array([action]))[0])
    built = {(join.start, join.end) for join in forest.tree(state).joins}
    assert reachable <= built


def exact_votes(n_edus: int, score) -> dict[tuple[int, int], float]:  # type: ignore[no-untyped-def]
    """The probability of every range, summed over all trees."""
    shares: dict[tuple[int, int], float] = {}
    for one in search(n_edus, ACTIONS, score, width=100_000, kbest=100_000):
        for join in one.tree.joins:
            place = (join.start, join.end)
            shares[place] = shares.get(place, 0.0) + float(np.exp(one.score))
    return shares


@pytest.mark.parametrize("seed", range(3))
def test_votes_are_expected_counts(seed: int) -> None:
    score = random_scorer(seed, len(ACTIONS))
    exact = exact_votes(4, score)
    votes = vote(4, ACTIONS, WholeSteps(score), samples=4000, seed=seed)
    found: dict[tuple[int, int], float] = {}
    for (start, _, end), count in zip(votes.joins.tolist(), votes.votes.tolist(), strict=True):
        found[start, end] = found.get((start, end), 0.0) + count
    assert set(found) == set(exact)
    for place, share in exact.items():
        assert found[place] == pytest.approx(share, abs=0.03)


@given(rst_trees(min_edus=2, max_edus=6), st.integers(0, 99))
def test_the_elected_tree_has_the_most_votes(tree: RSTTree, seed: int) -> None:
    n = tree.n_edus
    rng = np.random.default_rng(seed)
    votes = vote(n, ACTIONS, WholeSteps(random_scorer(seed, len(ACTIONS))), samples=5, seed=seed)
    elected = elect(n, votes)
    assert len(elected) == n - 1
    shares: dict[tuple[int, int], float] = {}
    for (start, _, end), count in zip(votes.joins.tolist(), votes.votes.tolist(), strict=True):
        shares[start, end] = shares.get((start, end), 0.0) + count
    joins = [Join(j.start, j.split, j.end, "NN", "list") for j in elected]
    found = RSTTree(n, tuple(joins))  # in preorder, and a tree
    total = sum(shares[join.start, join.end] for join in found.joins)
    # Any tree of joins that got votes: none has more.
    known = {tuple(row) for row in votes.joins.tolist()}
    for _ in range(50):
        other = _random_tree(known, n, rng)
        if other is not None:
            assert sum(shares[a, c] for a, _, c in other) <= total + 1e-9


def _random_tree(
    known: set[tuple[int, ...]], n: int, rng: np.random.Generator
) -> list[tuple[int, int, int]] | None:
    joins, todo = [], [(0, n)]
    while todo:
        start, end = todo.pop()
        if end - start < 2:
            continue
        splits = [b for a, b, c in known if (a, c) == (start, end)]
        if not splits:
            return None
        split = int(rng.choice(splits))
        joins.append((start, split, end))
        todo += [(start, split), (split, end)]
    return joins


def test_drawn_sequences_build_trees() -> None:
    steps = WholeSteps(random_scorer(1, len(ACTIONS)))
    found = draw(5, ACTIONS, steps, samples=20, seed=4)
    assert 1 < len(found) <= 20
    assert len({replay(5, sequence, ACTIONS) for sequence in found}) == len(found)
    assert draw(5, ACTIONS, steps, samples=20, seed=4) == found
    assert draw(1, ACTIONS, steps, samples=3) == [[SHIFT]]


def test_votes_of_nothing_and_of_one() -> None:
    steps = WholeSteps(random_scorer(0, len(ACTIONS)))
    for n in (0, 1):
        assert elect(n, vote(n, ACTIONS, steps, samples=3)) == []
    with pytest.raises(InvalidTree, match="0 samples"):
        vote(2, ACTIONS, steps, samples=0)


UNITS = [["We left early", "because it rained."], ["If you come,", "bring wine.", "We dance."]]


@pytest.fixture(scope="module")
def doc() -> Document:
    return annotate(Document.from_edus([unit for part in UNITS for unit in part], joiner="\n\n"))


def test_looks_have_a_name_each(doc: Document) -> None:
    forest = Forest(5, ACTIONS)
    states = forest.run([0, 0, 2, 0, 0, 3, 0, 1, 1])
    reader = StateReader(Units.of(doc))
    values, pointers = reader.look(forest, states)
    assert values.shape == (9, len(STATE))
    assert pointers.shape == (9, len(POINTERS))
    place = {name: i for i, name in enumerate(STATE)}
    # Before the sixth action: the first unit (0-2, joined by action 2), then EDUs 2 and 3.
    row = values[5]
    assert row[place["s2.label"]] == 2
    assert row[place["s0.label"]] == row[place["s1.label"]] == SHIFT
    assert row[place["q0.start"]] == 2
    assert row[place["s0.start"]] == 2
    assert row[place["stack.depth"]] == 3
    pointed = dict(zip(POINTERS, pointers[5].tolist(), strict=True))
    assert (pointed["s0head"], pointed["s1head"], pointed["s2head"]) == (3, 2, 0)
    assert (pointed["s2first"], pointed["s2last"], pointed["q0"], pointed["q1"]) == (0, 1, 4, 5)
    assert values[0, place["s0.label"]] == -1
    assert pointers[0, POINTERS.index("s0head")] == 5


def hash_rows(values, pointers, units: Units, templates: Templates) -> np.ndarray:
    """Hash the features of states, a template at a time."""
    attributes, atoms, salts = units.attributes, templates.atoms, templates.salts
    bags = (templates.bag_pointers, templates.bag_kinds, templates.bag_salts)
    n = len(attributes) - 1
    flat = attributes[pointers].reshape(len(pointers), -1)
    known = np.concatenate([values.astype(np.uint64), flat], axis=1)
    mixed = np.broadcast_to(salts, (len(values), len(salts))).copy()
    with np.errstate(over="ignore"):
        for column in range(atoms.shape[1]):
            there = atoms[:, column] >= 0
            part = mixed[:, there]
            part = (part ^ known[:, atoms[there, column]]) * MIX
            mixed[:, there] = part ^ (part >> np.uint64(29))
        hashes = [mixed * MIX]
        lists: list[list[int]] = [[] for _ in range(len(values))]
        for pointer, kind, salt in zip(*bags, strict=True):
            for row, edu in enumerate(pointers[:, pointer]):
                if edu < n:
                    place = kind * n + edu
                    found = units.bag_values[slice(*units.bag_offsets[place : place + 2])]
                    part = (found ^ salt) * MIX
                    lists[row] += ((part ^ (part >> np.uint64(29))) * MIX).tolist()
    shift = np.uint64(64 - BITS)
    result = np.full((len(values), len(salts) + max([0, *map(len, lists)])), -1, dtype=np.int64)
    result[:, : len(salts)] = hashes[0] >> shift
    for row, found_list in enumerate(lists):
        bag = np.array(found_list, dtype=np.uint64) >> shift
        result[row, len(salts) : len(salts) + len(bag)] = bag
    return result.astype(np.int32)


def test_features_are_hashed_as_they_were_when_models_were_trained(doc: Document) -> None:
    forest = Forest(5, ACTIONS)
    states = forest.run([0, 0, 2, 0, 0, 3, 0, 1, 1])
    chosen = [*PAPER, *STRUCTURE["pairs"], *LABEL["words"]]
    templates = Templates.of(chosen, PAPER_BAGS)
    units = Units.of(doc)
    reader = StateReader(units)
    looks = reader.look(forest, states)
    expected = hash_rows(*looks, units, templates)
    assert (reader.rows(looks, templates) == expected).all()
    # Looked up in a table that knows every second hash, with and without its bits.
    table = (np.arange(2**BITS) % 2 * 7).astype(np.int32)
    rows = np.where(expected >= 0, table[expected], 0)
    assert (reader.rows(looks, templates, table) == rows).all()
    assert (reader.rows(looks, templates, table, known_bits(table)) == rows).all()


def test_atoms_must_exist() -> None:
    with pytest.raises(UnknownName, match=r"Did you mean 's0head\.tag'"):
        Templates.of([("s0head.tga",)])


def test_all_templates_name_atoms() -> None:
    for groups in (STRUCTURE, LABEL):
        for templates in groups.values():
            assert len(Templates.of(templates).atoms) == len(templates)
            assert len(set(templates)) == len(templates)
    assert len(set(ATTRIBUTES)) == len(ATTRIBUTES)


def test_documents_need_edus() -> None:
    with pytest.raises(InvalidDocument, match="no EDUs"):
        Units.of(Document("It rained."))


def test_a_deep_tree() -> None:
    n = 15_000
    tree = RSTTree(n, tuple(Join(i, i + 1, n, "NN", "list") for i in range(n - 1)))
    actions = Actions.of([tree])
    assert replay(n, oracle(tree, actions), actions) == tree
    assert right_branching(left_branching(tree)) == tree
