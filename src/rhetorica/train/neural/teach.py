"""A teacher's parses of documents -> lessons: how probable it finds joins, and labels of each.

A small network learns from them what gold trees do not say: which other trees a better parser finds
nearly as good (Hinton et al. 2015). Any parser that gives a `Ballot` can teach; an ensemble teaches
twice, by its own ballot (classes of relations) and by those of its members who tell relations
apart. Lessons are kept in a folder, one file per document, so that labelling can be interrupted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rhetorica.decode import mbr_cky
from rhetorica.document import Document
from rhetorica.errors import ModelError
from rhetorica.parsers.ensemble import EnsembleParser
from rhetorica.parsers.neural.parser import spans_between
from rhetorica.progress import Event, Tell, nothing
from rhetorica.protocols import Ballot, Parser, Voter
from rhetorica.relations import relation_set
from rhetorica.train.neural.data import NONE, Example, Lesson
from rhetorica.trees import Join, Label, RSTTree

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LEAST = 0.02
"""Joins less probable than this are left out of a lesson."""


def lesson_of(ballot: Ballot, n_edus: int, least: float = LEAST) -> Lesson:
    """Make a lesson of a ballot, of the joins that have at least some probability."""
    votes = ballot.votes
    joins, counts = votes.joins, votes.votes
    shares = tree_shares(joins, counts, n_edus)
    likely = shares >= least
    pruned = tree_shares(joins[likely], counts[likely], n_edus)
    if pruned.sum() > n_edus - 1.5:  # otherwise no tree is left without the unlikely ones
        joins, shares = joins[likely], pruned
    by_range: dict[tuple[int, int], Floats] = {}
    for (start, end), row in zip(votes.ranges.tolist(), votes.labels, strict=True):
        by_range[start, end] = by_range.get((start, end), 0.0) + row
    labels = np.array([by_range[start, end] for start, _, end in joins.tolist()])
    labels = labels.reshape(len(joins), len(ballot.labels))
    return Lesson(joins, shares, labels / labels.sum(axis=1, keepdims=True), ballot.labels)


def tree_shares(joins: Ints, votes: Floats, n_edus: int) -> Floats:
    """Return the probability of each join if every range is split in proportion to the votes.

    A distribution over binary trees in which ranges are split independently of each other is given
    by the probabilities of splits within each range; votes that are posteriors of such a
    distribution come back as they were. Joins with a part that no votes lead through get nothing.

    >>> joins = np.array([[0, 1, 2], [1, 2, 3], [0, 1, 3], [0, 2, 3]])
    >>> tree_shares(joins, np.array([0.3, 0.9, 0.6, 0.2]), 3).round(6).tolist()
    [0.25, 0.75, 0.75, 0.25]
    """
    order = np.argsort(joins[:, 2] - joins[:, 0], kind="stable").tolist()
    rows = joins.tolist()
    possible = {(place, place + 1): 1.0 for place in range(n_edus)}
    alive: list[int] = []
    for row in order:  # small ranges first
        start, split, end = rows[row]
        if votes[row] > 0 and (start, split) in possible and (split, end) in possible:
            possible[start, end] = possible.get((start, end), 0.0) + float(votes[row])
            alive.append(row)
    mass = {(0, n_edus): 1.0}
    shares = np.zeros(len(joins))
    for row in reversed(alive):
        start, split, end = rows[row]
        here = mass.get((start, end), 0.0) * float(votes[row]) / possible[start, end]
        shares[row] = here
        for part in ((start, split), (split, end)):
            mass[part] = mass.get(part, 0.0) + here
    return shares


def opinions(teacher: Voter, doc: Document) -> list[Ballot]:
    """Return what a teacher says of a document with EDUs."""
    if not isinstance(teacher, EnsembleParser):
        return [teacher.ballot(doc)]
    said = teacher.ballots(doc)
    coarse = relation_set("gum").coarse
    finer = [
        ballot
        for ballot in said
        if any(coarse(label.relation) != label.relation for label in ballot.labels)
    ]
    return [teacher.combined(doc, said), *finer]


class Lessons:
    """The folder of a teacher's lessons."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, example: Example) -> Path:
        # What is laid down holds for these EDUs only.
        edus = example.starts[example.marks > NONE].tobytes()
        mark = hashlib.sha256(edus).hexdigest()[:12]
        return self.folder / f"{example.source}-{example.id.replace('/', '_')}-{mark}.npz"

    def teach(
        self, examples: Sequence[Example], load: Callable[[], Parser], tell: Tell = nothing
    ) -> None:
        """Let a teacher parse the documents that it has not parsed yet; ``load`` fetches it."""
        waiting = [
            example
            for example in examples
            if (example.marks > NONE).sum() > 1 and not self._path(example).is_file()
        ]
        if not waiting:
            return
        teacher = load()
        if not isinstance(teacher, Voter):
            raise ModelError(f"{teacher.name} tells nothing but its best tree: it cannot teach")
        for number, example in enumerate(waiting, 1):
            doc = with_edus(example)
            self._write(example, [lesson_of(b, len(doc.edus)) for b in opinions(teacher, doc)])
            tell(Event("labelling", number, len(waiting)))

    def _write(self, example: Example, lessons: Iterable[Lesson]) -> None:
        arrays: dict[str, Any] = {}
        for number, lesson in enumerate(lessons):
            arrays |= {
                f"joins{number}": lesson.joins.astype(np.int16),
                f"shares{number}": lesson.shares.astype(np.float32),
                f"labels{number}": lesson.labels.astype(np.float16),
                f"names{number}": np.array(lesson.names),
            }
        path = self._path(example)
        waiting = path.with_suffix(".part")
        with waiting.open("wb") as file:
            np.savez_compressed(file, **arrays)
        waiting.replace(path)

    def read(self, example: Example) -> Example:
        """Return an example with its lessons, where there are any."""
        path = self._path(example)
        if not path.is_file():
            return example
        with np.load(path, allow_pickle=False) as stored:
            arrays: Mapping[str, Any] = dict(stored)
        lessons = tuple(
            Lesson(
                arrays[f"joins{number}"].astype(np.int64),
                arrays[f"shares{number}"].astype(np.float64),
                arrays[f"labels{number}"].astype(np.float64),
                tuple(Label(*row) for row in arrays[f"names{number}"].tolist()),
            )
            for number in range(len(arrays) // 4)
        )
        return replace(example, lessons=lessons)


def best_tree(lesson: Lesson, n_edus: int) -> RSTTree:
    """Return the tree with the most expected right ranges, each with its likeliest label."""
    probable: dict[tuple[int, int], float] = {}
    labels: dict[tuple[int, int], Floats] = {}
    for (start, _, end), share, row in zip(
        lesson.joins.tolist(), lesson.shares, lesson.labels, strict=True
    ):
        probable[start, end] = probable.get((start, end), 0.0) + share
        labels[start, end] = labels.get((start, end), 0.0) + share * row
    # Of a range that the lesson does not have nobody knows the label.
    spans = np.full((n_edus + 1, n_edus + 1), -n_edus, dtype=np.float32)
    for (start, end), share in probable.items():
        spans[start, end] = share
    return RSTTree(
        n_edus,
        tuple(
            Join(start, split, end, *lesson.names[int(labels[start, end].argmax())])
            for start, split, end in mbr_cky(spans).joins
        ),
    )


def with_edus(example: Example) -> Document:
    """Return the document of an example, with the EDUs that the example has."""
    assert example.gold is not None
    doc = example.gold.document
    return replace(doc, edus=spans_between(doc.text, example.starts[example.marks > NONE]))
