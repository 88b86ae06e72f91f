"""The command from a file of chats to pictures and figures."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rhetorica.cli import app
from rhetorica.errors import RhetoricaError

LINES = (
    "Agent: Hello, how can I help you?\nClient: I need a bus.\nAgent: Where do you leave from?\n"
    "Client: From downtown.\nAgent: When do you leave?\nClient: At 5 pm.\nAgent: Goodbye.\n\n"
)


def run(*args: str) -> str:
    result = CliRunner().invoke(app, ["dialogue", *args])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dialogue")
    (folder / "chats.txt").write_text(LINES * 15)
    run(
        "fit", str(folder / "chats.txt"), "--out", str(folder / "flow"), "--states", "7",
        "--topics", "3", "--sweeps", "30", "--checkpoint", "10", "--pattern", "place=downtown",
    )  # fmt: skip
    return folder


def test_apply(folder: Path) -> None:
    output = run("apply", str(folder / "flow"), str(folder / "chats.txt"))
    first = json.loads(output.splitlines()[0])
    assert len(first["turns"]) == 7
    turn = first["turns"][3]
    assert turn["utterance"] == "From downtown."
    assert turn["probability"] == max(turn["probabilities"])
    text = run("apply", str(folder / "flow"), str(folder / "chats.txt"), "--to", "text")
    assert "Client: From downtown." in text


@pytest.mark.parametrize("to", ["html", "svg", "mermaid", "dot", "json"])
def test_show(folder: Path, to: str) -> None:
    output = run("show", str(folder / "flow"), "--to", to)
    assert "Goodbye." in output
    path = folder / f"picture.{to}"
    run("show", str(folder / "flow"), "--to", to, "--out", str(path))
    assert path.read_text() == output


def test_merged_states_are_shown_applied_and_scored(folder: Path) -> None:
    model, chats = str(folder / "flow"), str(folder / "chats.txt")
    flow = json.loads(run("show", model, "--to", "json", "--merge", "3"))
    numbers = {state["number"] for state in flow["states"]}
    assert len(numbers) == 3
    first = json.loads(run("apply", model, chats, "--merge", "3").splitlines()[0])
    assert {turn["state"] for turn in first["turns"]} <= numbers
    assert all(turn["name"] for turn in first["turns"])
    assert "log_likelihood" in run("score", model, chats, "--merge", "auto", "--json")
    result = CliRunner().invoke(app, ["dialogue", "show", model, "--to", "dot", "--merge", "3"])
    assert re.search(
        r"\d states merged into 3; .*last merges [+-]\d+.*next ones -\d", result.stderr
    )
    for wrong in ("0", "few"):
        result = CliRunner().invoke(app, ["dialogue", "show", model, "--merge", wrong])
        assert result.exit_code == 2
        assert "expected auto" in result.output


def test_score(folder: Path) -> None:
    output = run("score", str(folder / "flow"), str(folder / "chats.txt"), "--json")
    scores = json.loads(output)
    assert scores["log_likelihood_per_word"] > -3
    assert scores["kendall_tau"] > 0.9
    assert "log likelihood per word" in run(
        "score", str(folder / "flow"), str(folder / "chats.txt")
    )


def test_states_are_chosen_when_asked(folder: Path) -> None:
    run(
        "fit", str(folder / "chats.txt"), "--out", str(folder / "chosen"), "--model", "lm-hmm",
        "--choose-states", "1,6", "--sweeps", "20",
    )  # fmt: skip
    config = json.loads((folder / "chosen" / "config.json").read_text())
    assert config["settings"]["fit"]["states"] == 6


@pytest.mark.parametrize(
    "options", [["--pattern", "x"], ["--choose-states", "a"], ["--choose-states", "0"]]
)
def test_bad_options_are_explained(folder: Path, options: list[str]) -> None:
    args = ["dialogue", "fit", str(folder / "chats.txt"), "--out", str(folder / "x"), *options]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 2
    assert "expected" in result.output


def test_an_unknown_model_lists_the_known_ones(folder: Path) -> None:
    with pytest.raises(RhetoricaError, match="lm-hmm, lm-hmms, tm-hmm, tm-hmms, tm-hmmss"):
        run("fit", str(folder / "chats.txt"), "--out", str(folder / "x"), "--model", "hmm")
