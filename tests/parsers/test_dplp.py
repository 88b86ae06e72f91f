"""The parser with a learned projection: learns little corpora by heart, keeps its promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rhetorica
from rhetorica import Document, Join, Parse, RSTTree
from rhetorica.errors import ModelError, RhetoricaError, UnknownName
from rhetorica.parsers import load_parser
from rhetorica.parsers.dplp import FEATURES, MATRICES, DPLPParser
from rhetorica.relations import relation_set
from rhetorica.reproduce.dplp2014 import GROUPS, ROWS, _purities
from rhetorica.text import annotate
from rhetorica.train.dplp import train_dplp

CORPUS = [
    (["We left early", "because it rained."], [Join(0, 1, 2, "NS", "causal")]),
    (
        ["If you come,", "bring some wine.", "We will dance."],
        [Join(0, 2, 3, "NN", "joint"), Join(0, 1, 2, "SN", "contingency")],
    ),
    (
        ["She said", "that she was tired,", "that he slept", "and that they sang."],
        [
            Join(0, 1, 4, "SN", "attribution"),
            Join(1, 2, 4, "NN", "joint"),
            Join(2, 3, 4, "NN", "joint"),
        ],
    ),
]


def gold() -> list[Parse]:
    return [
        Parse(annotate(Document.from_edus(units)), RSTTree(len(units), tuple(joins)))
        for units, joins in CORPUS
    ]


def small(**settings: object) -> DPLPParser:
    chosen = {"width": 6, "l2": 0.1, "tau": 0.1, "iterations": 20, "min_count": 1, "folds": 0}
    return DPLPParser(**(chosen | settings))  # type: ignore[arg-type]


SETTINGS = [
    *[{"matrix": matrix, "features": "paper"} for matrix in MATRICES],
    {"features": "none"},
    {"features": "extended", "branching": "left"},
    {"features": "extended", "folds": 2, "beam": 4},
    {"features": "extended", "samples": 16, "temperature": 0.05},
    {"features": "paper", "start": "random"},
]


@pytest.fixture(scope="module", params=range(len(SETTINGS)))
def trained(request: pytest.FixtureRequest) -> DPLPParser:
    return small(**SETTINGS[request.param]).fit(gold())


def test_three_documents_are_learned(trained: DPLPParser) -> None:
    if trained.features == "none":
        pytest.skip("words alone cannot tell all of these states apart")
    for parse in gold():
        assert trained(parse.document).tree == parse.tree


def test_saved_and_loaded_is_the_same(trained: DPLPParser, tmp_path: Path) -> None:
    trained.save(tmp_path / "model")
    again = DPLPParser.load(tmp_path / "model")
    for parse in gold():
        ours, theirs = trained(parse.document), again(parse.document)
        assert ours.tree == theirs.tree
        assert ours.scores is not None
        assert theirs.scores is not None
        assert ours.scores.spans == pytest.approx(theirs.scores.spans, abs=1e-2)


def test_training_is_deterministic() -> None:
    first, second = (small().fit(gold()) for _ in range(2))
    assert (first.word_weights_ == second.word_weights_).all()
    assert (first.classifier_.weights == second.classifier_.weights).all()


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
    with_folds = small(folds=2).prepare(gold() * 2, progress=lambda what, i, n: heard.append(what))
    without = small(folds=0).prepare(gold() * 2)
    assert len(with_folds) >= len(without)
    assert {"features", "exploring"} == set(heard)


def test_probabilities_and_k_best(trained: DPLPParser) -> None:
    doc = gold()[2].document
    parse = trained(doc, kbest=4)
    assert parse.scores is not None
    for values in (parse.scores.spans, parse.scores.nuclearities, parse.scores.relations):
        assert len(values) == 3
        assert all(0 <= value <= 1 for value in values)
    scores = [candidate.score for candidate in parse.kbest]
    assert scores == sorted(scores, reverse=True)
    assert len(parse.kbest) == 4
    if not trained.samples:
        assert parse.kbest[0].tree == parse.tree


def test_calibration_makes_gold_probable() -> None:
    parser = small().fit(gold())
    parser.calibrate(gold())
    assert parser.temperature < 1  # learned by heart: it may be surer than its margins say
    parser.calibrate([])
    assert parser.temperature == 1


def test_choosing_settings_on_dev(tmp_path: Path) -> None:
    said: list[str] = []
    found = train_dplp(
        gold(), gold(), tmp_path, relations=relation_set("gum"), l2=[0.1, 1.0], tau=[0.1],
        width=[6], iterations=5, min_count=1, say=said.append,
    )  # fmt: skip
    assert [parse.tree for parse in gold()] == [found(p.document).tree for p in gold()]
    assert sum("dev span" in line for line in said) == 2
    with pytest.raises(RhetoricaError, match="no settings"):
        train_dplp(gold(), gold(), tmp_path, relations=relation_set("gum"), l2=[])


def test_dropping_small_weights_makes_the_file_smaller(tmp_path: Path) -> None:
    parser = small().fit(gold())
    sizes = []
    for threshold in (0.0, 0.05):
        parser.prune(threshold)
        parser.save(tmp_path)
        sizes.append((tmp_path / "weights.npz").stat().st_size)
    assert sizes[1] < sizes[0]


def test_what_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="concatenation"):
        DPLPParser(matrix="concat")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="extended"):
        DPLPParser(features="extnded")
    with pytest.raises(UnknownName, match="words"):
        DPLPParser(start="word")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="left"):
        DPLPParser(branching="lefft")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="nothing to learn"):
        small().fit([Parse(annotate(Document.from_edus(["One."])), RSTTree(1))])
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot load"):
        DPLPParser.load(tmp_path)


def test_the_published_features_are_there() -> None:
    names = " ".join(FEATURES["paper"][0])
    for part in ("s0head.first", "lasttag", "tokens", "fromstart", "fromend", "same", "distance"):
        assert part in names
    assert FEATURES["paper"][1] == [("s0head", "heads"), ("s1head", "heads"), ("q0", "heads")]
    assert {settings["matrix"] for _, settings in ROWS} <= set(MATRICES)
    words = [word for group in GROUPS.values() for word in group]
    assert len(words) == len(set(words))


@pytest.mark.parametrize(
    "text", ["", " \n", "word", "One sentence only.", "🌧️ 🌧️", "null\x00byte", "x" * 5000, "מטר יורד"]
)
def test_raw_text_of_any_kind(text: str) -> None:
    parse = rhetorica.load("en", parser="dplp")(text)
    assert "".join("".join(parse.edus).split()) == "".join(text.split())
    assert len(parse.edus) == parse.tree.n_edus


def test_neighbours_of_one_group_are_counted() -> None:
    words = ["said", "told", "can", "may", "tree", "house"]
    vectors = np.array([[1.0, 0], [1, 0.1], [0, 1], [0.1, 1], [-1, 0], [-1, 0.1]])
    purity, chance = _purities(vectors, words, neighbours=1)
    assert purity == {"modal verbs": 1.0, "reporting verbs": 1.0}
    assert chance["modal verbs"] == pytest.approx(1 / 5)


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
