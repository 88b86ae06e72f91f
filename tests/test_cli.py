"""The commands, run as a user runs them: exit codes, streams, files, messages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import cast

import pytest
from click.testing import Result
from rich.console import Console
from typer.testing import CliRunner

from rhetorica.cli import analysis, app, common
from rhetorica.errors import RhetoricaError
from rhetorica.progress import Event, announce
from rhetorica.relations import relation_set

RS3 = """<rst>
\t<header>
\t\t<relations>
\t\t\t<rel name="cause" type="rst"/>
\t\t\t<rel name="list" type="multinuc"/>
\t\t</relations>
\t</header>
\t<body>
\t\t<segment id="1" parent="4" relname="span">The dog barked</segment>
\t\t<segment id="2" parent="1" relname="cause">because it was hungry,</segment>
\t\t<segment id="3" parent="5" relname="list">and the cat slept.</segment>
\t\t<group id="4" type="span" parent="5" relname="list"/>
\t\t<group id="5" type="multinuc"/>
\t</body>
</rst>
"""


def run(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rhetorica", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture
def dog(tmp_path: Path) -> Path:
    path = tmp_path / "dog.rs3"
    path.write_text(RS3, encoding="utf-8")
    return path


@pytest.fixture
def folder(dog: Path) -> Path:
    """Two documents, one of them with another relation."""
    (dog.parent / "cat.rs3").write_text(RS3.replace('"cause"', '"reason"'), encoding="utf-8")
    return dog.parent


def test_convert_one_file_to_standard_output(dog: Path) -> None:
    done = run("convert", dog, "--to", "rsd")
    assert done.returncode == 0
    columns = [line.split("\t") for line in done.stdout.splitlines()]
    assert [(c[0], c[6], c[7]) for c in columns] == [
        ("1", "0", "ROOT"),
        ("2", "1", "cause_r"),
        ("3", "1", "list_m"),
    ]


def test_convert_reads_standard_input() -> None:
    done = run("convert", "-", "--from", "rs3", "--to", "json", stdin=RS3)
    assert done.returncode == 0
    again = run("convert", "-", "--from", "json", "--to", "rs3", stdin=done.stdout)
    assert again.stdout == RS3


def test_convert_a_folder(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    done = run("convert", folder, "--to", "dis", "--out", out, "--binary")
    assert done.returncode == 0
    assert sorted(path.name for path in out.iterdir()) == ["cat.dis", "dog.dis"]


def test_convert_many_documents_to_a_stream(folder: Path) -> None:
    done = run("convert", folder, "--to", "jsonl")
    assert [json.loads(line)["document"]["id"] for line in done.stdout.splitlines()] == [
        "cat",
        "dog",
    ]
    refused = run("convert", folder, "--to", "rs3")
    assert refused.returncode == 1
    assert "--out" in refused.stderr


def test_convert_follows_the_convention(tmp_path: Path) -> None:
    path = tmp_path / "list.rs3"
    path.write_text(RS3.replace('parent="1" relname="cause"', 'parent="4" relname="list"')
                    .replace('relname="span">The', 'relname="list">The')
                    .replace('type="span"', 'type="multinuc"')
                    .replace('parent="5" relname="list">and', 'parent="4" relname="list">and')
                    .replace(' parent="5" relname="list"/>', "/>")
                    .replace('\t\t<group id="5" type="multinuc"/>\n', ""))  # fmt: skip
    star = run("convert", path, "--to", "rsd")
    chain = run("convert", path, "--to", "rsd", "--multinuclear", "chain")
    assert [line.split("\t")[6] for line in star.stdout.splitlines()] == ["0", "1", "1"]
    assert [line.split("\t")[6] for line in chain.stdout.splitlines()] == ["0", "1", "2"]
    assert run("convert", path, "--to", "rsd", "--multinuclear", "loop").returncode == 2


def test_errors_name_file_and_line_and_write_nothing(dog: Path, tmp_path: Path) -> None:
    dog.write_text(RS3.replace('parent="1"', 'parent="9"'))
    out = tmp_path / "out"
    done = run("convert", dog, "--to", "rsd", "--out", out)
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"{dog}:10: node 2 has parent 9" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("convert", "missing.rs3", "--to", "dis"), "No such file"),
        (("convert", "dog.xyz", "--to", "dis"), "extension"),
        (("convert", "dog.rs3", "--to", "rs5"), "Did you mean"),
        (("convert", "dog.rs3", "--from", "rels", "--to", "rs3"), "written only"),
        (("score", "dog.rs3", "dog.rs3", "--labels", "gun"), "Did you mean 'gum'"),
        (("stats", ".", "--corpus", "gumm"), "Did you mean 'gum'"),
    ],
)
def test_wrong_arguments(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(folder)
    (folder / "dog.xyz").write_text(RS3)
    done = run(*arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_score_prints_figures_with_signatures(folder: Path, dog: Path) -> None:
    done = run("score", dog, dog)
    assert done.returncode == 0
    assert "100.00" in done.stdout
    assert "parseval:original|" in done.stdout
    data = json.loads(run("score", dog, folder / "cat.rs3", "--json").stdout)
    assert any("signature" in row for row in data["scores"])


def test_score_compares_two_systems(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    run("convert", folder, "--to", "json", "--out", other)
    done = run("score", folder, other, "--compare", other)
    assert done.returncode == 0
    assert "bootstrap" in done.stdout


def test_stats(folder: Path) -> None:
    done = run("stats", folder)
    assert done.returncode == 0
    assert "list" in done.stdout
    assert json.loads(run("stats", folder, "--json").stdout)["documents"] == 2


def test_show(dog: Path) -> None:
    done = run("show", dog)
    assert done.returncode == 0
    for words in ("The dog barked", "cause", "list"):
        assert words in done.stdout
    assert "\x1b" not in done.stdout
    assert "cause" in run("show", dog, "--view", "dependencies").stdout
    assert run("show", dog, "--view", "cubist").returncode == 2


def test_version_and_help() -> None:
    from rhetorica import __version__

    assert run("--version").stdout.strip() == __version__
    for command in ("convert", "score", "stats", "show"):
        assert "Example" in run(command, "--help").stdout


def test_help_asks_for_no_value_of_flags_and_repeats_no_dots() -> None:
    for command in ((), ("parse",), ("batch",), ("words",), ("train", "crf")):
        said = invoke(*command, "--help").output
        assert "--help" in said
        assert "bool" not in said
        assert "]...]" not in said
        assert "...}" not in said


TEXT = "We left early because it rained. She said that she was tired.\n\nIf you come, bring wine.\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_segment_prints_one_edu_a_line(text: Path) -> None:
    done = run("segment", text)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "We left early",
        "because it rained.",
        "She said",
        "that she was tired.",
        "",
        "If you come,",
        "bring wine.",
    ]
    assert run("segment", "-", stdin=TEXT).stdout == done.stdout


def test_segment_to_json_and_tok(text: Path) -> None:
    data = json.loads(run("segment", text, "--to", "json").stdout)
    assert len(data["document"]["edus"]) == len(data["scores"]["boundaries"]) == 6
    assert "Seg=B-seg" in run("segment", text, "--to", "tok", "--segmenter", "rules").stdout


def test_segment_a_folder_in_two_processes(text: Path, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("It rained. We left.", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("", encoding="utf-8")
    out = tmp_path / "out"
    done = run("segment", tmp_path, "--out", out, "--jobs", "2")
    assert done.returncode == 1
    assert "empty: no text" in done.stderr
    assert sorted(path.name for path in out.iterdir()) == ["other.edus", "text.edus"]
    assert (out / "other.edus").read_text() == "It rained.\nWe left.\n"


def test_segment_warns_of_other_languages(tmp_path: Path) -> None:
    path = tmp_path / "de.txt"
    path.write_text("Als es zu regnen begann, gingen wir nach Hause, weil niemand einen "
                    "Schirm dabei hatte und der Zug erst viel später kommen sollte.",
                    encoding="utf-8")  # fmt: skip
    done = run("segment", path)
    assert done.returncode == 0
    assert "does not look like English" in done.stderr


def test_wrong_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"first line\ncaf\xe9\n")
    for command in ("segment", "parse"):
        done = run(command, path)
        assert done.returncode == 1
        assert f"{path}:2: not UTF-8" in done.stderr


def test_parse_draws_a_tree(text: Path) -> None:
    done = run("parse", text)
    assert done.returncode == 0
    assert "because it rained." in done.stdout
    assert "●" in done.stdout


@pytest.mark.parametrize("format", ["json", "rs3", "rs4", "dis", "rsd", "conllu"])
def test_parse_to_every_format(text: Path, format: str) -> None:
    done = run("parse", text, "--to", format)
    assert done.returncode == 0
    again = run("convert", "-", "--from", format, "--to", "rsd", stdin=done.stdout)
    assert len(again.stdout.splitlines()) == 6


def test_parse_given_edus(tmp_path: Path) -> None:
    path = tmp_path / "units.txt"
    path.write_text("We left\nbecause it was\nlate.\n\nIt rained.\n", encoding="utf-8")
    data = json.loads(run("parse", path, "--edus", "--to", "json", "--kbest", "3").stdout)
    assert len(data["document"]["edus"]) == 4
    assert len(data["document"]["paragraphs"]) == 2
    assert len(data["kbest"]) == 3


def test_beam_and_votes(text: Path) -> None:
    def about(*options: str) -> dict[str, str]:
        done = invoke("parse", text, "--parser", "shift-reduce", "--to", "json", *options)
        assert done.exit_code == 0, done.output
        found: dict[str, str] = json.loads(done.output)["provenance"]
        return found

    assert about("--beam", "2")["beam"] == "2"
    assert about("--votes", "3")["samples"] == "3"
    wrong = invoke("parse", text, "--parser", "li2014", "--beam", "2")
    assert wrong.exit_code
    assert "beam" in str(wrong.exception or wrong.output)


def test_parse_into_a_folder(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("parse", text, "--to", "rs4", "--out", out).returncode == 0
    assert (out / "text.rs4").read_text(encoding="utf-8").startswith("<rst>")


def test_unknown_parser_and_model(text: Path) -> None:
    assert "Did you mean 'li2014'" in run("parse", text, "--parser", "li2041").stderr
    assert "klingon" in run("parse", text, "--model", "klingon").stderr
    named = run("parse", text, "--parser", "li2014", "--model", "klingon")
    assert "no model" in named.stderr


def test_commands_that_train_explain_themselves() -> None:
    for name in ("crf", "logistic", "li2014"):
        assert "Example" in run("train", name, "--help").stdout
    assert "Example" in run("reproduce", "li2014", "--help").stdout


def invoke(*arguments: str | Path, stdin: str | None = None) -> Result:
    """Run a command in this process, which has loaded what it needs already."""
    return CliRunner().invoke(app, [*map(str, arguments)], input=stdin)


SENTENCES = ("--segmenter", "sentence")


def test_the_extension_of_the_output_tells_its_format(text: Path, tmp_path: Path) -> None:
    file = tmp_path / "new" / "text.json"
    assert invoke("segment", text, *SENTENCES, "-o", file).exit_code == 0
    assert len(json.loads(file.read_text("utf-8"))["document"]["edus"]) == 3
    again = invoke("segment", text, *SENTENCES, "-o", file)
    assert again.exit_code == 1
    assert "--force" in str(again.exception)
    assert invoke("segment", text, *SENTENCES, "-o", file, "--force").exit_code == 0
    (tmp_path / "other.txt").write_text("It rained.", encoding="utf-8")
    several = invoke("segment", tmp_path, *SENTENCES, "-o", tmp_path / "all.json")
    assert "holds one" in str(several.exception)


def test_output_that_cannot_be_is_refused_before_the_work(text: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    done = invoke("segment", text, *SENTENCES, "-o", tmp_path / "file" / "below")
    assert isinstance(done.exception, RhetoricaError)
    assert "--out" in str(done.exception)


def test_what_is_there_already_is_not_parsed_in_vain(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    assert invoke("segment", text, *SENTENCES, "-o", out).exit_code == 0
    with monkeypatch.context() as patch:
        patch.setattr("rhetorica.cli.analysis.run_jobs", None)
        again = invoke("segment", text, *SENTENCES, "-o", out)
    assert again.exit_code == 1
    assert "text.edus: is there already: --force" in again.stderr.replace("\n", "")
    (tmp_path / "new.txt").write_text("It rained.")
    more = invoke("segment", tmp_path, "--pattern", "*.txt", *SENTENCES, "-o", out)
    assert more.exit_code == 1
    assert sorted(path.name for path in out.iterdir()) == ["new.edus", "text.edus"]
    assert invoke("segment", text, *SENTENCES, "-o", out, "--force").exit_code == 0


def test_formats_are_told_by_the_extension(dog: Path, tmp_path: Path) -> None:
    units = invoke("segment", dog, *SENTENCES).output
    assert "<rst>" not in units
    assert "The dog barked because it was hungry" in units
    page = tmp_path / "page.html"
    page.write_text("<p>It rained.</p>")
    done = invoke("segment", page, *SENTENCES)
    assert done.exit_code == 1
    assert "not plain text" in done.output


def test_several_documents_do_not_run_into_one_another(text: Path, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("It rained.", encoding="utf-8")
    done = invoke("segment", tmp_path, *SENTENCES, "--to", "json")
    assert "--out FOLDER" in str(done.exception)
    lines = invoke("segment", tmp_path, *SENTENCES, "--to", "jsonl").output.splitlines()
    assert [json.loads(line)["document"]["id"] for line in lines] == ["other", "text"]


def test_input_from_a_pipe_patterns_and_missing_files(text: Path, tmp_path: Path) -> None:
    assert invoke("segment", *SENTENCES, stdin="It rained. We left.").output.count("\n") == 2
    (tmp_path / "note.md").write_text("It rained.", encoding="utf-8")
    assert invoke("segment", tmp_path, *SENTENCES, "--pattern", "*.md").output == "It rained.\n"
    assert "echo" in str(invoke("segment", "We left early.", *SENTENCES).exception)
    assert "--pattern" in str(invoke("segment", tmp_path, "--pattern", "*.xyz").exception)
    assert invoke("segment", text, *SENTENCES, "--jobs", "many").exit_code == 2


def test_empty_texts_are_told(tmp_path: Path) -> None:
    assert "no text" in invoke("segment", *SENTENCES, stdin="").output
    data = json.loads(invoke("segment", *SENTENCES, "--to", "json", stdin="").stdout)
    assert data["document"]["edus"] == []


def test_of_an_empty_text_no_file_is_made(text: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    told = "empty: no text, nothing to write"
    for out in ("units.edus", "units.tok", "units.txt"):
        result = invoke("segment", tmp_path / "empty.txt", *SENTENCES, "--out", tmp_path / out)
        assert result.exit_code == 1
        assert told in result.output
        assert not (tmp_path / out).exists()
    for to in ("edus", "tok"):
        result = invoke("segment", tmp_path, *SENTENCES, "--to", to, "--out", tmp_path / to)
        assert result.exit_code == 1
        assert told in result.output
        assert [path.name for path in (tmp_path / to).iterdir()] == [f"text.{to}"]
    result = invoke("segment", tmp_path, *SENTENCES, "--out", tmp_path / "all.tok")
    assert result.exit_code == 1
    assert "newdoc id = text" in (tmp_path / "all.tok").read_text(encoding="utf-8")


def test_one_bad_file_does_not_end_a_conversion(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = sorted(path.stem for path in folder.iterdir())
    (folder / "a.rs3").write_text("<rst>", encoding="utf-8")
    (folder / "gone.rs3").symlink_to(folder / "nowhere")
    (folder / ".rs3").write_text("of another program", encoding="utf-8")
    (folder / "b.rs3").mkdir()
    for command in ("convert", "show"):
        out = tmp_path_factory.mktemp(command)
        result = invoke(command, folder, "--to", "json", "--out", out)
        assert result.exit_code == 1
        assert "a.rs3:1: not well-formed XML" in result.output
        assert "gone.rs3: No such file" in result.output
        assert "2 failed, see above; the others are done" in result.output
        assert sorted(path.stem for path in out.iterdir()) == whole
    result = invoke("convert", folder, "--to", "jsonl")
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == len(whole)
    # Where only one document can be written, there is nothing to go on with.
    assert "give --out" in str(invoke("convert", folder, "--to", "rsd").exception)
    assert "unknown format" in str(
        invoke("convert", folder, "--from", "rs9", "--to", "rsd").exception
    )


def test_links_to_nothing_are_told(text: Path, tmp_path: Path) -> None:
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    result = invoke("segment", tmp_path, *SENTENCES, "--out", tmp_path / "units")
    assert result.exit_code == 1
    assert "gone.txt: No such file" in result.output
    assert (tmp_path / "units" / "text.edus").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a system without /dev/full")
@pytest.mark.parametrize("arguments", [["convert", "--to", "rsd"], ["stats"]])
def test_output_that_cannot_be_written_is_an_error(dog: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "rhetorica", *arguments, str(dog)]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    assert result.stderr == "error: No space left on device\n"


def test_a_name_that_is_too_long(dog: Path, tmp_path: Path) -> None:
    result = run("convert", dog, "--out", tmp_path / f"{'x' * 300}.rsd")
    assert result.returncode == 1
    assert result.stderr.startswith("error: ")
    assert "too long" in result.stderr


def test_labels_that_all_parsers_share(text: Path) -> None:
    fine = invoke("parse", text, "--to", "rsd").output
    coarse = invoke("parse", text, "--to", "rsd", "--labels", "coarse").output
    labels = {line.split("\t")[7].rpartition("_")[0] for line in coarse.splitlines()}
    assert fine != coarse
    assert labels - {""} <= set(relation_set("gum").classes)


def test_subfolders_are_kept_and_nothing_is_overwritten(dog: Path, tmp_path: Path) -> None:
    below = tmp_path / "in" / "sub"
    below.mkdir(parents=True)
    for place in (below, below.parent):
        (place / "dog.rs3").write_text(dog.read_text("utf-8"), "utf-8")
        (place / "text.txt").write_text("It rained. We left.", "utf-8")
    out = tmp_path / "out"
    assert invoke("convert", below.parent, "--to", "rsd", "--out", out).exit_code == 0
    assert invoke("segment", below.parent, *SENTENCES, "--out", out).exit_code == 0
    found = sorted(str(path.relative_to(out)) for path in out.rglob("*.*"))
    assert found == ["dog.rsd", "sub/dog.rsd", "sub/text.edus", "text.edus"]
    again = invoke("convert", below.parent, "--to", "rsd", "--out", out)
    assert again.exit_code == 1
    assert again.output.count("--force replaces it") == 2
    several = invoke("convert", below.parent, "--to", "rsd")
    assert several.stdout == ""
    assert "--out FOLDER" in str(several.exception)
    together = tmp_path / "all.jsonl"
    assert invoke("convert", below.parent, "-o", together).exit_code == 0
    assert len(together.read_text("utf-8").splitlines()) == 2


def test_tokens_are_added_when_asked_for(dog: Path) -> None:
    assert "--tokenize adds them" in invoke("convert", dog, "--to", "conllu").output
    done = invoke("convert", dog, "--to", "conllu", "--tokenize")
    assert done.exit_code == 0
    assert "\tdog\t" in done.stdout
    assert "Discourse=" in done.stdout


def test_every_command_has_the_same_list_of_outputs(dog: Path) -> None:
    lists = [
        invoke(name, "--help").output.partition("Formats:")[2]
        for name in ("parse", "show", "convert")
    ]
    assert lists[0] == lists[1] == lists[2]
    assert invoke("convert", dog, "--to", "svg").stdout.startswith("<svg")
    assert invoke("show", dog, "--to", "rsd").stdout == invoke("convert", dog, "--to", "rsd").stdout
    assert "svg" in str(invoke("convert", dog).exception)


def test_tables_keep_names_whole_in_80_columns(dog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name = "a-very-long-name-of-a-relation"
    dog.write_text(RS3.replace('"cause"', f'"{name}"'), "utf-8")
    output = invoke("stats", dog).output
    assert name in output
    assert max(map(len, output.splitlines())) <= 80
    assert "sentences" not in output  # there are none in the file


def test_models_are_listed_within_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = CliRunner().invoke(app, ["models"])
    lines = done.output.splitlines()
    assert max(map(len, lines)) <= 80
    rows = {line.split()[0]: line for line in lines if line.strip()}
    assert "gum coarse15" in rows["shift_reduce_gum"]
    assert "gum fine" in rows["en_neural"]
    assert "gum fine" in rows["ensemble_gum"]  # votes for classes, and gives relations
    found = json.loads(CliRunner().invoke(app, ["models", "--json"]).output)
    assert {row["relations"] for row in found if row["kind"] == "segmenter"} == {"-"}


def test_a_single_long_text_shows_how_much_has_been_read(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Console(file=StringIO(), force_terminal=True, width=80)
    for module in (analysis, common):
        monkeypatch.setattr(module, "errors", screen)

    def work(steps: int) -> Iterator[str]:
        for step in range(steps):
            announce(Event("reading", step + 1, steps))
        yield "done"

    def shown() -> str:
        return cast(StringIO, screen.file).getvalue()

    assert list(analysis._watched(work(1), enabled=True)) == ["done"]
    assert list(analysis._watched(work(3), enabled=False)) == ["done"]
    assert not shown()
    assert list(analysis._watched(work(3), enabled=True)) == ["done"]
    assert "reading" in shown()
    assert "3/3" in shown()
