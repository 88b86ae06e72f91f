"""Texts -> numbers: atoms, clauses, and the number of every string that may be a word.

An *atom* is what no word boundary can be in: a Chinese character, a run of Latin letters, a number.
Marks and white space are in no word but their own (a mark is a word by itself), so that texts fall
into *clauses*, which are cut into words independently given the counts. A *string* is one to
``longest`` atoms of a clause; equal strings have one number. Numbers 0 (`ANY`) and 1 (`EDGE`, the
beginning and the end of a clause) are no strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rhetorica.document import Span
from rhetorica.words.characters import HAN, normalise

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
ANY, EDGE, FIRST = 0, 1, 2
_ATOM = re.compile(
    rf"(?P<han>[{HAN}])|(?P<number>[0-9]+(?:[.,:][0-9]+)*%?)|(?P<latin>[A-Za-z]+(?:['-][A-Za-z]+)*)"
    r"|(?P<other>[^\W\d_])|(?P<space>\s+)|(?P<mark>.)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Atoms:
    """A text's atoms with their places; ``breaks[k]``: a clause begins at atom k."""

    atoms: list[str]
    spans: list[Span]
    breaks: list[bool]
    marks: list[Span]


def atoms_of(text: str) -> Atoms:
    """Find the atoms of a text; its marks apart.

    >>> found = atoms_of("用BERT模型，2018年。")
    >>> found.atoms, found.breaks
    (['用', 'BERT', '模', '型', '2018', '年'], [True, False, False, False, True, False])
    """
    found = Atoms([], [], [], [])
    plain = normalise(text)
    begins = True
    for match in _ATOM.finditer(plain):
        span = Span(*match.span())
        if match.lastgroup in ("space", "mark"):
            begins = True
            if match.lastgroup == "mark":
                found.marks.append(span)
            continue
        found.atoms.append(match.group())
        found.spans.append(span)
        found.breaks.append(begins)
        begins = False
    return found


class Lattice:
    """All strings of some texts that may be words.

    ``clauses`` are offsets into the atoms, ``strings[i, l - 1]`` is the number of the string of l
    atoms from atom i on, -1 where it would leave its clause; ``frequency[s]`` says how often
    string s occurs (equation 1), `EDGE` as often as there are clauses.

    >>> lattice = Lattice(["红花红", "花红"], longest=2)
    >>> lattice.clauses.tolist(), [lattice.name(s) for s in lattice.strings[0]]
    ([0, 3, 5], ['红', '红花'])
    >>> int(lattice.frequency[lattice.numbers(["花红"])[0]])
    2
    """

    def __init__(self, texts: Iterable[str], longest: int) -> None:
        self.texts = [atoms_of(text) for text in texts]
        self.longest = longest
        names = [atom for text in self.texts for atom in text.atoms]
        self._atoms, atoms = np.unique(np.array(names, object), return_inverse=True)
        self.n_atoms = len(names)
        starts = np.array([begins for text in self.texts for begins in text.breaks], np.bool_)
        # Texts do not run together: the first atom of a text always begins a clause.
        self.clauses: Longs = np.append(np.flatnonzero(starts), self.n_atoms)
        sizes = [len(text.atoms) for text in self.texts]
        self.text_of_atom: Longs = np.repeat(np.arange(len(sizes)), sizes)
        self.text_of_clause: Longs = self.text_of_atom[self.clauses[:-1]]
        self._number(atoms.astype(np.int64))

    def _number(self, atoms: Longs) -> None:
        n, longest = self.n_atoms, self.longest
        ends = np.repeat(self.clauses[1:], np.diff(self.clauses))
        self.strings: Longs = np.full((n, longest), -1, np.int64)
        self._keys: list[Longs] = []
        self._firsts: list[int] = []
        base = FIRST
        for length in range(1, longest + 1):
            [places] = np.nonzero(np.arange(n) + length <= ends)
            last = atoms[places + length - 1]
            if length == 1:
                keys = last
            else:
                keys = self.strings[places, length - 2] * len(self._atoms) + last
            found, where = np.unique(keys, return_inverse=True)
            self.strings[places, length - 1] = base + where
            self._keys.append(found)
            self._firsts.append(base)
            base += len(found)
        self.size = base
        counts = np.bincount(self.strings[self.strings >= 0], minlength=base)
        counts[EDGE] = len(self.clauses) - 1
        self.frequency: Longs = counts

    def spelling(self, goes_on: float) -> NDArray[np.float64]:
        """Return the probability of every string if it is spelled atom by atom.

        Each atom comes by its relative frequency, and after each the string goes on with the
        probability ``goes_on``; the `EDGE` has its share of all atoms and edges.
        """
        found = np.zeros(self.size)
        edges = len(self.clauses) - 1
        share = self.n_atoms / max(1, self.n_atoms + edges)
        found[EDGE] = 1 - share
        for level, (first, keys) in enumerate(zip(self._firsts, self._keys, strict=True)):
            before, atoms = np.divmod(keys, len(self._atoms)) if level else (0, keys)
            # A string of one atom is its atom's number, so that frequencies are those of atoms.
            rate = self.frequency[self._firsts[0] + atoms] / max(1, self.n_atoms)
            begins = found[before] * goes_on if level else share * (1 - goes_on)
            found[first : first + len(keys)] = begins * rate
        return found

    def name(self, number: int) -> str:
        """Return a string by its number."""
        parts: list[str] = []
        level = int(np.searchsorted(self._firsts, number, side="right")) - 1
        while level >= 0:
            key = int(self._keys[level][number - self._firsts[level]])
            number, atom = divmod(key, len(self._atoms)) if level else (0, key)
            parts.append(self._atoms[atom])
            level -= 1
        return "".join(reversed(parts))

    def length(self, numbers: Longs) -> Longs:
        """Return of how many atoms strings are."""
        return np.asarray(np.searchsorted(self._firsts, numbers, side="right"), np.int64)

    def numbers(self, words: Sequence[str]) -> Longs:
        """Return the numbers of words, -1 for those that do not occur as strings."""
        atoms = {atom: number for number, atom in enumerate(self._atoms)}
        found = np.full(len(words), -1, np.int64)
        for k, word in enumerate(words):
            parts = [atoms.get(atom, -1) for atom in atoms_of(word).atoms]
            if not parts or len(parts) > self.longest or min(parts) < 0:
                continue
            number = 0
            for level, atom in enumerate(parts):
                key = number * len(self._atoms) + atom if level else atom
                place = int(np.searchsorted(self._keys[level], key))
                if place == len(self._keys[level]) or self._keys[level][place] != key:
                    break
                number = self._firsts[level] + place
            else:
                found[k] = number
        return found
