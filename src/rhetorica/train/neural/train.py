"""Examples -> a trained network: losses, schedule, evaluation on dev, checkpoints per epoch."""

from __future__ import annotations

import copy
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from rhetorica.decode import inside_outside, mbr_cky
from rhetorica.parsers.neural.network import N_DISTANCES, arc_buckets
from rhetorica.parsers.neural.wordpiece import WordPiece
from rhetorica.pipeline import load_segmenter
from rhetorica.relations import relation_set
from rhetorica.train.neural.data import (
    EDU,
    SENTENCE,
    SOURCES,
    Example,
    Reading,
    disturb,
    read,
    read_examples,
)
from rhetorica.train.neural.model import (
    Inventory,
    Network,
)
from rhetorica.train.neural.silver import silver_examples
from rhetorica.trees import Label

REPORT_EVERY = 100


@dataclass(frozen=True)
class Settings:
    """How to train."""

    seed: int = 1
    epochs: int = 5
    decay_epochs: float = 3.0
    encoder_rate: float = 1e-4
    head_rate: float = 1.5e-3
    warmup: int = 150
    dropout: float = 0.3
    average: float = 0.995
    overlap: int = 16
    scidtb_share: float = 0.33
    scidtb_pack: int = 4
    silver_share: float = 0.5
    silver_pack: int = 3
    arc_weight: float = 0.3
    syntax_weight: float = 0.15
    marker_weight: float = 0.3
    salience_weight: float = 0.2
    mark_weight: float = 1.0
    head_epochs: int = 4
    late_head_rate: float = 1e-3
    last_epochs: int = 0
    last_encoder_rate: float = 5e-5
    last_head_rate: float = 4e-4
    keep_start: float = 0.5


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


def make_inventory(examples: Sequence[Example]) -> Inventory:
    """Collect the labels of the training data, most frequent first."""
    gum = relation_set("gum")
    joins: Counter[Label] = Counter()
    arcs: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    deprels: Counter[str] = Counter()
    for example in examples:
        if example.source == "gum" and example.tree is not None:
            joins.update(join.label for join in example.tree.joins)
        if example.source == "scidtb":
            arcs.update(r for r in example.dependencies.relations if r not in ("ROOT", "null"))
        tags.update(example.tags)
        deprels.update(example.deprels)
    names = tuple(name for name, _ in joins.most_common())
    coarse = [(nuclearity, gum.coarse(relation)) for nuclearity, relation in names]
    classes = tuple(dict.fromkeys(coarse))
    return Inventory(
        SOURCES,
        names,
        tuple(classes.index(pair) for pair in coarse),
        classes,
        tuple(name for name, _ in arcs.most_common()),
        tuple(sorted(tags)),
        tuple(sorted(deprels)),
        gum.classes,
    )


class Trainer:
    """One training run: network, optimizer, averaged weights, and how far it has come."""

    def __init__(
        self,
        network: Network,
        inventory: Inventory,
        tokenizer: WordPiece,
        settings: Settings,
        steps_per_epoch: int,
    ) -> None:
        self.network, self.inventory, self.settings = network, inventory, settings
        self.tokenizer = tokenizer
        self.first, self.last = tokenizer.index("[CLS]"), tokenizer.index("[SEP]")
        self.steps_per_epoch = steps_per_epoch
        self.step = 0
        encoder, heads = self._parameters()
        groups = [
            {"params": encoder, "lr": settings.encoder_rate},
            {"params": heads, "lr": settings.head_rate},
        ]
        self._set_optimizer(groups)
        self.averaged = copy.deepcopy(network).eval()
        self.class_of = torch.tensor(inventory.join_classes)
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
        self.optimizer = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.99))
        self.rates = [group["lr"] for group in groups]
        self.trained = [p for group in groups for p in group["params"]]

    def rate(self) -> float:
        """Return the factor on all learning rates: warm up, hold, then fall to nothing."""
        settings = self.settings
        left = settings.epochs * self.steps_per_epoch - self.step
        falling = max(left, 0) / max(settings.decay_epochs * self.steps_per_epoch, 1)
        return max(0.01, min((self.step + 1) / settings.warmup, 1.0, falling))

    def freeze_encoder(self) -> None:
        """Go on from the averaged weights, with the heads alone."""
        network = self.network
        network.load_state_dict(self.averaged.state_dict())
        parts = (network.marker, network.edus, network.trees, network.arcs)
        heads = [parameter for part in parts for parameter in part.parameters()]
        self._set_optimizer([{"params": heads, "lr": self.settings.late_head_rate}])

    def train_all_again(self) -> None:
        """Go on from the averaged weights, encoder and heads together, at low rates."""
        self.network.load_state_dict(self.averaged.state_dict())
        encoder, heads = self._parameters()
        self._set_optimizer(
            [
                {"params": encoder, "lr": self.settings.last_encoder_rate},
                {"params": heads, "lr": self.settings.last_head_rate},
            ]
        )

    def _parameters(self) -> tuple[list[torch.nn.Parameter], list[torch.nn.Parameter]]:
        """Return the parameters that learn, those of the encoder and all others."""
        inside = {id(parameter) for parameter in self.network.encoder.parameters()}
        encoder = [p for p in self.network.encoder.parameters() if p.requires_grad]
        return encoder, [p for p in self.network.parameters() if id(p) not in inside]

    def states(self, network: Network, reading: Reading, overlap: int) -> Tensor:
        """Return the encoder's states of a document."""
        pieces = reading.pieces
        return network.states(pieces.ids, pieces.types, self.first, self.last, overlap)

    def loss(self, reading: Reading, states: Tensor | None = None) -> dict[str, Tensor]:
        """Return the parts of the loss of one document; given states, those of the heads alone."""
        network, example = self.network, reading.example
        source = self.inventory.sources.index(example.source)
        found: dict[str, Tensor] = {}
        if states is None:
            states = self.states(network, reading, self.settings.overlap)
            if example.tags:
                found |= self._syntax_losses(states, reading)
        logits = network.marker(states, source)
        if reading.targets is not None:
            targets = torch.from_numpy(reading.targets).float()
            total = -(targets * functional.log_softmax(logits, 1)).sum() / targets[:, EDU:].sum()
            return found | {"silver": self.settings.mark_weight * total}
        marks = torch.from_numpy(reading.marks)
        total = functional.cross_entropy(logits, marks, ignore_index=-1, reduction="sum")
        found["mark"] = self.settings.mark_weight * total / example.n_edus
        edus = network.edus(states, reading.units, source)
        if example.tree and example.n_edus > 1:
            found |= self._tree_losses(edus, reading, source)
        found["arc"] = self.settings.arc_weight * self._arc_loss(edus, reading, source)
        return found

    def _syntax_losses(self, states: Tensor, reading: Reading) -> dict[str, Tensor]:
        example, index = reading.example, self.index
        rows = states[torch.from_numpy(reading.first_pieces)]
        weight = self.settings.syntax_weight

        def targets(name: str, labels: Sequence[str]) -> Tensor:
            return torch.tensor([index[name][label] for label in labels])

        tag = functional.cross_entropy(self.network.tags(rows), targets("tags", example.tags))
        deprel = functional.cross_entropy(
            self.network.deprels(rows), targets("deprels", example.deprels)
        )
        found = {"tag": weight * tag, "deprel": weight * deprel}
        if example.markers:
            marker = functional.cross_entropy(
                self.network.markers(rows), targets("markers", example.markers), reduction="sum"
            )
            found["marker"] = self.settings.marker_weight * marker / example.n_edus
        return found

    def _tree_losses(self, edus: Tensor, reading: Reading, source: int) -> dict[str, Tensor]:
        tree, trees = reading.example.tree, self.network.trees
        assert tree is not None
        joins = torch.tensor([join[:3] for join in tree.joins])
        start, split, end = joins.unbind(1)
        chart = trees.chart(edus, reading.units)
        total = LogPartition.apply(chart) - chart[start, split, end].sum()
        structure = total / len(joins)
        logits = trees.label_logits(edus, reading.units, joins, source)
        labels = self._label_loss(logits, reading)
        salience = self._salience_loss(edus, reading, joins)
        return {
            "tree": structure,
            "label": labels,
            "salience": self.settings.salience_weight * salience,
        }

    def _label_loss(self, logits: Tensor, reading: Reading) -> Tensor:
        """Score fine labels where they are GUM's, and their classes everywhere."""
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
        if example.source != "gum":
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

    def _arc_loss(self, edus: Tensor, reading: Reading, source: int) -> Tensor:
        tree = reading.example.dependencies
        scores = self.network.arcs(edus, reading.units, source)
        loss = functional.cross_entropy(scores, torch.tensor(tree.heads) + 1)
        if reading.example.source != "scidtb":
            return loss
        known = [
            (dependent, head, self.index["arcs"][relation])
            for head, dependent, relation in tree.arcs()
            if head >= 0 and relation in self.index["arcs"]
        ]
        rows = torch.tensor(known)
        logits = self.network.arcs.relation_logits(edus, reading.units, rows[:, :2])
        return (loss + functional.cross_entropy(logits, rows[:, 2])) / self.settings.arc_weight

    def update(
        self,
        readings: Sequence[Reading],
        states: Sequence[Tensor] = (),
        factor: float | None = None,
    ) -> dict[str, float]:
        """Take one step on the mean loss of some documents.

        With ``states`` of the documents, only the heads learn. ``factor`` on the learning rates is
        that of the schedule unless given.
        """
        self.network.train()
        shown: defaultdict[str, float] = defaultdict(float)
        for number, reading in enumerate(readings):
            parts = self.loss(reading, states[number] if states else None)
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
        decay = min(self.settings.average, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for mean, value in zip(
                self.averaged.parameters(), self.network.parameters(), strict=True
            ):
                if value.requires_grad:
                    mean.lerp_(value, 1 - decay)
        return dict(shown)

    def save(self, path: Path, epoch: int) -> None:
        """Write everything that is needed to go on."""
        state = {
            "network": self.network.state_dict(),
            "averaged": self.averaged.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "epoch": epoch,
            "inventory": asdict(self.inventory),
        }
        waiting = path.with_suffix(".part")
        torch.save(state, waiting)
        waiting.replace(path)

    def load(self, path: Path) -> int:
        """Go on from a checkpoint; return the number of finished epochs."""
        state = torch.load(path, weights_only=True)
        self.network.load_state_dict(state["network"])
        self.averaged.load_state_dict(state["averaged"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]
        return int(state["epoch"])

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
        given = torch.load(path, weights_only=True)["averaged"]
        own = self.averaged.state_dict()
        return {name: value for name, value in given.items() if value.shape == own[name].shape}


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
        network.arcs.distance.weight.data.copy_(values[:, None])


@torch.no_grad()
def evaluate_gum(
    trainer: Trainer, network: Network, examples: Sequence[Example]
) -> dict[str, float]:
    """Score gold-EDU trees (minimum Bayes risk) and segmentation on GUM's plain layout."""
    network.eval()
    inventory = trainer.inventory
    right = Counter[str]()
    for example in examples:
        reading = read(example, trainer.tokenizer)
        states = trainer.states(network, reading, 64)
        marks = network.marker(states, 0).softmax(1).numpy()
        candidates = reading.marks >= 0
        pred = (1 - marks[:, 0] > 0.5) & candidates
        gold = reading.marks > 0
        right.update(
            seg=int((pred & gold).sum()), seg_gold=example.n_edus, seg_pred=int(pred.sum())
        )
        sent_pred = (marks[:, SENTENCE:].sum(1) > 0.5) & candidates
        sent_gold = reading.marks >= SENTENCE
        right.update(
            sent=int((sent_pred & sent_gold).sum()),
            sent_gold=int(sent_gold.sum()),
            sent_pred=int(sent_pred.sum()),
        )
        tree = example.tree
        if tree is None or tree.n_edus < 2:
            continue
        edus = network.edus(states, reading.units, 0)
        chart = network.trees.chart(edus, reading.units).numpy()
        _, spans, _ = inside_outside(chart)
        found = mbr_cky(spans).joins
        gold_ranges = {(j.start, j.end): j for j in tree.joins}
        logits = network.trees.label_logits(edus, reading.units, torch.tensor(found), 0)
        p = logits.softmax(1)
        by_class = torch.zeros(len(found), len(inventory.classes)).index_add(1, trainer.class_of, p)
        coarse = relation_set("gum").coarse
        for (i, _, j), best in zip(found, by_class.argmax(1).tolist(), strict=True):
            right["joins"] += 1
            gold_join = gold_ranges.get((i, j))
            if gold_join:
                nuclearity, relation = inventory.classes[best]
                n, r = nuclearity == gold_join.nuclearity, relation == coarse(gold_join.relation)
                right.update(S=1, N=int(n), R=int(r), F=int(n and r))
    scores = {name: 100 * right[name] / right["joins"] for name in ("S", "N", "R", "F")}
    for name in ("seg", "sent"):
        scores[name] = 200 * right[name] / (right[f"{name}_gold"] + right[f"{name}_pred"])
    return scores


@torch.no_grad()
def evaluate_arcs(
    trainer: Trainer, network: Network, examples: Sequence[Example]
) -> dict[str, float]:
    """Score the best head of each EDU of SciDTB, and its relation."""
    network.eval()
    right = Counter[str]()
    source = trainer.inventory.sources.index("scidtb")
    for example in examples:
        reading = read(example, trainer.tokenizer)
        states = trainer.states(network, reading, 64)
        edus = network.edus(states, reading.units, source)
        heads = network.arcs(edus, reading.units, source).argmax(1) - 1
        arcs = torch.stack([torch.arange(len(heads)), heads.clamp(min=0)], 1)
        best = network.arcs.relation_logits(edus, reading.units, arcs).argmax(1).tolist()
        gold = example.dependencies
        for dependent, head in enumerate(heads.tolist()):
            right["arcs"] += 1
            if head == gold.heads[dependent]:
                right["uas"] += 1
                relation = trainer.inventory.arc_relations[best[dependent]]
                right["las"] += head < 0 or relation == gold.relations[dependent]
    return {name: 100 * right[name] / right["arcs"] for name in ("uas", "las")}


def epoch_steps(
    examples: Sequence[Example], settings: Settings, rng: random.Random
) -> list[list[Example]]:
    """Return the documents of each step of an epoch: of the small ones a share, in packs."""
    steps: list[list[Example]] = []
    single: list[Example] = []
    scidtb: list[Example] = []
    silver: list[Example] = []
    for example in examples:
        small = scidtb if example.source == "scidtb" else single
        (silver if example.soft is not None else small).append(example)
    for group, share, pack in (
        (scidtb, settings.scidtb_share, settings.scidtb_pack),
        (silver, settings.silver_share, settings.silver_pack),
    ):
        rng.shuffle(group)
        chosen = group[: round(share * len(group))]
        steps += [chosen[at : at + pack] for at in range(0, len(chosen), pack)]
    steps += [[example] for example in single]
    rng.shuffle(steps)
    return steps


@dataclass(frozen=True)
class Run:
    """A finished training run: what `export` needs of it."""

    trainer: Trainer
    dev: Mapping[str, Sequence[Example]]
    scores: Mapping[str, float]


def train(
    minilm: Path | str,
    folders: Mapping[str, Path | str],
    out: Path | str,
    settings: Settings,
    *,
    start: Path | str | None = None,
    ewt: Path | str | None = None,
    log: Callable[[str], None] = lambda _: None,
) -> Run:
    """Train on the given corpora (name -> folder; ``gum`` must be there).

    ``minilm`` is a folder with ``model.safetensors`` and ``vocab.txt``. ``start`` is the
    ``final.pt`` of an earlier run, from whose weights to begin; ``ewt`` the training file of
    English-EWT, from which `silver` makes more examples. A run that was interrupted goes on from
    its last finished epoch.
    """
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    minilm, out = Path(minilm), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    tokenizer = WordPiece((minilm / "vocab.txt").read_text("utf-8").splitlines())
    examples = [e for name, folder in folders.items() for e in read_examples(name, folder, "train")]
    dev = {name: read_examples(name, folder, "dev") for name, folder in folders.items()}
    if ewt is not None:
        examples += silver_examples(ewt, [load_segmenter("crf"), load_segmenter("neural")])
        log(f"English-EWT labelled: {sum(e.soft is not None for e in examples)} documents")
    inventory = make_inventory(examples)
    network = Network(len(tokenizer.vocabulary), inventory, dropout=settings.dropout)
    network.encoder.load_minilm(minilm / "model.safetensors")
    steps = len(epoch_steps(examples, settings, random.Random(0)))
    trainer = Trainer(network, inventory, tokenizer, settings, steps)
    initial_distances(trainer, [example for example in examples if example.soft is None])
    if start is not None:
        trainer.start_from(Path(start))
    checkpoint = out / "checkpoint.pt"
    done = trainer.load(checkpoint) if checkpoint.is_file() else 0
    (out / "settings.json").write_text(json.dumps(asdict(settings), indent=1), "utf-8")
    log(f"{len(examples)} documents, {steps} steps per epoch, {done} epochs done")
    began = time.process_time()
    scores: dict[str, float] = {}
    for epoch in range(done, settings.epochs):
        losses = _train_epoch(trainer, examples, epoch, log)
        scores = evaluate_dev(trainer, dev)
        log(f"epoch {epoch + 1} cpu {time.process_time() - began:.0f}s loss {_shown(losses, 3)}")
        log(f"  dev {_shown(scores, 2)}")
        trainer.save(checkpoint, epoch + 1)
    if settings.head_epochs:
        _train_heads(trainer, examples, dev, log)
        scores = {}
    if settings.last_epochs:
        _train_all_again(trainer, examples, log)
        scores = {}
    if start is not None and settings.keep_start:
        trainer.mix_with(Path(start), settings.keep_start)
        scores = {}
    trainer.save(out / "final.pt", settings.epochs)
    return Run(trainer, dev, scores or evaluate_dev(trainer, dev))


def _train_epoch(
    trainer: Trainer, examples: Sequence[Example], epoch: int, log: Callable[[str], None]
) -> dict[str, float]:
    """Go once through the data; return the mean of each part of the loss."""
    settings = trainer.settings
    # Seeded by epoch, so that a run that was interrupted goes on as if it had not been.
    rng = random.Random(f"{settings.seed}-{epoch}")
    torch.manual_seed(settings.seed * 1000 + epoch)
    sums: defaultdict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    for number, step in enumerate(epoch_steps(examples, settings, rng), 1):
        parts = trainer.update([read(example, trainer.tokenizer, rng) for example in step])
        for name, value in parts.items():
            sums[name] += value
            counts[name] += 1
        if number % REPORT_EVERY == 0:
            means = {name: sums[name] / counts[name] for name in sums}
            log(f"  step {number} of {trainer.steps_per_epoch}: {_shown(means, 3)}")
    return {name: sums[name] / counts[name] for name in sums}


def _train_heads(
    trainer: Trainer,
    examples: Sequence[Example],
    dev: Mapping[str, Sequence[Example]],
    log: Callable[[str], None],
) -> None:
    """Train the heads on, over states that the finished encoder gives once.

    The encoder takes four fifths of the time of an epoch, but the heads, which begin from nothing,
    need more of them.
    """
    settings = replace(trainer.settings, scidtb_share=1.0)
    # Silver examples teach the encoder; their states would fill the memory.
    examples = [example for example in examples if example.soft is None]
    trainer.freeze_encoder()
    known: dict[str, tuple[Reading, Tensor]] = {}
    rng = random.Random(f"{settings.seed}-states")
    with torch.no_grad():
        for example in examples:
            reading = read(example, trainer.tokenizer, rng)
            states = trainer.states(trainer.averaged, reading, settings.overlap)
            known[f"{example.source}/{example.id}"] = reading, states.half()
    log(f"states of {len(known)} documents")
    per_epoch = len(epoch_steps(examples, settings, random.Random(0)))
    total, done = settings.head_epochs * per_epoch, 0
    for epoch in range(settings.head_epochs):
        rng = random.Random(f"{settings.seed}-heads-{epoch}")
        torch.manual_seed(settings.seed * 1000 + 500 + epoch)
        sums: defaultdict[str, float] = defaultdict(float)
        for step in epoch_steps(examples, settings, rng):
            found = [known[f"{example.source}/{example.id}"] for example in step]
            readings = [disturb(reading, rng) for reading, _ in found]
            states = [state.float() for _, state in found]
            parts = trainer.update(readings, states, max(0.02, 1 - done / total))
            done += 1
            for name, value in parts.items():
                sums[name] += value / per_epoch
        log(f"heads, epoch {epoch + 1}: {_shown(sums, 3)}")
        log(f"  dev {_shown(evaluate_dev(trainer, dev), 2)}")


def _train_all_again(
    trainer: Trainer, examples: Sequence[Example], log: Callable[[str], None]
) -> None:
    """Train everything together once more, from low rates down to nothing."""
    settings = trainer.settings
    trainer.train_all_again()
    total, done = settings.last_epochs * trainer.steps_per_epoch, 0
    for epoch in range(settings.last_epochs):
        rng = random.Random(f"{settings.seed}-last-{epoch}")
        torch.manual_seed(settings.seed * 1000 + 900 + epoch)
        sums: defaultdict[str, float] = defaultdict(float)
        for step in epoch_steps(examples, settings, rng):
            readings = [read(example, trainer.tokenizer, rng) for example in step]
            parts = trainer.update(readings, factor=max(0.02, 1 - done / total))
            done += 1
            for name, value in parts.items():
                sums[name] += value / trainer.steps_per_epoch
            if done % REPORT_EVERY == 0:
                log(f"  last, step {done} of {total}")
        log(f"last, epoch {epoch + 1}: {_shown(sums, 3)}")


def evaluate_dev(trainer: Trainer, dev: Mapping[str, Sequence[Example]]) -> dict[str, float]:
    """Score the averaged weights on the dev parts of GUM and, where given, SciDTB."""
    scores = evaluate_gum(trainer, trainer.averaged, dev["gum"])
    if "scidtb" in dev:
        scores |= evaluate_arcs(trainer, trainer.averaged, dev["scidtb"])
    return scores


def _shown(values: Mapping[str, float], digits: int) -> str:
    return " ".join(f"{name} {value:.{digits}f}" for name, value in values.items())
