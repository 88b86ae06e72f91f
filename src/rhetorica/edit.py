"""Correct a parse by hand: relations, nuclearity, attachment, EDU boundaries; parse in, parse out.

A unit is named by its range of EDUs, half-open and 0-based, as joins are: ``(2, 5)``. Units are the
EDUs, the multinuclear groups, and the spans that a nucleus makes with its satellites; each has a
range of its own (a group around a single unit adds nothing and is not counted), so a range names
one unit at most, and names stay good while other parts of the tree change.

Every function returns a new parse. Its tree is the n-ary one, with the secondary edges, signals and
inventories that it had; probabilities of what did not change are kept, what a person decided has
probability 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from rhetorica.convert import SPAN
from rhetorica.document import Document, Span
from rhetorica.errors import InvalidEdit, InvalidTree
from rhetorica.parses import Likely, Parse, Scores
from rhetorica.trees import (
    NUCLEARITIES,
    ROOT,
    AnnotatedTree,
    Join,
    Kind,
    Node,
    Nuclearity,
    Role,
    RSTTree,
    SecondaryEdge,
    Signal,
)

Range: TypeAlias = tuple[int, int]
Part = Literal["satellite", "nucleus", "both"]
PARTS: tuple[Part, ...] = ("satellite", "nucleus", "both")


class Unit(NamedTuple):
    """A unit of the tree: its range, how it hangs on the unit above (by index), its head EDU."""

    start: int
    end: int
    kind: Kind
    role: Role
    relation: str
    parent: int
    head: int


def units(parse: Parse) -> list[Unit]:
    """Return all units in preorder: a unit before its parts, parts in text order.

    >>> from rhetorica import Document, Join, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained", "all day."])
    >>> joins = (Join(0, 1, 3, "NS", "cause"), Join(1, 2, 3, "NS", "elaboration"))
    >>> parse = Parse(doc, RSTTree(3, joins))
    >>> [(unit.start, unit.end, unit.role, unit.relation) for unit in units(parse)][1:3]
    [(0, 1, 'nucleus', 'span'), (1, 3, 'satellite', 'cause')]
    """
    root = _Draft(parse).root
    if root is None:
        return []
    order = list(_preorder(root))
    index = {id(part): number for number, part in enumerate(order)}
    head: dict[int, int] = {}
    for part in reversed(order):
        head[id(part)] = part.start if part.kind == "edu" else head[id(part.nucleus)]
    return [
        Unit(
            part.start,
            part.end,
            part.kind,
            part.role,
            part.relation,
            index[id(part.parent)] if part.parent else ROOT,
            head[id(part)],
        )
        for part in order
    ]


def relabel(parse: Parse, unit: Range, relation: str) -> Parse:
    """Change the relation of a satellite, or the one that the nuclei of a group share.

    >>> from rhetorica import Document, Join, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained."])
    >>> parse = Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "result"),)))
    >>> relabel(parse, (1, 2), "cause").tree.joins[0].relation
    'cause'
    """
    draft = _Draft(parse)
    part = draft.find(unit)
    _check_relation(relation)
    if part.role == "satellite":
        part.relation = relation
    elif part.parent and part.parent.kind == "multinuc":
        for member in part.parent.parts:
            member.relation = relation
    else:
        raise InvalidEdit(
            f"{_name(unit)} has no relation of its own: it is the "
            + ("whole text" if part.role == "root" else "nucleus of its satellites")
            + "; relations belong to satellites and to nuclei of multinuclear groups"
        )
    return draft.finish()


def set_nuclearity(parse: Parse, unit: Range, part: Part, relation: str | None = None) -> Parse:
    """Make a unit the satellite or the nucleus of its pair, or both parts nuclei.

    The pair of a satellite is it and its nucleus (with the satellites nearer than it); the pair of
    a nucleus is it and its only satellite, or the other nucleus. In a group of three or more
    nuclei, one can become the satellite of its neighbour. The relation stays unless one is given.

    >>> from rhetorica import Document, Join, RSTTree
    >>> doc = Document.from_edus(["It rained,", "so it is wet."])
    >>> parse = Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "cause"),)))
    >>> set_nuclearity(parse, (0, 1), "satellite").tree.joins[0].nuclearity
    'SN'
    """
    if part not in PARTS:
        raise InvalidEdit(f"nuclearity {part!r} is not satellite, nucleus or both")
    if relation is not None:
        _check_relation(relation)
    draft = _Draft(parse)
    chosen = draft.find(unit)
    above = chosen.parent
    if above is None:
        raise InvalidEdit(f"{_name(unit)} is the whole text: it is neither nucleus nor satellite")
    if above.kind == "multinuc":
        _split_group(draft, above, chosen, part, relation)
    elif chosen.role == "satellite":
        _turn_satellite(draft, chosen, part, relation)
    elif part != "nucleus":
        satellites = [other for other in above.parts if other is not chosen]
        if len(satellites) > 1:
            raise InvalidEdit(
                f"{_name(unit)} is the nucleus of {len(satellites)} satellites: change one of them"
            )
        _turn_satellite(
            draft, satellites[0], "nucleus" if part == "satellite" else "both", relation
        )
    elif relation is not None:
        raise InvalidEdit(f"{_name(unit)} is the nucleus already; relabel its satellite instead")
    return draft.finish()


def attachment_points(parse: Parse, unit: Range) -> list[Range]:
    """Return the units that `reattach` can attach a unit to: those that touch it, smallest first.

    None where it cannot move: the whole text, and the nucleus of a span.
    """
    draft = _Draft(parse)
    part = draft.find(unit)
    if part.parent is None or (part.role == "nucleus" and part.parent.kind == "span"):
        return []
    start, end = unit
    found: list[Range] = []
    for other in _preorder(draft.root, skip=part):
        # As seen without the unit; a parent of two parts goes when one of them does.
        first = end if other.start == start else other.start
        last = start if other.end == end else other.end
        touches = last == start or first == end
        inside = other.start <= start and end <= other.end
        vanishes = other is part.parent and len(other.parts) == 2
        if touches and not vanishes and (not inside or other.start == start or other.end == end):
            found.append((other.start, other.end))
    return sorted(found, key=lambda place: (place[1] - place[0], place))


def reattach(
    parse: Parse,
    unit: Range,
    target: Range,
    relation: str,
    role: Literal["satellite", "nucleus"] = "satellite",
) -> Parse:
    """Take a unit from its place and attach it to another that touches it.

    As a satellite it modifies the target. As a nucleus it joins the target's multinuclear group if
    that has the same relation, and makes a new group with the target otherwise.

    >>> from rhetorica import Document, Join, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained", "all day."])
    >>> joins = (Join(0, 2, 3, "NS", "elaboration"), Join(0, 1, 2, "NS", "cause"))
    >>> moved = reattach(Parse(doc, RSTTree(3, joins)), (2, 3), (1, 2), "elaboration")
    >>> moved.dependencies.heads
    (-1, 0, 1)
    """
    _check_relation(relation)
    if role not in ("satellite", "nucleus"):
        raise InvalidEdit(f"role {role!r} is not satellite or nucleus")
    draft = _Draft(parse)
    part, place = draft.find(unit), draft.find(target)
    allowed = attachment_points(parse, unit)
    if tuple(target) not in allowed:
        raise InvalidEdit(
            f"{_name(unit)} cannot be attached to {_name(target)}: "
            + (
                "it can be attached to units that touch it, " + ", ".join(map(_name, allowed))
                if allowed
                else "it is what others are attached to, so it cannot move by itself"
            )
        )
    draft.remove(part)
    if role == "satellite":
        part.hang("satellite", relation)
        if place.role == "nucleus" and place.parent and place.parent.kind == "span":
            draft.insert(part, place.parent)
        else:
            draft.wrap(place, part, "span")
    else:
        part.hang("nucleus", relation)
        above = place.parent
        if above and above.kind == "multinuc" and place.relation == relation:
            draft.insert(part, above)
        elif place.kind == "multinuc" and place.parts[0].relation == relation:
            draft.insert(part, place)
        else:
            draft.wrap(place, part, "multinuc")
    return draft.finish()


def begin(parse: Parse, relation: str) -> Parse:
    """Begin a tree by hand: all EDUs are nuclei of one multinuclear group, whatever was before.

    >>> from rhetorica import Document
    >>> parse = begin(Parse(Document.from_edus(["It is wet", "because", "it rained."])), "joint")
    >>> [(unit.start, unit.end, unit.relation) for unit in units(parse)][1:]
    [(0, 1, 'joint'), (1, 2, 'joint'), (2, 3, 'joint')]
    """
    _check_relation(relation)
    count = len(parse.document.edus)
    joins = tuple(Join(i, i + 1, count, "NN", relation) for i in range(count - 1))
    scores = parse.scores and Scores(boundaries=parse.scores.boundaries)
    # Whoever cut the text did not make this tree; its relations are there to choose from.
    names = {"parser": "segmenter", "scheme": "scheme", "relations": "relations"}
    cut = {name: parse.provenance[old] for old, name in names.items() if old in parse.provenance}
    provenance = {**cut, "begun": "by hand"}
    return replace(
        parse, source=RSTTree(count, joins), scores=scores, kbest=(), provenance=provenance
    )


def split_edu(
    parse: Parse, edu: int, at: int, relation: str, nuclearity: Nuclearity = "NS"
) -> Parse:
    """Cut an EDU in two at a character of the text, and relate the parts.

    ``at`` is a position in the whole text; what the EDU was to others, both parts together are.
    Parts that are equal nuclei join the EDU's multinuclear group if that has the same relation.

    >>> from rhetorica import Document, RSTTree
    >>> parse = Parse(Document.from_edus(["Wet, because it rained."]), RSTTree(1))
    >>> split_edu(parse, 0, 5, "cause").edus
    ['Wet,', 'because it rained.']
    """
    _check_relation(relation)
    if nuclearity not in NUCLEARITIES:
        raise InvalidEdit(f"nuclearity {nuclearity!r} is not NS, SN or NN")
    doc = parse.document
    _check_edu(doc, edu)
    start, end = doc.edus[edu]
    left, right = doc.text[start:at].rstrip(), doc.text[at:end].lstrip()
    if not (start < at < end and left and right):
        raise InvalidEdit(
            f"EDU {edu + 1} is characters {start}-{end}: it cannot be cut at {at}, "
            "both parts need something that is not white space"
        )
    pieces = (Span(start, start + len(left)), Span(end - len(right), end))
    draft = _Draft(parse)
    whole = draft.leaves[edu]
    kind: Kind = "multinuc" if nuclearity == "NN" else "span"
    parts = [_Part("edu"), _Part("edu")]
    for part, letter in zip(parts, nuclearity, strict=True):
        if letter == "S":
            part.hang("satellite", relation)
        else:
            part.hang("nucleus", relation if kind == "multinuc" else SPAN)
        part.parent = whole
    group = whole.parent
    if kind == "multinuc" and group and group.kind == kind and whole.relation == relation:
        place = group.parts.index(whole)
        group.parts[place : place + 1] = parts
        for part in parts:
            part.parent = group
        parts[0].signals = whole.signals
        draft.moved[id(whole)] = parts[0]
    else:
        whole.kind, whole.parts, whole.id = kind, parts, ""
    draft.leaves[edu : edu + 1] = parts
    edus = (*doc.edus[:edu], *pieces, *doc.edus[edu + 1 :])
    return draft.finish(replace(doc, edus=edus), lambda cut: cut if cut <= edu else cut + 1)


def merge_edus(parse: Parse, edu: int) -> Parse:
    """Make one EDU of an EDU and the next.

    The one that depends on the other (the second, if neither does) leaves the tree; what hung on
    it moves up.

    >>> from rhetorica import Document, Join, RSTTree
    >>> doc = Document.from_edus(["It is", "wet", "because it rained."])
    >>> joins = (Join(0, 2, 3, "NS", "cause"), Join(0, 1, 2, "NN", "same-unit"))
    >>> merge_edus(Parse(doc, RSTTree(3, joins)), 0).edus
    ['It is wet', 'because it rained.']
    """
    doc = parse.document
    _check_edu(doc, edu)
    if edu + 1 == len(doc.edus):
        raise InvalidEdit(f"EDU {edu + 1} is the last: there is none after it to merge it with")
    draft = _Draft(parse)
    gone = edu if parse.dependencies.heads[edu] == edu + 1 else edu + 1
    kept = draft.leaves[2 * edu + 1 - gone]
    removed = draft.leaves.pop(gone)
    draft.moved[id(removed)] = kept
    draft.remove(removed)
    edus = (*doc.edus[:edu], Span(doc.edus[edu].start, doc.edus[edu + 1].end), *doc.edus[edu + 2 :])

    def cuts(cut: int) -> int:
        return cut if cut <= edu else -1 if cut == edu + 1 else cut - 1

    return draft.finish(replace(doc, edus=edus), cuts)


def choose(parse: Parse, rank: int) -> Parse:
    """Take an entry of the k-best list (the first is 0) as the tree.

    >>> from rhetorica import Candidate, Document, Join, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained."])
    >>> trees = [RSTTree(2, (Join(0, 1, 2, n, "cause"),)) for n in ("SN", "NS")]
    >>> parse = Parse(doc, trees[0], kbest=tuple(Candidate(t, -k) for k, t in enumerate(trees)))
    >>> choose(parse, 1).tree.joins[0].nuclearity
    'NS'
    """
    if not 0 <= rank < len(parse.kbest):
        raise InvalidEdit(f"no tree of rank {rank}: this parse has {len(parse.kbest)} alternatives")
    return _with_scores(parse, replace(parse, source=parse.kbest[rank].tree), lambda cut: cut)


# What eRST has beside the tree: secondary edges, and signals of relations


class Beside(NamedTuple):
    """A secondary edge from one unit to another, or a signal of a unit's relation.

    A signal has a type, a subtype and its words, and belongs to the relation of ``unit`` or, with
    ``edge``, to that secondary edge.
    """

    unit: Range
    target: Range | None = None
    relation: str = ""
    type: str = ""
    subtype: str = ""
    words: str = ""
    edge: int | None = None


def secondary_edges(parse: Parse) -> list[Beside]:
    """Return the secondary edges, with the units that they join."""
    draft = _Draft(parse)
    return [
        Beside(_range(draft.core[edge.source]), _range(draft.core[edge.target]), edge.relation)
        for edge in draft.tree.secondary
    ]


def signals(parse: Parse) -> list[Beside]:
    """Return the signals, with the units whose relations they show."""
    draft, words = _Draft(parse), _words(parse)
    edges = draft.tree.secondary
    return [
        Beside(
            _range(
                draft.core[edges[signal.source].source]
                if signal.secondary
                else draft.whole[signal.source]
            ),
            type=signal.type,
            subtype=signal.subtype,
            words=" ".join(words[token] for token in signal.tokens if token < len(words)),
            edge=signal.source if signal.secondary else None,
        )
        for signal in draft.tree.signals
    ]


def add_edge(parse: Parse, unit: Range, target: Range, relation: str) -> Parse:
    """Add a secondary edge (eRST) from a unit to another.

    >>> from rhetorica import Document, Join, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained", "all day."])
    >>> joins = (Join(0, 1, 3, "NS", "cause"), Join(1, 2, 3, "NS", "elaboration"))
    >>> parse = add_edge(Parse(doc, RSTTree(3, joins)), (2, 3), (0, 1), "explanation")
    >>> secondary_edges(parse)[0][:3]
    ((2, 3), (0, 1), 'explanation')
    """
    _check_relation(relation)
    if unit == target:
        raise InvalidEdit(f"an edge from {_name(unit)} to itself: choose two units")
    parse, (source, end) = _nodes(parse, unit, target)
    tree = parse.annotated
    if any(edge[1:3] == (source, end) for edge in tree.secondary):
        raise InvalidEdit(f"{_name(unit)} and {_name(target)} have a secondary edge already")
    name = f"{tree.nodes[source].id}-{tree.nodes[end].id}"
    edge = SecondaryEdge(name, source, end, relation)
    return _beside(parse, secondary=(*tree.secondary, edge))


def remove_edge(parse: Parse, edge: int) -> Parse:
    """Remove a secondary edge, by its number in `secondary_edges`, with its signals."""
    tree = parse.annotated
    _check_number("secondary edge", edge, len(tree.secondary))
    kept = [
        signal._replace(source=signal.source - (signal.source > edge))
        if signal.secondary
        else signal
        for signal in tree.signals
        if not (signal.secondary and signal.source == edge)
    ]
    rest = (*tree.secondary[:edge], *tree.secondary[edge + 1 :])
    return _beside(parse, secondary=rest, signals=tuple(kept))


def add_signal(parse: Parse, unit: Range, type: str, subtype: str, words: str = "") -> Parse:
    """Say what shows the relation of a unit: a type, a subtype, and words of the text.

    The words are looked for in the unit, then in what it stands with.

    >>> from rhetorica import Document, Join, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained."])
    >>> parse = Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "cause"),)))
    >>> signals(add_signal(parse, (1, 2), "dm", "dm", "because"))[0].words
    'because'
    """
    if not type.strip() or not subtype.strip():
        raise InvalidEdit("a signal needs a type and a subtype, such as dm and dm")
    parse = _with_nodes(parse)
    draft = _Draft(parse)
    wanted = draft.find(unit)
    nodes = [i for i, part in enumerate(draft.whole) if part is wanted]
    if not nodes or wanted.relation in (SPAN, ""):
        raise InvalidEdit(f"{_name(unit)} has no relation of its own that a signal could show")
    # Of nodes that are one unit, the outermost has the relation.
    place = max(nodes, key=lambda i: draft.tree.nodes[i].relation == wanted.relation)
    tokens = _tokens_of(parse, wanted, words) if words.strip() else ()
    found = Signal(place, False, type.strip(), subtype.strip(), tokens)
    return _beside(parse, signals=(*draft.tree.signals, found))


def remove_signal(parse: Parse, signal: int) -> Parse:
    """Remove a signal, by its number in `signals`."""
    tree = parse.annotated
    _check_number("signal", signal, len(tree.signals))
    return _beside(parse, signals=(*tree.signals[:signal], *tree.signals[signal + 1 :]))


def _beside(parse: Parse, **changes: Any) -> Parse:
    provenance = {**parse.provenance, "edited": "by hand"}
    return replace(parse, source=replace(parse.annotated, **changes), provenance=provenance)


def _check_number(what: str, number: int, count: int) -> None:
    if not 0 <= number < count:
        raise InvalidEdit(f"{what} {number}, but there are {count} (numbers count from 0)")


def _with_nodes(parse: Parse) -> Parse:
    """Give every unit a node of its own, as corrections do."""
    return _Draft(parse).finish()


def _nodes(parse: Parse, *ranges: Range) -> tuple[Parse, list[int]]:
    """Return a parse in which these units have nodes, and the nodes."""
    parse = _with_nodes(parse)
    draft = _Draft(parse)
    found = [draft.find(unit) for unit in ranges]
    return parse, [next(i for i, core in enumerate(draft.core) if core is part) for part in found]


def _range(part: _Part) -> Range:
    return part.start, part.end


def _words(parse: Parse) -> list[str]:
    """Return the words that signals count: the tokens, or what stands between white space."""
    doc = parse.document
    if doc.tokens:
        return [doc.text[token.start : token.end] for token in doc.tokens]
    return [word for text in doc.edu_texts for word in text.split()]


def _tokens_of(parse: Parse, unit: _Part, words: str) -> tuple[int, ...]:
    doc, wanted = parse.document, words.split()
    if doc.tokens:
        edus = doc.edus
        of_edu = [[i for i, t in enumerate(doc.tokens) if a <= t.start < b] for a, b in edus]
    else:
        of_edu, at = [], 0
        for text in doc.edu_texts:
            of_edu.append(list(range(at, at + len(text.split()))))
            at += len(text.split())
    forms = _words(parse)
    for part in (unit, unit.parent or unit):
        inside = [token for edu in range(part.start, part.end) for token in of_edu[edu]]
        for at in range(len(inside) - len(wanted) + 1):
            run = inside[at : at + len(wanted)]
            if [_bare(forms[token]) for token in run] == [_bare(word) for word in wanted]:
                return tuple(run)
    raise InvalidEdit(f"the words {words!r} are neither in {_name(_range(unit))} nor beside it")


def _bare(word: str) -> str:
    return word.strip(",.;:!?()\"'“”’").casefold() or word


# The tree while it is being changed


@dataclass(eq=False, slots=True)
class _Part:
    """A unit that can be changed. Its relation's signals go with the relation."""

    kind: Kind
    id: str = ""
    place: int = -1
    role: Role = "nucleus"
    relation: str = SPAN
    parent: _Part | None = None
    parts: list[_Part] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    start: int = 0
    end: int = 0

    @property
    def nucleus(self) -> _Part:
        """The first of its nuclei."""
        return next(part for part in self.parts if part.role == "nucleus")

    def hang(self, role: Role, relation: str, signals: Iterable[Signal] = ()) -> None:
        """Say how this unit hangs on the one above."""
        self.role, self.relation, self.signals = role, relation, list(signals)

    def adopt(self, parts: Iterable[_Part]) -> None:
        """Make these, in text order, the parts."""
        self.parts = sorted(parts, key=lambda part: part.start)
        for part in self.parts:
            part.parent = self
        self.start, self.end = self.parts[0].start, self.parts[-1].end


class _Draft:
    """All units of a parse, linked; changed in place, then made into a parse by `finish`."""

    def __init__(self, parse: Parse) -> None:
        self.parse, self.tree = parse, parse.annotated
        tree = self.tree
        self.leaves = [_Part("edu", node.id, i) for i, node in enumerate(tree.nodes[: tree.n_edus])]
        for number, leaf in enumerate(self.leaves):
            leaf.start, leaf.end = number, number + 1
        # For each node of the annotated tree the unit that it is, and that with its satellites.
        self.core: list[_Part] = []
        self.whole: list[_Part] = []
        self.moved: dict[int, _Part] = {}
        self._build()
        self.root = self.whole[tree.bottom_up[-1]] if tree.nodes else None
        for signal in tree.signals:
            if not signal.secondary:
                self.whole[signal.source].signals.append(signal)

    def _build(self) -> None:
        tree = self.tree
        whole: dict[int, _Part] = {}
        core: dict[int, _Part] = {}
        for index in tree.bottom_up:
            node = tree.nodes[index]
            nuclei = [whole[child] for child in tree.nuclei[index]]
            if node.kind == "edu":
                part = self.leaves[index]
            elif len(nuclei) == 1:  # a group around one unit is that unit
                part = nuclei[0]
                if part.kind == "span" and not part.id:
                    part.id, part.place = node.id, index
            else:
                part = _grouped("multinuc", nuclei, tree, index)
                part.id, part.place = node.id, index
            core[index] = part
            if satellites := [whole[child] for child in tree.satellites[index]]:
                part.hang("nucleus", SPAN)
                part = _grouped("span", [part, *satellites], tree, index)
            part.hang(node.role, node.relation)
            whole[index] = part
        self.core = [core[index] for index in range(len(tree.nodes))]
        self.whole = [whole[index] for index in range(len(tree.nodes))]

    def find(self, unit: Range) -> _Part:
        """Return the unit with a range."""
        start, end = unit
        if self.root and 0 <= start < end <= len(self.leaves):
            part: _Part | None = self.leaves[start]
            while part and part.start == start and part.end < end:
                part = part.parent
            if part and (part.start, part.end) == (start, end):
                return part
        raise InvalidEdit(
            f"there is no unit of {_name(unit)}; {self._known(start)} (ranges count from 0 and "
            "leave out their end)"
        )

    def _known(self, start: int) -> str:
        if not 0 <= start < len(self.leaves):
            return f"the text has {len(self.leaves)} EDUs"
        part: _Part | None = self.leaves[start]
        found: list[str] = []
        while part and part.start == start:
            found.append(f"{part.start}-{part.end}")
            part = part.parent
        return f"units that begin there are {', '.join(found[:6])}"

    def replace(self, old: _Part, new: _Part) -> None:
        """Put a unit into the place of another."""
        above = old.parent
        new.hang(old.role, old.relation, old.signals)
        new.parent = above
        if above:
            above.parts[above.parts.index(old)] = new
        else:
            self.root = new

    def insert(self, part: _Part, above: _Part) -> None:
        above.adopt([*above.parts, part])

    def wrap(self, place: _Part, other: _Part, kind: Kind) -> _Part:
        """Put a new group of two into the place of one; ``other`` knows how it hangs on it."""
        group = _Part(kind)
        self.replace(place, group)
        place.hang("nucleus", other.relation if kind == "multinuc" else SPAN)
        group.adopt([place, other])
        return group

    def remove(self, part: _Part) -> None:
        """Take a unit out.

        A group of one becomes that one; a lost nucleus gives way to the nearest satellite.
        """
        above = part.parent
        if above is None:
            raise InvalidTree("the only unit of a text cannot be removed")
        place = above.parts.index(part)
        above.parts.remove(part)
        if part.role == "nucleus" and above.kind == "span":
            heir = above.parts[min(place, len(above.parts) - 1)]
            heir.hang("nucleus", SPAN)
        if len(above.parts) == 1:
            self.moved[id(above)] = above.parts[0]
            self.replace(above, above.parts[0])
        wider: _Part | None = above
        while wider:
            if wider.start == part.start:
                wider.start = part.end
            elif wider.end == part.end:
                wider.end = part.start
            wider = wider.parent

    def finish(
        self, document: Document | None = None, cuts: Callable[[int], int] = lambda cut: cut
    ) -> Parse:
        """Make the parse; ``cuts`` maps the old places between EDUs to the new (-1: gone)."""
        order = list(_preorder(self.root))
        groups = [part for part in order if part.kind != "edu"]
        # Groups that were there stay in their order, so that corrected files differ little.
        groups.sort(key=lambda part: part.place if part.place >= 0 else len(self.tree.nodes))
        everything = [*self.leaves, *groups]
        index = {id(part): number for number, part in enumerate(everything)}
        ids = self._ids(everything, renumber=document is not None)
        nodes = [
            Node(ids[number], part.kind, _parent(part, index), part.role, part.relation)
            for number, part in enumerate(everything)
        ]
        secondary, kept = self._secondary(index, ids)
        signals = [
            signal._replace(source=number)
            for number, part in enumerate(everything)
            for signal in part.signals
        ]
        signals += [
            signal._replace(source=kept[signal.source])
            for signal in self.tree.signals
            if signal.secondary and signal.source in kept
        ]
        tree = replace(
            self.tree, nodes=tuple(nodes), secondary=tuple(secondary), signals=tuple(signals)
        )
        fresh = replace(
            self.parse,
            document=document or self.parse.document,
            source=tree,
            scores=None,
            kbest=() if document else self.parse.kbest,
        )
        return _with_scores(self.parse, fresh, cuts)

    def _ids(self, everything: list[_Part], *, renumber: bool) -> list[str]:
        if renumber:  # ids are numbers in text order, as other tools expect
            return [str(number) for number in range(1, len(everything) + 1)]
        taken = [int(part.id) for part in everything if part.id.isdecimal()]
        fresh = iter(range(max(taken, default=len(self.leaves)) + 1, 10**9))
        return [part.id or str(next(fresh)) for part in everything]

    def _secondary(
        self, index: Mapping[int, int], ids: list[str]
    ) -> tuple[list[SecondaryEdge], dict[int, int]]:
        """Return the secondary edges between the new nodes, and their numbers by the old ones.

        An edge goes where its units go; when both its ends have become one unit, it is gone.
        """
        edges: list[SecondaryEdge] = []
        kept: dict[int, int] = {}
        for number, edge in enumerate(self.tree.secondary):
            source, target = (self._now(self.core[end], index) for end in edge[1:3])
            if source == target and edge.source != edge.target:
                continue
            old = f"{self.tree.nodes[edge.source].id}-{self.tree.nodes[edge.target].id}"
            name = f"{ids[source]}-{ids[target]}" if edge.id == old else edge.id
            kept[number] = len(edges)
            edges.append(SecondaryEdge(name, source, target, edge.relation))
        return edges, kept

    def _now(self, part: _Part, index: Mapping[int, int]) -> int:
        while id(part) not in index:
            part = self.moved[id(part)]
        return index[id(part)]


def _parent(part: _Part, index: Mapping[int, int]) -> int:
    """Return the node that a unit hangs on: its group, or for a satellite the nucleus there."""
    if part.parent is None:
        return ROOT
    above = part.parent.nucleus if part.role == "satellite" else part.parent
    return index[id(above)]


def _grouped(kind: Kind, parts: list[_Part], tree: AnnotatedTree, index: int) -> _Part:
    """Make a unit of parts, which must follow each other without gaps."""
    group = _Part(kind)
    group.adopt(parts)
    at = group.parts[0].start
    for part in group.parts:
        if part.start != at:
            raise InvalidTree(
                f"node {tree.nodes[index].id}: a satellite stands between parts of what it "
                "modifies, so the units have no tree to correct"
            )
        at = part.end
    return group


def _preorder(root: _Part | None, skip: _Part | None = None) -> Iterator[_Part]:
    todo = [root] if root else []
    while todo:
        part = todo.pop()
        if part is not skip:
            yield part
            todo += reversed(part.parts)


# Nuclearity


def _turn_satellite(draft: _Draft, part: _Part, to: Part, relation: str | None) -> None:
    """Make a satellite the nucleus of its nucleus, or its equal."""
    if to == "satellite":
        if relation is not None:
            part.relation = relation
        return
    whole = part.parent
    if whole is None:
        raise InvalidTree("a satellite without a span")
    nucleus = whole.nucleus
    signals = part.signals
    relation = part.relation if relation is None else relation
    beyond = [
        other
        for other in whole.parts
        if (part.start < other.start if part.start > nucleus.start else other.start < part.start)
    ]
    near = [other for other in whole.parts if other is not part and other not in beyond]
    rest = nucleus if len(near) == 1 else _Part("span")
    if rest is not nucleus:
        rest.adopt(near)
    pair = whole
    if beyond:
        pair = _Part("span")
        pair.hang("nucleus", SPAN)
    if to == "nucleus":
        part.hang("nucleus", SPAN)
        rest.hang("satellite", relation, signals)
        pair.adopt([rest, part])
    elif rest.kind == "multinuc" and rest.parts[0].relation == relation:
        part.hang("nucleus", relation, signals)
        rest.adopt([*rest.parts, part])
        if beyond:
            pair = rest
        else:
            draft.moved[id(whole)] = rest
            draft.replace(whole, rest)
    else:
        part.hang("nucleus", relation, signals)
        rest.hang("nucleus", relation)
        pair.kind = "multinuc"
        if pair is whole:
            # Another kind of group: its id would mislead whoever compares two versions.
            pair.id = ""
        pair.adopt([rest, part])
    if beyond:
        pair.hang("nucleus", SPAN)
        whole.adopt([pair, *beyond])


def _split_group(draft: _Draft, group: _Part, part: _Part, to: Part, relation: str | None) -> None:
    """Make one nucleus of a group a satellite of another, or the other a satellite of it."""
    if to == "both":
        if relation is not None:
            for member in group.parts:
                member.relation = relation
        return
    relation = part.relation if relation is None else relation
    place = group.parts.index(part)
    if len(group.parts) > 2:
        if to == "nucleus":
            raise InvalidEdit(
                f"{_name((part.start, part.end))} is one of {len(group.parts)} nuclei: make each "
                "of the others a satellite, or attach it elsewhere"
            )
        other = group.parts[place - 1 if place else 1]
        group.parts.remove(part)
        signals = part.signals
        part.hang("satellite", relation, signals)
        draft.wrap(other, part, "span")
        return
    other = group.parts[1 - place]
    nucleus, satellite = (other, part) if to == "satellite" else (part, other)
    signals = [*satellite.signals, *nucleus.signals]
    nucleus.hang("nucleus", SPAN)
    satellite.hang("satellite", relation, signals)
    group.kind, group.id = "span", ""


# Small things


def _name(unit: Range) -> str:
    start, end = unit
    return f"unit {start}-{end}"


def _check_relation(relation: str) -> None:
    if not relation or relation == SPAN or relation != relation.strip():
        raise InvalidEdit(
            f"{relation!r} cannot name a relation: it must not be empty, 'span', or begin or end "
            "with white space"
        )


def _check_edu(doc: Document, edu: int) -> None:
    if not 0 <= edu < len(doc.edus):
        raise InvalidEdit(f"there is no EDU {edu}: the text has {len(doc.edus)}, counted from 0")


def _with_scores(before: Parse, after: Parse, cuts: Callable[[int], int]) -> Parse:
    """Carry the probabilities of what stayed as it was over to the corrected parse."""
    provenance = {**before.provenance, "edited": "by hand"}
    if before.scores is None:
        return replace(after, provenance=provenance)
    boundaries, heads, arcs = _edu_scores(before, after, before.scores, cuts)
    spans, nuclearities, relations = _join_scores(before, after, before.scores, cuts)
    labels = _labels(before, after, before.scores, cuts)
    scores = Scores(boundaries, heads, arcs, spans, nuclearities, relations, labels)
    return replace(after, scores=scores, provenance=provenance)


def _edu_scores(
    before: Parse, after: Parse, scores: Scores, cuts: Callable[[int], int]
) -> Iterator[tuple[float, ...]]:
    count = len(after.document.edus)
    was = {cuts(i): i for i in range(len(before.document.edus)) if cuts(i) >= 0}
    same_start = [(i, was[i]) for i in range(count) if i in was]
    yield _carried(scores.boundaries, same_start, count)
    old, new = before.dependencies, after.dependencies
    gone = -2  # equals no head, not even the root's
    heads = [
        ROOT if head == ROOT else cuts(head) if cuts(head) >= 0 else gone for head in old.heads
    ]
    same_head = [(i, j) for i, j in same_start if new.heads[i] == heads[j]]
    yield _carried(scores.heads, same_head, count)
    same_relation = [(i, j) for i, j in same_head if new.relations[i] == old.relations[j]]
    yield _carried(scores.arc_relations, same_relation, count)


def _join_scores(
    before: Parse, after: Parse, scores: Scores, cuts: Callable[[int], int]
) -> Iterator[tuple[float, ...]]:
    if not (scores.spans or scores.nuclearities or scores.relations):
        yield from ((), (), ())
        return
    old = before.tree.joins
    count = len(after.tree.joins)
    was = {(cuts(join.start), cuts(join.end)): number for number, join in enumerate(old)}
    same_span = [
        (i, was[join.start, join.end])
        for i, join in enumerate(after.tree.joins)
        if (join.start, join.end) in was
    ]
    yield _carried(scores.spans, same_span, count)
    joins = after.tree.joins
    same = [
        (i, j)
        for i, j in same_span
        if joins[i].split == cuts(old[j].split) and joins[i].nuclearity == old[j].nuclearity
    ]
    yield _carried(scores.nuclearities, same, count)
    same = [(i, j) for i, j in same if joins[i].relation == old[j].relation]
    yield _carried(scores.relations, same, count)


def _labels(
    before: Parse, after: Parse, scores: Scores, cuts: Callable[[int], int]
) -> tuple[tuple[Likely, ...], ...]:
    """Return what was likely of each join that is still there, whatever its label is now."""
    if not scores.labels:
        return ()
    places = [(cuts(join.start), cuts(join.split), cuts(join.end)) for join in before.tree.joins]
    was = dict(zip(places, scores.labels, strict=True))
    return tuple(was.get(join[:3], ()) for join in after.tree.joins)


def _carried(
    column: tuple[float, ...], pairs: Iterable[tuple[int, int]], count: int
) -> tuple[float, ...]:
    """Return a column with what is carried over by pairs (new, old), and 1 elsewhere."""
    if not column:
        return ()
    fresh = [1.0] * count
    for new, old in pairs:
        fresh[new] = column[old]
    return tuple(fresh)
