"""``rhetorica reproduce``: a subcommand for each paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rhetorica.cli.common import tell

app = typer.Typer(
    no_args_is_help=True,
    help="Rerun a paper's experiments, on its own corpus or on open ones, and print its tables.",
    rich_markup_mode="markdown",
)


Gum = Annotated[Path, typer.Option(help="GUM's folder.")]
MaybeGum = Annotated[Path | None, typer.Option(help="GUM's folder.")]
RstDt = Annotated[
    Path | None,
    typer.Option(
        help="RST-DT's folder (LDC2002T07): the paper's own corpus. Choices are made on every "
        "tenth document of TRAINING, TEST is scored once, published figures stand beside."
    ),
]
Ptb = Annotated[
    Path | None,
    typer.Option(help="The Penn Treebank's folder (with wsj_NNNN.mrg), for RST-DT's syntax."),
]
Umuc = Annotated[Path | None, typer.Option(help="UMUC's folder.")]
Work = Annotated[Path, typer.Option(help="Where finished trainings are kept, to go on from.")]
MembersSyntax = Annotated[
    str, typer.Option(help="Front end of the members: neural, else our spaCy pipeline.")
]
Into = Annotated[
    Path | None,
    typer.Option(
        help="A page with a marked place for the tables (in docs/). Where a command makes some of "
        "them, only these are replaced."
    ),
]


@app.command("li2014")
def reproduce_li2014_command(
    rst_dt: RstDt = None,
    ptb: Ptb = None,
    gum: MaybeGum = None,
    scidtb: Annotated[Path | None, typer.Option(help="SciDTB's folder.")] = None,
    work: Work = Path("runs/li2014"),
    into: Into = None,
    epochs: int = 8,
    semantic: Annotated[bool, typer.Option(help="With feature type 6.")] = True,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fine relations with all feature types only.")
    ] = False,
    tried: Annotated[
        bool, typer.Option("--tried", help="Only our own trials: the shipped settings, changed.")
    ] = False,
) -> None:
    """Make Tables 3 to 8 of Li et al. (2014), in Markdown.

    Example: `rhetorica reproduce li2014 --gum gum/ --scidtb scidtb/ > tables.md`

    Example: `rhetorica reproduce li2014 --rst-dt rst_discourse_treebank/ --ptb treebank_3/`
    """
    from rhetorica.reproduce.li2014 import reproduce_li2014, tried_table

    folders = _given({"rst-dt": rst_dt, "scidtb": scidtb, "gum": gum}, ptb)
    if tried:
        typer.echo(tried_table(folders, work, epochs=epochs, tell=tell))
        return
    tables = reproduce_li2014(
        folders, work, ptb=ptb, epochs=epochs, semantic=semantic, quick=quick, tell=tell
    )
    _show(tables, into, "li2014", part=True)


def _given(folders: dict[str, Path | None], ptb: Path | None = None) -> dict[str, Path]:
    """Return the corpora that were named; at least one must be."""
    if ptb is not None and folders.get("rst-dt") is None:
        raise typer.BadParameter("--ptb gives RST-DT its syntax: give --rst-dt, too")
    found = {name: folder for name, folder in folders.items() if folder is not None}
    if not found:
        raise typer.BadParameter(f"give one of {', '.join(f'--{name}' for name in folders)}")
    return found


@app.command("heilman-sagae2015")
def reproduce_heilman_sagae_command(
    rst_dt: RstDt = None,
    ptb: Ptb = None,
    gum: MaybeGum = None,
    umuc: Umuc = None,
    work: Work = Path("runs/heilman-sagae2015"),
    into: Into = None,
    ablation: Annotated[
        bool, typer.Option(help="Train without each group of features, too.")
    ] = True,
    only: Annotated[
        str,
        typer.Option(
            "--tables",
            metavar="NAMES",
            help="Only these tables of GUM, with commas: segmentation, accuracy, raw, umuc, "
            "strengths, syntax, search, features, levels, relations.",
        ),
    ] = "",
    strengths: Annotated[
        str,
        typer.Option(metavar="NUMBERS", help="Strengths to try, with commas; else the paper's."),
    ] = "",
    l2: Annotated[
        str,
        typer.Option(
            metavar="NUMBERS", help="The same for the segmenter; few of them save much time."
        ),
    ] = "",
) -> None:
    """Make the tables of Heilman & Sagae (2015), segmenter and parser, in Markdown.

    Example: `rhetorica reproduce heilman-sagae2015 --gum gum/ --umuc umuc/ > tables.md`

    Example: `rhetorica reproduce heilman-sagae2015 --rst-dt rst_dt/ --ptb treebank_3/`
    """
    from rhetorica.errors import UnknownName
    from rhetorica.reproduce.heilman_sagae2015 import TABLES, reproduce_heilman_sagae

    _given({"rst-dt": rst_dt, "gum": gum}, ptb)
    names = [name.strip() for name in only.split(",") if name.strip()] or TABLES
    for name in names:
        if name not in TABLES:
            raise UnknownName("table", name, TABLES)
    tables = reproduce_heilman_sagae(
        gum,
        work,
        umuc=umuc,
        rst_dt=rst_dt,
        ptb=ptb,
        ablation=ablation,
        only=names,
        strengths=_numbers(strengths),
        l2=_numbers(l2),
        tell=tell,
    )
    _show(tables, into, "heilman-sagae2015", part=bool(only))


@app.command("dplp2014")
def reproduce_dplp_command(
    rst_dt: RstDt = None,
    ptb: Ptb = None,
    gum: MaybeGum = None,
    work: Work = Path("runs/dplp2014"),
    into: Into = None,
    vectors: Annotated[
        Path | None,
        typer.Option(help="Text file of word vectors (a word, then its numbers), for row 5."),
    ] = None,
    lambdas: Annotated[
        str,
        typer.Option(metavar="NUMBERS", help="Values of lambda to try; else the paper's four."),
    ] = "",
    taus: Annotated[
        str,
        typer.Option(
            metavar="NUMBERS",
            help="Values of tau to try, with commas; else the paper's on RST-DT, 1 on GUM.",
        ),
    ] = "",
    rows: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Only these rows of Table 3, with commas: 4 to 11, -, ours; Figure 3 is left out.",
        ),
    ] = "",
    picture: Annotated[
        Path | None,
        typer.Option(help="Only draw the map of words (Figure 4), as SVG into this file."),
    ] = None,
    nmf: Annotated[
        bool, typer.Option("--nmf", help="Draw the words as NMF places them instead.")
    ] = False,
    shipped: Annotated[
        bool, typer.Option("--shipped", help="Only score the shipped model.")
    ] = False,
    umuc: Annotated[Path | None, typer.Option(help="UMUC's folder, for --shipped.")] = None,
) -> None:
    """Make Table 3 and Figures 3 and 4 of Ji & Eisenstein (2014).

    Example: `rhetorica reproduce dplp2014 --gum gum/ > tables.md`

    Example: `rhetorica reproduce dplp2014 --rst-dt rst_dt/ --vectors vectors.txt`

    Example: `rhetorica reproduce dplp2014 --gum gum/ --picture words.svg`
    """
    from rhetorica.files import write_text
    from rhetorica.render.scatter import scatter
    from rhetorica.reproduce.dplp2014 import (
        GROUPS,
        reproduce_dplp2014,
        search_table,
        shipped_table,
        word_map,
    )

    folders = _given({"rst-dt": rst_dt, "gum": gum}, ptb)
    if (shipped or picture) and gum is None:
        raise typer.BadParameter("--shipped and --picture are of GUM: give --gum")
    if shipped and gum:
        typer.echo(shipped_table({"gum": gum} | ({"umuc": umuc} if umuc else {})))
        typer.echo(search_table(gum))
        return
    if picture is None or gum is None:
        tables = reproduce_dplp2014(
            folders,
            work,
            ptb=ptb,
            vectors=vectors,
            lambdas=_numbers(lambdas),
            taus=_numbers(taus),
            rows=[name.strip() for name in rows.split(",") if name.strip()],
            tell=tell,
        )
        _show(tables, into, "dplp2014", part=True)
        return
    found = word_map(gum, nmf=nmf)
    space = "NMF" if nmf else "the learned projection"
    write_text(
        picture,
        scatter(found.places, found.words, GROUPS, title=f"Frequent words of GUM in {space}"),
    )
    typer.echo("| group | neighbours of the same group | by chance |\n|---|---|---|")
    for name, share in found.purity.items():
        typer.echo(f"| {name} | {100 * share:.1f} % | {100 * found.chance[name]:.1f} % |")


@app.command("codra2015")
def reproduce_codra_command(
    rst_dt: RstDt = None,
    ptb: Ptb = None,
    gum: MaybeGum = None,
    umuc: Umuc = None,
    work: Work = Path("runs/codra2015"),
    into: Into = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the confusion matrix (Figure 18), as SVG.")
    ] = None,
    only: Annotated[
        str, typer.Option("--tables", metavar="NUMBERS", help="Only these tables, with commas.")
    ] = "3,4,5,6,7,8,9",
    shipped: Annotated[
        bool, typer.Option("--shipped", help="Only score the shipped model on GUM.")
    ] = False,
) -> None:
    """Make Tables 3 to 9 and Figure 18 of Joty, Carenini & Ng (2015), segmenter included.

    Example: `rhetorica reproduce codra2015 --gum gum/ --picture confusion.svg > tables.md`

    Example: `rhetorica reproduce codra2015 --rst-dt rst_dt/ --ptb treebank_3/ > tables.md`
    """
    from rhetorica.files import write_text
    from rhetorica.render.matrix import confusion_chart
    from rhetorica.reproduce.codra2015 import TABLES, reproduce_codra2015, shipped_table

    folders = _given({"rst-dt": rst_dt, "gum": gum, "umuc": umuc}, ptb)
    if shipped:
        if gum is None:
            raise typer.BadParameter("--shipped is of GUM: give --gum")
        typer.echo(shipped_table(gum))
        return
    numbers = [int(number) for number in only.split(",") if number.strip().isdigit()]
    if not numbers or not set(numbers) <= set(TABLES):
        raise typer.BadParameter(f"--tables takes numbers from 3 to 9 with commas, not {only!r}")
    tables, counts = reproduce_codra2015(folders, work, ptb=ptb, only=numbers, tell=tell)
    if picture:
        totals: dict[str, int] = {}
        for (name, _), count in counts.items():
            totals[name] = totals.get(name, 0) + count
        names = sorted(totals, key=lambda name: -totals[name])
        corpus = "RST-DT test" if rst_dt else "GUM dev"
        title = f"Relations of spans found by TSP 1-1 on {corpus}: gold (rows), predicted (columns)"
        write_text(picture, confusion_chart(names, counts, title=title))
    _show(tables, into, "codra2015", part=True)


def _numbers(text: str) -> list[float]:
    """Read numbers with commas between them."""
    try:
        return [float(value) for value in text.split(",") if value.strip()]
    except ValueError:
        raise typer.BadParameter(f"expected numbers with commas, not {text!r}") from None


def _show(tables: str, into: Path | None, mark: str, *, part: bool = False) -> None:
    """Put tables into a page at their mark, or print them; ``part``: they may not be all."""
    from rhetorica.reproduce.tables import write_into

    if into:
        write_into(into, mark, tables, part=part)
    else:
        typer.echo(tables)


@app.command("zhai-williams2014")
def reproduce_zhai_williams_command(
    sgd: Annotated[Path, typer.Option(help="Folder with sgd_train.jsonl and sgd_dev.jsonl.")],
    work: Annotated[
        Path, typer.Option(help="Where finished experiments are kept, to go on from.")
    ] = Path("runs/zhai-williams2014"),
    repetitions: Annotated[int, typer.Option(min=1, help="How often all is done.")] = 3,
    quick: Annotated[
        bool, typer.Option("--quick", help="One number of states, one repetition, few dialogues.")
    ] = False,
    rivals: Annotated[
        bool, typer.Option(help="Also cluster with scikit-learn and hmmlearn (extra compare).")
    ] = True,
    minilm: Annotated[
        Path | None,
        typer.Option(
            help="Folder with `model.safetensors` and `vocab.txt` of MiniLM as distributed, whose "
            "vectors of turns are clustered, too (extra train)."
        ),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(help="A page with a marked place for the tables (docs/dialogue.md)."),
    ] = None,
) -> None:
    """Measure the dialogue models of Zhai & Williams (2014) on SGD and on a planted flow.

    Example: `rhetorica reproduce zhai-williams2014 --sgd sgd/ > tables.md`
    """
    from rhetorica.reproduce.tables import write_into
    from rhetorica.reproduce.zhai_williams2014 import reproduce_zhai_williams2014

    tables = reproduce_zhai_williams2014(
        sgd, work, quick=quick, repetitions=repetitions, rivals=rivals, minilm=minilm, tell=tell
    )
    if into:
        write_into(into, "tables", tables)
    else:
        typer.echo(tables)


@app.command("cortes2014")
def reproduce_cortes_command(
    ocr: Annotated[
        Path | None, typer.Option(help="Folder with the handwritten words (letters_train.tsv).")
    ] = None,
    gum: Annotated[Path | None, typer.Option(help="GUM's folder, for the tagging tables.")] = None,
    work: Annotated[
        Path, typer.Option(help="Where finished experiments are kept, to go on from.")
    ] = Path("runs/cortes2014"),
    into: Into = None,
) -> None:
    """Make Tables 1 to 7 of Cortes, Kuznetsov & Mohri (2014) beside the figures they printed.

    Tables 1 and 2 need no data and take about a minute; the others are made from handwritten words
    and from GUM, with experts of our own.

    Example: `rhetorica reproduce cortes2014 --ocr ocr_letters/ --gum gum/ > tables.md`
    """
    from rhetorica.reproduce.cortes2014 import reproduce_cortes2014

    _show(reproduce_cortes2014(work, ocr=ocr, gum=gum, tell=tell), into, "cortes2014")


@app.command("cao2014")
def reproduce_cao_command(
    gcdt: Annotated[Path, typer.Option(help="GCDT's folder.")],
    csl: Annotated[Path, typer.Option(help="Folder with csl_dev_full.jsonl.")],
    general: Annotated[
        list[Path],
        typer.Option(
            help="Segmented general text: UD GSD's train file, or SXU's. Several: a table each."
        ),
    ],
    work: Annotated[
        Path, typer.Option(help="Where finished experiments are kept, to go on from.")
    ] = Path("runs/cao2014"),
    quick: Annotated[bool, typer.Option("--quick", help="Few sweeps.")] = False,
    grid: Annotated[
        bool, typer.Option("--grid", help="Instead, try settings of when words become terms.")
    ] = False,
    into: Into = None,
) -> None:
    """Measure words, terms and keywords by five methods, after Table 1 of Cao et al. (2014).

    Example: `rhetorica reproduce cao2014 --gcdt gcdt/ --csl zh_csl_keywords/ --general
    sxu_train.txt.gz > tables.md`
    """
    from rhetorica.reproduce.cao2014 import reproduce_cao2014

    tables = reproduce_cao2014(gcdt, csl, general, work, quick=quick, grid=grid, tell=tell)
    _show(tables, into, "cao2014-grid" if grid else "cao2014")


@app.command("ensemble")
def reproduce_ensemble_command(
    gum: Gum,
    members: Annotated[
        str, typer.Option(help="Parsers that vote, with commas; the first is compared with.")
    ] = "neural,codra,shift-reduce,dplp",
    syntax: MembersSyntax = "",
    into: Into = None,
) -> None:
    """Score the ensemble parser on GUM dev: members alone, all methods, each member left out.

    Example: `rhetorica reproduce ensemble --gum gum/ > tables.md`
    """
    from rhetorica.parsers.ensemble import Settings
    from rhetorica.reproduce.ensemble import ensemble_tables
    from rhetorica.train.treebank import read_treebank

    settings = Settings(members=members, syntax=syntax)
    tables = ensemble_tables(read_treebank("gum", gum), settings, tell=tell)
    _show(tables, into, "ensemble")


@app.command("ensemble-dependencies")
def reproduce_ensemble_dependencies_command(
    scidtb: Annotated[Path, typer.Option(metavar="DIR", help="SciDTB's folder.")],
    members: Annotated[
        str, typer.Option(help="Parsers that vote, with commas; the first is compared with.")
    ] = "neural,neural-fast,li2014",
    syntax: MembersSyntax = "",
    into: Into = None,
) -> None:
    """Score the ensemble of dependency parsers on SciDTB dev: members, methods, decoders.

    Example: `rhetorica reproduce ensemble-dependencies --scidtb scidtb/ > tables.md`
    """
    from rhetorica.parsers.ensemble import Settings
    from rhetorica.reproduce.ensemble import dependency_tables
    from rhetorica.train.treebank import read_treebank

    treebank = read_treebank("scidtb", scidtb)
    tables = dependency_tables(treebank, Settings(members=members, syntax=syntax), tell=tell)
    _show(tables, into, "ensemble-dependencies")
