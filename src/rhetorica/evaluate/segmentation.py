"""Score EDU segmentation: precision and recall of the places where EDUs begin."""

from __future__ import annotations

from typing import Literal

from rhetorica.errors import InvalidDocument
from rhetorica.evaluate.align import Alignment, align, sentence_starts
from rhetorica.evaluate.counts import Counts
from rhetorica.parses import Parse

Variant = Literal["all", "inside"]


def counts(
    gold: Parse, pred: Parse, *, variant: Variant = "all", alignment: Alignment | None = None
) -> Counts:
    """Count EDU starts.

    "all" counts every start, the first of the document included (DISRPT shared tasks). "inside"
    counts only what a segmenter must find inside sentences, as in Soricut & Marcu (2003) and CODRA,
    section 6.2.1: starts that are not also the start of a gold sentence.

    >>> from rhetorica import Document
    >>> gold = Parse(Document.from_edus(["It is wet", "because it rained", "all day."]))
    >>> counts(gold, Parse(Document.from_edus(["It is wet", "because it rained all day."])))
    Counts(correct=2, gold=3, pred=2)
    """
    alignment = alignment or align(gold.document, pred.document)
    gold_starts, pred_starts = set(alignment.gold[:-1]), set(alignment.pred[:-1])
    if variant == "inside":
        if gold_starts and not gold.document.sentences:
            raise InvalidDocument(
                f"the gold analysis of {gold.id or 'a document'} has no sentences, so EDU starts "
                "inside them cannot be told: add sentences, or count all starts"
            )
        outside = sentence_starts(gold.document) | {0}
        gold_starts, pred_starts = gold_starts - outside, pred_starts - outside
    return Counts(len(gold_starts & pred_starts), len(gold_starts), len(pred_starts))
