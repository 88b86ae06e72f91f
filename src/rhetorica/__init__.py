"""Rhetorica: discourse structure of a text, as dependencies and as an RST tree."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rhetorica.convert import to_annotated, to_dependencies, to_rst
from rhetorica.document import Document, Span, Token
from rhetorica.errors import RhetoricaError
from rhetorica.formats import read, write
from rhetorica.parses import Candidate, Parse, Scores
from rhetorica.trees import (
    AnnotatedTree,
    DepTree,
    Join,
    Node,
    RSTTree,
    SecondaryEdge,
    Signal,
)

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rhetorica.pipeline import Pipeline, Recipe, load


def __getattr__(name: str) -> Any:
    # What needs spaCy and the models is imported when it is first asked for, so that
    # `import rhetorica` stays quick.
    if name in ("Pipeline", "Recipe", "load"):
        return getattr(import_module("rhetorica.pipeline"), name)
    raise AttributeError(f"module 'rhetorica' has no attribute {name!r}")


__all__ = [
    "AnnotatedTree",
    "Candidate",
    "DepTree",
    "Document",
    "Join",
    "Node",
    "Parse",
    "Pipeline",
    "RSTTree",
    "Recipe",
    "RhetoricaError",
    "Scores",
    "SecondaryEdge",
    "Signal",
    "Span",
    "Token",
    "load",
    "read",
    "to_annotated",
    "to_dependencies",
    "to_rst",
    "write",
]
