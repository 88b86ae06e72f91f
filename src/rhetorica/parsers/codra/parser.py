"""``codra``: two-stage probabilistic RST parsing (Joty, Carenini & Ng 2015).

A sentence's tree comes from a dynamic CRF over its EDUs, the document's from a CRF over the trees
of its sentences; both give every possible constituent a probability, and CKY finds the most
probable tree. A label is a relation together with its nuclearity.

| setting | values |
|---|---|
| ``stages`` | ``1s-1s``, ``window``, ``three-way`` (see `stages`), ``one`` (no sentences: CRF-O) |
| ``chain`` | the dynamic CRF inside sentences, or the simplified one (CRF-NC, CRF-T) |
| ``objective`` | ``joins`` (the paper's) or ``trees`` (ours) across sentences (see `document`) |
| ``passes`` | 2: sub-structural features from a first pass (section 4.1.4) |
| ``groups`` | which groups of features (see `features`) |
| ``rerank`` | how many trees of a sentence a reranker chooses among (see `rerank`); 0: none |

Defaults are ours; `PAPER` has the article's values of the others: marks of boundaries instead of
single words, 95 % of longer N-grams, chains of equal weights, distances in EDUs, phrase structures.

Length. Inside sentences everything is exact up to `stages.LONGEST` EDUs. Across sentences it is
exact up to `EXACT_UNITS` units; a longer text is parsed in blocks of whole paragraphs of up to
`BLOCK_UNITS` units, then the blocks in the same way, so that time is linear beyond.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from rhetorica.convert import relabel
from rhetorica.document import Document
from rhetorica.errors import ModelError
from rhetorica.features.blocks import blocks
from rhetorica.languages import check_language, common_language
from rhetorica.models.store import Config, State, Stored
from rhetorica.parsers.codra.document import Chart, DocumentModel, Objective, unit_roots
from rhetorica.parsers.codra.examples import (
    NOT_JOINED,
    TREE_UNITS,
    WINDOW_EDUS,
    Lessons,
    label_names,
)
from rhetorica.parsers.codra.features import GROUPS, ChainKind, Distance, Facts
from rhetorica.parsers.codra.rerank import Cues, KBestList, Reranker, fit_reranker
from rhetorica.parsers.codra.sentence import SentenceModel
from rhetorica.parsers.codra.stages import (
    Analysis,
    Node,
    Passes,
    TwoPasses,
    one_sentence_one_subtree,
    parse_kbest,
    pieces,
    sliding_window,
    three_way,
)
from rhetorica.parsers.codra.units import Layout, runs
from rhetorica.parsers.codra.workshop import Workshop
from rhetorica.parses import Candidate, Parse, Scores
from rhetorica.progress import Tell, nothing
from rhetorica.settings import RELATIONS, made, setting
from rhetorica.trees import Join, RSTTree

Ints = npt.NDArray[np.int64]
Stages = Literal["1s-1s", "window", "three-way", "one"]

EXACT_UNITS = 160
BLOCK_UNITS = 80
PAPER_GROUPS = GROUPS[:-1]
PAPER: dict[str, Any] = {
    "groups": PAPER_GROUPS,
    "objective": "joins",
    "passes": 2,
    "ngram_share": 0.95,
    "boundaries": True,
    "word_chains": "flat",
    "distance": "edus",
    "phrases": True,
}
"""The settings of the article."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a parser is built and trained; see the module's table."""

    stages: Stages = setting(
        "1s-1s", "One sentence one sub-tree, sliding window, both, or no sentences."
    )
    groups: tuple[str, ...] = setting(
        GROUPS,
        "extended, paper (Joty et al. 2015), or a list with commas",
        option="features",
        known=GROUPS,
        named={"extended": GROUPS, "paper": PAPER_GROUPS},
    )
    chain: bool = setting(True, "The dynamic CRF inside sentences.")
    objective: Objective = setting(
        "trees", "Across sentences: likelihood of trees (ours) or of joins (paper)."
    )
    passes: int = setting(1, "2: with features of sub-structures.")
    rerank: int = setting(
        0, "Choose among so many trees of a sentence by a reranker; 0: no reranker."
    )
    sentence_l2: float = setting(5.0, "Regularisation inside sentences.")
    document_l2: float = setting(150.0, "Regularisation across sentences.")
    label_l2: float = setting(3.0, "Regularisation of labels across sentences.")
    min_count: int = setting(5, "Drop features seen less often.")
    ngram_size: int = setting(600, "How many n-grams are features.")
    ngram_share: float = setting(
        0.0, "Instead, what share of longer n-grams is (paper: 0.95); all single words are."
    )
    boundaries: bool = setting(
        False, "Marks of sentences and paragraphs instead of single words (paper)."
    )
    word_chains: ChainKind = setting(
        "graded", "Lexical chains of Galley & McKeown (2003), or flat (paper)."
    )
    distance: Distance = setting(
        "sentences", "How far from the ends of a text units are, in sentences or in edus (paper)."
    )
    phrases: bool = setting(
        False, "Dominance of phrase structures, where documents have them (paper)."
    )
    window_edus: int = setting(WINDOW_EDUS, "Longer windows are left out of training.")
    tree_units: int = setting(
        TREE_UNITS, "Of documents with more units, only sub-trees of this size are learned from."
    )
    iterations: int = setting(50, "Steps of L-BFGS.")
    threshold: float = setting(0.0, "Drop smaller weights from the file, to make it small.")
    seed: int = setting(0, "Of what is drawn at random.")
    relations: str = "as-is"

    def __post_init__(self) -> None:
        if self.rerank and (self.stages != "1s-1s" or self.passes > 1):
            raise ModelError(
                f"a reranker for {self.stages} in {self.passes} passes: reranking needs sentences "
                "that are parsed by themselves (1s-1s), in one pass"
            )


class CodraParser(Stored):
    """Learns and applies the parser; after `fit` or `load` it has ``labels_`` and models."""

    name = "codra"

    def __init__(self, settings: Settings | None = None, **changes: Any) -> None:
        self.settings = made(Settings, settings, changes)
        self.models_: dict[str, SentenceModel | DocumentModel] = {}
        self.reranker_: Reranker | None = None

    def fit(
        self,
        parses: Sequence[Parse],
        *,
        coarse: Callable[[str], str] | None = None,
        tell: Tell = nothing,
        store: Path | None = None,
        parts: Collection[str] = ("sentence", "document"),
        others: int = 0,
    ) -> CodraParser:
        """Learn from gold analyses of documents with syntax; ``coarse`` maps relations.

        ``store`` is a folder in which every finished model is kept; one that is there already, of
        the same documents and settings, is taken from it. ``parts`` may name one stage only. The
        last ``others`` of the analyses are another parser's (`DocumentModel.fit`).
        """
        self.language = common_language(parse.document for parse in parses)
        golds = [replace(parse, source=relabel(parse.tree, coarse)) for parse in parses]
        self.labels_ = label_names(golds)
        s = self.settings
        lessons = Lessons(
            golds, self.labels_, self._chains, s.phrases, s.window_edus, s.tree_units, others
        )
        shop = Workshop(lessons, store, tell)
        twice = self.settings.passes > 1 and "substructure" in self.settings.groups
        for window in (False, True):
            if not self._needs(window) or "sentence" not in parts:
                continue
            name = "window" if window else "sentence"
            first = shop.sentence(self._sentence_model(name), window=window)
            self.models_[name] = first
            if twice:
                second = self._sentence_model(f"{name}2")
                self.models_[f"{name}2"] = shop.sentence(second, window=window, first=first)
        if self.settings.rerank and "sentence" in parts:
            self.reranker_ = fit_reranker(shop, self._sentence("sentence"), k=self.settings.rerank)
        if "document" not in parts:
            return self
        whole = self.settings.stages == "one"
        model = shop.document(self._document_model("document"), whole=whole)
        self.models_["document"] = model
        if twice:
            again = self._document_model("document2")
            # The roots of EDUs are nothing; those of sentences come from a first pass, too.
            inside = None
            if not whole:
                found = self.models_.get("sentence")
                inside = (
                    found
                    if isinstance(found, SentenceModel)
                    else shop.sentence(self._sentence_model("sentence"))
                )
            self.models_["document2"] = shop.document(
                again, whole=whole, first=model, inside=inside
            )
        return self

    def _needs(self, window: bool) -> bool:
        wanted = ("window", "three-way") if window else ("1s-1s", "three-way")
        return self.settings.stages in wanted

    def _common(self, name: str) -> dict[str, Any]:
        """Return the settings of all models; a name with a 2 is that of a second pass."""
        s = self.settings
        shared = (
            "min_count", "ngram_size", "ngram_share", "boundaries", "iterations", "seed"
        )  # fmt: skip
        groups = tuple(g for g in s.groups if name.endswith("2") or g != "substructure")
        return {"groups": groups} | {setting: getattr(s, setting) for setting in shared}

    def _sentence_model(self, name: str) -> SentenceModel:
        s = self.settings
        return SentenceModel(
            len(self.labels_), chain=s.chain, l2=s.sentence_l2, **self._common(name)
        )

    def _document_model(self, name: str) -> DocumentModel:
        s = self.settings
        own: dict[str, Any] = {
            "objective": s.objective,
            "l2": s.document_l2,
            "label_l2": s.label_l2,
            "distance": s.distance,
        }
        return DocumentModel(len(self.labels_), **own, **self._common(name))

    @property
    def _chains(self) -> ChainKind | None:
        return self.settings.word_chains if "chains" in self.settings.groups else None

    def _facts(self, doc: Document) -> Facts:
        return Facts.of(doc, chains=self._chains, phrases=self.settings.phrases)

    def __call__(self, doc: Document, *, kbest: int = 1) -> Parse:
        """Parse a document that has EDUs and syntax."""
        check_language(doc, self)
        s = self.settings
        about = {"parser": self.name, "relations": s.relations, "stages": s.stages}
        n = len(doc.edus)
        if n < 2:
            return Parse(doc, RSTTree(n), Scores() if n else None, provenance=about)
        facts = self._facts(doc)
        analyses = self.sentence_analyses(facts)
        nodes = [node for analysis in analyses for node in analysis.nodes]
        edges = _edges(analyses, n)
        exact = len(edges) - 1 <= EXACT_UNITS
        across = self._chart(facts, edges, _roots(nodes)) if exact and len(edges) > 2 else None
        if across:
            nodes += _nodes(*across, edges, across[1].best().joins)
        elif not exact:
            nodes += self._join_units(facts, edges, _roots(nodes))
        nodes.sort(key=lambda node: (node.start, -node.end))
        candidates: tuple[Candidate, ...] = ()
        if kbest > 1 and exact:
            candidates = self._candidates(facts, analyses, across, kbest)
        return Parse(doc, self._tree(n, nodes), self._scores(nodes), candidates, about)

    def sentence_analyses(self, facts: Facts) -> list[Analysis]:
        """Return the sub-trees of sentences, by the chosen way."""
        stages = self.settings.stages
        if stages == "one":
            return [Analysis((edu, edu + 1), ()) for edu in range(facts.n_edus)]
        if self.reranker_ is not None:
            return [options[0][1] for options in self._options(facts, pieces(facts), 1)]
        if stages == "1s-1s":
            return one_sentence_one_subtree(self._passes("sentence"), facts)
        if stages == "window":
            return sliding_window(self._passes("window"), facts)
        return three_way(self._passes("sentence"), self._passes("window"), facts)

    def parse_sentences(self, doc: Document, *, kbest: int = 1) -> list[Parse]:
        """Parse every sentence by itself, as a document of its own, with its number in the id.

        The texts of these documents are the sentences' EDUs, joined by spaces.
        """
        check_language(doc, self)
        if not doc.edus:
            return []
        facts = self._facts(doc)
        ranges = runs(facts.sentences.tolist())
        found = []
        for number, options in enumerate(self._options(facts, ranges, kbest)):
            start, end = ranges[number]
            texts = doc.edu_texts[start:end]
            part = Document.from_edus(texts, id=f"{doc.id}#{facts.sentences[start] + 1}")
            candidates = tuple(
                Candidate(self._tree(end - start, _shifted(option.nodes, start)), score)
                for score, option in options
            )
            first = options[0][1].nodes
            best = self._scores(first) if first else None
            found.append(Parse(part, candidates[0].tree, best, candidates))
        return found

    def _options(
        self, facts: Facts, ranges: Sequence[tuple[int, int]], k: int
    ) -> list[list[tuple[float, Analysis]]]:
        """Return the k best trees of ranges of EDUs with their scores.

        A reranker puts in order as many as it was trained for; more are not to be had from it.
        """
        model = self._passes("sentence")
        if self.reranker_ is None:
            lists = parse_kbest(model, facts, ranges, k)
            return [[(one.score, one) for one in options] for options in lists]
        lists = parse_kbest(model, facts, ranges, self.settings.rerank)
        orders = self.reranker_.orders(
            Cues.from_facts(facts), [KBestList.of(options) for options in lists]
        )
        return [
            [(score, options[at]) for at, score in order[:k]]
            for options, order in zip(lists, orders, strict=True)
        ]

    def with_sentences_of(self, other: CodraParser) -> CodraParser:
        """Return a parser with this one's second stage and the other's first."""
        if self.labels_ != other.labels_:
            raise ModelError("the two parsers have different labels: train them on the same data")
        mixed = CodraParser(self.settings)
        mixed.labels_ = self.labels_
        mixed.models_ = {
            name: model
            for parser, document in ((other, False), (self, True))
            for name, model in parser.models_.items()
            if name.startswith("document") == document
        }
        mixed.reranker_ = other.reranker_
        return mixed

    def _passes(self, name: str) -> Passes:
        first, again = self._sentence(name), f"{name}2"
        return TwoPasses(first, self._sentence(again)) if again in self.models_ else first

    def _sentence(self, name: str) -> SentenceModel:
        model = self.models_.get(name)
        if not isinstance(model, SentenceModel):
            raise ModelError(f"this parser has no model {name!r}: train it with other stages")
        return model

    def _document(self, name: str = "document") -> DocumentModel:
        model = self.models_.get(name)
        if not isinstance(model, DocumentModel):
            raise ModelError("this parser has not been trained: fit or load it first")
        return model

    def _join_units(
        self, facts: Facts, edges: list[int], roots: dict[tuple[int, int], int]
    ) -> list[Node]:
        """Join sub-trees to one tree; a long text block by block."""
        nodes: list[Node] = []
        while len(edges) - 1 > EXACT_UNITS:
            begins = [facts.paragraphs[edge] != facts.paragraphs[edge - 1] for edge in edges[:-1]]
            cut = blocks(begins, BLOCK_UNITS)
            for block in cut:
                nodes += self._join_block(facts, edges[block.start : block.stop + 1], roots)
            roots = roots | _roots(nodes)
            edges = [edges[block.start] for block in cut] + [edges[-1]]
        return nodes + self._join_block(facts, edges, roots)

    def _chart(
        self, facts: Facts, edges: Sequence[int], roots: dict[tuple[int, int], int]
    ) -> tuple[DocumentModel, Chart]:
        """Score the joins of units, in one pass or two."""
        layout = Layout.of([edges])
        model = self._document()
        chart = model.chart(facts, layout)
        if "document2" in self.models_:
            known = unit_roots(model, chart, roots)
            model = self._document("document2")
            chart = model.chart(facts, layout, known)
        return model, chart

    def _join_block(
        self, facts: Facts, edges: Sequence[int], roots: dict[tuple[int, int], int]
    ) -> list[Node]:
        if len(edges) < 3:
            return []
        model, chart = self._chart(facts, edges, roots)
        return _nodes(model, chart, edges, chart.best().joins)

    def _candidates(
        self,
        facts: Facts,
        analyses: list[Analysis],
        across: tuple[DocumentModel, Chart] | None,
        k: int,
    ) -> tuple[Candidate, ...]:
        """Return the k best documents: of the trees across sentences and those inside them."""
        n = facts.n_edus
        combined: list[tuple[float, list[Node]]] = [(0.0, [])]
        if across:
            edges = _edges(analyses, n)
            model, chart = across
            trees = model.labelled(chart).kbest(k)
            shapes = [_nodes(model, chart, edges, tree.joins) for tree in trees]
            combined = _relabelled([(sum(node.score for node in s), s) for s in shapes], k)
        if self.settings.stages == "1s-1s":
            for options in self._options(facts, pieces(facts), k):
                combined = _merge(combined, [(score, list(a.nodes)) for score, a in options], k)
        else:
            inside = [node for analysis in analyses for node in analysis.nodes]
            combined = [(score, nodes + inside) for score, nodes in combined]
        return tuple(
            Candidate(self._tree(n, sorted(nodes, key=lambda x: (x.start, -x.end))), score)
            for score, nodes in combined
        )

    def _tree(self, n: int, nodes: Sequence[Node]) -> RSTTree:
        joins = (Join(*node[:3], *self.labels_[node.label]) for node in nodes)
        return RSTTree(n, tuple(joins))

    def _scores(self, nodes: Sequence[Node]) -> Scores:
        """Return how probable each join is, and, given it, its nuclearity and relation."""
        logs = np.array([node.logs for node in nodes])
        labels = np.array([node.label for node in nodes])
        shares = np.exp(logs[:, 1:] - logs[:, 1:].max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        result = [np.clip(np.exp(logs[:, 1:]).sum(axis=1), 0, 1)]
        for part in (0, 1):
            names = np.array([label[part] for label in self.labels_])
            same = names[None, 1:] == names[labels][:, None]
            result.append(np.clip((shares * same).sum(axis=1), 0, 1))
        spans, nuclearities, relations = (tuple(row.tolist()) for row in result)
        return Scores(spans=spans, nuclearities=nuclearities, relations=relations)

    def prune(self, threshold: float) -> None:
        """Drop weights smaller than a threshold, to make the model's file small."""
        for model in self.models_.values():
            model.prune(threshold)

    def state(self) -> State:
        """Return settings, labels and the weights of all models."""
        config = Config.of(self, self.labels_[1:], models=sorted(self.models_))
        arrays = {
            f"{name}/{key}": value.astype(np.float16) if value.dtype == np.float32 else value
            for name, model in self.models_.items()
            for key, value in model.arrays().items()
        }
        if self.reranker_ is not None:
            arrays |= self.reranker_.to_arrays()
        return State(config, arrays)

    @classmethod
    def from_state(cls, state: State, **options: Any) -> CodraParser:
        """Make it again; ``options`` replace settings."""
        settings = dict(state.config.settings)
        models = settings.pop("models")
        parser = cls(**{**settings, RELATIONS: state.config.relations, **options})
        parser.labels_ = [NOT_JOINED, *state.config.labels]
        for name in models:
            arrays = {
                key.partition("/")[2]: value
                for key, value in state.arrays.items()
                if key.partition("/")[0] == name
            }
            document = name.startswith("document")
            empty = parser._document_model(name) if document else parser._sentence_model(name)
            parser.models_[name] = empty.restore(arrays)
        if parser.settings.rerank:
            parser.reranker_ = Reranker.from_arrays(parser.labels_, state.arrays)
        return parser


def _nodes(
    model: DocumentModel, chart: Chart, edges: Sequence[int], joins: Sequence[tuple[int, int, int]]
) -> list[Node]:
    """Label the joins of a tree over units."""
    logs = model.log_probabilities(chart, chart.numbers(joins))
    labels = logs[:, 1:].argmax(axis=1) + 1
    return [
        Node(edges[i], edges[k], edges[j], int(label), tuple(row.tolist()))
        for (i, k, j), label, row in zip(joins, labels, logs, strict=True)
    ]


def _shifted(nodes: Sequence[Node], start: int) -> list[Node]:
    """Return nodes whose EDUs are counted from the given one on."""
    return [
        Node(node.start - start, node.split - start, node.end - start, node.label, node.logs)
        for node in nodes
    ]


def _roots(nodes: Sequence[Node]) -> dict[tuple[int, int], int]:
    """Return the labels of constituents."""
    return {(node.start, node.end): node.label for node in nodes}


def _edges(analyses: Sequence[Analysis], n: int) -> list[int]:
    """Return where the sub-trees of all sentences begin, and the end."""
    return [edge for analysis in analyses for edge in analysis.edges[:-1]] + [n]


def _relabelled(trees: list[tuple[float, list[Node]]], k: int) -> list[tuple[float, list[Node]]]:
    """Return the k best labelled trees, given the k best by their best labels.

    A labelled tree among the k best has its shape among these, as with its best labels the shape
    is at least as good.
    """
    found: list[tuple[float, int, list[tuple[int, int]]]] = []
    for number, (score, nodes) in enumerate(trees):
        # What changes, as places and labels, and what the changes cost.
        variants: list[tuple[float, list[tuple[int, int]]]] = [(score, [])]
        for place, node in enumerate(nodes):
            others = sorted(range(1, len(node.logs)), key=lambda label: -node.logs[label])[:k]
            options = [
                (node.logs[label] - node.score, [(place, label)] if label != node.label else [])
                for label in others
            ]
            variants = _merge(variants, options, k)
        found += [(value, -number, changes) for value, changes in variants]
    best = nlargest(k, found, key=lambda variant: variant[:2])
    result = []
    for value, number, changes in best:
        nodes = list(trees[-number][1])
        for place, label in changes:
            nodes[place] = nodes[place]._replace(label=label)
        result.append((value, nodes))
    return result


Part = TypeVar("Part")


def _merge(
    first: list[tuple[float, list[Part]]], second: list[tuple[float, list[Part]]], k: int
) -> list[tuple[float, list[Part]]]:
    """Return the k best pairs of two lists that are sorted, best first."""
    if len(second) == 1:
        score, nodes = second[0]
        return [(value + score, [*others, *nodes]) for value, others in first]
    # Pair (a, b) can be among the k best only if (a + 1) (b + 1) <= k.
    pairs = (
        (x[0] + y[0], a, b)
        for a, x in enumerate(first)
        for b, y in enumerate(second[: k // (a + 1)])
    )
    best = nlargest(k, pairs, key=lambda pair: (pair[0], -pair[1], -pair[2]))
    return [(score, [*first[a][1], *second[b][1]]) for score, a, b in best]
