"""What a shift-reduce parser looks at in a state, as rows of weights.

A state has *atoms*: numbers that say something about it. Some are read off the state itself (the
label of the subtree on top, whether a paragraph ends before the queue, ...: see `STATE`), the
others are attributes of an EDU that the state points to (`POINTERS`: the head EDU of the top
subtree, the first EDU in the queue, ...). A template is a list of atoms whose values, together,
are one feature; a bag gives one feature for each word (or tag) of an EDU. Features are hashed.

Everything is computed for a batch of states at once by compiled loops, in constant time a state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.document import Document
from rhetorica.errors import UnknownName
from rhetorica.features.edus import EDUTable, Head, hashed, hashes, run_starts
from rhetorica.features.syntax import Syntax
from rhetorica.kernels import compiled, part
from rhetorica.learn.hashing import MIX, Rows, Words, spread, top_bits
from rhetorica.parsers.transition.looks import POINTERS, STATE, look
from rhetorica.parsers.transition.system import Forest, Ints

Bits = npt.NDArray[np.uint8]

ATTRIBUTES = (
    "first", "last", "first2", "last2", "first3", "tag", "tag2", "lasttag", "length", "head",
    "headtag", "headrel", "domtag", "dominator", "verbs", "subject", "connective", "shape",
    "insentence", "sentenceplace", "paragraphplace", "documentplace", "role", "paragraphnumber",
    "sentenceinparagraph", "sentence", "opening", "block", "subjectkind", "cue",
    "tokens", "fromstart", "fromend",
)  # fmt: skip
"""Attributes of EDUs: those of `EDUTable`, and what `_more_strings` adds."""

_PLACE = {name: place for place, name in enumerate(STATE)}
_SHIFT = np.uint64(29)
_MOST = 5
"""Atoms in a template, at most."""
BITS = 22
"""Features are hashed to numbers of so many bits."""

Template = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Templates:
    """Templates as the kernels read them: (templates, `_MOST`) places of atoms, -1 for none.

    ``bags`` are pointers with the name of a bag: ("s0head", "words").
    """

    atoms: Ints
    salts: Words
    bag_pointers: Ints
    bag_kinds: Ints
    bag_salts: Words

    @classmethod
    def of(cls, templates: Sequence[Template], bags: Sequence[tuple[str, str]] = ()) -> Templates:
        """Look up the atoms that templates name."""
        atoms = np.full((len(templates), _MOST), -1, dtype=np.int64)
        for row, template in enumerate(templates):
            atoms[row, : len(template)] = [atom_place(name) for name in template]
        return cls(
            atoms,
            np.array([_salt("&".join(t)) for t in templates], dtype=np.uint64),
            np.array([POINTERS.index(pointer) for pointer, _ in bags], dtype=np.int64),
            np.array([BAGS.index(kind) for _, kind in bags], dtype=np.int64),
            np.array([_salt(" ".join(bag)) for bag in bags], dtype=np.uint64),
        )


BAGS = ("words", "tags", "heads")


def _salt(text: str) -> int:
    return hashed(text) * int(MIX) % 2**64


def atom_place(name: str) -> int:
    """Return the place of an atom: state atoms come first, then pointers x attributes."""
    if name in _PLACE:
        return _PLACE[name]
    pointer, _, attribute = name.partition(".")
    if pointer not in POINTERS or attribute not in ATTRIBUTES:
        names = [f"{p}.{a}" for p in POINTERS for a in ATTRIBUTES]
        raise UnknownName("atom", name, [*STATE, *names])
    return len(STATE) + POINTERS.index(pointer) * len(ATTRIBUTES) + ATTRIBUTES.index(attribute)


@dataclass(frozen=True, slots=True)
class Units:
    """What the kernels need to know of a document's EDUs, as arrays.

    ``attributes`` (n + 1, attributes) has a last row for no EDU. ``places`` (n + 1, 6) holds
    sentence, paragraph, the border before it (0 none, 1 sentence, 2 paragraph, 3 text), the end of
    its sentence and of its paragraph (as EDU numbers), and how many sentences its paragraph has
    left. ``bags`` and ``lemmas`` are lists in one array, cut by offsets.
    """

    attributes: Words
    places: Ints
    dominators: Ints
    dominations: Ints
    bag_values: Words
    bag_offsets: Ints
    lemmas: Ints
    lemma_offsets: Ints
    sentence_lemmas: Ints
    sentence_offsets: Ints

    @classmethod
    def of(cls, doc: Document, *, phrases: bool = False, head: Head = "lemma") -> Units:
        """Compute the arrays of a document with EDUs and syntax; options are `EDUTable.of`'s."""
        table = EDUTable.of(doc, phrases=phrases, head=head)
        syntax = table.syntax
        tokens = [list(group) for group in doc.edu_tokens()]
        n = len(tokens)
        sentence, paragraph = table.places.sentence, table.places.paragraph
        more = _more_strings(syntax, tokens, sentence, paragraph)
        columns = table.attributes | {name: hashes(strings) for name, strings in more.items()}
        attributes = np.full((n + 1, len(ATTRIBUTES)), hashed("no EDU"), dtype=np.uint64)
        for column, name in enumerate(ATTRIBUTES):
            attributes[:n, column] = columns[name]
        words = [[hashed(syntax.lowered[i]) for i in group] for group in tokens]
        tags = [[hashed(syntax.tags[i]) for i in group] for group in tokens]
        bags, bag_offsets = _flatten([*words, *tags, *_head_words(syntax, tokens)])
        lemmas = [sorted({hashed(lemma) for lemma in found}) for found in table.lemmas]
        places = _places(sentence, paragraph)
        by_sentence: list[set[int]] = [set() for _ in range(int(places[n, 0]))]
        for edu, found in enumerate(lemmas):
            by_sentence[places[edu, 0]].update(found)
        flat_lemmas, lemma_offsets = _flatten(lemmas)
        flat_sentences, sentence_offsets = _flatten([sorted(found) for found in by_sentence])
        return cls(
            attributes,
            places,
            table.dominators.astype(np.int64),
            table.dominations,
            bags.astype(np.uint64),
            bag_offsets,
            flat_lemmas,
            lemma_offsets,
            flat_sentences,
            sentence_offsets,
        )


class Looks(NamedTuple):
    """What some states look like: ``values`` (states, `STATE`), ``pointers`` (.., `POINTERS`)."""

    values: Ints
    pointers: Ints

    def some(self, chosen: npt.NDArray[Any]) -> Looks:
        """Return some of the states, by their numbers or by flags."""
        return Looks(self.values[chosen], self.pointers[chosen])


def _flatten(lists: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    offsets = np.zeros(len(lists) + 1, dtype=np.int64)
    offsets[1:] = np.cumsum([len(found) for found in lists])
    return np.array([value for found in lists for value in found], dtype=np.int64), offsets


def _places(sentence: Ints, paragraph: Ints) -> Ints:
    n = len(sentence)
    places = np.zeros((n + 1, 6), dtype=np.int64)
    new_paragraph = run_starts(paragraph)
    # A paragraph's end ends a sentence, whatever the sentence splitter said.
    new_sentence = run_starts(sentence) | new_paragraph
    places[:n, 0] = np.cumsum(new_sentence) - 1
    places[:n, 1] = np.cumsum(new_paragraph) - 1
    places[n, :2] = places[n - 1, :2] + 1
    places[:n, 2] = np.where(new_paragraph, 2, new_sentence)
    places[0, 2] = places[n, 2] = 3
    for unit, column in ((0, 3), (1, 4)):
        starts = np.flatnonzero(np.diff(places[:, unit], prepend=-1))
        places[:n, column] = np.append(starts, n)[places[:n, unit] + 1]
    places[n, 3] = places[n, 4] = n
    places[:n, 5] = places[np.minimum(places[:n, 4], n), 0] - places[:n, 0]
    return places


def _head_words(syntax: Syntax, tokens: list[list[int]]) -> list[list[int]]:
    """Return, for each EDU, its words whose parent in the sentence's syntax lies outside it."""
    found = []
    for group in tokens:
        inside = range(group[0], group[-1] + 1) if group else range(0)
        outer = {syntax.lowered[i] for i in group if syntax.heads[i] not in inside}
        found.append(sorted(hashed(word) for word in outer))
    return found


def _more_strings(
    syntax: Syntax, tokens: list[list[int]], sentence: Ints, paragraph: Ints
) -> dict[str, list[str]]:
    """Return attributes of an EDU's sentence and paragraph, and a few more of its own."""
    n, language = len(tokens), syntax.language
    first_of_sentence: dict[int, int] = {}
    last_of_sentence: dict[int, int] = {}
    members: dict[int, int] = {}
    last_word: dict[int, str] = {}
    for edu in range(n):
        first_of_sentence.setdefault(int(sentence[edu]), edu)
        last_of_sentence[int(sentence[edu])] = edu
        members[int(paragraph[edu])] = members.get(int(paragraph[edu]), 0) + 1
        if tokens[edu]:
            last_word[int(paragraph[edu])] = syntax.words[tokens[edu][-1]]

    def mark(group: list[int]) -> str:
        for i in reversed(group[-2:]):
            if syntax.words[i][:1] in language.marks:
                return syntax.words[i][:1]
        return "-"

    def opening(edu: int) -> str:
        group = tokens[first_of_sentence[int(sentence[edu])]]
        return " ".join(
            syntax.tags[i] if syntax.tags[i] in language.tags.open else syntax.lowered[i]
            for i in group[:2]
        )

    def block(edu: int) -> str:
        size = members[int(paragraph[edu])]
        end = last_word.get(int(paragraph[edu]), "")
        return f"{min(size, 6)}{end if not end[:1].isalnum() else ''}"

    def subject_kind(group: list[int]) -> str:
        for i in group:
            if syntax.deprels[i][:5] == "nsubj":
                word = syntax.lowered[i]
                return word if word in language.pronouns else syntax.tags[i]
        return "-"

    def cue(group: list[int]) -> str:
        return " ".join(
            syntax.lowered[i] for i in group[:6] if syntax.tags[i] in language.tags.cues
        )

    return {
        "sentence": [mark(tokens[last_of_sentence[int(sentence[edu])]]) for edu in range(n)],
        "opening": [opening(edu) for edu in range(n)],
        "block": [block(edu) for edu in range(n)],
        "subjectkind": [subject_kind(group) for group in tokens],
        "cue": [cue(group) for group in tokens],
        "tokens": [str(len(group)) for group in tokens],
        "fromstart": [str(edu) for edu in range(n)],
        "fromend": [str(n - edu) for edu in range(n)],
    }


class StateReader:
    """Reads the features of one document's states."""

    def __init__(self, units: Units) -> None:
        self.units = units
        self._tops = np.zeros(0, dtype=np.int64)

    def look(self, forest: Forest, states: Ints) -> Looks:
        """Return the atoms and pointers of states; those they came from must have been read."""
        if len(self._tops) < len(forest.items):
            tops = np.zeros(len(forest.items), dtype=np.int64)
            tops[: len(self._tops)] = self._tops
            self._tops = tops
        units = self.units
        return Looks(
            *look(
                forest.items,
                states,
                forest.n_edus,
                forest.nuclearities,
                self._tops,
                units.places,
                units.dominators,
                units.dominations,
                units.lemmas,
                units.lemma_offsets,
                units.sentence_lemmas,
                units.sentence_offsets,
            )
        )

    def rows(
        self,
        looks: Looks,
        templates: Templates,
        table: Rows | None = None,
        known: Bits | None = None,
    ) -> Rows:
        """Return the hashes of states' features, padded by -1; or, from a table, 0 for none.

        ``known`` (`known_bits`) tells which entries of a table are not 0. It is small enough for
        a processor's cache, which the table is not.
        """
        units = self.units
        return _hash_rows(
            looks.values,
            looks.pointers,
            units.attributes,
            templates.atoms,
            templates.salts,
            templates.bag_pointers,
            templates.bag_kinds,
            templates.bag_salts,
            units.bag_values,
            units.bag_offsets,
            _NO_TABLE if table is None else table,
            _NO_BITS if known is None else known,
        )


_NO_TABLE = np.zeros(0, dtype=np.int32)
_NO_BITS = np.zeros(0, dtype=np.uint8)


def known_bits(table: Rows) -> Bits:
    """Return a bit for each entry of a table: whether it is not 0."""
    return np.packbits(table != 0, bitorder="little")


@part
def _found(mixed: Any, table: Rows, known: Bits) -> Any:
    """Return a hash, or what a table has for it: mostly nothing, as the known bits tell."""
    code = np.int64(top_bits(mixed, BITS))
    if not len(table):
        return code
    if len(known) and not known[code >> 3] >> (code & 7) & 1:
        return 0
    return table[code]


@compiled
def _hash_rows(
    values: Ints,
    pointers: Ints,
    attributes: Words,
    atoms: Ints,
    salts: Words,
    bag_pointers: Ints,
    bag_kinds: Ints,
    bag_salts: Words,
    bag_values: Words,
    bag_offsets: Ints,
    table: Rows,
    known_entries: Bits,
) -> Rows:
    n = len(attributes) - 1
    n_values, n_attributes = values.shape[1], attributes.shape[1]
    longest = 0
    for row in range(len(values)):
        size = 0
        for bag in range(len(bag_pointers)):
            edu = pointers[row, bag_pointers[bag]]
            if edu < n:
                place = bag_kinds[bag] * n + edu
                size += bag_offsets[place + 1] - bag_offsets[place]
        longest = max(longest, size)
    result = np.empty((len(values), len(salts) + longest), dtype=np.int32)
    result[:] = 0 if len(table) else -1
    # All atoms of a state in one row, as `atom_place` numbers them.
    flat = np.empty(n_values + pointers.shape[1] * n_attributes, dtype=np.uint64)
    for row in range(len(values)):
        for i in range(n_values):
            flat[i] = np.uint64(values[row, i])
        for pointer in range(pointers.shape[1]):
            edu, base = pointers[row, pointer], n_values + pointer * n_attributes
            for attribute in range(n_attributes):
                flat[base + attribute] = attributes[edu, attribute]
        for t in range(len(salts)):
            mixed = salts[t]
            for column in range(atoms.shape[1]):
                atom = atoms[t, column]
                if atom < 0:
                    break
                mixed = spread(mixed ^ flat[atom], _SHIFT)
            result[row, t] = _found(mixed, table, known_entries)
        at = len(salts)
        for bag in range(len(bag_pointers)):
            edu = pointers[row, bag_pointers[bag]]
            if edu < n:
                place = bag_kinds[bag] * n + edu
                for i in range(bag_offsets[place], bag_offsets[place + 1]):
                    mixed = spread(bag_values[i] ^ bag_salts[bag], _SHIFT)
                    result[row, at] = _found(mixed, table, known_entries)
                    at += 1
    return result
