"""On-line learning with path experts: a distribution, or a path, for every round.

Example t is predicted with what the examples before it taught. `wmwp` is weighted majority with
weights on transitions (Takimoto & Warmuth 2003; the paper's equations 2 and 3); `fpl` follows the
leader after random perturbation (Kalai & Vempala 2005).

Equation 3 divides by the weights that leave the same state. That is exact for the full automaton
only; here the products of all losses so far stand on the transitions and are pushed, which is exact
for every automaton and gives equation 3 on the full one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rhetorica.learn.experts.automaton import Automaton
from rhetorica.learn.experts.tables import check_losses

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Noise = Literal["uniform", "exponential"]


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """What an on-line algorithm believed in each of its T rounds.

    ``shares`` (T, positions, experts) is the probability that the path of round t has expert j at
    position k; ``weights`` (T, transitions) are the pushed logarithms behind it; ``losses`` (T) is
    the expected loss that round t suffered; ``bound`` is M.
    """

    automaton: Automaton
    weights: Floats
    shares: Floats
    losses: Floats
    bound: float

    def __len__(self) -> int:
        return len(self.losses)


def wmwp(
    losses: npt.ArrayLike,
    *,
    beta: float,
    automaton: Automaton | None = None,
    bound: float | None = None,
) -> Rounds:
    """Run weighted majority over paths: p_t(h) is proportional to beta ** (losses so far of h).

    ``losses`` (T, positions, experts) may be any loss that adds up over positions. The first round
    has all paths alike.
    """
    if not 0 < beta < 1:
        raise ValueError(f"beta {beta}: expected a number between 0 and 1")
    values, bound = check_losses(losses, bound)
    paths = automaton or Automaton.full(values.shape[2], values.shape[1])
    before = np.zeros_like(values)
    np.cumsum(values[:-1], axis=0, out=before[1:])
    weights = paths.edges(before) * np.log(beta)
    shares = paths.table(paths.marginals(weights))
    suffered = np.einsum("tkj,tkj->t", shares, values)
    return Rounds(paths, paths.push(weights)[0], shares, suffered, bound)


def fpl(
    losses: npt.ArrayLike,
    *,
    epsilon: float | None = None,
    automaton: Automaton | None = None,
    bound: float | None = None,
    noise: Noise = "uniform",
    seed: int = 0,
) -> Rounds:
    """Follow the perturbed leader: the path of the least loss so far plus noise.

    The noise of every transition and round lies between 0 and 1 / epsilon (Kalai & Vempala's FPL),
    or is exponential with mean 1 / epsilon (Hutter & Poland 2005). Epsilon is .5 / (experts x
    positions) unless given, as in the paper. Each round's distribution is its one path.
    """
    values, bound = check_losses(losses, bound)
    n_rounds, length, n_experts = values.shape
    epsilon = 0.5 / (n_experts * length) if epsilon is None else epsilon
    if epsilon <= 0:
        raise ValueError(f"epsilon {epsilon}: expected a number above 0")
    paths = automaton or Automaton.full(n_experts, length)
    before = np.zeros_like(values)
    np.cumsum(values[:-1], axis=0, out=before[1:])
    rng = np.random.default_rng(seed)
    draw = rng.random if noise == "uniform" else rng.standard_exponential
    led, _ = paths.best(-(paths.edges(before) + draw((n_rounds, len(paths.sources))) / epsilon))
    shares = np.zeros_like(values)
    np.put_along_axis(shares, led[..., None], 1.0, axis=2)
    with np.errstate(divide="ignore"):
        weights = paths.edges(np.log(shares))
    suffered = np.einsum("tkj,tkj->t", shares, values)
    return Rounds(paths, _pushed_or_impossible(paths, weights), shares, suffered, bound)


def _pushed_or_impossible(paths: Automaton, weights: Floats) -> Floats:
    """Push weights of which most are minus infinity."""
    ahead = np.where(np.isneginf(weights), -1e9, weights)
    return paths.push(ahead)[0]


def regret_bound(loss: float, n_paths: float, *, beta: float, bound: float) -> float:
    """Return what WMWP can lose at most in all its rounds where the best path loses ``loss``.

    With b = beta ** M: (loss ln(1/beta) + ln N) M / (1 - b), the bound of weighted majority for
    losses in [0, 1] (Littlestone & Warmuth 1994; Freund & Schapire 1997), rescaled.
    """
    return float(bound * (loss * -np.log(beta) + np.log(n_paths)) / -np.expm1(bound * np.log(beta)))


def best_beta(n_paths: float, rounds: int, *, bound: float) -> float:
    """Return the beta with which the regret is at most M sqrt(T ln N / 2), whatever comes.

    >>> round(best_beta(5**10, 200, bound=1.0), 3)
    0.448
    """
    return float(np.exp(-np.sqrt(8 * np.log(n_paths) / max(1, rounds)) / bound))
