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

With ``labelled_loss`` (not in the paper) an EDU with the right head but a wrong relation counts as
wrong, too: otherwise nothing asks for a margin between relations.

Deviations, with what undoes them. A step of MIRA is cut at ``aggressiveness``; at 0 the margin is a
hard constraint as in their Figure 6. A text has one root; with ``roots="several"`` the decoder may
give more, of which all but the first then hang on the first. The dominating nodes are read off the
dependency tree of the sentence (Sagae 2009): the tag of the word that the EDU's head hangs on; with
``phrases`` off phrase structures, where documents have them.

And without: positions and lengths are in buckets (1 to 5, 7, 10, 15, 25, 50; the paper does not say
how they become features); type 3 has the distance and the order of the two EDUs, too; documents are
shuffled in each epoch; a label is a relation together with whether it is multinuclear, so that the
tree can be turned into RST.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rhetorica.convert import Convention, relabel, to_dependencies, with_levels
from rhetorica.decode import (
    eisner,
    eisner_kbest,
    eisner_marginals,
    kbest_spanning,
    matrix_tree_marginals,
    spanning_tree,
)
from rhetorica.document import Document
from rhetorica.errors import ModelError
from rhetorica.features.blocks import blocks
from rhetorica.features.edus import EDUTable
from rhetorica.languages import check_language, common_language
from rhetorica.learn.calibration import best_temperature, log_loss
from rhetorica.learn.links import log_softmax
from rhetorica.learn.online import OnlineLearner, Rule
from rhetorica.learn.pairwise import Arcs, Template
from rhetorica.models.store import Arrays, Config, State, Stored
from rhetorica.parses import Candidate, Parse, Scores
from rhetorica.progress import Event, Tell, nothing
from rhetorica.protocols import ArcBallot, with_zero
from rhetorica.settings import RELATIONS, made, setting
from rhetorica.trees import ROOT, ROOT_RELATION, DepTree, Label

Decoder = Literal["eisner", "mst"]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BITS = 18
"""Features are hashed to 2 ** BITS rows of weights."""
EXACT_EDUS = 1000
"""Longer documents are parsed in blocks."""
BLOCK_EDUS = 300
MARGINAL_EDUS = 200
"""Up to here, probabilities of heads are sums over trees."""


def _each(forms: str, names: str) -> list[Template]:
    """Return, for each form (with a * for the name), a template for each of some attributes."""
    return [
        Template.read(form.replace("*", name))
        for form in forms.split(", ")
        for name in names.split()
    ]


def _read(*texts: str) -> list[Template]:
    return [Template.read(text) for text in texts]


PAPER: dict[str, list[Template]] = {
    "word": [*_each("H:*, D:*", "first last first2 last2"), *_each("H:* D:*", "first last first2")],
    "pos": [*_each("H:*, D:*", "tag tag2"), *_each("H:* D:*", "tag")],
    "position": [
        *_read(
            "P:samesentence", "H:insentence D:insentence P:samesentence",
            "H:paragraphplace D:paragraphplace P:same", "H:documentpart D:documentpart",
        ),
        *_each("H:*, D:*", "sentenceplace paragraphplace documentplace"),
        *_read("P:distance"),
    ],
    "length": _each("H:*, D:*", "length"),
    "syntactic": _each("H:*, D:*, H:* D:*", "domtag headtag"),
}  # fmt: skip
FEATURE_TYPES = (*PAPER, "semantic")

EXTENDED: list[Template] = [
    *_read(
        "P:where", "P:sentencegap", "P:dominance", "P:overlap", "H:role D:role P:where",
        "H:role D:role P:sentencegap", "H:role P:where", "D:role P:where",
        "H:sentenceplace D:sentenceplace P:adjacent", "H:paragraphnumber D:paragraphnumber",
        "D:sentenceinparagraph P:where", "H:sentenceinparagraph D:sentenceinparagraph P:same",
        "D:documentplace P:same", "H:documentplace P:same",
    ),
    *_each("D:* P:where", "first first2 tag tag2 connective headtag verbs shape length lasttag "
                          "head headrel subject"),
    *_each("H:* P:where", "first tag tag2 connective headtag verbs shape length last lasttag head "
                          "headrel"),
    *_each("D:* P:same", "first3 last dominator headrel head last2"),
    *_each("H:* P:same", "first2 last2 headrel"),
    *_each("H:* D:* P:same", "tag headtag verbs connective shape lasttag headrel length head"),
    *_read(
        "H:verbs D:connective P:adjacent", "H:head D:first P:adjacent",
        "H:headtag D:first2 P:adjacent", "H:lasttag D:first P:adjacent",
        "H:shape D:tag P:adjacent", "D:headtag P:dominance", "D:first P:dominance",
        "H:headtag D:headtag P:dominance", "D:shape P:overlap", "H:role D:role P:overlap",
    ),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settings:
    """How the parser is built and trained."""

    features: tuple[str, ...] = setting(
        (*PAPER, "extended"),
        "extended, paper (Li et al. 2014), or a list with commas",
        known=(*FEATURE_TYPES, "extended"),
        named={"extended": (*PAPER, "extended"), "paper": FEATURE_TYPES},
    )
    decoder: Decoder = setting("eisner", "Trees without crossing arcs, or any.")
    learner: Rule = setting("mira", "How weights are learned.")
    convention: Convention = setting(
        "star",
        "Where the nuclei of a multinuclear relation hang: on the first, or on the one before.",
        option="multinuclear",
    )
    epochs: int = setting(12, "Times that all documents are seen, at most.")
    patience: int = setting(3, "Stop after so many epochs without gain.")
    aggressiveness: float = setting(
        0.02, "How much one document may change the weights; 0: as much as the margin asks (paper)."
    )
    roots: Literal["one", "several"] = setting(
        "one", "Whether the decoder may hang several EDUs on the artificial root (paper)."
    )
    phrases: bool = setting(
        False, "Dominating nodes of phrase structures, where documents have them (paper)."
    )
    labelled_loss: bool = setting(False, "A wrong relation counts as much as a wrong head.")
    bits: int = setting(BITS, "Features are hashed to 2 to the power of it rows of weights.")
    seed: int = setting(0, "Of the order of documents.")
    relations: str = "as-is"
    temperature: float = 1.0
    relation_temperature: float = 1.0


@dataclass(frozen=True)
class Example:
    """A training document: its features and the gold tree as arrays."""

    arcs: Arcs
    heads: Ints
    labels: Ints


class Li2014Parser(Stored):
    """Learns and applies the parser; after `fit` or `load` it has ``weights_`` and ``labels_``."""

    name = "li2014"

    def __init__(self, settings: Settings | None = None, **changes: Any) -> None:
        self.settings = made(Settings, settings, changes)

    @property
    def templates(self) -> list[Template]:
        """The templates of the chosen feature types."""
        chosen = [t for name in self.settings.features if name in PAPER for t in PAPER[name]]
        if "semantic" in self.settings.features:
            chosen += [Template(pair=name) for name in SEMANTIC]
        if "extended" in self.settings.features:
            chosen += EXTENDED
        return chosen

    def arcs(self, doc: Document) -> Arcs:
        """Compute the features of all arcs of a document with EDUs and syntax."""
        return self._arcs(doc, self._table(doc), np.arange(len(doc.edus)))

    def _table(self, doc: Document) -> EDUTable:
        return EDUTable.of(doc, phrases=self.settings.phrases)

    def _arcs(self, doc: Document, table: EDUTable, members: Ints) -> Arcs:
        """Compute the features of all arcs between some EDUs."""
        pairs = self._pairs(doc, table, members)
        return Arcs.of(table.units(members), pairs, self.templates, self.settings.bits)

    def _pairs(self, doc: Document, table: EDUTable, members: Ints) -> dict[str, Ints]:
        pairs = table.pairs(members)
        if "semantic" in self.settings.features:
            pairs |= semantic_pairs(doc, members)
        return pairs

    def fit(
        self,
        parses: Sequence[Parse],
        *,
        after_epoch: Callable[[int, Li2014Parser], bool] | None = None,
        tell: Tell = nothing,
        coarse: Callable[[str], str] | None = None,
        checkpoint: Path | None = None,
    ) -> Li2014Parser:
        """Learn from gold analyses of documents with syntax.

        ``after_epoch`` is called with the number of the epoch and the parser with the averaged
        weights so far; training ends early when it returns True. ``coarse`` maps relations.
        ``checkpoint`` is a file that keeps the state after each epoch; if it is there, training
        goes on from it.
        """
        self.language = common_language(parse.document for parse in parses)
        trees = [self._target(parse, coarse) for parse in parses]
        found = {label for tree in trees for label in tree.labels()}
        # In this order equal scores are decided as they have always been.
        self.labels_ = sorted(found, key=lambda label: (label.relation, label.nuclearity == "NN"))
        index = {label: i for i, label in enumerate(self.labels_)}
        examples = []
        for number, (parse, tree) in enumerate(zip(parses, trees, strict=True), 1):
            labels = [index[label] for label in tree.labels()]
            examples.append(
                Example(self.arcs(parse.document), np.array(tree.heads), np.array(labels))
            )
            tell(Event("features", number, len(parses)))
        learner = OnlineLearner(
            (2**self.settings.bits, len(self.labels_)),
            rule=self.settings.learner,
            aggressiveness=self.settings.aggressiveness or math.inf,
        )
        done = _restore(learner, checkpoint)
        for epoch in range(done + 1, self.settings.epochs + 1):
            rng = np.random.default_rng((self.settings.seed, epoch))
            for number, i in enumerate(rng.permutation(len(examples)), 1):
                self._learn(learner, examples[i])
                tell(Event(f"epoch {epoch}", number, len(examples)))
            self.weights_ = learner.averaged()
            if checkpoint:
                checkpoint.parent.mkdir(parents=True, exist_ok=True)
                with checkpoint.open("wb") as file:
                    np.savez(file, epoch=epoch, **learner.state())  # type: ignore[arg-type]
            if after_epoch and after_epoch(epoch, self):
                break
        return self

    def _target(self, parse: Parse, coarse: Callable[[str], str] | None) -> DepTree:
        tree = to_dependencies(parse.source or parse.tree, multinuclear=self.settings.convention)
        return relabel(tree, coarse or str)

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
        wrong_heads = heads != example.heads
        loss = float((differs if self.settings.labelled_loss else wrong_heads).sum())
        learner.learn(
            (right, example.labels[where]), (wrong, found[where]), loss=loss, margin=float(margin)
        )

    @property
    def _root_label(self) -> int:
        return self.labels_.index(Label("NS", ROOT_RELATION))

    def _decode(self, scores: npt.NDArray[np.float32]) -> Ints:
        decode = eisner if self.settings.decoder == "eisner" else spanning_tree
        return decode(_square(scores), single_root=self.settings.roots == "one")

    def __call__(self, doc: Document, *, kbest: int = 1) -> Parse:
        """Parse a document that has EDUs and syntax.

        Up to `EXACT_EDUS` the tree is the best there is. A longer text is parsed in blocks of
        whole paragraphs, then the roots of the blocks are parsed in the same way.
        """
        about = {
            "parser": self.name,
            "relations": self.settings.relations,
            "decoder": self.settings.decoder,
        }
        check_language(doc, self)
        n = len(doc.edus)
        if not n:
            return Parse(doc, DepTree(), provenance=about)
        table = self._table(doc)
        result = _Result(n)
        members, paragraphs = np.arange(n), table.places.paragraph
        while len(members) > EXACT_EDUS:
            roots = []
            begins = np.diff(paragraphs[members], prepend=-1) != 0
            for block in blocks(begins, BLOCK_EDUS):
                part = members[block]
                self._parse_part(doc, table, part, result)
                roots.append(part[result.heads[part] == ROOT][0])
            members = np.array(roots)
        scored = self._parse_part(doc, table, members, result)
        candidates: tuple[Candidate, ...] = ()
        if kbest > 1 and n <= EXACT_EDUS:
            candidates = self._candidates(doc, *scored, kbest)
        tree = self._tree(doc, result.heads, result.labels)
        scores = Scores(
            heads=tuple(result.head_probabilities.tolist()),
            arc_relations=tuple(result.relation_probabilities.tolist()),
        )
        return Parse(doc, tree, scores, candidates, about)

    def arc_ballot(self, doc: Document) -> ArcBallot:
        """Return the probabilities of all arcs of a document, and of their relations."""
        check_language(doc, self)
        n = len(doc.edus)
        if not 1 < n <= MARGINAL_EDUS:
            return ArcBallot.of(self(doc))
        arcs = self._arcs(doc, EDUTable.of(doc), np.arange(n))
        scores, _ = arcs.scores(self.weights_, self._root_label)
        table = self._marginals(_square(scores) / self.settings.temperature)
        others = [at for at, label in enumerate(self.labels_) if label.relation != ROOT_RELATION]

        def relations(wanted: Ints) -> Floats:
            found = self.weights_[arcs.rows(wanted[:, 1], wanted[:, 0])].sum(axis=1)[:, others]
            heat = self.settings.relation_temperature
            return with_zero(np.exp(log_softmax(found.astype(np.float64) / heat)))

        labels = tuple(self.labels_[at] for at in others)
        return ArcBallot(np.clip(table[:, 1:].T, 0, 1), self._decode(scores), labels, relations)

    def _parse_part(
        self, doc: Document, table: EDUTable, members: Ints, result: _Result
    ) -> tuple[npt.NDArray[np.float32], Ints]:
        """Parse some EDUs among themselves, note their heads; return arcs' scores and labels."""
        arcs = self._arcs(doc, table, members)
        scores, labels = arcs.scores(self.weights_, self._root_label)
        heads = self._decode(scores)
        extra = np.flatnonzero(heads == ROOT)[1:]
        heads[extra] = np.flatnonzero(heads == ROOT)[0]
        units = np.arange(len(members))
        result.heads[members] = np.where(heads == ROOT, ROOT, members[heads])
        result.labels[members] = labels[heads, units]
        probabilities = self._probabilities(arcs, scores, labels, heads)
        result.head_probabilities[members], result.relation_probabilities[members] = probabilities
        return scores, labels

    def _candidates(
        self, doc: Document, scores: npt.NDArray[np.float32], labels: Ints, kbest: int
    ) -> tuple[Candidate, ...]:
        search = eisner_kbest if self.settings.decoder == "eisner" else kbest_spanning
        return tuple(
            Candidate(self._tree(doc, heads, labels[heads, np.arange(len(heads))]), float(score))
            for heads, score in search(_square(scores), kbest)
        )

    def _tree(self, doc: Document, heads: Ints, labels: Ints) -> DepTree:
        chosen = [self.labels_[label] for label in labels.tolist()]
        tree = DepTree(
            tuple(heads.tolist()),
            tuple(label.relation for label in chosen),
            tuple(label.nuclearity == "NN" for label in chosen),
        )
        if self.settings.convention == "star":  # as every tree without levels is read
            return tree
        units = (doc.edu_sentences(), doc.edu_paragraphs())
        return with_levels(tree, multinuclear=self.settings.convention, units=units)

    def _marginals(self, table: Floats) -> Floats:
        """Return how probable each arc is, over all trees."""
        eisners = self.settings.decoder == "eisner"
        return (eisner_marginals if eisners else matrix_tree_marginals)(table)[1]

    def _probabilities(
        self, arcs: Arcs, scores: npt.NDArray[np.float32], labels: Ints, heads: Ints
    ) -> tuple[Floats, Floats]:
        """Return the probability of each head, over all trees, and of each relation, given its arc.

        Beyond `MARGINAL_EDUS`, where summing over trees takes too long, heads compete only with
        each other.
        """
        units = np.arange(len(heads))
        table = _square(scores) / self.settings.temperature
        if len(heads) <= MARGINAL_EDUS:
            table = self._marginals(table)
        else:
            np.fill_diagonal(table, -np.inf)
            table[:, 1:] = np.exp(log_softmax(table[:, 1:], axis=0))
        found = np.clip(table[heads + 1, units + 1], 0, 1)
        relations = (
            self.weights_[arcs.rows(heads, units)].sum(axis=1) / self.settings.relation_temperature
        )
        relations[heads >= 0, self._root_label] = -np.inf
        chosen = np.exp(log_softmax(relations.astype(np.float64)))[units, labels[heads, units]]
        chosen[heads == ROOT] = 1.0
        return found, chosen

    def calibrate(
        self, parses: Sequence[Parse], coarse: Callable[[str], str] | None = None
    ) -> None:
        """Choose the temperatures under which gold heads and relations are most probable."""
        heads_of: list[tuple[Floats, tuple[Ints, Ints]]] = []
        relations_of: list[tuple[Floats, Ints]] = []
        index = {label: i for i, label in enumerate(self.labels_)}
        for parse in parses:
            tree = self._target(parse, coarse)
            if not 1 < tree.n_edus <= MARGINAL_EDUS:
                continue
            arcs = self.arcs(parse.document)
            table = _square(arcs.scores(self.weights_, self._root_label)[0])
            heads, units = np.array(tree.heads), np.arange(tree.n_edus)
            heads_of.append((table, (heads + 1, units + 1)))
            labels = np.array([index.get(label, -1) for label in tree.labels()])
            known = np.flatnonzero((labels >= 0) & (heads >= 0))
            relations = self.weights_[arcs.rows(heads, units)].sum(axis=1).astype(np.float64)
            relations[:, self._root_label] = -np.inf
            relations_of.append((relations[known], labels[known]))

        def head_loss(t: float) -> float:
            found = (self._marginals(table / t)[gold] for table, gold in heads_of)
            return -sum(float(np.log(np.maximum(shares, 1e-12)).sum()) for shares in found)

        def relation_loss(t: float) -> float:
            return sum(log_loss(scores / t, gold) for scores, gold in relations_of)

        grid = np.geomspace(0.02, 5, 24)
        self.settings = replace(
            self.settings,
            temperature=best_temperature(head_loss, grid),
            relation_temperature=best_temperature(relation_loss, grid),
        )

    def name_features(self, parses: Sequence[Parse], rows: set[int]) -> dict[int, str]:
        """Return, for rows of weights, the feature that leads there in some gold arc, in words."""
        names: dict[int, str] = {}
        templates = self._column_templates()
        for parse in parses:
            doc = parse.document
            members = np.arange(len(doc.edus))
            table = self._table(doc)
            target = to_dependencies(
                parse.source or parse.tree, multinuclear=self.settings.convention
            )
            heads = np.array(target.heads)
            found = self._arcs(doc, table, members).rows(heads, members)
            pairs = self._pairs(doc, table, members)
            for arc, column in zip(*np.nonzero(np.isin(found, list(rows))), strict=True):
                row = int(found[arc, column])
                if row not in names:
                    names[row] = _in_words(
                        templates[column], table.strings, pairs, int(heads[arc]), int(arc)
                    )
            if len(names) == len(rows):
                break
        return names

    def _column_templates(self) -> list[Template]:
        """Return the templates in the order of the columns of `Arcs.rows`."""
        # Stable: those of the head alone, of the dependent alone, then the others.
        return sorted(self.templates, key=lambda t: (not t.one_sided, t.one_sided and not t.head))

    def state(self) -> State:
        """Return settings, labels and the rows of weights that are not zero."""
        rows = np.flatnonzero(np.abs(self.weights_).max(axis=1) > 0)
        arrays: Arrays = {
            "rows": rows.astype(np.uint32),
            "weights": self.weights_[rows].astype(np.float16),
        }
        return State(Config.of(self, self.labels_), arrays)

    @classmethod
    def from_state(cls, state: State, **options: Any) -> Li2014Parser:
        """Make it again; ``options`` replace settings."""
        parser = cls(**{**state.config.settings, RELATIONS: state.config.relations, **options})
        parser.labels_ = list(state.config.labels)
        parser.weights_ = np.zeros((2**parser.settings.bits, len(parser.labels_)), dtype=np.float32)
        parser.weights_[state.arrays["rows"]] = state.arrays["weights"]
        return parser


def _restore(learner: OnlineLearner, checkpoint: Path | None) -> int:
    """Restore a learner from a checkpoint that fits it; return how many epochs it has done."""
    if checkpoint is None or not checkpoint.is_file():
        return 0
    with np.load(checkpoint, allow_pickle=False) as state:
        if state["weights"].shape != learner.weights.shape:
            raise ModelError(f"{checkpoint} is of another training: remove it to start anew")
        learner.restore(state)
        return int(state["epoch"])


class _Result:
    """The heads, labels and probabilities of a document while its parts are being parsed."""

    def __init__(self, n: int) -> None:
        self.heads = np.full(n, ROOT)
        self.labels = np.zeros(n, dtype=np.int64)
        self.head_probabilities = np.ones(n)
        self.relation_probabilities = np.ones(n)


def _in_words(
    template: Template,
    strings: Mapping[str, Sequence[str]],
    pairs: Mapping[str, Ints],
    head: int,
    dependent: int,
) -> str:
    """Say what a feature is, read off an arc that has it."""
    parts = []
    if template.head:
        value = strings[template.head][head] if head >= 0 else "(root)"
        parts.append(f"head's {template.head} is `{value}`")
    if template.dependent:
        parts.append(
            f"dependent's {template.dependent} is `{strings[template.dependent][dependent]}`"
        )
    if template.pair:
        value = "root"
        if head >= 0 and template.pair in SEMANTIC:
            step = int(pairs[template.pair][head, dependent]) - 1
            value = f"{(step - 1) / 10:.1f} to {step / 10:.1f}" if step else "0"
        elif head >= 0:
            code = int(pairs[template.pair][head, dependent])
            value = f"{code >> 1}, head {'before' if code & 1 else 'after'} dependent"
        parts.append(f"{template.pair} of the pair is {value}")
    return " and ".join(parts).replace("|", "/")


SEMANTIC = ("path", "wup", "res", "jcn", "lin")


def semantic_pairs(doc: Document, members: Ints) -> dict[str, Ints]:
    """Return the five WordNet similarities of each pair, in steps of a tenth."""
    from rhetorica.features.wordnet import edu_similarities

    values = edu_similarities(doc)[:, members][:, :, members]
    steps = np.minimum(np.ceil(values * 10), 10).astype(np.int64) + 1
    root = np.zeros((len(SEMANTIC), 1, len(members)), np.int64)
    return dict(zip(SEMANTIC, np.concatenate([steps, root], axis=1), strict=True))


def _square(scores: npt.NDArray[np.float32]) -> Floats:
    """Turn heads (the root last) x dependents into the decoders' square, the root first."""
    n = scores.shape[1]
    table = np.full((n + 1, n + 1), -np.inf)
    table[0, 1:] = scores[n]
    table[1:, 1:] = scores[:n]
    return table
