from __future__ import annotations

import math

import pytest

from rhetorica import Candidate, DepTree, Document, Join, Parse, RSTTree
from rhetorica.errors import NonProjective
from rhetorica.evaluate import Counts, oracle_scores, parseval

DOC = Document.from_edus(["a", "b", "c"], id="three")
RIGHT = RSTTree(3, (Join(0, 1, 3, "NS", "cause"), Join(1, 2, 3, "NN", "list")))
WRONG = RSTTree(3, (Join(0, 2, 3, "SN", "joint"), Join(0, 1, 2, "SN", "joint")))
HALF = RSTTree(3, (Join(0, 1, 3, "NS", "cause"), Join(1, 2, 3, "NN", "joint")))
SHORT = Document.from_edus(["a", "b"], id="two")
PAIR = RSTTree(2, (Join(0, 1, 2, "NS", "cause"),))


def listed(doc: Document, *trees: RSTTree | DepTree) -> Parse:
    return Parse(doc, trees[0], kbest=tuple(Candidate(tree, -i) for i, tree in enumerate(trees)))


def test_scores_rise_with_k():
    scores = oracle_scores(
        [Parse(DOC, RIGHT), Parse(SHORT, PAIR)],
        [listed(DOC, WRONG, HALF, WRONG, RIGHT), Parse(SHORT, PAIR)],
        variant="original",
        figure="full",
    )
    assert [score.k for score in scores] == [1, 2, 3, 4]
    assert [score.counts.full for score in scores] == [
        Counts(1, 3, 3),
        Counts(2, 3, 3),
        Counts(2, 3, 3),
        Counts(3, 3, 3),
    ]
    # Equation 15: the mean over the two documents.
    assert [score.mean for score in scores] == [1 / 2, 3 / 4, 3 / 4, 1]


def test_k_can_be_given():
    gold, pred = [Parse(DOC, RIGHT)], [listed(DOC, WRONG, HALF)]
    assert len(oracle_scores(gold, pred, k=1)) == 1
    assert len(oracle_scores(gold, pred, k=5)) == 5
    assert oracle_scores(gold, pred, k=5)[4].counts == oracle_scores(gold, pred)[1].counts


def test_the_first_of_equals_is_chosen():
    other = RSTTree(3, (Join(0, 1, 3, "SN", "cause"), Join(1, 2, 3, "NN", "joint")))
    (_, best) = oracle_scores(
        [Parse(DOC, RIGHT)], [listed(DOC, HALF, other)], variant="original", figure="relation"
    )
    assert best.counts == parseval.counts(Parse(DOC, RIGHT), Parse(DOC, HALF))


def test_dependency_candidates_are_converted():
    chain = DepTree((-1, 0, 1), ("ROOT", "cause", "list"), (False, False, True))
    (score,) = oracle_scores([Parse(DOC, RIGHT)], [listed(DOC, chain)])
    assert score.counts.full.f1 == 1
    crossing = Document.from_edus(["a", "b", "c", "d"], id="three")
    with pytest.raises(NonProjective):
        oracle_scores(
            [Parse(crossing, DepTree((-1, 0, 1, 2), ("ROOT", *"xyz")))],
            [listed(crossing, DepTree((2, 3, -1, 2), ("x", "y", "ROOT", "z")))],
        )


def test_nothing_to_score():
    assert oracle_scores([], []) == []
    doc = Document.from_edus(["a"])
    (score,) = oracle_scores([Parse(doc, RSTTree(1))], [Parse(doc, RSTTree(1))])
    assert math.isnan(score.mean)
    assert score.counts.full == Counts()
