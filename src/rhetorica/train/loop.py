"""One training for all: try settings, fit, calibrate, score on dev, keep the best, write it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from rhetorica.convert import Convention
from rhetorica.errors import RhetoricaError, UnknownName
from rhetorica.evaluate import Report
from rhetorica.parses import Parse
from rhetorica.pipeline import PARSERS, SEGMENTERS
from rhetorica.progress import Event, Tell, nothing
from rhetorica.segmenters.boundaries import cut
from rhetorica.segmenters.calibration import fit_calibration
from rhetorica.settings import about
from rhetorica.train.card import LICENCES, figures, shown, write_card
from rhetorica.train.treebank import Treebank, with_syntax
from rhetorica.trees import DepTree

Figure = tuple[str, str, str]
FULL: Figure = ("parseval", "original", "full")


@dataclass(frozen=True)
class Trainable:
    """A row of `TRAINABLE`: what can be trained on a treebank, and by which figure it is chosen.

    Its class is that of the parser or segmenter of the name; the module it stands in has its
    `Settings`. ``coarse`` tells whether it learns coarse relations unless told, ``resumes`` whether
    an interrupted training can go on.
    """

    name: str
    about: str
    chosen_by: Figure = FULL
    coarse: bool = True
    resumes: bool = False
    needs_trees: bool = True

    @property
    def kind(self) -> str:
        """Whether it is a parser or a segmenter."""
        return (PARSERS.get(self.name) or SEGMENTERS[self.name]).kind

    @property
    def model(self) -> Any:
        """The class."""
        return (PARSERS.get(self.name) or SEGMENTERS[self.name]).made

    @property
    def settings(self) -> Any:
        """The class of its settings."""
        return import_module(self.model.__module__).Settings


STARTS: Figure = ("segmentation", "all", "starts")
TRAINABLE = {
    row.name: row
    for row in (
        Trainable("crf", "Train the CRF segmenter (Heilman & Sagae 2015).", STARTS),
        Trainable("logistic", "Train CODRA's segmenter (Joty et al. 2015).", STARTS),
        Trainable(
            "li2014",
            "Train the dependency parser (Li et al. 2014).",
            chosen_by=("attachment", "labelled", "arcs"),
            coarse=False,
            resumes=True,
            needs_trees=False,
        ),
        Trainable("shift-reduce", "Train the shift-reduce parser (Heilman & Sagae 2015)."),
        Trainable(
            "dplp", "Train the parser with a learned projection of words (Ji & Eisenstein 2014)."
        ),
        Trainable("codra", "Train the two-stage parser (Joty, Carenini & Ng 2015)."),
    )
}
"""What can be trained on a treebank, by name."""


@dataclass(frozen=True)
class Lesson:
    """What one training has at hand."""

    row: Trainable
    treebank: Treebank
    out: Path
    coarse: Callable[[str], str] | None
    tell: Tell
    dev: list[Parse]
    kept: dict[Any, Any] = field(default_factory=dict)

    def fit(self, model: Any) -> None:
        """Let a model learn."""
        train = self.treebank.train
        if self.row.kind == "segmenter":
            model.fit([parse.document for parse in train], tell=self.tell)
            return
        if self.row.needs_trees:
            train = [parse for parse in train if _has_tree(parse)]
            if left := len(self.treebank.train) - len(train):
                self.tell(Event("training documents without an RST tree left out", note=str(left)))
        _FITS.get(self.row.name, _fit)(model, train, self)

    def calibrate(self, model: Any) -> None:
        """Make the probabilities of a model honest."""
        if self.row.kind == "segmenter":
            slope, bias = fit_calibration(model, [parse.document for parse in self.dev])
            model.settings = replace(model.settings, slope=slope, bias=bias)
        elif hasattr(model, "calibrate"):
            usable = self.row.needs_trees
            model.calibrate([p for p in self.dev if not usable or _has_tree(p)], self.coarse)

    def score(self, model: Any) -> Report:
        """Score a model on dev: a parser with gold EDUs, a segmenter from raw text."""
        docs = [parse.document for parse in self.dev]
        if self.row.kind == "segmenter":
            threshold = model.threshold
            preds = [cut(doc, model.boundaries(doc), threshold=threshold) for doc in docs]
        else:
            preds = [model(doc) for doc in docs]
        convention: Convention = getattr(model.settings, "convention", "star")
        return self.treebank.score(preds, convention=convention)


def train(
    name: str,
    treebank: Treebank,
    out: Path,
    *settings: Any,
    coarse: bool | None = None,
    resume: bool = False,
    tell: Tell = nothing,
    command: str = "",
) -> Any:
    """Train with each of the settings, write the best on dev to a model folder, and return it.

    ``coarse`` decides whether coarse relations are learned; scores are always by coarse relations.
    ``resume`` goes on with an interrupted training. ``command`` is written on the model's card.
    What is returned and scored last is what will be loaded, with the precision of the file.
    """
    if name not in TRAINABLE:
        raise UnknownName("thing to train", name, TRAINABLE)
    row = TRAINABLE[name]
    if not treebank.train or not treebank.dev:
        raise RhetoricaError(
            f"{treebank.name} has {len(treebank.train)} training and {len(treebank.dev)} dev "
            "documents: at least one of each is needed"
        )
    tries = settings or (row.settings(),)
    relations = treebank.relations
    wanted = row.coarse if coarse is None else coarse
    lesson = Lesson(
        row, treebank, out, relations.coarse if wanted else None, tell, _dev(row, treebank, tries)
    )
    if not resume:
        _tidy(out)
    best: tuple[float, Any] = (-1.0, None)
    for given in tries:
        if row.kind == "parser":
            label = relations.label_name if wanted else "fine"
            given = replace(given, relations=f"{relations.name} {label}")
        model = row.model(given)
        lesson.fit(model)
        lesson.calibrate(model)
        figure = 0.0
        if len(tries) > 1:
            report = lesson.score(model)
            figure = report[row.chosen_by].f1
            tell(Event(_tried(given, tries), note=f"dev {shown(report)}"))
        if figure > best[0]:
            best = figure, model
    model = row.model.from_state(best[1].state())
    model.language = best[1].language
    report = lesson.score(model)
    scores = {name: round(100 * value, 2) for name, value in figures(report).items()}
    if row.kind == "segmenter":
        scores = {"raw": scores["segmentation"]}
    licence = LICENCES.get(treebank.name, "not known")
    if treebank.others:
        licence += "; and on other documents, whose licences are not known to us"
    best[1].save(out, treebanks=(treebank.name,), licence=licence, scores=scores)
    _tidy(out)
    write_card(out, model, row.about, treebank, report, command)
    tell(Event("dev", note=shown(report)))
    return model


def _dev(row: Trainable, treebank: Treebank, tries: Sequence[Any]) -> list[Parse]:
    """Return dev documents as they will be met: segmenters see raw text."""
    parses_gold = row.kind == "parser" and treebank.syntax == "gold"
    gold = parses_gold or any(getattr(one, "phrases", False) for one in tries)
    return treebank.dev if gold else with_syntax(treebank.dev, predicted=True)


def _tried(given: Any, tries: Sequence[Any]) -> str:
    """Name a try by the settings in which tries differ."""
    names = [f.name for f in fields(given) if about(given)[f.name].grid is not None]
    differing = [name for name in names if len({getattr(one, name) for one in tries}) > 1]
    return ", ".join(f"{name} {getattr(given, name):g}" for name in differing)


def _tidy(out: Path) -> None:
    """Remove what an interrupted training goes on from."""
    for name in (_CHECKPOINT, _BEST):
        (out / name).unlink(missing_ok=True)


def _has_tree(parse: Parse) -> bool:
    return not isinstance(parse.source, DepTree) or parse.source.is_projective()


def _fit(model: Any, train: list[Parse], lesson: Lesson) -> None:
    model.fit(train, coarse=lesson.coarse, tell=lesson.tell)


def _fit_li2014(model: Any, train: list[Parse], lesson: Lesson) -> None:
    """Keep the weights of the epoch that is best on dev; end when some bring nothing."""
    kept = lesson.out / _BEST
    best: tuple[float, int, Any] = (-1.0, 0, None)
    if kept.is_file():
        with np.load(kept, allow_pickle=False) as data:
            best = float(data["figure"]), int(data["epoch"]), data["weights"]

    def after_epoch(epoch: int, parser: Any) -> bool:
        nonlocal best
        report = lesson.score(parser)
        lesson.tell(Event(f"epoch {epoch}", note=f"dev {shown(report)}"))
        figure = report[lesson.row.chosen_by].f1
        if figure > best[0]:
            best = figure, epoch, parser.weights_
            np.savez(kept, figure=figure, epoch=epoch, weights=parser.weights_)
        return bool(epoch - best[1] >= parser.settings.patience)

    model.fit(
        train,
        after_epoch=after_epoch,
        tell=lesson.tell,
        coarse=lesson.coarse,
        checkpoint=lesson.out / _CHECKPOINT,
    )
    if best[2] is not None:
        model.weights_ = best[2]


def _fit_dplp(model: Any, train: list[Parse], lesson: Lesson) -> None:
    model.fit(train, coarse=lesson.coarse, tell=lesson.tell, problems=lesson.kept)
    model.prune(model.settings.threshold)


def _fit_codra(model: Any, train: list[Parse], lesson: Lesson) -> None:
    given = lesson.treebank
    others = sum(map(_has_tree, given.train[len(given.train) - given.others :]))
    model.fit(train, coarse=lesson.coarse, tell=lesson.tell, others=others)
    if model.settings.threshold:
        model.prune(model.settings.threshold)


_FITS = {"li2014": _fit_li2014, "dplp": _fit_dplp, "codra": _fit_codra}
_CHECKPOINT, _BEST = "checkpoint.npz", "best.npz"
