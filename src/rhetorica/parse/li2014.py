"""``li2014``: text-level discourse dependency parsing (Li, Wang, Cao & Li 2014).

Every arc from a head EDU to a dependent EDU, with a relation, has a score that is linear in its
features; the parse is the tree of arcs with the highest sum (Eisner's algorithm for projective
trees, Chu-Liu/Edmonds for any). Of the arcs between two EDUs only the one with the best relation
takes part (section 3.1). Weights are learned by single-best MIRA with the number of wrong heads as
loss (section 4.2), or by the averaged perceptron, with the same decoder.

Two sets of features: ``paper`` has their six types (section 4.1), ``extended`` adds conjunctions
with direction and distance, head words, dominance between the two EDUs, connectives, and what lies
between. The paper's types are numbered as there; ``semantic`` needs WordNet and is off by default,
since it costs more time than everything else together and helps little (see docs/li2014.md).

Deviations. Positions are bucketed. The dominating nodes are read off the dependency tree of the
sentence (Sagae 2009): the tag of the word that the EDU's head hangs on. A label is a relation
together with whether it is multinuclear, so that the tree can be turned into RST.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from rhetorica.convert import Convention, to_dependencies
from rhetorica.decode import eisner, eisner_kbest, eisner_marginals, kbest_spanning
from rhetorica.decode import matrix_tree_marginals, spanning_tree
from rhetorica.document import Document
from rhetorica.errors import ModelError, UnknownName
from rhetorica.features.edus import EDUTable, edu_table
from rhetorica.learn.online import OnlineLearner, Rule
from rhetorica.learn.pairwise import Arcs, Template
from rhetorica.parses import Candidate, Parse, Scores
from rhetorica.source import write_text
from rhetorica.trees import ROOT, ROOT_RELATION, DepTree

Decoder = Literal["eisner", "mst"]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Label = tuple[str, bool]

BITS = 18
"""Features are hashed to 2 ** BITS rows of weights."""


def _sides(*names: str) -> list[Template]:
    """Return a template for each attribute of the head and of the dependent."""
    return [Template(head=n) for n in names] + [Template(dependent=n) for n in names]


def _both(*names: str) -> list[Template]:
    return [Template(head=n, dependent=n) for n in names]


PAPER: dict[str, list[Template]] = {
    "word": [*_sides("first", "last", "first2", "last2"), *_both("first", "last", "first2")],
    "pos": [*_sides("tag", "tag2"), *_both("tag")],
    "position": [
        Template(pair="samesentence"),
        Template(head="insentence", dependent="insentence", pair="samesentence"),
        Template(head="paragraphplace", dependent="paragraphplace", pair="same"),
        Template(head="documentpart", dependent="documentpart"),
        *_sides("sentenceplace", "paragraphplace", "documentplace"),
        Template(pair="distance"),
    ],
    "length": _sides("length"),
    "syntactic": [*_sides("domtag", "headtag"), *_both("domtag", "headtag")],
}
FEATURE_TYPES = (*PAPER, "semantic")

_CONJOINED = ("where", "dominance")
EXTENDED: list[Template] = [
    Template(pair="where"),
    Template(pair="between"),
    Template(pair="sentencegap"),
    Template(pair="dominance"),
    Template(pair="overlap"),
    Template(head="role", dependent="role", pair="where"),
    Template(head="role", dependent="role", pair="between"),
    Template(head="role", pair="where"),
    Template(dependent="role", pair="where"),
    Template(head="sentenceplace", dependent="sentenceplace", pair="adjacent"),
    Template(head="paragraphnumber", dependent="paragraphnumber"),
    Template(dependent="sentenceinparagraph", pair="where"),
    Template(head="sentenceinparagraph", dependent="sentenceinparagraph", pair="same"),
    Template(dependent="documentplace", pair="same"),
    Template(head="documentplace", pair="same"),
    *[
        Template(dependent=name, pair="where")
        for name in ("first", "first2", "tag", "tag2", "connective", "headtag", "verbs", "shape",
                     "length", "lasttag", "head", "headrel", "subject")
    ],
    *[
        Template(head=name, pair="where")
        for name in ("first", "tag", "tag2", "connective", "headtag", "verbs", "shape", "length",
                     "last", "lasttag", "head", "headrel")
    ],
    *[
        Template(dependent=name, pair="same")
        for name in ("first3", "last", "dominator", "headrel", "head", "last2")
    ],
    *[Template(head=name, pair="same") for name in ("first2", "last2", "headrel")],
    *[
        Template(head=name, dependent=name, pair="same")
        for name in ("tag", "headtag", "verbs", "connective", "shape", "lasttag", "headrel",
                     "length")
    ],
    Template(head="head", dependent="head", pair="same"),
    Template(head="verbs", dependent="connective", pair="adjacent"),
    Template(head="head", dependent="first", pair="adjacent"),
    Template(head="headtag", dependent="first2", pair="adjacent"),
    Template(head="lasttag", dependent="first", pair="adjacent"),
    Template(head="shape", dependent="tag", pair="adjacent"),
    Template(dependent="headtag", pair="dominance"),
    Template(dependent="first", pair="dominance"),
    Template(head="headtag", dependent="headtag", pair="dominance"),
    Template(dependent="shape", pair="overlap"),
    Template(head="role", dependent="role", pair="overlap"),
]  # fmt: skip


@dataclass(frozen=True)
class Example:
    """A training document: its features and the gold tree as arrays."""

    arcs: Arcs
    heads: Ints
    labels: Ints


class Li2014Parser:
    """Learns and applies the parser; after `fit` or `load` it has ``weights_`` and ``labels_``."""

    name = "li2014"

    def __init__(
        self,
        *,
        features: Sequence[str] = (*PAPER, "extended"),
        decoder: Decoder = "eisner",
        learner: Rule = "mira",
        convention: Convention = "star",
        relations: str = "as-is",
        bits: int = BITS,
        aggressiveness: float = 0.02,
        seed: int = 0,
        temperature: float = 1.0,
        relation_temperature: float = 1.0,
    ) -> None:
        for name in features:
            if name not in (*FEATURE_TYPES, "extended"):
                raise UnknownName("feature type", name, (*FEATURE_TYPES, "extended"))
        self.features = tuple(features)
        self.decoder: Decoder = decoder
        self.learner: Rule = learner
        self.convention: Convention = convention
        self.relations = relations
        self.bits = bits
        self.aggressiveness = aggressiveness
        self.seed = seed
        self.temperature = temperature
        self.relation_temperature = relation_temperature

    @property
    def templates(self) -> list[Template]:
        """The templates of the chosen feature types."""
        chosen = [t for name in self.features if name in PAPER for t in PAPER[name]]
        if "semantic" in self.features:
            chosen += [Template(pair=name) for name in SEMANTIC]
        if "extended" in self.features:
            chosen += EXTENDED
        return chosen

    def arcs(self, doc: Document) -> Arcs:
        """Compute the features of all arcs of a document with EDUs and syntax."""
        table = edu_table(doc)
        pairs = table.pairs
        if "semantic" in self.features:
            pairs = pairs | semantic_pairs(doc, table)
        return Arcs.of(table.units, pairs, self.templates, self.bits)

    def fit(
        self,
        parses: Sequence[Parse],
        *,
        epochs: int = 10,
        after_epoch: Callable[[int, Li2014Parser], bool] | None = None,
        progress: Callable[[str, int, int], None] | None = None,
        coarse: Callable[[str], str] | None = None,
    ) -> Li2014Parser:
        """Learn from gold analyses of documents with syntax.

        ``after_epoch`` is called with the number of the epoch and the parser with the averaged
        weights so far; training ends early when it returns True. ``coarse`` maps relations.
        """
        trees = [self._target(parse, coarse) for parse in parses]
        self.labels_: list[Label] = sorted(
            {label for tree in trees for label in zip(tree.relations, tree.multinuclear, strict=True)}
        )
        index = {label: i for i, label in enumerate(self.labels_)}
        examples = []
        for number, (parse, tree) in enumerate(zip(parses, trees, strict=True), 1):
            labels = [index[label] for label in zip(tree.relations, tree.multinuclear, strict=True)]
            examples.append(
                Example(self.arcs(parse.document), np.array(tree.heads), np.array(labels))
            )
            if progress:
                progress("features", number, len(parses))
        learner = OnlineLearner(
            (2**self.bits, len(self.labels_)),
            rule=self.learner,
            aggressiveness=self.aggressiveness,
        )
        rng = np.random.default_rng(self.seed)
        for epoch in range(1, epochs + 1):
            for number, i in enumerate(rng.permutation(len(examples)), 1):
                self._learn(learner, examples[i])
                if progress:
                    progress(f"epoch {epoch}", number, len(examples))
            self.weights_ = learner.averaged()
            if after_epoch and after_epoch(epoch, self):
                break
        return self

    def _target(self, parse: Parse, coarse: Callable[[str], str] | None) -> DepTree:
        tree = to_dependencies(parse.source or parse.tree, multinuclear=self.convention)
        relations = [coarse(r) if coarse else r for r in tree.relations]
        for i, head in enumerate(tree.heads):
            if head == ROOT:
                relations[i] = ROOT_RELATION
        return DepTree(tree.heads, tuple(relations), tree.multinuclear)

    def _learn(self, learner: OnlineLearner, example: Example) -> None:
        scores, labels = example.arcs.scores(learner.weights, self._root_label)
        heads = self._decode(scores)
        found = labels[heads, np.arange(len(heads))]
        differs = (heads != example.heads) | (found != example.labels)
        where = np.flatnonzero(differs)
        right = example.arcs.rows(example.heads[where], where)
        wrong = example.arcs.rows(heads[where], where)
        margin = (
            learner.weights[right, example.labels[where, None]].sum()
            - learner.weights[wrong, found[where, None]].sum()
        )
        loss = float((heads != example.heads).sum())
        learner.learn(
            (right, example.labels[where]), (wrong, found[where]), loss=loss, margin=float(margin)
        )

    @property
    def _root_label(self) -> int:
        return self.labels_.index((ROOT_RELATION, False))

    def _decode(self, scores: npt.NDArray[np.float32]) -> Ints:
        table = _square(scores)
        return eisner(table) if self.decoder == "eisner" else spanning_tree(table)

    def __call__(self, doc: Document, *, kbest: int = 1) -> Parse:
        """Parse a document that has EDUs and syntax."""
        if not doc.edus:
            return Parse(doc, DepTree())
        arcs = self.arcs(doc)
        scores, labels = arcs.scores(self.weights_, self._root_label)
        heads = self._decode(scores)
        tree = self._tree(heads, labels)
        candidates: tuple[Candidate, ...] = ()
        if kbest > 1:
            search = eisner_kbest if self.decoder == "eisner" else kbest_spanning
            candidates = tuple(
                Candidate(self._tree(found, labels), float(score))
                for found, score in search(_square(scores), kbest)
            )
        return Parse(
            doc,
            tree,
            self._probabilities(arcs, scores, labels, heads),
            candidates,
            {"parser": self.name, "relations": self.relations, "decoder": self.decoder},
        )

    def _tree(self, heads: Ints, labels: Ints) -> DepTree:
        chosen = [self.labels_[labels[head, i]] for i, head in enumerate(heads.tolist())]
        return DepTree(
            tuple(heads.tolist()),
            tuple(relation for relation, _ in chosen),
            tuple(nuclear for _, nuclear in chosen),
        )

    def _probabilities(
        self, arcs: Arcs, scores: npt.NDArray[np.float32], labels: Ints, heads: Ints
    ) -> Scores:
        """Return the probability of each head (marginal over trees) and relation (given the arc)."""
        marginals = eisner_marginals if self.decoder == "eisner" else matrix_tree_marginals
        _, table = marginals(_square(scores) / self.temperature)
        units = np.arange(len(heads))
        all_labels = self.weights_[arcs.rows(heads, units)].sum(axis=1) / self.relation_temperature
        all_labels[heads >= 0, self._root_label] = -np.inf
        all_labels -= all_labels.max(axis=1, keepdims=True)
        shares = np.exp(all_labels)
        shares /= shares.sum(axis=1, keepdims=True)
        chosen = shares[units, labels[heads, units]]
        chosen[heads == ROOT] = 1.0
        return Scores(
            heads=tuple(np.clip(table[heads + 1, units + 1], 0, 1).tolist()),
            arc_relations=tuple(chosen.tolist()),
        )

    def save(self, folder: Path) -> None:
        """Write configuration, labels and weights (only rows that are not zero)."""
        folder.mkdir(parents=True, exist_ok=True)
        config = {
            "parser": self.name,
            "features": list(self.features),
            "decoder": self.decoder,
            "learner": self.learner,
            "convention": self.convention,
            "relations": self.relations,
            "bits": self.bits,
            "aggressiveness": self.aggressiveness,
            "seed": self.seed,
            "temperature": self.temperature,
            "relation_temperature": self.relation_temperature,
            "labels": [list(label) for label in self.labels_],
        }
        write_text(folder / "config.json", json.dumps(config, indent=2) + "\n")
        rows = np.flatnonzero(np.abs(self.weights_).max(axis=1) > 0)
        np.savez_compressed(
            folder / "weights.npz",
            rows=rows.astype(np.uint32),
            weights=self.weights_[rows].astype(np.float16),
        )

    @classmethod
    def load(cls, folder: Path) -> Li2014Parser:
        """Read a model folder."""
        try:
            config = json.loads((folder / "config.json").read_text("utf-8"))
            labels = [(relation, nuclear) for relation, nuclear in config.pop("labels")]
            config.pop("parser")
            parser = cls(**config)
            parser.labels_ = labels
            with np.load(folder / "weights.npz", allow_pickle=False) as data:
                weights = np.zeros((2**parser.bits, len(labels)), dtype=np.float32)
                weights[data["rows"]] = data["weights"]
                parser.weights_ = weights
        except (OSError, KeyError, ValueError, TypeError) as error:
            raise ModelError(f"cannot load the parser in {folder}: {error}") from None
        return parser


SEMANTIC = ("path", "wup", "res", "jcn", "lin")


def semantic_pairs(doc: Document, table: EDUTable) -> dict[str, Ints]:
    """Return the five WordNet similarities of each pair, in steps of a tenth."""
    from rhetorica.features.wordnet import edu_similarities

    values = edu_similarities(doc)
    steps = np.minimum(np.ceil(values * 10), 10).astype(np.int64) + 1
    steps = np.concatenate([steps, np.zeros((len(SEMANTIC), 1, table.n_edus), np.int64)], axis=1)
    return dict(zip(SEMANTIC, steps, strict=True))


def _square(scores: npt.NDArray[np.float32]) -> Floats:
    """Turn (heads with the root last) x dependents into the decoders' square with the root first."""
    n = scores.shape[1]
    table = np.full((n + 1, n + 1), -np.inf)
    table[0, 1:] = scores[n]
    table[1:, 1:] = scores[:n]
    return table
