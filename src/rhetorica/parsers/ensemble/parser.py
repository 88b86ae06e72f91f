"""The ensemble parser: ballots of its members -> the tree with the most expected right units.

Members see the same document: EDUs are given, syntax is there once for all. Each says what it
thinks of ranges and labels (`rhetorica.protocols.Ballot`); learned weights make probabilities of it
(`weights`); the tree whose ranges have the highest sum is elected (minimum Bayes risk; Goodman
1996). Votes are for classes of relations; the relation within a class is that of the members who
tell relations apart.

The model folder holds weights and the names of the members, not their models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from rhetorica.convert import relabel
from rhetorica.cores import side_by_side
from rhetorica.decode import Chosen, elect, elect_kbest
from rhetorica.decode import Votes as JoinVotes
from rhetorica.document import Document
from rhetorica.errors import Mismatch, ModelError
from rhetorica.evaluate.reliability import Answers, answers, gather, list_answers
from rhetorica.languages import check_language, common_language
from rhetorica.learn.calibration import calibrated, fit_platt, log_odds, platt
from rhetorica.models.store import Config, State, Stored
from rhetorica.parsers.ensemble.candidates import Candidates
from rhetorica.parsers.ensemble.weights import Example, Stacked, Votes, fit_stacked, fit_votes
from rhetorica.parses import Candidate, Likely, Parse, Scores
from rhetorica.protocols import Ballot, Parser, Voter
from rhetorica.relations import relation_set
from rhetorica.settings import RELATIONS, Member, made, members_of, setting
from rhetorica.trees import Join, Label, RSTTree

Method = Literal[
    "stacked",
    "reparsing",
    "MVote",
    "FPL",
    "CV",
    "FPL-CV",
    "ESPBoost",
    "SLE",
    "Rand",
    "Best",
    "Majority",
]
METHODS: tuple[Method, ...] = get_args(Method)
Decoder = Literal["eisner", "spanning"]
MEMBERS = ("neural", "codra", "shift-reduce", "dplp")
Floats = npt.NDArray[np.float64]
LONGEST_TOGETHER = 2000
"""In texts of more EDUs members vote one after another: what each needs for it is large."""
_LABELS_TRIED = 4
_LISTED = 5


@dataclass(frozen=True, slots=True)
class Settings:
    """Who votes, and how weights are learned."""

    members: str = setting(
        ",".join(MEMBERS),
        "Parsers that vote, with commas; one may have a model and options, `dplp:mine?beam=8`.",
    )
    method: Method = setting(
        "stacked",
        "How weights are learned: stacked (logistic regression over members' probabilities), an "
        "algorithm of Cortes et al. (2014), or reparsing (Sagae & Lavie 2006).",
    )
    syntax: str = setting("", "Front end of the members: neural, else our spaCy pipeline.")
    l2: float = setting(10.0, "Penalty of the logistic regressions.")
    gain: float = setting(0.5, "How much a sure label speaks for a range.")
    decoder: Decoder = setting(
        "eisner", "For dependencies: eisner (projective) or spanning (Chu-Liu/Edmonds)."
    )
    relations: str = "gum coarse15"
    calibration: tuple[float, ...] = ()
    label_calibration: tuple[float, ...] = ()
    tree_calibration: tuple[float, ...] = ()


class EnsembleParser(Stored):
    """Parses by votes of ``members_``; after `fit` or `load` it has ``labels_`` and ``weights_``.

    A member is any parser. Those with a ``ballot`` (`rhetorica.protocols.Voter`) are asked for it,
    of others the tree and its probabilities are taken.
    """

    name = "ensemble"

    def __init__(self, settings: Settings | None = None, **changes: Any) -> None:
        self.settings = made(Settings, settings, changes)
        self.members_: tuple[Parser, ...] = ()

    @property
    def members(self) -> list[Member]:
        """The members by name, with their models ("" for the treebank's) and options."""
        return members_of(self.settings.members)

    def gather(self, members: Sequence[Parser]) -> EnsembleParser:
        """Return an ensemble of these parsers with the same weights, which it shares."""
        if not members:
            raise ModelError("an ensemble needs at least one member")
        if self._size not in (None, len(members)):
            raise ModelError(
                f"weights of {self._size} members and {len(members)} parsers: gather those "
                f"that it was trained with ({self.settings.members})"
            )
        twin = self.like()
        twin.members_ = tuple(members)
        return twin

    def ballots(self, doc: Document) -> list[Ballot]:
        """Return what each member says of a document with EDUs."""
        together = len(doc.edus) <= LONGEST_TOGETHER
        return side_by_side(lambda one: _ballot(one, doc), self.members_, together=together)

    def fit(
        self,
        parses: Sequence[Parse],
        *,
        ballots: Sequence[Sequence[Ballot]] | None = None,
    ) -> EnsembleParser:
        """Learn weights from gold analyses of documents that no member was trained on.

        ``ballots`` may hold what the members say of each document, if that is known already.
        """
        self.language = common_language(parse.document for parse in parses)
        coarse = self._coarse()
        golds = [relabel(parse.tree, coarse) for parse in parses]
        if ballots is None:
            ballots = [self.ballots(parse.document) for parse in parses]
        found = {Label(j.nuclearity, j.relation) for tree in golds for j in tree.joins}
        theirs = {label for said in ballots for ballot in said for label in ballot.labels}
        found |= {Label(label.nuclearity, coarse(label.relation)) for label in theirs}
        self.labels_: tuple[Label, ...] = tuple(sorted(found))
        self.finer_ = self._finer(parses)
        examples = []
        for parse, gold, said in zip(parses, golds, ballots, strict=True):
            if len(parse.document.edus) > 1:
                together = Candidates.of(parse.document, said, self.labels_, coarse)
                examples.append(Example.of(parse.document, together, gold, self.labels_))
        if not examples:
            raise ModelError("no document with a join to learn the weights of an ensemble from")
        self.weights_: Stacked | Votes = (
            fit_stacked(examples, l2=self.settings.l2)
            if self.settings.method == "stacked"
            else fit_votes(examples, self.settings.method)
        )
        self._calibrate(examples)
        self._calibrate_trees(parses, ballots)
        return self

    def _coarse(self) -> Callable[[str], str]:
        return relation_set(self.settings.relations.partition(" ")[0]).coarse

    def _finer(self, parses: Sequence[Parse]) -> dict[Label, str]:
        """Return the most frequent relation of each class, for joins where no member knows."""
        coarse = self._coarse()
        counts: dict[Label, dict[str, int]] = {}
        for parse in parses:
            for join in parse.tree.joins:
                label = Label(join.nuclearity, coarse(join.relation))
                here = counts.setdefault(label, {})
                here[join.relation] = here.get(join.relation, 0) + 1
        return {
            label: min(here, key=lambda name: (-here[name], name))
            for label, here in sorted(counts.items())
        }

    def _calibrate(self, examples: Sequence[Example]) -> None:
        """Fit how far to trust the ranges that are elected: the best of many promise too much."""
        evidence: list[float] = []
        true: list[float] = []
        for one in examples:
            values, labels = self.weights_.judge(one.said, one.doc)
            chosen = elect(one.said.n_edus, self._votes(one.said, values, labels))
            rows = one.said.rows(*np.array([(j.start, j.end) for j in chosen]).T)
            evidence += values[rows].tolist()
            gold = set(map(tuple, one.joins[:, [0, 2]].tolist()))
            true += [float((j.start, j.end) in gold) for j in chosen]
        self.settings = replace(self.settings, calibration=fitted_scale(evidence, true))

    def _calibrate_trees(self, parses: Sequence[Parse], ballots: Sequence[Sequence[Any]]) -> None:
        """Fit how far to trust labels of ranges that are right, and the trees of k-best lists."""
        self.settings = replace(self.settings, label_calibration=(), tree_calibration=())
        found: list[Answers] = []
        for parse, said in zip(parses, ballots, strict=True):
            listed = self.decide(parse.document, said, kbest=_LISTED)
            trees = list_answers(parse, listed, self._coarse())
            found.append(answers(parse, listed) | {"trees": trees})
        whole = gather(found)
        nuclearity, relation, tree = (
            fitted_scale(*zip(*whole[figure], strict=True)) if whole.get(figure) else (1.0, 0.0)
            for figure in ("nuclearities", "relations", "trees")
        )
        self.settings = replace(
            self.settings, label_calibration=(*nuclearity, *relation), tree_calibration=tree
        )

    def _worth(self, values: Floats, labels: Floats) -> Floats:
        """Return what ranges are worth: their probability, and more where their label is sure."""
        return np.asarray(values * (1 + self.settings.gain * labels.max(axis=1, initial=0.0)))

    def _promise(self, total: float, n_edus: int) -> float:
        """Return which share of all that a tree over so many EDUs could be worth it is worth."""
        return total / ((n_edus - 1) * (1 + float(self.settings.gain)))

    def _votes(self, said: Candidates, values: Floats, labels: Floats) -> JoinVotes:
        """Let each range's value fall on its joins, by their shares."""
        worth = self._worth(values, labels)
        rows = said.rows(said.joins[:, 0], said.joins[:, 2])
        totals = np.bincount(rows, said.weights, len(said.ranges))
        return JoinVotes.of(said.joins, (worth[rows] * said.weights / totals[rows])[:, None])

    def __call__(self, doc: Document, *, kbest: int = 1) -> Parse:
        """Parse a document that has the layers that the members need."""
        if not self.members_:
            raise ModelError(
                "an ensemble without members: load it with rhetorica.load, or gather parsers"
            )
        check_language(doc, self)
        return self.decide(doc, self.ballots(doc), kbest=kbest)

    def ballot(self, doc: Document) -> Ballot:
        """Return the probabilities of all joins that a member votes for, and of their classes."""
        check_language(doc, self)
        return self.combined(doc, self.ballots(doc))

    def combined(self, doc: Document, ballots: Sequence[Ballot]) -> Ballot:
        """Return the ballot that these ballots make.

        A range's probability falls on its joins by their votes and by how probable both parts are.
        """
        n = len(doc.edus)
        if n < 2:
            return Ballot.empty(self.labels_)
        said = Candidates.of(doc, ballots, self.labels_, self._coarse())
        values, labels = self.weights_.judge(said, doc)
        starts, splits, ends = said.joins.T
        worth = said.weights.copy()
        for first, last in ((starts, splits), (splits, ends)):
            wide = last - first > 1
            worth[wide] *= values[said.rows(first[wide], last[wide])]
        rows = said.rows(starts, ends)
        totals = np.bincount(rows, worth, len(said.ranges))
        shares = worth / np.maximum(totals[rows], 1e-300)
        return Ballot(
            JoinVotes.of(said.joins, (values[rows] * shares)[:, None] * labels[rows]), self.labels_
        )

    def decide(self, doc: Document, ballots: Sequence[Ballot], *, kbest: int = 1) -> Parse:
        """Return the parse that these ballots make."""
        n = len(doc.edus)
        if n < 2:
            return Parse(doc, RSTTree(n), Scores() if n else None, provenance=self._provenance)
        said = Candidates.of(doc, ballots, self.labels_, self._coarse())
        values, labels = self.weights_.judge(said, doc)
        votes = self._votes(said, values, labels)
        chosen = elect(n, votes)
        tree, scores = self._labelled(said, chosen, values, labels, ballots)
        candidates: tuple[Candidate, ...] = ()
        if kbest > 1:
            scores = replace(scores, labels=self._likely(said, chosen, labels, ballots))
            losses = self._label_losses(said, values, labels)
            found = elect_kbest(n, votes, kbest, losses)
            sure = self._trusted([self._promise(total, n) for *_, total in found])
            candidates = tuple(
                Candidate(self._labelled(said, joins, values, labels, ballots, ranks)[0], score)
                for (joins, ranks, _), score in zip(found, sure, strict=True)
            )
        return Parse(doc, tree, scores, candidates, self._provenance)

    def _trusted(self, promises: Sequence[float]) -> list[float]:
        """Return which share of their joins (range and label) is right in trees, as expected."""
        fitted = self.settings.tree_calibration
        return calibrated(promises, *fitted) if fitted else list(promises)

    def _likely(
        self,
        said: Candidates,
        joins: Sequence[Chosen],
        labels: Floats,
        ballots: Sequence[Ballot],
    ) -> tuple[tuple[Likely, ...], ...]:
        """Return the likeliest labels of joins, each class by its likeliest relation."""
        rows = said.rows(np.array([j.start for j in joins]), np.array([j.end for j in joins]))
        order = np.argsort(-labels[rows], axis=1, kind="stable")[:, :_LABELS_TRIED]
        found: list[list[Likely]] = [[] for _ in joins]
        for best in order.T:
            shares = labels[rows, best].tolist()
            names = self._relations(joins, best.tolist(), ballots)
            for at, (number, (name, _)) in enumerate(zip(best.tolist(), names, strict=True)):
                kind = self.labels_[number].nuclearity
                found[at].append(Likely(kind, name, round(shares[at], 4)))
        return tuple(map(tuple, found))

    @property
    def _provenance(self) -> dict[str, str]:
        # Classes are voted for; the relation within one is the members', or the most frequent.
        bank = self.settings.relations.partition(" ")[0]
        return {
            "parser": self.name,
            "relations": f"{bank} fine",
            "members": self.settings.members,
            "method": self.settings.method,
        }

    def _label_losses(
        self, said: Candidates, values: Floats, labels: Floats
    ) -> dict[tuple[int, int], list[float]]:
        """Return what the next best labels of each range cost."""
        top = -np.sort(-labels, axis=1)[:, :_LABELS_TRIED]
        costs = (top[:, :1] - top[:, 1:]) * (values * (self.settings.gain or 1.0))[:, None]
        return dict(zip(map(tuple, said.ranges.tolist()), costs.tolist(), strict=True))

    def _labelled(
        self,
        said: Candidates,
        joins: Sequence[Chosen],
        values: Floats,
        labels: Floats,
        ballots: Sequence[Ballot],
        ranks: Sequence[int] | None = None,
    ) -> tuple[RSTTree, Scores]:
        """Give elected joins their best labels (or those of other ranks), and probabilities."""
        rows = said.rows(np.array([j.start for j in joins]), np.array([j.end for j in joins]))
        shares = labels[rows]
        order = np.argsort(-shares, axis=1, kind="stable")
        best = order[np.arange(len(rows)), np.array(ranks or [0] * len(rows), dtype=np.int64)]
        kinds, names = np.array(self.labels_).T
        spans = platt(log_odds(values[rows], least=1e-3)[:, None], self.settings.calibration)
        named = self._relations(joins, best.tolist(), ballots)
        tree = RSTTree(
            said.n_edus,
            tuple(
                Join(j.start, j.split, j.end, self.labels_[label].nuclearity, name)
                for j, label, (name, _) in zip(joins, best.tolist(), named, strict=True)
            ),
        )
        whole = [j.start == 0 and j.end == said.n_edus for j in joins]
        nuclearities = np.where(kinds == kinds[best][:, None], shares, 0).sum(axis=1)
        relations = np.where(names == names[best][:, None], shares, 0).sum(axis=1)
        relations *= [share for _, share in named]
        fitted = self.settings.label_calibration
        scales = (fitted[:2], fitted[2:]) if fitted else ((1.0, 0.0), (1.0, 0.0))
        return tree, Scores(
            spans=tuple(np.where(whole, 1.0, spans).tolist()),
            nuclearities=tuple(calibrated(nuclearities.tolist(), *scales[0])),
            relations=tuple(calibrated(relations.tolist(), *scales[1])),
        )

    def _relations(
        self, joins: Sequence[Chosen], best: Sequence[int], ballots: Sequence[Ballot]
    ) -> list[tuple[str, float]]:
        """Return the relation of each join within its class, and its share of the votes there."""
        coarse = self._coarse()
        found: list[dict[str, float]] = [{} for _ in joins]
        for ballot in ballots:
            classes = [Label(x.nuclearity, coarse(x.relation)) for x in ballot.labels]
            if all(a == b for a, b in zip(classes, ballot.labels, strict=True)):
                continue  # knows classes only
            votes = ballot.votes.labels_of(joins)
            for at, label in enumerate(best):
                for column in np.flatnonzero(votes[at]).tolist():
                    if classes[column] == self.labels_[label]:
                        name = ballot.labels[column].relation
                        found[at][name] = found[at].get(name, 0.0) + votes[at, column]
        named: list[tuple[str, float]] = []
        for here, label in zip(found, best, strict=True):
            if here:
                name = max(here, key=lambda one: here[one])
                named.append((name, here[name] / sum(here.values())))
            else:
                # Nobody tells: the most frequent one, of which no more is known than the class.
                kind = self.labels_[label]
                named.append((self.finer_.get(kind, kind.relation), 1.0))
        return named

    @property
    def _size(self) -> int | None:
        """How many members its weights are for, if it has any."""
        found = getattr(self, "weights_", None)
        return None if found is None else int(found.labels.shape[1])

    def state(self) -> State:
        """Return the members' names, the labels, and the weights."""
        config = Config.of(self, self.labels_, finer=[[*k, v] for k, v in self.finer_.items()])
        return State(config, {"ranges": self.weights_.ranges, "labels": self.weights_.labels})

    @classmethod
    def from_state(cls, state: State) -> EnsembleParser:
        """Make the ensemble of a model folder; its members are gathered afterwards."""
        if state.config.settings.get("arcs"):
            (arcs,) = cls.__subclasses__()  # the ensemble of dependencies, known to the package
            return arcs.from_state(state)
        given = dict(state.config.settings)
        finer = given.pop("finer")
        parser = cls(made(Settings, None, {**given, RELATIONS: state.config.relations}))
        parser.labels_ = state.config.labels
        parser.finer_ = {Label.read(row[:2]): row[2] for row in finer}
        kind = Stacked if parser.settings.method == "stacked" else Votes
        parser.weights_ = kind(state.arrays["ranges"], state.arrays["labels"])
        return parser


def fitted_scale(probabilities: Sequence[float], true: Sequence[float]) -> tuple[float, float]:
    """Return slope and bias (on log-odds) under which probabilities mean what they say.

    Too few answers may speak against the order of their probabilities, which must stay: then they
    are left as they are.
    """
    if len(set(true)) != 2:
        return (1.0, 0.0)
    odds = log_odds(np.array(probabilities), least=1e-3)[:, None]
    slope, bias = fit_platt(odds, np.array(true), l2=1e-3)
    return (slope, bias) if slope > 0 else (1.0, 0.0)


def _ballot(member: Parser, doc: Document) -> Ballot:
    return member.ballot(doc) if isinstance(member, Voter) else Ballot.of(parsed_by(member, doc))


def parsed_by(member: Parser, doc: Document) -> Parse:
    """Return a member's parse of a document, whose EDUs it must keep."""
    parse = member(doc)
    if parse.document.edus != doc.edus:
        raise Mismatch(
            f"{member.name} has {len(parse.document.edus)} EDUs in {doc.id or 'a document'}, the "
            f"others {len(doc.edus)}: members of an ensemble must keep the EDUs that they are given"
        )
    return parse
