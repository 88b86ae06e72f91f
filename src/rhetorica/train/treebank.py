"""A treebank for training: documents with syntax, the classes of its relations, scores on dev.

(It stands here rather than in `corpora`, since syntax comes from the front end, `text`.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from rhetorica.convert import Convention
from rhetorica.corpora import read_corpus
from rhetorica.document import Document
from rhetorica.evaluate import Report, evaluate
from rhetorica.parses import Parse
from rhetorica.relations import RelationSet, relation_set
from rhetorica.text import annotate_all

Syntax = Literal["gold", "predicted", "both"]


@dataclass(frozen=True)
class Treebank:
    """Training and dev documents with syntax, and the classes of its relations."""

    name: str
    train: list[Parse]
    dev: list[Parse]
    relations: RelationSet

    def score(
        self,
        preds: Iterable[Parse],
        golds: Sequence[Parse] | None = None,
        *,
        part: str = "dev",
        coarse: bool = True,
        convention: Convention = "star",
    ) -> Report:
        """Score analyses of the dev documents (or of others), by coarse relations."""
        return evaluate(
            self.dev if golds is None else golds,
            preds,
            labels=self.relations.coarse if coarse else None,
            label_name=self.relations.label_name if coarse else "as-is",
            convention=convention,
            corpus=f"{self.name}-{part}",
        )


def read_treebank(name: str, folder: Path | str, *, syntax: Syntax = "gold") -> Treebank:
    """Read a treebank; where it has no syntax of its own, ours is added.

    With ``predicted`` syntax the training documents get ours in any case; with ``both`` each is
    there twice, for a parser that knows the mistakes of automatic syntax. Dev documents keep
    theirs.
    """
    train, dev = (with_syntax(read_corpus(name, folder, split)) for split in ("train", "dev"))
    if syntax != "gold":
        kept = train if syntax == "both" else []
        train = [*kept, *with_syntax(train, predicted=True)]
    return Treebank(name, train, dev, relation_set(name))


def with_syntax(parses: Iterable[Parse], *, predicted: bool = False) -> list[Parse]:
    """Let our pipeline add syntax where there is none or, if ``predicted``, replace what is there.

    Text, EDUs and trees are kept; predicted are tokens, syntax, sentences and paragraphs.
    """
    golds = list(parses)
    docs = [gold.document for gold in golds]
    if predicted:
        docs = [Document(doc.text, doc.edus, id=doc.id, language=doc.language) for doc in docs]
    return [replace(g, document=d) for g, d in zip(golds, annotate_all(docs), strict=True)]
