"""``.rs3`` (RSTTool) and ``.rs4`` (rstWeb with eRST's secondary edges and signals): XML to trees.

Both are one format; ``.rs4`` adds two lists at the end of the body. An ``.rs3`` holds no running
text: the document's text is that of its segments, joined by spaces.
"""

from __future__ import annotations

import re
import warnings
import xml.etree.ElementTree as ElementTree
from html import escape
from xml.parsers import expat

from rhetorica.convert import SPAN
from rhetorica.document import Document
from rhetorica.errors import InvalidDocument, InvalidTree, RepairWarning
from rhetorica.files import Readable, Source, encode
from rhetorica.parses import Parse
from rhetorica.trees import ROOT, AnnotatedTree, Kind, Node, RelationType, SecondaryEdge, Signal

REPAIR_RELATION = "joint"
"""What several roots, or several nuclei of one span, are joined by when a file is repaired."""


_GROUP_KINDS: dict[str | None, Kind] = {"span": "span", "multinuc": "multinuc"}


def read_rs3(source: Readable, *, repair: bool = False) -> Parse:
    """Read an ``.rs3`` or ``.rs4`` file.

    With ``repair``, several roots are put under a new multinuclear root, and a span with several
    nuclei becomes multinuclear; both are told by a `RepairWarning`. Without, they are errors.
    """
    source = Source.of(source)
    source.require_content()
    root = _parse_xml(source)
    bodies = root.findall("body")
    if not bodies:
        raise source.error("no <body> element: is this an .rs3 file?", 1)
    body = bodies[0]
    segments, groups = body.findall("segment"), body.findall("group")
    _check_nothing_hidden(source, root, segments, groups)
    if not segments:
        raise source.error("no <segment> in <body>: the file has no discourse units", 1)
    inventory, types = _read_inventory(root)
    index = _index_nodes(source, segments, groups)
    try:
        nodes = _read_nodes(source, [*segments, *groups], index, types)
        if repair:
            nodes = _repair(source, nodes)
        secondary, edge_index = _read_secondary(source, body, index)
        tree = AnnotatedTree(
            tuple(nodes),
            secondary,
            _read_signals(source, body, index, edge_index),
            inventory,
            _read_signal_types(root),
        )
        texts = [(element.text or "").strip() for element in segments]
        return Parse(Document.from_edus(texts, id=source.stem), tree)
    except InvalidTree as error:
        raise source.error(str(error), _line_of(source, error.node)) from None
    except InvalidDocument:
        empty = next(e for e in segments if not (e.text or "").strip())
        raise source.error(
            f"segment {empty.get('id')} has no text", _line_of(source, empty.get("id"))
        ) from None


def _check_nothing_hidden(
    source: Source,
    root: ElementTree.Element,
    segments: list[ElementTree.Element],
    groups: list[ElementTree.Element],
) -> None:
    """Refuse units where none are looked for, and tags inside of units: text would be lost."""
    seen = {id(element) for element in (*segments, *groups)}
    for tag in ("segment", "group"):
        for element in root.iter(tag):
            if id(element) not in seen:
                raise source.error(
                    f"{tag} {element.get('id')} is not directly below the first <body>",
                    _line_of(source, element.get("id")),
                )
    for element in segments:
        if len(element):
            raise source.error(
                f"segment {element.get('id')} has a tag <{element[0].tag}> in it, expected plain "
                "text (a < that belongs to the text is written &lt;)",
                _line_of(source, element.get("id")),
            )


def write_rs3(parse: Parse, *, tokenized: bool = False, extended: bool = False) -> str:
    """Write a parse as ``.rs3``, or as ``.rs4`` when ``extended``.

    ``tokenized`` writes each EDU as its tokens joined by spaces, as GUM does. Secondary edges and
    signals have a place in ``.rs4`` only.
    """
    tree, doc = parse.annotated, parse.document
    texts = doc.tokenized_edu_texts() if tokenized else doc.edu_texts
    out = ["<rst>", "\t<header>", "\t\t<relations>"]
    for name, kind in (*tree.inventory, *_undeclared_relations(tree)):
        out.append(f"\t\t\t<rel name={_quoted(name)} type={_quoted(kind)}/>")
    out.append("\t\t</relations>")
    if extended and tree.signal_types:
        out.append("\t\t<sigtypes>")
        for name, subtypes in tree.signal_types:
            out.append(f"\t\t\t<sig type={_quoted(name)} subtypes={_quoted(';'.join(subtypes))}/>")
        out.append("\t\t</sigtypes>")
    out += ["\t</header>", "\t<body>"]
    for text, node in zip(texts, tree.nodes, strict=False):
        out.append(
            f"\t\t<segment id={_quoted(node.id)}{_hang(tree, node)}>{_one_line(text)}</segment>"
        )
    for node in tree.nodes[tree.n_edus :]:
        out.append(f'\t\t<group id={_quoted(node.id)} type="{node.kind}"{_hang(tree, node)}/>')
    if extended:
        out += _write_extension(tree)
    out += ["\t</body>", "</rst>"]
    return "\n".join(out) + "\n"


def write_rs4(parse: Parse, *, tokenized: bool = False) -> str:
    """Write a parse as ``.rs4``, with its secondary edges and signals."""
    return write_rs3(parse, tokenized=tokenized, extended=True)


def _parse_xml(source: Source) -> ElementTree.Element:
    if "<!ENTITY" in source.text:
        # Entities have no business here, and expanding them is how XML bombs work.
        raise source.error(
            "XML entity definitions are not allowed", _line_of_text(source, "<!ENTITY")
        )
    encode(source.text, source.name)  # refuses lone surrogates, which no XML can have
    try:
        return ElementTree.fromstring(_without_declaration(source.text))
    except ElementTree.ParseError as error:
        # The declaration's own line break is still there, so lines count the same.
        raise source.error(f"not well-formed XML: {error.msg}", error.position[0]) from None


def _without_declaration(text: str) -> str:
    # The text is decoded already; a declaration that names another encoding would be wrong by now.
    return re.sub(r"^\s*<\?xml[^>]*\?>", "", text, count=1)


def _read_inventory(
    root: ElementTree.Element,
) -> tuple[tuple[tuple[str, RelationType], ...], dict[str, set[str]]]:
    inventory: list[tuple[str, RelationType]] = []
    types: dict[str, set[str]] = {}
    for element in root.iterfind("header/relations/rel"):
        name = element.get("name", "")
        kind: RelationType = "multinuc" if element.get("type") == "multinuc" else "rst"
        inventory.append((name, kind))
        types.setdefault(name, set()).add(kind)
    return tuple(inventory), types


def _read_signal_types(root: ElementTree.Element) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (element.get("type", ""), tuple(element.get("subtypes", "").split(";")))
        for element in root.iterfind("header/sigtypes/sig")
    )


def _index_nodes(
    source: Source, segments: list[ElementTree.Element], groups: list[ElementTree.Element]
) -> dict[str, tuple[int, Kind]]:
    """Return each id's number (segments first) and kind."""
    index: dict[str, tuple[int, Kind]] = {}
    for number, element in enumerate((*segments, *groups)):
        id = element.get("id")
        if not id:
            raise source.error(
                f"a <{element.tag}> has no id", _line_of_text(source, f"<{element.tag}")
            )
        if id in index:
            raise source.error(f"two nodes have the id {id}", _line_of(source, id, last=True))
        if element.tag == "segment":
            index[id] = number, "edu"
        elif kind := _GROUP_KINDS.get(element.get("type")):
            index[id] = number, kind
        else:
            raise source.error(
                f"group {id} has type {element.get('type')!r}, expected span or multinuc",
                _line_of(source, id),
            )
    return index


def _read_nodes(
    source: Source,
    elements: list[ElementTree.Element],
    index: dict[str, tuple[int, Kind]],
    types: dict[str, set[str]],
) -> list[Node]:
    nodes: list[Node] = []
    only_satellites = {name for name, kinds in types.items() if kinds == {"rst"}}
    for element in elements:
        get = element.attrib.get
        id, parent, relation = element.attrib["id"], get("parent"), get("relname", "")
        kind = index[id][1]
        if parent is None:
            nodes.append(Node(id, kind, ROOT, "root", ""))
            continue
        above = index.get(parent)
        if above is None:
            raise source.error(
                f"node {id} has parent {parent}, which does not exist", _line_of(source, id)
            )
        # What hangs on a multinuclear group is one of its nuclei, unless the header says that the
        # relation is always a satellite's.
        nuclear = relation == SPAN or (above[1] == "multinuc" and relation not in only_satellites)
        nodes.append(Node(id, kind, above[0], "nucleus" if nuclear else "satellite", relation))
    return nodes


def _read_secondary(
    source: Source, body: ElementTree.Element, index: dict[str, tuple[int, Kind]]
) -> tuple[tuple[SecondaryEdge, ...], dict[str, int]]:
    edges: list[SecondaryEdge] = []
    edge_index: dict[str, int] = {}
    for element in body.iterfind("secedges/secedge"):
        get = element.attrib.get
        start, end = get("source", ""), get("target", "")
        id = get("id") or f"{start}-{end}"
        for name in (start, end):
            if name not in index:
                raise source.error(
                    f"secondary edge {id} refers to node {name!r}, which does not exist",
                    _line_of_text(source, f'<secedge id="{id}"'),
                )
        edge_index[id] = len(edges)
        edges.append(SecondaryEdge(id, index[start][0], index[end][0], get("relname", "")))
    return tuple(edges), edge_index


def _read_signals(
    source: Source,
    body: ElementTree.Element,
    index: dict[str, tuple[int, Kind]],
    edge_index: dict[str, int],
) -> tuple[Signal, ...]:
    signals: list[Signal] = []
    for element in body.iterfind("signals/signal"):
        get = element.attrib.get
        owner, tokens = get("source", ""), get("tokens")
        secondary = owner not in index
        number = edge_index.get(owner) if secondary else index[owner][0]
        if number is None:
            raise source.error(
                f"a signal belongs to {owner!r}, which is neither a node nor a secondary edge",
                _line_of_text(source, f'<signal source="{owner}"'),
            )
        try:
            words = tuple([int(token) - 1 for token in tokens.split(",")]) if tokens else ()
        except ValueError:
            raise source.error(
                f"signal tokens {tokens!r} are not numbers with commas between them",
                _line_of_text(source, f'tokens="{tokens}"'),
            ) from None
        signals.append(
            Signal(number, secondary, get("type", ""), get("subtype", ""), words, get("status", ""))
        )
    return tuple(signals)


def _repair(source: Source, nodes: list[Node]) -> list[Node]:
    """Join several roots, and the several nuclei of a span, as nuclei of one node."""
    roots = [number for number, node in enumerate(nodes) if node.parent < 0]
    if len(roots) > 1:
        _warn(source, f"{len(roots)} roots joined by {REPAIR_RELATION}")
        for number in roots:
            nodes[number] = nodes[number]._replace(
                parent=len(nodes), role="nucleus", relation=REPAIR_RELATION
            )
        numbers = (int(n.id) for n in nodes if n.id.isdecimal() and len(n.id) < 19)
        fresh = str(max(numbers, default=0) + 1)
        nodes.append(Node(fresh, "multinuc", ROOT, "root", ""))
    nuclei: dict[int, list[int]] = {}
    for number, node in enumerate(nodes):
        if node.role == "nucleus":
            nuclei.setdefault(node.parent, []).append(number)
    for parent, children in nuclei.items():
        if nodes[parent].kind == "span" and len(children) > 1:
            _warn(
                source,
                f"{len(children)} nuclei of span {nodes[parent].id} joined by {REPAIR_RELATION}",
            )
            nodes[parent] = nodes[parent]._replace(kind="multinuc")
            for number in children:
                nodes[number] = nodes[number]._replace(relation=REPAIR_RELATION)
    return nodes


def _warn(source: Source, what: str) -> None:
    warnings.warn(f"{source.name}: {what}", RepairWarning, stacklevel=4)


def _undeclared_relations(tree: AnnotatedTree) -> list[tuple[str, RelationType]]:
    """Return what the header must declare besides the inventory, so that roles are read back."""
    used: set[tuple[str, RelationType]] = set()
    for node in tree.nodes:
        if node.role == "satellite":
            used.add((node.relation, "rst"))
        elif node.role == "nucleus" and _written(tree, node) != SPAN:
            used.add((node.relation, "multinuc"))
    return sorted(used.difference(tree.inventory))


def _hang(tree: AnnotatedTree, node: Node) -> str:
    if node.parent < 0:
        return ""
    relation = _written(tree, node)
    return f" parent={_quoted(tree.nodes[node.parent].id)} relname={_quoted(relation)}"


def _written(tree: AnnotatedTree, node: Node) -> str:
    """Return a node's relation as it stands in the file.

    What a span has for its nucleus is told by the name ``span`` alone; brackets sometimes have
    another one there, which says nothing.
    """
    is_only = node.role == "nucleus" and tree.nodes[node.parent].kind == "span"
    return SPAN if is_only else node.relation


# XML has no way to write these, escaped or not.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _one_line(text: str) -> str:
    """Escape a segment's text, in one line, unwritable characters replaced by U+FFFD."""
    return escape(_FORBIDDEN.sub("\ufffd", " ".join(text.split())), quote=False)


def _quoted(value: str) -> str:
    return '"' + escape(_FORBIDDEN.sub("\ufffd", value)) + '"'


def _write_extension(tree: AnnotatedTree) -> list[str]:
    out: list[str] = []
    if tree.secondary:
        out.append("\t\t<secedges>")
        for edge in tree.secondary:
            start, end = tree.nodes[edge.source].id, tree.nodes[edge.target].id
            out.append(
                f"\t\t\t<secedge id={_quoted(edge.id)} source={_quoted(start)} "
                f"target={_quoted(end)} relname={_quoted(edge.relation)}/>"
            )
        out.append("\t\t</secedges>")
    out.append("\t\t<signals>")
    for signal in tree.signals:
        owner = (
            tree.secondary[signal.source].id if signal.secondary else tree.nodes[signal.source].id
        )
        words = ",".join(str(token + 1) for token in signal.tokens)
        status = f" status={_quoted(signal.status)}" if signal.status else ""
        out.append(
            f"\t\t\t<signal source={_quoted(owner)} type={_quoted(signal.type)} "
            f'subtype={_quoted(signal.subtype)} tokens="{words}"{status}/>'
        )
    out.append("\t\t</signals>")
    return out


def _line_of_text(source: Source, text: str) -> int | None:
    at = source.text.find(text)
    return source.line_at(at) if at >= 0 else None


def _line_of(source: Source, id: str | None, *, last: bool = False) -> int | None:
    """Find the line of the node with an id: looked up only when something went wrong."""
    lines: list[int] = []
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag in ("segment", "group") and attributes.get("id") == id:
            lines.append(parser.CurrentLineNumber)

    parser.StartElementHandler = start
    parser.Parse(_without_declaration(source.text), True)
    return lines[-1 if last else 0] if lines else None
