"""Train segmenters: choose settings on dev data, calibrate, write model folders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rhetorica.document import Document
from rhetorica.evaluate import segmentation
from rhetorica.evaluate.counts import Counts
from rhetorica.parses import Parse
from rhetorica.segmenters.boundaries import Segmenter, cut
from rhetorica.segmenters.calibration import fit_calibration
from rhetorica.segmenters.crf import CRFSegmenter
from rhetorica.segmenters.features import GROUPS
from rhetorica.segmenters.logistic import LogisticSegmenter
from rhetorica.text import annotate_all

Say = Callable[[str], None]
L2_GRID = tuple(2.0**power for power in range(-6, 7))
"""The strengths that Heilman & Sagae (2015, section 3.2) try for their segmenter."""


def with_predicted_syntax(docs: Iterable[Document]) -> list[Document]:
    """Annotate the raw text of documents and cut it at their gold EDU starts."""
    golds = list(docs)
    raw = [Document(gold.text, id=gold.id, language=gold.language) for gold in golds]
    result = []
    for gold, doc in zip(golds, annotate_all(raw), strict=True):
        starts = {edu.start for edu in gold.edus}
        result.append(cut(doc, [float(token.start in starts) for token in doc.tokens]).document)
    return result


def segmentation_score(
    segmenter: Segmenter, golds: Sequence[Document], docs: Sequence[Document], variant: str = "all"
) -> Counts:
    """Score a segmenter on documents with (gold or predicted) syntax against gold EDUs."""
    total = Counts()
    for gold, doc in zip(golds, docs, strict=True):
        bare = replace(doc, edus=())
        pred = cut(bare, segmenter.boundaries(doc), threshold=segmenter.threshold)
        total += segmentation.counts(Parse(gold), pred, variant=variant)  # type: ignore[arg-type]
    return total


def train_crf(
    docs: Sequence[Document],
    dev: Sequence[Document],
    out: Path,
    *,
    groups: Sequence[str] = GROUPS,
    l2: Sequence[float] = (0.5,),
    l1: float = 0.1,
    iterations: int = 100,
    min_count: int = 2,
    phrases: bool = False,
    say: Say = print,
) -> CRFSegmenter:
    """Train the CRF segmenter with each strength; write the best on dev, from raw text."""
    raw_dev = with_predicted_syntax(dev) if not phrases else list(dev)
    best: tuple[float, CRFSegmenter] | None = None
    for strength in l2:
        model = CRFSegmenter(
            groups=groups,
            l2=strength,
            l1=l1,
            iterations=iterations,
            min_count=min_count,
            phrases=phrases,
        )
        model.fit(docs, progress=lambda i, loss: say(f"iteration {i}: loss {loss:.1f}"))
        f1 = segmentation_score(model, dev, raw_dev).f1
        say(f"l2 {strength:g}: dev F1 {100 * f1:.2f}")
        if best is None or f1 > best[0]:
            best = f1, model
            model.save(out)
    if best is None:
        raise ValueError("no strength to try")
    _calibrate(best[1], dev, raw_dev, out, say)
    return best[1]


def train_logistic(
    docs: Sequence[Document],
    dev: Sequence[Document],
    out: Path,
    *,
    l2: float | None = None,
    bags: int = 10,
    seed: int = 0,
    say: Say = print,
) -> LogisticSegmenter:
    """Train CODRA's segmenter; its strength comes from cross-validation unless given."""
    model = LogisticSegmenter(l2=l2, bags=bags, seed=seed).fit(docs, progress=say)
    model.save(out)
    raw_dev = with_predicted_syntax(dev)
    say(f"l2 {model.l2:g}: dev F1 {100 * segmentation_score(model, dev, raw_dev).f1:.2f}")
    _calibrate(model, dev, raw_dev, out, say)
    return model


def _calibrate(
    model: CRFSegmenter | LogisticSegmenter,
    dev: Sequence[Document],
    raw_dev: Sequence[Document],
    out: Path,
    say: Say,
) -> None:
    """Calibrate a segmenter on dev from raw text, and write it again."""
    model.slope, model.bias = fit_calibration(model, raw_dev)
    model.save(out)
    f1 = segmentation_score(model, dev, raw_dev).f1
    say(f"slope {model.slope:.3f}, bias {model.bias:.3f}: dev F1 {100 * f1:.2f}")
