"""What a batch costs beside the parsing, all as ratios within one run.

    python benchmarks/batch.py examples/umbrella.txt

- overhead: short documents by the engine with one process, against a bare loop that parses and
  writes the same lines (CPU seconds of all processes, so that a busy machine does not matter);
- engine: its CPU a document, by documents that are only passed through (``--engine``: only that);
- processes: words a second with two processes against one (wall time: needs idle cores);
- memory: the most that the engine holds with many documents against few (no parsing).
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rhetorica.batch.engine import Task, in_processes, run_batch
from rhetorica.batch.inputs import Item
from rhetorica.batch.work import Result, Work
from rhetorica.document import Document, Span
from rhetorica.parses import Parse
from rhetorica.pipeline import Recipe
from rhetorica.trees import DepTree
from rhetorica.workers import Failure


def documents(text: str, count: int, words: int) -> Iterator[Item]:
    """Yield short documents: a few words of the text, each time from another place."""
    every = text.split()
    for number in range(count):
        start = number * 7 % max(1, len(every) - words)
        yield Item(Document(" ".join(every[start : start + words]), id=str(number)))


def through(doc: Document) -> Parse:
    """Take a text as one EDU."""
    return Parse(
        Document(doc.text, (Span(0, len(doc.text)),), id=doc.id), DepTree((-1,), ("ROOT",))
    )


@dataclass(frozen=True)
class Through(Work):
    """Work without a model."""

    def about(self) -> dict[str, Any]:
        """Return what results depend on: nothing."""
        return {"kbest": self.kbest}

    def load(self) -> Callable[[Document], Parse]:
        """Return what takes the place of a parser."""
        return through


def engine_alone(items: list[Item]) -> float:
    """Return the CPU milliseconds of the engine a document."""
    work = Through(Recipe())
    loop = min(by_loop(items, work)[0] for _ in range(3))
    engine = min(by_engine(items, work, 1)[0] for _ in range(3))
    return 1000 * (engine - loop) / len(items)


def cpu() -> float:
    """Return the CPU seconds of this process and of those that it has started and that ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def by_engine(items: Iterable[Item], work: Work, jobs: int) -> tuple[float, float]:
    """Return the CPU seconds and the wall seconds of a batch."""
    with tempfile.TemporaryDirectory() as folder:
        began, used = time.perf_counter(), cpu()
        run_batch(items, Path(folder), work, in_processes(work, jobs))
        return cpu() - used, time.perf_counter() - began


def bare(work: Work, items: list[Item]) -> None:
    """Parse and write, without any engine."""
    do = work.start()
    with tempfile.TemporaryFile() as file:
        for item in items:
            file.write(do(item.document).data)


def by_loop(items: list[Item], work: Work) -> tuple[float, float]:
    """Return the CPU seconds and the wall seconds of a bare loop, in a process of its own, too."""
    began, used = time.perf_counter(), cpu()
    process = get_context("spawn").Process(target=bare, args=(work, items))
    process.start()
    process.join()
    return cpu() - used, time.perf_counter() - began


def peak(count: int) -> None:
    """Run a batch of documents that are only passed through; print the most memory, in MB."""

    def through(tasks: Iterable[Task]) -> Iterator[tuple[Task, Result | Failure]]:
        for task in tasks:
            yield task, Result(task.document.text.encode() * 10 + b"\n", 1, 0.0)

    items = (Item(Document(f"{n} " * 200, id=str(n))) for n in range(count))
    with tempfile.TemporaryDirectory() as folder:
        run_batch(items, Path(folder), Work(Recipe()), through)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def peak_of(count: int) -> float:
    """Return the most memory that a batch of so many documents needs, in MB."""
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, __file__, "--peak", str(count)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("text", type=Path, nargs="?", help="a file of English text")
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--words", type=int, default=40, help="in a short document")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--parser", default="neural")
    parser.add_argument("--memory", type=int, nargs=2, default=(1_000, 100_000))
    parser.add_argument("--engine", action="store_true", help="only what the engine itself costs")
    parser.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        peak(options.peak)
        return
    items = list(documents(options.text.read_text("utf-8"), options.documents, options.words))
    alone = engine_alone(items)
    print(f"engine: {alone:.3f} ms of CPU a document ({len(items):,} of {options.words} words)")
    if options.engine:
        return
    work = Work(Recipe(parser=options.parser))
    words = sum(len(item.document.text.split()) for item in items)
    table = Table(title=f"{len(items):,} documents of {options.words} words")
    for name in ("", "CPU s", "wall s", "words / CPU s", "words / s"):
        table.add_column(name, justify="right")
    by_loop(items[:2], work)  # kernels are compiled, files are in memory
    ways: dict[str, Callable[[], tuple[float, float]]] = {
        "bare loop": lambda: by_loop(items, work),
        "1 process": lambda: by_engine(items, work, 1),
        "2 processes": lambda: by_engine(items, work, 2),
    }
    # In turns, and the least of each: other work on the machine can only add.
    turns = [{name: way() for name, way in ways.items()} for _ in range(options.turns)]
    found = {
        name: (min(turn[name][0] for turn in turns), min(turn[name][1] for turn in turns))
        for name in ways
    }
    for name, (used, wall) in found.items():
        rates = (f"{words / used:,.0f}", f"{words / wall:,.0f}")
        table.add_row(name, f"{used:.1f}", f"{wall:.1f}", *rates)
    console = Console()
    console.print(table)
    overhead = found["1 process"][0] / found["bare loop"][0] - 1
    speedup = found["1 process"][1] / found["2 processes"][1]
    console.print(f"overhead of the engine (CPU): {100 * overhead:.1f} %")
    console.print(f"2 processes against 1 (wall): {speedup:.2f} times as fast")
    few, many = options.memory
    small, large = peak_of(few), peak_of(many)
    console.print(
        f"memory: {small:.0f} MB at {few:,} documents, {large:.0f} MB at {many:,}, "
        f"ratio {large / small:.2f}"
    )


if __name__ == "__main__":
    main()
