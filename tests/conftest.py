"""Shared fixtures: where the corpora are, if they are there at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from made_corpus import make_corpus

# How long an example takes depends on what else the machine is doing.
settings.register_profile("default", deadline=None)
settings.load_profile("default")

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def licensed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with texts of our own in the layouts of RST-DT (``rst``) and PTB (``ptb``)."""
    return make_corpus(tmp_path_factory.mktemp("licensed"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the corpora; tests that need it are skipped where it is missing."""
    if not CORPORA.is_dir():
        pytest.skip("needs the corpora in ../shared/data")
    return CORPORA
