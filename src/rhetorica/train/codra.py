"""Train ``codra``: fit all its models, make them small, write the model folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rhetorica.evaluate import Report, evaluate
from rhetorica.parsers.codra.parser import CodraParser, Settings
from rhetorica.parses import Parse
from rhetorica.relations import RelationSet
from rhetorica.train.segmenters import Say


def train_codra(
    train: Sequence[Parse],
    dev: Sequence[Parse],
    out: Path,
    *,
    relations: RelationSet,
    coarse: bool = True,
    threshold: float = 0.0,
    say: Say = print,
    progress: Callable[[str, int, int], None] | None = None,
    **settings: Any,
) -> CodraParser:
    """Train the two-stage parser and say what it gets on dev.

    Weights smaller than ``threshold`` are dropped, to make the file small.
    """
    labels = relations.coarse if coarse else None
    name = relations.label_name if coarse else "fine"
    chosen = Settings(relations=f"{relations.name} {name}", **settings)

    def told(what: str, step: int, loss: float) -> None:
        if progress:
            progress(what, step, chosen.iterations)
        if step % 10 == 0:
            say(f"{what}: iteration {step}, loss {loss:,.0f}")

    parser = CodraParser(chosen).fit(train, coarse=labels, progress=told)
    if threshold:
        parser.prune(threshold)
    parser.save(out)
    report = score(CodraParser.load(out), dev, relations)
    for variant in ("original", "rst"):
        figures = [
            f"{figure} {100 * report['parseval', variant, figure].f1:.2f}"
            for figure in ("span", "nuclearity", "relation", "full")
        ]
        say(f"dev, parseval {variant}: {', '.join(figures)}")
    return parser


def score(parser: CodraParser, dev: Sequence[Parse], relations: RelationSet) -> Report:
    """Parse dev documents with gold EDUs and score them by coarse relations."""
    preds = [parser(parse.document) for parse in dev]
    return evaluate(
        dev,
        preds,
        labels=relations.coarse,
        label_name=relations.label_name,
        corpus=f"{relations.name}-dev",
    )
