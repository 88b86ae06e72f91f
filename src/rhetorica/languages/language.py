"""What a language is to the rest of the package: facts and functions, told once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from rhetorica.document import Document

Words: TypeAlias = frozenset[str]
FrontEnd: TypeAlias = Callable[[Iterable[Document]], Iterator[Document]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags:
    """The part-of-speech tags of a language by the roles that features ask for.

    ``verbs`` are of all forms, ``finite`` those that a clause can stand on; ``content`` words say
    what a text is about; ``open`` ones are too many to be seen but by their tag. ``subjects`` can
    be a subject. ``connectives`` may stand before the first phrase of a clause, ``cues`` show how
    clauses relate, ``subordinating`` ones can make a clause part of another. ``is_mark`` tells the
    tag of a punctuation mark, ``is_symbol`` that of anything that is not a word. ``chunk`` cuts a
    sentence's tags into base phrases (BIO notation).
    """

    nouns: Words
    verbs: Words
    finite: Words
    participles: Words
    infinitives: Words
    prepositions: Words
    content: Words
    open: Words
    subjects: Words
    connectives: Words
    cues: Words
    subordinating: Words
    is_mark: Callable[[str], bool]
    is_symbol: Callable[[str], bool]
    chunk: Callable[[Sequence[str]], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language: how to recognise and to read it, and what features need to know of it.

    ``front_end`` adds tokens, sentences and syntax to a stream of documents that have paragraphs
    (layers that a document has are kept; line ends inside paragraphs are spaces already).
    ``recognises`` guesses from raw text; where that is too short to tell, it says yes.

    Words are in lower case: ``subordinators`` and ``coordinators`` join clauses, ``pronouns`` can
    be subjects that refer back, ``light`` are content words so common that two units which share
    them have nothing in common. Marks: ``marks`` say how a unit ends, ``separators`` part the
    clauses of a sentence, ``strong`` ones nearly always; then brackets and quotes. ``connectives``
    tell, of a word that a unit begins with, to which classes of relations it then belongs with what
    is before; only words that leave little doubt.
    """

    code: str
    name: str
    front_end: FrontEnd
    recognises: Callable[[str], bool]
    tags: Tags
    subordinators: Words
    coordinators: Words
    pronouns: Words
    light: Words
    marks: Words
    separators: Words
    strong: Words
    opening: Words
    closing: Words
    quotes: Words
    connectives: dict[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
