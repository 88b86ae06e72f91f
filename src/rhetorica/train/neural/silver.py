"""Treebanks without EDUs -> training examples for segmentation, labelled by models that know more.

Gold syntax tells most of where EDUs begin: on GUM dev the CRF segmenter has 94.4 F1 with gold
syntax and sentences, and the mean of its and an earlier neural model's log odds 94.5, against 92.5
of that neural model alone. So English-EWT, 200,000 words with gold syntax but no EDUs, is labelled
by that mean, and the network learns from its probabilities, along with syntax. AMALGUM, which is
automatic throughout, but by larger models than ours, has EDUs of its own: they vote, too.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rhetorica.formats.conllu import read_conllu
from rhetorica.learn.links import sigmoid
from rhetorica.parses import Parse
from rhetorica.protocols import Segmenter
from rhetorica.train.neural.data import EDU, NONE, Example, syntax_example

Floats = npt.NDArray[np.float64]
_SMALLEST = 1e-4
VOTE = 0.95
"""How sure the EDUs of an automatic corpus are taken to be."""
AUTOMATIC = 0.5
"""The weight of automatic syntax in training."""


def choose(path: Path | str, words: int = 0) -> Iterator[Parse]:
    """Read the documents of a CoNLL-U file; with ``words``, some of them, about so many words."""
    parses = list(read_conllu(path))
    if words:
        random.Random(Path(path).name.partition(".")[0]).shuffle(parses)
    count = 0
    for parse in parses:
        if words and count > words:
            return
        count += len(parse.document.tokens)
        yield parse


def label(parses: Iterable[Parse], segmenters: Sequence[Segmenter]) -> dict[str, Floats]:
    """Return, for each document, the probability per token that an EDU begins there."""
    found: dict[str, Floats] = {}
    for parse in parses:
        doc = parse.document
        votes = [segmenter.boundaries(doc) for segmenter in segmenters]
        if doc.edus:
            starts = {edu.start for edu in doc.edus}
            votes.append([VOTE if token.start in starts else 1 - VOTE for token in doc.tokens])
        found[parse.id] = mean_of_odds(*votes)
    return found


def silver_examples(
    parses: Iterable[Parse], probabilities: Mapping[str, Floats]
) -> Iterator[Example]:
    """Make examples of documents and the probabilities that EDUs begin at their tokens."""
    for parse in parses:
        bare = syntax_example(parse, "gum")
        by_start = {
            token.start: value
            for token, value in zip(parse.document.tokens, probabilities[parse.id], strict=True)
        }
        soft = np.array([by_start[start] for start in bare.starts])
        marks = np.where((bare.marks == NONE) & (soft > 0.5), EDU, bare.marks)
        weight = AUTOMATIC if parse.document.edus else 1.0
        yield replace(bare, marks=marks, soft=soft, weight=weight, gold=parse)


def mean_of_odds(*probabilities: Sequence[float]) -> Floats:
    """Return the probabilities whose log odds are the mean of those given.

    >>> mean_of_odds([0.5, 0.8], [0.5, 0.2]).round(3).tolist()
    [0.5, 0.5]
    """
    clipped = [np.clip(p, _SMALLEST, 1 - _SMALLEST) for p in probabilities]
    return sigmoid(np.mean([np.log(p / (1 - p)) for p in clipped], axis=0))
