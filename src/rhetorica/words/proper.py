"""The four levels of DP-4 as one consistent model, with a sampler that is exact.

What differs from the paper's equations (`dp4`): the base measure is fixed, documents borrow nothing
from neighbours, nothing is frozen, and the customers of a level are the tables of the level below
(the Chinese restaurant franchise). So there is a joint distribution of words and texts, and the
sampler leaves it as it is: a clause's words are proposed by forward filtering and backward sampling
with the counts of all others, and accepted or not by Metropolis and Hastings' rule, because inside
a clause the counts change from word to word.

For small collections: it keeps tables one by one and is not compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rhetorica.decode.chain import sample_segments
from rhetorica.learn.dirichlet import Franchise, Restaurant

Floats = NDArray[np.float64]
EDGE = ""
"""What stands before the first word of a clause and after the last."""


@dataclass(frozen=True)
class Spelling:
    """A fixed base measure: a word is spelled atom by atom, with at most ``longest`` of them.

    The edge has the probability ``edge``; after each atom but the last, a word goes on with
    probability ``goes_on``.
    """

    atoms: Mapping[str, float]
    longest: int
    edge: float = 0.2
    goes_on: float = 0.5

    def probability(self, word: str) -> float:
        """Return p0; every character of a word is an atom.

        >>> round(Spelling({"a": 0.5, "b": 0.5}, longest=2, edge=0.2).probability("ab"), 3)
        0.1
        """
        if word == EDGE:
            return self.edge
        stops = 1.0 if len(word) == self.longest else 1.0 - self.goes_on
        letters = math.prod(self.atoms.get(atom, 0.0) for atom in word)
        return (1.0 - self.edge) * letters * float(self.goes_on ** (len(word) - 1)) * stops

    def draw(self, rng: np.random.Generator) -> str:
        """Draw a word, or the edge."""
        if rng.random() < self.edge:
            return EDGE
        names, chances = list(self.atoms), list(self.atoms.values())
        word = ""
        while not word or (len(word) < self.longest and rng.random() < self.goes_on):
            word += names[int(rng.choice(len(names), p=chances))]
        return word


@dataclass
class Clause:
    """A clause of a document, as it is cut at present."""

    document: int
    words: list[str]

    @property
    def text(self) -> str:
        """Its characters."""
        return "".join(self.words)


class ProperSampler:
    """Words of clauses, who sits where, and the moves."""

    def __init__(
        self,
        clauses: Sequence[Clause],
        domains: Sequence[int],
        base: Spelling,
        *,
        alpha: Sequence[float] = (20.0, 15.0, 15.0, 15.0),
        rng: np.random.Generator,
    ) -> None:
        self.clauses, self.domains, self.base = list(clauses), domains, base
        self.alpha, self.rng = tuple(alpha), rng
        self.unigrams: Restaurant[str] = Restaurant(concentration=self.alpha[0])
        self._rooms: dict[tuple[int, int, str], Restaurant[str]] = {}
        self.accepted = self.proposed = 0
        for clause in self.clauses:
            self._seat(clause)

    def chain(self, document: int, before: str) -> Franchise[str]:
        """Return the restaurants of what follows a word: document, domain, corpus, unigrams."""
        places = ((3, document), (2, self.domains[document]), (1, 0))
        levels = []
        for level, number in places:
            key = (level, number, before)
            if key not in self._rooms:
                self._rooms[key] = Restaurant(concentration=self.alpha[level])
            levels.append(self._rooms[key])
        return Franchise([*levels, self.unigrams], self.base.probability)

    @property
    def tables(self) -> int:
        """How many tables there are in all restaurants."""
        return self.unigrams.tables + sum(room.tables for room in self._rooms.values())

    def sweep(self) -> None:
        """Move every clause once."""
        for clause in self.clauses:
            self.move(clause)

    def move(self, clause: Clause) -> None:
        """Cut a clause anew, or let it be."""
        if not clause.words:
            return
        old, text = clause.words, clause.text
        journal = _Journal()
        was = self._unseat(clause, journal.note)
        scores, between = self._scores(text, clause.document)
        [found] = sample_segments(scores, between, self.rng)
        new = [text[a:b] for a, b in pairwise([0, *found.ends.tolist()])]
        clause.words = new
        now = self._seat(clause, journal.note)
        odds = now - was + _proposal(scores, between, old) - _proposal(scores, between, new)
        self.proposed += 1
        if math.log(1.0 - self.rng.random()) < odds:
            self.accepted += 1
        else:
            clause.words = old
            journal.undo()

    def redraw(self, clause: Clause) -> None:
        """Draw a clause, characters and all, given the others."""
        self._unseat(clause)
        clause.words = []
        self.speak(clause)

    def speak(self, clause: Clause) -> None:
        """Draw the words of a clause that has none yet, and seat them."""
        before = EDGE
        while True:
            chain = self.chain(clause.document, before)
            word = chain.draw(self.rng, lambda: self.base.draw(self.rng))
            chain.add(word, self.rng)
            if word == EDGE:
                return
            clause.words.append(word)
            before = word

    def _seat(self, clause: Clause, note: Note | None = None) -> float:
        """Seat the words of a clause in their order; return their log probability."""
        total = 0.0
        for before, word in pairwise([EDGE, *clause.words, EDGE]):
            chain = self.chain(clause.document, before)
            if note:
                note(chain, word)
            total += math.log(chain.add(word, self.rng))
        return total

    def _unseat(self, clause: Clause, note: Note | None = None) -> float:
        """Let the words of a clause go, last first; return what seating them had had."""
        total = 0.0
        for before, word in reversed(list(pairwise([EDGE, *clause.words, EDGE]))):
            chain = self.chain(clause.document, before)
            if note:
                note(chain, word)
            chain.remove(word, self.rng)
            total += math.log(chain.probability(word))
        return total

    def _scores(self, text: str, document: int) -> tuple[Floats, Floats]:
        """Return scores for `decode.chain` with the counts as they are: label y, y + 1 atoms."""
        n, longest = len(text), self.base.longest
        scores = np.full((n, longest, longest), -np.inf)
        between = np.full((n, longest, longest), -np.inf)
        for i in range(n + 1):
            for x in range(min(i, longest) if i else 1):
                chain = self.chain(document, text[i - x - 1 : i] if i else EDGE)
                if i == n:
                    ends = math.log(chain.probability(EDGE))
                    scores[n - x - 1, x, x] = ends + (scores[0, x, x] if x + 1 == n else 0.0)
                for y in range(min(longest, n - i)):
                    log = math.log(chain.probability(text[i : i + y + 1]))
                    if i:
                        between[i, x, y] = log
                    scores[i, y, y] = 0.0 if i else log
        return scores, between


Note = Callable[[Franchise[str], str], None]


class _Journal:
    """How things were before they were touched."""

    def __init__(self) -> None:
        self._before: dict[tuple[int, str], tuple[Restaurant[str], tuple[int, ...]]] = {}

    def note(self, chain: Franchise[str], word: str) -> None:
        for level in chain.levels:
            self._before.setdefault((id(level), word), (level, level.seats(word)))

    def undo(self) -> None:
        for (_, word), (level, seats) in self._before.items():
            level.reseat(word, seats)


def _proposal(scores: Floats, between: Floats, words: Sequence[str]) -> float:
    """Return the log of what the proposal gives to a cut, without its constant."""
    total, start, before = 0.0, 0, 0
    for word in words:
        size = len(word)
        total += float(scores[start, size - 1, size - 1])
        if before:
            total += float(between[start, before - 1, size - 1])
        start, before = start + size, size
    return total
