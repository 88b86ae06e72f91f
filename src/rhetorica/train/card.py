"""The card of a model: what it is, what it was trained on and how, what it gets on dev."""

from __future__ import annotations

import textwrap
from dataclasses import fields
from pathlib import Path
from typing import Any

from rhetorica.evaluate import Key, Report
from rhetorica.files import write_text
from rhetorica.settings import about
from rhetorica.train.treebank import Treebank

_GUM = (
    "annotations CC BY 4.0, texts CC BY-NC-SA 4.0 as a whole (fiction, whow, essay, letter and "
    "podcast are non-commercial)"
)
LICENCES = {
    "gum": f"trained on GUM: {_GUM}",
    "gcdt": "trained on GCDT: Apache-2.0, texts under licences of their own",
    "scidtb": "trained on SciDTB: no licence stated",
    "umuc": "trained on UMUC: annotations CC BY 4.0, texts of the United Nations",
    "rst-dt": "trained on RST-DT: licensed by the LDC; ask there before passing on a model",
}
"""What is known of the licences of treebanks."""
SHOWN = {
    "segmentation": Key("segmentation", "all", "starts"),
    "span": Key("parseval", "original", "span"),
    "nuclearity": Key("parseval", "original", "nuclearity"),
    "relation": Key("parseval", "original", "relation"),
    "full": Key("parseval", "original", "full"),
    "uas": Key("attachment", "unlabelled", "arcs"),
    "las": Key("attachment", "labelled", "arcs"),
}
"""The figures on a card, by short names."""


def figures(report: Report) -> dict[str, float]:
    """Return the figures that apply by short names; segmentation where nothing else does."""
    found = {name: report[key].f1 for name, key in SHOWN.items() if key in report.totals}
    return found if len(found) == 1 else {n: f for n, f in found.items() if n != "segmentation"}


def shown(report: Report) -> str:
    """Write the figures that apply in one line."""
    return ", ".join(f"{name} {100 * value:.2f}" for name, value in figures(report).items())


def _others(count: int) -> str:
    return f", and {count} other documents (`--also`)" if count else ""


def write_card(
    folder: Path, model: Any, title: str, treebank: Treebank, report: Report, command: str
) -> None:
    """Write ``README.md`` of a model folder."""
    licence = LICENCES.get(treebank.name, "its licence is not known to us")
    seed = getattr(model.settings, "seed", None)
    lines = [
        f"# {folder.resolve().name}: {title.removeprefix('Train the ').rstrip('.')}",
        "",
        _item(
            "Data",
            f"train split of {treebank.name}, {len(treebank.train) - treebank.others} documents"
            f"{_others(treebank.others)}; {licence}. The "
            "texts are not in the model; whoever uses it commercially should form an opinion on "
            "these licences.",
        ),
        *([_item("Training", f"`{command}`")] if command else []),
        *([_item("Seed", str(seed))] if seed is not None else []),
        _item("Settings", _settings(model.settings)),
        _item(
            "Scores",
            f"on {len(treebank.dev)} documents of {report.corpus}, which also decided what there "
            "was to choose (epoch, strength, temperature): a little too good.",
        ),
        "",
        "| figure | F1 | signature |",
        "|---|---|---|",
    ]
    for key, counts in report.totals.items():
        signature = report.signature(key).replace("|", ", ")
        lines.append(f"| {key} | {100 * counts.f1:.2f} | {signature} |")
    write_text(folder / "README.md", "\n".join(lines) + "\n")


def _item(name: str, text: str) -> str:
    return textwrap.fill(
        f"- **{name}**: {text}",
        100,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _settings(settings: Any) -> str:
    """Write out what was chosen, then what cannot be, such as what was found in training."""
    asked: list[str] = []
    found: list[str] = []
    for f in fields(settings):
        value = getattr(settings, f.name)
        text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        name = about(settings)[f.name].option or f.name
        (asked if about(settings)[f.name].help else found).append(f"{name} {text}".rstrip())
    return "; ".join(asked) + (f". Not asked for: {'; '.join(found)}" if found else "")
