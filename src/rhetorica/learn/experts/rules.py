"""What learning returns: rules that make one sequence of what the experts say.

Every deterministic rule of the paper comes down to `Vote`: a weight for each expert at each
position. `Randomised` draws a path expert for every example (equation 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rhetorica.kernels import compiled, part
from rhetorica.learn.experts.automaton import Automaton
from rhetorica.learn.experts.tables import MISSING

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Scoring = Literal["sum", "product"]


@dataclass(frozen=True, slots=True, eq=False)
class Vote:
    """The symbol with the most weight at each position.

    Symbols with equal votes: that of the first expert, in the order of ``first`` (experts that it
    does not name follow). Where no expert with a weight says anything, the others are asked.

    With ``within``, only outputs of that automaton's paths are allowed: the path whose symbols have
    the most votes, added up or (``scoring`` "product", as in equation 5) multiplied. Without it
    every sequence is allowed, and both ways of scoring choose the best symbol of each position.

    >>> vote = Vote(np.array([[2.0, 1.0, 1.5]]))
    >>> vote.predict(np.array([[[7, 8, 8]]])).tolist()
    [[8]]
    """

    weights: Floats
    within: Automaton | None = None
    scoring: Scoring = "product"
    first: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.weights.ndim != 2 or not np.isfinite(self.weights).all():
            raise ValueError("votes need a finite weight for each position and expert")

    def choose(self, symbols: Ints) -> Ints:
        """Return, for each example and position, an expert whose symbol is the ensemble's."""
        _check(symbols, self.weights.shape)
        codes = same_symbol(symbols)
        if self.within is None or self.within.is_full:
            rest = [j for j in range(self.weights.shape[1]) if j not in self.first]
            order = np.array([*self.first, *rest], dtype=np.int64)
            return np.asarray(_strongest(codes, self.weights, order))
        totals = np.asarray(_totals(codes, self.weights))
        if self.scoring == "product":
            with np.errstate(divide="ignore"):
                totals = np.maximum(np.log(totals), -1e9)
        return self.within.best(self.within.edges(totals))[0]

    def predict(self, symbols: Ints) -> Ints:
        """Return the ensemble's symbols (examples, positions)."""
        return take(symbols, self.choose(symbols))


@dataclass(frozen=True, slots=True, eq=False)
class Randomised:
    """One of several distributions over paths, drawn for each example, and a path from it.

    ``weights`` (distributions, transitions) are pushed logarithms.
    """

    automaton: Automaton
    weights: Floats

    def predict(self, symbols: Ints, rng: np.random.Generator) -> Ints:
        """Return symbols (examples, positions) of paths drawn afresh."""
        _check(symbols, (self.automaton.length, self.automaton.n_experts))
        drawn = rng.integers(len(self.weights), size=len(symbols))
        paths = np.zeros(symbols.shape[:2], dtype=np.int64)
        for which in np.unique(drawn):
            here = drawn == which
            paths[here] = self.automaton.sample(self.weights[which], int(here.sum()), rng)
        return take(symbols, paths)

    def shares(self) -> Floats:
        """Return the probability of each expert at each position (positions, experts)."""
        every = self.automaton.table(self.automaton.marginals(self.weights))
        return np.asarray(every.mean(axis=0))

    def expected_loss(self, losses: Floats) -> float:
        """Return the mean over examples of the expected loss, for a loss that adds up."""
        return float((losses * self.shares()).sum(axis=(1, 2)).mean())


def take(table: npt.NDArray[np.int64], chosen: Ints) -> Ints:
    """Pick the chosen expert's entry (examples, positions) of a table over experts."""
    return np.asarray(np.take_along_axis(table, chosen[..., None], axis=2)[..., 0])


def _check(symbols: Ints, shape: tuple[int, ...]) -> None:
    if symbols.ndim != 3 or symbols.shape[1:] != shape:
        raise ValueError(
            f"predictions of shape {symbols.shape}: this ensemble was learned for (examples, "
            f"{shape[0]} positions, {shape[1]} experts)"
        )


def same_symbol(symbols: Ints) -> Ints:
    """Return, for each prediction, the first expert that says the same; -1 where it is missing.

    >>> same_symbol(np.array([[[5, 7, 5, -1]]])).tolist()
    [[[0, 1, 0, -1]]]
    """
    return np.asarray(_first_sayers(symbols, MISSING))


@compiled
def _first_sayers(symbols: Ints, missing: int) -> Ints:
    codes = np.full(symbols.shape, -1, dtype=np.int64)
    for n in range(symbols.shape[0]):
        for k in range(symbols.shape[1]):
            for j in range(symbols.shape[2]):
                if symbols[n, k, j] != missing:
                    first = 0
                    while symbols[n, k, first] != symbols[n, k, j]:
                        first += 1
                    codes[n, k, j] = first
    return codes


@part
def sum_votes(codes: Ints, weights: Floats, sums: Floats) -> float:
    """Add up a position's votes at the first sayer of each symbol; return the highest sum."""
    sums[:] = 0
    for j in range(len(codes)):
        if codes[j] >= 0:
            sums[codes[j]] += weights[j]
    best = -np.inf
    for j in range(len(codes)):
        if codes[j] == j and sums[j] > best:
            best = sums[j]
    return best


@part
def strongest(codes: Ints, weights: Floats, order: Ints, sums: Floats) -> int:
    """Return the first expert in ``order`` whose symbol has the most votes at one position."""
    best = sum_votes(codes, weights, sums)
    # Sums that rounding has parted are equal.
    slack = 1e-12 * (1 + weights.sum())
    for j in order:
        if codes[j] >= 0 and sums[codes[j]] >= best - slack:
            return int(j)
    return int(order[0])


@compiled
def _totals(codes: Ints, weights: Floats) -> Floats:
    """Return the votes that each expert's symbol has."""
    totals = np.zeros(codes.shape)
    sums = np.zeros(codes.shape[2])
    for n in range(codes.shape[0]):
        for k in range(codes.shape[1]):
            sum_votes(codes[n, k], weights[k], sums)
            for j in range(codes.shape[2]):
                if codes[n, k, j] >= 0:
                    totals[n, k, j] = sums[codes[n, k, j]]
    return totals


@compiled
def _strongest(codes: Ints, weights: Floats, order: Ints) -> Ints:
    chosen = np.zeros(codes.shape[:2], dtype=np.int64)
    sums = np.zeros(codes.shape[2])
    for n in range(codes.shape[0]):
        for k in range(codes.shape[1]):
            chosen[n, k] = strongest(codes[n, k], weights[k], order, sums)
    return chosen
