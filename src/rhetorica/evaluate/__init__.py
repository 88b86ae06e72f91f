"""Score analyses against gold ones: segmentation, Parseval, attachment, relations, significance.

Count, add, divide once: each metric module has a function ``counts(gold, pred, ...)`` for one
document, whose results add up; `evaluate` runs them all over a corpus. What each metric counts is
told in docs/evaluation.md.
"""

from rhetorica.evaluate import attachment, labelling, parseval, segmentation
from rhetorica.evaluate.align import Alignment, align, pair
from rhetorica.evaluate.attachment import AttachmentCounts
from rhetorica.evaluate.counts import Counts, Labels, signature
from rhetorica.evaluate.labelling import Confusion, LabelCounts
from rhetorica.evaluate.oracle import OracleScore, oracle_scores
from rhetorica.evaluate.parseval import ParsevalCounts
from rhetorica.evaluate.report import ComparedRow, DocumentScore, Key, Report, Row, evaluate
from rhetorica.evaluate.significance import Comparison, paired_bootstrap, paired_t_test

__all__ = [
    "Alignment",
    "AttachmentCounts",
    "ComparedRow",
    "Comparison",
    "Confusion",
    "Counts",
    "DocumentScore",
    "Key",
    "LabelCounts",
    "Labels",
    "OracleScore",
    "ParsevalCounts",
    "Report",
    "Row",
    "align",
    "attachment",
    "evaluate",
    "labelling",
    "oracle_scores",
    "pair",
    "paired_bootstrap",
    "paired_t_test",
    "parseval",
    "segmentation",
    "signature",
]
