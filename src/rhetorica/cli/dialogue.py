"""``rhetorica dialogue``: fit, apply, show and score models of dialogue flow."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from rhetorica.cli.common import say, training
from rhetorica.cli.pictures import check_picture, write_picture
from rhetorica.dialogue import (
    KINDS,
    Dialogue,
    DialogueModel,
    Preparation,
    Settings,
    choose_states,
    fit,
    flow_of,
    read_dialogues,
)
from rhetorica.dialogue.gibbs import Moves
from rhetorica.dialogue.merge import Groups
from rhetorica.dialogue.read import Format
from rhetorica.files import encode

app = typer.Typer(
    no_args_is_help=True,
    help="Find the flowchart behind a pile of dialogues: states, what is said in each, what "
    "leads where.",
    rich_markup_mode="markdown",
)

_MODELS = "\n\n".join(f"- `{kind.name}`: {kind.line}" for kind in KINDS.values())
_FILES = (
    "Files: `.jsonl` with `dialogue_id` and `turns` (`speaker`, `utterance`, perhaps `acts`) on "
    "each line, `.csv` or `.tsv` with the columns dialogue, speaker, text (perhaps act), or a "
    "transcript: `Agent: Hello.`, one turn a line, an empty line between dialogues."
)

Files = Annotated[list[str], typer.Argument(metavar="FILE", help="Dialogues; - is standard input.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="The folder that `fit` wrote.")]
From = Annotated[
    Format | None, typer.Option("--from", help="How the files are written; else by their names.")
]
Merged = Annotated[
    str | None,
    typer.Option(
        "--merge",
        metavar="auto|N",
        help="Take states together that are only wordings of one step (they come after the same "
        "and lead to the same): as far as the dialogues speak for it, or into N.",
    ),
]
Picture = Literal["html", "svg", "png", "mermaid", "dot", "json"]


def _groups(model: DialogueModel, merge: str | None) -> Groups:
    if merge is None:
        return ()
    if merge != "auto" and not (merge.isdecimal() and int(merge)):
        raise typer.BadParameter(f"--merge {merge!r}: expected auto, or a number of at least 1")
    groups = model.groups(None if merge == "auto" else int(merge))
    done = len(model.merges) + 1 - len(groups)
    gains = [f"{found.gain:+.0f}" for found in model.merges[max(0, done - 3) : done + 3]]
    # A sudden drop is where the steps of a flow are reached.
    last = min(3, done)
    say(
        f"{len(model.merges) + 1} states merged into {len(groups)}; log probability: last merges "
        f"{', '.join(gains[:last]) or 'none'}, next ones {', '.join(gains[last:]) or 'none'}"
    )
    return groups


def _read(files: Sequence[str], format: Format | None) -> list[Dialogue]:
    found: list[Dialogue] = []
    for name in files:
        reading = read_dialogues(name, format=format)
        if reading.empty_turns or reading.empty_dialogues:
            say(
                f"{name}: left out {reading.empty_turns} turns without text and "
                f"{reading.empty_dialogues} dialogues without turns"
            )
        found += reading.dialogues
    return found


@app.command("fit", epilog=f"Models:\n\n{_MODELS}\n\n{_FILES}")
def fit_command(
    files: Files,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the model.")],
    model: Annotated[str, typer.Option(help="One of the models below.")] = "tm-hmmss",
    states: Annotated[int, typer.Option(min=1, help="States of the flow.")] = 20,
    choose: Annotated[
        str | None,
        typer.Option(
            "--choose-states",
            metavar="N,N,...",
            help="Try these numbers of states on a fifth of the dialogues, held out, and take "
            "the one that expects them best.",
        ),
    ] = None,
    topics: Annotated[
        int, typer.Option(min=1, help="Topics (not used by lm-hmm and lm-hmms).")
    ] = 40,
    sweeps: Annotated[int, typer.Option(min=1, help="Passes over all words.")] = 200,
    chains: Annotated[
        int, typer.Option(min=1, help="Start so many times; the most likely is kept.")
    ] = 1,
    average: Annotated[
        bool, typer.Option(help="Average all chains (states matched) instead of keeping one.")
    ] = False,
    moves: Annotated[
        Moves,
        typer.Option(
            help="Draw states one at a time, in tm-hmm with their topics, or a dialogue's at once."
        ),
    ] = "joint",
    speakers: Annotated[
        bool, typer.Option(help="States know who speaks: user and system get their own.")
    ] = False,
    fixed_priors: Annotated[
        bool, typer.Option("--fixed-priors", help="Keep the priors instead of sampling them.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Same seed, same model.")] = 0,
    format: From = None,
    entities: Annotated[
        bool, typer.Option(help="Annotated entities become their types: `<city>`.")
    ] = True,
    rules: Annotated[
        bool, typer.Option(help="So do times, dates, numbers, mail addresses, phone numbers.")
    ] = True,
    pattern: Annotated[
        list[str] | None,
        typer.Option(metavar="TYPE=REGEX", help="Entities of your own; may be repeated."),
    ] = None,
    stop_words: Annotated[bool, typer.Option(help="Leave out English stop words.")] = False,
    stem: Annotated[bool, typer.Option(help="Porter stems instead of words.")] = False,
    min_turns: Annotated[int, typer.Option(min=1, help="Leave out shorter dialogues.")] = 1,
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer words.")] = 2,
    every: Annotated[
        int,
        typer.Option(
            "--checkpoint",
            min=1,
            help="Note where it stands after so many sweeps; the same command, given again after "
            "an interruption, goes on from there.",
        ),
    ] = 50,
) -> None:
    """Learn the flow behind dialogues.

    Example: `rhetorica dialogue fit chats.jsonl --model tm-hmmss --states 20 --out flow/`

    Then look at it: `rhetorica dialogue show flow/ > flow.html`
    """
    settings = Settings(
        model=model, states=states, topics=topics, sweeps=sweeps, chains=chains,
        average=average, moves=moves, speakers=speakers, sample_priors=not fixed_priors, seed=seed,
        samples=min(10, sweeps),
    )  # fmt: skip
    preparation = Preparation(
        entities, rules, tuple(_pattern(text) for text in pattern or ()), stop_words, stem,
        min_turns, min_count,
    )  # fmt: skip
    dialogues = _read(files, format)
    with training() as tell:
        if choose:
            numbers = _numbers(choose)
            best, _ = choose_states(
                dialogues, numbers, settings, preparation=preparation, tell=tell
            )
            settings = replace(settings, states=best)
        made = fit(
            dialogues, settings, preparation=preparation, tell=tell,
            checkpoint=out / "checkpoint.npz", every=every,
        )  # fmt: skip
    made.save(out)
    kept = len(preparation.kept(dialogues))
    say(
        f"{kept} of {len(dialogues)} dialogues, {len(made.lexicon.words)} words, "
        f"{settings.states} states: {out}"
    )


def _pattern(text: str) -> tuple[str, str]:
    type_, equals, pattern = text.partition("=")
    if not equals or not type_:
        raise typer.BadParameter(f"{text!r}: expected TYPE=REGEX, such as route=[0-9]+[A-Z]")
    return type_, pattern


def _numbers(text: str) -> list[int]:
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{text!r}: expected numbers, such as 10,20,30") from None
    if min(found) < 1:
        raise typer.BadParameter(f"{text!r}: expected numbers of at least 1")
    return found


@app.command("apply", epilog=_FILES)
def apply_command(
    model: Model,
    files: Files,
    format: From = None,
    to: Annotated[Literal["jsonl", "text"], typer.Option(help="Output format.")] = "jsonl",
    merge: Merged = None,
) -> None:
    """Find the states of dialogues, with their probabilities.

    Example: `rhetorica dialogue apply flow/ new.jsonl > states.jsonl`
    """
    made = DialogueModel.load(model)
    groups = _groups(made, merge)
    names = {state.number: state.name for state in flow_of(made, groups=groups).states}
    for applied in made.apply(_read(files, format), groups):
        rows = list(zip(applied.dialogue.turns, applied.states, applied.probabilities, strict=True))
        if to == "jsonl":
            turns = [
                {
                    "speaker": turn.speaker,
                    "utterance": turn.text,
                    "state": state,
                    "name": names.get(state, ""),
                    "probability": round(float(chances[state]), 4),
                    "probabilities": [round(float(chance), 4) for chance in chances],
                }
                for turn, state, chances in rows
            ]
            data = {"dialogue_id": applied.dialogue.id, "turns": turns}
            typer.echo(json.dumps(data, ensure_ascii=False))
            continue
        typer.echo(applied.dialogue.id)
        for turn, state, chances in rows:
            typer.echo(f"{state + 1:4d} {chances[state]:.2f}  {turn.speaker}: {turn.text}")
        typer.echo("")


@app.command("show", epilog=_FILES)
def show_command(
    model: Model,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE", help="Take names and examples from these dialogues instead."
        ),
    ] = None,
    to: Annotated[
        Picture,
        typer.Option(help="A page, a picture, a chart for Mermaid or Graphviz, or plain data."),
    ] = "html",
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Leave out less probable lines.")
    ] = 0.1,
    words: Annotated[int, typer.Option(min=1, help="Words shown of a state.")] = 8,
    examples: Annotated[int, typer.Option(min=0, help="Utterances shown of a state.")] = 5,
    merge: Merged = None,
    title: Annotated[str, typer.Option(help="What the chart is called.")] = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File; else printed.")] = None,
    format: From = None,
) -> None:
    """Draw the flow: states by what is said in them, lines by how probable they are.

    Example: `rhetorica dialogue show flow/ --to svg --threshold 0.15 > flow.svg`
    """
    from rhetorica.render.flow import flow_html, flow_png, flow_svg

    check_picture(to)
    made = DialogueModel.load(model)
    flow = flow_of(
        made, _read(files or (), format), words=words, examples=examples, title=title,
        groups=_groups(made, merge),
    )  # fmt: skip
    if to == "png":
        data = flow_png(flow, threshold=threshold)
    else:
        text = {
            "html": lambda: flow_html(flow, threshold=threshold),
            "svg": lambda: flow_svg(flow, threshold=threshold),
            "mermaid": lambda: flow.to_mermaid(threshold),
            "dot": lambda: flow.to_dot(threshold),
            "json": lambda: json.dumps(flow.to_json(), ensure_ascii=False, indent=1) + "\n",
        }[to]()
        data = encode(text, f"<{to}>")
    write_picture(data, to, out)


@app.command("score", epilog=_FILES)
def score_command(
    model: Model,
    files: Files,
    format: From = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    particles: Annotated[
        int, typer.Option(min=1, help="For the likelihood of models with sources.")
    ] = 20,
    orders: Annotated[
        int, typer.Option(min=0, help="Random orders that the true one is compared with.")
    ] = 100,
    merge: Merged = None,
    seed: int = 0,
) -> None:
    """Measure how well a model expects dialogues that it has not seen.

    Log likelihood per word, Kendall's tau of the most likely order of the utterances, and, where
    turns have acts, how well states agree with them (V-measure, adjusted Rand index, purity).

    Example: `rhetorica dialogue score flow/ held-out.jsonl --json`
    """
    made = DialogueModel.load(model)
    scores = made.score(
        _read(files, format), particles=particles, orders=orders, seed=seed,
        groups=_groups(made, merge),
    )  # fmt: skip
    if as_json:
        typer.echo(json.dumps(scores))
        return
    table = Table("figure", "value", box=None)
    for name, value in scores.items():
        text = f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
        table.add_row(name.replace("_", " "), text)
    Console(file=sys.stdout).print(table)
