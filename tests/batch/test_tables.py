"""Parses as rows: Parquet, and what Spark, Ray and pandas call."""

from __future__ import annotations

from pathlib import Path

import pytest

from batch_fakes import Fake, here, parse
from rhetorica.batch import tables
from rhetorica.batch.engine import run_batch
from rhetorica.batch.inputs import Inputs, Item
from rhetorica.batch.tables import COLUMNS, SPARK_SCHEMA, map_batches, map_in_pandas, row
from rhetorica.document import Document
from rhetorica.errors import RhetoricaError
from rhetorica.parses import Parse, Scores
from rhetorica.trees import DepTree, Join, RSTTree

DOC = Document.from_edus(["It is wet", "because it rained,", "and we left."], id="wet")
TREE = RSTTree(3, (Join(0, 2, 3, "NN", "joint"), Join(0, 1, 2, "NS", "cause")))


def test_a_row_has_both_trees_and_scores() -> None:
    found = row(Parse(DOC, TREE, Scores(boundaries=(1, 0.5, 0.25)), provenance={"parser": "p"}), 2)
    assert list(found) == list(COLUMNS)
    assert found["heads"] == [-1, 0, 0]
    assert found["relations"][1] == "cause"
    assert found["joins"][0] == {
        "start": 0, "split": 2, "end": 3, "nuclearity": "NN", "relation": "joint",
    }  # fmt: skip
    assert [DOC.text[edu["start"] : edu["end"]] for edu in found["edus"]] == DOC.edu_texts
    assert (found["boundary_scores"], found["head_scores"]) == ([1.0, 0.5, 0.25], None)
    assert (found["words"], found["seconds"], found["parser"]) == (9, 2, "p")
    segmented = row(Parse(DOC))
    assert (segmented["heads"], segmented["joins"]) == (None, None)
    crossing = DepTree((2, 3, -1, 2), ("a", "b", "ROOT", "c"))
    four = Document.from_edus("abcd")
    assert row(Parse(four, crossing))["joins"] is None


def test_parquet_shards_are_tables_and_inputs(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    items = [Item(Document(f"Text {n}", id=str(n), meta={"year": "1"})) for n in range(5)]
    work = Fake(to="parquet")
    run_batch(items, tmp_path, work, here(work), shard_size=3)
    parts = sorted(tmp_path.glob("part-*.parquet"))
    rows = [one for part in parts for one in parquet.read_table(part).to_pylist()]
    assert [one["id"] for one in rows] == list("01234")
    assert rows[0]["edus"] == [{"start": 0, "end": 6}]
    assert rows[0]["heads"] == [-1]
    assert rows[0]["meta"] == [("year", "1")]
    assert rows[0]["seconds"] > 0
    again = [item.document.text for item in Inputs([str(part) for part in parts])]
    assert again == [item.document.text for item in items]


def test_tables_go_in_and_come_out(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr(tables, "_loaded", lambda recipe: parse)
    frame = pandas.DataFrame(
        {"body": ["One.", "BAD", None], "name": ["a", "b", "c"], "year": [1, 2, None]}
    )
    found = map_batches(text_column="body", id_column="name")(frame)
    assert list(found.columns) == list(COLUMNS)
    assert list(found["id"]) == ["a", "b", "c"]
    assert found["heads"][0] == [-1]
    assert found["meta"][0] == {"year": "1.0"}
    assert found["meta"][2] == {}
    assert found["error"][1] == "FormatError: b:1: bad"
    assert "not a text" in found["error"][2]
    stream = map_in_pandas(text_column="body")([frame, frame[:1]])
    assert [list(one["id"]) for one in stream] == [["0", "1", "2"], ["0"]]
    with pytest.raises(RhetoricaError, match="no column 'text' in the table, which has body"):
        map_batches()(frame)


def test_the_schema_is_one_that_spark_reads() -> None:
    assert SPARK_SCHEMA.startswith("id string, text string, meta map<string,string>, words int, ")
    assert SPARK_SCHEMA.count("<") == SPARK_SCHEMA.count(">")
