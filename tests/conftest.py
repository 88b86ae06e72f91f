"""Shared fixtures: where the corpora are, if they are there at all."""

from __future__ import annotations

from pathlib import Path

import pytest

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the corpora; tests that need it are skipped where it is missing."""
    if not CORPORA.is_dir():
        pytest.skip("needs the corpora in ../shared/data")
    return CORPORA
