"""A picture of a tree as PDF: letters and lines, no pixels; what `layout` says, written down.

The fonts in ``render/fonts`` are part of the file as far as they are used, so that it looks the
same everywhere: Latin, Greek and Cyrillic letters and the common Chinese characters. Text can be
marked and searched. Other scripts are not in these fonts; their characters are shown as boxes.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from importlib.resources import files

from rhetorica.errors import RhetoricaError
from rhetorica.parses import Parse
from rhetorica.render.colours import DARK, LIGHT, Theme, check_theme
from rhetorica.render.layout.parts import (
    FONT_SIZE,
    LABEL_SIZE,
    LINE_HEIGHT,
    TAG_SIZE,
    Anchor,
    Box,
    Edge,
    Key,
    Label,
    Layout,
    Line,
    Orient,
    Point,
    View,
)
from rhetorica.render.opentype import Font
from rhetorica.render.paths import Step, arrow, steps
from rhetorica.render.svg import Picture, picture_of
from rhetorica.version import __version__

_FONTS = {
    "F1": "SourceSansPro-Regular",
    "F2": "SourceSansPro-Semibold",
    "F3": "RhetoricaCJK-Regular",
}
_PLAIN, _BOLD, _CHINESE = _FONTS
_LARGEST = 14_400.0
"""Points that a page may be wide or high."""
_WIDTHS = {"nucleus": 2.0, "satellite": 1.3, "multinuc": 1.8, "root": 2.0}
_SHARE = {"start": 0.0, "middle": 0.5, "end": 1.0}


def render_pdf(
    parse: Parse,
    *,
    view: View = "rst",
    theme: Theme = "light",
    orient: Orient = "auto",
    width: float | None = None,
    depth: int | None = None,
    folded: Collection[int] = (),
    legend: bool = True,
) -> bytes:
    """Draw a parse as a PDF of one page; options as in `render_svg`, "auto" being light.

    >>> from rhetorica import Document, Join, RSTTree
    >>> doc = Document.from_edus(["It is wet", "because it rained."])
    >>> render_pdf(Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", "cause"),))))[:8]
    b'%PDF-1.7'
    """
    check_theme(theme)
    if view == "overview":
        raise RhetoricaError("the overview is drawn as svg, png or html, not as pdf")
    picture = picture_of(
        parse, view, orient=orient, width=width, depth=depth, folded=folded, legend=legend
    )
    page = _Page(picture, DARK if theme == "dark" else LIGHT)
    return _file(page, picture.title)


@cache
def _font(name: str) -> Font:
    return Font((files("rhetorica.render") / "fonts" / f"{_FONTS[name]}.otf").read_bytes())


class _Page:
    """The content of the page, and what it uses: glyphs of fonts, degrees of opacity."""

    def __init__(self, picture: Picture, colours: dict[str, str]) -> None:
        self.picture, self.layout, self.colours = picture, picture.layout, colours
        self.glyphs: dict[str, dict[int, str]] = {}
        self.shades: dict[str, float] = {}
        self.content = "\n".join(self._parts(picture.layout)).encode("ascii")

    def _parts(self, layout: Layout) -> Iterator[str]:
        # Up is up in a PDF; the layout counts from the top.
        yield f"1 0 0 -1 0 {_number(layout.height)} cm 1 J 1 j"
        yield f"{self._fill('paper')} 0 0 {_number(layout.width)} {_number(layout.height)} re f"
        yield from map(self._line, layout.lines)
        yield from map(self._edge, layout.edges)
        for box in layout.boxes:
            yield from self._box(box)
        for edge in layout.edges:
            if edge.tag:
                yield self._label(edge.tag, TAG_SIZE, "faint")
            if edge.label:
                yield self._label(edge.label, LABEL_SIZE, edge.kind, halo=True)
        for key in layout.legend:
            yield from self._key(key)

    def _line(self, line: Line) -> str:
        drawn = steps("line", (line.first, line.last))
        text = ""
        if self.layout.orient == "down":
            x, y = line.first
            text = " " + self._text(f"{line.start + 1}–{line.end}", x, y + 11, TAG_SIZE, "faint")
        return f"{self._stroke('line')} 1.5 w {_path(drawn)} S{text}"

    def _edge(self, edge: Edge) -> str:
        shade = self.picture.shade(edge)
        name = ""
        if shade is not None:
            name = f"G{round(100 * shade)}"
            self.shades[name] = round(shade, 2)
        drawn = self._drawn(edge.kind, steps(edge.shape, edge.points), edge.tip)
        return f"q /{name} gs {drawn} Q" if name else drawn

    def _drawn(self, kind: str, drawn: Iterable[Step], tip: tuple[Point, Point] | None) -> str:
        line = f"{self._stroke(kind)} {_WIDTHS[kind]} w {_path(drawn)} S"
        if not tip:
            return line
        first, *rest = arrow(*tip)
        head = _path([Step("M", (first,)), *(Step("L", (point,)) for point in rest)])
        return f"{line} {self._fill(kind)} {head} h f"

    def _box(self, box: Box) -> Iterator[str]:
        place = " ".join(map(_number, (box.x, box.y, box.width, box.height)))
        yield f"{self._fill('panel')} {self._stroke('edge')} 1 w {place} re B"
        if self.layout.orient == "down":
            anchor: Anchor = "middle"
            number_x, number_y, first = box.text_x, box.y + 14, box.y + 30
            yield self._text(box.number, number_x, number_y, LABEL_SIZE, "faint", anchor, _BOLD)
        else:
            anchor = "start"
            first = box.y + (box.height - LINE_HEIGHT * len(box.lines)) / 2 + 13
            yield self._text(box.number, box.text_x - 8, first, LABEL_SIZE, "faint", "end", _BOLD)
        for row, line in enumerate(box.lines):
            y = first + row * LINE_HEIGHT
            yield self._text(line, box.text_x, y, FONT_SIZE, "ink", anchor)

    def _key(self, key: Key) -> Iterator[str]:
        if key.kind is not None:
            yield self._drawn(key.kind, steps("line", key.points), key.tip)
        yield self._label(key.label, LABEL_SIZE, "faint")

    def _label(self, label: Label, size: float, colour: str, *, halo: bool = False) -> str:
        x = label.x + _SHARE[label.anchor] * label.width
        y = label.y + LABEL_SIZE - 1
        colour = "nucleus" if colour == "root" else colour
        text = self._text(label.text, x, y, size, colour, label.anchor)
        if not halo:
            return text
        # A rim in the colour of the paper, so that lines do not run into the letters.
        under = self._text(label.text, x, y, size, colour, label.anchor)
        return f"q {self._stroke('paper')} 2.5 w 1 Tr {under} Q {text}"

    def _text(
        self,
        text: str,
        x: float,
        y: float,
        size: float,
        colour: str,
        anchor: Anchor = "start",
        font: str = _PLAIN,
    ) -> str:
        runs = list(self._runs(text, font))
        wide = sum(_font(name).width(part) for name, part in runs) * size / 1000
        x -= _SHARE[anchor] * wide
        shown = " ".join(
            f"/{name} {_number(size)} Tf <{self._codes(name, part)}> Tj" for name, part in runs
        )
        return f"BT {self._fill(colour)} 1 0 0 -1 {_number(x)} {_number(y)} Tm {shown} ET"

    def _runs(self, text: str, font: str) -> Iterator[tuple[str, str]]:
        """Cut a text into stretches that one font can show."""
        run, current = "", font
        for char in text:
            known = ord(char) in _font(font).glyphs
            wanted = font if known else _CHINESE if ord(char) > 0x2E7F else font
            if wanted != current and run:
                yield current, run
                run = ""
            current, run = wanted, run + char
        if run:
            yield current, run

    def _codes(self, name: str, text: str) -> str:
        font = _font(name)
        used = self.glyphs.setdefault(name, {})
        codes = []
        for char in text:
            glyph = font.glyphs.get(ord(char), 0)
            used.setdefault(glyph, char)
            codes.append(f"{font.ids[glyph] if font.ids else glyph:04X}")
        return "".join(codes)

    def _fill(self, colour: str) -> str:
        return f"{self._rgb(colour)} rg"

    def _stroke(self, colour: str) -> str:
        return f"{self._rgb(colour)} RG"

    def _rgb(self, colour: str) -> str:
        name = self.colours["nucleus" if colour == "root" else colour]
        return " ".join(_number(int(name[at : at + 2], 16) / 255, 3) for at in (1, 3, 5))


def _path(drawn: Iterable[Step]) -> str:
    parts: list[str] = []
    at: Point = (0.0, 0.0)
    for pen, points in drawn:
        if pen == "Q":  # a PDF knows cubic curves only
            corner, end = points
            points = (_between(at, corner), _between(end, corner), end)
        numbers = " ".join(f"{_number(x)} {_number(y)}" for x, y in points)
        parts.append(f"{numbers} {({'M': 'm', 'L': 'l'}).get(pen, 'c')}")
        at = points[-1]
    return " ".join(parts)


def _between(start: Point, end: Point) -> Point:
    return start[0] + (end[0] - start[0]) * 2 / 3, start[1] + (end[1] - start[1]) * 2 / 3


def _number(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


# The file: numbered objects, and a table of where each begins.


def _file(page: _Page, title: str) -> bytes:
    objects: list[bytes] = []

    def add(body: str | bytes) -> int:
        objects.append(body.encode("latin-1") if isinstance(body, str) else body)
        return len(objects)

    fonts = " ".join(
        f"/{name} {_add_font(add, name, used)} 0 R" for name, used in page.glyphs.items()
    )
    shades = " ".join(
        f"/{name} {add(f'<< /CA {shade} /ca {shade} >>')} 0 R"
        for name, shade in page.shades.items()
    )
    content = add(_stream(page.content))
    # A pixel is 0.75 points; pictures that would be larger than a page may be are made smaller.
    wide, high = page.layout.width, page.layout.height
    scale = min(0.75, _LARGEST / max(wide, high))
    outer = add(_stream(f"{_number(scale, 5)} 0 0 {_number(scale, 5)} 0 0 cm".encode("ascii")))
    pages = len(objects) + 2
    add(
        f"<< /Type /Page /Parent {pages} 0 R /MediaBox [0 0 {_number(wide * scale)} "
        f"{_number(high * scale)}] /Contents [{outer} 0 R {content} 0 R] "
        f"/Resources << /Font << {fonts} >> /ExtGState << {shades} >> >> >>"
    )
    add(f"<< /Type /Pages /Kids [{pages - 1} 0 R] /Count 1 >>")
    catalog = add(f"<< /Type /Catalog /Pages {pages} 0 R >>")
    about = add(f"<< /Title ({title}) /Producer (Rhetorica {__version__}) >>")
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root %d 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        catalog,
        about,
        table,
    )
    return bytes(out)


def _stream(data: bytes, more: str = "") -> bytes:
    packed = zlib.compress(data, 9)
    head = f"<< /Length {len(packed)} /Filter /FlateDecode {more}>>".encode("ascii")
    return head + b"\nstream\n" + packed + b"\nendstream"


def _add_font(add: Callable[[str | bytes], int], name: str, used: dict[int, str]) -> int:
    """Add a font with the widths and characters of the glyphs that are used."""
    font, metrics = _font(name), _font(name).metrics
    ids = {glyph: font.ids[glyph] if font.ids else glyph for glyph in used}
    kind, program = font.embedded()
    file = add(_stream(program, f"/Subtype /{kind} "))
    box = " ".join(map(str, metrics.box))
    described = add(
        f"<< /Type /FontDescriptor /FontName /{_FONTS[name]} /Flags 4 /FontBBox [{box}] "
        f"/ItalicAngle 0 /Ascent {metrics.ascent} /Descent {metrics.descent} "
        f"/CapHeight {metrics.ascent} /StemV 80 /FontFile3 {file} 0 R >>"
    )
    widths = " ".join(f"{ids[glyph]} [{font.widths[glyph]}]" for glyph in sorted(used))
    below = add(
        f"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /{_FONTS[name]} /CIDSystemInfo "
        f"<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
        f"/FontDescriptor {described} 0 R /W [{widths}] >>"
    )
    readable = add(_stream(_to_unicode({ids[glyph]: char for glyph, char in used.items()})))
    return add(
        f"<< /Type /Font /Subtype /Type0 /BaseFont /{_FONTS[name]} /Encoding /Identity-H "
        f"/DescendantFonts [{below} 0 R] /ToUnicode {readable} 0 R >>"
    )


def _to_unicode(chars: dict[int, str]) -> bytes:
    """Write which character each code stands for, so that text can be searched and copied."""
    rows = [
        f"<{code:04X}> <{char.encode('utf-16-be').hex().upper()}>"
        for code, char in sorted(chars.items())
    ]
    blocks = [rows[at : at + 100] for at in range(0, len(rows), 100)]
    body = "\n".join(
        f"{len(block)} beginbfchar\n" + "\n".join(block) + "\nendbfchar" for block in blocks
    )
    return (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
        "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
        "1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n"
        f"{body}\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
    ).encode("ascii")
