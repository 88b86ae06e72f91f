"""A parse on its way out: files of any kind, the screen, and other libraries' own types.

pandas, networkx and nltk are not needed otherwise; where one is missing, the error names it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from rhetorica.errors import FormatError, RhetoricaError, UnknownName
from rhetorica.files import write_bytes, write_text
from rhetorica.formats import FORMATS, format_of, write
from rhetorica.parses import Parse
from rhetorica.render import (
    render_html,
    render_latex,
    render_pdf,
    render_png,
    render_svg,
    render_tree,
)
from rhetorica.salience import levels
from rhetorica.trees import ROOT

_DRAWN: dict[str, Callable[[Parse], str]] = {
    "svg": render_svg,
    "html": render_html,
    "latex": render_latex,
    "tree": render_tree,
}
_BYTES: dict[str, Callable[[Parse], bytes]] = {".png": render_png, ".pdf": render_pdf}
_TEXTS = {".svg": "svg", ".html": "html", ".tex": "latex"}


def tokenized(parse: Parse) -> Parse:
    """Return a parse with tokens and syntax, which some formats are made of."""
    from rhetorica.text import annotate  # reading and writing other formats needs no front end

    return parse if parse.document.tokens else replace(parse, document=annotate(parse.document))


def to_text(parse: Parse, format: str) -> str:
    """Return a parse in a file format, as a picture (svg, html, latex) or as an outline (tree)."""
    if draw := _DRAWN.get(format):
        return draw(parse)
    if f".{format}" in _BYTES:
        raise RhetoricaError(f"{format} is no text: parse.save('tree.{format}') writes a file")
    if format not in FORMATS:
        raise UnknownName("format", format, [*FORMATS, *_DRAWN])
    return write(parse, format)


def save(parses: Parse | Iterable[Parse], path: str | os.PathLike[str]) -> None:
    """Write a file; its extension tells the format: .rs3, .jsonl, .svg, .pdf, ... (.gz, too).

    Several parses go into formats that hold several (jsonl, conllu, tok, rels).
    """
    items = [parses] if isinstance(parses, Parse) else list(parses)
    suffix = Path(os.fspath(path)).suffix.lower()
    if suffix not in (*_BYTES, *_TEXTS):
        write_text(path, write(items, format_of(path, more=(*_BYTES, *_TEXTS)).name))
    elif len(items) != 1:
        why = f"{len(items)} documents, but {suffix[1:]} shows one: save them one by one"
        raise FormatError(os.fspath(path), None, why)
    elif suffix in _BYTES:
        write_bytes(path, _BYTES[suffix](items[0]))
    else:
        write_text(path, to_text(items[0], _TEXTS[suffix]))


def show(parse: Parse) -> None:
    """Show a parse: its pictures in a notebook, its outline in a terminal."""
    # Only inside IPython is its display of any use, and there it is loaded already.
    shell = sys.modules.get("IPython")
    if shell is not None and shell.get_ipython() is not None:
        shell.display.display(parse)
    else:
        sys.stdout.write(f"{parse}\n")


def to_dicts(parse: Parse) -> list[dict[str, Any]]:
    """Return a row for each EDU: its number, text, place, head, relation and scores.

    >>> from rhetorica import Document, Join, Parse, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained."], id="wet")
    >>> rows = to_dicts(Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "cause"),))))
    >>> rows[1]["text"], rows[1]["head"], rows[1]["relation"], rows[1]["head_text"]
    ('because it rained.', 0, 'cause', 'It is wet')
    """
    units = parse.units
    depths = levels(parse) if parse.source is not None else [None] * len(units)
    return [
        {
            "document": parse.id,
            "edu": unit.index,
            "text": unit.text,
            "start": unit.start,
            "end": unit.end,
            "sentence": unit.sentence,
            "paragraph": unit.paragraph,
            "head": unit.head,
            "head_text": None if unit.head in (None, ROOT) else units[unit.head].text,
            "relation": unit.relation,
            "multinuclear": unit.multinuclear,
            "depth": depth,
            "score": unit.score,
            "boundary": unit.boundary,
        }
        for unit, depth in zip(units, depths, strict=True)
    ]


def to_dataframe(parse: Parse) -> Any:
    """Return the rows of `to_dicts` as a pandas table."""
    return _library("pandas").DataFrame(to_dicts(parse))


def to_networkx(parse: Parse) -> Any:
    """Return the dependency tree as a directed graph, from heads to dependents."""
    graph = _library("networkx").DiGraph(id=parse.id)
    for row in to_dicts(parse):
        graph.add_node(row["edu"], text=row["text"], start=row["start"], end=row["end"])
    for unit in parse.units:
        if unit.head is not None and unit.head != ROOT:
            graph.add_edge(
                unit.head,
                unit.index,
                relation=unit.relation,
                multinuclear=unit.multinuclear,
                score=unit.score,
            )
    return graph


def to_nltk(parse: Parse) -> Any:
    """Return the RST tree as an `nltk.Tree`: labels such as ``satellite:cause``, EDUs as leaves."""
    tree = _library("nltk.tree").Tree
    root = parse.root
    if root is None:
        return tree("root", [])
    # Children come after their parents in preorder, so that backwards all parts are there in time.
    made: dict[tuple[int, int], Any] = {}
    for node in reversed(list(root)):
        label = node.role if node.relation in ("", "span") else f"{node.role}:{node.relation}"
        parts = [node.text] if node.is_edu else [made[child.range] for child in node.children]
        made[node.range] = tree(label, parts)
    return made[root.range]


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise RhetoricaError(f"this needs {package}: pip install {package}") from None
