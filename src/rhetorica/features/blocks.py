"""Long texts in blocks: what is too long to be parsed at once is cut where a paragraph begins.

The neural parser does not cut like this: it solves whole paragraphs (or sentences), however short,
and then the row of them, so that a tree keeps to the text's own units (`parsers.neural.decode`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def blocks(begins: Sequence[bool] | npt.NDArray[np.bool_], largest: int) -> list[range]:
    """Cut a row of units into blocks of at most ``largest``, as long as can be.

    ``begins[i]`` tells that unit i begins something new (a paragraph): a block ends before the last
    such unit in reach, or, where there is none, when it is full.

    >>> blocks([True, False, True, False, False, False, False], 3)
    [range(0, 2), range(2, 5), range(5, 7)]
    """
    found, start, n = [], 0, len(begins)
    while start < n:
        end = min(start + largest, n)
        if end < n:
            end = next((at for at in range(end, start, -1) if begins[at]), end)
        found.append(range(start, end))
        start = end
    return found
