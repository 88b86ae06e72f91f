"""Rhetorica: discourse structure of a text, as dependencies and as an RST tree."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from rhetorica.version import __version__ as __version__

if TYPE_CHECKING:
    from rhetorica.convert import to_annotated, to_dependencies, to_rst
    from rhetorica.document import Document, Span, Token
    from rhetorica.errors import RhetoricaError
    from rhetorica.exports import save
    from rhetorica.formats import read, write
    from rhetorica.parses import Candidate, Parse, Scores
    from rhetorica.pipeline import Pipeline, Recipe, load, parse
    from rhetorica.relations import explain
    from rhetorica.trees import (
        AnnotatedTree,
        DepTree,
        Join,
        Node,
        RSTTree,
        SecondaryEdge,
        Signal,
    )

# Names are imported when they are first asked for, so that every program pays only for what it
# uses: reading a file needs no parser, and `rhetorica --help` needs no numbers.
_ROOMS = {
    "convert": "to_annotated to_dependencies to_rst",
    "document": "Document Span Token",
    "errors": "RhetoricaError",
    "exports": "save",
    "formats": "read write",
    "parses": "Candidate Parse Scores",
    "pipeline": "Pipeline Recipe load parse",
    "relations": "explain",
    "trees": "AnnotatedTree DepTree Join Node RSTTree SecondaryEdge Signal",
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _ROOM_OF:
        return getattr(import_module(f"rhetorica.{_ROOM_OF[name]}"), name)
    if not name.startswith("_") and find_spec(f"rhetorica.{name}"):
        return import_module(f"rhetorica.{name}")
    raise AttributeError(f"module 'rhetorica' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


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
    "explain",
    "load",
    "parse",
    "read",
    "save",
    "to_annotated",
    "to_dependencies",
    "to_rst",
    "write",
]
