"""What is particular to the dependency parser; what all promise is in `test_contract`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rhetorica
from lessons import gold
from rhetorica import Document
from rhetorica.errors import UnknownName
from rhetorica.learn.online import OnlineLearner
from rhetorica.parsers import li2014 as module
from rhetorica.parsers.li2014 import Li2014Parser
from rhetorica.text import annotate


@pytest.mark.parametrize("cap", [0.0, 0.001])
def test_the_hard_margin_of_the_paper(cap: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a cap, a step is as long as the margin asks for; with it, never longer."""
    steps: list[tuple[float, float]] = []

    class Watched(OnlineLearner):
        def learn(self, right: Any, wrong: Any, *, loss: float, margin: float) -> float:
            before = self.weights.copy()
            step = super().learn(right, wrong, loss=loss, margin=margin)
            change = (self.weights - before).astype(np.float64)
            gained = sum(
                sign * change[rows, labels[:, None]].sum()
                for sign, (rows, labels) in ((1, right), (-1, wrong))
            )
            if step:
                steps.append((step, margin + gained - loss))
            return step

    monkeypatch.setattr(module, "OnlineLearner", Watched)
    Li2014Parser(bits=14, epochs=3, aggressiveness=cap).fit(gold())
    assert steps
    if cap:
        assert max(step for step, _ in steps) == cap
    else:
        assert [short for _, short in steps] == pytest.approx([0.0] * len(steps), abs=1e-3)


def test_trees_learned_as_chains_are_read_as_chains() -> None:
    lesson = gold()[2]
    parser = Li2014Parser(bits=14, epochs=10, aggressiveness=0.0, convention="chain").fit(gold())
    found = parser(lesson.document, kbest=2)
    assert found.dependencies.heads == lesson.dependencies_as("chain").heads
    assert found.tree == lesson.tree
    assert all(candidate.tree.levels for candidate in found.kbest)


def test_several_roots_hang_on_the_first() -> None:
    parser = Li2014Parser(bits=12, epochs=2, roots="several").fit(gold())
    parser.weights_[:] = 0
    parser.weights_[:, parser._root_label] = 1.0
    heads = parser(gold()[0].document).dependencies.heads
    assert heads == (-1, 0, 0, 0, 0)


def test_early_stop_and_progress() -> None:
    epochs: list[int] = []
    heard: list[str] = []

    def after(epoch: int, parser: Li2014Parser) -> bool:
        epochs.append(epoch)
        return epoch == 2

    Li2014Parser(bits=12, epochs=9).fit(
        gold(), after_epoch=after, tell=lambda event: heard.append(event.what)
    )
    assert epochs == [1, 2]
    assert {"features", "epoch 1", "epoch 2"} == set(heard)


def test_names_of_features() -> None:
    trained = Li2014Parser(bits=14, epochs=10).fit(gold())
    rows = set(trained.weights_.max(axis=1).argsort()[-20:].tolist())
    names = trained.name_features(gold(), rows)
    assert names
    assert set(names) <= rows
    assert all(" is " in name for name in names.values())


def test_long_documents_are_parsed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = Li2014Parser(bits=12, epochs=3).fit(gold())
    doc = annotate(Document.from_edus(["We left early", "because it rained."] * 60, joiner="\n\n"))
    whole = parser(doc)
    monkeypatch.setattr(module, "EXACT_EDUS", 40)
    monkeypatch.setattr(module, "BLOCK_EDUS", 10)
    monkeypatch.setattr(module, "MARGINAL_EDUS", 5)
    parts = parser(doc)
    assert parts.dependencies.n_edus == whole.dependencies.n_edus == 120
    assert parts.tree.n_edus == 120
    assert parts.scores is not None
    assert all(0 <= p <= 1 for p in parts.scores.heads)


def test_unknown_feature_types() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'position'"):
        Li2014Parser(features=("positions",))


def test_the_shipped_model_on_a_text() -> None:
    nlp = rhetorica.load("en", parser="li2014")
    text = "When it rains, we stay at home. We read books because we like them."
    parse = nlp(text)
    assert parse.edus[0] == "When it rains,"
    assert parse.dependencies.heads[0] == 1
    assert parse.scores is not None
    assert len(parse.scores.boundaries) == len(parse.edus)
    assert parse.to_rs3().startswith("<rst>")
    assert nlp(text) == parse


def test_a_user_pipeline_can_be_passed() -> None:
    from rhetorica.languages.english import load_pipeline

    nlp = rhetorica.load("en", parser="li2014", syntax=load_pipeline())
    assert nlp("It rained.").edus == ["It rained."]
