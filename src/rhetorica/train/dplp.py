"""Train ``dplp``: choose its regularisers on dev data, calibrate, write the model folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from rhetorica.errors import RhetoricaError
from rhetorica.evaluate import Report, evaluate
from rhetorica.learn.projection import Problem
from rhetorica.parsers.dplp import DPLPParser
from rhetorica.parses import Parse
from rhetorica.relations import RelationSet
from rhetorica.train.segmenters import Say


def score_dplp(
    parser: DPLPParser, golds: Sequence[Parse], relations: RelationSet, corpus: str = ""
) -> Report:
    """Parse documents with gold EDUs and score the trees with coarse relations."""
    return evaluate(
        golds,
        [parser(gold.document) for gold in golds],
        labels=relations.coarse,
        label_name=relations.label_name,
        corpus=corpus,
    )


def train_dplp(
    train: Sequence[Parse],
    dev: Sequence[Parse],
    out: Path,
    *,
    relations: RelationSet,
    coarse: bool = True,
    l2: Sequence[float] = (200.0,),
    tau: Sequence[float] = (1.0,),
    width: Sequence[int] = (60,),
    threshold: float = 0.0,
    say: Say = print,
    progress: Callable[[str, int, int], None] | None = None,
    **settings: Any,
) -> DPLPParser:
    """Train with every combination of ``l2``, ``tau`` and ``width``; write the best on dev (full).

    ``threshold`` sets small weights of features to zero, to make the file small. What is returned
    is what will be loaded: read from the file, with the precision that it has there.
    """
    labels = relations.coarse if coarse else None
    name = f"{relations.name} {relations.label_name if coarse else 'fine'}"
    best: tuple[float, DPLPParser] | None = None
    first = DPLPParser(relations=name, **settings)
    problem: Problem | None = None
    for strength in l2:
        if problem is None or first.folds:  # only exploring depends on the strength
            first.l2 = strength
            problem = first.prepare(train, coarse=labels, progress=progress)
        for size, shrink in product(width, tau):
            parser = DPLPParser(relations=name, l2=strength, tau=shrink, width=size, **settings)
            parser.actions_, parser.words_, parser.keys_ = first.actions_, first.words_, first.keys_
            parser.fit_problem(problem, progress)
            parser.prune(threshold)
            parser.calibrate(dev, labels)
            report = score_dplp(parser, dev, relations)
            span, full = (report["parseval", "original", f].f1 for f in ("span", "full"))
            say(
                f"l2 {strength:g}, tau {shrink:g}, K {size}: dev span {100 * span:.2f}, "
                f"full {100 * full:.2f}"
            )
            if best is None or full > best[0]:
                best = full, parser
    if best is None:
        raise RhetoricaError("no settings to try: give at least one l2, tau and width")
    chosen = best[1]
    chosen.save(out)
    say(
        f"l2 {chosen.l2:g}, tau {chosen.tau:g}, K {chosen.width} kept; "
        f"temperature {chosen.temperature:.2f}"
    )
    return DPLPParser.load(out)
