"""Tables of the documentation against what a command prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from rhetorica.reproduce.tables import moved, read_tables

ROOT = Path(__file__).resolve().parents[2]
PAGE = """Text.

| parser | full |
|---|---|
| ours | 50.00 |
| theirs | 40.00 |

| parser | UAS | LAS |
|---|---|---|
| a | 1 | 2 |
| a | 3 | 4 |
"""


def test_what_moved() -> None:
    assert moved(PAGE, PAGE) == []
    assert moved(PAGE, "| parser | full |\n|---|---|\n| ours | 51.00 |\n") == [
        "ours: 51.00 (was 50.00)"
    ]
    assert moved(PAGE, "| parser | full |\n|---|---|\n| new | 1 |\n") == ["new: 1 (was not there)"]
    assert moved(PAGE, "| parser | UAS | LAS |\n|---|---|---|\n| a | 3 | 5 |\n") == [
        "a: 3 | 5 (was 1 | 2 or 3 | 4)"
    ]
    page = "| parser | text | full |\n|---|---|---|\n| a | raw | 1.00 |\n| a | gold | 2.00 |\n"
    assert moved(page, page.replace("2.00", "3.00")) == ["a: gold | 3.00 (was gold | 2.00)"]
    assert moved(PAGE, "| x | y |\n|---|---|\n| a | 3 |\n") == ["no table with the columns x | y"]


def test_speeds_are_not_compared() -> None:
    page = "| parser | full | words/CPU-s |\n|---|---|---|\n| ours | 50.00 | 900 |\n"
    assert moved(page, page.replace("900", "100")) == []
    assert moved(page, page.replace("50", "51")) == ["ours: 51.00 (was 50.00)"]


def test_empty_cells_are_cells() -> None:
    page = "| said | a | b | c |\n|---|---|---|---|\n| 0.1 |  | 1.0 |  |\n"
    assert read_tables(page) == {("said", "a", "b", "c"): {"0.1": [("", "1.0", "")]}}


def test_two_tables_of_the_same_columns_are_one() -> None:
    assert read_tables(PAGE + PAGE)["parser", "full"]["ours"] == [("50.00",), ("50.00",)]


def test_the_script_names_pages_that_are_there() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "tables", "--list"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert len(lines) > 10
    for line in lines:
        page, _, command = line.partition(": ")
        assert (ROOT / page).is_file()
        assert re.match(r"(rhetorica reproduce|python benchmarks/)", command)
    everything = {line.partition(": ")[2].split()[2] for line in lines if " reproduce " in line}
    assert everything >= {"li2014", "heilman-sagae2015", "dplp2014", "codra2015", "ensemble"}
