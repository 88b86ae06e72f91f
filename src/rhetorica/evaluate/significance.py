"""Tell whether two systems differ: paired bootstrap and paired t-test over documents.

Both take the counts of two systems on the same documents in the same order. The bootstrap asks
about the corpus score (summed counts), the t-test about the mean of the documents' own scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rhetorica.errors import Mismatch
from rhetorica.evaluate.counts import Counts

_CELLS_AT_ONCE = 2_000_000
"""Resampling works in pieces of so many document weights, to bound memory on large corpora."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """By how much the first system's F exceeds the second's, and how sure that is.

    ``low`` and ``high`` bound the difference at the given confidence; ``p_value`` is two-sided.
    ``test`` is "bootstrap" or "t-test", ``documents`` how many were compared. Values that cannot
    be had from so few documents are not a number.
    """

    test: str
    difference: float
    low: float
    high: float
    p_value: float
    documents: int


def paired_bootstrap(
    first: Sequence[Counts],
    second: Sequence[Counts],
    *,
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two corpus F scores by drawing documents with replacement (Koehn 2004).

    The interval holds the middle of the resampled differences. The p-value is the share of
    resamples whose difference is at least as far from the one observed as that is from zero: what
    equal systems would give, if resamples vary about the observed difference as samples do about
    the true one (Efron & Tibshirani 1993, chapter 16; Riezler & Maxwell 2005). They shift by the
    mean of the resamples; that mean is itself drawn, and so would part differences that are equal.

    >>> better = [Counts(9, 10, 10)] * 20
    >>> paired_bootstrap(better, [Counts(5, 10, 10)] * 20).difference
    0.4
    """
    _check_paired(first, second)
    if not first:
        return Comparison("bootstrap", math.nan, math.nan, math.nan, math.nan, 0)
    table = np.hstack([_f1_parts(first), _f1_parts(second)])
    observed = float(_difference(table.sum(axis=0)))
    drawn = _resample(table, resamples, np.random.default_rng(seed))
    tail = 100 * (1 - confidence) / 2
    low, high = np.percentile(drawn, [tail, 100 - tail])
    # Rounding must not part equal differences.
    as_large = np.abs(drawn - observed) >= abs(observed) - 1e-12
    p_value = (int(as_large.sum()) + 1) / (resamples + 1)
    return Comparison("bootstrap", observed, float(low), float(high), p_value, len(first))


def paired_t_test(
    first: Sequence[Counts], second: Sequence[Counts], *, confidence: float = 0.95
) -> Comparison:
    """Compare the mean F of documents; those where either system's F is undefined are left out.

    >>> few = [Counts(n, 10, 10) for n in (5, 6, 7)]
    >>> more = [Counts(n, 10, 10) for n in (6, 8, 9)]
    >>> round(paired_t_test(more, few).p_value, 4)
    0.0377
    """
    _check_paired(first, second)
    pairs = [(a.f1, b.f1) for a, b in zip(first, second, strict=True)]
    differences = np.array([a - b for a, b in pairs if not math.isnan(a - b)])
    count = len(differences)
    mean = float(differences.mean()) if count else math.nan
    if count < 2:
        return Comparison("t-test", mean, math.nan, math.nan, math.nan, count)
    error = float(differences.std(ddof=1)) / math.sqrt(count)
    if error < 1e-15:  # all documents differ by the same amount
        p_value = 0.0 if abs(mean) > 1e-15 else 1.0
        return Comparison("t-test", mean, mean, mean, p_value, count)
    p_value = t_two_sided(mean / error, count - 1)
    reach = error * _t_quantile(1 - confidence, count - 1)
    return Comparison("t-test", mean, mean - reach, mean + reach, p_value, count)


def t_two_sided(t: float, degrees: int) -> float:
    """Return the probability that Student's t is at least so far from zero.

    >>> round(t_two_sided(2.228139, 10), 4)
    0.05
    """
    # Imported where it is needed: scipy takes longer to load than most reports to make.
    from scipy.special import betainc

    # From the nearer side: else small values of t lose all their digits.
    x = t * t / (degrees + t * t)
    if x < 0.5:
        return float(1 - betainc(0.5, degrees / 2, x))
    return float(betainc(degrees / 2, 0.5, degrees / (degrees + t * t)))


def _t_quantile(tails: float, degrees: int) -> float:
    """Return the t beyond which, on both sides together, the probability is ``tails``."""
    from scipy.special import stdtrit

    return float(-stdtrit(degrees, tails / 2))


def _check_paired(first: Sequence[Counts], second: Sequence[Counts]) -> None:
    if [counts.gold for counts in first] != [counts.gold for counts in second]:
        raise Mismatch(
            f"the systems were not scored on the same gold documents ({len(first)} and "
            f"{len(second)}, with equal counts of gold units expected, in the same order)"
        )


def _f1_parts(counts: Sequence[Counts]) -> np.ndarray:
    """Return numerator and denominator of each document's F, shape (documents, 2)."""
    return np.array([(2 * c.correct, c.gold + c.pred) for c in counts], dtype=float)


def _difference(sums: np.ndarray) -> np.ndarray:
    """Return the difference of two F from (..., 4) sums of numerators and denominators."""
    # An empty sample has no units: 0/1 instead of 0/0 makes its difference zero.
    quotients: np.ndarray = sums[..., 0::2] / np.maximum(sums[..., 1::2], 1)
    difference: np.ndarray = quotients[..., 0] - quotients[..., 1]
    return difference


def _resample(table: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Return the differences of ``resamples`` draws of as many documents as there are."""
    count = len(table)
    at_once = max(1, _CELLS_AT_ONCE // count)
    drawn = []
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        weights = rng.multinomial(count, np.full(count, 1 / count), size=size)
        drawn.append(_difference(weights.astype(float) @ table))
    return np.concatenate(drawn)
