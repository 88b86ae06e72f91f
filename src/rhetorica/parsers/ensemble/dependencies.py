"""The ensemble of dependency parsers: members' arcs -> the tree with the most expected right arcs.

As `parser`, for treebanks of dependencies (SciDTB): a position is an EDU, its symbol the head, then
the relation. Members say how probable each head of each EDU is (`rhetorica.protocols.ArcBallot`);
weights by class of EDU (inside a sentence, first of a sentence, first of a paragraph) make votes
for arcs of it, and Eisner's algorithm (or Chu-Liu/Edmonds) finds the tree with the most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rhetorica.convert import to_dependencies
from rhetorica.cores import side_by_side
from rhetorica.decode import eisner, eisner_kbest, kbest_spanning, spanning_tree
from rhetorica.document import Document
from rhetorica.errors import ModelError
from rhetorica.languages import common_language
from rhetorica.learn import experts
from rhetorica.learn.calibration import calibrated
from rhetorica.learn.links import log_softmax
from rhetorica.models.store import Config, State
from rhetorica.parsers.ensemble.candidates import split_levels
from rhetorica.parsers.ensemble.parser import (
    LONGEST_TOGETHER,
    EnsembleParser,
    Settings,
    fitted_scale,
    parsed_by,
)
from rhetorica.parsers.ensemble.weights import (
    WITHOUT_CLASSES,
    fit_exponents,
    member_weights,
)
from rhetorica.parses import Candidate, Parse, Scores
from rhetorica.protocols import ArcBallot, ArcVoter, Parser
from rhetorica.settings import RELATIONS, made
from rhetorica.trees import ROOT, ROOT_RELATION, DepTree, Label

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ARC_CLASSES = 3
LONGEST_LISTED = 400
"""Texts of more EDUs have no k-best list."""
_FEWEST = 30
_LISTED = 5
_SMOOTH = 1e-3
_NEVER = -30.0


_Answers = tuple[list[float], list[float]]
"""What was promised, and what came of it (1 or 0)."""


@dataclass(frozen=True, slots=True, eq=False)
class ArcExample:
    """A document's EDUs by class, what members say of it, the right heads and relations."""

    classes: Ints
    said: Sequence[ArcBallot]
    heads: Ints
    relations: Ints


class DependencyEnsemble(EnsembleParser):
    """Parses by votes of ``members_`` for arcs; after `fit` it has ``labels_`` and weights."""

    def ballots(self, doc: Document) -> list[ArcBallot]:  # type: ignore[override]
        """Return what each member says of a document with EDUs."""
        together = len(doc.edus) <= LONGEST_TOGETHER
        return side_by_side(lambda one: _ballot(one, doc), self.members_, together=together)

    def fit(  # type: ignore[override]
        self, parses: Sequence[Parse], *, ballots: Sequence[Sequence[ArcBallot]] | None = None
    ) -> DependencyEnsemble:
        """Learn weights from gold analyses of documents that no member was trained on."""
        self.language = common_language(parse.document for parse in parses)
        if ballots is None:
            ballots = [self.ballots(parse.document) for parse in parses]
        trees = [to_dependencies(parse.source or parse.tree) for parse in parses]
        known = {label for tree in trees for label in tree.labels()}
        known |= {label for said in ballots for ballot in said for label in ballot.labels}
        self.labels_ = tuple(sorted(label for label in known if label.relation != ROOT_RELATION))
        index = {label: number for number, label in enumerate(self.labels_)}
        examples = [
            ArcExample(
                arc_classes(parse.document),
                said,
                np.array(tree.heads, dtype=np.int64),
                np.array([index.get(label, -1) for label in tree.labels()], dtype=np.int64),
            )
            for parse, tree, said in zip(parses, trees, ballots, strict=True)
            if tree.n_edus > 1
        ]
        if not examples:
            raise ModelError("no document with an arc to learn the weights of an ensemble from")
        stacked = self.settings.method == "stacked"
        learn = _fit_stacked if stacked else _fit_votes
        self.heads_, self.relations_ = learn(examples, self.labels_, self.settings.method)
        self._calibrate_arcs(parses, trees, ballots)
        return self

    def _calibrate_arcs(
        self,
        parses: Sequence[Parse],
        trees: Sequence[DepTree],
        ballots: Sequence[Sequence[ArcBallot]],
    ) -> None:
        """Fit how far to trust heads, relations of heads that are right, and whole trees."""
        self.settings = replace(
            self.settings, calibration=(), label_calibration=(), tree_calibration=()
        )
        heads: _Answers = ([], [])
        arcs: _Answers = ([], [])
        full: _Answers = ([], [])
        for parse, gold, said in zip(parses, trees, ballots, strict=True):
            if gold.n_edus < 2:
                continue
            found = self.decide(parse.document, said, kbest=_LISTED)
            scores = found.scores or Scores()
            same, named = _right(gold, found.dependencies)
            heads[0].extend(scores.heads)
            heads[1].extend(same.tolist())
            known = (same > 0) & (np.array(gold.heads) != ROOT)
            arcs[0].extend(np.array(scores.arc_relations)[known].tolist())
            arcs[1].extend(named[known].tolist())
            for one in found.kbest:
                both = np.multiply(*_right(gold, to_dependencies(one.tree)))
                full[0].extend([one.score] * len(both))
                full[1].extend(both.tolist())
        self.settings = replace(
            self.settings,
            calibration=fitted_scale(*heads),
            label_calibration=fitted_scale(*arcs),
            tree_calibration=fitted_scale(*full),
        )

    def decide(  # type: ignore[override]
        self, doc: Document, ballots: Sequence[ArcBallot], *, kbest: int = 1
    ) -> Parse:
        """Return the parse that these ballots make."""
        n = len(doc.edus)
        if n < 2:
            tree = DepTree((ROOT,) * n, (ROOT_RELATION,) * n)
            return Parse(
                doc, tree, Scores(heads=(1.0,) * n) if n else None, provenance=self._provenance
            )
        classes = arc_classes(doc)
        stacked = self.settings.method == "stacked"
        votes = (_mixed_heads if stacked else _voted_heads)(ballots, self.heads_[classes])
        heads = decode(votes, self.settings.decoder)
        tree, sure = self._with_relations(heads, ballots, classes)
        about = self.settings
        scores = Scores(
            heads=self._scaled(votes[np.arange(n), heads + 1], about.calibration),
            arc_relations=self._scaled(sure, about.label_calibration),
        )
        candidates: tuple[Candidate, ...] = ()
        if kbest > 1 and n <= LONGEST_LISTED:
            trees = decode_kbest(votes, about.decoder, kbest)
            shares = np.array([total / n for _, total in trees])
            candidates = tuple(
                Candidate(self._with_relations(found, ballots, classes)[0], score)
                for (found, _), score in zip(
                    trees, self._scaled(shares, about.tree_calibration), strict=True
                )
            )
        return Parse(doc, tree, scores, candidates, self._provenance)

    def _with_relations(
        self, heads: Ints, ballots: Sequence[ArcBallot], classes: Ints
    ) -> tuple[DepTree, Floats]:
        """Return the tree of these heads with its best relations, and how probable those are."""
        label = _mixed_relations if self.settings.method == "stacked" else _voted_relations
        shares = label(ballots, heads, self.relations_[classes], self.labels_)
        best = [self.labels_[number] for number in shares.argmax(axis=1).tolist()]
        best = [
            Label("NS", ROOT_RELATION) if head == ROOT else one
            for head, one in zip(heads.tolist(), best, strict=True)
        ]
        tree = DepTree(
            tuple(heads.tolist()),
            tuple(one.relation for one in best),
            tuple(one.nuclearity == "NN" for one in best),
        )
        return tree, np.where(heads == ROOT, 1.0, shares.max(axis=1))

    def _scaled(self, probabilities: Floats, fitted: Sequence[float]) -> tuple[float, ...]:
        values = np.clip(probabilities, 0.0, 1.0).tolist()
        return tuple(calibrated(values, *fitted) if fitted else values)

    def state(self) -> State:
        """Return the members' names, the labels, and the weights."""
        config = Config.of(self, self.labels_, arcs=True)
        return State(config, {"heads": self.heads_, "relations": self.relations_})

    @classmethod
    def from_state(cls, state: State) -> DependencyEnsemble:
        """Make the ensemble of a model folder; its members are gathered afterwards."""
        given = {name: value for name, value in state.config.settings.items() if name != "arcs"}
        parser = cls(made(Settings, None, {**given, RELATIONS: state.config.relations}))
        parser.labels_ = state.config.labels
        parser.heads_, parser.relations_ = state.arrays["heads"], state.arrays["relations"]
        return parser

    @property
    def _size(self) -> int | None:
        found = getattr(self, "heads_", None)
        return None if found is None else int(found.shape[1])


def _right(gold: DepTree, pred: DepTree) -> tuple[Floats, Floats]:
    """Return, for each EDU, whether its head is right, and its label: 1 or 0."""
    return (np.array(gold.heads) == np.array(pred.heads)).astype(np.float64), np.array(
        [float(a == b) for a, b in zip(gold.labels(), pred.labels(), strict=True)]
    )


def arc_classes(doc: Document) -> Ints:
    """Return the class of each EDU: 0 inside a sentence, 1 first of one, 2 of a paragraph."""
    if not doc.edus:
        return np.zeros(0, dtype=np.int64)
    return np.concatenate([[2], split_levels(doc)]).astype(np.int64)


def decode(votes: Floats, decoder: str) -> Ints:
    """Return the heads of the tree with the most votes; rows are EDUs, column 0 is the root."""
    return eisner(_square(votes)) if decoder == "eisner" else spanning_tree(_square(votes))


def _square(votes: Floats) -> Floats:
    """Return votes as decoders have them: row of the head, column of the dependent."""
    n = len(votes)
    table = np.full((n + 1, n + 1), -np.inf)
    table[:, 1:] = votes.T
    np.fill_diagonal(table, -np.inf)
    return table


def decode_kbest(votes: Floats, decoder: str, k: int) -> list[tuple[Ints, float]]:
    """Return the heads of the k trees with the most votes, and their votes, best first."""
    search = eisner_kbest if decoder == "eisner" else kbest_spanning
    return search(_square(votes), k)


def _ballot(member: Parser, doc: Document) -> ArcBallot:
    if isinstance(member, ArcVoter):
        return member.arc_ballot(doc)
    return ArcBallot.of(parsed_by(member, doc))


def _log_heads(said: Sequence[ArcBallot]) -> Floats:
    """Return members' log probabilities of heads (EDUs, members, 1 + EDUs)."""
    return np.asarray(np.log(np.stack([ballot.heads for ballot in said], axis=1) + _SMOOTH))


def _mixed_heads(said: Sequence[ArcBallot], weights: Floats) -> Floats:
    n = len(weights)
    mixed = np.zeros((n, n + 1))
    for m, ballot in enumerate(said):  # one at a time: tables of all pairs of EDUs are large
        mixed += np.log(ballot.heads + _SMOOTH) * weights[:, m, None]
    mixed[np.arange(n), np.arange(1, n + 1)] = -np.inf
    return np.asarray(np.exp(log_softmax(mixed)))


def _voted_heads(said: Sequence[ArcBallot], weights: Floats) -> Floats:
    n = len(weights)
    votes = np.zeros((n, n + 1))
    for m, ballot in enumerate(said):
        votes[np.arange(n), ballot.own + 1] += weights[:, m]
    return votes


def _shares(ballot: ArcBallot, heads: Ints, labels: Sequence[Label]) -> Floats:
    """Return a member's shares of labels for the arcs of a tree (EDUs, labels)."""
    arcs = np.stack([np.arange(len(heads)), np.maximum(heads, 0)], axis=1)
    index = {label: number for number, label in enumerate(labels)}
    columns = [index[label] for label in ballot.labels]
    given = ballot.relations(arcs)
    found = np.repeat(given[:, -1:], len(labels), axis=1)
    found[:, columns] = given[:, :-1]
    return found


def _log_relations(said: Sequence[ArcBallot], heads: Ints, labels: Sequence[Label]) -> Floats:
    shares = np.stack([_shares(ballot, heads, labels) for ballot in said], axis=1)
    # Who says nothing of an arc prefers no label.
    return np.where(shares.sum(axis=2, keepdims=True) > 0, np.log(shares + _SMOOTH), 0.0)


def _mixed_relations(
    said: Sequence[ArcBallot], heads: Ints, weights: Floats, labels: Sequence[Label]
) -> Floats:
    logs = _log_relations(said, heads, labels)
    return np.asarray(np.exp(log_softmax(np.einsum("nml,nm->nl", logs, weights))))


def _voted_relations(
    said: Sequence[ArcBallot], heads: Ints, weights: Floats, labels: Sequence[Label]
) -> Floats:
    """Let members vote who have the arc in their tree, and the others where none has."""
    n = len(heads)
    votes, others = np.zeros((n, len(labels))), np.zeros((n, len(labels)))
    for m, ballot in enumerate(said):
        best = _shares(ballot, heads, labels).argmax(axis=1)
        own = ballot.own == heads
        votes[np.arange(n), best] += np.where(own, weights[:, m], 0.0)
        others[np.arange(n), best] += weights[:, m]
    votes = np.where(votes.sum(axis=1, keepdims=True) > 0, votes, others) + 1e-9
    return np.asarray(votes / votes.sum(axis=1, keepdims=True))


def _fit_stacked(
    examples: Sequence[ArcExample], labels: Sequence[Label], method: str
) -> tuple[Floats, Floats]:
    """Fit an exponent for each member and class, of its heads and of its relations."""
    widest = max(len(one.heads) for one in examples) + 1
    members = len(examples[0].said)
    rows, relations = [], []
    for one in examples:
        n = len(one.heads)
        logs = np.full((n, members, widest), _NEVER)
        logs[:, :, : n + 1] = _log_heads(one.said)
        logs[np.arange(n), :, np.arange(1, n + 1)] = _NEVER
        rows.append(logs)
        relations.append(_log_relations(one.said, one.heads, labels))
    classes = np.concatenate([one.classes for one in examples])
    gold = np.concatenate([one.heads + 1 for one in examples])
    right = np.concatenate([one.relations for one in examples])
    heads, names = np.concatenate(rows), np.concatenate(relations)
    found: list[tuple[Floats, Floats]] = []
    for number in range(ARC_CLASSES):
        here = classes == number
        if here.sum() < _FEWEST:
            here = np.ones(len(classes), dtype=bool)
        labelled = here & (right >= 0) & (gold > 0)
        found.append(
            (
                fit_exponents(heads[here], gold[here]),
                fit_exponents(names[labelled], right[labelled]),
            )
        )
    return np.array([one for one, _ in found]), np.array([other for _, other in found])


def _fit_votes(
    examples: Sequence[ArcExample], labels: Sequence[Label], method: str
) -> tuple[Floats, Floats]:
    """Learn weights by a method of `rhetorica.learn.experts`, or by accuracy ("reparsing")."""
    classes = np.concatenate([one.classes for one in examples])
    heads = np.concatenate([np.stack([b.own for b in one.said], axis=1) for one in examples]) + 1
    gold = np.concatenate([one.heads for one in examples]) + 1
    right = np.concatenate([one.relations for one in examples])
    said = np.concatenate(
        [
            np.stack(
                [_shares(b, one.heads, labels).argmax(axis=1) for b in one.said],
                axis=1,
            )
            for one in examples
        ]
    )
    said = np.where(heads == gold[:, None], said, experts.MISSING)
    labelled = (right >= 0) & (gold > 0)
    tables = []
    for symbols, truth, use in ((heads, gold, gold >= 0), (said, right, labelled)):
        found = np.zeros((ARC_CLASSES, heads.shape[1]))
        for number in range(ARC_CLASSES):
            here = use & (classes == number)
            here = use if method in WITHOUT_CLASSES or here.sum() < _FEWEST else here
            table = experts.Table(symbols[here][:, None, :], truth[here][:, None])
            found[number] = member_weights(table, method)
        tables.append(found)
    return tables[0], tables[1]
