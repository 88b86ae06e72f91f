from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from rhetorica import AnnotatedTree, DepTree, Document, Join, Node, Parse, RSTTree
from rhetorica.errors import InvalidTree, NonProjective, RhetoricaError, UnknownName
from rhetorica.render.fit import visible
from rhetorica.render.terminal import render_tree
from strategies import parses

ANSI = re.compile("\x1b\\[[0-9;]*m")
some = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def chain(n: int, nuclearity: str = "NS") -> Parse:
    """A tree in which every EDU modifies its neighbour."""
    joins = tuple(Join(i, i + 1, n, nuclearity, "cause") for i in range(n - 1))  # type: ignore[arg-type]
    return Parse(Document.from_edus([f"unit {i}" for i in range(1, n + 1)]), RSTTree(n, joins))


@pytest.fixture
def rain() -> Parse:
    nodes = (
        Node("1", "edu", 1, "satellite", "attribution"),
        Node("2", "edu", 6, "nucleus", "span"),
        Node("3", "edu", 6, "satellite", "concession"),
        Node("4", "edu", 5, "nucleus", "list"),
        Node("5", "edu", 5, "nucleus", "list"),
        Node("6", "multinuc", 2, "satellite", "circumstance"),
        Node("7", "span", -1, "root", ""),
    )
    texts = ["People say", "it often rains here,", "although it was dry today", "when we came",
             "and when we left."]  # fmt: skip
    return Parse(Document.from_edus(texts), AnnotatedTree(nodes))


class TestOutline:
    def test_drawing(self, rain: Parse) -> None:
        assert render_tree(rain).splitlines() == [
            "1 ╭─○ attribution: People say",
            "2 ● it often rains here,",
            "3 ╰─○ concession 3–5 →1–2: although it was dry today",
            "    ╰─○ circumstance 4–5: [list ×2]",
            "4     ├─● when we came",
            "5     ╰─● and when we left.",
        ]

    def test_ascii(self, rain: Parse) -> None:
        assert render_tree(rain, unicode=False).splitlines() == [
            "1 .-S attribution: People say",
            "2 N it often rains here,",
            "3 `-S concession 3-5 ->1-2: although it was dry today",
            "    `-S circumstance 4-5: [list x2]",
            "4     +-N when we came",
            "5     `-N and when we left.",
        ]
        assert render_tree(rain, unicode=False).isascii()

    def test_wrapped_text_keeps_the_guides(self) -> None:
        texts = ["one " * 12, "two " * 12, "three " * 12]
        joins = (Join(0, 2, 3, "SN", "a"), Join(0, 1, 2, "NS", "b"))
        parse = Parse(Document.from_edus(text.strip() for text in texts), RSTTree(3, joins))
        assert render_tree(parse, width=40).splitlines() == [
            "1 ╭─○ a 1–2: one one one one one one one",
            "  │ │   one one one one one",
            "2 │ ╰─○ b: two two two two two two two",
            "  │       two two two two two",
            "3 ● three three three three three three",
            "      three three three three three",
            "      three",
        ]

    def test_clip(self) -> None:
        parse = Parse(Document.from_edus(["long " * 20 + "end"]), RSTTree(1))
        assert render_tree(parse, width=40, clip=True) == "1 ● long long long long long long long…"
        assert render_tree(parse, width=40, clip=True, unicode=False).endswith(" lon...")

    def test_a_nucleus_with_a_relation_of_its_own_is_labelled(self) -> None:
        nodes = (
            Node("1", "edu", 2, "nucleus", "list"),
            Node("2", "edu", 2, "nucleus", "contrast"),
            Node("3", "multinuc", -1, "root", ""),
        )
        parse = Parse(Document.from_edus(["a", "b"]), AnnotatedTree(nodes))
        assert render_tree(parse) == "  ● [list ×2]\n1 ├─● a\n2 ╰─● contrast: b"

    def test_indentation_grows_with_nesting_only(self) -> None:
        flat = Parse(
            Document.from_edus(["x"] * 50),
            RSTTree(50, tuple(Join(0, end - 1, end, "NS", "r") for end in range(50, 1, -1))),
        )
        assert max(map(len, render_tree(flat).splitlines())) < 25

    def test_deep_nesting_stays_inside(self) -> None:
        lines = render_tree(chain(60), width=60).splitlines()
        assert len(lines) == 60
        assert max(map(len, lines)) <= 60
        assert "«" not in lines[10]
        assert lines[11] == "12 «5 " + " " * 10 + "╰─○ cause 12–60: unit 12"
        assert lines[59] == "60 «50 " + " " * 16 + "╰─○ cause: unit 60"

    def test_long_labels_are_wrapped(self) -> None:
        name = "-".join(["elaboration"] * 6)
        parse = Parse(Document.from_edus("ab"), RSTTree(2, (Join(0, 1, 2, "NS", f"x {name}"),)))
        for color in (False, True):
            drawn = ANSI.sub("", render_tree(parse, width=40, color=color))
            assert "".join(drawn.split()) == f"1●a2╰─○x{name}:b"


class TestFolding:
    def test_drawing(self, rain: Parse) -> None:
        assert render_tree(rain, depth=1).splitlines() == [
            "1 ╭─○ attribution: People say",
            "2 ● it often rains here,",
            "3 ╰─○ concession 3–5 →1–2: although it was dry today … +2",
        ]
        assert render_tree(rain, depth=2, unicode=False).splitlines()[3:] == [
            "    `-S circumstance 4-5: [list x2] ... +2",
        ]
        assert render_tree(rain, depth=3) == render_tree(rain)

    def test_a_folded_unit_has_no_guides_below(self) -> None:
        joins = tuple(Join(i, i + 1, 3, "NS", "r") for i in range(2))
        parse = Parse(Document.from_edus(["a", "long " * 10, "c"]), RSTTree(3, joins))
        assert "│" not in render_tree(parse, depth=1, width=40)

    def test_nothing_to_show(self, rain: Parse) -> None:
        with pytest.raises(RhetoricaError, match="at least 1"):
            render_tree(rain, depth=0)

    @some
    @given(parses(min_edus=1, trees=("annotated", "rst")), st.integers(1, 4))
    def test_every_unit_is_drawn_or_counted(self, parse: Parse, depth: int) -> None:
        lines = render_tree(parse, depth=depth, clip=True, width=1000).splitlines()
        drawn = sum(bool(line[: len(str(len(parse.edus)))].strip()) for line in lines)
        hidden = sum(int(found[1]) for line in lines if (found := re.search(r"… \+(\d+)$", line)))
        assert drawn + hidden == len(parse.edus)


class TestTable:
    def test_drawing(self, rain: Parse) -> None:
        assert render_tree(rain, view="dependencies").splitlines() == [
            "1 ↓2 ○ attribution  People say",
            "2    ● ROOT         it often rains here,",
            "3 ↑2 ○ concession   although it was dry today",
            "4 ↑3 ○ circumstance when we came",
            "5 ↑4 ● list         and when we left.",
        ]

    def test_short_name_of_the_view(self, rain: Parse) -> None:
        assert render_tree(rain, view="dep") == render_tree(rain, view="dependencies")

    def test_crossing_arcs(self) -> None:
        tree = DepTree((-1, 3, 0, 0), ("ROOT", "a", "b", "c"))
        parse = Parse(Document.from_edus("wxyz"), tree)
        assert render_tree(parse, view="dependencies", unicode=False).splitlines() == [
            "1    N ROOT w",
            "2 v4 S a    x",
            "3 ^1 S b    y",
            "4 ^1 S c    z",
        ]
        with pytest.raises(NonProjective):
            render_tree(parse)


class TestHarmless:
    def test_symbols(self) -> None:
        assert visible("a\x00b\x1b[31m\x7f") == "a␀b␛[31m␡"
        assert visible("\u202egnp\u2066 \ufeff\ud800\x9b") == (
            "<U+202E>gnp<U+2066> <U+FEFF><U+D800><U+009B>"
        )
        assert visible("\x1b", unicode=False) == "<U+001B>"
        assert visible(" a\n\n\tb\u2028c ") == "a b c"

    def test_joiners_and_other_scripts_stay(self) -> None:
        for text in ("👩‍👩‍👧", "می‌خواهم", "שלום", "下雨了。", "\ue000"):
            assert visible(text) == text

    def test_relations_are_cleaned_too(self) -> None:
        parse = Parse(Document.from_edus("ab"), RSTTree(2, (Join(0, 1, 2, "NS", "\x1b[2J"),)))
        assert "\x1b" not in render_tree(parse)
        assert "\x1b" not in render_tree(parse, view="dependencies")

    @some
    @given(parses(trees=("annotated", "rst", "dependencies")), st.booleans())
    def test_nothing_but_printable_characters(self, parse: Parse, clip: bool) -> None:
        for view in ("rst", "dependencies"):
            drawn = render_tree(parse, view=view, clip=clip)  # type: ignore[arg-type]
            odd = {c for c in drawn if not c.isprintable()} - {"\n", "\u200c", "\u200d"}
            assert all(unicodedata.category(c) == "Co" for c in odd)


class TestFit:
    @some
    @given(
        parses(min_edus=1, trees=("annotated", "rst", "dependencies")),
        st.sampled_from([40, 41, 57, 80, 120]),
        st.booleans(),
        st.booleans(),
    )
    def test_no_line_is_too_wide_and_no_text_lost(
        self, parse: Parse, width: int, unicode: bool, table: bool
    ) -> None:
        drawn = render_tree(
            parse, width=width, unicode=unicode, view="dependencies" if table else "rst"
        )
        assert all(cell_len(line) <= width for line in drawn.split("\n"))
        letters = "".join(drawn.split())
        at = 0
        for text in parse.edus:  # in text order, only guides and labels between the characters
            for char in "".join(visible(text, unicode=unicode).split()):
                at = letters.index(char, at) + 1

    @some
    @given(parses(trees=("annotated", "rst", "dependencies"), min_edus=1))
    def test_colour_changes_nothing_else(self, parse: Parse) -> None:
        for view in ("rst", "dependencies"):
            plain = render_tree(parse, view=view)  # type: ignore[arg-type]
            colored = render_tree(parse, view=view, color=True)  # type: ignore[arg-type]
            assert "\x1b[" in colored
            assert ANSI.sub("", colored) == plain

    def test_nucleus_and_satellite_differ_in_colour(self, rain: Parse) -> None:
        colored = render_tree(rain, color=True)
        assert re.search("\x1b\\[1;32m●", colored)
        assert re.search("\x1b\\[36m○", colored)

    def test_chinese_takes_two_columns_and_breaks_anywhere(self) -> None:
        parse = Parse(Document.from_edus(["下雨了，" * 10]), RSTTree(1))
        lines = render_tree(parse, width=40).split("\n")
        assert [cell_len(line) for line in lines] == [40, 38, 18]
        assert not any(line.strip().startswith("，") for line in lines)

    def test_long_words_are_cut(self) -> None:
        parse = Parse(Document.from_edus(["x" * 100]), RSTTree(1))
        assert render_tree(parse, width=40).count("x") == 100

    def test_narrow_widths_are_widened(self) -> None:
        assert render_tree(chain(3), width=1) == render_tree(chain(3), width=40)


def test_without_edus_or_tree() -> None:
    assert render_tree(Parse(Document(""), RSTTree(0))) == ""
    assert render_tree(Parse(Document(""), RSTTree(0)), view="dependencies") == ""
    with pytest.raises(InvalidTree, match="no tree"):
        render_tree(Parse(Document.from_edus(["a"])))


def test_unknown_view(rain: Parse) -> None:
    with pytest.raises(UnknownName, match="unknown view 'svg'"):
        render_tree(rain, view="svg")  # type: ignore[arg-type]


@pytest.mark.parametrize("nuclearity", ["NS", "SN", "NN"])
def test_20000_edus(nuclearity: str) -> None:
    parse = chain(20_000, nuclearity)
    _ = parse.annotated, parse.dependencies
    assert "unit 20000" in render_tree(parse)
    assert "unit 20000" in render_tree(parse, view="dependencies")
