"""The designs of Cortes, Kuznetsov & Mohri (2014), on less data than the tables have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rhetorica.errors import FormatError
from rhetorica.learn.experts import METHODS, Settings
from rhetorica.reproduce.cortes2014 import experiments, reproduce_cortes2014
from rhetorica.reproduce.cortes2014.artificial import DESIGNS, ads1, ads2, ads3, neighbours
from rhetorica.reproduce.cortes2014.chains import LEARNERS, Data, perceptron
from rhetorica.reproduce.cortes2014.experiments import Lists, artificial
from rhetorica.reproduce.cortes2014.folds import fold_rows, score_methods
from rhetorica.reproduce.cortes2014.paper import METHODS as PRINTED
from rhetorica.reproduce.cortes2014.paper import printed
from rhetorica.reproduce.cortes2014.sequences import read_letters, tagging_data


@pytest.mark.parametrize("reading", ["described", "implied"])
def test_experts_make_mistakes_as_designed(reading) -> None:
    design = DESIGNS[reading]
    right = 1 - ads1(20_000, design, 0).hamming().mean(axis=0)
    for position in range(10):
        for expert in range(5):
            wanted = design.high if position // 2 == expert else design.low
            assert right[position, expert] == pytest.approx(wanted, abs=0.015)
    assert (ads2(50, design, 0).hamming().sum(axis=1) == 4).all()
    table = ads3(20_000, design, 0)
    wrong = table.hamming()
    for expert in range(5):
        own = table.truth * 5 // 26 == expert
        assert not wrong[..., expert][own].any()
        assert wrong[..., expert][~own].mean() == pytest.approx(1 - design.outside, abs=0.01)
    said = np.where(wrong == 1, table.symbols, -1).max(axis=2)
    same = np.where(wrong == 1, table.symbols, 99).min(axis=2)
    assert (same >= said).all() == design.shared


def test_wrong_letters_are_neighbours() -> None:
    letters = np.array([[0, 1, 25] * 50])
    moved = neighbours(letters, np.random.default_rng(0))
    assert (np.abs(moved - letters) == 1).all()
    assert moved.min() >= 0
    assert moved.max() <= 25
    assert len(np.unique(moved[letters == 1])) == 2


def test_implied_readings_come_near_the_printed_figures() -> None:
    for name, near in (("ADS1", 0.004), ("ADS2", 0.03), ("ADS3", 0.015)):
        found = artificial(name, "implied", count=3000)
        paper = printed(name)
        for method in ("MVote", "CV", "Best"):
            assert np.mean(found[method].hamming) == pytest.approx(paper[method][0], abs=near)
        # The order of the methods, as far as the paper argues from it.
        mean = {method: float(np.mean(found[method].hamming)) for method in METHODS}
        assert mean["MVote"] < mean["SLE"] + 0.01
        assert mean["MVote"] < 0.75 * mean["Best"]
        assert mean["MVote"] < mean["Rand"]


def test_folds_are_disjoint_and_need_enough() -> None:
    rows = fold_rows(30, 7, 4, 0)
    assert len(np.unique(np.concatenate(rows))) == 28
    with pytest.raises(ValueError, match="only 20 examples"):
        fold_rows(20, 7, 3, 0)


def test_scores_of_folds_are_of_what_was_not_learned_from() -> None:
    table = ads1(60, DESIGNS["implied"], 0)
    found = score_methods(table, Settings(), size=10, folds=3)
    assert set(found) == set(METHODS)
    assert all(len(score.hamming) == 3 for score in found.values())


def test_printed_figures_are_complete() -> None:
    for name in ("ADS1", "PDS2 edits", "TR1", "SDS 50"):
        assert set(printed(name)) == set(PRINTED) == set(METHODS) - {"Majority"}
    assert printed("TR2")["SLE"] == (0.0814, 0.02558)


def toy(count: int, seed: int) -> Data:
    """Two labels; a feature tells the label, or says nothing and the label before does."""
    rng = np.random.default_rng(seed)
    rows, labels, offsets = [], [], [0]
    for _ in range(count):
        label = int(rng.integers(2))
        for at in range(5):
            told = at == 0 or rng.random() < 0.6
            rows.append([label + 1 if told else 3, 4])
            labels.append(label)
        offsets.append(len(rows))
    return Data(np.array(rows, np.int32), np.array(labels), np.array(offsets), 5, 2)


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_learn_what_they_can(name) -> None:
    model = LEARNERS[name](toy(60, 0))
    data = toy(40, 1)
    found = np.concatenate([np.array(labels) for labels in model.predict(data)])
    told = data.rows[:, 0] < 3
    assert (found[told] == data.labels[told]).all()
    chained = name in ("crf", "perceptron")
    assert ((found == data.labels).mean() > 0.95) == chained
    assert model.moves.any() == chained


def test_lists_are_ranked_and_cut_by_length() -> None:
    data = toy(6, 2)
    model = perceptron(toy(60, 0))
    ranked = model.kbest(data, 4)
    best = model.predict(data)
    assert [found[0] for found in ranked] == best
    assert all(len({tuple(found) for found in lists}) == 4 for lists in ranked)
    lists = Lists([[0] * 5, [1] * 3], [ranked[0], [[1] * 3]])
    assert lists.table(3, 2).symbols.shape == (1, 5, 3)
    assert len(lists.table(1, 2, 4)) == 1


def test_letters_are_read(tmp_path: Path) -> None:
    head = "word_id\tpos\tletter\tpixels_hex\n"
    pixels = "80" + "0" * 29 + "1"
    file = tmp_path / "letters.tsv"
    rows = "".join(f"{w}\t0\t{letter}\t{pixels}\n" for w, letter in zip("aab", "cat", strict=True))
    file.write_text(head + rows)
    data = read_letters(tmp_path)
    assert data.offsets.tolist() == [0, 2, 3]
    assert data.labels.tolist() == [2, 0, 19]
    assert sorted(set(data.rows[0].tolist())) == [0, 1, 128, 129]
    file.write_text(head + "a\t0\tc\tff\n")
    with pytest.raises(FormatError, match=r"letters\.tsv:2"):
        read_letters(tmp_path)
    with pytest.raises(FormatError, match=r"no \.tsv"):
        read_letters(tmp_path / "none")


def test_features_of_unknown_words_are_left_out() -> None:
    said = [(["The", "cat"], ["DT", "NN"]), (["A", "dog"], ["DT", "NN"])]
    data, tags = tagging_data(said, 1)
    assert tags == ["DT", "NN"]
    assert data.labels.tolist() == [0, 1, 0, 1]
    assert (data.rows[:2] > 0).all()
    assert (data.rows[2:] == 0).any()


def test_experiments_are_made_once_and_laid_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = score_methods(ads1(60, DESIGNS["implied"], 0), Settings(), size=10, folds=2)
    made: list[str] = []

    def stand_in(name: str, answer: object) -> None:
        def experiment(*_: object, **__: object) -> object:
            made.append(name)
            return answer

        monkeypatch.setattr(experiments, name, experiment)

    for name in ("artificial", "letters", "listed_first_as_target", "tr1", "tr2"):
        stand_in(name, scores)
    stand_in("read_tagging", None)
    stand_in("tagging_lists", None)
    stand_in("listed", (scores, 90, 8))
    stand_in("short_and_long", {"Best": 0.3, "MVote": 0.2, "rule": 0.1})
    tables = reproduce_cortes2014(tmp_path, ocr=tmp_path, gum=tmp_path)
    titles = [line.partition("**:")[0] for line in tables.splitlines() if line.startswith("**")]
    assert titles[:3] == [
        "**Tables 1 and 2, as described",
        "**Tables 1 and 2, as implied",
        "**Section 5.3",
    ]
    assert len(titles) == 8
    mean = f"{np.mean(scores['MVote'].hamming):.4f} ± {np.std(scores['MVote'].hamming):.4f}"
    edits = f"{np.mean(scores['MVote'].edits):.4f} ± {np.std(scores['MVote'].edits):.4f}"
    rows = [line for line in tables.splitlines() if line.startswith("| H_MVote")]
    assert rows[3].count(mean) == 2  # Table 3, two columns
    assert rows[4].count(edits) == 2
    assert "p = 5: 90 sentences, m = 8; p = 10" in tables
    assert made.count("artificial") == 6
    assert made.count("read_tagging") == made.count("tagging_lists") == 1
    made.clear()
    assert reproduce_cortes2014(tmp_path, ocr=tmp_path, gum=tmp_path) == tables
    assert not made
