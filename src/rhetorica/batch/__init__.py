"""Many documents: in processes on one machine, or on a cluster; ended runs go on where they were.

inputs, rows    what there is to do: folders, texts, tables
work            what is done with one document
cluster         where it is done, if not in processes of this machine (`rhetorica.workers`)
engine          cuts shards, gives out documents, checks that counts add up
shards          writes results, each once
tables          results as rows: Parquet, Spark, Ray, pandas
files           `parse --jobs` and `segment --jobs`: files in, parses out, in order
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rhetorica.batch.cluster import on_cluster
    from rhetorica.batch.engine import Counts, in_processes, run_batch
    from rhetorica.batch.inputs import Inputs
    from rhetorica.batch.tables import SPARK_SCHEMA, map_batches, map_in_pandas
    from rhetorica.batch.work import Work

_WHERE = {
    "Counts": "engine",
    "Inputs": "inputs",
    "SPARK_SCHEMA": "tables",
    "Work": "work",
    "in_processes": "engine",
    "map_batches": "tables",
    "map_in_pandas": "tables",
    "on_cluster": "cluster",
    "run_batch": "engine",
}


def __getattr__(name: str) -> Any:
    # Imported when first asked for: a worker process starts sooner without what it does not need.
    if name in _WHERE:
        return getattr(import_module(f"rhetorica.batch.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'rhetorica.batch' has no attribute {name!r}")


__all__ = [
    "SPARK_SCHEMA",
    "Counts",
    "Inputs",
    "Work",
    "in_processes",
    "map_batches",
    "map_in_pandas",
    "on_cluster",
    "run_batch",
]
