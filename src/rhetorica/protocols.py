"""What parsers and segmenters are to those who use them: two protocols, no base class."""

from __future__ import annotations

from typing import Protocol

from rhetorica.document import Document
from rhetorica.parses import Parse


class Parser(Protocol):
    """What all parsers do: take a document with the layers they need, return a parse."""

    name: str

    def __call__(self, doc: Document, /, *, kbest: int = 1) -> Parse:
        """Parse a document."""
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
