"""A network on dev data: trees, EDUs, sentences, arcs and syntax, as training goes on.

Quick figures on gold EDUs and gold tokens; those of the parser as users run it are made by
``benchmarks/parsing.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rhetorica.parsers.neural.decode import decode
from rhetorica.parsers.neural.wordpiece import WordPiece
from rhetorica.relations import relation_set
from rhetorica.train.neural.data import SENTENCE, Example, Reading, read, sentence_rows
from rhetorica.train.neural.model import Inventory, Network
from rhetorica.trees import ROOT

OVERLAP = 64
Read = tuple[Reading, Tensor]
"""A dev document and its states."""


class Learner(Protocol):
    """What is scored: a training run."""

    inventory: Inventory
    tokenizer: WordPiece
    averaged: Network

    def states(self, network: Network, reading: Reading, overlap: int) -> Tensor:
        """Return the encoder's states of a document."""
        ...


@torch.no_grad()
def evaluate_trees(trainer: Learner, network: Network, known: Sequence[Read]) -> dict[str, float]:
    """Score gold-EDU trees (minimum Bayes risk) and segmentation on the treebank's plain layout."""
    network.eval()
    inventory = trainer.inventory
    right = Counter[str]()
    for reading, states in known:
        example = reading.example
        _count_syntax(trainer, network, reading, states, right)
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
        if inventory.unspaced:
            _count_words(network, reading, states, right)
        tree = example.tree
        if tree is None or tree.n_edus < 2:
            continue
        gold_ranges = {(j.start, j.end): j for j in tree.joins}
        coarse = relation_set(example.source).coarse
        for (start, end), best in _labelled(network, inventory, reading, states).items():
            right["joins"] += 1
            gold_join = gold_ranges.get((start, end))
            if gold_join:
                nuclearity, relation = inventory.classes[best]
                n, r = nuclearity == gold_join.nuclearity, relation == coarse(gold_join.relation)
                right.update(S=1, N=int(n), R=int(r), F=int(n and r))
    scores = {name: 100 * right[name] / right["joins"] for name in ("S", "N", "R", "F")}
    for name in ("seg", "sent", "word") if inventory.unspaced else ("seg", "sent"):
        scores[name] = 200 * right[name] / (right[f"{name}_gold"] + right[f"{name}_pred"])
    for name in ("tag", "uas", "las"):
        scores[f"ud_{name}"] = 100 * right[name] / max(right["words"], 1)
    return scores


def _labelled(
    network: Network, inventory: Inventory, reading: Reading, states: Tensor
) -> dict[tuple[int, int], int]:
    """Return the ranges of the best tree over gold EDUs, and the numbers of their classes."""
    edus = network.edus(states, reading.units, 0)
    chart = network.trees.chart(edus, reading.units).numpy()
    class_of = np.array(inventory.join_classes)

    def label(joins: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        rows = network.trees.label_logits(edus, reading.units, torch.from_numpy(joins), 0)
        shares: npt.NDArray[np.float32] = rows.softmax(1).numpy()
        return shares

    count = len(reading.units)
    joins, labels = decode(count, lambda _: chart, label, class_of, exact=count)
    ranges = [(join.start, join.end) for join in joins]
    shares = np.array([labels[one] for one in ranges]) @ np.eye(len(inventory.classes))[class_of]
    return dict(zip(ranges, shares.argmax(axis=1).tolist(), strict=True))


def _count_words(network: Network, reading: Reading, states: Tensor, right: Counter[str]) -> None:
    """Count words that are found: right where they begin and end."""
    pieces, size = reading.pieces, len(reading.pieces)
    begins = ((network.words(states)[:, 0] > 0).numpy() | (pieces.layouts > 0)) & pieces.begins
    pred = np.append(np.flatnonzero(begins), size)
    gold = np.append(reading.words.firsts, size)
    shared = {*pairwise(pred.tolist())} & {*pairwise(gold.tolist())}
    right.update(word=len(shared), word_gold=len(gold) - 1, word_pred=len(pred) - 1)


def _count_syntax(
    trainer: Learner, network: Network, reading: Reading, states: Tensor, right: Counter[str]
) -> None:
    """Count right tags, heads (the best of each word) and relations, given words and sentences."""
    example = reading.example
    if not example.tags:
        return
    vectors = network.syntax.vectors(states, reading.words)
    tags = network.syntax.tags(vectors).argmax(1).tolist()
    rows = torch.from_numpy(sentence_rows(example.marks))
    dependents, heads, low, high = network.syntax.parse(vectors)
    best = network.syntax.arcs(dependents, heads, rows).argmax(2) - 1
    inside = rows >= 0
    words = rows[inside]
    chosen = rows.gather(1, best.clamp(min=0))
    chosen = torch.where(best < 0, ROOT, chosen)[inside]
    ends = torch.cat([high, network.syntax.root[1:]])[chosen]
    relations = network.syntax.relation_logits(low[words], ends).argmax(1).tolist()
    names = trainer.inventory.deprels
    for word, head, relation in zip(words.tolist(), chosen.tolist(), relations, strict=True):
        right["words"] += 1
        right["tag"] += trainer.inventory.tags[tags[word]] == example.tags[word]
        if head == example.heads[word]:
            right["uas"] += 1
            right["las"] += names[relation] == example.deprels[word]


@torch.no_grad()
def evaluate_arcs(trainer: Learner, network: Network, known: Sequence[Read]) -> dict[str, float]:
    """Score the best head of each EDU of SciDTB, and its relation."""
    network.eval()
    right = Counter[str]()
    source = trainer.inventory.sources.index("scidtb")
    vectors, scorer = network.readers(source)
    for reading, states in known:
        example = reading.example
        edus = vectors(states, reading.units, source)
        heads = scorer(edus, reading.units, source).argmax(1) - 1
        arcs = torch.stack([torch.arange(len(heads)), heads.clamp(min=0)], 1)
        best = scorer.relation_logits(edus, reading.units, arcs).argmax(1).tolist()
        gold = example.dependencies
        for dependent, head in enumerate(heads.tolist()):
            right["arcs"] += 1
            if head == gold.heads[dependent]:
                right["uas"] += 1
                relation = trainer.inventory.arc_relations[best[dependent]]
                right["las"] += head < 0 or relation == gold.relations[dependent]
    return {name: 100 * right[name] / right["arcs"] for name in ("uas", "las")}


@torch.no_grad()
def read_dev(
    trainer: Learner, dev: Mapping[str, Sequence[Example]], *, every: int = 1
) -> dict[str, list[Read]]:
    """Return dev documents (each ``every``-th) with the states of the averaged encoder."""
    trainer.averaged.eval()
    found: dict[str, list[Read]] = {}
    for name in (trainer.inventory.sources[0], "scidtb"):
        readings = [read(example, trainer.tokenizer) for example in dev.get(name, ())[::every]]
        found[name] = [(r, trainer.states(trainer.averaged, r, OVERLAP)) for r in readings]
    return found


def evaluate_dev(trainer: Learner, known: Mapping[str, Sequence[Read]]) -> dict[str, float]:
    """Score the averaged weights on the dev parts of the treebank and, where given, SciDTB."""
    scores = evaluate_trees(trainer, trainer.averaged, known[trainer.inventory.sources[0]])
    if known.get("scidtb"):
        scores |= evaluate_arcs(trainer, trainer.averaged, known["scidtb"])
    return scores
