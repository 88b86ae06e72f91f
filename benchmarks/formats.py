"""How fast trees are read, against bare XML parsing of the same files.

    python benchmarks/formats.py ../shared/data/gum

Prints a table of ratios; the first row is the yardstick. Aim: reading all .rs4 files and
converting them to dependencies takes less than three times as long as parsing their XML.
"""

from __future__ import annotations

import argparse
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rhetorica.files import Source
from rhetorica.formats.dis import read_dis
from rhetorica.formats.native import read_json, write_json
from rhetorica.formats.rs3 import read_rs3, write_rs4
from rhetorica.formats.rsd import read_rsd


def best_of(run: Callable[[], object], rounds: int) -> float:
    """Return the CPU seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gum", type=Path, help="the GUM folder")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rst = options.gum / "rst"
    files = {
        kind: sorted((rst / folder).glob(f"*.{kind}"))
        for folder, kind in (("rstweb", "rs4"), ("dependencies", "rsd"), ("lisp_nary", "dis"))
    }
    parses = [read_rs3(path) for path in files["rs4"]]
    texts = [Source(f"{parse.id}.json", write_json(parse)) for parse in parses]
    jobs: dict[str, Callable[[], object]] = {
        "XML of .rs4, bare ElementTree": lambda: [
            ElementTree.parse(p) and None for p in files["rs4"]
        ],
        "read .rs4": lambda: [read_rs3(p) and None for p in files["rs4"]],
        "read .rs4, to dependencies": lambda: [
            read_rs3(p).dependencies and None for p in files["rs4"]
        ],
        "read .rs4, to binary": lambda: [read_rs3(p).tree and None for p in files["rs4"]],
        "write .rs4": lambda: [write_rs4(parse) and None for parse in parses],
        "read .rsd": lambda: [read_rsd(p) and None for p in files["rsd"]],
        "read .dis": lambda: [read_dis(p) and None for p in files["dis"]],
        "read .json": lambda: [read_json(text) and None for text in texts],
    }
    table = Table(title=f"{len(parses)} documents, best of {options.rounds}")
    for name in ("job", "CPU seconds", "ratio to bare XML"):
        table.add_column(name, justify="left" if name == "job" else "right")
    yardstick = 0.0
    for name, job in jobs.items():
        seconds = best_of(job, options.rounds)
        yardstick = yardstick or seconds
        table.add_row(name, f"{seconds:.3f}", f"{seconds / yardstick:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
