"""``crf``: a linear-chain CRF over the tokens of a sentence (Heilman & Sagae 2015, section 3).

Each token is labelled as the beginning or the continuation of an EDU; the first token of a
sentence always begins one. Their features, and more of our own (`rhetorica.segmenters.features`),
with L2 regularisation. Deviations: the tree features come from a dependency tree unless a document
has phrase structures; features seen once are dropped and a little L1 is added, which makes the
model a tenth as large at a cost of less than a tenth of a point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pycrfsuite

from rhetorica.document import Document
from rhetorica.errors import ModelError
from rhetorica.features.phrases import Phrases
from rhetorica.features.syntax import Syntax
from rhetorica.learn.calibration import calibrated
from rhetorica.models.store import Config, State, Stored
from rhetorica.segmenters.boundaries import gold_starts
from rhetorica.segmenters.features import GROUPS, sentence_features

BEGIN, CONTINUE = "B", "C"
_WEIGHTS = "weights.crfsuite"


class CRFSegmenter(Stored):
    """Learns and applies the segmenter; after `fit` or `load` it has ``weights_``."""

    name = "crf"

    def __init__(
        self,
        *,
        groups: Sequence[str] = GROUPS,
        l2: float = 0.5,
        l1: float = 0.1,
        iterations: int = 100,
        min_count: int = 2,
        phrases: bool = False,
        slope: float = 1.0,
        bias: float = 0.0,
    ) -> None:
        self.groups = tuple(groups)
        self.l2 = l2
        self.l1 = l1
        self.iterations = iterations
        self.min_count = min_count
        self.phrases = phrases
        self.slope, self.bias = slope, bias

    def fit(
        self, docs: Iterable[Document], *, progress: Callable[[int, float], None] | None = None
    ) -> CRFSegmenter:
        """Learn from documents with syntax and EDUs; ``progress`` hears iteration and loss."""
        trainer = _Trainer(progress)
        trainer.set_params(
            {
                "c1": self.l1,
                "c2": self.l2,
                "max_iterations": self.iterations,
                "feature.minfreq": self.min_count,
                "feature.possible_transitions": True,
            }
        )
        for doc in docs:
            starts = gold_starts(doc)
            for sentence, features in self._features(doc):
                trainer.append(features, [BEGIN if starts[i] else CONTINUE for i in sentence])
        with TemporaryDirectory() as folder:
            path = Path(folder) / _WEIGHTS
            trainer.train(str(path))
            self.weights_ = path.read_bytes()
        return self

    @property
    def threshold(self) -> float:
        """What one half was before calibration: honest probabilities cut at the same places."""
        return calibrated([0.5], self.slope, self.bias)[0]

    def boundaries(self, doc: Document) -> list[float]:
        """Return the marginal probability that an EDU starts, calibrated, for each token."""
        result = [0.0] * len(doc.tokens)
        tagger = self._tagger()
        for sentence, features in self._features(doc):
            tagger.set(features)
            for place, i in enumerate(sentence):
                result[i] = tagger.marginal(BEGIN, place)
            result[sentence.start] = 1.0
        return calibrated(result, self.slope, self.bias)

    def state(self) -> State:
        """Return settings and weights."""
        names = ("groups", "l2", "l1", "iterations", "min_count", "phrases", "slope", "bias")
        settings = {name: getattr(self, name) for name in names}
        return State(Config("segmenter", self.name, settings), files={_WEIGHTS: self.weights_})

    @classmethod
    def from_state(cls, state: State) -> CRFSegmenter:
        """Make the segmenter again."""
        model = cls(**state.config.settings)
        model.weights_ = state.file(_WEIGHTS)
        labels = model._tagger().labels()
        if labels and BEGIN not in labels:
            raise ModelError("these CRF weights are not those of a segmenter")
        return model

    def _tagger(self) -> pycrfsuite.Tagger:
        """Open a tagger: it holds the sentence it is at, so that threads cannot share one."""
        tagger = pycrfsuite.Tagger()
        tagger.open_inmemory(self.weights_)
        return tagger

    def _features(self, doc: Document) -> Iterable[tuple[range, list[list[str]]]]:
        syntax = Syntax.of(doc)
        phrases = Phrases.of(doc, syntax) if self.phrases else None
        for sentence in syntax.sentences:
            yield sentence, sentence_features(syntax, sentence, self.groups, phrases)


class _Trainer(pycrfsuite.BaseTrainer):  # type: ignore[misc]
    """A trainer that reports instead of printing."""

    def __init__(self, progress: Callable[[int, float], None] | None) -> None:
        super().__init__()
        self.select("lbfgs")
        self.progress = progress
        self.iteration = 0

    def message(self, message: str) -> None:
        """Take what the library has to say, a piece of a line at a time."""
        if self.progress is None:
            return
        if message.startswith("***** Iteration #"):
            self.iteration = int(message.split("#")[1].split()[0])
        elif message.startswith("Loss: "):
            self.progress(self.iteration, float(message.split()[1]))
