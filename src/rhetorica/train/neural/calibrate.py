"""Dev data -> temperatures, so that the probabilities of a parse mean what they say.

A temperature divides the scores before they become probabilities (Guo et al. 2017); each head gets
the one under which the gold answers of dev are most probable. The tree is chosen by all of them
together, so the probabilities of its parts are then scaled once more (Platt 1999).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from rhetorica.decode import inside_outside
from rhetorica.evaluate.reliability import answers, gather
from rhetorica.learn.calibration import fit_platt, log_odds
from rhetorica.parsers.neural import NeuralParser
from rhetorica.parsers.neural.wordpiece import Pieces
from rhetorica.parses import Parse
from rhetorica.train.neural.data import Example, read
from rhetorica.train.neural.train import Trainer

Array: TypeAlias = npt.NDArray[Any]

GRID = tuple(float(value) for value in np.geomspace(0.6, 4.0, 26))


@torch.no_grad()
def fit_temperatures(
    trainer: Trainer, dev: Mapping[str, Sequence[Example]], encode: Callable[[Pieces], Array]
) -> dict[str, float]:
    """Return the settings ``mark_temperature``, ``split_temperature`` and so on.

    ``encode`` gives the states of pieces as users will have them, in 8 bits.
    """
    network = trainer.averaged
    network.eval()
    marks: list[tuple[torch.Tensor, torch.Tensor]] = []
    labels: list[tuple[torch.Tensor, torch.Tensor]] = []
    arcs: list[tuple[torch.Tensor, torch.Tensor]] = []
    charts: list[tuple[Array, Array]] = []
    for source, name in enumerate(trainer.inventory.sources):
        vectors, scorer = network.readers(source)
        for example in dev.get(name, ()):
            if name == "umuc":  # not a scheme that can be asked for at run time
                continue
            reading = read(example, trainer.tokenizer)
            states = torch.from_numpy(encode(reading.pieces).copy())
            edus = vectors(states, reading.units, source)
            heads = torch.tensor(example.dependencies.heads) + 1
            arcs.append((scorer(edus, reading.units, source), heads))
            if source or example.tree is None or example.n_edus < 2:
                continue
            gold = torch.from_numpy(reading.marks)
            known = gold >= 0
            marks.append((network.marker(states, source)[known], gold[known]))
            joins = torch.tensor([join[:3] for join in example.tree.joins])
            logits = network.trees.label_logits(edus, reading.units, joins, source)
            index = trainer.index["joins"]
            right = [index.get(j.label, -1) for j in example.tree.joins]
            labels.append((logits, torch.tensor(right)))
            charts.append((network.trees.chart(edus, reading.units).numpy(), joins.numpy()))
    mark_temperature = _best(lambda t: _loss(marks, t))
    return {
        "mark_temperature": mark_temperature,
        "start_threshold": _best_threshold(marks, mark_temperature),
        "split_temperature": _best(lambda t: _tree_loss(charts, t)),
        "label_temperature": _best(lambda t: _loss(labels, t)),
        "arc_temperature": _best(lambda t: _loss(arcs, t)),
    }


def fit_scales(parser: NeuralParser, golds: Sequence[Parse]) -> dict[str, tuple[float, ...]]:
    """Return slope and bias on log odds for the probabilities of trees over gold EDUs."""
    pairs = zip(golds, map(parser, (gold.document for gold in golds)), strict=True)
    found = gather(answers(gold, pred) for gold, pred in pairs)
    scales: dict[str, tuple[float, ...]] = {}
    for name in ("heads", "spans", "nuclearities", "relations"):
        p, right = np.array(found[name], dtype=np.float64).T
        fitted = fit_platt(log_odds(p)[:, None], right)
        scales[name] = tuple(round(value, 4) for value in fitted)
    return scales


def _best(loss: Callable[[float], float]) -> float:
    best: float = min(GRID, key=loss)
    return round(best, 3)


def _best_threshold(
    pairs: Sequence[tuple[torch.Tensor, torch.Tensor]], temperature: float
) -> float:
    """Return the probability from which on an EDU begins, for the best F1."""
    begins = torch.cat([1 - (logits / temperature).softmax(1)[:, 0] for logits, _ in pairs])
    gold = torch.cat([labels > 0 for _, labels in pairs])

    def f1(threshold: float) -> float:
        pred = begins > threshold
        return 2 * int((pred & gold).sum()) / max(1, int(pred.sum()) + int(gold.sum()))

    return max((round(0.3 + 0.02 * step, 2) for step in range(18)), key=f1)


def _loss(pairs: Sequence[tuple[torch.Tensor, torch.Tensor]], temperature: float) -> float:
    total = 0.0
    for logits, gold in pairs:
        total += functional.cross_entropy(
            logits / temperature, gold, ignore_index=-1, reduction="sum"
        ).item()
    return total


def _tree_loss(charts: Sequence[tuple[Array, Array]], temperature: float) -> float:
    """Return minus the log probability that the model gives to gold ranges, taken one by one."""
    total = 0.0
    for chart, joins in charts:
        _, spans, _ = inside_outside(chart / np.float32(temperature))
        gold = np.zeros(spans.shape, dtype=bool)
        gold[joins[:, 0], joins[:, 2]] = True
        wide = np.triu(np.ones(spans.shape, dtype=bool), 2)
        p = np.clip(spans[wide], 1e-6, 1 - 1e-6)
        total -= float(np.log(np.where(gold[wide], p, 1 - p)).sum())
    return total
