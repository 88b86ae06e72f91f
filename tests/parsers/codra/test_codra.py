"""What is particular to the two-stage parser; what all promise is in `test_contract`."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from lessons import gold
from rhetorica import Document
from rhetorica.errors import ModelError, UnknownName
from rhetorica.features.ngrams import SLOTS
from rhetorica.parsers.codra import parser as module
from rhetorica.parsers.codra.document import DocumentModel
from rhetorica.parsers.codra.examples import Lessons, label_names
from rhetorica.parsers.codra.features import CONTEXT, GROUPS, SENTENCE, WORDS
from rhetorica.parsers.codra.parser import PAPER, CodraParser, Settings
from rhetorica.parsers.codra.sentence import SentenceModel, neighbours, ngram_dictionary
from rhetorica.parsers.codra.stages import pass_roots
from rhetorica.parsers.codra.units import Layout
from rhetorica.parsers.codra.workshop import Workshop
from rhetorica.text import annotate
from rhetorica.trees import Label


def small(**changes: object) -> CodraParser:
    values = {
        "sentence_l2": 0.01, "document_l2": 0.01, "label_l2": 0.01, "min_count": 1,
        "iterations": 20, **changes,
    }  # fmt: skip
    return CodraParser(Settings(**values))  # type: ignore[arg-type]


@pytest.mark.parametrize("stages", ["window", "one"])
def test_a_model_without_sentences_says_so(stages: str) -> None:
    trained = small(stages=stages, objective="joins", iterations=2).fit(gold())
    with pytest.raises(ModelError):
        trained.parse_sentences(gold()[0].document)


@pytest.mark.parametrize("settings", [{}, {"passes": 2}, {"stages": "three-way"}], ids=str)
def test_sentences_by_themselves(settings: dict[str, object]) -> None:
    trained = small(**settings).fit(gold())
    found = trained.parse_sentences(gold()[0].document, kbest=3)
    assert [parse.tree.n_edus for parse in found] == [2, 1, 2]
    assert [parse.id for parse in found] == ["lesson0#1", "lesson0#2", "lesson0#3"]
    assert len(found[0].kbest) == 3


@pytest.mark.parametrize("objective", ["trees", "joins"])
def test_k_best_documents_against_enumeration(objective: str) -> None:
    """The list is that of all labelled trees, by the product of P(R, S = 1) of their joins."""
    parser = small(stages="one", objective=objective, iterations=6).fit(gold())
    doc = annotate(Document.from_edus(["We left early", "because it rained.", "We slept.", "So?"]))
    model, chart = parser._chart(parser._facts(doc), range(5), {})

    def trees(start: int, end: int) -> list[tuple[tuple[int, int, int], ...]]:
        if end - start == 1:
            return [()]
        return [
            ((start, split, end), *left, *right)
            for split in range(start + 1, end)
            for left in trees(start, split)
            for right in trees(split, end)
        ]

    every = []
    for joins in trees(0, 4):
        rows = model.log_probabilities(chart, chart.numbers(joins))[:, 1:]
        every += [sum(row) for row in product(*rows.tolist())]
    every.sort(reverse=True)
    found = [candidate.score for candidate in parser(doc, kbest=12).kbest]
    assert found == pytest.approx(every[:12], abs=1e-6)


def test_context_templates_exist() -> None:
    known = {template.text for template in SENTENCE}
    assert set(CONTEXT) <= known


def test_neighbours_are_those_of_the_row_in_which_a_join_is_read() -> None:
    layout = Layout.of([range(5)])
    sequences = layout.sequences()
    before, after = neighbours(sequences, layout.n_joins)
    rows = [sequences.items[a:b].tolist() for a, b in pairwise(sequences.offsets)]
    reads = [sequences.reads[a:b].tolist() for a, b in pairwise(sequences.offsets)]
    for row, read in zip(rows, reads, strict=True):
        for place, (item, here) in enumerate(zip(row, read, strict=True)):
            if here:
                assert before[item] == (row[place - 1] if place else layout.n_joins)
                assert after[item] == (row[place + 1] if place + 1 < len(row) else layout.n_joins)


def test_the_simplified_crf_sees_context() -> None:
    """With the features of neighbours, the probabilities of a join depend on what stands around."""
    lessons = Lessons(gold(), label_names(gold()), chains=None)
    model = SentenceModel(
        len(lessons.labels), groups=GROUPS, chain=False, l2=0.01, min_count=1, context_count=1
    ).fit(lessons.sentences())
    assert all(abs(table).max() > 0 for table in model.tables_[:3])
    facts = lessons.facts[2]
    layout = Layout.of([range(5)])
    logs = model.log_probabilities(facts, layout)
    assert np.exp(logs).sum(axis=1) == pytest.approx(1)
    model.tables_[1] = model.tables_[1] * 0
    assert abs(model.log_probabilities(facts, layout) - logs).max() > 1e-6


def test_settings_of_the_article() -> None:
    parser = small(**PAPER, iterations=3).fit(gold())
    for name in ("sentence", "sentence2", "document", "document2"):
        model = parser.models_[name]
        texts = {template.text for template in model.templates}
        assert not texts & WORDS
        assert "L:startmark" in texts
        assert all(template.group != "extended" for template in model.templates)
    parse = parser(gold()[0].document)
    assert CodraParser.from_state(parser.state())(gold()[0].document).tree == parse.tree


def test_the_share_of_ngrams_that_is_kept() -> None:
    lessons = Lessons(gold(), label_names(gold()), chains=None)
    examples = lessons.sentences()
    samples = [np.arange(example.layout.n_joins) for example in examples]
    counts = [
        [len(row) for row in ngram_dictionary(examples, samples, 9, 1, 1, share).grams]
        for share in (1.0, 0.5)
    ]
    for at, (whole, half) in enumerate(zip(*counts, strict=True)):
        assert half == (whole if SLOTS[at % len(SLOTS)].n == 1 else round(0.5 * whole))
    assert sum(counts[1]) < sum(counts[0])


def test_trees_of_another_parser_do_not_teach_structure_across_sentences() -> None:
    """They teach relations there all the same."""
    parses = gold()
    structures = []
    for others in (0, 1):
        lessons = Lessons(parses, label_names(parses), chains=None, others=others * len(parses))
        examples = lessons.documents()
        assert [example.by_hand for example in examples] == [not others] * len(examples)
        model = DocumentModel(
            len(lessons.labels), groups=GROUPS[:4], iterations=20, min_count=1, label_l2=0.1
        ).fit(examples)
        structures.append((model.structure_, model.weights_))
    (trained, relations), (untouched, same) = structures
    assert np.array_equal(relations, same)
    assert not np.allclose(trained, untouched)


def test_roots_of_sentences_are_predicted_in_training() -> None:
    """They come from a model of other documents, which does not know what only this one has."""
    lessons = Lessons(gold(), label_names(gold()), chains=None)
    shop = Workshop(lessons)
    model = SentenceModel(
        len(lessons.labels), groups=GROUPS[:4], iterations=20, min_count=1, l2=0.01
    )
    whole = shop.sentence(model)
    found = shop._sentence_roots(whole)[id(lessons.facts[0])]
    own, others = (
        list(lessons.labels).index(Label(*label))
        for label in (("NS", "causal"), ("SN", "contingency"))
    )
    example = lessons.sentences()[0]
    seen = pass_roots(whole, example.facts, example.layout).tolist()
    place = list(zip(example.layout.unit_starts, example.layout.unit_ends, strict=True)).index(
        (0, 2)
    )
    assert seen[place] == own  # as annotated, by the model that learned from it
    assert found[0, 2] == others  # the only label inside sentences that the other half has
    assert found[0, 1] == 0  # a single EDU has no root


def test_long_documents_are_parsed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXACT_UNITS", 6)
    monkeypatch.setattr(module, "BLOCK_UNITS", 4)
    parser = small(iterations=3).fit(gold())
    doc = annotate(Document.from_edus([f"Sentence number {n}." for n in range(40)]))
    parse = parser(doc, kbest=2)
    assert parse.tree.n_edus == 40
    assert not parse.kbest


def test_finished_models_are_kept(tmp_path: Path) -> None:
    first = small(iterations=4).fit(gold(), store=tmp_path)
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(kept) == 2
    second = small(iterations=4).fit(gold(), store=tmp_path)
    assert kept == {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    for parse in gold():
        assert first(parse.document).tree == second(parse.document).tree
    small(iterations=5).fit(gold(), store=tmp_path)
    assert len(list(tmp_path.iterdir())) == 4


def test_groups_can_be_switched_off() -> None:
    for group in GROUPS:
        others = [g for g in GROUPS if g != group]
        for model in (SentenceModel(3, groups=others), DocumentModel(3, groups=others)):
            assert all(template.group != group for template in model.templates)
    assert not SentenceModel(3, groups=["ngrams"]).context_templates
    parser = small(groups=("dominance", "organization"), iterations=2).fit(gold())
    assert parser(gold()[0].document).tree.n_edus == 5


def test_pruning_drops_small_weights() -> None:
    parser = small(iterations=5).fit(gold())
    before = len(parser.models_["sentence"].vocabulary_)
    parser.prune(0.05)
    assert len(parser.models_["sentence"].vocabulary_) < before
    assert parser(gold()[0].document).tree.n_edus == 5


def test_wrong_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName):
        CodraParser(groups=("magic",))
    with pytest.raises(UnknownName):
        CodraParser(stages="both")
    with pytest.raises(ModelError):
        CodraParser.load(tmp_path)
    with pytest.raises(ModelError):
        CodraParser()(gold()[0].document)
