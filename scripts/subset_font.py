"""Make the Chinese font of the pictures: the common characters of Noto Sans CJK SC.

    pip install fonttools
    python scripts/subset_font.py NotoSansCJKsc-Regular.otf src/rhetorica/render/fonts

The characters are those of GB 2312 (6,763 simplified ones, with kana, Greek and Cyrillic) and the
frequently used ones of Big5 (5,401 traditional ones). The licence (SIL Open Font License 1.1)
allows this under a name of our own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset

NAME = "Rhetorica CJK"
_RECORDS = {1: NAME, 3: f"{NAME} (subset of Noto Sans CJK SC)", 4: f"{NAME} Regular",
            6: "RhetoricaCJK-Regular", 16: NAME}  # fmt: skip


def characters() -> set[int]:
    """Return the code points to keep."""
    pairs = [bytes([a, b]) for a in range(0xA1, 0xFA) for b in range(0x40, 0xFF)]
    texts = [pair.decode("gb2312", "ignore") for pair in pairs if pair[1] >= 0xA1]
    # The first level of Big5 ends with the bytes C6 7E; symbols before A4 are in GB 2312 too.
    texts += [pair.decode("big5", "ignore") for pair in pairs if b"\xa4\x40" <= pair <= b"\xc6\x7e"]
    marks = [*range(0x3000, 0x3020), *range(0xFF01, 0xFF5F), *map(ord, "—–…·“”‘’「」『』")]
    return {ord(text) for text in texts if len(text) == 1} | set(marks)


def main(source: str, folder: str) -> None:
    """Write the smaller font into a folder."""
    options = subset.Options()
    options.layout_features, options.hinting, options.name_IDs = [], False, ["*"]
    options.drop_tables += ["GSUB", "GPOS", "BASE", "GDEF", "VORG", "vmtx", "vhea", "DSIG"]
    font = subset.load_font(source, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters())
    subsetter.subset(font)
    names = font["name"]
    names.names = [r for r in names.names if (r.platformID, r.langID) == (3, 0x409)]
    for record in names.names:
        record.string = _RECORDS.get(record.nameID, record.string)
    font["CFF "].cff.fontNames = ["RhetoricaCJK-Regular"]
    top = font["CFF "].cff[0]
    top.FullName = top.FamilyName = NAME
    font["head"].modified = font["head"].created  # the same input gives the same file
    font.recalcTimestamp = False
    font.save(Path(folder) / "RhetoricaCJK-Regular.otf")


if __name__ == "__main__":
    main(*sys.argv[1:])
