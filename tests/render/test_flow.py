"""Pictures of flows: everything is in them, nothing breaks them."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from rhetorica.dialogue import Edge, Flow, FlowState
from rhetorica.render.flow import flow_html, flow_png, flow_svg

NASTY = '</script><b>"hello"</b> & \x1b[31m ' + "long " * 30


def chart(count: int = 5) -> Flow:
    names = ["Hello!", NASTY, "Where to?", "…", "Bye."]
    states = tuple(
        FlowState(
            k, names[k % 5], 1 / count, float(k), (("word", 0.5), ("<city>", 0.2)),
            (f"example {k}", NASTY), "Agent", ((0.7, ("a", "b")),),
        )
        for k in range(count)
    )  # fmt: skip
    edges = [Edge("start", 0, 1.0), Edge(count - 1, "end", 0.9), Edge(count - 1, 0, 0.1)]
    edges += [Edge(k, k + 1, 0.6) for k in range(count - 1)]
    edges += [Edge(k, k, 0.04) for k in range(count)]
    return Flow("A <flow> & more", states, tuple(edges))


@pytest.mark.parametrize("count", [1, 2, 5, 30])
@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
def test_svg_is_well_formed_and_shows_all(count: int, theme: str) -> None:
    flow = chart(count)
    picture = flow_svg(flow, threshold=0.05, theme=theme)  # type: ignore[arg-type]
    root = ElementTree.fromstring(picture)
    drawn = [node.get("data-from", "") for node in root.iter() if "data-p" in node.attrib]
    assert len(drawn) == len(flow.above(0.05))
    assert sum("data-state" in node.attrib for node in root.iter()) == count
    assert "example 0" in picture


def test_boxes_do_not_overlap_and_lie_inside() -> None:
    root = ElementTree.fromstring(flow_svg(chart(30)))
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    boxes = [
        tuple(float(node.attrib[key]) for key in ("x", "y", "width", "height"))
        for node in root.iter()
        if node.tag.endswith("rect") and "rx" in node.attrib
    ]
    assert len(boxes) == 30
    for k, (x, y, w, h) in enumerate(boxes):
        assert left <= x <= x + w <= left + width
        assert top <= y <= y + h <= top + height
        for a, b, c, d in boxes[k + 1 :]:
            assert x + w <= a or a + c <= x or y + h <= b or b + d <= y


def test_figures_cover_neither_boxes_nor_one_another() -> None:
    root = ElementTree.fromstring(flow_svg(chart(12), threshold=0.05))
    boxes = [
        tuple(float(node.attrib[key]) for key in ("x", "y", "width", "height"))
        for node in root.iter()
        if node.tag.endswith("rect") and "rx" in node.attrib
    ]
    figures = [
        (float(node.attrib["x"]), float(node.attrib["y"]))
        for node in root.iter()
        if node.get("class") == "chance"
    ]
    assert len(figures) == 14
    for k, (x, y) in enumerate(figures):
        assert not any(a < x < a + w and b < y - 4 < b + h for a, b, w, h in boxes)
        assert all(abs(x - a) > 20 or abs(y - b) > 10 for a, b in figures[k + 1 :])


def test_what_follows_stands_near() -> None:
    """Which state comes when says little here; lines bring those together that belong together."""
    states = tuple(FlowState(k, f"state {k}", 0.1, 5.0, (("word", 0.5),)) for k in range(9))
    path = [4, 8, 1, 6, 0, 3, 7, 2, 5]
    edges = [Edge("start", path[0], 1.0), Edge(path[-1], "end", 1.0)]
    edges += [Edge(a, b, 0.9) for a, b in pairwise(path)]
    root = ElementTree.fromstring(flow_svg(Flow("path", states, tuple(edges))))
    at = {
        int(node.attrib["data-state"]): (float(box.attrib["x"]), float(box.attrib["y"]))
        for node in root.iter()
        if "data-state" in node.attrib
        for box in node
        if box.tag.endswith("rect")
    }
    assert len(set(at.values())) == 9
    assert at[4][1] == min(y for _, y in at.values())
    assert at[5][1] == max(y for _, y in at.values())
    assert "link back" not in ElementTree.tostring(root, encoding="unicode")
    # One box aside or one down, nearly always.
    near = [
        abs(at[a][0] - at[b][0]) <= 310 and at[b][1] - at[a][1] <= 140 for a, b in pairwise(path)
    ]
    assert sum(near) >= 7


def test_a_line_past_a_box_does_not_hide_behind_it() -> None:
    states = tuple(FlowState(k, f"state {k}", 0.5, float(k), (("word", 0.5),)) for k in range(2))
    edges = (Edge("start", 0, 1.0), Edge(0, 1, 0.6), Edge(0, "end", 0.4), Edge(1, "end", 1.0))
    picture = flow_svg(Flow("past", states, edges))
    root = ElementTree.fromstring(picture)
    rows = [
        (float(n.attrib["x"]), float(n.attrib["y"]), float(n.attrib["width"]))
        for n in root.iter()
        if n.tag.endswith("rect") and "rx" in n.attrib
    ]
    ends = sorted(rows, key=lambda row: row[1])
    link = next(n for n in root.iter() if (n.get("data-from"), n.get("data-to")) == ("0", "end"))
    numbers = [float(x) for x in re.findall(r"-?[\d.]+", link[0].attrib["d"])]
    middle = sum(w * x for w, x in zip((1, 3, 3, 1), numbers[::2], strict=True)) / 8
    assert middle < ends[1][0]
    assert middle > float(root.attrib["viewBox"].split()[0])


def test_merged_states_say_so() -> None:
    state = FlowState(0, "Hello!", 1.0, 0.0, (("hello", 0.9),), others=(3, 4))
    assert "3 wordings" in flow_svg(Flow("one", (state,), (Edge("start", 0, 1.0),)))
    assert "wordings" not in flow_svg(chart())


def test_the_page_holds_its_data_safely() -> None:
    page = flow_html(chart())
    assert page.count("</script>") == 1
    assert 'type="range"' in page
    assert "\\u003c/script" in page
    assert not re.search(r"(src|href)=", page)


def test_lines_below_the_threshold_are_kept_but_hidden_in_the_page() -> None:
    page = flow_html(chart(), threshold=0.5)
    assert page.count("style='display:none'") == 6  # five loops, and back to the first


def test_png_is_a_picture() -> None:
    pytest.importorskip("resvg_py")
    assert flow_png(chart(3), scale=1)[:8] == b"\x89PNG\r\n\x1a\n"


def test_mermaid_and_dot() -> None:
    flow = chart(3)
    mermaid, dot = flow.to_mermaid(0.5), flow.to_dot(0.5)
    assert mermaid.startswith("flowchart TD\n")
    assert "  start -->|1.00| s0\n" in mermaid
    assert "  s2 -->|0.90| end_\n" in mermaid
    assert '  s0 -> s1 [label="0.60", penwidth=2.9];' in dot
    assert dot.count("->") == mermaid.count("-->") == 4
    # Quotes in a name must not end the label.
    assert all(len(re.findall(r'(?<!\\)"', line)) % 2 == 0 for line in dot.splitlines())
