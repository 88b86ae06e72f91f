"""What a corpus is made of: sizes, relations inside and across sentences, forms of its trees.

These are the tables by which the papers describe their corpora: Li et al. (2014), section 5.1,
Tables 1 and 2 (how often each relation labels an arc), and Joty et al. (2015), Figure 3
(relations inside sentences and between them) and section 4.3 ("leaky" sentences).

All numbers are counts, or are computed from counts, so that the statistics of parts of a corpus
add up to those of the whole: ``corpus_statistics(a) + corpus_statistics(b)``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeAlias

from rhetorica.document import Document
from rhetorica.parses import Parse
from rhetorica.trees import NUCLEARITIES, DepTree, RSTTree

Row: TypeAlias = tuple[str | int | float, ...]


class Reach(NamedTuple):
    """How often something holds inside a sentence, and how often across.

    ``across_sentences`` means inside one paragraph or, where paragraphs are not known, anywhere;
    ``unknown`` counts what is in documents without sentences.
    """

    inside_sentence: int = 0
    across_sentences: int = 0
    across_paragraphs: int = 0
    unknown: int = 0

    @property
    def total(self) -> int:
        """How often it holds at all."""
        return sum(self)


class Table(NamedTuple):
    """Rows to print, with a title and the names of the columns."""

    title: str
    columns: tuple[str, ...]
    rows: list[Row]


def _counts() -> Any:
    return field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Statistics:
    """Counts over a corpus; add two to get those of both together.

    Words are tokens where a document has them (``documents_with_tokens``), else what stands
    between white space. A mapping from numbers to numbers tells how many documents (or arcs) have
    that size. ``arc_relations`` counts the dependency view, one relation for each EDU but the
    root, later nuclei hanging on the first. ``join_relations`` and ``nuclearities`` count the
    binary RST tree, one for each join; a join is inside a sentence if all its EDUs are. Of
    ``sentences_in_trees``, those that hold at least one EDU of a document with an RST tree,
    ``leaky_sentences`` have EDUs that are not one constituent of the binary tree.
    """

    documents: int = 0
    words: int = 0
    sentences: int = 0
    paragraphs: int = 0
    documents_with_tokens: int = 0
    documents_with_sentences: int = 0
    documents_with_paragraphs: int = 0
    dependency_trees: int = 0
    projective_trees: int = 0
    rst_trees: int = 0
    sentences_in_trees: int = 0
    leaky_sentences: int = 0
    document_sizes: Mapping[int, int] = _counts()
    arc_relations: Mapping[str, Reach] = _counts()
    join_relations: Mapping[str, Reach] = _counts()
    nuclearities: Mapping[str, int] = _counts()
    arc_lengths: Mapping[int, int] = _counts()
    dependency_depths: Mapping[int, int] = _counts()
    rst_depths: Mapping[int, int] = _counts()

    def __add__(self, other: Statistics) -> Statistics:
        if not isinstance(other, Statistics):
            return NotImplemented
        return _total([self, other])

    @property
    def edus(self) -> int:
        """How many EDUs there are."""
        return sum(size * count for size, count in self.document_sizes.items())

    @property
    def words_are(self) -> str:
        """What was counted as words: "tokens", "between white space" or "mixed"."""
        if self.documents_with_tokens == self.documents:
            return "tokens"
        return "mixed" if self.documents_with_tokens else "between white space"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data that JSON can hold."""
        data: dict[str, Any] = {"edus": self.edus, "words_are": self.words_are}
        for name in (entry.name for entry in fields(self)):
            value = getattr(self, name)
            if isinstance(value, Mapping):
                value = {
                    str(key): count._asdict() if isinstance(count, Reach) else count
                    for key, count in value.items()
                }
            data[name] = value
        data["edus_per_document"] = summary(self.document_sizes)
        return data

    def tables(self) -> list[Table]:
        """Return the tables that people want to see; parts that were not counted are left out."""
        tables = [Table("Corpus", ("what", "count"), self._overview())]
        sizes = [("EDUs per document", self.document_sizes), ("arc length", self.arc_lengths),
                 ("depth of dependency tree", self.dependency_depths),
                 ("depth of binary RST tree", self.rst_depths)]  # fmt: skip
        rows: list[Row] = [
            (name, *(round(value, 1) for value in summary(counts).values()))
            for name, counts in sizes
            if counts
        ]
        if rows:
            tables.append(Table("Sizes", ("what", "min", "mean", "median", "max"), rows))
        for title, relations in (
            ("Relations of arcs", self.arc_relations),
            ("Relations of joins", self.join_relations),
        ):
            if relations:
                tables.append(_relation_table(title, relations))
        if self.nuclearities:
            tables.append(_share_table("Nuclearity of joins", "nuclearity", self.nuclearities))
        if self.arc_lengths:
            tables.append(_share_table("Arc lengths", "EDUs", _binned(self.arc_lengths)))
        return tables

    def _overview(self) -> list[Row]:
        rows: list[Row] = [
            ("documents", self.documents),
            (f"words ({self.words_are})", self.words),
            *([("sentences", self.sentences)] if self.sentences else []),
            *([("paragraphs", self.paragraphs)] if self.paragraphs else []),
            ("EDUs", self.edus),
        ]
        if self.dependency_trees:
            rows += [
                ("dependency trees", self.dependency_trees),
                ("  of these projective", self.projective_trees),
            ]
        if self.rst_trees:
            rows.append(("RST trees", self.rst_trees))
        if self.sentences_in_trees:
            rows += [
                ("sentences in RST trees", self.sentences_in_trees),
                ("  of these leaky", self.leaky_sentences),
            ]
        return rows


def corpus_statistics(
    parses: Iterable[Parse], *, labels: Callable[[str], str] | None = None
) -> Statistics:
    """Count a corpus; ``labels`` maps each relation to the name under which it is counted.

    A document without a tree counts with its text only, a non-projective one with its
    dependencies but no joins.

    >>> from rhetorica import Join
    >>> doc = Document.from_edus(["It is wet", "because it rained."])
    >>> parse = Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "cause"),)))
    >>> corpus_statistics([parse, parse]).arc_relations["cause"].total
    2
    """
    return _total(document_statistics(parse, labels=labels) for parse in parses)


def document_statistics(parse: Parse, *, labels: Callable[[str], str] | None = None) -> Statistics:
    """Count one document."""
    doc = parse.document
    counts: dict[str, Any] = {
        "documents": 1,
        "words": len(doc.tokens) or len(doc.text.split()),
        "sentences": len(doc.sentences),
        "paragraphs": len(doc.paragraphs),
        "documents_with_tokens": int(bool(doc.tokens)),
        "documents_with_sentences": int(bool(doc.sentences)),
        "documents_with_paragraphs": int(bool(doc.paragraphs)),
        "document_sizes": {len(doc.edus): 1},
    }
    if parse.source is not None and doc.edus:
        name = labels or str
        reach = _reach_function(doc)
        counts |= _count_dependencies(parse.dependencies, reach, name)
        if counts["projective_trees"]:
            counts |= _count_joins(parse.tree, reach, name)
            counts |= _count_leaks(doc, parse.tree)
    return Statistics(**counts)


def summary(counts: Mapping[int, int]) -> dict[str, float]:
    """Return min, mean, median and max of numbers given as number -> how often.

    >>> summary({2: 1, 3: 2, 10: 1})
    {'min': 2, 'mean': 4.5, 'median': 3.0, 'max': 10}
    """
    total = sum(counts.values())
    if not total:
        return {"min": 0, "mean": 0.0, "median": 0.0, "max": 0}
    middle: list[int] = []
    seen = 0
    for number in sorted(counts):
        seen += counts[number]
        # The two middle ones; of an odd number of numbers they are the same.
        while len(middle) < 2 and seen > (total - 1 + len(middle)) // 2:
            middle.append(number)
    return {
        "min": min(counts),
        "mean": sum(number * count for number, count in counts.items()) / total,
        "median": sum(middle) / 2,
        "max": max(counts),
    }


_INSIDE, _SENTENCES, _PARAGRAPHS, _UNKNOWN = range(4)


def _reach_function(doc: Document) -> Callable[[int, int], int]:
    """Return a function from two EDUs to the field of `Reach` that counts them."""
    sentence = doc.edu_sentences() if doc.sentences else None
    paragraph = doc.edu_paragraphs() if doc.paragraphs else None

    def reach(one: int, other: int) -> int:
        if sentence and sentence[one] == sentence[other]:
            return _INSIDE
        if paragraph and paragraph[one] != paragraph[other]:
            return _PARAGRAPHS
        return _SENTENCES if sentence else _UNKNOWN

    return reach


def _count_dependencies(
    tree: DepTree, reach: Callable[[int, int], int], name: Callable[[str], str]
) -> dict[str, Any]:
    places: Counter[tuple[str, int]] = Counter()
    lengths: Counter[int] = Counter()
    for head, dependent, relation in tree.arcs():
        if head >= 0:
            places[name(relation), reach(head, dependent)] += 1
            lengths[abs(head - dependent)] += 1
    return {
        "dependency_trees": 1,
        "projective_trees": int(tree.is_projective()),
        "arc_relations": _reaches(places),
        "arc_lengths": lengths,
        "dependency_depths": {_dependency_depth(tree): 1},
    }


def _count_joins(
    tree: RSTTree, reach: Callable[[int, int], int], name: Callable[[str], str]
) -> dict[str, Any]:
    places: Counter[tuple[str, int]] = Counter()
    nuclearities: Counter[str] = Counter()
    for join in tree.joins:
        places[name(join.relation), reach(join.start, join.end - 1)] += 1
        nuclearities[join.nuclearity] += 1
    return {
        "rst_trees": 1,
        "join_relations": _reaches(places),
        "nuclearities": {key: nuclearities[key] for key in NUCLEARITIES if nuclearities[key]},
        "rst_depths": {_rst_depth(tree): 1},
    }


def _count_leaks(doc: Document, tree: RSTTree) -> dict[str, int]:
    """Count the sentences that are no constituent (Joty et al. 2015, section 4.3.2).

    An EDU belongs to the sentence in which it starts; a sentence with one EDU cannot leak.
    """
    if not doc.sentences:
        return {}
    constituents = {(join.start, join.end) for join in tree.joins}
    sentences = doc.edu_sentences()
    starts = [i for i, at in enumerate(sentences) if i == 0 or at != sentences[i - 1]]
    ranges = zip(starts, [*starts[1:], tree.n_edus], strict=True)
    leaky = sum(end - start > 1 and (start, end) not in constituents for start, end in ranges)
    return {"sentences_in_trees": len(starts), "leaky_sentences": leaky}


def _dependency_depth(tree: DepTree) -> int:
    """Return how many arcs lie between the root and the EDU farthest from it."""
    dependents = tree.dependents()
    level, depth = dependents[tree.root], 0
    while level:
        depth += 1
        level = [below for index in level for below in dependents[index]]
    return depth


def _rst_depth(tree: RSTTree) -> int:
    """Return how many joins lie on the longest way from the root to an EDU."""
    depths = {(0, tree.n_edus): 0}
    for join in tree.joins:  # in preorder: parents first
        below = depths[join.start, join.end] + 1
        for part in tree.children(join):
            depths[part] = below
    return max(depths.values())


def _reaches(places: Mapping[tuple[str, int], int]) -> dict[str, Reach]:
    rows: dict[str, list[int]] = {}
    for (relation, place), count in places.items():
        rows.setdefault(relation, [0] * len(Reach._fields))[place] += count
    return {relation: Reach(*row) for relation, row in rows.items()}


def _total(parts: Iterable[Statistics]) -> Statistics:
    """Add statistics up, field by field; the most frequent relation comes first."""
    numbers: Counter[str] = Counter()
    counts: dict[str, Counter[Any]] = {}
    names = [entry.name for entry in fields(Statistics)]
    for part in parts:
        for name in names:
            value = getattr(part, name)
            if isinstance(value, int):
                numbers[name] += value
                continue
            counter = counts.setdefault(name, Counter())
            for key, count in value.items():
                if isinstance(count, Reach):
                    for place, number in enumerate(count):
                        counter[key, place] += number
                else:
                    counter[key] += count
    result: dict[str, Any] = dict(numbers)
    for name, counter in counts.items():
        if name.endswith("_relations"):
            reaches = _reaches(counter)
            result[name] = dict(sorted(reaches.items(), key=lambda item: (-item[1].total, item[0])))
        else:
            result[name] = {key: counter[key] for key in sorted(counter)}
    return Statistics(**result)


def _relation_table(title: str, relations: Mapping[str, Reach]) -> Table:
    total = sum(reach.total for reach in relations.values())
    shown = [
        place
        for place in range(len(Reach._fields))
        if any(reach[place] for reach in relations.values())
    ]
    if shown == [_UNKNOWN]:
        shown = []  # without sentences there is nothing to tell
    columns = (
        "relation",
        "count",
        "%",
        *(Reach._fields[place].replace("_", " ") for place in shown),
    )
    rows: list[Row] = [
        (relation, reach.total, _percent(reach.total, total), *(reach[place] for place in shown))
        for relation, reach in relations.items()
    ]
    sums = [sum(reach[place] for reach in relations.values()) for place in shown]
    rows.append(("total", total, _percent(total, total), *sums))
    return Table(title, columns, rows)


def _share_table(title: str, what: str, counts: Mapping[str, int]) -> Table:
    total = sum(counts.values())
    rows: list[Row] = [(name, count, _percent(count, total)) for name, count in counts.items()]
    return Table(title, (what, "count", "%"), rows)


def _percent(count: int, total: int) -> float:
    return round(100 * count / total, 1) if total else 0.0


_BINS: Sequence[tuple[int, int | None]] = (
    (1, 1), (2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, 50), (51, None)
)  # fmt: skip


def _binned(counts: Mapping[int, int]) -> dict[str, int]:
    """Add up the counts of neighbouring numbers, coarser the larger they are."""
    bins: dict[str, int] = {}
    for least, most in _BINS:
        name = str(least) if least == most else f"{least}–{most}" if most else f"{least} or more"
        inside = (n for n in counts if least <= n and (most is None or n <= most))
        if number := sum(counts[n] for n in inside):
            bins[name] = number
    return bins
