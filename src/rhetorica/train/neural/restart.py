"""A model folder -> weights to train on from: the heads as they are, the encoder out of its 8 bits.

Where the weights of the run that made a model are gone, those of the model are nearly as good: 8
bits lose less than a few steps of training move.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor

from rhetorica.errors import ModelError
from rhetorica.models.store import Config, State
from rhetorica.relations import relation_set
from rhetorica.train.neural.data import UNSPACED
from rhetorica.train.neural.encoders import relative_buckets
from rhetorica.train.neural.model import Inventory

Array = npt.NDArray[Any]


def read_inventory(folder: Path) -> Inventory:
    """Return the labels that a model tells apart."""
    config = Config.read(folder)
    settings = config.settings
    relations = relation_set(settings["sources"][0])
    classes = dict.fromkeys((label[0], relations.coarse(label[1])) for label in config.labels)
    return Inventory(
        tuple(settings["sources"]),
        tuple(config.labels),
        tuple(settings["join_classes"]),
        tuple(classes),
        tuple(settings["arc_relations"]),
        tuple(settings.get("tags", ())),
        tuple(settings.get("deprels", ())),
        relations.classes,
        config.language in UNSPACED,
    )


def read_model(folder: Path, inventory: Inventory, own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return a model's weights by the names of ``own``, the state of the network to fill."""
    state = State.read(folder)
    settings = state.config.settings
    if tuple(state.config.labels) != inventory.joins or (
        tuple(settings["arc_relations"]) != inventory.arc_relations
    ):
        raise ModelError(
            f"{folder} has other labels than the corpora: training cannot go on from it; leave out "
            "--start to begin with the pretrained encoder"
        )
    found = {name: torch.from_numpy(a.astype(np.float32)) for name, a in state.arrays.items()}
    if not any(name.startswith("scidtb.") for name in found):
        # A model in which abstracts have no vectors of their own: they begin with those of all.
        shared = [name for name in found if name.startswith(("edus.", "arcs."))]
        found |= {f"scidtb.{name}": found[name] for name in shared}
    for name, value in encoder_weights(folder / settings["encoder"]).items():
        if name == "places":  # only the rows that a window can reach are in a model
            offset = int(settings.get("shape", {}).get("offset", 0))
            rows = own["encoder.places.weight"].clone()
            rows[offset : offset + len(value)] = torch.from_numpy(value)
            found["encoder.places.weight"] = rows
        elif name == "relative":  # a model has the scores of all pairs of places
            buckets = relative_buckets(value.shape[-1], len(own["encoder.relative.weight"]))
            rows = own["encoder.relative.weight"].clone()
            rows[torch.from_numpy(buckets)] = torch.from_numpy(value[0].transpose(1, 2, 0).copy())
            found["encoder.relative.weight"] = rows
        elif name.endswith(".turned"):
            found[f"encoder.{name[:-7]}.weight"] = torch.from_numpy(value.T.copy())
        else:
            found[f"encoder.{name}"] = torch.from_numpy(value)
    # Word embeddings are never trained: the pretrained ones are exact.
    del found["encoder.words.weight"]
    return found


def encoder_weights(path: Path) -> dict[str, Array]:
    """Return the float32 arrays of an encoder in ONNX; what is in 8 bits is multiplied out."""
    given = {one.name: numpy_helper.to_array(one) for one in onnx.load(path).graph.initializer}
    found: dict[str, Array] = {}
    for name, value in given.items():
        if name.endswith("_quantized"):
            bare = name.removesuffix("_quantized")
            scale, zero = given[f"{bare}_scale"], given[f"{bare}_zero_point"]
            # One scale for all, or one for each column.
            whole = (value.astype(np.float32) - zero.astype(np.float32)) * scale
            found[bare] = whole.astype(np.float32)
        elif value.dtype == np.float32 and not name.endswith("_scale"):
            found[name] = value.copy()
    return found
