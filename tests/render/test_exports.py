"""PDF, LaTeX, the overview, the legend, and the exported page in a real browser."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path

import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhetorica
from rhetorica import DepTree, Document, Join, Parse, RSTTree, Scores
from rhetorica.errors import RhetoricaError
from rhetorica.render import render_html, render_latex, render_pdf, render_svg
from rhetorica.render.latex import escape
from strategies import parses

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "umbrella.rs3"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def umbrella() -> Parse:
    return next(rhetorica.read(EXAMPLE))


def pair(first: str, second: str, relation: str = "cause") -> Parse:
    doc = Document.from_edus([first, second])
    return Parse(doc, RSTTree(2, (Join(0, 1, 2, "NS", relation),)))


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


class TestPdf:
    def test_a_reader_finds_text_relations_and_legend(self, umbrella: Parse) -> None:
        for view in ("rst", "dep"):
            page = pypdfium2.PdfDocument(render_pdf(umbrella, view=view))[0]  # type: ignore[arg-type]
            text = page.get_textpage().get_text_range()
            assert set(words(" ".join(umbrella.edus))) <= set(words(text))
            assert {"context", "background", "satellite"} <= set(words(text))
            assert len(set(page.render().to_numpy().reshape(-1, 3).tobytes())) > 20  # is not blank

    @pytest.mark.parametrize("text", ["naïve – “quoted”", "βροχή", "дождь", "今天下雨了。"])
    def test_other_scripts_are_drawn(self, text: str) -> None:
        def ink(parse: Parse) -> int:
            picture = pypdfium2.PdfDocument(render_pdf(parse))[0].render(scale=3).to_numpy()
            return int((picture.sum(axis=2) < 300).sum())

        data = render_pdf(pair(text, "x"))
        found = pypdfium2.PdfDocument(data)[0].get_textpage().get_text_range()
        assert text.replace(" ", "") in found.replace(" ", "")
        assert ink(pair(text, "x")) > ink(pair(" ", "x")) + 100

    def test_the_table_of_objects_is_right(self, umbrella: Parse) -> None:
        data = render_pdf(umbrella)
        start = int(re.search(rb"startxref\n(\d+)", data)[1])  # type: ignore[index]
        places = re.findall(rb"(\d{10}) 00000 n ", data[start:])
        for number, place in enumerate(places, 1):
            assert data[int(place) :].startswith(b"%d 0 obj\n" % number)
        for length, stream in re.findall(
            rb"/Length (\d+) [^>]*>>\nstream\n(.*?)\nendstream", data, re.S
        ):
            assert zlib.decompress(stream) if len(stream) == int(length) else True

    def test_unsure_lines_are_fainter_and_very_long_trees_fit(self) -> None:
        scores = Scores(spans=(0.1,), nuclearities=(0.2,), relations=(0.1,))
        faint = Parse(pair("a", "b").document, pair("a", "b").source, scores)
        assert b"/ExtGState << /G" in render_pdf(faint)
        assert b"/ExtGState <<  >>" in render_pdf(pair("a", "b"))
        joins = tuple(Join(i, i + 1, 900, "NN", "list") for i in range(899))
        long = Parse(Document.from_edus([f"unit {i}" for i in range(900)]), RSTTree(900, joins))
        box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", render_pdf(long))
        assert box is not None
        assert max(map(float, box.groups())) == pytest.approx(14_400, abs=1)
        with pytest.raises(RhetoricaError, match="overview"):
            render_pdf(long, view="overview")


def forest(source: str) -> list[str]:
    """Read the nodes of a forest: brackets must match outside of groups; return the contents."""
    body = source.partition("discourse\n")[2].partition("\\end{forest}")[0]
    contents, depth, group, at = [], 0, 0, 0
    while at < len(body):
        char = body[at]
        if char == "\\":
            at += 1
        elif char in "{}":
            group += 1 if char == "{" else -1
        elif not group and char == "[":
            depth += 1
            end, level = at + 2, 1
            while level:
                if body[end] == "\\":
                    end += 1
                elif body[end] in "{}":
                    level += 1 if body[end] == "{" else -1
                end += 1
            contents.append(body[at + 2 : end - 1])
        elif not group and char == "]":
            depth -= 1
            assert depth >= 0
        at += 1
    assert (depth, group) == (0, 0)
    return contents


class TestLatex:
    def test_the_umbrella(self, umbrella: Parse) -> None:
        source = render_latex(umbrella)
        contents = forest(source)
        assert len(contents) == len(list(umbrella.root or ()))
        assert sum("textbf" in content for content in contents) == len(umbrella)
        assert source.count("relation={causal-cause}") == 2
        assert forest(render_latex(umbrella, view="dep"))[0].startswith(r"\textbf{")
        assert source.count(r"\begin{") == source.count(r"\end{") == 2

    @given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1))
    @settings(max_examples=30, deadline=None)
    def test_whatever_the_text_the_source_stays_whole(self, text: str) -> None:
        source = render_latex(pair(f"x{text}", "b [c], {d} % e = f", text))
        assert len(forest(source)) == 3
        written = source.partition(r"\textbf{1} ")[2].partition("}, nucleus, EDU")[0]
        assert written == escape(f"x{text}")
        plain = re.sub(r"\\text[a-z]+\{\}|\\[{}$&#%_]|(?<=[-',])\{\}", "", written)
        assert not set(plain) & set('\\{}$&#%_^~<>|"`')
        assert not re.search(r"--|''|,,", written)  # each would become another sign

    @pytest.mark.parametrize(
        ("text", "package"),
        [
            ("naïve – “Łódź” … 5 €", "lmodern"),
            ("因为下雨，", "{ctex}"),
            ("дождь", "%\\setmainfont"),
            ("גשם 🎉", "%\\setmainfont"),
        ],
    )
    def test_fonts_are_those_of_the_script(self, text: str, package: str) -> None:
        source = render_latex(pair(text, "x"))
        assert package in source
        assert ("xelatex" in source) == (package != "lmodern")

    @pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex with forest")
    def test_it_compiles(self, umbrella: Parse, tmp_path: Path) -> None:
        odd = r"\ { } $ & # % _ ^ ~ < > | \" ' ` [x], a=b; -- ?` ] é"
        for name, parse in (("umbrella", umbrella), ("odd", pair(odd, f"[{odd}", odd))):
            for view in ("rst", "dep"):
                path = tmp_path / f"{name}-{view}.tex"
                path.write_text(render_latex(parse, view=view), "utf-8")  # type: ignore[arg-type]
                subprocess.run(
                    ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name],
                    cwd=tmp_path, check=True, capture_output=True, timeout=120,
                )  # fmt: skip
                page = pypdfium2.PdfDocument(path.with_suffix(".pdf"))[0]
                found = page.get_textpage().get_text_range()
                assert set(words("".join(parse.edus[-1:]))) <= set(words(found))

    @given(parses(trees=("annotated", "rst", "dependencies")))
    @settings(max_examples=15, deadline=None)
    def test_every_tree(self, parse: Parse) -> None:
        expected = max(1, len(list(parse.root or ())))
        assert len(forest(render_latex(parse))) == expected
        assert len(forest(render_latex(parse, view="dep"))) == max(1, len(parse))


class TestOverview:
    def test_every_unit_has_its_block_and_long_texts_fit_a_page(self) -> None:
        joins = tuple(Join(i, i + 1, 400, "NS", "elaboration-additional") for i in range(399))
        units = [f"unit number {i} of the text" for i in range(400)]
        parse = Parse(Document.from_edus(units), RSTTree(400, joins))
        root = ET.fromstring(render_svg(parse, view="overview"))
        blocks = [e for e in root.iter(f"{SVG}rect") if e.get("class") == "rh-block"]
        nodes = list(parse.root or ())
        assert len(blocks) == len(nodes) + 2  # and the legend's
        assert float(root.get("height", "")) < 1300
        for node, block in zip(nodes, blocks, strict=False):
            high = float(block.get("height", ""))
            assert high == pytest.approx(2.75 * (node.range[1] - node.range[0]), abs=0.06)

    def test_small_empty_and_in_the_page(self, umbrella: Parse) -> None:
        texts = [
            e.text for e in ET.fromstring(render_svg(umbrella, view="overview")).iter(f"{SVG}text")
        ]
        assert "causal-cause" in texts
        assert "multinuclear" in texts
        ET.fromstring(render_svg(Parse(Document(""), RSTTree(0)), view="overview"))
        assert 'id="overview"' not in render_html(umbrella)


def test_the_legend_has_what_the_picture_has(umbrella: Parse) -> None:
    def legend(parse: Parse, **how: object) -> set[str]:
        keys = ET.fromstring(render_svg(parse, **how)).iter(f"{SVG}g")  # type: ignore[arg-type]
        return {k.get("class", "").split()[-1] for k in keys if "rh-legend" in k.get("class", "")}

    assert legend(umbrella) == {"rh-nucleus", "rh-satellite", "rh-multinuc"}
    assert legend(umbrella, view="dep") == {"rh-root", "rh-satellite", "rh-multinuc"}
    assert legend(pair("a", "b")) == {"rh-nucleus", "rh-satellite"}
    assert legend(umbrella, legend=False) == set()
    assert legend(Parse(Document.from_edus(["one"]), DepTree((-1,), ("ROOT",)))) == set()


def test_the_page_folds_and_lights_up(umbrella: Parse, tmp_path: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs Chromium")
    from playwright.sync_api import sync_playwright

    (tmp_path / "page.html").write_text(render_html(umbrella), "utf-8")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1300, "height": 800})
        wrong: list[object] = []
        page.on("pageerror", lambda error: wrong.append(error))
        page.goto((tmp_path / "page.html").as_uri())
        label = page.locator(".rst .rh-satellite text", has_text="explanation-justify")
        label.hover()
        assert page.locator(".rst .rh-edu.lit").count() == 4
        assert page.locator(".dep .rh-edu.lit").count() == 4
        assert page.locator(".text .lit").count() == 4
        high = page.locator(".rst svg").bounding_box()["height"]  # type: ignore[index]
        label.click()
        assert page.locator(".rst .rh-edu:visible").count() == 13
        assert "(6–9)" in (page.locator(".rst .folded").text_content() or "")
        assert page.locator(".rst svg").bounding_box()["height"] == high - 90  # type: ignore[index]
        page.locator(".rst .folded").click()
        assert page.locator(".rst .rh-edu:visible").count() == 16
        assert page.locator(".rst svg").bounding_box()["height"] == high  # type: ignore[index]
        assert wrong == []
        browser.close()
