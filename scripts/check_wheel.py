"""Check what a wheel and an sdist hold: metadata, models, licences, size, and nothing else.

Used by ``scripts/release``: ``python scripts/check_wheel.py WHEEL SDIST --limit BYTES``.
"""

from __future__ import annotations

import argparse
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

WANTED_FIELDS = (
    "Name", "Version", "Summary", "License-Expression", "Requires-Python", "Keywords",
    "Classifier", "Description-Content-Type",
)  # fmt: skip
WANTED_FILES = (
    "rhetorica/py.typed",
    "rhetorica/data/parse.schema.json",
    "rhetorica/data/wordnet/wordnet.npz",
    "rhetorica/render/fonts/SourceSansPro-Regular.otf",
    "rhetorica/service/static/index.html",
)


def problems(wheel: Path, sdist: Path, limit: int) -> Iterator[str]:
    """Yield what is wrong."""
    for path in (wheel, sdist):
        if (size := path.stat().st_size) > limit:
            yield f"{path.name} has {size:,} bytes, more than {limit:,}"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        info = next(name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(info).decode("utf-8"))
    yield from (f"no {field} in the metadata" for field in WANTED_FIELDS if field not in metadata)
    yield from (f"{name} is missing" for name in WANTED_FILES if name not in names)
    folder = info.rpartition("/")[0]
    if not any(name.startswith(f"{folder}/licenses/") for name in names):
        yield "no licence in the wheel"
    yield from _model_problems(names)
    for name in sorted(names):
        if not name.startswith(("rhetorica/", f"{folder}/")):
            yield f"{name} does not belong into the wheel"
        if name.endswith((".pyc", ".nbi", ".nbc")):
            yield f"{name} was left by a run"
    with tarfile.open(sdist) as tar:
        held = {name.partition("/")[2] for name in tar.getnames()}
    for name in ("pyproject.toml", "LICENSE", "README.md", "tests/conftest.py", "scripts/check"):
        if name not in held:
            yield f"{name} is missing in the sdist"


def _model_problems(names: set[str]) -> Iterator[str]:
    """Yield models that lack config or card."""
    start = "rhetorica/models/"
    folders = {name[len(start) :].split("/")[0] for name in names if name.startswith(start)}
    folders -= {name for name in folders if name.endswith(".py")}
    if not folders:
        yield "no models in the wheel"
    for folder in sorted(folders):
        for file in ("config.json", "README.md"):
            if f"{start}{folder}/{file}" not in names:
                yield f"the model {folder} has no {file}"


def main() -> int:
    """Print what is wrong and return how the program should end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("sdist", type=Path)
    parser.add_argument("--limit", type=int, required=True)
    options = parser.parse_args()
    found = list(problems(options.wheel, options.sdist, options.limit))
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
