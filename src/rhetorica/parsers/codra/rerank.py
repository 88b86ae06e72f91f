"""Choose among the k best trees of a sentence by what can be seen in a whole tree only.

The article leaves reranking to future work (section 6.4.4): its Table 7 shows that the best of 30
trees of a sentence is far better than the first. Here a log-linear model (Charniak & Johnson 2005)
sees each candidate whole: the base model's log-probability and how far the list as a whole agrees
with a candidate; depth, branching and balance; relations with the relations above, below and
before them; connectives; and, as nuclearity gives every unit a head EDU, whether heads of units
hang on each other as the syntax has it.

Lists to learn from must be honest: made by models that have not seen their sentences. Otherwise
the base model's probabilities look better than they will ever be. `folds` cuts the documents.

Training moves the probability of a list's candidates towards the better ones: the target is
proportional to exp(``sharpness`` times the candidate's gain), the gain being the mean of the four
RST-Parseval figures (span, nuclearity, relation, both).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.decode import Bracketing
from rhetorica.errors import ModelError
from rhetorica.evaluate.parseval import FIGURES, constituents, match
from rhetorica.features.edus import hashed, run_starts
from rhetorica.learn.hashing import MIX, Vocabulary, mix
from rhetorica.learn.lbfgs import minimise
from rhetorica.parsers.codra.examples import Lessons
from rhetorica.parsers.codra.features import Facts
from rhetorica.parsers.codra.sentence import SentenceModel
from rhetorica.parsers.codra.stages import LONGEST, Analysis, parse_kbest
from rhetorica.parsers.codra.units import runs
from rhetorica.parsers.codra.workshop import Workshop
from rhetorica.trees import NUCLEARITIES, Join, Label, RSTTree

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Progress = Callable[[int, float], None]

CUES = ("connective", "first", "tag", "last", "headtag", "headrel", "verbs")
"""The attributes of EDUs (see `rhetorica.features.edus`) that a reranker looks at."""

K = 10
"""How many trees of a sentence to choose among."""

_BITS = 20
_SIZES = np.array([1, 2, 3, 4, 6, 10])


@dataclass(frozen=True, slots=True)
class KBestList:
    """The k best trees of the EDUs from ``start`` on, best first.

    Trees count EDUs from the first of the list; their labels are numbers of the parser's labels
    (0, "not joined", is never one).
    """

    start: int
    n_edus: int
    trees: tuple[Bracketing, ...]

    def __post_init__(self) -> None:
        if not self.trees:
            raise ValueError("a list of trees is empty: expected at least the best tree")
        for tree in self.trees:
            joins = max(0, self.n_edus - 1)
            if len(tree.joins) != joins or len(tree.labels) != joins:
                raise ValueError(
                    f"{len(tree.joins)} joins with {len(tree.labels)} labels: {self.n_edus} EDUs "
                    f"have {joins}"
                )

    @classmethod
    def of(cls, analyses: Sequence[Analysis]) -> KBestList:
        """Make a list of the k best analyses of a sentence."""
        start, end = analyses[0].edges[0], analyses[0].edges[-1]
        trees = tuple(
            Bracketing(
                [(node.start - start, node.split - start, node.end - start) for node in one.nodes],
                one.score,
                [node.label for node in one.nodes],
            )
            for one in analyses
        )
        return cls(start, end - start, trees)


@dataclass(frozen=True, slots=True)
class Cues:
    """What is known of a document's EDUs: columns of hashes, and which EDU each hangs on."""

    columns: Mapping[str, Ints]
    dominators: Ints

    @classmethod
    def from_facts(cls, facts: Facts) -> Cues:
        """Take the cues from what the parser knows of a document already."""
        return cls({name: facts.attributes[name] for name in CUES}, facts.dominators)


def folds(count: int, number: int) -> list[Ints]:
    """Deal documents to folds, in turn, so that every fold has some of each genre in a row.

    >>> [fold.tolist() for fold in folds(5, 2)]
    [[0, 2, 4], [1, 3]]
    """
    return [np.arange(first, count, number) for first in range(min(number, count))]


@dataclass
class Reranker:
    """A log-linear model of the candidates of a list; learned by `fit`.

    ``labels`` are the parser's, by number.
    """

    labels: Sequence[Label]
    _: KW_ONLY
    l2: float = 40.0
    sharpness: float = 15.0
    min_count: int = 3
    iterations: int = 100

    def fit(
        self,
        documents: Iterable[tuple[Cues, Sequence[KBestList]]],
        golds: Iterable[Sequence[Bracketing]],
        *,
        progress: Progress | None = None,
    ) -> Reranker:
        """Learn from lists of documents, and the right tree of each list.

        Lists with one candidate, or none better than another, teach nothing and may be left out.
        """
        from scipy.sparse import csr_matrix

        tables, gains = [], []
        for (cues, lists), trees in zip(documents, golds, strict=True):
            if lists:
                tables.append(tabulate(cues, lists, self.labels))
                gains += [
                    gain for pair in zip(lists, trees, strict=True) for gain in self._gains(*pair)
                ]
        if not tables:
            raise ModelError("no lists of candidates to learn from")
        owners = _consecutive([table.owners for table in tables])
        dense = np.concatenate([table.dense for table in tables])
        hashes = np.concatenate([table.hashes.reshape(-1) for table in tables])
        self.hashes_ = Vocabulary.counted(hashes, _BITS, min_count=self.min_count).hashes
        self.scale_ = np.maximum(dense.std(axis=0), 1e-6)
        entries = [
            self._known(table, first)
            for table, first in zip(tables, _firsts([len(t.owners) for t in tables]), strict=True)
        ]
        rows, columns = (np.concatenate(part) for part in zip(*entries, strict=True))
        shape = (len(dense), len(self.hashes_))
        matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
        target, sizes = self._target(np.array(gains), owners, dense)
        self._learn(matrix, dense / self.scale_, owners, target, sizes, progress)
        return self

    def log_probabilities(self, cues: Cues, lists: Sequence[KBestList]) -> list[Floats]:
        """Return how probable each candidate of lists of one document is, within its list."""
        if not lists:
            return []
        table = tabulate(cues, lists, self.labels)
        rows, columns = self._known(table)
        scores = (table.dense / self.scale_) @ self.dense_weights_
        scores += np.bincount(rows, weights=self.weights_[columns], minlength=len(scores))
        logs = _log_shares(scores, table.owners)
        ends = np.cumsum([len(entry.trees) for entry in lists])
        return list(np.split(logs, ends[:-1]))

    def orders(self, cues: Cues, lists: Sequence[KBestList]) -> list[list[tuple[int, float]]]:
        """Return the places of the candidates of each list, the best first, with their logs."""
        found = []
        for logs in self.log_probabilities(cues, lists):
            order = np.argsort(-logs, kind="stable")
            found.append(list(zip(order.tolist(), logs[order].tolist(), strict=True)))
        return found

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what was learned as plain arrays; weights of zero are left out."""
        kept = np.flatnonzero(np.abs(self.weights_) > 1e-4)
        return {
            "rerank_hashes": self.hashes_[kept],
            "rerank_weights": self.weights_[kept].astype(np.float32),
            "rerank_dense": (self.dense_weights_ / self.scale_).astype(np.float32),
        }

    @classmethod
    def from_arrays(
        cls, labels: Sequence[Label], arrays: Mapping[str, npt.NDArray[Any]]
    ) -> Reranker:
        """Read what `to_arrays` gave."""
        found = cls(labels)
        try:
            found.hashes_ = arrays["rerank_hashes"]
            found.weights_ = arrays["rerank_weights"].astype(np.float64)
            found.dense_weights_ = arrays["rerank_dense"].astype(np.float64)
        except KeyError as error:
            raise ModelError(f"the reranker lacks {error}: train it again") from error
        if len(found.dense_weights_) != len(DENSE):
            raise ModelError(
                f"{len(found.dense_weights_)} weights for {len(DENSE)} figures of a tree: "
                "train the reranker again"
            )
        found.scale_ = np.ones(len(DENSE))
        return found

    def _known(self, table: Table, first: int = 0) -> tuple[Ints, Ints]:
        """Return the features that have weights: their candidates (from ``first``), their rows."""
        hashes = self.hashes_.astype(np.int64)
        places = np.minimum(np.searchsorted(hashes, table.hashes), max(0, len(hashes) - 1))
        known = hashes[places] == table.hashes if len(hashes) else np.zeros(places.shape, bool)
        rows = np.broadcast_to(table.candidates[:, None], places.shape)[known]
        return rows + first, places[known]

    def _gains(self, entry: KBestList, gold: Bracketing) -> list[float]:
        target = as_tree(gold, entry.n_edus, self.labels)
        trees = (as_tree(tree, entry.n_edus, self.labels) for tree in entry.trees)
        return [gain(target, tree) for tree in trees]

    def _target(self, gains: Floats, owners: Ints, dense: Floats) -> tuple[Floats, Floats]:
        """Return the share that each candidate should have, and how much each list counts."""
        starts = _starts(owners)
        best = np.maximum.reduceat(gains, starts)[owners]
        raw = np.exp(self.sharpness * (gains - best))
        shares = raw / np.add.reduceat(raw, starts)[owners]
        return shares, dense[starts, DENSE.index("joins")]

    def _learn(
        self,
        matrix: Any,
        dense: Floats,
        owners: Ints,
        target: Floats,
        sizes: Floats,
        progress: Progress | None,
    ) -> None:
        width = matrix.shape[1]
        start = np.zeros(width + dense.shape[1])
        # Nothing but the base model's own ranking is where learning starts, and returns to.
        start[width + DENSE.index("score")] = self.scale_[DENSE.index("score")]
        transposed = matrix.T.tocsr()

        def objective(point: Floats) -> tuple[float, Floats]:
            logs = _log_shares(matrix @ point[:width] + dense @ point[width:], owners)
            away = point - start
            loss = -(sizes[owners] * target * logs).sum() + self.l2 * float(away @ away)
            slope = sizes[owners] * (np.exp(logs) - target)
            gradient = np.concatenate([transposed @ slope, dense.T @ slope])
            return float(loss), gradient + 2 * self.l2 * away

        found = minimise(objective, start, iterations=self.iterations, progress=progress)
        self.weights_, self.dense_weights_ = found[:width], found[width:]


class Lists(NamedTuple):
    """The k best lists of documents' sentences, with what is known of the EDUs and right trees."""

    documents: list[tuple[Cues, list[KBestList]]]
    golds: list[list[Bracketing]]


def fit_reranker(shop: Workshop, model: SentenceModel, *, k: int = K) -> Reranker:
    """Train a reranker of the lists of a model inside sentences; see `honest_lists`."""
    lists = honest_lists(shop, model, k=k)
    return Reranker(shop.lessons.labels).fit(lists.documents, lists.golds)


def honest_lists(shop: Workshop, model: SentenceModel, *, k: int = K, number: int = 3) -> Lists:
    """List the trees of sentences by models like the given one that have not seen them.

    For each of ``number`` folds of a workshop's documents a model is trained on the others.
    """
    # Lexical chains are features across sentences only.
    lessons = replace(shop.lessons, chains=None)
    found: dict[int, tuple[tuple[Cues, list[KBestList]], list[Bracketing]]] = {}
    for fold in folds(len(lessons.parses), number):
        held = set(fold.tolist())
        others = [parse for at, parse in enumerate(lessons.parses) if at not in held]
        trained = replace(shop, lessons=replace(lessons, parses=others)).sentence(replace(model))
        part = replace(lessons, parses=[lessons.parses[at] for at in fold])
        made = sentence_lists(part, trained, k=k)
        for at, document, trees in zip(fold.tolist(), made.documents, made.golds, strict=True):
            found[at] = (document, trees)
    order = [found[at] for at in range(len(lessons.parses))]
    return Lists([one for one, _ in order], [trees for _, trees in order])


def sentence_lists(lessons: Lessons, model: SentenceModel, *, k: int = K) -> Lists:
    """List the k best trees of each sentence that has several EDUs and one gold tree."""
    found = Lists([], [])
    for parse, facts in zip(lessons.parses, lessons.facts, strict=True):
        ranges, golds = gold_sentences(parse.tree, facts, lessons)
        lists = [KBestList.of(analyses) for analyses in parse_kbest(model, facts, ranges, k)]
        found.documents.append((Cues.from_facts(facts), lists))
        found.golds.append(golds)
    return found


def gold_sentences(
    tree: RSTTree, facts: Facts, lessons: Lessons
) -> tuple[list[tuple[int, int]], list[Bracketing]]:
    """Return the EDU ranges of sentences that have a gold tree of their own, and these trees.

    Leaky sentences have none; those of one EDU, or more than the parser takes whole, are left out.
    """
    index = {label: number for number, label in enumerate(lessons.labels)}
    inside: dict[int, list[Join]] = {}
    for join in tree.joins:
        if facts.sentences[join.start] == facts.sentences[join.end - 1]:
            inside.setdefault(int(facts.sentences[join.start]), []).append(join)
    ranges, golds = [], []
    for start, end in runs(facts.sentences.tolist()):
        joins = inside.get(int(facts.sentences[start]), [])
        labels = [index.get(join.label, 0) for join in joins]
        if 1 < end - start <= LONGEST and len(joins) == end - start - 1 and all(labels):
            places = [(join.start - start, join.split - start, join.end - start) for join in joins]
            ranges.append((start, end))
            golds.append(Bracketing(places, 0.0, labels))
    return ranges, golds


def gain(gold: RSTTree, pred: RSTTree) -> float:
    """Return the mean of the four RST-Parseval figures of a tree, 1 for a tree of one EDU."""
    if gold.n_edus < 2:
        return 1.0
    bounds = range(gold.n_edus + 1)
    target, found = (constituents(tree, bounds, variant="rst") for tree in (gold, pred))
    counts = match(target, found)
    return sum(counts.figure(figure).f1 for figure in FIGURES) / len(FIGURES)


def as_tree(tree: Bracketing, n_edus: int, labels: Sequence[Label]) -> RSTTree:
    """Return a labelled bracketing as a tree."""
    pairs = zip(tree.joins, tree.labels, strict=True)
    return RSTTree.from_joins(n_edus, [Join(*place, *labels[label]) for place, label in pairs])


class Table(NamedTuple):
    """The features of candidates.

    ``hashes`` has a row for each join, whose candidate is in ``candidates``; ``dense`` the figures
    of each candidate, ``owners`` its list.
    """

    hashes: Ints
    candidates: Ints
    dense: Floats
    owners: Ints


DENSE = tuple(
    "score first behind joins depth right_branching left_branching imbalance span_consensus "
    "label_consensus nuclearity_consensus multinuclear left_satellites heads_agree "
    "heads_disagree".split()
)
"""The figures of a whole tree."""


def tabulate(cues: Cues, lists: Sequence[KBestList], labels: Sequence[Label]) -> Table:
    """Compute the features of all candidates of a document's lists."""
    flat = _Flat.of(lists)
    # The label for "not joined" has no nuclearity, and is never asked for it.
    patterns = {str(pattern): number for number, pattern in enumerate((*NUCLEARITIES, ""))}
    nuclearity = np.array([patterns[label.nuclearity] for label in labels], np.int64)
    shape = _Shape.of(flat, nuclearity[flat.labels])
    values = _values(flat, shape, cues, nuclearity)
    hashes = np.stack([_hash(name, values) for name in TEMPLATES], axis=1)
    return Table(hashes, flat.candidates, _figures(flat, shape, values), flat.owners)


class _Flat(NamedTuple):
    """All joins of all candidates: EDU numbers of the document, labels, candidate of each.

    Per candidate: the list that owns it, its rank and score.
    """

    starts: Ints
    splits: Ints
    ends: Ints
    labels: Ints
    candidates: Ints
    owners: Ints
    ranks: Ints
    scores: Floats

    @classmethod
    def of(cls, lists: Sequence[KBestList]) -> _Flat:
        trees = [tree for entry in lists for tree in entry.trees]
        joins = np.array([join for tree in trees for join in tree.joins], np.int64).reshape(-1, 3)
        sizes = [len(tree.joins) for tree in trees]
        counts = [len(entry.trees) for entry in lists]
        candidates = np.repeat(np.arange(len(trees)), sizes)
        owners = np.repeat(np.arange(len(lists)), counts)
        firsts = np.array([entry.start for entry in lists], np.int64)[owners]
        starts, splits, ends = (joins + firsts[candidates][:, None]).T
        return cls(
            starts,
            splits,
            ends,
            np.array([label for tree in trees for label in tree.labels], np.int64),
            candidates,
            owners,
            np.arange(len(trees)) - np.repeat(np.cumsum(counts) - counts, counts),
            np.array([tree.score for tree in trees], np.float64),
        )


class _Shape(NamedTuple):
    """How joins hang together: numbers of the joins above and below (-1: none), heads, heights.

    ``sides`` tells which part of its parent a join is (1 left, 2 right, 0 the whole); ``nuclei``
    and ``satellites`` are the head EDUs of the two parts, for two nuclei in text order.
    """

    parents: Ints
    sides: Ints
    left: Ints
    right: Ints
    nuclei: Ints
    satellites: Ints
    heights: Ints
    depths: Ints

    @classmethod
    def of(cls, flat: _Flat, nuclearity: Ints) -> _Shape:
        count = len(flat.starts)
        size = int(flat.ends.max(initial=0)) + 1
        keys = (flat.candidates * size + flat.starts) * size + flat.ends
        order = np.argsort(keys)

        def find(starts: Ints, ends: Ints) -> Ints:
            wanted = (flat.candidates * size + starts) * size + ends
            places = np.minimum(np.searchsorted(keys[order], wanted), count - 1)
            return np.where(keys[order][places] == wanted, order[places], -1) if count else wanted

        left, right = find(flat.starts, flat.splits), find(flat.splits, flat.ends)
        parents, sides = np.full(count, -1, np.int64), np.zeros(count, np.int64)
        for side, children in ((1, left), (2, right)):
            inner = np.flatnonzero(children >= 0)
            parents[children[inner]] = inner
            sides[children[inner]] = side
        # One entry more, for the parts that are single EDUs.
        heads, heights = np.zeros((2, count), np.int64), np.zeros(count + 1, np.int64)
        tops, depths = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
        widths = flat.ends - flat.starts
        by_width = np.argsort(widths, kind="stable")
        levels = np.split(by_width, np.flatnonzero(np.diff(widths[by_width])) + 1)
        for level in levels:
            heads[0, level] = np.where(left[level] < 0, flat.starts[level], tops[left[level]])
            heads[1, level] = np.where(right[level] < 0, flat.splits[level], tops[right[level]])
            tops[level] = np.where(nuclearity[level] == 1, heads[1, level], heads[0, level])
            heights[level] = 1 + np.maximum(heights[left[level]], heights[right[level]])
        for level in reversed(levels):
            depths[level] = np.where(parents[level] < 0, 1, depths[parents[level]] + 1)
        nuclei, satellites = np.where(nuclearity == 1, heads[::-1], heads)
        return cls(parents, sides, left, right, nuclei, satellites, heights[:-1], depths[:-1])


def _values(flat: _Flat, shape: _Shape, cues: Cues, nuclearity: Ints) -> dict[str, Ints]:
    """Return the attributes that templates combine, one value a join."""
    # The last entry is for joins that are not there.
    label = np.append(flat.labels, 0)
    pattern = np.append(nuclearity[flat.labels] + 1, 0)
    above = np.append(shape.parents, -1)
    nuclei, satellites = shape.nuclei, shape.satellites
    over_nucleus, over_satellite = (
        cues.dominators[edus] if len(edus) else edus for edus in (nuclei, satellites)
    )
    agree = np.where(over_satellite == nuclei, 1, np.where(over_nucleus == satellites, 2, 0))
    together = (agree == 0) & (over_satellite == over_nucleus) & (over_nucleus >= 0)
    before = np.arange(len(flat.labels)) - 1
    starts_tree = run_starts(flat.candidates)
    sizes = [
        np.searchsorted(_SIZES, part, "right")
        for part in (flat.splits - flat.starts, flat.ends - flat.splits)
    ]

    def cue(name: str, edus: Ints) -> Ints:
        return cues.columns[name][edus] if len(edus) else edus

    return {
        "label": label[:-1],
        "pattern": pattern[:-1],
        "parent": label[shape.parents] * 3 + shape.sides,
        "grandparent": label[above[shape.parents]] if len(before) else before,
        "parent_pattern": pattern[shape.parents] * 3 + shape.sides,
        "left": label[shape.left],
        "right": label[shape.right],
        "left_pattern": pattern[shape.left],
        "right_pattern": pattern[shape.right],
        "previous": np.where(starts_tree, 0, label[before]),
        "sizes": sizes[0] * 8 + sizes[1],
        "height": np.minimum(shape.heights, 6),
        "depth": np.minimum(shape.depths, 6),
        "heads": np.where(together, 3, agree),
        "connective_left": cue("connective", flat.starts),
        "connective_right": cue("connective", flat.splits),
        "first_right": cue("first", flat.splits),
        "tag_left": cue("tag", flat.starts),
        "tag_right": cue("tag", flat.splits),
        "last_left": cue("last", flat.splits - 1),
        "last_right": cue("last", flat.ends - 1),
        "nucleus_tag": cue("headtag", nuclei),
        "satellite_tag": cue("headtag", satellites),
        "satellite_role": cue("headrel", satellites),
        "nucleus_role": cue("headrel", nuclei),
        "nucleus_verbs": cue("verbs", nuclei),
        "satellite_verbs": cue("verbs", satellites),
        "satellite_connective": cue("connective", satellites),
        "satellite_word": cue("first", satellites),
    }


TEMPLATES = (
    "label", "label parent", "label parent grandparent", "pattern parent_pattern",
    "pattern parent_pattern left_pattern right_pattern", "label left", "label right",
    "label left right", "label previous", "label parent previous", "label sizes", "pattern sizes",
    "sizes height", "label height", "label depth", "heads", "heads pattern", "heads label",
    "heads pattern sizes", "heads label satellite_role",
    "heads pattern satellite_role nucleus_role", "heads pattern satellite_tag nucleus_tag",
    "label satellite_role", "label nucleus_verbs satellite_verbs", "label satellite_connective",
    "label satellite_word", "label satellite_connective parent", "label connective_left",
    "label connective_right", "label connective_left connective_right",
    "label connective_right left", "label connective_right right", "pattern connective_right sizes",
    "label first_right heads", "label tag_left tag_right", "label last_left",
    "label last_left last_right", "pattern last_left sizes", "parent connective_left",
    "parent connective_right", "parent heads", "parent sizes",
)  # fmt: skip
"""The attributes of a join whose combinations are counted; see `_values`."""


def _hash(template: str, values: Mapping[str, Ints]) -> Ints:
    salt = hashed(template) * int(MIX)
    return mix(salt, [values[name] for name in template.split()], _BITS, shift=29)


def _figures(flat: _Flat, shape: _Shape, values: Mapping[str, Ints]) -> Floats:
    """Return the figures of candidates: (candidate, figure), in the order of `DENSE`."""
    count = len(flat.scores)
    starts = _starts(flat.owners)
    top = np.maximum.reduceat(flat.scores, starts)[flat.owners]
    weights = np.exp(flat.scores - top)
    weights /= np.add.reduceat(weights, starts)[flat.owners]

    def total(column: npt.NDArray[Any]) -> Floats:
        return np.bincount(flat.candidates, weights=column, minlength=count).astype(np.float64)

    def consensus(*parts: Ints) -> Floats:
        """Sum, over joins, the share of the list's probability that has the same join."""
        key = flat.owners[flat.candidates]
        for part in parts:
            key = key * (int(part.max(initial=0)) + 1) + part
        _, groups = np.unique(key, return_inverse=True)
        shares = np.bincount(groups, weights=weights[flat.candidates])
        return total(shares[groups]) if len(key) else np.zeros(count)

    ones = np.ones(len(flat.starts))
    depth = np.zeros(count)
    np.maximum.at(depth, flat.candidates, shape.depths)
    sizes = flat.splits - flat.starts, flat.ends - flat.splits
    columns = (
        flat.scores,
        flat.ranks == 0,
        flat.scores - top,
        total(ones),
        depth,
        total((shape.right >= 0) & (shape.left < 0)),
        total((shape.left >= 0) & (shape.right < 0)),
        total(np.abs(sizes[0] - sizes[1]) / np.maximum(1, sizes[0] + sizes[1])),
        consensus(flat.starts, flat.ends),
        consensus(flat.starts, flat.ends, flat.labels),
        consensus(flat.starts, flat.ends, values["pattern"]),
        total(values["pattern"] == 3),
        total(values["pattern"] == 2),
        total(values["heads"] == 1),
        total(values["heads"] == 2),
    )
    return np.stack([np.asarray(column, np.float64) for column in columns], axis=1)


def _log_shares(scores: Floats, owners: Ints) -> Floats:
    """Return the logarithms of candidates' shares of their lists."""
    starts = _starts(owners)
    below = scores - np.maximum.reduceat(scores, starts)[owners]
    return np.asarray(below - np.log(np.add.reduceat(np.exp(below), starts))[owners])


def _starts(owners: Ints) -> Ints:
    """Return where each run of equal numbers starts; numbers are sorted."""
    return np.flatnonzero(run_starts(owners))


def _consecutive(parts: Sequence[Ints]) -> Ints:
    """Give the lists of several documents numbers that go on from one to the next."""
    firsts = _firsts([int(part.max(initial=-1)) + 1 for part in parts])
    return np.concatenate([part + first for part, first in zip(parts, firsts, strict=True)])


def _firsts(sizes: Sequence[int]) -> list[int]:
    """Return the first number of each of some ranges that follow one another."""
    return (np.cumsum(sizes) - sizes).tolist()  # type: ignore[no-any-return]
