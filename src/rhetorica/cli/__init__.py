"""The command line: a thin layer over importable functions; prints, shows progress, exits.

Each command has a module of its own, imported when the command is called.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import Annotated, Any

import typer

from rhetorica.cli.common import LateGroup, errors, plain, say_error
from rhetorica.errors import LanguageWarning, RepairWarning, RhetoricaError
from rhetorica.version import __version__

COMMANDS = {
    "parse": "Parse raw text, English or Chinese: units, dependencies, RST tree.",
    "segment": "Cut raw text into elementary discourse units, one a line.",
    "batch": "Parse very many documents, in processes or on a cluster; an ended run goes on.",
    "show": "Draw discourse trees: in the terminal, or as pictures.",
    "convert": "Convert discourse trees from one format to another.",
    "score": "Score trees against gold trees: segmentation, Parseval, attachment, relations.",
    "stats": "Describe a corpus: sizes, relations inside and across sentences, leaky sentences.",
    "words": "Cut Chinese text into words; find the terms and keywords of a collection.",
    "dialogue": "Find the flowchart behind a pile of dialogues: states, words, what leads where.",
    "serve": "Serve the parsers over HTTP, with a page to look at trees and correct them.",
    "models": "List the models that are installed.",
    "train": "Train a segmenter or parser from a treebank; the result is a model folder.",
    "reproduce": "Rerun a paper's experiments on open treebanks and print its tables.",
}


class _Commands(LateGroup):
    def make(self, name: str) -> Any:
        return typer.main.get_command(import_module(f"rhetorica.cli.{name}").app)


app = typer.Typer(
    name="rhetorica",
    help="Tell how a text hangs together: discourse units, relations, trees.",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _line in COMMANDS.items():
    app.command(_name, help=_line)(lambda: None)


def main() -> None:
    """Run the command line; errors that a user can mend become one line and exit code 1."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, and not when nobody can tell any more
    except RhetoricaError as error:
        say_error(error)
        sys.exit(1)
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: stop quietly, as other tools do.
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:
        # A full disk, most often, which what is left to be printed would only meet again.
        say_error(": ".join(str(one) for one in (error.filename, error.strerror) if one) or error)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _show_warning(message: Warning | str, category: type[Warning], *_: Any) -> None:
    if issubclass(category, (RepairWarning, LanguageWarning)):
        errors.print(f"[yellow]warning:[/] {plain(str(message))}", soft_wrap=True)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit
