"""A model folder -> its figures on dev as users will have them: through the parser, in 8 bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rhetorica.document import Document
from rhetorica.evaluate import Report, evaluate
from rhetorica.evaluate.report import AS_IS
from rhetorica.parses import Parse
from rhetorica.pipeline import load
from rhetorica.relations import relation_set
from rhetorica.text.layout import as_written
from rhetorica.train.card import SHOWN
from rhetorica.trees import DepTree

RAW, GIVEN = "raw text", "gold EDUs, sentences, paragraphs"


@dataclass(frozen=True)
class Measures:
    """Reports by treebank and by what was given."""

    reports: Mapping[tuple[str, str], Report]

    @property
    def scores(self) -> dict[str, float]:
        """The figures of the first treebank that a config holds, in percent."""
        name = next(iter(self.reports))[0]
        raw, given = (self._figures(name, what) for what in (RAW, GIVEN))
        return {"raw": raw["full"]} | given | {"segmentation": raw["segmentation"]}

    def _figures(self, name: str, what: str) -> dict[str, float]:
        report = self.reports[name, what]
        arcs_only = report.labels == AS_IS
        return {
            short: round(100 * report[key].f1, 2)
            for short, key in SHOWN.items()
            if key in report.totals and not (arcs_only and key.metric == "parseval")
        }

    def table(self) -> str:
        """Write everything as Markdown, with signatures."""
        lines = [f"| | {' | '.join(SHOWN)} |", "|" + "---|" * (len(SHOWN) + 1)]
        signatures: dict[str, None] = {}
        for (name, what), report in self.reports.items():
            found = self._figures(name, what)
            if what == GIVEN:
                found.pop("segmentation")
            cells = (f"{found[short]:.2f}" if short in found else "-" for short in SHOWN)
            lines.append(f"| {report.corpus}, {what} | {' | '.join(cells)} |")
            shown = [key for short, key in SHOWN.items() if short in found]
            signatures |= dict.fromkeys(report.signature(key) for key in shown)
        return "\n".join((*lines, "", *(f"- `{signature}`" for signature in signatures)))


def measure(folder: Path, golds: Mapping[str, Sequence[Parse]]) -> Measures:
    """Parse the documents of each treebank from raw text and with gold EDUs, and score."""
    reports: dict[tuple[str, str], Report] = {}
    for name, parses in golds.items():
        pipeline = load(parses[0].document.language, model=folder, scheme=name)
        trees = not isinstance(parses[0].source, DepTree)
        relations = relation_set(name)
        inputs = {
            RAW: [Document(as_written(parse.document), id=parse.id) for parse in parses],
            GIVEN: [replace(parse.document, tokens=(), constituency=()) for parse in parses],
        }
        for what, docs in inputs.items():
            reports[name, what] = evaluate(
                parses,
                pipeline.pipe(docs),
                labels=relations.coarse if trees else None,
                label_name=relations.label_name if trees else AS_IS,
                corpus=f"{name}-dev",
            )
    return Measures(reports)
