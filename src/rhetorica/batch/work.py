"""What is done with one document, wherever it is done: a recipe, and how to write the result."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rhetorica import formats
from rhetorica.batch.tables import pyarrow, row
from rhetorica.document import Document
from rhetorica.files import digest, encode
from rhetorica.formats.native import write_json
from rhetorica.parses import Parse
from rhetorica.version import __version__

if TYPE_CHECKING:
    from rhetorica.pipeline import Recipe

PARQUET = "parquet"


class Result(NamedTuple):
    """A document done: what to write (of Parquet, a row), its words, and the seconds it took."""

    data: Any
    words: int
    seconds: float


@dataclass(frozen=True)
class Work:
    """A recipe and a format: all that a worker must know; models are found where it works.

    With ``coarse``, relations are those classes that all parsers of the treebank share.
    """

    recipe: Recipe
    to: str = "jsonl"
    kbest: int = 1
    coarse: bool = False

    def __post_init__(self) -> None:
        if self.to == PARQUET:
            pyarrow()  # say now, not after an hour, that it is missing
        else:
            formats.get_format(self.to)

    def load(self) -> Callable[[Document], Parse]:
        """Return what parses."""
        from rhetorica.pipeline import load

        return partial(load(self.recipe), kbest=self.kbest)

    def start(self) -> Callable[[Document], Result]:
        """Return what does one document; called once in each process."""
        return partial(self._do, self.load())

    def about(self) -> dict[str, Any]:
        """Return what results depend on: recipe, version, and models by their checksums."""
        from rhetorica.pipeline import models_of

        models = {model.id: digest(dict(model.files)) for model in models_of(self.recipe)}
        recipe = asdict(self.recipe) | {"options": dict(self.recipe.options)}
        about = {"version": __version__, "kbest": self.kbest, **recipe, "models": models}
        return about | {"labels": "coarse"} if self.coarse else about

    def _do(self, parser: Callable[[Document], Parse], doc: Document) -> Result:
        began = time.perf_counter()
        parse = parser(doc)
        if self.coarse:
            parse = self.recipe.coarsened(parse)
        seconds = time.perf_counter() - began
        return Result(self._write(parse, seconds), len(doc.text.split()), seconds)

    def _write(self, parse: Parse, seconds: float) -> Any:
        if self.to == PARQUET:
            return row(parse, seconds)
        if self.to == "jsonl":
            return write_json(parse, indent=None).encode()
        if formats.get_format(self.to).needs_tokens and not parse.document.tokens:
            from rhetorica.text import annotate

            parse = replace(parse, document=annotate(parse.document))
        return encode(formats.write(parse, self.to), parse.id)
