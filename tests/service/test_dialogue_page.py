"""The page on dialogues in a real browser: open a file, find the flow, save it, look at it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service_tools import wait_until

CALLS = """\
Agent: Welcome, how can I help?
Client: I want to go to the airport.
Agent: At what time?
Client: At nine.
Agent: Goodbye.

Agent: Welcome, how can I help?
Client: My bus to the station is late.
Agent: We are very sorry.
Client: <img src=x onerror="window.pwned=1"><script>window.pwned=1</script>
Agent: Goodbye.

"""


@pytest.fixture
def page(open_page: Callable[[str], Any]) -> Any:
    """The page, reached from the one on texts."""
    page = open_page("/")
    page.click("a[href='/dialogue']")
    page.wait_for_url("**/dialogue")
    return page


def find(page: Any, *, states: int = 4, threshold: str = "0.1") -> None:
    """Look for the flow, and wait for it."""
    page.fill("#states", str(states))
    page.fill("#topics", "2")
    page.fill("#threshold", threshold)
    page.click("#find")
    # Kernels may have to be compiled.
    page.wait_for_selector("#find:not([disabled])", timeout=240_000)


def saved(page: Any, name: str, folder: Path) -> Path:
    with page.expect_download() as found:
        page.click(f"#{name}")
    path = folder / found.value.suggested_filename
    found.value.save_as(path)
    return path


def test_a_file_becomes_a_flow_that_can_be_saved(page: Any, tmp_path: Path) -> None:
    file = {"name": "calls.txt", "mimeType": "text/plain", "buffer": (CALLS * 4).encode()}
    page.set_input_files("#open", file)
    wait_until(page, "document.getElementById('content').value.startsWith('Agent')")
    assert page.locator("#content").input_value() == CALLS * 4
    assert not page.locator("#downloads").is_visible()
    find(page)
    assert page.locator("#message").inner_text() == "4 states in 8 dialogues"
    wait_until(page, "document.getElementById('shown').naturalWidth > 200")
    picture = saved(page, "picture", tmp_path)
    assert picture.name == "flow.svg"
    assert picture.read_text("utf-8").count("class='state'") == 4
    chart = saved(page, "chart", tmp_path)
    assert chart.name == "flow.mmd"
    assert chart.read_text("utf-8").startswith("flowchart")
    # What was said is shown, not run.
    assert page.evaluate("window.pwned") is None


def test_a_table_is_read_and_wordings_are_merged(page: Any) -> None:
    rows = ["dialogue,speaker,text"]
    for number in range(12):
        hello = ("welcome to this line", "good morning who is there")[number % 2]
        rows += [f"{number},Agent,{hello}", f"{number},Client,my bus is late today", f"{number},A,"]
    page.set_input_files(
        "#open", {"name": "a.csv", "mimeType": "text/csv", "buffer": "\n".join(rows).encode()}
    )
    wait_until(page, "document.getElementById('content').value.startsWith('dialogue')")
    page.check("#merge")
    find(page, states=3)
    message = page.locator("#message").inner_text()
    assert message == "2 states in 12 dialogues; 12 turns without text left out"


def test_the_saved_page_works_alone(page: Any, tmp_path: Path) -> None:
    page.fill("#content", CALLS * 4)
    find(page, threshold="0.01")
    path = saved(page, "page", tmp_path)
    alone = page.context.new_page()
    troubles: list[object] = []
    alone.on("pageerror", lambda error: troubles.append(error))
    asked: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(path.as_uri())
    assert alone.locator(".state").count() == 4

    shown = alone.locator(".link:visible")
    assert shown.count() == alone.locator(".link").count()
    alone.locator("#threshold").fill("0.6")
    assert alone.locator("output").inner_text() == "0.60"
    few = [float(p) for p in shown.evaluate_all("links => links.map(link => link.dataset.p)")]
    assert 0 < len(few) < alone.locator(".link").count()
    assert min(few) >= 0.6

    hello = alone.locator(".state", has_text="Welcome").first
    hello.click()
    assert "chosen" in hello.get_attribute("class")
    assert "Welcome, how can I help?" in alone.locator("#about li").all_inner_texts()
    before = alone.locator("#view svg").get_attribute("viewBox")
    alone.locator("#view").hover()
    alone.mouse.wheel(0, -300)
    wait_until(
        alone, "old => document.querySelector('#view svg').getAttribute('viewBox') !== old", before
    )
    zoomed = alone.locator("#view svg").get_attribute("viewBox")
    assert float(zoomed.split()[2]) < float(before.split()[2])
    alone.mouse.down()
    alone.mouse.move(300, 300)
    alone.mouse.up()
    dragged = alone.locator("#view svg").get_attribute("viewBox")
    assert dragged.split()[:2] != zoomed.split()[:2]
    alone.click("#whole")
    assert alone.locator("#view svg").get_attribute("viewBox") == before
    assert alone.evaluate("window.pwned") is None
    assert not troubles
    assert asked == [path.as_uri()]


def test_what_cannot_be_read_is_said_with_its_line(page: Any) -> None:
    page.fill("#content", CALLS + "and nobody says this")
    find(page)
    message = page.locator("#message").inner_text()
    assert re.search(r":13:.*no speaker", message), message
    assert not page.locator("#downloads").is_visible()
    page.fill("#content", CALLS * 3)
    find(page, states=3)
    assert page.locator("#message").inner_text() == "3 states in 6 dialogues"
    assert page.locator("#shown").is_visible()


def test_the_page_fits_a_narrow_screen(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    for box in page.locator("main :is(button, input:not(.hidden), select, textarea)").all():
        bounds = box.bounding_box()
        assert bounds["x"] >= 0
        assert bounds["x"] + bounds["width"] <= 391
