"""The network at run time: the encoder in ONNX Runtime, the heads in numpy.

The twin of `rhetorica.train.neural.model`, with the same names for the same weights. All
arrays are of one document; nothing here is quadratic in its length except `Spans.splits`, which
the caller asks for on as few places as it likes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.errors import ModelError
from rhetorica.learn.links import log_softmax, sigmoid
from rhetorica.models import store
from rhetorica.parsers.neural.units import Units, edu_features, span_features
from rhetorica.parsers.neural.windows import (
    WIDTH,
    fill_windows,
    owned_ranges,
    stitch,
    window_starts,
)
from rhetorica.parsers.neural.wordpiece import Pieces, WordPiece
from rhetorica.progress import Event, announce
from rhetorica.text.lemmas import Lemmas
from rhetorica.trees import Label

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Weights = Mapping[str, Floats]

BATCH = 8
"""Windows that go through the encoder at once; more gain nothing on one core."""
SLOW_FUSIONS = ["SkipLayerNormFusion"]
"""Optimizations of ONNX Runtime to do without: its fused sum and norm took a quarter of the
encoder's time on a CPU, and the two apart take a quarter of that."""
KEPT = 16_384
"""The longest text, in pieces, whose states are kept for who asks next: 50 MB at most."""
AT_ONCE = 8192
EDUS_AT_ONCE = 512
"""Pieces, and EDUs, that go through a head at once: states alone are 400 MB for 100,000 words."""
CONTEXT = 2
"""How many pieces on either side the segmentation head sees directly."""
SALIENCE_LIMIT = 4.0
ATTENTION_LIMIT = 10.0
DISTANCES = (1, 2, 3, 4, 6, 9, 14, 22, 40)
N_DISTANCES = 2 * (len(DISTANCES) + 1) * 2


@dataclass(frozen=True)
class Config:
    """What a network must know of itself.

    ``joins`` are the labels of the tree head, ``arc_relations`` those of the
    dependency head, ``tags`` and ``deprels`` those of words (none in a model without syntax). The
    temperatures divide logits, so that probabilities mean what they say; an EDU begins where that
    is more probable than ``start_threshold``. ``scales`` (slope and bias on log odds, by figure) do
    the same for the probabilities of a chosen tree. ``shape`` is the build of the encoder, of
    which only windows and the special pieces around them matter at run time: ONNX holds the rest.
    """

    sources: tuple[str, ...]
    joins: tuple[Label, ...]
    join_classes: tuple[int, ...]
    arc_relations: tuple[str, ...]
    encoder: str
    mark_temperature: float = 1.0
    split_temperature: float = 1.0
    label_temperature: float = 1.0
    arc_temperature: float = 1.0
    start_threshold: float = 0.5
    threads: int = 1
    name: str = ""
    version: str = ""
    tags: tuple[str, ...] = ()
    deprels: tuple[str, ...] = ()
    shape: Mapping[str, Any] = field(default_factory=dict)
    scales: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, config: store.Config) -> Config:
        """Take it from a model's config."""
        settings: Any = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in config.settings.items()
        }
        return cls(joins=config.labels, name=config.id, version=config.version, **settings)

    @property
    def of_encoder(self) -> dict[str, Any]:
        """What the encoder must know beside its weights."""
        told = {n: self.shape[n] for n in ("first", "last", "window") if n in self.shape}
        return {**told, "threads": self.threads}


def affine(x: Floats, weights: Weights, name: str) -> Floats:
    """Apply a linear layer."""
    y: Floats = x @ weights[f"{name}.weight"].T
    bias = weights.get(f"{name}.bias")
    return y if bias is None else y + bias


def relu(x: Floats) -> Floats:
    """Return the positive part."""
    return np.maximum(x, 0, out=x)


def normalize(x: Floats, weights: Weights, name: str) -> Floats:
    """Apply layer normalisation."""
    x = x - x.mean(axis=1, keepdims=True)
    x = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5)
    y: Floats = x * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return y


def softmax(x: Floats) -> Floats:
    """Return probabilities over the last axis."""
    return np.exp(log_softmax(x))


def lstm(x: Floats, weights: Weights, name: str) -> Floats:
    """Run a bidirectional LSTM over rows: (steps, inputs) -> (steps, 2 x hidden)."""
    ways = ("l0", "l0_reverse")
    hidden = weights[f"{name}.weight_hh_l0"].shape[1]
    inputs = np.empty((len(x), 2, 1, 4 * hidden), dtype=np.float32)
    for number, way in enumerate(ways):
        part = (x if way == "l0" else x[::-1]) @ weights[f"{name}.weight_ih_{way}"].T
        part += weights[f"{name}.bias_ih_{way}"]
        part += weights[f"{name}.bias_hh_{way}"]
        inputs[:, number, 0] = part
    recurrent = np.stack([weights[f"{name}.weight_hh_{way}"].T for way in ways])
    state = np.zeros((2, 1, hidden), dtype=np.float32)
    cell = np.zeros_like(state)
    states = np.empty((len(x), 2, hidden), dtype=np.float32)
    for step, given in enumerate(inputs):
        gates = state @ recurrent
        gates += given
        # The sigmoid by way of tanh: one call for the three gates.
        gates[..., : 2 * hidden] *= 0.5
        gates[..., 3 * hidden :] *= 0.5
        np.tanh(gates, out=gates)
        enter = gates[..., :hidden] * 0.5 + 0.5
        keep = gates[..., hidden : 2 * hidden] * 0.5 + 0.5
        show = gates[..., 3 * hidden :] * 0.5 + 0.5
        cell = keep * cell + enter * gates[..., 2 * hidden : 3 * hidden]
        state = show * np.tanh(cell)
        states[step] = state[:, 0]
    return np.concatenate([states[:, 0], states[::-1, 1]], axis=1)


def group_means(x: Floats, groups: Ints) -> Floats:
    """Return the mean of the rows of each group; groups are runs, numbered from 0."""
    firsts = np.flatnonzero(np.diff(groups, prepend=-1))
    sizes = np.diff(np.append(firsts, len(groups)))
    y: Floats = np.add.reduceat(x, firsts, axis=0)
    y /= sizes[:, None]
    return y


class Encoder:
    """A pretrained encoder in ONNX Runtime: pieces -> states."""

    def __init__(
        self,
        model: Path | bytes,
        tokenizer: WordPiece,
        *,
        first: str = "[CLS]",
        last: str = "[SEP]",
        window: int = WIDTH + 2,
        threads: int = 1,
    ) -> None:
        self.model = model
        self._width = window - 2  # but for the special pieces
        onnxruntime = import_module("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                model if isinstance(model, bytes) else str(model),
                options,
                providers=["CPUExecutionProvider"],
                disabled_optimizers=SLOW_FUSIONS,
            )
        except Exception as error:  # its own exception types are not public
            raise ModelError(f"ONNX Runtime cannot load the encoder: {error}") from None
        self._dimensions = int(self._session.get_outputs()[0].shape[-1])
        self._first, self._last = tokenizer.index(first), tokenizer.index(last)

    def __call__(self, pieces: Pieces) -> Floats:
        """Return the states (pieces, dimensions)."""
        width = self._width
        starts = window_starts(len(pieces), width=width)
        ids = fill_windows(pieces.ids, starts, self._first, self._last, width=width)
        types = fill_windows(pieces.types, starts, 0, 0, width=width)
        ranges = owned_ranges(starts, len(pieces), width=width)
        row = np.empty((len(pieces), self._dimensions), dtype=np.float32)
        for at in range(0, len(starts), BATCH):
            if len(starts) > BATCH:  # what is read in one step has nothing to tell
                announce(Event("reading", at, len(starts)))
            some = slice(at, at + BATCH)
            (states,) = self._session.run(None, {"ids": ids[some], "types": types[some]})
            stitch(row, states, starts[some].tolist(), ranges[some])
        announce(Event("reading", len(starts), len(starts)))
        return row


def _same(one: Pieces, other: Pieces) -> bool:
    return np.array_equal(one.ids, other.ids) and np.array_equal(one.types, other.types)


class Network:
    """A loaded model: encoder, heads, and what its labels mean."""

    def __init__(
        self,
        config: Config,
        tokenizer: WordPiece,
        encoder: Encoder | None,
        weights: Weights,
        lemmas: Lemmas | None = None,
    ) -> None:
        self.config, self.tokenizer, self.weights = config, tokenizer, weights
        self.lemmas = lemmas or Lemmas({})
        self._encoder = encoder
        # A source may have EDU vectors and arcs of its own.
        own = {name.partition(".")[0] for name in weights}
        self._prefixes = [f"{name}." if name in own else "" for name in config.sources]
        self._last: tuple[Pieces, Floats] | None = None

    @classmethod
    def from_state(cls, state: store.State) -> Network:
        """Make the network of a model folder."""
        config = Config.of(state.config)
        weights = {name: value.astype(np.float32) for name, value in state.arrays.items()}
        tokenizer = WordPiece.read(state.file("vocab.txt").decode("utf-8"))
        encoder = Encoder(state.files[config.encoder], tokenizer, **config.of_encoder)
        known = "lemmas.json" in state.files
        lemmas = Lemmas(json.loads(state.file("lemmas.json")) if known else {})
        return cls(config, tokenizer, encoder, weights, lemmas)

    def with_threads(self, threads: int) -> Network:
        """Return a network with the same weights whose encoder uses so many threads."""
        if self._encoder is None or threads == self.config.threads:
            return self
        config = replace(self.config, threads=threads)
        encoder = Encoder(self._encoder.model, self.tokenizer, **config.of_encoder)
        return Network(config, self.tokenizer, encoder, self.weights, self.lemmas)

    def states(self, pieces: Pieces) -> Floats:
        """Return the encoder's states of a text, (pieces, dimensions).

        Those of the last text are kept, unless it is long: the front end, the segmenter and the
        parser that read it one after the other need the encoder once.
        """
        if self._encoder is None:
            raise ModelError("this network has heads only, no encoder")
        last = self._last  # one look, since other threads may change it
        if last is not None and _same(last[0], pieces):
            return last[1]
        states = self._encoder(pieces)
        states.setflags(write=False)
        self._last = (pieces, states) if len(pieces) <= KEPT else None
        return states

    def marks(self, states: Floats, source: int = 0) -> Floats:
        """Return what begins at each piece: probabilities of nothing, EDU, sentence, paragraph."""
        n = len(states)
        found = np.empty((n, 4), dtype=np.float32)
        for at in range(0, n, AT_ONCE):
            end = min(n, at + AT_ONCE)
            # With the neighbours that the first and the last of them see.
            first, last = max(0, at - CONTEXT), min(n, end + CONTEXT)
            found[at:end] = self._marks(states[first:last], source)[at - first : end - first]
        return found

    def _marks(self, states: Floats, source: int) -> Floats:
        w = self.weights
        size = states.shape[1]
        near = w["marker.near.weight"]
        z = np.tile(w["marker.near.bias"], (len(states), 1))
        # One product per neighbour, shifted, instead of five copies of the states.
        for place in range(2 * CONTEXT + 1):
            shift = place - CONTEXT
            part = states @ near[:, place * size : (place + 1) * size].T
            if shift < 0:
                z[-shift:] += part[:shift]
            elif shift:
                z[:-shift] += part[shift:]
            else:
                z += part
        logits = affine(relu(z), w, "marker.out")[:, 4 * source : 4 * source + 4]
        return softmax(logits / self.config.mark_temperature)

    def word_starts(self, states: Floats) -> Floats:
        """Return the probability that a word begins at each piece, where there are no spaces."""
        logits = affine(states, self.weights, "words")[:, 0]
        return sigmoid(logits.astype(np.float64)).astype(np.float32)

    @property
    def unspaced(self) -> bool:
        """Whether the model finds words by itself, in a language without spaces between them."""
        return "words.weight" in self.weights

    def edus(self, states: Floats, units: Units, source: int = 0) -> Floats:
        """Return the vectors of the EDUs, (EDUs, dimensions)."""
        w, part = self.weights, f"{self._prefixes[source]}edus"
        firsts = units.firsts
        weight = affine(states, w, f"{part}.attention").clip(-ATTENTION_LIMIT, ATTENTION_LIMIT)
        weight = np.exp(weight)
        parts = []
        for at in range(0, len(units), EDUS_AT_ONCE):
            some = firsts[at : at + EDUS_AT_ONCE + 1]
            here, inner = slice(some[0], some[-1]), some[:-1] - some[0]
            total = np.add.reduceat(weight[here], inner, axis=0)
            pooled = np.add.reduceat(weight[here] * states[here], inner, axis=0) / total
            x = np.concatenate([states[some[:-1]], states[some[1:] - 1], pooled], axis=1)
            parts.append(affine(x, w, f"{part}.words"))
        x = np.concatenate(parts) + affine(edu_features(units), w, f"{part}.features")
        x = relu(x + w[f"{part}.source.weight"][source])
        x = np.concatenate([x, lstm(x, w, f"{part}.edus")], axis=1)
        sentence = units.sentences
        s = lstm(group_means(x, sentence), w, f"{part}.sentences")
        of_sentence = units.paragraphs[np.unique(sentence, return_index=True)[1]]
        groups = np.unique(of_sentence, return_inverse=True)[1]
        p = lstm(group_means(s, groups), w, f"{part}.paragraphs")
        x = np.concatenate([x, s[sentence], p[groups][sentence]], axis=1)
        return relu(normalize(affine(x, w, f"{part}.out"), w, f"{part}.norm"))

    def spans(self, edus: Floats, units: Units) -> Spans:
        """Return the scorer of splits and labels of a document."""
        return Spans(self, edus, units)

    def arcs(self, edus: Floats, units: Units, source: int) -> Floats:
        """Return log probabilities of heads, (EDUs, 1 + EDUs); column 0 is the root."""
        w, part = self.weights, f"{self._prefixes[source]}arcs"
        d = relu(affine(edus, w, f"{part}.dependents"))
        h = relu(affine(edus, w, f"{part}.heads"))
        scores = np.asarray(d @ w[f"{part}.product"] @ h.T, dtype=np.float32)
        scores += affine(h, w, f"{part}.head_bias").T
        scores += w[f"{part}.distance.weight"][arc_buckets(units) + source * N_DISTANCES, 0]
        np.fill_diagonal(scores, -1e4)
        logits = np.concatenate([affine(edus, w, f"{part}.root"), scores], axis=1, dtype=np.float32)
        return log_softmax(logits / self.config.arc_temperature)

    def arc_relations(self, edus: Floats, units: Units, arcs: Ints, source: int) -> Floats:
        """Return relation probabilities of arcs given as rows (dependent, head)."""
        w, part = self.weights, f"{self._prefixes[source]}arcs"
        dependent, head = arcs[:, 0], arcs[:, 1]
        both = np.concatenate([edus[dependent], edus[head]], axis=1)
        z = affine(both, w, f"{part}.relation_parts")
        z = relu(z + w[f"{part}.relation_distance.weight"][arc_buckets(units)[dependent, head]])
        return softmax(affine(z, w, f"{part}.relations"))


def arc_buckets(units: Units) -> Ints:
    """Return, for each dependent and head, a number for direction, distance and same sentence."""
    places = np.arange(len(units))
    gap = places[None, :] - places[:, None]  # head - dependent
    far = np.searchsorted(DISTANCES, np.abs(gap), side="right")
    same = units.sentences[None, :] == units.sentences[:, None]
    buckets: Ints = ((gap > 0) * (len(DISTANCES) + 1) + far) * 2 + same
    return buckets


class Spans:
    """Scores of splits and of labels over one document's EDUs."""

    def __init__(self, network: Network, edus: Floats, units: Units) -> None:
        self._weights, self._config = network.weights, network.config
        self._edus, self._units = edus, units
        zero = np.zeros((1, edus.shape[1]), dtype=np.float32)
        self._edges = np.concatenate(
            [np.concatenate([zero, edus]), np.concatenate([edus, zero])], axis=1
        )

    @cached_property
    def _sums(self) -> tuple[npt.NDArray[np.float64], ...]:
        """Prefix sums of EDU vectors, of weighted vectors and of weights (float64: they cancel)."""
        salience = affine(self._edus, self._weights, "trees.salience")
        weight = np.exp(salience.clip(-SALIENCE_LIMIT, SALIENCE_LIMIT)).astype(np.float64)
        rows = (self._edus.astype(np.float64), weight * self._edus, weight)
        return tuple(np.concatenate([np.zeros((1, r.shape[1])), np.cumsum(r, 0)]) for r in rows)

    def _vectors(self, name: str, starts: Ints, ends: Ints) -> Floats:
        """Return the vectors of EDU ranges, (ranges, dimensions)."""
        w = self._weights
        sums, salient, weights = self._sums
        # Pooling is linear: project the prefix sums once, not every range. Only the places asked
        # for, counted from the first of them, so that float32 is enough for the differences.
        half = self._edus.shape[1]
        pooled = w[f"{name}.pooled.weight"]
        places, at = np.unique(np.concatenate([starts, ends]), return_inverse=True)
        first, last = at[: len(starts)], at[len(starts) :]
        mean, attended, weight = (
            (part[places] - part[places[:1]]).astype(np.float32) @ weights.T
            for part, weights in (
                (sums, pooled[:, :half]),
                (salient, pooled[:, half:]),
                (weights, np.ones((1, 1), dtype=np.float32)),
            )
        )
        x: Floats = mean[last]
        x -= mean[first]
        x /= (ends - starts)[:, None].astype(np.float32)
        y = attended[last]
        y -= attended[first]
        y /= weight[last] - weight[first]
        x += y
        x += affine(self._edges[places], w, f"{name}.starts")[first]
        x += affine(self._edges[places], w, f"{name}.ends")[last]
        x += affine(span_features(self._units, starts, ends), w, f"{name}.features")
        return relu(x)

    def splits(self, places: Ints) -> Floats:
        """Return the scores of joins between ``m + 1`` places, ``splits[a, s, b]`` for a < s < b.

        A place p stands before EDU p. All places give the chart of the document; fewer give that
        of a tree over blocks of EDUs.
        """
        w = self._weights
        size = len(places)
        first, second = np.triu_indices(size, 1)
        h = self._vectors("trees.spans", places[first], places[second])
        names = ("left", "right", "whole")
        maps = np.concatenate([w[f"trees.{name}.weight"] for name in names])
        biases = np.concatenate([w[f"trees.{name}.bias"] for name in names])
        table = np.zeros((size, size, len(maps)), dtype=np.float32)
        table[first, second] = h @ maps.T + biases
        left, right, whole = np.split(table, 3, axis=2)
        scale = np.float32(1 / np.sqrt(left.shape[2] - 1))
        split = affine(self._edges[places], w, "trees.splits") * scale
        scores = np.zeros((size,) * 3, dtype=np.float32)
        # Only what can be joined, a sixth of the cube; both loops write along its last axis.
        for a in range(size - 2):
            here = split[a + 1 : -1] @ whole[a, a + 2 :, 1:].T
            here += whole[a, a + 2 :, 0]
            scores[a, a + 1 : -1, a + 2 :] = here
        for s in range(1, size - 1):
            here = (left[:s, s, 1:] * scale) @ right[s, s + 1 :, 1:].T
            here += left[:s, s, :1]
            here += right[s, s + 1 :, 0]
            here += scores[:s, s, s + 1 :]
            scores[:s, s, s + 1 :] = here / self._config.split_temperature
        return scores

    def labels(self, joins: Ints, source: int = 0) -> Floats:
        """Return label probabilities (joins, labels) of joins, rows (start, split, end)."""
        w = self._weights
        start, split, end = joins.T
        count = len(start)
        h = self._vectors(
            "trees.label_spans",
            np.concatenate([start, split, start]),
            np.concatenate([split, end, end]),
        )
        parts = [h[:count], h[count : 2 * count], h[2 * count :], self._edges[split]]
        z = relu(affine(np.concatenate(parts, axis=1), w, "trees.label_parts"))
        logits = affine(z, w, "trees.labels") + w["trees.label_bias.weight"][source]
        return softmax(logits / self._config.label_temperature)


def as_weights(state: Mapping[str, Any]) -> dict[str, Floats]:
    """Return the heads' weights of a trained network's state as plain arrays."""
    skipped = ("encoder.", "markers.")
    return {
        name: np.asarray(value, dtype=np.float32)
        for name, value in state.items()
        if not name.startswith(skipped)
    }
