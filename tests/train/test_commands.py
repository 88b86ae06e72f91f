"""Every ``rhetorica train`` command on three little documents, and what it leaves behind."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import rhetorica
from rhetorica.cli import app, common
from rhetorica.errors import RepairWarning
from rhetorica.models.store import Config
from rhetorica.progress import Event
from rhetorica.train.loop import TRAINABLE

QUICK = {
    "crf": ["--iterations", "5", "--l2", "0.5,1", "--min-count", "1", "--features", "paper"],
    "logistic": ["--l2", "0.5", "--bags", "2", "--syntax", "predicted"],
    "li2014": ["--epochs", "2", "--bits", "12", "--multinuclear", "chain", "--coarse"],
    "shift-reduce": ["--epochs", "2", "--strength", "1,4", "--explore", "0", "--syntax", "both"],
    "dplp": [
        "--iterations",
        "2",
        "--width",
        "6",
        "--l2",
        "1,2",
        "--tau",
        "0.5",
        "--min-count",
        "1",
    ],
    "codra": ["--iterations", "2", "--min-count", "1", "--threshold", "0.0001", "--no-chain"],
}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["train", *map(str, arguments)])


@pytest.mark.parametrize("name", TRAINABLE)
def test_a_short_training(name: str, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "my_model"
    result = run(name, corpus, "--corpus", "umuc", "--out", out, *QUICK[name])
    assert result.exit_code == 0, result.output
    row = TRAINABLE[name]
    config = Config.read(out)
    assert (config.kind, config.name, config.treebanks) == (row.kind, name, ("umuc",))
    assert config.check() == out
    assert config.scores
    if row.kind == "parser":
        assert config.relations.startswith("umuc ")
    card = (out / "README.md").read_text("utf-8")
    for part in ("# my_model", "UMUC", "F1", "corpus:umuc-dev", "**Settings**"):
        assert part in card
    parsed = {"parser": name} if row.kind == "parser" else {"parser": "codra", "segmenter": name}
    model = {"model": out} if row.kind == "parser" else {}
    found = rhetorica.load("en", **parsed, **model)("We left early because it rained.")
    assert found.tree.n_edus == len(found.edus)


def test_trees_of_another_parser_are_learned_from_too(corpus: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("We left early because it rained. Nobody complained.", "utf-8")
    more = tmp_path / "more.jsonl"
    parsed = CliRunner().invoke(app, ["parse", str(text), "--labels", "coarse", "-o", str(more)])
    assert parsed.exit_code == 0, parsed.output
    place = ("--corpus", "umuc", "--out", tmp_path / "m")
    alone = run("crf", corpus, *place, *QUICK["crf"])
    count = int(re.findall(r"(\d+) training", alone.output)[0])
    result = run("crf", corpus, *place, "--also", more, *QUICK["crf"])
    assert result.exit_code == 0, result.output
    assert f"{count + 1} training documents" in result.output
    card = (tmp_path / "m" / "README.md").read_text("utf-8")
    assert f"{count} documents, and 1 other" in " ".join(card.split())
    assert "other documents" in Config.read(tmp_path / "m").licence
    # A relation that the treebank does not know is a class of its own, and a warning names it.
    more.write_text(more.read_text("utf-8").replace('"causal"', '"becausal"'), "utf-8")
    with pytest.warns(RepairWarning, match="becausal"):
        strange = run("shift-reduce", corpus, *place, "--also", more, *QUICK["shift-reduce"])
    assert strange.exit_code == 0, strange.output
    missing = run("crf", corpus, *place, "--also", tmp_path / "none.jsonl")
    assert missing.exit_code != 0
    assert "none.jsonl" in str(missing.exception)


PUBLISHED = {
    "crf": "--features paper --phrases --decoding viterbi --l1 0 --min-count 1 --iterations 5",
    "logistic": "--l2 0.5 --bags 2 --phrases",
    "li2014": "--features word,pos,syntactic --multinuclear chain --aggressiveness 0 --phrases "
    "--roots several --epochs 2 --bits 12",
    "shift-reduce": "--features paper --explore 0 --samples 0 --beam 1 --epochs 3 --branching left "
    "--tolerance 0.001 --head word --phrases --min-count 1",
    "dplp": "--features paper --start uniform --rate published --samples 0 --min-count 1 "
    "--iterations 2 --width 6 --l2 1,10",
    "codra": "--features paper --objective joins --passes 2 --boundaries --ngram-share 0.95 "
    "--word-chains flat --distance edus --phrases --iterations 2",
}
"""The papers' ways, as docs/papers.md lists them; fewer steps."""


def listed() -> dict[str, set[str]]:
    """The options that docs/papers.md lists, by what is trained with them."""
    page = Path(__file__).resolve().parents[2] / "docs" / "papers.md"
    names = iter(("li2014", "dplp", "shift-reduce", "crf", "codra", "logistic"))
    found: dict[str, set[str]] = {}
    name = ""
    for line in page.read_text("utf-8").partition("| published | option |")[2].splitlines()[2:]:
        if not line.startswith("|"):
            break
        paper, _, option = (cell.strip() for cell in line.strip("|").split("|"))
        name = next(names) if paper else name
        found.setdefault(name, set()).update(re.findall(r"--[a-z0-9-]+", option))
    return found


def test_the_papers_options_are_those_that_are_tried() -> None:
    assert set(listed()) == set(PUBLISHED)
    for name, options in listed().items():
        wide = CliRunner().invoke(app, ["train", name, "--help"], env={"COLUMNS": "300"})
        assert [option for option in options if option not in wide.output] == []
        tried = set(PUBLISHED[name].split())
        # Grids take long, and vectors are a user's: others test them.
        assert options <= tried | {"--l2", "--strength", "--tau", "--matrix", "--vectors"}


@pytest.mark.filterwarnings("ignore:digression")
@pytest.mark.parametrize("name", TRAINABLE)
def test_a_short_training_on_the_papers_corpus(name: str, licensed: Path, tmp_path: Path) -> None:
    place = ("--corpus", "rst-dt", "--ptb", licensed / "ptb", "--out", tmp_path / "m")
    result = run(name, licensed / "rst", *place, *PUBLISHED[name].split())
    assert result.exit_code == 0, result.output
    assert Config.read(tmp_path / "m").treebanks == ("rst-dt",)
    assert "corpus:rst-dt-dev" in (tmp_path / "m" / "README.md").read_text("utf-8")
    assert "19 training documents, 2 dev documents" in result.output


def test_settings_of_the_command_line_reach_the_model(corpus: Path, tmp_path: Path) -> None:
    options = ("--epochs", 1, "--features", "word,pos", "--labelled-loss", "--seed", 3)
    result = run("li2014", corpus, "--corpus", "umuc", "-o", tmp_path / "m", "--bits", 10, *options)
    assert result.exit_code == 0, result.output
    settings = json.loads((tmp_path / "m" / "config.json").read_text())["settings"]
    assert settings["features"] == ["word", "pos"]
    assert settings["labelled_loss"] is True
    assert (settings["seed"], settings["bits"], settings["epochs"]) == (3, 10, 1)
    assert not (tmp_path / "m" / "checkpoint.npz").exists()


def test_help_is_made_from_settings() -> None:
    listed = run("--help").output
    for name in (*TRAINABLE, "neural"):
        assert name in listed
        assert run(name, "--help").exit_code == 0
    text = run("dplp", "--help").output
    for part in ("--width", "--no-coarse", "several to try", "concatenation"):
        assert part in text
    assert "temperature" not in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--strength", "one"), "numbers with commas"),
        (("--strength", ","), "no settings to try"),
        (("--strength", "0"), "strength is 0: it must be above 0"),
        (("--without", "wordz"), "Did you mean 'words'"),
        (("--leave-out", "GUM_*"), "no training document is named 'GUM_*'"),
        (("--features", "all"), "extended"),
    ],
)
def test_wrong_options(corpus: Path, tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    result = run("shift-reduce", corpus, "--corpus", "umuc", "--out", tmp_path, *options)
    assert result.exit_code != 0
    assert said in result.output + str(result.exception)


def test_the_words_of_a_small_treebank(tmp_path: Path) -> None:
    rows = "".join(
        f"{i}\t{word}\t" + "_\t" * 7 + "_\n" for i, word in enumerate(("我们", "回家", "。"), 1)
    )
    for split in ("train", "dev"):
        text = f"# newdoc id = a\n# sent_id = 1\n# text = 我们回家。\n{rows}\n"
        (tmp_path / f"zh-ud-{split}.conllu").write_text(text, "utf-8")
    (tmp_path / "dict.txt").write_text("我们 9\n回家 2\n", "utf-8")
    places = ("--gsd", tmp_path, "--dictionary", tmp_path / "dict.txt", "--out", tmp_path / "m")
    result = run("words", *places, "--min-frequency", 2, "--iterations", 5)
    assert result.exit_code == 0, result.output
    card = " ".join((tmp_path / "m" / "README.md").read_text("utf-8").split())
    assert "word list of 2 words" in card
    assert "iterations 5" in card


def test_a_log_hears_of_a_long_training_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(range(0, 1000, 25))  # seconds; every look takes 25 of them
    monkeypatch.setattr(common.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(common.errors, "_force_terminal", False)
    with common.training() as tell:
        for step in range(1, 9):
            tell(Event("epoch", step, 8))
        tell(Event("dev", note="full 41.3"))
    said = capsys.readouterr().err.splitlines()
    assert said[-2:] == ["epoch: 8 of 8", "dev: full 41.3"]
    assert 2 < len(said) < 6  # some steps, not all
