"""Parses as rows of a table: Parquet, and functions for those who work in Spark, Ray or pandas."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from rhetorica.document import Document
from rhetorica.errors import MissingExtra, NonProjective, RhetoricaError
from rhetorica.parses import Parse, Scores
from rhetorica.workers import Failure, attempt

if TYPE_CHECKING:
    import pandas as pd

    from rhetorica.pipeline import Pipeline, Recipe

COLUMNS = {
    "id": "string",
    "text": "string",
    "meta": "map<string,string>",
    "words": "int",
    "edus": "array<struct<start:int,end:int>>",
    "heads": "array<int>",
    "relations": "array<string>",
    "joins": "array<struct<start:int,split:int,end:int,nuclearity:string,relation:string>>",
    "boundary_scores": "array<double>",
    "head_scores": "array<double>",
    "relation_scores": "array<double>",
    "seconds": "double",
    "parser": "string",
    "model": "string",
    "version": "string",
    "error": "string",
}
"""The columns of a row and their types, as Spark calls them.

``heads`` and ``relations`` are the discourse dependencies (-1: the root), ``joins`` the binary RST
tree; without a tree they are null. Ranges are half-open: of characters in ``edus``, of EDUs in
``joins``. ``error`` says why a document could not be parsed; the other columns are null then.
"""
SPARK_SCHEMA = ", ".join(f"{name} {type}" for name, type in COLUMNS.items())


def row(parse: Parse, seconds: float | None = None) -> dict[str, Any]:
    """Return a parse as a row.

    >>> from rhetorica import DepTree
    >>> doc = Document.from_edus(["It is wet", "because it rained."])
    >>> found = row(Parse(doc, DepTree((-1, 0), ("ROOT", "cause"))))
    >>> found["heads"], found["edus"][1]
    ([-1, 0], {'start': 10, 'end': 28})
    """
    doc, scores, about = parse.document, parse.scores or Scores(), parse.provenance
    found = _blank(doc)
    found["edus"] = [{"start": start, "end": end} for start, end in doc.edus]
    if parse.source is not None:
        found["heads"] = list(parse.dependencies.heads)
        found["relations"] = list(parse.dependencies.relations)
        found["joins"] = _joins(parse)
    for name, values in (
        ("boundary_scores", scores.boundaries),
        ("head_scores", scores.heads),
        ("relation_scores", scores.arc_relations),
    ):
        found[name] = list(map(float, values)) or None
    found |= {name: about.get(name) for name in ("parser", "model", "version")}
    found["seconds"] = seconds
    return found


def _joins(parse: Parse) -> list[dict[str, Any]] | None:
    try:
        return [join._asdict() for join in parse.tree.joins]
    except NonProjective:  # then there are no constituents
        return None


def _blank(doc: Document) -> dict[str, Any]:
    words = len(doc.text.split())
    known = {"id": doc.id, "text": doc.text, "meta": dict(doc.meta), "words": words}
    return dict.fromkeys(COLUMNS) | known


def write_parquet(rows: list[dict[str, Any]]) -> bytes:
    """Return the content of a Parquet file."""
    arrow, parquet = pyarrow()
    content = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(rows, _arrow_schema()), content)
    return content.getvalue()


def pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Parquet", "batch") from None
    return pyarrow, pyarrow.parquet


@cache
def _arrow_schema() -> Any:
    arrow, _ = pyarrow()
    text, number = arrow.string(), arrow.int32()
    types = {
        "string": text,
        "int": number,
        "double": arrow.float64(),
        "map<string,string>": arrow.map_(text, text),
        "array<int>": arrow.list_(number),
        "array<string>": arrow.list_(text),
        "array<double>": arrow.list_(arrow.float64()),
    }
    join = dict.fromkeys(("start", "split", "end"), number) | {"nuclearity": text, "relation": text}
    types[COLUMNS["edus"]] = arrow.list_(arrow.struct({"start": number, "end": number}))
    types[COLUMNS["joins"]] = arrow.list_(arrow.struct(join))
    return arrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])


def as_meta(columns: Mapping[str, Any]) -> dict[str, str]:
    """Return columns that are neither text nor id as strings; what is missing is left out."""
    return {
        str(name): value
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, default=str)
        for name, value in columns.items()
        if value is not None and value == value  # not NaN
    }


def map_batches(
    recipe: Recipe | None = None, *, text_column: str = "text", id_column: str | None = None
) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return a function from a table with texts to a table of parses, with `COLUMNS`.

    For Ray Data (``dataset.map_batches(function, batch_format="pandas")``), Dask
    (``frame.map_partitions``) or plain pandas. Each process loads the models once. Other columns
    are kept in ``meta``, and a document that fails has its ``error``.
    """

    def parse_batch(frame: pd.DataFrame) -> pd.DataFrame:
        import pandas

        for name in (text_column, *((id_column,) if id_column else ())):
            if name not in frame.columns:
                names = ", ".join(map(str, frame.columns))
                raise RhetoricaError(f"no column {name!r} in the table, which has {names}")
        parser = _loaded(recipe)
        chosen = id_column or ("id" if "id" in frame.columns else None)
        rows = []
        for place, record in zip(frame.index, frame.to_dict("records"), strict=True):
            text = record.pop(text_column)
            id = str(record.pop(chosen) if chosen else place)
            doc = Document(text if isinstance(text, str) else "", id=id, meta=as_meta(record))
            found = attempt(parser, doc) if isinstance(text, str) else _no_text(text_column, text)
            if isinstance(found, Failure):
                rows.append(_blank(doc) | {"error": f"{found.error}: {found.message}"})
            else:
                rows.append(row(found))
        return pandas.DataFrame(rows, columns=list(COLUMNS))

    return parse_batch


def _no_text(column: str, found: Any) -> Failure:
    return Failure("FormatError", f"{column!r} is {found!r}, not a text")


def map_in_pandas(
    recipe: Recipe | None = None, *, text_column: str = "text", id_column: str | None = None
) -> Callable[[Iterable[pd.DataFrame]], Iterator[pd.DataFrame]]:
    """Return `map_batches` for a stream of tables, as Spark's ``mapInPandas`` wants it.

    ``frame.mapInPandas(map_in_pandas(), schema=SPARK_SCHEMA)``
    """
    one = map_batches(recipe, text_column=text_column, id_column=id_column)

    def parse_stream(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from map(one, frames)

    return parse_stream


@cache
def _loaded(recipe: Recipe | None) -> Pipeline:
    from rhetorica.pipeline import Recipe, load

    return load(recipe or Recipe())
