"""The features of ``shift-reduce``: those of Heilman & Sagae (2015), and ours.

Atoms are named in `rhetorica.parsers.transition.features`. `PAPER` serves one classifier over all
actions, as published. Ours are for two classifiers: `STRUCTURE` decides between shift and reduce,
`LABEL` chooses nuclearity and relation of what is reduced. Both are in groups, so that it can be
measured what each is worth.
"""

from __future__ import annotations

from rhetorica.parsers.transition.features import Template

Bag = tuple[str, str]

_PAIRS = ("s0-s1", "s0-s2", "s0-q0", "s1-s2", "s1-q0", "s2-q0")

PAPER: list[Template] = [
    ("always",),
    ("s0.label",), ("s1.label",), ("s2.label",),
    ("s0.label", "s1.label"), ("s1.label", "s2.label"), ("s0.label", "s2.label"),
    ("s0.label", "s1.label", "s2.label"),
    *[(f"s{i}.{part}",) for i in range(3) for part in ("left", "right")],
    *[(f"{pair}.{what}",) for pair in _PAIRS for what in ("distance", "same", "dominance")],
    *[(f"{edu}.{what}",) for edu in ("s0head", "s1head", "s2head", "q0")
      for what in ("head", "headtag", "headrel")],
    *[(f"{item}.start",) for item in ("s0", "s1", "s2", "q0")],
]  # fmt: skip
"""Section 4.3 of the paper. The previous action is the label of the item on top."""
PAPER_BAGS: list[Bag] = [
    (edu, bag) for edu in ("s0head", "s1head", "q0") for bag in ("words", "tags")
]

# Where the borders are, of sentences and paragraphs: between the two items on top (join), before
# the queue, and before the second item. What a word means for an action depends on them.
_JOIN = ("s0.start",)
_HERE = ("s0.start", "q0.start")
_AROUND = ("s1.start", "s0.start", "q0.start")


def _each(names: str, *context: str) -> list[Template]:
    """Return a template for each of some atoms, with a context."""
    return [(name, *context) for name in names.split()]


def _of(pointers: str, attributes: str, *context: str) -> list[Template]:
    """Return a template for each of some attributes of each of some EDUs, with a context."""
    return [
        (f"{pointer}.{attribute}", *context)
        for attribute in attributes.split()
        for pointer in pointers.split()
    ]


def _both(one: str, two: str, attributes: str, *context: str) -> list[Template]:
    """Return a template for each of some attributes of two EDUs, with a context."""
    return [(f"{one}.{name}", f"{two}.{name}", *context) for name in attributes.split()]


STRUCTURE: dict[str, list[Template]] = {
    "frame": [
        _HERE, _AROUND, ("s0.start", "s1.start"), ("s2.start", *_AROUND),
        *_each("s0.level s1.level s2.level s0.edus s1.edus s0.sentences s1.sentences s0.paragraphs "
               "s1.paragraphs stack.depth stack.insentence stack.inparagraph q0.tosentence "
               "q0.toparagraph q0.todocument document.edus document.paragraphs s0.insentence "
               "s1.insentence s0.openparagraph s1.openparagraph", *_AROUND),
        ("s0.level", "s1.level", "q0.start"), ("s0.level", "s1.level", "s2.level", "q0.start"),
        ("s0.edus", "s1.edus", *_HERE), ("s0.sentences", "s1.sentences", *_HERE),
        ("s0.paragraphs", "s1.paragraphs", *_HERE),
        ("stack.insentence", "q0.tosentence", *_HERE),
        ("stack.inparagraph", "q0.toparagraph", *_HERE), ("stack.depth", "q0.todocument", *_HERE),
        ("s0-s1.between", *_HERE), ("s0-q0.between", *_HERE), ("s1-q0.between", *_HERE),
        ("s0-s1.between", "s0-q0.between"),
    ],
    "labels": [
        *_each("s0.label s1.label", *_AROUND), ("s0.label", "s1.label", *_HERE),
        ("s0.level", "s0.label", "q0.start"), ("s1.level", "s1.label", "s0.start"),
        ("s0.label", "s0.left", "s0.right", *_JOIN), ("s1.label", "s1.left", "s1.right", *_JOIN),
        *_of("s0first q0", "first headtag connective", "s0.label", *_JOIN),
        *_of("s0first s1first", "first headtag connective", "s1.label", *_JOIN),
    ],
    "syntax": [
        *_each("s1-s0.syntax s0-q0.syntax s1-q0.syntax s2-s1.syntax", *_AROUND),
        *_each("s1-s0.syntaxrel s0-q0.syntaxrel s1-q0.syntaxrel"),
        ("s1-s0.syntaxrel", "s0-q0.syntaxrel"), ("s1-s0.syntax", "s0-q0.syntax"),
        ("s1-s0.syntax", "s0-q0.syntax", "s1-q0.syntax"),
        ("s2-s1.syntax", "s1-s0.syntax", "s0-q0.syntax"),
        *_of("s0top s1top", "headrel headtag head domtag", *_HERE),
        ("s1top.headrel", "s0top.headrel", *_HERE),
        ("s1top.headtag", "s0top.headtag", "q0.headtag", *_HERE),
        ("s1top.headrel", "s0top.headrel", "q0.headrel", *_HERE),
    ],
    "cohesion": [
        *_each("s1-s0.cohesion s0-q0.cohesion s1-q0.cohesion s1-next.cohesion", *_AROUND),
        ("s1-s0.cohesion", "s0-q0.cohesion", *_HERE),
        ("s1-s0.overlap", *_HERE), ("s0-q0.overlap", *_HERE),
    ],
    "words": [
        *_of("s0first s0head s1first s1head q0",
             "first tag connective headtag head headrel shape verbs length subjectkind opening "
             "sentence role cue", *_HERE),
        *_of("s0last s1last", "last lasttag shape", *_HERE),
        *_of("s0first s1first q0", "first2 tag2 first3", *_HERE),
        *_of("s2first s2head next q1", "tag connective headtag role opening sentence", *_HERE),
    ],
    "pairs": [
        *_both("s1head", "s0head", "headtag headrel shape subjectkind verbs", *_HERE),
        *_both("s0head", "q0", "headtag headrel subjectkind verbs", *_HERE),
        *_both("s1first", "s0first", "first tag connective opening sentence", *_HERE),
        *_both("s0first", "q0", "first tag connective opening sentence", *_HERE),
        ("s1head.headtag", "s0head.headtag", "q0.headtag", *_HERE),
        ("s1last.shape", "s0first.shape", *_HERE), ("s0last.shape", "q0.shape", *_HERE),
    ],
    "blocks": [
        *_of("s0first s0head s1first s1head q0 s2first s2head next q1", "block", *_HERE),
        ("s1first.block", "s0first.block", "q0.block"),
        ("s1first.block", "s0first.block", *_HERE), ("s0first.block", "q0.block", *_HERE),
        ("s1first.block", "s0first.block", "q0.block", "next.block"),
        *_of("s0first s1first", "sentenceinparagraph", "q0.start", "s0.start"),
        *_of("q0 s1first", "paragraphnumber", *_HERE),
        *_of("s0first q0", "documentplace", *_HERE),
    ],
}  # fmt: skip
"""Features for shift or reduce, beside those of `PAPER`."""

LABEL: dict[str, list[Template]] = {
    "frame": [
        _JOIN, ("s0.start", "s1.start"), _HERE, ("s0.level", "s1.level"),
        ("s0.edus", "s1.edus", *_JOIN), ("s0.level", "s1.level", "s2.level", "q0.start"),
        ("s0-s1.between",), ("s0.sentences", "s1.sentences", *_JOIN),
        ("s0.paragraphs", "s1.paragraphs", *_JOIN), ("stack.depth", "q0.todocument", *_JOIN),
        ("stack.insentence", "q0.tosentence", *_JOIN),
        ("stack.inparagraph", "q0.toparagraph", *_JOIN),
    ],
    "labels": [
        *_each("s0.label s1.label s2.label", *_JOIN),
        ("s0.label", "s0.left", "s0.right", *_JOIN), ("s1.label", "s1.left", "s1.right", *_JOIN),
        ("s0left.headtag", "s0.label", *_JOIN), ("s1right.headtag", "s1.label", *_JOIN),
    ],
    "syntax": [
        ("s1-s0.syntaxrel",), ("s1-s0.syntax", *_JOIN), ("s0-s1.distance", "s0-s1.same"),
        *_of("s0first s1first", "first", "s1-s0.syntaxrel"),
        *_of("s0head s1head", "headtag", "s1-s0.syntaxrel"),
        ("s0first.tag", "s1-s0.syntax"), ("s0first.cue", "s1-s0.syntax"),
        ("s1top.headrel", "s0top.headrel", *_JOIN),
    ],
    "cohesion": _each("s1-s0.overlap s1-s0.cohesion", *_JOIN),
    "words": [
        *_of("s0head s1head",
             "first last first2 last2 first3 tag tag2 lasttag length head headtag headrel domtag "
             "dominator verbs subject connective shape subjectkind opening sentence role cue "
             "sentenceplace paragraphplace documentplace", *_JOIN),
        *_of("s0first s1first q0",
             "first first2 first3 tag tag2 connective cue opening shape headrel headtag "
             "subjectkind", *_JOIN),
        *_of("s0last s1last", "last lasttag shape last2", *_JOIN),
        *_of("s0first s1first", "connective", "s0.level", "s1.level"),
    ],
    "pairs": [
        *_both("s1head", "s0head",
               "tag headtag headrel verbs shape connective subjectkind length first sentence head",
               *_JOIN),
        *_both("s1first", "s0first", "tag first connective shape subjectkind", *_JOIN),
        ("s0first.first", "s1head.headtag", *_JOIN), ("s0first.first", "s1head.head", *_JOIN),
        ("s0head.headtag", "s1head.head", *_JOIN), ("s1last.lasttag", "s0first.first", *_JOIN),
        ("s1last.shape", "s0first.tag", *_JOIN),
    ],
    "blocks": [
        *_of("s0head s1head s0first s1first q0", "block", *_JOIN),
        *_both("s1head", "s0head", "block", *_JOIN), *_both("s1first", "s0first", "block", *_JOIN),
        ("s1first.block", "s0first.block", "q0.block"),
    ],
}  # fmt: skip
"""Features for nuclearity and relation, beside those of `PAPER`."""

GROUPS = tuple(STRUCTURE)
