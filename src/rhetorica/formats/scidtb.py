"""SciDTB's ``.dep``: discourse dependencies in JSON: file <-> Parse.

One object with the list ``root``: node 0 is an artificial root, every other node an EDU with
``id``, ``parent`` (0 for the top EDU), ``text`` (``<S>`` at the end closes a sentence) and
``relation``.

Nuclearity is not annotated. Of its relations, ``joint`` and ``same-unit`` are taken to be
multinuclear: the later unit hangs on the earlier one in 1005 of 1011 cases of joint, and same-unit
joins the parts of one EDU. Contrast, comparison, progression and temporal go both ways, to the
side that matters more, as a nucleus and its satellite do.
"""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

from rhetorica.convert import SAME_UNIT, Convention
from rhetorica.errors import RepairWarning
from rhetorica.files import Readable, Source
from rhetorica.formats._arcs import edu_lines, make_tree
from rhetorica.formats.edus import (
    SENTENCE_END,
    check_no_mark,
    join_edus,
    last_of_sentence,
    split_sentence_end,
)
from rhetorica.formats.native import load_json
from rhetorica.parses import Parse

MULTINUCLEAR = frozenset({"joint"}) | SAME_UNIT
_UNATTACHED = -1
_KEYS: dict[str, type] = {"id": int, "parent": int, "text": str, "relation": str}
_ID = re.compile(r'(?<!\\)"id"\s*:')


def read_dep(source: Readable, *, repair: bool = False) -> Parse:
    """Read the document, its sentences and its dependency tree.

    Four files of the corpus have an EDU that is attached to nothing (parent -1), two have a second
    root. Reading refuses them unless ``repair`` is set: then such EDUs are attached to the first
    root, keep their label ("null", "ROOT"), and a `RepairWarning` tells.
    """
    source = Source.of(source)
    source.require_content()
    nodes, lines = _read_nodes(source)
    texts: list[str] = []
    ends: list[bool] = []
    for number, (node, line) in enumerate(zip(nodes, lines, strict=True), 1):
        text, is_end = split_sentence_end(node["text"])
        if not text:
            raise source.error(f"EDU {number} has no text", line)
        texts.append(text)
        ends.append(is_end)
    parents = [node["parent"] for node in nodes]
    relations = [node["relation"] for node in nodes]
    _attach_loose(source, parents, lines, repair=repair)
    # Node 0 is the artificial root, so that parent - 1 is the head's index, -1 for the top EDU.
    heads = [parent - 1 for parent in parents]
    multinuclear = [name in MULTINUCLEAR for name in relations]
    tree = make_tree(source, heads, relations, multinuclear, (), lines)
    return Parse(join_edus(texts, ends, [0], id=source.stem), tree)


def write_dep(parse: Parse, *, multinuclear: Convention = "star", bom: bool = False) -> str:
    """Return the file's text: tabs for indentation, as in the corpus, whose files begin with a BOM.

    The byte order mark is left out unless ``bom`` asks for it: `read_dep` takes both, but many
    JSON readers refuse it.
    """
    tree = parse.dependencies_as(multinuclear)
    nodes: list[dict[str, int | str]] = [
        {"id": 0, "parent": _UNATTACHED, "text": "ROOT", "relation": "null"}
    ]
    ends = last_of_sentence(parse.document)
    texts = edu_lines(parse.document)
    unmarked = [text for text, end in zip(texts, ends, strict=True) if not end]
    check_no_mark(SENTENCE_END, "dep", unmarked)
    for index, (text, is_end) in enumerate(zip(texts, ends, strict=True)):
        nodes.append(
            {
                "id": index + 1,
                "parent": tree.heads[index] + 1,
                "text": f"{text} {SENTENCE_END if is_end else ''}",
                "relation": tree.relations[index],
            }
        )
    text = json.dumps({"root": nodes}, indent="\t", ensure_ascii=False)
    return "\ufeff" + text if bom else text


def _read_nodes(source: Source) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the EDUs' nodes, checked one by one, and the line on which each begins."""
    text = source.text.removeprefix("\ufeff")  # a stream of characters may still have it
    data = load_json(text, source)
    nodes = data.get("root") if isinstance(data, dict) else None
    if not isinstance(nodes, list):
        raise source.error('expected an object with a list "root"', 1)
    lines = _node_lines(source.text)
    for number, node in enumerate(nodes):
        line = lines[number] if number < len(lines) else None
        if not isinstance(node, dict):
            raise source.error(f"node {number} is not an object", line)
        for key, kind in _KEYS.items():
            if type(node.get(key)) is not kind:
                raise source.error(
                    f"node {number} has {key} {node.get(key)!r}, expected "
                    + ("a whole number" if kind is int else "a string"),
                    line,
                )
        if node["id"] != number:
            raise source.error(f"node {node['id']} comes where {number} was expected", line)
    if len(nodes) < 2 or nodes[0]["parent"] != _UNATTACHED:
        raise source.error("expected an artificial root (parent -1) and at least one EDU", 1)
    if len(lines) != len(nodes):  # "id" keys elsewhere in the file: no line can be trusted
        lines = [1] * len(nodes)
    return nodes[1:], lines[1:]


def _node_lines(text: str) -> list[int]:
    """Return the line of each ``"id"`` key, counting on from the one before."""
    lines: list[int] = []
    line, at = 1, 0
    for match in _ID.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        lines.append(line)
    return lines


def _attach_loose(source: Source, parents: list[int], lines: list[int], *, repair: bool) -> None:
    """Attach EDUs without parent, and roots after the first, to the first root; or refuse them."""
    root = parents.index(0) if 0 in parents else None
    for index, parent in enumerate(parents):
        if parent == _UNATTACHED:
            why = f"EDU {index + 1} is attached to nothing (parent -1)"
        elif parent == 0 and index != root:
            why = f"EDU {index + 1} is a second root"
        else:
            continue
        if not repair or root is None:
            raise source.error(
                f"{why}, expected one root and a parent for all others (read with repair=True to "
                "attach it to the root)",
                lines[index],
            )
        parents[index] = root + 1
        warnings.warn(
            f"{source.name}:{lines[index]}: {why}; attached to EDU {root + 1}",
            RepairWarning,
            stacklevel=3,
        )
