"""A running service on a free port of this machine, and a browser to look at it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from service_tools import running

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of a service with the usual limits."""
    with running() as url:
        yield url


@pytest.fixture(scope="module")  # its event loop would be in the way of other tests
def browser() -> Iterator[object]:
    """A headless Chromium from the system; tests are skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    found = [os.environ.get("RHETORICA_CHROMIUM"), *map(shutil.which, CHROMIUM)]
    path = next(filter(None, found), None)
    if path is None:
        pytest.skip("needs chromium (apt-get install chromium, or RHETORICA_CHROMIUM=path)")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()
