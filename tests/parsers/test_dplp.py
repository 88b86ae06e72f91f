"""What is particular to the parser with a learned projection; the rest is in `test_contract`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rhetorica
from lessons import gold, single
from rhetorica import Document
from rhetorica.errors import FormatError, ModelError, RhetoricaError, UnknownName
from rhetorica.parsers.dplp import FEATURES, DPLPParser, read_vectors
from rhetorica.pipeline import load_parser
from rhetorica.text import annotate


def small(**settings: object) -> DPLPParser:
    chosen = {"width": 6, "l2": 0.1, "tau": 0.1, "iterations": 20, "min_count": 1, "samples": 0}
    return DPLPParser(**(chosen | settings))  # type: ignore[arg-type]


def test_words_give_what_the_projection_gives() -> None:
    parser = small(features="paper")
    problem = parser.prepare(gold())
    parser.fit_problem(problem)
    assert parser.projection_ is not None
    slow = problem.examples(parser.projection_).dense @ parser.dense_weights_
    counts = np.vstack([problem.units.toarray(), np.zeros((1, len(parser.words_)))])
    fast = sum(counts[problem.slots[:, slot]] @ parser.word_weights_[slot] for slot in range(3))
    assert fast == pytest.approx(slow, abs=1e-4)


def test_exploring_adds_states_and_says_so() -> None:
    heard: list[str] = []
    with_folds = small(folds=2).prepare(gold() * 2, tell=lambda event: heard.append(event.what))
    without = small(folds=0).prepare(gold() * 2)
    assert len(with_folds) >= len(without)
    assert {"features", "exploring"} == set(heard)


def test_calibration_makes_gold_probable() -> None:
    parser = small().fit(gold())
    parser.calibrate(gold())
    assert parser.settings.temperature < 1  # learned by heart: it may be surer than its margins say
    parser.calibrate([])
    assert parser.settings.temperature == 1


def test_dropping_small_weights_makes_the_file_smaller(tmp_path: Path) -> None:
    parser = small().fit(gold())
    sizes = []
    for threshold in (0.0, 0.05):
        parser.prune(threshold)
        parser.save(tmp_path)
        sizes.append((tmp_path / "weights.npz").stat().st_size)
    assert sizes[1] < sizes[0]


def test_what_cannot_be() -> None:
    with pytest.raises(UnknownName, match="concatenation"):
        DPLPParser(matrix="concat")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="extended"):
        DPLPParser(features="extnded")
    with pytest.raises(UnknownName, match="words"):
        DPLPParser(start="word")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="left"):
        DPLPParser(branching="lefft")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="nothing to learn"):
        small().fit([single()])


def test_word_vectors_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("3 2\nwe 1 0\nBecause 0 1\nother 5 5\n")
    words = {"because": 0, "rain": 1, "we": 2}
    found = read_vectors(str(path), words)
    assert found.form == "concatenation"
    assert found.width == 6
    assert found.parts[0].tolist() == [[0, 1], [0, 0], [1, 0]]
    parser = small(matrix="vectors", vectors=str(path), features="none").fit(gold())
    again = DPLPParser.from_state(parser.state())
    assert again(gold()[0].document).tree == parser(gold()[0].document).tree
    path.write_text("we 1 0\nbecause 0\n")
    with pytest.raises(FormatError, match=r"vectors\.txt:2: expected a word and 2 numbers"):
        read_vectors(str(path), words)
    path.write_text("other 1 0\n")
    with pytest.raises(FormatError, match="no vector"):
        read_vectors(str(path), words)
    with pytest.raises(RhetoricaError, match="give vectors"):
        small(matrix="vectors").fit(gold())


def test_the_published_features_are_there() -> None:
    """Table 2, one by one: of the three EDUs, and of the pairs stack-stack and stack-queue."""
    units, pairs = ("s0head", "s1head", "q0"), (("s0head", "s1head"), ("s0head", "q0"))
    words = ("first", "last", "tag", "lasttag", "tokens")
    expected = {f"{unit}.{name}" for unit in units for name in (*words, "fromstart", "fromend")}
    expected |= {f"{a}.{name} {b}.{name}" for a, b in pairs for name in words}
    expected |= {f"{pair}.{name}" for pair in ("s0-s1", "s0-q0") for name in ("distance", "same")}
    assert set(FEATURES["paper"][0]) == expected | {"always"}
    assert FEATURES["paper"][1] == [("s0head", "heads"), ("s1head", "heads"), ("q0", "heads")]


def test_the_shipped_model_on_a_text() -> None:
    nlp = rhetorica.load("en", parser="dplp")
    text = "When it rains, we stay at home. We read books because we like them."
    parse = nlp(text)
    assert (parse.tree.n_edus, parse.tree.joins[0].split) == (4, 2)
    assert parse.tree.joins[1].nuclearity == "SN"
    assert parse.scores is not None
    assert len(parse.scores.boundaries) == len(parse.edus)
    assert parse.provenance["parser"] == "dplp"
    assert nlp(text) == parse


def test_a_long_document() -> None:
    units = ["We left early", "because it rained."] * 250
    doc = annotate(Document.from_edus(units, joiner="\n\n"))
    assert load_parser("dplp")(doc).tree.n_edus == 500
