"""Time every decoder by the number of units.

    python benchmarks/decoders.py [--quick]

Times are CPU times, the best of several runs after a warm-up (which compiles). "growth" is the
factor from one size to the next. Sizes that would take longer than the limit, judged by the size
before, are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhetorica.decode import (
    cky,
    cky_kbest,
    eisner,
    eisner_kbest,
    eisner_marginals,
    inside_outside,
    kbest_spanning,
    matrix_tree_marginals,
    mbr_cky,
    packed_size,
    spanning_tree,
    split_block,
    top_down_marginals,
)

Array = NDArray[Any]
MOST_UNITS_WITH_SPLITS = 300
"""Split scores of 1,000 units would take 667 MB."""


class Case(NamedTuple):
    """A decoder, the scores that it wants, and the power of n with which its time grows."""

    name: str
    run: Callable[[Array], object]
    scores: Callable[[int], Array]
    power: int
    most: int = 1000


def arc_scores(n: int) -> Array:
    """Draw arc scores at random."""
    return np.random.default_rng(n).normal(size=(n + 1, n + 1))


def wide_scores(n: int) -> Array:
    """Draw arc scores whose exponentials do not fit into floats."""
    return arc_scores(n) * 500


def split_scores(n: int) -> Array:
    """Draw packed log probabilities of splits."""
    return np.log(split_probabilities(n))


def split_probabilities(n: int) -> Array:
    """Draw packed probabilities of splits."""
    rng = np.random.default_rng(n)
    packed = np.empty(packed_size(n), np.float32)
    for width in range(2, n + 1):
        weights = rng.random((n - width + 1, width - 1)) + 1e-3
        split_block(packed, n, width)[:] = weights / weights.sum(axis=1, keepdims=True)
    return packed


CASES = [
    Case("eisner", eisner, arc_scores, 3),
    Case("eisner_kbest k=10", lambda scores: eisner_kbest(scores, 10), arc_scores, 3),
    Case("eisner_marginals", eisner_marginals, arc_scores, 3),
    Case("spanning_tree", spanning_tree, arc_scores, 2),
    Case("kbest_spanning k=10", lambda scores: kbest_spanning(scores, 10), arc_scores, 2),
    Case("matrix_tree_marginals", matrix_tree_marginals, arc_scores, 3),
    Case("the same, wide scores", matrix_tree_marginals, wide_scores, 3),
    Case("cky", cky, split_scores, 3, MOST_UNITS_WITH_SPLITS),
    Case(
        "cky_kbest k=10",
        lambda scores: cky_kbest(scores, 10),
        split_scores,
        3,
        MOST_UNITS_WITH_SPLITS,
    ),
    Case("inside_outside", inside_outside, split_scores, 3, MOST_UNITS_WITH_SPLITS),
    Case("top_down_marginals", top_down_marginals, split_probabilities, 3, MOST_UNITS_WITH_SPLITS),
    Case("mbr_cky", mbr_cky, arc_scores, 3),
]


def measure(run: Callable[[Array], object], scores: Array, budget: float) -> float:
    """Return the best time of up to seven runs, stopping when the budget is spent."""
    best = spent = float("inf")
    for repeat in range(7):
        start = process_time()
        run(scores)
        taken = process_time() - start
        best = min(best, taken)
        spent = taken if repeat == 0 else spent + taken
        if spent > budget:
            break
    return best


def times(case: Case, sizes: list[int], limit: float) -> list[float | None]:
    """Time one decoder; None where it would take too long."""
    found: list[float | None] = []
    case.run(case.scores(4))
    for at, n in enumerate(sizes):
        before = found[-1] if found else 0.0
        growth = (n / sizes[at - 1]) ** case.power if at else 1.0
        if before is None or before * growth > limit or n > case.most:
            found.append(None)
        else:
            found.append(measure(case.run, case.scores(n), limit / 4))
    return found


def milliseconds(seconds: float | None) -> str:
    """Format a time."""
    return "-" if seconds is None else f"{seconds * 1000:,.2f} ms"


def factor(above: float | None, below: float | None) -> str:
    """Format a ratio."""
    return "-" if above is None or below is None else f"x {above / below:.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time every decoder.")
    parser.add_argument("--quick", action="store_true", help="small sizes, few runs")
    quick: bool = parser.parse_args().quick
    sizes, limit = ([30, 100], 0.5) if quick else ([30, 100, 300, 1000], 8.0)
    print("{:<24}{:>6}{:>16}{:>10}".format("decoder", "n", "time", "growth"))
    for case in CASES:
        found = times(case, sizes, limit)
        for at, n in enumerate(sizes):
            growth = factor(found[at], found[at - 1] if at else None)
            name = case.name if at == 0 else ""
            print(f"{name:<24}{n:>6}{milliseconds(found[at]):>16}{growth:>10}", flush=True)


if __name__ == "__main__":
    main()
