"""The page in a real browser: paste, parse, fold, correct, export, load the export again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rhetorica import Document, Join, Parse, RSTTree, read, write
from rhetorica.edit import units
from rhetorica.relations import explain
from rhetorica.service import Limits
from service_tools import running, wait_until

TEXT = "We stayed at home because it rained. Nobody complained, although the beach was near."
TOKEN = "s\u00e9same-\u958b"
SCRIPT = "<img src=x onerror='window.pwned=1'><script>window.pwned=1</script>"


@pytest.fixture
def page(open_page: Callable[[str], Any]) -> Any:
    """The page, freshly opened."""
    page = open_page("/")
    page.wait_for_selector("body[data-ready]")
    return page


def parse_text(page: Any, text: str = TEXT) -> None:
    page.fill("#input", text)
    page.click("#parse")
    settle(page)


def settle(page: Any) -> None:
    """Wait until a tree is shown and nothing is being asked."""
    page.wait_for_selector("body[data-state=parsed]:not([aria-busy])")


def wait_for_edus(page: Any, count: int) -> None:
    page.locator(f"#text .edu[data-edu='{count}']").wait_for(state="detached")
    page.locator(f"#text .edu[data-edu='{count - 1}']").wait_for()
    settle(page)


def open_parse(page: Any, parse: Parse, format: str = "json") -> None:
    data = write(parse, format).encode()
    page.set_input_files("#open", {"name": f"a.{format}", "mimeType": "", "buffer": data})
    settle(page)
    page.wait_for_selector("#canvas [role=treeitem]")


def saved(page: Any, format: str, folder: Path) -> Path:
    page.click("#export summary")
    with page.expect_download() as found:
        page.click(f"[data-export={format}]")
    path = folder / found.value.suggested_filename
    found.value.save_as(path)
    assert path.suffix == f".{format}"
    return path


def read_back(path: Path) -> Parse:
    return next(read(path))


def shape(parse: Parse) -> list[tuple[object, ...]]:
    return [tuple(unit) for unit in units(parse)]


def four() -> Parse:
    """((1 <- 2) and (3 <- 4)): 2 modifies 1, 4 modifies 3, both parts nuclei."""
    texts = ["The café was closed 🙂", "because it rained,", "so we went home", "and read."]
    joins = (
        Join(0, 2, 4, "NN", "list"),
        Join(0, 1, 2, "NS", "cause"),
        Join(2, 3, 4, "NS", "elaboration"),
    )
    return Parse(Document.from_edus(texts, id="four"), RSTTree(4, joins))


def labels(page: Any) -> list[str]:
    return page.locator("#canvas .label .name").all_text_contents()


def test_paste_parse_and_look(page: Any, tmp_path: Path) -> None:
    parse_text(page)
    edus = page.locator("#text .edu").all_inner_texts()
    assert " ".join(edus) == TEXT
    assert page.locator("#canvas [role=treeitem]").count() >= 2 * len(edus) - 2
    shot = tmp_path / "page.png"
    page.screenshot(path=shot)
    assert shot.stat().st_size > 10_000
    page.click("#theme")
    page.click("#tab-outline")
    assert page.locator("#outline-list li").count() >= 1
    page.screenshot(path=tmp_path / "dark.png")


def test_hover_lights_both_sides(page: Any) -> None:
    open_parse(page, four())
    page.hover("[data-unit='2-3'] .words")
    assert page.locator("#text .lit").all_inner_texts() == ["so we went home"]
    page.hover("[data-unit='2-4'] .node")
    assert page.locator("#text .lit").count() == 2
    page.hover("#text [data-edu='1']")
    assert "hot" in page.get_attribute("[data-unit='1-2']", "class")
    assert page.locator(".band.lit.shown").count() == 1


def test_fold_zoom_and_walk_by_keyboard(page: Any) -> None:
    open_parse(page, four())
    assert page.locator("#canvas .words").count() == 4
    page.click("[data-unit='0-2'] .fold")
    assert page.locator("#canvas .words").count() == 3
    assert page.get_attribute("[data-unit='0-2']", "aria-expanded") == "false"
    page.focus("#canvas")
    page.keyboard.press("ArrowRight")
    assert page.locator("#canvas .words").count() == 4
    for key, unit in [("Home", "0-4"), ("ArrowRight", "0-2"), ("ArrowDown", "0-1"), ("End", "3-4")]:
        page.keyboard.press(key)
        assert page.get_attribute("#canvas", "aria-activedescendant") == f"item-{unit}"
        assert page.get_attribute(f"[data-unit='{unit}']", "aria-selected") == "true"
    page.keyboard.press("ArrowLeft")
    assert page.get_attribute("#canvas", "aria-activedescendant") == "item-2-4"
    name = page.get_attribute("[data-unit='1-2']", "aria-label")
    assert name == "EDU 2, satellite, cause: because it rained,"
    before = page.locator("#canvas svg > g").get_attribute("transform")
    page.keyboard.press("+")
    assert page.locator("#canvas svg > g").get_attribute("transform") != before
    tree = page.locator("#canvas").aria_snapshot()
    assert 'tree "Discourse tree' in tree
    assert 'treeitem "EDU 2, satellite, cause: because it rained," [level=3]' in tree


def test_a_label_selects_the_unit_that_it_is_about(page: Any) -> None:
    open_parse(page, four())
    # EDU 3 and the unit 3-4 share a row; the label there is the larger unit's.
    assert page.locator("[data-unit='2-4'] .label .range").text_content() == "3–4"
    assert page.locator("[data-unit='2-3'] .label").count() == 0
    assert page.locator("[data-unit='2-4'] > .ring").count() == 1
    page.click("[data-unit='2-4'] .label .name")
    assert page.inner_text("#inspector h2") == "EDUs 3–4"
    assert page.input_value("#relation") == "list"
    page.click("[data-unit='2-3'] .words")
    assert page.inner_text("#inspector h2") == "EDU 3"
    for width in (1400, 390):  # beside the text, and above it
        page.set_viewport_size({"width": width, "height": 900})
        page.click("[data-unit='0-4'] .label .name")
        assert page.inner_text("#inspector h2") == "EDUs 1–4"


def test_correct_undo_export_and_load_again(page: Any, tmp_path: Path) -> None:
    open_parse(page, four())
    page.click("[data-unit='1-2'] .words")
    page.fill("#relation", "causal-result")
    page.press("#relation", "Enter")
    page.wait_for_selector("[data-unit='1-2'] .label .name:has-text('causal-result')")
    page.click("#inspector [data-part=nucleus]")
    page.wait_for_selector("[data-unit='0-1'].satellite")
    page.click("[data-unit='0-1'] .words")
    page.click("#cut summary")
    page.click("#cut .cut >> nth=-1")
    wait_for_edus(page, 5)
    assert page.locator("#text .edu").all_inner_texts()[:2] == ["The café was closed", "🙂"]
    page.click("#undo")
    wait_for_edus(page, 4)
    page.click("[data-unit='3-4'] .words")
    page.click("#move summary")
    page.select_option("#target", "0-4")
    page.fill("#move-relation", "evaluation")
    page.click("#attach")
    page.click("[data-answer=add]")
    page.wait_for_selector("[data-unit='3-4'] .label .name:has-text('evaluation')")
    settle(page)
    for format in ("json", "rs4", "rs3", "dis"):
        parse = read_back(saved(page, format, tmp_path))
        assert shape(parse) == [
            (0, 4, "span", "root", "", -1, 1),
            (0, 3, "multinuc", "nucleus", "span", 0, 1),
            (0, 2, "span", "nucleus", "list", 1, 1),
            (0, 1, "edu", "satellite", "causal-result", 2, 0),
            (1, 2, "edu", "nucleus", "span", 2, 1),
            (2, 3, "edu", "nucleus", "list", 1, 2),
            (3, 4, "edu", "satellite", "evaluation", 0, 3),
        ], format
    before = sorted(labels(page))
    page.click("#new")
    page.set_input_files("#open", tmp_path / "a.rs4")
    settle(page)
    assert sorted(labels(page)) == before
    page.keyboard.press("Control+z")  # nothing to undo in a file just opened
    assert sorted(labels(page)) == before


def test_merge_and_redo(page: Any) -> None:
    open_parse(page, four())
    page.click("[data-unit='0-1'] .words")
    page.keyboard.press("Escape")
    page.click("#text [data-edu='0']")
    page.focus("#canvas")
    page.keyboard.press("m")
    wait_for_edus(page, 3)
    page.keyboard.press("Control+z")
    wait_for_edus(page, 4)
    page.keyboard.press("Control+Shift+z")
    wait_for_edus(page, 3)


def test_pictures_and_dependencies(page: Any, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py", reason="needs rhetorica[png]")
    open_parse(page, four())
    assert saved(page, "svg", tmp_path).read_text().startswith("<svg")
    page.click("#view-dep")
    assert page.locator("#canvas [role=treeitem]").count() == 4
    assert "cause of EDU 1" in page.get_attribute("#item-dep-1", "aria-label")
    page.click("#item-dep-1 .words")
    assert page.input_value("#relation") == "cause"
    assert saved(page, "png", tmp_path).read_bytes().startswith(b"\x89PNG")


def test_alternatives_and_another_parser(page: Any) -> None:
    parse_text(page)
    for edu in page.locator("#text .edu").all():
        edu.click()
        if page.locator("#alternatives").count():
            break
    before = page.locator("#canvas [role=treeitem]").evaluate_all(
        "items => items.map(item => item.getAttribute('aria-label'))"
    )
    page.click("#alternatives button >> nth=0")
    page.wait_for_selector("#undo:not([disabled])")
    settle(page)
    after = page.locator("#canvas [role=treeitem]").evaluate_all(
        "items => items.map(item => item.getAttribute('aria-label'))"
    )
    assert after != before
    page.click("#parsing summary")
    page.select_option("#parser", "neural/scidtb")
    page.select_option("#segmenter", "neural")
    with page.expect_request("**/api/parse") as asked:
        page.click("#again")
    wanted = {"parser": "neural", "model": "scidtb", "segmenter": "neural"}
    assert wanted.items() <= asked.value.post_data_json.items()
    page.wait_for_selector("#facts:not(:has-text('edited'))")
    settle(page)
    page.click("#undo")  # also what was chosen before the text was parsed again
    page.wait_for_selector("#facts:has-text('edited')")
    settle(page)
    assert after == page.locator("#canvas [role=treeitem]").evaluate_all(
        "items => items.map(item => item.getAttribute('aria-label'))"
    )


def relabel(page: Any, unit: str, relation: str) -> None:
    page.click(f"[data-unit='{unit}'] .words")
    page.fill("#relation", relation)
    page.press("#relation", "Enter")
    page.wait_for_selector(f"[data-unit='{unit}'] .label .name:has-text('{relation}')")
    settle(page)


def test_work_is_kept(page: Any, tmp_path: Path) -> None:
    open_parse(page, four())
    relabel(page, "1-2", "causal-result")
    assert page.title() == "a · Rhetorica"
    page.reload()
    settle(page)
    page.wait_for_selector("body[data-ready]")
    assert "causal-result" in labels(page)
    page.click("#undo")
    page.wait_for_selector("[data-unit='1-2'] .label .name:has-text('cause')")
    page.click("#redo")
    page.wait_for_selector("[data-unit='1-2'] .label .name:has-text('causal-result')")
    settle(page)
    page.click("#documents summary")
    page.fill("#name", "my / tree")
    page.press("#name", "Enter")
    page.wait_for_selector("#documents-name:has-text('my / tree')")
    assert page.title() == "my / tree · Rhetorica"
    path = saved(page, "json", tmp_path)
    assert (path.name, read_back(path).id) == ("my - tree.json", "my / tree")
    page.click("#new")
    page.fill("#input", "Half a thou")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.input_value("#input") == "Half a thou"
    page.click("#recent-list button:has-text('my / tree')")
    settle(page)
    assert "causal-result" in labels(page)


def test_several_documents(page: Any) -> None:
    open_parse(page, four())
    relabel(page, "1-2", "causal-result")
    other = Parse(
        Document.from_edus(["One", "and two."]), RSTTree(2, (Join(0, 1, 2, "NN", "list"),))
    )
    files = [
        {"name": f"{name}.rs3", "mimeType": "", "buffer": write(parse, "rs3").encode()}
        for name, parse in [("b", other), ("c", four())]
    ]
    page.set_input_files("#open", files)
    page.wait_for_selector("#documents-list li:nth-child(3)", state="attached")
    page.wait_for_selector("#documents-name:text-is('b')")
    wait_for_edus(page, 2)
    page.set_input_files("#open", files[0])  # the same again is not another
    settle(page)
    page.click("#documents summary")
    names = page.locator("#documents-list span").all_inner_texts()
    assert sorted(names) == ["a", "b", "c"]
    page.click("#documents-list button:has(span:text-is('a'))")
    wait_for_edus(page, 4)
    assert "causal-result" in labels(page)
    assert page.is_enabled("#undo")
    page.click("#documents summary")
    page.click("#documents-list .current .delete")
    page.click("[data-answer=delete]")
    page.wait_for_selector("body[data-state=start]")
    assert sorted(page.locator("#recent-list span").all_inner_texts()) == ["b", "c"]


def test_two_windows_do_not_overwrite_each_other(page: Any) -> None:
    open_parse(page, four())
    other = page.context.new_page()
    other.goto(page.url)
    settle(other)
    relabel(page, "1-2", "causal-result")
    relabel(other, "1-2", "purpose-goal")
    assert other.inner_text("#documents-name") == "a (this window)"
    page.reload()
    settle(page)
    page.click("#documents summary")
    assert sorted(page.locator("#documents-list span").all_inner_texts()) == [
        "a",
        "a (this window)",
    ]


def test_cancel(page: Any) -> None:
    page.route("**/api/parse", lambda route: None)  # never answered
    page.fill("#input", TEXT)
    page.click("#parse")
    page.wait_for_selector("#busy-text:has-text('Parsing 14 words with neural · 1 s')")
    assert page.is_disabled("#parse")
    with page.expect_event("requestfailed") as failed:
        page.click("#cancel")
    assert failed.value.url.endswith("/api/parse")
    assert page.is_hidden("#busy")
    assert page.is_enabled("#parse")
    assert page.input_value("#input") == TEXT
    page.unroute("**/api/parse")
    page.click("#parse")
    settle(page)


def test_how_far_parsing_has_come(page: Any) -> None:
    names: list[str | None] = []
    header = "rhetorica-request"
    page.route("**/api/parse", lambda route: names.append(route.request.headers[header]))
    told = {"read": 0.437}
    page.route("**/api/progress/*", lambda route: route.fulfill(json=told))
    page.fill("#input", TEXT)
    page.click("#parse")
    with page.expect_request("**/api/progress/*") as asked:
        page.wait_for_selector("#busy-text:has-text('Parsing 14 words with neural · 43 % read')")
    assert asked.value.url.endswith(f"/api/progress/{names[0]}")
    assert page.get_attribute("#progress", "aria-valuenow") == "44"
    told["read"] = 1.0
    page.wait_for_selector("#busy-text:has-text('with neural · read, now the tree')")
    page.click("#cancel")
    assert page.get_attribute("#progress", "aria-valuenow") is None
    page.unroute("**/api/parse")
    page.unroute("**/api/progress/*")
    page.click("#parse")
    settle(page)


def test_escape_keeps_the_place(page: Any) -> None:
    open_parse(page, four())
    page.focus("#canvas")
    for key in ("End", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("#relation:focus")
    page.keyboard.press("Escape")
    assert page.is_hidden("#inspector")
    assert page.get_attribute("#canvas", "aria-activedescendant") == "item-3-4"
    page.keyboard.press("ArrowUp")
    assert page.get_attribute("#canvas", "aria-activedescendant") == "item-2-3"
    assert page.is_hidden("#inspector")
    page.keyboard.press("s")
    page.wait_for_selector("[data-unit='2-3'].satellite")
    settle(page)
    page.keyboard.press("Enter")
    assert page.inner_text("#inspector h2") == "EDU 3"


def test_relations_are_of_the_kind_needed(page: Any) -> None:
    open_parse(page, four())
    page.click("[data-unit='1-2'] .words")
    page.click("#inspector [data-part=both]")
    offered = page.locator("#pick option").all_inner_texts()
    assert "joint-list" in offered
    assert "causal-cause" not in offered
    page.click("[data-answer='']")
    assert page.locator("[data-unit='1-2'].satellite").count() == 1
    page.click("#inspector [data-part=both]")
    page.select_option("#pick", "joint-sequence")
    page.click("[data-answer=use]")
    page.wait_for_selector("[data-unit='1-2'].both")
    settle(page)
    page.fill("#relation", "")
    page.press("#relation", "Enter")
    page.wait_for_selector("#toast:has-text('needs a name')")
    assert page.input_value("#relation") == "joint-sequence"
    page.fill("#relation", "foo bar")
    page.press("#relation", "Enter")
    page.click("[data-answer='']")
    # What was typed is taken back once the question has closed, not when its button is pressed.
    wait_until(page, "document.getElementById('relation').value === 'joint-sequence'")
    assert "foo bar" not in labels(page)
    page.fill("#relation", "foo bar")
    page.press("#relation", "Enter")
    page.click("[data-answer=add]")
    page.wait_for_selector("[data-unit='1-2'] .label .name:has-text('foo bar')")
    settle(page)
    page.click("#relation")  # the list, by mouse and by keyboard
    page.click("#relation-list [data-name=joint-other]")
    page.wait_for_selector("[data-unit='1-2'] .label .name:has-text('joint-other')")
    settle(page)
    page.fill("#relation", "disj")
    page.press("#relation", "ArrowDown")
    page.press("#relation", "Enter")
    page.wait_for_selector("[data-unit='1-2'] .label .name:has-text('joint-disjunction')")


def test_relations_are_explained(page: Any) -> None:
    open_parse(page, four())
    relabel(page, "1-2", "causal-result")
    meaning = explain("causal-result")
    title = page.locator("[data-unit='1-2'] .label title").text_content()
    assert title.endswith(f"\n{meaning.definition}\n{meaning.example}")
    assert page.inner_text("#meaning") == meaning.definition
    page.click("#relation")
    assert meaning.definition in page.inner_text("#relation-list [data-name=causal-result]")
    page.click("#tab-relations")
    assert meaning.example in page.inner_text("#relations-used")


def test_annotate_by_hand(page: Any) -> None:
    page.fill("#input", TEXT)
    page.click("#by-hand")
    settle(page)
    count = page.locator("#text .edu").count()
    assert set(labels(page)) == {"root", "joint-other"}
    assert page.inner_text("#facts") == f"{count} units · annotated by hand"
    assert page.locator("#canvas [role=treeitem]").count() == count + 1
    page.click("#cutting")
    # A click on the first letter of "at": split there.
    place = page.locator("#text .edu").first.evaluate("""span => {
      const range = document.createRange();
      range.setStart(span.firstChild, span.textContent.indexOf("at "));
      range.setEnd(span.firstChild, span.textContent.indexOf("at ") + 1);
      const { left, top, height } = range.getBoundingClientRect();
      return [left + 1, top + height / 2];
    }""")
    page.mouse.click(*place)
    wait_for_edus(page, count + 1)
    assert page.locator("#text .edu").all_inner_texts()[:2] == ["We stayed", "at home"]
    assert page.locator("#canvas [role=treeitem]").count() == count + 2  # still one flat group
    page.locator("#text [data-edu='1']").click(position={"x": 2, "y": 12})
    wait_for_edus(page, count)
    page.click("#cutting")
    # Drag the second EDU's label onto the first: attach it there.
    page.locator("[data-unit='1-2'] .label .name").hover()
    page.mouse.down()
    words = page.locator("[data-unit='0-1'] .words").bounding_box()
    page.mouse.move(words["x"] + 9, words["y"] + 9, steps=5)
    page.mouse.up()
    page.wait_for_selector("#attach")
    assert page.input_value("#target") == "0-1"
    page.select_option("#role", "satellite")
    page.fill("#move-relation", "causal-cause")
    page.click("#attach")
    page.wait_for_selector("[data-unit='1-2'].satellite .label .name:has-text('causal-cause')")


def test_find(page: Any) -> None:
    open_parse(page, four())
    page.keyboard.press("/")
    page.keyboard.type("we")
    assert page.inner_text("#find-count") == "1"
    page.keyboard.press("Enter")
    assert page.get_attribute("#canvas", "aria-activedescendant") == "item-2-3"
    page.keyboard.press("Escape")
    page.click("#tab-relations")
    page.click("[data-relation=elaboration]")
    assert page.get_attribute("#canvas", "aria-activedescendant") == "item-3-4"
    assert page.locator("#canvas .found").count() == 1


CONTRASTS = """items => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => channels(colour).slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  return items.map((item) => {
    for (let at = item; at.id !== "canvas"; at = at.parentNode) {
      if (getComputedStyle(at).opacity !== "1") throw new Error("faint");
    }
    const pill = item.parentNode.querySelector(".pill");
    const [a, b] = [item, pill].map((part) => light(getComputedStyle(part).fill)).sort();
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
}"""


def test_labels_can_be_read_however_unsure(page: Any) -> None:
    parse_text(page)
    assert page.locator("#canvas .label .sure").count() >= 2
    for _ in ("light", "dark"):
        contrasts = page.locator("#canvas .label text").evaluate_all(CONTRASTS)
        assert len(contrasts) > 4
        assert min(contrasts) >= 4.5
        page.click("#theme")


TEXTS = """() => {
  const rgba = (colour) => {
    const found = colour.match(/[\\d.]+/g).map(Number);
    const share = colour.startsWith("color(") ? 255 : 1;  // what color-mix gives
    return [...found.slice(0, 3).map((c) => c * share), found[3] ?? 1];
  };
  const light = (colour) => colour.slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
  const ground = (at) => {
    if (!at) return [255, 255, 255];
    const own = rgba(getComputedStyle(at).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, ground(at.parentElement));
  };
  const texts = [];
  for (const item of document.querySelectorAll("body *:not(svg *):not(option):not(script)")) {
    const said = [...item.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!said || !item.checkVisibility({ opacityProperty: true }) || item.disabled) continue;
    const style = getComputedStyle(item);
    const below = ground(item);
    const [a, b] = [light(over(rgba(style.color), below)), light(below)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    texts.push([contrast, item.textContent.trim().slice(0, 30)]);
  }
  return texts;
}"""


def check_contrasts(page: Any, least: int) -> None:
    for _ in ("light", "dark"):
        found = page.evaluate(TEXTS)
        assert len(found) >= least
        assert [text for contrast, text in found if contrast < 4.5] == []
        page.click("#theme")


def test_every_text_can_be_read_in_light_and_dark(page: Any) -> None:
    check_contrasts(page, 8)
    parse_text(page)
    page.locator("#canvas .satellite .label").first.click()
    for tab in ("relations", "outline", "text"):
        page.click(f"#tab-{tab}")
        check_contrasts(page, 25)


def test_a_tree_is_opened_as_a_tree_whatever_the_name_of_its_file(
    page: Any, tmp_path: Path
) -> None:
    path = tmp_path / "tree.txt"
    path.write_text('<?xml version="1.0"?>\n' + analysed("causal-cause").to_rs3(), "utf-8")
    page.set_input_files("#open", path)
    page.wait_for_selector("body[data-state=parsed]:not([aria-busy])")
    assert page.locator("#text .edu").all_inner_texts() == EDUS


def test_script_in_the_text_stays_text(page: Any, tmp_path: Path) -> None:
    parse_text(page, f"{SCRIPT} It rained because {SCRIPT} we were out.")
    for unit in ("0-1", "1-2"):
        page.click(f"#text [data-edu='{unit[0]}']")
    joins = (Join(0, 1, 2, "NS", SCRIPT),)
    parse = Parse(Document.from_edus([SCRIPT, "x"], id=SCRIPT), RSTTree(2, joins))
    open_parse(page, parse)
    page.click("#text [data-edu='1']")
    page.click("#move summary")
    page.click("#view-dep")
    assert page.locator("#text .edu").first.inner_text() == SCRIPT
    assert page.locator("main img, main script").count() == 0
    for format in ("svg", "html"):
        path = saved(page, format, tmp_path)
        other = page.context.new_page()
        other.goto(path.as_uri())
        assert other.evaluate("window.pwned") is None
        other.close()
    assert page.evaluate("window.pwned") is None


def test_a_thousand_units_draw_only_what_is_in_sight(page: Any) -> None:
    count = 1000
    joins = tuple(Join(i, i + 1, count, "NS", "cause") for i in range(count - 1))
    doc = Document.from_edus([f"unit number {i} of many" for i in range(1, count + 1)])
    open_parse(page, Parse(doc, RSTTree(count, joins)))
    assert page.locator("#text .edu").count() == count
    assert 20 < page.locator("#canvas .words").count() < 120
    page.focus("#canvas")
    page.keyboard.press("End")
    page.wait_for_selector(f"[data-unit='{count - 1}-{count}'] .words")
    assert 20 < page.locator("#canvas .words").count() < 120
    page.click("#fold-all")
    assert page.locator("#canvas .words").count() < 10
    page.click("#unfold-all")
    page.click("#view-dep")
    assert 20 < page.locator("#canvas .words").count() < 120


def test_what_cannot_be_read_is_said(page: Any) -> None:
    bomb = '<!DOCTYPE r [<!ENTITY a "ha">]><rst>&a;</rst>'
    for name, content, message in [
        ("a.rs3", bomb, "entity"),
        ("a.json", json.dumps({"format": "other"}), "not our JSON"),
    ]:
        page.set_input_files("#open", {"name": name, "mimeType": "", "buffer": content.encode()})
        page.wait_for_selector(f"#toast:has-text('{message}')")
    for name, message in [("a.docx", "Word document"), ("a.PDF", "a PDF"), ("a.html", "web page")]:
        page.set_input_files("#open", {"name": name, "mimeType": "", "buffer": b"<html>"})
        page.wait_for_selector(f"#toast:has-text('{message}')")
        assert ".txt" in page.inner_text("#toast")
    page.click("#parse")
    page.wait_for_selector("#toast:has-text('no text yet')")
    assert page.get_attribute("body", "data-state") == "start"
    open_parse(page, analysed("causal-cause"))
    assert page.locator("#toast").is_hidden()  # it was about something else


def test_small_screens(page: Any, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    count = 12
    words = "a unit with so many words that it needs more than one line on a telephone"
    joins = tuple(Join(i, i + 1, count, "NS", "adversative-concession") for i in range(count - 1))
    open_parse(page, Parse(Document.from_edus([words] * count, id="a"), RSTTree(count, joins)))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator("#canvas").bounding_box()
    page.click("#text [data-edu='7']")
    page.wait_for_selector("#inspector:not([hidden])")
    wait_until(page, "document.querySelector('#canvas').clientHeight < 500")
    box = page.locator("#canvas").bounding_box()
    row = page.locator("[data-unit='7-8'] .words").bounding_box()
    assert box["y"] <= row["y"]
    assert row["y"] + row["height"] <= box["y"] + box["height"]
    assert row["x"] + row["width"] <= box["x"] + box["width"]
    lines = page.locator("[data-unit='7-8'] .words tspan").all_text_contents()
    assert len(lines) > 1
    assert "".join(lines) == words
    page.screenshot(path=tmp_path / "small.png")


def test_the_description_page(page: Any, address: str) -> None:
    page.goto(f"{address}/docs")
    page.wait_for_selector("body[data-ready]")
    assert re.search(r"/api/parse\b", page.inner_text("main"))
    assert f"curl -s {address}/api/parse" in page.inner_text("pre")


EDUS = ["We stayed at home", "because it rained,", "and we read."]


def analysed(relation: str, nuclearity: Any = "NS") -> Parse:
    joins = (Join(0, 2, 3, "NN", "joint-list"), Join(0, 1, 2, nuclearity, relation))
    return Parse(Document.from_edus(EDUS, id=relation), RSTTree(3, joins))


def test_two_trees_side_by_side(page: Any, tmp_path: Path) -> None:
    open_parse(page, analysed("causal-cause"))
    other = tmp_path / "other.rs3"
    other.write_text(analysed("explanation-justify").to_rs3(), "utf-8")
    page.click("#compare summary")
    page.set_input_files("#compare-file", other)
    page.wait_for_selector("#agreement dd")
    settle(page)
    figures = dict(
        zip(
            *(page.locator(f"#agreement {tag}").all_inner_texts() for tag in ("dt", "dd")),
            strict=True,
        )
    )
    assert figures == {
        "EDUs": "100 %", "spans": "100 %", "nuclearity": "100 %", "relations": "50 %",
        "all three": "50 %", "heads": "100 %",
    }  # fmt: skip
    assert page.locator("#differences-count").inner_text() == "1 difference"
    # In the order in which the trees stand: the other one is on the left.
    told = page.locator("#differences small").text_content()
    assert told == "satellite explanation-justify | satellite causal-cause"
    for place in ("#canvas", "#other-canvas"):
        assert page.locator(f"{place} .differs").get_attribute("data-unit") == "1-2"
    page.select_option("#compare-labels", "gum")
    settle(page)
    assert page.locator("#agreement dd").nth(4).inner_text() == "50 %"
    page.select_option("#compare-labels", "")
    # A correction that makes them alike is seen at once.
    page.click("#differences-count")
    page.click("[data-difference=label]")
    page.fill("#relation", "explanation-justify")
    page.press("#relation", "Enter")
    page.wait_for_selector("#differences-count:text-is('no differences')")
    assert page.locator(".differs").count() == 0
    page.click("#compare-close")
    page.click("#compare summary")
    page.click("[data-compare='as it was at first']")
    page.wait_for_selector("#differences-count:text-is('1 difference')")


def test_signals_and_secondary_edges(page: Any, tmp_path: Path) -> None:
    open_parse(page, analysed("causal-cause"), "rs4")
    page.click("#canvas [data-unit='1-2'] .label")
    page.click("#beside summary")
    page.fill("#signal-words", "because")
    page.click("#add-signal")
    page.wait_for_selector("#beside li")
    settle(page)
    assert "because" in page.locator("#beside li").inner_text()
    page.select_option("#edge-target", "2-3")
    page.fill("#edge-relation", "causal-cause")
    page.click("#add-edge")
    page.wait_for_selector("#canvas .secondary")
    settle(page)
    parse = read_back(saved(page, "rs4", tmp_path))
    assert parse.annotated.signals[0].tokens == (4,)
    edge = parse.annotated.secondary[0]
    assert (edge.source, edge.target, edge.relation) == (1, 2, "causal-cause")
    page.locator("#beside li button").last.click()
    page.wait_for_selector("#canvas .secondary", state="detached")
    page.click("#undo")
    page.wait_for_selector("#canvas .secondary")


def test_likely_relations_with_their_percentages(page: Any) -> None:
    parse_text(page)
    page.click("#canvas .satellite .label >> nth=0")
    shown = page.locator("#likely li").all_inner_texts()
    assert 2 <= len(shown) <= 6
    assert all(re.search(r"\d+ %$", text) for text in shown)
    before = page.input_value("#relation")
    other = page.locator("#likely button:not(:disabled)", has_not_text=",").first
    name = other.get_attribute("data-likely")
    assert name != before
    other.click()
    page.wait_for_selector(f"#likely button[data-likely='{name}']:disabled")


def test_the_outline_is_as_short_as_one_unit(page: Any) -> None:
    parse_text(page)
    page.click("#tab-outline")
    page.fill("#depth", "1")
    assert page.locator("#outline-list li").count() == 1
    assert "1 of " in page.locator("#depth-out").inner_text()


def test_the_view_and_pictures_are_saved(page: Any, tmp_path: Path) -> None:
    open_parse(page, analysed("causal-cause"))
    for export, suffix, start in (
        ("view", ".svg", b"<svg"), ("pdf", ".pdf", b"%PDF"), ("latex", ".tex", b"% RST tree"),
    ):  # fmt: skip
        page.click("#export summary")
        with page.expect_download() as found:
            page.click(f"[data-export={export}]")
        path = tmp_path / found.value.suggested_filename
        found.value.save_as(path)
        assert path.suffix == suffix
        assert path.read_bytes().startswith(start)
    view = (tmp_path / "a.svg").read_text("utf-8")
    assert "causal-cause" in view
    assert "because it rained" in view


def test_everything_fits_a_narrow_screen(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    open_parse(page, analysed("causal-cause"))
    page.click("#canvas [data-unit='1-2'] .label")
    for place in (
        "header.bar button",
        "header.bar summary",
        "#inspector button",
        "#inspector select",
    ):
        for box in page.locator(f"{place}:visible").all():
            bounds = box.bounding_box()
            assert bounds["x"] >= 0
            assert bounds["x"] + bounds["width"] <= 391


def test_two_trees_fit_a_narrow_screen(page: Any, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    open_parse(page, analysed("causal-cause"))
    other = tmp_path / "other.rs3"
    other.write_text(analysed("explanation-justify").to_rs3(), "utf-8")
    page.click("#compare summary")
    page.set_input_files("#compare-file", other)
    page.wait_for_selector("#agreement dd")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for place in ("#other-canvas", "#canvas"):
        bounds = page.locator(place).bounding_box()
        assert bounds["height"] >= 180
        assert bounds["y"] + bounds["height"] <= 800
    assert page.locator(".legend .differing").is_visible()
    page.click("#compare-close")
    assert page.locator("#find").is_visible()


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    """The address of a service that asks for a token."""
    with running(Limits(workers=1, spare=0), token=TOKEN) as url:
        yield url


def visit(browser: Any, url: str, answers: list[str | None]) -> tuple[Any, list[str]]:
    """Open a page and answer its questions; return it and what it asked. None is Cancel."""
    asked: list[str] = []

    def answer(dialog: Any) -> None:
        asked.append(dialog.message)
        given = answers.pop(0) if answers else None
        dialog.dismiss() if given is None else dialog.accept(given)

    page = browser.new_context().new_page()
    page.set_default_timeout(60_000)
    page.on("dialog", answer)
    page.goto(url)
    return page, asked


def test_the_page_asks_for_the_token_and_uses_it(browser: Any, guarded: str) -> None:
    page, asked = visit(browser, guarded, ["wrong", f" {TOKEN} "])
    page.wait_for_selector("body[data-ready]")
    assert len(asked) == 2
    assert "not the token" in asked[1]
    parse_text(page)
    assert page.locator("#text .edu").count() >= 2
    page.reload()  # it is kept as long as the tab is
    page.wait_for_selector("body[data-ready]")
    page.goto(f"{guarded}/docs")
    page.wait_for_selector("article h2")
    assert len(asked) == 2
    page.context.close()


def test_without_the_token_the_page_says_how_to_give_it(browser: Any, guarded: str) -> None:
    page, asked = visit(browser, guarded, [])
    page.wait_for_selector("#toast:not([hidden])")
    assert "asks for a token. Reload the page" in page.inner_text("#toast")
    assert set(asked) == {"Token of this service:"}
    assert page.evaluate("sessionStorage.length") == 0
    page.context.close()
