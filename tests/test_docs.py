"""The examples of README and docs run: Python blocks as doctests, commands by their exit code."""

from __future__ import annotations

import doctest
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from rhetorica.relations import relation_set, relation_set_names

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
PROSE = {"decisions.md", "reliability.md"}
"""Pages without examples."""


def script(name: str) -> ModuleType:
    """Import a module of the folder scripts."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


docs_pages = script("docs_pages")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_NEEDS = re.compile(r"^<!-- needs the package ([\w-]+) -->$", re.MULTILINE)
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: Path, *languages: str) -> list[tuple[int, str]]:
    """The fenced blocks of a page in some language, each with the line where it starts."""
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, match.start()) + 1, match[2])
        for match in _FENCE.finditer(text)
        if match[1] in languages
    ]


def contents(place: Path) -> dict[Path, bytes]:
    """What is in a file, or in all files of a folder; files with nothing in them do not count."""
    files = place.rglob("*") if place.is_dir() else [place]
    found = {path: path.read_bytes() for path in files if path.is_file()}
    return {path: content for path, content in found.items() if content}


def commands(page: Path) -> list[str]:
    """The lines of a page's shell blocks that call rhetorica."""
    lines = [line for _, block in blocks(page, "bash") for line in block.splitlines()]
    return [line for line in lines if line.startswith("rhetorica ")]


def check_needs(page: Path) -> None:
    """Skip the examples of a page that needs a package of models which is not installed."""
    for match in _NEEDS.finditer(page.read_text(encoding="utf-8")):
        if find_spec(match[1].replace("-", "_")) is None:
            pytest.skip(f"{page.name} needs the package {match[1]} (packages/{match[1]})")


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example files, as working folder."""
    shutil.copytree(ROOT / "examples", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_examples(page: Path, examples: Path) -> None:
    check_needs(page)
    names: dict[str, object] = {}
    parser, runner = (
        doctest.DocTestParser(),
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS),
    )
    for line, block in blocks(page, "python"):
        if ">>>" in block:
            example = parser.get_doctest(block, names, f"{page.name}:{line}", str(page), line)
            runner.run(example, clear_globs=False)
            names = example.globs
        else:
            exec(compile(block, f"{page.name}:{line}", "exec"), names)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands(page: Path, examples: Path) -> None:
    check_needs(page)
    for command in commands(page):
        arguments = shlex.split(command, comments=True)[1:]
        if any(argument.startswith("../shared") for argument in arguments):
            continue  # needs a corpus; the tests of the corpus readers cover it
        before = contents(examples)
        done = subprocess.run(
            [sys.executable, "-m", "rhetorica", *arguments],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert done.stdout.strip() or contents(examples) != before, f"{command} did nothing"
        if "--out" in arguments:
            out = examples / arguments[arguments.index("--out") + 1]
            assert contents(out), f"{command} wrote nothing to {out.name}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_page_has_an_example_that_runs(page: Path) -> None:
    if page.name in PROSE:
        assert not blocks(page, "python")
        assert not commands(page)
    else:
        assert blocks(page, "python") or commands(page)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"])
def test_links_lead_somewhere(page: Path) -> None:
    made = {ROOT / "docs" / path for path in docs_pages.pages()}
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        if not target.startswith(("http", "#")):
            place = (page.parent / target.partition("#")[0]).resolve()
            assert place.exists() or place in made, target


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_tables_are_whole(page: Path) -> None:
    """Each has a head, and rows of as many cells."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [re.sub(r"`[^`]*`", "", row) for row in table.splitlines()]
        assert set(rows[1]) <= set("|-: "), rows[0]
        assert len({len(re.split(r"(?<!\\)\|", row)) for row in rows}) == 1, rows[0]


def test_pages_made_from_the_package() -> None:
    pages = docs_pages.pages()
    for name in relation_set_names():
        for relation in relation_set(name).relations:
            assert f"| `{relation.name}` |" in pages["relations.md"]
    assert "| `--labels` |" in pages["reference/commands.md"]
    assert "| `li2014` |" in pages["reference/commands.md"]
    assert "| [`load`][rhetorica.pipeline.load] |" in pages["reference/rhetorica.md"]
    assert "::: rhetorica.edit" in pages["reference/edit.md"]
    assert "raw text" in pages["results.md"]


def test_a_site_that_fetches_is_found(tmp_path: Path) -> None:
    check = [sys.executable, str(ROOT / "scripts" / "check_site.py"), str(tmp_path)]
    (tmp_path / "good.html").write_text(
        '<script src="a.js"></script><a href="https://x.org">x</a>', "utf-8"
    )
    assert subprocess.run(check, capture_output=True, check=False).returncode == 0
    (tmp_path / "a.css").write_text("@font-face { src: url(https://x.org/f.woff) }", "utf-8")
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "a.css: url(https://x.org/f.woff" in done.stderr


def test_pictures_are_those_that_are_drawn_now() -> None:
    for name, svg in script("draw_pictures").pictures().items():
        drawn = (ROOT / "docs" / "images" / name).read_text("utf-8")
        assert drawn == svg, f"{name} is old: python scripts/draw_pictures.py"
