"""Whole experts chosen: SLE, and the two baselines that every ensemble should beat.

`sle` is the greedy forward selection of Nguyen & Guo (2007), after Caruana et al. (2004): round by
round the expert is added (again, if it helps) with which the plain vote of those chosen loses least
on the training examples. An expert has one weight for all positions: its number of choices.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rhetorica.kernels import compiled
from rhetorica.learn.experts.rules import Vote, same_symbol
from rhetorica.learn.experts.tables import Table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def best_expert(table: Table) -> Vote:
    """Return the expert with the fewest mistakes on the training examples."""
    weights = np.zeros((table.length, table.n_experts))
    weights[:, table.hamming().sum(axis=(0, 1)).argmin()] = 1.0
    return Vote(weights)


def plain_majority(table: Table) -> Vote:
    """Return the vote in which all experts count the same."""
    return Vote(np.ones((table.length, table.n_experts)))


def sle(table: Table, *, rounds: int = 100, seed: int = 0) -> Vote:
    """Return the structured learning ensemble after so many choices.

    One of equally good choices is drawn; of symbols with equal votes, that of the expert chosen
    first is taken. (The sources leave both open; see docs/ensembles.md.) Positions where none of
    the chosen says anything count as mistakes.
    """
    codes = same_symbol(table.symbols)
    shape = codes.shape
    votes = np.zeros(shape, dtype=np.int64)
    ranks = np.full(shape, shape[2], dtype=np.int64)
    counts = np.zeros(shape[2], dtype=np.int64)
    order: list[int] = []
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        rank = np.full(shape[2], len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        mistakes = np.asarray(_with_one_more(table.symbols, table.truth, codes, votes, ranks, rank))
        added = int(rng.choice(np.flatnonzero(mistakes == mistakes.min())))
        if not counts[added]:
            order.append(added)
        counts[added] += 1
        rows, columns = np.nonzero(codes[..., added] >= 0)
        heard = (rows, columns, codes[rows, columns, added])
        votes[heard] += 1
        ranks[heard] = np.minimum(ranks[heard], rank[added])
    weights = np.tile(counts.astype(np.float64), (table.length, 1))
    return Vote(weights, first=tuple(order))


@compiled
def _with_one_more(
    symbols: Ints, truth: Ints, codes: Ints, votes: Ints, ranks: Ints, rank: Ints
) -> Ints:
    """Return the mistakes of the vote with each expert added.

    ``votes`` and ``ranks`` (the place in the order of choices of the first who said it) of a symbol
    stand at the first expert with that symbol, as ``codes`` has them.
    """
    found = np.zeros(symbols.shape[2], dtype=np.int64)
    for n in range(symbols.shape[0]):
        for k in range(symbols.shape[1]):
            most, leader = 0, -1
            for j in range(symbols.shape[2]):
                if votes[n, k, j] > most or (
                    votes[n, k, j] == most and most > 0 and ranks[n, k, j] < ranks[n, k, leader]
                ):
                    most, leader = votes[n, k, j], j
            for j in range(symbols.shape[2]):
                chosen = leader
                heard = codes[n, k, j]
                if heard >= 0:
                    raised = votes[n, k, heard] + 1
                    if raised > most or (
                        raised == most and min(ranks[n, k, heard], rank[j]) < ranks[n, k, leader]
                    ):
                        chosen = heard
                if chosen < 0 or symbols[n, k, chosen] != truth[n, k]:
                    found[j] += 1
    return found
