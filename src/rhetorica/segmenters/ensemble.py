"""``ensemble``: what several segmenters say of each token, weighed and added up as log-odds.

Weights are those of a logistic regression, one for tokens that begin a sentence and one for others,
learned from documents that no member was trained on. The model folder names the members.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.cores import side_by_side
from rhetorica.document import Document
from rhetorica.errors import ModelError
from rhetorica.languages import common_language
from rhetorica.learn.calibration import log_odds
from rhetorica.learn.links import sigmoid
from rhetorica.learn.logistic import fit_logistic
from rhetorica.models.store import Config, State, Stored
from rhetorica.protocols import Segmenter
from rhetorica.segmenters.boundaries import gold_starts
from rhetorica.settings import Member, made, members_of, plain, setting

Floats = npt.NDArray[np.float64]
_SURE = 1e-3
_LONGEST_TOGETHER = 16_384
"""Of longer texts, in tokens, members speak one after another: what each needs is large."""
_THRESHOLDS = np.arange(0.3, 0.71, 0.02)


@dataclass(frozen=True, slots=True)
class Settings:
    """Who takes part, and from which probability on an EDU begins."""

    members: str = setting("crf,neural", "Segmenters, with commas; one may have a model, crf:mine.")
    syntax: str = setting("", "Front end of the members: neural, else our spaCy pipeline.")
    l2: float = setting(1.0, "Penalty of the logistic regressions.")
    threshold: float = 0.5


class EnsembleSegmenter(Stored):
    """Segments by ``members_``; after `fit` or `load` it has ``weights_`` (2, members + 1)."""

    name = "ensemble"

    def __init__(self, settings: Settings | None = None, **changes: Any) -> None:
        self.settings = made(Settings, settings, changes)
        self.members_: tuple[Segmenter, ...] = ()

    @property
    def members(self) -> list[Member]:
        """The members by name, with their models ("" for the treebank's) and options."""
        return members_of(self.settings.members)

    def gather(self, members: Sequence[Segmenter]) -> EnsembleSegmenter:
        """Return an ensemble of these segmenters with the same weights."""
        weights = getattr(self, "weights_", None)
        if not members or (weights is not None and weights.shape[1] != len(members) + 1):
            raise ModelError(
                f"{len(members)} segmenters: gather those that the ensemble was trained with "
                f"({self.settings.members})"
            )
        twin = self.like()
        twin.members_ = tuple(members)
        return twin

    @property
    def threshold(self) -> float:
        """The probability above which an EDU begins."""
        return float(self.settings.threshold)

    def evidence(self, doc: Document) -> Floats:
        """Return the log-odds of each member (tokens, members)."""
        if not self.members_:
            raise ModelError(
                "an ensemble without members: load it with rhetorica.load, or gather segmenters"
            )
        together = len(doc.tokens) <= _LONGEST_TOGETHER
        said = side_by_side(lambda one: one.boundaries(doc), self.members_, together=together)
        return log_odds(np.array(said).reshape(len(said), -1).T, least=_SURE)

    def fit(
        self, docs: Sequence[Document], *, evidence: Sequence[Floats] | None = None
    ) -> EnsembleSegmenter:
        """Learn weights from documents with EDUs that no member was trained on."""
        self.language = common_language(docs)
        evidence = [self.evidence(doc) for doc in docs] if evidence is None else evidence
        odds = np.concatenate(list(evidence))
        true = np.concatenate([np.array(gold_starts(doc), np.float64) for doc in docs])
        first = np.concatenate([_first(doc) for doc in docs])
        rows = []
        for here in (~first, first):
            right, wrong = true[here].sum(), (1 - true[here]).sum()
            if right and wrong:
                weights, bias = fit_logistic(odds[here], true[here], self.settings.l2)
            else:
                # All alike: how sure that is depends on how many there were.
                weights, bias = np.zeros(odds.shape[1]), float(np.log((right + 1) / (wrong + 1)))
            rows.append([*weights, bias])
        self.weights_ = np.array(rows)
        found = self._probabilities(odds, first)
        best = max(_THRESHOLDS, key=lambda t: (_f1(found > t, true > 0), -abs(t - 0.5)))
        self.settings = replace(self.settings, threshold=round(float(best), 2))
        return self

    def boundaries(self, doc: Document) -> list[float]:
        """Return the probability of each token to begin an EDU."""
        if not doc.tokens:
            return []
        return self.decide(doc, self.evidence(doc))

    def decide(self, doc: Document, evidence: Floats) -> list[float]:
        """Return the probabilities that members' log-odds make."""
        found: list[float] = self._probabilities(evidence, _first(doc)).tolist()
        return found

    def _probabilities(self, odds: Floats, first: npt.NDArray[np.bool_]) -> Floats:
        weights = self.weights_[first.astype(np.int64)]
        return sigmoid((odds * weights[:, :-1]).sum(axis=1) + weights[:, -1])

    def state(self) -> State:
        """Return the members' names and the weights."""
        config = Config("segmenter", self.name, settings=plain(self.settings))
        return State(config, {"weights": self.weights_})

    @classmethod
    def from_state(cls, state: State) -> EnsembleSegmenter:
        """Make the ensemble of a model folder; its members are gathered afterwards."""
        segmenter = cls(made(Settings, None, state.config.settings))
        segmenter.weights_ = state.arrays["weights"]
        return segmenter


def _first(doc: Document) -> npt.NDArray[np.bool_]:
    starts = {sentence.start for sentence in doc.sentences}
    return np.array([token.start in starts for token in doc.tokens], dtype=bool)


def _f1(said: npt.NDArray[np.bool_], true: npt.NDArray[np.bool_]) -> float:
    return float(2 * (said & true).sum() / max(1, said.sum() + true.sum()))
