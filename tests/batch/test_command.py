"""``rhetorica batch``, and ``parse`` with files that fail, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import rhetorica
from rhetorica.cli.batch import app
from rhetorica.errors import RhetoricaError
from rhetorica.models.store import find


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rhetorica", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "home.txt").write_text("We stayed at home because it rained.")
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    (folder / "tea.txt").write_text("She made tea, and he read the paper.")
    return folder


def test_batch(texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("batch", texts, "--out", out, "--jobs", "1")
    assert done.returncode == 1
    assert "3 documents: 2 done, 1 set aside" in done.stderr
    (failed,) = (out / "failed.jsonl").read_text().splitlines()
    assert json.loads(failed)["id"] == "latin"
    parses = list(rhetorica.read(out / "part-00000.jsonl"))
    assert [parse.id for parse in parses] == ["home", "tea"]
    assert parses[0].edus == ["We stayed at home", "because it rained."]
    models = json.loads((out / "run.json").read_text())["about"]["models"]
    assert find("parser", "neural", "gum").id in models
    again = CliRunner().invoke(app, [str(texts), "--out", str(out)])
    assert again.exit_code == 1
    assert "3 of them by an earlier run" in again.stderr
    other = CliRunner().invoke(app, [str(texts), "--out", str(out), "--parser", "li2014"])
    assert "--force-mix" in str(other.exception)


def test_batch_refuses_what_it_cannot_do(texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for arguments, message in (
        (("--to", "rs5"), "Did you mean"),
        (("--parser", "lee2014"), "Did you mean"),
    ):
        done = CliRunner().invoke(app, [str(texts), "--out", str(out), *arguments])
        assert isinstance(done.exception, RhetoricaError)
        assert message in str(done.exception)
    done = CliRunner().invoke(app, [str(texts), "--out", str(out), "--jobs", "many"])
    assert done.exit_code == 2
    assert "a number from 1, or auto" in done.stderr
    assert not out.exists()


def test_batch_gives_coarse_labels_as_parse_does(texts: Path, tmp_path: Path) -> None:
    out, file = tmp_path / "out", texts / "home.txt"
    arguments = [str(file), "--parser", "neural-fast", "--out", str(out), "--jobs", "1"]
    done = CliRunner().invoke(app, [*arguments, "--labels", "coarse"])
    assert done.exit_code == 0, done.stderr
    (parse,) = rhetorica.read(out / "part-00000.jsonl")
    own = rhetorica.load("en", parser="neural-fast")(file.read_text())
    assert parse.dependencies.relations == ("ROOT", "causal")
    assert parse.dependencies == own.relabel(rhetorica.Recipe().relations.coarse).dependencies
    assert own.dependencies.relations == ("ROOT", "causal-cause")
    other = CliRunner().invoke(app, arguments)
    assert "--force-mix" in str(other.exception)  # other labels are other results


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_one_bad_file_does_not_end_a_run(texts: Path, tmp_path: Path, jobs: str) -> None:
    out = tmp_path / "out"
    done = run("segment", texts, "--segmenter", "neural", "--out", out, "--jobs", jobs)
    assert done.returncode == 1
    assert f"{texts / 'latin.txt'}:1: not UTF-8" in done.stderr
    assert "1 failed" in done.stderr
    assert sorted(path.name for path in out.iterdir()) == ["home.edus", "tea.edus"]
