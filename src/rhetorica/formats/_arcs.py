"""What the dependency formats share: one-line texts, labels, trees whose errors name a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rhetorica.document import Document
from rhetorica.errors import InvalidTree
from rhetorica.files import Source
from rhetorica.trees import ROOT, DepTree

# Characters that would break a line-based, tab-separated file.
BREAKS = str.maketrans("\t\n\r", "   ")


def edu_lines(document: Document, *, tokenized: bool = False) -> list[str]:
    """Return each EDU's text on one line: its characters, or its word forms."""
    texts = document.tokenized_edu_texts() if tokenized else document.edu_texts
    return [text.translate(BREAKS).strip() for text in texts]


SUFFIXES = ("_m", "_r")
_DIGITS = 18


def split_label(label: str) -> tuple[str, bool]:
    """Return a relation without its final ``_m`` or ``_r``, and whether it was multinuclear.

    >>> split_label("joint-list_m"), split_label("elab-enum_member")
    (('joint-list', True), ('elab-enum_member', False))
    """
    if label.endswith(SUFFIXES):
        return label[:-2], label[-1] == "m"
    return label, False


class Arc(NamedTuple):
    """What a line says of an EDU: its head (-1 for the root), label with suffix, level or ``_``."""

    line: int
    head: int
    label: str
    level: str


def read_arcs(source: Source, arcs: Sequence[Arc]) -> DepTree:
    """Make a tree of what lines say; levels are left out if all are unknown."""
    levels: list[int] = []
    if any(arc.level != "_" for arc in arcs):
        levels = [parse_int(source, arc.line, "the level", arc.level) for arc in arcs]
    relations = [split_label(arc.label) for arc in arcs]
    return make_tree(
        source,
        [arc.head for arc in arcs],
        [name for name, _ in relations],
        [multinuclear for _, multinuclear in relations],
        levels,
        [arc.line for arc in arcs],
    )


def parse_int(source: Source, line: int, what: str, value: str) -> int:
    """Read a whole number that is not negative."""
    # int() also takes "１", "+1", "1_000" and surrounding space, none of which is meant here.
    # No count in any file has more than 18 digits, and Python refuses to read more than 4,300.
    if not (value.isascii() and value.isdigit() and len(value) <= _DIGITS):
        shown = value if len(value) <= 40 else f"{value[:40]}…"
        raise source.error(f"{what} is {shown!r}, expected a whole number", line)
    return int(value)


def make_tree(
    source: Source,
    heads: Sequence[int],
    relations: Sequence[str],
    multinuclear: Sequence[bool],
    levels: Sequence[int],
    lines: Sequence[int],
) -> DepTree:
    """Make a tree from what a file says; what is wrong is reported with the line of its EDU."""
    for index, head in enumerate(heads):
        if not ROOT <= head < len(heads):
            raise source.error(
                f"EDU {index + 1} has head {head + 1}, but there are only {len(heads)} EDUs",
                lines[index],
            )
    roots = [index for index, head in enumerate(heads) if head == ROOT]
    if len(roots) > 1:
        raise source.error(
            f"EDU {roots[1] + 1} is a second root beside EDU {roots[0] + 1}, expected one root",
            lines[roots[1]],
        )
    try:
        return DepTree(tuple(heads), tuple(relations), tuple(multinuclear), tuple(levels))
    except InvalidTree as error:
        line = lines[min(_cycle(heads))] if heads else None
        raise source.error(str(error), line) from None


def _cycle(heads: Sequence[int]) -> list[int]:
    """Return the EDUs of a cycle, or all EDUs where there is none."""
    state = [0] * len(heads)  # 0 not seen, otherwise the number of the walk that saw it first
    for start in range(len(heads)):
        at, path = start, []
        while at >= 0 and not state[at]:
            state[at] = start + 1
            path.append(at)
            at = heads[at]
        if at >= 0 and state[at] == start + 1:
            return path[path.index(at) :]
    return list(range(len(heads)))
