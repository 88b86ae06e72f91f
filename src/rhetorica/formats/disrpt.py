"""The DISRPT shared tasks' ``.tok`` and ``.rels``: file <-> Parses, relations (rows).

``.tok`` lists the words of each document with the EDU starts; its text is the words with single
spaces between. (``.conllu`` has sentences and syntax besides: `rhetorica.formats.conllu`.)
``.rels`` lists pairs of units with their relation. Units and sentences are ranges of words of the
document; a unit that another one interrupts has several ranges, and ``<*>`` in its text.

`relations_of` makes rows from a parse, `dependencies_from_rels` a tree from rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple

from rhetorica.convert import SAME_UNIT, same_units
from rhetorica.document import Document, Token
from rhetorica.errors import InvalidDocument, InvalidTree
from rhetorica.files import Readable, Source
from rhetorica.formats._arcs import BREAKS
from rhetorica.formats._erst import Ranges, extras, format_ranges, merge_ranges
from rhetorica.formats.conllu import EMPTY, check_covered, edu_starts, read_conllu
from rhetorica.parses import Parse
from rhetorica.trees import ROOT, ROOT_RELATION, AnnotatedTree, DepTree

Direction = Literal["1>2", "1<2"]

HEADER = (
    "doc", "unit1_toks", "unit2_toks", "unit1_txt", "unit2_txt", "u1_raw", "u2_raw", "s1_toks",
    "s2_toks", "unit1_sent", "unit2_sent", "dir", "rel_type", "orig_label", "label",
)  # fmt: skip
OPTIONAL = {"u1_raw": "unit1_txt", "u2_raw": "unit2_txt", "rel_type": ""}
"""Columns that came in 2025, and what stands for them in older files."""
_DIRECTIONS: dict[str, Direction] = {"1>2": "1>2", "1<2": "1<2"}
UNKNOWN_TYPE = "none"
GAP = "<*>"
RESTORED = "same-unit"
MULTINUCLEAR = SAME_UNIT | {
    "joint-list", "joint-sequence", "joint-other", "joint-disjunction", "adversative-contrast",
    "restatement-repetition", "joint", "list", "sequence", "contrast", "conjunction",
    "disjunction", "restatement-mn",
}  # fmt: skip
"""Relations that RST corpora use between nuclei; a ``.rels`` file does not tell nuclearity."""


class Relation(NamedTuple):
    """A row of a ``.rels`` file; ranges of words are half-open and count from 0.

    ``unit1`` comes first in the text. ``direction`` "1>2" says that unit 1 depends on unit 2, "1<2"
    the reverse (in SDRT corpora the arrow goes from the earlier argument to the later instead).
    ``text`` gives the words, ``raw`` the surface tokens ("de a" and "da").
    """

    doc: str
    unit1: Ranges
    unit2: Ranges
    unit1_text: str
    unit2_text: str
    unit1_raw: str
    unit2_raw: str
    sentence1: Ranges
    sentence2: Ranges
    sentence1_text: str
    sentence2_text: str
    direction: Direction
    type: str
    orig_label: str
    label: str

    @property
    def dependent(self) -> Ranges:
        """The unit that depends on the other (in RST and dependency corpora)."""
        return self.unit1 if self.direction == "1>2" else self.unit2

    @property
    def head(self) -> Ranges:
        """The unit that the other depends on (in RST and dependency corpora)."""
        return self.unit2 if self.direction == "1>2" else self.unit1


def read_tok(source: Readable) -> Iterator[Parse]:
    """Read document by document: words and EDUs, no sentences and no tree."""
    for parse in read_conllu(source):
        yield Parse(replace(parse.document, sentences=()))


def write_tok(parses: Parse | Iterable[Parse]) -> str:
    """Return the file's text; documents are separated by an empty line."""
    if isinstance(parses, Parse):
        parses = (parses,)
    return "\n".join(_tok_document(parse.document) for parse in parses)


def _tok_document(document: Document) -> str:
    tokens = document.tokens
    if not tokens and document.text.strip():
        raise InvalidDocument(
            f"{document.id or 'the document'} has no tokens, which .tok files are made of: "
            "`parse.tokenized()` adds them (on the command line --tokenize)"
        )
    check_covered(document)
    starts = set(edu_starts(document))
    rows = [f"# newdoc id = {document.id.translate(BREAKS)}\n"]
    for group in _surface_groups(tokens):
        surface = document.text[tokens[group[0]].start : tokens[group[-1]].end]
        if len(group) > 1 or tokens[group[0]].form:
            rows.append(_tok_row(f"{group[0] + 1}-{group[-1] + 1}", surface, EMPTY))
        for index in group:
            mark = "Seg=B-seg" if index in starts else "Seg=O"
            rows.append(_tok_row(str(index + 1), document.form(tokens[index]), mark))
    return "".join(rows)


def _tok_row(number: str, form: str, misc: str) -> str:
    return f"{number}\t{form.translate(BREAKS)}\t_\t_\t_\t_\t_\t_\t_\t{misc}\n"


def _surface_groups(tokens: Sequence[Token]) -> Iterator[range]:
    """Yield the words of each surface token."""
    start = 0
    for index in range(1, len(tokens) + 1):
        if index == len(tokens) or not tokens[index].continues:
            yield range(start, index)
            start = index


def read_rels(source: Readable) -> Iterator[Relation]:
    """Read row by row; files of before 2025, with twelve columns, are read too."""
    source = Source.of(source)
    source.require_content()
    rows = source.text.split("\n")
    places = _places(source, rows[0].split("\t"))
    width = len(rows[0].split("\t"))
    for line, row in enumerate(rows[1:], 2):
        if not row:
            continue
        columns = row.split("\t")
        if len(columns) != width:
            raise source.error(f"{len(columns)} columns separated by tabs, expected {width}", line)
        values = [UNKNOWN_TYPE if place is None else columns[place] for place in places]
        try:
            yield _relation(values)
        except ValueError as error:
            raise source.error(str(error), line) from None


def _places(source: Source, names: Sequence[str]) -> list[int | None]:
    """Return where each of our columns stands in the file; None for a type that is not there."""
    places: list[int | None] = []
    for name in HEADER:
        if name not in names:
            if name not in OPTIONAL:
                raise source.error(
                    f"the first line lacks the column {name!r}; expected: {' '.join(HEADER)}", 1
                )
            name = OPTIONAL[name]
        places.append(names.index(name) if name else None)
    return places


def _relation(values: Sequence[str]) -> Relation:
    (doc, unit1, unit2, text1, text2, raw1, raw2, span1, span2, sentence1, sentence2, *rest) = (
        values
    )
    arrow, kind, orig_label, label = rest
    direction = _DIRECTIONS.get(arrow)
    if direction is None:
        raise ValueError(f"direction {arrow!r}, expected 1>2 or 1<2")
    return Relation(
        doc, parse_ranges(unit1), parse_ranges(unit2), text1, text2, raw1, raw2,
        parse_ranges(span1), parse_ranges(span2), sentence1, sentence2,
        direction, kind, orig_label, label,
    )  # fmt: skip


def write_rels(relations: Iterable[Relation]) -> str:
    """Return the file's text, header included."""
    rows = ["\t".join(HEADER)]
    for relation in relations:
        columns = [
            format_ranges(value) if isinstance(value, tuple) else value.translate(BREAKS)
            for value in relation
        ]
        rows.append("\t".join(columns))
    return "".join(f"{row}\n" for row in rows)


def parse_ranges(text: str) -> Ranges:
    """Read ranges of words as the file has them: numbers from 1, both ends included.

    >>> parse_ranges("88-93,103")
    ((87, 93), (102, 103))
    """
    ranges: list[tuple[int, int]] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        last = last if dash else first
        if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in (first, last)):
            raise ValueError(f"words {text!r}, expected numbers such as 3-7 or 3-7,12-14")
        start, end = int(first) - 1, int(last)
        if not (ranges[-1][1] if ranges else 0) <= start < end:
            raise ValueError(f"words {text!r}: ranges must count up, from 1 on")
        ranges.append((start, end))
    return tuple(ranges)


def relations_of(
    parse: Parse, label_map: Mapping[str, str] | None = None, *, reattach: bool = True
) -> list[Relation]:
    """Make the rows of a parse with tokens, as the shared task makes them from RST.

    Same-unit is no relation here: its parts become one unit, and what depends on a later part
    depends on the first; without ``reattach`` it depends on that part alone, as in corpora that
    were converted by older tools (SciDTB, GCDT). Rows come in the order of their dependent.
    Secondary edges become rows after the relation of the same unit; of two relations between the
    same units the first counts.

    The type is "explicit" if a discourse marker signals the relation, "implicit" if not, "none"
    where signals are not annotated. ``label_map`` gives the label for an original label (exact, or
    in lower case); without it, or if it has none, the original label is repeated.
    """
    tree = parse.dependencies
    units = _Units(parse.document, tree, reattach=reattach)
    seen: set[tuple[Ranges, Ranges]] = set()
    relations: list[Relation] = []
    for dependent, head, name, kind in _arcs(parse, tree):
        head = units.attach_to[head]
        if name.lower() in SAME_UNIT or head == dependent:
            continue
        before, after = min(dependent, head), max(dependent, head)
        key = (units.words[before], units.words[after])
        if key in seen:
            continue
        seen.add(key)
        relations.append(
            units.relation(before, after, "1>2" if before == dependent else "1<2", kind, name)
        )
    if label_map is None:
        return relations
    return [
        row._replace(
            label=label_map.get(row.orig_label, label_map.get(row.orig_label.lower(), row.label))
        )
        for row in relations
    ]


def _arcs(parse: Parse, tree: DepTree) -> Iterator[tuple[int, int, str, str]]:
    """Yield dependent, head, relation and type, for the tree and for the edges beside it."""
    source = parse.source
    if not isinstance(source, AnnotatedTree) or not source.signals:
        for head, dependent, name in tree.arcs():
            if head != ROOT:
                yield dependent, head, name, UNKNOWN_TYPE
        return
    secondary, signals = extras(source)
    for head, dependent, name in tree.arcs():
        if head == ROOT:  # the shared task takes no secondary edges of the root
            continue
        has_marker = any(signal.type == "dm" for signal in signals[dependent])
        yield dependent, head, name, "explicit" if has_marker else "implicit"
        for arc in secondary[dependent]:
            has_marker = any(signal.type == "orphan" for signal in arc.signals)
            yield dependent, arc.head, arc.relation, "explicit" if has_marker else "implicit"


class _Units:
    """The units of a document (EDUs, parts of one unit taken together) as ranges of words."""

    def __init__(self, document: Document, tree: DepTree, *, reattach: bool) -> None:
        if not document.tokens:
            raise InvalidDocument(
                f"{document.id or 'the document'} has no tokens, which .rels files point to: "
                "`parse.tokenized()` adds them (on the command line --tokenize)"
            )
        self.document = document
        self.forms = [document.form(token) for token in document.tokens]
        starts = edu_starts(document)
        ranges = [(start, end) for start, end in pairwise([*starts, len(document.tokens)])]
        labels = {name for name in tree.relations if name.lower() in SAME_UNIT}
        self.attach_to = same_units(tree, labels) if reattach else list(range(tree.n_edus))
        members = [[part] for part in ranges]
        for edu, (head, name) in enumerate(zip(tree.heads, tree.relations, strict=True)):
            if name in labels and head != ROOT:
                members[self.attach_to[head]].append(ranges[edu])
        self.words: list[Ranges] = [merge_ranges(sorted(own)) for own in members]
        self.sentences = [
            (group.start, group.stop) for group in document.sentence_tokens() if group
        ] or [(0, len(document.tokens))]
        self.sentence_of = [0] * len(document.tokens)
        for index, (start, end) in enumerate(self.sentences):
            self.sentence_of[start:end] = [index] * (end - start)

    def relation(
        self, before: int, after: int, direction: Direction, kind: str, name: str
    ) -> Relation:
        unit1, unit2 = self.words[before], self.words[after]
        sentence1 = (self.sentences[self.sentence_of[unit1[0][0]]],)
        sentence2 = (self.sentences[self.sentence_of[unit2[0][0]]],)
        return Relation(
            self.document.id, unit1, unit2, self.text(unit1), self.text(unit2), self.raw(unit1),
            self.raw(unit2), sentence1, sentence2, self.text(sentence1), self.text(sentence2),
            direction, kind, name, name,
        )  # fmt: skip

    def text(self, ranges: Ranges) -> str:
        """Return the words, with a mark for each gap."""
        return f" {GAP} ".join(" ".join(self.forms[start:end]) for start, end in ranges)

    def raw(self, ranges: Ranges) -> str:
        """Return the surface tokens, with a mark for each gap."""
        return f" {GAP} ".join(" ".join(self._surfaces(*part)) for part in ranges)

    def _surfaces(self, start: int, end: int) -> Iterator[str]:
        """Yield the surface tokens of a range of words; one that is cut is given by its words."""
        text, tokens = self.document.text, self.document.tokens
        for group in _surface_groups(tokens[start:end]):
            first, after = start + group.start, start + group.stop
            if tokens[first].continues or (after < len(tokens) and tokens[after].continues):
                yield from self.forms[first:after]
            else:
                yield text[tokens[first].start : tokens[after - 1].end]


def dependencies_from_rels(
    document: Document,
    relations: Iterable[Relation],
    *,
    multinuclear: Collection[str] = MULTINUCLEAR,
    secondary: bool = False,
) -> DepTree:
    """Make a tree from the rows of one document, labelled with the original labels.

    The parts of a discontinuous unit are joined by same-unit again, the later ones hanging on the
    first. ``secondary`` says that rows may be secondary edges (eRST): the first row of a unit is
    then taken for its place in the tree, and others are left out. Raises `InvalidTree` where the
    rows make no tree: a unit with two heads, several units without, a cycle, or units that are not
    made of whole EDUs.
    """
    edu_at = {start: edu for edu, start in enumerate(edu_starts(document))}
    ends = [*edu_at, len(document.tokens)]
    heads, names = [ROOT] * len(edu_at), [ROOT_RELATION] * len(edu_at)
    arcs: list[tuple[int, int, str]] = []
    for row in relations:
        dependent, *parts = _edus_of(row.dependent, edu_at, ends)
        head, *head_parts = _edus_of(row.head, edu_at, ends)
        arcs.append((dependent, head, row.orig_label))
        # Same-unit goes first, because a later part may start a secondary edge of its own.
        for part in parts:
            heads[part], names[part] = dependent, RESTORED
        for part in head_parts:
            heads[part], names[part] = head, RESTORED
    for dependent, head, name in arcs:
        if heads[dependent] == ROOT:
            heads[dependent], names[dependent] = head, name
        elif not secondary:
            raise InvalidTree(
                f"EDU {dependent + 1} has two heads: {heads[dependent] + 1} and {head + 1}"
            )
    return DepTree(
        tuple(heads), tuple(names), tuple(name.lower() in multinuclear for name in names)
    )


def _edus_of(ranges: Ranges, edu_at: Mapping[int, int], ends: Sequence[int]) -> list[int]:
    """Return the EDUs that a unit is made of."""
    edus: list[int] = []
    for start, end in ranges:
        at = start
        while at < end:
            edu = edu_at.get(at)
            if edu is None or ends[edu + 1] > end:
                raise InvalidTree(f"words {format_ranges(ranges)} are not made of whole EDUs")
            edus.append(edu)
            at = ends[edu + 1]
    return edus


def group_by_document(relations: Iterable[Relation]) -> dict[str, list[Relation]]:
    """Return the rows of each document, in the order of the file."""
    groups: dict[str, list[Relation]] = {}
    for relation in relations:
        groups.setdefault(relation.doc, []).append(relation)
    return groups
