"""Every tree there is, one by one: what the decoders are checked against (small n only)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

Joins = tuple[tuple[int, int, int], ...]


def is_tree(heads: tuple[int, ...]) -> bool:
    """Tell whether following heads leads every unit to the root, and there is a root."""
    for unit in range(len(heads)):
        for _ in heads:
            unit = heads[unit]
            if unit < 0:
                break
        else:
            return False
    return True


def is_projective(heads: tuple[int, ...]) -> bool:
    """Tell whether every unit between a head and its dependent descends from that head."""
    for dependent, head in enumerate(heads):
        for between in range(min(head, dependent) + 1, max(head, dependent)) if head >= 0 else ():
            above = between
            while above not in (head, -1):
                above = heads[above]
            if above != head:
                return False
    return True


@cache
def dependency_trees(
    n: int, *, single_root: bool = True, projective: bool = False
) -> list[tuple[int, ...]]:
    """List all dependency trees over n units."""
    choices = [[h for h in range(-1, n) if h != d] for d in range(n)]
    return [
        heads
        for heads in product(*choices)
        if (not single_root or heads.count(-1) == min(n, 1))
        and is_tree(heads)
        and (not projective or is_projective(heads))
    ]


def arc_score(scores: NDArray[np.float64], heads: tuple[int, ...]) -> float:
    return float(sum(scores[h + 1, d + 1] for d, h in enumerate(heads)))


@cache
def binary_trees(i: int, j: int) -> list[Joins]:
    """List all binary trees over the units i:j, joins in preorder."""
    if j - i < 2:
        return [()]
    return [
        ((i, k, j), *left, *right)
        for k in range(i + 1, j)
        for left in binary_trees(i, k)
        for right in binary_trees(k, j)
    ]


def labellings(joins: Joins, labels: int) -> Iterator[tuple[int, ...]]:
    return product(range(labels), repeat=len(joins))
