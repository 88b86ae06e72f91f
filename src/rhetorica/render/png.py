"""A picture of a tree as pixels, with fonts that come with the package.

Latin, Greek and Cyrillic text and the common Chinese characters look the same everywhere, because
their fonts are in ``render/fonts``. Other scripts and emoji need a font of the system; only where
there are some are its fonts asked, since any of them may then draw the Chinese, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cache
from importlib.resources import as_file, files

from rhetorica.errors import MissingExtra, RhetoricaError
from rhetorica.parses import Parse
from rhetorica.render.colours import Theme
from rhetorica.render.layout.parts import Orient, View
from rhetorica.render.opentype import Font
from rhetorica.render.svg import render_svg

MAX_PIXELS = 100_000_000
_SCALE = 2.0
_FONTS = ("SourceSansPro-Regular", "RhetoricaCJK-Regular")
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


def render_png(
    parse: Parse,
    *,
    view: View = "rst",
    theme: Theme = "light",
    orient: Orient = "auto",
    width: float | None = None,
    depth: int | None = None,
    folded: Collection[int] = (),
    scale: float | None = None,
) -> bytes:
    """Draw a parse as a PNG picture; options as in `render_svg`, "auto" being light.

    ``scale`` is pixels of the picture per pixel of the layout; without it 2, or less where the
    picture would get too large.
    """
    svg = render_svg(
        parse, view=view, theme="light" if theme == "auto" else theme, orient=orient, width=width,
        depth=depth, folded=folded,
    )  # fmt: skip
    return rasterize(svg, scale=scale)


def load_renderer() -> Callable[..., bytes]:
    """Return resvg's function, or say what to install."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise MissingExtra("drawing PNG pictures", "png") from None
    renderer: Callable[..., bytes] = svg_to_bytes
    return renderer


def rasterize(svg: str, *, scale: float | None = None) -> bytes:
    """Turn one of our SVG pictures (theme light or dark) into a PNG."""
    svg_to_bytes = load_renderer()
    if not (found := _SIZE.search(svg)):
        raise RhetoricaError("the picture does not say its width and height in pixels")
    wide, high = float(found[1]), float(found[2])
    if scale is None:
        scale = max(1.0, min(_SCALE, 0.999 * (MAX_PIXELS / (wide * high)) ** 0.5))
    if wide * high * scale * scale > MAX_PIXELS:
        raise RhetoricaError(
            f"the picture would have {wide * scale:.0f} x {high * scale:.0f} pixels, more than "
            f"{MAX_PIXELS // 1_000_000} million: fold it (depth), take a smaller scale, or make "
            "SVG or HTML, which have no limit"
        )
    with as_file(files("rhetorica.render") / "fonts") as fonts:
        return bytes(
            svg_to_bytes(
                svg_string=svg,
                zoom=scale,
                font_dirs=[str(fonts)],
                skip_system_fonts={ord(character) for character in svg} <= _drawn(),
                font_family="Source Sans Pro",
                sans_serif_family="Source Sans Pro",
            )
        )


@cache
def _drawn() -> frozenset[int]:
    """Return the characters that our own fonts have, and those that nobody sees."""
    folder = files("rhetorica.render") / "fonts"
    fonts = [Font((folder / f"{name}.otf").read_bytes()) for name in _FONTS]
    return frozenset({ord("\n"), ord("\t")}.union(*(font.glyphs for font in fonts)))
