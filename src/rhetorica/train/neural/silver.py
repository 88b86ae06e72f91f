"""A treebank of syntax -> training examples for segmentation, labelled by models that know more.

Gold syntax tells most of where EDUs begin: on GUM dev the CRF segmenter has 94.4 F1 with gold
syntax and sentences, and the mean of its and an earlier neural model's log odds 94.5, against 92.5
of that neural model alone. So English-EWT, 200,000 words with gold syntax but no EDUs, is labelled
by that mean, and the network learns from its probabilities, along with tags and relations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rhetorica.formats.conllu import read_conllu
from rhetorica.learn.links import sigmoid
from rhetorica.protocols import Segmenter
from rhetorica.train.neural.data import EDU, NONE, Example, syntax_example

Floats = npt.NDArray[np.float64]
_SMALLEST = 1e-4


def silver_examples(path: Path | str, segmenters: Sequence[Segmenter]) -> Iterator[Example]:
    """Read a CoNLL-U file and label its documents."""
    for parse in read_conllu(path):
        bare = syntax_example(parse, "gum")
        p = mean_of_odds(*(segmenter.boundaries(parse.document) for segmenter in segmenters))
        by_start = {
            token.start: value for token, value in zip(parse.document.tokens, p, strict=True)
        }
        soft = np.array([by_start[start] for start in bare.starts])
        marks = np.where((bare.marks == NONE) & (soft > 0.5), EDU, bare.marks)
        yield replace(bare, marks=marks, soft=soft)


def mean_of_odds(*probabilities: Sequence[float]) -> Floats:
    """Return the probabilities whose log odds are the mean of those given.

    >>> mean_of_odds([0.5, 0.8], [0.5, 0.2]).round(3).tolist()
    [0.5, 0.5]
    """
    clipped = [np.clip(p, _SMALLEST, 1 - _SMALLEST) for p in probabilities]
    return sigmoid(np.mean([np.log(p / (1 - p)) for p in clipped], axis=0))
