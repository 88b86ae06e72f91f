"""The network in torch: encoder, segmentation, EDU vectors, scores of trees, arcs and labels.

The run-time twin of the heads is `rhetorica.parsers.neural.network` (numpy); a test keeps the two
alike. One document at a time: no padding, no masks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from rhetorica.parsers.neural import units as unit_features
from rhetorica.parsers.neural import windows
from rhetorica.parsers.neural.network import (
    ATTENTION_LIMIT,
    CONTEXT,
    N_DISTANCES,
    SALIENCE_LIMIT,
    arc_buckets,
)
from rhetorica.parsers.neural.units import Units
from rhetorica.parsers.neural.wordpiece import WordPieces
from rhetorica.train.neural.encoders import MINILM, Encoder, Shape
from rhetorica.trees import Label

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Sizes:
    """The widths of the heads."""

    edu: int = 256
    edu_lstm: int = 160
    unit_lstm: int = 96
    span: int = 160
    pair: int = 64
    label: int = 192
    arc: int = 128
    mark: int = 192
    word: int = 128


@dataclass(frozen=True)
class Inventory:
    """The labels that the heads tell apart.

    ``joins`` are the labels of binary trees; ``join_classes`` gives each one
    the number of its coarse class, of which there are ``n_classes``. Without spaces between words
    (``unspaced``) there is a head that finds them.
    """

    sources: tuple[str, ...]
    joins: tuple[Label, ...]
    join_classes: tuple[int, ...]
    classes: tuple[tuple[str, str], ...]
    arc_relations: tuple[str, ...]
    tags: tuple[str, ...]
    deprels: tuple[str, ...]
    markers: tuple[str, ...]
    unspaced: bool = False


def group_means(x: Tensor, groups: Tensor) -> Tensor:
    """Return the mean of the rows of each group (groups are numbered from 0)."""
    count = int(groups[-1]) + 1
    sums = torch.zeros(count, x.shape[1]).index_add(0, groups, x)
    sizes = torch.zeros(count).index_add(0, groups, torch.ones(len(groups)))
    return sums / sizes[:, None]


class EduEncoder(nn.Module):
    """Piece states -> EDU vectors that know their sentence, paragraph and document."""

    def __init__(self, width: int, sizes: Sizes, n_sources: int, dropout: float) -> None:
        super().__init__()
        self.attention = nn.Linear(width, 1)
        self.words = nn.Linear(3 * width, sizes.edu)
        self.features = nn.Linear(unit_features.EDU_FEATURES, sizes.edu)
        self.source = nn.Embedding(n_sources, sizes.edu)
        nn.init.normal_(self.source.weight, std=0.05)
        wide = sizes.edu + 2 * sizes.edu_lstm
        unit = 2 * sizes.unit_lstm
        self.edus = nn.LSTM(sizes.edu, sizes.edu_lstm, bidirectional=True)
        self.sentences = nn.LSTM(wide, sizes.unit_lstm, bidirectional=True)
        self.paragraphs = nn.LSTM(unit, sizes.unit_lstm, bidirectional=True)
        self.out = nn.Linear(wide + 2 * unit, sizes.edu)
        self.norm = nn.LayerNorm(sizes.edu)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, units: Units, source: int) -> Tensor:
        """Map states (pieces, width) to vectors (EDUs, sizes.edu)."""
        firsts = torch.from_numpy(units.firsts)
        start, end = firsts[:-1], firsts[1:]
        owner = torch.repeat_interleave(torch.arange(len(units)), end - start)
        inside = states[int(firsts[0]) :]
        weight = torch.exp(self.attention(inside).clamp(-ATTENTION_LIMIT, ATTENTION_LIMIT))
        total = torch.zeros(len(units), 1).index_add(0, owner, weight)
        pooled = (
            torch.zeros(len(units), states.shape[1]).index_add(0, owner, weight * inside) / total
        )
        x = self.words(self.dropout(torch.cat([states[start], states[end - 1], pooled], 1)))
        x = x + self.features(torch.from_numpy(unit_features.edu_features(units)))
        x = self.dropout(functional.relu(x + self.source.weight[source]))
        x = torch.cat([x, self.edus(x)[0]], 1)
        sentence = torch.from_numpy(units.sentences)
        s = self.sentences(self.dropout(group_means(x, sentence)))[0]
        # A sentence belongs to the paragraph of its first EDU.
        paragraph = torch.from_numpy(units.paragraphs)
        first = torch.from_numpy(np.unique(units.sentences, return_index=True)[1])
        of_sentence = paragraph[first]
        groups = torch.unique(of_sentence, return_inverse=True)[1]
        p = self.paragraphs(self.dropout(group_means(s, groups)))[0]
        x = self.out(self.dropout(torch.cat([x, s[sentence], p[groups][sentence]], 1)))
        out: Tensor = self.dropout(torch.relu(self.norm(x)))
        return out


class SpanEncoder(nn.Module):
    """EDU vectors -> vectors of EDU ranges: both edges from either side, two poolings, features."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.starts = nn.Linear(2 * sizes.edu, sizes.span)
        self.ends = nn.Linear(2 * sizes.edu, sizes.span, bias=False)
        self.pooled = nn.Linear(2 * sizes.edu, sizes.span, bias=False)
        self.features = nn.Linear(unit_features.SPAN_FEATURES, sizes.span, bias=False)

    def forward(
        self, edus: Tensor, salience: Tensor, units: Units, starts: Tensor, ends: Tensor
    ) -> Tensor:
        """Return vectors (ranges, sizes.span) of the given ranges."""
        edges = edges_of(edus)
        weight = torch.exp(salience)[:, None]
        zero = torch.zeros(1, edus.shape[1])
        sums = torch.cat([zero, torch.cumsum(edus, 0)])
        salient = torch.cat([zero, torch.cumsum(weight * edus, 0)])
        weights = torch.cat([torch.zeros(1, 1), torch.cumsum(weight, 0)])
        size = (ends - starts)[:, None]
        mean = (sums[ends] - sums[starts]) / size
        attended = (salient[ends] - salient[starts]) / (weights[ends] - weights[starts])
        x = self.starts(edges)[starts] + self.ends(edges)[ends]
        x = x + self.pooled(torch.cat([mean, attended], 1))
        features = unit_features.span_features(units, starts.numpy(), ends.numpy())
        return torch.relu(x + self.features(torch.from_numpy(features)))


def edges_of(edus: Tensor) -> Tensor:
    """Return, for each of the n + 1 places between EDUs, the EDU before and the one after."""
    zero = torch.zeros(1, edus.shape[1])
    return torch.cat([torch.cat([zero, edus]), torch.cat([edus, zero])], 1)


class TreeScorer(nn.Module):
    """Scores of splits (i, k, j) for the chart, and of labels for joins."""

    def __init__(self, sizes: Sizes, n_joins: int, n_sources: int, dropout: float) -> None:
        super().__init__()
        self.salience = nn.Linear(sizes.edu, 1)
        self.spans = SpanEncoder(sizes)
        self.left = nn.Linear(sizes.span, sizes.pair + 1)
        self.right = nn.Linear(sizes.span, sizes.pair + 1)
        self.whole = nn.Linear(sizes.span, sizes.pair + 1)
        self.splits = nn.Linear(2 * sizes.edu, sizes.pair)
        self.label_spans = SpanEncoder(sizes)
        self.label_parts = nn.Linear(3 * sizes.span + 2 * sizes.edu, sizes.label)
        self.labels = nn.Linear(sizes.label, n_joins)
        self.label_bias = nn.Embedding(n_sources, n_joins)
        nn.init.zeros_(self.label_bias.weight)
        self.dropout = nn.Dropout(dropout)

    def saliences(self, edus: Tensor) -> Tensor:
        """Return the log weight of each EDU when a range is pooled."""
        return self.salience(edus)[:, 0].clamp(-SALIENCE_LIMIT, SALIENCE_LIMIT)

    def chart(self, edus: Tensor, units: Units) -> Tensor:
        """Return the scores of all splits, ``chart[i, k, j]`` for ``i < k < j``."""
        n = len(edus)
        starts, ends = torch.triu_indices(n + 1, n + 1, 1)
        h = self.dropout(self.spans(edus, self.saliences(edus), units, starts, ends))

        def table(values: Tensor) -> Tensor:
            dense = torch.zeros(n + 1, n + 1, values.shape[1])
            return dense.index_put((starts, ends), values)

        left, right, whole = table(self.left(h)), table(self.right(h)), table(self.whole(h))
        scale = 1 / math.sqrt(left.shape[2] - 1)
        split = self.splits(edges_of(edus))
        # left[i, k] . right[k, j], one matrix product for each k
        pairs = torch.bmm(left[..., 1:].transpose(0, 1), right[..., 1:].transpose(1, 2))
        scores = pairs.transpose(0, 1) + (whole[..., 1:] @ split.T).transpose(1, 2)
        return scores * scale + left[:, :, None, 0] + right[None, ..., 0] + whole[:, None, :, 0]

    def label_logits(self, edus: Tensor, units: Units, joins: Tensor, source: int) -> Tensor:
        """Return the logits (joins, labels) of joins given as rows (start, split, end)."""
        start, split, end = joins.unbind(1)
        salience = self.saliences(edus)
        count = len(joins)
        h = self.label_spans(
            edus,
            salience,
            units,
            torch.cat([start, split, start]),
            torch.cat([split, end, end]),
        )
        parts = torch.cat(
            [h[:count], h[count : 2 * count], h[2 * count :], edges_of(edus)[split]], 1
        )
        z = self.dropout(torch.relu(self.label_parts(self.dropout(parts))))
        out: Tensor = self.labels(z) + self.label_bias.weight[source]
        return out


class ArcScorer(nn.Module):
    """Biaffine scores of heads for dependents and, where it knows any, of relations for arcs."""

    def __init__(self, sizes: Sizes, n_relations: int, n_sources: int, dropout: float) -> None:
        super().__init__()
        self.dependents = nn.Linear(sizes.edu, sizes.arc)
        self.heads = nn.Linear(sizes.edu, sizes.arc)
        self.root = nn.Linear(sizes.edu, 1)
        self.product = nn.Parameter(torch.zeros(sizes.arc, sizes.arc))
        self.head_bias = nn.Linear(sizes.arc, 1)
        self.distance = nn.Embedding(n_sources * N_DISTANCES, 1)
        if n_relations:
            self.relation_parts = nn.Linear(2 * sizes.edu, sizes.label)
            self.relation_distance = nn.Embedding(N_DISTANCES, sizes.label)
            self.relations = nn.Linear(sizes.label, n_relations)
        self.dropout = nn.Dropout(dropout)

    def forward(self, edus: Tensor, units: Units, source: int) -> Tensor:
        """Return scores (dependents, 1 + heads); column 0 is the root."""
        d = self.dropout(torch.relu(self.dependents(edus)))
        h = self.dropout(torch.relu(self.heads(edus)))
        scores = d @ self.product @ h.T + self.head_bias(h).T
        buckets = torch.from_numpy(arc_buckets(units)) + source * N_DISTANCES
        scores = scores + self.distance(buckets)[..., 0]
        scores = scores - torch.diag(torch.full((len(edus),), 1e4))
        return torch.cat([self.root(edus), scores], 1)

    def relation_logits(self, edus: Tensor, units: Units, arcs: Tensor) -> Tensor:
        """Return the logits (arcs, relations) of arcs given as rows (dependent, head)."""
        dependent, head = arcs.unbind(1)
        buckets = torch.from_numpy(arc_buckets(units))[dependent, head]
        z = self.relation_parts(torch.cat([edus[dependent], edus[head]], 1))
        z = self.dropout(torch.relu(z + self.relation_distance(buckets)))
        out: Tensor = self.relations(z)
        return out


class Dependencies(nn.Module):
    """EDU vectors, arcs and relations of SciDTB: nothing of it but the encoder serves trees, too.

    Abstracts are short, all of one kind, and annotated by other rules: vectors of their own are
    worth a point.
    """

    def __init__(
        self, width: int, sizes: Sizes, n_relations: int, n_sources: int, dropout: float
    ) -> None:
        super().__init__()
        self.edus = EduEncoder(width, sizes, n_sources, dropout)
        self.arcs = ArcScorer(sizes, n_relations, n_sources, dropout)


class Marker(nn.Module):
    """What begins at each piece: nothing, an EDU, a sentence, a paragraph; one layer per corpus."""

    def __init__(self, width: int, sizes: Sizes, n_sources: int, dropout: float) -> None:
        super().__init__()
        self.near = nn.Linear((2 * CONTEXT + 1) * width, sizes.mark)
        self.out = nn.Linear(sizes.mark, 4 * n_sources)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, source: int) -> Tensor:
        """Return logits (pieces, 4)."""
        padded = functional.pad(states, (0, 0, CONTEXT, CONTEXT))
        near = padded.unfold(0, 2 * CONTEXT + 1, 1).transpose(1, 2).flatten(1)
        z = self.dropout(torch.relu(self.near(self.dropout(near))))
        out: Tensor = self.out(z)[:, 4 * source : 4 * source + 4]
        return out


class Syntax(nn.Module):
    """Tags of words, and biaffine scores of heads and relations inside sentences."""

    def __init__(
        self, width: int, sizes: Sizes, n_tags: int, n_relations: int, dropout: float
    ) -> None:
        super().__init__()
        self.inside = nn.Embedding(2, 2 * width)
        nn.init.normal_(self.inside.weight, std=0.02)
        self.tags = nn.Linear(2 * width, n_tags)
        self.parts = nn.Linear(2 * width, 4 * sizes.word)
        self.root = nn.Parameter(torch.randn(2, sizes.word) * 0.1)
        self.product = nn.Parameter(torch.zeros(sizes.word + 1, sizes.word))
        self.relations = nn.Parameter(torch.zeros(n_relations, sizes.word + 1, sizes.word + 1))
        self.dropout = nn.Dropout(dropout)
        self.size = sizes.word

    def vectors(self, states: Tensor, words: WordPieces) -> Tensor:
        """Return what the heads see of each word, (words, 2 x width)."""
        firsts, lasts, inside = map(torch.from_numpy, words)
        x = torch.cat([states[firsts], states[lasts]], 1)
        out: Tensor = self.dropout(x + self.inside(inside))
        return out

    def parse(self, vectors: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the words as dependents and heads, of arcs and of relations."""
        x = self.dropout(functional.leaky_relu(self.parts(vectors), 0.1))
        return x.split(self.size, 1)  # type: ignore[return-value]

    def arcs(self, dependents: Tensor, heads: Tensor, rows: Tensor) -> Tensor:
        """Return scores (sentences, words, 1 + words); column 0 is the root.

        ``rows`` (sentences, words) has the number of each word, -1 after the last one.
        """
        blank = rows < 0
        at = rows.clamp(min=0)
        d = with_one(dependents[at])
        h = torch.cat([self.root[0].expand(len(rows), 1, -1), heads[at]], 1)
        scores = torch.bmm(d @ self.product, h.transpose(1, 2))
        length = rows.shape[1]
        scores = scores.masked_fill(functional.pad(blank, (1, 0))[:, None], -1e4)
        own = functional.pad(torch.eye(length, dtype=torch.bool), (1, 0))
        return scores.masked_fill(own, -1e4)

    def relation_logits(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Return logits (arcs, relations) of arcs given by the vectors of their ends."""
        d, h = with_one(dependents), with_one(heads)
        weights = self.relations.permute(1, 0, 2).flatten(1)
        mixed = (d @ weights).view(len(d), -1, h.shape[1])
        return torch.bmm(mixed, h[:, :, None])[..., 0]


def with_one(x: Tensor) -> Tensor:
    """Return vectors with a 1 at the end, so that a product has room for a bias."""
    return functional.pad(x, (0, 1), value=1.0)


class Network(nn.Module):
    """The whole model."""

    def __init__(
        self,
        vocabulary: int,
        inventory: Inventory,
        sizes: Sizes | None = None,
        dropout: float = 0.3,
        shape: Shape = MINILM,
    ) -> None:
        super().__init__()
        sizes = sizes or Sizes()
        count, width = len(inventory.sources), shape.width
        self.encoder = Encoder(vocabulary, shape)
        self.marker = Marker(width, sizes, count, dropout)
        self.edus = EduEncoder(width, sizes, count, dropout)
        self.trees = TreeScorer(sizes, len(inventory.joins), count, dropout)
        self.arcs = ArcScorer(sizes, 0, count, dropout)
        self.scidtb = Dependencies(width, sizes, len(inventory.arc_relations), count, dropout)
        self._scidtb = inventory.sources.index("scidtb")
        self.syntax = Syntax(width, sizes, len(inventory.tags), len(inventory.deprels), dropout)
        self.markers = nn.Linear(width, len(inventory.markers) + 1)
        if inventory.unspaced:
            self.words = nn.Linear(width, 1)

    def readers(self, source: int) -> tuple[EduEncoder, ArcScorer]:
        """Return what makes EDU vectors and scores of heads for a corpus."""
        part = self.scidtb if source == self._scidtb else self
        return part.edus, part.arcs

    def states(
        self,
        ids: Array,
        types: Array,
        first: int,
        last: int,
        overlap: int,
        *,
        brief: bool = False,
        shown: Sequence[int] = (),
    ) -> Tensor:
        """Return the states (pieces, width) of a text; ``brief`` computes them in bfloat16.

        With ``shown``, those after each of these layers: (pieces, layers, width).
        """
        length = len(ids)
        width = self.encoder.shape.window - 2
        starts = windows.window_starts(length, width=width, overlap=overlap)
        table = torch.from_numpy(windows.fill_windows(ids, starts, first, last, width=width))
        kinds = torch.from_numpy(windows.fill_windows(types, starts, 0, 0, width=width))
        with torch.autocast("cpu", torch.bfloat16, enabled=brief):
            out = self.encoder(table, kinds, shown).float()
        parts = [
            out[number, begin - start + 1 : end - start + 1]
            for number, (start, (begin, end)) in enumerate(
                zip(starts.tolist(), windows.owned_ranges(starts, length, width=width), strict=True)
            )
        ]
        return torch.cat(parts)
