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

Deviations, with what undoes them. The highest phrase of an EDU is the dependency relation of its
head word, and dominance is read off dependencies: with ``phrases`` both are those of phrase
structures, where documents have them. A head word is its lemma (``head``). Nuclei branch to the
right; with ``branching="left"`` they do so inside the parser as in Sagae & Lavie (2005), whom they
follow, and trees that leave it branch to the right again. The regression ends after some epochs;
with ``tolerance``, when it has converged. Rare features are left out (``min_count``).

And without: distances are one feature a value instead of one a threshold; where a unit starts, a
feature tells whether that is a sentence or a paragraph. There are no unary reductions: an EDU has
no label, and a join has the relation of its satellite (or that of its nuclei), so that nothing
needs them. One regression over all actions has their probabilities sum to one (scikit-learn's of
2015 was one against the rest), and actions that cannot be taken do not take part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.convert import relabel
from rhetorica.document import Document
from rhetorica.errors import ModelError
from rhetorica.features.edus import Head
from rhetorica.languages import check_language, common_language
from rhetorica.learn.calibration import fit_platt, log_odds, platt
from rhetorica.learn.links import log_softmax
from rhetorica.models.store import Config, State, Stored
from rhetorica.parsers.transition import (
    SHIFT,
    Actions,
    Forest,
    Scorer,
    distributions,
    left_branching,
    oracle,
    right_branching,
    search,
)
from rhetorica.parsers.transition.classifier import Classifier
from rhetorica.parsers.transition.exploration import DynamicOracle
from rhetorica.parsers.transition.features import Looks, StateReader, Templates, Units
from rhetorica.parsers.transition.system import Ints
from rhetorica.parsers.transition.templates import GROUPS, LABEL, PAPER, PAPER_BAGS, STRUCTURE
from rhetorica.parsers.transition.voting import (
    Steps,
    WholeSteps,
    draw,
    elected,
    join_probabilities,
    vote,
)
from rhetorica.parses import Candidate, Parse, Scores
from rhetorica.progress import Event, Tell, nothing, steps
from rhetorica.protocols import Ballot
from rhetorica.settings import RELATIONS, made, setting
from rhetorica.trees import Join, RSTTree

FeatureSet = Literal["paper", "extended"]
Branching = Literal["left", "right"]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

BEAM = 4
"""How many states the beam keeps, unless told."""
SAMPLES = 16
"""How many sequences of actions vote, unless told: more are a little better, and slower."""
EXPLORING = 8
"""Epochs of the models that are only there to make mistakes."""

STRENGTH_GRID = tuple(2.0**power for power in range(-4, 5))
"""The strengths that Heilman & Sagae (2015, section 5) try."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the parser is built and trained, and how it searches."""

    features: FeatureSet = setting(
        "extended", "extended (two classifiers, ours) or paper (Heilman & Sagae 2015)."
    )
    strength: float = setting(
        0.125,
        "Of the classifier (extended: of the one of shift and reduce); larger is less L1",
        grid=STRENGTH_GRID,
        positive=True,
    )
    label_strength: float = setting(
        0.25, "Strength of the classifier of labels (extended).", positive=True
    )
    explore: int = setting(1, "Times to parse the training data to learn from mistakes.")
    folds: int = setting(3, "Parts of the training data, each parsed by models of the others.")
    samples: int = setting(SAMPLES, "Sequences of actions that vote on the tree; 0: use a beam.")
    beam: int = setting(BEAM, "States that a beam keeps.")
    epochs: int = setting(8, "Times that all states are seen, at most; while exploring at most 8.")
    tolerance: float = setting(
        0.0, "End when an epoch lowers the objective by less than this share; 0: never before."
    )
    min_count: int = setting(2, "Drop features seen less often.")
    without: tuple[str, ...] = setting(
        (), "Groups of the extended features to leave out, with commas", known=tuple(GROUPS)
    )
    branching: Branching = setting("right", "How lists branch inside the parser (paper: left).")
    head: Head = setting("lemma", "How head words are seen: lemma, or word (paper).")
    phrases: bool = setting(
        False, "Phrases and dominance of phrase structures, where documents have them (paper)."
    )
    seed: int = setting(0, "Of the order of states, of folds and of votes.")
    relations: str = "as-is"
    calibration: tuple[float, ...] = ()


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

    The search is a vote of ``samples`` sequences or, if that is 0, a beam of width ``beam``; a
    k-best list always comes from a beam.
    """

    name = "shift-reduce"

    def __init__(self, settings: Settings | None = None, **changes: Any) -> None:
        self.settings = made(Settings, settings, changes)

    @property
    def templates(self) -> dict[str, Templates]:
        """The templates of each classifier."""
        if self.settings.features == "paper":
            return {"actions": Templates.of(PAPER, PAPER_BAGS)}
        # Single words of a unit say little about where it ends, and they are many.
        return {
            name: Templates.of(
                [*PAPER, *(t for g in GROUPS if g not in self.settings.without for t in groups[g])],
                bags,
            )
            for name, groups, bags in (("structure", STRUCTURE, []), ("label", LABEL, PAPER_BAGS))
        }

    def fit(
        self,
        parses: Sequence[Parse],
        *,
        coarse: Callable[[str], str] | None = None,
        tell: Tell = nothing,
    ) -> ShiftReduceParser:
        """Learn from gold analyses of documents with syntax; ``coarse`` maps relations."""
        self.language = common_language(parse.document for parse in parses)
        trees = [self._target(parse, coarse) for parse in parses if parse.document.edus]
        self.actions_ = Actions.of(trees)
        if not self.actions_.labels:
            raise ModelError(
                f"nothing to learn from: {len(parses)} documents, none with two EDUs or more"
            )
        texts: list[_Text] = []
        docs = [parse.document for parse in parses if parse.document.edus]
        for doc, tree in zip(docs, trees, strict=True):
            texts.append(_Text(self._units(doc), tree, DynamicOracle(tree, self.actions_)))
            tell(Event("features", len(texts), len(docs)))
        examples = [self._walk(text, oracle(text.tree, self.actions_)) for text in texts]
        part_of = dict(zip(map(id, texts), self._parts(docs), strict=True))
        for visit in range(self.settings.explore):
            found: list[_Examples] = []
            for part in range(self.settings.folds):
                others = [e for e in examples if part_of[id(e.text)] != part]
                if not others:
                    continue
                self.models_ = self._learn(others, epochs=min(EXPLORING, self.settings.epochs))
                for number, text in enumerate(texts):
                    if part_of[id(text)] == part:
                        found += [self._walk(text, way) for way in self._try(text, visit, number)]
                tell(Event(f"exploration {visit + 1}", part + 1, self.settings.folds))
            examples += found
        self.models_ = self._learn(examples, tell, epochs=self.settings.epochs)
        return self

    def _target(self, parse: Parse, coarse: Callable[[str], str] | None) -> RSTTree:
        tree = relabel(parse.tree, coarse)
        return left_branching(tree) if self.settings.branching == "left" else tree

    def _units(self, doc: Document) -> Units:
        return Units.of(doc, phrases=self.settings.phrases, head=self.settings.head)

    def _parts(self, docs: Sequence[Document]) -> list[int]:
        """Return the part of each document; two versions of one (by id) are in the same part."""
        names = [doc.id or str(number) for number, doc in enumerate(docs)]
        known = {name: place for place, name in enumerate(dict.fromkeys(names))}
        parts = np.random.default_rng(self.settings.seed).permutation(len(known)) % max(
            1, self.settings.folds
        )
        return [int(parts[known[name]]) for name in names]

    def _try(self, text: _Text, visit: int, number: int) -> list[list[int]]:
        """Return a sequence of actions that the present model would take, right or wrong."""
        n = text.tree.n_edus
        if not self.settings.samples:
            found = search(n, self.actions_, self.scorer(text.units), width=self.settings.beam)
            return [one.actions.tolist() for one in found]
        # The votes see what the model draws, not only what it likes best.
        seed = (self.settings.seed * 1000 + visit) * 100_000 + number
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
        self, examples: Sequence[_Examples], tell: Tell = nothing, *, epochs: int
    ) -> dict[str, Classifier]:
        """Fit the classifiers of the feature set."""
        templates = self.templates
        models: dict[str, Classifier] = {}
        for name, chosen in templates.items():
            strength = self.settings.label_strength if name == "label" else self.settings.strength
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
                epochs=epochs,
                tolerance=self.settings.tolerance,
                min_count=self.settings.min_count,
                seed=self.settings.seed,
                progress=steps(tell, name, epochs),
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
        check_language(doc, self)
        n = len(doc.edus)
        about = {
            "parser": self.name,
            "relations": self.settings.relations,
            "features": self.settings.features,
        }
        about |= (
            {"samples": str(self.settings.samples)}
            if self.settings.samples
            else {"beam": str(self.settings.beam)}
        )
        if n < 2:
            return Parse(doc, RSTTree(n), scores=Scores() if n else None, provenance=about)
        units = self._units(doc)
        candidates: tuple[Candidate, ...] = ()
        if kbest > 1:
            found = search(
                n, self.actions_, self.scorer(units), width=self.settings.beam, kbest=kbest
            )
            candidates = tuple(Candidate(self._output(one.tree), one.score) for one in found)
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

    def ballot(self, doc: Document) -> Ballot:
        """Return the votes of a sample of sequences for joins, and their labels."""
        check_language(doc, self)
        n = len(doc.edus)
        if n < 2 or self.settings.branching == "left":
            # Votes for lists that branch to the left are no votes for the trees that leave here.
            return Ballot.of(self(doc))
        samples = self.settings.samples or SAMPLES
        steps = self.steps(self._units(doc))
        votes = vote(n, self.actions_, steps, samples=samples, seed=self.settings.seed)
        return Ballot(votes, self.actions_.labels)

    def _decide(self, units: Units) -> list[_Decided]:
        """Return the joins of the best tree, in preorder, with their probabilities."""
        n = len(units.attributes) - 1
        if not self.settings.samples:
            forest = Forest(n, self.actions_, width=self.settings.beam)
            score = self.scorer(units)
            found = search(n, self.actions_, score, width=self.settings.beam, forest=forest)[0]
            reducing = np.flatnonzero(found.actions != SHIFT)
            # Joins are made in the order of their ends; a tree has them in preorder.
            tree = found.tree.joins
            made = sorted(range(len(tree)), key=lambda i: (tree[i].end, -tree[i].start))
            order = reducing[np.argsort(made)]
            shares = distributions(forest, found.states[order], score)
            joins, actions = list(tree), found.actions[order]
        else:
            joins, actions, shares = elected(
                n,
                self.actions_,
                self.steps(units),
                samples=self.settings.samples,
                seed=self.settings.seed,
            )
        columns = join_probabilities(self.actions_, actions, shares)
        decided = [_Decided(*one) for one in zip(joins, *columns, strict=True)]
        if self.settings.branching == "right":
            return decided
        # Whichever way runs of nuclei branch, a join is known by where it splits.
        by_split = {one.join.split: one for one in decided}
        output = self._output(RSTTree.from_joins(n, joins))
        return [by_split[join.split]._replace(join=join) for join in output.joins]

    def _output(self, tree: RSTTree) -> RSTTree:
        return right_branching(tree) if self.settings.branching == "left" else tree

    def _calibrated(self, joins: Sequence[Join], spans: Sequence[float]) -> Floats:
        """Return the probabilities that ranges are units, from what the search thinks of them."""
        if not self.settings.calibration:
            return np.array(spans)
        return platt(_evidence(joins, spans), self.settings.calibration)

    def calibrate(
        self, parses: Sequence[Parse], coarse: Callable[[str], str] | None = None
    ) -> None:
        """Fit, on documents that were not trained on, how far to trust the parser's own joins.

        A join is only as good as what led to it: the probability of the last action alone promises
        too much for large units.
        """
        evidence, hits = [], []
        for parse in parses:
            if len(parse.document.edus) < 2:
                continue
            decided = self._decide(self._units(parse.document))
            gold = {(join.start, join.end) for join in parse.tree.joins}
            joins = [one.join for one in decided]
            evidence.append(_evidence(joins, [one.span for one in decided]))
            hits += [float((join.start, join.end) in gold) for join in joins]
        if hits:
            found = fit_platt(np.concatenate(evidence), np.array(hits), l2=1e-3)
            self.settings = replace(self.settings, calibration=found)

    def state(self) -> State:
        """Return settings, labels and the weights that are not zero."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        for name, model in self.models_.items():
            arrays |= model.arrays(name)
        return State(Config.of(self, self.actions_.labels), arrays)

    @classmethod
    def from_state(cls, state: State, **options: Any) -> ShiftReduceParser:
        """Make it again; ``options`` replace settings."""
        parser = cls(**{**state.config.settings, RELATIONS: state.config.relations, **options})
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


def _evidence(joins: Sequence[Join], spans: Sequence[float]) -> Floats:
    """Return what speaks for a join: log odds and, for large units, the logarithm of their size."""
    sizes = np.log(np.array([join.end - join.start for join in joins]))
    return np.stack([log_odds(np.array(spans), least=1e-4), sizes, sizes**2], axis=1)
