"""Model folders: written, found, read, and refused when something is wrong with them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rhetorica.errors import ModelError
from rhetorica.models import store
from rhetorica.models.store import Config, State, Stored, find, models, seal
from rhetorica.trees import Label

ROOT = Path(__file__).resolve().parents[2]


class Sum(Stored):
    """The smallest model: adds its weights."""

    name = "sum"

    def __init__(self, *, factor: float = 1.0) -> None:
        self.factor = factor
        self.weights = np.arange(3.0)

    def state(self) -> State:
        config = Config(
            "parser", self.name, {"factor": self.factor}, labels=(Label("NS", "cause"),)
        )
        return State(config, {"weights": self.weights}, {"notes/words.txt": b"a b\n"})

    @classmethod
    def from_state(cls, state: State) -> Sum:
        model = cls(**state.config.settings)
        model.weights = state.arrays["weights"]
        assert state.file("notes/words.txt") == b"a b\n"
        return model

    def __call__(self) -> float:
        return self.factor * float(self.weights.sum())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Sum(factor=2.0).save(tmp_path / "one", treebanks=("mine",), licence="CC0", scores={"raw": 5.0})
    return tmp_path / "one"


def test_saved_and_loaded(folder: Path) -> None:
    assert Sum.load(folder)() == 6.0
    assert Sum.load(folder, factor=3.0)() == 9.0
    config = Config.read(folder)
    assert (config.kind, config.name, config.language, config.id) == ("parser", "sum", "en", "one")
    assert config.labels == (("NS", "cause"),)
    assert config.treebanks == ("mine",)
    assert set(config.files) == {"weights.npz", "notes/words.txt"}
    assert json.loads((folder / "config.json").read_text())["format"] == store.FORMAT


def test_the_same_model_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = Sum(factor=2.0).save(tmp_path / "two")
    assert again.files == Config.read(folder).files


@pytest.mark.parametrize("name", ["weights.npz", "notes/words.txt"])
@pytest.mark.parametrize("how", ["missing", "truncated", "changed"])
def test_a_file_that_is_not_what_was_written(folder: Path, name: str, how: str) -> None:
    path = folder / name
    data = path.read_bytes()
    path.unlink()
    if how != "missing":
        path.write_bytes(data[:-1] if how == "truncated" else bytes([data[0] ^ 1]) + data[1:])
    with pytest.raises(ModelError, match=Path(name).name) as error:
        Sum.load(folder)
    assert "anew" in str(error.value)


def test_a_change_is_seen_although_the_file_was_read_before(folder: Path) -> None:
    assert Sum.load(folder)() == 6.0
    (folder / "weights.npz").write_bytes(b"something else")
    with pytest.raises(ModelError, match=r"weights\.npz"):
        Sum.load(folder)


@pytest.mark.parametrize(
    "change",
    [{"format": 1}, {"format": 3}, {"labels": None}, {"labels": [["NS"]]}, {"colour": "blue"}],
)
def test_a_config_that_cannot_be(folder: Path, change: dict[str, object]) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ModelError, match=r"config\.json"):
        Sum.load(folder)


def test_a_config_that_is_not_what_was_written(folder: Path) -> None:
    path = folder / "config.json"
    data = json.loads(path.read_text())
    assert data["settings"]["factor"] == 2.0
    changes: list[dict[str, object]] = [
        {"settings": {"factor": "two"}},
        {"settings": {"factor": 3.0}},
        {"language": "zh"},
        {"files": {}},
    ]
    for change in changes:
        path.write_text(json.dumps(data | change))
        with pytest.raises(ModelError, match=r"config\.json.*checksum"):
            Sum.load(folder)
    # What people write there by hand, and what earlier versions wrote.
    path.write_text(json.dumps(data | {"scores": {"raw": 50.0}, "licence": "CC0"}))
    assert Sum.load(folder)() == 6.0
    path.write_text(json.dumps({key: data[key] for key in data if key != "checksum"}))
    assert Sum.load(folder)() == 6.0


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '"x"', "null"])
def test_a_config_that_is_none(folder: Path, text: str) -> None:
    (folder / "config.json").write_text(text)
    with pytest.raises(ModelError, match=r"config\.json"):
        Config.read(folder)


def test_settings_that_the_class_does_not_know(folder: Path) -> None:
    with pytest.raises(ModelError, match="colour"):
        Sum.load(folder, colour="blue")


def test_the_model_of_another_class(folder: Path) -> None:
    class Other(Sum):
        name = "other"

    with pytest.raises(ModelError, match="a model of sum, not of other"):
        Other.load(folder)
    with pytest.raises(ModelError, match="is a parser, sum, not the segmenter crf"):
        find("segmenter", "crf", folder)


def test_pickles_are_not_read(folder: Path) -> None:
    np.savez(folder / "weights.npz", weights=np.array([{"a": 1}], dtype=object))
    seal(folder, Config.read(folder))
    with pytest.raises(ModelError, match=r"weights\.npz"):
        Sum.load(folder)


def test_files_outside_the_list_are_not_used(folder: Path) -> None:
    config = replace(Config.read(folder), files={})
    with pytest.raises(ModelError, match="does not list"):
        config.file("weights.npz")


def test_every_shipped_model_is_whole_and_described() -> None:
    found = models()
    assert {model.kind for model in found} == {"parser", "segmenter", "syntax", "words"}
    for model in found:
        assert model.check() == model.folder
        assert model.licence
        assert model.scores
        assert model.treebanks
        assert (model.folder / "README.md").is_file()


CARDS = [
    card
    for places in ("src/rhetorica/models/*/README.md", "packages/*/src/*/*/README.md")
    for card in sorted(ROOT.glob(places))
]


@pytest.mark.parametrize("card", CARDS, ids=[card.parent.name for card in CARDS])
def test_every_card_tells_what_was_chosen_on_dev(card: Path) -> None:
    """What is chosen on dev is reported on dev: also by the models of other packages."""
    assert "a little too good" in " ".join(card.read_text("utf-8").split())


@pytest.mark.parametrize("card", CARDS, ids=[card.parent.name for card in CARDS])
def test_every_config_has_a_checksum(card: Path) -> None:
    assert Config.read(card.parent).checksum


def test_no_shipped_model_is_used_with_another_config(tmp_path: Path) -> None:
    sealed = [model for model in models() if model.checksum]
    assert sealed
    for model in sealed:
        data = json.loads((model.folder / "config.json").read_text("utf-8"))
        told = [key for key in data if key not in ("licence", "scores", "checksum")]
        changes = [data | {key: "x"} for key in told]
        changes += [data | {"settings": data["settings"] | {key: 17.5}} for key in data["settings"]]
        changes += [{other: data[other] for other in data if other != key} for key in told]
        for changed in changes:
            (tmp_path / "config.json").write_text(json.dumps(changed))
            with pytest.raises(ModelError, match=r"config\.json"):
                Config.read(tmp_path)


def test_finding() -> None:
    assert find("parser", "li2014", "scidtb").id == "li2014_scidtb"
    assert find("parser", "li2014", "li2014_gum").id == "li2014_gum"
    best = find("parser", None, "gum")  # from raw text, whatever is installed
    rivals = [m for m in models("parser", language="en", treebank="gum") if "raw" in m.scores]
    assert best.scores["raw"] == max(model.scores["raw"] for model in rivals)
    with pytest.raises(ModelError, match=r"no model .klingon.*li2014_gum, li2014_scidtb"):
        find("parser", "li2014", "klingon")
    with pytest.raises(ModelError, match="no model"):
        find("parser", "neural", "gum", language="tlh")


def test_a_folder_of_the_working_directory_does_not_hide_a_treebank(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    folder.rename(folder.parent / "gum")
    assert find("parser", "li2014", "gum").id == "li2014_gum"


def test_models_of_other_packages(folder: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    package = site / "rhetorica_large"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('finding a model runs no code')\n")
    shutil.copytree(folder, package / "large")
    shutil.copytree(folder, package / "small")
    seal(package / "large", replace(Config.read(folder), scores={"raw": 99.0}))
    info = site / "rhetorica_large-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rhetorica-large\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[rhetorica.models]\nlarge = rhetorica_large\ngone = rhetorica_gone\n"
    )
    code = f"""
import sys; sys.path.insert(0, {str(site)!r})
from rhetorica.models.store import find, models
print([m.id for m in models(name="sum")], find("parser", "sum", "mine").id,
      find("parser", "sum", "small").id, find("parser", None, "mine").name)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['large', 'small'] large small sum"
