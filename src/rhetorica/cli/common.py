"""What the commands share: the console for messages, and progress bars on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rhetorica.progress import Event, Tell

errors = Console(stderr=True, highlight=False)


def plain(text: str) -> str:
    """Keep brackets from being read as markup."""
    return text.replace("[", "\\[")


def say(line: str) -> None:
    """Print a message to standard error."""
    errors.print(plain(line), soft_wrap=True)


@contextmanager
def progress_bar(*, enabled: bool) -> Iterator[Progress]:
    """Show a progress bar while there is a terminal to show it on."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    disable = not (enabled and errors.is_terminal)
    with Progress(*columns, console=errors, transient=True, disable=disable) as bar:
        yield bar


def tell(event: Event) -> None:
    """Print what a long work has found; its single steps are not printed."""
    if not event.total:
        say(str(event))


@contextmanager
def training() -> Iterator[Tell]:
    """Show how far a training has come: a bar on a terminal, elsewhere a line per finished part."""
    with progress_bar(enabled=True) as bar:
        task = bar.add_task("training")

        def show(event: Event) -> None:
            if not event.total or (event.at == event.total and not errors.is_terminal):
                say(str(event))
            elif errors.is_terminal:
                what = f"{event.what}, {event.note}" if event.note else event.what
                bar.update(task, description=what, completed=event.at, total=event.total)

        yield show
