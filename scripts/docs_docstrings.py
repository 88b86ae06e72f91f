"""Docstrings as Markdown, for mkdocstrings: examples become blocks of code, names become code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^[ ]*>>> .*\n?(?:^[ ]*\S.*\n?)*\n?)+", re.MULTILINE)
_NAME = re.compile(r"``([^`]+)``")


class Examples(griffe.Extension):
    """Put fences around doctests, which Markdown would take for quotations."""

    def on_object(self, *, obj: Any, **kwargs: Any) -> None:
        """Change the docstring of a module, class, function or attribute."""
        if obj.docstring:
            text = _NAME.sub(r"`\1`", obj.docstring.value)
            obj.docstring.value = _EXAMPLE.sub(
                lambda found: f"\n```pycon\n{found[0].rstrip()}\n```\n\n", text
            )
