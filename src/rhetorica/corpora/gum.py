"""GUM (Zeldes 2017): eRST trees, text, gold syntax and paragraphs of one document together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rhetorica.corpora.layers import cut_by_words, read_brackets, read_one_conllu
from rhetorica.errors import FormatError
from rhetorica.files import Source
from rhetorica.formats.rs3 import read_rs3
from rhetorica.parses import Parse


def read_gum(
    folder: Path | str, split: str | None = None, *, constituency: bool = False
) -> Iterator[Parse]:
    """Read the documents of a split (``train``, ``dev``, ... as listed in ``splits/``), or all.

    ``constituency`` adds the phrase structures of ``const/``.
    """
    folder = Path(folder)
    trees = folder / "rst" / "rstweb"
    for name in _names(folder, trees, split):
        doc = read_one_conllu(folder / "dep" / f"{name}.conllu")
        doc = replace(doc, language="en", id=name)
        if constituency:
            doc = replace(doc, constituency=read_brackets(folder / "const" / f"{name}.ptb"))
        path = trees / f"{name}.rs4"
        yield cut_by_words(doc, read_rs3(path), path)


def _names(folder: Path, trees: Path, split: str | None) -> list[str]:
    if split:
        listed = folder / "splits" / f"{split}.txt"
        if not listed.is_file():
            why = "no such file; if the folder is no copy of GUM, name the corpus (--corpus)"
            raise FormatError(str(listed), None, why)
        return Source.of(listed).text.split()
    names = sorted(path.stem for path in trees.glob("*.rs4"))
    if not names:
        raise FormatError(str(trees), None, "no .rs4 file here: is this the GUM folder?")
    return names
