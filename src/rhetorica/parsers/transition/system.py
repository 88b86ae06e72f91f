"""Shift and reduce: actions, the stacks of all states of a search, oracle and replay.

A parser reads EDUs from a queue. "Shift" puts the next one on a stack; "reduce" joins the two
subtrees on top into one, with a nuclearity and a relation. A tree over n EDUs takes 2n - 1 actions,
and there is exactly one sequence for each tree: its nodes in postorder.

Stacks are linked: an `Item` is a subtree together with the item below it, so that a stack is its
top item, two states share what lies below, and no stack is ever copied. The EDUs that are left in
the queue begin where the top item ends. A state *is* therefore the number of an item, and a
`Forest` is a table of items; the states that led to it can be read off it, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from rhetorica.errors import InvalidTree
from rhetorica.kernels import compiled
from rhetorica.trees import NUCLEARITIES, Join, Label, RSTTree

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SHIFT = 0
"""The number of the action that takes the next EDU; all other actions reduce."""
BOTTOM = 0
"""The item below every stack: the state in which nothing has been read."""


@dataclass(frozen=True, slots=True)
class Actions:
    """What a parser can do: action 0 shifts, action i reduces with ``labels[i - 1]``.

    >>> actions = Actions((Label("NS", "cause"), Label("NN", "list")))
    >>> len(actions), actions.reduce(Label("NN", "list")), actions.label(1)
    (3, 2, Label(nuclearity='NS', relation='cause'))
    """

    labels: tuple[Label, ...]
    _numbers: dict[Label, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for nuclearity, relation in self.labels:
            if nuclearity not in NUCLEARITIES:
                raise InvalidTree(f"{nuclearity!r} ({relation}) is not NS, SN or NN")
        numbers = {label: i for i, label in enumerate(self.labels, 1)}
        if len(numbers) != len(self.labels):
            raise InvalidTree("an action's label is there twice: each may occur once")
        object.__setattr__(self, "_numbers", numbers)

    @classmethod
    def of(cls, trees: Iterable[RSTTree]) -> Actions:
        """Collect the labels of trees, in a fixed order."""
        return cls(tuple(sorted({join.label for tree in trees for join in tree.joins})))

    def __len__(self) -> int:
        """Return the number of actions, shift included."""
        return 1 + len(self.labels)

    def reduce(self, label: Label) -> int:
        """Return the number of the action that reduces with this label."""
        try:
            return self._numbers[label]
        except KeyError:
            raise InvalidTree(
                f"no action makes a join {label.nuclearity} {label.relation!r}: the parser knows "
                f"{len(self.labels)} labels, this is not one of them"
            ) from None

    def label(self, action: int) -> Label:
        """Return nuclearity and relation of a reduce action."""
        return self.labels[action - 1]

    def nuclearities(self) -> Ints:
        """Return, for each action, the place of its nuclearity in `NUCLEARITIES`, -1 for shift."""
        return np.array([-1, *(NUCLEARITIES.index(n) for n, _ in self.labels)], dtype=np.int64)


def oracle(tree: RSTTree, actions: Actions) -> list[int]:
    """Return the sequence of actions that builds a tree.

    >>> tree = RSTTree(3, (Join(0, 2, 3, "NS", "b"), Join(0, 1, 2, "SN", "a")))
    >>> actions = Actions.of([tree])
    >>> oracle(tree, actions)
    [0, 0, 2, 0, 1]
    >>> replay(3, oracle(tree, actions), actions) == tree
    True
    """
    # Among the joins that end at one EDU, the shortest is built first; preorder has it last.
    ending: list[list[int]] = [[] for _ in range(tree.n_edus + 1)]
    for join in reversed(tree.joins):
        ending[join.end].append(actions.reduce(join.label))
    return [action for end in range(1, tree.n_edus + 1) for action in (SHIFT, *ending[end])]


def replay(n_edus: int, sequence: Sequence[int], actions: Actions) -> RSTTree:
    """Return the tree that a sequence of actions builds."""
    stack: list[tuple[int, int]] = []
    joins: list[Join] = []
    read = 0
    for step, action in enumerate(sequence):
        if action == SHIFT and read < n_edus:
            stack.append((read, read + 1))
            read += 1
        elif 0 < action < len(actions) and len(stack) > 1:
            (split, end), (start, _) = stack.pop(), stack.pop()
            stack.append((start, end))
            joins.append(Join(start, split, end, *actions.label(action)))
        else:
            raise InvalidTree(
                f"action {action} (step {step}) cannot be taken with {len(stack)} items on the "
                f"stack, {n_edus - read} EDUs in the queue and {len(actions)} actions"
            )
    if read < n_edus or len(stack) > 1:
        raise InvalidTree(
            f"the actions end with {len(stack)} items on the stack and {n_edus - read} EDUs in the "
            "queue: no tree yet"
        )
    return RSTTree.from_joins(n_edus, joins)


class Item(IntEnum):
    """The columns of a forest: what is known of a subtree on a stack.

    EDUs ``START:END`` (half-open), the ``HEAD`` EDU (that of the nucleus, of the left one if there
    are two), the items ``LEFT`` and ``RIGHT`` that were joined (0 for an EDU), the ``ACTION`` that
    made it (-1 for the bottom), the item ``BELOW`` it on the stack, the ``DEPTH`` of the stack.
    """

    START = 0
    END = 1
    HEAD = 2
    LEFT = 3
    RIGHT = 4
    ACTION = 5
    BELOW = 6
    DEPTH = 7


START, END, HEAD, LEFT, RIGHT, ACTION, BELOW, DEPTH = map(int, Item)  # as kernels want them


class Forest:
    """The items, and so the states, of a search over one document.

    >>> forest = Forest(2, Actions((Label("NS", "cause"),)))
    >>> state = BOTTOM
    >>> for action in (0, 0, 1):
    ...     [state] = forest.apply(np.array([state]), np.array([action]))
    >>> forest.tree(int(state)).joins
    (Join(start=0, split=1, end=2, nuclearity='NS', relation='cause'),)
    """

    def __init__(self, n_edus: int, actions: Actions, *, width: int = 1) -> None:
        """Make a forest with room for a beam of ``width`` states a step (it grows if need be)."""
        if n_edus < 0:
            raise InvalidTree(f"a document cannot have {n_edus} EDUs")
        self.n_edus = n_edus
        self.actions = actions
        self.size = 1
        # A very wide beam is seldom full: room for it is made when it is needed.
        capacity = 1 + min(width, 64) * max(1, 2 * n_edus - 1)
        self.items: Ints = np.zeros((capacity, len(Item)), dtype=np.int64)
        self.items[BOTTOM, Item.HEAD] = self.items[BOTTOM, Item.ACTION] = -1
        self.nuclearities = actions.nuclearities()
        self._right_headed = self.nuclearities == NUCLEARITIES.index("SN")

    def column(self, column: Item, items: Ints) -> Ints:
        """Return one column of some items (an array of any shape)."""
        return np.asarray(self.items[items, column])

    def stack(self, states: Ints, depth: int) -> Ints:
        """Return the ``depth`` top items of each state: (states, depth), 0 where there are none."""
        found = np.empty((len(states), depth), dtype=np.int64)
        at = states
        for place in range(depth):
            found[:, place] = at
            at = self.items[at, Item.BELOW]
        return found

    def queue(self, states: Ints) -> Ints:
        """Return the first EDU in the queue of each state; ``n_edus`` where it is empty."""
        return self.column(Item.END, states)

    def valid(self, states: Ints) -> Flags:
        """Tell which actions can be taken: (states, actions)."""
        allowed = np.empty((len(states), len(self.actions)), dtype=np.bool_)
        allowed[:, SHIFT] = self.items[states, Item.END] < self.n_edus
        allowed[:, SHIFT + 1 :] = (self.items[states, Item.DEPTH] > 1)[:, None]
        return allowed

    def apply(self, states: Ints, actions: Ints) -> Ints:
        """Take one valid action in each state; return the new states (new items)."""
        count = len(states)
        while self.size + count > len(self.items):
            self.items = np.concatenate([self.items, np.zeros_like(self.items)])
        _apply(self.items, self.size, states, actions, self._right_headed)
        self.size += count
        return np.arange(self.size - count, self.size)

    def run(self, sequence: Sequence[int]) -> Ints:
        """Take a sequence of valid actions from the start; return the state before each."""
        states = np.empty(len(sequence), dtype=np.int64)
        state = np.array([BOTTOM])
        for step, action in enumerate(sequence):
            states[step] = state[0]
            state = self.apply(state, np.array([action]))
        return states

    def path(self, state: int) -> tuple[Ints, Ints]:
        """Return how a state came about: the states before each action, and the actions."""
        states, actions = [], []
        while state != BOTTOM:
            action = int(self.items[state, Item.ACTION])
            state = int(self.items[state, Item.BELOW if action == SHIFT else Item.RIGHT])
            states.append(state)
            actions.append(action)
        return np.array(states[::-1], dtype=np.int64), np.array(actions[::-1], dtype=np.int64)

    def tree(self, state: int) -> RSTTree:
        """Return the tree of a state in which everything has been read and joined."""
        return replay(self.n_edus, self.path(state)[1].tolist(), self.actions)


@compiled
def _apply(items: Ints, size: int, states: Ints, actions: Ints, right_headed: Flags) -> None:
    """Write the items that actions make below the first ``size``; columns as in `Item`."""
    for i in range(len(states)):
        state, taken, new = states[i], actions[i], size + i
        other = items[state, BELOW]
        items[new, ACTION] = taken
        if taken == 0:
            items[new, START] = items[new, HEAD] = items[state, END]
            items[new, END] = items[state, END] + 1
            items[new, LEFT] = items[new, RIGHT] = 0
            items[new, BELOW] = state
            items[new, DEPTH] = items[state, DEPTH] + 1
        else:
            items[new, START] = items[other, START]
            items[new, END] = items[state, END]
            items[new, HEAD] = items[state if right_headed[taken] else other, HEAD]
            items[new, LEFT] = other
            items[new, RIGHT] = state
            items[new, BELOW] = items[other, BELOW]
            items[new, DEPTH] = items[other, DEPTH]


def left_branching(tree: RSTTree) -> RSTTree:
    """Let neighbouring nuclei of one relation branch to the left.

    A shift-reduce parser can then add each nucleus when it is complete; right-branching, all of
    them wait on the stack until the last has been read (Sagae & Lavie 2005, section 2, branch to
    the left for the same reason). `right_branching` undoes it.

    >>> tree = RSTTree(3, (Join(0, 1, 3, "NN", "list"), Join(1, 2, 3, "NN", "list")))
    >>> left_branching(tree).joins[1]
    Join(start=0, split=1, end=2, nuclearity='NN', relation='list')
    >>> right_branching(left_branching(tree)) == tree
    True
    """
    return _rebranch(tree, to_left=True)


def right_branching(tree: RSTTree) -> RSTTree:
    """Let neighbouring nuclei of one relation branch to the right.

    A list whose first member is a list of the same relation becomes one list.
    """
    return _rebranch(tree, to_left=False)


def _rebranch(tree: RSTTree, *, to_left: bool) -> RSTTree:
    """Let all joins of one multinuclear relation that hang together branch to one side."""
    # For each range below a multinuclear join, the top of what hangs together there.
    top_of: dict[tuple[int, int], Join] = {}
    splits: dict[Join, list[int]] = {}
    joins: list[Join] = []
    for join in tree.joins:  # preorder: tops come first
        if join.nuclearity != "NN":
            joins.append(join)
            continue
        top = top_of.get((join.start, join.end), join)
        if top.relation != join.relation:
            top = join
        splits.setdefault(top, []).append(join.split)
        for part in tree.children(join):
            top_of[part] = top
    for top, inner in splits.items():
        bounds = [top.start, *sorted(inner), top.end]
        for i in range(1, len(bounds) - 1):
            start, end = (top.start, bounds[i + 1]) if to_left else (bounds[i - 1], top.end)
            joins.append(Join(start, bounds[i], end, "NN", top.relation))
    return RSTTree.from_joins(tree.n_edus, joins)
