"""Experts of our own for sequences: four ways of learning one kind of model.

A model is a weight for each feature with each label and for each pair of neighbouring labels
(zero where labels are predicted one by one). Features are rows of weights, a table (positions,
most) with 0 for none; sequences are cut out of it by offsets.

- `crf`: conditional random field (CRFsuite, as in the paper)
- `perceptron`: structured perceptron, averaged (in the place of SVM-struct)
- `svm`: multi-class machine of Crammer & Singer (as SVM-multiclass), one position at a time
- `logistic`: multinomial logistic regression (as the Stanford Classifier), one position at a time
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt
import pycrfsuite

from rhetorica.decode.chain import best_chain, kbest_chains
from rhetorica.learn.hashing import sum_rows
from rhetorica.learn.softmax import SoftmaxExamples, SoftmaxRegression
from rhetorica.learn.svm import Examples, fit_svm

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Sequences: sequence s has the positions ``offsets[s]:offsets[s + 1]``."""

    rows: Rows
    labels: Ints
    offsets: Ints
    width: int
    n_labels: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def pick(self, which: npt.ArrayLike) -> Data:
        """Return some of the sequences, in the order given."""
        chosen = np.asarray(which)
        places = [np.arange(self.offsets[s], self.offsets[s + 1]) for s in chosen]
        flat = np.concatenate(places) if places else np.zeros(0, np.int64)
        offsets = np.concatenate([[0], np.cumsum([len(p) for p in places])]).astype(np.int64)
        return Data(self.rows[flat], self.labels[flat], offsets, self.width, self.n_labels)

    def cut(self, values: Ints) -> list[list[int]]:
        """Cut what was found for every position into sequences."""
        return [values[start:end].tolist() for start, end in pairwise(self.offsets)]


@dataclass(frozen=True, slots=True, eq=False)
class ChainModel:
    """Weights of features (width, labels) and of neighbours (labels, labels)."""

    weights: Floats
    moves: Floats

    def scores(self, data: Data) -> Floats:
        """Return the score of every label at every position."""
        return np.asarray(sum_rows(self.weights, data.rows), dtype=np.float64)

    def predict(self, data: Data) -> list[list[int]]:
        """Return the best labels of every sequence."""
        scores = self.scores(data)
        if not self.moves.any():
            return data.cut(scores.argmax(axis=1))
        return [best_chain(scores[a:b], self.moves).tolist() for a, b in pairwise(data.offsets)]

    def kbest(self, data: Data, k: int) -> list[list[list[int]]]:
        """Return up to k sequences of labels for every sequence, the best first."""
        scores = self.scores(data)
        return [
            [labels.tolist() for labels, _ in kbest_chains(scores[a:b], self.moves, k)]
            for a, b in pairwise(data.offsets)
        ]


def crf(data: Data, *, l2: float = 1.0, iterations: int = 60) -> ChainModel:
    """Fit a conditional random field."""
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c1": 0.0, "c2": l2, "max_iterations": iterations})
    names = [str(row) for row in range(data.width)]
    for start, end in pairwise(data.offsets):
        items = [[names[row] for row in rows if row] for rows in data.rows[start:end]]
        trainer.append(items, [str(label) for label in data.labels[start:end]])
    tagger = pycrfsuite.Tagger()
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "weights.crfsuite")
        trainer.train(path)
        tagger.open(path)
        info = tagger.info()
        tagger.close()
    model = ChainModel(
        np.zeros((data.width, data.n_labels)), np.zeros((data.n_labels, data.n_labels))
    )
    for (row, label), weight in info.state_features.items():
        model.weights[int(row), int(label)] = weight
    for (before, after), weight in info.transitions.items():
        model.moves[int(before), int(after)] = weight
    return model


def perceptron(data: Data, *, epochs: int = 8, seed: int = 0) -> ChainModel:
    """Fit an averaged structured perceptron (Collins 2002)."""
    weights = np.zeros((data.width, data.n_labels))
    moves = np.zeros((data.n_labels, data.n_labels))
    late_weights, late_moves = np.zeros_like(weights), np.zeros_like(moves)
    rng = np.random.default_rng(seed)
    step = 0
    for _ in range(epochs):
        for s in rng.permutation(len(data)):
            here = slice(data.offsets[s], data.offsets[s + 1])
            rows, right = data.rows[here], data.labels[here]
            pred = best_chain(sum_rows(weights, rows), moves)
            for labels, sign in ((right, 1.0), (pred, -1.0)):
                if (pred == right).all():
                    break
                wrong = pred != right
                where = (rows[wrong], labels[wrong, None])
                np.add.at(weights, where, sign)
                np.add.at(late_weights, where, sign * step)
                np.add.at(moves, (labels[:-1], labels[1:]), sign)
                np.add.at(late_moves, (labels[:-1], labels[1:]), sign * step)
            step += 1
    weights -= late_weights / step
    weights[0] = 0
    return ChainModel(weights, moves - late_moves / step)


def svm(data: Data, *, l2: float = 1.0) -> ChainModel:
    """Fit a large-margin classifier of single positions."""
    # Column -1 stands for nothing there, row 0 here.
    examples = Examples(np.zeros((len(data.rows), 0)), data.rows - 1, data.width - 1)
    found = fit_svm(examples, data.labels, data.n_labels, l2=l2)
    weights = np.zeros((data.width, data.n_labels))
    weights[1:] = found.weights
    return ChainModel(weights, np.zeros((data.n_labels, data.n_labels)))


def logistic(data: Data, *, strength: float = 1.0, epochs: int = 10, seed: int = 0) -> ChainModel:
    """Fit a logistic regression of single positions."""
    right = np.eye(data.n_labels, dtype=bool)[data.labels]
    examples = SoftmaxExamples(data.rows, right, np.ones_like(right))
    model = SoftmaxRegression(
        data.width, data.n_labels, strength=strength, epochs=epochs, seed=seed
    ).fit(examples)
    return ChainModel(model.weights_.astype(np.float64), np.zeros((data.n_labels, data.n_labels)))


LEARNERS = {"crf": crf, "perceptron": perceptron, "svm": svm, "logistic": logistic}
