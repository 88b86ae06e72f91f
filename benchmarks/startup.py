"""How long commands take before they do anything, against an empty program with the same libraries.

    python benchmarks/startup.py [--runs N]

Each command runs so many times, in turn with the others; the best user time of each counts, as a
ratio to ``import typer, rich.table``.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

RS3 = '<rst><header/><body><segment id="1">It rained.</segment></body></rst>'


def cpu_seconds(command: list[str]) -> float:
    """Run a program and return the processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    rhetorica = [sys.executable, "-m", "rhetorica"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "one.rs3"
        file.write_text(RS3, encoding="utf-8")
        commands = {
            "import typer, rich.table": [sys.executable, "-c", "import typer, rich.table"],
            "an empty typer application": [
                sys.executable,
                "-c",
                "import typer; app = typer.Typer(); app.command()(lambda: None); app(['--help'])",
            ],
            "import rhetorica": [sys.executable, "-c", "import rhetorica"],
            "rhetorica --help": [*rhetorica, "--help"],
            "rhetorica convert": [*rhetorica, "convert", str(file), "--to", "rsd"],
            "rhetorica show": [*rhetorica, "show", str(file)],
        }
        best = dict.fromkeys(commands, float("inf"))
        for _ in range(runs + 1):  # the first round also fills the caches
            for name, command in commands.items():
                best[name] = min(best[name], cpu_seconds(command))
    base = best["import typer, rich.table"]
    for name, seconds in best.items():
        print(f"{name:30} {seconds:6.3f} s {seconds / base:6.2f}")


if __name__ == "__main__":
    main()
