"""What to do after a mistake: the best actions in any state, not only those of the gold tree.

A gold unit can still be built if it begins where an item of the stack begins and does not end
before the stack does. The next one to build is the smallest of these that holds the item on top:
where it begins with that item, something is missing, so shift; where it ends with it, reduce; else
both lead there (the dynamic oracle of Cross & Huang 2016, section 4, for binary trees).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rhetorica.parsers.transition.system import BOTTOM, Actions, Forest, Ints, Item
from rhetorica.trees import RSTTree

Flags = npt.NDArray[np.bool_]


class DynamicOracle:
    """Tells the best actions in any state of a document whose tree is known.

    >>> from rhetorica.trees import Join
    >>> tree = RSTTree(3, (Join(0, 2, 3, "NS", "b"), Join(0, 1, 2, "SN", "a")))
    >>> actions = Actions.of([tree])
    >>> forest = Forest(3, actions)
    >>> states = forest.run([0, 0, 0, 1, 2])  # the first two EDUs should have been joined at once
    >>> DynamicOracle(tree, actions).targets(forest, states[2:])[0].tolist()
    [[False, True], [False, True], [False, True]]
    """

    def __init__(self, tree: RSTTree, actions: Actions) -> None:
        self.n_edus = tree.n_edus
        self.labels = {(join.start, join.end): actions.reduce(join.label) for join in tree.joins}
        # The units that hold each EDU hang together as a chain: from each unit to the next larger.
        self._above: dict[tuple[int, int], tuple[int, int]] = {}
        for join in tree.joins:
            for part in tree.children(join):
                self._above[part] = (join.start, join.end)

    def targets(self, forest: Forest, states: Ints) -> tuple[Flags, Ints]:
        """Return whether shifting and reducing are right (states, 2), and the label to reduce with.

        The label is that of the gold unit that reducing would make, 0 if it would make none.
        """
        right = np.zeros((len(states), 2), dtype=np.bool_)
        labels = np.zeros(len(states), dtype=np.int64)
        for row, state in enumerate(states.tolist()):
            right[row], labels[row] = self._target(forest.items, state)
        return right, labels

    def _target(self, items: Ints, state: int) -> tuple[tuple[bool, bool], int]:
        start, end, below = (int(items[state, c]) for c in (Item.START, Item.END, Item.BELOW))
        if state == BOTTOM or below == BOTTOM:
            return (True, False), 0
        label = self.labels.get((int(items[below, Item.START]), end), 0)
        if end == self.n_edus:
            return (False, True), label
        unit = self._above[start, start + 1]
        at = state
        while True:
            if unit[1] >= end and unit != (start, end):
                while at != BOTTOM and int(items[at, Item.START]) > unit[0]:
                    at = int(items[at, Item.BELOW])
                if at != BOTTOM and int(items[at, Item.START]) == unit[0]:
                    break
            unit = self._above[unit]
        if unit[0] == start:
            return (True, False), label
        return (unit[1] > end, True), label
