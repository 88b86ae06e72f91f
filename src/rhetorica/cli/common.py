"""What the commands share: the console for messages, and progress bars on it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from rhetorica.progress import Event, Tell

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.table import Table

errors = Console(stderr=True, highlight=False)
SILENCE = 60.0
"""Seconds after which a long work that is not on a terminal says how far it has come."""


class LateGroup(TyperGroup):
    """Commands that are made when they are called: until then, a name and a line of help.

    So ``rhetorica --help`` loads no parser.
    """

    def make(self, name: str) -> Any:
        """Return the command of a name."""
        raise NotImplementedError

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is meant, with all its options."""
        name, _, rest = super().resolve_command(ctx, args)
        command = self.make(str(name))
        command.name = name
        params = command.get_params
        command.get_params = lambda ctx: _bare(params(ctx))
        return name, command, rest

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options."""
        return _bare(super().get_params(ctx))


def _bare(parameters: list[Any]) -> list[Any]:
    """Keep help from saying <bool> beside flags, as if a value were wanted."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


def plain(text: str) -> str:
    """Keep brackets from being read as markup."""
    return text.replace("[", "\\[")


def say(line: str) -> None:
    """Print a message to standard error."""
    errors.print(plain(line), soft_wrap=True)


def say_error(what: object) -> None:
    """Print an error to standard error."""
    errors.print(f"[bold red]error:[/] {plain(str(what))}", soft_wrap=True)


class Failures:
    """What could not be done: each is reported when it happens, and the rest goes on."""

    def __init__(self) -> None:
        self.count = 0

    def report(self, what: object) -> None:
        """Tell of one."""
        self.count += 1
        say_error(what)

    def finish(self, *, many: bool) -> None:
        """End the command with an error if there were any."""
        if self.count:
            if many:
                say(f"{self.count} failed, see above; the others are done")
            raise typer.Exit(1)


def new_bar(*, disable: bool = False) -> Progress:
    """Make a progress bar, on standard error; it goes away when it is done."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=errors, transient=True, disable=disable)


@contextmanager
def progress_bar(*, enabled: bool) -> Iterator[Progress]:
    """Show a progress bar while there is a terminal to show it on."""
    disable = not (enabled and errors.is_terminal)
    bar = new_bar(disable=disable)
    # Older releases of rich print an empty line where a bar ends that was never shown.
    with nullcontext() if disable else bar:
        yield bar


def tell(event: Event) -> None:
    """Print what a long work has found; its single steps are not printed."""
    if not event.total:
        say(str(event))


@contextmanager
def training() -> Iterator[Tell]:
    """Show how far a training has come: a bar on a terminal; elsewhere lines, as for a log.

    There it says what it has found, what is finished, and after a `SILENCE` the step it is at.
    """
    said = time.monotonic()

    with progress_bar(enabled=True) as bar:
        task = bar.add_task("training")

        def show(event: Event) -> None:
            nonlocal said
            if event.total and errors.is_terminal:
                what = f"{event.what}, {event.note}" if event.note else event.what
                bar.update(task, description=what, completed=event.at, total=event.total)
            elif event.at == event.total or time.monotonic() - said > SILENCE:
                said = time.monotonic()
                say(str(event))

        yield show


def table(title: str, header: Iterable[str], rows: Iterable[Iterable[object]]) -> Table:
    """Lay out rows for the terminal, numbers to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    grid = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for number, name in enumerate(header):
        # Names of relations stay whole; heads of columns break between words.
        grid.add_column(
            name, justify="right" if number else "left", no_wrap=not number, overflow="fold"
        )
    for row in rows:
        grid.add_row(*("-" if cell is None else plain(str(cell)) for cell in row))
    return grid
