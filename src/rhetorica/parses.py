"""A document with its discourse analysis: what readers and parsers return, what writers take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from rhetorica import convert
from rhetorica.convert import Convention, Tree, to_annotated, to_dependencies, to_rst
from rhetorica.document import Document
from rhetorica.errors import InvalidTree
from rhetorica.trees import AnnotatedTree, DepTree, Nuclearity, RSTTree

if TYPE_CHECKING:
    from rhetorica.evaluate.diff import Difference
    from rhetorica.nodes import EDU, Link, TreeNode, Within
    from rhetorica.salience import Method


class Likely(NamedTuple):
    """A label that a join could have, and how probable it is."""

    nuclearity: Nuclearity
    relation: str
    probability: float


@dataclass(frozen=True, slots=True)
class Scores:
    """Probabilities of a parse; a list that the parser does not give is empty.

    Per EDU: ``boundaries`` (that a unit starts there), ``heads`` (that it has its head),
    ``arc_relations`` (that the arc has its relation). Per join of the binary tree: ``spans``
    (that its range is a unit of the tree), ``nuclearities`` and ``relations``, and ``labels``: its
    likeliest labels, the best first, from parsers that are asked for k-best trees.
    """

    boundaries: tuple[float, ...] = ()
    heads: tuple[float, ...] = ()
    arc_relations: tuple[float, ...] = ()
    spans: tuple[float, ...] = ()
    nuclearities: tuple[float, ...] = ()
    relations: tuple[float, ...] = ()
    labels: tuple[tuple[Likely, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One entry of a k-best list: a tree and its score (higher is better)."""

    tree: RSTTree | DepTree
    score: float


@dataclass(frozen=True, repr=False)
class Parse:
    """A document and its discourse tree, whatever shape that was given in.

    To look around: `root` (nodes to walk), `units` (EDUs with what is known of them), `relations`,
    `summary`, `diff`; `print` shows the tree. ``source`` is the tree as it was read or predicted,
    or None where a document has EDUs only; the other shapes are derived when asked for. A parser
    adds ``scores`` and the ``kbest`` list. ``provenance`` says where the analysis comes from
    (parser, model, version).

    >>> from rhetorica import Document, Join, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained."])
    >>> parse = Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "cause"),)))
    >>> parse.edus
    ['It is wet', 'because it rained.']
    >>> parse.dependencies.heads
    (-1, 0)
    """

    document: Document
    source: Tree | None = None
    scores: Scores | None = None
    kbest: tuple[Candidate, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        n_edus = len(self.document.edus)
        if self.source is not None and self.source.n_edus != n_edus:
            raise InvalidTree(f"a tree over {self.source.n_edus} EDUs for a text with {n_edus}")
        for candidate in self.kbest:
            if candidate.tree.n_edus != n_edus:
                raise InvalidTree(f"a k-best tree over {candidate.tree.n_edus} of {n_edus} EDUs")
        if self.scores:
            self._check_scores(self.scores, n_edus)

    @staticmethod
    def _check_scores(scores: Scores, n_edus: int) -> None:
        for names, expected in (
            (("boundaries", "heads", "arc_relations"), n_edus),
            (("spans", "nuclearities", "relations", "labels"), max(0, n_edus - 1)),
        ):
            for name in names:
                if (got := len(getattr(scores, name))) not in (0, expected):
                    raise InvalidTree(f"{got} scores for {name}, expected {expected} or none")

    @property
    def edus(self) -> list[str]:
        """The texts of the EDUs."""
        return self.document.edu_texts

    @property
    def id(self) -> str:
        """The document's name."""
        return self.document.id

    @cached_property
    def tree(self) -> RSTTree:
        """The binary RST tree."""
        return to_rst(self._tree, units=self._units)

    @cached_property
    def annotated(self) -> AnnotatedTree:
        """The n-ary tree."""
        return to_annotated(self._tree, units=self._units)

    @cached_property
    def dependencies(self) -> DepTree:
        """The dependency tree, later nuclei hanging on the first (see `to_dependencies`)."""
        return self.dependencies_as("star")

    def dependencies_as(self, multinuclear: Convention) -> DepTree:
        """Return the dependency tree with the given convention for multinuclear relations."""
        return to_dependencies(self._tree, multinuclear=multinuclear)

    def relabel(self, mapping: convert.RelationMap) -> Parse:
        """Return the parse with other names of relations, see `rhetorica.convert.relabel`.

        Scores stay: where relations become one, the probability of a relation is at least that;
        those of likely labels are added up.
        """
        scores = self.scores
        if scores and scores.labels:
            labels = tuple(_merged(row, mapping) for row in scores.labels)
            scores = replace(scores, labels=labels)
        source = None if self.source is None else convert.relabel(self.source, mapping)
        kbest = (replace(one, tree=convert.relabel(one.tree, mapping)) for one in self.kbest)
        return replace(self, source=source, kbest=tuple(kbest), scores=scores)

    @property
    def text(self) -> str:
        """The document's text."""
        return self.document.text

    @cached_property
    def units(self) -> list[EDU]:
        """The EDUs with their places, heads, relations and scores."""
        from rhetorica.nodes import edus_of

        return edus_of(self)

    @cached_property
    def root(self) -> TreeNode | None:
        """The whole text as a node of the RST tree, to walk from; None for an empty text."""
        from rhetorica.nodes import root_of

        return root_of(self)

    def __len__(self) -> int:
        """How many EDUs there are."""
        return len(self.document.edus)

    def __bool__(self) -> bool:
        """Return True, also for an empty text."""
        return True

    def __iter__(self) -> Iterator[EDU]:
        return iter(self.units)

    def __getitem__(self, index: int) -> EDU:
        return self.units[index]

    def __repr__(self) -> str:
        shape = {AnnotatedTree: "RST tree", RSTTree: "RST tree", DepTree: "dependency tree"}
        tree = shape[type(self.source)] if self.source is not None else "no tree"
        by = f", {self.provenance['parser']}" if "parser" in self.provenance else ""
        size = f"{len(self)} EDU{'' if len(self) == 1 else 's'}"
        return f"<Parse {self.id or '(no name)'}: {size}, {tree}{by}>"

    def __str__(self) -> str:
        return self.to("tree") if self.source is not None else "\n".join(self.edus)

    def relations(self, pattern: str = "*", *, within: Within | None = None) -> list[Link]:
        """Return the relations whose name fits a pattern such as ``causal*``, with their nodes.

        ``within="sentence"`` (or "paragraph") keeps those whose parts stand in one.
        """
        from rhetorica.nodes import links

        return list(links(self.root, pattern, within=within)) if self.root else []

    def central(self, count: int, *, method: Method = "hirao") -> list[EDU]:
        """Return the most central EDUs, in text order (`rhetorica.salience` has the methods)."""
        from rhetorica.salience import central

        return [self.units[index] for index in central(self, count, method)]

    def summary(self, count: int = 3, *, method: Method = "hirao") -> str:
        """Return the text of the most central EDUs: those that are nucleus longest.

        ``method`` is "hirao" (depth in the dependency tree) or "marcu" (promotion in the RST tree).
        """
        return " ".join(edu.text for edu in self.central(count, method=method))

    def diff(self, other: Parse) -> list[Difference]:
        """Return where this analysis and another one of the same text differ."""
        from rhetorica.evaluate.diff import diff

        return diff(self, other)

    def tokenized(self) -> Parse:
        """Return it with tokens and syntax by Rhetorica's own front end, unless it has tokens.

        CoNLL-U and DISRPT's formats are made of them.

        >>> from rhetorica import Document
        >>> parse = Parse(Document.from_edus(["It rained."])).tokenized()
        >>> [token.tag for token in parse.document.tokens]
        ['PRP', 'VBD', '.']
        """
        from rhetorica.exports import tokenized

        return tokenized(self)

    def to(self, format: str) -> str:
        """Return the parse in a file format, drawn (svg, html, latex) or as an outline (tree).

        What is no text (png, pdf) is written by `save`.
        """
        from rhetorica.exports import to_text

        return to_text(self, format)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a file; its extension tells the format (.rs3, .json, .svg, .pdf, .tex, ...)."""
        from rhetorica.exports import save

        save(self, path)

    def show(self) -> None:
        """Print the tree; in a notebook, show the pictures."""
        from rhetorica.exports import show

        show(self)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a row for each EDU, as plain data."""
        from rhetorica.exports import to_dicts

        return to_dicts(self)

    def to_dataframe(self) -> Any:
        """Return a pandas table with a row for each EDU."""
        from rhetorica.exports import to_dataframe

        return to_dataframe(self)

    def to_networkx(self) -> Any:
        """Return the dependency tree as a networkx graph."""
        from rhetorica.exports import to_networkx

        return to_networkx(self)

    def to_nltk(self) -> Any:
        """Return the RST tree as an nltk tree."""
        from rhetorica.exports import to_nltk

        return to_nltk(self)

    def to_rs3(self) -> str:
        """Return the text of an ``.rs3`` file."""
        return self.to("rs3")

    def _repr_html_(self) -> str:
        """Show both trees in a notebook."""
        from rhetorica.render.html import notebook_html

        return notebook_html(self)

    def _repr_svg_(self) -> str | None:
        """Show the RST tree where only a picture will do."""
        from rhetorica.render.html import notebook_svg

        return notebook_svg(self)

    @property
    def _tree(self) -> Tree:
        if self.source is None:
            has = "EDUs but no tree" if self.document.edus else "no EDUs and no tree"
            raise InvalidTree(f"{self.id or 'this document'} has {has}")
        return self.source

    @property
    def _units(self) -> tuple[list[int], ...]:
        doc = self.document
        return tuple(
            units
            for known, units in (
                (doc.sentences, doc.edu_sentences()),
                (doc.paragraphs, doc.edu_paragraphs()),
            )
            if known
        )


def _merged(row: tuple[Likely, ...], name: convert.RelationMap) -> tuple[Likely, ...]:
    """Rename likely labels, and add up what has become one."""
    sums: dict[tuple[Nuclearity, str], float] = {}
    for nuclearity, relation, probability in row:
        label = nuclearity, name(relation)
        sums[label] = sums.get(label, 0.0) + probability
    best = sorted(sums.items(), key=lambda item: -item[1])
    return tuple(Likely(*label, total) for label, total in best)
