"""The general word segmenter: what it keeps, what it refuses, how well it cuts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rhetorica.errors import FormatError, ModelError
from rhetorica.words import CRFWords, Dictionary, load, segment
from rhetorica.words.characters import kind, normalise
from rhetorica.words.segmented import read_segmented
from rhetorica.words.segmenter import _pieces_of

SENTENCES = [
    "我们 喜欢 音乐 。".split(),
    "她 喜欢 看 电影 。".split(),
    "昨天 我们 看 电影 。".split(),
    "音乐 很 好听 。".split(),
]
MIXED = st.text(
    st.sampled_from("我们喜欢音乐看电影，。 \n\tABc12３ｄ\u3000🙂é·（）“”"), max_size=40
)


@pytest.fixture(scope="module")
def small() -> CRFWords:
    words = Dictionary({"电影": 4, "音乐": 4, "电影院": 2})
    return CRFWords(dictionary=words, iterations=30).fit(SENTENCES)


def cut(model: CRFWords, text: str) -> list[str]:
    return [text[start:end] for start, end in model.words(text)]


def test_it_learns_what_it_is_shown(small: CRFWords) -> None:
    for words in SENTENCES:
        assert cut(small, "".join(words)) == words


def test_saved_and_loaded(small: CRFWords, tmp_path: Path) -> None:
    small.save(tmp_path / "model")
    again = CRFWords.load(tmp_path / "model")
    text = "昨天她喜欢音乐，我们看电影院。"
    assert again.words(text) == small.words(text)
    assert again.dictionary is not None
    assert again.dictionary.steps == {"电影": 4, "音乐": 4, "电影院": 2}
    (tmp_path / "model" / "weights.crfsuite.xz").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="damaged"):
        CRFWords.load(tmp_path / "model")


@settings(max_examples=60)
@given(MIXED)
def test_words_cover_all_but_white_space(text: str) -> None:
    spans = load().words(text)
    assert [t for a, b in spans for t in text[a:b]] == [t for t in text if not t.isspace()]
    assert all(a < b for a, b in spans)
    assert [a for a, _ in spans] == sorted(a for a, _ in spans)


def test_the_general_segmenter() -> None:
    assert segment("小明昨天在学校看了一本书。") == "小明 昨天 在 学校 看 了 一 本 书 。".split()
    assert segment("我们看 New York Times 。")[-4:-1] == ["New", "York", "Times"]
    assert segment("") == []
    # Full-width letters and marks are cut as half-width ones.
    assert list(map(len, segment("ＡＢＣ公司，２０１４年。"))) == list(
        map(len, segment("ABC公司,2014年."))
    )


def test_normalising_keeps_offsets() -> None:
    text = "Ａ１，。㎞ﬁ…①"
    assert len(normalise(text)) == len(text)
    assert normalise("（Ａ）") == "(A)"
    assert [kind(c) for c in "三人a é1，"] == ["n", "h", "l", "s", "a", "d", "p"]


def test_dictionary_files(tmp_path: Path) -> None:
    path = tmp_path / "dict.txt"
    path.write_text("北京 34488 ns\nB超 3 n\n大学 20025 n\n罕见词 1 n\n\n", encoding="utf-8")
    words = Dictionary.read(path, min_count=2)
    assert set(words.steps) == {"北京", "大学"}
    assert Dictionary.from_bytes(words.to_bytes()).steps == words.steps
    path.write_text("北京 34488\n大学\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"dict.txt:2: expected a word and how often"):
        Dictionary.read(path)


def test_the_path_is_the_most_probable() -> None:
    # Three words of middling frequency lose against two frequent ones.
    words = Dictionary({"研究": 6, "研究生": 4, "生命": 6, "命": 2, "起源": 5})
    assert words.path("研究生命起源") == ["b2", "e2", "b2", "e2", "b2", "e2"]


def test_segmented_text(tmp_path: Path) -> None:
    path = tmp_path / "general.conllu"
    rows = ["1\t我\t" + "\t".join("_" * 8), "2\t来\t" + "\t".join("_" * 8), "", "1\t好\t"]
    rows[3] += "\t".join("_" * 8)
    path.write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    assert read_segmented(path) == [["我", "来"], ["好"]]


def test_latin_words_stand_apart() -> None:
    assert list(_pieces_of(["看", "Iron", "Man", "吧"])) == [["看", "Iron"], ["Man", "吧"]]
    with pytest.raises(ValueError, match="no word"):
        list(_pieces_of(["New York"]))
