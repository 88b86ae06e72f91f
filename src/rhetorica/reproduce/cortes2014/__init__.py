"""The tables of Cortes, Kuznetsov & Mohri (2014), each beside the figures that they printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from rhetorica.learn.experts import METHODS
from rhetorica.progress import Tell, nothing
from rhetorica.reproduce.cortes2014 import experiments
from rhetorica.reproduce.cortes2014.artificial import DESIGNS, SETS
from rhetorica.reproduce.cortes2014.folds import Score
from rhetorica.reproduce.cortes2014.paper import printed
from rhetorica.reproduce.runs import Experiments
from rhetorica.reproduce.tables import table

SIGNATURE = "hamming:normalised|folds:10|train:disjoint|mean ± sd"
SDS = {5: 1500, 10: 1200, 20: 900, 50: 700}
"""How many examples the paper learns from, by the number of experts."""


def reproduce_cortes2014(
    work: Path, *, ocr: Path | None = None, gum: Path | None = None, tell: Tell = nothing
) -> str:
    """Run the experiments that the given data allow and ``work`` has not; return Tables 1 to 7."""
    runs = Experiments("cortes2014", work, tell)
    parts = list(_artificial_tables(runs))
    if ocr:
        parts += _letter_tables(runs, ocr)
    if gum:
        parts += _tagging_tables(runs, gum)
    return "\n".join(parts)


def _artificial_tables(runs: Experiments) -> Iterator[str]:
    for reading in DESIGNS:
        columns = {
            name: _kept(runs, name, partial(experiments.artificial, name, reading), reading=reading)
            for name in SETS
        }
        yield _table(
            f"**Tables 1 and 2, as {reading}**: normalised Hamming loss, m = 200",
            columns,
            {name: name for name in SETS},
        )


def _letter_tables(runs: Experiments, folder: Path) -> Iterator[str]:
    found = _kept(runs, "OCR", partial(experiments.letters, folder))
    yield _table("**Section 5.3**: letters of handwritten words, m = 200", {"OCR": found}, {})
    designs = {"PDS1": (0.85, 1313, 130), "PDS2": (0.97, 3094, 280)}
    lists = {}
    for name, (beta, words, size) in designs.items():
        score = partial(
            experiments.listed_first_as_target, folder, beta=beta, words=words, size=size
        )
        lists[name] = _kept(runs, name, score, beta=beta, words=words, size=size)
    sizes = ", ".join(f"{name}: m = {size}" for name, (_, _, size) in designs.items())
    yield _table(
        f"**Table 3** on k-best lists of handwritten words: Hamming loss ({sizes})",
        lists,
        {name: name for name in designs},
    )
    yield _table(
        "**Table 4** on the same lists: mean edit distance",
        lists,
        {name: f"{name} edits" for name in designs},
        edits=True,
    )


def _tagging_tables(runs: Experiments, folder: Path) -> Iterator[str]:
    tagging = cache(partial(experiments.read_tagging, folder))
    lists = cache(lambda: experiments.tagging_lists(tagging()))

    def sds(p: int, size: int) -> dict[str, Any]:
        scores, sentences, used = experiments.listed(lists(), p, size=size)
        return {"scores": _rows(scores), "sentences": sentences, "used": used}

    columns = {
        "TR1": _kept(runs, "TR1", lambda: experiments.tr1(tagging())),
        "TR2": _kept(runs, "TR2", lambda: experiments.tr2(tagging())),
    }
    yield _table(
        "**Table 5** on GUM: tags, Hamming loss over words, m = 800 and 1000",
        columns,
        {"TR1": "TR1", "TR2": "TR2"},
    )
    listed, names, notes = {}, {}, []
    for p, size in SDS.items():
        found = runs.figures({"experiment": "SDS", "p": p, "size": size}, partial(sds, p, size))
        listed[f"p = {p}"], names[f"p = {p}"] = _scores(found["scores"]), f"SDS {p}"
        notes.append(f"p = {p}: {found['sentences']} sentences, m = {found['used']}")
    yield _table(
        "**Tables 6 and 7** on k-best taggings of GUM's sentences of 5 to 15 words: Hamming loss",
        listed,
        names,
        "; ".join(notes) + ".",
    )
    rows = []
    for p in SDS:
        rule = runs.figures(
            {"experiment": "rule", "p": p},
            lambda p=p: experiments.short_and_long(lists(), p, size=300),  # type: ignore[misc]
        )
        rows.append([p, *(f"{rule[name]:.4f}" for name in ("Best", "MVote", "rule"))])
    columns_ = ["p", "best expert", "H_MVote", "best for l <= 4, H_MVote for l > 4"]
    yield table("**The rule of section 5.5**, sentences of 2 to 15 words", columns_, rows)


def _kept(
    runs: Experiments, name: str, make: Callable[[], Mapping[str, Score]], **setting: object
) -> dict[str, Score]:
    """Return the scores of an experiment: recalled or, the first time, made."""
    return _scores(runs.figures({"experiment": name, **setting}, lambda: _rows(make())))


def _rows(scores: Mapping[str, Score]) -> dict[str, Any]:
    return {method: asdict(score) for method, score in scores.items()}


def _scores(rows: Mapping[str, Any]) -> dict[str, Score]:
    return {
        method: Score(tuple(row["hamming"]), tuple(row["edits"])) for method, row in rows.items()
    }


def _table(
    title: str,
    columns: Mapping[str, Mapping[str, Score]],
    paper: Mapping[str, str],
    *notes: str,
    edits: bool = False,
) -> str:
    """Lay out methods x data sets; what the paper printed stands beside it."""
    heads: list[str] = ["method"]
    for name in columns:
        heads += [name, "paper"] if name in paper else [name]
    rows: list[Sequence[object]] = []
    for method in METHODS:
        row = [LABELS[method]]
        for name, scores in columns.items():
            values = scores[method].edits if edits else scores[method].hamming
            row.append(_cell(float(np.mean(values)), float(np.std(values))))
            if name in paper:
                theirs = printed(paper[name]).get(method)
                row.append(_cell(*theirs) if theirs else "")
        rows.append(row)
    signature = SIGNATURE.replace("hamming:normalised", "edits:mean") if edits else SIGNATURE
    return table(title, heads, rows, *notes, f"`{signature}`")


LABELS = {name: f"H_{name}" for name in METHODS} | {
    "Best": "best expert",
    "Majority": "plain majority",
}


def _cell(mean: float, spread: float) -> str:
    return f"{mean:.4f} ± {spread:.4f}"
