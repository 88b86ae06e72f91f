"""``.rsd``: discourse dependencies, one EDU a line (GUM, GCDT): file <-> Parse.

Ten columns, separated by tabs: number of the EDU, text, level, two unused, features, number of the
head (0 for the root), relation with ``_m`` (multinuclear) or ``_r`` (satellite), secondary edges,
signals. The level tells in which order the head takes its dependents, innermost (0) first, and
becomes `DepTree.levels`; ``_`` stands for unknown.

A dependency tree has no place for features, secondary edges and signals: reading drops them, and
the ``.rs4`` file keeps the latter two. Writing fills them in as far as the parse knows them: a
parse whose source is an eRST tree (`AnnotatedTree`) gives secondary edges and signals.
"""

from __future__ import annotations

from rhetorica.convert import Convention
from rhetorica.document import Document
from rhetorica.files import Readable, Source
from rhetorica.formats._arcs import BREAKS, SUFFIXES, Arc, edu_lines, parse_int, read_arcs
from rhetorica.formats._erst import SecondaryArc, extras, signal_text
from rhetorica.parses import Parse
from rhetorica.trees import ROOT, AnnotatedTree, DepTree

COLUMNS = 10


def read_rsd(source: Readable) -> Parse:
    r"""Read the document and its dependency tree; the EDUs are joined by single spaces.

    >>> from io import StringIO
    >>> rows = ["1\tWet,\t0\t_\t_\t_\t0\tROOT\t_\t_", "2\tit rained.\t0\t_\t_\t_\t1\tcause_r\t_\t_"]
    >>> parse = read_rsd(StringIO("\n".join(rows)))
    >>> parse.edus, parse.dependencies.relations
    (['Wet,', 'it rained.'], ('ROOT', 'cause'))
    """
    source = Source.of(source)
    source.require_content()
    texts: list[str] = []
    arcs: list[Arc] = []
    for line, row in enumerate(source.text.split("\n"), 1):
        if not row.strip():
            continue
        columns = row.split("\t")
        if len(columns) != COLUMNS:
            raise source.error(
                f"{len(columns)} columns separated by tabs, expected {COLUMNS}", line
            )
        number = parse_int(source, line, "the EDU's number (column 1)", columns[0])
        if number != len(texts) + 1:
            raise source.error(f"EDU {number} comes where {len(texts) + 1} was expected", line)
        text = columns[1].strip()
        if not text:
            raise source.error(f"EDU {number} has no text (column 2)", line)
        head = parse_int(source, line, "the head (column 7)", columns[6]) - 1
        texts.append(text)
        arcs.append(Arc(line, head, columns[7].strip(), columns[2]))
    return Parse(Document.from_edus(texts, id=source.stem), read_arcs(source, arcs))


def write_rsd(parse: Parse, *, multinuclear: Convention = "star", tokenized: bool = False) -> str:
    """Return the file's text.

    ``tokenized`` writes each EDU as its word forms with single spaces between, as GUM does, where
    the document has tokens; otherwise the EDU's own characters are written, line breaks and tabs
    as spaces. ``multinuclear`` is the convention for trees that are not dependencies already.
    """
    tree, document = parse.dependencies_as(multinuclear), parse.document
    rows = zip(
        edu_lines(document, tokenized=tokenized),
        *_columns(tree),
        *_extra_columns(parse),
        strict=True,
    )
    return "".join(
        f"{number}\t{text}\t{level}\t_\t_\t_\t{head + 1}\t{label}\t{secondary}\t{signals}\n"
        for number, (text, level, head, label, secondary, signals) in enumerate(rows, 1)
    )


def _extra_columns(parse: Parse) -> tuple[list[str], list[str]]:
    """Return secondary edges and signals of each EDU, as far as the parse has them."""
    document = parse.document
    if not isinstance(parse.source, AnnotatedTree):
        return ["_"] * len(document.edus), ["_"] * len(document.edus)
    arcs, signals = extras(parse.source)
    return (
        ["|".join(_secondary_text(arc, document) for arc in own) or "_" for own in arcs],
        [";".join(signal_text(signal, document) for signal in own) or "_" for own in signals],
    )


def _secondary_text(arc: SecondaryArc, document: Document) -> str:
    signals = ";".join(sorted(signal_text(signal, document) for signal in arc.signals)) or "_"
    return f"{arc.head + 1}:{arc.relation}:{arc.depth}:{arc.head_depth}:{signals}"


def _columns(tree: DepTree) -> tuple[list[str], tuple[int, ...], list[str]]:
    """Return levels, heads and labels as the file has them (heads still from 0)."""
    labels = [
        # A reader strips one suffix, so that even a root's label must have one if it looks so.
        relation.translate(BREAKS)
        + ("" if head == ROOT and not relation.endswith(SUFFIXES) else "_m" if nuclear else "_r")
        for head, relation, nuclear in zip(
            tree.heads, tree.relations, tree.multinuclear, strict=True
        )
    ]
    levels = [str(level) for level in tree.levels] or ["_"] * tree.n_edus
    return levels, tree.heads, labels
