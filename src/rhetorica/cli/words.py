"""``rhetorica words``: fit and apply models of words, show terms and keywords."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

from rhetorica.cli.common import say, training
from rhetorica.errors import ModelError
from rhetorica.files import Source, write_bytes, write_text
from rhetorica.words import METHODS, Settings, WordsModel, fit, load, read_segmented, read_texts
from rhetorica.words.dp4 import Moves, Rank
from rhetorica.words.model import Method

app = typer.Typer(
    no_args_is_help=True,
    help="Chinese words; terms and keywords of a collection, learned with them.",
    rich_markup_mode="markdown",
)
_METHODS = "\n\n".join(f"- `{name}`: {line}" for name, line in METHODS.items())
_INPUT = (
    "INPUT is a folder whose sub-folders are domains (`.txt` files), or JSON lines with `id`, "
    "`text` and `domain`. Other fields, such as `keywords`, are never read."
)
_CHECKPOINT = "checkpoint.npz"
_USUAL = Settings()

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="The folder that `fit` wrote.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="File; else printed.")]
Often = Annotated[
    int, typer.Option(min=1, help="... if they occur so often there, in their domain or text.")
]
To = Annotated[
    Literal["text", "json", "jsonl", "html"],
    typer.Option(help="Lines, JSON, or a page that marks them in the texts."),
]


@app.command("fit", epilog=f"{_INPUT}\n\nMethods:\n\n{_METHODS}")
def fit_command(
    input: Annotated[str, typer.Argument(metavar="INPUT", help="Texts by domain.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the model.")],
    segmented: Annotated[
        Path | None,
        typer.Option(
            metavar="GENERAL",
            help="General text that is cut into words (`.conllu`, or a sentence a line with spaces "
            "between words), whose counts are imposed. Else: the texts as the shipped segmenter "
            "cuts them.",
        ),
    ] = None,
    segmenter: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="A segmenter of your own, instead of the shipped one; with --segmented, the "
            "counts of both are imposed.",
        ),
    ] = None,
    unsupervised: Annotated[
        bool, typer.Option("--unsupervised", help="Impose no counts at all.")
    ] = False,
    method: Annotated[str, typer.Option(help="One of the methods below.")] = "dp4",
    moves: Annotated[
        Moves,
        typer.Option(help="Draw a clause's words (sample) or take the best (viterbi)."),
    ] = _USUAL.moves,
    sweeps: Annotated[int, typer.Option(min=1, help="Passes over all texts.")] = _USUAL.sweeps,
    alpha: Annotated[
        str, typer.Option(metavar="A,A,A,A", help="Concentrations of the four levels.")
    ] = ",".join(f"{value:g}" for value in _USUAL.alpha),
    neighbours: Annotated[
        int, typer.Option(min=0, help="Similar documents that lengthen a document.")
    ] = _USUAL.neighbours,
    decay: Annotated[
        float,
        typer.Option(
            min=0,
            help="What each further character costs a new word (a logarithm). 0 is the paper's "
            "base measure, which cuts small collections into too long words.",
        ),
    ] = _USUAL.decay,
    longest: Annotated[int, typer.Option(min=1, help="Characters of a word.")] = _USUAL.longest,
    term_score: Annotated[
        float, typer.Option(help="Words with this TH (eq. 7) become terms: they stay. inf: none.")
    ] = _USUAL.term_score,
    term_count: Often = _USUAL.term_count,
    keyword_score: Annotated[
        float, typer.Option(help="Words with this KH (eq. 8) become keywords: they stay.")
    ] = _USUAL.keyword_score,
    keyword_count: Often = _USUAL.keyword_count,
    join: Annotated[
        float,
        typer.Option(
            help="Neighbouring words with so many bits of mutual information become one term. "
            "inf: none."
        ),
    ] = _USUAL.join,
    rank: Annotated[
        Rank,
        typer.Option(
            help="Order terms by TH as it is (ratio), or by frequency, its log and length (gain)."
        ),
    ] = _USUAL.rank,
    seed: Annotated[int, typer.Option(help="Same seed, same model.")] = 0,
    every: Annotated[
        int, typer.Option("--checkpoint", min=1, help="Keep what is reached after so many sweeps.")
    ] = 1,
) -> None:
    """Learn the words, terms and keywords of texts. An interrupted run goes on where it was.

    Example: `rhetorica words fit abstracts.jsonl --out model/`

    Then: `rhetorica words keywords model/ --top 5`
    """
    if unsupervised and (segmented or segmenter):
        raise typer.BadParameter("--unsupervised goes with neither --segmented nor --segmenter")
    settings = Settings(
        alpha=_numbers(alpha), neighbours=neighbours, decay=decay, longest=longest, sweeps=sweeps,
        moves=moves, term_score=term_score, term_count=term_count, keyword_score=keyword_score,
        keyword_count=keyword_count, join=join, rank=rank, seed=seed,
    )  # fmt: skip
    texts = read_texts(input)
    kept = out / _CHECKPOINT
    with training() as tell:
        model = fit(
            texts,
            settings,
            method=_method(method),
            segmented=read_segmented(segmented) if segmented else None,
            segmenter=load(segmenter) if segmenter else None,
            supervised=not unsupervised,
            tell=tell,
            checkpoint=lambda state: _keep(kept, state),
            every=every,
            resume=_kept(kept),
        )
    model.save(out)
    kept.unlink(missing_ok=True)
    domains = {text.domain for text in texts}
    words = sum(len(cut.words) for cut in model.texts)
    say(f"{len(texts)} texts of {len(domains)} domains, {words} words: {out}")


def _method(name: str) -> Method:
    if name not in METHODS:
        raise typer.BadParameter(f"{name!r}: expected one of {', '.join(METHODS)}")
    return name  # type: ignore[return-value]


def _numbers(text: str) -> Any:
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r}: expected four numbers, such as 20,15,15,15") from None
    return found


def _keep(path: Path, state: dict[str, Any]) -> None:
    data = io.BytesIO()
    np.savez_compressed(data, **state)
    write_bytes(path, data.getvalue())


def _kept(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)
    except (OSError, ValueError, EOFError) as error:
        raise ModelError(f"cannot go on from {path}: {error}; remove it to begin anew") from None


@app.command("apply")
def apply_command(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Texts; - is standard input.")],
    model: Annotated[
        Path | None,
        typer.Option(help="The folder that `fit` wrote; else the general segmenter that ships."),
    ] = None,
) -> None:
    """Cut texts into words: a line for each line, words separated by spaces.

    Example: `rhetorica words apply essay.zh.txt`
    """
    segmenter = WordsModel.load(model) if model else load()
    for name in files:
        text = Source.of(name).text
        lines = text.split("\n")
        if lines and not lines[-1]:
            lines.pop()
        spans = iter(segmenter.words(text))
        found = next(spans, None)
        at = 0
        for line in lines:
            words = []
            while found and found.start < at + len(line):
                words.append(text[found.start : found.end])
                found = next(spans, None)
            typer.echo(" ".join(words))
            at += len(line) + 1


@app.command("terms")
def terms_command(
    model: Model,
    top: Annotated[int, typer.Option(min=1, help="Terms of a domain.")] = 50,
    to: To = "text",
    out: Out = None,
) -> None:
    """List the terms of each domain, strongest first.

    Example: `rhetorica words terms model/ --top 20`
    """
    made = WordsModel.load(model)
    rows = [
        {"domain": domain, "terms": [asdict(row) for row in terms[:top]]}
        for domain, terms in made.terms.items()
    ]
    if to == "html":
        _page(made, out, terms=top, keywords=0)
        return
    lines = [f"{row['domain']}\t{_listed(row['terms'])}" for row in rows]
    _write(_formatted(rows, lines, to), out)


@app.command("keywords")
def keywords_command(
    model: Model,
    top: Annotated[int, typer.Option(min=1, help="Keywords of a text.")] = 5,
    to: To = "text",
    out: Out = None,
) -> None:
    """List the keywords of each text, strongest first.

    Example: `rhetorica words keywords model/ --top 5 --to jsonl`
    """
    made = WordsModel.load(model)
    if to == "html":
        _page(made, out, terms=50, keywords=top)
        return
    rows = [
        {"id": cut.text.id, "keywords": [row.word for row in cut.keywords[:top]]}
        for cut in made.texts
    ]
    lines = [f"{row['id']}\t{' '.join(row['keywords'])}" for row in rows]
    _write(_formatted(rows, lines, to), out)


def _listed(terms: Any) -> str:
    return " ".join(row["word"] for row in terms)


def _formatted(rows: list[dict[str, Any]], lines: list[str], to: str) -> str:
    if to == "json":
        return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"
    if to == "jsonl":
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _page(model: WordsModel, out: Path | None, *, terms: int, keywords: int) -> None:
    from rhetorica.render.words import words_html

    _write(words_html(model, terms=terms, keywords=keywords), out)


def _write(text: str, out: Path | None) -> None:
    if out:
        write_text(out, text)
    else:
        typer.echo(text, nl=False)
