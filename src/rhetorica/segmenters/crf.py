"""``crf``: a linear-chain CRF over the tokens of a sentence (Heilman & Sagae 2015, section 3).

Each token is labelled as the beginning or the continuation of an EDU; the first token of a
sentence always begins one. Their features, and more of our own (`rhetorica.segmenters.features`),
with L2 regularisation. Deviations, with what undoes them: the tree features come from a dependency
tree (``phrases``); features seen once are dropped (``min_count`` 1) and a little L1 is added
(``l1`` 0), which makes the model a tenth as large at a cost of less than a tenth of a point; a unit
begins where that is more probable than not, not where the best sequence has one (``decoding``).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from rhetorica.document import Document
from rhetorica.errors import ModelError, RepairWarning
from rhetorica.features.phrases import Phrases
from rhetorica.features.syntax import Syntax
from rhetorica.languages import check_language, common_language
from rhetorica.learn.calibration import calibrated
from rhetorica.learn.crfsuite import open_tagger, train_crf
from rhetorica.models.store import Config, State, Stored
from rhetorica.progress import Tell, nothing, steps
from rhetorica.segmenters.boundaries import gold_starts
from rhetorica.segmenters.features import GROUPS, PAPER, sentence_features
from rhetorica.settings import made, plain, setting

BEGIN, CONTINUE = "B", "C"
_WEIGHTS = "weights.crfsuite"
_ABOVE = 1e-6
Decoding = Literal["marginals", "viterbi"]


L2_GRID = tuple(2.0**power for power in range(-6, 7))
"""The strengths that Heilman & Sagae (2015, section 3.2) try."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the segmenter is built and trained."""

    groups: tuple[str, ...] = setting(
        GROUPS,
        "all, paper (Heilman & Sagae 2015), or a list of groups with commas",
        option="features",
        known=GROUPS,
        named={"all": GROUPS, "paper": PAPER},
    )
    l2: float = setting(0.5, "Strength of the regularisation", grid=L2_GRID)
    l1: float = setting(0.1, "A little makes the model small.")
    iterations: int = setting(100, "Steps of L-BFGS, at most.")
    min_count: int = setting(2, "Drop features seen less often.")
    phrases: bool = setting(
        False, "Nodes of phrase structures (paper), which documents must then have."
    )
    decoding: Decoding = setting(
        "marginals", "Cut where that is likely, or where the best sequence does: viterbi (paper)."
    )
    slope: float = 1.0
    bias: float = 0.0


class CRFSegmenter(Stored):
    """Learns and applies the segmenter; after `fit` or `load` it has ``weights_``."""

    name = "crf"

    def __init__(self, settings: Settings | None = None, **changes: Any) -> None:
        self.settings = made(Settings, settings, changes)

    def fit(self, docs: Iterable[Document], *, tell: Tell = nothing) -> CRFSegmenter:
        """Learn from documents with syntax and EDUs."""
        docs = list(docs)
        self.language = common_language(docs)
        self.weights_ = train_crf(
            self._examples(docs),
            l1=self.settings.l1,
            l2=self.settings.l2,
            iterations=self.settings.iterations,
            min_count=self.settings.min_count,
            all_transitions=True,
            progress=steps(tell, "iterations", self.settings.iterations),
        )
        return self

    def _examples(self, docs: Iterable[Document]) -> Iterator[tuple[list[list[str]], list[str]]]:
        for doc in docs:
            starts = gold_starts(doc)
            for sentence, features in self._features(doc):
                yield features, [BEGIN if starts[i] else CONTINUE for i in sentence]

    @property
    def threshold(self) -> float:
        """What one half was before calibration: honest probabilities cut at the same places."""
        return calibrated([0.5], self.settings.slope, self.settings.bias)[0]

    def boundaries(self, doc: Document) -> list[float]:
        """Return the marginal probability that an EDU starts, calibrated, for each token."""
        check_language(doc, self)
        result = [0.0] * len(doc.tokens)
        tagger = open_tagger(self.weights_)
        for sentence, features in self._features(doc):
            tagger.set(features)
            for place, i in enumerate(sentence):
                result[i] = tagger.marginal(BEGIN, place)
            if self.settings.decoding == "viterbi":
                for i, label in zip(sentence, tagger.tag(), strict=True):
                    # On the side of one half on which the best sequence has it.
                    likely, unlikely = max(result[i], 0.5 + _ABOVE), min(result[i], 0.5)
                    result[i] = likely if label == BEGIN else unlikely
            result[sentence.start] = 1.0
        return calibrated(result, self.settings.slope, self.settings.bias)

    def state(self) -> State:
        """Return settings and weights."""
        config = Config("segmenter", self.name, plain(self.settings))
        return State(config, files={_WEIGHTS: self.weights_})

    @classmethod
    def from_state(cls, state: State, **options: Any) -> CRFSegmenter:
        """Make it again; ``options`` replace settings."""
        model = cls(**{**state.config.settings, **options})
        model.weights_ = state.file(_WEIGHTS)
        labels = open_tagger(model.weights_).labels()
        if labels and BEGIN not in labels:
            raise ModelError("these CRF weights are not those of a segmenter")
        return model

    def _features(self, doc: Document) -> Iterable[tuple[range, list[list[str]]]]:
        syntax = Syntax.of(doc)
        phrases = Phrases.of(doc, syntax) if self.settings.phrases else None
        if self.settings.phrases and phrases is None and doc.tokens:
            why = "no phrase structures; the nodes of dependencies are taken instead"
            warnings.warn(f"{doc.id or 'the document'}: {why}", RepairWarning, stacklevel=3)
        for sentence in syntax.sentences:
            yield sentence, sentence_features(syntax, sentence, self.settings.groups, phrases)
