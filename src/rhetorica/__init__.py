"""Rhetorica: discourse structure of a text, as dependencies and as an RST tree."""

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

__all__ = [
    "AnnotatedTree",
    "Candidate",
    "DepTree",
    "Document",
    "Join",
    "Node",
    "Parse",
    "RSTTree",
    "RhetoricaError",
    "Scores",
    "SecondaryEdge",
    "Signal",
    "Span",
    "Token",
    "read",
    "to_annotated",
    "to_dependencies",
    "to_rst",
    "write",
]
