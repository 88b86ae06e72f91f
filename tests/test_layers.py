"""The shape of the package: imports point up the list only, and the package loads fast."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "rhetorica"
LAYERS = [
    "version",
    "errors",
    "progress",
    "settings",
    "workers",
    "cores",
    "kernels",
    "decode",
    "learn",
    "document",
    "trees",
    "convert",
    "parses",
    "protocols",
    "edit",
    "nodes",
    "salience",
    "files",
    "relations",
    "formats",
    "corpora",
    "evaluate",
    "describe",
    "models",
    "words",
    "languages",
    "text",
    "features",
    "segmenters",
    "parsers",
    "pipeline",
    "dialogue",
    "train",
    "reproduce",
    "batch",
    "render",
    "exports",
    "spacy_component",
    "service",
    "cli",
    "__main__",
]
HEAVY = {
    "torch",
    "dask",
    "fastapi",
    "pydantic",
    "uvicorn",
    "spacy",
    "numba",
    "scipy",
    "onnxruntime",
    "typer",
    "rich",
}


REACHES_DOWN = {
    # What people ask of a `Parse`: to be walked, summarised, compared, written, shown.
    "parses imports rhetorica.nodes",
    "parses imports rhetorica.salience",
    "parses imports rhetorica.evaluate.diff",
    "parses imports rhetorica.exports",
    "parses imports rhetorica.render.html",
}
"""Imports inside functions that point down the list: on purpose, and no others."""


class Import(NamedTuple):
    """One imported name: where the import stands, what it takes, whether a function holds it."""

    where: str  # the module, without "rhetorica."
    module: str  # "rhetorica.x.y", or "rhetorica"
    name: str  # what is taken from it, or ""
    late: bool

    @property
    def room(self) -> str:
        return self.where.split(".")[0]

    @property
    def target(self) -> str:
        """The room it leads to."""
        full = f"{self.module}.{self.name}" if self.module == "rhetorica" else self.module
        return full.split(".")[1] if "." in full else ""


def for_types_only(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def imports() -> Iterator[Import]:
    """Yield what the modules of the package import from the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts == ("__init__",):
            continue
        where = ".".join(parts).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {
            id(node)
            for outer in ast.walk(tree)
            if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef) or for_types_only(outer)
            for node in ast.walk(outer)
        }
        for node in ast.walk(tree):
            late = id(node) in inside
            if isinstance(node, ast.ImportFrom):
                assert not node.level, f"{where}: imports are written in full"
                for alias in node.names:
                    yield Import(where, node.module or "", alias.name, late)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(where, alias.name, "", late)


OURS = [found for found in imports() if found.module.split(".")[0] == "rhetorica"]


def test_every_module_has_its_place() -> None:
    rooms = {
        path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")
    }
    assert rooms - {"__init__"} == set(LAYERS)


def points_down(found: Import) -> bool:
    return found.target in LAYERS and LAYERS.index(found.target) > LAYERS.index(found.room)


def test_imports_point_up_the_list() -> None:
    wrong = [
        f"{found.where} imports {found.module}"
        for found in OURS
        if not found.late and points_down(found)
    ]
    assert not wrong


def test_imports_in_functions_point_up_too() -> None:
    # Else two rooms would need each other, and neither could be understood alone.
    down = {f"{f.where} imports {f.module}" for f in OURS if f.late and points_down(f)}
    assert down == REACHES_DOWN


def test_what_is_private_stays_in_its_room() -> None:
    wrong = [
        f"{found.where} takes {found.module}.{found.name}"
        for found in OURS
        if found.target != found.room
        and any(part.startswith("_") for part in f"{found.module}.{found.name}".split("."))
        and not found.name.startswith("__")
    ]
    assert not wrong


def test_modules_do_not_import_each_other() -> None:
    """No cycle among modules, even where an import stands in a function."""
    modules = {found.where for found in OURS}
    graph: dict[str, set[str]] = {module: set() for module in modules}
    for found in OURS:
        if f"{found.where} imports {found.module}" in REACHES_DOWN:
            continue
        full = f"{found.module}.{found.name}".removeprefix("rhetorica").strip(".")
        target = full if full in modules else full.rpartition(".")[0]
        if target in modules and target != found.where:
            graph[found.where].add(target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, rhetorica; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not HEAVY.intersection(loaded)


def test_public_names_exist_and_are_listed() -> None:
    import rhetorica

    for name in rhetorica.__all__:
        assert getattr(rhetorica, name) is not None
    assert sorted(rhetorica.__all__) == rhetorica.__all__
