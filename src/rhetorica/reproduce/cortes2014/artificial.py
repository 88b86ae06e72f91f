"""The artificial data of Cortes, Kuznetsov & Mohri (2014), section 5.1: ADS1, ADS2, ADS3.

Sequences of 10 letters from a Markov chain; five experts that make mistakes of a designed kind. The
paper leaves the chain open: ours has transition probabilities drawn from a flat Dirichlet
distribution with a fixed seed.

The text and the figures of the paper disagree, so there are two settings. `described` is the text.
`implied` is what the figures can come from:

- ADS1: .98 and .3 instead of .97 and .5 (with these the best path would lose .030, the best expert
  .406; the table has .0197 and .5635; .98 and .3 give .020 and .564);
- ADS3: .6 instead of .7 (with .7 no expert could lose more than .24, the table has .2957), and a
  mistake that all experts share: three right votes of five are then needed, and a vote loses
  .4**4 + 4 * .6 * .4**3 = .1792 (the table has .1788);
- a loss of 1 a position in beta ** loss, not of 1/10: with 1/10, weights hardly move in 200 rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rhetorica.learn.experts import Table

Ints = npt.NDArray[np.int64]
Reading = Literal["described", "implied"]
LETTERS, LENGTH, EXPERTS = 26, 10, 5


@dataclass(frozen=True, slots=True)
class Design:
    """How the experts of the three sets behave."""

    high: float
    low: float
    outside: float
    shared: bool


DESIGNS: dict[Reading, Design] = {
    "described": Design(high=0.97, low=0.5, outside=0.7, shared=False),
    "implied": Design(high=0.98, low=0.3, outside=0.6, shared=True),
}


def markov_sequences(count: int, rng: np.random.Generator) -> Ints:
    """Draw sequences (count, 10) of letters 0 to 25 from a random Markov chain."""
    steps = rng.dirichlet(np.ones(LETTERS), size=LETTERS).cumsum(axis=1)
    rows = np.zeros((count, LENGTH), dtype=np.int64)
    rows[:, 0] = rng.integers(LETTERS, size=count)
    for k in range(1, LENGTH):
        draws = rng.random(count)[:, None] * steps[rows[:, k - 1], -1:]
        rows[:, k] = (draws > steps[rows[:, k - 1]]).sum(axis=1)
    return rows


def neighbours(rows: Ints, rng: np.random.Generator) -> Ints:
    """Return a neighbouring letter of each: a or c for b, always b for a."""
    moved: Ints = rows + rng.choice([-1, 1], size=rows.shape)
    moved[moved < 0] = 1
    moved[moved >= LETTERS] = LETTERS - 2
    return moved


def ads1(count: int, design: Design, seed: int) -> Table:
    """Make experts that are good at two positions each."""
    rng = np.random.default_rng(seed)
    truth = markov_sequences(count, rng)
    own = np.arange(LENGTH)[:, None] // 2 == np.arange(EXPERTS)
    right = rng.random((count, LENGTH, EXPERTS)) < np.where(own, design.high, design.low)
    return _with_mistakes(truth, right, rng, shared=design.shared)


def ads2(count: int, design: Design, seed: int) -> Table:
    """Make experts that are wrong at four positions of each sequence, drawn anew."""
    rng = np.random.default_rng(seed)
    truth = markov_sequences(count, rng)
    ranks = rng.random((count, LENGTH, EXPERTS)).argsort(axis=1).argsort(axis=1)
    return _with_mistakes(truth, ranks >= 4, rng, shared=False)


def ads3(count: int, design: Design, seed: int) -> Table:
    """Make experts that are always right about a fifth of the letters each."""
    rng = np.random.default_rng(seed)
    truth = markov_sequences(count, rng)
    own = truth[..., None] * EXPERTS // LETTERS == np.arange(EXPERTS)
    right = own | (rng.random((count, LENGTH, EXPERTS)) < design.outside)
    return _with_mistakes(truth, right, rng, shared=design.shared)


def _with_mistakes(
    truth: Ints, right: npt.NDArray[np.bool_], rng: np.random.Generator, *, shared: bool
) -> Table:
    spread = np.repeat(truth[..., None], EXPERTS, axis=2)
    wrong = neighbours(truth, rng)[..., None] if shared else neighbours(spread, rng)
    return Table(np.where(right, spread, wrong), truth)


SETS = {"ADS1": ads1, "ADS2": ads2, "ADS3": ads3}
