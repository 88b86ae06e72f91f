"""A linear projection of sparse counts, learned jointly with a large-margin classifier.

Algorithm 1 of Ji & Eisenstein (2014). An example looks at a few units (in their parser three: the
two on top of the stack and the first of the queue), each a vector v of counts. The classifier sees
the projection f = A [v1; v2; v3] and, if given, sparse features besides. With A fixed, the weights
are a support vector machine's; with weights and dual shares fixed, the objective

    l2 / 2 |W|^2 + sum of slacks + tau / 2 |A|^2

has the gradient ``tau A + sum_i (sum_m eta_im w_m - w_yi) v_i^T`` (their equation 8). Learning goes
to and fro between the two on small samples; the last machine sees all data.

Three forms of A (their section 2.3): "general"; "concatenation", where one matrix B projects each
unit by itself; "difference", where the differences of the first unit from the others are projected.
Tied blocks count as often in |A| as they stand in A. Baselines are fixed matrices: `nmf` gives one.

Deviations, with what undoes them. The rate of step t is 1 / (tau t), not 1 / t (either less by the
number of copies where blocks are tied): so that A is the mean of what the samples so far say,
equation 10 for each. With 1 / t (``rate="published"``) and a small tau, what A starts from is never
forgotten; for tau = 1 the two are the same. A starts from small values of both signs ("random"),
not from [0, 1] ("uniform"); or from the best approximation of the weights that a machine without
projection (A = I) gives to words ("words"), which then counts as much as ``inertia`` samples. It
ends when the change of A is small against the first one, but not before step 20.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rhetorica.errors import RhetoricaError, UnknownName
from rhetorica.learn.svm import Examples, Solution, fit_svm

Form = Literal["general", "concatenation", "difference"]
FORMS: tuple[Form, ...] = ("general", "concatenation", "difference")
Start = Literal["random", "uniform", "words"]
Rate = Literal["mean", "published"]
Floats = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
SLOTS = 3
_FEWEST = 20
"""Steps are compared with the first one only after so many: the second may be short by chance."""


def signs(form: str) -> npt.NDArray[np.int64]:
    """Return how A is made of its free matrices: (matrices, blocks of f, slots), of -1, 0, 1.

    >>> signs("difference")[0].tolist()
    [[1, -1, 0], [1, 0, -1]]
    """
    if form == "general":
        return np.eye(SLOTS, dtype=np.int64)[:, None, :]
    if form == "concatenation":
        return np.eye(SLOTS, dtype=np.int64)[None]
    if form == "difference":
        return np.array([[[1, -1, 0], [1, 0, -1]]])
    raise UnknownName("form of the projection", form, FORMS)


@dataclass(frozen=True, slots=True)
class Projection:
    """The matrix A in one of its forms; ``parts`` are its free matrices, transposed.

    ``parts`` has the shape (matrices, vocabulary, size): one matrix but for the general form, which
    has one for each slot. The size of f (the paper's K) is `width`.
    """

    form: Form
    parts: Floats

    @classmethod
    def random(
        cls,
        form: Form,
        vocabulary: int,
        width: int,
        seed: int = 0,
        *,
        low: float = -0.1,
        high: float = 0.1,
    ) -> Projection:
        """Start a projection from values between ``low`` and ``high``.

        ``width`` must be a multiple of the number of the form's blocks.
        """
        matrices, blocks, _ = signs(form).shape
        if width < 1 or width % blocks:
            raise RhetoricaError(f"a {form} projection has {blocks} blocks: {width} is no multiple")
        rng = np.random.default_rng(seed)
        shape = (matrices, vocabulary, width // blocks)
        return cls(form, rng.uniform(low, high, shape).astype(np.float32))

    @property
    def width(self) -> int:
        """The number of dimensions that the classifier sees."""
        return int(self.parts.shape[2] * signs(self.form).shape[1])

    @property
    def norm(self) -> float:
        """The squared Frobenius norm of A, tied blocks counted as often as they stand in it."""
        copies = (signs(self.form) ** 2).sum(axis=(1, 2))
        return float(copies @ (self.parts.astype(np.float64) ** 2).sum(axis=(1, 2)))

    def project(self, units: Any, slots: Ints) -> Floats:
        """Return f for examples: ``units`` is a CSR matrix of counts, ``slots`` (n, 3) its rows.

        A slot below 0 is empty: a vector of zeros.
        """
        size = self.parts.shape[2]
        found = np.zeros((len(slots), signs(self.form).shape[1], size), self.parts.dtype)
        for pattern, part in zip(signs(self.form), self.parts, strict=True):
            vectors = np.asarray(units @ part, dtype=part.dtype)
            vectors = np.vstack([vectors, np.zeros((1, size), part.dtype)])  # index -1: empty
            for block, slot in zip(*np.nonzero(pattern), strict=True):
                found[:, block] += pattern[block, slot] * vectors[slots[:, slot]]
        return found.reshape(len(slots), -1)

    def fold(self, weights: Floats) -> Floats:
        """Return the weights of words in each slot, (slots, vocabulary, classes): A^T W.

        They make scores of units sums of table rows, with no projection at run time.
        """
        pattern, size = signs(self.form), self.parts.shape[2]
        stacked = weights.reshape(pattern.shape[1], size, -1)
        inner = np.einsum("pbs,bkc->pskc", pattern.astype(weights.dtype), stacked)
        return np.asarray(np.einsum("pvk,pskc->svc", self.parts, inner, optimize=True))

    def gradient(
        self, units: Any, slots: Ints, labels: Ints, weights: Floats, shares: Floats, *, tau: float
    ) -> Floats:
        """Return the gradient of the objective with respect to ``parts`` (equation 8).

        ``weights`` (width, classes) and ``shares`` (n, classes) are the machine's.
        """
        pattern = signs(self.form)
        pull = shares @ weights.T - weights[:, labels].T
        pull = pull.reshape(len(slots), pattern.shape[1], -1)
        found = []
        for signs_of, part in zip(pattern, self.parts, strict=True):
            sums = np.zeros((units.shape[0] + 1, part.shape[1]))  # the last row: empty slots
            for block, slot in zip(*np.nonzero(signs_of), strict=True):
                np.add.at(sums, slots[:, slot], signs_of[block, slot] * pull[:, block])
            copies = float((signs_of**2).sum())
            found.append(units.T @ sums[:-1] + tau * copies * part)
        return np.stack(found)


@dataclass(frozen=True, slots=True)
class Problem:
    """Training data: counts of units, which units each example sees, sparse features, labels.

    ``units`` is a CSR matrix (units, vocabulary); ``slots`` (n, 3) are its rows, -1 for none;
    ``rows`` (n, most) are the columns of further features out of ``columns``, -1 for none.
    """

    units: Any
    slots: Ints
    rows: npt.NDArray[np.int32]
    columns: int
    labels: Ints
    n_classes: int

    def __len__(self) -> int:
        return len(self.labels)

    def sample(self, chosen: Ints) -> Problem:
        """Return some examples, with only the units and features that they have."""
        present, slots = np.unique(self.slots[chosen], return_inverse=True)
        empty = int(present[0] < 0) if len(present) else 0
        columns, rows = np.unique(self.rows[chosen], return_inverse=True)
        missing = int(columns[0] < 0) if len(columns) else 0
        return Problem(
            self.units[present[empty:]],
            slots.reshape(len(chosen), -1) - empty,
            (rows.reshape(len(chosen), -1) - missing).astype(np.int32),
            len(columns) - missing,
            self.labels[chosen],
            self.n_classes,
        )

    def examples(self, projection: Projection | None) -> Examples:
        """Return what the machine sees: projected units and features; no projection: A = 0."""
        if projection is None:
            return Examples(np.zeros((len(self), 0), np.float32), self.rows, self.columns)
        return Examples(projection.project(self.units, self.slots), self.rows, self.columns)


def words_start(
    problem: Problem, form: Form, width: int, *, l2: float, tau: float, passes: int, seed: int = 0
) -> Projection:
    """Return the projection whose weights of words come nearest to those of A = I.

    The weights of A = I, words by slots and classes, are cut to the leading singular vectors, as
    many as the form has dimensions; their scale is shared between A and the weights so that the two
    regularisers are the same.
    """
    words = word_rows(problem.units, problem.slots)
    words = np.where(words >= 0, words + problem.columns, -1).astype(np.int32)
    vocabulary = problem.units.shape[1]
    examples = Examples(
        np.zeros((len(problem), 0), np.float32),
        np.concatenate([problem.rows, words], axis=1),
        problem.columns + SLOTS * vocabulary,
    )
    found = fit_svm(examples, problem.labels, problem.n_classes, l2=l2, passes=passes, seed=seed)
    slots = found.weights[problem.columns :].reshape(SLOTS, vocabulary, -1).astype(np.float64)
    if form == "general":
        target, size = slots.reshape(SLOTS * vocabulary, -1), width
    elif form == "concatenation":
        target, size = np.concatenate(list(slots), axis=1), width // SLOTS
    else:  # what is left of the first slot's weights follows from the other two
        target, size = np.concatenate([-slots[1], -slots[2]], axis=1), width // 2
    squares, directions = np.linalg.eigh(target.T @ target)
    order = np.argsort(-squares)[:size]
    values = np.sqrt(np.maximum(squares[order], 1e-12))
    vectors = target @ directions[:, order] / np.sqrt(values) * (l2 / tau) ** 0.25
    vectors = np.pad(vectors, ((0, 0), (0, size - vectors.shape[1])))
    matrices = SLOTS if form == "general" else 1
    return Projection(form, vectors.reshape(matrices, vocabulary, size).astype(np.float32))


@dataclass(kw_only=True)
class ProjectionLearner:
    """Learns a projection and a classifier; after `fit` it has ``projection_`` and ``solution_``.

    ``form`` None means A = 0: the features alone. ``l2`` and ``tau`` are the paper's lambda and
    tau, the regularisers of the weights and of A.
    """

    form: Form | None = "concatenation"
    width: int = 60
    l2: float = 1.0
    tau: float = 0.1
    batch: int = 500
    iterations: int = 200
    threshold: float = 1e-3
    passes: int = 30
    start: Start = "random"
    rate: Rate = "mean"
    inertia: int = 100
    seed: int = 0

    def fit(
        self, problem: Problem, *, progress: Callable[[int, float], None] | None = None
    ) -> ProjectionLearner:
        """Learn from a problem.

        ``progress`` is called after each iteration with its number and the change of A in relation
        to the first change; below ``threshold`` the iterations end.
        """
        self.projection_: Projection | None = None
        if self.form is not None:
            low, high = (0.0, 1.0) if self.start == "uniform" else (-0.1, 0.1)
            size = problem.units.shape[1]
            first = Projection.random(self.form, size, self.width, self.seed, low=low, high=high)
            if self.start == "words":
                first = words_start(
                    problem,
                    self.form,
                    self.width,
                    l2=self.l2,
                    tau=self.tau,
                    passes=self.passes,
                    seed=self.seed,
                )
            self.projection_ = self._learn_projection(problem, first, progress)
        return self.fit_weights(problem)

    def fit_weights(self, problem: Problem) -> ProjectionLearner:
        """Learn the weights from all data with the projection as it is."""
        self.solution_ = fit_svm(
            problem.examples(self.projection_),
            problem.labels,
            problem.n_classes,
            l2=self.l2,
            passes=self.passes,
            seed=self.seed,
        )
        return self

    def _learn_projection(
        self,
        problem: Problem,
        projection: Projection,
        progress: Callable[[int, float], None] | None,
    ) -> Projection:
        rng = np.random.default_rng(self.seed)
        first_change = 0.0
        # Every free matrix of a form stands in A equally often.
        copies = float((signs(projection.form)[0] ** 2).sum())
        before = self.inertia if self.start == "words" else 0
        for t in range(1, self.iterations + 1):
            size = min(self.batch, len(problem))
            sample = problem.sample(np.sort(rng.choice(len(problem), size, replace=False)))
            found = self._machine(sample, projection)
            gradient = projection.gradient(
                sample.units,
                sample.slots,
                sample.labels,
                found.dense_weights,
                found.shares,
                tau=self.tau,
            )
            scale = self.tau if self.rate == "mean" else 1.0
            change = -gradient / (scale * copies * (before + t))
            projection = Projection(
                projection.form, (projection.parts + change).astype(projection.parts.dtype)
            )
            length = float(np.linalg.norm(change))
            first_change = first_change or length
            if progress:
                progress(t, length / max(first_change, 1e-12))
            if t >= _FEWEST and length < self.threshold * first_change:
                break
        return projection

    def _machine(self, sample: Problem, projection: Projection) -> Solution:
        return fit_svm(
            sample.examples(projection),
            sample.labels,
            sample.n_classes,
            l2=self.l2,
            passes=self.passes,
            seed=self.seed,
        )


def word_rows(units: Any, slots: Ints) -> npt.NDArray[np.int32]:
    """Return the columns of the words that each example has in each slot: the baseline A = I.

    Word w in slot s is column ``s * vocabulary + w``; a word counts once however often it occurs.
    """
    vocabulary = units.shape[1]
    lengths = np.append(np.diff(units.indptr), 0)
    table = np.full((units.shape[0] + 1, max(1, int(lengths.max(initial=0)))), -1, dtype=np.int32)
    place = np.arange(units.indptr[-1]) - np.repeat(units.indptr[:-1], lengths[:-1])
    table[np.repeat(np.arange(units.shape[0]), lengths[:-1]), place] = units.indices
    found = [
        np.where(table[slots[:, slot]] >= 0, table[slots[:, slot]] + slot * vocabulary, -1)
        for slot in range(slots.shape[1])
    ]
    return np.concatenate(found, axis=1).astype(np.int32)


def nmf(counts: Any, size: int, *, iterations: int = 100, seed: int = 0) -> tuple[Floats, Floats]:
    """Factor a sparse matrix of counts into W (rows, size) and H (size, columns), none negative.

    Multiplicative updates of the squared error (Lee & Seung 2001).
    """
    rng = np.random.default_rng(seed)
    mean = np.sqrt(max(counts.mean(), 1e-12) / size)
    left = mean * rng.uniform(0.1, 1.9, (counts.shape[0], size))
    right = mean * rng.uniform(0.1, 1.9, (size, counts.shape[1]))
    for _ in range(iterations):
        left *= np.asarray(counts @ right.T) / np.maximum(left @ (right @ right.T), 1e-12)
        right *= np.asarray(counts.T @ left).T / np.maximum((left.T @ left) @ right, 1e-12)
    return left, right


def nmf_projection(counts: Any, width: int, *, iterations: int = 100, seed: int = 0) -> Projection:
    """Return the fixed concatenation projection made of the pseudo-inverse of NMF's H."""
    size = width // SLOTS
    _, right = nmf(counts, size, iterations=iterations, seed=seed)
    return Projection("concatenation", np.linalg.pinv(right)[None].astype(np.float32))
