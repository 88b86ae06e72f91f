"""EDUs, sentences and paragraphs -> the numbers that the discourse heads see beside the text.

Training and run time share this module, so that both see the same features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

EDU_FEATURES = 9
SHORT_PARAGRAPH = 14
"""A paragraph of at most so many pieces looks like a heading or an item of a list."""
_EDU_STEPS = np.array([1, 2, 3, 4, 6, 9, 14, 22, 40, 80])
_UNIT_STEPS = np.array([1, 2, 3, 5, 9, 17])
SPAN_FEATURES = 9 + len(_EDU_STEPS) + 2 * len(_UNIT_STEPS) + 3


@dataclass(frozen=True, slots=True)
class Units:
    """The EDUs of a document as ranges of pieces, and which of them begin larger units.

    ``firsts`` has the first piece of each EDU, and after the last EDU the number of all pieces.
    """

    firsts: Ints
    sentence_starts: Bools
    paragraph_starts: Bools

    def __len__(self) -> int:
        return len(self.sentence_starts)

    @property
    def sentences(self) -> Ints:
        """For each EDU, the number of its sentence."""
        return _numbers(self.sentence_starts)

    @property
    def paragraphs(self) -> Ints:
        """For each EDU, the number of its paragraph."""
        return _numbers(self.paragraph_starts)


def _numbers(starts: Bools) -> Ints:
    numbers: Ints = np.maximum(np.cumsum(starts) - 1, 0)
    return numbers


def edu_features(units: Units) -> Floats:
    """Return what is known of each EDU beside its words, (EDUs, EDU_FEATURES)."""
    count = len(units)
    sentence, paragraph = units.sentence_starts, units.paragraph_starts
    sizes = np.diff(units.firsts)
    number = units.paragraphs
    pieces = np.bincount(number, weights=sizes)[number]
    inside = np.bincount(number, weights=sentence)[number]
    columns = (
        sentence,
        np.append(sentence[1:], True),
        paragraph,
        np.append(paragraph[1:], True),
        inside <= 1,
        pieces <= SHORT_PARAGRAPH,
        np.log1p(sizes) / 3,
        np.arange(count) / max(count, 1),
        np.full(count, np.log1p(count) / 5),
    )
    return np.stack(columns, axis=1).astype(np.float32)


def span_features(units: Units, starts: Ints, ends: Ints) -> Floats:
    """Return what is known of EDU ranges beside their words, (ranges, SPAN_FEATURES)."""
    count = len(units)
    sentence = np.append(units.sentence_starts, True)
    paragraph = np.append(units.paragraph_starts, True)
    sentences, paragraphs = units.sentences, units.paragraphs
    n_sentences = sentences[ends - 1] - sentences[starts] + 1
    n_paragraphs = paragraphs[ends - 1] - paragraphs[starts] + 1
    size = ends - starts
    flags = (
        sentence[starts],
        sentence[ends],
        paragraph[starts],
        paragraph[ends],
        sentence[starts] & sentence[ends],
        paragraph[starts] & paragraph[ends],
        starts == 0,
        ends == count,
        n_sentences > 1,
        np.log1p(size) / 3,
        np.log1p(n_sentences) / 3,
        np.log1p(n_paragraphs) / 3,
    )
    return np.concatenate(
        [
            np.stack(flags, axis=1).astype(np.float32),
            _steps(size, _EDU_STEPS),
            _steps(n_sentences, _UNIT_STEPS),
            _steps(n_paragraphs, _UNIT_STEPS),
        ],
        axis=1,
    )


def _steps(values: Ints, steps: Ints) -> Floats:
    """Return, for each value, which steps it has reached (a thermometer)."""
    return (values[:, None] >= steps).astype(np.float32)
