"""Tables of the documentation against what a command prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rhetorica.cli import app
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


def test_figures_may_stand_in_a_table_of_another_shape() -> None:
    printed = "| x | y | z | words/CPU-s |\n|---|---|---|---|\n| a | 50.00 / 39.96 | b | 7.5 |\n"
    assert moved(PAGE, printed) == ["a | 50.00 / 39.96 | b | 7.5: 39.96 not on the page"]
    assert moved(PAGE.replace("40.00", "40.0"), printed) == []


def test_speeds_are_not_compared() -> None:
    page = "| parser | full | words/CPU-s |\n|---|---|---|\n| ours | 50.00 | 900 |\n"
    assert moved(page, page.replace("900", "100")) == []
    assert moved(page, page.replace("50", "51")) == ["ours: 51.00 (was 50.00)"]


def test_empty_cells_are_cells() -> None:
    page = "| said | a | b | c |\n|---|---|---|---|\n| 0.1 |  | 1.0 |  |\n"
    assert read_tables(page) == {("said", "a", "b", "c"): {"0.1": [("", "1.0", "")]}}


def test_two_tables_of_the_same_columns_are_one() -> None:
    assert read_tables(PAGE + PAGE)["parser", "full"]["ours"] == [("50.00",), ("50.00",)]


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """What the script would do: a page, and a command."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "tables", "--list"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


MEASURED = {"batch.md", "reliability.md", "service.md"}
"""Pages with measurements of a machine, by the benchmarks that they name."""
GATHERED = {"comparison.md"}
"""Others' figures, beside ours from other pages."""


def test_every_page_with_figures_has_a_command(lines: list[str]) -> None:
    pages = {line.partition(": ")[0] for line in lines}
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = path.read_text("utf-8")
        rows = [line for line in text.splitlines() if line.startswith("|")]
        if any(len(re.findall(r"\b\d\d\.\d", row)) > 1 for row in rows):
            if path.name in MEASURED:
                assert "benchmarks/" in text
            elif path.name not in GATHERED:
                assert str(path.relative_to(ROOT)) in pages


def test_the_script_names_pages_and_commands_that_are_there(lines: list[str]) -> None:
    assert len(lines) > 10
    for line in lines:
        page, _, command = line.partition(": ")
        assert (ROOT / page).is_file()
        if command.startswith("python "):
            arguments = command.split()[1:]
            assert (ROOT / arguments[0]).is_file()
            # Its options are those of the benchmark.
            text = (ROOT / arguments[0]).read_text("utf-8")
            assert all(f'"{a}"' in text for a in arguments if a.startswith("--")), command
        else:
            assert command.startswith("rhetorica reproduce ")
            paper, *options = command.split()[2:]
            known = CliRunner().invoke(app, ["reproduce", paper, "--help"]).output
            assert all(option in known for option in options if option.startswith("--")), command
    everything = {line.partition(": ")[2].split()[2] for line in lines if " reproduce " in line}
    assert everything >= {"li2014", "heilman-sagae2015", "dplp2014", "codra2015"}
    assert everything >= {"cortes2014", "ensemble", "ensemble-dependencies"}
    # The commands that a page names are those that are run again.
    page = " ".join((ROOT / "docs" / "ensembles.md").read_text("utf-8").split())
    for line in lines:
        if line.startswith("docs/ensembles.md"):
            assert line.partition(": ")[2] in page


def test_commands_without_their_corpora_are_left_out(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "tables", "--data", tmp_path, "--only", "scidtb"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    titles = done.stdout.count("## ")
    assert titles > 3
    assert len(re.findall(r"left out: no (gum, )?scidtb", done.stdout)) == titles
