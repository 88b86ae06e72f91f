"""The command line: a thin layer over importable functions; prints, shows progress, exits."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

from rhetorica import __version__, formats
from rhetorica.batch import Job, run_jobs
from rhetorica.cli.common import errors, plain, progress_bar
from rhetorica.cli.pictures import (
    PICTURE_LIST,
    PICTURES,
    at_most_one,
    check_picture,
    draw,
    write_picture,
)
from rhetorica.cli.reproduce import reproduce
from rhetorica.cli.serve import serve
from rhetorica.cli.train import train
from rhetorica.convert import Convention
from rhetorica.corpora import CORPORA, read_corpus
from rhetorica.describe import corpus_statistics
from rhetorica.errors import LanguageWarning, RepairWarning, RhetoricaError
from rhetorica.evaluate import Report, evaluate
from rhetorica.files import write_text
from rhetorica.parses import Parse
from rhetorica.pipeline import (
    DEFAULT_MODEL,
    DEFAULT_PARSER,
    DEFAULT_SEGMENTER,
    PARSERS,
    SEGMENTERS,
    Recipe,
)
from rhetorica.relations import RelationSet, read_relation_set, relation_set, relation_set_names
from rhetorica.render.colours import Theme
from rhetorica.render.layout import Orient, View
from rhetorica.render.terminal import render_tree
from rhetorica.text import annotate

app = typer.Typer(
    name="rhetorica",
    help="Tell how a text hangs together: discourse units, relations, trees.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_FORMAT_LIST = "\n\n".join(f"- `{f.name}`: {f.about}" for f in formats.FORMATS.values())
_FORMATS_EPILOG = f"Formats:\n\n{_FORMAT_LIST}"
_ALL_EPILOG = f"{_FORMATS_EPILOG}\n\nPictures:\n\n{PICTURE_LIST}"

Inputs = Annotated[
    list[str],
    typer.Argument(metavar="INPUT...", help="Files or folders; - is standard input."),
]
FromFormat = Annotated[
    str | None,
    typer.Option("--from", metavar="FORMAT", help="Input format; else told by the extension."),
]
OutFolder = Annotated[
    Path | None, typer.Option("--out", "-o", help="Folder for the output, one file a document.")
]
Jobs = Annotated[int, typer.Option(min=1, help="Processes that work side by side.")]
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
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="SET",
        help="Map relations to the coarse classes of a set "
        f"({', '.join(relation_set_names())}) or of your own file (relation<tab>class).",
    ),
]


def main() -> None:
    """Run the command line; errors that a user can mend become one line and exit code 1."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    try:
        app()
    except RhetoricaError as error:
        errors.print(f"[bold red]error:[/] {plain(str(error))}", soft_wrap=True)
        sys.exit(1)
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: stop quietly, as other tools do.
        sys.stderr.close()
        sys.exit(141)


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


@app.command(epilog=_FORMATS_EPILOG)
def convert(
    inputs: Inputs,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="Output format.")],
    from_: FromFormat = None,
    out: OutFolder = None,
    multinuclear: Annotated[
        Convention,
        typer.Option(
            help="In dependencies, later nuclei hang on the first (star) or the one before (chain)."
        ),
    ] = "star",
    binary: Annotated[bool, typer.Option(help="Write bracketed trees (dis) binary.")] = False,
    tokenized: Annotated[
        bool, typer.Option(help="Write EDUs as tokens with spaces, where tokens are known.")
    ] = False,
    corpus: CorpusName = None,
    split: Split = None,
) -> None:
    """Convert discourse trees from one format to another.

    One document goes to standard output unless --out is given; several need --out, or an output
    format that holds many (conllu, tok, rels, jsonl).

    Example: `rhetorica convert essay.rs3 --to rsd`
    """
    chosen = formats.get_format(to)
    style = formats.Style(multinuclear, tokenized, binary)
    parses = _read(inputs, from_, corpus, split)
    if out is None:
        write_text("-", formats.write(_at_most_one(parses, chosen), to, style))
        return
    names: set[str] = set()
    for number, parse in enumerate(parses, 1):
        name = _file_name(parse.id or f"document-{number}", names)
        write_text(out / f"{name}{chosen.suffixes[0]}", formats.write(parse, to, style))


@app.command()
def segment(
    inputs: Inputs,
    segmenter: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {', '.join(SEGMENTERS)}.")
    ] = DEFAULT_SEGMENTER,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="Treebank (gum, scidtb), or a model folder.")
    ] = DEFAULT_MODEL,
    to: Annotated[
        Literal["edus", "json", "jsonl", "tok"], typer.Option(help="Output format.")
    ] = "edus",
    out: OutFolder = None,
    jobs: Jobs = 1,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="The inputs are not raw text but in this format; their layers are used.",
        ),
    ] = None,
) -> None:
    """Cut raw English text into elementary discourse units, one a line.

    A blank line stands between paragraphs. `--to json` adds tokens, sentences and how sure each
    boundary is.

    Example: `rhetorica segment umbrella.txt`
    """
    job = Job(Recipe(parser=None, segmenter=segmenter, model=model), from_)
    paths = _text_files(inputs, from_)
    _write_stream(_with_progress(run_jobs(job, paths, jobs), len(paths)), to, out)


@app.command(epilog=_ALL_EPILOG)
def parse(
    inputs: Inputs,
    edus: Annotated[
        bool,
        typer.Option("--edus", help="Inputs hold one EDU a line, a blank line between paragraphs."),
    ] = False,
    parser: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {', '.join(PARSERS)}.")
    ] = DEFAULT_PARSER,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="Treebank (gum, scidtb), or a model folder.")
    ] = DEFAULT_MODEL,
    segmenter: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"One of {', '.join(SEGMENTERS)}; else the parser's own, or crf.",
        ),
    ] = None,
    to: Annotated[
        str,
        typer.Option(metavar="FORMAT", help="tree (to look at), or a format or picture below."),
    ] = "tree",
    view: Annotated[View, typer.Option(help="What tree and pictures show.")] = "rst",
    out: OutFolder = None,
    jobs: Jobs = 1,
    kbest: Annotated[int, typer.Option(min=1, help="Also keep the K best trees (in json).")] = 1,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="Inputs in this format; their EDUs and syntax are kept.",
        ),
    ] = None,
) -> None:
    """Parse raw English text: units, dependencies, RST tree.

    Example: `rhetorica parse umbrella.txt`
    """
    check_picture(to)
    if to not in ("tree", *PICTURES):
        formats.get_format(to)
    recipe = Recipe("en", parser, segmenter, model)
    job = Job(recipe, from_, edus, kbest)
    paths = list(inputs) if edus else _text_files(inputs, from_)
    _write_stream(_with_progress(run_jobs(job, paths, jobs), len(paths)), to, out, view)


@app.command()
def score(
    gold: Annotated[str, typer.Argument(help="File or folder with the right trees.")],
    pred: Annotated[str, typer.Argument(help="File or folder with the trees to be scored.")],
    compare: Annotated[
        str | None, typer.Option(help="Another system's trees: is the difference significant?")
    ] = None,
    labels: Labels = None,
    multinuclear: Annotated[
        Convention, typer.Option(help="Convention of the dependencies: star or chain.")
    ] = "star",
    gold_format: Annotated[
        str | None, typer.Option("--gold-format", metavar="FORMAT", help="Format of GOLD.")
    ] = None,
    pred_format: Annotated[
        str | None, typer.Option("--pred-format", metavar="FORMAT", help="Format of PRED.")
    ] = None,
    corpus: Annotated[str, typer.Option(help="Name of the data, for the signature.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Score trees against gold trees: segmentation, Parseval, attachment, relations.

    Documents are paired by name, units by their characters, so predicted EDUs are fine.

    Example: `rhetorica score gold/ predicted/ --labels gum --compare baseline/`
    """
    relations = _relation_set(labels)
    golds = list(_read([gold], gold_format))

    def run(path: str) -> Report:
        return evaluate(
            golds,
            _read([path], pred_format),
            labels=relations.coarse if relations else None,
            label_name=relations.label_name if relations else "as-is",
            convention=multinuclear,
            corpus=corpus,
        )

    report = run(pred)
    other = run(compare) if compare else None
    if as_json:
        data: dict[str, Any] = report.to_dict()
        if other:
            data = {
                "first": data,
                "second": other.to_dict(),
                "comparison": _comparison(report, other),
            }
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    _print_report(report)
    if other:
        _print_comparison(report, other)


app.add_typer(train, name="train")
app.add_typer(reproduce, name="reproduce")
app.command()(serve)


@app.command()
def stats(
    inputs: Inputs,
    from_: FromFormat = None,
    corpus: CorpusName = None,
    split: Split = None,
    labels: Labels = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Describe a corpus: sizes, relations inside and across sentences, leaky sentences.

    Example: `rhetorica stats gum/ --corpus gum --split train --labels gum`
    """
    relations = _relation_set(labels)
    statistics = corpus_statistics(
        _read(inputs, from_, corpus, split), labels=relations.coarse if relations else None
    )
    if as_json:
        typer.echo(json.dumps(statistics.to_dict(), indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    for title, header, rows in statistics.tables():
        console.print(_table(title, header, rows))


@app.command(epilog=_FORMATS_EPILOG)
def show(
    inputs: Inputs,
    from_: FromFormat = None,
    to: Annotated[
        Literal["tree", "svg", "html", "png"],
        typer.Option(help="tree: in the terminal; else a picture (html: a page with both views)."),
    ] = "tree",
    out: OutFolder = None,
    view: Annotated[View, typer.Option(help="Constituents (rst), or heads (dep).")] = "rst",
    width: Annotated[
        int | None,
        typer.Option(min=20, help="Columns; else those of the terminal. Of pictures, pixels."),
    ] = None,
    depth: Annotated[
        int | None, typer.Option(min=1, help="Fold what is deeper in the RST tree.")
    ] = None,
    clip: Annotated[bool, typer.Option(help="In the terminal, one line an EDU.")] = False,
    theme: Annotated[Theme, typer.Option(help="Colours of pictures.")] = "auto",
    orient: Annotated[
        Orient,
        typer.Option(
            help="Pictures: EDUs side by side (down), below each other (right), or by their number."
        ),
    ] = "auto",
    corpus: CorpusName = None,
    split: Split = None,
) -> None:
    """Draw discourse trees: in the terminal, or as pictures.

    Example: `rhetorica show essay.rs3`

    Example: `rhetorica show essay.rs3 --to html > essay.html`
    """
    console = Console(highlight=False)
    color = out is None and console.is_terminal and not console.no_color
    names: set[str] = set()
    check_picture(to)
    parses = _read(inputs, from_, corpus, split, progress=False)
    if to != "tree" and out is None:
        parses = at_most_one(parses, to)
    for number, parse in enumerate(parses, 1):
        if to != "tree":
            data = draw(parse, to, view=view, theme=theme, orient=orient, width=width, depth=depth)
            _write_picture(data, parse.id, to, out, number, names)
            continue
        text = render_tree(
            parse,
            width=width or console.width,
            color=color,
            view=view,
            clip=clip,
            depth=depth,
        )
        if out is not None:
            name = _file_name(parse.id or f"document-{number}", names)
            write_text(out / f"{name}.txt", text + "\n")
            continue
        if number > 1:
            typer.echo()
        typer.echo(text)


def _text_files(inputs: Iterable[str], format: str | None) -> list[str]:
    """Return the files to be analysed: those named, and those of the right kind in folders."""
    paths: list[str] = []
    for item in inputs:
        if item == "-" or not Path(item).is_dir():
            paths.append(item)
        elif format:
            paths += map(str, formats.find_files(item, format))
        elif found := sorted(Path(item).rglob("*.txt")):
            paths += map(str, found)
        else:
            raise RhetoricaError(f"{item}: no .txt file in this folder")
    return paths


def _with_progress(parses: Iterator[Parse], total: int) -> Iterator[Parse]:
    with progress_bar(enabled=total > 1) as bar:
        yield from bar.track(parses, total=total, description="analysing")


def _write_stream(parses: Iterator[Parse], to: str, out: Path | None, view: View = "rst") -> None:
    """Write results as they come: to a folder, or one after the other to standard output."""
    console = Console(highlight=False)
    color = out is None and console.is_terminal and not console.no_color
    names: set[str] = set()
    if to in PICTURES and out is None:
        parses = at_most_one(parses, to)
    for number, parse in enumerate(parses, 1):
        drawn = to == "tree" or to in PICTURES
        if not (drawn or parse.document.tokens) and formats.get_format(to).needs_tokens:
            parse = replace(parse, document=annotate(parse.document))
        if to in PICTURES:
            _write_picture(draw(parse, to, view=view), parse.id, to, out, number, names)
            continue
        if not parse.document.edus:
            text = ""
        elif to == "tree":
            text = render_tree(parse, width=console.width, color=color, view=view) + "\n"
        else:
            text = formats.write(parse, to)
        if out is not None:
            suffix = ".txt" if to == "tree" else formats.get_format(to).suffixes[0]
            name = _file_name(parse.id or f"document-{number}", names)
            write_text(out / f"{name}{suffix}", text)
        else:
            if number > 1 and (to == "tree" or not formats.get_format(to).many):
                typer.echo()
            write_text("-", text)


def _write_picture(
    data: bytes, id: str, to: str, out: Path | None, number: int, names: set[str]
) -> None:
    name = f"{_file_name(id or f'document-{number}', names)}.{to}"
    write_picture(data, to, out / name if out else None)


def _relation_set(name: str | None) -> RelationSet | None:
    if name is None:
        return None
    return read_relation_set(name) if Path(name).is_file() else relation_set(name)


def _read(
    inputs: Iterable[str],
    format: str | None,
    corpus: str | None = None,
    split: str | None = None,
    *,
    progress: bool = True,
) -> Iterator[Parse]:
    """Read all inputs, with a progress bar when there is a terminal and more than one file."""
    if corpus:
        with progress_bar(enabled=progress) as bar:
            task = bar.add_task("reading", total=None)
            for folder in inputs:
                for parse in read_corpus(corpus, folder, split):
                    bar.advance(task)
                    yield parse
        return
    paths: list[str | Path] = []
    for item in inputs:
        paths += [item] if item == "-" else formats.find_files(item, format)
    with progress_bar(enabled=progress and len(paths) > 1) as bar:
        for path in bar.track(paths, description="reading"):
            yield from formats.read(path, format)


def _at_most_one(parses: Iterator[Parse], chosen: formats.Format) -> list[Parse]:
    """Take all documents, but only one where the format holds one."""
    if chosen.many:
        return list(parses)
    found = [parse for _, parse in zip(range(2), parses, strict=False)]
    if len(found) > 1:
        raise RhetoricaError(
            f"more than one document, and {chosen.name} holds one a file: give --out FOLDER"
        )
    return found


def _file_name(id: str, taken: set[str]) -> str:
    """Return a file name for a document that no other has."""
    base = name = "".join("_" if c in '/\\:*?"<>|\0' else c for c in id)
    number = 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    taken.add(name)
    return name


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}"


def _table(title: str, header: Iterable[str], rows: Iterable[Iterable[object]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for number, name in enumerate(header):
        table.add_column(name, justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*("-" if cell is None else plain(str(cell)) for cell in row))
    return table


def _print_report(report: Report) -> None:
    console = Console(highlight=False)
    rows = [
        (
            f"{r.metric} {r.variant}",
            r.figure,
            r.documents,
            *map(_percent, (r.precision, r.recall, r.f1)),
        )
        for r in report.table()
    ]
    header = ("metric", "figure", "documents", "P", "R", "F1")
    console.print(_table("scores (percent)", header, rows))
    for signature in dict.fromkeys(row.signature for row in report.table()):
        console.print(plain(signature), soft_wrap=True)


def _comparison(report: Report, other: Report) -> list[dict[str, Any]]:
    return [
        {
            "metric": row.metric,
            "variant": row.variant,
            "figure": row.figure,
            "first": row.first,
            "second": row.second,
            "p_bootstrap": row.bootstrap.p_value,
            "p_t_test": row.t_test.p_value,
        }
        for row in report.compare(other)
    ]


def _print_comparison(report: Report, other: Report) -> None:
    rows = [
        (
            f"{row['metric']} {row['variant']}",
            row["figure"],
            _percent(row["first"]),
            _percent(row["second"]),
            f"{row['p_bootstrap']:.4f}",
            f"{row['p_t_test']:.4f}",
        )
        for row in _comparison(report, other)
    ]
    header = ("metric", "figure", "first", "second", "p (bootstrap)", "p (t-test)")
    Console(highlight=False).print(_table("first against second (F1, percent)", header, rows))
