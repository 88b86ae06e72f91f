"""``.dis`` / ``.lisp`` brackets (RST-DT, GUM): brackets to trees and back, binary or n-ary.

A node is ``( Role (span 1 3) (rel2par R) child child ... )``, a leaf ``( Role (leaf 2) (rel2par R)
(text _!words_!) )``. RST-DT marks the end of a paragraph by ``<P>`` at the end of a leaf's text.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from rhetorica.convert import SPAN
from rhetorica.document import Document, Span
from rhetorica.errors import FormatError, InvalidTree, RepairWarning
from rhetorica.files import Readable, Source
from rhetorica.formats.edus import check_cut, check_no_mark
from rhetorica.parses import Parse
from rhetorica.trees import ROOT, AnnotatedTree, Join, Node, Role, RSTTree

_TOKEN = re.compile(r"\s*(?:(_!.*?_!)|(//TT_ERR)|([()])|([^\s()]+))", re.DOTALL)
_ROLES: dict[str, Role] = {"root": "root", "nucleus": "nucleus", "satellite": "satellite"}
PARAGRAPH_MARK = "<P>"
_QUOTE = "_!"
_UNWRITABLE = re.compile(r"[()|]|_!|//TT_ERR")


@dataclass(slots=True)
class _Bracket:
    """A node while the file is being read."""

    role: Role
    line: int
    relation: str = ""
    first: int = 0
    last: int = 0
    text: str | None = None
    children: list[_Bracket] = field(default_factory=list)


def read_dis(source: Readable, *, strict: bool = False) -> Parse:
    """Read a ``.dis`` or ``.lisp`` file; the text is that of its leaves, joined by spaces.

    Paragraphs are known if the leaves carry ``<P>`` marks. The numbers of a ``span`` say nothing
    that the leaves below it do not; where they disagree, as in some files of official corpora,
    the leaves are believed and a `RepairWarning` tells, unless ``strict`` refuses.
    """
    source = Source.of(source)
    source.require_content()
    root = _read_brackets(source)
    leaves = _leaves(source, root, strict=strict)
    texts = [leaf.text or "" for leaf in leaves]
    doc = _document(texts, source.stem)
    try:
        return Parse(doc, _annotate(source, root, len(leaves)))
    except InvalidTree as error:
        raise source.error(str(error), root.line) from None


def write_dis(parse: Parse, *, binary: bool = False, tokenized: bool = False) -> str:
    """Write a parse as brackets, n-ary as annotated or ``binary``."""
    doc = parse.document
    texts = doc.tokenized_edu_texts() if tokenized else doc.edu_texts
    ends = {span.end for span in doc.paragraphs[:-1]}
    check_cut(doc)
    if not texts:
        return ""
    texts = [" ".join(text.split()) for text in texts]
    _check_texts(texts, [edu.end in ends for edu in doc.edus])
    texts = [
        f"{text}{PARAGRAPH_MARK if edu.end in ends else ''}"
        for text, edu in zip(texts, doc.edus, strict=True)
    ]
    out: list[str] = []
    for depth, part in _walk(parse.tree if binary else parse.annotated):
        indent = "  " * depth
        if part is None:
            out.append(f"{indent})")
            continue
        place = (
            f"(leaf {part.end})"
            if part.end - part.start == 1
            else f"(span {part.start + 1} {part.end})"
        )
        relation = f"(rel2par {_writable(part.relation)})" if part.role != "root" else ""
        line = f"{indent}( {part.role.capitalize()} {place} {relation}"
        if part.end - part.start == 1:
            line = f"{line.rstrip()} (text _!{texts[part.start]}_!) )"
        out.append(line)
    return "\n".join(out) + "\n"


def _check_texts(texts: list[str], marked: list[bool]) -> None:
    """Refuse EDUs that the format cannot hold: they would come back changed, or not at all."""
    check_no_mark(PARAGRAPH_MARK, "dis", [t for t, m in zip(texts, marked, strict=True) if not m])
    for text in texts:
        if _QUOTE in text:
            why = f"the EDU {text[:40]!r} has {_QUOTE} in it, which ends a text in this format"
            raise FormatError("<dis>", None, f"{why}: choose another (json keeps everything)")


def _writable(relation: str) -> str:
    """Return a relation that can be read back as it is, or refuse it."""
    if relation != " ".join(relation.split()) or _UNWRITABLE.search(relation) or not relation:
        why = f"the relation {relation!r} cannot be written: it is empty, or has brackets, quotes"
        raise FormatError("<dis>", None, f"{why} or odd spaces; rename it, or choose rs3 or json")
    return relation


class _Part(NamedTuple):
    """A constituent to be written: how it hangs on its parent, its EDUs, and where to find more."""

    role: Role
    relation: str
    start: int
    end: int
    node: int = -1
    bare: bool = False  # without its satellites


def _walk(tree: AnnotatedTree | RSTTree) -> Iterator[tuple[int, _Part | None]]:
    """Yield constituents in preorder with their depth, and None where a node closes."""
    if isinstance(tree, RSTTree):
        joins = {(join.start, join.end): join for join in tree.joins}
        todo: list[tuple[int, _Part | None]] = [(0, _Part("root", "", 0, tree.n_edus))]
    else:
        joins = {}
        root = next(i for i, node in enumerate(tree.nodes) if node.parent == ROOT)
        todo = [(0, _Part("root", "", 0, tree.n_edus, root))]
    while todo:
        depth, part = todo.pop()
        yield depth, part
        if part is None or part.end - part.start == 1:
            continue
        if isinstance(tree, RSTTree):
            children = _join_parts(joins[part.start, part.end])
        else:
            children = sorted(_node_parts(tree, part), key=lambda child: child.start)
        todo.append((depth, None))
        todo += [(depth + 1, child) for child in reversed(children)]


def _join_parts(join: Join) -> list[_Part]:
    parts = []
    for role, (start, end) in zip(
        join.nuclearity, ((join.start, join.split), (join.split, join.end)), strict=True
    ):
        if role == "S":
            parts.append(_Part("satellite", join.relation, start, end))
        else:
            relation = join.relation if join.nuclearity == "NN" else SPAN
            parts.append(_Part("nucleus", relation, start, end))
    return parts


def _node_parts(tree: AnnotatedTree, part: _Part) -> list[_Part]:
    """Return a constituent's parts: of a node with its satellites, or of the bare node."""
    index, bare = part.node, part.bare
    while True:
        node, nuclei = tree.nodes[index], tree.nuclei[index]
        satellites = [] if bare else tree.satellites[index]
        parts = [
            _Part("satellite", tree.nodes[child].relation, *tree.extents[child], child)
            for child in satellites
        ]
        alone_in_span = node.role == "nucleus" and tree.nodes[node.parent].kind == "span"
        if node.kind == "multinuc" and not (satellites and alone_in_span):
            # Several nuclei beside a satellite in one node: so annotated in some RST-DT files.
            return parts + [
                _Part("nucleus", tree.nodes[child].relation, *tree.extents[child], child)
                for child in nuclei
            ]
        if satellites:
            core = (index, index + 1)
            if nuclei:
                core = (tree.extents[nuclei[0]][0], tree.extents[nuclei[-1]][1])
            relation = node.relation if alone_in_span else SPAN
            return [*parts, _Part("nucleus", relation, *core, index, bare=True)]
        # A span without satellites of its own is just its nucleus, with what modifies that.
        index, bare = nuclei[0], False


def _read_brackets(source: Source) -> _Bracket:
    """Read nested brackets into nodes, without recursion: depth is the reader's worst enemy."""
    open_nodes: list[_Bracket] = []
    words: list[str] | None = None  # the words of an open property such as (span 1 3)
    root: _Bracket | None = None
    just_opened = False
    line, at = 1, 0
    for match in _TOKEN.finditer(source.text):
        text, noise, bracket, word = match.groups()
        line, at = line + source.text.count("\n", at, match.end()), match.end()
        if noise:
            continue
        if root is not None and not open_nodes:
            raise source.error("text after the end of the tree", line)
        if bracket == "(":
            if just_opened:
                raise source.error("two opening brackets in a row", line)
            just_opened = True
        elif bracket == ")":
            if words is not None:
                _set_property(source, open_nodes[-1], words, line)
                words = None
            elif open_nodes and not just_opened:
                open_nodes.pop()
            else:
                raise source.error("a closing bracket that closes nothing", line)
        elif just_opened and word and (role := _ROLES.get(word.lower())):
            node = _Bracket(role, line)
            if open_nodes:
                open_nodes[-1].children.append(node)
            root = root or node
            open_nodes.append(node)
            just_opened = False
        elif just_opened and word and open_nodes:
            words, just_opened = [word], False
        elif words is not None:
            words.append(text or word)
        else:
            raise source.error(f"unexpected {(text or word)[:30]!r}", line)
    if root is None:
        raise source.error("no tree: expected ( Root (span 1 N) ...", 1)
    if open_nodes or words is not None:
        where = open_nodes[-1].line
        raise source.error("unbalanced brackets: the node that opens here is never closed", where)
    return root


def _set_property(source: Source, node: _Bracket, words: list[str], line: int) -> None:
    name, values = words[0].lower(), words[1:]
    try:
        if name == "span":
            node.first, node.last = (int(value.strip("|")) for value in values)
        elif name == "leaf":
            (node.first,) = (int(value.strip("|")) for value in values)
            node.last = node.first
        elif name == "rel2par":
            if not values or node.relation:
                raise ValueError
            node.relation = " ".join(values)
        elif name == "text":
            if node.text is not None:
                raise ValueError
            node.text = " ".join(values).strip("|").removeprefix("_!").removesuffix("_!")
    except ValueError:
        raise source.error(f"cannot read ({' '.join(words)[:60]})", line) from None


def _leaves(source: Source, root: _Bracket, *, strict: bool) -> list[_Bracket]:
    """Return the leaves in order; check them, and number the nodes above by them."""
    leaves: list[_Bracket] = []
    order: list[_Bracket] = []
    todo = [root]
    while todo:
        node = todo.pop()
        order.append(node)
        if node is not root and not node.relation:
            raise source.error("a node without (rel2par ...)", node.line)
        if node.text is not None:
            if node.children:
                raise source.error("a node with a text and with parts", node.line)
            leaves.append(node)
            if node.first != len(leaves):
                raise source.error(f"leaf {node.first}, expected leaf {len(leaves)}", node.line)
            if not node.text.rstrip().removesuffix(PARAGRAPH_MARK).strip():
                raise source.error(f"leaf {node.first} has no text", node.line)
        elif not node.children:
            raise source.error(f"EDU {node.first} has no text and no parts", node.line)
        todo += reversed(node.children)
    for node in reversed(order):  # parts before the nodes that they make up
        if node.children:
            said, found = (node.first, node.last), (node.children[0].first, node.children[-1].last)
            if said != found:
                why = f"span {said[0]} {said[1]} holds the EDUs {found[0]} to {found[1]}"
                if strict:
                    raise source.error(why, node.line)
                warnings.warn(
                    f"{source.name}:{node.line}: {why}; read so", RepairWarning, stacklevel=3
                )
            node.first, node.last = found
    return leaves


def _document(texts: list[str], id: str) -> Document:
    pieces, edus, paragraphs = [], [], []
    at = paragraph = 0
    for text in texts:
        ends = text.rstrip().endswith(PARAGRAPH_MARK)
        text = text.rstrip().removesuffix(PARAGRAPH_MARK).strip()
        edus.append(Span(at, at + len(text)))
        at += len(text)
        pieces += [text, "\n\n" if ends else " "]
        if ends:
            paragraphs.append(Span(paragraph, at))
            paragraph = at + 2
        at += len(pieces[-1])
    end = edus[-1].end
    if paragraphs and paragraph < end:
        paragraphs.append(Span(paragraph, end))
    return Document("".join(pieces[:-1]), tuple(edus), paragraphs=tuple(paragraphs), id=id)


def _annotate(source: Source, root: _Bracket, n_edus: int) -> AnnotatedTree:
    """Turn constituents into nodes: a satellite hangs on the nucleus beside it."""
    nodes: list[Node | None] = [None] * n_edus
    todo: list[tuple[_Bracket, int, Role, str]] = [(root, ROOT, "root", "")]
    while todo:
        bracket, parent, role, relation = todo.pop()
        if not bracket.children:
            index = bracket.first - 1
            nodes[index] = Node(str(index + 1), "edu", parent, role, relation)
            continue
        nuclei = [child for child in bracket.children if child.role == "nucleus"]
        satellites = [child for child in bracket.children if child.role == "satellite"]
        if not nuclei or len(nuclei) + len(satellites) < len(bracket.children):
            raise source.error("a node without a nucleus among its parts", bracket.line)
        index = len(nodes)
        kind = "span" if len(nuclei) == 1 else "multinuc"
        nodes.append(Node(str(index + 1), kind, parent, role, relation))  # type: ignore[arg-type]
        # A single nucleus is next off the stack, so its number is known already.
        modified = index
        if kind == "span":
            modified = index + 1 if nuclei[0].children else nuclei[0].first - 1
        todo += [(child, modified, "satellite", child.relation) for child in satellites]
        todo += [(child, index, "nucleus", child.relation or SPAN) for child in reversed(nuclei)]
    return AnnotatedTree(tuple(node for node in nodes if node))
