"""Cores: how many this process may use, how many are idle, and small work done on several of them.

Threads, not processes: nothing is copied. Kernels, matrix products and the encoder let go of the
interpreter; the rest takes turns. For many documents, processes (`rhetorica.batch`) gain more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def allowed() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def free() -> int:
    """Return how many threads would find a core: the idle ones, and that of the caller.

    The system's load of the last minute counts the caller, too. Where it is not told, none is idle.
    """
    try:
        load = os.getloadavg()[0]
    except (AttributeError, OSError):
        return 1
    return max(1, int(allowed() - max(0.0, load - 1)))


def side_by_side(work: Callable[[T], R], items: Iterable[T], *, together: bool = True) -> list[R]:
    """Do the work for all items, in order, on the cores that are free.

    The result does not depend on how many there are. The first error, in the order of the items, is
    raised when all are done. ``together=False`` does one after another: the memory of all at once
    may be too much.

    >>> side_by_side(str.upper, ["a", "b"])
    ['A', 'B']
    """
    todo = list(items)
    threads = min(free(), len(todo)) if together else 1
    if threads < 2:
        return [work(item) for item in todo]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, todo))
