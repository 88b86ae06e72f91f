"""``shift-reduce``: fast RST parsing with stack and queue (Heilman & Sagae 2015).

The parser reads a text once and builds the tree as it goes (`rhetorica.parsers.transition`): every
action is chosen by a logistic regression with L1 penalty (their section 4.2) that looks at the
subtrees on top of the stack and at the queue; a beam keeps the best few sequences of actions.

Two sets of features: ``paper`` has theirs (section 4.3), for one classifier over all actions.
``extended`` is ours: two classifiers, one that decides between shift and reduce, one that chooses
nuclearity and relation; they see borders of sentences and paragraphs, what the subtrees are (part
of a sentence, a sentence, a paragraph, ...), syntax between subtrees, words at their edges, shared
words, the look of paragraphs, and conjunctions of these. They also learn what to do after mistakes:
the training documents are parsed by models of the others, and the states on the way, with the best
actions there (`rhetorica.parsers.transition.exploration`), are examples, too.

Two ways to search: a beam for the most probable sequence of actions, or votes of a sample of
sequences for the tree with the most expected units (`rhetorica.parsers.transition.voting`).

Deviations. The highest phrase of an EDU is the dependency relation of its head word, and dominance
is read off dependencies. Distances are one feature a value instead of one a threshold. There are no
unary reductions: an EDU has no label, and a join has the relation of its satellite (or that of its
nuclei), so that nothing needs them. Trees are binary from the start (nuclei branch to the right).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.convert import relabel
from rhetorica.decode import elect
from rhetorica.document import Document
from rhetorica.errors import ModelError, UnknownName
from rhetorica.learn.calibration import fit_platt, log_odds, platt
from rhetorica.learn.links import log_softmax
from rhetorica.models.store import Config, State, Stored
from rhetorica.parsers.transition import (
    SHIFT,
    Actions,
    Forest,
    Scorer,
    distributions,
    oracle,
    search,
)
from rhetorica.parsers.transition.classifier import Classifier
from rhetorica.parsers.transition.exploration import DynamicOracle
from rhetorica.parsers.transition.features import Looks, StateReader, Templates, Units
from rhetorica.parsers.transition.system import Ints
from rhetorica.parsers.transition.templates import GROUPS, LABEL, PAPER, PAPER_BAGS, STRUCTURE
from rhetorica.parsers.transition.voting import Steps, WholeSteps, draw, vote
from rhetorica.parses import Candidate, Parse, Scores
from rhetorica.trees import Join, RSTTree

FeatureSet = Literal["paper", "extended"]
FEATURE_SETS: tuple[FeatureSet, ...] = ("extended", "paper")
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Progress = Callable[[str, int, int], None]

BEAM = 4
"""How many states the beam keeps, unless told."""
SAMPLES = 16
"""How many sequences of actions vote, unless told: more are a little better, and slower."""


@dataclass(frozen=True, slots=True)
class _Text:
    """A training document: its EDUs, its tree, and the best actions in any state."""

    units: Units
    tree: RSTTree
    oracle: DynamicOracle


@dataclass(frozen=True, slots=True)
class _Examples:
    """States of one document, and what is right there.

    ``right`` (states, 2): shift, reduce; ``labels``: the action of the unit that reducing would
    make, 0 where that is none; ``free``: both can be done; ``joinable``: reducing can be done.
    """

    text: _Text
    looks: Looks
    right: Flags
    labels: Ints
    free: Flags
    joinable: Flags


class _Decided(NamedTuple):
    """A join of a parse, and the probabilities of its range, nuclearity and relation.

    The last two are given what comes before them.
    """

    join: Join
    span: float
    nuclearity: float
    relation: float


class _Steps:
    """Scores moves with one classifier, then labels, where they are wanted, with another."""

    def __init__(self, structure: Classifier, label: Classifier, reader: StateReader) -> None:
        self.structure, self.label, self.reader = structure, label, reader

    def moves(self, forest: Forest, states: Ints) -> npt.NDArray[np.floating]:
        """Return the log-odds of reducing: (states,)."""
        self._looks = self.reader.look(forest, states)
        scores = self.structure.scores(self.reader, self._looks)
        return np.asarray(scores[:, 1] - scores[:, 0])

    def labels(self, chosen: Ints) -> npt.NDArray[np.floating]:
        """Return scores (chosen, labels) for some of the states of the last `moves`."""
        return self.label.scores(self.reader, self._looks.some(chosen))


class ShiftReduceParser(Stored):
    """Learns and applies the parser; after `fit` or `load` it has ``actions_``, ``models_``.

    ``strength`` is that of the classifier (of shift and reduce, with the extended features),
    ``label_strength`` that of the one for labels: the larger, the less regularisation.
    ``explore`` is how many times the training documents are parsed to learn from mistakes, by
    models of ``folds`` parts of them. ``without`` leaves out groups of the extended features.
    The search is a vote of ``samples`` sequences or, if that is 0, a beam of width ``beam``; a
    k-best list always comes from a beam.
    """

    name = "shift-reduce"

    def __init__(
        self,
        *,
        features: FeatureSet = "extended",
        strength: float = 0.125,
        label_strength: float = 0.25,
        beam: int = BEAM,
        samples: int = SAMPLES,
        explore: int = 1,
        folds: int = 3,
        epochs: int = 8,
        min_count: int = 2,
        without: Sequence[str] = (),
        relations: str = "as-is",
        seed: int = 0,
    ) -> None:
        if features not in FEATURE_SETS:
            raise UnknownName("feature set", features, FEATURE_SETS)
        for group in without:
            if group not in GROUPS:
                raise UnknownName("feature group", group, GROUPS)
        self.features: FeatureSet = features
        self.strength = strength
        self.label_strength = label_strength
        self.beam = beam
        self.samples = samples
        self.explore = explore
        self.folds = folds
        self.epochs = epochs
        self.min_count = min_count
        self.without = tuple(without)
        self.relations = relations
        self.seed = seed
        self.calibration_: tuple[float, ...] = ()

    @property
    def templates(self) -> dict[str, Templates]:
        """The templates of each classifier."""
        if self.features == "paper":
            return {"actions": Templates.of(PAPER, PAPER_BAGS)}
        # Single words of a unit say little about where it ends, and they are many.
        return {
            name: Templates.of(
                [*PAPER, *(t for g in GROUPS if g not in self.without for t in groups[g])], bags
            )
            for name, groups, bags in (("structure", STRUCTURE, []), ("label", LABEL, PAPER_BAGS))
        }

    def fit(
        self,
        parses: Sequence[Parse],
        *,
        coarse: Callable[[str], str] | None = None,
        progress: Progress | None = None,
    ) -> ShiftReduceParser:
        """Learn from gold analyses of documents with syntax; ``coarse`` maps relations."""
        tell = progress or (lambda what, at, total: None)
        trees = [relabel(parse.tree, coarse) for parse in parses if parse.document.edus]
        self.actions_ = Actions.of(trees)
        if not self.actions_.labels:
            raise ModelError(
                f"nothing to learn from: {len(parses)} documents, none with two EDUs or more"
            )
        texts: list[_Text] = []
        docs = [parse.document for parse in parses if parse.document.edus]
        for doc, tree in zip(docs, trees, strict=True):
            texts.append(_Text(Units.of(doc), tree, DynamicOracle(tree, self.actions_)))
            tell("features", len(texts), len(docs))
        examples = [self._walk(text, oracle(text.tree, self.actions_)) for text in texts]
        part_of = dict(zip(map(id, texts), self._parts(docs), strict=True))
        for visit in range(self.explore):
            found: list[_Examples] = []
            for part in range(self.folds):
                others = [e for e in examples if part_of[id(e.text)] != part]
                if not others:
                    continue
                self.models_ = self._learn(others)
                for number, text in enumerate(texts):
                    if part_of[id(text)] == part:
                        found += [self._walk(text, way) for way in self._try(text, visit, number)]
                tell(f"exploration {visit + 1}", part + 1, self.folds)
            examples += found
        self.models_ = self._learn(examples, tell)
        return self

    def _parts(self, docs: Sequence[Document]) -> list[int]:
        """Return the part of each document; two versions of one (by id) are in the same part."""
        names = [doc.id or str(number) for number, doc in enumerate(docs)]
        known = {name: place for place, name in enumerate(dict.fromkeys(names))}
        parts = np.random.default_rng(self.seed).permutation(len(known)) % max(1, self.folds)
        return [int(parts[known[name]]) for name in names]

    def _try(self, text: _Text, visit: int, number: int) -> list[list[int]]:
        """Return a sequence of actions that the present model would take, right or wrong."""
        n = text.tree.n_edus
        if not self.samples:
            found = search(n, self.actions_, self.scorer(text.units), width=self.beam)
            return [one.actions.tolist() for one in found]
        # The votes see what the model draws, not only what it likes best.
        seed = (self.seed * 1000 + visit) * 100_000 + number
        return draw(n, self.actions_, self.steps(text.units), samples=1, seed=seed)

    def _walk(self, text: _Text, sequence: Sequence[int]) -> _Examples:
        """Return the states along a sequence of actions."""
        forest = Forest(text.tree.n_edus, self.actions_)
        states = forest.run(sequence)
        right, labels = text.oracle.targets(forest, states)
        valid = forest.valid(states)
        joinable = valid[:, SHIFT + 1]
        looks = StateReader(text.units).look(forest, states)
        return _Examples(text, looks, right, labels, valid[:, SHIFT] & joinable, joinable)

    def _learn(
        self, examples: Sequence[_Examples], tell: Progress | None = None
    ) -> dict[str, Classifier]:
        """Fit the classifiers of the feature set."""
        templates = self.templates
        models: dict[str, Classifier] = {}
        for name, chosen in templates.items():
            strength = self.label_strength if name == "label" else self.strength
            used, right, possible = zip(
                *(_targets(name, example, len(self.actions_)) for example in examples), strict=True
            )
            models[name] = Classifier.fit(
                chosen,
                [
                    StateReader(example.text.units).rows(example.looks.some(use), chosen)
                    for example, use in zip(examples, used, strict=True)
                ],
                np.concatenate(right),
                np.concatenate(possible),
                strength=strength,
                epochs=self.epochs,
                min_count=self.min_count,
                seed=self.seed,
                progress=_epochs(tell, name, self.epochs),
            )
        return models

    def scorer(self, units: Units) -> Scorer:
        """Return the function that scores the actions in states of a document."""
        reader = StateReader(units)
        if "actions" in self.models_:
            model = self.models_["actions"]
            return lambda forest, states: model.scores(reader, reader.look(forest, states))
        structure, label = self.models_["structure"], self.models_["label"]

        def score(forest: Forest, states: Ints) -> npt.NDArray[np.float32]:
            looks = reader.look(forest, states)
            moves = log_softmax(structure.scores(reader, looks))
            labels = log_softmax(label.scores(reader, looks))
            return np.concatenate([moves[:, :1], moves[:, 1:] + labels], axis=1)

        return score

    def steps(self, units: Units) -> Steps:
        """Return what scores moves and labels one after the other in states of a document."""
        if "actions" in self.models_:
            return WholeSteps(self.scorer(units))
        return _Steps(self.models_["structure"], self.models_["label"], StateReader(units))

    def __call__(self, doc: Document, *, kbest: int = 1) -> Parse:
        """Parse a document that has EDUs and syntax."""
        n = len(doc.edus)
        about = {"parser": self.name, "relations": self.relations, "features": self.features}
        about |= {"samples": str(self.samples)} if self.samples else {"beam": str(self.beam)}
        if n < 2:
            return Parse(doc, RSTTree(n), scores=Scores() if n else None, provenance=about)
        units = Units.of(doc)
        candidates: tuple[Candidate, ...] = ()
        if kbest > 1:
            found = search(n, self.actions_, self.scorer(units), width=self.beam, kbest=kbest)
            candidates = tuple(Candidate(one.tree, one.score) for one in found)
        decided = self._decide(units)
        spans = self._calibrated([one.join for one in decided], [one.span for one in decided])
        return Parse(
            doc,
            RSTTree(n, tuple(one.join for one in decided)),
            scores=Scores(
                spans=tuple(spans.tolist()),
                nuclearities=tuple(one.nuclearity for one in decided),
                relations=tuple(one.relation for one in decided),
            ),
            kbest=candidates,
            provenance=about,
        )

    def _decide(self, units: Units) -> list[_Decided]:
        """Return the joins of the best tree, in preorder, with their probabilities."""
        n = len(units.attributes) - 1
        if not self.samples:
            forest = Forest(n, self.actions_, width=self.beam)
            score = self.scorer(units)
            found = search(n, self.actions_, score, width=self.beam, forest=forest)[0]
            shares = distributions(forest, found.states, score)
            reducing = np.flatnonzero(found.actions != SHIFT)
            # Joins are made in the order of their ends; a tree has them in preorder.
            tree = found.tree.joins
            made = sorted(range(len(tree)), key=lambda i: (tree[i].end, -tree[i].start))
            order = reducing[np.argsort(made)]
            return _decisions(tree, forest.nuclearities, found.actions[order], shares[order])
        votes = vote(n, self.actions_, self.steps(units), samples=self.samples, seed=self.seed)
        elected = elect(n, votes)
        shares = np.pad(votes.labels_of(elected), ((0, 0), (1, 0)))
        actions = shares.argmax(axis=1)
        joins = [
            Join(join.start, join.split, join.end, *self.actions_.label(action))
            for join, action in zip(elected, actions.tolist(), strict=True)
        ]
        return _decisions(joins, self.actions_.nuclearities(), actions, shares)

    def _calibrated(self, joins: Sequence[Join], spans: Sequence[float]) -> Floats:
        """Return the probabilities that ranges are units, from what the search thinks of them."""
        if not self.calibration_:
            return np.array(spans)
        return platt(_evidence(joins, spans), self.calibration_)

    def calibrate(self, parses: Sequence[Parse]) -> None:
        """Fit, on documents that were not trained on, how far to trust the parser's own joins.

        A join is only as good as what led to it: the probability of the last action alone promises
        too much for large units.
        """
        evidence, hits = [], []
        for parse in parses:
            if len(parse.document.edus) < 2:
                continue
            decided = self._decide(Units.of(parse.document))
            gold = {(join.start, join.end) for join in parse.tree.joins}
            joins = [one.join for one in decided]
            evidence.append(_evidence(joins, [one.span for one in decided]))
            hits += [float((join.start, join.end) in gold) for join in joins]
        if hits:
            self.calibration_ = fit_platt(np.concatenate(evidence), np.array(hits), l2=1e-3)

    def state(self) -> State:
        """Return settings, labels and the weights that are not zero."""
        names = (
            "features", "strength", "label_strength", "beam", "samples", "explore", "folds",
            "epochs", "min_count", "without", "seed",
        )  # fmt: skip
        settings = {name: getattr(self, name) for name in names}
        config = Config(
            "parser",
            self.name,
            settings | {"calibration": self.calibration_},
            relations=self.relations,
            labels=self.actions_.labels,
        )
        arrays: dict[str, npt.NDArray[Any]] = {}
        for name, model in self.models_.items():
            arrays |= model.arrays(name)
        return State(config, arrays)

    @classmethod
    def from_state(cls, state: State) -> ShiftReduceParser:
        """Make the parser again."""
        settings = dict(state.config.settings)
        calibration = tuple(settings.pop("calibration"))
        parser = cls(**settings, relations=state.config.relations)
        parser.calibration_ = calibration
        parser.actions_ = Actions(state.config.labels)
        parser.models_ = {
            name: Classifier.from_arrays(name, state.arrays, templates)
            for name, templates in parser.templates.items()
        }
        return parser


def _targets(name: str, examples: _Examples, n_actions: int) -> tuple[Flags, Flags, Flags]:
    """Return which states teach a classifier, and their right and possible classes."""
    right, labels = examples.right, examples.labels
    if name == "structure":
        # Where both moves are right there is nothing to learn.
        use = examples.free & (right.sum(axis=1) == 1)
        return use, right[use], np.ones((int(use.sum()), 2), dtype=np.bool_)
    classes = np.zeros((len(labels), n_actions), dtype=np.bool_)
    classes[np.arange(len(labels)), labels] = labels > SHIFT
    if name == "label":
        use = examples.joinable & (labels > SHIFT)
        chosen = classes[use, 1:]
        return use, chosen, np.ones_like(chosen)
    # Reducing to something that is no unit: any label is as good as the other.
    classes[labels == SHIFT, 1:] = True
    classes[~right[:, 1], 1:] = False
    classes[:, SHIFT] = right[:, 0]
    possible = np.ones_like(classes)
    possible[:, 1:] = examples.joinable[:, None]
    possible[:, SHIFT] = examples.free | ~examples.joinable
    use = np.ones(len(labels), dtype=np.bool_)
    return use, classes, possible


def _epochs(tell: Progress | None, name: str, epochs: int) -> Callable[[int, float], None] | None:
    if tell is None:
        return None
    return lambda epoch, loss: tell(f"{name}: loss {loss:.3f}", epoch, epochs)


def _decisions(joins: Sequence[Join], kinds: Ints, actions: Ints, shares: Floats) -> list[_Decided]:
    """Return joins with their probabilities, from those of all actions (joins, actions)."""
    chosen = np.arange(len(joins))
    whole = np.maximum(shares[:, SHIFT + 1 :].sum(axis=1), 1e-30)
    alike = np.maximum(np.where(kinds == kinds[actions][:, None], shares, 0).sum(axis=1), 1e-30)
    columns = (whole, alike / whole, shares[chosen, actions] / alike)
    limited = [np.minimum(column, 1.0).tolist() for column in columns]
    return [_Decided(*one) for one in zip(joins, *limited, strict=True)]


def _evidence(joins: Sequence[Join], spans: Sequence[float]) -> Floats:
    """Return what speaks for a join: log odds and, for large units, the logarithm of their size."""
    sizes = np.log(np.array([join.end - join.start for join in joins]))
    return np.stack([log_odds(np.array(spans), least=1e-4), sizes, sizes**2], axis=1)
