"""Our conversions against the corpora's own, document by document, and loss-free round trips."""

from __future__ import annotations

from pathlib import Path

import pytest

from rhetorica import Parse, to_rst
from rhetorica.corpora.gcdt import read_gcdt
from rhetorica.corpora.gum import read_gum
from rhetorica.corpora.rstdt import read_rstdt
from rhetorica.corpora.umuc import read_umuc
from rhetorica.errors import FormatError, RepairWarning
from rhetorica.files import Source
from rhetorica.formats.dis import read_dis, write_dis
from rhetorica.formats.rs3 import read_rs3, write_rs3, write_rs4
from rhetorica.formats.rsd import read_rsd

# EDUs whose words differ between GUM's own layers, so that files made from the .rs4 differ too.
GUM_TEXT_DIFFERS = {"GUM_conversation_artist", "GUM_court_property"}


@pytest.fixture(scope="module")
def gum(shared: Path) -> list[tuple[Path, Parse]]:
    return [(path, read_rs3(path)) for path in sorted((shared / "gum/rst/rstweb").glob("*.rs4"))]


def rewritten(text: str, name: str) -> Source:
    return Source(name, text)


def test_gum_rs4_files_are_written_back_to_the_byte(gum: list[tuple[Path, Parse]]) -> None:
    assert len(gum) == 207
    for path, parse in gum:
        assert write_rs4(parse).rstrip("\n") == path.read_text("utf-8").rstrip("\n"), path.name


def test_gum_binary_and_n_ary_trees_equal_ours(gum: list[tuple[Path, Parse]]) -> None:
    for path, parse in gum:
        for folder, binary in (("lisp_binary", True), ("lisp_nary", False)):
            theirs = path.parents[1] / folder / f"{path.stem}.dis"
            assert read_dis(theirs).tree == parse.tree, theirs.name
            if path.stem not in GUM_TEXT_DIFFERS:
                ours = write_dis(parse, binary=binary)
                assert ours.rstrip() == theirs.read_text("utf-8").rstrip(), theirs.name


def test_gum_dependencies_equal_ours(gum: list[tuple[Path, Parse]]) -> None:
    for path, parse in gum:
        theirs = read_rsd(path.parents[1] / "dependencies" / f"{path.stem}.rsd")
        assert theirs.dependencies == parse.dependencies, path.name


def test_gum_dependencies_lead_back_to_the_tree(gum: list[tuple[Path, Parse]]) -> None:
    for path, parse in gum:
        assert to_rst(parse.dependencies) == parse.tree, path.name
        assert to_rst(parse.dependencies_as("chain")) == parse.tree, path.name


def test_gum_layers_are_joined(shared: Path) -> None:
    parses = list(read_gum(shared / "gum", "dev", constituency=True))
    docs = [parse.document for parse in parses]
    assert len(docs) == 30
    assert sum(len(doc.edus) for doc in docs) == 3634
    assert sum(len(doc.tokens) for doc in docs) == 28_119
    assert sum(len(doc.sentences) for doc in docs) == 1575
    assert all(doc.paragraphs and doc.meta["genre"] for doc in docs)
    for parse in parses:
        plain = read_rs3(shared / "gum/rst/rstweb" / f"{parse.id}.rs4")
        assert len(parse.edus) == len(plain.edus)
        same = [
            ours == theirs
            for ours, theirs in zip(parse.document.tokenized_edu_texts(), plain.edus, strict=True)
        ]
        assert sum(not equal for equal in same) <= 2


def test_gcdt(shared: Path) -> None:
    for split, counts in (("train", (40, 7480, 2026)), ("dev", (5, 1145, 331))):
        parses = list(read_gcdt(shared / "gcdt", split))
        edus = sum(len(parse.edus) for parse in parses)
        assert (len(parses), edus, sum(len(p.document.sentences) for p in parses)) == counts
        for parse in parses:
            base = shared / "gcdt"
            assert read_dis(base / "dis" / split / f"{parse.id}.dis").tree == parse.tree
            theirs = read_rsd(base / "rsd" / split / f"{parse.id}.rsd")
            assert theirs.dependencies == parse.dependencies
            path = base / "rs3" / split / f"{parse.id}.rs3"
            written = write_rs3(parse, tokenized=True)
            assert read_rs3(rewritten(written, path.name)).source == read_rs3(path).source


def test_umuc(shared: Path) -> None:
    folder = shared / "umuc"
    with pytest.warns(RepairWarning, match="spch007.*2 nuclei"):
        train = list(read_umuc(folder, "train"))
    with pytest.warns(RepairWarning, match="spch006.*2 roots"):
        dev = list(read_umuc(folder, "dev"))
    assert (len(train), sum(len(p.edus) for p in train)) == (77, 4333)
    assert (len(dev), sum(len(p.edus) for p in dev)) == (4, 565)
    for parse in (*train, *dev):
        again = read_rs3(rewritten(write_rs3(parse), f"{parse.id}.rs3"))
        assert again.source == parse.source
        assert again.edus == parse.edus
    with pytest.raises(FormatError, match="2 roots"):
        list(read_umuc(folder, "dev", repair=False))


DIS = """( Root (span 1 2)
  ( Nucleus (leaf 1) (rel2par span) (text _!It rained.<P>_!) )
  ( Satellite (leaf 2) (rel2par result) (text _!So we left._!) )
)
"""


@pytest.fixture
def rstdt(tmp_path: Path) -> Path:
    """A folder laid out as the LDC distributes it."""
    for split in ("TRAINING", "TEST"):
        folder = tmp_path / "data" / "RSTtrees-WSJ-main-1.0" / split
        folder.mkdir(parents=True)
        name = f"wsj_{split}.out"
        (folder / name).write_text("     It  rained.\n\n     So we\nleft. \n")
        (folder / f"{name}.dis").write_text(DIS)
        (folder / f"{name}.edus").write_text("    It rained.\n    So we left.\n")
    return tmp_path


def test_rstdt_folder(rstdt: Path) -> None:
    (parse,) = read_rstdt(rstdt, "train")
    assert parse.id == "wsj_TRAINING"
    assert parse.edus == ["It  rained.", "So we\nleft."]
    assert [parse.document.text[s:e] for s, e in parse.document.paragraphs] == parse.edus
    assert [p.id for p in read_rstdt(rstdt)] == ["wsj_TEST", "wsj_TRAINING"]
    assert [p.id for p in read_rstdt(rstdt, "test")] == ["wsj_TEST"]


def test_rstdt_without_raw_text(rstdt: Path) -> None:
    for path in rstdt.rglob("*.out"):
        path.unlink()
    (parse,) = read_rstdt(rstdt, "train")
    assert parse.edus == ["It rained.", "So we left."]
    assert len(parse.document.paragraphs) == 2


def test_rstdt_where_the_tree_misquotes_the_text(rstdt: Path) -> None:
    path = next(rstdt.rglob("wsj_TEST.out.dis"))
    path.write_text(DIS.replace("rained", "raind"))
    (parse,) = read_rstdt(rstdt, "test")
    assert parse.edus[0] == "It  rained."
    next(rstdt.rglob("wsj_TEST.out.edus")).write_text("It rand.\nSo we left.\n")
    with pytest.warns(RepairWarning, match="does not stand in the text"):
        (parse,) = read_rstdt(rstdt, "test")
    assert parse.edus == ["It raind.", "So we left."]


def test_a_wrong_folder_is_named(tmp_path: Path) -> None:
    for read in (read_gum, read_gcdt, read_umuc, read_rstdt):
        with pytest.raises(FormatError, match=tmp_path.name):
            list(read(tmp_path))
