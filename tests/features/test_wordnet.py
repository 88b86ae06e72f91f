"""WordNet: senses and hypernyms, the five measures against NLTK's figures, EDUs and matching."""

from __future__ import annotations

import io
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rhetorica import Document, Span, Token
from rhetorica.errors import InvalidDocument, ModelError, UnknownName
from rhetorica.features import wordnet as module
from rhetorica.features.wordnet import (
    MEASURES,
    WordNet,
    best_matching,
    edu_similarities,
    load_wordnet,
)

# Part of speech, two lemmas, and their path, wup, res, jcn and lin similarities: the highest over
# senses and both orders, from NLTK 3.10.4 with WordNet 3.0 and ic-semcor-add1.dat. (That file
# lacks 59 verb synsets; their counts were filled in.)
NLTK = """
n dog cat 0.2 0.857143 6.26506 0.382131 0.827233
n car bicycle 0.333333 0.8 6.24127 0.210831 0.724648
n dog idea 0.0833333 0.153846 0 0.0882362 0
n bank money 0.142857 0.571429 4.771 0.0936013 0.471778
n bank river 0.111111 0.333333 0.554713 0.0685623 0.0706878
n government law 0.2 0.714286 5.36866 0.143547 0.541832
n teacher student 0.142857 0.6 2.03108 0.0990127 0.286838
n rain weather 0.333333 0.888889 6.86031 0.580462 0.888446
n chef fireman 0.125 0.571429 4.53188 0.0684129 0.382746
n stock share 0.5 0.947368 9.68169 6.98808 0.992664
n paper method 0.0909091 0.285714 0.854401 0.085856 0.127941
n woman man 0.333333 0.705882 4.55654 0.43078 0.796985
n london city 0.333333 0.9 5.11665 0.215795 0.688308
n language word 0.5 0.923077 6.43132 0.949532 0.92432
n tree forest 0.1 0.4 1.07646 0.0764891 0.140528
n coast shore 0.5 0.909091 8.4385 1.93328 0.970263
n boy sage 0.166667 0.631579 2.03108 0.0733771 0.229606
n noon string 0.0833333 0.266667 0.854401 0.0632701 0.0975675
n time year 0.333333 0.833333 4.17745 0.225829 0.653593
n problem result 0.166667 0.615385 4.26589 0.121457 0.5089
n entity dog 0.142857 0.25 0 0 0
n interest_rate price 0.2 0.777778 5.87948 0.128113 0.601034
v run walk 0.333333 0.666667 7.997 0.214736 0.774495
v buy sell 0.333333 0.333333 3.82761 0.109363 0.455693
v say tell 1 1 5.95543 inf 1
v rise fall 0.333333 0.666667 6.19627 0.197643 0.653362
v eat drink 0.333333 0.333333 5.4279 0.303644 0.767241
v kill die 0.333333 0.5 3.26151 0.0797856 0.280973
v propose show 0.25 0.4 0 0.0841744 0
v be have 0.333333 0.5 2.85613 0.163469 0.370774
v travel walk 0.5 0.666667 3.38108 0.45135 0.753214
v make take 1 1 9.81616 inf 1
v think know 0.5 0.666667 6.27038 0.214691 0.701452
v give get 0.333333 0.8 5.46373 0.228205 0.696522
v restrain inhibit 0.5 0.923077 7.34524 55.4985 0.998548
v move run 1 1 9.99848 inf 1
v rain snow 0.333333 0.333333 7.89435 0.503848 0.888332
v breathe respire 1 1 6.74038 inf 1
v increase decrease 0.333333 0.666667 4.66576 0.535624 0.833283
"""

TAGS = {"n": "NNS", "v": "VBD", "x": "DT"}


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    return load_wordnet()


def document(*edus: str) -> Document:
    """Make a document of EDUs such as "dog/n bark/v"."""
    parts: list[str] = []
    tokens: list[Token] = []
    spans: list[Span] = []
    at = 0
    for edu in edus:
        start = at
        for word in edu.split():
            lemma, _, pos = word.partition("/")
            tokens.append(Token(at, at + len(lemma), lemma=lemma, tag=TAGS[pos]))
            parts.append(lemma)
            at += len(lemma) + 1
        spans.append(Span(start, at - 1))
    return Document(" ".join(parts), edus=tuple(spans), tokens=tuple(tokens))


@pytest.mark.parametrize("row", NLTK.strip().splitlines())
def test_measures_are_those_of_nltk(wordnet: WordNet, row: str) -> None:
    pos, first, second, *figures = row.split()
    expected = [float(figure) for figure in figures]
    for pair in ((first, second), (second, first)):
        found = wordnet.lemma_similarities([pair[0]], [pair[1]], pos, raw=True)[:, 0, 0]  # type: ignore[arg-type]
        assert found == pytest.approx(expected, rel=1e-4)


def by_name(wordnet: WordNet, name: str) -> int:
    lemma, pos, sense = name.split(".")
    return wordnet.synsets(lemma, pos)[int(sense) - 1]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second", "path", "wup"),
    [
        # The way from the deepest common hypernym to a person is shorter over a higher one.
        ("life.n.08", "workplace.n.01", 1 / 9, 3 / 7),
        # A root verb and its hyponym: NLTK gives 2/3 or 2/5, by the order.
        ("travel.v.01", "walk.v.01", 1 / 2, 2 / 3),
        ("chef.n.01", "fireman.n.01", 1 / 16, 2 / 17),
        ("life.n.08", "life.n.08", 1, 1),
    ],
)
def test_deepest_common_hypernyms(
    wordnet: WordNet, first: str, second: str, path: float, wup: float
) -> None:
    a, b = by_name(wordnet, first), by_name(wordnet, second)
    for pair in ((a, b), (b, a)):
        found = wordnet.synset_similarities(pair[:1], pair[1:])[:2, 0, 0]
        assert found.tolist() == pytest.approx([path, wup])


def test_senses_and_their_relations(wordnet: WordNet) -> None:
    senses = wordnet.synsets("Dog", "n")
    assert [wordnet.name(synset) for synset in senses[:3]] == ["dog.n.01", "frump.n.01", "dog.n.03"]
    assert [wordnet.name(synset) for synset in wordnet.synsets("dog", "v")] == ["chase.v.01"]
    assert wordnet.pos(senses[0]) == "n"
    assert wordnet.name(wordnet.hypernyms(senses[0])[0]) == "canine.n.02"
    assert wordnet.synsets("domestic_dog", "n") == senses[:1]
    assert wordnet.synsets("interest rate", "n") == wordnet.synsets("interest_rate", "n") != []
    assert wordnet.synsets("of", "n") == []
    assert wordnet.knows("walk", "v")
    assert not wordnet.knows("dachshund", "v")


def test_every_synset_is_named_and_stands_below_a_root(wordnet: WordNet) -> None:
    (entity,) = wordnet.synsets("entity", "n")
    assert wordnet.hypernyms(entity) == []
    assert wordnet.information(entity) == 0
    synsets = [wordnet.synsets(lemma, "n")[0] for lemma in ("dog", "london", "idea", "rain")]
    rows, above, distances = wordnet.ancestry(synsets)
    assert sorted(rows[above == entity].tolist()) == [0, 1, 2, 3]
    assert above[distances == 0].tolist() == synsets


def test_ancestry_of_nothing(wordnet: WordNet) -> None:
    assert [len(column) for column in wordnet.ancestry([])] == [0, 0, 0]
    assert wordnet.synset_similarities([], []).shape == (5, 0, 0)


def test_information_never_falls_on_the_way_down(wordnet: WordNet) -> None:
    synset = by_name(wordnet, "dog.n.01")
    while parents := wordnet.hypernyms(synset):
        assert wordnet.information(parents[0]) <= wordnet.information(synset)
        synset = parents[0]


def test_figures_fit_between_0_and_1(wordnet: WordNet) -> None:
    lemmas = ["dog", "cat", "entity", "idea", "river", "qwrtz", "dog"]
    found = wordnet.lemma_similarities(lemmas, lemmas, "n")
    assert found.shape == (5, 7, 7)
    assert found.min() == 0
    assert found.max() == 1
    assert np.array_equal(found, found.transpose(0, 2, 1))
    known = [0, 1, 3, 4]
    for measure in ("path", "wup", "jcn", "lin"):
        assert found[MEASURES.index(measure), known, known].tolist() == [1] * 4
    assert not found[:, 5].any()
    assert np.array_equal(found[:, 0], found[:, 6])


def test_blocks_do_not_change_figures(wordnet: WordNet, monkeypatch: pytest.MonkeyPatch) -> None:
    lemmas = ["run", "walk", "make", "take", "buy", "sell", "unheard"]
    whole = wordnet.lemma_similarities(lemmas, lemmas[::-1], "v")
    monkeypatch.setattr(module, "_CELLS", 1)
    assert np.array_equal(wordnet.lemma_similarities(lemmas, lemmas[::-1], "v"), whole)


def test_fewer_senses_are_never_more_alike(wordnet: WordNet) -> None:
    nouns = ["bank", "paper", "line", "point"]
    one, all_of_them = (
        wordnet.lemma_similarities(nouns, nouns, "n", senses=senses) for senses in (1, None)
    )
    assert (one <= all_of_them).all()
    first = [wordnet.synsets(noun, "n")[0] for noun in nouns]
    assert one[0] == pytest.approx(wordnet.synset_similarities(first, first)[0])


def test_wrong_questions(wordnet: WordNet) -> None:
    with pytest.raises(UnknownName, match="part of speech 'a'"):
        wordnet.synsets("red", "a")  # type: ignore[arg-type]
    noun, verb = wordnet.synsets("dog", "n")[0], wordnet.synsets("dog", "v")[0]
    with pytest.raises(ValueError, match="all nouns or all verbs"):
        wordnet.synset_similarities([noun], [verb])


def test_a_damaged_file_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Damaged:
        def __truediv__(self, _: str) -> Damaged:
            return self

        def open(self, _: str) -> io.BytesIO:
            return io.BytesIO(b"PK\x03\x04 and nothing else")

    monkeypatch.setattr("importlib.resources.files", lambda _: Damaged())
    with pytest.raises(ModelError, match="cannot read WordNet"):
        load_wordnet.__wrapped__()


def matrices(most: int) -> st.SearchStrategy[Any]:
    sizes = st.tuples(st.integers(1, most), st.integers(1, most))
    cells = st.integers(0, 20)
    return sizes.flatmap(
        lambda size: st.lists(
            st.lists(cells, min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
        )
    )


@given(matrices(5))
def test_best_matching_equals_trying_all(rows: list[list[int]]) -> None:
    weights = np.array(rows, np.float32)
    upright = weights if weights.shape[0] <= weights.shape[1] else weights.T
    best = max(
        sum(upright[row, column] for row, column in enumerate(columns))
        for columns in permutations(range(upright.shape[1]), upright.shape[0])
    )
    assert best_matching(weights).item() == best


@settings(deadline=None)  # the first example imports scipy
@given(matrices(8))
def test_best_matching_equals_scipy(rows: list[list[int]]) -> None:
    pytest.importorskip("scipy")
    weights = np.array([rows, rows[::-1]], np.float32)
    one_by_one = best_matching(weights, enumerate_up_to=1)
    assert best_matching(weights, enumerate_up_to=8).tolist() == one_by_one.tolist()


def test_edus_by_hand(wordnet: WordNet) -> None:
    doc = document("the/x dog/n bark/v", "cat/n sleep/v cow/n", "the/x qwrtz/n", "eat/v")
    found = edu_similarities(doc, senses=None)
    assert found.shape == (5, 4, 4)
    assert found.dtype == np.float32
    nouns = wordnet.lemma_similarities(["dog"], ["cat", "cow"], "n")[:, 0].max(axis=1)
    verbs = wordnet.lemma_similarities(["bark"], ["sleep"], "v")[:, 0, 0]
    assert found[:, 0, 1] == pytest.approx((nouns + verbs) / 2)
    eat = wordnet.lemma_similarities(["eat"], ["bark", "sleep"], "v")[:, 0]
    assert found[:, 3, :2] == pytest.approx(eat)
    assert not found[:, 2].any()
    assert np.array_equal(found, found.transpose(0, 2, 1))
    assert found[:2, 1, 1].tolist() == [1, 1]


def test_words_are_matched_one_to_one(wordnet: WordNet) -> None:
    found = edu_similarities(document("dog/n dog/n", "dog/n idea/n"))[0, 0, 1]
    apart = wordnet.lemma_similarities(["dog"], ["idea"], "n", senses=2)[0, 0, 0]
    assert found == pytest.approx((1 + apart) / 2)


def test_pairs_and_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    doc = document(
        "dog/n chase/v cat/n", "it/x run/v", "man/n see/v house/n and/x tree/n", "rain/n fall/v"
    )
    whole = edu_similarities(doc)
    pairs = [(3, 0), (1, 2), (2, 2), (0, 3)]
    monkeypatch.setattr(module, "_PAIRS", 3)
    assert np.array_equal(edu_similarities(doc), whole)
    rows, columns = zip(*pairs, strict=True)
    assert np.array_equal(edu_similarities(doc, pairs), whole[:, rows, columns])
    assert edu_similarities(doc, []).shape == (5, 0)


def test_wrong_pairs_and_senses() -> None:
    doc = document("dog/n", "cat/n")
    for pair in ((0, 2), (-1, 0)):
        with pytest.raises(ValueError, match="from 0 to 1"):
            edu_similarities(doc, [pair])
    with pytest.raises(ValueError, match="expected at least 1"):
        edu_similarities(doc, senses=0)


def test_long_lists_of_words() -> None:
    pytest.importorskip("scipy")
    words = " ".join(f"{word}/n" for word in "dog cat cow man tree rain house idea city".split())
    found = edu_similarities(document(words, words))
    assert found[0, 0, 1] == pytest.approx(1)


def test_documents_without_edus_or_words() -> None:
    assert edu_similarities(Document("")).shape == (5, 0, 0)
    assert not edu_similarities(document("the/x", "of/x")).any()


def test_no_syntax_is_a_clear_error() -> None:
    bare = Document("Dogs bark", edus=(Span(0, 9),), id="bare")
    with pytest.raises(InvalidDocument, match="bare has no tokens with tags and lemmas"):
        edu_similarities(bare)
    untagged = Document("Dogs", edus=(Span(0, 4),), tokens=(Token(0, 4, lemma="dog"),))
    with pytest.raises(InvalidDocument, match="annotate it first"):
        edu_similarities(untagged)
