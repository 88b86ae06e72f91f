"""The tables of Cortes, Kuznetsov & Mohri (2014), each beside the figures that they printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from rhetorica.learn.experts import METHODS
from rhetorica.progress import Event, Tell, nothing
from rhetorica.reproduce.cortes2014 import experiments
from rhetorica.reproduce.cortes2014.artificial import DESIGNS, SETS
from rhetorica.reproduce.cortes2014.folds import Score
from rhetorica.reproduce.cortes2014.paper import printed
from rhetorica.reproduce.tables import table

SIGNATURE = "hamming:normalised|folds:10|train:disjoint|mean ± sd"
SDS = {5: 1500, 10: 1200, 20: 900, 50: 700}
"""How many examples the paper learns from, by the number of experts."""


def reproduce_cortes2014(
    *, ocr: Path | None = None, gum: Path | None = None, tell: Tell = nothing
) -> str:
    """Run the experiments that the given data allow; return Tables 1 to 7 in Markdown."""
    parts = list(_artificial_tables(tell))
    if ocr:
        parts += _letter_tables(ocr, tell)
    if gum:
        parts += _tagging_tables(gum, tell)
    return "\n".join(parts)


def _artificial_tables(tell: Tell) -> Iterator[str]:
    for reading in DESIGNS:
        columns = {}
        for name in SETS:
            tell(Event(f"{name}, as {reading}"))
            columns[name] = experiments.artificial(name, reading)
        yield _table(
            f"**Tables 1 and 2, as {reading}**: normalised Hamming loss, m = 200",
            columns,
            {name: name for name in SETS},
        )


def _letter_tables(folder: Path, tell: Tell) -> Iterator[str]:
    tell(Event("handwritten words"))
    found = experiments.letters(folder)
    yield _table("**Section 5.3**: letters of handwritten words, m = 200", {"OCR": found}, {})
    tell(Event("k-best lists of handwritten words"))
    names = {"PDS1": (0.85, 1313, 130), "PDS2": (0.97, 3094, 280)}
    lists = {
        name: experiments.listed_first_as_target(folder, beta=beta, words=words, size=size)
        for name, (beta, words, size) in names.items()
    }
    sizes = ", ".join(f"{name}: m = {size}" for name, (_, _, size) in names.items())
    yield _table(
        f"**Table 3** on k-best lists of handwritten words: Hamming loss ({sizes})",
        lists,
        {name: name for name in names},
    )
    yield _table(
        "**Table 4** on the same lists: mean edit distance",
        lists,
        {name: f"{name} edits" for name in names},
        edits=True,
    )


def _tagging_tables(folder: Path, tell: Tell) -> Iterator[str]:
    tagging = experiments.read_tagging(folder)
    tell(Event("tagging: TR1"))
    columns = {"TR1": experiments.tr1(tagging)}
    tell(Event("tagging: TR2"))
    columns["TR2"] = experiments.tr2(tagging)
    yield _table(
        "**Table 5** on GUM: tags, Hamming loss over words, m = 800 and 1000",
        columns,
        {"TR1": "TR1", "TR2": "TR2"},
    )
    tell(Event("k-best lists of taggings"))
    lists = experiments.tagging_lists(tagging)
    listed, names, notes = {}, {}, []
    for p, size in SDS.items():
        tell(Event(f"lists: p = {p}"))
        found, count, used = experiments.listed(lists, p, size=size)
        listed[f"p = {p}"], names[f"p = {p}"] = found, f"SDS {p}"
        notes.append(f"p = {p}: {count} sentences, m = {used}")
    yield _table(
        "**Tables 6 and 7** on k-best taggings of GUM's sentences of 5 to 15 words: Hamming loss",
        listed,
        names,
        "; ".join(notes) + ".",
    )
    rows = []
    for p in SDS:
        rule = experiments.short_and_long(lists, p, size=300)
        rows.append([p, *(f"{rule[name]:.4f}" for name in ("Best", "MVote", "rule"))])
    columns_ = ["p", "best expert", "H_MVote", "best for l <= 4, H_MVote for l > 4"]
    yield table("**The rule of section 5.5**, sentences of 2 to 15 words", columns_, rows)


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
