"""``logistic``: CODRA's segmenter (Joty, Carenini & Ng 2015, section 5).

A binary logistic regression decides for each token of a sentence but the first whether an EDU
starts there (they say: whether one ends after the token before). Features:

- SPADE's lexico-syntactic patterns: the production of the lowest node that spans the boundary, with
  the boundary marked, in variations (with and without lexical heads, one or two nodes to either
  side); for each, the share of boundaries among its occurrences in the training data (its maximum
  likelihood estimate), as a number and in five steps. Their nodes are constituents (``phrases``);
  unless told, a node is a word with its subtree, and the production the row of its dependents and
  itself. The words at the boundary count as variations, too: without constituents, less is known of
  what begins there;
- part-of-speech and chunk tags; relative position and distances to both ends of the sentence;
- the same features of the tokens before and after.

The strength of the L2 regularisation is found by 5-fold cross-validation on the training data, and
bagging over balanced samples makes up for the few boundaries. An estimate for a training token
never counts the token's own fold, or rare patterns would seem surer in training than they are. (In
cross-validation, the estimates of the folds that are learned from do count the one held out.)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.document import Document
from rhetorica.errors import RepairWarning
from rhetorica.features.phrases import Phrases
from rhetorica.features.syntax import Syntax
from rhetorica.languages import check_language, common_language
from rhetorica.learn.calibration import calibrated
from rhetorica.learn.links import sigmoid
from rhetorica.learn.logistic import BaggedLogistic, choose_l2
from rhetorica.models.store import Config, State, Stored
from rhetorica.progress import Event, Tell, nothing
from rhetorica.segmenters.boundaries import gold_starts
from rhetorica.settings import made, plain, setting

FOLDS = 5
L2_CANDIDATES = (0.02, 0.1, 0.5, 2.5)
_PRIOR, _PRIOR_WEIGHT = 0.08, 1.0  # a pattern seen once says little: estimates lean on the prior
_STEPS = (0.02, 0.1, 0.3, 0.6, 0.9)
_MIN_COUNT = 2

Row = list[tuple[str, float]]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Settings:
    """How the segmenter is built and trained."""

    l2: float | None = setting(
        None, "Strength of the regularisation; if not given, by 5-fold cross-validation."
    )
    bags: int = setting(10, "Balanced samples, each for a model of its own.")
    phrases: bool = setting(
        False, "Patterns of phrase structures (paper), which documents must then have."
    )
    seed: int = setting(0, "Of the samples.")
    slope: float = 1.0
    bias: float = 0.0


class LogisticSegmenter(Stored):
    """Learns and applies the segmenter; after `fit` or `load` it can say boundaries."""

    name = "logistic"

    def __init__(self, settings: Settings | None = None, **changes: Any) -> None:
        self.settings = made(Settings, settings, changes)

    def fit(self, docs: Iterable[Document], *, tell: Tell = nothing) -> LogisticSegmenter:
        """Learn from documents with syntax and EDUs."""
        from scipy.sparse import csr_array

        tell(Event("patterns"))
        docs = list(docs)
        self.language = common_language(docs)
        corpus = [self._read(doc, number % FOLDS) for number, doc in enumerate(docs)]
        counts = _count_patterns(corpus)
        self.patterns_ = {
            pattern: _estimate(sum(c[0] for c in folds), sum(c[1] for c in folds))
            for pattern, folds in counts.items()
            if sum(c[1] for c in folds) >= _MIN_COUNT
        }
        tell(Event("features"))
        rows, labels, folds = [], [], []
        for text in corpus:
            estimates = _Estimates(counts, text.fold)
            for sentence, patterns in text.sentences:
                features = _sentence_rows(text.syntax, sentence, patterns, estimates)
                rows += features
                labels += [float(text.starts[i]) for i in sentence[1:]]
                folds += [text.fold] * len(features)
        self.index_ = _index(rows)
        indices, values, offsets = _arrays(rows, self.index_)
        matrix = csr_array((values, indices, offsets), shape=(len(rows), len(self.index_)))
        target = np.array(labels)
        s = self.settings
        l2 = s.l2
        if l2 is None:
            tell(Event("cross-validation"))
            l2, self.cross_validation_ = choose_l2(matrix, target, folds, L2_CANDIDATES)
            self.settings = replace(s, l2=l2)
        tell(Event("bagging"))
        model = BaggedLogistic(l2=l2, bags=s.bags, seed=s.seed).fit(matrix, target)
        self.weights_ = model.weights_.astype(np.float32)
        self.biases_ = model.biases_
        return self

    @property
    def threshold(self) -> float:
        """What one half was before calibration: honest probabilities cut at the same places."""
        return calibrated([0.5], self.settings.slope, self.settings.bias)[0]

    def boundaries(self, doc: Document) -> list[float]:
        """Return the probability that an EDU starts, calibrated, for each token."""
        check_language(doc, self)
        result = np.zeros(len(doc.tokens))
        text = self._read(doc)
        rows: list[Row] = []
        places: list[int] = []
        for sentence, patterns in text.sentences:
            result[sentence.start] = 1.0
            rows += _sentence_rows(text.syntax, sentence, patterns, self.patterns_)
            places += sentence[1:]
        if rows:
            indices, values, offsets = _arrays(rows, self.index_)
            products = self.weights_[indices] * values[:, None]
            # An empty row at the end would fall outside; every row has at least its position.
            sums = np.add.reduceat(products, offsets[:-1], axis=0)
            result[places] = sigmoid(sums + self.biases_).mean(axis=1)
        return calibrated(result.tolist(), self.settings.slope, self.settings.bias)

    def _read(self, doc: Document, fold: int = 0) -> _Corpus:
        syntax = Syntax.of(doc)
        phrases = Phrases.of(doc, syntax) if self.settings.phrases else None
        if self.settings.phrases and phrases is None and doc.tokens:
            why = "no phrase structures; those of dependencies are taken instead"
            warnings.warn(f"{doc.id or 'the document'}: {why}", RepairWarning, stacklevel=3)
        return _Corpus(syntax, gold_starts(doc), fold, phrases)

    def state(self) -> State:
        """Return settings, patterns and weights."""
        arrays = {
            "features": np.array("\n".join(self.index_)),
            "weights": self.weights_.astype(np.float16),
            "biases": self.biases_,
            "patterns": np.array("\n".join(self.patterns_)),
            "estimates": np.array(list(self.patterns_.values()), dtype=np.float32),
        }
        return State(Config("segmenter", self.name, plain(self.settings)), arrays)

    @classmethod
    def from_state(cls, state: State, **options: Any) -> LogisticSegmenter:
        """Make it again; ``options`` replace settings."""
        data, model = state.arrays, cls(**{**state.config.settings, **options})
        names = str(data["features"]).split("\n")
        model.index_ = {name: i for i, name in enumerate(names)}
        model.weights_ = data["weights"].astype(np.float32)
        model.biases_ = data["biases"]
        patterns = str(data["patterns"]).split("\n")
        model.patterns_ = dict(zip(patterns, data["estimates"].tolist(), strict=True))
        return model


class _Corpus:
    """A document with its patterns at every possible boundary."""

    def __init__(
        self, syntax: Syntax, starts: list[bool], fold: int, phrases: Phrases | None = None
    ) -> None:
        self.syntax, self.starts, self.fold = syntax, starts, fold
        self.sentences = [
            (sentence, list(_patterns(syntax, sentence, phrases))) for sentence in syntax.sentences
        ]


class _Rule(NamedTuple):
    """The production of the lowest node over a boundary.

    Its label and lexical head; the label, the head's tag and the head of each part, in order; and
    the part before which the boundary is.
    """

    label: str
    word: str
    parts: list[tuple[str, str, str]]
    at: int

    def spelled(self, near: int | None = None, *, lexical: bool = False) -> str:
        """Spell it, or so many parts to either side, with the boundary marked."""
        first, last = (0, None) if near is None else (max(0, self.at - near), self.at + near)
        pieces: list[str] = []
        for place, (label, tag, word) in enumerate(self.parts[first:last], first):
            if place == self.at:
                pieces.append("|")
            pieces.append(f"{label}/{tag}({word})" if lexical else f"{label}/{tag}")
        return " ".join(pieces)


def _rules(syntax: Syntax, sentence: range, phrases: Phrases | None) -> Iterator[_Rule]:
    """Yield the production at each boundary of a sentence."""
    low, tags = syntax.lowered, syntax.tags
    if phrases is not None:
        for i in sentence[1:]:
            node, left, _ = phrases.between(i - 1)
            row = phrases.children[node]
            parts = [
                (phrases.labels[p], tags[phrases.heads[p]], low[phrases.heads[p]]) for p in row
            ]
            yield _Rule(phrases.labels[node], low[phrases.heads[node]], parts, row.index(left) + 1)
        return
    dependents: dict[int, list[int]] = {}
    for i in sentence:
        dependents.setdefault(syntax.heads[i], []).append(i)
    for i in sentence[1:]:
        node, left, _right = syntax.common_ancestor(i - 1, i)
        row = sorted([*dependents.get(node, []), *([node] if node >= 0 else [])])
        at = row.index(left) + 1 if left in row else 0
        label, word = (syntax.deprels[node], low[node]) if node >= 0 else ("-", "")
        names = ("=" if item == node else syntax.deprels[item] for item in row)
        parts = [(name, tags[item], low[item]) for name, item in zip(names, row, strict=True)]
        yield _Rule(label, word, parts, at)


def _patterns(syntax: Syntax, sentence: range, phrases: Phrases | None) -> Iterator[list[str]]:
    """Yield the patterns at each boundary of a sentence, from the most to the least special."""
    for i, rule in zip(sentence[1:], _rules(syntax, sentence, phrases), strict=True):
        label, own = rule.label, f"^{syntax.lowered[i]}"
        near = rule.spelled(1)
        yield [
            f"a{label}({rule.word}):{rule.spelled(2, lexical=True)}",
            f"b{label}:{rule.spelled()}",
            f"c{label}:{rule.spelled(2)}",
            f"d{label}:{rule.spelled(1, lexical=True)}",
            f"e{label}:{near}",
            f"f{label}:{near}{own}",
            f"g{syntax.lowered[i - 1]}{own}",
            f"h{syntax.tags[i - 1]}{own}",
            f"i{own}",
        ]


def _count_patterns(corpus: Iterable[_Corpus]) -> dict[str, list[list[int]]]:
    """Count, for each pattern and fold, how often it is a boundary and how often it occurs."""
    counts: dict[str, list[list[int]]] = {}
    for text in corpus:
        for sentence, patterns in text.sentences:
            for i, names in zip(sentence[1:], patterns, strict=True):
                for name in names:
                    if name not in counts:
                        counts[name] = [[0, 0] for _ in range(FOLDS)]
                    cell = counts[name][text.fold]
                    cell[0] += text.starts[i]
                    cell[1] += 1
    return counts


def _estimate(boundaries: int, total: int) -> float:
    return (boundaries + _PRIOR * _PRIOR_WEIGHT) / (total + _PRIOR_WEIGHT)


class _Estimates:
    """The estimates of patterns from all folds but one."""

    def __init__(self, counts: dict[str, list[list[int]]], fold: int) -> None:
        self.counts, self.fold = counts, fold

    def get(self, pattern: str) -> float | None:
        folds = [cell for number, cell in enumerate(self.counts[pattern]) if number != self.fold]
        total = sum(cell[1] for cell in folds)
        if total < _MIN_COUNT:
            return None
        return _estimate(sum(cell[0] for cell in folds), total)


def _sentence_rows(
    syntax: Syntax,
    sentence: range,
    patterns: Sequence[Sequence[str]],
    estimates: dict[str, float] | _Estimates,
) -> list[Row]:
    """Return the features of each token of a sentence but the first."""
    chunks = syntax.language.tags.chunk([syntax.tags[i] for i in sentence])
    n = len(sentence)
    own: list[Row] = []
    for place, i in enumerate(sentence[1:], 1):
        row: Row = [
            (f"t={syntax.tags[i - 1]}|{syntax.tags[i]}", 1.0),
            (f"t1={syntax.tags[i]}", 1.0),
            (f"c={chunks[place - 1]}|{chunks[place]}", 1.0),
            (f"c1={chunks[place]}", 1.0),
            ("rel", place / n),
            ("start", min(place, 20) / 20),
            ("end", min(n - place, 20) / 20),
            (f"n={min(place, 4)}", 1.0),
            (f"m={min(n - place, 4)}", 1.0),
        ]
        for pattern in patterns[place - 1]:
            kind = pattern[0]
            value = estimates.get(pattern)
            if value is None:
                row.append((f"p{kind}?", 1.0))
            else:
                row.append((f"p{kind}", value))
                row.append((f"p{kind}{sum(value > step for step in _STEPS)}", 1.0))
        own.append(row)
    rows: list[Row] = []
    for place, row in enumerate(own):
        full = list(row)
        for name, at in (("-", place - 1), ("+", place + 1)):
            if 0 <= at < len(own):
                full += [(name + feature, value) for feature, value in own[at]]
        rows.append(full)
    return rows


def _index(rows: Iterable[Row]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in rows:
        for feature, _ in row:
            counts[feature] = counts.get(feature, 0) + 1
    kept = sorted(feature for feature, count in counts.items() if count >= _MIN_COUNT)
    return {feature: i for i, feature in enumerate(kept)}


def _arrays(rows: Sequence[Row], index: dict[str, int]) -> tuple[Ints, Floats, Ints]:
    """Return rows as flat arrays of indices and values, and where each row starts."""
    indices: list[int] = []
    values: list[float] = []
    offsets = [0]
    for row in rows:
        for feature, value in row:
            if (at := index.get(feature)) is not None:
                indices.append(at)
                values.append(value)
        offsets.append(len(indices))
    return np.array(indices), np.array(values, dtype=np.float32), np.array(offsets)
