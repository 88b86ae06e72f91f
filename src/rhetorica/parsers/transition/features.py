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
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rhetorica.document import Document
from rhetorica.errors import UnknownName
from rhetorica.features.edus import EDUTable, hashed
from rhetorica.features.syntax import Syntax
from rhetorica.kernels import compiled, part
from rhetorica.learn.hashing import MIX, Rows, Words, spread, top_bits
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

POINTERS = (
    "s0head", "s0first", "s0last", "s0top", "s1head", "s1first", "s1last", "s1top", "s2head",
    "s2first", "s2last", "q0", "q1", "next", "s0left", "s0right", "s1left", "s1right",
)  # fmt: skip
"""EDUs that a state points to: of the three top subtrees the head, first and last EDU and the one
that is highest in the sentence's syntax; of the queue the first two and the next sentence's first;
the heads of the parts of the two top subtrees."""

_OF_ITEM = ("label", "nuclearity", "left", "right", "edus", "sentences", "paragraphs", "level",
            "start")  # fmt: skip
_PAIRS = tuple(combinations(range(4), 2))
_NAMES = ("s0", "s1", "s2", "q0")
_OF_PAIR = ("distance", "same", "dominance", "between")

STATE = (
    "always",
    *(f"s{i}.{name}" for i in range(3) for name in _OF_ITEM),
    "q0.start",
    *(f"{_NAMES[a]}-{_NAMES[b]}.{name}" for a, b in _PAIRS for name in _OF_PAIR),
    *(f"{name}.{what}" for name in ("s1-s0", "s0-q0", "s1-q0", "s2-s1")
      for what in ("syntax", "syntaxrel")),
    "s1-s0.overlap", "s0-q0.overlap", "s1-s0.cohesion", "s0-q0.cohesion", "s1-q0.cohesion",
    "s1-next.cohesion",
    "q0.tosentence", "q0.toparagraph", "q0.todocument",
    "stack.depth", "stack.insentence", "stack.inparagraph",
    "document.edus", "document.paragraphs",
    "s0.insentence", "s1.insentence", "s0.openparagraph", "s1.openparagraph",
)  # fmt: skip
"""Atoms of the state itself; see `_look` for what they mean."""

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
    def of(cls, doc: Document) -> Units:
        """Compute the arrays of a document with EDUs and syntax."""
        table = EDUTable.of(doc)
        syntax = Syntax.of(doc)
        tokens = [list(group) for group in doc.edu_tokens()]
        n = len(tokens)
        sentence, paragraph = table.places.sentence, table.places.paragraph
        columns = dict(table.attributes)
        for name, strings in _more_strings(syntax, tokens, sentence, paragraph).items():
            columns[name] = np.array([hashed(value) for value in strings], dtype=np.int64)
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
    new_sentence = np.concatenate([[True], sentence[1:] != sentence[:-1]])
    new_paragraph = np.concatenate([[True], paragraph[1:] != paragraph[:-1]])
    # A paragraph's end ends a sentence, whatever the sentence splitter said.
    new_sentence |= new_paragraph
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
            *_look(
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
                len(STATE),
                len(POINTERS),
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


@compiled
def _look(
    items: Ints,
    states: Ints,
    n: int,
    nuclearities: Ints,
    tops: Ints,
    places: Ints,
    dominators: Ints,
    dominations: Ints,
    lemmas: Ints,
    lemma_offsets: Ints,
    sentence_lemmas: Ints,
    sentence_offsets: Ints,
    n_values: int,
    n_pointers: int,
) -> tuple[Ints, Ints]:
    """Compute atoms (states, `STATE`) and pointers (states, `POINTERS`).

    The order of what is written is that of the two lists of names. EDU n stands for no EDU.
    """
    start, end, head, left, right, action, below, depth = 0, 1, 2, 3, 4, 5, 6, 7
    values = np.zeros((len(states), n_values), dtype=np.int64)
    pointers = np.full((len(states), n_pointers), n, dtype=np.int64)
    edges = np.array([1, 2, 3, 4, 5, 7, 10, 15, 25, 50])
    stack = np.zeros(3, dtype=np.int64)
    heads = np.zeros(4, dtype=np.int64)
    firsts = np.zeros(4, dtype=np.int64)
    lasts = np.zeros(4, dtype=np.int64)
    last_paragraph = places[n, 1]
    for row in range(len(states)):
        v, p = values[row], pointers[row]
        state = states[row]
        stack[0] = state
        stack[1] = items[state, below]
        stack[2] = items[stack[1], below]
        queue = items[state, end]
        # The EDU of the top subtree that is highest in the sentence's syntax.
        if items[state, action] == 0:
            tops[state] = items[state, start]
        elif items[state, action] > 0:
            above, under = tops[items[state, left]], tops[items[state, right]]
            split = items[items[state, right], start]
            if split <= dominators[above] < items[state, end]:
                above = under
            tops[state] = above
        k = 0
        v[k] = 1
        k += 1
        for i in range(3):
            item = stack[i]
            there = item > 0
            first, last = items[item, start], items[item, end] - 1
            heads[i] = items[item, head] if there else n
            firsts[i] = first if there else n
            lasts[i] = last if there else n
            v[k] = items[item, action]
            v[k + 1] = nuclearities[items[item, action]] if there else -2
            v[k + 2] = items[items[item, left], action]
            v[k + 3] = items[items[item, right], action]
            if there:
                v[k + 4] = np.searchsorted(edges, last + 1 - first, side="right")
                v[k + 5] = np.searchsorted(
                    edges, places[last, 0] - places[first, 0] + 1, side="right"
                )
                v[k + 6] = np.searchsorted(
                    edges, places[last, 1] - places[first, 1] + 1, side="right"
                )
                # What the subtree is: part of a sentence, a sentence, some of a paragraph, ...
                opens, closes = places[first, 2], places[last + 1, 2]
                level = 5
                if opens == 0 or closes == 0:
                    level = 0 if places[first, 0] == places[last, 0] else 1
                elif places[first, 0] == places[last, 0]:
                    level = 2
                elif places[first, 1] == places[last, 1]:
                    level = 3
                elif opens < 2 or closes < 2:
                    level = 4
                if level > 1 and opens >= 2 and closes >= 2:
                    level += 4
                v[k + 7] = level
                v[k + 8] = places[first, 2]
            else:
                for j in range(4, 9):
                    v[k + j] = -1
            k += 9
        v[k] = places[queue, 2]
        k += 1
        heads[3] = firsts[3] = lasts[3] = queue
        # Pairs of heads, as Heilman & Sagae have them.
        for a in range(4):
            for b in range(a + 1, 4):
                one, two = heads[a], heads[b]
                if one < n and two < n:
                    far = abs(one - two)
                    v[k] = min(far, 5)
                    v[k + 1] = 1 + (places[one, 0] == places[two, 0])
                    dominance = 1
                    if firsts[b] <= dominators[one] <= lasts[b]:
                        dominance = 2
                    elif firsts[a] <= dominators[two] <= lasts[a]:
                        dominance = 3
                    v[k + 2] = dominance
                    gap = abs(places[one, 0] - places[two, 0])
                    jump = abs(places[one, 1] - places[two, 1])
                    if jump:
                        v[k + 3] = 40 + np.searchsorted(edges, jump, side="right")
                    elif gap:
                        v[k + 3] = 20 + np.searchsorted(edges, gap, side="right")
                    else:
                        v[k + 3] = np.searchsorted(edges, far, side="right")
                else:
                    v[k + 3] = -1
                k += 4
        # Whether one subtree hangs on the other in the sentence's syntax, and how.
        for pair in range(4):
            one = tops[stack[1]] if pair == 0 or pair == 2 else tops[stack[0]]
            if pair == 3:
                one = tops[stack[2]]
            ours = stack[1] if pair == 0 or pair == 2 else stack[0]
            if pair == 3:
                ours = stack[2]
            theirs = stack[0] if pair == 0 else stack[1]
            two = tops[theirs]
            low, high = items[theirs, start], items[theirs, end]
            if pair == 1 or pair == 2:
                two, low = queue, queue
                high = places[queue, 3]
            code, relation = 0, 0
            if ours > 0 and two < n and high > low:
                code = 1
                over, upper = dominators[one], dominators[two]
                if places[one, 0] != places[two, 0]:
                    code = 2
                elif low <= over < high:
                    code, relation = (3 if over == two else 4), dominations[one]
                elif items[ours, start] <= upper < items[ours, end]:
                    code, relation = (5 if upper == one else 6), dominations[two]
                elif over >= 0 and over == upper:
                    code = 7
            v[k] = code
            v[k + 1] = code * 65536 + relation
            k += 2
        # Content words that two EDUs, or their sentences, share.
        after = places[queue, 3]
        for pair in range(6):
            one = heads[1] if pair in (0, 2, 4, 5) else heads[0]
            two = heads[0] if pair in (0, 2) else queue
            if pair == 5:
                two = after
            shared = -1
            if one < n and two < n:
                shared = 0
                if pair < 2:
                    i, i_end = lemma_offsets[one], lemma_offsets[one + 1]
                    j, j_end = lemma_offsets[two], lemma_offsets[two + 1]
                    of = lemmas
                else:
                    x, y = places[one, 0], places[two, 0]
                    i, i_end = sentence_offsets[x], sentence_offsets[x + 1]
                    j, j_end = sentence_offsets[y], sentence_offsets[y + 1]
                    of = sentence_lemmas
                    if x == y:
                        shared, i = 9, i_end
                while i < i_end and j < j_end:
                    if of[i] == of[j]:
                        shared += 1
                        i += 1
                        j += 1
                    elif of[i] < of[j]:
                        i += 1
                    else:
                        j += 1
                if shared < 9:
                    shared = min(shared, 3)
            v[k] = shared
            k += 1
        v[k] = min(places[queue, 3] - queue, 5)
        v[k + 1] = np.searchsorted(edges, places[queue, 5], side="right") if queue < n else -1
        v[k + 2] = np.searchsorted(edges, last_paragraph - places[queue, 1], side="right")
        k += 3
        # How much of the stack belongs to the sentence, the paragraph, on top.
        v[k] = np.searchsorted(edges, items[state, depth], side="right")
        in_sentence = in_paragraph = 0
        at = state
        while at > 0 and in_paragraph < 6:
            if places[items[at, end] - 1, 1] != places[queue - 1, 1]:
                break
            in_paragraph += 1
            if places[items[at, end] - 1, 0] == places[queue - 1, 0] and in_sentence < 4:
                in_sentence += 1
            at = items[at, below]
        v[k + 1] = in_sentence
        v[k + 2] = in_paragraph
        v[k + 3] = np.searchsorted(edges, n // 10, side="right")
        v[k + 4] = np.searchsorted(edges, last_paragraph, side="right")
        k += 5
        # Whether a subtree starts in the middle of a sentence, or of a paragraph.
        for i in range(2):
            v[k + i] = -1 if firsts[i] == n else (places[firsts[i], 2] == 0)
            v[k + 2 + i] = -1 if firsts[i] == n else (places[firsts[i], 2] < 2)
        for i in range(2):
            p[4 * i] = heads[i]
            p[4 * i + 1] = firsts[i]
            p[4 * i + 2] = lasts[i]
            p[4 * i + 3] = tops[stack[i]] if stack[i] > 0 else n
            if items[stack[i], left] > 0:
                p[14 + 2 * i] = items[items[stack[i], left], head]
                p[15 + 2 * i] = items[items[stack[i], right], head]
        p[8], p[9], p[10] = heads[2], firsts[2], lasts[2]
        p[11] = queue
        p[12] = min(queue + 1, n)
        p[13] = after
    return values, pointers


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
