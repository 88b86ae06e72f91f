"""Pieces of any number -> windows of one size for the encoder, and their states back into one row.

All windows of a text are equally long, so a batch needs no padding, and neighbours overlap: each
piece takes its state from the window in which it stands farther from the edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

WIDTH = 254
"""Pieces in a window; with the two special pieces that stand around them it is 256."""
OVERLAP = 24


def window_starts(length: int, *, width: int = WIDTH, overlap: int = OVERLAP) -> Ints:
    """Return where the windows over ``length`` pieces begin, evenly spread.

    >>> window_starts(10, width=4, overlap=2).tolist()
    [0, 2, 4, 6]
    >>> window_starts(3, width=4, overlap=2).tolist()
    [0]
    """
    if length <= width:
        return np.zeros(min(length, 1), dtype=np.int64)
    count = 1 + -(-(length - width) // (width - overlap))
    return np.linspace(0, length - width, count).round().astype(np.int64)


def owned_ranges(starts: Ints, length: int, *, width: int = WIDTH) -> list[tuple[int, int]]:
    """Return, for each window, the range of pieces that take their state from it.

    >>> owned_ranges(np.array([0, 2, 4, 6]), 10, width=4)
    [(0, 3), (3, 5), (5, 7), (7, 10)]
    """
    middles = [(int(left) + width + int(right)) // 2 for left, right in pairwise(starts)]
    bounds = [0, *middles, length]
    return list(pairwise(bounds))


def fill_windows(row: Ints, starts: Ints, first: int, last: int, *, width: int = WIDTH) -> Ints:
    """Return the windows over a row of ids, with a special id before and after each."""
    size = min(width, len(row))
    table = np.empty((len(starts), size + 2), dtype=np.int64)
    table[:, 0], table[:, -1] = first, last
    if len(starts):
        table[:, 1:-1] = row[starts[:, None] + np.arange(size)]
    return table


def stitch(
    row: Floats, states: Floats, starts: Sequence[int], ranges: Sequence[tuple[int, int]]
) -> None:
    """Copy what each window owns into the row of all states, (pieces, dimensions).

    The first state of a window is that of the special piece before it.
    """
    for window, start, (begin, end) in zip(states, starts, ranges, strict=True):
        row[begin:end] = window[begin - start + 1 : end - start + 1]
