"""``rhetorica reproduce``: a subcommand for each paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rhetorica.cli.common import say

reproduce = typer.Typer(
    no_args_is_help=True,
    help="Rerun a paper's experiments on open treebanks and print its tables.",
    rich_markup_mode="markdown",
)


@reproduce.command("li2014")
def reproduce_li2014_command(
    gum: Annotated[Path | None, typer.Option(help="GUM's folder.")] = None,
    scidtb: Annotated[Path | None, typer.Option(help="SciDTB's folder.")] = None,
    work: Annotated[
        Path, typer.Option(help="Where finished trainings are kept, to go on from.")
    ] = Path("runs/li2014"),
    epochs: int = 8,
    semantic: Annotated[bool, typer.Option(help="With feature type 6.")] = True,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fine relations with all feature types only.")
    ] = False,
) -> None:
    """Make the analogues of Tables 3 to 8 of Li et al. (2014), in Markdown.

    Example: `rhetorica reproduce li2014 --gum gum/ --scidtb scidtb/ > tables.md`
    """
    from rhetorica.reproduce.li2014 import reproduce_li2014

    given = {"scidtb": scidtb, "gum": gum}
    folders = {name: folder for name, folder in given.items() if folder is not None}
    if not folders:
        raise typer.BadParameter("give --gum or --scidtb, or both")
    typer.echo(
        reproduce_li2014(folders, work, epochs=epochs, semantic=semantic, quick=quick, say=say)
    )
