"""What a segmenter says and what is true, so that its probabilities can be made honest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rhetorica.document import Document
from rhetorica.learn.calibration import Floats, fit_platt, log_odds
from rhetorica.protocols import Segmenter
from rhetorica.segmenters.boundaries import gold_starts


def fit_calibration(segmenter: Segmenter, docs: Sequence[Document]) -> tuple[float, float]:
    """Return slope and bias for a segmenter from documents with EDUs."""
    said, true = said_and_true(segmenter, docs)
    slope, bias = fit_platt(log_odds(said)[:, None], true)
    return slope, bias


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
