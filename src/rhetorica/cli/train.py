"""``rhetorica train``: a subcommand for each thing that can be trained, made from its settings.

The list of subcommands is known beforehand; what stands behind one is imported when it is asked
for, so that ``rhetorica --help`` loads no parser.
"""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from rhetorica.cli.common import LateGroup, say, training
from rhetorica.corpora import CORPORA
from rhetorica.settings import About, about, combinations, made, types
from rhetorica.train.loop import TRAINABLE, Trainable
from rhetorica.train.treebank import Syntax

OWN_STEPS = {
    "ensemble": "Learn the weights of an ensemble of parsers (Cortes et al. 2014).",
    "ensemble-segmenter": "Learn the weights of an ensemble of segmenters.",
    "neural": "Train the neural parser; needs torch (the extra `train`).",
    "syntax": "Train the English syntax pipeline; needs spaCy's lookups (the extra `train`).",
    "words": "Train the general word segmenter of Chinese.",
}
Parameter = inspect.Parameter


class TrainGroup(LateGroup):
    """The trainings."""

    def make(self, name: str) -> Any:
        """Return a training's command, with an option for each of its settings."""
        single = typer.Typer(rich_markup_mode="markdown", add_completion=False)
        single.command(name)(make_command(name))
        return typer.main.get_command(single)


app = typer.Typer(
    no_args_is_help=True,
    help="Train a segmenter or parser from a treebank; the result is a model folder.",
    rich_markup_mode="markdown",
    cls=TrainGroup,
)
for _name, _line in {**{r.name: r.about for r in TRAINABLE.values()}, **OWN_STEPS}.items():
    app.command(_name, help=_line)(lambda: None)

Out = Annotated[Path, typer.Option("--out", "-o", help="Model folder to write.")]
LeaveOut = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GLOB",
        help="Leave out training documents of such names, as 'GUM_fiction_*'; may be repeated.",
    ),
]
Own = dict[str, tuple[Any, Any]]
"""Options of a command besides settings, by name: what typer must know, the default."""
ON_TREEBANK: Own = {
    "folder": (
        Annotated[str, typer.Argument(metavar="FOLDER", help="The corpus's folder.")],
        Parameter.empty,
    ),
    "out": (Out, Parameter.empty),
    "corpus": (
        Annotated[str, typer.Option(metavar="NAME", help=f"One of {', '.join(sorted(CORPORA))}.")],
        "gum",
    ),
}
"""What all trainings on a treebank ask for."""


def make_command(name: str) -> Callable[..., None]:
    """Return the function behind a subcommand, with an option for each of its settings."""
    if name == "neural":
        return _neural()
    if name == "syntax":
        return _syntax()
    if name == "words":
        return _words()
    if name.startswith("ensemble"):
        return _ensemble(name)
    return _on_treebank(TRAINABLE[name])


def _on_treebank(row: Trainable) -> Callable[..., None]:
    """Make the command of something that is trained on a treebank."""
    own: Own = {
        **ON_TREEBANK,
        "syntax": (
            Annotated[
                Syntax,
                typer.Option(
                    help="Syntax to learn from: gold (the corpus's), predicted (by a pipeline), "
                    "or each document with both, for a model that knows the mistakes of automatic "
                    "syntax. Unless it is gold, dev documents are parsed with our syntax, too."
                ),
            ],
            "gold",
        ),
        "pipeline": (
            Annotated[
                Path | None,
                typer.Option(
                    metavar="DIR",
                    help="Syntax pipeline that predicts, or `neural`; else ours, which knows GUM's "
                    "training documents; `rhetorica train syntax --silver` writes one that does "
                    "not.",
                ),
            ],
            None,
        ),
    }
    own["leave_out"] = (LeaveOut, None)
    help = (
        "More trees to learn from, in any format that is read, as another parser gave them to "
        "other texts (`rhetorica parse --to jsonl`); may be repeated."
    )
    own["also"] = (Annotated[list[Path] | None, typer.Option(metavar="FILE", help=help)], None)
    help = "Folder of the Penn Treebank: its trees are the syntax of RST-DT's documents."
    own["ptb"] = (Annotated[Path | None, typer.Option(metavar="DIR", help=help)], None)
    if row.kind == "parser":
        help = "Learn coarse relations."
        own["coarse"] = (Annotated[bool, typer.Option(help=help)], row.coarse)
    if row.resumes:
        help = "Go on with an interrupted training."
        own["resume"] = (Annotated[bool, typer.Option("--resume", help=help)], False)

    def run(given: dict[str, Any]) -> None:
        from rhetorica.train.loop import train as train_on
        from rhetorica.train.treebank import read_treebank

        tries = _settings(row.settings, given)
        treebank = read_treebank(
            given["corpus"],
            given["folder"],
            syntax=given["syntax"],
            pipeline=given["pipeline"],
            ptb=given["ptb"],
            constituency=any(getattr(one, "phrases", False) for one in tries),
            without=given["leave_out"] or (),
            also=given["also"] or (),
        )
        say(f"{len(treebank.train)} training documents, {len(treebank.dev)} dev documents")
        extra = {name: given[name] for name in ("coarse", "resume") if name in given}
        with training() as tell:
            train_on(row.name, treebank, given["out"], *tries, tell=tell, command=_said(), **extra)

    doc = f"{row.about}\n\nExample: `rhetorica train {row.name} gum/ --out my_{row.kind}`"
    return _command(doc, own, row.settings, run)


def _neural() -> Callable[..., None]:
    folders = {
        "gum": "Folder of GUM: trees, English relations, syntax; this or GCDT's must be there.",
        "gcdt": "Folder of GCDT: the same for Chinese.",
        "umuc": "Folder of UMUC: more English trees, whose labels are learned by class.",
        "scidtb": "Folder of SciDTB: dependencies of abstracts.",
    }
    about_encoder = (
        "Folder with `model.safetensors` and `vocab.txt` of the encoder that `--encoder` names."
    )
    about_start = "final.pt of an earlier run, or a model folder, to begin from."
    about_teacher = (
        "Parser from whose opinion of trees to learn, too: `ensemble`, or `neural:MODEL`. What it "
        "says of each document is kept in the folder `lessons`."
    )
    about_silver = "CoNLL-U files that teach segmentation and syntax: English-EWT, AMALGUM."
    own: Own = {
        "pretrained": (Annotated[Path, typer.Option(help=about_encoder)], Parameter.empty),
        "out": (Out, Parameter.empty),
        **{
            name: (Annotated[Path | None, typer.Option(metavar="DIR", help=help)], None)
            for name, help in folders.items()
        },
        "silver": (Annotated[list[Path] | None, typer.Option(help=about_silver)], None),
        "start": (
            Annotated[Path | None, typer.Option(help=about_start)],
            None,
        ),
        "teacher": (Annotated[str, typer.Option(metavar="PARSER", help=about_teacher)], ""),
        "leave_out": (LeaveOut, None),
    }

    def run(given: dict[str, Any]) -> None:
        from rhetorica.train.neural import train_neural

        corpora = {name: given[name] for name in folders if given[name]}
        if len({"gum", "gcdt"} & {*corpora}) != 1:
            raise typer.BadParameter("give the trees of one language: --gum or --gcdt")
        rest = {name: value for name, value in given.items() if name not in own}
        with training() as tell:
            model = train_neural(
                given["pretrained"],
                corpora,
                given["out"],
                start=given["start"],
                silver=given["silver"] or (),
                teacher=given["teacher"],
                without=given["leave_out"] or (),
                tell=tell,
                **rest,
            )
        say(f"model in {model}")

    try:
        settings = import_module("rhetorica.train.neural.train").Settings
    except ImportError:  # what is missing is said when it is run
        settings = None
    doc = (
        f"{OWN_STEPS['neural']}\n\nAn interrupted run goes on where it was.\n\nExample: "
        "`rhetorica train neural --encoder minilm --pretrained minilm/ --gum gum/ --out run`"
    )
    return _command(doc, own, settings, run)


def _syntax() -> Callable[..., None]:
    from rhetorica.train.syntax import Settings, train_syntax

    own: Own = {
        "gum": (
            Annotated[Path, typer.Option(help="GUM's folder, with dep/ and splits/.")],
            Parameter.empty,
        ),
        "ewt": (
            Annotated[Path, typer.Option(help="Folder of en_ewt-ud-*.conllu(.gz).")],
            Parameter.empty,
        ),
        "out": (Out, Parameter.empty),
        "silver": (
            Annotated[
                list[Path],
                typer.Option(help="CoNLL-U files with automatic syntax (AMALGUM), learned first."),
            ],
            [],
        ),
        "blind": (
            Annotated[
                Path | None,
                typer.Option(
                    metavar="DIR",
                    help="Where the pipeline after the silver files goes, which knows nothing of "
                    "GUM's trees (OUT_blind); if it is there, training goes on from it.",
                ),
            ],
            None,
        ),
    }

    example = "--gum gum/ --ewt ud_en_ewt/ --out my_syntax"
    return _on_files("syntax", example, own, Settings, train_syntax)


def _words() -> Callable[..., None]:
    from rhetorica.train.words import train_words
    from rhetorica.words.segmenter import Settings

    own: Own = {
        "gsd": (
            Annotated[Path, typer.Option(help="Folder of UD Chinese-GSD: *-train.conllu(.gz).")],
            Parameter.empty,
        ),
        "dictionary": (
            Annotated[Path, typer.Option(help="Lines of a word and its frequency: dict.txt.")],
            Parameter.empty,
        ),
        "out": (Out, Parameter.empty),
        "min_frequency": (
            Annotated[int, typer.Option(help="Leave out words that are rarer there.")],
            3,
        ),
    }

    example = "--gsd ud_zh_gsd/ --dictionary dict.txt --out my_words"
    return _on_files("words", example, own, Settings, train_words)


def _ensemble(name: str) -> Callable[..., None]:
    kind = "segmenters" if name.endswith("segmenter") else "parsers"
    settings = import_module(f"rhetorica.{kind}.ensemble").Settings

    def run(given: dict[str, Any]) -> None:
        from rhetorica.train.ensemble import train_ensemble, train_ensemble_segmenter
        from rhetorica.train.treebank import read_treebank

        treebank = read_treebank(given["corpus"], given["folder"])
        [chosen] = _settings(settings, given)
        learn: Any = train_ensemble if kind == "parsers" else train_ensemble_segmenter
        with training() as tell:
            learn(treebank, given["out"], chosen, tell=tell, command=_said())

    doc = (
        f"{OWN_STEPS[name]}\n\nWeights are learned from the dev documents, which no member was "
        "trained on; scores are of halves, each by the weights of the other.\n\nExample: "
        f"`rhetorica train {name} gum/ --out my_ensemble`"
    )
    return _command(doc, ON_TREEBANK, settings, run)


def _on_files(step: str, example: str, own: Own, settings: Any, train: Any) -> Callable[..., None]:
    """Make the command of a step whose function takes its options and settings as they are."""

    def run(given: dict[str, Any]) -> None:
        [chosen] = _settings(settings, given)
        values = {name: given[name] for name in own}
        with training() as tell:
            train(**values, settings=chosen, tell=tell, command=_said())

    doc = f"{OWN_STEPS[step]}\n\nExample: `rhetorica train {step} {example}`"
    return _command(doc, own, settings, run)


def _command(
    doc: str, own: Own, settings: Any, run: Callable[[dict[str, Any]], None]
) -> Callable[..., None]:
    """Put together a function with options of its own and one for each field of settings."""
    options = own | (dict(_options(settings)) if settings else {})

    def command(**given: Any) -> None:
        run(given)

    command.__doc__ = doc
    command.__annotations__ = {name: hint for name, (hint, _) in options.items()}
    parameters = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)
        for name, (hint, default) in options.items()
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def _options(settings: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield, for each field that is asked for, its name, what typer must know, the default."""
    ours = any(facts.help for facts in about(settings).values())
    for one in fields(settings):
        facts = about(settings)[one.name]
        if ours and not facts.help:
            continue
        hint, default = types(settings)[one.name], one.default
        if facts.grid is not None or facts.known:
            hint, default = str, _text(facts, default)
        name = f"--{(facts.option or one.name).replace('_', '-')}"
        flags = [f"{name}/--no-{name[2:]}"] if hint is bool else [name]
        yield one.name, (Annotated[hint, typer.Option(*flags, help=_help(facts))], default)


def _help(facts: About) -> str:
    if facts.grid is not None:
        grid = f"; grid: {facts.grid[0]:g} ... {facts.grid[-1]:g}" if facts.grid else ""
        return f"{facts.help}; several to try with commas{grid}."
    return f"{facts.help}: {', '.join(facts.known)}." if facts.known else facts.help


def _text(facts: About, value: Any) -> str:
    """Write the value of a field as one would on the command line."""
    if facts.grid is not None:
        return f"{value:g}"
    names = [name for name, members in facts.named.items() if members == value]
    return names[0] if names else ",".join(value)


def _settings(kind: Any, given: dict[str, Any]) -> list[Any]:
    """Return the settings that were asked for: several where a field has several values."""
    values: dict[str, Any] = {}
    several: dict[str, list[Any]] = {}
    for name, facts in about(kind).items():
        if name not in given:
            continue
        value = given[name]
        if facts.grid is not None:
            numbers = facts.grid if facts.grid and value == "grid" else _numbers(name, value)
            several[name] = [types(kind)[name](number) for number in numbers]
        elif facts.known:
            parts = tuple(part.strip() for part in value.split(",") if part.strip())
            values[name] = facts.named.get(value, parts)
        else:
            values[name] = value
    return list(combinations(made(kind, None, values), several))


def _numbers(name: str, text: str) -> list[float]:
    try:
        return [float(value) for value in text.split(",") if value.strip()]
    except ValueError:
        raise typer.BadParameter(f"--{name} takes numbers with commas, not {text!r}") from None


def _said() -> str:
    """Return the command as it was given."""
    return shlex.join(["rhetorica", *sys.argv[1:]])
