"""Pretrained encoders -> the encoder of the network: shapes as a setting, weights from files.

`Shape` says all that the network and its export must know of an encoder; `SHAPES` has those in use,
by name. Layers of a pretrained file beyond ``layers`` are left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from rhetorica.errors import ModelError
from rhetorica.parsers.neural.windows import OVERLAP, WIDTH
from rhetorica.parsers.neural.wordpiece import TYPES

Ints = npt.NDArray[np.int64]

FARTHEST = 128
"""Relative positions beyond this share a bucket."""


@dataclass(frozen=True)
class Shape:
    """The build of an encoder.

    ``offset`` is the row of the position table that the first piece of a window gets, ``buckets``
    the number of buckets of relative positions (0: none), ``names`` the way in which the
    pretrained file names its tensors ("bert" or "mpnet"). ``first`` and ``last`` are the special
    pieces around a window, which holds ``window`` pieces with them. Heads of attention that share
    the width have ``head`` 0.
    """

    width: int
    layers: int
    heads: int = 12
    head: int = 0
    inner: int = 0
    positions: int = 512
    offset: int = 0
    eps: float = 1e-12
    buckets: int = 0
    first: str = "[CLS]"
    last: str = "[SEP]"
    names: str = "bert"
    window: int = WIDTH + 2

    @property
    def wide(self) -> int:
        """The width inside a layer."""
        return self.inner or 4 * self.width

    @property
    def attended(self) -> int:
        """The width of all heads of attention together."""
        return self.heads * self.head or self.width

    def narrowed(self, layers: int = 0, heads: int = 0, inner: int = 0) -> Shape:
        """Return a shape with fewer layers, with fewer heads or narrower inside (0: as it is).

        >>> MINILM.narrowed(heads=6).attended, MINILM.narrowed(inner=512).wide
        (192, 512)
        """
        one = self.attended // self.heads
        return replace(
            self,
            layers=layers or self.layers,
            heads=heads or self.heads,
            head=one if heads and heads != self.heads else self.head,
            inner=inner or self.inner,
        )

    def with_window(self, window: int) -> Shape:
        """Return a shape with windows of so many pieces, most of which no neighbour has."""
        shortest, longest = 4 * OVERLAP, self.positions - self.offset
        if not shortest <= window <= longest:
            raise ModelError(
                f"a window of {window} pieces: from {shortest} to {longest} are possible"
            )
        return replace(self, window=window)


MINILM = Shape(width=384, layers=6)
MPNET = Shape(
    width=768,
    layers=6,
    positions=514,
    offset=2,
    eps=1e-5,
    buckets=32,
    first="<s>",
    last="</s>",
    names="mpnet",
)
BERT = Shape(width=768, layers=6)
SHAPES = {"minilm": MINILM, "mpnet": MPNET, "bert": BERT}


def relative_buckets(length: int, buckets: int) -> Ints:
    """Return the bucket of each pair (from, to) of a window: T5's, as MPNet uses them.

    Half of the buckets are for what stands before; of each half, half are for single distances
    and the rest grow by a constant factor up to `FARTHEST`.

    >>> relative_buckets(3, 32).tolist()
    [[0, 17, 18], [1, 0, 17], [2, 1, 0]]
    """
    places = np.arange(length)
    behind = places[:, None] - places[None, :]
    half = buckets // 2
    exact = half // 2
    far = np.abs(behind)
    steps = np.log(np.maximum(far, 1) / exact) / math.log(FARTHEST / exact) * (half - exact)
    large = np.minimum(exact + steps.astype(np.int64), half - 1)
    found: Ints = np.where(far < exact, far, large) + half * (behind < 0)
    return found


class Layer(nn.Module):
    """A transformer layer of BERT."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        width = shape.width
        self.n_heads = shape.heads
        self.qkv = nn.Linear(width, 3 * shape.attended)
        self.out = nn.Linear(shape.attended, width)
        self.norm1 = nn.LayerNorm(width, eps=shape.eps)
        self.up = nn.Linear(width, shape.wide)
        self.down = nn.Linear(shape.wide, width)
        self.norm2 = nn.LayerNorm(width, eps=shape.eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, bias: Tensor | None = None) -> Tensor:
        """Map states (windows, pieces, width) to states of the same shape."""
        batch, length, _ = x.shape
        qkv = self.qkv(x).view(batch, length, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        if bias is None:
            mixed = functional.scaled_dot_product_attention(q, k, v)
        else:  # written out, this is faster than the fused operator with a bias
            scores = q @ k.transpose(-1, -2) * (1 / math.sqrt(q.shape[-1])) + bias
            mixed = scores.softmax(-1).to(v.dtype) @ v
        mixed = mixed.transpose(1, 2).reshape(batch, length, -1)
        x = self.norm1(x + self.dropout(self.out(mixed)))
        inner: Tensor = self.norm2(x + self.dropout(self.down(functional.gelu(self.up(x)))))
        return inner


class Encoder(nn.Module):
    """A pretrained encoder with a table for the kind of each piece: case and layout."""

    def __init__(self, vocabulary: int, shape: Shape, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(vocabulary, shape.width)
        self.places = nn.Embedding(shape.positions, shape.width)
        self.types = nn.Embedding(TYPES, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=shape.eps)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape.layers))
        if shape.buckets:
            self.relative = nn.Embedding(shape.buckets, shape.heads)

    def bias(self, length: int) -> Tensor | None:
        """Return the scores (heads, pieces, pieces) of relative positions; None without them."""
        if not self.shape.buckets:
            return None
        buckets = torch.from_numpy(relative_buckets(length, self.shape.buckets))
        table: Tensor = self.relative(buckets)
        return table.permute(2, 0, 1)

    def forward(self, ids: Tensor, types: Tensor, shown: Sequence[int] = ()) -> Tensor:
        """Map ids and types (windows, pieces) to states (windows, pieces, width).

        With ``shown``, the states after each of these layers: (windows, pieces, layers, width).
        """
        length = ids.shape[1]
        places = self.places.weight[self.shape.offset : self.shape.offset + length]
        x = self.dropout(self.norm(self.words(ids) + self.types(types) + places))
        bias = self.bias(length)
        kept = []
        for number, layer in enumerate(self.layers):
            x = layer(x, bias)
            if number in shown:
                kept.append(x)
        return torch.stack(kept, 2) if shown else x

    def load_pretrained(self, path: Path) -> None:
        """Take the weights of a safetensors file; the word embeddings stay as they are there."""
        given = read_safetensors(path)
        names = _NAMES[self.shape.names]
        with torch.no_grad():
            try:
                self.words.weight.copy_(given["embeddings.word_embeddings.weight"])
                self.places.weight.copy_(given["embeddings.position_embeddings.weight"])
                _copy(self.norm, given, "embeddings.LayerNorm")
                types = given.get("embeddings.token_type_embeddings.weight")
                self.types.weight.copy_(torch.zeros(1) if types is None else types[:1])
                self.types.weight.add_(torch.randn_like(self.types.weight) * 0.01)
                if self.shape.buckets:
                    table = given["encoder.relative_attention_bias.weight"]
                    self.relative.weight.copy_(table[:, : self.shape.heads])
                for number, layer in enumerate(self.layers):
                    _copy_layer(layer, given, f"encoder.layer.{number}", names)
            except (KeyError, RuntimeError) as error:
                raise ModelError(
                    f"{path}: not an encoder of this shape ({self.shape}): {error}"
                ) from None
        self.words.weight.requires_grad_(False)


_NAMES = {
    "bert": {
        "parts": [f"attention.self.{part}" for part in ("query", "key", "value")],
        "out": ["attention.output.dense"],
        "norm1": ["attention.output.LayerNorm"],
    },
    "mpnet": {
        "parts": [f"attention.attn.{part}" for part in "qkv"],
        "out": ["attention.attn.o"],
        "norm1": ["attention.LayerNorm"],
    },
}
"""Where the two families of files name their tensors differently."""


def _copy_layer(
    layer: nn.Module, given: dict[str, Tensor], name: str, names: dict[str, list[str]]
) -> None:
    # Of a narrower layer, any heads and units will do until a model is shrunk into it.
    attended, wide = layer.out.in_features, layer.up.out_features
    for kind in ("weight", "bias"):
        parts = [given[f"{name}.{part}.{kind}"][:attended] for part in names["parts"]]
        getattr(layer.qkv, kind).copy_(torch.cat(parts))
    layer.out.weight.copy_(given[f"{name}.{names['out'][0]}.weight"][:, :attended])
    layer.out.bias.copy_(given[f"{name}.{names['out'][0]}.bias"])
    _copy(layer.norm1, given, f"{name}.{names['norm1'][0]}")
    layer.up.weight.copy_(given[f"{name}.intermediate.dense.weight"][:wide])
    layer.up.bias.copy_(given[f"{name}.intermediate.dense.bias"][:wide])
    layer.down.weight.copy_(given[f"{name}.output.dense.weight"][:, :wide])
    layer.down.bias.copy_(given[f"{name}.output.dense.bias"])
    _copy(layer.norm2, given, f"{name}.output.LayerNorm")


def _copy(module: object, given: dict[str, Tensor], name: str) -> None:
    for kind in ("weight", "bias"):
        getattr(module, kind).copy_(given[f"{name}.{kind}"])


def read_safetensors(path: Path) -> dict[str, Tensor]:
    """Read a file of float32 tensors."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    found: dict[str, Tensor] = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = (8 + size + offset for offset in entry["data_offsets"])
        values = np.frombuffer(raw[start:end], dtype=np.float32).reshape(entry["shape"])
        found[name] = torch.from_numpy(values.copy())
    return found
