"""Pictures among the output formats of the commands: svg, html, png."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rhetorica.errors import RhetoricaError
from rhetorica.files import encode, write_bytes
from rhetorica.parses import Parse
from rhetorica.render import render_html, render_latex, render_pdf, render_png, render_svg
from rhetorica.render.layout.parts import View
from rhetorica.render.png import load_renderer

PICTURES = {
    "svg": "a picture of the tree",
    "html": "a page with both pictures and the text: units fold, and light up",
    "png": "the picture in pixels (extra png)",
    "pdf": "the picture as letters and lines, for papers",
    "latex": "source for LaTeX's package forest, to be changed by hand",
}
"""Pictures among the outputs, and what they are."""


def draw(parse: Parse, to: str, *, view: View = "rst", **how: Any) -> bytes:
    """Make the content of a picture file; ``how`` are theme, orient, width, depth."""
    if to in ("png", "pdf"):
        return (render_png if to == "png" else render_pdf)(parse, view=view, **how)
    if to == "latex":
        return encode(render_latex(parse, view=view), "<latex>")
    text = render_html(parse, **how) if to == "html" else render_svg(parse, view=view, **how)
    return encode(text, f"<{to}>")


def check_picture(to: str) -> None:
    """Say what is missing before any work is done."""
    if to == "png":
        load_renderer()


def write_picture(data: bytes, to: str, path: Path | None) -> None:
    """Write a picture to a file, or to standard output."""
    if path is not None:
        write_bytes(path, data)
        return
    if to in ("png", "pdf") and sys.stdout.isatty():
        raise RhetoricaError(
            f"{to.upper()} cannot be shown in a terminal: name a file, as in -o tree.{to}"
        )
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
