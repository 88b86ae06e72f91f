"""Train ``li2014``: keep the epoch that is best on dev, calibrate, write the model folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rhetorica.evaluate import evaluate
from rhetorica.parsers.li2014 import Li2014Parser
from rhetorica.parses import Parse
from rhetorica.relations import RelationSet
from rhetorica.train.segmenters import Say


def train_li2014(
    train: Sequence[Parse],
    dev: Sequence[Parse],
    out: Path,
    *,
    relations: RelationSet,
    coarse: bool = False,
    epochs: int = 12,
    patience: int = 3,
    resume: bool = False,
    say: Say = print,
    progress: Callable[[str, int, int], None] | None = None,
    **settings: Any,
) -> Li2014Parser:
    """Train the dependency parser; keep the epoch that is best on dev (LAS), then calibrate.

    Training ends when ``patience`` epochs in a row bring nothing. The state after each epoch is
    kept in the model folder until training is over; ``resume`` goes on from it.
    """
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = out / "checkpoint.npz"
    if not resume:
        checkpoint.unlink(missing_ok=True)
    labels = relations.coarse if coarse else None
    name = relations.label_name if coarse else "fine"
    parser = Li2014Parser(relations=f"{relations.name} {name}", **settings)
    best, best_epoch = -1.0, 0
    best_weights = None

    def after_epoch(epoch: int, parser: Li2014Parser) -> bool:
        nonlocal best, best_epoch, best_weights
        preds = [parser(parse.document) for parse in dev]
        report = evaluate(dev, preds, labels=relations.coarse, convention=parser.convention)
        uas = report["attachment", "unlabelled", "arcs"].f1
        las = report["attachment", "labelled", "arcs"].f1
        say(f"epoch {epoch}: dev UAS {100 * uas:.2f}, LAS (coarse) {100 * las:.2f}")
        if las > best:
            best, best_epoch, best_weights = las, epoch, parser.weights_
        return epoch - best_epoch >= patience

    parser.fit(
        train,
        epochs=epochs,
        after_epoch=after_epoch,
        progress=progress,
        coarse=labels,
        checkpoint=checkpoint,
    )
    if best_weights is not None:
        parser.weights_ = best_weights
    parser.calibrate(dev, labels)
    parser.save(out)
    checkpoint.unlink(missing_ok=True)
    say(
        f"epoch {best_epoch} kept; temperatures {parser.temperature:.2f} (heads), "
        f"{parser.relation_temperature:.2f} (relations)"
    )
    return parser
