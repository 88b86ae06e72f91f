"""Relation inventories: sizes as published, lookups, users' own maps."""

from __future__ import annotations

import pytest

from rhetorica.errors import FormatError, UnknownName
from rhetorica.files import Source
from rhetorica.relations import explain, read_relation_set, relation_set, relation_set_names

SIZES = {
    "gum": (32, 15),
    "gcdt": (32, 15),
    "rst-dt": (78, 18),
    "scidtb": (25, 16),
    "umuc": (35, 15),
}


def test_every_set_has_its_published_size() -> None:
    assert set(relation_set_names()) == set(SIZES)
    for name, (relations, classes) in SIZES.items():
        inventory = relation_set(name)
        assert (len(inventory.relations), len(inventory.classes)) == (relations, classes)


def test_umuc_classes_are_gums() -> None:
    assert set(relation_set("umuc").classes) == set(relation_set("gum").classes)


@pytest.mark.parametrize(
    ("name", "label", "coarse"),
    [
        ("rst-dt", "List", "joint"),
        ("rst-dt", "attribution-e", "attribution"),
        ("rst-dt", "Same-Unit", "same-unit"),
        ("rst-dt", "TextualOrganization", "textual-organization"),
        ("rst-dt", "evaluation-s-e", "evaluation"),
        ("rst-dt", "summary", "summary"),
        ("rst-dt", "consequence-s", "cause"),
        ("gum", "span", "span"),
        ("gum", "ROOT", "ROOT"),
        ("gum", "joint", "joint"),
        ("umuc", "sameunit", "same-unit"),
        ("scidtb", "elab-enum_member", "elaboration"),
    ],
)
def test_lookup(name: str, label: str, coarse: str) -> None:
    assert relation_set(name).coarse(label) == coarse


def test_unknown_labels_and_sets_are_named() -> None:
    with pytest.raises(UnknownName, match="jiont"):
        relation_set("gum").coarse("jiont")
    with pytest.raises(UnknownName, match="Did you mean 'gum'"):
        relation_set("gun")


def test_own_map() -> None:
    own = read_relation_set(Source("my.tsv", "# mine\ncause\tR1\nlist\tmultinuc\tR2\n"))
    assert own.coarse("Cause") == "R1"
    assert own.multinuclear() == {"list"}
    assert own.label_name == "coarse2"


@pytest.mark.parametrize("text", ["", "cause\n", "a\tb\tc\td\n", "a\tnuclear\tb\n", "# only\n"])
def test_broken_map(text: str) -> None:
    with pytest.raises(FormatError, match=r"my\.tsv"):
        read_relation_set(Source("my.tsv", text))


@pytest.mark.parametrize("name", relation_set_names())
def test_every_relation_and_class_is_explained(name: str) -> None:
    known = relation_set(name)
    for label in (*(relation.name for relation in known.relations), *known.classes):
        meaning = explain(label)
        assert meaning.relation == label
        assert meaning.definition.endswith(".")
        # A satellite's relation shows its satellite, a multinuclear one its nuclei.
        types = {r.type for r in known.relations if label in (r.name, r.coarse)}
        assert ("[" in meaning.example) or ("/" in meaning.example), (label, types)


def test_explain_knows_spellings_and_says_what_it_does_not_know() -> None:
    assert explain("Elaboration-Additional-e").definition == explain("elaboration").definition
    assert str(explain("list")).startswith("list: Items")
    with pytest.raises(UnknownName, match="adversative-concession"):
        explain("adversative-concesion")
