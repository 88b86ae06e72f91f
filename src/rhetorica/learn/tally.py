"""Counts of very many things that kernels look up and change: a hash table of whole numbers.

Open addressing: a key (at least 0) is kept at the first free slot from where its hash points. A key
whose count has come back to zero keeps its slot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rhetorica.kernels import compiled, part

Longs = NDArray[np.int64]
_FULL = 0.6
_MIX = -7046029254386353131  # 2 ** 64 / the golden ratio, odd: spreads neighbouring keys


@part
def slot_of(keys: Longs, key: int) -> int:
    """Return the slot that holds a key, or the empty one where it belongs."""
    mask: int = keys.shape[0] - 1
    slot: int = ((key * _MIX) >> 17) & mask
    while keys[slot] != key and keys[slot] != -1:
        slot = (slot + 1) & mask
    return slot


class Tally:
    """Whole numbers by key; those that were never changed are 0.

    >>> tally = Tally()
    >>> tally.add(np.array([7, 7, 9]))
    >>> tally.get(np.array([7, 8, 9])).tolist()
    [2, 0, 1]
    """

    def __init__(self, room: int = 1024) -> None:
        self.used = 0
        self._empty(room)

    def _empty(self, room: int) -> None:
        size = 1 << max(4, int(room / _FULL)).bit_length()
        self.keys: Longs = np.full(size, -1, np.int64)
        self.values: Longs = np.zeros(size, np.int64)

    def make_room(self, more: int) -> None:
        """Grow until so many new keys fit; a kernel that adds them cannot."""
        if self.used + more <= _FULL * len(self.keys):
            return
        keys, values = self.items()
        self._empty(2 * (len(keys) + more))
        self.used = _add(self.keys, self.values, keys, values)

    def add(self, keys: Longs, amounts: Longs | int = 1) -> None:
        """Add amounts to the counts of keys; a key may stand there several times."""
        self.make_room(len(keys))
        every = np.broadcast_to(np.asarray(amounts, np.int64), keys.shape)
        self.used += _add(self.keys, self.values, keys, np.ascontiguousarray(every))

    def get(self, keys: Longs) -> Longs:
        """Return the counts of keys."""
        return _get(self.keys, self.values, keys)

    def items(self) -> tuple[Longs, Longs]:
        """Return the keys with a count other than 0, in order, and their counts."""
        [slots] = np.nonzero(self.values)
        order = np.argsort(self.keys[slots])
        return self.keys[slots][order], self.values[slots][order]


@compiled
def _add(table: Longs, values: Longs, keys: Longs, amounts: Longs) -> int:
    new = 0
    for k in range(keys.shape[0]):
        slot = slot_of(table, keys[k])
        if table[slot] == -1:
            table[slot] = keys[k]
            new += 1
        values[slot] += amounts[k]
    return new


@compiled
def _get(table: Longs, values: Longs, keys: Longs) -> Longs:
    found = np.empty(keys.shape[0], np.int64)
    for k in range(keys.shape[0]):
        found[k] = values[slot_of(table, keys[k])]
    return found
