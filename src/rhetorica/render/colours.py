"""The colours of the pictures: two themes, and the style sheet that an SVG carries.

Nucleus blue, satellite orange, multinuclear green: the hues of Okabe & Ito's palette, which people
with any colour vision can tell apart, darkened or lightened until text in them is easy to read.
Colour is never alone: satellites have arrows, nuclei thick lines, multinuclear relations brackets
or spokes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, get_args

from rhetorica.errors import UnknownName

Theme = Literal["auto", "light", "dark"]

LIGHT = {
    "paper": "#ffffff",
    "panel": "#f3f5f8",
    "edge": "#d5dbe3",
    "ink": "#1c2430",
    "faint": "#5b6675",
    "line": "#a9b3c0",
    "nucleus": "#0068a8",
    "satellite": "#b34a00",
    "multinuc": "#00704f",
}
DARK = {
    "paper": "#12161c",
    "panel": "#1c222b",
    "edge": "#343d4a",
    "ink": "#e8ecf2",
    "faint": "#9aa6b6",
    "line": "#566274",
    "nucleus": "#6cb8f0",
    "satellite": "#ffa45c",
    "multinuc": "#4fd1a5",
}
SANS = (
    "'Source Sans 3','Source Sans Pro','Helvetica Neue',Helvetica,Arial,'Liberation Sans',"
    "'Noto Sans','PingFang SC','Microsoft YaHei','Noto Sans CJK SC',sans-serif"
)

# Selector, then declarations; @name stands for a colour.
_RULES = (
    ("rh-paper", "fill:@paper"),
    ("rh-panel", "fill:@panel;stroke:@edge;stroke-width:1"),
    ("rh-text", "fill:@ink;font-size:13px"),
    ("rh-number", "fill:@faint;font-size:11px;font-weight:600"),
    ("rh-range", "fill:@faint;font-size:10px"),
    ("rh-label", "font-size:11px;stroke:@paper;stroke-width:2.5px;stroke-linejoin:round;"
                 "paint-order:stroke"),
    ("rh-key", "fill:@faint;font-size:11px"),
    ("rh-block", "stroke:@paper;stroke-width:0.5;fill:@nucleus;fill-opacity:0.55"),
    ("rh-satellite .rh-block", "fill:@satellite;fill-opacity:0.3"),
    ("rh-multinuc .rh-block", "fill:@multinuc;fill-opacity:0.45"),
    ("rh-in", "fill:@ink;font-size:10px"),
    ("rh-span", "stroke:@line;stroke-width:1.5;fill:none;stroke-linecap:round"),
    ("rh-line", "fill:none;stroke-linecap:round;stroke-linejoin:round"),
    ("rh-nucleus .rh-line", "stroke:@nucleus;stroke-width:2"),
    ("rh-satellite .rh-line", "stroke:@satellite;stroke-width:1.3"),
    ("rh-multinuc .rh-line", "stroke:@multinuc;stroke-width:1.8"),
    ("rh-root .rh-line", "stroke:@nucleus;stroke-width:2"),
    ("rh-satellite .rh-tip", "fill:@satellite"),
    ("rh-multinuc .rh-tip", "fill:@multinuc"),
    ("rh-root .rh-tip", "fill:@nucleus"),
    ("rh-satellite .rh-label", "fill:@satellite"),
    ("rh-multinuc .rh-label", "fill:@multinuc"),
    ("rh-root .rh-label", "fill:@nucleus"),
)  # fmt: skip


def check_theme(theme: str) -> None:
    """Refuse a theme that does not exist."""
    if theme not in get_args(Theme):
        raise UnknownName("theme", theme, get_args(Theme))


def style_sheet(theme: Theme) -> str:
    """Return the CSS of a picture, whose root has the classes ``rhetorica`` and ``rh-THEME``.

    In the themes "light" and "dark" colours are written out, because not every program that shows
    SVG knows CSS variables. "auto" has variables ``--rh-NAME``, which follow the reader's choice
    of light or dark and are light on paper; a page may set them to its own colours.
    """
    check_theme(theme)
    root = f".rh-{theme}"
    if theme != "auto":
        colours = LIGHT if theme == "light" else DARK
        return _rules(root, lambda name: colours[name])
    return (
        f"{root}{{{_variables(LIGHT)}}}"
        f"@media screen and (prefers-color-scheme:dark){{{root}{{{_variables(DARK)}}}}}"
        + _rules(root, lambda name: f"var(--rh-{name},{LIGHT[name]})")
    )


def _rules(root: str, colour: Callable[[str], str]) -> str:
    """Write the rules for all below a root, each @name replaced by its colour."""
    return f"{root} text{{font-family:{SANS}}}" + "".join(
        f"{root} .{selector}{{{re.sub('@([a-z]+)', lambda found: colour(found[1]), body)}}}"
        for selector, body in _RULES
    )


def _variables(colours: dict[str, str]) -> str:
    return ";".join(f"--rh-{name}:{value}" for name, value in colours.items())
