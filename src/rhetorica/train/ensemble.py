"""Learn the weights of ensembles, from documents that no member was trained on.

Members that ship have seen the training documents of their treebank, so that weights are learned on
its dev documents, with the syntax and, for scores from raw text, the EDUs that our own pipeline
finds. Scores are honest, too: the weights of one half of the documents are scored on the other
half, both ways; what is written has learned from both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.document import Document
from rhetorica.errors import RhetoricaError
from rhetorica.evaluate import Report
from rhetorica.files import write_text
from rhetorica.languages import DEFAULT, common_language
from rhetorica.parsers.ensemble.dependencies import DependencyEnsemble
from rhetorica.parsers.ensemble.parser import EnsembleParser, Settings
from rhetorica.parses import Parse
from rhetorica.pipeline import load_member, load_syntax
from rhetorica.progress import Event, Tell, nothing
from rhetorica.segmenters.boundaries import cut
from rhetorica.segmenters.ensemble import EnsembleSegmenter
from rhetorica.segmenters.ensemble import Settings as SegmenterSettings
from rhetorica.train.card import LICENCES, figures, shown
from rhetorica.train.treebank import Treebank, with_syntax
from rhetorica.trees import DepTree

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Heard:
    """Gold analyses of documents with automatic syntax, and what parsers say of their EDUs.

    ``ballots`` has a row for each document, a column for each of ``names``; ``made`` is the class
    of ensembles that can read them.
    """

    names: tuple[str, ...]
    golds: list[Parse]
    ballots: list[list[Any]]
    made: type[EnsembleParser]

    def of(self, names: Sequence[str]) -> list[list[Any]]:
        """Return the ballots of some of the parsers."""
        columns = [self.names.index(name) for name in names]
        return [[row[column] for column in columns] for row in self.ballots]


def named(members: str) -> tuple[str, ...]:
    """Return the names of members that a setting lists."""
    return tuple(part.strip() for part in members.split(",") if part.strip())


def hear(
    treebank: Treebank, names: Sequence[str], *, syntax: str = "", tell: Tell = nothing
) -> Heard:
    """Let parsers vote on the dev documents: gold EDUs, automatic syntax (of a front end)."""
    golds = _annotated(treebank, syntax)
    made = ensemble_of(treebank)
    language = common_language(gold.document for gold in golds)
    voters = gathered(names, treebank.name, made, language)
    ballots: list[list[Any]] = []
    for at, gold in enumerate(golds, 1):
        ballots.append(list(voters.ballots(gold.document)))
        tell(Event("votes", at, len(golds)))
    return Heard(tuple(names), golds, ballots, made)


def ensemble_of(treebank: Treebank) -> type[EnsembleParser]:
    """Return the class of ensembles for a treebank: of constituents, or of dependencies."""
    arcs = all(isinstance(parse.source, DepTree) for parse in treebank.dev)
    return DependencyEnsemble if arcs else EnsembleParser


def _annotated(treebank: Treebank, syntax: str) -> list[Parse]:
    """Return the dev documents as a front end sees them."""
    language = common_language(parse.document for parse in treebank.dev)
    nlp = load_syntax(syntax, language) if syntax else None
    return with_syntax(treebank.dev, predicted=True, nlp=nlp)


def gathered(
    names: Sequence[str],
    bank: str,
    made: type[EnsembleParser] = EnsembleParser,
    language: str = DEFAULT,
) -> EnsembleParser:
    """Return an ensemble without weights whose members are loaded."""
    empty = made(members=",".join(names))
    return empty.gather(
        [load_member("parser", one, language=language, treebank=bank) for one in empty.members]
    )


def halves(count: int) -> list[tuple[list[int], list[int]]]:
    """Return what to learn from and what to score: every other document, both ways."""
    if count < 2:
        raise RhetoricaError(f"{count} dev documents: weights need at least 2, to be scored")
    even, odd = list(range(0, count, 2)), list(range(1, count, 2))
    return [(even, odd), (odd, even)]


def honest_ensembles(heard: Heard, settings: Settings) -> list[EnsembleParser]:
    """Return, for each document, an ensemble that has not learned from it."""
    names = named(settings.members)
    ballots = heard.of(names)
    found: dict[int, EnsembleParser] = {}
    for taught, scored in halves(len(heard.golds)):
        model = heard.made(settings).fit(
            [heard.golds[at] for at in taught], ballots=[ballots[at] for at in taught]
        )
        found |= dict.fromkeys(scored, model)
    return [found[at] for at in range(len(heard.golds))]


def honest_parses(heard: Heard, settings: Settings, *, kbest: int = 1) -> list[Parse]:
    """Parse each document with weights that were learned from the other half."""
    ballots = heard.of(named(settings.members))
    models = honest_ensembles(heard, settings)
    return [
        model.decide(gold.document, said, kbest=kbest)
        for model, gold, said in zip(models, heard.golds, ballots, strict=True)
    ]


def train_ensemble(
    treebank: Treebank,
    out: Path,
    settings: Settings | None = None,
    *,
    tell: Tell = nothing,
    command: str = "",
) -> EnsembleParser:
    """Learn the weights of a parser ensemble, score them honestly, write a model folder."""
    relations = treebank.relations
    labels = "fine" if ensemble_of(treebank) is DependencyEnsemble else relations.label_name
    settings = replace(settings or Settings(), relations=f"{relations.name} {labels}")
    heard = hear(treebank, named(settings.members), syntax=settings.syntax, tell=tell)
    report = treebank.score(honest_parses(heard, settings))
    tell(Event("dev, halves", note=shown(report)))
    model = heard.made(settings).fit(heard.golds, ballots=heard.ballots)
    scores = {name: round(100 * value, 2) for name, value in figures(report).items()}
    licence = LICENCES.get(treebank.name, "not known")
    model.save(out, treebanks=(treebank.name,), licence=licence, scores=scores)
    _write_card(out, "weights of an ensemble of parsers", settings, treebank, report, command)
    return model


def segment_evidence(
    treebank: Treebank, settings: SegmenterSettings
) -> tuple[list[Document], list[Floats]]:
    """Return the dev documents with automatic syntax, and what segmenters say of their tokens."""
    docs = [parse.document for parse in _annotated(treebank, settings.syntax)]
    empty = EnsembleSegmenter(settings)
    language = common_language(docs)
    together = empty.gather(
        [
            load_member("segmenter", one, language=language, treebank=treebank.name)
            for one in empty.members
        ]
    )
    return docs, [together.evidence(replace(doc, edus=())) for doc in docs]


def honest_segments(
    docs: Sequence[Document], evidence: Sequence[Floats], settings: SegmenterSettings
) -> list[Parse]:
    """Segment each document with weights that were learned from the other half."""
    found: dict[int, Parse] = {}
    for taught, scored in halves(len(docs)):
        model = EnsembleSegmenter(settings).fit(
            [docs[at] for at in taught], evidence=[evidence[at] for at in taught]
        )
        for at in scored:
            probabilities = model.decide(docs[at], evidence[at])
            bare = replace(docs[at], edus=())
            found[at] = cut(bare, probabilities, threshold=model.threshold)
    return [found[at] for at in range(len(docs))]


def train_ensemble_segmenter(
    treebank: Treebank,
    out: Path,
    settings: SegmenterSettings | None = None,
    *,
    tell: Tell = nothing,
    command: str = "",
) -> EnsembleSegmenter:
    """Learn the weights of a segmenter ensemble, score them honestly, write a model folder."""
    settings = settings or SegmenterSettings()
    docs, evidence = segment_evidence(treebank, settings)
    report = treebank.score(honest_segments(docs, evidence, settings))
    tell(Event("dev, halves", note=shown(report)))
    model = EnsembleSegmenter(settings).fit(docs, evidence=evidence)
    raw = round(100 * report["segmentation", "all", "starts"].f1, 2)
    licence = LICENCES.get(treebank.name, "not known")
    model.save(out, treebanks=(treebank.name,), licence=licence, scores={"raw": raw})
    _write_card(out, "weights of an ensemble of segmenters", settings, treebank, report, command)
    return model


def _write_card(
    folder: Path, title: str, settings: Any, treebank: Treebank, report: Report, command: str
) -> None:
    lines = [
        f"# {folder.resolve().name}: {title}",
        "",
        f"- **Members**: {settings.members}. Their models are not in this folder; each has a card.",
        f"- **Data**: {len(treebank.dev)} dev documents of {treebank.name}, with automatic syntax;",
        f"  {LICENCES.get(treebank.name, 'its licence is not known to us')}. No member was trained",
        "  on them. The texts are not in the model.",
        *([f"- **Training**: `{command}`"] if command else []),
        "- **Scores**: weights learned on one half of the documents, scored on the other, both",
        "  ways; what is in this folder has learned from both halves. What else these documents",
        "  decided (members and their settings) makes the figures a little too good.",
        "",
        "| figure | F1 | signature |",
        "|---|---|---|",
    ]
    for key, counts in report.totals.items():
        signature = report.signature(key).replace("|", ", ")
        lines.append(f"| {key} | {100 * counts.f1:.2f} | {signature} |")
    write_text(folder / "README.md", "\n".join(lines) + "\n")
