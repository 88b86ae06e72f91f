"""Words by rule, lemmas by learned endings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica.text.lemmas import Lemmas
from rhetorica.text.words import split_words


@pytest.mark.parametrize(
    "words",
    [
        "We do|n't know , it|'s wet !",
        "can|not gon|na I|'m they|'ve Peter|'s",
        "non-linear well|-|known",
        "Mr. Smith|,|e.g. Dr. No|, of the U.S. army",
        "$|1,000.50|, 10:30 a.m. (|see [|2|]|)|.",
        "see https://example.org/a?b=c|, or mail me@example.org|.",
        "\u201cquoted\u201d|...|really|?!|yes".replace("\u201c", "\u201c|").replace(
            "\u201d", "|\u201d"
        ),
        "the 1990s and the 2nd of May",
        "th- the O'Brien house",
    ],
)
def test_words_as_in_treebanks(words: str) -> None:
    text = words.replace("|", "")
    assert [text[a:b] for a, b in split_words(text)] == words.replace("|", " ").split()


@given(st.text(max_size=60))
def test_words_cover_the_text(text: str) -> None:
    spans = split_words(text)
    assert "".join(text[a:b] for a, b in spans) == "".join(text.split())
    assert all(a < b for a, b in spans)


class TestLemmas:
    TABLE = Lemmas.learn(
        [
            ("walked", "VBD", "walk"),
            ("talked", "VBD", "talk"),
            ("went", "VBD", "go"),
            *((f"{word}s", "NNS", word) for word in ("dog", "car", "room", "map", "tree", "day")),
            ("cities", "NNS", "city"),
            ("ladies", "NNS", "lady"),
            ("series", "NNS", "series"),
            ("Americans", "NNPS", "American"),
            ("it", "PRP", "it"),
            ("i", "PRP", "I"),
        ]
    )

    @pytest.mark.parametrize(
        ("word", "tag", "lemma"),
        [
            ("Kicked", "VBD", "kick"),
            ("went", "VBD", "go"),
            ("cats", "NNS", "cat"),
            ("duties", "NNS", "duty"),
            ("series", "NNS", "series"),
            ("Germans", "NNPS", "German"),
            ("I", "PRP", "I"),
            ("London", "NNP", "London"),
            ("1,000", "CD", "1,000"),
            ("Unseen", "XX", "unseen"),
        ],
    )
    def test_endings(self, word: str, tag: str, lemma: str) -> None:
        assert self.TABLE(word, tag) == lemma

    def test_what_was_learned_is_known(self) -> None:
        assert Lemmas(self.TABLE.table)("Walked", "VBD") == "walk"
        # "walked" needs no entry of its own: "ed" or a part of it says it all.
        assert not any(rule.startswith("^walked") for rule in self.TABLE.table["VBD"])
