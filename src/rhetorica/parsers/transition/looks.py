"""What states look like: atoms that are read off the stack and the queue, and EDUs they point to.

The kernel `look` writes a row of `STATE` and one of `POINTERS` for each state, in constant time. It
is made of parts, one for each group of atoms; where a group begins is looked up in the names. EDU n
stands for no EDU, item 0 for no subtree.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from rhetorica.kernels import compiled, part
from rhetorica.parsers.transition.system import (
    ACTION,
    BELOW,
    DEPTH,
    END,
    HEAD,
    LEFT,
    RIGHT,
    START,
    Ints,
)

POINTERS = (
    "s0head", "s0first", "s0last", "s0top", "s1head", "s1first", "s1last", "s1top", "s2head",
    "s2first", "s2last", "q0", "q1", "next", "s0left", "s0right", "s1left", "s1right",
)  # fmt: skip
"""EDUs that a state points to: of the three top subtrees the head, first and last EDU and the one
that is highest in the sentence's syntax; of the queue the first two and the next sentence's first;
the heads of the parts of the two top subtrees."""

_OF_ITEM = ("label", "nuclearity", "left", "right", "edus", "sentences", "paragraphs", "level",
            "start")  # fmt: skip
_NAMES = ("s0", "s1", "s2", "q0")
_OF_PAIR = ("distance", "same", "dominance", "between")

STATE = (
    "always",
    *(f"s{i}.{name}" for i in range(3) for name in _OF_ITEM),
    "q0.start",
    *(f"{a}-{b}.{name}" for a, b in combinations(_NAMES, 2) for name in _OF_PAIR),
    *(f"{name}.{what}" for name in ("s1-s0", "s0-q0", "s1-q0", "s2-s1")
      for what in ("syntax", "syntaxrel")),
    "s1-s0.overlap", "s0-q0.overlap", "s1-s0.cohesion", "s0-q0.cohesion", "s1-q0.cohesion",
    "s1-next.cohesion",
    "q0.tosentence", "q0.toparagraph", "q0.todocument",
    "stack.depth", "stack.insentence", "stack.inparagraph",
    "document.edus", "document.paragraphs",
    "s0.insentence", "s1.insentence", "s0.openparagraph", "s1.openparagraph",
)  # fmt: skip
"""Atoms of the state itself; see the parts of `look` for what they mean."""

# What is known of an EDU's place: columns of `places`.
SENTENCE, PARAGRAPH, BORDER, SENTENCE_END, PARAGRAPH_END, SENTENCES_LEFT = range(6)

_N_STATE, _N_POINTERS = len(STATE), len(POINTERS)
_ITEM, _PAIR = len(_OF_ITEM), len(_OF_PAIR)
_AT_ITEMS = STATE.index("s0.label")
_AT_QUEUE = STATE.index("q0.start")
_AT_PAIRS = STATE.index("s0-s1.distance")
_AT_SYNTAX = STATE.index("s1-s0.syntax")
_AT_OVERLAP = STATE.index("s1-s0.overlap")
_AT_ENDS = STATE.index("q0.tosentence")
_AT_STACK = STATE.index("stack.depth")
_AT_DOCUMENT = STATE.index("document.edus")
_AT_OPEN = STATE.index("s0.insentence")
_P_HEADS = POINTERS.index("s0head")
_P_THIRD = POINTERS.index("s2head")
_P_QUEUE = POINTERS.index("q0")
_P_PARTS = POINTERS.index("s0left")
_STEPS = (1, 2, 3, 4, 5, 7, 10, 15, 25, 50)


@part
def _step(number: int) -> int:
    """Return a number by order of size."""
    step = 0
    while step < len(_STEPS) and _STEPS[step] <= number:
        step += 1
    return step


@part
def _highest(items: Ints, state: int, tops: Ints, dominators: Ints) -> None:
    """Note the EDU of the top subtree that is highest in the sentence's syntax."""
    if items[state, ACTION] == 0:
        tops[state] = items[state, START]
    elif items[state, ACTION] > 0:
        above, under = tops[items[state, LEFT]], tops[items[state, RIGHT]]
        split = items[items[state, RIGHT], START]
        inside = split <= dominators[above] < items[state, END]
        tops[state] = under if inside else above


@part
def _level(first: int, last: int, places: Ints) -> int:
    """Tell what a subtree is: part of a sentence, a sentence, some of a paragraph, and so on."""
    opens, closes = places[first, BORDER], places[last + 1, BORDER]
    one_sentence = places[first, SENTENCE] == places[last, SENTENCE]
    if opens == 0 or closes == 0:
        return 0 if one_sentence else 1
    level = 5
    if one_sentence:
        level = 2
    elif places[first, PARAGRAPH] == places[last, PARAGRAPH]:
        level = 3
    elif opens < 2 or closes < 2:
        level = 4
    return level + 4 if opens >= 2 and closes >= 2 else level


@part
def _item(v: Ints, k: int, items: Ints, item: int, nuclearities: Ints, places: Ints) -> None:
    """Write the atoms of one subtree (`_OF_ITEM`) from place k on."""
    v[k] = items[item, ACTION]
    v[k + 1] = nuclearities[items[item, ACTION]] if item > 0 else -2
    v[k + 2] = items[items[item, LEFT], ACTION]
    v[k + 3] = items[items[item, RIGHT], ACTION]
    if item > 0:
        first, last = items[item, START], items[item, END] - 1
        v[k + 4] = _step(last + 1 - first)
        v[k + 5] = _step(places[last, SENTENCE] - places[first, SENTENCE] + 1)
        v[k + 6] = _step(places[last, PARAGRAPH] - places[first, PARAGRAPH] + 1)
        v[k + 7] = _level(first, last, places)
        v[k + 8] = places[first, BORDER]
    else:
        for j in range(4, _ITEM):
            v[k + j] = -1


@part
def _pair(
    v: Ints, k: int, one: int, two: int, two_dominates: bool, one_dominates: bool, places: Ints
) -> None:
    """Write the atoms of two heads (`_OF_PAIR`), as Heilman & Sagae have them."""
    far = abs(one - two)
    v[k] = min(far, 5)
    v[k + 1] = 1 + (places[one, SENTENCE] == places[two, SENTENCE])
    v[k + 2] = 2 if two_dominates else 3 if one_dominates else 1
    gap = abs(places[one, SENTENCE] - places[two, SENTENCE])
    jump = abs(places[one, PARAGRAPH] - places[two, PARAGRAPH])
    if jump:
        v[k + 3] = 40 + _step(jump)
    elif gap:
        v[k + 3] = 20 + _step(gap)
    else:
        v[k + 3] = _step(far)


@part
def _syntax(
    v: Ints,
    k: int,
    items: Ints,
    tops: Ints,
    ours: int,
    two: int,
    low: int,
    high: int,
    places: Ints,
    dominators: Ints,
    dominations: Ints,
) -> None:
    """Write whether a subtree and EDUs low:high, with ``two`` on top, hang together, and how."""
    code, relation = 0, 0
    if ours > 0 and high > low:
        code, one = 1, tops[ours]
        over, upper = dominators[one], dominators[two]
        if places[one, SENTENCE] != places[two, SENTENCE]:
            code = 2
        elif low <= over < high:
            code, relation = (3 if over == two else 4), dominations[one]
        elif items[ours, START] <= upper < items[ours, END]:
            code, relation = (5 if upper == one else 6), dominations[two]
        elif over >= 0 and over == upper:
            code = 7
    v[k] = code
    v[k + 1] = code * 65536 + relation


@part
def _shared(one: int, two: int, lemmas: Ints, offsets: Ints) -> int:
    """Count the lemmas that two sorted lists share: up to 3, or 9 and more."""
    i, i_end = offsets[one], offsets[one + 1]
    j, j_end = offsets[two], offsets[two + 1]
    shared = 0
    while i < i_end and j < j_end:
        if lemmas[i] == lemmas[j]:
            shared += 1
            i += 1
            j += 1
        elif lemmas[i] < lemmas[j]:
            i += 1
        else:
            j += 1
    return shared if shared >= 9 else min(shared, 3)


@part
def _cohesion(one: int, two: int, n: int, places: Ints, lemmas: Ints, offsets: Ints) -> int:
    """Count the lemmas that the sentences of two EDUs share; 9 if they are in one."""
    if one == n or two == n:
        return -1
    x, y = places[one, SENTENCE], places[two, SENTENCE]
    return 9 if x == y else _shared(x, y, lemmas, offsets)


@part
def _stack(v: Ints, k: int, items: Ints, state: int, places: Ints) -> None:
    """Write how deep the stack is, and how much of it is of the sentence, the paragraph, on top."""
    v[k] = _step(items[state, DEPTH])
    in_sentence = in_paragraph = 0
    last, at = items[state, END] - 1, state
    while at > 0 and in_paragraph < 6:
        here = items[at, END] - 1
        if places[here, PARAGRAPH] != places[last, PARAGRAPH]:
            break
        in_paragraph += 1
        if places[here, SENTENCE] == places[last, SENTENCE] and in_sentence < 4:
            in_sentence += 1
        at = items[at, BELOW]
    v[k + 1] = in_sentence
    v[k + 2] = in_paragraph


@compiled
def look(
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
) -> tuple[Ints, Ints]:
    """Return atoms (states, `STATE`) and pointers (states, `POINTERS`) of states."""
    values = np.zeros((len(states), _N_STATE), dtype=np.int64)
    pointers = np.full((len(states), _N_POINTERS), n, dtype=np.int64)
    stack = np.zeros(3, dtype=np.int64)
    # Of the three subtrees on top, and of the queue.
    heads, firsts, lasts = np.full(4, n), np.full(4, n), np.full(4, n)
    paragraphs = places[n, PARAGRAPH]
    for row in range(len(states)):
        v, p, state = values[row], pointers[row], states[row]
        stack[0] = state
        stack[1] = items[state, BELOW]
        stack[2] = items[stack[1], BELOW]
        queue = items[state, END]
        after = places[queue, SENTENCE_END]
        _highest(items, state, tops, dominators)
        v[0] = 1
        for i in range(3):
            item = stack[i]
            heads[i] = items[item, HEAD] if item > 0 else n
            firsts[i] = items[item, START] if item > 0 else n
            lasts[i] = items[item, END] - 1 if item > 0 else n
            _item(v, _AT_ITEMS + i * _ITEM, items, item, nuclearities, places)
        heads[3] = firsts[3] = lasts[3] = queue
        v[_AT_QUEUE] = places[queue, BORDER]
        k = _AT_PAIRS
        for a in range(4):
            for b in range(a + 1, 4):
                one, two = heads[a], heads[b]
                if one < n and two < n:
                    over = firsts[b] <= dominators[one] <= lasts[b]
                    under = firsts[a] <= dominators[two] <= lasts[a]
                    _pair(v, k, one, two, over, under, places)
                else:
                    v[k + _PAIR - 1] = -1
                k += _PAIR
        for pair in range(4):
            # s1-s0, s0-q0, s1-q0, s2-s1
            ours = stack[2] if pair == 3 else stack[0] if pair == 1 else stack[1]
            if pair == 1 or pair == 2:
                two, low, high = queue, queue, after
            else:
                theirs = stack[0] if pair == 0 else stack[1]
                two, low, high = tops[theirs], items[theirs, START], items[theirs, END]
            k = _AT_SYNTAX + 2 * pair
            _syntax(v, k, items, tops, ours, two, low, high, places, dominators, dominations)
        k = _AT_OVERLAP
        v[k] = v[k + 1] = -1
        if heads[0] < n:
            if heads[1] < n:
                v[k] = _shared(heads[1], heads[0], lemmas, lemma_offsets)
            if queue < n:
                v[k + 1] = _shared(heads[0], queue, lemmas, lemma_offsets)
        v[k + 2] = _cohesion(heads[1], heads[0], n, places, sentence_lemmas, sentence_offsets)
        v[k + 3] = _cohesion(heads[0], queue, n, places, sentence_lemmas, sentence_offsets)
        v[k + 4] = _cohesion(heads[1], queue, n, places, sentence_lemmas, sentence_offsets)
        v[k + 5] = _cohesion(heads[1], after, n, places, sentence_lemmas, sentence_offsets)
        v[_AT_ENDS] = min(after - queue, 5)
        v[_AT_ENDS + 1] = _step(places[queue, SENTENCES_LEFT]) if queue < n else -1
        v[_AT_ENDS + 2] = _step(paragraphs - places[queue, PARAGRAPH])
        _stack(v, _AT_STACK, items, state, places)
        v[_AT_DOCUMENT] = _step(n // 10)
        v[_AT_DOCUMENT + 1] = _step(paragraphs)
        for i in range(2):
            # Whether a subtree starts in the middle of a sentence, or of a paragraph.
            border = places[firsts[i], BORDER]
            v[_AT_OPEN + i] = -1 if firsts[i] == n else border == 0
            v[_AT_OPEN + 2 + i] = -1 if firsts[i] == n else border < 2
            at = _P_HEADS + 4 * i
            p[at], p[at + 1], p[at + 2] = heads[i], firsts[i], lasts[i]
            p[at + 3] = tops[stack[i]] if stack[i] > 0 else n
            if items[stack[i], LEFT] > 0:
                p[_P_PARTS + 2 * i] = items[items[stack[i], LEFT], HEAD]
                p[_P_PARTS + 2 * i + 1] = items[items[stack[i], RIGHT], HEAD]
        p[_P_THIRD], p[_P_THIRD + 1], p[_P_THIRD + 2] = heads[2], firsts[2], lasts[2]
        p[_P_QUEUE], p[_P_QUEUE + 1], p[_P_QUEUE + 2] = queue, min(queue + 1, n), after
    return values, pointers
