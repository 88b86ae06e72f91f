"""A running service on a free port of this machine, and a browser to look at it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rhetorica.service import Limits
from service_tools import running

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of a service with the usual limits, but for time: a machine may be busy."""
    with running(Limits(wait_seconds=600)) as url:
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


@pytest.fixture
def open_page(browser: Any, address: str) -> Iterator[Callable[[str], Any]]:
    """Opens a page of the service; errors in it, and requests to elsewhere, fail the test."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    troubles: list[str] = []

    def opened(path: str) -> Any:
        page = context.new_page()
        page.set_default_timeout(60_000)  # the first parse loads the model
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on(
            "dialog", lambda dialog: (troubles.append(f"dialog: {dialog.type}"), dialog.dismiss())
        )
        page.on(
            "console",
            lambda message: (
                troubles.append(message.text)
                if message.type == "error" and "422" not in message.text
                else None
            ),
        )
        page.on(
            "request",
            lambda request: (
                troubles.append(f"asked {request.url}")
                if not request.url.startswith((address, "blob:", "data:"))
                else None
            ),
        )
        page.goto(address + path)
        return page

    yield opened
    context.close()
    assert not troubles
