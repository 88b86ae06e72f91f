"""The notebook of the examples runs from top to bottom, and is stored with its outputs.

After a change, run it again: jupyter nbconvert --execute --inplace examples/tour.ipynb
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NOTEBOOK = EXAMPLES / "tour.ipynb"


@pytest.fixture(scope="module")
def cells() -> list[dict[str, Any]]:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_code_cells_run_in_order(
    cells: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for number, cell in enumerate(cells):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
        stored = any(output["output_type"] == "stream" for output in cell["outputs"])
        assert bool(printed.getvalue()) == stored, f"cell {number}"
    assert names["parse"]._repr_html_().count("<svg ") == 2


def test_it_was_executed_from_a_fresh_start(cells: list[dict[str, Any]]) -> None:
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        assert cell["outputs"]
        assert all(output["output_type"] != "error" for output in cell["outputs"])


def test_it_holds_a_picture(cells: list[dict[str, Any]]) -> None:
    shown = [output["data"] for cell in cells for output in cell["outputs"] if "data" in output]
    assert any("image/svg+xml" in data and "text/html" in data for data in shown)
