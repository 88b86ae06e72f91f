"""DP-4: words, terms and keywords learned together (Cao, Li & Ji 2014), as the paper writes it.

Four levels of Dirichlet processes over word bigrams: base measure, corpus, domain, document. The
equations of section 2.2, with customers for counts (the paper seats nobody at tables):

1. p0(w) = n_s(w) / sum n_s, where n_s says how often the *string* w occurs in the texts
2. p1(w) = (n(w) + a0 p0(w)) / (n + a0)
3. p2(w|v) = (n_v(w) + a1 p1(w)) / (n_v + a1)
4. p3(w|v) = (n^m_v(w) + a2 p2(w|v)) / (n^m_v + a2), counted in domain m
5. t(w) = n^d_v(w) + sum over the K most similar documents k of s(d, k) n^k_v(w)
6. p4(w|v) = (t(w) + a3 p3(w|v)) / (t + a3)
7. TH(w) = p3(w) / p1(w), 8. KH(w) = p4(w) / p1(w), with unigrams of domain and document

As p0 is estimated from the texts themselves, documents borrow counts from one another and words
are frozen, this is no consistent joint distribution: `proper` has one that is, and is tested
against it. What is promised here is that each equation is computed as written.

A clause at a time is taken out of the counts and cut anew: by a draw (forward filtering, backward
sampling: Mochihashi et al. 2009, "sample") or by the best cut ("viterbi", as the paper's text has
it). Words whose TH or KH passes a threshold become terms and keywords; they stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rhetorica.decode.chain import best_segments, sample_segments
from rhetorica.errors import RhetoricaError, UnknownName
from rhetorica.kernels import compiled
from rhetorica.learn.tally import Tally, slot_of
from rhetorica.words.extract import may_join
from rhetorica.words.general import WordCounts
from rhetorica.words.lattice import ANY, Lattice

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Moves = Literal["sample", "viterbi"]
MOVES: tuple[Moves, ...] = get_args(Moves)
Rank = Literal["gain", "ratio"]
RANKS: tuple[Rank, ...] = get_args(Rank)


@dataclass(frozen=True, slots=True)
class Settings:
    """How DP-4 is fitted; ``alpha`` and ``neighbours`` are those of the paper.

    A word of two atoms or more becomes a term of a domain if it occurs ``term_count`` times there
    and TH is at least ``term_score``; a keyword of a document likewise by ``keyword_count`` and
    KH. Freezing begins after the first share ``settle`` of the sweeps; infinite scores freeze
    nothing. When it begins, neighbouring words become one term if their mutual information is at
    least ``join`` bits and the TH of one is at least ``join_score`` (the paper has terms of
    several words, but no step that makes them when their parts are known words; infinite: never).
    ``rank`` orders terms and keywords by TH and KH as they are ("ratio"), which ties all words that
    occur in one place only, or by frequency times their logarithm times the characters after the
    first, three at most ("gain"): what has a long name is seldom an everyday word.
    """

    alpha: tuple[float, float, float, float] = (20.0, 15.0, 15.0, 15.0)
    neighbours: int = 3
    decay: float = 6.0
    longest: int = 8
    sweeps: int = 6
    moves: Moves = "sample"
    settle: float = 0.5
    term_score: float = 3.0
    term_count: int = 5
    keyword_score: float = 20.0
    keyword_count: int = 3
    join: float = 5.0
    join_score: float = 1.5
    rank: Rank = "gain"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.moves not in MOVES:
            raise UnknownName("moves", self.moves, MOVES)
        if self.rank not in RANKS:
            raise UnknownName("rank", self.rank, RANKS)
        if len(self.alpha) != 4 or min(self.alpha) <= 0:
            raise RhetoricaError(f"alpha is {self.alpha}: expected four numbers above 0")
        for name in ("longest", "sweeps", "term_count", "keyword_count"):
            if getattr(self, name) < 1:
                raise RhetoricaError(f"{name} is {getattr(self, name)}: expected at least 1")
        if self.neighbours < 0:
            raise RhetoricaError(f"neighbours is {self.neighbours}: expected at least 0")


def base_measure(lattice: Lattice, decay: float = 0.0) -> Floats:
    """Return p0 of every string (equation 1), by its number.

    With a ``decay``, every atom after the first costs a string so much (as a logarithm).

    >>> lattice = Lattice(["红花红"], longest=2)  # 红 twice, 花, 红花, 花红 once, and one edge
    >>> base_measure(lattice)[lattice.numbers(["红", "红花"])].round(3).tolist()
    [0.333, 0.167]
    """
    lengths = lattice.length(np.arange(lattice.size)) - 1
    weights = lattice.frequency * np.exp(-decay * np.maximum(lengths, 0))
    return np.asarray(weights / max(1.0, weights.sum()))


class Neighbours(NamedTuple):
    """The most similar documents of each document, (documents, K), and how similar they are.

    Where there are fewer than K, a document's own number stands there, with similarity 0.
    """

    documents: Longs
    similarity: Floats

    @classmethod
    def of(cls, characters: Sequence[str], domains: Sequence[int], k: int) -> Neighbours:
        """Find them by character overlap, inside domains.

        The paper's ratio is open; here it is that of shared to all characters (types), Jaccard's.

        >>> found = Neighbours.of(["红花", "红叶", "蓝天", "红花"], [0, 0, 0, 1], 1)
        >>> found.documents[:, 0].tolist(), found.similarity[:, 0].round(2).tolist()
        ([1, 0, 2, 3], [0.33, 0.33, 0.0, 0.0])
        """
        n = len(characters)
        found = cls(np.tile(np.arange(n)[:, None], (1, k)), np.zeros((n, k)))
        groups: dict[int, list[int]] = {}
        for number, domain in enumerate(domains):
            groups.setdefault(domain, []).append(number)
        if not k:
            return found
        for members in groups.values():
            names = sorted({c for number in members for c in characters[number]})
            columns = {name: column for column, name in enumerate(names)}
            table = np.zeros((len(members), len(names)), np.float32)
            for row, number in enumerate(members):
                table[row, [columns[c] for c in set(characters[number])]] = 1
            sizes = table.sum(axis=1)
            for row, number in enumerate(members):
                shared = table @ table[row]
                likeness = shared / np.maximum(sizes + sizes[row] - shared, 1)
                likeness[row] = -1
                order = np.argsort(-likeness, kind="stable")[:k]
                for place, other in enumerate(order):
                    if likeness[other] > 0:
                        found.documents[number, place] = members[other]
                        found.similarity[number, place] = likeness[other]
        return found


@dataclass(frozen=True, slots=True)
class Scored:
    """A word of a domain or document, how often it occurs there and its TH or KH."""

    place: int
    word: int
    count: int
    score: float


class Sampler:
    """The words of texts as they are cut at present, all counts, and the moves.

    ``cuts[i]``: a word ends with atom i. ``held[i]`` is the length of the frozen word that begins
    at atom i, 0 for none.
    """

    def __init__(
        self,
        lattice: Lattice,
        domains: Sequence[int],
        settings: Settings,
        *,
        general: WordCounts | None = None,
        rng: np.random.Generator,
    ) -> None:
        self.lattice, self.settings, self.rng = lattice, settings, rng
        self.domains: Longs = np.asarray(domains, np.int64)
        self.n_domains = int(self.domains.max()) + 1 if len(domains) else 0
        contexts = 1 + self.n_domains + len(self.domains)
        if contexts * lattice.size**2 >= 2**62:
            raise RhetoricaError(
                "too many different strings: fit fewer texts at a time, or set a smaller longest"
            )
        # One table for all levels: the count of w after v in context c has the key
        # (c * size + v) * size + w. Context 0 is the corpus, then domains, then documents.
        # v or w = ANY: the sum over them.
        self.tally = Tally(8 * lattice.n_atoms + 1024)
        if general:
            self.tally.add(*general.keyed(lattice))
        self.general = general
        self.base = base_measure(lattice, settings.decay)
        characters = ["".join(text.atoms) for text in lattice.texts]
        self.neighbours = Neighbours.of(characters, self.domains.tolist(), settings.neighbours)
        self.cuts = np.zeros(lattice.n_atoms, np.bool_)
        self.held = np.zeros(lattice.n_atoms, np.int64)
        self.terms: set[tuple[int, int]] = set()
        self.keywords: set[tuple[int, int]] = set()
        sizes = np.diff(lattice.clauses)
        most = int(sizes.max()) if len(sizes) else 0
        shape = (most, lattice.longest, lattice.longest)
        self._scores, self._moves = np.empty(shape), np.empty(shape)
        self._begun = False

    def sweep(self, moves: Moves | None = None) -> float:
        """Cut every clause anew, in random order; return the log score of the cuts.

        The first sweep adds one clause after the other to the general counts.
        """
        total = 0.0
        for clause in self.rng.permutation(len(self.lattice.clauses) - 1):
            total += self._move(int(clause), moves or self.settings.moves)
        self._begun = True
        return total

    def _move(self, clause: int, moves: Moves) -> float:
        first, last = self.lattice.clauses[clause : clause + 2].tolist()
        text = int(self.lattice.text_of_clause[clause])
        if self._begun:
            self._shift(first, last, text, -1)
        scores, between = self.score(first, last, text)
        if moves == "viterbi":
            found = best_segments(scores, between)
        else:
            [found] = sample_segments(scores, between, self.rng)
        self.cuts[first:last] = False
        self.cuts[first + found.ends - 1] = True
        self._shift(first, last, text, 1)
        return _path_score(scores, between, found.ends)

    def score(self, first: int, last: int, text: int) -> tuple[Floats, Floats]:
        """Return scores of the cuts of atoms first:last for `decode.chain`, by equations 1 to 6.

        Label y is a word of y + 1 atoms. The arrays are used again by the next call.
        """
        scores, between = self._scores[: last - first], self._moves[: last - first]
        _score(
            self.tally.keys, self.tally.values, self.lattice.strings[first:last],
            self.held[first:last], self.base, np.array(self.settings.alpha),
            self._contexts(text), self._near(text), self.neighbours.similarity[text],
            self.lattice.size, scores, between,
        )  # fmt: skip
        return scores, between

    def _contexts(self, text: int) -> Longs:
        return np.array([0, 1 + self.domains[text], 1 + self.n_domains + text], np.int64)

    def _near(self, text: int) -> Longs:
        near: Longs = 1 + self.n_domains + self.neighbours.documents[text]
        return near

    def words_between(self, first: int, last: int) -> Longs:
        """Return the numbers of the words of atoms first:last as they are cut."""
        ends = first + 1 + np.flatnonzero(self.cuts[first:last])
        starts = np.append(first, ends[:-1])
        found: Longs = self.lattice.strings[starts, ends - starts - 1]
        return found

    def _shift(self, first: int, last: int, text: int, amount: int) -> None:
        words = self.words_between(first, last)
        self.tally.make_room(12 * (len(words) + 1))
        self.tally.used += _shift(
            self.tally.keys, self.tally.values, words, self._contexts(text), self.lattice.size,
            amount,
        )  # fmt: skip

    def recounted(self) -> Tally:
        """Count everything from scratch."""
        fresh, kept = Tally(), self.tally
        if self.general:
            fresh.add(*self.general.keyed(self.lattice))
        self.tally = fresh
        for clause, text in enumerate(self.lattice.text_of_clause.tolist()):
            first, last = self.lattice.clauses[clause : clause + 2].tolist()
            self._shift(first, last, text, 1)
        self.tally = kept
        return fresh

    def kept(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint needs: cuts and what is frozen."""
        rows = [
            np.array(sorted(rows), np.int64).reshape(-1, 2) for rows in (self.terms, self.keywords)
        ]
        return {
            "cuts": self.cuts.copy(),
            "held": self.held.copy(),
            "terms": rows[0],
            "keywords": rows[1],
        }

    def restore(self, kept: Mapping[str, NDArray[Any]]) -> None:
        """Go back to what `kept` gave."""
        self.cuts, self.held = np.array(kept["cuts"]), np.array(kept["held"])
        self.terms = {(int(a), int(b)) for a, b in kept["terms"]}
        self.keywords = {(int(a), int(b)) for a, b in kept["keywords"]}
        self.tally = self.recounted()
        self._begun = True

    def unigram(self, context: int, words: Longs) -> Longs:
        """Return how often words occur in a context (0: the corpus)."""
        return self.tally.get(context * self.lattice.size**2 + words)

    def corpus_probability(self, words: Longs) -> Floats:
        """Return p1 (equation 2)."""
        alpha = self.settings.alpha[0]
        total = int(self.unigram(0, np.array([ANY]))[0])
        counts = self.unigram(0, words)
        return np.asarray((counts + alpha * self.base[words]) / (total + alpha))

    def domain_probability(self, domain: int, words: Longs) -> Floats:
        """Return p3 of words by themselves: all restaurants of a domain put together."""
        alpha = self.settings.alpha[2]
        total = int(self.unigram(1 + domain, np.array([ANY]))[0])
        counts = self.unigram(1 + domain, words)
        return np.asarray((counts + alpha * self.corpus_probability(words)) / (total + alpha))

    def document_probability(self, text: int, words: Longs) -> Floats:
        """Return p4 of words by themselves: all restaurants of a document put together."""
        alpha = self.settings.alpha[3]
        both = np.append(words, ANY)
        counts = self.unigram(1 + self.n_domains + text, both).astype(np.float64)
        for context, likeness in zip(
            self._near(text), self.neighbours.similarity[text], strict=True
        ):
            counts += likeness * self.unigram(int(context), both)
        base = self.domain_probability(int(self.domains[text]), words)
        return np.asarray((counts[:-1] + alpha * base) / (counts[-1] + alpha))

    def tokens(self) -> tuple[Longs, Longs, Longs]:
        """Return all words in the order of the texts: first atom, number, text."""
        [ends] = np.nonzero(self.cuts)
        starts = np.append(0, ends[:-1] + 1) if len(ends) else ends
        return (
            starts,
            self.lattice.strings[starts, ends - starts],
            self.lattice.text_of_atom[starts],
        )

    def termhood(self) -> list[Scored]:
        """Return TH (equation 7) of every word in each domain."""
        return self._scored(self.domains, self.domain_probability)

    def keyness(self) -> list[Scored]:
        """Return KH (equation 8) of every word in each document."""
        return self._scored(np.arange(len(self.domains)), self.document_probability)

    def _scored(self, places: Longs, probability: Callable[[int, Longs], Floats]) -> list[Scored]:
        _, words, texts = self.tokens()
        keys, counts = np.unique(places[texts] * self.lattice.size + words, return_counts=True)
        where, what = np.divmod(keys, self.lattice.size)
        found: list[Scored] = []
        for place in np.unique(where).tolist():
            here = where == place
            scores = probability(place, what[here]) / self.corpus_probability(what[here])
            rows = zip(what[here].tolist(), counts[here].tolist(), scores.tolist(), strict=True)
            found += [Scored(place, *row) for row in rows]
        return found

    def _is_long(self, word: int) -> bool:
        return bool(self.lattice.length(np.array(word)) > 1)

    def join(self) -> int:
        """Make one frozen word of neighbours that attract each other; return how often.

        Two or three words that stand together twice or more, of each two neighbours one that is
        special to its domain.
        """
        size = self.lattice.size
        starts, words, texts = self.tokens()
        clauses = np.searchsorted(self.lattice.clauses, starts, side="right")
        places = self.domains[texts]
        keys, where = np.unique(places * size + words, return_inverse=True)
        special, fitting = np.zeros(len(keys), np.bool_), np.zeros(len(keys), np.bool_)
        for domain in np.unique(keys // size).tolist():
            here = keys // size == domain
            numbers = keys[here] % size
            ratio = self.domain_probability(domain, numbers) / self.corpus_probability(numbers)
            letters = [may_join(self.lattice.name(number)) for number in numbers.tolist()]
            special[here], fitting[here] = ratio >= self.settings.join_score, letters
        near, fits = special[where], fitting[where]
        lengths = self.lattice.length(words)
        pairs = words[:-1] * size + words[1:]
        pair, first, times = np.unique(pairs, return_inverse=True, return_counts=True)
        counts = np.bincount(words, minlength=size)
        expected = counts[pair // size] * counts[pair % size] / max(1, len(words))
        strong = (times >= 2) & (np.log2(times / expected) >= self.settings.join)
        good = strong[first] & fits[:-1] & fits[1:] & (near[:-1] | near[1:])
        good &= clauses[:-1] == clauses[1:]
        good = np.append(good, False)
        held = self.held[starts] > 0
        done, at = 0, 0
        while at < len(words):
            last, total = at, int(lengths[at])
            while last < at + 2 and good[last] and not held[at] and not held[last + 1]:
                if total + lengths[last + 1] > self.lattice.longest:
                    break
                last += 1
                total += int(lengths[last])
            if last > at:
                self._merge(int(starts[at]), total, int(clauses[at]) - 1, int(texts[at]))
                done += 1
            at = last + 1
        return done

    def _merge(self, start: int, length: int, clause: int, text: int) -> None:
        first, last = self.lattice.clauses[clause : clause + 2].tolist()
        self._shift(first, last, text, -1)
        self.cuts[start : start + length - 1] = False
        self.held[start] = length
        self._shift(first, last, text, 1)

    def freeze(self) -> None:
        """Let words that became terms or keywords leave the sampling: they stay as they are."""
        chosen = self.settings
        if np.isfinite(chosen.term_score):
            self.terms |= {
                (row.place, row.word)
                for row in self.termhood()
                if self._is_long(row.word)
                and row.score >= chosen.term_score
                and row.count >= chosen.term_count
            }
        if np.isfinite(chosen.keyword_score):
            self.keywords |= {
                (row.place, row.word)
                for row in self.keyness()
                if self._is_long(row.word)
                and row.score >= chosen.keyword_score
                and row.count >= chosen.keyword_count
            }
        starts, words, texts = self.tokens()
        size = self.lattice.size
        terms = np.array([place * size + word for place, word in self.terms], np.int64)
        keywords = np.array([place * size + word for place, word in self.keywords], np.int64)
        hit = np.isin(self.domains[texts] * size + words, terms)
        hit |= np.isin(texts * size + words, keywords)
        self.held[starts[hit]] = self.lattice.length(words[hit])


@compiled
def _score(
    keys: Longs, values: Longs, strings: Longs, held: Longs, base: Floats, alpha: Floats,
    contexts: Longs, near: Longs, likeness: Floats, size: int, scores: Floats, moves: Floats,
) -> None:  # fmt: skip
    """Fill in the log probabilities of words (equation 6) for every pair of neighbours.

    ``moves[i, x, y]``: of the word of y + 1 atoms from i on, after the one of x + 1 atoms that ends
    there; ``scores`` holds the first word of the clause and the end after the last.
    """
    n, longest = strings.shape
    scores[:] = -np.inf
    moves[:] = -np.inf
    # How far a word from i on may reach: not into a frozen word; a frozen word is one choice.
    allowed = np.zeros((n, longest), np.bool_)
    inside = 0
    taken = np.zeros(n, np.bool_)
    for i in range(n):
        if held[i] > 0:
            inside = held[i]
        taken[i] = inside > 0
        if inside > 0:
            inside -= 1
    for i in range(n):
        if held[i] > 0:
            allowed[i, held[i] - 1] = True
        else:
            for length in range(1, longest + 1):
                if i + length > n or taken[i + length - 1] or strings[i, length - 1] < 0:
                    break
                allowed[i, length - 1] = True
    whole = alpha[0] + values[slot_of(keys, 0)]
    unigram = np.zeros((n + 1, longest))
    for i in range(n):
        for x in range(longest):
            if allowed[i, x]:
                word = strings[i, x]
                unigram[i, x] = (values[slot_of(keys, word)] + alpha[0] * base[word]) / whole
    unigram[n, 0] = (values[slot_of(keys, 1)] + alpha[0] * base[1]) / whole
    domain, document = contexts[1] * size * size, contexts[2] * size * size
    for i in range(n + 1):
        # Words that begin at i, or the end of the clause, after each that ends there.
        for x in range(longest if i > 0 else 1):
            if i > 0 and (i - x - 1 < 0 or not allowed[i - x - 1, x]):
                continue
            before = 1 if i == 0 else strings[i - x - 1, x]
            sum2 = values[slot_of(keys, before * size)]
            sum3, sum4 = 0.0, 0.0
            if sum2 > 0:
                sum3 = values[slot_of(keys, domain + before * size)]
            if sum3 > 0:
                sum4 = values[slot_of(keys, document + before * size)]
                for k in range(near.shape[0]):
                    if likeness[k] > 0:
                        there = slot_of(keys, near[k] * size * size + before * size)
                        sum4 += likeness[k] * values[there]
            for y in range(longest if i < n else 1):
                if i < n and not allowed[i, y]:
                    continue
                pair = before * size + (strings[i, y] if i < n else 1)
                count2, count3, count4 = 0.0, 0.0, 0.0
                # What the corpus has never seen, no domain has, and so on.
                if sum2 > 0:
                    count2 = values[slot_of(keys, pair)]
                if count2 > 0 and sum3 > 0:
                    count3 = values[slot_of(keys, domain + pair)]
                if count3 > 0 and sum4 > 0:
                    count4 = values[slot_of(keys, document + pair)]
                    for k in range(near.shape[0]):
                        if likeness[k] > 0:
                            there = slot_of(keys, near[k] * size * size + pair)
                            count4 += likeness[k] * values[there]
                p = (count2 + alpha[1] * unigram[i, y]) / (sum2 + alpha[1])
                p = (count3 + alpha[2] * p) / (sum3 + alpha[2])
                p = (count4 + alpha[3] * p) / (sum4 + alpha[3])
                log = np.log(p)
                if i == n:
                    # Added to what stands there already for a clause of one word.
                    there = n - x - 1
                    scores[there, x, x] = log + (scores[0, x, x] if there == 0 else 0.0)
                elif i == 0:
                    scores[0, y, y] = log
                else:
                    moves[i, x, y] = log
                    if scores[i, y, y] == -np.inf:
                        scores[i, y, y] = 0.0


@compiled
def _shift(
    keys: Longs, values: Longs, words: Longs, contexts: Longs, size: int, amount: int
) -> int:
    """Add the words of a clause to the counts of all levels, or take them away."""
    n = words.shape[0]
    new, before = 0, 1
    for k in range(n + 1):
        word = words[k] if k < n else 1
        for c in range(contexts.shape[0]):
            first = contexts[c] * size * size
            for kind in range(4):
                key = first
                if kind == 1:
                    key = first + word
                elif kind == 2:
                    key = first + before * size
                elif kind == 3:
                    key = first + before * size + word
                slot = slot_of(keys, key)
                if keys[slot] == -1:
                    keys[slot] = key
                    new += 1
                values[slot] += amount
        before = word
    return new


@compiled
def _path_score(scores: Floats, moves: Floats, ends: Longs) -> float:
    """Return the score of a cut."""
    total, start, before = 0.0, 0, -1
    for k in range(ends.shape[0]):
        length = ends[k] - start
        total += scores[start, length - 1, length - 1]
        if before > 0:
            total += moves[start, before - 1, length - 1]
        start, before = ends[k], length
    return total
