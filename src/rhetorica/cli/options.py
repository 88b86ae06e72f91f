"""Options and arguments that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rhetorica.corpora import CORPORA
from rhetorica.formats import FORMATS
from rhetorica.pipeline import (
    AUTO,
    NEURAL_SYNTAX,
    PARSERS,
    SEGMENTERS,
    SPACY_SYNTAX,
    TREEBANKS,
)
from rhetorica.relations import RelationSet, read_relation_set, relation_set, relation_set_names

FORMATS_EPILOG = "Formats:\n\n" + "\n\n".join(
    f"- `{format.name}`: {format.about}" for format in FORMATS.values()
)

Inputs = Annotated[
    list[str], typer.Argument(metavar="INPUT", help="Files or folders; - is standard input.")
]
Texts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT",
        help="Files or folders; - or nothing is standard input. Other formats than raw text are "
        "told by their extension.",
        show_default=False,
    ),
]
FromFormat = Annotated[
    str | None,
    typer.Option("--from", metavar="FORMAT", help="Input format; else told by the extension."),
]
TextFormat = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help="The inputs are not raw text but in this format; their layers are kept.",
    ),
]
ModelName = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Treebank (gum, in Chinese gcdt; scidtb), or a model folder."
    ),
]
LanguageName = Annotated[
    str,
    typer.Option(
        "--language",
        metavar="|".join((AUTO, *TREEBANKS)),
        help=f"Language of the texts; {AUTO}: each text's own. Chinese needs the package "
        "rhetorica-zh.",
    ),
]
ParserName = Annotated[
    str,
    typer.Option(
        "--parser",
        metavar="NAME",
        help=f"One of {', '.join(PARSERS)}; {AUTO}: the best that is installed.",
    ),
]
SegmenterName = Annotated[
    str | None,
    typer.Option(
        "--segmenter",
        metavar="NAME",
        help=f"One of {', '.join(SEGMENTERS)}; else the parser's own, or what goes with the "
        "syntax: neural, or crf.",
    ),
]
SyntaxName = Annotated[
    str | None,
    typer.Option(
        "--syntax",
        metavar="NAME",
        help=f"Tags and dependencies for parsers that read them: {NEURAL_SYNTAX} (the better one; "
        f"the default where the package rhetorica-en is installed), {SPACY_SYNTAX} (ours, the "
        "faster one), or a spaCy pipeline.",
        show_default=False,
    ),
]
OutPlace = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="A file (its extension tells the format), or a folder for one file a document.",
    ),
]
Jobs = Annotated[
    str, typer.Option(metavar="N|auto", help="Processes that work side by side; auto: all cores.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no warnings.")]
Pattern = Annotated[
    str, typer.Option(metavar="GLOB", help="Which files of a folder to take, such as '*.md'.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse files that would be read with a warning.")
]
CorpusName = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        metavar="NAME",
        help=f"The inputs are folders of this corpus: {', '.join(sorted(CORPORA))}.",
    ),
]
Split = Annotated[
    str | None, typer.Option("--split", help="With --corpus: train, dev, ...; else all.")
]
PennTreebank = Annotated[
    Path | None,
    typer.Option(
        "--ptb",
        metavar="DIR",
        help="With --corpus rst-dt: the Penn Treebank's folder (with wsj_NNNN.mrg), for syntax.",
    ),
]
LabelKind = Annotated[
    Literal["own", "coarse"],
    typer.Option(
        "--labels", help="Relations as the parser gives them, or the classes that all share."
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="SET",
        help="Map relations to the coarse classes of a set "
        f"({', '.join(relation_set_names())}) or of your own file (relation, a tab, its class).",
    ),
]


def labels_of(name: str | None) -> RelationSet | None:
    """Return the set that ``--labels`` names, or reads from a file."""
    if name is None:
        return None
    return read_relation_set(name) if Path(name).is_file() else relation_set(name)
