"""The shift-reduce transition system that `shift-reduce` and `dplp` share, and its search.

`system` has the actions, the stacks of all states of a search, and the oracle; `search` finds the
best sequences of actions for any function that scores them.
"""

from __future__ import annotations

from rhetorica.parsers.transition.search import Found, Scorer, distributions, search
from rhetorica.parsers.transition.system import (
    SHIFT,
    Actions,
    Forest,
    Item,
    left_branching,
    oracle,
    replay,
    right_branching,
)

__all__ = [
    "SHIFT",
    "Actions",
    "Forest",
    "Found",
    "Item",
    "Scorer",
    "distributions",
    "left_branching",
    "oracle",
    "replay",
    "right_branching",
    "search",
]
