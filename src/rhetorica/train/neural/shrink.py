"""A finished model -> a smaller network that does nearly the same: fewer layers, narrower inside.

The smaller encoder begins with layers of the larger one (Sanh et al. 2019), of whose inner units
the busiest stay, and learns to give the states of the larger one (Jiao et al. 2020), for which any
text will do. The heads, which were made for these states, are taken over as they are.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from rhetorica.errors import ModelError
from rhetorica.models.store import Config
from rhetorica.parsers.neural.windows import WIDTH
from rhetorica.parsers.neural.wordpiece import Pieces
from rhetorica.progress import Event, Tell
from rhetorica.train.neural.data import Example, Reading, read
from rhetorica.train.neural.encoders import Shape
from rhetorica.train.neural.model import Network
from rhetorica.train.neural.restart import read_inventory, read_model

StatesOf = Callable[[Pieces], npt.NDArray[np.float32]]
LOOKED_AT = 12
"""How many documents tell which inner units are busy."""
PIECES = 2 * WIDTH
"""How much of a document is imitated in a step: many small steps lead farther than few large."""
REPORT_EVERY = 200


def shape_of(folder: Path) -> Shape | None:
    """Return the shape of a model's encoder, where its config tells it."""
    told = Config.read(folder).settings.get("shape")
    return Shape(**told) if told else None


def spread(have: int, keep: int) -> list[int]:
    """Return which layers to keep: the first, the last, and others at equal distances.

    >>> spread(6, 3), spread(6, 4), spread(6, 1)
    ([0, 2, 5], [0, 2, 3, 5], [0])
    """
    return [round(number * (have - 1) / max(1, keep - 1)) for number in range(keep)]


def shrunk(folder: Path, network: Network, readings: Sequence[Reading]) -> dict[str, Tensor]:
    """Return weights of a model for a network with fewer layers or narrower ones.

    ``network`` must have its word vectors already, and its inventory is that of the model; the
    readings show which of the model's inner units are busy.
    """
    shape, small = shape_of(folder), network.encoder.shape
    if shape is None or shape.width != small.width:
        raise ModelError(f"{folder} cannot be shrunk to a width of {small.width}: it has another")
    if shape.layers < small.layers or shape.wide < small.wide:
        raise ModelError(
            f"{folder} cannot be shrunk to {small.layers} layers, {small.wide} wide inside: it has "
            f"{shape.layers}, {shape.wide} wide"
        )
    inventory = read_inventory(folder)
    large = Network(network.encoder.words.num_embeddings, inventory, shape=shape)
    large.load_state_dict(read_model(folder, inventory, large.state_dict()), strict=False)
    large.encoder.words = network.encoder.words
    busy = busyness(large.eval(), readings)
    given = large.state_dict()
    found = {n: value for n, value in given.items() if not n.startswith("encoder.layers.")}
    for place, number in enumerate(spread(shape.layers, small.layers)):
        units = busy[number].topk(small.wide).indices.sort().values
        begin = f"encoder.layers.{number}."
        for name in (name for name in given if name.startswith(begin)):
            part, value = name.removeprefix(begin), given[name]
            if part.startswith("up."):
                value = value[units]
            elif part == "down.weight":
                value = value[:, units]
            found[f"encoder.layers.{place}.{part}"] = value
    return found


@torch.no_grad()
def busyness(network: Network, readings: Sequence[Reading]) -> list[Tensor]:
    """Return, by layer, how much each inner unit adds to the states, on average."""
    found = [torch.zeros(network.encoder.shape.wide) for _ in network.encoder.layers]

    def watch(number: int) -> Callable[..., None]:
        def add(_layer: Any, _inputs: Any, out: Tensor) -> None:
            found[number] += functional.gelu(out).abs().flatten(0, -2).sum(0)

        return add

    handles = [
        layer.up.register_forward_hook(watch(number))  # type: ignore[union-attr, operator]
        for number, layer in enumerate(network.encoder.layers)
    ]
    for reading in readings:
        network.states(reading.pieces.ids, reading.pieces.types, 0, 0, 0)
    for handle in handles:
        handle.remove()
    downs = [layer.down.weight.norm(dim=0) for layer in network.encoder.layers]  # type: ignore[union-attr]
    return [total * down for total, down in zip(found, downs, strict=True)]


def imitation_loss(states: Tensor, wanted: Tensor) -> Tensor:
    """Return the share of the variance of the wanted states that is missed.

    >>> wanted = torch.tensor([[0.0, 2.0], [2.0, 0.0]])
    >>> imitation_loss(wanted, wanted).item(), imitation_loss(torch.ones(2, 2), wanted).item()
    (0.0, 1.0)
    """
    return functional.mse_loss(states, wanted) / wanted.var(0, correction=0).mean()


def endless(examples: Sequence[Example], rng: random.Random) -> Iterator[Example]:
    """Yield the examples in a random order, again and again."""
    while True:
        order = list(examples)
        rng.shuffle(order)
        yield from order


def imitate(
    trainer: Any, wanted: StatesOf, examples: Sequence[Example], minutes: float, tell: Tell
) -> None:
    """Train a network's encoder, for some minutes, to give the states of another.

    A document is laid out once, and the states that are wanted of it are kept in 16 bits.
    """
    settings, network = trainer.settings, trainer.network
    encoder = [p for p in network.encoder.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(encoder, settings.imitate_rate, weight_decay=0.01, fused=True)
    rng = random.Random(f"{settings.seed}-imitate")
    torch.manual_seed(settings.seed)
    network.train()
    known: dict[str, tuple[Reading, Tensor]] = {}
    began, seconds, step, total = time.monotonic(), 60 * minutes, 0, 0.0
    documents = endless(examples, rng)
    while (left := 1 - (time.monotonic() - began) / seconds) > 0:
        example = next(documents)
        name = f"{example.source}/{example.id}"
        if name not in known:
            reading = read(example, trainer.tokenizer, rng)
            known[name] = reading, torch.from_numpy(wanted(reading.pieces).astype(np.float16))
        reading, goal = known[name]
        first = rng.randrange(max(1, len(goal) - PIECES + 1))
        some = slice(first, first + PIECES)
        states = network.states(
            reading.pieces.ids[some],
            reading.pieces.types[some],
            trainer.first,
            trainer.last,
            0,
            brief=settings.brief,
        )
        loss = imitation_loss(states, goal[some].float())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(encoder, 1.0)
        factor = min((step + 1) / settings.warmup, 1.0, left / settings.decay)
        for group in optimizer.param_groups:
            group["lr"] = settings.imitate_rate * factor
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step, total = step + 1, total + loss.item()
        if step % REPORT_EVERY == 0:
            note = f"{step} steps, {100 * (1 - left):.0f} % of the time, missed"
            tell(Event("imitating", note=f"{note} {total / REPORT_EVERY:.4f}"))
            total = 0.0
    trainer.averaged.load_state_dict(network.state_dict())
