"""Rerun a paper's experiments on open treebanks and write its tables, one module a paper.

Every training is kept as a small file in a working folder, so an interrupted run goes on where it
stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from rhetorica.corpora import read_corpus
from rhetorica.parses import Parse
from rhetorica.relations import RelationSet, relation_set
from rhetorica.text import annotate_all

Say = Callable[[str], None]


@dataclass(frozen=True)
class Treebank:
    """Training and dev documents with syntax, and the classes of its relations."""

    name: str
    train: list[Parse]
    dev: list[Parse]
    relations: RelationSet


def read_treebank(name: str, folder: Path | str) -> Treebank:
    """Read a treebank; where it has no syntax of its own, ours is added."""
    parts = []
    for split in ("train", "dev"):
        parses = list(read_corpus(name, folder, split))
        docs = annotate_all(parse.document for parse in parses)
        parts.append([replace(p, document=d) for p, d in zip(parses, docs, strict=True)])
    return Treebank(name, parts[0], parts[1], relation_set(name))
