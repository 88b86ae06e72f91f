"""Chains and segmentations against every sequence and every cutting there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rhetorica.decode.chain import (
    best_chain,
    best_segments,
    chain_marginals,
    kbest_chains,
    sample_chains,
    sample_segments,
    segment_marginals,
)

Floats = NDArray[np.float64]


def arrays(seed: int, *shape: int, forbidden: float = 0.0) -> Floats:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape).round(3)
    values[rng.random(shape) < forbidden] = -np.inf
    return values


def move(transitions: Floats, t: int, x: int, y: int) -> float:
    return float(transitions[t, x, y] if transitions.ndim == 3 else transitions[x, y])


def all_chains(scores: Floats, transitions: Floats) -> dict[tuple[int, ...], float]:
    n, size = scores.shape
    return {
        labels: sum(float(scores[t, y]) for t, y in enumerate(labels))
        + sum(move(transitions, t, labels[t - 1], labels[t]) for t in range(1, n))
        for labels in product(range(size), repeat=n)
    }


def cuts(n: int, longest: int) -> Iterator[tuple[int, ...]]:
    """Every way to cut n positions, as the segments' ends."""
    if not n:
        yield ()
    for length in range(1, min(n, longest) + 1):
        for rest in cuts(n - length, longest):
            yield (*rest, n)


Cut = tuple[tuple[int, ...], tuple[int, ...]]


def all_segments(scores: Floats, transitions: Floats) -> dict[Cut, float]:
    n, longest, size = scores.shape
    found = {}
    for ends in cuts(n, longest):
        starts = (0, *ends[:-1])
        for labels in product(range(size), repeat=len(ends)):
            score = sum(
                float(scores[i, j - i - 1, y]) for i, j, y in zip(starts, ends, labels, strict=True)
            )
            score += sum(
                move(transitions, starts[k], labels[k - 1], labels[k]) for k in range(1, len(ends))
            )
            found[ends, labels] = score
    return found


def log_sum(values: Any) -> float:
    return float(np.logaddexp.reduce(list(values)))


def close_to(counts: Counter[Any], expected: dict[Any, float], draws: int) -> bool:
    """Tell whether frequencies agree with probabilities (five standard errors)."""
    return all(
        abs(counts[key] / draws - p) <= 5 * np.sqrt(p * (1 - p) / draws) + 1e-12
        for key, p in expected.items()
    )


SHAPES = [(1, 1), (1, 3), (2, 2), (4, 3), (5, 2)]


@pytest.mark.parametrize("by_position", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_chains_equal_enumeration(shape: tuple[int, int], by_position: bool) -> None:
    n, size = shape
    for seed in range(5):
        scores = arrays(seed, n, size, forbidden=0.1 * (seed % 2))
        steps = (n, size, size) if by_position else (size, size)
        transitions = arrays(seed + 100, *steps, forbidden=0.1 * (seed % 3))
        every = all_chains(scores, transitions)
        top = max(every.values())
        if top == -np.inf:
            for call in (best_chain, chain_marginals):
                with pytest.raises(ValueError, match="forbidden"):
                    call(scores, transitions)
            continue
        assert every[tuple(best_chain(scores, transitions))] == pytest.approx(top)
        total, labels, pairs = chain_marginals(scores, transitions)
        assert total == pytest.approx(log_sum(every.values()))
        for t, y in product(range(n), range(size)):
            mass = sum(np.exp(s - total) for c, s in every.items() if c[t] == y)
            assert labels[t, y] == pytest.approx(mass, abs=1e-12)
            for x in range(size) if t else ():
                mass = sum(
                    np.exp(s - total) for c, s in every.items() if c[t - 1] == x and c[t] == y
                )
                assert pairs[t, x, y] == pytest.approx(mass, abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_kbest_chains_equal_the_sorted_enumeration(shape: tuple[int, int]) -> None:
    n, size = shape
    scores, transitions = arrays(7, n, size), arrays(8, n, size, size, forbidden=0.1)
    every = all_chains(scores, transitions)
    wanted = sorted((s for s in every.values() if s > -np.inf), reverse=True)
    for k in (1, 3, 1000):
        found = kbest_chains(scores, transitions, k)
        assert [s for _, s in found] == pytest.approx(wanted[:k])
        assert len({tuple(c) for c, _ in found}) == len(found)
        assert all(every[tuple(c)] == pytest.approx(s) for c, s in found)


def test_chains_are_drawn_by_their_probability() -> None:
    scores, transitions = arrays(1, 3, 2), arrays(2, 2, 2, forbidden=0.2)
    every = all_chains(scores, transitions)
    total = log_sum(every.values())
    expected = {c: float(np.exp(s - total)) for c, s in every.items()}
    draws = 4000
    found = sample_chains(scores, transitions, np.random.default_rng(3), draws)
    assert close_to(Counter(map(tuple, found.tolist())), expected, draws)


@pytest.mark.parametrize("by_position", [False, True])
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 2, 2), (4, 4, 2), (5, 2, 1), (2, 5, 3)])
def test_segments_equal_enumeration(shape: tuple[int, int, int], by_position: bool) -> None:
    n, _, size = shape
    for seed in range(4):
        scores = arrays(seed, *shape, forbidden=0.1 * (seed % 2))
        steps = (n, size, size) if by_position else (size, size)
        transitions = arrays(seed + 50, *steps, forbidden=0.1 * (seed % 3))
        every = all_segments(scores, transitions)
        top = max(every.values())
        if top == -np.inf:
            with pytest.raises(ValueError, match="forbidden"):
                best_segments(scores, transitions)
            continue
        found = best_segments(scores, transitions)
        assert every[tuple(found.ends), tuple(found.labels)] == pytest.approx(top)
        total, marginals = segment_marginals(scores, transitions)
        assert total == pytest.approx(log_sum(every.values()))
        expected = np.zeros(shape)
        for (ends, labels), score in every.items():
            for i, j, y in zip((0, *ends[:-1]), ends, labels, strict=True):
                expected[i, j - i - 1, y] += np.exp(score - total)
        assert marginals == pytest.approx(expected, abs=1e-12)


def test_segments_are_drawn_by_their_probability() -> None:
    scores, transitions = arrays(4, 4, 3, 2, forbidden=0.1), arrays(5, 4, 2, 2)
    every = all_segments(scores, transitions)
    total = log_sum(every.values())
    expected = {c: float(np.exp(s - total)) for c, s in every.items()}
    draws = 4000
    found = sample_segments(scores, transitions, np.random.default_rng(6), draws)
    counts = Counter((tuple(s.ends.tolist()), tuple(s.labels.tolist())) for s in found)
    assert close_to(counts, expected, draws)


def test_bigrams_of_segments_are_segmentations_whose_labels_are_lengths() -> None:
    n, longest = 4, 3
    bigrams = arrays(9, n, longest, longest)  # begins at i, length before, own length
    scores = np.full((n, longest, longest), -np.inf)
    scores[:, np.arange(longest), np.arange(longest)] = arrays(10, n, longest)
    every = {}
    for ends in cuts(n, longest):
        starts = (0, *ends[:-1])
        lengths = [j - i for i, j in zip(starts, ends, strict=True)]
        score = sum(scores[i, k - 1, k - 1] for i, k in zip(starts, lengths, strict=True))
        for k in range(1, len(ends)):
            score += bigrams[starts[k], lengths[k - 1] - 1, lengths[k] - 1]
        every[ends] = float(score)
    assert tuple(best_segments(scores, bigrams).ends) == max(every, key=every.__getitem__)
    assert segment_marginals(scores, bigrams)[0] == pytest.approx(log_sum(every.values()))


def test_a_segmentation_of_single_positions_is_a_chain() -> None:
    scores, transitions = arrays(11, 6, 3), arrays(12, 3, 3)
    assert best_segments(scores[:, None], transitions).labels.tolist() == (
        best_chain(scores, transitions).tolist()
    )
    total, labels, _ = chain_marginals(scores, transitions)
    both, marginals = segment_marginals(scores[:, None], transitions)
    assert both == pytest.approx(total)
    assert marginals[:, 0] == pytest.approx(labels)


def test_long_chains_neither_underflow_nor_recurse() -> None:
    scores, transitions = arrays(13, 3000, 3) - 500, arrays(14, 3, 3)
    total, labels, _ = chain_marginals(scores, transitions)
    assert np.isfinite(total)
    assert labels.sum(axis=1) == pytest.approx(1)
    assert len(kbest_chains(scores, transitions, 2)) == 2


def test_nothing_has_one_analysis() -> None:
    none = np.zeros((0, 2))
    rng = np.random.default_rng(0)
    assert best_chain(none, np.zeros((2, 2))).shape == (0,)
    assert chain_marginals(none, np.zeros((2, 2)))[0] == 0
    assert [s for _, s in kbest_chains(none, np.zeros((2, 2)), 2)] == [0]
    assert sample_chains(none, np.zeros((2, 2)), rng, 2).shape == (2, 0)
    empty = np.zeros((0, 2, 1))
    assert best_segments(empty, [[0]]).ends.shape == (0,)
    assert segment_marginals(empty, [[0]])[0] == 0
    assert len(sample_segments(empty, [[0]], rng, 2)) == 2


@pytest.mark.parametrize(
    ("scores", "transitions", "message"),
    [
        ([[0.0, 1.0]], [[0.0]], "have 2 labels"),
        ([[0.0]], np.zeros((2, 1, 1)), "have 2 rows"),
        ([[np.nan]], [[0.0]], "NaN"),
        ([[0.0]], [[np.inf]], "infinite"),
        (np.zeros((1, 0)), np.zeros((0, 0)), "no label"),
    ],
)
def test_malformed_arrays_are_refused(scores: Any, transitions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        best_chain(scores, transitions)
