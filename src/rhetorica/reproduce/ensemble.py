"""What the ensemble parser gains: members alone, ways of learning, each member left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from rhetorica.document import Document
from rhetorica.evaluate import Key, Report
from rhetorica.evaluate.reliability import (
    Answers,
    answers,
    calibration_error,
    curve,
    gather,
    list_answers,
)
from rhetorica.parsers.ensemble.parser import METHODS, Decoder, Settings
from rhetorica.parses import Parse
from rhetorica.pipeline import load
from rhetorica.progress import Event, Tell, nothing
from rhetorica.reproduce.tables import NAMES, cells, signature, table
from rhetorica.segmenters.ensemble import Settings as SegmenterSettings
from rhetorica.settings import members_of
from rhetorica.train.ensemble import (
    Heard,
    gathered,
    hear,
    honest_ensembles,
    honest_parses,
    honest_segments,
    named,
    segment_evidence,
)
from rhetorica.train.treebank import Treebank

LISTED = 5
"""How long the k-best lists are whose scores are judged."""


def ensemble_tables(
    treebank: Treebank, settings: Settings | None = None, *, tell: Tell = nothing
) -> str:
    """Score ensembles on dev with gold EDUs and from raw text, against the first member alone."""
    relations = treebank.relations
    named_set = f"{relations.name} {relations.label_name}"
    settings = replace(settings or Settings(), relations=named_set)
    heard = hear(treebank, named(settings.members), syntax=settings.syntax, tell=tell)
    tell(Event("members alone"))
    voters = gathered(heard.names, treebank.name)
    theirs = {
        name: [parser(gold.document) for gold in heard.golds]
        for name, parser in zip(heard.names, voters.members_, strict=True)
    }
    alone = {name: treebank.score(parses) for name, parses in theirs.items()}
    ours = honest_parses(heard, settings, kbest=LISTED)
    best = treebank.score(ours)
    rows = [[f"`{name}`", "alone", cells(report)] for name, report in alone.items()]
    rows.append(["all", settings.method, cells(best)])
    for without, how, report in _others(treebank, heard, settings, tell):
        rows.append([without, how, cells(report)])
    first = heard.names[0]
    parts = [
        table(
            f"**Gold EDUs, automatic syntax**, dev in halves ({NAMES})",
            ["members", "weights", "dev"],
            rows,
            _gains(best, alone[first], first),
            signature(best),
        )
    ]
    tell(Event("from raw text"))
    raw, *cuts = _raw(treebank, heard, settings)
    listed = (
        {"k-best": list_answers(gold, pred, treebank.relations.coarse)}
        for gold, pred in zip(heard.golds, ours, strict=True)
    )
    sure = {
        f"`{first}`, alone": _answers(heard.golds, theirs[first], cuts[0]),
        "all": _answers(heard.golds, ours, cuts[1]) | gather(listed),
    }
    return "\n".join([*parts, raw, _reliability(sure)])


def dependency_tables(
    treebank: Treebank, settings: Settings | None = None, *, tell: Tell = nothing
) -> str:
    """Score ensembles of dependency parsers on dev with gold EDUs, against the first member."""
    settings = replace(settings or Settings(), relations=f"{treebank.relations.name} fine")
    heard = hear(treebank, named(settings.members), syntax=settings.syntax, tell=tell)
    voters = gathered(heard.names, treebank.name, heard.made)
    alone = {
        name: [parser(gold.document) for gold in heard.golds]
        for name, parser in zip(heard.names, voters.members_, strict=True)
    }
    tries = {("all", settings.method, settings.decoder): settings}
    for name in heard.names if len(heard.names) > 2 else ():
        rest = ",".join(other for other in heard.names if other != name)
        key = (f"without `{name}`", settings.method, settings.decoder)
        tries[key] = replace(settings, members=rest)
    for method in METHODS:
        for decoder in get_args(Decoder) if method == "reparsing" else ("eisner",):
            key = ("all", method, decoder)
            tries.setdefault(key, replace(settings, method=method, decoder=decoder))
    rows = [[f"`{name}`", "alone", "", *_arcs(treebank, found)] for name, found in alone.items()]
    for key, one in tries.items():
        tell(Event(", ".join(key)))
        rows.append([*key, *_arcs(treebank, honest_parses(heard, one))])
    best = treebank.score(honest_parses(heard, settings), coarse=False)
    first = heard.names[0]
    return table(
        f"**{treebank.name} dev**, gold EDUs, automatic syntax, dev in halves",
        ["members", "weights", "decoder", "UAS", "LAS", "LAS, classes"],
        rows,
        _gains(best, treebank.score(alone[first], coarse=False), first, ("attachment", "")),
        f"`{best.signature(Key('attachment', 'labelled', 'arcs'))}`",
    )


def _arcs(treebank: Treebank, found: Sequence[Parse]) -> list[str]:
    fine, coarse = (treebank.score(found, coarse=classes) for classes in (False, True))
    return [
        f"{100 * report['attachment', kind, 'arcs'].f1:.2f}"
        for report, kind in ((fine, "unlabelled"), (fine, "labelled"), (coarse, "labelled"))
    ]


def _others(
    treebank: Treebank, heard: Heard, settings: Settings, tell: Tell
) -> Iterator[tuple[str, str, Report]]:
    for name in heard.names if len(heard.names) > 1 else ():
        tell(Event(f"without {name}"))
        rest = ",".join(other for other in heard.names if other != name)
        fewer = replace(settings, members=rest)
        yield f"without `{name}`", settings.method, treebank.score(honest_parses(heard, fewer))
    for method in METHODS:
        if method != settings.method:
            tell(Event(method))
            other = replace(settings, method=method)
            yield "all", method, treebank.score(honest_parses(heard, other))


def _raw(
    treebank: Treebank, heard: Heard, settings: Settings
) -> tuple[str, list[Parse], list[Parse]]:
    """Score from raw text: segmenter and parser by the weights of the other half.

    Also returned is how the first member cuts, and how the ensemble does.
    """
    # The neural model that votes is the one that cuts, whatever else is installed.
    neural = next((name for name in heard.names if name.startswith("neural")), "neural")
    cutting = SegmenterSettings(members=f"crf,{neural}", syntax=settings.syntax)
    docs, evidence = segment_evidence(treebank, cutting)
    segmented = honest_segments(docs, evidence, cutting)
    members = gathered(heard.names, treebank.name)
    models = honest_ensembles(heard, settings)
    together = treebank.score(
        model.decide(one.document, members.ballots(one.document))
        for one, model in zip(segmented, models, strict=True)
    )
    first = heard.names[0]
    (about,) = members_of(first)
    single = load(
        docs[0].language,
        parser=about.name,
        model=about.model or treebank.name,
        **dict(about.options),
    )
    texts = [Document(doc.text, id=doc.id, language=doc.language) for doc in docs]
    theirs = list(single.pipe(texts))
    alone = treebank.score(theirs)
    starts = [100 * r["segmentation", "all", "starts"].f1 for r in (alone, together)]
    rows = [
        [f"`{first}`, alone", f"{starts[0]:.2f}", cells(alone)],
        ["all", f"{starts[1]:.2f}", cells(together)],
    ]
    shown = table(
        f"**Raw text**, dev in halves (EDU starts; {NAMES})",
        ["members", "EDUs", "dev"],
        rows,
        _gains(together, alone, first),
        signature(together),
    )
    return shown, theirs, segmented


def _answers(golds: Sequence[Parse], preds: Sequence[Parse], cuts: Sequence[Parse]) -> Answers:
    """Return what was said with which probability, and whether it was right.

    ``preds`` have gold EDUs, ``cuts`` are of raw text.
    """
    pairs = zip(golds, preds, strict=True), zip(golds, cuts, strict=True)
    given, raw = (gather(answers(gold, pred) for gold, pred in pair) for pair in pairs)
    return {**given, "boundaries": raw.get("boundaries", [])}


def _reliability(sure: Mapping[str, Answers]) -> str:
    figures = ("boundaries", "spans", "nuclearities", "relations", "k-best")
    rows = [
        [
            name,
            *(
                f"{calibration_error(curve(found[figure])):.3f}" if found.get(figure) else ""
                for figure in figures
            ),
        ]
        for name, found in sure.items()
    ]
    return table(
        "**Reliability**: expected calibration error, dev in halves; boundaries from raw text, the "
        "rest with gold EDUs",
        ["members", *figures],
        rows,
    )


def _gains(
    report: Report, other: Report, name: str, of: tuple[str, str] = ("parseval", "original")
) -> str:
    """Say how far apart two reports are, and how sure that is; of one metric, maybe a variant."""
    found = [
        f"{row.figure if of[1] else row.variant} {100 * row.bootstrap.difference:+.2f} (bootstrap "
        f"p = {row.bootstrap.p_value:.4f}, t-test p = {row.t_test.p_value:.4f})"
        for row in report.compare(other)
        if row.metric == of[0] and row.variant in (of[1] or row.variant,)
    ]
    return f"All against `{name}`: {'; '.join(found)}."
