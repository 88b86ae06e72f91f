"""What parsers and segmenters are to those who use them: protocols, no base class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from rhetorica.decode import Votes
from rhetorica.document import Document
from rhetorica.parses import Parse, Scores
from rhetorica.trees import Label


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
