"""What is installed with the package is listed with its licence, and its versions have bounds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_DEVELOPERS = {"train", "test", "docs", "compare", "compare-zh"}


def needs() -> list[str]:
    extras = PROJECT["optional-dependencies"]
    wanted = [need for name, part in extras.items() if name not in FOR_DEVELOPERS for need in part]
    return [*PROJECT["dependencies"], *wanted]


def test_licences_are_listed() -> None:
    listed = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8")
    names = [re.split(r"[<>=\[]", need)[0] for need in needs()]
    assert [name for name in names if f"| {name} |" not in listed] == []


def test_every_need_has_a_lowest_version() -> None:
    # scripts/lowest tries these.
    assert [
        need for need in needs() if not re.match(r"[\w.-]+(\[\w+\])?>=[\d.]+(,<[\d.]+)?$", need)
    ] == []


def test_packages_tell_the_licences_of_code_and_of_weights_apart() -> None:
    for folder in (ROOT, *(ROOT / "packages").iterdir()):
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert project["license"] == "Apache-2.0 AND LicenseRef-Weights"
        for name in ("LICENSE", "LICENSE-WEIGHTS.md"):
            assert name in project["license-files"]
            assert (folder / name).read_text("utf-8") == (ROOT / name).read_text("utf-8")
