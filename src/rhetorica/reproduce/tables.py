"""Figures -> Markdown tables, and tables -> a page of the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rhetorica.errors import Mismatch
from rhetorica.evaluate import Report
from rhetorica.files import Source, write_text

FIGURES = ("span", "nuclearity", "relation", "full")
NAMES = " / ".join(FIGURES)

Found = Report | Mapping[str, Any]
"""The scores of a system, or what `figures` keeps of them."""


def figures(report: Report) -> dict[str, Any]:
    """Return the F1 of every figure by its name, ``parseval:original:full``, and signatures."""
    found: dict[str, Any] = {str(key): counts.f1 for key, counts in report.totals.items()}
    return found | {"signatures": {str(key): report.signature(key) for key in report.keys}}


def f1(found: Found, metric: str, variant: str, figure: str) -> float:
    """Return a figure of a report, or of what was kept of one."""
    if isinstance(found, Report):
        return found[metric, variant, figure].f1
    return float(found[f"{metric}:{variant}:{figure}"])


def percent(share: float, digits: int = 2) -> str:
    """Write a share in percent.

    >>> percent(0.41666)
    '41.67'
    """
    return f"{100 * share:.{digits}f}"


def cells(
    found: Found, variant: str = "original", names: Iterable[str] = FIGURES, *, digits: int = 2
) -> str:
    """Write Parseval's figures of a variant into one cell, as ``60.12 / 48.00 / ...``."""
    return " / ".join(percent(f1(found, "parseval", variant, name), digits) for name in names)


def arcs(found: Found) -> str:
    """Write unlabelled and labelled attachment into one cell."""
    kinds = ("unlabelled", "labelled")
    return " / ".join(percent(f1(found, "attachment", kind, "arcs")) for kind in kinds)


def beside(found: float, published: float | None, digits: int = 2) -> str:
    """Write a figure (percent) with the published one and the difference, where there is one.

    >>> beside(74.1, 74.55), beside(74.1, None)
    ('74.10 (74.55, -0.45)', '74.10')
    """
    if published is None:
        return f"{found:.{digits}f}"
    return f"{found:.{digits}f} ({published:.{digits}f}, {found - published:+.{digits}f})"


BRACKETS = " In brackets: the published figure, and the difference from it."
"""What such cells mean, for the end of a table's title."""


def signature(
    found: Found, variant: str = "original", metric: str = "parseval", figure: str = "span"
) -> str:
    """Return what a figure means, as code."""
    kept = figures(found) if isinstance(found, Report) else found
    return f"`{kept['signatures'][f'{metric}:{variant}:{figure}']}`"


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *notes: str) -> str:
    """Write a table below its title; notes, such as signatures, stand below it.

    >>> print(table("**Trees**", ["parser", "full"], [["ours", "50.00"]]))
    **Trees**
    <BLANKLINE>
    | parser | full |
    |---|---|
    | ours | 50.00 |
    <BLANKLINE>
    """
    lines = [f"{title}\n", _row(columns), "|" + "---|" * len(columns), *map(_row, rows)]
    return "\n".join([*lines, *(["", *notes] if notes else []), ""])


def _row(values: Sequence[object]) -> str:
    return f"| {' | '.join(str(value).replace('|', _BAR) for value in values)} |"


_BAR = "\\|"
"""A bar inside a cell, as Markdown wants it."""


Cells = tuple[str, ...]


def read_tables(text: str) -> dict[Cells, dict[str, list[Cells]]]:
    r"""Return the rows of all Markdown tables, by the columns of their table and their first cell.

    >>> read_tables("| parser | full |\n|---|---|\n| ours | 50.00 |\n")
    {('parser', 'full'): {'ours': [('50.00',)]}}
    """
    found: dict[Cells, dict[str, list[Cells]]] = {}
    columns: Cells | None = None
    for line in text.splitlines():
        if not line.startswith("|"):
            columns = None
            continue
        inside = line.strip().removeprefix("| ").removesuffix(" |")
        row = tuple(cell.strip() for cell in inside.split(" | "))
        if columns is None:
            columns = row
            found.setdefault(columns, {})
        elif not set(line) <= set("|-: "):
            found[columns].setdefault(row[0], []).append(row[1:])
    return found


def moved(page: str, printed: str) -> list[str]:
    """Return what a page has otherwise than a command prints: rows that changed, or are not there.

    Tables are known by their columns, rows by their first cell and by others without a figure;
    where that leaves several, all are shown. Speeds (columns of something a CPU-second) are not
    compared. Where a page has no such table, it may have its figures in one of its own, rounded:
    those are shown that stand nowhere on the page.
    """
    known = read_tables(page)
    figures_there = set(_FIGURE.findall(page))
    lines: list[str] = []
    for columns, rows in read_tables(printed).items():
        if columns not in known:
            lines += _missing(columns, rows, figures_there)
            continue
        steady = [at for at, column in enumerate(columns[1:]) if not column.endswith("CPU-s")]

        def figures_of(row: Cells, steady: Sequence[int] = steady) -> Cells:
            return tuple(row[at] for at in steady if at < len(row))

        for name, values in rows.items():
            theirs = list(map(figures_of, known[columns].get(name, [])))
            for row in map(figures_of, values):
                if row not in theirs:
                    alike = [" | ".join(other) for other in theirs if _words(other) == _words(row)]
                    was = " or ".join(alike) or "not there"
                    lines.append(f"{name}: {' | '.join(row)} (was {was})")
    return lines


_FIGURE = re.compile(r"\d+\.\d+")


def _missing(columns: Cells, rows: Mapping[str, list[Cells]], there: set[str]) -> list[str]:
    """Return the rows of which a page has not all figures, neither as they are nor rounded."""
    lines = []
    for name, values in rows.items():
        for row in values:
            cells = (
                cell
                for column, cell in zip(columns[1:], row, strict=False)
                if not column.endswith("CPU-s")
            )
            found = [figure for cell in cells for figure in _FIGURE.findall(cell)]
            missing = [f for f in found if f not in there and f"{float(f):.1f}" not in there]
            if missing:
                place = " | ".join((name, *row))
                lines.append(f"{place}: {', '.join(missing)} not on the page")
    return lines


def _words(row: Cells) -> Cells:
    return tuple(cell for cell in row if not any(map(str.isdigit, cell)))


def write_into(page: Path, mark: str, tables: str, *, part: bool = False) -> None:
    """Put tables into a page, between the two comments that mark their place.

    They replace what is there or, as a ``part`` of the tables, those of the same title (`merged`).
    """
    opening, closing = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
    before, opened, rest = Source.of(page).text.partition(opening)
    inside, closed, after = rest.partition(closing)
    if not opened or not closed:
        raise Mismatch(f"{page} has no place for the tables: add {opening.strip()} and {closing}")
    if part:
        tables = merged(inside, tables)
    write_text(page, f"{before}{opening}\n{tables}\n{closing}{after}")


def merged(page: str, printed: str) -> str:
    r"""Replace the tables of a page by those printed of the same heading and title; keep the rest.

    A title is what is bold, with a word after a comma: ``**Table 9**, sentences``. A table that is
    new comes after the one that it follows in print.

    >>> print(merged("**A**: old\n\n**C**: kept\n", "**A**: new\n\n**B**: new\n"), end="")
    **A**: new
    <BLANKLINE>
    **B**: new
    <BLANKLINE>
    **C**: kept
    """
    blocks = _blocks(page)
    order, at = list(blocks), 0
    for key, text in _blocks(printed).items():
        if key not in blocks:
            order.insert(at, key)
        at = order.index(key) + 1
        blocks[key] = text
    return "\n\n".join(blocks[key] for key in order) + "\n"


def _blocks(text: str) -> dict[tuple[str, str], str]:
    """Cut a text at headings and titles; return the parts by heading and title."""
    found: dict[tuple[str, str], list[str]] = {}
    heading, title = "", ""
    for line in text.splitlines():
        if line.startswith("#"):
            heading, title = line, ""
        elif named := _TITLE.match(line):
            title = named[0]
        found.setdefault((heading, title), []).append(line)
    parts = {key: "\n".join(lines).strip() for key, lines in found.items()}
    return {key: part for key, part in parts.items() if part}


_TITLE = re.compile(r"\*\*[^*]+\*\*(, \w+)?")
