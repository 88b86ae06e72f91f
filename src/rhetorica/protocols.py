"""What parsers and segmenters are to those who use them: protocols, no base class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from rhetorica.decode import Votes
from rhetorica.document import Document
from rhetorica.parses import Parse, Scores
from rhetorica.trees import Label

_OTHER_LABELS = 10


class Parser(Protocol):
    """What all parsers do: take a document with the layers they need, return a parse."""

    name: str

    def __call__(self, doc: Document, /, *, kbest: int = 1) -> Parse:
        """Parse a document."""
        ...


@dataclass(frozen=True, slots=True)
class Ballot:
    """What a parser thinks of all joins that it finds likely, not only of those in its tree.

    The votes for a range are its probability; ``labels`` are the columns of the votes.
    """

    votes: Votes
    labels: tuple[Label, ...]

    @classmethod
    def empty(cls, labels: tuple[Label, ...] = ()) -> Ballot:
        """Return a ballot without votes."""
        return cls(Votes.of(np.zeros((0, 3), np.int64), np.zeros((0, len(labels)))), labels)

    @classmethod
    def of(cls, parse: Parse) -> Ballot:
        """Make a ballot of a finished parse: the joins of its tree, with their probabilities.

        What a parser does not say counts as a half; what it does not give to a join's own label
        falls on the others alike.
        """
        joins = parse.tree.joins
        if not joins:
            return cls.empty()
        labels = tuple(sorted({Label(join.nuclearity, join.relation) for join in joins}))
        scores = parse.scores or Scores()
        spans = np.array(scores.spans or (0.5,) * len(joins))
        sure = np.array(scores.relations or (0.5,) * len(joins))
        if len(labels) == 1:
            sure = np.ones(len(joins))
        shares = np.repeat((1 - sure)[:, None] / max(1, len(labels) - 1), len(labels), axis=1)
        own = [labels.index(Label(join.nuclearity, join.relation)) for join in joins]
        shares[np.arange(len(joins)), own] = sure
        places = np.array([(join.start, join.split, join.end) for join in joins], dtype=np.int64)
        return cls(Votes.of(places, spans[:, None] * shares), labels)


@runtime_checkable
class Voter(Protocol):
    """A parser that can say what it thinks of joins that are not in its tree."""

    name: str

    def ballot(self, doc: Document, /) -> Ballot:
        """Return votes for the joins of a document with EDUs."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ArcBallot:
    """What a parser thinks of all heads of each EDU, and of the relations of arcs.

    ``heads`` (EDUs, 1 + EDUs) are probabilities, column 0 those of the root; ``own`` are the heads
    in its tree (-1: root). ``relations`` gives the probabilities of ``labels`` for arcs that are
    rows (dependent, head), and in a last column that of any label besides; zeros where it has none.
    """

    heads: npt.NDArray[np.float64]
    own: npt.NDArray[np.int64]
    labels: tuple[Label, ...]
    relations: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.float64]]

    @classmethod
    def of(cls, parse: Parse) -> ArcBallot:
        """Make a ballot of a finished parse: the arcs of its tree, with their probabilities.

        What a parser does not say counts as a half; what it does not give to its own head or label
        falls on the others alike, of labels on ten at least.
        """
        tree = parse.dependencies
        n = tree.n_edus
        scores = parse.scores or Scores()
        own = np.array(tree.heads, dtype=np.int64)
        sure = np.array(scores.heads or (0.5,) * n)
        heads = np.repeat((1 - sure)[:, None] / max(1, n - 1), n + 1, axis=1)
        heads[np.arange(n), np.arange(1, n + 1)] = 0
        heads[np.arange(n), own + 1] = sure
        found = tree.labels()
        labels = tuple(sorted({label for label, head in zip(found, own, strict=True) if head >= 0}))
        named = np.array(scores.arc_relations or (0.5,) * n)
        rest = (1 - named) / max(_OTHER_LABELS, len(labels) - 1)
        table = np.repeat(rest[:, None], len(labels) + 1, axis=1)  # the last: any other label
        for at, label in enumerate(found):
            if label in labels:
                table[at, labels.index(label)] = named[at]

        def relations(arcs: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
            known = own[arcs[:, 0]] == arcs[:, 1]
            return np.where(known[:, None], table[arcs[:, 0]], 0.0)

        return cls(heads, own, labels, relations)


def with_zero(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Add the last column of `ArcBallot.relations`, for a parser that knows all labels."""
    return np.pad(shares, ((0, 0), (0, 1)))


@runtime_checkable
class ArcVoter(Protocol):
    """A parser that can say what it thinks of arcs that are not in its tree."""

    name: str

    def arc_ballot(self, doc: Document, /) -> ArcBallot:
        """Return probabilities of the arcs of a document with EDUs."""
        ...


class Segmenter(Protocol):
    """What all segmenters do: tell for each token how probable it is that an EDU starts there.

    An EDU is cut where the probability is above the threshold.
    """

    name: str

    @property
    def threshold(self) -> float:
        """The probability above which an EDU is cut."""
        ...

    def boundaries(self, doc: Document) -> list[float]:
        """Return a probability for each token of a document with syntax."""
        ...


class TextSegmenter(Segmenter, Protocol):
    """A segmenter that can do without tokens and syntax, too."""

    def segment(self, doc: Document, /) -> Parse:
        """Cut a document into EDUs."""
        ...
