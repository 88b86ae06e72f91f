"""Trees to walk, EDUs as objects, summaries, differences, exports."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

import rhetorica
from rhetorica import Document, Join, Parse, RSTTree, Scores, Span
from rhetorica.errors import FormatError, InvalidDocument, InvalidTree, RhetoricaError, UnknownName
from rhetorica.exports import save
from rhetorica.salience import METHODS, central, levels
from strategies import rst_trees

EDUS = ["People say", "it is wet", "because it rained", "and it poured,", "all day."]
JOINS = (
    Join(0, 1, 5, "SN", "attribution"),
    Join(1, 2, 5, "NS", "cause"),
    Join(2, 4, 5, "NS", "circumstance"),
    Join(2, 3, 4, "NN", "list"),
)


@pytest.fixture
def parse() -> Parse:
    doc = replace(
        Document.from_edus(EDUS, id="wet"), sentences=(Span(0, 38), Span(39, 62)), language="en"
    )
    scores = Scores(
        heads=(0.9, 0.8, 0.7, 0.6, 0.5),
        spans=(1.0, 0.9, 0.8, 0.7),
        relations=(0.6, 0.5, 0.4, 0.3),
    )
    return Parse(doc, RSTTree(5, JOINS), scores=scores, provenance={"parser": "test"})


def node(parse: Parse, *place: int) -> rhetorica.nodes.TreeNode:
    assert parse.root is not None
    return next(node for node in parse.root if node.range == place)


def test_nodes_know_their_neighbours(parse: Parse) -> None:
    root = parse.root
    assert root is not None
    assert (root.role, root.relation, root.depth, root.parent) == ("root", "", 0, None)
    assert [child.range for child in root.children] == [(0, 1), (1, 5)]
    assert root.nucleus == node(parse, 1, 5)
    assert [s.relation for s in root.satellites] == ["attribution"]
    group = node(parse, 2, 4)
    assert group.is_multinuclear
    assert [n.relation for n in group.nuclei] == ["list", "list"]
    assert group.parent == node(parse, 2, 5)
    assert group.text == "because it rained and it poured,"
    assert parse.text[slice(*group.span)] == group.text
    assert [edu.text for edu in group.edus] == EDUS[2:4]
    assert group.head.text == EDUS[2]
    assert [n.range for n in node(parse, 3, 4).ancestors()] == [(2, 4), (2, 5), (1, 5), (0, 5)]


def test_scores_belong_to_their_nodes(parse: Parse) -> None:
    assert node(parse, 1, 5).score == 0.9
    assert node(parse, 0, 1).score is None
    assert node(parse, 0, 1).relation_score == 0.6
    assert node(parse, 2, 5).relation_score == 0.5
    assert node(parse, 1, 5).relation_score is None  # a nucleus with satellites has no relation


def test_path_goes_up_and_down(parse: Parse) -> None:
    way = node(parse, 0, 1).path(node(parse, 3, 4))
    assert [n.range for n in way] == [(0, 1), (0, 5), (1, 5), (2, 5), (2, 4), (3, 4)]
    assert node(parse, 3, 4).path(node(parse, 0, 1)) == way[::-1]
    assert node(parse, 2, 4).path(node(parse, 2, 4)) == [node(parse, 2, 4)]
    other = Parse(Document.from_edus(["a", "b"]), RSTTree(2, (Join(0, 1, 2, "NN", "list"),)))
    with pytest.raises(InvalidTree, match="one tree"):
        node(parse, 0, 1).path(node(other, 0, 1))


@given(rst_trees())
def test_nodes_are_the_units_of_the_tree(tree: RSTTree) -> None:
    parse = Parse(Document.from_edus(["x"] * tree.n_edus), tree)
    root = parse.root
    if root is None:
        assert tree.n_edus == 0
        return
    nodes = list(root)
    assert [n.range for n in root.leaves()] == [(i, i + 1) for i in range(tree.n_edus)]
    assert {n.range for n in nodes if not n.is_edu} <= {(j.start, j.end) for j in tree.joins}
    for n in nodes:
        assert all(child.parent == n and child.depth == n.depth + 1 for child in n.children)
        assert n.is_edu == (not n.children)
        if n.children:
            assert n.nucleus is not None
            assert n.head == n.nucleus.head
            bounds = [child.range for child in n.children]
            assert [b[0] for b in bounds[1:]] == [b[1] for b in bounds[:-1]]
            assert (bounds[0][0], bounds[-1][1]) == n.range


def test_relations_by_name_and_place(parse: Parse) -> None:
    assert [link.relation for link in parse.relations()] == [
        "attribution",
        "cause",
        "circumstance",
        "list",
    ]
    (cause,) = parse.relations("c*se")
    assert cause.texts == (EDUS[1], "because it rained and it poured, all day.")
    assert (cause.multinuclear, cause.score) == (False, 0.5)
    (joint,) = parse.relations("list")
    assert joint.multinuclear
    assert joint.texts == (EDUS[2], EDUS[3])
    # The second sentence holds the last two EDUs; only the first relations cross its border.
    assert [link.relation for link in parse.relations(within="sentence")] == []
    one = replace(parse, document=replace(parse.document, sentences=(Span(0, 62),)))
    assert len(one.relations(within="sentence")) == 4
    with pytest.raises(UnknownName, match="sentence"):
        parse.relations(within="chapter")  # type: ignore[arg-type]


def test_what_cannot_be_had_says_what_can(parse: Parse, tmp_path: Path) -> None:
    with pytest.raises(RhetoricaError, match=r"pdf is no text: parse.save\('tree.pdf'\)"):
        parse.to("pdf")
    with pytest.raises(FormatError, match=r"known are .*\.pdf, \.png, .*\.svg, \.tex"):
        parse.save(tmp_path / "tree.foo")
    with pytest.raises(FormatError, match=r"No such file"):
        rhetorica.read(tmp_path / "none.rs3")  # at once, not at the first document
    with pytest.raises(FormatError, match=r"is a directory: its files"):
        rhetorica.read(tmp_path)
    (tmp_path / "essay.txt").write_text("It rained.")
    with pytest.raises(FormatError, match=r"--from; .*`rhetorica parse` makes one"):
        rhetorica.read(tmp_path / "essay.txt")


def test_edus_and_the_parse_as_a_sequence(parse: Parse) -> None:
    assert len(parse) == 5
    assert parse[2] is parse.units[2]
    assert [edu.text for edu in parse] == parse.edus == EDUS
    edu = parse[2]
    assert (edu.head, edu.relation, edu.score, edu.sentence) == (1, "cause", 0.7, 0)
    assert parse.text[edu.start : edu.end] == edu.text
    bare = Parse(parse.document)
    assert (bare[0].head, bare[0].relation) == (None, "")
    empty = Parse(Document(""), RSTTree(0))
    assert bool(empty)
    assert (len(empty), empty.root, empty.units, empty.relations(), empty.summary()) == (
        0, None, [], [], "",
    )  # fmt: skip


def test_repr_is_short_and_str_is_the_tree(parse: Parse) -> None:
    assert repr(parse) == "<Parse wet: 5 EDUs, RST tree, test>"
    assert "○ attribution" in str(parse)
    assert str(Parse(parse.document)).splitlines() == EDUS
    assert repr(node(parse, 0, 1)) == "<satellite attribution 1-1: 'People say'>"


def test_levels_by_hand(parse: Parse) -> None:
    # Heads: 0 -> 1, 1 root, 2 -> 1, 3 -> 2 (list), 4 -> 2.
    assert levels(parse, "hirao") == [1, 0, 1, 2, 2]
    # Nodes: (0,5) 0; (0,1) 1 and (1,5) 1; (1,2) and (2,5) 2; (2,4), (4,5) 3; both nuclei of the
    # list stand for it, and it for (2,5).
    assert levels(parse, "marcu") == [1, 0, 2, 2, 3]
    assert [edu.index for edu in parse.central(3, method="marcu")] == [0, 1, 2]
    assert parse.summary(1) == EDUS[1]
    with pytest.raises(UnknownName, match="hirao, marcu"):
        levels(parse, "mine")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="negative"):
        central(parse, -1)


@given(rst_trees())
def test_the_root_is_central_for_every_method(tree: RSTTree) -> None:
    parse = Parse(Document.from_edus(["x"] * tree.n_edus), tree)
    for method in METHODS:
        found = levels(parse, method)
        assert len(found) == tree.n_edus
        if found:
            assert min(found) == 0 == found[parse.dependencies.root]


def test_diff_tells_edus_units_and_labels(parse: Parse) -> None:
    assert parse.diff(parse) == []
    other = replace(parse, source=RSTTree(5, (*JOINS[:1], JOINS[1]._replace(relation="result"),
                                              *JOINS[2:])))  # fmt: skip
    (found,) = parse.diff(other)
    assert (found.kind, found.this, found.other) == ("label", "satellite cause", "satellite result")
    assert str(found).startswith("label satellite cause | satellite result: because")
    shorter = Parse(Document.from_edus([*EDUS[:3], "and it poured, all day."]))
    (start,) = parse.diff(shorter)
    assert (start.kind, start.this, start.other) == ("edu", "all day.", "")
    flat = RSTTree(5, (
        JOINS[0], JOINS[1], Join(2, 3, 5, "NS", "elaboration"), Join(3, 4, 5, "NS", "cause"),
    ))  # fmt: skip
    kinds = [d.kind for d in parse.diff(replace(parse, source=flat))]
    assert kinds.count("unit") == 2  # (2, 4) is only here, (3, 5) only there


def test_rows_tables_and_graphs(parse: Parse) -> None:
    rows = parse.to_dicts()
    assert [row["depth"] for row in rows] == [1, 0, 1, 2, 2]
    assert rows[2] == rows[2] | {"document": "wet", "edu": 2, "head": 1, "head_text": EDUS[1]}
    assert Parse(parse.document).to_dicts()[0]["head"] is None


@pytest.mark.parametrize("name", ["pandas", "networkx", "nltk"])
def test_missing_libraries_are_named(
    parse: Parse, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "nltk.tree", None)
    method = {"pandas": "to_dataframe", "networkx": "to_networkx", "nltk": "to_nltk"}[name]
    with pytest.raises(RhetoricaError, match=f"pip install {name}"):
        getattr(parse, method)()


def test_other_libraries_types(parse: Parse) -> None:
    frame = pytest.importorskip("pandas") and parse.to_dataframe()
    assert list(frame["relation"]) == ["attribution", "ROOT", "cause", "list", "circumstance"]
    graph = pytest.importorskip("networkx") and parse.to_networkx()
    assert set(graph.edges) == {(1, 0), (1, 2), (2, 3), (2, 4)}
    assert graph.edges[1, 2]["relation"] == "cause"
    tree = pytest.importorskip("nltk") and parse.to_nltk()
    assert tree.leaves() == EDUS
    assert tree[0].label() == "satellite:attribution"


def test_to_and_save(parse: Parse, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert parse.to("svg").startswith("<svg")
    assert "<html" in parse.to("html")
    with pytest.raises(UnknownName, match="tree"):
        parse.to("xls")
    parse.save(tmp_path / "x.rs3")
    (again,) = rhetorica.read(tmp_path / "x.rs3")
    assert again.dependencies.heads == parse.dependencies.heads
    parse.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text("utf-8") == parse.to("svg")
    parse.save(tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    save([parse, parse], tmp_path / "x.jsonl.gz")
    assert len(list(rhetorica.read(tmp_path / "x.jsonl.gz"))) == 2
    with pytest.raises(FormatError, match="one by one"):
        save([parse, parse], tmp_path / "x.svg")
    with pytest.raises(FormatError, match="extension"):
        parse.save(tmp_path / "x.doc")
    parse.show()
    assert capsys.readouterr().out == f"{parse}\n"


@pytest.mark.parametrize("nuclearity", ["NS", "NN"])
def test_twenty_thousand_edus(nuclearity: str) -> None:
    count = 20_000
    joins = tuple(Join(i, i + 1, count, nuclearity, "list") for i in range(count - 1))  # type: ignore[arg-type]
    parse = Parse(Document.from_edus(["x"] * count), RSTTree(count, joins))
    root = parse.root
    assert root is not None
    assert sum(1 for _ in root.leaves()) == count
    assert len(parse.relations()) == count - 1
    halves = (Span(0, count - 1), Span(count, 2 * count - 1))
    two = replace(parse, document=replace(parse.document, sentences=halves))
    # A satellite reaches to the end of the text, nuclei stand in a row.
    inside = count // 2 - 1 if nuclearity == "NS" else count - 2
    assert len(two.relations(within="sentence")) == inside
    assert len(parse.summary(10).split()) == 10
    deepest = max(root, key=lambda n: n.depth)
    assert len(deepest.path(root)) == deepest.depth + 1


def test_units_are_short_to_look_at(parse: Parse) -> None:
    assert repr(parse[0]) == f"<EDU 0 attribution of 1: {EDUS[0]!r}>"
    assert repr(parse[1]) == f"<EDU 1 ROOT: {EDUS[1]!r}>"
    assert repr(Parse(parse.document)[0]) == f"<EDU 0: {EDUS[0]!r}>"


def test_relations_within_sentences_need_sentences() -> None:
    parse = Parse(Document.from_edus(EDUS[:2], id="wet"), RSTTree(2, (Join(0, 1, 2, "NS", "x"),)))
    with pytest.raises(InvalidDocument, match=r"wet does not say where its sentences are: .*token"):
        parse.relations(within="sentence")
    assert [link.relation for link in parse.tokenized().relations(within="paragraph")] == ["x"]
