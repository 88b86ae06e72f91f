"""The analogues of the tables of Heilman & Sagae (2015), on GUM and UMUC dev.

Their Table 2 (accuracy), Table 3 (gold against automatic syntax), the strengths of section 5, the
beams that they mention but do not use; then what our features are worth, and where errors are.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rhetorica.corpora import read_corpus
from rhetorica.document import Document
from rhetorica.errors import Mismatch
from rhetorica.evaluate import Report, evaluate
from rhetorica.evaluate.counts import Counts
from rhetorica.files import Source, write_text
from rhetorica.parsers import load
from rhetorica.parsers.shift_reduce import BEAM, ShiftReduceParser
from rhetorica.parsers.transition.templates import GROUPS
from rhetorica.parses import Parse
from rhetorica.relations import relation_set
from rhetorica.reproduce import Say, Treebank, read_treebank
from rhetorica.train.shift_reduce import STRENGTH_GRID, with_our_syntax

FIGURES = ("span", "nuclearity", "relation", "full")
BEAMS = (1, 2, 4, 8, 16, 32)
VOTES = (4, 8, 16, 32, 64)
MARK = "heilman-sagae2015"
LEVELS = ("inside a sentence", "sentences of a paragraph", "across paragraphs")
PAPER: dict[str, Any] = {"features": "paper", "explore": 0}
"""Their training: one classifier, gold states. Its strength is chosen on dev."""
SAMPLES = 32
"""Votes, where nothing else is said: the shipped parser takes fewer, to be faster."""
GREEDY: dict[str, Any] = {"samples": 0, "beam": 1}
"""How they search."""


class Experiments:
    """Trains parsers and remembers them, and their figures, in a folder."""

    def __init__(self, folder: Path, treebank: Treebank, *, say: Say) -> None:
        self.folder, self.treebank, self.say = folder, treebank, say
        self._ours: dict[str, list[Parse]] = {}

    def parser(
        self,
        *,
        syntax: str = "gold",
        beam: int = BEAM,
        samples: int = SAMPLES,
        **settings: Any,
    ) -> ShiftReduceParser:
        """Train a parser, or recall it; ``beam`` and ``samples`` are set afterwards."""
        key = json.dumps([self.treebank.name, syntax, settings], sort_keys=True)
        path = self.folder / f"model-{hashlib.sha1(key.encode()).hexdigest()[:16]}"
        if not (path / "weights.npz").is_file():
            self.say(f"training {key}")
            train = self.automatic("train") if syntax == "automatic" else self.treebank.train
            parser = ShiftReduceParser(**settings).fit(train, coarse=self.treebank.relations.coarse)
            parser.save(path)
        return ShiftReduceParser.load(path, beam=beam, samples=samples)

    def automatic(self, split: str) -> list[Parse]:
        """Return the documents of a split with our own sentences, paragraphs and syntax."""
        if split not in self._ours:
            parses = self.treebank.train if split == "train" else self.treebank.dev
            self._ours[split] = with_our_syntax(parses)
        return self._ours[split]

    def report(self, parser: ShiftReduceParser, dev: Sequence[Parse] | None = None) -> Report:
        """Parse dev documents with gold EDUs and score them."""
        golds = self.treebank.dev
        preds = [parser(parse.document) for parse in dev or golds]
        return self.score(preds)

    def score(self, preds: Iterable[Parse]) -> Report:
        """Score analyses of the dev documents."""
        relations = self.treebank.relations
        return evaluate(
            self.treebank.dev,
            preds,
            labels=relations.coarse,
            label_name=relations.label_name,
            corpus=f"{self.treebank.name}-dev",
        )


def reproduce_heilman_sagae(
    gum: Path, work: Path, *, umuc: Path | None = None, ablation: bool = True, say: Say = print
) -> str:
    """Run all experiments and return the tables as Markdown; ``ablation`` takes half the time."""
    runs = Experiments(work, read_treebank("gum", gum), say=say)
    strength, grid = _strength_table(runs)
    paper = {**PAPER, "strength": strength}
    parts = [
        _accuracy_table(runs, paper),
        _raw_table(runs),
        *([_umuc_table(runs, umuc)] if umuc else []),
        grid,
        _syntax_table(runs, paper),
        _beam_table(runs, paper),
        *([_feature_table(runs)] if ablation else []),
        _level_table(runs, paper),
        _relation_table(runs),
    ]
    return "\n".join(parts)


def write_into(page: Path, tables: str) -> None:
    """Put the tables into a page, between the two comments that mark their place."""
    text = Source.of(page).text
    opening, closing = f"<!-- {MARK} -->\n", f"<!-- /{MARK} -->"
    if opening not in text or closing not in text:
        raise Mismatch(f"{page} has no place for the tables: add {opening.strip()} and {closing}")
    before, rest = text.split(opening, 1)
    write_text(page, f"{before}{opening}\n{tables}\n{closing}{rest.split(closing, 1)[1]}")


def _cells(report: Report, variant: str = "original") -> str:
    return " / ".join(f"{100 * report['parseval', variant, name].f1:.2f}" for name in FIGURES)


def _signature(report: Report, variant: str = "original") -> str:
    rows = (row for row in report.table() if row.metric == "parseval" and row.variant == variant)
    return f"`{next(rows).signature}`"


def _strength_table(runs: Experiments) -> tuple[float, str]:
    """Tune the strength of the published features; return the best, and the table."""
    lines = [
        "**Strength of the L1 penalty** (section 5; `paper` features, greedy; larger is weaker)\n",
        "| strength | span / nuclearity / relation / full | weights |",
        "|---|---|---|",
    ]
    best = (-1.0, 0.0)
    for strength in STRENGTH_GRID:
        parser = runs.parser(**PAPER, **GREEDY, strength=strength)
        report = runs.report(parser)
        count = sum(int((model.weights != 0).sum()) for model in parser.models_.values())
        lines.append(f"| {strength:g} | {_cells(report)} | {count:,} |")
        best = max(best, (report["parseval", "original", "full"].f1, strength))
    return best[1], "\n".join([*lines, ""])


def _accuracy_table(runs: Experiments, paper: dict[str, Any]) -> str:
    lines = [
        "**Accuracy** (Table 2), gold EDUs and syntax (span / nuclearity / relation / full)\n",
        "| parser | original Parseval | RST-Parseval | UAS / LAS |",
        "|---|---|---|---|",
    ]
    rows: list[tuple[str, dict[str, Any]]] = [
        ("`paper`, greedy (as published)", {**paper, **GREEDY}),
        ("`paper`, votes", paper),
        ("`extended`, gold states only, greedy", {"explore": 0, **GREEDY}),
        ("`extended`, gold states only, votes", {"explore": 0}),
        ("`extended`, exploration, greedy", GREEDY),
        ("`extended`, exploration, votes (shipped)", {}),
    ]
    report = None
    for name, settings in rows:
        report = runs.report(runs.parser(**settings))
        arcs = " / ".join(
            f"{100 * report['attachment', kind, 'arcs'].f1:.2f}"
            for kind in ("unlabelled", "labelled")
        )
        lines.append(f"| {name} | {_cells(report)} | {_cells(report, 'rst')} | {arcs} |")
    if report:
        lines += ["", _signature(report), _signature(report, "rst")]
    return "\n".join([*lines, ""])


def _raw_table(runs: Experiments) -> str:
    lines = [
        "**From raw text**: EDUs of the CRF, our own sentences and syntax\n",
        "| segmentation | original Parseval | RST-Parseval |",
        "|---|---|---|",
    ]
    pipeline = load("en", parser="shift-reduce")
    golds = runs.treebank.dev
    preds = pipeline.pipe(Document(gold.document.text, id=gold.id) for gold in golds)
    report = runs.score(list(preds))
    lines.append(
        f"| {100 * report['segmentation', 'all', 'starts'].f1:.2f} | {_cells(report)} | "
        f"{_cells(report, 'rst')} |"
    )
    return "\n".join([*lines, "", _signature(report), ""])


def _umuc_table(runs: Experiments, folder: Path) -> str:
    """Parse another treebank: with the model of GUM, and with one of its own."""
    golds = list(read_corpus("umuc", folder, "dev"))
    relations = relation_set("umuc")
    own = Experiments(runs.folder, read_treebank("umuc", folder), say=runs.say)
    dev = own.treebank.dev
    lines = [
        "**UMUC dev** (UN Security Council; gold EDUs, our sentences and syntax)\n",
        "| trained on | original Parseval | RST-Parseval |",
        "|---|---|---|",
    ]
    foreign = [runs.parser()(parse.document) for parse in dev]
    # GUM's relations are not those of UMUC: only spans and nuclearity can be compared.
    bare = evaluate(golds, foreign, corpus="umuc-dev")
    cells = [
        " / ".join(f"{100 * bare['parseval', kind, name].f1:.2f}" for name in FIGURES[:2])
        for kind in ("original", "rst")
    ]
    lines.append(f"| GUM | {cells[0]} / - / - | {cells[1]} / - / - |")
    report = evaluate(
        golds,
        [own.parser()(parse.document) for parse in dev],
        labels=relations.coarse,
        label_name=relations.label_name,
        corpus="umuc-dev",
    )
    lines.append(f"| UMUC | {_cells(report)} | {_cells(report, 'rst')} |")
    return "\n".join([*lines, "", _signature(report), ""])


def _syntax_table(runs: Experiments, paper: dict[str, Any]) -> str:
    lines = [
        "**Gold and automatic syntax** (Table 3), gold EDUs, trained on gold states only\n",
        "| features | trained with | applied to | span / nuclearity / relation / full |",
        "|---|---|---|---|",
    ]
    rows = (("`paper`, greedy", {**paper, **GREEDY}), ("`extended`, votes", {"explore": 0}))
    for name, settings in rows:
        for syntax in ("gold", "automatic"):
            parser = runs.parser(syntax=syntax, **settings)
            for applied in ("gold", "automatic"):
                dev = runs.automatic("dev") if applied == "automatic" else None
                lines.append(
                    f"| {name} | {syntax} | {applied} | {_cells(runs.report(parser, dev))} |"
                )
    return "\n".join([*lines, ""])


def _beam_table(runs: Experiments, paper: dict[str, Any]) -> str:
    lines = [
        "**Beams and votes**, gold EDUs and syntax, original Parseval (figures as above)\n",
        "| search | `paper` | `extended` |",
        "|---|---|---|",
    ]
    searches: list[tuple[str, dict[str, Any]]] = [
        (f"beam {beam}", {"beam": beam, "samples": 0}) for beam in BEAMS
    ]
    searches += [(f"votes of {samples}", {"samples": samples}) for samples in VOTES]
    for name, how in searches:
        reports = [runs.report(runs.parser(**settings, **how)) for settings in (paper, {})]
        lines.append(f"| {name} | {_cells(reports[0])} | {_cells(reports[1])} |")
    return "\n".join([*lines, ""])


def _feature_table(runs: Experiments) -> str:
    lines = [
        "**What our features are worth**: without a group (gold states only, votes)\n",
        "| features | span / nuclearity / relation / full |",
        "|---|---|",
    ]
    lines.append(f"| all | {_cells(runs.report(runs.parser(explore=0)))} |")
    for group in GROUPS:
        parser = runs.parser(explore=0, without=[group])
        lines.append(f"| without {group} | {_cells(runs.report(parser))} |")
    parser = runs.parser(explore=0, without=list(GROUPS))
    lines.append(f"| without any (`paper`, two classifiers) | {_cells(runs.report(parser))} |")
    return "\n".join([*lines, ""])


def level_of(doc: Document) -> Callable[[int, int], str]:
    """Return a function that says where a range of EDUs lies."""
    sentences, paragraphs = doc.edu_sentences(), doc.edu_paragraphs()

    def level(start: int, end: int) -> str:
        if sentences[start] == sentences[end - 1]:
            return LEVELS[0]
        return LEVELS[1] if paragraphs[start] == paragraphs[end - 1] else LEVELS[2]

    return level


def _matches(
    runs: Experiments, parser: Any, group: Callable[[Parse], Callable[[Any], str]]
) -> tuple[Counter[str], Counter[str], Counter[str], Counter[str]]:
    """Count, by group, the units of gold and parser, those found, and those found with label."""
    coarse = runs.treebank.relations.coarse
    gold_counts, pred_counts = Counter[str](), Counter[str]()
    spans, full = Counter[str](), Counter[str]()
    for gold in runs.treebank.dev:
        of = group(gold)
        pred = parser(gold.document).tree
        units = {(join.start, join.end): join for join in gold.tree.joins}
        for join in gold.tree.joins:
            gold_counts[of(join)] += 1
        for join in pred.joins:
            pred_counts[of(join)] += 1
            found = units.get((join.start, join.end))
            if found is None:
                continue
            spans[of(found)] += 1
            same = found.nuclearity == join.nuclearity
            full[of(found)] += same and coarse(found.relation) == coarse(join.relation)
    return gold_counts, pred_counts, spans, full


def _level_table(runs: Experiments, paper: dict[str, Any]) -> str:
    lines = [
        "**Where the errors are**: F1 of spans / of labelled spans by where a unit lies\n",
        "| parser | " + " | ".join(LEVELS) + " |",
        "|" + "---|" * (1 + len(LEVELS)),
    ]

    def group(gold: Parse) -> Callable[[Any], str]:
        level = level_of(gold.document)
        return lambda join: level(join.start, join.end)

    share = ""
    for name, settings in (("`paper`, greedy", {**paper, **GREEDY}), ("`extended`, votes", {})):
        golds, preds, spans, full = _matches(runs, runs.parser(**settings), group)
        cells = [
            f"{100 * Counts(spans[k], golds[k], preds[k]).f1:.2f} / "
            f"{100 * Counts(full[k], golds[k], preds[k]).f1:.2f}"
            for k in LEVELS
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        share = " | ".join(str(golds[k]) for k in LEVELS)
    return "\n".join([*lines, f"| units in gold | {share} |", ""])


def _relation_table(runs: Experiments) -> str:
    coarse = runs.treebank.relations.coarse
    golds, preds, spans, full = _matches(
        runs, runs.parser(), lambda gold: lambda join: str(coarse(join.relation))
    )
    lines = [
        "**Relations** (`extended`): units in gold, share whose span is found, F1 of labelled "
        "spans\n",
        "| relation | units | span found | labelled F1 |",
        "|---|---|---|---|",
    ]
    for name, count in golds.most_common():
        f1 = Counts(full[name], count, preds[name]).f1
        lines.append(f"| {name} | {count} | {100 * spans[name] / count:.1f} | {100 * f1:.1f} |")
    return "\n".join([*lines, ""])


__all__ = ["level_of", "reproduce_heilman_sagae", "write_into"]
