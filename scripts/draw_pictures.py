"""Draw the pictures of the documentation again, as the package draws them now: docs/images.

    python scripts/draw_pictures.py            the trees (a test compares them)
    python scripts/draw_pictures.py --page     the page, too; needs chromium, playwright, [serve]

Tables and curves have commands of their own, which the documentation names beside them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import rhetorica
from rhetorica import Document, Join, Parse, RSTTree
from rhetorica.render import render_svg

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
PORT = 8791
_TEA = (
    "Nobody complained,",
    "although it rained all day,",
    "because the umbrellas were new",
    "and the tea was hot.",
)
_JOINS = (
    Join(0, 1, 4, "NS", "causal-cause"),
    Join(1, 2, 4, "SN", "adversative-concession"),
    Join(2, 3, 4, "NN", "joint-list"),
)


def pictures() -> dict[str, str]:
    """Return the trees that the documentation shows, by the names of their files."""
    umbrella = next(rhetorica.read(ROOT / "examples" / "umbrella.rs3"))
    return {
        "umbrella-rst.svg": render_svg(umbrella),
        "umbrella-dep.svg": render_svg(umbrella, view="dep"),
        "tea-down.svg": render_svg(Parse(Document.from_edus(_TEA), RSTTree(4, _JOINS))),
    }


def page(path: Path) -> None:
    """Take a picture of the page: a text that was parsed, a relation that is being corrected."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "rhetorica", "serve", "--port", str(PORT)]
    service = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT / "src")})
    try:
        address = f"http://127.0.0.1:{PORT}"
        _wait_for(f"{address}/api/health")
        with sync_playwright() as browsers:
            chromium = shutil.which("chromium")
            browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            sheet = browser.new_page(viewport={"width": 1400, "height": 720})
            sheet.goto(address)
            sheet.wait_for_selector("body[data-ready]")
            sheet.set_input_files("#open", ROOT / "examples" / "umbrella.txt")
            sheet.wait_for_selector("body[data-state=parsed]:not([aria-busy])", timeout=120_000)
            sheet.locator("#canvas .satellite .label", has_text="causal-cause").last.click()
            sheet.wait_for_timeout(1000)
            sheet.screenshot(path=path)
            browser.close()
    finally:
        service.terminate()
        service.wait()


def _wait_for(address: str) -> None:
    for _ in range(100):
        try:
            urlopen(address, timeout=5).close()
            return
        except (URLError, OSError):
            time.sleep(1)
    raise SystemExit(f"{address} does not answer")


if __name__ == "__main__":
    for name, svg in pictures().items():
        (IMAGES / name).write_text(svg, "utf-8")
    if "--page" in sys.argv[1:]:
        page(IMAGES / "page.png")
