r"""A tree as LaTeX source, for the package ``forest``: to be put into a paper and changed by hand.

The source is a document of its own (class ``standalone``); what stands between
``\begin{forest}`` and ``\end{forest}`` can be taken over into another. Compile with pdflatex, or
with xelatex or lualatex where the text is not in Latin letters: Chinese gets the package ``ctex``,
for other scripts a font must be chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rhetorica.languages.chinese import HAN
from rhetorica.nodes import TreeNode
from rhetorica.parses import Parse
from rhetorica.render.colours import LIGHT
from rhetorica.render.fit import visible
from rhetorica.render.layout.parts import View, is_dependencies
from rhetorica.trees import ROOT
from rhetorica.version import __version__

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
}
_LATIN = r"""\usepackage{iftex}
\iftutex\usepackage{fontspec}\else\usepackage[T1]{fontenc}\usepackage{lmodern,textcomp}\fi"""
_CHINESE = r"""% Compile with xelatex or lualatex.
\usepackage{ctex}"""
_OTHER = r"""% Compile with xelatex or lualatex, and name a font that has your letters.
\usepackage{fontspec}
%\setmainfont{Noto Serif}"""
_HEAD = r"""% RST tree, made by Rhetorica VERSION; needs the LaTeX package forest.
\documentclass[border=6pt]{standalone}
FONTS
\usepackage{forest}
COLOURS
\forestset{
  discourse/.style={for tree={font=\small, s sep=8pt, l sep=22pt}},
  EDU/.style={node options={text width=8em, align=center}},
  relation/.style={edge label={node[midway, fill=white, inner sep=1pt, font=\scriptsize]{#1}}},
  nucleus/.style={edge={draw=nucleus, thick}},
  satellite/.style={edge={draw=satellite, <-, >=stealth}},
  multinuclear/.style={edge={draw=multinuc, thick}},
}
\begin{document}
"""


def escape(text: str) -> str:
    r"""Write a text so that LaTeX shows it as it is.

    >>> print(escape("50 % of {x_1} & ~$5"))
    50 \% of \{x\_1\} \& \textasciitilde{}\$5
    >>> print(escape("so -- and ``so''"))
    so -{}- and \textasciigrave{}\textasciigrave{}so'{}'
    """
    safe = "".join(_ESCAPES.get(char, char) for char in visible(text, unicode=False))
    # Two of these marks in a row would become one sign: a dash, a closing or a low quotation mark.
    return re.sub(r"([-',])(?=\1)", r"\1{}", safe)


def render_latex(parse: Parse, *, view: View = "rst") -> str:
    """Return the source of a document with the RST tree, or the tree of heads ("dep")."""
    colours = "\n".join(
        rf"\definecolor{{{name}}}{{HTML}}{{{LIGHT[name][1:].upper()}}}"
        for name in ("nucleus", "satellite", "multinuc")
    )
    head = _HEAD.replace("VERSION", __version__).replace("COLOURS", colours)
    head = head.replace("FONTS", _fonts(parse.text))
    rows = _heads(parse) if is_dependencies(view) else _constituents(parse)
    body = "\n".join(rows)
    return f"{head}\\begin{{forest}} discourse\n{body}\n\\end{{forest}}\n\\end{{document}}\n"


def _fonts(text: str) -> str:
    if re.search(f"[{HAN}]", text):
        return _CHINESE
    # Latin letters with their accents, and the marks of ordinary typesetting.
    return _OTHER if re.search("[^\\s!-\u017f\u2010-\u2027\u2030-\u203a\u20ac]", text) else _LATIN


def _constituents(parse: Parse) -> Iterator[str]:
    root = parse.root
    if root is None:
        yield "[{}]"
        return
    open_ends: list[int] = []  # the levels of nodes whose bracket is not closed yet
    for node in root:
        while open_ends and open_ends[-1] >= node.depth:
            yield f"{'  ' * open_ends.pop()}]"
        start, end = node.range
        content = f"{start + 1}--{end}" if not node.is_edu else _edu(start, node.text)
        line = f"{'  ' * node.depth}[{{{content}}}{_style(node)}"
        if node.is_edu:
            yield f"{line}, EDU, tier=EDU]"
        else:
            yield line
            open_ends.append(node.depth)
    for depth in reversed(open_ends):
        yield f"{'  ' * depth}]"


def _edu(index: int, text: str) -> str:
    return rf"\textbf{{{index + 1}}} {escape(text)}"


def _style(node: TreeNode) -> str:
    if node.role == "root":
        return ""
    if node.role == "nucleus" and node.relation in ("", "span"):
        return ", nucleus"
    if node.role == "satellite":
        return f", satellite, relation={{{escape(node.relation)}}}"
    # Of nuclei that share a relation the first has its name: side by side there is no room.
    alike = [one for one in (node.parent.children if node.parent else ()) if one.role == "nucleus"]
    named = next((one for one in alike if one.relation == node.relation), node)
    name = f", relation={{{escape(node.relation)}}}" if named.range == node.range else ""
    return f", multinuclear{name}"


def _heads(parse: Parse) -> Iterator[str]:
    tree, texts = parse.dependencies, parse.edus
    below = tree.dependents()
    waiting: list[tuple[int, int]] = [(tree.root, 0)] if texts else []
    if not waiting:
        yield "[{}]"
    while waiting:
        index, depth = waiting.pop()
        if index < 0:
            yield f"{'  ' * depth}]"
            continue
        style = ""
        if tree.heads[index] != ROOT:
            kind = "multinuclear" if tree.multinuclear[index] else "satellite"
            style = f", {kind}, relation={{{escape(tree.relations[index])}}}"
        yield f"{'  ' * depth}[{{{_edu(index, texts[index])}}}{style}, EDU"
        waiting.append((-1, depth))
        waiting += [(child, depth + 1) for child in reversed(below[index])]
