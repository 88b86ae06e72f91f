"""What ensembles learn from: what each expert says at each position, and what is right.

Symbols are whole numbers. `PAD` fills sequences up to one length and is a symbol like others (as in
the paper's section 5.5: an expert that says more or less than it should is wrong there); `MISSING`
is an expert that says nothing: it is always wrong and has no vote.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rhetorica.errors import Mismatch

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MISSING = -1
PAD = -2


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Predictions ``symbols`` (examples, positions, experts) and ``truth`` (examples, positions).

    >>> table = Table.of(["ab", "b"], [["ab", "c"], ["bb", None]], pad=True)
    >>> table.symbols.shape, table.hamming().sum(axis=(0, 1)).tolist()
    ((2, 2, 2), [1.0, 3.0])
    """

    symbols: Ints
    truth: Ints

    def __post_init__(self) -> None:
        if self.symbols.ndim != 3 or self.truth.shape != self.symbols.shape[:2]:
            raise ValueError(
                f"predictions of shape {self.symbols.shape} and truth of {self.truth.shape}: "
                "expected (examples, positions, experts) and (examples, positions)"
            )
        if self.symbols.shape[2] == 0 or self.symbols.shape[1] == 0:
            raise ValueError("an ensemble needs at least one expert and one position")
        if (self.truth == MISSING).any():
            raise ValueError("an example has no right symbol at some position: leave it out")

    @classmethod
    def of(
        cls,
        truth: Sequence[Sequence[Hashable]],
        experts: Sequence[Sequence[Sequence[Hashable] | None]],
        *,
        pad: bool = False,
        codes: dict[Hashable, int] | None = None,
    ) -> Table:
        """Give the symbols numbers; ``experts`` holds a list of sequences for each expert.

        None stands for a sequence that an expert does not have. With ``pad``, sequences are filled
        up to the longest; without, unequal lengths are an error. ``codes`` keeps the numbers.
        """
        codes = {} if codes is None else codes
        for name, said in enumerate(experts):
            if len(said) != len(truth):
                raise Mismatch(f"expert {name} has {len(said)} sequences, expected {len(truth)}")
        lengths = {len(s) for said in (truth, *experts) for s in said if s is not None}
        if not pad and len(lengths) > 1:
            where = _first_unequal(truth, experts)
            raise Mismatch(f"{where}: lengths must agree; give pad=True to fill them up")
        longest = max(lengths, default=0)

        def rows(said: Sequence[Sequence[Hashable] | None]) -> Ints:
            table = np.full((len(said), longest), PAD, dtype=np.int64)
            for row, sequence in zip(table, said, strict=True):
                if sequence is None:
                    row[:] = MISSING
                    continue
                for at, symbol in enumerate(sequence):
                    row[at] = codes.setdefault(symbol, len(codes))
            return table

        right = rows(truth)
        return cls(np.stack([rows(said) for said in experts], axis=-1), right)

    def __len__(self) -> int:
        return len(self.truth)

    def __getitem__(self, rows: slice | Ints | npt.NDArray[np.bool_]) -> Table:
        return Table(self.symbols[rows], self.truth[rows])

    @property
    def length(self) -> int:
        """Return the number of positions."""
        return int(self.symbols.shape[1])

    @property
    def n_experts(self) -> int:
        """Return the number of experts."""
        return int(self.symbols.shape[2])

    def hamming(self, *, normalised: bool = False) -> Floats:
        """Return the Hamming loss of every prediction: 1, or 1 / length, where it is wrong."""
        wrong: Floats = (self.symbols != self.truth[..., None]).astype(np.float64)
        return np.asarray(wrong / self.length) if normalised else wrong


def _first_unequal(
    truth: Sequence[Sequence[Hashable]], experts: Sequence[Sequence[Sequence[Hashable] | None]]
) -> str:
    length = len(truth[0]) if truth else 0
    for at, right in enumerate(truth):
        if len(right) != length:
            return f"example {at} has {len(right)} positions, example 0 has {length}"
        for name, said in enumerate(experts):
            row = said[at]
            if row is not None and len(row) != length:
                return f"expert {name} has {len(row)} positions in example {at}, truth has {length}"
    return "unequal lengths"


def check_losses(losses: npt.ArrayLike, bound: float | None) -> tuple[Floats, float]:
    """Return losses (examples, positions, experts) and M, the most that a sequence may lose.

    Without ``bound``, M is the largest loss that any mixture of experts has. A loss that is
    negative, not a number, or over the bound is an error: the guarantees would not hold.
    """
    values = np.asarray(losses, dtype=np.float64)
    if values.ndim != 3:
        raise ValueError(f"losses of shape {values.shape}: expected (examples, positions, experts)")
    if not np.isfinite(values).all() or (values < 0).any():
        at = np.argwhere(~np.isfinite(values) | (values < 0))[0]
        raise ValueError(
            f"loss {values[tuple(at)]} of expert {at[2]} at position {at[1]} of example {at[0]}: "
            "losses are finite and not negative"
        )
    most = values.max(axis=2).sum(axis=1) if values.size else np.zeros(0)
    found = float(most.max(initial=0.0))
    if bound is None:
        return values, found or 1.0
    if bound <= 0:
        raise ValueError(f"bound {bound}: the most that a sequence may lose is above 0")
    # Sums of 1 / length differ from 1 in their last digits.
    if found > bound * (1 + 1e-9):
        raise ValueError(
            f"example {int(most.argmax())} can lose {found:g}, more than the bound {bound:g}: "
            "give a larger bound, or losses divided by the number of positions"
        )
    return values, float(bound)
