"""A page with both pictures of a parse and its text, and a smaller piece for notebooks.

Neither refers to anything outside itself. The tabs of the page are radio buttons with CSS; its one
script (``page.js``, allowed by its checksum and no other) folds units and lights them up. On paper
everything is printed, one picture after the other. The piece for notebooks has no script.
"""

from __future__ import annotations

from base64 import b64encode
from contextlib import suppress
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from rhetorica.errors import InvalidTree
from rhetorica.parses import Parse
from rhetorica.render.colours import DARK, LIGHT, SANS, Theme, check_theme
from rhetorica.render.fit import visible
from rhetorica.render.layout.parts import Orient, View
from rhetorica.render.svg import render_svg

_TABS = {"overview": "Overview", "rst": "RST tree", "dep": "Dependencies", "text": "Text"}
_OVERVIEW_UNITS = 100
"""Documents with more units begin with an overview."""
_HINT = (
    '<p class="hint">Point at a unit to see it everywhere.<span id="folding"> In the RST tree, a '
    "click on a line or a relation folds its unit, a click on its row unfolds it."
    "<button>Unfold all</button></span></p>\n"
)
_NOTEBOOK_UNITS, _NOTEBOOK_DEPTH = 1000, 5
_STYLE = """
*{box-sizing:border-box}
body{margin:0;padding:1.2rem 1.5rem;background:var(--paper);color:var(--ink);
font:15px/1.5 FONTS}
h1{font-size:1.25rem;margin:0 0 .2rem}
p.about{margin:0 0 1rem;color:var(--faint)}
input{position:absolute;opacity:0}
label{display:inline-block;padding:.35rem .9rem;border:1px solid var(--edge);border-radius:6px;
margin:0 .3rem .8rem 0;cursor:pointer;color:var(--faint)}
input:focus-visible+label{outline:2px solid var(--nucleus);outline-offset:2px}
input:checked+label{background:var(--panel);color:var(--ink);border-color:var(--faint)}
section{display:none;overflow:auto;max-height:calc(100vh - 8.5rem)}
#overview:checked~.overview,#rst:checked~.rst,#dep:checked~.dep,#text:checked~.text{display:block}
svg{display:block}
.text{max-width:46rem}
.text p{margin:0 0 .8rem}
.text span{border-bottom:1px solid var(--edge)}
.text sup{color:var(--faint);font-size:.65em;margin-right:.15em}
.missing{color:var(--faint)}
.lit .rh-panel{stroke:var(--nucleus);stroke-width:2}
.lit .rh-line,.lit .rh-span{stroke-width:3}
.lit .rh-label{font-weight:700}
.text .lit{background:var(--edge)}
.away{display:none}
.can-fold,.overview [data-start]{cursor:pointer}
.folded .rh-text{font-style:italic}
p.hint{margin:-.5rem 0 .6rem;color:var(--faint);font-size:.85rem}
p.hint button{font:inherit;color:inherit;background:none;border:1px solid var(--edge);
border-radius:6px;padding:.1rem .6rem;cursor:pointer;margin-left:.4rem}
@media print{body{padding:0}label,input,p.hint{display:none}
section{display:block;overflow:visible;max-height:none;max-width:none}
section+section{break-before:page}svg{max-width:100%;height:auto}}
"""


def render_html(
    parse: Parse,
    *,
    theme: Theme = "auto",
    orient: Orient = "auto",
    width: float | None = None,
    depth: int | None = None,
    title: str | None = None,
) -> str:
    """Make a page with both pictures and the text; it needs nothing beside itself.

    Units fold by a click and light up in both trees and the text when pointed at; documents of
    more than 100 units begin with an overview. Options are those of `render_svg`; ``title`` is
    the document's name unless given. A tree that has no RST form (crossing dependencies) is shown
    as dependencies only.

    >>> from rhetorica import Document, Join, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained."], id="rain")
    >>> page = render_html(Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "cause"),))))
    >>> page.count("<svg "), "<title>rain</title>" in page, page.count("<script")
    (2, True, 1)
    """
    check_theme(theme)
    name = _clean(title if title is not None else parse.id or "Discourse tree")
    sections = _pictures(parse, theme=theme, orient=orient, width=width, depth=depth)
    sections["text"] = _text(parse)
    # Without an RST tree, the page opens on the dependencies.
    first = "dep" if parse.source is not None and "<svg" not in sections["rst"] else "rst"
    if first == "rst" and len(parse.edus) > _OVERVIEW_UNITS:
        first = "overview"
        sections = {first: render_svg(parse, view="overview", theme=theme), **sections}
    tabs = "".join(
        f'<input type="radio" name="tab" id="{key}"{" checked" if key == first else ""}>'
        f'<label for="{key}">{label}</label>\n'
        for key, label in _TABS.items()
        if key in sections
    )
    panels = "".join(
        f'<section class="{key}" aria-label="{_TABS[key]}">{content}</section>\n'
        for key, content in sections.items()
    )
    language = escape(visible(parse.document.language, unicode=False), quote=True) or "und"
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none';style-src 'unsafe-inline';"
        f"script-src 'sha256-{_checksum()}'\">\n"
        f"<title>{name}</title>\n<style>{_page_style(theme)}</style>\n</head>\n<body>\n"
        f'<h1>{name}</h1>\n<p class="about">{_about(parse)}</p>\n{tabs}{_HINT}{panels}'
        f"<script>{_script()}</script>\n</body>\n</html>\n"
    )


@cache
def _script() -> str:
    return (files("rhetorica.render") / "page.js").read_text("utf-8")


@cache
def _checksum() -> str:
    return b64encode(sha256(_script().encode()).digest()).decode("ascii")


def notebook_html(parse: Parse) -> str:
    """Make what a notebook shows for a parse: the RST tree, the dependencies folded away.

    Of very long documents, only the top of the RST tree: a notebook is no place for megabytes.
    """
    if len(parse.edus) > _NOTEBOOK_UNITS:
        pictures = _pictures(parse, depth=_NOTEBOOK_DEPTH)
        pictures["dep"] = (
            "<p>Too many units to show here; rhetorica.render.render_html makes a page of all.</p>"
        )
    else:
        pictures = _pictures(parse)
    parts = "".join(
        f"<details{' open' if key == 'rst' else ''}><summary>{_TABS[key]}</summary>"
        f'<div style="overflow:auto;max-height:80vh">{picture}</div></details>'
        for key, picture in pictures.items()
    )
    return f'<div class="rhetorica-parse"><p>{_about(parse)}</p>{parts}</div>'


def notebook_svg(parse: Parse) -> str | None:
    """Make the picture that a notebook shows, None where there is no tree."""
    depth = _NOTEBOOK_DEPTH if len(parse.edus) > _NOTEBOOK_UNITS else None
    views: tuple[View, ...] = ("rst", "dep")
    for view in views:
        with suppress(InvalidTree):  # crossing dependencies can still be shown as such
            return render_svg(parse, view=view, depth=depth)
    return None


def _pictures(parse: Parse, **how: Any) -> dict[str, str]:
    """Draw both views, as `render_svg` does; where there is none, say why."""
    pictures = {}
    for view in ("rst", "dep"):
        try:
            pictures[view] = render_svg(parse, view=view, **how)
        except InvalidTree as error:
            pictures[view] = f'<p class="missing">{_clean(str(error))}</p>'
    return pictures


def _page_style(theme: Theme) -> str:
    def variables(colours: dict[str, str]) -> str:
        return ":root{" + ";".join(f"--{name}:{value}" for name, value in colours.items()) + "}"

    colours = variables(DARK if theme == "dark" else LIGHT)
    if theme == "auto":
        dark = variables(DARK)
        colours += f"@media screen and (prefers-color-scheme:dark){{{dark}}}"
    return colours + _STYLE.replace("FONTS", SANS)


def _about(parse: Parse) -> str:
    facts = [f"{len(parse.edus)} units"]
    facts += [f"{_clean(key)}: {_clean(value)}" for key, value in parse.provenance.items()]
    return " · ".join(facts)


def _text(parse: Parse) -> str:
    """Write the text with its units numbered, paragraph by paragraph."""
    paragraphs: list[list[str]] = []
    before = -1
    numbers = parse.document.edu_paragraphs()
    for index, (text, number) in enumerate(zip(parse.edus, numbers, strict=True)):
        if number != before:
            paragraphs.append([])
            before = number
        paragraphs[-1].append(
            f'<span data-start="{index}" data-end="{index + 1}"><sup>{index + 1}</sup>'
            f"{_clean(text)}</span>"
        )
    return "".join(f"<p>{' '.join(units)}</p>\n" for units in paragraphs)


def _clean(text: str) -> str:
    return escape(visible(text, unicode=False))
