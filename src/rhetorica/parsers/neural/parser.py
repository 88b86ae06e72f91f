"""The neural parser: text -> EDUs, RST tree, dependencies, probabilities.

One pass of the encoder gives the states of all pieces; everything else (where EDUs, sentences and
paragraphs begin, how EDUs hang together) is read off them. What a given document already knows
(EDUs, sentences, paragraphs) is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.convert import to_dependencies
from rhetorica.decode import Votes, eisner
from rhetorica.document import Document, Span
from rhetorica.errors import UnknownName
from rhetorica.languages import check_language, settle
from rhetorica.learn.calibration import calibrated
from rhetorica.models.store import State, Stored
from rhetorica.parsers.neural.connectives import Connectives
from rhetorica.parsers.neural.decode import (
    EXACT,
    Labels,
    ScoredJoin,
    best_labels,
    decode,
    decode_kbest,
    posteriors,
    told_apart,
)
from rhetorica.parsers.neural.network import Floats, Network, Spans
from rhetorica.parsers.neural.units import Units
from rhetorica.parsers.neural.wordpiece import Pieces
from rhetorica.parses import Candidate, Likely, Parse, Scores
from rhetorica.protocols import ArcBallot, Ballot, with_zero
from rhetorica.text.cues import line_cues, make_sure
from rhetorica.trees import ROOT, ROOT_RELATION, DepTree, Join, Label, RSTTree

Bools = npt.NDArray[np.bool_]

_LABELLED_AT_ONCE = 4096
_LONGEST_ARCS = 1024
"""Documents with more EDUs get no probabilities of heads: those need a table of all pairs."""
_BLANK_LINE = 3
_LIKELY = 6
"""How many labels of a join are told."""
_MULTINUCLEAR = ("joint", "same-unit")


class NeuralParser(Stored):
    """Parses text or documents; made by `load`.

    ``scheme`` chooses the annotation scheme: that of the treebank, the first of the model's sources
    ("gum", Chinese "gcdt"), gives RST trees and dependencies from them, "scidtb" gives SciDTB's
    dependency trees. They share the encoder; each has the segmentation style of its corpus.
    """

    name = "neural"

    def __init__(self, network: Network, *, scheme: str = "", name: str = name) -> None:
        scheme = scheme or network.config.sources[0]
        if scheme not in network.config.sources:
            raise UnknownName("scheme", scheme, network.config.sources)
        self.network, self.scheme, self.name = network, scheme, name
        self._source = network.config.sources.index(scheme)

    @classmethod
    def from_state(cls, state: State) -> NeuralParser:
        """Make the parser of a model folder."""
        return cls(Network.from_state(state), scheme=(*state.config.treebanks, "")[0])

    def __call__(self, text: str | Document, *, kbest: int = 1) -> Parse:
        """Parse one text; with ``kbest`` above 1, add the most probable trees."""
        given = self._given(text)
        doc, units, states, boundaries = self._segment(given)
        if not doc.edus:
            return Parse(doc, RSTTree(0), provenance=self._provenance)
        edus = self.network.edus(states, units, self._source)
        if self.scheme == "scidtb":
            return self._parse_dependencies(doc, units, edus, boundaries)
        return self._parse_tree(doc, units, edus, boundaries, kbest)

    def ballot(self, doc: Document) -> Ballot:
        """Return the probabilities of all likely joins of a document, and of their labels."""
        if self.scheme == "scidtb":
            trees = self.network.config.sources[:1]
            raise UnknownName("scheme with votes for joins", self.scheme, trees)
        doc, units, states, _ = self._segment(self._given(doc))
        count = len(units)
        labels = tuple(Label(*label) for label in self.network.config.joins)
        if count < 2:
            return Ballot.empty(labels)
        spans = self.network.spans(self.network.edus(states, units, self._source), units)
        del states  # 3 kB a piece
        found = posteriors(count, spans.splits, _levels(units))
        joins = np.array([join[:3] for join in found], dtype=np.int64)
        weights = np.array([[join.probability] for join in found])
        return Ballot(Votes.of(joins, weights * _labels(spans, joins)), labels)

    def arc_ballot(self, doc: Document) -> ArcBallot:
        """Return the probabilities of all arcs of a document, and of their relations."""
        doc, units, states, _ = self._segment(self._given(doc))
        if self.scheme != "scidtb" or len(units) < 2:
            return ArcBallot.of(self(doc))
        edus = self.network.edus(states, units, self._source)
        table = self.network.arcs(edus, units, self._source)
        names = self.network.config.arc_relations
        labels = tuple(Label("NN" if name in _MULTINUCLEAR else "NS", name) for name in names)

        def relations(arcs: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
            return with_zero(self._relations(edus, units, arcs).astype(np.float64))

        return ArcBallot(np.exp(table.astype(np.float64)), _projective(table), labels, relations)

    def _relations(self, edus: Floats, units: Units, arcs: npt.NDArray[np.int64]) -> Floats:
        return self.network.arc_relations(edus, units, arcs, self._source)

    def like(self, *, threads: int | None = None, **changes: Any) -> NeuralParser:
        """Return one that shares the network, with another scheme or number of threads."""
        network = self.network if threads is None else self.network.with_threads(threads)
        twin = NeuralParser(network, **{"scheme": self.scheme, "name": self.name, **changes})
        twin.language = self.language
        return twin

    def segment(self, text: str | Document) -> Parse:
        """Find EDUs, sentences and paragraphs only."""
        given = self._given(text)
        doc, _, _, boundaries = self._segment(given)
        return Parse(doc, scores=Scores(boundaries=boundaries), provenance=self._provenance)

    @property
    def threshold(self) -> float:
        """The probability above which an EDU begins."""
        return self.network.config.start_threshold

    def boundaries(self, doc: Document) -> list[float]:
        """Return, for each token of a document, the probability that an EDU begins there.

        With `threshold` this makes it a segmenter for parsers that need tokens and syntax.
        """
        check_language(doc, self)
        pieces = self.network.tokenizer(doc.text)
        starts = np.array([token.start for token in doc.tokens], dtype=np.int64)
        if not len(pieces) or not len(starts):
            return [0.0] * len(starts)
        marks = self.network.marks(self.network.states(pieces), self._source)
        begins = self._begins(pieces, marks, doc.text)
        at = np.minimum(np.searchsorted(pieces.starts, starts), len(pieces) - 1)
        found: list[float] = np.where(pieces.starts[at] == starts, begins[at], 0.0).tolist()
        return found

    @property
    def _provenance(self) -> dict[str, str]:
        config = self.network.config
        return {
            "parser": self.name,
            "scheme": self.scheme,
            "relations": f"{self.scheme} fine",
            "model": config.name,
            "model_version": config.version,
        }

    def _given(self, text: str | Document) -> Document:
        return settle(Document(text) if isinstance(text, str) else text, (self.language,))

    def _segment(self, given: Document) -> tuple[Document, Units, Floats, tuple[float, ...]]:
        """Return the document with its layers, its units, piece states, and EDU probabilities."""
        text = given.text
        pieces = self.network.tokenizer(text, [edu.start for edu in given.edus])
        if not len(pieces):
            return self._without_words(given)
        states = self.network.states(pieces)
        marks = self.network.marks(states, self._source)
        begins = self._begins(pieces, marks, text)
        if given.edus:
            firsts = np.searchsorted(pieces.starts, [edu.start for edu in given.edus])
            edus, boundaries = given.edus, (1.0,) * len(given.edus)
        else:
            firsts = self._firsts(pieces, begins, given)
            edus = spans_between(text, pieces.starts[firsts])
            boundaries = tuple(begins[firsts].tolist())
        units = self._units(firsts, pieces, marks, given, edus)
        doc = replace(
            given,
            edus=edus,
            sentences=given.sentences or _grouped(edus, units.sentence_starts),
            paragraphs=given.paragraphs or _grouped(edus, units.paragraph_starts),
        )
        return doc, units, states, boundaries

    def _without_words(self, given: Document) -> tuple[Document, Units, Floats, tuple[float, ...]]:
        """Treat a text with nothing to read: no EDU if it is blank, else one."""
        edus = given.edus or spans_between(given.text, np.zeros(1, dtype=np.int64))
        doc = replace(given, edus=edus)
        if edus:
            # Nothing but characters that the tokenizer drops: read as one unknown word.
            pieces = self.network.tokenizer(given.text, [edu.start for edu in edus])
            states = self.network.states(pieces)
            firsts = np.append(
                np.searchsorted(pieces.starts, [edu.start for edu in edus]), len(pieces)
            )
            flags = np.ones(len(edus), dtype=bool)
            return doc, Units(firsts, flags, flags), states, (1.0,) * len(edus)
        empty = np.zeros(0, dtype=bool)
        return doc, Units(np.zeros(1, np.int64), empty, empty), np.zeros((0, 0), np.float32), ()

    def _begins(self, pieces: Pieces, marks: Floats, text: str) -> Floats:
        """Return the probability that an EDU begins at each piece; layout can make it sure."""
        begins = np.where(pieces.begins, 1.0 - marks[:, 0], np.float32(0.0))
        return make_sure(begins, pieces.starts, text, self.threshold)

    def _firsts(self, pieces: Pieces, begins: Floats, given: Document) -> npt.NDArray[np.int64]:
        """Return the pieces at which EDUs begin."""
        starts = begins > self.threshold
        starts[0] = True
        for layer in (given.sentences, given.paragraphs):
            # What the caller knows to be a boundary is one.
            known = np.searchsorted(pieces.starts, [span.start for span in layer])
            starts[known[known < len(pieces)]] = True
        return np.flatnonzero(starts)

    def _units(
        self,
        firsts: npt.NDArray[np.int64],
        pieces: Pieces,
        marks: Floats,
        given: Document,
        edus: Sequence[Span],
    ) -> Units:
        starts = [edu.start for edu in edus]
        if given.sentences:
            sentence = _holds_start(starts, given.sentences)
        else:
            sentence = marks[firsts, 2:].sum(axis=1) > marks[firsts, 1]
        if given.paragraphs:
            paragraph = _holds_start(starts, given.paragraphs)
        else:
            blank = pieces.layouts[firsts] == _BLANK_LINE
            paragraph = (marks[firsts, 3] > marks[firsts, 1:3].sum(axis=1)) | blank
            paragraph |= np.isin(starts, line_cues(given.text).starts)
        paragraph[0] = True
        sentence = sentence | paragraph
        return Units(np.append(firsts, len(pieces)), sentence, paragraph)

    def _parse_tree(
        self, doc: Document, units: Units, edus: Floats, boundaries: tuple[float, ...], kbest: int
    ) -> Parse:
        config = self.network.config
        spans = self.network.spans(edus, units)
        said = Connectives(doc, [Label(*label) for label in config.joins])

        def label(joins: npt.NDArray[np.int64]) -> Floats:
            return said.weigh(_labels(spans, joins), joins.tolist())

        class_of = np.array(config.join_classes)
        joins, labels = decode(len(units), spans.splits, label, class_of, _levels(units))
        if joins:
            chains = np.array([kind == "NN" for kind, _ in config.joins])
            labels = told_apart(joins, labels, label, class_of, chains)
        tree, nuclearities, relations, likely = self._label(joins, labels, len(units), kbest)
        sure = self._scaled("relations", relations)
        heads, arcs = self._arc_scores(tree, relations, units, edus)
        scores = Scores(
            boundaries,
            self._scaled("heads", heads),
            self._scaled("relations", arcs),
            self._scaled("spans", [join.probability for join in joins]),
            self._scaled("nuclearities", nuclearities),
            sure,
            _agreeing(likely, tree, relations, sure),
        )
        others = decode_kbest(len(units), spans.splits, kbest) if kbest > 1 else []
        rare = {join[:3] for found, _ in others for join in found if join[::2] not in labels}
        if rare:
            rows = np.array(sorted(rare))
            labels |= zip(map(tuple, rows[:, ::2].tolist()), label(rows), strict=True)
        candidates = tuple(
            Candidate(self._label(found, labels, len(units))[0], score) for found, score in others
        )
        return Parse(doc, tree, scores, candidates, self._provenance)

    def _scaled(self, figure: str, probabilities: Sequence[float]) -> tuple[float, ...]:
        """Return probabilities that mean what they say."""
        scale = self.network.config.scales.get(figure)
        return tuple(calibrated(probabilities, *scale) if scale else probabilities)

    def _label(
        self, joins: Sequence[ScoredJoin], labels: Labels, n_edus: int, kbest: int = 1
    ) -> tuple[RSTTree, tuple[float, ...], tuple[float, ...], tuple[tuple[Likely, ...], ...]]:
        """Return the labelled tree, and the probabilities of nuclearities and relations.

        With ``kbest`` above 1 also the likeliest labels of each join.
        """
        config = self.network.config
        if not joins:
            return RSTTree(n_edus), (), (), ()
        nuclearities: list[float] = []
        relations: list[float] = []
        likely: list[tuple[Likely, ...]] = []
        kinds, names = np.array(config.joins).T
        p = np.array([labels[join.start, join.end] for join in joins])
        best = best_labels(p, np.array(config.join_classes)).tolist()
        for row, label in zip(p, best, strict=True):
            nuclearities.append(float(row[kinds == kinds[label]].sum()))
            relations.append(float(row[names == names[label]].sum()))
            if kbest > 1:
                first = np.argsort(-row)[:_LIKELY].tolist()
                chosen = [(*config.joins[i], float(row[i])) for i in first]
                likely.append(tuple(Likely(kind, name, share) for kind, name, share in chosen))
        found = (
            Join(*join[:3], *config.joins[label]) for join, label in zip(joins, best, strict=True)
        )
        tree = RSTTree(n_edus, tuple(found))
        return tree, tuple(nuclearities), tuple(relations), tuple(likely)

    def _arc_scores(
        self, tree: RSTTree, relations: Sequence[float], units: Units, edus: Floats
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the probabilities of each EDU's head, and of the relation to it."""
        if len(units) > _LONGEST_ARCS:
            return (), ()
        heads = to_dependencies(tree).heads
        table = np.exp(self.network.arcs(edus, units, self._source))
        chosen = table[np.arange(len(heads)), np.array(heads) + 1]
        return tuple(chosen.tolist()), tuple(_relation_of_edus(tree, relations))

    def _parse_dependencies(
        self, doc: Document, units: Units, edus: Floats, boundaries: tuple[float, ...]
    ) -> Parse:
        network, count = self.network, len(units)
        table = network.arcs(edus, units, self._source)
        heads = _projective(table)
        arcs = np.stack([np.arange(count), np.maximum(heads, 0)], axis=1)
        p = self._relations(edus, units, arcs)
        best = p.argmax(axis=1)
        names = network.config.arc_relations
        relations = [
            ROOT_RELATION if head == ROOT else names[label]
            for head, label in zip(heads.tolist(), best.tolist(), strict=True)
        ]
        tree = DepTree(
            tuple(heads.tolist()),
            tuple(relations),
            tuple(name in _MULTINUCLEAR for name in relations),
        )
        return Parse(
            doc,
            tree,
            Scores(
                boundaries,
                tuple(np.exp(table[np.arange(count), heads + 1]).tolist()),
                tuple(np.where(heads == ROOT, 1.0, p.max(axis=1)).tolist()),
            ),
            provenance=self._provenance,
        )


def _agreeing(
    labels: Sequence[tuple[Likely, ...]],
    tree: RSTTree,
    raw: Sequence[float],
    sure: Sequence[float],
) -> tuple[tuple[Likely, ...], ...]:
    """Return likely labels in which the relation of each join has the probability that is told.

    That one is calibrated; the other relations share what it leaves in the same proportions.
    """
    found = []
    for row, join, before, after in zip(labels, tree.joins, raw, sure, strict=False):
        own = after / before if before else 1.0
        rest = (1 - after) / (1 - before) if before < 1 else 1.0
        changed = [
            Likely(kind, name, round(share * (own if name == join.relation else rest), 4))
            for kind, name, share in row
        ]
        found.append(tuple(sorted(changed, key=lambda one: -one.probability)))
    return tuple(found)


def _labels(spans: Spans, joins: npt.NDArray[np.int64]) -> Floats:
    """Return the probabilities of the labels of joins; a part of them at a time saves memory."""
    parts = range(0, len(joins), _LABELLED_AT_ONCE)
    return np.concatenate([spans.labels(joins[at : at + _LABELLED_AT_ONCE]) for at in parts])


def _projective(table: Floats) -> npt.NDArray[np.int64]:
    """Return the heads of the best projective tree; rows are EDUs, column 0 is the root."""
    count = len(table)
    scores = np.full((count + 1, count + 1), -np.inf)
    scores[:, 1:] = table.T
    return eisner(scores)


def _levels(units: Units) -> list[npt.NDArray[np.int64]]:
    """Return the EDUs at which larger units begin, the largest units first."""
    return [np.flatnonzero(flags) for flags in (units.paragraph_starts, units.sentence_starts)]


def _relation_of_edus(tree: RSTTree, relations: Sequence[float]) -> list[float]:
    """Return, for each EDU, the score of the join that makes it a dependent (1 for the root)."""
    scores = [1.0] * tree.n_edus
    head_of = {(i, i + 1): i for i in range(tree.n_edus)}
    for join, score in zip(reversed(tree.joins), reversed(relations), strict=True):
        left, right = (head_of[part] for part in tree.children(join))
        head, dependent = (right, left) if join.nuclearity == "SN" else (left, right)
        head_of[join.start, join.end] = head
        scores[dependent] = score
    return scores


def spans_between(text: str, starts: Sequence[int] | npt.NDArray[np.int64]) -> tuple[Span, ...]:
    """Return the ranges that begin at the given places and together cover all but white space.

    >>> spans_between(" It rains. So what? ", [1, 11])
    (Span(start=1, end=10), Span(start=11, end=19))
    """
    edges = [0, *(int(start) for start in starts[1:]), len(text)]
    found: list[Span] = []
    for start, end in pairwise(edges):
        part = text[start:end]
        inner = part.strip()
        if inner:
            first = start + len(part) - len(part.lstrip())
            found.append(Span(first, first + len(inner)))
    return tuple(found)


def _holds_start(starts: Sequence[int], layer: Sequence[Span]) -> Bools:
    """Tell, for each EDU, whether it is the first to begin in a unit of a layer."""
    places = np.searchsorted([span.start for span in layer], starts, side="right")
    flags: Bools = np.diff(places, prepend=0) > 0
    return flags


def _grouped(edus: Sequence[Span], starts: Bools) -> tuple[Span, ...]:
    """Return larger units as ranges of characters, from the EDUs at which they begin."""
    firsts = np.flatnonzero(starts).tolist()
    lasts = [*(first - 1 for first in firsts[1:]), len(edus) - 1]
    return tuple(
        Span(edus[first].start, edus[last].end) for first, last in zip(firsts, lasts, strict=True)
    )


__all__ = ["EXACT", "NeuralParser", "spans_between"]
