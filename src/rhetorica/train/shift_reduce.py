"""Train ``shift-reduce``: choose the strength on dev, calibrate, write the model folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rhetorica.document import Document
from rhetorica.evaluate import evaluate
from rhetorica.parsers.shift_reduce import ShiftReduceParser
from rhetorica.parses import Parse
from rhetorica.relations import RelationSet
from rhetorica.text import annotate_all
from rhetorica.train.segmenters import Say
from rhetorica.trees import DepTree

STRENGTH_GRID = tuple(2.0**power for power in range(-4, 5))
"""The strengths that Heilman & Sagae (2015, section 5) try."""


def with_our_syntax(parses: Iterable[Parse]) -> list[Parse]:
    """Keep text, EDUs and trees; let our pipeline find paragraphs, sentences and syntax."""
    golds = list(parses)
    bare = [
        Document(gold.document.text, gold.document.edus, id=gold.id, language="en")
        for gold in golds
    ]
    return [replace(g, document=d) for g, d in zip(golds, annotate_all(bare), strict=True)]


def train_shift_reduce(
    train: Sequence[Parse],
    dev: Sequence[Parse],
    out: Path,
    *,
    relations: RelationSet,
    coarse: bool = True,
    strengths: Sequence[float] = (0.125,),
    say: Say = print,
    progress: Callable[[str, int, int], None] | None = None,
    **settings: Any,
) -> ShiftReduceParser:
    """Train with each strength; write the parser with the best labelled spans on dev (section 5).

    The strength is that of the only classifier, or of the one for shift and reduce. Training
    documents whose dependencies cross have no RST tree and are left out.
    """
    usable = [parse for parse in train if _has_tree(parse)]
    if len(usable) < len(train):
        say(f"{len(train) - len(usable)} training documents without an RST tree left out")
    known = [parse for parse in dev if _has_tree(parse)]
    name = relations.label_name if coarse else "fine"
    best: tuple[float, ShiftReduceParser] | None = None
    for strength in strengths:
        parser = ShiftReduceParser(
            relations=f"{relations.name} {name}", strength=strength, **settings
        )
        parser.fit(usable, coarse=relations.coarse if coarse else None, progress=progress)
        preds = [parser(parse.document) for parse in dev]
        report = evaluate(dev, preds, labels=relations.coarse)
        figures = [report["parseval", "original", f] for f in ("span", "nuclearity", "full")]
        told = ", ".join(
            f"{what} {100 * counts.f1:.2f}"
            for what, counts in zip(("span", "nuclearity", "full"), figures, strict=True)
        )
        arcs = [report["attachment", kind, "arcs"].f1 for kind in ("unlabelled", "labelled")]
        say(f"strength {strength:g}: dev {told}, UAS {100 * arcs[0]:.2f}, LAS {100 * arcs[1]:.2f}")
        if best is None or figures[-1].f1 > best[0]:
            best = figures[-1].f1, parser
    if best is None:
        raise ValueError("no strength to train with: give at least one")
    parser = best[1]
    parser.calibrate(known)
    parser.save(out)
    say(f"strength {parser.strength:g} kept")
    return parser


def _has_tree(parse: Parse) -> bool:
    return not isinstance(parse.source, DepTree) or parse.source.is_projective()
