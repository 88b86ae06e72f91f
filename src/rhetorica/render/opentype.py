"""What a PDF needs to know of an OpenType font: glyphs of characters, their widths, its outlines.

Reads the fonts in ``render/fonts`` (OpenType with CFF outlines); nothing else is asked of it.
"""

from __future__ import annotations

import struct
from functools import cached_property
from typing import NamedTuple

_KEPT = (b"CFF ", b"OS/2", b"cmap", b"head", b"hhea", b"hmtx", b"maxp", b"name", b"post")


class Metrics(NamedTuple):
    """Sizes of a font in thousandths of an em."""

    box: tuple[int, int, int, int]
    ascent: int
    descent: int


class Font:
    """A font that was read from the bytes of a file.

    >>> from importlib.resources import files
    >>> place = files("rhetorica.render") / "fonts" / "SourceSansPro-Regular.otf"
    >>> font = Font(place.read_bytes())
    >>> font.glyphs[ord("i")] != font.glyphs[ord("m")]
    True
    >>> font.width("i") < font.width("m"), font.width("im") == font.width("i") + font.width("m")
    (True, True)
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        count = struct.unpack_from(">H", data, 4)[0]
        self.tables: dict[bytes, bytes] = {}
        for row in range(count):
            tag, _, at, size = struct.unpack_from(">4sLLL", data, 12 + 16 * row)
            self.tables[tag] = data[at : at + size]
        self._em: int = struct.unpack_from(">H", self.tables[b"head"], 18)[0]

    @cached_property
    def glyphs(self) -> dict[int, int]:
        """The glyph of each character."""
        table = self.tables[b"cmap"]
        count = struct.unpack_from(">H", table, 2)[0]
        found: dict[int, int] = {}
        for row in range(count):
            platform, encoding, at = struct.unpack_from(">HHL", table, 4 + 8 * row)
            if platform == 0 or (platform == 3 and encoding in (1, 10)):
                found |= _characters(table[at:])
        return found

    @cached_property
    def widths(self) -> list[int]:
        """The width of each glyph in thousandths of an em."""
        wide: int = struct.unpack_from(">H", self.tables[b"hhea"], 34)[0]
        total: int = struct.unpack_from(">H", self.tables[b"maxp"], 4)[0]
        rows = struct.unpack_from(f">{2 * wide}H", self.tables[b"hmtx"])
        sizes = [round(1000 * size / self._em) for size in rows[::2]]
        return sizes + sizes[-1:] * (total - wide)

    @cached_property
    def metrics(self) -> Metrics:
        """Its sizes."""
        box = struct.unpack_from(">4h", self.tables[b"head"], 36)
        ascent, descent = struct.unpack_from(">2h", self.tables[b"hhea"], 4)
        x1, y1, x2, y2, up, down = (round(1000 * n / self._em) for n in (*box, ascent, descent))
        return Metrics((x1, y1, x2, y2), up, down)

    @cached_property
    def ids(self) -> list[int] | None:
        """The number (CID) by which a PDF names each glyph; None where that is the glyph's own."""
        return _cids(self.tables[b"CFF "], len(self.widths))

    def width(self, text: str) -> int:
        """Return how wide a text is in thousandths of an em; what the font lacks counts nothing."""
        return sum(self.widths[self.glyphs[ord(c)]] for c in text if ord(c) in self.glyphs)

    def embedded(self) -> tuple[str, bytes]:
        """Return what a PDF holds of the font, and how that is called there.

        The outlines alone where glyphs have numbers of their own, which readers then go by; else
        the font without the tables that only typesetters need.
        """
        if self.ids:
            return "CIDFontType0C", self.tables[b"CFF "]
        return "OpenType", self._small()

    def _small(self) -> bytes:
        kept = {tag: self.tables[tag] for tag in _KEPT if tag in self.tables}
        power = 1 << (len(kept).bit_length() - 1)
        head = struct.pack(
            ">4sHHHH", b"OTTO", len(kept), 16 * power, power.bit_length() - 1,
            16 * (len(kept) - power),
        )  # fmt: skip
        at, rows, body = 12 + 16 * len(kept), b"", b""
        for tag, table in kept.items():
            padded = table + bytes(-len(table) % 4)
            check = sum(struct.unpack(f">{len(padded) // 4}L", padded)) & 0xFFFFFFFF
            rows += struct.pack(">4sLLL", tag, check, at + len(body), len(table))
            body += padded
        return head + rows + body


def _characters(table: bytes) -> dict[int, int]:
    """Read a table of characters and their glyphs: format 4 (16 bits) or 12 (32 bits)."""
    format = struct.unpack_from(">H", table)[0]
    found: dict[int, int] = {}
    if format == 12:
        for row in range(struct.unpack_from(">L", table, 12)[0]):
            first, last, glyph = struct.unpack_from(">LLL", table, 16 + 12 * row)
            found |= {char: glyph + char - first for char in range(first, last + 1)}
    elif format == 4:
        count = struct.unpack_from(">H", table, 6)[0] // 2
        parts = (14, 16 + 2 * count, 16 + 4 * count, 16 + 6 * count)
        last, first, delta, offset = (struct.unpack_from(f">{count}H", table, at) for at in parts)
        for row in range(count):
            for char in range(first[row], last[row] + 1):
                glyph = char
                if offset[row]:
                    at = parts[3] + 2 * row + offset[row] + 2 * (char - first[row])
                    glyph = struct.unpack_from(">H", table, at)[0]
                    if not glyph:
                        continue
                if char != 0xFFFF and (glyph := (glyph + delta[row]) & 0xFFFF):
                    found[char] = glyph
    return found


def _cids(cff: bytes, glyphs: int) -> list[int] | None:
    """Read the numbers of the glyphs of a font with a ROS; others have none."""
    at = _after_index(cff, cff[2])  # names
    start, size = _first_of_index(cff, at)
    facts = _dictionary(cff[start : start + size])
    if (12, 30) not in facts:
        return None
    at = facts[15,][0]
    form, at, ids = cff[at], at + 1, [0]
    while len(ids) < glyphs:
        first = struct.unpack_from(">H", cff, at)[0]
        more, step = (0, 2) if form == 0 else (cff[at + 2], 3)
        if form == 2:
            more, step = struct.unpack_from(">H", cff, at + 2)[0], 4
        ids += range(first, first + more + 1)
        at += step
    return ids[:glyphs]


def _after_index(data: bytes, at: int) -> int:
    count: int
    size: int
    count, size = struct.unpack_from(">HB", data, at)
    if not count:
        return at + 2
    end = at + 3 + count * size
    return end + size - 1 + int.from_bytes(data[end : end + size], "big")


def _first_of_index(data: bytes, at: int) -> tuple[int, int]:
    count, size = struct.unpack_from(">HB", data, at)
    first, second = (
        int.from_bytes(data[at + 3 + n * size : at + 3 + (n + 1) * size], "big") for n in (0, 1)
    )
    begin = at + 2 + (count + 1) * size
    return begin + first, second - first


def _dictionary(data: bytes) -> dict[tuple[int, ...], list[int]]:
    """Read operators and their whole numbers; real numbers are passed over."""
    found: dict[tuple[int, ...], list[int]] = {}
    numbers: list[int] = []
    at = 0
    while at < len(data):
        byte = data[at]
        at += 1
        if byte == 12:
            found[12, data[at]], numbers, at = numbers, [], at + 1
        elif byte <= 21:
            found[(byte,)], numbers = numbers, []
        elif byte in (28, 29):
            size = 2 if byte == 28 else 4
            numbers.append(int.from_bytes(data[at : at + size], "big", signed=True))
            at += size
        elif byte == 30:
            while data[at] & 15 != 15 and data[at] >> 4 != 15:
                at += 1
            at += 1
            numbers.append(0)
        elif byte <= 246:
            numbers.append(byte - 139)
        else:
            sign, base = (1, 247) if byte <= 250 else (-1, 251)
            numbers.append(sign * ((byte - base) * 256 + data[at] + 108))
            at += 1
    return found
