"""``dplp``: shift-reduce parsing with a learned projection of words (Ji & Eisenstein 2014).

Every action is chosen by a large-margin classifier that sees the words of three EDUs (the heads of
the two items on top of the stack, and the first of the queue) through a projection A that is
learned jointly (`rhetorica.learn.projection`), and sparse features besides (their Table 2).

Feature sets: ``paper`` has Table 2, ``none`` only the words, ``extended`` is ours: attributes of
head, first and last EDUs, labels, sizes, boundaries of sentences and paragraphs, dominance, shared
words, and their conjunctions. Forms of A: ``general``, ``concatenation``, ``difference``; baselines
``none`` (A = 0), ``identity`` (A = I), ``nmf`` (a fixed factorisation of the counts), ``vectors``
(word vectors from a file).

After training, weights and projection are multiplied out, so that the words of an EDU give one
vector of scores for each place in which it can stand: a step costs three additions of vectors.

Deviations. With A = I a word counts once. Distances between EDUs above 4 are one value, head words
are not paired. Scores become probabilities by a softmax with a temperature that is fitted on dev
data; with them beam and k-best search work as in the other parsers. Beyond the paper, the parser
can learn from states that it reaches by mistake (``folds``), and build runs of nuclei to the left
as they are read (``branching``); trees that leave it always branch to the right, as in the paper.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rhetorica.convert import relabel
from rhetorica.document import Document
from rhetorica.errors import ModelError, RhetoricaError
from rhetorica.files import Source
from rhetorica.languages import check_language, common_language
from rhetorica.learn.calibration import best_temperature, log_loss
from rhetorica.learn.hashing import Vocabulary, prune, stack_rows
from rhetorica.learn.projection import (
    FORMS,
    Problem,
    Projection,
    ProjectionLearner,
    Rate,
    Start,
    nmf_projection,
    word_rows,
)
from rhetorica.learn.svm import fit_svm
from rhetorica.models.store import Config, State, Stored
from rhetorica.parsers.transition import (
    SHIFT,
    Actions,
    Forest,
    Found,
    Item,
    Scorer,
    distributions,
    left_branching,
    oracle,
    right_branching,
    search,
)
from rhetorica.parsers.transition.classifier import Classifier
from rhetorica.parsers.transition.exploration import DynamicOracle
from rhetorica.parsers.transition.features import BITS, StateReader, Templates, Units
from rhetorica.parsers.transition.voting import WholeSteps, elected, join_probabilities, vote
from rhetorica.parses import Candidate, Parse, Scores
from rhetorica.progress import Event, Tell, nothing, steps
from rhetorica.protocols import Ballot
from rhetorica.settings import RELATIONS, made, setting
from rhetorica.trees import RSTTree

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]
_SAMPLES = 16
Probabilities = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
Matrix = Literal["general", "concatenation", "difference", "none", "identity", "nmf", "vectors"]
MATRICES: tuple[Matrix, ...] = (*FORMS, "none", "identity", "nmf", "vectors")
FIXED = ("nmf", "vectors")
"""Projections that are not learned; they have the form of a concatenation."""
FeatureSet = Literal["extended", "paper", "none"]
Branching = Literal["left", "right"]
SLOTS = 3
"""Words are seen of three EDUs."""
_STACK, _PAIRS = ("s0head", "s1head", "q0"), (("s0head", "s1head"), ("s0head", "q0"))

PAPER: list[str] = [
    "always",
    *[
        f"{unit}.{name}"
        for unit in _STACK
        for name in ("first", "last", "tag", "lasttag", "tokens", "fromstart", "fromend")
    ],
    *[
        f"{one}.{name} {two}.{name}"
        for one, two in _PAIRS
        for name in ("first", "last", "tag", "lasttag", "tokens")
    ],
    *[f"{pair}.{name}" for pair in ("s0-s1", "s0-q0") for name in ("distance", "same")],
]
"""Table 2 of the paper: of single EDUs and of the pairs (stack, stack) and (stack, queue)."""
PAPER_BAGS = [(unit, "heads") for unit in _STACK]

_EDGES = "s0.start q0.start"
"""How strong the boundaries are between the two items on top, and before the queue."""
_PAIRED = ("tag", "headtag", "verbs", "headrel", "shape", "length", "role", "head", "subjectkind")
EXTENDED: list[str] = [
    "always",
    # The frame: boundaries and what the items span.
    _EDGES,
    *[
        f"{_EDGES} {more}"
        for more in (
            "s1.start", "s1.level s0.level", "s1.start s1.level s0.level", "s2.start s1.start",
            "s0.label", "s1.label", "s0.label s1.label", "s0.edus", "s1.edus",
            "s0.edus s1.edus", "s0.sentences s1.sentences", "s0.paragraphs s1.paragraphs",
            "stack.insentence", "stack.inparagraph", "stack.insentence q0.tosentence",
            "stack.inparagraph q0.toparagraph", "stack.depth q0.todocument",
            "q0.toparagraph s0.level s1.level", "q0.todocument s1.start",
            "document.edus s1.start", "document.paragraphs s0.level",
            "s0-s1.between", "s0-q0.between", "s1-q0.between", "s2-s1.syntax s1-s0.syntax",
            "s1-s0.overlap s0-q0.overlap", "s1-s0.cohesion s0-q0.cohesion", "s1-q0.cohesion",
            "s1-next.cohesion", "s0.openparagraph s1.openparagraph",
        )
    ],
    "s0.level q0.start", "s1.level s0.level s0.start", "s2.level s1.start s1.level s0.level",
    "s0.label s1.label s2.label", "s0.label s0.left s0.right q0.start",
    "s1.label s1.left s1.right s0.start", "s0.label s0.level q0.start",
    "s1.label s1.level s0.start q0.start", "s2.label s1.label s0.start q0.start",
    # Between the heads, and in the sentence's syntax.
    "s1-s0.syntaxrel", "s0-q0.syntaxrel", "s1-q0.syntaxrel", "s1-s0.syntaxrel s0-q0.syntaxrel",
    "s1-s0.syntax s0-q0.syntax s1-q0.syntax", "s1-s0.syntax s0-q0.syntax s1-q0.syntax s2-s1.syntax",
    "s1-s0.syntaxrel s0top.headtag", "s1-s0.syntaxrel s1top.headtag",
    "s1-s0.syntaxrel s0first.first", "s1-s0.syntaxrel s1first.first", "s0-q0.syntaxrel q0.first",
    "s0-q0.syntaxrel q0.headtag",
    "s0top.headrel s1top.headrel s0.start", "s0top.headtag s1top.headtag q0.headtag q0.start",
    "s0top.headrel s1top.headrel q0.headrel s0.start",
    "s0-s1.dominance s0-q0.dominance s1-q0.dominance",
    # Words and tags at the edges and heads, each with its boundaries.
    *[
        f"{pointer}.{name} {_EDGES}"
        for pointer, names in (
            ("s0first", "first first2 tag tag2 connective shape role opening cue block"),
            ("s0head", "first tag head headtag headrel verbs shape length role subject connective "
                       "subjectkind cue sentence"),
            ("s0last", "last lasttag shape role last2"),
            ("s1first", "first first2 tag connective shape role opening cue block"),
            ("s1head", "first tag head headtag headrel verbs shape length role connective "
                       "subjectkind cue sentence"),
            ("s1last", "last lasttag shape role"),
            ("q0", "first first2 tag tag2 connective shape role headtag headrel verbs length "
                   "subject head opening cue block subjectkind sentence"),
            ("q1", "first tag connective role shape"),
            ("next", "opening block tag role"),
            ("s2head", "tag shape role"),
            ("s0left", "connective tag"),
            ("s1right", "connective tag"),
        )
        for name in names.split()
    ],
    *[f"{p}.{name}" for p in ("s0first", "q0") for name in ("first3", "domtag", "dominator")],
    # Pairs of the two on top.
    *[f"s1head.{name} s0head.{name} s0.start" for name in _PAIRED],
    *[
        f"s1first.{name} s0first.{name} {_EDGES}"
        for name in ("connective", "shape", "block", "opening", "tag", "first")
    ],
    "s1last.lasttag s0first.tag s0.start", "s1last.last s0first.first s0.start",
    "s1head.head s0first.first s0.start", "s1head.verbs s0first.connective s0.start",
    "s1head.headtag s0first.first2 s0.start", "s1head.shape s0head.tag s0.start",
    "s0first.connective s0.label s1.label s0.start", "s0first.connective s0.level s1.level",
    "s0first.first s0.level s1.level q0.start", "s1first.connective s0.level s1.level q0.start",
    "s0first.tag s1first.tag s0.level s1.level", "s0head.length s1head.length s0.level s1.level",
    "s0head.paragraphplace s1head.paragraphplace s0.start",
    "s0head.sentenceplace s1head.sentenceplace s0.start", "s1head.documentplace s0.start s1.level",
    "s0head.documentplace q0.start s0.level", "s1first.paragraphnumber s0.level s1.level",
    "s0first.sentenceinparagraph s1first.sentenceinparagraph q0.start",
    # Pairs of the top and the queue.
    *[f"s0head.{name} q0.{name} q0.start" for name in _PAIRED],
    "s0last.lasttag q0.tag q0.start", "s0last.last q0.first q0.start",
    "s0head.head q0.first q0.start", "s0head.verbs q0.connective q0.start",
    f"s0first.connective q0.connective {_EDGES}", f"q0.connective s0.label {_EDGES}",
    "q0.connective s0.label s1.label q0.start", f"q0.connective s0.level {_EDGES}",
    f"q0.first s0.level s1.level {_EDGES}", f"q0.tag s0.level s1.level {_EDGES}",
    f"q0.role s0.level s1.level {_EDGES}", f"q0.shape s0.level {_EDGES}",
    "q0.sentenceinparagraph s0.start s0.level", f"s0first.block q0.block {_EDGES}",
    # Three at a time.
    *[f"s1head.{name} s0head.{name} q0.{name}" for name in ("role", "tag", "headtag")],
    *[f"s1first.{name} s0first.{name} q0.{name}" for name in ("shape", "connective", "block")],
    "s1first.block s0first.block q0.block next.block",
]  # fmt: skip
FEATURES: dict[str, tuple[list[str], list[tuple[str, str]]]] = {
    "none": (["always"], []),
    "paper": (PAPER, PAPER_BAGS),
    "extended": (EXTENDED, []),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How the parser is built and trained, and how it searches."""

    matrix: Matrix = setting(
        "concatenation", "Form of the projection, or a baseline: none, identity, nmf, vectors."
    )
    vectors: str = setting("", "Text file of word vectors (a word, then its numbers), for vectors.")
    features: FeatureSet = setting(
        "extended", "Besides the words: extended (ours), paper (their Table 2), or none."
    )
    width: int = setting(60, "Dimensions of the projection (K)", grid=())
    l2: float = setting(
        200.0, "Strength of the weights' regulariser (lambda)", grid=(), positive=True
    )
    tau: float = setting(1.0, "Strength of the projection's regulariser", grid=(), positive=True)
    iterations: int = setting(100, "Steps of the projection.")
    batch: int = setting(500, "States in a step.")
    passes: int = setting(15, "Times that all states are seen to learn weights.")
    start: Start = setting(
        "words",
        "What the projection is at first: uniform (in [0, 1], paper), random (small, of both "
        "signs), words (ours).",
    )
    rate: Rate = setting(
        "mean", "How far step t goes: published (1 / t, paper), mean (1 / (tau t), ours)."
    )
    folds: int = setting(
        0, "Parts in which documents are parsed to learn from mistakes; 0: they are not."
    )
    branching: Branching = setting("right", "How lists branch inside the parser.")
    samples: int = setting(_SAMPLES, "Sequences of actions that vote on the tree; 0: use a beam.")
    beam: int = setting(1, "States that a beam keeps; 1: greedy.")
    min_count: int = setting(3, "Drop features seen less often.")
    threshold: float = setting(0.0, "Drop smaller weights from the file, to make it small.")
    seed: int = setting(0, "Of the order of states, of the projection and of votes.")
    relations: str = "as-is"
    temperature: float = 1.0


Problems = dict[tuple[Any, ...], tuple[Problem, Actions, dict[str, int], Vocabulary]]
"""What `DPLPParser.prepare` makes of documents, by the settings that it depends on."""


@dataclass(frozen=True)
class _Sample:
    """States of a document with the right actions, and what more can be learned from it."""

    rows: Rows
    slots: Ints
    labels: Ints
    units: Any
    reader: StateReader
    tree: RSTTree
    sequence: Ints


class DPLPParser(Stored):
    """Learns and applies the parser; after `fit` or `load` it can be called.

    The tree is elected by the votes of ``samples`` sequences of actions or, if that is 0, found by
    a beam of width ``beam``. With ``folds``, states reached by mistake are learned from, too.
    """

    name = "dplp"
    actions_: Actions
    words_: dict[str, int]
    keys_: Vocabulary

    def __init__(self, settings: Settings | None = None, **changes: Any) -> None:
        self.settings = made(Settings, settings, changes)
        templates, bags = FEATURES[self.settings.features]
        self._templates = Templates.of([tuple(name.split()) for name in templates], bags)

    # Learning

    def fit(
        self,
        parses: Sequence[Parse],
        *,
        coarse: Callable[[str], str] | None = None,
        tell: Tell = nothing,
        problems: Problems | None = None,
    ) -> DPLPParser:
        """Learn from gold analyses of documents with syntax; ``coarse`` maps relations.

        ``problems`` keeps what trainings on the same documents with other regularisers share.
        """
        problems = {} if problems is None else problems
        # Only exploring depends on a regulariser.
        s = self.settings
        key = (s.features, s.branching, s.min_count, s.folds, s.l2 if s.folds else 0.0)
        if key not in problems:
            problem = self.prepare(parses, coarse=coarse, tell=tell)
            problems[key] = problem, self.actions_, self.words_, self.keys_
        problem, self.actions_, self.words_, self.keys_ = problems[key]
        return self.fit_problem(problem, tell)

    def prepare(
        self,
        parses: Sequence[Parse],
        *,
        coarse: Callable[[str], str] | None = None,
        tell: Tell = nothing,
    ) -> Problem:
        """Turn gold analyses into a learning problem; sets ``actions_``, ``words_``, ``keys_``."""
        self.language = common_language(parse.document for parse in parses)
        trees = [self._target(parse, coarse) for parse in parses]
        self.actions_ = Actions.of(trees)
        words = {word for parse in parses for word in _words(parse.document)}
        self.words_ = {word: i for i, word in enumerate(sorted(words))}
        samples: list[_Sample] = []
        for number, (parse, tree) in enumerate(zip(parses, trees, strict=True), 1):
            if tree.n_edus > 1:  # else nothing to decide
                samples.append(self._gold_sample(parse.document, tree))
            tell(Event("features", number, len(parses)))
        if not samples:
            raise ModelError("no document has two EDUs: there is nothing to learn from")
        explored = self._explore(samples, tell) if self.settings.folds else []
        problem, self.keys_ = self._problem([*samples, *explored])
        return problem

    def _gold_sample(self, doc: Document, tree: RSTTree) -> _Sample:
        """Return the states on the way to the gold tree, with the actions that lead there."""
        sequence = np.array(oracle(tree, self.actions_))
        forest = Forest(tree.n_edus, self.actions_)
        states = forest.run(sequence.tolist())
        reader = StateReader(Units.of(doc))
        rows = reader.rows(reader.look(forest, states), self._templates)
        # Where only one action is possible there is nothing to learn.
        open_ = forest.valid(states).sum(axis=1) > 1
        slots = _slots(forest, states[open_])
        return _Sample(
            rows[open_], slots, sequence[open_], self._counts(doc), reader, tree, sequence
        )

    def _explore(self, samples: Sequence[_Sample], tell: Tell) -> list[_Sample]:
        """Return states that parsers reach by mistake, with the best that can be done there.

        Each part of the documents is parsed by a machine (features only) that was trained on the
        others. Where a dynamic oracle allows several actions, that one counts as right which the
        machine likes best.
        """
        found = []
        for fold in range(self.settings.folds):
            others = [s for i, s in enumerate(samples) if i % self.settings.folds != fold]
            if not others:
                continue
            problem, keys = self._problem(others)
            solution = fit_svm(
                problem.examples(None),
                problem.labels,
                problem.n_classes,
                l2=self.settings.l2,
                passes=8,
                seed=self.settings.seed,
            )
            machine = Classifier(self._templates, keys, solution.weights)
            for sample in samples[fold :: self.settings.folds]:
                found.append(self._mistakes(sample, machine))
            tell(Event("exploring", fold + 1, self.settings.folds))
        return found

    def _mistakes(self, sample: _Sample, machine: Classifier) -> _Sample:
        """Parse a document; return the states after the first mistake with what is right there."""
        reader, n = sample.reader, sample.tree.n_edus

        def score(forest: Forest, states: Ints) -> Floats:
            return machine.scores(reader, reader.look(forest, states))

        forest = Forest(n, self.actions_)
        [found] = search(n, self.actions_, score, forest=forest)
        wrong = np.flatnonzero(found.actions != sample.sequence)
        states = found.states[(wrong[0] if len(wrong) else len(found.states)) + 1 :]
        states = states[forest.valid(states).sum(axis=1) > 1]
        looks = reader.look(forest, states)
        scores = machine.scores(reader, looks)
        right, labels = DynamicOracle(sample.tree, self.actions_).targets(forest, states)
        reduce = np.where(labels > 0, labels, 1 + scores[:, 1:].argmax(axis=1))
        each = np.arange(len(states))
        better = scores[:, SHIFT] >= scores[each, reduce]
        shift = right[:, 0] & (better | ~right[:, 1])
        return replace(
            sample,
            rows=reader.rows(looks, self._templates),
            slots=_slots(forest, states),
            labels=np.where(shift, SHIFT, reduce),
        )

    def _problem(self, samples: Sequence[_Sample]) -> tuple[Problem, Vocabulary]:
        """Put samples together; return the hashes of the features that are kept, too."""
        from scipy.sparse import vstack

        units = {id(sample.units): sample.units for sample in samples}
        sizes = [counts.shape[0] for counts in units.values()]
        offsets = dict(zip(units, np.cumsum([0, *sizes]).tolist(), strict=False))
        slots = [
            np.where(sample.slots >= 0, sample.slots + offsets[id(sample.units)], -1)
            for sample in samples
        ]
        hashes = stack_rows([sample.rows for sample in samples])
        keys = Vocabulary.counted(hashes, BITS, min_count=self.settings.min_count)
        # Row 0 is for features that are not known; here they are left out.
        known = keys.table[hashes]
        problem = Problem(
            vstack(list(units.values()), format="csr"),
            np.concatenate(slots),
            np.where((hashes >= 0) & (known > 0), known, -1).astype(np.int32),
            len(keys),
            np.concatenate([sample.labels for sample in samples]),
            len(self.actions_),
        )
        return problem, keys

    def fit_problem(self, problem: Problem, tell: Tell = nothing) -> DPLPParser:
        """Learn projection and weights from a problem that `prepare` has made."""
        s = self.settings
        shared = ("width", "l2", "tau", "batch", "iterations", "passes", "start", "rate", "seed")
        learner = ProjectionLearner(
            form=s.matrix if s.matrix in FORMS else None,
            **{name: getattr(s, name) for name in shared},
        )
        columns = problem.columns
        if self.settings.matrix == "identity":
            words = word_rows(problem.units, problem.slots)
            total = columns + SLOTS * len(self.words_)
            words = np.where(words >= 0, words + columns, -1).astype(np.int32)
            problem = replace(
                problem, rows=np.concatenate([problem.rows, words], axis=1), columns=total
            )
        if self.settings.matrix in FIXED:
            learner.projection_ = (
                nmf_projection(problem.units, self.settings.width, seed=self.settings.seed)
                if self.settings.matrix == "nmf"
                else read_vectors(self.settings.vectors, self.words_)
            )
            learner.fit_weights(problem)
        else:
            learner.fit(
                problem, progress=steps(tell, "projection", self.settings.iterations, "change")
            )
        self.projection_ = learner.projection_
        self.dense_weights_ = learner.solution_.dense_weights
        weights = learner.solution_.weights[:columns]
        self.classifier_ = Classifier(self._templates, self.keys_, weights)
        self.word_weights_ = self._fold(learner.solution_.weights[columns:])
        return self

    def _fold(self, words: Floats) -> Floats:
        """Return the weights of words in each slot: (slots, words, actions)."""
        if self.projection_ is not None:
            return self.projection_.fold(self.dense_weights_).astype(np.float32)
        return words.reshape(SLOTS, -1, len(self.actions_))

    def _target(self, parse: Parse, coarse: Callable[[str], str] | None) -> RSTTree:
        tree = relabel(parse.tree, coarse)
        return left_branching(tree) if self.settings.branching == "left" else tree

    def _counts(self, doc: Document) -> Any:
        """Return how often each EDU has each known word: a CSR matrix (EDUs, words)."""
        from scipy.sparse import csr_matrix

        lowered = _words(doc)
        found = [
            (edu, self.words_[lowered[i]])
            for edu, group in enumerate(doc.edu_tokens())
            for i in group
            if lowered[i] in self.words_
        ]
        rows, columns = zip(*found, strict=True) if found else ((), ())
        shape = (len(doc.edus), len(self.words_))
        return csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)

    # Parsing

    def __call__(self, doc: Document, *, kbest: int = 1) -> Parse:
        """Parse a document that has EDUs and syntax."""
        about = {
            "parser": self.name,
            "relations": self.settings.relations,
            "matrix": self.settings.matrix,
        }
        check_language(doc, self)
        n = len(doc.edus)
        if n < 2:
            return Parse(doc, RSTTree(n), provenance=about)
        score = self.scorer(doc)
        if self.settings.samples and kbest == 1:
            return self._elected(doc, score, about)
        forest = Forest(n, self.actions_, width=max(self.settings.beam, kbest))
        found = search(
            n, self.actions_, score, width=self.settings.beam, kbest=kbest, forest=forest
        )
        candidates = tuple(Candidate(self._output(f.tree), f.score) for f in found)
        if self.settings.samples:
            return replace(self._elected(doc, score, about), kbest=candidates)
        tree = self._output(found[0].tree)
        scores = self._scores(tree, found[0], forest, score)
        return Parse(doc, tree, scores, candidates if kbest > 1 else (), about)

    def ballot(self, doc: Document) -> Ballot:
        """Return the votes of a sample of sequences for joins, and their labels."""
        n = len(doc.edus)
        if n < 2 or self.settings.branching == "left":
            # Votes for lists that branch to the left are no votes for the trees that leave here.
            return Ballot.of(self(doc))
        check_language(doc, self)
        steps, samples = WholeSteps(self.scorer(doc)), self.settings.samples or _SAMPLES
        votes = vote(n, self.actions_, steps, samples=samples, seed=self.settings.seed)
        return Ballot(votes, self.actions_.labels)

    def _elected(self, doc: Document, score: Scorer, about: dict[str, str]) -> Parse:
        """Return the tree that most of a sample of sequences agrees with (see `voting`)."""
        n = len(doc.edus)
        joins, actions, shares = elected(
            n,
            self.actions_,
            WholeSteps(score),
            samples=self.settings.samples,
            seed=self.settings.seed,
        )
        splits = [join.split for join in joins]
        tree = self._output(RSTTree.from_joins(n, joins))
        return Parse(doc, tree, self._by_split(tree, splits, actions, shares), (), about)

    def scorer(self, doc: Document) -> Callable[[Forest, Ints], Floats]:
        """Return the function that scores the actions in states of this document."""
        reader = StateReader(Units.of(doc))
        classifier = self.classifier_
        scale = np.float32(1 / self.settings.temperature)
        words = None
        if self.word_weights_.shape[1]:
            counts = self._counts(doc)
            if self.settings.matrix == "identity":
                counts.sum_duplicates()
                counts.data[:] = 1
            blank = np.zeros((1, len(self.actions_)), np.float32)
            words = [np.vstack([counts @ part, blank]) for part in self.word_weights_]

        def score(forest: Forest, states: Ints) -> Floats:
            total = classifier.scores(reader, reader.look(forest, states))
            if words is not None:
                for scores, slot in zip(words, _slots(forest, states).T, strict=True):
                    total += scores[slot]
            return np.asarray(total * scale)

        return score

    def _output(self, tree: RSTTree) -> RSTTree:
        return right_branching(tree) if self.settings.branching == "left" else tree

    def _scores(
        self, tree: RSTTree, found: Found, forest: Forest, score: Callable[..., Floats]
    ) -> Scores:
        """Return the probabilities of the joins, each that of the action that made it.

        Of a join: that there is one at this point, then of its nuclearity if so, then of its
        relation. Whichever way runs of nuclei branch, a join is known by where it splits.
        """
        chosen = np.flatnonzero(found.actions != SHIFT)
        states, actions = found.states[chosen], found.actions[chosen]
        shares = distributions(forest, states, score)
        splits = forest.column(Item.START, states).tolist()
        return self._by_split(tree, splits, actions, shares)

    def _by_split(
        self, tree: RSTTree, splits: list[int], actions: Ints, shares: Probabilities
    ) -> Scores:
        """Read the probabilities of a tree's joins off those of actions, known by their splits."""
        rows = zip(*join_probabilities(self.actions_, actions, shares), strict=True)
        by_split = dict(zip(splits, rows, strict=True))
        columns = zip(*(by_split[join.split] for join in tree.joins), strict=True)
        spans, nuclei, relations = columns
        return Scores(spans=spans, nuclearities=nuclei, relations=relations)

    def calibrate(
        self, parses: Sequence[Parse], coarse: Callable[[str], str] | None = None
    ) -> None:
        """Choose the temperature under which gold actions are most probable."""
        self.settings = replace(self.settings, temperature=1.0)
        scores, golds = [], []
        for parse in parses:
            tree = self._target(parse, coarse)
            if tree.n_edus < 2:
                continue
            known = [join.label in self.actions_.labels for join in tree.joins]
            if not all(known):
                continue
            sequence = oracle(tree, self.actions_)
            forest = Forest(tree.n_edus, self.actions_)
            states = forest.run(sequence)
            valid = forest.valid(states)
            table = np.where(valid, self.scorer(parse.document)(forest, states), -np.inf)
            open_ = valid.sum(axis=1) > 1
            scores.append(table[open_])
            golds.append(np.array(sequence)[open_])
        if not scores:
            return
        table, gold = np.concatenate(scores).astype(np.float64), np.concatenate(golds)
        grid = np.geomspace(0.05, 5, 40)
        best = best_temperature(lambda t: log_loss(table / t, gold), grid)
        self.settings = replace(self.settings, temperature=best)

    # Files

    def prune(self, threshold: float) -> None:
        """Set weights of features below a threshold to zero, to make the file small."""
        self.classifier_ = _pruned(self.classifier_, threshold)

    def state(self) -> State:
        """Return settings, labels, words, and weights as 16-bit floats."""
        arrays = self.classifier_.arrays("features")
        arrays["dense_weights"] = self.dense_weights_.astype(np.float16)
        if self.projection_ is not None:
            arrays["projection"] = self.projection_.parts.astype(np.float16)
        elif self.settings.matrix == "identity":
            arrays["word_weights"] = self.word_weights_.astype(np.float16)
        words = json.dumps(list(self.words_), ensure_ascii=False, indent=0) + "\n"
        config = Config.of(self, self.actions_.labels)
        return State(config, arrays, {"words.json": words.encode()})

    @classmethod
    def from_state(cls, state: State, **options: Any) -> DPLPParser:
        """Make it again; ``options`` replace settings."""
        parser = cls(**{**state.config.settings, RELATIONS: state.config.relations, **options})
        parser.actions_ = Actions(state.config.labels)
        words = json.loads(state.file("words.json"))
        parser.words_ = {word: i for i, word in enumerate(words)}
        parser._restore(state.arrays)
        return parser

    def _restore(self, data: Any) -> None:
        self.classifier_ = Classifier.from_arrays("features", data, self._templates)
        self.dense_weights_ = data["dense_weights"].astype(np.float32)
        self.projection_ = None
        if "projection" in data:
            form = "concatenation" if self.settings.matrix in FIXED else self.settings.matrix
            self.projection_ = Projection(form, data["projection"].astype(np.float32))  # type: ignore[arg-type]
        words = np.zeros((0, len(self.actions_)), np.float32)
        if "word_weights" in data:
            words = data["word_weights"].astype(np.float32)
        self.word_weights_ = self._fold(words)


def read_vectors(path: str, words: Mapping[str, int]) -> Projection:
    """Read the vectors of words: a line each, or after a line with their count and size.

    Words that the file does not have get zeros.
    """
    if not path:
        raise RhetoricaError("a projection by word vectors needs a file with them: give vectors")
    found: dict[int, list[float]] = {}
    size = 0
    source = Source.of(path)
    for number, line in enumerate(source.text.splitlines(), 1):
        word, *values = line.split()
        if number == 1 and len(values) == 1:
            continue
        size = size or len(values)
        try:
            numbers = [float(value) for value in values]
        except ValueError:
            numbers = []
        if not numbers or len(numbers) != size:
            raise source.error(f"expected a word and {size} numbers, found {line[:60]!r}", number)
        if (place := words.get(word.lower())) is not None:
            found.setdefault(place, numbers)
    parts = np.zeros((1, len(words), size), np.float32)
    for place, numbers in found.items():
        parts[0, place] = numbers
    if not found:
        raise source.error("no vector of a word of the training documents")
    return Projection("concatenation", parts)


def _pruned(classifier: Classifier, threshold: float) -> Classifier:
    """Set small weights to zero, and leave out features that have no others."""
    known, (weights,) = prune(classifier.vocabulary, [classifier.weights], threshold)
    return replace(classifier, vocabulary=known, weights=weights)


def _words(doc: Document) -> list[str]:
    return [doc.form(token).lower() for token in doc.tokens]


def _slots(forest: Forest, states: Ints) -> Ints:
    """Return the EDUs whose words a state sees: two heads and the queue's first; -1 for none."""
    below = forest.column(Item.BELOW, states)
    ends = forest.column(Item.END, states)
    return np.stack(
        [
            forest.column(Item.HEAD, states),  # the bottom has head -1
            forest.column(Item.HEAD, below),
            np.where(ends < forest.n_edus, ends, -1),
        ],
        axis=1,
    )
