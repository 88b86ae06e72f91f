"""Corpora as they are distributed: a folder in, parses with text, layers and trees out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rhetorica.corpora.disrpt import read_disrpt
from rhetorica.corpora.gcdt import read_gcdt
from rhetorica.corpora.gum import read_gum
from rhetorica.corpora.own import read_own
from rhetorica.corpora.rstdt import read_rstdt
from rhetorica.corpora.scidtb import read_scidtb
from rhetorica.corpora.umuc import read_umuc
from rhetorica.errors import UnknownName
from rhetorica.parses import Parse

CORPORA: dict[str, Callable[..., Iterator[Parse]]] = {
    "disrpt": read_disrpt,
    "gcdt": read_gcdt,
    "gum": read_gum,
    "own": read_own,
    "rst-dt": read_rstdt,
    "scidtb": read_scidtb,
    "umuc": read_umuc,
}
PREDICTED_SYNTAX = frozenset({"gcdt"})
"""Corpora whose own tags and dependencies were made by a parser, not by hand."""


def read_corpus(
    name: str, folder: Path | str, split: str | None = None, **options: Any
) -> Iterator[Parse]:
    """Read a corpus by name: the documents of a split, or all; options are those of its reader."""
    try:
        reader = CORPORA[name]
    except KeyError:
        raise UnknownName("corpus", name, CORPORA) from None
    return reader(folder, split, **options)
