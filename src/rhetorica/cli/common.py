"""What the commands share: the console for messages, and progress bars on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

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


@contextmanager
def training_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show how far a training has come; what is yielded takes a step's name, place and total."""
    with progress_bar(enabled=True) as bar:
        task = bar.add_task("training")

        def progress(what: str, at: int, total: int) -> None:
            bar.update(task, description=what, completed=at, total=total)

        yield progress
