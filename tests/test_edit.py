"""Correcting by hand: whatever is done, the result is a valid tree over the same text."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rhetorica import (
    AnnotatedTree,
    Document,
    Join,
    Node,
    Parse,
    RSTTree,
    Scores,
    SecondaryEdge,
    Signal,
    read,
)
from rhetorica.edit import (
    PARTS,
    attachment_points,
    begin,
    choose,
    merge_edus,
    reattach,
    relabel,
    set_nuclearity,
    split_edu,
    units,
)
from rhetorica.errors import InvalidEdit, InvalidTree
from rhetorica.files import Source
from strategies import parses, plain_words, relations

TREES = ("annotated", "rst", "dependencies")
some_parses = parses(min_edus=1, max_edus=8, trees=TREES)
few = settings(max_examples=60)


def ranges(parse: Parse) -> list[tuple[int, int]]:
    return [(unit.start, unit.end) for unit in units(parse)]


def shape(parse: Parse) -> list[tuple[object, ...]]:
    """Return units with what hangs on them, without ids."""
    return [tuple(unit) for unit in units(parse)]


def check(before: Parse, after: Parse, *, same_edus: bool = True) -> None:
    """Check what every edit must keep; that trees and scores are valid, their types check."""
    assert after.document.text == before.document.text
    if same_edus:
        assert after.document.edus == before.document.edus
        assert after.kbest == before.kbest
    assert isinstance(after.source, AnnotatedTree)
    assert after.tree.n_edus == after.dependencies.n_edus == len(after.document.edus)
    assert after.source.inventory == before.annotated.inventory
    assert (after.scores is None) == (before.scores is None)
    assert after.provenance["edited"]
    found = ranges(after)
    assert len(set(found)) == len(found)


def test_units_of_a_hand_made_tree() -> None:
    nodes = (
        Node("1", "edu", 5, "satellite", "cause"),
        Node("2", "edu", 5, "nucleus", "list"),
        Node("3", "edu", 5, "nucleus", "list"),
        Node("4", "edu", 2, "satellite", "elaboration"),
        Node("9", "span", -1, "root", ""),
        Node("8", "multinuc", 4, "nucleus", "span"),
    )
    parse = Parse(Document.from_edus("abcd"), AnnotatedTree(nodes))
    assert shape(parse) == [
        (0, 4, "span", "root", "", -1, 1),
        (0, 1, "edu", "satellite", "cause", 0, 0),
        (1, 4, "multinuc", "nucleus", "span", 0, 1),
        (1, 2, "edu", "nucleus", "list", 2, 1),
        (2, 4, "span", "nucleus", "list", 2, 2),
        (2, 3, "edu", "nucleus", "span", 4, 2),
        (3, 4, "edu", "satellite", "elaboration", 4, 3),
    ]
    assert units(Parse(Document(""), RSTTree(0))) == []


def test_begin_and_split_in_one_group() -> None:
    """A tree by hand: one flat group, in which the parts of a split nucleus are nuclei, too."""
    parse = begin(Parse(Document.from_edus(["It is wet", "because it rained all day."])), "joint")
    parse = split_edu(parse, 1, parse.document.text.index("all"), "joint", "NN")
    assert [tuple(unit)[:5] for unit in units(parse)] == [
        (0, 3, "multinuc", "root", ""),
        (0, 1, "edu", "nucleus", "joint"),
        (1, 2, "edu", "nucleus", "joint"),
        (2, 3, "edu", "nucleus", "joint"),
    ]
    parse = reattach(parse, (2, 3), (1, 2), "elaboration")
    assert [unit[:2] for unit in units(parse)] == [(0, 3), (0, 1), (1, 3), (1, 2), (2, 3)]
    nested = split_edu(parse, 0, parse.document.text.index("is"), "other", "NN")
    assert (0, 2) in [unit[:2] for unit in units(nested)]
    assert units(begin(Parse(Document.from_edus(["One."])), "joint"))[0].kind == "edu"


def test_a_tree_that_is_begun_by_hand_is_no_parsers() -> None:
    about = {"parser": "neural", "scheme": "gum", "model": "m"}
    cut = Parse(Document.from_edus(["It is wet", "today."]), provenance=about)
    found = begin(cut, "joint").provenance
    assert found == {"segmenter": "neural", "scheme": "gum", "begun": "by hand"}


@few
@given(some_parses, st.data())
def test_relabel_changes_the_label_only(parse: Parse, data: st.DataObject) -> None:
    unit = data.draw(st.sampled_from(units(parse)))
    where = unit[:2]
    if unit.role == "root" or unit.relation == "span":
        with pytest.raises(InvalidEdit, match="no relation of its own"):
            relabel(parse, where, "cause")
        return
    after = relabel(parse, where, "neu")
    check(parse, after)
    changed = [new for old, new in zip(units(parse), units(after), strict=True) if old != new]
    assert after.tree.joins != parse.tree.joins
    assert all(new.relation == "neu" and new.parent == unit.parent for new in changed)
    assert [u._replace(relation="") for u in units(after)] == [
        u._replace(relation="") for u in units(parse)
    ]


@few
@given(some_parses, st.data())
def test_nuclearity(parse: Parse, data: st.DataObject) -> None:
    where = data.draw(st.sampled_from(ranges(parse)))
    part = data.draw(st.sampled_from(PARTS))
    try:
        after = set_nuclearity(parse, where, part)
    except InvalidEdit:
        return
    check(parse, after)
    if where not in ranges(after):  # two groups of one relation have become one
        before = units(parse)
        (group,) = (place for place, unit in enumerate(before) if unit[:2] == where)
        assert (before[group].kind, part) == ("multinuc", "both")
        where = next(unit[:2] for unit in before if unit.parent == group)
    now = next(unit for unit in units(after) if unit[:2] == where)
    expected = {
        "satellite": ("satellite", "span"),
        "nucleus": ("nucleus", "span"),
        "both": ("nucleus", "multinuc"),
    }[part]
    above = units(after)[now.parent]
    assert (now.role, above.kind) == expected


def two(nuclearity: str) -> Parse:
    return Parse(Document.from_edus("ab"), RSTTree(2, (Join(0, 1, 2, nuclearity, "r"),)))  # type: ignore[arg-type]


@pytest.mark.parametrize("before", ["NS", "SN", "NN"])
@pytest.mark.parametrize(
    ("edu", "part", "after"),
    [
        (0, "satellite", "SN"), (0, "nucleus", "NS"), (0, "both", "NN"),
        (1, "satellite", "NS"), (1, "nucleus", "SN"), (1, "both", "NN"),
    ],
)  # fmt: skip
def test_nuclearity_of_a_pair(before: str, edu: int, part: str, after: str) -> None:
    done = set_nuclearity(two(before), (edu, edu + 1), part)  # type: ignore[arg-type]
    assert done.tree.joins == (Join(0, 1, 2, after, "r"),)  # type: ignore[arg-type]


def several_satellites() -> Parse:
    """1 and 3, 4 modify 2, flat."""
    nodes = (
        Node("1", "edu", 1, "satellite", "a"),
        Node("2", "edu", 4, "nucleus", "span"),
        Node("3", "edu", 1, "satellite", "b"),
        Node("4", "edu", 1, "satellite", "c"),
        Node("5", "span", -1, "root", ""),
    )
    return Parse(Document.from_edus("abcd"), AnnotatedTree(nodes))


def test_an_inner_satellite_takes_what_is_near_and_leaves_what_is_beyond() -> None:
    after = set_nuclearity(several_satellites(), (2, 3), "nucleus")
    assert shape(after) == [
        (0, 4, "span", "root", "", -1, 2),
        (0, 3, "span", "nucleus", "span", 0, 2),
        (0, 2, "span", "satellite", "b", 1, 1),
        (0, 1, "edu", "satellite", "a", 2, 0),
        (1, 2, "edu", "nucleus", "span", 2, 1),
        (2, 3, "edu", "nucleus", "span", 1, 2),
        (3, 4, "edu", "satellite", "c", 0, 3),
    ]
    with pytest.raises(InvalidEdit, match="nucleus of 3 satellites"):
        set_nuclearity(several_satellites(), (1, 2), "satellite")


@few
@given(some_parses, relations, st.data())
def test_reattach_wherever_it_is_offered(parse: Parse, name: str, data: st.DataObject) -> None:
    where = data.draw(st.sampled_from(ranges(parse)))
    points = attachment_points(parse, where)
    target = data.draw(st.sampled_from(ranges(parse)))
    role = data.draw(st.sampled_from(["satellite", "nucleus"]))
    if target not in points:
        with pytest.raises(InvalidEdit, match="cannot be attached"):
            reattach(parse, where, target, name, role)
        return
    after = reattach(parse, where, target, name, role)
    check(parse, after)
    now = next(unit for unit in units(after) if unit[:2] == where)
    assert (now.role, now.relation) == (role, name)
    assert units(after)[now.parent].kind == ("span" if role == "satellite" else "multinuc")


@few
@given(parses(min_edus=2, max_edus=8, trees=TREES), st.data())
def test_every_satellite_can_go_elsewhere_or_back(parse: Parse, data: st.DataObject) -> None:
    satellites = [unit for unit in units(parse) if unit.role == "satellite"]
    assume(satellites)
    unit = data.draw(st.sampled_from(satellites))
    points = attachment_points(parse, unit[:2])
    host = units(parse)[unit.parent]
    nucleus = next(u for u in units(parse) if u.parent == unit.parent and u.role == "nucleus")
    if nucleus[:2] in points and len([u for u in units(parse) if u.parent == unit.parent]) > 2:
        back = reattach(parse, unit[:2], nucleus[:2], unit.relation)
        assert shape(back) == shape(parse)
    assert points, (unit, host)


@few
@given(parses(min_edus=1, max_edus=8, trees=TREES, word=plain_words), st.data())
def test_split_and_merge_back(parse: Parse, data: st.DataObject) -> None:
    edu = data.draw(st.integers(0, len(parse.edus) - 1))
    start, end = parse.document.edus[edu]
    assume(end - start > 1)
    at = data.draw(st.integers(start + 1, end - 1))
    assume(parse.document.text[start:at].strip() and parse.document.text[at:end].strip())
    nuclearity = data.draw(st.sampled_from(["NS", "SN", "NN"]))
    after = split_edu(parse, edu, at, "neu", nuclearity)
    check(parse, after, same_edus=False)
    assert len(after.edus) == len(parse.edus) + 1
    assert (edu, edu + 2) in ranges(after)
    back = merge_edus(after, edu)
    check(parse, back, same_edus=False)
    assert back.document == parse.document
    assert shape(back) == shape(parse)


@few
@given(parses(min_edus=2, max_edus=8, trees=TREES), st.data())
def test_merge_anywhere(parse: Parse, data: st.DataObject) -> None:
    edu = data.draw(st.integers(0, len(parse.edus) - 2))
    after = merge_edus(parse, edu)
    check(parse, after, same_edus=False)
    assert len(after.edus) == len(parse.edus) - 1
    assert "".join("".join(after.edus).split()) == "".join(parse.document.text.split())
    # What did not have to do with the two is still there.
    old = {
        tuple(i if i <= edu else i - 1 for i in unit)
        for unit in ranges(parse)
        if unit[1] <= edu or unit[0] > edu + 1
    }
    assert old <= set(ranges(after))


@few
@given(parses(min_edus=1, max_edus=8, trees=TREES, word=plain_words, extras=False), st.data())
def test_corrections_survive_rs4(parse: Parse, data: st.DataObject) -> None:
    for _ in range(3):
        where = data.draw(st.sampled_from(ranges(parse)))
        if points := attachment_points(parse, where):
            parse = reattach(parse, where, data.draw(st.sampled_from(points)), "elaboration")
    # An .rs4 tells a satellite of a multinuclear group from a nucleus by its relation only.
    roles = {(unit.relation, unit.role) for unit in units(parse)}
    assume(len({relation for relation, _ in roles}) == len(roles))
    again = next(read(Source("<test>", parse.to("rs4")), "rs4"))
    assert shape(again) == shape(parse)


@few
@given(some_parses, st.data())
def test_many_corrections_in_a_row(parse: Parse, data: st.DataObject) -> None:
    first = parse
    for _ in range(6):
        where = data.draw(st.sampled_from(ranges(parse)))
        edu = data.draw(st.integers(0, len(parse.edus) - 1))
        points = attachment_points(parse, where)
        kind = data.draw(st.sampled_from(["relabel", "part", "merge", *["move"] * bool(points)]))
        name = data.draw(relations)
        try:
            if kind == "relabel":
                parse = relabel(parse, where, name)
            elif kind == "part":
                parse = set_nuclearity(parse, where, data.draw(st.sampled_from(PARTS)), name)
            elif kind == "merge":
                parse = merge_edus(parse, edu)
            else:
                role = data.draw(st.sampled_from(["satellite", "nucleus"]))
                parse = reattach(parse, where, data.draw(st.sampled_from(points)), name, role)
        except InvalidEdit:
            assert kind != "move"
        else:
            check(first, parse, same_edus=False)


def test_a_satellite_between_parts_of_what_it_modifies() -> None:
    nodes = (
        Node("1", "edu", 3, "nucleus", "list"),
        Node("2", "edu", 3, "satellite", "cause"),
        Node("3", "edu", 3, "nucleus", "list"),
        Node("4", "multinuc", -1, "root", ""),
    )
    with pytest.raises(InvalidTree, match="node 4: a satellite stands between"):
        AnnotatedTree(nodes)


def test_secondary_edges_and_signals_follow_their_units() -> None:
    parse = several_satellites()
    tree = replace(
        parse.annotated,
        secondary=(SecondaryEdge("1-3", 0, 2, "x"), SecondaryEdge("3-4", 2, 3, "y")),
        signals=(Signal(2, False, "dm", "but"), Signal(0, True, "dm", "so")),
    )
    parse = replace(parse, source=tree)
    turned = set_nuclearity(parse, (2, 3), "nucleus").annotated
    assert [edge[1:] for edge in turned.secondary] == [(0, 2, "x"), (2, 3, "y")]
    source = next(signal.source for signal in turned.signals if not signal.secondary)
    assert turned.nodes[source].relation == "b"
    merged = merge_edus(parse, 2).annotated
    assert [edge[1:] for edge in merged.secondary] == [(0, 2, "x")]
    assert Counter(signal.secondary for signal in merged.signals) == {True: 1, False: 1}


def test_probabilities_of_what_stayed_are_kept() -> None:
    joins = (Join(0, 1, 3, "NS", "a"), Join(1, 2, 3, "SN", "b"))
    scores = Scores(
        (0.9, 0.8, 0.7), (0.6, 0.5, 0.4), (1.0, 0.3, 0.2), (0.9, 0.8), (0.7, 0.6), (0.5, 0.4)
    )
    parse = Parse(Document.from_edus("abc"), RSTTree(3, joins), scores)
    after = relabel(parse, (1, 3), "neu").scores
    assert after is not None
    assert after.spans == (0.9, 0.8)
    assert after.nuclearities == (0.7, 0.6)
    assert after.relations == (1.0, 0.4)
    merged = merge_edus(parse, 1).scores
    assert merged is not None
    assert merged.boundaries == (0.9, 0.8)
    assert merged.spans == (0.9,)
    cut = split_edu(replace(parse, document=Document.from_edus(["a", "b", "c d"])), 2, 5, "neu")
    assert cut.scores is not None
    assert cut.scores.boundaries == (0.9, 0.8, 0.7, 1.0)
    assert cut.scores.spans == (0.9, 0.8, 1.0)


def test_choose_an_alternative() -> None:
    with pytest.raises(InvalidEdit, match="0 alternatives"):
        choose(two("NS"), 0)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda p: relabel(p, (0, 2), "x"), "whole text"),
        (lambda p: relabel(p, (0, 3), "x"), "units that begin there are 0-1, 0-2"),
        (lambda p: relabel(p, (7, 9), "x"), "has 2 EDUs"),
        (lambda p: relabel(p, (1, 2), "span"), "cannot name a relation"),
        (lambda p: relabel(p, (1, 2), " x"), "cannot name a relation"),
        (lambda p: set_nuclearity(p, (0, 2), "both"), "whole text"),
        (lambda p: set_nuclearity(p, (0, 1), "none"), "not satellite, nucleus or both"),
        (lambda p: set_nuclearity(p, (0, 1), "nucleus", "x"), "relabel its satellite"),
        (lambda p: reattach(p, (0, 1), (1, 2), "x"), "what others are attached to"),
        (lambda p: reattach(p, (1, 2), (0, 1), "x", "root"), "not satellite or nucleus"),
        (lambda p: split_edu(p, 0, 0, "x"), "cannot be cut at 0"),
        (lambda p: split_edu(p, 5, 0, "x"), "no EDU 5"),
        (lambda p: split_edu(p, 0, 0, "x", "SS"), "not NS, SN or NN"),
        (lambda p: merge_edus(p, 1), "is the last"),
        (lambda p: merge_edus(p, -1), "no EDU -1"),
    ],
)
def test_what_cannot_be_done_is_said(edit: object, message: str) -> None:
    with pytest.raises(InvalidEdit, match=message):
        edit(two("NS"))  # type: ignore[operator]


def test_a_deep_tree() -> None:
    count = 5000
    joins = tuple(Join(i, i + 1, count, "NS", "a") for i in range(count - 1))
    parse = Parse(Document.from_edus(["x y"] * count), RSTTree(count, joins))
    assert len(units(parse)) == 2 * count - 1
    after = merge_edus(relabel(parse, (count - 1, count), "b"), count // 2)
    assert after.dependencies.heads[-1] == count - 3
