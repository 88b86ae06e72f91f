"""Ballots of all members -> what is to be decided: ranges, the joins that make them, who is for it.

Ranges that no member finds likely, and that are in no member's tree, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rhetorica.decode import Chosen, elect
from rhetorica.document import Document
from rhetorica.protocols import Ballot
from rhetorica.trees import Label

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

LEAST = 0.03
"""A range that some member gives less probability, and no tree has, is no candidate."""
CLASSES = ("inside a sentence", "between sentences", "between paragraphs", "large")
LARGE = 40
"""Ranges of more EDUs that hold a start of a paragraph are a class of their own."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What members say of a document of ``n_edus``.

    ``ranges`` (r, 2) with their ``classes`` (r); ``shares`` (r, members) is the probability that a
    member gives a range, ``own`` (r, members) whether the range is in its tree, ``labels``
    (r, members, labels) how its votes fall on labels (zero where it has none). ``joins`` (j, 3) are
    those that can make a tree of these ranges, ``weights`` (j) how many votes they have. ``trees``
    are the members' own.
    """

    n_edus: int
    ranges: Ints
    classes: Ints
    shares: Floats
    own: Flags
    labels: Floats
    joins: Ints
    weights: Floats
    trees: tuple[tuple[Chosen, ...], ...]

    @classmethod
    def of(
        cls,
        doc: Document,
        ballots: Sequence[Ballot],
        labels: Sequence[Label],
        coarse: Callable[[str], str],
    ) -> Candidates:
        """Put ballots together; ``coarse`` maps each member's relations to those of ``labels``."""
        n = len(doc.edus)
        trees = tuple(tuple(elect(n, ballot.votes)) for ballot in ballots)
        said = [ballot.votes.ranges @ np.array([n + 1, 1]) for ballot in ballots]
        totals = [np.minimum(ballot.votes.labels.sum(axis=1), 1.0) for ballot in ballots]
        owned = [np.array([t.start * (n + 1) + t.end for t in tree], np.int64) for tree in trees]
        likely = [keys[total >= LEAST] for keys, total in zip(said, totals, strict=True)]
        every = np.unique(np.concatenate([np.zeros(0, np.int64), *likely, *owned]))
        shares = np.zeros((len(every), len(ballots)))
        by_label = np.zeros((len(every), len(ballots), len(labels)))
        own = np.zeros((len(every), len(ballots)), dtype=bool)
        for m, ballot in enumerate(ballots):
            known = np.isin(said[m], every)
            rows = np.searchsorted(every, said[m][known])
            shares[rows, m] = totals[m][known]
            by_label[rows, m] = ballot.votes.labels[known] @ _same(ballot.labels, labels, coarse)
            own[np.searchsorted(every, owned[m]), m] = True
        ranges = np.stack(np.divmod(every, n + 1), axis=1)
        joins, weights = _joins(n, ballots, trees, every)
        classes = range_classes(doc, ranges)
        return cls(n, ranges, classes, shares, own, by_label, joins, weights, trees)

    def rows(self, starts: Ints, ends: Ints) -> Ints:
        """Return the places of ranges that are candidates."""
        keys = self.ranges[:, 0] * (self.n_edus + 1) + self.ranges[:, 1]
        return np.searchsorted(keys, starts * (self.n_edus + 1) + ends)


def range_classes(doc: Document, ranges: Ints) -> Ints:
    """Return the class of each range, by the highest border inside it.

    The paper has a weight for each of a fixed number of positions. Documents differ in length; what
    carries over from one to the other is what kind of place it is.
    """
    levels = split_levels(doc)
    # How many borders of a kind lie before each EDU, so that ranges can be looked up.
    above = [np.concatenate([[0, 0], np.cumsum(levels >= level)]) for level in (1, 2)]
    found = np.zeros(len(ranges), dtype=np.int64)
    for counts in above:
        found += counts[ranges[:, 1]] > counts[ranges[:, 0] + 1]
    large = (found == 2) & (ranges[:, 1] - ranges[:, 0] > LARGE)
    return np.where(large, 3, found)


def split_levels(doc: Document) -> Ints:
    """Return, for each EDU but the first, 2 where a paragraph begins with it, 1 for a sentence."""
    if len(doc.edus) < 2:
        return np.zeros(0, dtype=np.int64)
    sentence = np.diff(doc.edu_sentences()) != 0
    paragraph = np.diff(doc.edu_paragraphs()) != 0
    return np.where(paragraph, 2, np.where(sentence, 1, 0))


def _same(
    theirs: Sequence[Label], ours: Sequence[Label], coarse: Callable[[str], str]
) -> npt.NDArray[np.float64]:
    """Return the matrix from a member's labels to the common ones; others get lost."""
    number = {label: at for at, label in enumerate(ours)}
    matrix = np.zeros((len(theirs), len(ours)))
    for row, label in enumerate(theirs):
        column = number.get(Label(label.nuclearity, coarse(label.relation)))
        if column is not None:
            matrix[row, column] = 1.0
    return matrix


def _joins(
    n: int, ballots: Sequence[Ballot], trees: Sequence[Sequence[Chosen]], keys: Ints
) -> tuple[Ints, Floats]:
    """Return all joins between candidates, with their votes."""
    rows = [ballot.votes.joins for ballot in ballots]
    counts = [ballot.votes.votes for ballot in ballots]
    for tree in trees:
        # Each member's own tree stays possible as a whole.
        rows.append(np.array([(t.start, t.split, t.end) for t in tree], np.int64).reshape(-1, 3))
        counts.append(np.full(len(tree), 1e-3))
    joins, votes = np.concatenate(rows), np.concatenate(counts)
    start, split, end = joins.T
    fits = np.isin(start * (n + 1) + end, keys)
    for left, right in ((start, split), (split, end)):
        fits &= (right - left == 1) | np.isin(left * (n + 1) + right, keys)
    flat = (start * (n + 1) + split) * (n + 1) + end
    unique, place = np.unique(flat[fits], return_inverse=True)
    outer, last = np.divmod(unique, n + 1)
    return (
        np.stack([*np.divmod(outer, n + 1), last], axis=1),
        np.bincount(place, votes[fits], len(unique)).astype(np.float64),
    )
