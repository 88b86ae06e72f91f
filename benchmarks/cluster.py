"""Batches on a simulated cluster whose workers are killed and cut off: nothing is lost or doubled.

    python benchmarks/cluster.py --runs 20

Starts dask workers on this machine. During each run, workers chosen at random are killed, or halted
for longer than the scheduler waits for a sign of life, which to it is the same as a network that is
cut (and when they go on, they bring results that others have brought meanwhile). The command itself
is stopped once in the middle of every other run, and given again. Then every document must be there
exactly once, or in the list of those that were set aside. Documents are passed through, not parsed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import rhetorica
from rhetorica.batch.cluster import on_cluster
from rhetorica.batch.engine import Execute, run_batch
from rhetorica.batch.inputs import Item
from rhetorica.batch.work import Work
from rhetorica.document import Document, Span
from rhetorica.parses import Parse
from rhetorica.trees import DepTree


def whole(doc: Document) -> Parse:
    """Take a text as one EDU, after a while."""
    time.sleep(0.01)
    found = Document(doc.text, (Span(0, len(doc.text)),), id=doc.id)
    return Parse(found, DepTree((-1,), ("ROOT",)))


@dataclass(frozen=True)
class Through(Work):
    """Work without a model."""

    recipe: Any = None

    def about(self) -> dict[str, Any]:
        """Return what results depend on: nothing."""
        return {"kbest": self.kbest}

    def load(self) -> Callable[[Document], Parse]:
        """Return what takes the place of a parser."""
        return whole


class Trouble:
    """Kills and stops workers until it is told to end."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.over = threading.Event()
        self.killed = self.stopped = 0
        self.thread = threading.Thread(target=self._make, daemon=True)

    def _make(self) -> None:
        while not self.over.wait(self.rng.uniform(0.3, 1.5)):
            workers = _workers()
            if not workers:
                continue
            pid = self.rng.choice(workers)
            with suppress(ProcessLookupError):
                if self.rng.random() < 0.7:
                    os.kill(pid, signal.SIGKILL)
                    self.killed += 1
                else:
                    os.kill(pid, signal.SIGSTOP)
                    self.stopped += 1
                    self.over.wait(self.rng.uniform(4, 6))
                    os.kill(pid, signal.SIGCONT)

    def end(self) -> None:
        """Let all go on."""
        self.over.set()
        self.thread.join()


def _workers() -> list[int]:
    """Return the processes that the nannies of this process have started (Linux)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            command = path.with_name("cmdline").read_bytes()
            if int(fields[1]) == os.getpid() and b"spawn_main" in command:
                found.append(int(path.parent.name))
    return found


def one_run(seed: int, documents: int, work: Work, execute: Execute, out: Path) -> str:
    """Run one batch with trouble; return what came of it, or raise."""
    items = [Item(Document(f"Text {n} of {seed}.", id=str(n))) for n in range(documents)]
    trouble = Trouble(seed)
    trouble.thread.start()
    try:
        if seed % 2:  # ended in the middle, as by Ctrl-C: what is done by then stays
            with suppress(KeyboardInterrupt):
                run_batch(items, out, work, _interrupted(execute, documents // 2), shard_size=20)
        counts = run_batch(items, out, work, execute, shard_size=20)
    finally:
        trouble.end()
    ids = [parse.id for part in sorted(out.glob("part-*.jsonl")) for parse in rhetorica.read(part)]
    if len(ids) != len(set(ids)) or len(ids) + counts.failed != documents:
        raise SystemExit(f"run {seed}: {len(ids)} results, {len(set(ids))} different, {counts}")
    return (
        f"run {seed}: {len(ids)} done, {counts.failed} set aside, {counts.earlier} by an earlier "
        f"run; {trouble.killed} workers killed, {trouble.stopped} cut off"
    )


def _interrupted(execute: Execute, after: int) -> Execute:
    def some(tasks: Any) -> Any:
        yield from islice(execute(tasks), after)
        raise KeyboardInterrupt

    return some


def main() -> int:
    """Run them all."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--runs", type=int, default=20)
    options.add_argument("--first", type=int, default=0, help="number (and seed) of the first run")
    options.add_argument("--documents", type=int, default=300)
    options.add_argument("--workers", type=int, default=3)
    given = options.parse_args()
    from dask import config

    patience = {
        "distributed.scheduler.worker-ttl": "3s",
        "distributed.comm.timeouts.connect": "5s",
        "distributed.logging.distributed": "critical",
    }
    work = Through()
    with (
        config.set(patience),
        tempfile.TemporaryDirectory() as folder,
        on_cluster(f"local:{given.workers}", work) as execute,
    ):
        for seed in range(given.first, given.first + given.runs):
            print(
                one_run(seed, given.documents, work, execute, Path(folder, str(seed))), flush=True
            )
    print("nothing lost, nothing doubled")
    return 0


if __name__ == "__main__":
    sys.exit(main())
