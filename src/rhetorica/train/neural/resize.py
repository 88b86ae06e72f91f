"""A finished model -> a network of another size that does nearly the same, to be trained on.

A smaller encoder begins with layers of the larger one (Sanh et al. 2019), of whose heads of
attention and inner units the busiest stay, and learns to give the states of the larger one after
each layer (Jiao et al. 2020), for which any text will do. A deeper encoder begins with the lower
layers of the model and the pretrained ones above them, and learns to give, after its last layer,
the model's last states. The heads of the network, which were made for these states, are taken over
as they are.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from rhetorica.errors import ModelError
from rhetorica.models.store import Config
from rhetorica.parsers.neural.windows import WIDTH
from rhetorica.progress import Event, Tell
from rhetorica.train.neural.data import Example, Reading, read
from rhetorica.train.neural.encoders import Layer, Shape
from rhetorica.train.neural.model import Network
from rhetorica.train.neural.restart import read_inventory, read_model

LOOKED_AT = 12
"""How many documents tell which heads of attention and inner units are busy."""
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


def model_network(folder: Path, words: nn.Embedding) -> Network:
    """Return the network of a model that is to be imitated, with word vectors as given."""
    shape = shape_of(folder)
    if shape is None:
        raise ModelError(f"{folder} has no layers to keep: its config does not tell their shape")
    inventory = read_inventory(folder)
    model = Network(words.num_embeddings, inventory, shape=shape)
    if words.embedding_dim != shape.width:
        raise ModelError(f"{folder} cannot be brought to a width of {words.embedding_dim}")
    model.load_state_dict(read_model(folder, inventory, model.state_dict()), strict=False)
    model.encoder.words = words
    return model.eval()


def resized(model: Network, shape: Shape, readings: Sequence[Reading]) -> dict[str, Tensor]:
    """Return weights of a model for a network with a smaller encoder, or with a deeper one."""
    if shape.layers > model.encoder.shape.layers:
        return grown(model, shape)
    return shrunk(model, shape, readings)


def grown(model: Network, deep: Shape) -> dict[str, Tensor]:
    """Return weights of a network for one with more layers: all but its upper layers.

    Training hardly moves the lower half (states of MPNet's first three layers had a cosine of .95
    and more with those before it), so the pretrained layers above fit on it; they are not among
    the weights that are returned.
    """
    shape = model.encoder.shape
    if (shape.heads, shape.wide) != (deep.heads, deep.wide):
        raise ModelError("an encoder can be made deeper or narrower, not both")
    kept = tuple(f"encoder.layers.{number}." for number in range(shape.layers // 2))
    return {
        name: value
        for name, value in model.state_dict().items()
        if name.startswith(kept) or not name.startswith("encoder.layers.")
    }


def shrunk(large: Network, small: Shape, readings: Sequence[Reading]) -> dict[str, Tensor]:
    """Return weights of a network for one with fewer layers, or with narrower ones.

    The readings show which heads of attention and inner units are busy.
    """
    shape = large.encoder.shape
    sizes = [(of.layers, of.heads, of.wide) for of in (shape, small)]
    if any(have < want for have, want in zip(*sizes, strict=True)):
        told = [f"{a} layers, {b} heads, {c} wide inside" for a, b, c in sizes]
        raise ModelError(f"an encoder of {told[0]} cannot be shrunk to {told[1]}")
    busy = busyness(large, readings)
    # Heads of the same place share a table of relative positions, in all layers.
    heads = _busiest(torch.stack([layer.heads for layer in busy]).mean(0), small.heads)
    one = shape.attended // shape.heads
    inside = torch.arange(shape.attended).view(shape.heads, one)[heads].flatten()
    given = large.state_dict()
    found = {n: value for n, value in given.items() if not n.startswith("encoder.layers.")}
    if shape.buckets:
        found["encoder.relative.weight"] = given["encoder.relative.weight"][:, heads]
    for place, number in enumerate(spread(shape.layers, small.layers)):
        units = _busiest(busy[number].units, small.wide)
        begin = f"encoder.layers.{number}."
        for name in (name for name in given if name.startswith(begin)):
            part, value = name.removeprefix(begin), given[name]
            if part.startswith("qkv."):
                value = value.unflatten(0, (3, shape.attended))[:, inside].flatten(0, 1)
            elif part == "out.weight":
                value = value[:, inside]
            elif part.startswith("up."):
                value = value[units]
            elif part == "down.weight":
                value = value[:, units]
            found[f"encoder.layers.{place}.{part}"] = value
    return found


def _busiest(busy: Tensor, keep: int) -> Tensor:
    return busy.topk(keep).indices.sort().values


@dataclass(frozen=True)
class Busy:
    """How much each head of attention and each inner unit of a layer adds to the states."""

    heads: Tensor
    units: Tensor


@torch.no_grad()
def busyness(network: Network, readings: Sequence[Reading]) -> list[Busy]:
    """Return, by layer, how much its parts add to the states, on average."""
    shape = network.encoder.shape
    found = [Busy(torch.zeros(shape.heads), torch.zeros(shape.wide)) for _ in range(shape.layers)]

    def watch(number: int, layer: Layer) -> Iterator[Any]:
        def heads(module: nn.Linear, inputs: tuple[Tensor], _out: Tensor) -> None:
            mixed = inputs[0].flatten(0, -2).unflatten(1, (shape.heads, -1))
            weight = module.weight.unflatten(1, (shape.heads, -1))
            added = torch.einsum("phk,whk->phw", mixed, weight)
            found[number].heads.add_(added.norm(dim=2).sum(0))

        def units(_module: nn.Linear, _inputs: Any, out: Tensor) -> None:
            found[number].units.add_(functional.gelu(out).abs().flatten(0, -2).sum(0))

        yield layer.out.register_forward_hook(heads)
        yield layer.up.register_forward_hook(units)

    layers = [cast(Layer, layer) for layer in network.encoder.layers]
    handles = [handle for number, layer in enumerate(layers) for handle in watch(number, layer)]
    for reading in readings:
        network.states(reading.pieces.ids, reading.pieces.types, 0, 0, 0)
    for handle in handles:
        handle.remove()
    for layer, busy in zip(layers, found, strict=True):
        busy.units.mul_(layer.down.weight.norm(dim=0))
    return found


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


def alike(have: int, want: int) -> dict[int, int]:
    """Return which layers of a network of ``want`` layers are to be like which of ``have``.

    What a deeper network does below its last layer is its own affair.

    >>> alike(6, 3), alike(6, 9)
    ({0: 0, 1: 2, 2: 5}, {8: 5})
    """
    return dict(enumerate(spread(have, want))) if want <= have else {want - 1: have - 1}


def imitate(
    trainer: Any, model: Network, examples: Sequence[Example], minutes: float, tell: Tell
) -> None:
    """Train a network's encoder, for some minutes, to give the states of another one.

    The last layer, over which the heads stand, counts as much as all layers below it.
    """
    settings, network = trainer.settings, trainer.network
    encoder = [p for p in network.encoder.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(encoder, settings.imitate_rate, weight_decay=0.01, fused=True)
    rng = random.Random(f"{settings.seed}-imitate")
    torch.manual_seed(settings.seed)
    network.train()
    pairs = alike(model.encoder.shape.layers, network.encoder.shape.layers)
    known: dict[str, Reading] = {}
    began, seconds, step, total = time.monotonic(), 60 * minutes, 0, 0.0
    documents = endless(examples, rng)
    while (left := 1 - (time.monotonic() - began) / seconds) > 0:
        example = next(documents)
        name = f"{example.source}/{example.id}"
        if name not in known:
            known[name] = read(example, trainer.tokenizer, rng)
        pieces = known[name].pieces
        first = rng.randrange(max(1, len(pieces.ids) - PIECES + 1))
        some = slice(first, first + PIECES)
        text = pieces.ids[some], pieces.types[some], trainer.first, trainer.last, 0
        with torch.no_grad():
            wanted = model.states(*text, brief=settings.brief, shown=[*pairs.values()])
        states = network.states(*text, brief=settings.brief, shown=[*pairs])
        missed = [imitation_loss(states[:, n], wanted[:, n]) for n in range(len(pairs))]
        below = torch.stack(missed[:-1]).mean() if len(pairs) > 1 else 0.0
        (missed[-1] + below).backward()
        torch.nn.utils.clip_grad_norm_(encoder, 1.0)
        factor = min((step + 1) / settings.warmup, 1.0, left / settings.decay)
        for group in optimizer.param_groups:
            group["lr"] = settings.imitate_rate * factor
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step, total = step + 1, total + missed[-1].item()
        if step % REPORT_EVERY == 0:
            note = f"{step} steps, {100 * (1 - left):.0f} % of the time, missed"
            tell(Event("imitating", note=f"{note} {total / REPORT_EVERY:.4f}"))
            total = 0.0
    trainer.averaged.load_state_dict(network.state_dict())
