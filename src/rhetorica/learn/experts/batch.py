"""From on-line to batch: one rule from the distributions of all rounds (the paper's section 3.3).

First a collection P of rounds is chosen: the suffix {p_t, ..., p_T} with the least

    Gamma(P) = mean over P of the expected losses + M sqrt(log(1 / delta) / |P|)

(the second line of the paper's formula reads it off transition weights, which is exact where they
are the probabilities of transitions: our `Rounds.shares` for every automaton). Then:

- `randomised` (H_Rand): draw a round of P, and a path of that round;
- `majority` (H_MVote, equation 5; of FPL's rounds, H_FPL): the mean of P's distributions votes;
- `cross_validated` (H_CV; of FPL's rounds, H_FPL-CV): the one round whose own vote did best on the
  examples that came after it.

The paper only names the conversions H_CV, H_FPL and H_FPL-CV. They are reconstructed here: H_CV
after Cesa-Bianchi, Conconi & Gentile (2004), whose penalty for few remaining examples we use; the
FPL ones by putting FPL's paths in the place of the distributions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rhetorica.kernels import compiled
from rhetorica.learn.experts.online import Rounds
from rhetorica.learn.experts.rules import Randomised, Scoring, Vote, same_symbol, strongest

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def gamma(losses: Floats, *, bound: float, delta: float) -> float:
    """Return Gamma of a collection, given the expected losses of its rounds.

    >>> round(gamma(np.full(4, 0.25), bound=1.0, delta=np.exp(-1)), 6)
    0.75
    """
    return float(losses.mean() + bound * np.sqrt(-np.log(delta) / len(losses)))


def best_suffix(rounds: Rounds, *, delta: float) -> int:
    """Return the round t from which {p_t, ..., p_T} has the least Gamma; of equals, the longest."""
    if not 0 < delta < 1:
        raise ValueError(f"delta {delta}: expected a number between 0 and 1")
    sizes = np.arange(1, len(rounds) + 1)
    means = np.cumsum(rounds.losses[::-1]) / sizes
    values = means + rounds.bound * np.sqrt(-np.log(delta) / sizes)
    return int(len(rounds) - 1 - (len(values) - 1 - values[::-1].argmin()))


def randomised(rounds: Rounds, *, delta: float = 0.05) -> Randomised:
    """Return H_Rand."""
    start = best_suffix(rounds, delta=delta)
    return Randomised(rounds.automaton, rounds.weights[start:])


def majority(
    rounds: Rounds, *, delta: float = 0.05, restrict: bool = False, scoring: Scoring = "product"
) -> Vote:
    """Return H_MVote: probabilities of experts at positions, averaged over P, as votes.

    ``restrict`` allows outputs of the automaton's paths only.
    """
    start = best_suffix(rounds, delta=delta)
    within = rounds.automaton if restrict else None
    return Vote(rounds.shares[start:].mean(axis=0), within, scoring)


def cross_validated(
    rounds: Rounds, symbols: Ints, losses: Floats, *, delta: float = 0.05
) -> tuple[Vote, int]:
    """Return H_CV, and its round: the vote of one round, chosen by what came after it.

    Round t has seen the examples before t, so its loss on examples t, ..., T is honest. The least
    mean loss plus M sqrt(log(T (T + 1) / delta) / (2 n)), n the number of those examples, wins.
    """
    total = len(rounds)
    # Every vote chooses an expert, so its loss can be read off the table.
    after = np.asarray(_later_losses(same_symbol(symbols), rounds.shares, losses))
    counts = np.arange(total, 0, -1)
    penalty = rounds.bound * np.sqrt(np.log(total * (total + 1) / delta) / (2 * counts))
    chosen = int((after / counts + penalty).argmin())
    return Vote(rounds.shares[chosen]), chosen


@compiled
def _later_losses(codes: Ints, shares: Floats, losses: Floats) -> Floats:
    """Return, for each round, what its vote loses on the examples from its own on."""
    found = np.zeros(shares.shape[0])
    sums = np.zeros(codes.shape[2])
    order = np.arange(codes.shape[2])
    for t in range(shares.shape[0]):
        for n in range(t, codes.shape[0]):
            for k in range(codes.shape[1]):
                found[t] += losses[n, k, strongest(codes[n, k], shares[t, k], order, sums)]
    return found
