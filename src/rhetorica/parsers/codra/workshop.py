"""Train the models of a parser, one after the other; what is finished is kept and not made again.

A model of the second pass learns from what a first pass says of documents that it has not seen:
two models of half the documents each say it of the other half. (With gold sub-trees a model would
learn to trust them, as no wrong join has two of them.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from rhetorica.files import digest
from rhetorica.parsers.codra.document import DocumentModel, unit_roots
from rhetorica.parsers.codra.examples import Lessons
from rhetorica.parsers.codra.sentence import Example, SentenceModel
from rhetorica.parsers.codra.stages import pass_roots
from rhetorica.progress import Tell, nothing, steps

Model = TypeVar("Model", SentenceModel, DocumentModel)


@dataclass(frozen=True)
class Workshop:
    """Fits models to lessons, or takes them from a folder."""

    lessons: Lessons
    store: Path | None = None
    tell: Tell = nothing

    def sentence(
        self, model: SentenceModel, *, window: bool = False, first: SentenceModel | None = None
    ) -> SentenceModel:
        """Fit a model inside sentences; ``first`` is the one of the first pass, if there is one."""

        def roots(half: SentenceModel, example: Example) -> Example:
            return replace(example, roots=pass_roots(half, example.facts, example.layout))

        examples = partial(self.lessons.sentences, window=window)
        return self._fit_pass(model, examples, "window" if window else "sentence", first, roots)

    def document(
        self,
        model: DocumentModel,
        *,
        whole: bool = False,
        first: DocumentModel | None = None,
        inside: SentenceModel | None = None,
    ) -> DocumentModel:
        """Fit a model across sentences, or (``whole``) over EDUs.

        In a second pass, the roots of base units are what ``inside``, the model of the first pass
        inside sentences, says of documents that it has not seen.
        """
        known: dict[int, dict[tuple[int, int], int]] = {}

        def roots(half: DocumentModel, example: Example) -> Example:
            if not known and inside is not None:
                known.update(self._sentence_roots(inside))
            chart = half.chart(example.facts, example.layout)
            base = known.get(id(example.facts), {})
            return replace(example, roots=unit_roots(half, chart, base))

        examples = partial(self.lessons.documents, whole=whole)
        return self._fit_pass(model, examples, "one stage" if whole else "document", first, roots)

    def _sentence_roots(self, model: SentenceModel) -> dict[int, dict[tuple[int, int], int]]:
        """Return the root labels of all ranges inside sentences, by the identity of the facts."""
        examples = self.lessons.sentences()
        found: dict[int, dict[tuple[int, int], int]] = {}
        for half, example in zip(self._halves(model, examples, "sentence"), examples, strict=True):
            labels = pass_roots(half, example.facts, example.layout).tolist()
            edges = zip(
                example.layout.unit_starts.tolist(), example.layout.unit_ends.tolist(), strict=True
            )
            found[id(example.facts)] = dict(zip(edges, labels, strict=True))
        return found

    def _fit_pass(
        self,
        model: Model,
        examples: Callable[[], list[Example]],
        name: str,
        first: Model | None,
        roots: Callable[[Model, Example], Example],
    ) -> Model:
        """Fit a model of the first pass or, with that model, of the second."""
        if first is None:
            return self._fit(model, examples, name)

        def rooted() -> list[Example]:
            found = examples()
            return list(map(roots, self._halves(first, found, name), found))

        return self._fit(model, rooted, f"{name} again")

    def _fit(self, model: Model, examples: Callable[[], Sequence[Example]], name: str) -> Model:
        path = self._path(model, name)
        if path and path.is_file():
            with np.load(path, allow_pickle=False) as data:
                model.restore(dict(data))
            return model
        model.fit(examples(), progress=steps(self.tell, name, model.iterations))
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".part.npz")
            np.savez_compressed(unfinished, **model.arrays())  # type: ignore[arg-type]
            unfinished.replace(path)
        return model

    def _halves(self, model: Model, examples: Sequence[Example], name: str) -> list[Model]:
        """Return, for each example, a model like the given one that has not seen its document."""
        documents: dict[int, int] = {}
        for example in examples:
            documents.setdefault(id(example.facts), len(documents))
        parts = [documents[id(example.facts)] % 2 for example in examples]

        def others(part: int) -> list[Example]:
            return [example for example, at in zip(examples, parts, strict=True) if at != part]

        models = [
            self._fit(replace(model), partial(others, part), f"{name} half {part + 1}")
            for part in range(2)
        ]
        return [models[part] for part in parts]

    def _path(self, model: Model, name: str) -> Path | None:
        if self.store is None:
            return None
        parses = [parse.id for parse in self.lessons.parses]
        lessons = self.lessons
        limits = [
            lessons.chains, lessons.phrases, lessons.window_edus, lessons.tree_units, lessons.others
        ]  # fmt: skip
        key = digest([name, asdict(model), parses, list(lessons.labels), limits])
        return self.store / f"{name.replace(' ', '-')}-{key}.npz"
