"""Kernels equal the same programmes on whole diagonals, where brute force would take too long."""

from __future__ import annotations

import numpy as np
import pytest
import twins

from rhetorica.decode.cky import _best_inside, _outside, _sum_inside, _top_down, packed_size
from rhetorica.decode.eisner import _arc_posteriors, _best_spans, _sum_spans
from rhetorica.decode.spanning import _eliminate, _eliminate_logs

SIZES = (1, 2, 3, 13, 40)


def arcs(n: int, kind: str) -> np.ndarray:
    """Draw scores: all different, with many ties, or with forbidden arcs."""
    rng = np.random.default_rng(n)
    if kind == "ties":
        return rng.integers(0, 3, (n, n)).astype(np.float64)
    scores = rng.normal(size=(n, n)) * 5
    if kind == "forbidden":
        scores[rng.random((n, n)) < 0.3] = -np.inf
    return scores


def agree(found, expected) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["different", "ties", "forbidden"])
@pytest.mark.parametrize("n", SIZES)
def test_eisner(n: int, kind: str) -> None:
    scores = arcs(n, kind)
    for one, other in zip(_best_spans(scores), twins.best_spans(scores), strict=True):
        np.testing.assert_array_equal(one, other)  # equal bits: ties are broken alike
    charts = _sum_spans(scores)
    agree(charts, twins.sum_spans(scores))
    totals = charts[1][0] + charts[0][-1]
    if totals.max() > -np.inf:
        roots = np.exp(totals - np.logaddexp.reduce(totals))
        posteriors = _arc_posteriors(*charts, roots)
        agree([posteriors], [twins.arc_posteriors(*charts, roots)])
        assert posteriors.sum() == pytest.approx(n - 1)  # every unit but the root has a head


@pytest.mark.parametrize("kind", ["different", "ties", "forbidden"])
@pytest.mark.parametrize("with_splits", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_cky(n: int, with_splits: bool, kind: str) -> None:
    spans = np.triu(np.nan_to_num(arcs(n + 1, kind), neginf=0.0), 2)
    rng = np.random.default_rng(n)
    packed = rng.integers(0, 3, packed_size(n) if with_splits else 0).astype(np.float32)
    np.testing.assert_array_equal(_best_inside(packed, spans), twins.best_inside(packed, spans))
    charts = _sum_inside(packed, spans)
    agree(charts, twins.sum_inside(packed, spans))
    posteriors, splits = _outside(packed, *charts)
    agree((posteriors, splits), twins.outside(packed, *charts))
    agree([_top_down(splits, n)], [twins.top_down(splits, n)])


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", SIZES)
def test_spanning(n: int, single_root: bool) -> None:
    table = arcs(n + 1, "different") / 5
    table[:, 0] = -np.inf
    np.fill_diagonal(table, -np.inf)
    total, marginals = _eliminate(np.exp(table), single_root)
    agree((total, marginals), twins.eliminate(np.exp(table), single_root))
    agree((total, marginals), _eliminate_logs(table, single_root))
    agree((total, marginals), twins.eliminate_logs(table, single_root))
