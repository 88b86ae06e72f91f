"""Every exception that Rhetorica raises on purpose.

    RhetoricaError
    ├── FormatError        a file or stream is not what its format promises
    ├── InvalidDocument    spans that do not fit their text
    ├── InvalidTree        nodes and arcs that do not make a tree
    │   └── NonProjective  a dependency tree with crossing arcs where none may be
    ├── InvalidEdit        a correction that cannot be made to this tree
    ├── Mismatch           two analyses that should be of one text are not
    ├── UnknownLanguage    a text in a language that a model or front end does not know
    ├── InvalidRecipe      a parser, segmenter and options that do not go together
    ├── UnknownName        a format, relation set, parser or corpus that does not exist
    ├── ModelError         a model directory that is missing or damaged
    └── MissingExtra       a feature whose optional dependencies are not installed

    UserWarning
    ├── RepairWarning      a file was mended because the caller asked for it
    └── LanguageWarning    a text does not look like the language that it is taken for

The library neither prints nor exits: the command line and the service translate these once.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 600


class RhetoricaError(Exception):
    """Root of all errors that a user can cause and mend."""


class FormatError(RhetoricaError):
    """A file that cannot be read: where, and why.

    >>> str(FormatError("a.rs3", 3, "no such parent"))
    'a.rs3:3: no such parent'
    """

    def __init__(self, path: str, line: int | None, why: str) -> None:
        # Messages quote what was found: a value of a million characters must not fill the screen.
        why = why if len(why) <= _LONGEST else f"{why[:_LONGEST]} …"
        self.path, self.line, self.why = path, line, why
        super().__init__(f"{path}:{line}: {why}" if line else f"{path}: {why}")

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, int | None, str]]:
        # An exception with several arguments needs this to travel between processes.
        return type(self), (self.path, self.line, self.why)


class InvalidDocument(RhetoricaError):
    """Spans that do not fit their text."""


class InvalidTree(RhetoricaError):
    """Nodes or arcs that do not make a tree; ``node`` is the id of one that is to blame."""

    def __init__(self, why: str, node: str | None = None) -> None:
        super().__init__(why)
        self.node = node


class NonProjective(InvalidTree):
    """A dependency tree with crossing arcs, where a constituency tree was asked for."""


class InvalidEdit(RhetoricaError):
    """A correction by hand that cannot be made; the message says what could be."""


class Mismatch(RhetoricaError):
    """Two analyses that should be of one text are not."""


class UnknownLanguage(RhetoricaError):
    """A text in a language that a model or front end does not know."""


class UnknownName(RhetoricaError):
    """A name that is not among the known ones; the message lists them."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.what, self.name, self.known = what, name, sorted(known)
        close = get_close_matches(name, self.known, 1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        super().__init__(f"unknown {what} {name!r}.{hint} Known: {', '.join(self.known)}.")

    def __reduce__(self) -> tuple[type[UnknownName], tuple[str, str, list[str]]]:
        return type(self), (self.what, self.name, self.known)


class InvalidRecipe(RhetoricaError):
    """A parser, segmenter, language and options that do not go together."""


class ModelError(RhetoricaError):
    """A model that is missing, damaged or made for another version."""


class MissingExtra(RhetoricaError):
    """An optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature, self.extra = feature, extra
        super().__init__(f"{feature} needs an optional part: pip install 'rhetorica[{extra}]'")

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        return type(self), (self.feature, self.extra)


class RepairWarning(UserWarning):
    """A broken file was mended while reading, because the caller asked for it."""


class LanguageWarning(UserWarning):
    """A text does not look like the language that it is taken for."""
