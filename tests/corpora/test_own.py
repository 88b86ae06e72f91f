"""Your own trees as a corpus: what is read, in which classes, what is said when it is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rhetorica import save
from rhetorica.corpora import read_corpus
from rhetorica.corpora.own import own_relations, read_own
from rhetorica.errors import FormatError, RhetoricaError
from rhetorica.train.treebank import left_out, read_treebank

TREES = Path(__file__).resolve().parents[2] / "examples" / "trees"


def test_splits_are_folders_or_files(tmp_path: Path) -> None:
    train = list(read_own(TREES, "train"))
    assert [parse.id for parse in train] == ["garden", "kettle"]
    save(train, tmp_path / "train.jsonl")
    shutil.copytree(TREES / "dev", tmp_path / "dev")
    assert [parse.tree for parse in read_own(tmp_path, "train")] == [p.tree for p in train]
    assert [parse.id for parse in read_corpus("own", tmp_path)] == ["bread", "garden", "kettle"]


def test_relations_are_those_that_occur_or_in_the_classes_of_a_file(tmp_path: Path) -> None:
    found = own_relations(TREES, read_own(TREES))
    assert found.coarse("joint-list") == "joint-list"
    assert found.multinuclear() == {"joint-list", "joint-sequence"}
    shutil.copytree(TREES, tmp_path / "mine")
    (tmp_path / "mine" / "relations.tsv").write_text(
        "".join(f"{r.name}\t{r.name.partition('-')[0]}\n" for r in found.relations), "utf-8"
    )
    treebank = read_treebank("own", tmp_path / "mine")
    assert treebank.relations.coarse("joint-list") == "joint"
    assert len(treebank.train) == 2
    assert treebank.dev[0].document.tokens  # syntax was added


def test_training_documents_can_be_left_out() -> None:
    train = list(read_own(TREES, "train"))
    assert [parse.id for parse in left_out(train, ["gard*"])] == ["kettle"]
    with pytest.raises(RhetoricaError, match=r"named 'GUM_\*'.*such as garden, kettle"):
        left_out(train, ["GUM_*"])
    with pytest.raises(RhetoricaError, match="all training documents"):
        left_out(train, ["garden", "k*"])


@pytest.mark.parametrize(("folder", "message"), [("nowhere", "no such folder"), (".", "train")])
def test_what_is_missing_is_said(tmp_path: Path, folder: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        list(read_own(tmp_path / folder, "train"))
