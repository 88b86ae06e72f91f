"""WordNet for features: senses of words, what is a kind of what, how alike words and EDUs are.

The nouns and verbs of WordNet 3.0 ship with the package (under WordNet's own licence, which lies
beside the file; ``scripts/build_wordnet.py`` makes it). Five measures of similarity are those of
NLTK, which Li et al. (2014, section 4.1, feature type 6) use:

- ``path``: 1 / (1 + edges on the shortest path between two senses);
- ``wup``: 2 d / (2 d + edges from either sense to their deepest common hypernym, of depth d);
- ``res``: the information content of the most informative common hypernym;
- ``jcn``: 1 / (the information of both senses that is not that of this hypernym);
- ``lin``: the share of the information of both senses that is.

A synset is a number. Verbs have many roots, above which ``path`` and ``wup`` see one more, as in
NLTK. Information content is -log of a synset's share of the tags in SemCor, each synset having one
tag more than it was found to have, so that none is infinite. Two things differ from NLTK: ``wup``
is the better of NLTK's two values where these depend on the order of the senses, and a sense
compared with itself gives 1 (NLTK gives less where a sense has hypernyms of unequal depth).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module, resources
from itertools import chain
from typing import Any, Literal, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from rhetorica.document import Document
from rhetorica.errors import InvalidDocument, ModelError, UnknownName

Pos = Literal["n", "v"]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

POS: tuple[Pos, ...] = ("n", "v")
MEASURES = ("path", "wup", "res", "jcn", "lin")

SENSES = 2
"""Senses of a word that count where EDUs are compared; see ``edu_similarities``."""

_CELLS = 500_000
"""Pairs of senses that are compared at once: bounds memory, and suits a processor's cache."""
_PAIRS = 50_000
"""Pairs of EDUs whose words are compared at once."""


class Ancestry(NamedTuple):
    """What stands above some synsets, themselves included, as three columns.

    ``synsets[i]`` stands ``distances[i]`` edges (by the shortest way) above the synset at
    position ``rows[i]`` of those that were asked for.
    """

    rows: Ints
    synsets: Ints
    distances: Ints


class WordNet:
    """The nouns and verbs of WordNet: lemmas, their senses, and the hypernyms of these.

    Lemmas are in lower case, their words joined by underscores; lookups take any case, and
    spaces. ``pos`` is "n" or "v".

    >>> wordnet = load_wordnet()
    >>> dog, *others = wordnet.synsets("dog", "n")
    >>> wordnet.name(dog), len(others)
    ('dog.n.01', 6)
    >>> [wordnet.name(synset) for synset in wordnet.hypernyms(dog)]
    ['canine.n.02', 'domestic_animal.n.01']
    """

    def __init__(self, arrays: dict[Pos, dict[str, NDArray[Any]]]) -> None:
        def join(name: str) -> NDArray[Any]:
            return np.concatenate([arrays[pos][name] for pos in POS])

        lists = [arrays[pos]["lemmas"].tobytes().decode("ascii").split("\n") for pos in POS]
        nouns, self._n_nouns = len(lists[0]), len(arrays["n"]["min_depths"])
        self._lemmas = list(chain.from_iterable(lists))
        self._lemma_index: dict[Pos, dict[str, int]] = {
            "n": dict(zip(lists[0], range(nouns), strict=True)),
            "v": dict(zip(lists[1], range(nouns, len(self._lemmas)), strict=True)),
        }
        self._sense_starts = _starts(join("sense_counts"))
        self._hypernym_starts = _starts(join("hypernym_counts"))
        self._senses, self._hypernyms, self._first_lemmas = (
            join(name).astype(np.int64) for name in ("senses", "hypernyms", "first_lemmas")
        )
        for column, verbs_from, by in (
            (self._senses, len(arrays["n"]["senses"]), self._n_nouns),
            (self._hypernyms, len(arrays["n"]["hypernyms"]), self._n_nouns),
            (self._first_lemmas, self._n_nouns, nouns),
        ):
            column[verbs_from:] += by
        self._min_depths = join("min_depths").astype(np.int64)
        self._max_depths = join("max_depths").astype(np.int64)
        self._information: Floats = np.concatenate([_information(arrays[pos]) for pos in POS])
        self._most_information: dict[Pos, float] = {
            "n": float(self._information[: self._n_nouns].max()),
            "v": float(self._information[self._n_nouns :].max()),
        }

    def synsets(self, lemma: str, pos: Pos) -> list[int]:
        """Return the senses of a lemma, the most frequent first; none if it is unknown."""
        index = self._index(pos).get(_normal(lemma))
        if index is None:
            return []
        found: list[int] = self._senses[slice(*self._sense_starts[index : index + 2])].tolist()
        return found

    def name(self, synset: int) -> str:
        """Return a synset's name as NLTK has it: a lemma, and which of its senses this is."""
        lemma, pos = self._lemmas[self._first_lemmas[synset]], self.pos(synset)
        return f"{lemma}.{pos}.{self.synsets(lemma, pos).index(synset) + 1:02}"

    def pos(self, synset: int) -> Pos:
        """Return a synset's part of speech."""
        return "n" if synset < self._n_nouns else "v"

    def hypernyms(self, synset: int) -> list[int]:
        """Return what a synset is a kind, or an instance, of."""
        found: list[int] = self._hypernyms[
            slice(*self._hypernym_starts[synset : synset + 2])
        ].tolist()
        return found

    def ancestry(self, synsets: Sequence[int] | Ints) -> Ancestry:
        """Return what stands above the given synsets, with distances; themselves included."""
        nodes = np.asarray(synsets, np.int64)
        rows = np.arange(len(nodes))
        found: list[Ancestry] = []
        while len(rows):
            found.append(Ancestry(rows, nodes, np.full(len(rows), len(found))))
            starts, ends = self._hypernym_starts[nodes], self._hypernym_starts[nodes + 1]
            rows = np.repeat(rows, ends - starts)
            nodes = self._hypernyms[numbers_in(starts, ends)]
        if not found:
            return Ancestry(rows, nodes, rows)
        rows, nodes, distances = (np.concatenate(column) for column in zip(*found, strict=True))
        # The first of equals is kept, and that is the nearest: columns go upwards.
        _, kept = np.unique(rows * len(self._min_depths) + nodes, return_index=True)
        return Ancestry(rows[kept], nodes[kept], distances[kept])

    def information(self, synset: int) -> float:
        """Return a synset's information content, in nats."""
        return float(self._information[synset])

    def synset_similarities(self, first: Sequence[int], second: Sequence[int]) -> Floats:
        """Compare synsets of one part of speech: an array (measure, first, second).

        Figures are NLTK's; ``jcn`` of a sense with itself is infinite.
        """
        a, b = np.asarray(first, np.int64), np.asarray(second, np.int64)
        nouns = np.concatenate([a, b]) < self._n_nouns
        if nouns.any() and not nouns.all():
            raise ValueError("synsets to compare must be all nouns or all verbs")
        return self._compare(a, b, "n" if nouns.any() else "v")

    def lemma_similarities(
        self,
        first: Sequence[str],
        second: Sequence[str],
        pos: Pos,
        *,
        senses: int | None = None,
        raw: bool = False,
    ) -> Singles:
        """Compare lemmas: an array (measure, first, second) of figures from 0 to 1.

        The figure is that of the two most similar senses (Resnik 1995: words that stand near one
        another tend to be meant in senses that are), among the first ``senses`` senses of either
        lemma. Lemmas that WordNet does not know get 0. To make ``res`` and ``jcn`` fit between 0
        and 1, ``res`` is divided by the information of the rarest synset, and ``jcn`` = 1 / d,
        which is infinite for two equals, becomes 1 / (1 + d); ``raw`` leaves both as they are.

        >>> figures = load_wordnet().lemma_similarities(["dog"], ["cat", "idea"], "n")
        >>> for measure, (cat, idea) in zip(MEASURES, figures[:, 0]):
        ...     print(f"{measure:<4} {cat:.2f} {idea:.2f}")
        path 0.20 0.08
        wup  0.86 0.15
        res  0.51 0.00
        jcn  0.28 0.08
        lin  0.83 0.00
        """
        a, b = self._known(first, pos, senses), self._known(second, pos, senses)
        result = np.zeros((len(MEASURES), len(first), len(second)), np.float32)
        for block in a.blocks(_CELLS // max(1, len(b.synsets))) if len(b.places) else ():
            figures = self._compare(block.synsets, b.synsets, pos)
            best = np.maximum.reduceat(figures, block.starts, axis=1)
            best = np.maximum.reduceat(best, b.starts, axis=2)
            result[:, block.places[:, None], b.places] = best
        if not raw:
            result[MEASURES.index("res")] /= self._most_information[pos]
            with np.errstate(divide="ignore"):
                result[MEASURES.index("jcn")] = 1 / (1 + 1 / result[MEASURES.index("jcn")])
        return result

    def all_lemmas(self, pos: Pos) -> list[str]:
        """Return the lemmas of a part of speech, by alphabet."""
        return list(self._index(pos))

    def knows(self, lemma: str, pos: Pos) -> bool:
        """Tell whether a lemma has a sense with this part of speech."""
        return _normal(lemma) in self._index(pos)

    def _index(self, pos: Pos) -> dict[str, int]:
        if pos not in self._lemma_index:
            raise UnknownName("part of speech", pos, POS)
        return self._lemma_index[pos]

    def _known(self, lemmas: Sequence[str], pos: Pos, most: int | None) -> _Senses:
        """Look up lemmas and keep those that have senses, up to ``most`` each."""
        if most is not None and most < 1:
            raise ValueError(f"{most} senses of each lemma: expected at least 1, or None for all")
        index = self._index(pos)
        found = [index.get(_normal(lemma), -1) for lemma in lemmas]
        numbers = np.array(found, np.int64)
        places = np.flatnonzero(numbers >= 0)
        starts, ends = self._sense_starts[numbers[places]], self._sense_starts[numbers[places] + 1]
        if most is not None:
            ends = np.minimum(ends, starts + most)
        return _Senses(places, self._senses[numbers_in(starts, ends)], _starts(ends - starts)[:-1])

    def _above(self, synsets: Ints) -> _Above:
        ancestry = self.ancestry(synsets)
        return _Above.of(ancestry, self._ways(ancestry))

    def _ways(self, ancestry: Ancestry) -> Ints:
        """Return how far apart rows and what stands above them are, by any way.

        A synset with several hypernyms may be nearer to one that stands above it by way of a
        third, higher one; NLTK's ``wup`` takes that way.
        """
        rows, synsets, distances = ancestry
        hypernyms, places = np.unique(synsets, return_inverse=True)
        higher = self.ancestry(hypernyms)
        ends = _starts(np.bincount(higher.rows, minlength=len(hypernyms)))
        over = numbers_in(ends[places], ends[places + 1])
        counts = ends[places + 1] - ends[places]
        # Both ancestries are sorted by row and then synset.
        size = len(self._min_depths)
        wanted = np.repeat(rows, counts) * size + higher.synsets[over]
        lengths = distances[np.searchsorted(rows * size + synsets, wanted)] + higher.distances[over]
        return np.minimum.reduceat(lengths, _starts(counts)[:-1]) if len(lengths) else lengths

    def _compare(self, a: Ints, b: Ints, pos: Pos) -> Floats:
        """Compare synsets by all measures: an array (measure, a, b)."""
        edges, wup, shared = self._common_hypernyms(a, b, rooted=pos == "v")
        info_a, info_b = self._information[a][:, None], self._information[b]
        total = info_a + info_b
        apart = total - 2 * shared
        with np.errstate(divide="ignore", invalid="ignore"):
            jcn, lin = 1 / apart, 2 * shared / total
        # A root has no information, hence nothing that could be shared: NLTK's rule.
        jcn[(info_a == 0) | (info_b == 0)] = 0
        same = a[:, None] == b
        jcn[same], lin[same], wup[same] = np.inf, 1, 1
        return np.stack([1 / (1 + edges), wup, shared, jcn, lin])

    def _common_hypernyms(self, a: Ints, b: Ints, *, rooted: bool) -> tuple[Floats, Floats, Floats]:
        """Return, for each pair, edges on the shortest path, ``wup`` and the shared information.

        Every common hypernym updates the block of pairs that stand below it. Going down (and, at
        one depth, back through the alphabet), what is written last for ``wup`` is the hypernym
        that NLTK picks. An additional root comes before all real ones in NLTK's alphabet.
        """
        above_a, above_b = self._above(a), self._above(b)
        edges, wup = np.full((len(a), len(b)), np.inf), np.zeros((len(a), len(b)))
        shared = np.zeros((len(a), len(b)))
        if rooted:
            edges = above_a.heights(len(a))[:, None] + above_b.heights(len(b)) + 2.0
            wup = 2 / (2 + edges)
        common = np.intersect1d(above_a.synsets, above_b.synsets, assume_unique=True)
        levels = self._min_depths[common]
        for level in np.unique(levels).tolist():
            themselves = []
            for synset in common[levels == level][::-1].tolist():
                rows, row_edges, row_ways = above_a.below(synset)
                columns, column_edges, column_ways = above_b.below(synset)
                block = rows[:, None], columns
                edges[block] = np.minimum(edges[block], row_edges[:, None] + column_edges)
                shared[block] = np.maximum(shared[block], self._information[synset])
                twice = 2.0 * (self._max_depths[synset] + 1)
                figures = twice / (twice + (row_ways[:, None] + column_ways))
                if level > 0 or not rooted:
                    wup[block] = figures
                if row_edges.min() == 0 or column_edges.min() == 0:
                    either = (row_edges[:, None] == 0) | (column_edges == 0)
                    themselves.append((block, np.where(either, figures, 0)))
            # Of hypernyms at one depth, NLTK prefers the first of the two senses themselves.
            for block, figures in themselves:
                wup[block] = np.maximum(wup[block], figures)
        return edges, wup, shared


class _Senses(NamedTuple):
    """The senses of lemmas one after the other; those of lemma ``places[i]`` from ``starts[i]``."""

    places: Ints
    synsets: Ints
    starts: Ints

    def blocks(self, most: int) -> Iterator[_Senses]:
        """Cut into blocks of whole lemmas with about ``most`` synsets each."""
        ends = np.append(self.starts[1:], len(self.synsets))
        first = 0
        while first < len(self.places):
            start = self.starts[first]
            last = max(first + 1, int(np.searchsorted(ends, start + most, "right")))
            synsets = self.synsets[start : ends[last - 1]]
            yield _Senses(self.places[first:last], synsets, self.starts[first:last] - start)
            first = last


class _Above(NamedTuple):
    """An ancestry sorted by what stands above: each synset's range of rows and distances.

    ``ways`` are the lengths of shortest paths of any shape, which may go over a synset above.
    """

    synsets: Ints
    ranges: dict[int, slice]
    rows: Ints
    distances: Ints
    ways: Ints

    @classmethod
    def of(cls, ancestry: Ancestry, ways: Ints) -> _Above:
        rows, above, distances = ancestry
        order = np.argsort(above, kind="stable")
        synsets, starts = np.unique(above[order], return_index=True)
        ends = np.append(starts[1:], len(order))
        slices = map(slice, starts.tolist(), ends.tolist())
        ranges = dict(zip(synsets.tolist(), slices, strict=True))
        return cls(synsets, ranges, *(column[order] for column in (rows, distances, ways)))

    def below(self, synset: int) -> tuple[Ints, Ints, Ints]:
        """Return the rows below a synset, how far they are going up, and by any way."""
        where = self.ranges[synset]
        return self.rows[where], self.distances[where], self.ways[where]

    def heights(self, count: int) -> Ints:
        """Return how far the farthest ancestor of each row is."""
        heights = np.zeros(count, np.int64)
        np.maximum.at(heights, self.rows, self.distances)
        return heights


@cache
def load_wordnet() -> WordNet:
    """Load the WordNet that ships with the package; later calls return the same object."""
    file = resources.files("rhetorica") / "data" / "wordnet" / "wordnet.npz"
    try:
        with file.open("rb") as stream, np.load(stream) as arrays:
            loaded = dict(arrays)
    except (OSError, ValueError, BadZipFile, zlib.error) as error:
        raise ModelError(f"{file}: cannot read WordNet ({error}): reinstall rhetorica") from error
    prefixes: dict[Pos, str] = {"n": "noun_", "v": "verb_"}
    return WordNet(
        {
            pos: {
                name.removeprefix(prefix): column
                for name, column in loaded.items()
                if name.startswith(prefix)
            }
            for pos, prefix in prefixes.items()
        }
    )


def edu_similarities(
    doc: Document,
    pairs: Sequence[tuple[int, int]] | Ints | None = None,
    *,
    senses: int | None = SENSES,
) -> Singles:
    """Compare EDUs by the nouns and verbs in them: an array (measure, EDU, EDU), symmetric.

    With ``pairs`` of EDUs, an array (measure, pair): its cost is linear in them, where a document
    is too long for all pairs.

    Li et al. (2014, section 4.1): words of two EDUs are matched one to one so that the sum of
    their similarities is highest, and the similarity of the EDUs is the average over the matches,
    by each measure for itself. Nouns are matched with nouns and verbs with verbs; words that
    WordNet does not have are left out; where nothing can be matched the figure is 0. Figures of
    words are those of ``WordNet.lemma_similarities``, from 0 to 1.

    The paper does not say which sense of a word it takes. Only the first ``senses`` are looked at
    (None: all): over GUM's development documents, an EDU is by ``res`` more like its head than
    like another EDU at most four away in 56 % of the cases with one, two or three senses, in 54 %
    with all (the other measures differ less), and all take several times as long.

    >>> from rhetorica.document import Span, Token
    >>> tokens = (Token(0, 4, lemma="dog", tag="NNS"), Token(5, 9, lemma="bark", tag="VBP"),
    ...           Token(10, 14, lemma="cat", tag="NNS"), Token(15, 18, lemma="meow", tag="VBP"))
    >>> doc = Document("Dogs bark cats mew", edus=(Span(0, 9), Span(10, 18)), tokens=tokens)
    >>> figures = edu_similarities(doc)
    >>> figures.shape, [f"{figure:.2f}" for figure in figures[:, 0, 1]]
    ((5, 2, 2), ['0.20', '0.60', '0.25', '0.16', '0.41'])
    """
    words = _edu_words(doc)
    count = len(doc.edus)
    if pairs is not None:
        wanted = np.asarray(pairs, np.int64).reshape(-1, 2)
        if ((wanted < 0) | (wanted >= count)).any():
            raise ValueError(f"pairs of EDUs must be numbers from 0 to {count - 1}")
        return _pair_similarities(words, wanted, senses)
    rows, columns = np.triu_indices(count)
    result = np.empty((len(MEASURES), count, count), np.float32)
    figures = _pair_similarities(words, np.stack([rows, columns], axis=1), senses)
    result[:, rows, columns] = result[:, columns, rows] = figures
    return result


class _Words(NamedTuple):
    """The words of each EDU with one part of speech, as numbers of lemmas, one after the other."""

    pos: Pos
    lemmas: list[str]
    numbers: Ints
    starts: Ints
    counts: Ints


def _edu_words(doc: Document) -> list[_Words]:
    """Return the nouns and the verbs of each EDU that WordNet knows."""
    if doc.edus and not any(token.tag and token.lemma for token in doc.tokens):
        raise InvalidDocument(
            f"{doc.id or 'the document'} has no tokens with tags and lemmas, which comparing EDUs "
            "by WordNet needs: annotate it first"
        )
    edus = doc.edu_tokens()
    return [_words_of(doc, edus, pos) for pos in POS]


def _words_of(doc: Document, edus: Sequence[range], pos: Pos) -> _Words:
    wordnet, initial = load_wordnet(), pos.upper()
    vocabulary: dict[str, int] = {}
    numbers: list[int] = []
    counts: list[int] = []
    for tokens in edus:
        before = len(numbers)
        for index in tokens:
            token = doc.tokens[index]
            if token.tag.startswith(initial) and wordnet.knows(token.lemma, pos):
                numbers.append(vocabulary.setdefault(_normal(token.lemma), len(vocabulary)))
        counts.append(len(numbers) - before)
    lengths = np.array(counts, np.int64)
    return _Words(pos, list(vocabulary), np.array(numbers, np.int64), _starts(lengths), lengths)


def _pair_similarities(words: Sequence[_Words], pairs: Ints, senses: int | None) -> Singles:
    """Compare pairs of EDUs, as many at once as memory likes: an array (measure, pair)."""
    result = np.zeros((len(MEASURES), len(pairs)), np.float32)
    for start in range(0, len(pairs), _PAIRS):
        block = pairs[start : start + _PAIRS]
        sums = np.zeros((len(MEASURES), len(block)), np.float32)
        matches = np.zeros(len(block), np.float32)
        for column in words:
            _add_matches(column, block, senses, sums, matches)
        result[:, start : start + _PAIRS] = sums / np.maximum(matches, 1)
    return result


def _add_matches(
    words: _Words, pairs: Ints, senses: int | None, sums: Singles, matches: Singles
) -> None:
    """Match the words of pairs of EDUs, and add the weights and the number of matches."""
    filled = np.flatnonzero(words.counts[pairs].min(axis=1))
    if not len(filled):
        return
    pairs = pairs[filled]
    firsts, seconds = (_Side.of(words, edus) for edus in pairs.T)
    weights = load_wordnet().lemma_similarities(
        firsts.lemmas, seconds.lemmas, words.pos, senses=senses
    )
    shapes = words.counts[pairs]
    order = np.lexsort(shapes.T)
    cuts = np.flatnonzero(np.diff(shapes[order], axis=0).any(axis=1)) + 1
    for group in np.split(order, cuts):
        height, width = shapes[group[0]].tolist()
        rows = firsts.numbers[words.starts[pairs[group, 0]][:, None] + np.arange(height)]
        columns = seconds.numbers[words.starts[pairs[group, 1]][:, None] + np.arange(width)]
        sums[:, filled[group]] += best_matching(weights[:, rows[:, :, None], columns[:, None, :]])
        matches[filled[group]] += min(height, width)


class _Side(NamedTuple):
    """The lemmas on one side of some pairs, and all words of the document as numbers of these."""

    lemmas: list[str]
    numbers: Ints

    @classmethod
    def of(cls, words: _Words, edus: Ints) -> _Side:
        used = np.unique(edus)
        starts, ends = words.starts[used], words.starts[used + 1]
        kept = np.unique(words.numbers[numbers_in(starts, ends)])
        numbers = np.zeros(len(words.lemmas), np.int64)
        numbers[kept] = np.arange(len(kept))
        return cls([words.lemmas[number] for number in kept], numbers[words.numbers])


def best_matching(weights: Singles, *, enumerate_up_to: int = 6) -> Singles:
    """Return the weights of the best one-to-one matchings: (..., rows, columns) to (...).

    Every row is matched with a column of its own (or the other way round, where there are more
    rows). Many small problems are solved together, by the best way to have matched each subset of
    rows with the columns so far; those with more than ``enumerate_up_to`` rows one by one.

    >>> best_matching(np.array([[3, 2, 0], [2, 0, 0]], np.float32)).item()
    4.0
    """
    if weights.shape[-2] > weights.shape[-1]:
        weights = weights.swapaxes(-2, -1)
    few, many = weights.shape[-2:]
    if few == 1:
        return np.asarray(weights.max(axis=(-2, -1)))
    if few > enumerate_up_to:
        return assign_one_by_one(weights)
    best = [
        np.full(weights.shape[:-2], 0 if rows == 0 else -np.inf, np.float32)
        for rows in range(2**few)
    ]
    rows_of = [[row for row in range(few) if rows >> row & 1] for rows in range(2**few)]
    for column in range(many):
        # Larger subsets first: what they build on has not yet used this column.
        for rows in range(2**few - 1, 0, -1):
            if len(rows_of[rows]) <= column + 1:
                for row in rows_of[rows]:
                    without = best[rows ^ (1 << row)]
                    np.maximum(best[rows], without + weights[..., row, column], out=best[rows])
    return best[-1]


def assign_one_by_one(weights: Singles) -> Singles:
    """Return what ``best_matching`` does, from scipy."""
    # Imported where it is needed: scipy takes longer to load than WordNet.
    assign = import_module("scipy.optimize").linear_sum_assignment
    result = np.empty(weights.shape[:-2], np.float32)
    for index in np.ndindex(result.shape):
        result[index] = weights[index][assign(weights[index], maximize=True)].sum()
    return result


def _normal(lemma: str) -> str:
    return lemma.lower().replace(" ", "_")


def _information(arrays: dict[str, NDArray[Any]]) -> Floats:
    frequencies = arrays["frequencies"].astype(np.float64)
    shares = frequencies / frequencies[arrays["min_depths"] == 0].sum()
    information: Floats = np.abs(np.log(shares))
    return information


def _starts(counts: NDArray[Any]) -> Ints:
    """Return where each of some ranges that follow one another starts, and where the last ends."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def numbers_in(starts: Ints, ends: Ints) -> Ints:
    """Return the numbers in all the given ranges, one after the other."""
    counts = ends - starts
    offsets = np.repeat(starts - _starts(counts)[:-1], counts)
    return np.arange(len(offsets)) + offsets
