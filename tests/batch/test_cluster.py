"""A batch on a cluster: several workers on this machine, some of them killed."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rhetorica
from batch_fakes import Fake
from rhetorica.batch.cluster import _do, on_cluster
from rhetorica.batch.engine import run_batch
from rhetorica.batch.inputs import Item
from rhetorica.document import Document
from rhetorica.errors import RhetoricaError
from rhetorica.progress import Event


def test_a_cluster_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    monkeypatch.setattr("rhetorica.batch.cluster.CHUNK_DOCUMENTS", 2)
    kills = {4: f"KILL-ONCE={tmp_path / '4'}", 7: "KILL", 9: "BAD", 11: "SLEEP=600"}
    items = [Item(Document(f"Text {n} {kills.get(n, '')}", id=str(n))) for n in range(14)]
    told: list[Event] = []
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        on_cluster("local:2", Fake(), seconds=5, tell=told.append) as execute,
    ):
        counts = run_batch(items, tmp_path / "out", Fake(), execute, shard_size=5)
        assert "dashboard" in told[0].note
    assert (counts.read, counts.done, counts.failed) == (14, 11, 3)
    parts = sorted((tmp_path / "out").glob("part-*.jsonl"))
    ids = [int(parse.id) for part in parts for parse in rhetorica.read(part)]
    assert ids == [n for n in range(14) if n not in (7, 9, 11)]


def test_addresses_are_checked() -> None:
    pytest.importorskip("distributed")
    with (
        pytest.raises(RhetoricaError, match="local:4"),
        on_cluster("local:many", Fake()),
    ):
        pass


def test_workers_with_other_models_are_refused() -> None:
    assert _do(Fake(version="2"), Fake().about(), [], math.inf) == "version '2', not '1'"
    assert _do(Fake(), Fake().about(), [], math.inf) == []


def test_a_document_that_takes_too_long_ends_its_worker(tmp_path: Path) -> None:
    # In a process of its own, which it ends.
    code = (
        "from batch_fakes import Fake; from rhetorica.batch.cluster import _do; "
        "from rhetorica.document import Document\n"
        "quick, slow = Document('SLEEP=0.01 a'), Document('SLEEP=60')\n"
        "print(len(_do(Fake(), Fake().about(), [quick] * 3, 5)), flush=True)\n"
        "_do(Fake(), Fake().about(), [quick, slow], 0.5)"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert (done.stdout, done.returncode) == ("3\n", 1), done.stderr
