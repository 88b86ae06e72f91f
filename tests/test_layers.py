"""The shape of the package: imports point up the list only, and the package loads fast."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "rhetorica"
LAYERS = [
    "errors",
    "kernels",
    "decode",
    "learn",
    "document",
    "trees",
    "convert",
    "parses",
    "edit",
    "files",
    "relations",
    "formats",
    "corpora",
    "evaluate",
    "describe",
    "models",
    "text",
    "features",
    "segmenters",
    "parsers",
    "train",
    "reproduce",
    "batch",
    "render",
    "spacy_component",
    "service",
    "cli",
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


def layer_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_imports_point_up_the_list() -> None:
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts == ("__init__",):
            continue
        assert parts[0] in LAYERS, f"{parts[0]} has no place in the list of layers"
        own = LAYERS.index(parts[0])
        # Imports inside functions are not looked at: `Parse.to` reaches down on purpose.
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = []
            if isinstance(node, ast.ImportFrom) and node.module == "rhetorica":
                names = [f"rhetorica.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                layer = layer_of(name) if name.startswith("rhetorica.") else ""
                if layer in LAYERS and LAYERS.index(layer) > own:
                    wrong.append(f"{'.'.join(parts)} imports {name}")
    assert not wrong


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
