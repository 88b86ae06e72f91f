"""Lexical chains: nouns of a document that belong together, and how chains run through units.

Joty, Carenini & Ng (2015, section 4.1.4) follow Galley & McKeown (2003). Nouns and noun compounds
are looked up in WordNet. In the *lexical semantic relatedness graph* each is a node with all its
senses, and an edge joins senses of two nouns that are the same (repetition, synonymy), of which
one is a kind of the other (hypernymy), or which are kinds of the same (siblings; Galley & McKeown
only). First all nouns are disambiguated at once: the sense with the highest sum of edge weights
wins, the more frequent one of equals. Then only the edges between chosen senses stay, and what
hangs together by them is a chain. Nouns that WordNet does not have are repeated, nothing else.

The graph is never built. An edge weight depends on the relation and on how far apart the nouns
are, and both can be counted: for each synset the sentences of its nouns are kept sorted, so that
a sum over edges is a few look-ups. Time is O(n log n) in the nouns, however often one is repeated.

Chains become features by counting: those that start or end in a unit, run through it, skip it.
Counts for any two adjacent ranges come from tables that are made once for a document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhetorica.document import Document
from rhetorica.errors import InvalidDocument
from rhetorica.features.wordnet import Ancestry, Pos, load_wordnet, numbers_in
from rhetorica.languages import language_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CHAIN_FEATURES = tuple("spanning exclusive start1 start2 end1 end2 skip_both skip1 skip2".split())
"""What `ChainTable.between` counts, in the order of its columns."""

NEAR = 3
"""How many sentences apart the second column of weights reaches."""
_COMPOUND = 3
"""The most words of a noun compound that is looked up."""
_DENSE = 1024
"""Up to how many units a table with all pairs of places is the fastest way to count."""


class Weights(NamedTuple):
    """What an edge weighs: in one sentence, up to `NEAR` apart, in one paragraph, farther apart.

    No edge weighs more than one of a closer relation or of nouns that are nearer.
    """

    same: tuple[float, float, float, float]
    hypernym: tuple[float, float, float, float]
    sibling: tuple[float, float, float, float]

    def check(self) -> None:
        """Raise an error unless weights fall with distance and from relation to relation."""
        table = np.array(self, np.float64)
        if table.shape != (3, 4):
            raise ValueError(f"weights are {table.shape}: expected three relations, four distances")
        falling = (np.diff(table, axis=0) <= 0).all() and (np.diff(table, axis=1) <= 0).all()
        if not falling or table.min() < 0:
            raise ValueError(f"weights {self} must not be negative, nor rise from left or above")


FLAT = Weights((1.0,) * 4, (0.5,) * 4, (0.0,) * 4)
"""The weights of the example of Joty et al.: hypernymy half, distance and siblings ignored."""
GRADED = Weights((1.0, 1.0, 0.5, 0.5), (1.0, 0.5, 0.3, 0.3), (1.0, 0.3, 0.2, 0.0))
"""The weights of Galley & McKeown (2003, Table 1)."""


class Inventory(Protocol):
    """What is asked of a dictionary of senses; `WordNet` is one."""

    def synsets(self, lemma: str, pos: Pos, /) -> list[int]:
        """Return the senses of a lemma, the most frequent first."""
        ...

    def ancestry(self, synsets: Sequence[int], /) -> Ancestry:
        """Return what stands above synsets, with distances."""
        ...


@dataclass(frozen=True, slots=True)
class Chains:
    """The nouns of a document in text order, their senses, and the chains that they are in.

    ``tokens[i]`` is the (last) token of noun i; ``lemmas[i]`` how it was looked up; ``senses[i]``
    the synset that was chosen, -1 for a noun that WordNet does not have; ``chains[i]`` the number
    of its chain, -1 for a noun that is in none. Chains are numbered by their first noun.
    """

    tokens: Ints
    lemmas: tuple[str, ...]
    senses: Ints
    chains: Ints

    @property
    def count(self) -> int:
        """How many chains there are."""
        return int(self.chains.max(initial=-1)) + 1

    def words(self) -> list[list[str]]:
        """Return the lemmas of each chain."""
        found: list[list[str]] = [[] for _ in range(self.count)]
        for lemma, chain in zip(self.lemmas, self.chains.tolist(), strict=True):
            if chain >= 0:
                found[chain].append(lemma)
        return found


def lexical_chains(
    doc: Document,
    *,
    weights: Weights = GRADED,
    reach: int = 1,
    one_sense: bool = True,
    inventory: Inventory | None = None,
) -> Chains:
    """Find the lexical chains of a document with tags and lemmas.

    ``reach`` is how many steps up count as hypernymy. With ``one_sense`` all occurrences of a
    noun have one sense (Galley & McKeown), otherwise each has its own (Joty et al.). Another
    ``inventory`` of senses may take WordNet's place.

    >>> from rhetorica.document import Span, Token
    >>> words = "The car stopped . Its motorcar club sold one automobile".split()
    >>> tags = "DT NN VBD . PRP$ NN NN VBD CD NN".split()
    >>> tokens, at = [], 0
    >>> for word, tag in zip(words, tags, strict=True):
    ...     tokens.append(Token(at, at + len(word), lemma=word.lower(), tag=tag))
    ...     at += len(word) + 1
    >>> doc = Document(" ".join(words), tokens=tuple(tokens), sentences=(Span(0, 17), Span(18, 54)))
    >>> lexical_chains(doc).words()
    [['car', 'motorcar', 'automobile']]
    """
    weights.check()
    if reach < 1:
        raise ValueError(f"hypernyms {reach} steps up: expected at least 1")
    dictionary: Inventory = load_wordnet() if inventory is None else inventory
    nouns = _Nouns.of(doc, dictionary)
    senses = _Senses.of(nouns, dictionary, reach)
    chosen = _disambiguate(nouns, senses, weights, one_sense)
    chains = _components(nouns, senses, chosen, weights)
    synsets = senses.synsets[chosen]
    known = senses.known[chosen]
    lemmas = tuple(nouns.lemmas[number] for number in nouns.numbers.tolist())
    return Chains(nouns.tokens, lemmas, np.where(known, synsets, -1), chains)


class _Nouns(NamedTuple):
    """The occurrences of nouns: token, number of the lemma, sentence, range of the paragraph.

    ``first`` and ``last`` are the first sentence of the occurrence's paragraph and the one after
    its last.
    """

    lemmas: list[str]
    tokens: Ints
    numbers: Ints
    sentences: Ints
    first: Ints
    last: Ints
    n_sentences: int

    @classmethod
    def of(cls, doc: Document, dictionary: Inventory) -> _Nouns:
        vocabulary: dict[str, int] = {}
        tokens: list[int] = []
        numbers: list[int] = []
        sentence_of, paragraph_of = _layout(doc)
        for token, lemma in _find_nouns(doc, dictionary, sentence_of.tolist()):
            tokens.append(token)
            numbers.append(vocabulary.setdefault(lemma, len(vocabulary)))
        at = np.array(tokens, np.int64)
        sentences = sentence_of[at]
        n_sentences = int(sentence_of.max(initial=-1)) + 1
        paragraphs = np.zeros(n_sentences, np.int64)
        paragraphs[sentence_of[::-1]] = paragraph_of[::-1]
        return cls(
            list(vocabulary),
            at,
            np.array(numbers, np.int64),
            sentences,
            np.searchsorted(paragraphs, paragraphs[sentences], "left"),
            np.searchsorted(paragraphs, paragraphs[sentences], "right"),
            n_sentences,
        )

    def distance(self, a: Ints, b: Ints) -> Ints:
        """Return the column of the weights that two occurrences are apart."""
        apart = np.abs(self.sentences[a] - self.sentences[b])
        beyond = np.where(self.first[a] == self.first[b], 2, 3)
        return np.where(apart == 0, 0, np.where(apart <= NEAR, 1, beyond))

    def windows(self) -> tuple[Ints, Ints]:
        """Return first and last + 1 of the sentences in reach: each (column, occurrence)."""
        here, everything = self.sentences, np.zeros_like(self.sentences)
        starts = np.stack([here, here - NEAR, np.minimum(here - NEAR, self.first), everything])
        ends = np.stack([here, here + NEAR, np.maximum(here + NEAR, self.last - 1), everything]) + 1
        ends[3] = self.n_sentences
        return np.clip(starts, 0, self.n_sentences), np.clip(ends, 0, self.n_sentences)


def _layout(doc: Document) -> tuple[Ints, Ints]:
    """Return sentence and paragraph of each token; a paragraph is one of its first sentence."""
    offsets = np.array([token.start for token in doc.tokens], np.int64)

    def place(starts: Sequence[int]) -> Ints:
        found = np.searchsorted(np.array(starts, np.int64), offsets, "right") - 1
        return np.maximum(found, 0)

    sentences = place([span.start for span in doc.sentences])
    paragraphs = place([span.start for span in doc.paragraphs])
    return sentences, paragraphs


def _find_nouns(
    doc: Document, dictionary: Inventory, sentences: list[int]
) -> list[tuple[int, str]]:
    """Return the nouns of a document, compounds that the dictionary has as one: token, lemma."""
    if doc.tokens and not any(token.tag for token in doc.tokens):
        raise InvalidDocument(
            f"{doc.id or 'the document'} has tokens without tags, which lexical chains need: "
            "annotate it first"
        )
    words = [doc.form(token).lower() for token in doc.tokens]
    lemmas = [
        token.lemma.lower() if token.lemma else word
        for token, word in zip(doc.tokens, words, strict=True)
    ]
    names = language_of(doc).tags.nouns
    nouns = [token.tag in names for token in doc.tokens]
    known: dict[str, bool] = {}

    def knows(lemma: str) -> bool:
        if lemma not in known:
            known[lemma] = bool(dictionary.synsets(lemma, "n"))
        return known[lemma]

    found: list[tuple[int, str]] = []
    at = 0
    while at < len(nouns):
        if not nouns[at]:
            at += 1
            continue
        end = at + 1
        while (
            end < len(nouns)
            and nouns[end]
            and sentences[end] == sentences[at]
            and end - at < _COMPOUND
        ):
            end += 1
        end, lemma = _longest_known(words, lemmas, at, end, knows)
        if any(character.isalpha() for character in lemma):
            found.append((end - 1, lemma))
        at = end
    return found


def _longest_known(
    words: list[str], lemmas: list[str], start: int, end: int, knows: Callable[[str], bool]
) -> tuple[int, str]:
    """Return end and lemma of the longest compound from a noun on, or of the noun itself."""
    while end > start + 1:
        # As it stands before as its lemma: there are names with a plural.
        for last in (words[end - 1], lemmas[end - 1]):
            compound = "_".join([*words[start : end - 1], last])
            if knows(compound):
                return end, compound
        end -= 1
    lemma = lemmas[start]
    return end, words[start] if not knows(lemma) and knows(words[start]) else lemma


class _Senses(NamedTuple):
    """The senses of all lemmas, one after the other: rows.

    Row r is a sense of lemma ``lemmas[r]``; those of lemma i are ``starts[i]:starts[i + 1]``. A
    lemma that is not known has one row with a synset number of its own. ``above`` are all the
    hypernyms in reach; ``parents`` those one step up.
    """

    synsets: Ints
    lemmas: Ints
    starts: Ints
    known: NDArray[np.bool_]
    above: _Links
    parents: _Links

    @classmethod
    def of(cls, nouns: _Nouns, dictionary: Inventory, reach: int) -> _Senses:
        found = [dictionary.synsets(lemma, "n") for lemma in nouns.lemmas]
        counts = np.array([max(1, len(synsets)) for synsets in found], np.int64)
        known = np.repeat(np.array([bool(synsets) for synsets in found], bool), counts)
        real = [synset for synsets in found for synset in synsets]
        rows, above, distances = dictionary.ancestry(real)
        first_free = max([*real, *above.tolist()], default=-1) + 1
        synsets = np.arange(first_free, first_free + len(known))
        synsets[known] = real
        rows = np.flatnonzero(known)[rows]
        lemmas = np.repeat(np.arange(len(counts)), counts)
        starts = np.concatenate([[0], np.cumsum(counts)])
        in_reach = (distances >= 1) & (distances <= reach)
        return cls(
            synsets,
            lemmas,
            starts,
            known,
            _Links(rows[in_reach], above[in_reach]),
            _Links(rows[distances == 1], above[distances == 1]),
        )


class _Links(NamedTuple):
    """Rows of senses and a synset above each; a row may have several, or none."""

    rows: Ints
    synsets: Ints

    def of_nodes(self, node_rows: Ints) -> tuple[Ints, Ints]:
        """Return the links of nodes that have the given rows: positions of nodes, synsets above."""
        order = np.argsort(self.rows, kind="stable")
        rows = self.rows[order]
        starts = np.searchsorted(rows, node_rows, "left")
        ends = np.searchsorted(rows, node_rows, "right")
        nodes = np.repeat(np.arange(len(node_rows)), ends - starts)
        return nodes, self.synsets[order][numbers_in(starts, ends)]


class _Index:
    """For each synset the sentences in which it stands, to count those in a window."""

    def __init__(self, synsets: Ints, sentences: Ints, n_sentences: int) -> None:
        self._stride = n_sentences + 1
        self._keys = np.sort(synsets * self._stride + sentences)

    def count(self, synsets: Ints, starts: Ints, ends: Ints) -> Ints:
        """Count the occurrences of synsets in windows: (column, query)."""
        base = synsets * self._stride
        found = np.searchsorted(self._keys, base + ends)
        found -= np.searchsorted(self._keys, base + starts)
        return found


def _disambiguate(nouns: _Nouns, senses: _Senses, weights: Weights, one_sense: bool) -> Ints:
    """Return the row of the chosen sense of each occurrence."""
    starts, ends = senses.starts[nouns.numbers], senses.starts[nouns.numbers + 1]
    nodes = np.repeat(np.arange(len(nouns.tokens)), ends - starts)
    rows = numbers_in(starts, ends)
    edges = _count_edges(nouns, senses, nodes, rows)
    edges[:, 0] -= _edges_to_itself(senses)[:, rows]
    if one_sense:
        total = np.zeros((*edges.shape[:2], len(senses.synsets)), np.int64)
        for relation, column in np.ndindex(edges.shape[:2]):
            np.add.at(total[relation, column], rows, edges[relation, column])
        best = _first_best(_weigh(total, weights), senses.lemmas, len(nouns.lemmas))
        return np.asarray(best[nouns.numbers])
    best = _first_best(_weigh(edges, weights), nodes, len(nouns.tokens))
    return np.asarray(rows[best])


def _count_edges(nouns: _Nouns, senses: _Senses, nodes: Ints, rows: Ints) -> Ints:
    """Count the edges of nodes: (relation, window, node); windows hold those before them."""
    starts, ends = (window[:, nodes] for window in nouns.windows())
    own, sentences = senses.synsets[rows], nouns.sentences[nodes]
    size = nouns.n_sentences
    up_nodes, up = senses.above.of_nodes(rows)
    parent_nodes, parents = senses.parents.of_nodes(rows)
    same = _Index(own, sentences, size)
    below = _Index(up, sentences[up_nodes], size)
    children = _Index(parents, sentences[parent_nodes], size)
    counts = np.zeros((3, 4, len(rows)), np.int64)
    counts[0] = same.count(own, starts, ends)
    counts[1] = below.count(own, starts, ends)
    higher = same.count(up, starts[:, up_nodes], ends[:, up_nodes])
    brothers = children.count(parents, starts[:, parent_nodes], ends[:, parent_nodes])
    # Those with the very same synset are below each of its parents too, and no siblings.
    brothers -= counts[0][:, parent_nodes]
    for column in range(4):
        np.add.at(counts[1, column], up_nodes, higher[column])
        np.add.at(counts[2, column], parent_nodes, brothers[column])
    # A window holds the one before it; from now on columns are what each adds.
    counts[:, 1:] -= counts[:, :-1].copy()
    return counts


def _edges_to_itself(senses: _Senses) -> Ints:
    """Count what each row's counts owe to the other senses of the same noun, and to itself."""
    owed = np.zeros((3, len(senses.synsets)), np.int64)
    owed[0] = 1
    stride = int(max(senses.synsets.max(initial=0), senses.above.synsets.max(initial=0))) + 1
    keys = senses.lemmas * stride + senses.synsets
    order = np.argsort(keys, kind="stable")
    wanted = senses.lemmas[senses.above.rows] * stride + senses.above.synsets
    places = np.searchsorted(keys[order], wanted)
    places = np.minimum(places, len(order) - 1)
    there = keys[order][places] == wanted if len(order) else np.zeros(0, bool)
    np.add.at(owed[1], senses.above.rows[there], 1)
    np.add.at(owed[1], order[places[there]], 1)
    families = senses.lemmas[senses.parents.rows] * stride + senses.parents.synsets
    _, family, sizes = np.unique(families, return_inverse=True, return_counts=True)
    np.add.at(owed[2], senses.parents.rows, sizes[family] - 1)
    return owed


def _weigh(edges: Ints, weights: Weights) -> Floats:
    """Return the weight of the edges of each node, from counts (relation, column, node)."""
    total: Floats = np.einsum("rcn,rc->n", edges.astype(np.float64), np.array(weights))
    # Ties must stay ties, in whatever order sums are made.
    return total.round(9)


def _first_best(scores: Floats, groups: Ints, count: int) -> Ints:
    """Return the index of the first highest score of each group; groups are sorted, not empty."""
    order = np.lexsort((np.arange(len(scores)), -scores, groups))
    return order[np.searchsorted(groups[order], np.arange(count))]


def _components(nouns: _Nouns, senses: _Senses, chosen: Ints, weights: Weights) -> Ints:
    """Return the number of each occurrence's chain, -1 for one that is alone."""
    count = len(chosen)
    if not count:
        return np.zeros(0, np.int64)
    pairs = [
        _near(nouns, _neighbours(senses.synsets[chosen]), weights.same),
        _near(nouns, _to_hypernyms(nouns, senses, chosen), weights.hypernym),
        _near(nouns, _to_siblings(senses, chosen), weights.sibling),
    ]
    a, b = np.concatenate(pairs, axis=1)
    sparse = import_module("scipy.sparse")
    graph = sparse.coo_matrix((np.ones(len(a), bool), (a, b)), shape=(count, count))
    _, labels = import_module("scipy.sparse.csgraph").connected_components(graph, directed=False)
    _, firsts, sizes = np.unique(labels, return_index=True, return_counts=True)
    numbers = np.full(len(firsts), -1, np.int64)
    kept = np.flatnonzero(sizes > 1)
    numbers[kept[np.argsort(firsts[kept])]] = np.arange(len(kept))
    return np.asarray(numbers[labels])


def _near(nouns: _Nouns, pairs: Ints, weights: tuple[float, ...]) -> Ints:
    """Keep the pairs of occurrences (2 x n) that are near enough for an edge with a weight."""
    return pairs[:, np.array(weights)[nouns.distance(*pairs)] > 0]


def _neighbours(keys: Ints) -> Ints:
    """Pair each occurrence with the next one with the same key.

    Those that are near each other have only near ones in between, so this joins what all pairs
    would join.
    """
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    return np.stack([order[same], order[same + 1]])


def _to_hypernyms(nouns: _Nouns, senses: _Senses, chosen: Ints) -> Ints:
    """Pair each occurrence with the nearest ones, before and after, of what it is a kind of."""
    own = senses.synsets[chosen]
    order = np.argsort(own, kind="stable")
    stride = len(chosen) + 1
    keys = own[order] * stride + order
    nodes, above = senses.above.of_nodes(chosen)
    places = np.searchsorted(keys, above * stride + nodes)
    found = []
    for step in (-1, 0):
        at = np.clip(places + step, 0, len(order) - 1)
        there = own[order[at]] == above
        found.append(np.stack([nodes[there], order[at[there]]]))
    return np.concatenate(found, axis=1)


def _to_siblings(senses: _Senses, chosen: Ints) -> Ints:
    """Pair each occurrence with the next one below the same hypernym."""
    nodes, parents = senses.parents.of_nodes(chosen)
    return nodes[_neighbours(parents)]


@dataclass(frozen=True, slots=True)
class ChainTable:
    """Where the chains of a document stand, in units (EDUs or sentences), ready to be counted."""

    n_units: int
    _starts: Ints
    _ends: Ints
    _hits: Ints
    _gaps: Ints
    _extents: _Corners
    _repeats: _Corners
    _jumps: _Corners

    @classmethod
    def of(cls, chains: ArrayLike, units: ArrayLike, n_units: int) -> ChainTable:
        """Make the table of elements: the chain of each (-1 for none) and the unit it stands in."""
        chain, unit = np.asarray(chains, np.int64), np.asarray(units, np.int64)
        if chain.shape != unit.shape or chain.ndim != 1:
            raise ValueError(f"{chain.shape} chains for {unit.shape} units: expected one for each")
        if len(unit) and not 0 <= unit.min() <= unit.max() < n_units:
            raise ValueError(f"units are numbers from 0 to {n_units - 1}")
        kept = chain >= 0
        pairs = np.unique(np.stack([chain[kept], unit[kept]]), axis=1)
        chain, unit = pairs
        new = np.ones(len(chain) + 1, bool)
        new[1:-1] = chain[1:] != chain[:-1]
        starts, ends = unit[new[:-1]], unit[new[1:]]
        follows = np.flatnonzero(~new[:-1])
        before = np.full(len(unit), -1, np.int64)
        before[follows] = unit[follows - 1]
        froms, tos = before[follows], unit[follows]
        return cls(
            n_units,
            _prefix(starts, n_units),
            _prefix(ends, n_units),
            _prefix(unit, n_units),
            _prefix(froms, n_units),
            _Corners.of(starts, ends, n_units),
            _Corners.of(before + 1, unit, n_units + 1),
            _Corners.of(froms, tos, n_units),
        )

    @classmethod
    def by_edu(cls, doc: Document, chains: Chains) -> ChainTable:
        """Make the table of a document with EDUs as its units."""
        starts = [edu.start for edu in doc.edus]
        offsets = [doc.tokens[token].start for token in chains.tokens.tolist()]
        units = np.searchsorted(np.array(starts, np.int64), np.array(offsets, np.int64), "right")
        return cls.of(chains.chains, np.maximum(units - 1, 0), len(starts))

    def between(self, start: ArrayLike, split: ArrayLike, end: ArrayLike) -> Ints:
        """Count the chains of adjacent ranges of units: (pair, feature), see `CHAIN_FEATURES`.

        Pair p is ``start[p]:split[p]`` and ``split[p]:end[p]``. Columns (Joty et al. 2015,
        Table 1): chains that stand in both; that start in the first and end in the second; that
        start in either; that end in either; that skip both; that skip either. A chain skips a
        range where it has elements before and after, none inside.

        >>> table = ChainTable.of([0, 0, 1, 1], [0, 3, 1, 2], 4)
        >>> dict(zip(CHAIN_FEATURES, table.between([1], [2], [3])[0].tolist()))["skip_both"]
        1
        """
        i, k, j = (np.atleast_1d(np.asarray(part, np.int64)) for part in (start, split, end))
        if len(i) and not (i.min() >= 0 and (i < k).all() and (k < j).all()):
            raise ValueError("ranges must be start < split < end")
        if len(j) and j.max() > self.n_units:
            raise ValueError(f"a range ends at {j.max()}, but there are {self.n_units} units")
        columns = (
            self._hitting(i, k) + self._hitting(k, j) - self._hitting(i, j),
            self._within(i, j) - self._within(i, k) - self._within(k, j),
            self._starts[k] - self._starts[i],
            self._starts[j] - self._starts[k],
            self._ends[k] - self._ends[i],
            self._ends[j] - self._ends[k],
            self._skipping(i, j),
            self._skipping(i, k),
            self._skipping(k, j),
        )
        return np.stack(columns, axis=1)

    def _hitting(self, a: Ints, b: Ints) -> Ints:
        """Count the chains with an element in a:b, by the first such element of each."""
        return self._repeats.below(a + 1, b) - self._hits[a]

    def _within(self, a: Ints, b: Ints) -> Ints:
        """Count the chains that start and end in a:b."""
        return self._ends[b] - self._extents.below(a, b)

    def _skipping(self, a: Ints, b: Ints) -> Ints:
        """Count the chains that have an element before a, the next at b or after."""
        return self._gaps[a] - self._jumps.below(a, b)


def _prefix(places: Ints, size: int) -> Ints:
    """Return how many places are below each number from 0 to size."""
    return np.concatenate([[0], np.cumsum(np.bincount(places, minlength=size))])


@dataclass(frozen=True, slots=True)
class _Corners:
    """Count the points (x, y) with x < a and y < b, for many (a, b) at once.

    With few places, from a table of all sums. With many, from a wavelet tree laid out as a
    matrix (see Navarro 2014): the points by x, sorted again and again by one bit of y, with the
    number of zeros up to each.
    """

    table: Ints
    zeros: tuple[Ints, ...]

    @classmethod
    def of(cls, xs: Ints, ys: Ints, size: int) -> _Corners:
        """Count points whose places are below ``size``."""
        if size <= _DENSE:
            table = np.zeros((size + 1, size + 1), np.int64)
            np.add.at(table, (xs + 1, ys + 1), 1)
            return cls(table.cumsum(axis=0).cumsum(axis=1), ())
        values = ys[np.argsort(xs, kind="stable")]
        zeros = []
        for bit in range(size.bit_length() - 1, -1, -1):
            ones = (values >> bit & 1).astype(bool)
            zeros.append(np.concatenate([[0], np.cumsum(~ones)]))
            values = np.concatenate([values[~ones], values[ones]])
        return cls(_prefix(xs, size), tuple(zeros))

    def below(self, a: Ints, b: Ints) -> Ints:
        """Count for each a and b."""
        if not self.zeros:
            return np.asarray(self.table[a, b])
        left, right = np.zeros_like(a), self.table[a]
        found = np.zeros_like(a)
        for bit, zeros in zip(range(len(self.zeros) - 1, -1, -1), self.zeros, strict=True):
            left0, right0 = zeros[left], zeros[right]
            up = (b >> bit & 1).astype(bool)
            found += np.where(up, right0 - left0, 0)
            left = np.where(up, zeros[-1] + left - left0, left0)
            right = np.where(up, zeros[-1] + right - right0, right0)
        return found
