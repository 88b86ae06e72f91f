"""Pictures: where things stand, well-formed markup, nothing lost, nothing dangerous."""

from __future__ import annotations

import colorsys
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rhetorica.render.png as png
from rhetorica import AnnotatedTree, DepTree, Document, Join, Node, Parse, RSTTree, Scores, Span
from rhetorica.errors import InvalidTree, MissingExtra, NonProjective, RhetoricaError, UnknownName
from rhetorica.render import render_html, render_png, render_svg
from rhetorica.render.colours import DARK, LIGHT
from rhetorica.render.fit import measure, visible, wrap
from rhetorica.render.layout.dependencies import layout_dependencies, nesting
from rhetorica.render.layout.legend import with_legend
from rhetorica.render.layout.parts import Layout
from rhetorica.render.layout.rst import layout_rst
from strategies import annotated_trees, dep_trees, parses

some = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SVG = "{http://www.w3.org/2000/svg}"
WAYS = ("down", "right")
trees = ("annotated", "rst", "dependencies")


def chain(n: int, nuclearity: str = "NS") -> Parse:
    joins = tuple(Join(i, i + 1, n, nuclearity, "cause") for i in range(n - 1))  # type: ignore[arg-type]
    return Parse(Document.from_edus([f"unit {i}" for i in range(1, n + 1)]), RSTTree(n, joins))


@pytest.fixture
def rain() -> Parse:
    joins = (
        Join(0, 1, 4, "SN", "attribution"),
        Join(1, 2, 4, "NS", "explanation-evidence"),
        Join(2, 3, 4, "NN", "list"),
    )
    texts = ["People say", "it is wet here", "because it rains", "and never stops."]
    scores = Scores(spans=(0.9, 0.2, 0.7), nuclearities=(0.8, 0.9, 1.0), relations=(0.5, 0.4, 0.3))
    return Parse(Document.from_edus(texts, id="rain"), RSTTree(4, joins), scores=scores)


def texts_of(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def elements(svg: str, kind: str) -> list[ET.Element]:
    return [e for e in ET.fromstring(svg).iter() if kind in e.get("class", "").split()]


Rectangle = tuple[float, float, float, float]


def rectangles(layout: Layout) -> list[Rectangle]:
    """All rectangles with text: boxes, relation names, numbers on lines."""
    found: list[Rectangle] = [box[3:7] for box in layout.boxes]
    for edge in layout.edges:
        found += [part[1:5] for part in (edge.label, edge.tag) if part]
    return found


def overlapping(found: list[Rectangle]) -> list[tuple[Rectangle, Rectangle]]:
    slack = 0.5
    return [
        (a, b)
        for place, a in enumerate(found)
        for b in found[:place]
        if a[0] + slack < b[0] + b[2]
        and b[0] + slack < a[0] + a[2]
        and a[1] + slack < b[1] + b[3]
        and b[1] + slack < a[1] + a[3]
    ]


class TestLayout:
    @some
    @given(annotated_trees(extras=False), st.sampled_from(WAYS), st.data())
    def test_nothing_overlaps_or_sticks_out(
        self, tree: AnnotatedTree, way: str, data: st.DataObject
    ) -> None:
        texts = data.draw(
            st.lists(st.text(max_size=80), min_size=tree.n_edus, max_size=tree.n_edus)
        )
        breaks = data.draw(st.sets(st.integers(0, tree.n_edus)))
        layout = layout_rst(tree, texts, orient=way, breaks=breaks)  # type: ignore[arg-type]
        self.check(layout)

    @some
    @given(dep_trees(projective=False, multinuclear=True), st.sampled_from(WAYS))
    def test_dependencies_neither(self, tree: DepTree, way: str) -> None:
        layout = layout_dependencies(tree, ["some words " * 3] * tree.n_edus, orient=way)  # type: ignore[arg-type]
        self.check(layout)

    def check(self, layout: Layout) -> None:
        found = rectangles(layout)
        assert not overlapping(found)
        for x, y, width, height in found:
            assert x >= 0
            assert y >= 0
            assert x + width <= layout.width
            assert y + height <= layout.height
        for edge in layout.edges:
            for x, y in edge.points if edge.shape != "curve" else (edge.points[0], edge.points[3]):
                assert 0 <= x <= layout.width
                assert 0 <= y <= layout.height

    @pytest.mark.parametrize("view", ["rst", "dep"])
    def test_the_root_is_left_and_the_text_right(self, view: str) -> None:
        """As in the terminal and on the page."""
        parse = chain(12)
        layout = (
            layout_rst(parse.annotated, parse.edus, orient="right")
            if view == "rst"
            else layout_dependencies(parse.dependencies, parse.edus, orient="right")
        )
        edge = layout.boxes[0].x
        assert all(box.x == edge and box.x < box.text_x for box in layout.boxes)
        drawn = [point for one in layout.edges for point in one.points]
        drawn += [(one.label.x + one.label.width, 0) for one in layout.edges if one.label]
        assert max(x for x, _ in drawn) <= edge
        if view == "rst":
            root = max(layout.lines, key=lambda line: line.end - line.start)
            assert root.first[0] == min(line.first[0] for line in layout.lines)
            tips = {one.tip[1][0] for one in layout.edges if one.tip}
            assert tips == {0.0}
        else:
            assert {one.tip[1] for one in layout.edges if one.tip} == {(1.0, 0.0)}
            labels = {one.label.text for one in layout.edges if one.label}
            assert {"root"} == labels & {"root", "ROOT"}

    @some
    @given(annotated_trees(extras=False), st.sampled_from(WAYS), st.data())
    def test_folding_keeps_the_leaves_in_order(
        self, tree: AnnotatedTree, way: str, data: st.DataObject
    ) -> None:
        folded = data.draw(st.sets(st.integers(0, len(tree.nodes) - 1)))
        depth = data.draw(st.none() | st.integers(1, 4))
        layout = layout_rst(tree, ["x"] * tree.n_edus, orient=way, depth=depth, folded=folded)  # type: ignore[arg-type]
        at = 0
        for box in layout.boxes:
            assert box.start == at
            at = box.end
        assert at == tree.n_edus
        self.check(layout)

    def test_the_root_folded_is_one_leaf(self, rain: Parse) -> None:
        root = rain.annotated.bottom_up[-1]
        layout = layout_rst(rain.annotated, rain.edus, folded=[root])
        assert [(box.number, box.lines) for box in layout.boxes] == [
            ("1–4", ("… it is wet here …",))
        ]

    def test_impossible_folds(self, rain: Parse) -> None:
        with pytest.raises(RhetoricaError, match="at least 1"):
            render_svg(rain, depth=0)
        with pytest.raises(RhetoricaError, match="cannot fold node 99"):
            render_svg(rain, folded=[99])

    def test_orientation_goes_by_size(self) -> None:
        assert 'data-orient="down"' in render_svg(chain(10))
        assert 'data-orient="right"' in render_svg(chain(11))
        assert 'data-orient="right"' in render_svg(chain(11), view="dep")
        assert 'data-orient="down"' in render_svg(chain(11), orient="down")
        with pytest.raises(UnknownName, match="orientation"):
            render_svg(chain(3), orient="up")  # type: ignore[arg-type]

    def test_width_makes_texts_wider_or_narrower(self) -> None:
        parse = Parse(
            Document.from_edus(["many words " * 20] * 12),
            RSTTree(12, tuple(Join(i, i + 1, 12, "NN", "list") for i in range(11))),
        )
        sizes = [
            layout_rst(parse.annotated, parse.edus, width=width).width for width in (500, 800, 1200)
        ]
        assert sizes == sorted(set(sizes))
        assert sizes[0] <= 500
        assert sizes[1] <= 800

    def test_satellites_of_satellites_and_of_members(self) -> None:
        nodes = (
            Node("1", "edu", 1, "satellite", "a"),
            Node("2", "edu", 2, "satellite", "b"),
            Node("3", "edu", 4, "nucleus", "list"),
            Node("4", "edu", 4, "nucleus", "list"),
            Node("5", "multinuc", -1, "root", ""),
        )
        for way in WAYS:
            layout = layout_rst(AnnotatedTree(nodes), list("abcd"), orient=way)  # type: ignore[arg-type]
            assert not overlapping(rectangles(layout))
            assert [edge.kind for edge in layout.edges].count("satellite") == 2

    @some
    @given(
        st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)).filter(lambda a: a[0] < a[1]))
    )
    def test_nesting_equals_brute_force(self, arcs: list[tuple[int, int]]) -> None:
        lanes: list[int] = [0] * len(arcs)
        for place in sorted(range(len(arcs)), key=lambda i: (arcs[i][1] - arcs[i][0], arcs[i])):
            low, high = arcs[place]
            lanes[place] = 1 + max(
                (
                    lane
                    for lane, arc in zip(lanes, arcs, strict=True)
                    if arc[0] < high and low < arc[1]
                ),
                default=0,
            )
        assert nesting(arcs, 16) == lanes


class TestSvg:
    @some
    @given(
        parses(trees=trees),
        st.sampled_from(["rst", "dep"]),
        st.sampled_from(WAYS),
        st.sampled_from(["auto", "light", "dark"]),
    )
    def test_well_formed_with_every_text(
        self, parse: Parse, view: str, way: str, theme: str
    ) -> None:
        svg = render_svg(parse, view=view, orient=way, theme=theme)  # type: ignore[arg-type]
        drawn = re.sub(r"\s", "", "".join(texts_of(svg)))
        at = 0
        for box in elements(svg, "rh-edu"):
            # The first is the number; lines that run from right to left are marked so.
            lines = [(t.text or "").strip("\u200f") for t in box.iter(f"{SVG}text")][1:]
            index = int(box.get("data-start", ""))
            assert re.sub(r"\s", "", "".join(lines)) == re.sub(
                r"\s", "", visible(parse.edus[index], unicode=False)
            )
            at += 1
        assert at == len(parse.edus)
        assert drawn.isprintable() or all(not c.isspace() for c in drawn)

    def test_what_a_page_can_hold_on_to(self, rain: Parse) -> None:
        svg = render_svg(rain)
        tree = rain.annotated
        seen = {
            int(e.get("data-node", ""))
            for kind in ("rh-edu", "rh-node")
            for e in elements(svg, kind)
        }
        assert seen == set(range(len(tree.nodes)))
        for edge in elements(svg, "rh-edge"):
            node = tree.nodes[int(edge.get("data-node", ""))]
            assert edge.get("data-relation") == node.relation
            assert edge.get("data-role") == node.role
            assert int(edge.get("data-parent", "")) == node.parent

    def test_probabilities(self, rain: Parse) -> None:
        svg = render_svg(rain)
        found = {
            e.get("data-relation"): (e.get("data-p-span"), e.get("data-p-relation"), e[0].text)
            for e in elements(svg, "rh-edge")
            if e.get("data-relation") != "span"
        }
        assert found["attribution"] == (
            "0.9000", "0.5000", "attribution 1 (span 0.90, nuclearity 0.80, relation 0.50)",
        )  # fmt: skip
        assert found["explanation-evidence"][:2] == ("0.2000", "0.4000")
        assert found["list"][:2] == ("0.7000", "0.3000")
        found_edges = [e for e in elements(svg, "rh-satellite") if e.get("data-node")]
        lines = [e for e in found_edges if e.find(f"{SVG}path") is not None]
        assert [float(e.get("opacity", "1")) for e in lines] == [0.68, 0.48]
        assert all(e in lines or e.get("opacity") is None for e in found_edges)  # names are read
        assert "fainter: less sure" in texts_of(svg)

    def test_probabilities_of_dependencies(self) -> None:
        tree = DepTree((-1, 0), ("ROOT", "cause"))
        scores = Scores((1.0, 0.75), (0.5, 0.25), (0.9, 0.8))
        parse = Parse(Document.from_edus(["a", "b"]), tree, scores=scores)
        for view in ("dep", "rst"):
            svg = render_svg(parse, view=view)  # type: ignore[arg-type]
            assert 'data-relation="cause" data-p-head="0.2500" data-p-relation="0.8000"' in svg
            assert "2 (boundary 0.75)" in svg

    def test_names_of_relations_are_whole_in_the_tooltip(self) -> None:
        name = "a-very-long-name-" * 5
        parse = Parse(Document.from_edus("ab"), RSTTree(2, (Join(0, 1, 2, "NS", name),)))
        svg = render_svg(parse)
        assert f"<title>{name} 2</title>" in svg
        assert any(text.endswith("…") for text in texts_of(svg))

    def test_nothing_of_the_text_becomes_markup(self) -> None:
        evil = "</text><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;\x00\x1b\ufffe"
        doc = Document.from_edus([evil, evil], id=evil)
        parse = Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", evil),)), provenance={evil: evil})
        for view in ("rst", "dep"):
            svg = render_svg(parse, view=view)  # type: ignore[arg-type]
            kinds = {element.tag.removeprefix(SVG) for element in ET.fromstring(svg).iter()}
            assert kinds <= {"svg", "style", "rect", "g", "title", "path", "text"}
            assert "<U+0000><U+001B><U+FFFE>" in "".join(texts_of(svg))
        page = render_html(parse)
        assert page.count("<script") == 1
        assert page.index("<script") > page.index("</section>")
        assert "<img" not in page
        assert "\x00" not in page

    def test_crossing_dependencies_have_no_rst_picture(self) -> None:
        parse = Parse(Document.from_edus("wxyz"), DepTree((-1, 3, 0, 0), ("ROOT", "a", "b", "c")))
        with pytest.raises(NonProjective):
            render_svg(parse)
        assert len(elements(render_svg(parse, view="dep"), "rh-edu")) == 4

    def test_nothing_and_nearly_nothing(self) -> None:
        for view in ("rst", "dep"):
            assert ET.fromstring(render_svg(Parse(Document("")), view=view)) is not None  # type: ignore[arg-type]
            one = Parse(Document.from_edus(["alone"]), RSTTree(1))
            assert "alone" in texts_of(render_svg(one, view=view))  # type: ignore[arg-type]
        with pytest.raises(InvalidTree, match="no tree"):
            render_svg(Parse(Document.from_edus(["a"])))

    def test_unknown_choices(self, rain: Parse) -> None:
        with pytest.raises(UnknownName, match="view"):
            render_svg(rain, view="tree")  # type: ignore[arg-type]
        with pytest.raises(UnknownName, match="theme"):
            render_svg(rain, theme="blue")  # type: ignore[arg-type]

    def test_right_to_left(self) -> None:
        parse = Parse(Document.from_edus(["ירד גשם.", "Rain."]), chain(2).tree)
        shown = texts_of(render_svg(parse))
        assert "\u200fירד גשם.\u200f" in shown
        assert "Rain." in shown

    def test_the_same_every_time(self, rain: Parse) -> None:
        assert render_svg(rain) == render_svg(rain)

    @pytest.mark.parametrize(("nuclearity", "view"), [("NS", "rst"), ("NN", "rst"), ("NN", "dep")])
    def test_15000_edus(self, nuclearity: str, view: str) -> None:
        parse = chain(15_000, nuclearity)
        assert render_svg(parse, view=view).count('class="rh-edu"') == 15_000  # type: ignore[arg-type]


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "input"):
            self.open.append(tag)
        for key, value in attrs:
            if key == "id":
                self.ids.append(value or "")
            if key in ("src", "href"):
                self.links.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


class TestHtml:
    @settings(some, max_examples=20)
    @given(parses(trees=(*trees, "any dependencies")))
    def test_a_whole_page(self, parse: Parse) -> None:
        page = _Page()
        text = render_html(parse)
        page.feed(text)
        page.close()
        assert page.open == []
        assert page.ids == ["rst", "dep", "text", "folding"]
        assert page.links == []
        assert "url(" not in text
        assert text.count("<sup>") == len(parse.edus)

    def test_opens_on_what_there_is(self) -> None:
        parse = Parse(Document.from_edus("wxyz"), DepTree((-1, 3, 0, 0), ("ROOT", "a", "b", "c")))
        page = render_html(parse)
        assert 'id="dep" checked' in page
        assert "not contiguous" in page

    def test_paragraphs_title_and_origin(self, rain: Parse) -> None:
        doc = Document(
            "One. Two.\n\nThree.",
            (Span(0, 4), Span(5, 9), Span(11, 17)),
            paragraphs=(Span(0, 9), Span(11, 17)),
            language="en",
        )
        parse = Parse(doc, chain(3).tree, provenance={"parser": "hand"})
        page = render_html(parse, title="A & B")
        assert "<title>A &amp; B</title>" in page
        assert page.count("<p><span") == 2
        assert "3 units · parser: hand" in page
        assert '<html lang="en">' in page

    def test_notebook(self, rain: Parse) -> None:
        shown = rain._repr_html_()
        assert shown.count("<svg ") == 2
        assert " id=" not in shown
        assert rain._repr_svg_() == render_svg(rain)

    def test_notebook_of_what_has_no_tree(self) -> None:
        crossing = DepTree((-1, 3, 0, 0), ("ROOT", "a", "b", "c"))
        parse = Parse(Document.from_edus("wxyz"), crossing)
        assert parse._repr_svg_() == render_svg(parse, view="dep")
        nothing = Parse(Document.from_edus(["a"]))
        assert nothing._repr_svg_() is None
        assert "no tree" in nothing._repr_html_()

    def test_notebook_of_a_long_document(self) -> None:
        shown = chain(1200)._repr_html_()
        assert shown.count("<svg ") == 1
        assert "render_html" in shown
        assert len(shown) < 50_000


def size_of(data: bytes) -> tuple[int, int]:
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", data[16:24])


class TestPng:
    @pytest.fixture(autouse=True)
    def _needs_resvg(self) -> None:
        pytest.importorskip("resvg_py")

    def test_size(self, rain: Parse) -> None:
        layout = with_legend(layout_rst(rain.annotated, rain.edus), dependencies=False, unsure=True)
        wide, high = size_of(render_png(rain, scale=1))
        assert abs(wide - layout.width) <= 1
        assert abs(high - layout.height) <= 1
        assert size_of(render_png(rain))[0] == pytest.approx(2 * wide, abs=2)

    @pytest.mark.parametrize("text", ["Rain and more rain", "下雨了，我们回家。", "дождь", "βροχή"])
    def test_the_bundled_fonts_have_it(self, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Every character is drawn, and not all by the same sign for a missing one.

        The system's fonts are not even asked: one of them might draw the Chinese.
        """
        renderer, ours = png.load_renderer(), []

        def watched(**options: Any) -> bytes:
            ours.append(options["skip_system_fonts"])
            return renderer(**options)

        monkeypatch.setattr(png, "load_renderer", lambda: watched)

        def draw(words: str) -> bytes:
            return render_png(Parse(Document.from_edus([words]), RSTTree(1)), width=400, scale=1)

        shape = re.sub(r"\S", "\U0010fffd", text)  # a character that no font has
        assert draw(text) not in (draw(shape), draw("."))
        assert ours == [True, False, True]

    def test_themes_differ(self, rain: Parse) -> None:
        assert render_png(rain, theme="dark") != render_png(rain) == render_png(rain, theme="auto")

    def test_too_large(self) -> None:
        with pytest.raises(RhetoricaError, match=r"more than 100 million.*fold"):
            render_png(chain(4000))
        wide, high = size_of(render_png(chain(4000), depth=3))
        assert wide * high < 1_000_000

    def test_scale_shrinks_before_it_fails(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(png, "MAX_PIXELS", 400_000)
        wide, high = size_of(render_png(chain(4)))
        assert wide * high <= 403_000


def test_png_without_the_extra(rain: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingExtra, match=r"pip install 'rhetorica\[png\]'"):
        render_png(rain)


class TestColours:
    def luminance(self, colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    @pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
    def test_contrast(self, theme: dict[str, str]) -> None:
        """WCAG AA: 4.5 to 1 for text."""
        for name in ("ink", "faint", "nucleus", "satellite", "multinuc"):
            for ground in ("paper", "panel"):
                light, dark = sorted(
                    (self.luminance(theme[name]), self.luminance(theme[ground])), reverse=True
                )
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, ground)

    @pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
    def test_hues_without_red_or_green(self, theme: dict[str, str]) -> None:
        """Nucleus and satellite differ most where red-green blindness leaves sight: in blue."""

        def blueness(colour: str) -> float:
            red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
            return blue - (red + green) / 2

        kinds = sorted(blueness(theme[name]) for name in ("satellite", "multinuc", "nucleus"))
        assert min(b - a for a, b in pairwise(kinds)) > 0.15
        hues = [
            colorsys.rgb_to_hsv(*(int(theme[n][i : i + 2], 16) / 255 for i in (1, 3, 5)))[0]
            for n in ("satellite", "multinuc", "nucleus")
        ]
        assert hues == sorted(hues)

    def test_fixed_themes_have_no_variables(self, rain: Parse) -> None:
        assert "var(" not in render_svg(rain, theme="dark")
        assert DARK["paper"] in render_svg(rain, theme="dark")
        assert "prefers-color-scheme:dark" in render_svg(rain, theme="auto")


class TestFit:
    def test_measure_knows_wide_and_narrow(self) -> None:
        width = measure(10)
        assert width("") == 0
        assert width("e\u0301") == width("é") == width("e")
        assert width("雨") > width("W") > width("i")
        assert width("👩\u200d👧") == 2 * width("👩")

    def test_a_very_long_word_takes_linear_time(self) -> None:
        rows = wrap("x" * 100_000, 50, 50, measure(10))
        assert sum(map(len, rows)) == 100_000


def run(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "rhetorica", *map(str, arguments)],
        capture_output=True,
        check=False,
    )


class TestCommands:
    @pytest.fixture
    def essay(self, tmp_path: Path, rain: Parse) -> Path:
        path = tmp_path / "rain.json"
        path.write_text(rain.to("json"), encoding="utf-8")
        return path

    def test_show_a_picture(self, essay: Path) -> None:
        done = run("show", essay, "--to", "svg", "--theme", "dark", "--view", "dep")
        assert done.returncode == 0, done.stderr
        assert elements(done.stdout.decode(), "rh-edu")
        assert b"rh-dark" in done.stdout

    def test_show_into_a_folder(self, essay: Path, tmp_path: Path) -> None:
        pytest.importorskip("resvg_py")
        out = tmp_path / "out"
        assert run("show", essay, essay, "--to", "png", "--out", out).returncode == 0
        assert sorted(path.name for path in out.iterdir()) == ["rain-2.png", "rain.png"]
        assert run("show", essay, "--out", out).returncode == 0
        assert "People say" in (out / "rain.txt").read_text(encoding="utf-8")

    def test_several_to_one_stream_are_refused(self, essay: Path) -> None:
        done = run("show", essay, essay, "--to", "html")
        assert done.returncode == 1
        assert done.stdout == b""
        assert b"--out" in done.stderr

    def test_parse_to_a_page(self, tmp_path: Path) -> None:
        text = tmp_path / "a.txt"
        text.write_text("We stayed at home because it rained.")
        done = run("parse", text, "--to", "html")
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(b"<svg ") == 2
        text.write_text("")
        assert run("parse", text, "--to", "svg").returncode == 0
