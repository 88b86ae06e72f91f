"""A corpus of the DISRPT shared tasks: a folder with ``.tok``, ``.conllu`` and ``.rels`` files.

Files are named like the folder and split: ``eng.dep.scidtb/eng.dep.scidtb_dev.rels``, also ``.gz``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rhetorica.document import Document
from rhetorica.errors import FormatError, InvalidTree
from rhetorica.formats.conllu import read_conllu
from rhetorica.formats.disrpt import (
    Relation,
    dependencies_from_rels,
    group_by_document,
    read_rels,
    read_tok,
)
from rhetorica.parses import Parse
from rhetorica.trees import DepTree

TREE_FRAMEWORKS = frozenset({"rst", "erst", "dep"})
"""Frameworks whose rows say which unit depends on which; SDRT and PDTB make no trees."""
_LANGUAGES = {
    "ces": "cs", "deu": "de", "eng": "en", "eus": "eu", "fas": "fa", "fra": "fr", "ita": "it",
    "nld": "nl", "pol": "pl", "por": "pt", "rus": "ru", "spa": "es", "tha": "th", "tur": "tr",
    "zho": "zh",
}  # fmt: skip


def read_disrpt(folder: Path | str, split: str = "train") -> Iterator[Parse]:
    """Read the documents of a split: words, EDUs and, with ``.conllu``, sentences and syntax.

    A parse has a tree where the rows of its document make one (`dependencies_from_rels`), and
    none where they do not: always in SDRT and PDTB corpora, and where units are left unattached.
    In eRST corpora secondary edges are left out. `read_disrpt_relations` gives the rows themselves.
    """
    folder = Path(folder)
    language, framework = _name_parts(folder)
    rows = _relations(folder, split, required=False)
    for document in _documents(folder, split):
        document = replace(document, language=language)
        tree = None
        if framework in TREE_FRAMEWORKS and document.edus:
            tree = _tree(document, rows.get(document.id, ()), secondary=framework == "erst")
        yield Parse(document, tree)


def read_disrpt_relations(folder: Path | str, split: str = "train") -> dict[str, list[Relation]]:
    """Read the rows of a split's ``.rels``, by document."""
    return _relations(Path(folder), split, required=True)


def _tree(document: Document, rows: Sequence[Relation], *, secondary: bool) -> DepTree | None:
    try:
        return dependencies_from_rels(document, rows, secondary=secondary)
    except InvalidTree:
        return None


def _documents(folder: Path, split: str) -> Iterator[Document]:
    """Yield the documents of the ``.conllu`` file or, where there is none, of the ``.tok`` file."""
    if path := _find(folder, split, ".conllu"):
        return (parse.document for parse in read_conllu(path))
    if path := _find(folder, split, ".tok"):
        return (parse.document for parse in read_tok(path))
    raise FormatError(str(folder), None, f"no {folder.name}_{split}.conllu or .tok here")


def _relations(folder: Path, split: str, *, required: bool) -> dict[str, list[Relation]]:
    path = _find(folder, split, ".rels")
    if path is None:
        if required:
            raise FormatError(str(folder), None, f"no {folder.name}_{split}.rels here")
        return {}
    return group_by_document(read_rels(path))


def _find(folder: Path, split: str, extension: str) -> Path | None:
    name = f"{folder.resolve().name}_{split}{extension}"
    return next((folder / n for n in (name, f"{name}.gz") if (folder / n).is_file()), None)


def _name_parts(folder: Path) -> tuple[str, str]:
    """Return language and framework of a corpus named like ``eng.rst.gum``."""
    language, _, rest = folder.resolve().name.partition(".")
    return _LANGUAGES.get(language, language), rest.partition(".")[0]
