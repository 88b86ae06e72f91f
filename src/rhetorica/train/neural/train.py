"""Examples -> a trained network: losses, schedule, scores on dev, checkpoints.

A run has two stages: everything together (rates falling; automatic text in the first epochs), then
the heads alone over states that the finished encoder gives once. A run from a model of another size
has one before them: the encoder learns to give that one's states (`resize`).
"""

from __future__ import annotations

import copy
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from rhetorica.decode import inside_outside
from rhetorica.errors import ModelError
from rhetorica.parsers.neural import NeuralParser
from rhetorica.parsers.neural.network import N_DISTANCES, arc_buckets
from rhetorica.parsers.neural.wordpiece import Pieces, WordPiece
from rhetorica.pipeline import load_parser, load_segmenter
from rhetorica.progress import Event, Tell, nothing
from rhetorica.relations import relation_set
from rhetorica.settings import setting
from rhetorica.text.lemmas import Lemmas
from rhetorica.train.neural.data import (
    EDU,
    SOURCES,
    UNKNOWN,
    UNSPACED,
    Example,
    Reading,
    disturb,
    read,
    read_examples,
    sentence_rows,
)
from rhetorica.train.neural.encoders import SHAPES, Shape
from rhetorica.train.neural.model import Inventory, Network
from rhetorica.train.neural.resize import (
    LOOKED_AT,
    imitate,
    model_network,
    resized,
    shape_of,
)
from rhetorica.train.neural.restart import read_inventory, read_model
from rhetorica.train.neural.scores import evaluate_dev, read_dev
from rhetorica.train.neural.silver import choose, label, silver_examples
from rhetorica.train.neural.teach import Lessons
from rhetorica.train.treebank import left_out
from rhetorica.trees import Label

REPORT_EVERY = 50
SAVE_EVERY = 900.0
"""Seconds between checkpoints inside an epoch."""


@dataclass(frozen=True)
class Settings:
    """How to train: a stage for everything, one for the heads, one for what stands by itself.

    The stages are told in the module's first lines; `docs/neural.md` has the settings of the models
    that ship. The heads' stage, and what is trained last by itself, over documents in plain layout
    and in one other, are gone through ``head_runs`` times in different orders; the mean of the
    weights is kept. Started from a model of another size, the network imitates its encoder first
    (`resize`).
    """

    encoder: str = setting("minilm", "Kind of the pretrained encoder: minilm, mpnet or bert.")
    layers: int = setting(0, "Layers of it, from below; 0: all that are usual for it.")
    heads: int = setting(0, "Heads of attention in a layer; 0: as pretrained.")
    inner: int = setting(0, "Units inside a layer; 0: as pretrained.")
    imitate_minutes: float = setting(
        20.0, "How long to imitate the states of the model in --start, if it has another size."
    )
    imitate_rate: float = setting(3e-4, "Learning rate of that.")
    seed: int = setting(1, "Order of documents, layouts, dropout, new weights.")
    threads: int = setting(1, "Cores for matrix products.")
    brief: bool = setting(
        False, "Compute the encoder in bfloat16: twice as fast, but only with avx512_bf16 or AMX."
    )
    epochs: int = setting(5, "How often everything reads the gold trees.")
    minutes: float = setting(
        0.0, "End the first stage after that time, rates falling accordingly; 0: after its epochs."
    )
    silver_epochs: int = setting(3, "First epochs, over which automatic text is spread.")
    silver_share: float = setting(1.0, "How much of the automatic text is read, once.")
    decay: float = setting(0.6, "Last part of the first stage, in which rates fall to nothing.")
    encoder_rate: float = setting(1e-4, "Learning rate of the encoder's uppermost layer.")
    layer_decay: float = setting(0.9, "Rate of a layer, as a share of that of the one above.")
    head_rate: float = setting(1.5e-3, "Learning rate of the heads in the first stage.")
    warmup: int = setting(150, "Steps until the rates are reached.")
    dropout: float = setting(0.3, "Dropout in the heads.")
    average: float = setting(
        0.995, "Decay of the moving average of weights, which is what is kept."
    )
    window: int = setting(256, "Pieces of text that the encoder sees at once.")
    overlap: int = setting(16, "Pieces that windows share at least, in training.")
    scidtb_share: float = setting(0.33, "How much of SciDTB is read in an epoch.")
    scidtb_pack: int = setting(4, "Abstracts in a step.")
    silver_pack: int = setting(3, "Automatic documents in a step.")
    silver_words: int = setting(50_000, "Words to take of each file with automatic EDUs; 0: all.")
    lesson_weight: float = setting(1.0, "Weight of what the teacher says of automatic text.")
    gold_lesson_weight: float = setting(0.5, "Weight of what it says beside a gold tree.")
    arc_weight: float = setting(0.3, "Weight of heads and relations of EDUs.")
    syntax_weight: float = setting(0.5, "Weight of tags and dependencies of words.")
    marker_weight: float = setting(0.3, "Weight of discourse markers, a side task.")
    word_weight: float = setting(1.0, "Weight of words, in languages without spaces.")
    salience_weight: float = setting(0.2, "Weight of which EDU is the head of a range.")
    mark_weight: float = setting(1.0, "Weight of EDU starts.")
    frozen: bool = setting(
        False, "Leave the encoder of --start as it is, and learn from its own 8-bit states."
    )
    head_epochs: int = setting(4, "How often the heads alone read the gold trees.")
    head_runs: int = setting(1, "Runs of the later stages, whose mean is kept.")
    head_share: float = setting(1.0, "How far to go from the weights before that stage to its own.")
    head_silver_share: float = setting(
        0.0, "How much of the automatic text is read there once more, for the teacher's sake."
    )
    head_minutes: float = setting(0.0, "End the heads' stage after that time; 0: after its epochs.")
    late_head_rate: float = setting(1e-3, "Learning rate of the later stages.")
    late_marks: bool = setting(
        True, "Train the segmentation head there, too; few documents it would learn by heart."
    )
    arc_epochs: int = setting(3, "Last, by itself: how often what reads SciDTB reads it; 0: not.")
    syntax_epochs: int = setting(2, "Last, by itself: how often syntax reads gold trees; 0: not.")
    keep_start: float = setting(0.5, "Share of the weights in --start that is kept in the end.")


Loss = Callable[[Reading, Any], dict[str, Tensor]]
"""From a document and its states to the parts of the loss."""


class LogPartition(torch.autograd.Function):
    """The log of the summed weights of all binary trees; its gradient are the joins' posteriors."""

    @staticmethod
    def forward(ctx: Any, chart: Tensor) -> Tensor:
        """Return the log partition function of ``chart[i, k, j]``."""
        partition, _, joins = inside_outside(chart.detach().numpy())
        ctx.save_for_backward(torch.from_numpy(joins.astype(np.float32)))
        return torch.tensor(partition, dtype=torch.float32)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:  # type: ignore[override]
        """Return the gradient towards the chart."""
        (joins,) = ctx.saved_tensors
        return grad * joins


def make_inventory(examples: Sequence[Example], language: str = "en") -> Inventory:
    """Collect the labels of the training data, most frequent first."""
    sources = SOURCES[language]
    relations = relation_set(sources[0])
    joins: Counter[Label] = Counter()
    arcs: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    deprels: Counter[str] = Counter()
    for example in examples:
        if example.source == sources[0] and example.tree is not None:
            joins.update(join.label for join in example.tree.joins)
        if example.source == "scidtb":
            arcs.update(r for r in example.dependencies.relations if r not in ("ROOT", "null"))
        if example.weight == 1:  # automatic syntax may have labels of an older scheme
            tags.update(example.tags)
            deprels.update(example.deprels)
    names = tuple(name for name, _ in joins.most_common())
    coarse = [(nuclearity, relations.coarse(relation)) for nuclearity, relation in names]
    classes = tuple(dict.fromkeys(coarse))
    return Inventory(
        sources,
        names,
        tuple(classes.index(pair) for pair in coarse),
        classes,
        tuple(name for name, _ in arcs.most_common()),
        tuple(sorted(tags)),
        tuple(sorted(deprels)),
        relations.classes,
        language in UNSPACED,
    )


class Trainer:
    """One training run: network, optimizer, averaged weights, and how far it has come."""

    def __init__(
        self,
        network: Network,
        inventory: Inventory,
        tokenizer: WordPiece,
        settings: Settings,
        n_steps: int,
    ) -> None:
        self.network, self.inventory, self.settings = network, inventory, settings
        self.tokenizer = tokenizer
        shape = network.encoder.shape
        self.first, self.last = tokenizer.index(shape.first), tokenizer.index(shape.last)
        self.n_steps = n_steps
        self.step = 0
        self.seconds = 0.0
        self.average = settings.average
        self._set_optimizer(self._groups())
        self.averaged = copy.deepcopy(network).eval()
        self.class_of = torch.tensor(inventory.join_classes)
        self.columns: dict[tuple[Label, ...], Tensor] = {}
        self.encode: Callable[[Pieces], npt.NDArray[np.float32]] | None = None
        self.index = {
            name: {label: number for number, label in enumerate(labels)}
            for name, labels in (
                ("joins", inventory.joins),
                ("classes", inventory.classes),
                ("arcs", inventory.arc_relations),
                ("tags", inventory.tags),
                ("deprels", inventory.deprels),
                ("markers", ("", *inventory.markers)),
            )
        }

    def _set_optimizer(self, groups: list[dict[str, Any]]) -> None:
        self.optimizer = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.99), fused=True)
        self.rates = [group["lr"] for group in groups]
        self.trained = [p for group in groups for p in group["params"]]

    def rate(self) -> float:
        """Return the factor on all learning rates: warm up, hold, then fall to nothing."""
        falling = (1 - self.progress) / self.settings.decay
        return max(0.01, min((self.step + 1) / self.settings.warmup, 1.0, falling))

    @property
    def progress(self) -> float:
        """How much of the first stage is over, by steps or by time; 1 at its end."""
        minutes = self.settings.minutes
        by_time = self.seconds / (60 * minutes) if minutes else 0.0
        return min(1.0, max(self.step / self.n_steps if self.n_steps else 1.0, by_time))

    def freeze_encoder(self) -> None:
        """Go on from the averaged weights, with the heads alone."""
        network = self.network
        marker = (network.marker,) if self.settings.late_marks else ()
        parts = (*marker, network.edus, network.trees, network.arcs, network.syntax)
        self.learn_only(parts, average=self.settings.average)

    def learn_only(self, parts: Iterable[nn.Module], *, average: float) -> None:
        """Go on from the averaged weights, with some heads alone."""
        self.network.load_state_dict(self.averaged.state_dict())
        heads = [parameter for part in parts for parameter in part.parameters()]
        self._set_optimizer([{"params": heads, "lr": self.settings.late_head_rate}])
        self.average = average

    def _groups(self) -> list[dict[str, Any]]:
        """Return what learns at which rate: the heads, and each layer of the encoder."""
        encoder, settings = self.network.encoder, self.settings
        inside = {id(parameter) for parameter in encoder.parameters()}
        heads = [p for p in self.network.parameters() if id(p) not in inside]
        groups: list[dict[str, Any]] = [{"params": heads, "lr": settings.head_rate}]
        rate = settings.encoder_rate
        for layer in reversed(encoder.layers):
            groups.append({"params": list(layer.parameters()), "lr": rate})
            rate *= settings.layer_decay
        grouped = {id(parameter) for layer in encoder.layers for parameter in layer.parameters()}
        below = [p for p in encoder.parameters() if p.requires_grad and id(p) not in grouped]
        return [*groups, {"params": below, "lr": rate}]

    def states(self, network: Network, reading: Reading, overlap: int) -> Tensor:
        """Return the encoder's states of a document."""
        pieces = reading.pieces
        if self.encode is not None:
            return torch.from_numpy(self.encode(pieces).copy())
        return network.states(
            pieces.ids, pieces.types, self.first, self.last, overlap, brief=self.settings.brief
        )

    def loss(self, reading: Reading, states: Tensor | None = None) -> dict[str, Tensor]:
        """Return the parts of the loss of one document; given states, those of the heads alone."""
        network, example = self.network, reading.example
        source = self.inventory.sources.index(example.source)
        found: dict[str, Tensor] = {}
        if states is None:
            states = self.states(network, reading, self.settings.overlap)
            if example.markers:
                found["marker"] = self._marker_loss(states, reading)
            if self.inventory.unspaced and not source:
                found["word"] = self._word_loss(states, reading)
        if example.tags:
            found |= self.syntax_losses(reading, states)
        logits = network.marker(states, source)
        if reading.targets is not None:
            targets = torch.from_numpy(reading.targets).float()
            total = -(targets * functional.log_softmax(logits, 1)).sum() / targets[:, EDU:].sum()
            found["silver"] = self.settings.mark_weight * total
            if example.lessons:
                edus = network.edus(states, reading.units, source)
                found |= self._tree_losses(edus, reading, source)
            return found
        marks = torch.from_numpy(reading.marks)
        total = functional.cross_entropy(logits, marks, ignore_index=-1, reduction="sum")
        found["mark"] = self.settings.mark_weight * total / example.n_edus
        edus = network.readers(source)[0](states, reading.units, source)
        if example.tree and example.n_edus > 1:
            found |= self._tree_losses(edus, reading, source)
        found["arc"] = self.settings.arc_weight * self._arc_loss(edus, reading, source)
        return found

    def _marker_loss(self, states: Tensor, reading: Reading) -> Tensor:
        example = reading.example
        rows = states[torch.from_numpy(reading.words.firsts)]
        gold = torch.tensor([self.index["markers"][label] for label in example.markers])
        total = functional.cross_entropy(self.network.markers(rows), gold, reduction="sum")
        return self.settings.marker_weight * total / example.n_edus

    def _word_loss(self, states: Tensor, reading: Reading) -> Tensor:
        """Score, for each piece that could begin a word, whether one does."""
        able = torch.from_numpy(reading.pieces.begins)
        gold = torch.zeros(len(able))
        gold[torch.from_numpy(reading.words.firsts)] = 1
        logits = self.network.words(states)[:, 0]
        loss = functional.binary_cross_entropy_with_logits(logits[able], gold[able])
        return self.settings.word_weight * loss

    def syntax_losses(self, reading: Reading, states: Tensor) -> dict[str, Tensor]:
        """Return the losses of tags, heads and relations, per word."""
        example, syntax = reading.example, self.network.syntax
        vectors = syntax.vectors(states, reading.words)
        tags, names = self.index["tags"], self.index["deprels"]
        gold_tags = torch.tensor([tags.get(tag, -1) for tag in example.tags])
        tag = functional.cross_entropy(syntax.tags(vectors), gold_tags, ignore_index=-1)
        rows = torch.from_numpy(sentence_rows(example.marks))
        dependents, heads, low, high = syntax.parse(vectors)
        scores = syntax.arcs(dependents, heads, rows)
        gold = torch.tensor(example.heads)[rows.clamp(min=0)]
        # Columns: the root, then the words of the sentence in order.
        column = torch.where(gold < 0, 0, gold - rows[:, :1] + 1)
        length = rows.shape[1]
        known = (rows >= 0) & (gold > UNKNOWN) & (column >= 0) & (column <= length)
        arc = functional.cross_entropy(scores[known], column[known])
        words, chosen = rows[known], gold[known]
        ends = torch.cat([high, syntax.root[1:]])[chosen]
        relations = torch.tensor([names.get(example.deprels[w], -1) for w in words.tolist()])
        relation = functional.cross_entropy(
            syntax.relation_logits(low[words], ends), relations, ignore_index=-1
        )
        weight = self.settings.syntax_weight * example.weight
        return {"tag": weight * tag, "head": weight * arc, "deprel": weight * relation}

    def _tree_losses(self, edus: Tensor, reading: Reading, source: int) -> dict[str, Tensor]:
        """Return the losses of the gold tree, and of what a teacher thinks of all trees."""
        example, trees = reading.example, self.network.trees
        chart = trees.chart(edus, reading.units)
        partition = LogPartition.apply(chart)
        found: dict[str, Tensor] = {}
        if example.tree:
            joins = torch.tensor([join[:3] for join in example.tree.joins])
            start, split, end = joins.unbind(1)
            found["tree"] = (partition - chart[start, split, end].sum()) / len(joins)
            logits = trees.label_logits(edus, reading.units, joins, source)
            found["label"] = self._label_loss(logits, reading)
            salience = self._salience_loss(edus, reading, joins)
            found["salience"] = self.settings.salience_weight * salience
        weight = self.settings.gold_lesson_weight if example.tree else self.settings.lesson_weight
        for lesson in example.lessons if weight else ():
            joins, shares = torch.from_numpy(lesson.joins), torch.from_numpy(lesson.shares).float()
            start, split, end = joins.unbind(1)
            # The divergence from the teacher's trees to ours, but for a constant.
            tree = partition - (shares * chart[start, split, end]).sum()
            logits = trees.label_logits(edus, reading.units, joins, source)
            said = torch.from_numpy(lesson.labels).float()
            label = -(shares[:, None] * said * self._as_named(logits, lesson.names)).sum()
            factor = weight / len(example.lessons) / (len(edus) - 1)
            for name, part in (("taught tree", tree), ("taught label", label)):
                found[name] = found.get(name, torch.zeros(())) + factor * part
        return found

    def _as_named(self, logits: Tensor, names: tuple[Label, ...]) -> Tensor:
        """Return the log probabilities of a teacher's labels: our own, or classes of them."""
        if names not in self.columns:
            coarse = relation_set("gum").coarse
            place = {label: number for number, label in enumerate(names)}
            self.columns[names] = torch.tensor(
                [
                    place.get(n, place.get(Label(n[0], coarse(n[1])), -1))
                    for n in self.inventory.joins
                ]
            )
        column = self.columns[names]
        log_p = functional.log_softmax(logits, 1)[:, column >= 0]
        column = column[column >= 0].expand_as(log_p)
        # A sum in logs: of a label's parts the largest is taken out first.
        top = torch.full((len(log_p), len(names)), -30.0)
        top = top.scatter_reduce(1, column, log_p.detach(), "amax")
        rest = torch.zeros_like(top).scatter_add(1, column, (log_p - top.gather(1, column)).exp())
        return top + rest.clamp(min=1e-9).log()

    def _label_loss(self, logits: Tensor, reading: Reading) -> Tensor:
        """Score fine labels where they are the treebank's, and their classes everywhere."""
        example = reading.example
        assert example.tree is not None
        coarse = relation_set(example.source).coarse
        joins = example.tree.joins
        log_p = functional.log_softmax(logits, 1)
        classes = torch.tensor(
            [self.index["classes"].get((j.nuclearity, coarse(j.relation)), -1) for j in joins]
        )
        known = classes >= 0
        inside = self.class_of[None] == classes[:, None]
        coarse_loss = -torch.logsumexp(log_p.masked_fill(~inside, -1e9), 1)[known].mean()
        if example.source != self.inventory.sources[0]:
            return coarse_loss
        fine = torch.tensor([self.index["joins"].get(j.label, -1) for j in joins])
        return coarse_loss + 0.3 * functional.nll_loss(log_p, fine, ignore_index=-1)

    def _salience_loss(self, edus: Tensor, reading: Reading, joins: Tensor) -> Tensor:
        """Let the pooling weights of a range point at its head EDU."""
        tree = reading.example.tree
        assert tree is not None
        heads = range_heads(tree.joins, tree.n_edus)
        salience = self.network.trees.saliences(edus)
        places = torch.arange(len(edus))
        outside = (places < joins[:, :1]) | (places >= joins[:, 2:])
        rows = salience.expand(len(joins), -1).masked_fill(outside, -1e9)
        return functional.cross_entropy(rows, torch.tensor(heads))

    def dependency_loss(self, reading: Reading, states: Tensor) -> dict[str, Tensor]:
        """Return the loss of the arcs of one of SciDTB's abstracts."""
        source = self.inventory.sources.index(reading.example.source)
        edus = self.network.scidtb.edus(states, reading.units, source)
        return {"arc": self._arc_loss(edus, reading, source)}

    def _arc_loss(self, edus: Tensor, reading: Reading, source: int) -> Tensor:
        """Return the loss of heads; for SciDTB, whose relations count too, not as a side task."""
        example, index = reading.example, self.index["arcs"]
        scorer = self.network.readers(source)[1]
        scores = scorer(edus, reading.units, source)
        trees = (example.dependencies, *example.others)
        heads = [functional.cross_entropy(scores, torch.tensor(t.heads) + 1) for t in trees]
        loss = torch.stack(heads).mean()
        if example.source != "scidtb":
            return loss
        for tree in trees:
            known = [(d, h, index[r]) for h, d, r in tree.arcs() if h >= 0 and r in index]
            if known:  # an abstract of one unit has no arcs
                rows = torch.tensor(known)
                logits = scorer.relation_logits(edus, reading.units, rows[:, :2])
                loss = loss + functional.cross_entropy(logits, rows[:, 2]) / len(trees)
        return loss / self.settings.arc_weight

    def update(
        self,
        readings: Sequence[Reading],
        states: Sequence[Tensor] = (),
        factor: float | None = None,
        loss: Loss | None = None,
    ) -> dict[str, float]:
        """Take one step on the mean loss of some documents.

        With ``states`` of the documents, only the heads learn. ``factor`` on the learning rates is
        that of the schedule unless given, ``loss`` that of everything.
        """
        self.network.train()
        shown: defaultdict[str, float] = defaultdict(float)
        for number, reading in enumerate(readings):
            parts = (loss or self.loss)(reading, states[number] if states else None)
            torch.stack(list(parts.values())).sum().div(len(readings)).backward()
            for name, value in parts.items():
                shown[name] += value.item() / len(readings)
        torch.nn.utils.clip_grad_norm_(self.trained, 2.0)
        factor = self.rate() if factor is None else factor
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        decay = min(self.average, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            pairs = zip(self.averaged.parameters(), self.network.parameters(), strict=True)
            learning = [(mean, value) for mean, value in pairs if value.requires_grad]
            torch._foreach_lerp_(*map(list, zip(*learning, strict=True)), 1 - decay)  # type: ignore[attr-defined]
        return dict(shown)

    def save(self, path: Path) -> None:
        """Write everything that is needed to go on."""
        state = {
            "network": self.network.state_dict(),
            "averaged": self.averaged.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "seconds": self.seconds,
            "inventory": json.dumps(asdict(self.inventory)),
        }
        waiting = path.with_suffix(".part")
        torch.save(state, waiting)
        waiting.replace(path)

    def load(self, path: Path) -> None:
        """Go on from a checkpoint."""
        state = torch.load(path, weights_only=True)
        self.network.load_state_dict(state["network"])
        self.averaged.load_state_dict(state["averaged"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.seconds = int(state["step"]), float(state.get("seconds", 0.0))

    def start_from(self, path: Path) -> None:
        """Take the averaged weights of an earlier run, where they have the same shape."""
        fitting = self._fitting(path)
        for network in (self.network, self.averaged):
            network.load_state_dict(fitting, strict=False)

    def mix_with(self, path: Path, share: float) -> None:
        """Move the averaged weights some way back to those of the run that this one began from.

        Both lie in one valley, and a point between them does better than either
        (Wortsman et al. 2022).
        """
        own = self.averaged.state_dict()
        for name, value in self._fitting(path).items():
            own[name].lerp_(value, share)

    def _fitting(self, path: Path) -> dict[str, Tensor]:
        """Return the averaged weights of an earlier run that have the same shape here."""
        own = self.averaged.state_dict()
        if path.is_dir():
            given = read_model(path, self.inventory, own)
        else:
            given = torch.load(path, weights_only=True)["averaged"]
        return {
            name: value
            for name, value in given.items()
            if name in own and value.shape == own[name].shape
        }


def range_heads(joins: Sequence[Any], n_edus: int) -> list[int]:
    """Return the head EDU of each join's range (joins in preorder)."""
    heads: dict[tuple[int, int], int] = {(i, i + 1): i for i in range(n_edus)}
    for start, split, end, nuclearity, _ in reversed(joins):
        part = (split, end) if nuclearity == "SN" else (start, split)
        heads[start, end] = heads[part]
    return [heads[join[0], join[2]] for join in joins]


def initial_distances(trainer: Trainer, examples: Sequence[Example]) -> None:
    """Start the distance biases of arcs at the log of how often such a pair is an arc."""
    sources = trainer.inventory.sources
    arcs = np.full(len(sources) * N_DISTANCES, 0.5)
    pairs = np.full(len(sources) * N_DISTANCES, 10.0)
    for example in examples:
        units = read(example, trainer.tokenizer).units
        offset = sources.index(example.source) * N_DISTANCES
        buckets = arc_buckets(units) + offset
        off_diagonal = ~np.eye(len(units), dtype=bool)
        pairs += np.bincount(buckets[off_diagonal], minlength=len(pairs))
        for dependent, head in enumerate(example.dependencies.heads):
            if head >= 0:
                arcs[buckets[dependent, head]] += 1
    values = torch.from_numpy(np.log(arcs / pairs)).float()
    for network in (trainer.network, trainer.averaged):
        for arcs in (network.arcs, network.scidtb.arcs):
            arcs.distance.weight.data.copy_(values[:, None])


@dataclass(frozen=True)
class Plan:
    """The documents of each step of a run, and the steps after which an epoch is over."""

    steps: Sequence[Sequence[Example]]
    ends: Sequence[int]


def make_plan(examples: Sequence[Example], settings: Settings, epochs: int) -> Plan:
    """Lay out a run: gold documents in each epoch, silver ones once, of SciDTB's a share."""
    silver = [example for example in examples if example.soft is not None]
    gold = [example for example in examples if example.soft is None]
    random.Random(f"{settings.seed}-silver").shuffle(silver)
    silver = silver[: round(settings.silver_share * len(silver))]
    parts = min(settings.silver_epochs, epochs)
    steps: list[Sequence[Example]] = []
    ends: list[int] = []
    for epoch in range(epochs):
        rng = random.Random(f"{settings.seed}-{epoch}")
        small = [example for example in gold if example.source == "scidtb"]
        rng.shuffle(small)
        small = small[: round(settings.scidtb_share * len(small))]
        more = silver[epoch::parts] if epoch < parts else []
        here = [[example] for example in gold if example.source != "scidtb"]
        here += _packs(small, settings.scidtb_pack) + _packs(more, settings.silver_pack)
        rng.shuffle(here)
        steps += here
        ends.append(len(steps))
    return Plan(steps, ends)


def _packs(examples: Sequence[Example], size: int) -> list[list[Example]]:
    return [list(examples[at : at + size]) for at in range(0, len(examples), size)]


@dataclass(frozen=True)
class Run:
    """A finished training run: what `export` needs of it."""

    trainer: Trainer
    dev: Mapping[str, Sequence[Example]]
    scores: Mapping[str, float]
    lemmas: Lemmas
    frozen: Path | None = None


def _shape(settings: Settings) -> Shape:
    """Return the shape of the encoder that the settings ask for."""
    shape = SHAPES[settings.encoder].narrowed(settings.layers, settings.heads, settings.inner)
    shape = shape.with_window(settings.window)
    most = settings.window // 2
    if not 0 <= settings.overlap <= most:
        raise ModelError(f"an overlap of {settings.overlap} pieces: from 0 to {most} are possible")
    return shape


def train(
    pretrained: Path | str,
    folders: Mapping[str, Path | str],
    out: Path | str,
    settings: Settings,
    *,
    start: Path | str | None = None,
    silver: Sequence[Path | str] = (),
    teacher: str = "",
    without: Iterable[str] = (),
    tell: Tell = nothing,
) -> Run:
    """Train on the given corpora (name -> folder; ``gum`` or ``gcdt`` must be there).

    ``pretrained`` is a folder with ``model.safetensors`` and ``vocab.txt`` of the encoder that the
    settings name. ``start`` is the ``final.pt`` of an earlier run, or the folder of a model of the
    same shape and labels, from whose weights to begin; a model of another size is imitated first;
    ``silver`` are CoNLL-U files (English-EWT, AMALGUM) from which `silver` makes more examples;
    ``teacher`` is a parser ("ensemble", or "neural:MODEL") from whose opinion of trees to learn.
    Training documents whose names match a pattern of ``without`` are left out, automatic ones, too.
    A run that was interrupted goes on from its last checkpoint.
    """
    torch.set_num_threads(settings.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(settings.seed)
    shape = _shape(settings)  # before anything is read or labelled, which may take an hour
    pretrained, out = Path(pretrained), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    tokenizer = WordPiece.read((pretrained / "vocab.txt").read_text("utf-8"))
    examples = [e for name, folder in folders.items() for e in read_examples(name, folder, "train")]
    dev = {name: read_examples(name, folder, "dev") for name, folder in folders.items()}
    examples += _silver(silver, settings, out / "silver.npz", tell)
    examples = left_out(examples, without)
    if teacher:
        examples = _taught(examples, teacher, out / "lessons", tell)
    language = next(code for code, names in SOURCES.items() if names[0] in folders)
    frozen = Path(start) if settings.frozen and start is not None else None
    if frozen:  # that encoder is taken as it is
        shape = shape_of(frozen) or shape
    other = Path(start) if start is not None and _has_other_shape(Path(start), shape) else None
    known = frozen or other  # whose heads are taken over, with the labels that they tell apart
    inventory = read_inventory(known) if known else make_inventory(examples, language)
    network = Network(len(tokenizer.vocabulary), inventory, dropout=settings.dropout, shape=shape)
    network.encoder.load_pretrained(pretrained / "model.safetensors")
    plan = make_plan(examples, settings, 0 if frozen else settings.epochs)
    trainer = Trainer(network, inventory, tokenizer, settings, len(plan.steps))
    initial_distances(trainer, [example for example in examples if example.soft is None])
    if other is not None:
        _imitate(trainer, other, examples, dev, out / "imitated.pt", tell)
    elif start is not None:
        trainer.start_from(Path(start))
    if frozen:
        trainer.encode = NeuralParser.load(frozen).network.states
    checkpoint = out / "checkpoint.pt"
    if checkpoint.is_file():
        trainer.load(checkpoint)
    (out / "settings.json").write_text(json.dumps(asdict(settings), indent=1), "utf-8")
    tell(Event("documents", note=f"{len(examples)}, in {len(plan.steps)} steps"))
    final = out / "final.pt"
    if final.is_file():
        tell(Event("nothing left to train", note=f"{final} is there"))
        trainer.start_from(final)
    else:
        _train_all(trainer, plan, dev, checkpoint, tell)
        _train_heads(trainer, examples, dev, tell)
        if start is not None and other is None and settings.keep_start:
            trainer.mix_with(Path(start), settings.keep_start)
        trainer.save(final)
    lemmas = Lemmas.learn(_gold_lemmas(examples))
    return Run(trainer, dev, evaluate_dev(trainer, read_dev(trainer, dev)), lemmas, frozen)


def _has_other_shape(start: Path, shape: Shape) -> bool:
    """Tell whether a model has not the layers of the network, or has others inside."""
    had = shape_of(start) if start.is_dir() else None
    return had is not None and any(
        getattr(had, name) != getattr(shape, name) for name in ("layers", "heads", "wide")
    )


def _imitate(
    trainer: Trainer,
    other: Path,
    examples: Sequence[Example],
    dev: Mapping[str, Sequence[Example]],
    done: Path,
    tell: Tell,
) -> None:
    """Begin with a model of another size brought to this one, which has learned its states."""
    if done.is_file():
        trainer.start_from(done)
        return
    some = [read(example, trainer.tokenizer) for example in examples[:LOOKED_AT]]
    model = model_network(other, trainer.network.encoder.words)
    fitting = resized(model, trainer.network.encoder.shape, some)
    for network in (trainer.network, trainer.averaged):
        network.load_state_dict(fitting, strict=False)
    imitate(trainer, model, examples, trainer.settings.imitate_minutes, tell)
    trainer.save(done)
    shown = evaluate_dev(trainer, read_dev(trainer, dev, every=2))
    tell(Event("imitated, half of dev", note=_shown(shown, 2)))


def _gold_lemmas(examples: Sequence[Example]) -> Iterator[tuple[str, str, str]]:
    for example in examples:
        if example.gold is not None and example.weight == 1:
            doc = example.gold.document
            yield from ((doc.form(t), t.tag, t.lemma) for t in doc.tokens if t.lemma)


def _silver(
    paths: Sequence[Path | str], settings: Settings, known: Path, tell: Tell
) -> list[Example]:
    """Return examples of treebanks without EDUs; what the teachers said is kept in a file."""
    # Files with EDUs of their own (AMALGUM's) are large and automatic: a part of each will do.
    parses = [
        parse
        for path in paths
        for parse in choose(path, 0 if "ewt" in Path(path).name else settings.silver_words)
    ]
    if not parses:
        return []
    if not known.is_file():
        found = label(parses, [load_segmenter("crf"), load_segmenter("neural")])
        np.savez_compressed(known, **found)  # type: ignore[arg-type]
    with np.load(known) as stored:
        examples = list(silver_examples(parses, stored))
    words = sum(len(example.words) for example in examples)
    tell(Event("automatic text", note=f"{len(examples)} documents, {words:,} words"))
    return examples


def _taught(examples: Sequence[Example], teacher: str, folder: Path, tell: Tell) -> list[Example]:
    """Return the examples, those of GUM's kind with a teacher's lessons; these are kept."""
    lessons = Lessons(folder)
    pupils = [example for example in examples if example.source == "gum"]
    lessons.teach(pupils, lambda: load_parser(*teacher.split(":", 1)), tell)
    return [lessons.read(e) if e.source == "gum" else e for e in examples]


def _train_all(
    trainer: Trainer,
    plan: Plan,
    dev: Mapping[str, Sequence[Example]],
    checkpoint: Path,
    tell: Tell,
) -> None:
    """Train everything together, from the step where the trainer is to the end of the plan."""
    seed = trainer.settings.seed
    began, saved = time.process_time(), time.monotonic()
    resumed, before = time.monotonic(), trainer.seconds
    sums: defaultdict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    while trainer.progress < 1:
        # Seeded by step, so that a run that was interrupted goes on as if it had not been.
        rng = random.Random(f"{seed}-step-{trainer.step}")
        torch.manual_seed(1_000_000 * seed + trainer.step)
        step = plan.steps[trainer.step]
        parts = trainer.update([read(example, trainer.tokenizer, rng) for example in step])
        trainer.seconds = before + time.monotonic() - resumed
        for name, value in parts.items():
            sums[name] += value
            counts[name] += 1
        ended = trainer.step in plan.ends
        if ended or trainer.step % REPORT_EVERY == 0:
            means = {name: sums[name] / counts[name] for name in sums}
            spent = time.process_time() - began
            note = f"{spent:.0f} CPU-seconds, rate {trainer.rate():.2f}, loss {_shown(means, 3)}"
            tell(Event("everything", trainer.step, len(plan.steps), note))
            sums.clear()
            counts.clear()
        if ended:
            scores = evaluate_dev(trainer, read_dev(trainer, dev, every=2))
            epoch = plan.ends.index(trainer.step) + 1
            tell(Event(f"epoch {epoch}, half of dev", note=_shown(scores, 2)))
        if ended or time.monotonic() - saved > SAVE_EVERY:
            trainer.save(checkpoint)
            saved = time.monotonic()
    trainer.save(checkpoint)


def _train_heads(
    trainer: Trainer,
    examples: Sequence[Example],
    dev: Mapping[str, Sequence[Example]],
    tell: Tell,
) -> None:
    """Train the heads on, over states that the finished encoder gives once.

    The encoder takes most of the time of an epoch, but the heads, which begin from nothing, need
    more of them.
    """
    settings = trainer.settings
    by_hand = _with_gold_syntax(examples, settings) if settings.syntax_epochs else []
    abstracts = [e for e in examples if e.source == "scidtb"] if settings.arc_epochs else []
    # Automatic text teaches the heads only where somebody has said what its trees are.
    examples = [example for example in examples if example.soft is None or example.lessons]
    settings = replace(settings, silver_share=1.0, silver_epochs=settings.head_epochs)
    silver = [example for example in examples if example.soft is not None]
    random.Random(f"{settings.seed}-silver").shuffle(silver)
    some = silver[: round(settings.head_silver_share * len(silver))]
    examples = [example for example in examples if example.soft is None] + some
    examples = [e for e in examples if e.source != "scidtb"] if settings.head_epochs else []
    rng = random.Random(f"{settings.seed}-states")
    known = {_name(one[0].example): one for one in _with_states(trainer, examples, rng)}
    shown = read_dev(trainer, dev)
    tell(Event("states", note=f"of {len(known)} documents"))
    tell(Event("dev", note=_shown(evaluate_dev(trainer, shown), 2)))

    def run_heads(number: int) -> None:
        trainer.freeze_encoder()
        _run_heads(trainer, replace(settings, seed=settings.seed + number), examples, known, tell)
        tell(Event(f"heads, run {number + 1}, dev", note=_shown(evaluate_dev(trainer, shown), 2)))

    if settings.head_epochs:
        _train_often(trainer, run_heads, settings.head_share)
    network = trainer.network
    for part, loss, documents, epochs, at_once in (
        (network.scidtb, trainer.dependency_loss, abstracts, settings.arc_epochs, 8),
        (network.syntax, trainer.syntax_losses, by_hand, settings.syntax_epochs, 2),
    ):
        if documents:
            twice = [one for r in (None, rng) for one in _with_states(trainer, documents, r)]
            train = partial(_train_part, trainer, part, loss, twice, epochs, at_once, tell)
            _train_often(trainer, train)
    tell(Event("heads, dev", note=_shown(evaluate_dev(trainer, shown), 2)))


@torch.no_grad()
def _with_states(
    trainer: Trainer, examples: Sequence[Example], rng: random.Random | None
) -> Iterator[tuple[Reading, Tensor]]:
    """Read documents once, with the states that the finished encoder gives."""
    for example in examples:
        reading = read(example, trainer.tokenizer, rng)
        yield reading, trainer.states(trainer.averaged, reading, trainer.settings.overlap).half()


def _with_gold_syntax(examples: Sequence[Example], settings: Settings) -> list[Example]:
    """Return the documents of the treebank and, of others with gold syntax, as many."""
    found = [example for example in examples if example.tags and example.weight == 1]
    own = [example for example in found if example.soft is None]
    others = [example for example in found if example.soft is not None]
    random.Random(f"{settings.seed}-syntax").shuffle(others)
    return own + others[: len(own)]


def _name(example: Example) -> str:
    return f"{example.source}/{example.id}"


def _train_often(trainer: Trainer, train: Callable[[int], None], share: float = 1.0) -> None:
    """Train as often as the settings say, from the same weights in other orders; keep the mean.

    ``train`` is given the number of a run. With ``share``, a point so far on the way there is kept.
    """
    begin = copy.deepcopy(trainer.averaged.state_dict())
    runs = trainer.settings.head_runs
    total = {name: torch.zeros_like(value) for name, value in begin.items()}
    for number in range(runs):
        trainer.averaged.load_state_dict(begin)
        train(number)
        for name, value in trainer.averaged.state_dict().items():
            total[name] += value / runs
    for name, before in begin.items():
        total[name].lerp_(before, 1 - share)
    trainer.averaged.load_state_dict(total)


def _run_heads(
    trainer: Trainer,
    settings: Settings,
    examples: Sequence[Example],
    known: Mapping[str, tuple[Reading, Tensor]],
    tell: Tell,
) -> None:
    """Train the heads once, over known states, in the order that the seed gives."""
    plan = make_plan(examples, replace(settings, seed=settings.seed + 1), settings.head_epochs)
    sums: defaultdict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    began, seconds = time.monotonic(), 60 * settings.head_minutes or float("inf")
    for done, step in enumerate(plan.steps):
        left = 1 - max(done / len(plan.steps), (time.monotonic() - began) / seconds)
        if left <= 0:
            break
        rng = random.Random(f"{settings.seed}-heads-{done}")
        torch.manual_seed(1_000_000 * settings.seed + 500_000 + done)
        found = [known[_name(example)] for example in step]
        readings = [disturb(reading, rng) for reading, _ in found]
        states = [state.float() for _, state in found]
        parts = trainer.update(readings, states, max(0.02, left))
        for name, value in parts.items():
            sums[name] += value
            counts[name] += 1
        if done + 1 in plan.ends:
            means = {name: sums[name] / counts[name] for name in sums}
            epoch = plan.ends.index(done + 1) + 1
            tell(Event(f"heads, epoch {epoch}, loss", note=_shown(means, 3)))
            sums.clear()
            counts.clear()


def _train_part(
    trainer: Trainer,
    part: nn.Module,
    loss: Loss,
    known: Sequence[tuple[Reading, Tensor]],
    epochs: int,
    at_once: int,
    tell: Tell,
    number: int,
) -> None:
    """Train one part of the heads on by itself, over known states; nothing else depends on it."""
    seed = trainer.settings.seed + number
    trainer.learn_only([part], average=0.99)
    packs = epochs * -(-len(known) // at_once)
    rng = random.Random(f"{seed}-part")
    order: list[tuple[Reading, Tensor]] = []
    parts: Mapping[str, float] = {}
    for done in range(packs):
        order = order or rng.sample(known, len(known))
        pack, order = order[:at_once], order[at_once:]
        torch.manual_seed(1_000_000 * seed + 750_000 + done)
        readings = [disturb(reading, rng) for reading, _ in pack]
        factor = min((done + 1) / 20, 1.0, max(0.02, (1 - done / packs) / 0.7))
        parts = trainer.update(readings, [states.float() for _, states in pack], factor, loss)
    tell(Event("by itself", note=f"loss {_shown(parts, 3)}"))


def _shown(values: Mapping[str, float], digits: int) -> str:
    return " ".join(f"{name} {value:.{digits}f}" for name, value in values.items())
