"""``rhetorica train``: a subcommand for each segmenter and parser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rhetorica.cli.common import say, training_progress
from rhetorica.convert import Convention
from rhetorica.corpora import CORPORA, read_corpus
from rhetorica.document import Document
from rhetorica.learn.projection import Start
from rhetorica.parsers.codra.features import GROUPS as CODRA_GROUPS
from rhetorica.parsers.dplp import Matrix
from rhetorica.parsers.li2014 import FEATURE_TYPES
from rhetorica.parsers.shift_reduce import BEAM, SAMPLES
from rhetorica.segmenters.features import GROUPS, PAPER

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
    from rhetorica.train.segmenters import L2_GRID, train_crf

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
    from rhetorica.train.segmenters import train_logistic

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
    from rhetorica.parsers.li2014 import PAPER as PAPER_TYPES
    from rhetorica.reproduce import read_treebank
    from rhetorica.train.li2014 import train_li2014

    named = {"extended": (*PAPER_TYPES, "extended"), "paper": tuple(PAPER_TYPES)}
    treebank = read_treebank(corpus, folder)
    say(f"{len(treebank.train)} training documents, {len(treebank.dev)} dev documents")
    with training_progress() as progress:
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


@train.command("shift-reduce")
def train_shift_reduce_command(
    folder: TrainFolder,
    out: ModelOut,
    corpus: TrainCorpus = "gum",
    syntax: Annotated[
        Literal["both", "gold", "predicted"],
        typer.Option(
            help="Syntax to learn from: gold (the corpus's), predicted (by our pipeline), or each "
            "document with both, for a parser that knows the mistakes of automatic syntax."
        ),
    ] = "gold",
    features: Annotated[
        Literal["extended", "paper"],
        typer.Option(help="extended (two classifiers, ours) or paper (Heilman & Sagae 2015)."),
    ] = "extended",
    strength: Annotated[
        str,
        typer.Option(help="Strengths to try, with commas; grid is 2^-4 ... 2^4. Larger: less L1."),
    ] = "0.125",
    label_strength: Annotated[
        float, typer.Option(help="Strength of the classifier of labels (extended).")
    ] = 0.25,
    coarse: Annotated[bool, typer.Option(help="Learn coarse relations.")] = True,
    explore: Annotated[
        int, typer.Option(help="Times to parse the training data to learn from mistakes.")
    ] = 1,
    samples: Annotated[
        int, typer.Option(help="Sequences of actions that vote on the tree; 0: use a beam.")
    ] = SAMPLES,
    beam: Annotated[int, typer.Option(help="States that a beam keeps.")] = BEAM,
    epochs: int = 8,
    seed: int = 0,
) -> None:
    """Train the shift-reduce parser (Heilman & Sagae 2015).

    Example: `rhetorica train shift-reduce gum/ --out my_parser`
    """
    from rhetorica.reproduce import read_treebank
    from rhetorica.train.shift_reduce import (
        STRENGTH_GRID,
        train_shift_reduce,
        with_our_syntax,
    )

    treebank = read_treebank(corpus, folder)
    say(f"{len(treebank.train)} training documents, {len(treebank.dev)} dev documents")
    docs = treebank.train if syntax != "predicted" else []
    if syntax != "gold":
        docs = [*docs, *with_our_syntax(treebank.train)]
    with training_progress() as progress:
        train_shift_reduce(
            docs,
            treebank.dev,
            out,
            relations=treebank.relations,
            coarse=coarse,
            strengths=(
                STRENGTH_GRID if strength == "grid" else [float(v) for v in strength.split(",")]
            ),
            say=say,
            progress=progress,
            features=features,
            label_strength=label_strength,
            explore=explore,
            samples=samples,
            beam=beam,
            epochs=epochs,
            seed=seed,
        )


@train.command("dplp")
def train_dplp_command(
    folder: TrainFolder,
    out: ModelOut,
    corpus: TrainCorpus = "gum",
    matrix: Annotated[
        Matrix,
        typer.Option(help="Form of the projection, or a baseline: none, identity, nmf."),
    ] = "concatenation",
    features: Annotated[
        Literal["extended", "paper", "none"],
        typer.Option(help="Besides the words: extended (ours), paper (their Table 2), or none."),
    ] = "extended",
    width: Annotated[str, typer.Option(help="Dimensions K to try, with commas.")] = "60",
    l2: Annotated[
        str, typer.Option(help="Strengths of the weights' regulariser (lambda), with commas.")
    ] = "200",
    tau: Annotated[
        str, typer.Option(help="Strengths of the projection's regulariser, with commas.")
    ] = "1",
    iterations: Annotated[int, typer.Option(help="Steps of the projection.")] = 100,
    start: Annotated[
        Start, typer.Option(help="What the projection is at first: random (paper), words (ours).")
    ] = "words",
    folds: Annotated[
        int, typer.Option(help="Parts in which documents are parsed to learn from mistakes; or 0.")
    ] = 0,
    branching: Annotated[
        Literal["left", "right"], typer.Option(help="How lists branch inside the parser.")
    ] = "right",
    beam: Annotated[int, typer.Option(min=1, help="States kept by the search; 1: greedy.")] = 1,
    samples: Annotated[
        int, typer.Option(help="Sequences that vote for the tree; 0: the beam decides.")
    ] = 16,
    min_count: Annotated[int, typer.Option(help="Drop features seen less often.")] = 3,
    coarse: Annotated[bool, typer.Option(help="Learn coarse relations.")] = True,
    threshold: Annotated[
        float, typer.Option(help="Drop smaller weights from the file, to make it small.")
    ] = 0.0,
    seed: int = 0,
) -> None:
    """Train the parser with a learned projection of words (Ji & Eisenstein 2014).

    Example: `rhetorica train dplp gum/ --out my_parser`
    """
    from rhetorica.reproduce import read_treebank
    from rhetorica.train.dplp import train_dplp

    treebank = read_treebank(corpus, folder)
    say(f"{len(treebank.train)} training documents, {len(treebank.dev)} dev documents")
    with training_progress() as progress:
        train_dplp(
            treebank.train,
            treebank.dev,
            out,
            relations=treebank.relations,
            coarse=coarse,
            l2=[float(value) for value in l2.split(",")],
            tau=[float(value) for value in tau.split(",")],
            width=[int(value) for value in width.split(",")],
            threshold=threshold,
            say=say,
            progress=progress,
            matrix=matrix,
            features=features,
            iterations=iterations,
            start=start,
            folds=folds,
            branching=branching,
            beam=beam,
            samples=samples,
            min_count=min_count,
            seed=seed,
        )


@train.command("codra")
def train_codra_command(
    folder: TrainFolder,
    out: ModelOut,
    corpus: TrainCorpus = "gum",
    stages: Annotated[
        Literal["1s-1s", "window", "three-way", "one"],
        typer.Option(help="One sentence one sub-tree, sliding window, both, or no sentences."),
    ] = "1s-1s",
    features: Annotated[
        str,
        typer.Option(
            help="extended, paper (Joty et al. 2015), or a list with commas: "
            f"{', '.join(CODRA_GROUPS)}."
        ),
    ] = "extended",
    chain: Annotated[bool, typer.Option(help="The dynamic CRF inside sentences.")] = True,
    objective: Annotated[
        Literal["trees", "joins"],
        typer.Option(help="Across sentences: likelihood of trees (ours) or of joins (paper)."),
    ] = "trees",
    passes: Annotated[int, typer.Option(min=1, max=2, help="2: with sub-structures.")] = 1,
    rerank: Annotated[
        int,
        typer.Option(min=0, help="Choose among so many trees of a sentence by a reranker; 0: no."),
    ] = 0,
    coarse: Annotated[bool, typer.Option(help="Learn coarse relations.")] = True,
    iterations: Annotated[int, typer.Option(help="Steps of L-BFGS.")] = 50,
    threshold: Annotated[
        float, typer.Option(help="Drop smaller weights from the file, to make it small.")
    ] = 0.0,
    seed: int = 0,
) -> None:
    """Train the two-stage parser (Joty, Carenini & Ng 2015).

    Example: `rhetorica train codra gum/ --out my_parser`
    """
    from rhetorica.reproduce import read_treebank
    from rhetorica.train.codra import train_codra

    named = {"extended": CODRA_GROUPS, "paper": CODRA_GROUPS[:-1]}
    treebank = read_treebank(corpus, folder)
    say(f"{len(treebank.train)} training documents, {len(treebank.dev)} dev documents")
    with training_progress() as progress:
        train_codra(
            treebank.train,
            treebank.dev,
            out,
            relations=treebank.relations,
            coarse=coarse,
            threshold=threshold,
            say=say,
            progress=progress,
            stages=stages,
            groups=named.get(features, tuple(features.split(","))),
            chain=chain,
            objective=objective,
            passes=passes,
            rerank=rerank,
            iterations=iterations,
            seed=seed,
        )


def _training_documents(
    corpus: str, folder: str, syntax: str
) -> tuple[list[Document], list[Document]]:
    """Read the training documents with the wanted syntax, and the dev documents."""
    from rhetorica.train.segmenters import with_predicted_syntax

    dev = [parse.document for parse in read_corpus(corpus, folder, "dev")]
    docs = [parse.document for parse in read_corpus(corpus, folder, "train")]
    say(f"{len(docs)} training documents, {len(dev)} dev documents")
    return (with_predicted_syntax(docs) if syntax == "predicted" else docs), dev
