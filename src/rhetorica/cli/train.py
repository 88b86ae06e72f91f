"""``rhetorica train``: a subcommand for each segmenter and parser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rhetorica.cli.common import progress_bar, say
from rhetorica.convert import Convention
from rhetorica.corpora import CORPORA, read_corpus
from rhetorica.document import Document
from rhetorica.parse.li2014 import FEATURE_TYPES
from rhetorica.segment.features import GROUPS, PAPER

train = typer.Typer(
    no_args_is_help=True,
    help="Train a segmenter or parser from a treebank; the result is a model folder.",
    rich_markup_mode="markdown",
)
TrainFolder = Annotated[str, typer.Argument(metavar="FOLDER", help="The corpus's folder.")]
TrainCorpus = Annotated[
    str, typer.Option("--corpus", metavar="NAME", help=f"One of {', '.join(sorted(CORPORA))}.")
]
ModelOut = Annotated[Path, typer.Option("--out", "-o", help="Model folder to write.")]
Syntax = Annotated[
    Literal["gold", "predicted"],
    typer.Option(help="Syntax to learn from: gold (the corpus's) or predicted (by our pipeline)."),
]


@train.command("crf")
def train_crf_command(
    folder: TrainFolder,
    out: ModelOut,
    corpus: TrainCorpus = "gum",
    syntax: Syntax = "gold",
    features: Annotated[
        str,
        typer.Option(
            help="all, paper (Heilman & Sagae 2015), or a list of groups with commas: "
            f"{', '.join(GROUPS)}."
        ),
    ] = "all",
    l2: Annotated[
        str, typer.Option(help="Strengths to try, with commas; grid is 2^-6 ... 2^6.")
    ] = "0.5",
    l1: Annotated[float, typer.Option(help="A little makes the model small.")] = 0.1,
    iterations: int = 100,
    min_count: Annotated[int, typer.Option(help="Drop features seen less often.")] = 2,
) -> None:
    """Train the CRF segmenter (Heilman & Sagae 2015).

    Example: `rhetorica train crf gum/ --out my_crf`
    """
    from rhetorica.training.segmenters import L2_GRID, train_crf

    docs, dev = _training_documents(corpus, folder, syntax)
    groups = {"all": GROUPS, "paper": PAPER}.get(features, tuple(features.split(",")))
    strengths = L2_GRID if l2 == "grid" else [float(value) for value in l2.split(",")]
    train_crf(
        docs,
        dev,
        out,
        groups=groups,
        l2=strengths,
        l1=l1,
        iterations=iterations,
        min_count=min_count,
        say=say,
    )


@train.command("logistic")
def train_logistic_command(
    folder: TrainFolder,
    out: ModelOut,
    corpus: TrainCorpus = "gum",
    syntax: Syntax = "gold",
    l2: Annotated[
        float | None, typer.Option(help="Strength; else by 5-fold cross-validation.")
    ] = None,
    bags: int = 10,
    seed: int = 0,
) -> None:
    """Train CODRA's segmenter (Joty et al. 2015).

    Example: `rhetorica train logistic gum/ --out my_logistic`
    """
    from rhetorica.training.segmenters import train_logistic

    docs, dev = _training_documents(corpus, folder, syntax)
    train_logistic(docs, dev, out, l2=l2, bags=bags, seed=seed, say=say)


@train.command("li2014")
def train_li2014_command(
    folder: TrainFolder,
    out: ModelOut,
    corpus: TrainCorpus = "gum",
    features: Annotated[
        str,
        typer.Option(
            help="extended, paper (Li et al. 2014), or a list with commas: "
            f"{', '.join(FEATURE_TYPES)}, extended."
        ),
    ] = "extended",
    decoder: Literal["eisner", "mst"] = "eisner",
    learner: Literal["mira", "perceptron"] = "mira",
    multinuclear: Convention = "star",
    coarse: Annotated[bool, typer.Option(help="Learn coarse relations.")] = False,
    epochs: int = 12,
    patience: Annotated[int, typer.Option(help="Stop after so many epochs without gain.")] = 3,
    resume: Annotated[bool, typer.Option(help="Go on with an interrupted training.")] = False,
    seed: int = 0,
) -> None:
    """Train the dependency parser (Li et al. 2014).

    Example: `rhetorica train li2014 gum/ --out my_parser`
    """
    from rhetorica.parse.li2014 import PAPER as PAPER_TYPES
    from rhetorica.reproduce import read_treebank
    from rhetorica.training.li2014 import train_li2014

    named = {"extended": (*PAPER_TYPES, "extended"), "paper": tuple(PAPER_TYPES)}
    treebank = read_treebank(corpus, folder)
    say(f"{len(treebank.train)} training documents, {len(treebank.dev)} dev documents")
    with progress_bar(enabled=True) as bar:
        task = bar.add_task("training")

        def progress(what: str, at: int, total: int) -> None:
            bar.update(task, description=what, completed=at, total=total)

        train_li2014(
            treebank.train,
            treebank.dev,
            out,
            relations=treebank.relations,
            coarse=coarse,
            epochs=epochs,
            patience=patience,
            resume=resume,
            say=say,
            progress=progress,
            features=named.get(features, tuple(features.split(","))),
            decoder=decoder,
            learner=learner,
            convention=multinuclear,
            seed=seed,
        )


def _training_documents(
    corpus: str, folder: str, syntax: str
) -> tuple[list[Document], list[Document]]:
    """Read the training documents with the wanted syntax, and the dev documents."""
    from rhetorica.training.segmenters import with_predicted_syntax

    dev = [parse.document for parse in read_corpus(corpus, folder, "dev")]
    docs = [parse.document for parse in read_corpus(corpus, folder, "train")]
    say(f"{len(docs)} training documents, {len(dev)} dev documents")
    return (with_predicted_syntax(docs) if syntax == "predicted" else docs), dev
