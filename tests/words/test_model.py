"""Collections: every method by one interface, folders, checkpoints, the command line, the page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from rhetorica.cli import words as commands
from rhetorica.cli.words import app
from rhetorica.document import Span
from rhetorica.errors import FormatError, RhetoricaError, UnknownName
from rhetorica.progress import Event, Tell
from rhetorica.render.words import words_html
from rhetorica.words import METHODS, CRFWords, Settings, Text, WordsModel, fit, read_texts
from rhetorica.words.characters import normalise
from rhetorica.words.extract import candidates, count_with_candidates, rank

NETS = "神经网络学习图像。深度神经网络很大，学习很慢。神经网络识别图像。"
RICE = "水稻种子发芽。水稻产量很大，种子很小。农民种水稻。"
TEXTS = [
    Text("n1", NETS, "计算"),
    Text("n2", "我们用神经网络识别图像，神经网络学习很慢。", "计算"),
    Text("r1", RICE, "农学"),
    Text("r2", "水稻种子的产量，水稻发芽很慢。", "农学"),
]
GENERAL = [
    ["我们", "学习", "很", "慢", "。"],
    ["农民", "种", "水稻", "，", "产量", "很", "大"],
    ["用", "图像", "识别", "种子", "的", "网络"],
]
QUICK = Settings(sweeps=4, longest=4, decay=2.0, term_count=2, keyword_count=2)


@pytest.fixture(scope="module")
def model() -> WordsModel:
    return fit(TEXTS, QUICK, segmented=GENERAL)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_does_the_same(method: Any, tmp_path: Path) -> None:
    made = fit(TEXTS, QUICK, method=method, segmented=GENERAL)
    for cut in made.texts:
        text = cut.text.text
        assert "".join(text[a:b] for a, b in cut.words) == "".join(text.split())
        assert cut.keywords
        assert all(row.word in normalise(text) for row in cut.keywords)
    assert set(made.terms) == {"计算", "农学"}
    assert "水稻" in [row.word for row in made.terms["农学"]]
    new = "农民 学习\n神经网络，ＡＢ很慢。"
    assert "".join(made.cut(new)) == "".join(new.split())
    made.save(tmp_path / "model")
    again = WordsModel.load(tmp_path / "model")
    assert again.cut(new) == made.cut(new)
    assert again.terms == made.terms
    assert again.texts == made.texts


@pytest.mark.parametrize("method", METHODS)
def test_a_blank_text_has_no_words(method: Any) -> None:
    made = fit([Text("b", " \n", "空"), *TEXTS], QUICK, method=method, segmented=GENERAL)
    assert made.texts[0].words == ()
    assert made.texts[0].keywords == ()
    assert made.terms["空"] == ()
    assert len(made.texts[1].words) > 5
    assert made.cut("") == []
    assert made.cut("。") == ["。"]


def test_the_same_seed_gives_the_same_model(model: WordsModel) -> None:
    again = fit(TEXTS, QUICK, segmented=GENERAL)
    assert again.texts == model.texts
    assert again.terms == model.terms


@pytest.mark.parametrize("method", ["dp4", "hdp"])
def test_an_interrupted_run_goes_on(method: Any) -> None:
    kept: list[Any] = []
    whole = fit(TEXTS, QUICK, method=method, segmented=GENERAL, checkpoint=kept.append, every=3)
    [state] = kept
    assert int(state["done"]) == 3
    again = fit(TEXTS, QUICK, method=method, segmented=GENERAL, resume=state)
    assert again.texts == whole.texts
    # That of other texts is not taken up.
    other = fit(TEXTS[:2], QUICK, method=method, segmented=GENERAL, resume=state)
    assert len(other.texts) == 2


def test_without_segmented_text() -> None:
    alone = fit(TEXTS, QUICK, supervised=False)
    assert not set(alone.counts.words) - {
        cut.text.text[a:b] for cut in alone.texts for a, b in cut.words
    }
    with pytest.raises(RhetoricaError, match="no unsupervised form"):
        fit(TEXTS, QUICK, method="fmm", supervised=False)
    with pytest.raises(UnknownName, match="dp4"):
        fit(TEXTS, QUICK, method="dp5")  # type: ignore[arg-type]
    with pytest.raises(RhetoricaError, match="nothing to learn"):
        fit([], QUICK)


def test_counts_of_a_segmenter_of_ones_own(tmp_path: Path) -> None:
    # One that has hardly seen words of two characters cuts everything into single ones.
    sentences = [list("我们学习水稻"), list("神经网络很大"), ["北京"]]
    single = CRFWords(iterations=20).fit(sentences * 3)
    assert single.words("水稻")[0] == Span(0, 1)
    crf = fit(TEXTS, QUICK, method="crf", segmenter=single)
    assert all(end == start + 1 for cut in crf.texts for start, end in cut.words)
    alone = fit(TEXTS, QUICK, method="fmm", segmenter=single)
    assert max(map(len, alone.counts.words)) == 1
    both = fit(TEXTS, QUICK, method="fmm", segmenter=single, segmented=GENERAL)
    counts = dict(zip(both.counts.words, both.counts.counts.tolist(), strict=True))
    assert counts["水稻"] == 1  # of the general text
    assert counts["稻"] == sum(text.text.count("稻") for text in TEXTS)
    single.save(tmp_path / "single")
    lines = tmp_path / "in.jsonl"
    lines.write_text(json.dumps({"id": "a", "text": NETS}), "utf-8")
    folder = tmp_path / "single"
    run("fit", lines, "--out", tmp_path / "m", "--method", "fmm", "--segmenter", folder)
    assert WordsModel.load(tmp_path / "m").cut("神经网络") == list("神经网络")


def test_longer_words_rank_higher() -> None:
    made = fit(TEXTS, QUICK, method="dp4", segmented=GENERAL)
    for cut in made.texts:
        weights = [
            row.count * math.log(row.score) * (min(len(row.word), 4) - 1) for row in cut.keywords
        ]
        assert weights == sorted(weights, reverse=True)


def test_candidates_by_mutual_information() -> None:
    clauses = [["神经", "网络", "很", "大"], ["神经", "网络", "很", "好"], ["天", "很", "大"]] * 2
    joined = candidates(clauses, least=3, information=2.5)
    assert joined == {("神经", "网络")}
    counts = count_with_candidates(clauses, joined)
    assert counts["神经网络"] == 4
    assert counts["网络"] == 0
    rows = rank({"神经网络": 4, "很大": 4, "大": 9}, {"神经网络": 4, "很大": 90, "大": 9})
    # As frequent, but nothing special; one character is no term.
    assert [row.word for row in rows] == ["神经网络", "很大"]
    assert rows[1].score == 0


def test_function_words_are_no_part_of_terms() -> None:
    clauses = [["提出", "了", "神经", "网络", "是"]] * 3 + [["天", "大"], ["水", "好"]] * 9
    assert candidates(clauses, information=1.0) == {("神经", "网络"), ("天", "大"), ("水", "好")}


def test_texts_of_folders_and_lines(tmp_path: Path) -> None:
    for text in TEXTS:
        path = tmp_path / "in" / text.domain / f"{text.id}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.text, encoding="utf-8")
    assert sorted(read_texts(tmp_path / "in"), key=lambda t: t.id) == TEXTS
    lines = tmp_path / "in.jsonl"
    lines.write_text(
        '{"id": 1, "text": "好", "keywords": ["坏"]}\n\n{"text": "啊", "domain": "x"}\n'
    )
    assert read_texts(lines) == [Text("1", "好", ""), Text("in-3", "啊", "x")]
    lines.write_text('{"id": 1}\n')
    with pytest.raises(FormatError, match=r'in.jsonl:1: no "text"'):
        read_texts(lines)
    lines.write_text('{"text": " "}\n{"text": "好"}\n')
    assert [text.text for text in read_texts(lines)] == [" ", "好"]
    lines.write_text('{"text": " "}\n')
    with pytest.raises(RhetoricaError, match="no text in it"):
        read_texts(lines)
    for broken in ("{", "[" * 100_000):
        lines.write_text(f"{broken}\n")
        with pytest.raises(FormatError, match=r"in.jsonl:1: not JSON"):
            read_texts(lines)
    (tmp_path / "none").mkdir()
    with pytest.raises(RhetoricaError, match="no text in it"):
        read_texts(tmp_path / "none")


def run(*arguments: object, input: str | None = None) -> str:
    done = CliRunner().invoke(app, [str(a) for a in arguments], input=input)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_commands(tmp_path: Path) -> None:
    lines = tmp_path / "in.jsonl"
    rows = [{"id": t.id, "text": t.text, "domain": t.domain, "keywords": ["密"]} for t in TEXTS]
    lines.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")
    general = tmp_path / "general.txt"
    general.write_text("\n".join(map(" ".join, GENERAL)), "utf-8")
    out = tmp_path / "model"
    run("fit", lines, "--out", out, "--segmented", general, "--sweeps", 3, "--term-count", 2)
    assert "密" not in (out / "collection.json").read_text("utf-8")
    assert not (out / "checkpoint.npz").exists()
    found = [json.loads(line) for line in run("keywords", out, "--to", "jsonl").splitlines()]
    assert [row["id"] for row in found] == ["n1", "n2", "r1", "r2"]
    assert all(1 <= len(row["keywords"]) <= 5 for row in found)
    assert run("keywords", out, "--top", 2).splitlines()[0].startswith("n1\t")
    [first, second] = json.loads(run("terms", out, "--to", "json"))
    assert {first["domain"], second["domain"]} == {"计算", "农学"}
    assert set(first["terms"][0]) == {"word", "count", "score"}
    page = run("keywords", out, "--to", "html")
    assert page.startswith("<!doctype html>")
    text = tmp_path / "new.txt"
    text.write_text("农民种水稻。\n\n学习很慢\n", "utf-8")
    for options in ([], ["--model", out]):
        cut = run("apply", text, *options).split("\n")
        assert [line.replace(" ", "") for line in cut] == ["农民种水稻。", "", "学习很慢", ""]
        assert " " in cut[0]
    done = CliRunner().invoke(
        app, ["fit", str(lines), "--out", "x", "--unsupervised", "--segmented", str(general)]
    )
    assert done.exit_code == 2


def test_an_interrupted_command_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines, general = tmp_path / "in.jsonl", tmp_path / "general.txt"
    rows = [{"id": t.id, "text": t.text, "domain": t.domain} for t in TEXTS]
    lines.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    general.write_text("\n".join(map(" ".join, GENERAL)), "utf-8")
    options = ["--segmented", general, "--sweeps", 4, "--term-count", 2]
    out, kept = tmp_path / "model", tmp_path / "model" / "checkpoint.npz"
    seen: list[int] = []

    @contextmanager
    def watched(stop: int = 0) -> Iterator[Tell]:
        def tell(event: Event) -> None:
            seen.append(event.at)
            assert "likelihood" in event.note
            if event.at == stop:
                raise KeyboardInterrupt

        yield tell

    monkeypatch.setattr(commands, "training", lambda: watched(3))
    stopped = CliRunner().invoke(app, ["fit", str(lines), "--out", str(out), *map(str, options)])
    assert stopped.exit_code != 0
    with np.load(kept) as state:
        assert int(state["done"]) == 2
    monkeypatch.setattr(commands, "training", watched)
    run("fit", lines, "--out", out, *options)
    assert seen == [1, 2, 3, 3, 4]
    assert not kept.exists()
    run("fit", lines, "--out", tmp_path / "whole", *options)
    assert WordsModel.load(out).texts == WordsModel.load(tmp_path / "whole").texts


def test_the_page_marks_terms_and_keywords(model: WordsModel) -> None:
    page = words_html(model, title="<b>")
    assert "<b>" not in page
    assert "<script" not in page
    assert page.count("<article>") == 4
    word = model.texts[0].keywords[0].word
    assert f'class="keyword" style="--strength:48%">{word}</mark>' in page
