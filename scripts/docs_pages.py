"""Pages of the documentation that are made from the package itself, for mkdocs (``hooks``).

The glossary of relations comes from the tables of the package, the reference from its docstrings
and its command line, so that neither can grow old.
"""

from __future__ import annotations

import logging
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from rhetorica import _ROOM_OF
from rhetorica.cli import COMMANDS
from rhetorica.relations import explain, relation_set

ROOT = Path(__file__).resolve().parents[1]
SETS = {
    "gum": "GUM and GCDT",
    "rst-dt": "RST Discourse Treebank",
    "scidtb": "SciDTB",
    "umuc": "UMUC",
}
REFERENCE = {
    "rhetorica": "Everything that most programs need",
    "parses": "What a parser gives",
    "nodes": "Trees to walk",
    "document": "Texts with layers",
    "trees": "The shapes of trees",
    "convert": "From one shape to another",
    "edit": "Corrections",
    "exports": "Files, tables, graphs",
    "salience": "Central units",
    "relations": "Relations and their classes",
    "pipeline": "From text to parse",
    "formats": "Files",
    "corpora": "Corpora",
    "evaluate": "Scores",
    "evaluate.diff": "Differences of two analyses",
    "describe": "Corpora described",
    "render": "Pictures",
    "batch": "Many documents",
    "spacy_component": "In spaCy",
    "service": "Over HTTP",
    "train.loop": "Training",
    "train.treebank": "Treebanks for training",
    "models.store": "Model folders",
    "languages": "Languages",
    "dialogue": "Dialogues",
    "decode": "Decoders",
    "learn.experts": "Ensembles",
    "progress": "How far a work has come",
    "errors": "Errors",
}
"""Modules of the reference, in the order of the menu; the first has what they all show."""
_OUT = re.compile(r"\[([^\]]*)\]\((?:\.\./)+[^)]*\)")


def on_config(config: Any) -> Any:
    """Put the pages of the reference into the menu."""
    # The theme's search cuts Chinese with jieba, where that is installed; it tells how it starts.
    logging.getLogger("jieba").setLevel(logging.WARNING)
    for section in config.nav:
        if "Reference" in section:
            made = [{_name(module): _path(module)} for module in REFERENCE]
            section["Reference"] = [item for item in section["Reference"] if "Python" not in item]
            section["Reference"] += made
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def pages() -> dict[str, str]:
    """Return the pages that are made, by their paths in the documentation."""
    made = {
        "relations.md": relations(),
        "results.md": results(),
        "reference/commands.md": commands(),
    }
    made |= {_path(module): reference(module, about) for module, about in REFERENCE.items()}
    return made


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Show links that lead out of the documentation, to files of the repository, as text."""
    here = Path(config.docs_dir) / page.file.src_uri

    def text(match: re.Match[str]) -> str:
        target = match[0].rpartition("(")[2][:-1].partition("#")[0]
        inside = (here.parent / target).resolve().is_relative_to(config.docs_dir)
        return match[0] if inside else match[1]

    return _OUT.sub(text, markdown)


def _name(module: str) -> str:
    return module if module == "rhetorica" else f"rhetorica.{module}"


def _path(module: str) -> str:
    return f"reference/{module}.md"


def relations() -> str:
    """Write the glossary of relations."""
    lines = [
        "# Relations",
        "",
        "What the relations of each treebank mean. In examples `[ ]` encloses the satellite and "
        "`/` stands between nuclei. The same in Python: "
        '`rhetorica.explain("adversative-concession")`; on the page they are shown where they '
        "occur. The neural parsers and the ensemble give the relations of GUM, the others their "
        "classes.",
    ]
    for name, title in SETS.items():
        known = relation_set(name)
        lines += ["", f"## {title}", ""]
        count = len({relation.name for relation in known.relations})
        lines.append(f"{count} relations in {len(known.classes)} classes (`--labels {name}`).")
        for kind in known.classes:
            # A class of one relation of the same name needs no heading of its own.
            lines += ["", f"### {kind} {{ #{name}-{kind.replace(' ', '-')} }}", ""]
            rows = [relation for relation in known.relations if relation.coarse == kind]
            if {relation.name for relation in rows} != {kind}:
                lines += [explain(kind).definition, ""]
            lines += ["| relation | between | meaning | example |", "|---|---|---|---|"]
            for relation in rows:
                between = "nuclei" if relation.type == "multinuc" else "satellite, nucleus"
                about = explain(relation.name)
                lines.append(
                    f"| `{relation.name}` | {between} | {about.definition} | {about.example} |"
                )
    return "\n".join(lines) + "\n"


def results() -> str:
    """Show the table of README, and where its figures come from."""
    readme = (ROOT / "README.md").read_text("utf-8")
    start = readme.index("\n## How good")
    table = readme[start : readme.index("\n## ", start + 1)]
    table = table.replace("\n## How good", "# Results")
    table = re.sub(r"\[docs/(\w+)\.md\]\(docs/", r"[\1](", table).replace("](docs/", "](")
    return table + (
        "\n## Where they come from\n\n"
        "Every figure is made by a command of the repository, and carries its signature: metric, "
        "labels, whose EDUs and syntax, corpus, version. The pages of this part tell each parser's "
        "story: what was tried, what the paper's tables look like on open treebanks, and where the "
        "picture agrees with the paper's and where not. [Other parsers](comparison.md) has the "
        "published figures of others; [Evaluation](evaluation.md) what the metrics mean.\n"
    )


def reference(module: str, about: str) -> str:
    """Write the page of a module; mkdocstrings fills it in."""
    name = _name(module)
    text = f"# {name}\n\n{about}.\n\n"
    public = getattr(import_module(name), "__all__", None)
    if module != "rhetorica" and public is None:
        return f"{text}::: {name}\n    options:\n      show_root_heading: false\n"
    if module == "rhetorica":
        text += (
            "What `rhetorica.NAME` gives; each is told where it is made.\n\n| name | | from |\n"
            "|---|---|---|\n"
        )
        for one in sorted(public or ()):
            made = getattr(import_module(name), one)
            place = f"{name}.{_ROOM_OF[one]}"
            line = (getattr(made, "__doc__", "") or "").strip().partition("\n")[0]
            text += f"| [`{one}`][{place}.{one}] | {line.replace('|', chr(92) + '|')} | {place} |\n"
        return text
    for one in sorted(public or ()):
        made = getattr(import_module(name), one)
        if getattr(made, "__doc__", None) and callable(made):
            text += f"::: {name}.{one}\n\n"
    return text


def commands() -> str:
    """Write what every command takes."""
    lines = ["# Commands", "", "`rhetorica COMMAND --help` says the same in the terminal."]
    for name, about in COMMANDS.items():
        lines += ["", f"## rhetorica {name}", "", about]
        lines += _command(name)
    return "\n".join(lines) + "\n"


def _command(name: str) -> list[str]:
    import typer

    made = typer.main.get_command(import_module(f"rhetorica.cli.{name}").app)
    if subcommands := getattr(made, "commands", None):
        rows = [f"| `{one}` | {_cell(sub.help)} |" for one, sub in sorted(subcommands.items())]
        return ["", "| subcommand | |", "|---|---|", *rows]
    text = [line for line in (made.help or "").split("\n\n")[1:] if line.strip()]
    rows = [
        f"| {', '.join(f'`{option}`' for option in (*one.opts, *one.secondary_opts))} "
        f"| {_cell(getattr(one, 'help', ''))} |"
        for one in made.params
        if getattr(one, "help", "")
    ]
    return ["", *(f"{part}\n" for part in text), "| option | |", "|---|---|", *rows]


def _cell(text: str | None) -> str:
    return " ".join((text or "").partition("\n\n")[0].split()).replace("|", "\\|")
