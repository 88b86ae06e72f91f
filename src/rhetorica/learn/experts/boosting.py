"""ESPBoost: boosting of path experts (Algorithm 1 of Cortes, Kuznetsov & Mohri 2014).

Coordinate descent on F(alpha) = 1/(m l) sum over examples i and positions k of
exp(- sum over paths alpha_h rho(h, i, k)), where the margin rho of a path is 1 where its symbol is
right and -1 where it is wrong (0 where it says nothing, which the paper does not have). Each round
takes the path with the steepest descent under the distribution D_t over (i, k), which is the best
path of the automaton with each transition's gain on it, and goes to the minimum along it:

    alpha_t = 1/2 log(R / W),   Z_t = 2 sqrt(R W) + (1 - R - W),

R and W being what D_t gives to the right and the wrong predictions of the path. Where all say
something, W is the paper's epsilon_t, and alpha_t and Z_t are as in Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rhetorica.learn.experts.automaton import Automaton
from rhetorica.learn.experts.rules import Scoring, Vote
from rhetorica.learn.experts.tables import MISSING, Table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Boosted:
    """The paths taken (rounds, positions) with their steps, and why boosting stopped."""

    vote: Vote
    paths: Ints
    steps: Floats
    errors: Floats
    normalisers: Floats
    stopped: str


def espboost(
    table: Table,
    *,
    rounds: int = 100,
    edge: float = 0.0,
    automaton: Automaton | None = None,
    restrict: bool = False,
    scoring: Scoring = "sum",
) -> Boosted:
    """Boost path experts for at most so many rounds.

    It stops earlier where the weak-learning assumption fails (no path is better than chance by more
    than ``edge``, the paper's gamma) and where a path makes no mistake: its best step is infinite,
    so it alone remains. ``stopped`` says which.
    """
    paths = automaton or Automaton.full(table.n_experts, table.length)
    margins = np.where(table.symbols == table.truth[..., None], 1.0, -1.0)
    margins[table.symbols == MISSING] = 0.0
    spread = np.full(table.truth.shape, 1.0 / table.truth.size) if len(table) else np.zeros((0, 0))
    taken: list[Ints] = []
    steps: list[float] = []
    errors: list[float] = []
    normalisers: list[float] = []
    stopped = f"all {rounds} rounds done"
    for number in range(1, rounds + 1 if len(table) else 1):
        gains = np.einsum("ik,ikj->kj", spread, margins)
        path, gain = paths.best(paths.edges(gains))
        if gain <= 2 * edge + 1e-12:
            stopped = (
                f"round {number}: the weak-learning assumption fails, the best path is right on "
                f"{(1 + float(gain)) / 2:.4f} of the weighted positions"
            )
            break
        own = margins[:, np.arange(table.length), path]
        right, wrong = float(spread[own > 0].sum()), float(spread[own < 0].sum())
        if wrong <= 0:
            stopped = f"round {number}: a path without mistakes, which alone remains"
            taken, steps, errors, normalisers = [path], [1.0], [0.0], [1.0 - right]
            break
        step = 0.5 * float(np.log(right / wrong))
        taken.append(path)
        steps.append(step)
        errors.append(wrong)
        spread = spread * np.exp(-step * own)
        normalisers.append(float(spread.sum()))
        spread /= spread.sum()
    weights = np.zeros((table.length, table.n_experts))
    for path, step in zip(taken, steps, strict=True):
        weights[np.arange(table.length), path] += step
    if not taken:
        # Nothing was learned: all experts count the same.
        weights[:] = 1.0
    return Boosted(
        Vote(weights, paths if restrict else None, scoring),
        np.array(taken, dtype=np.int64).reshape(-1, table.length),
        np.array(steps),
        np.array(errors),
        np.array(normalisers),
        stopped,
    )
