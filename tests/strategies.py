"""Hypothesis strategies: random documents with their layers, random trees of each shape, parses.

Trees are drawn directly, without `rhetorica.convert`, so that they can test it. Sizes are kept
small (a dozen EDUs): enough for every kind of nesting, and failures stay readable.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeVar

from hypothesis import strategies as st

from rhetorica import (
    AnnotatedTree,
    Candidate,
    DepTree,
    Document,
    Join,
    Node,
    Parse,
    RSTTree,
    Scores,
    SecondaryEdge,
    Signal,
    Span,
    Token,
)
from rhetorica.trees import NUCLEARITIES, ROOT, ROOT_RELATION

T = TypeVar("T")

MAX_EDUS = 12
RELATIONS = ("cause", "list", "joint", "elaboration-additional", "same-unit", "对比")
MULTINUCLEAR = ("list", "joint", "same-unit")
AWKWARD = (
    "It rained.", "don't", "Zürich", "下雨了", "🌧️", "👩‍👩‍👧", "אבג", "مطر", "\u202egnp.exe",
    "e\u0301", "<b>&amp;", '"\\"', "\x00", "\x1b[31m", "\x7f", "\ufeff", "\u200b", "()",
    "_!", "#", "-1",
)  # fmt: skip
SPACES = (" ", "  ", "\n", "\n\n", "\t", "\r\n", "\u3000", "\u2028", "\x85")

relations = st.sampled_from(RELATIONS)
words = st.one_of(
    st.sampled_from(AWKWARD), st.text(min_size=1, max_size=6).filter(lambda word: word.strip())
)
plain_words = st.text("abcdefghijklmnopqrstuvwxyzäß雨", min_size=1, max_size=6)
labels = st.text(max_size=5)
string_maps = st.dictionaries(st.text(max_size=5), st.text(max_size=8), max_size=3)
probabilities = st.floats(0, 1)


@st.composite
def partitions(draw: st.DrawFn, items: Sequence[T], *, min_parts: int = 1) -> list[list[T]]:
    """Cut a sequence into neighbouring parts, none empty."""
    if not items:
        return []
    inner = range(1, len(items))
    cuts = draw(
        st.sets(st.sampled_from(inner), min_size=min_parts - 1) if len(inner) else st.just(set())
    )
    bounds = [0, *sorted(cuts), len(items)]
    return [list(items[a:b]) for a, b in pairwise(bounds)]


@st.composite
def documents(
    draw: st.DrawFn,
    *,
    min_edus: int = 1,
    max_edus: int = MAX_EDUS,
    n_edus: int | None = None,
    word: st.SearchStrategy[str] = words,
    space: st.SearchStrategy[str] | None = None,
    layers: bool = True,
) -> Document:
    """Draw a text with EDUs and, if ``layers``, any of tokens, syntax, sentences, paragraphs.

    ``word`` and ``space`` say what the text is made of; for formats that cannot hold every
    character pass ``plain_words`` and ``st.just(" ")``.
    """
    count = draw(st.integers(min_edus, max_edus)) if n_edus is None else n_edus
    space = st.sampled_from(SPACES) if space is None else space
    text = draw(space) if draw(st.booleans()) else ""
    edus: list[Span] = []
    spans: list[Span] = []
    for _ in range(count):
        start = len(text)
        for place, piece in enumerate(draw(st.lists(word, min_size=1, max_size=4))):
            text += draw(space) if place else ""
            spans.append(Span(len(text), len(text) + len(piece)))
            text += piece
        edus.append(Span(start, len(text)))
        text += draw(space) if draw(st.booleans()) else ""
    if not layers:
        return Document(text, tuple(edus))
    sentences = [Span(part[0].start, part[-1].end) for part in draw(partitions(edus))]
    paragraphs = [Span(part[0].start, part[-1].end) for part in draw(partitions(sentences))]
    sentences = sentences if draw(st.booleans()) else []
    return Document(
        text,
        tuple(edus),
        tokens=draw(_tokens(spans)) if draw(st.booleans()) else (),
        sentences=tuple(sentences),
        paragraphs=tuple(paragraphs) if draw(st.booleans()) else (),
        id=draw(labels),
        language=draw(st.sampled_from(["", "en", "zh"])),
        constituency=tuple(f"(S {i})" for i in range(len(sentences)))
        if draw(st.booleans())
        else (),
        meta=draw(string_maps),
    )


@st.composite
def _tokens(draw: st.DrawFn, spans: Sequence[Span]) -> tuple[Token, ...]:
    """Draw a token for each span, now and then two words for one span."""
    twice = [span for span in spans for _ in range(2 if draw(st.integers(0, 9)) == 9 else 1)]
    syntax = draw(st.booleans())
    tokens: list[Token] = []
    for index, (start, end) in enumerate(twice):
        shared = index > 0 and twice[index - 1] == (start, end)
        head = draw(st.integers(-1, len(twice) - 1)) if syntax else None
        if not syntax:
            tokens.append(Token(start, end, "x" if shared else "", continues=shared))
            continue
        tokens.append(
            Token(
                start,
                end,
                "x" if shared else draw(st.sampled_from(["", "de"])),
                *(draw(labels) for _ in range(4)),
                head,
                draw(labels),
                draw(st.booleans()),
            )
        )
    return tuple(tokens)


@st.composite
def rst_trees(
    draw: st.DrawFn, *, min_edus: int = 1, max_edus: int = MAX_EDUS, n_edus: int | None = None
) -> RSTTree:
    """Draw a binary tree of any form, with any nuclearity and relation at each join."""
    count = draw(st.integers(min_edus, max_edus)) if n_edus is None else n_edus
    joins: list[Join] = []
    todo = [(0, count)]
    while todo:
        start, end = todo.pop()
        if end - start > 1:
            split = draw(st.integers(start + 1, end - 1))
            nuclearity = draw(st.sampled_from(NUCLEARITIES))
            joins.append(Join(start, split, end, nuclearity, draw(relations)))
            todo += [(split, end), (start, split)]
    return RSTTree(count, tuple(joins))


@st.composite
def annotated_trees(
    draw: st.DrawFn,
    *,
    min_edus: int = 1,
    max_edus: int = MAX_EDUS,
    n_edus: int | None = None,
    extras: bool = True,
) -> AnnotatedTree:
    """Draw an n-ary tree: multinuclear nodes, several satellites on both sides, bare spans.

    The nuclei of one node share one relation. With ``extras`` it may have secondary edges,
    signals and inventories.
    """
    count = draw(st.integers(min_edus, max_edus)) if n_edus is None else n_edus
    nodes: list[Node] = [Node("", "edu", ROOT, "root", "")] * count
    todo: list[tuple[range, int, Any, str]] = [(range(count), ROOT, "root", "")] if count else []
    while todo:
        part, parent, role, relation = todo.pop()
        if draw(st.integers(0, 3)) == 0:  # a span with nothing but its nucleus
            nodes.append(Node(f"g{len(nodes)}", "span", parent, role, relation))
            parent, role, relation = len(nodes) - 1, "nucleus", "span"
        first = draw(st.integers(part.start, part.stop - 1))
        last = draw(st.integers(first, part.stop - 1))
        if last == first:
            here = first
            nodes[first] = Node(f"e{first + 1}", "edu", parent, role, relation)
        else:
            here = len(nodes)
            inner = range(first, last + 1)
            if draw(st.booleans()) or inner == part:
                nodes.append(Node(f"g{here}", "multinuc", parent, role, relation))
                shared = draw(st.sampled_from(MULTINUCLEAR))
                for member in draw(partitions(inner, min_parts=2)):
                    todo.append((range(member[0], member[-1] + 1), here, "nucleus", shared))
            else:
                nodes.append(Node(f"g{here}", "span", parent, role, relation))
                todo.append((inner, here, "nucleus", "span"))
        for side in (range(part.start, first), range(last + 1, part.stop)):
            for satellite in draw(partitions(side)):
                whole = range(satellite[0], satellite[-1] + 1)
                todo.append((whole, here, "satellite", draw(relations)))
    return AnnotatedTree(tuple(nodes), **(draw(_extras(len(nodes))) if extras and count else {}))


@st.composite
def _extras(draw: st.DrawFn, n_nodes: int) -> dict[str, Any]:
    """Draw secondary edges, signals and inventories for a tree of so many nodes."""
    some_node = st.integers(0, n_nodes - 1)
    secondary = [
        SecondaryEdge(f"{source}-{target}", source, target, relation)
        for source, target, relation in draw(
            st.lists(st.tuples(some_node, some_node, relations), max_size=2)
        )
    ]
    signals = []
    for _ in range(draw(st.integers(0, 2))):
        on_edge = bool(secondary) and draw(st.booleans())
        source = draw(st.integers(0, len(secondary) - 1) if on_edge else some_node)
        tokens = tuple(draw(st.lists(st.integers(0, 9), max_size=3)))
        status = draw(st.sampled_from(["", "gold"]))
        signals.append(Signal(source, on_edge, "dm", draw(labels), tokens, status))
    inventory = draw(
        st.lists(st.tuples(relations, st.sampled_from(["rst", "multinuc"])), max_size=3)
    )
    return {
        "secondary": tuple(secondary),
        "signals": tuple(signals),
        "inventory": tuple(inventory),
        "signal_types": draw(st.sampled_from([(), (("dm", ("dm",)), ("syntactic", ()))])),
    }


@st.composite
def dep_trees(
    draw: st.DrawFn,
    *,
    min_edus: int = 1,
    max_edus: int = MAX_EDUS,
    n_edus: int | None = None,
    projective: bool = True,
    multinuclear: bool = False,
    levels: bool = False,
) -> DepTree:
    """Draw a dependency tree; all projective trees can occur, or all trees at all.

    With ``multinuclear``, dependents to the right of their head may be fellow nuclei; with
    ``levels``, each head takes its dependents (nearest first on each side) in a random order.
    """
    count = draw(st.integers(min_edus, max_edus)) if n_edus is None else n_edus
    heads = draw(_projective_heads(count) if projective else _any_heads(count))
    flags = [multinuclear and head != ROOT and head < i and draw(st.booleans())
             for i, head in enumerate(heads)]  # fmt: skip
    names = [
        ROOT_RELATION
        if head == ROOT
        else draw(st.sampled_from(MULTINUCLEAR) if flag else relations)
        for head, flag in zip(heads, flags, strict=True)
    ]
    return DepTree(tuple(heads), tuple(names), tuple(flags), draw(_levels(heads)) if levels else ())


@st.composite
def _projective_heads(draw: st.DrawFn, count: int) -> list[int]:
    heads = [ROOT] * count
    todo = [(range(count), ROOT)] if count else []
    while todo:
        part, above = todo.pop()
        head = draw(st.integers(part.start, part.stop - 1))
        heads[head] = above
        for side in (range(part.start, head), range(head + 1, part.stop)):
            todo += [(range(p[0], p[-1] + 1), head) for p in draw(partitions(side))]
    return heads


@st.composite
def _any_heads(draw: st.DrawFn, count: int) -> list[int]:
    heads = [ROOT] * count
    order = draw(st.permutations(range(count)))
    for place, index in enumerate(order[1:], 1):
        heads[index] = draw(st.sampled_from(order[:place]))
    return heads


@st.composite
def _levels(draw: st.DrawFn, heads: Sequence[int]) -> tuple[int, ...]:
    levels = [0] * len(heads)
    for head in range(len(heads)):
        left = [i for i in reversed(range(head)) if heads[i] == head]
        right = [i for i in range(head + 1, len(heads)) if heads[i] == head]
        for level in range(len(left) + len(right)):
            side = right if not left or (right and draw(st.booleans())) else left
            levels[side.pop(0)] = level
    return tuple(levels)


@st.composite
def parses(
    draw: st.DrawFn,
    *,
    min_edus: int = 0,
    max_edus: int = MAX_EDUS,
    word: st.SearchStrategy[str] = words,
    trees: Sequence[str] = ("none", "annotated", "rst", "dependencies", "any dependencies"),
    extras: bool = True,
) -> Parse:
    """Draw a document with a tree of one of the named shapes; ``extras`` adds layers and scores."""
    n = draw(st.integers(min_edus, max_edus))
    doc = draw(documents(n_edus=n, word=word, layers=extras))
    source = draw(
        {
            "none": st.none(),
            "annotated": annotated_trees(n_edus=n, extras=extras),
            "rst": rst_trees(n_edus=n),
            "dependencies": dep_trees(n_edus=n, multinuclear=True, levels=draw(st.booleans())),
            "any dependencies": dep_trees(n_edus=n, projective=False, multinuclear=True),
        }[draw(st.sampled_from(trees))]
    )
    if not extras:
        return Parse(doc, source)
    return Parse(
        doc,
        source,
        scores=draw(st.none() | _scores(n)),
        kbest=tuple(draw(st.lists(_candidates(n), max_size=2))),
        provenance=draw(string_maps),
    )


def _scores(n_edus: int) -> st.SearchStrategy[Scores]:
    def column(size: int) -> st.SearchStrategy[tuple[float, ...]]:
        return st.just(()) | st.tuples(*[probabilities] * size)

    return st.builds(Scores, *[column(n_edus)] * 3, *[column(max(0, n_edus - 1))] * 3)


def _candidates(n_edus: int) -> st.SearchStrategy[Candidate]:
    tree = rst_trees(n_edus=n_edus) | dep_trees(n_edus=n_edus, projective=False, multinuclear=True)
    return st.builds(Candidate, tree, st.floats(allow_nan=False, allow_infinity=False))
