"""Make a segmenter's probabilities honest: two numbers, learned on data it was not trained on.

Platt (1999): the log-odds are multiplied by a slope and shifted by a bias, so that of the
boundaries said to be 80 % sure four in five are right. The order of probabilities does not change.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rhetorica.document import Document
from rhetorica.learn.links import sigmoid
from rhetorica.learn.logistic import Floats, fit_logistic
from rhetorica.segmenters.boundaries import Segmenter, gold_starts

_LEAST = 1e-6


def fit_calibration(segmenter: Segmenter, docs: Sequence[Document]) -> tuple[float, float]:
    """Return slope and bias for a segmenter from documents with EDUs."""
    said, true = said_and_true(segmenter, docs)
    weights, bias = fit_logistic(_log_odds(said)[:, None], true, 0.0)
    return float(weights[0]), bias


def said_and_true(segmenter: Segmenter, docs: Sequence[Document]) -> tuple[Floats, Floats]:
    """Return what a segmenter says of every token inside sentences, and 1 where it is right."""
    said: list[float] = []
    true: list[bool] = []
    for doc in docs:
        first = {sentence.start for sentence in doc.sentences}
        rows = zip(doc.tokens, segmenter.boundaries(doc), gold_starts(doc), strict=True)
        for token, probability, start in rows:
            if token.start not in first:
                said.append(probability)
                true.append(start)
    return np.array(said), np.array(true, dtype=np.float64)


def calibrated(probabilities: Sequence[float], slope: float, bias: float) -> list[float]:
    """Apply slope and bias; certainties (0 and 1) stay."""
    values = np.array(probabilities)
    if not len(values) or (slope, bias) == (1.0, 0.0):
        return list(probabilities)
    fixed = (values == 0) | (values == 1)
    mapped = sigmoid(slope * _log_odds(values) + bias)
    return [float(value) for value in np.where(fixed, values, mapped)]


def calibrated_half(bias: float) -> float:
    """Return what calibration makes of a probability of one half."""
    return float(sigmoid(np.array(bias)))


def _log_odds(values: Floats) -> Floats:
    clipped = np.clip(values, _LEAST, 1 - _LEAST)
    return np.asarray(np.log(clipped / (1 - clipped)))
