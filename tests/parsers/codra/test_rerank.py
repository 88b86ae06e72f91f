"""The reranker: features by hand, learning a tree-wide rule, honest folds, saving, odd input."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rhetorica import Document, Span, Token
from rhetorica.decode import Bracketing, cky_kbest
from rhetorica.errors import ModelError
from rhetorica.evaluate.oracle import oracle_scores
from rhetorica.parsers.codra.examples import NOT_JOINED, Lessons, label_names
from rhetorica.parsers.codra.features import Facts
from rhetorica.parsers.codra.parser import CodraParser, Settings, _relabelled
from rhetorica.parsers.codra.rerank import (
    CUES,
    DENSE,
    Cues,
    KBestList,
    Reranker,
    _Flat,
    _Shape,
    as_tree,
    folds,
    gain,
    gold_sentences,
    honest_lists,
    sentence_lists,
    tabulate,
)
from rhetorica.parsers.codra.sentence import SentenceModel
from rhetorica.parsers.codra.stages import Node
from rhetorica.parsers.codra.workshop import Workshop
from rhetorica.parses import Candidate, Parse
from rhetorica.trees import Join, Label, RSTTree

LABELS = [
    NOT_JOINED,
    Label("NS", "elaboration"),
    Label("SN", "attribution"),
    Label("NN", "joint"),
]


def cues(n: int, seed: int = 0) -> Cues:
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, 3, n) for name in CUES}
    return Cues(columns, rng.integers(-1, n, n))


def kbest(n: int, k: int, seed: int, start: int = 0) -> KBestList:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n + 1, n + 1, n + 1, len(LABELS) - 1))
    trees = cky_kbest(np.zeros((n + 1,) * 3), k, labels=table) if n > 1 else []
    found = [tree._replace(labels=[label + 1 for label in tree.labels]) for tree in trees]
    return KBestList(start, n, tuple(found) or (Bracketing([], 0.0, []),))


def as_parse(entry: KBestList) -> Parse:
    doc = Document.from_edus(["x"] * entry.n_edus)
    trees = [Candidate(as_tree(t, entry.n_edus, LABELS), t.score) for t in entry.trees]
    return Parse(doc, trees[0].tree, kbest=tuple(trees))


def slow_head(tree: Bracketing, start: int, end: int) -> int:
    while end - start > 1:
        at = next(a for a, (i, _, j) in enumerate(tree.joins) if (i, j) == (start, end))
        split = tree.joins[at][1]
        start, end = (split, end) if LABELS[tree.labels[at]].nuclearity == "SN" else (start, split)
    return start


@settings(max_examples=40)
@given(n=st.integers(1, 7), k=st.integers(1, 6), seed=st.integers(0, 1000))
def test_shapes(n: int, k: int, seed: int) -> None:
    entries = [kbest(n, k, seed), kbest(3, 2, seed + 1, start=n)]
    flat = _Flat.of(entries)
    patterns = np.array([["NS", "SN", "NN"].index(LABELS[at].nuclearity) for at in flat.labels])
    shape = _Shape.of(flat, patterns)
    at = 0
    for entry in entries:
        for tree in entry.trees:
            spans = [(i, j) for i, _, j in tree.joins]
            for (i, split, j), label in zip(tree.joins, tree.labels, strict=True):
                above = [(a, b) for a, b in spans if a <= i and j <= b]
                assert shape.depths[at] == len(above)
                inside = [(a, b) for a, b in spans if i <= a and b <= j]
                deepest = max(sum(c <= a and b <= d for c, d in inside) for a, b in inside)
                assert shape.heights[at] == deepest
                heads = slow_head(tree, i, split), slow_head(tree, split, j)
                nucleus, satellite = heads[::-1] if LABELS[label].nuclearity == "SN" else heads
                assert shape.nuclei[at] == nucleus + entry.start
                assert shape.satellites[at] == satellite + entry.start
                at += 1


def test_figures_by_hand() -> None:
    right = Bracketing([(0, 1, 3), (1, 2, 3)], np.log(0.75), [1, 3])
    left = Bracketing([(0, 2, 3), (0, 1, 2)], np.log(0.25), [2, 1])
    columns = {name: np.zeros(5, np.int64) for name in CUES}
    # EDU 3 hangs on 2, and 4 on 2; the list starts at 2.
    known = Cues(columns, np.array([-1, -1, -1, 2, 2]))
    table = tabulate(known, [KBestList(2, 3, (right, left))], LABELS)
    first, second = (dict(zip(DENSE, row, strict=True)) for row in table.dense)
    assert first["score"] == np.log(0.75)
    assert second["behind"] == pytest.approx(np.log(1 / 3))
    assert (first["right_branching"], first["left_branching"]) == (1, 0)
    assert (second["right_branching"], second["left_branching"]) == (0, 1)
    assert first["imbalance"] == pytest.approx(1 / 3)
    assert first["span_consensus"] == pytest.approx(1 + 0.75)
    assert second["label_consensus"] == pytest.approx(0.5)
    assert (first["multinuclear"], second["left_satellites"]) == (1, 1)
    # The whole is 2 with 3 as satellite's head: agrees; the two nuclei 3 and 4 share a head.
    assert (first["heads_agree"], first["heads_disagree"]) == (1, 0)
    # 4 is the nucleus of 2-4, but hangs on 2: disagrees; 2 and 3 agree.
    assert (second["heads_agree"], second["heads_disagree"]) == (1, 1)


def test_gain() -> None:
    tree = as_tree(Bracketing([(0, 1, 2)], 0.0, [1]), 2, LABELS)
    other = as_tree(Bracketing([(0, 1, 2)], 0.0, [2]), 2, LABELS)
    assert gain(tree, tree) == 1
    # Spans are right, nuclearities, relations wrong on both sides.
    assert gain(tree, other) == 0.25
    assert gain(as_tree(Bracketing([], 0.0, []), 1, LABELS), tree) == 1


def training(n_documents: int, seed: int) -> tuple[list, list]:
    """Make lists whose right tree is the one with a joint just below each elaboration."""
    documents, golds = [], []
    for number in range(n_documents):
        entries, trees = [], []
        for place in range(4):
            entry = kbest(4, 8, seed + number * 10 + place, start=4 * place)

            def goodness(tree: Bracketing) -> float:
                names = dict(zip([(i, j) for i, _, j in tree.joins], tree.labels, strict=True))
                return sum(
                    names.get((i, k), -1) == 3 and names[i, j] == 1 for i, k, j in tree.joins
                ) - 0.1 * sum(label == 2 for label in tree.labels)

            entries.append(entry)
            trees.append(max(entry.trees, key=goodness))
        documents.append((cues(16, number), entries))
        golds.append(trees)
    return documents, golds


def reranked(model: Reranker, known: Cues, lists: list[KBestList]) -> list[KBestList]:
    """Put the candidates of each list in order, with the reranker's scores."""
    return [
        KBestList(
            entry.start,
            entry.n_edus,
            tuple(entry.trees[at]._replace(score=score) for at, score in order),
        )
        for entry, order in zip(lists, model.orders(known, lists), strict=True)
    ]


def accuracy(model: Reranker, documents: list, golds: list) -> tuple[float, float]:
    before, after = [], []
    for (known, entries), trees in zip(documents, golds, strict=True):
        for old, new, gold in zip(entries, reranked(model, known, entries), trees, strict=True):
            before.append(old.trees[0].joins == gold.joins and old.trees[0].labels == gold.labels)
            after.append(new.trees[0].joins == gold.joins and new.trees[0].labels == gold.labels)
    return float(np.mean(before)), float(np.mean(after))


@pytest.fixture(scope="module")
def model() -> Reranker:
    documents, golds = training(60, 0)
    return Reranker(LABELS, l2=0.1, sharpness=50, min_count=2).fit(documents, golds)


def test_learns_what_only_whole_trees_show(model: Reranker) -> None:
    before, after = accuracy(model, *training(25, 5000))
    assert after > before + 0.3


def test_deterministic_and_saved(model: Reranker) -> None:
    documents, golds = training(60, 0)
    again = Reranker(LABELS, l2=0.1, sharpness=50, min_count=2).fit(documents, golds)
    read = Reranker.from_arrays(LABELS, model.to_arrays())
    known, entries = training(1, 999)[0][0]
    for own, other, loaded in zip(
        model.log_probabilities(known, entries),
        again.log_probabilities(known, entries),
        read.log_probabilities(known, entries),
        strict=True,
    ):
        assert own.tolist() == other.tolist()
        assert loaded == pytest.approx(own, abs=0.01)
        assert np.exp(own).sum() == pytest.approx(1)
    with pytest.raises(ModelError, match="train it again"):
        Reranker.from_arrays(LABELS, {})


def test_order_and_members_stay(model: Reranker) -> None:
    known, entries = training(1, 77)[0][0]
    for old, new in zip(entries, reranked(model, known, entries), strict=True):
        assert (old.start, old.n_edus, len(old.trees)) == (new.start, new.n_edus, len(new.trees))
        assert sorted(map(str, [t[::2] for t in old.trees])) == sorted(
            map(str, [t[::2] for t in new.trees])
        )
        scores = [tree.score for tree in new.trees]
        assert scores == sorted(scores, reverse=True)


def test_single_edus_and_nothing(model: Reranker) -> None:
    one = KBestList(0, 1, (Bracketing([], 0.0, []),))
    assert reranked(model, cues(1), [one])[0].trees[0].joins == []
    assert reranked(model, cues(1), []) == []
    mixed = [one, kbest(3, 4, 1, start=1)]
    assert [len(entry.trees) for entry in reranked(model, cues(4), mixed)] == [1, 4]
    with pytest.raises(ModelError, match="no lists"):
        Reranker(LABELS).fit([], [])
    with pytest.raises(ValueError, match="at least the best tree"):
        KBestList(0, 1, ())
    with pytest.raises(ValueError, match="2 EDUs have 1"):
        KBestList(0, 2, (Bracketing([], 0.0, []),))


def test_oracle_of_lists() -> None:
    entry = kbest(4, 5, 3)
    gold = KBestList(0, 4, (entry.trees[4],))
    scores = oracle_scores([as_parse(gold)], [as_parse(entry)], k=5)
    assert scores[4].mean == 1
    assert scores[0].mean <= scores[3].mean < 1


def test_folds() -> None:
    parts = folds(10, 3)
    assert sorted(np.concatenate(parts).tolist()) == list(range(10))
    assert len(folds(2, 5)) == 2


def test_cues_of_a_document() -> None:
    words = "We left because it rained".split()
    heads, tokens, at = [1, -1, 4, 4, 1], [], 0
    for word, head in zip(words, heads, strict=True):
        tokens.append(Token(at, at + len(word), lemma=word, tag="IN", head=head, deprel="d"))
        at += len(word) + 1
    doc = Document(" ".join(words), (Span(0, 7), Span(8, 25)), tuple(tokens))
    found = Cues.from_facts(Facts.of(doc, chains=None))
    assert found.dominators.tolist() == [-1, 0]
    assert set(found.columns) == set(CUES)


def parse(seed: int, *, leaky: bool = False) -> Parse:
    """Make a document of two sentences of three EDUs each."""
    rng = np.random.default_rng(seed)
    tokens: list[Token] = []
    edus: list[Span] = []
    sentences: list[Span] = []
    text = ""
    for _ in range(2):
        first = len(text)
        root = len(tokens)
        for _ in range(3):
            start = len(text)
            for word in (rng.choice(["but", "because", "and"]), "we", rng.choice(["left", "sat"])):
                head = -1 if len(tokens) == root else root
                tokens.append(
                    Token(
                        len(text),
                        len(text) + len(word),
                        lemma=word,
                        tag="VB",
                        head=head,
                        deprel="x",
                    )
                )
                text += word + " "
            edus.append(Span(start, len(text) - 1))
        sentences.append(Span(first, len(text) - 1))
    joins = [Join(0, 3, 6, "NN", "joint")] if not leaky else [Join(0, 1, 6, "NN", "joint")]
    if leaky:
        joins += [Join(1, 3, 6, "NS", "elaboration"), Join(1, 2, 3, "NN", "joint")]
    else:
        joins += [Join(0, 1, 3, "NS", "elaboration"), Join(1, 2, 3, "NN", "joint")]
    joins += [Join(3, 5, 6, "SN", "attribution"), Join(3, 4, 5, "NN", "joint")]
    doc = Document(text, tuple(edus), tuple(tokens), tuple(sentences), id=f"d{seed}")
    return Parse(doc, RSTTree(6, tuple(joins)))


def test_lists_of_unseen_sentences(tmp_path: Path) -> None:
    parses = [parse(seed, leaky=seed == 2) for seed in range(6)]
    labels = label_names(parses)
    lessons = Lessons(parses, labels, chains=None)
    ranges, golds = gold_sentences(parses[2].tree, lessons.facts[2], lessons)
    assert ranges == [(3, 6)]
    assert golds[0].joins == [(0, 2, 3), (0, 1, 2)]
    model = SentenceModel(len(labels), groups=["ngrams", "dominance"], iterations=5, min_count=1)
    shop = Workshop(lessons, tmp_path)
    lists = honest_lists(shop, model, k=4, number=2)
    again = honest_lists(shop, model, k=4, number=2)
    assert [len(entries) for _, entries in lists.documents] == [2, 2, 1, 2, 2, 2]
    assert [len(trees) for trees in lists.golds] == [2, 2, 1, 2, 2, 2]
    assert [entries for _, entries in lists.documents] == [
        entries for _, entries in again.documents
    ]
    # Two folds, two models; nothing was trained twice.
    assert len(list(tmp_path.glob("*.npz"))) == 2
    whole = sentence_lists(lessons, model.fit(lessons.sentences()), k=4)
    assert whole.golds == lists.golds
    reranker = Reranker(labels, min_count=1).fit(lists.documents, lists.golds)
    known, entries = whole.documents[0]
    assert len(reranker.orders(known, entries)) == 2


def test_parser_with_a_reranker(tmp_path: Path) -> None:
    parses = [parse(seed) for seed in range(6)]
    settings = Settings(groups=("ngrams", "structure"), rerank=3, iterations=5, min_count=1)
    parser = CodraParser(settings).fit(parses)
    doc = parses[0].document
    found = parser(doc, kbest=2)
    assert found.tree == parser(doc).tree
    assert len(parser.parse_sentences(doc, kbest=9)[0].kbest) == 3
    parser.save(tmp_path / "model")
    assert CodraParser.load(tmp_path / "model")(doc).tree == found.tree
    with pytest.raises(ModelError, match="by themselves"):
        Settings(rerank=3, stages="window")


def test_k_best_documents_with_their_labels() -> None:
    rng = np.random.default_rng(3)

    def node(start: int, split: int, end: int) -> Node:
        logs = rng.normal(size=3)
        return Node(start, split, end, int(logs[1:].argmax()) + 1, tuple(logs))

    shapes = [[node(0, 1, 3), node(1, 2, 3)], [node(0, 2, 3), node(0, 1, 2)]]
    trees = sorted(((sum(n.score for n in nodes), nodes) for nodes in shapes), reverse=True)
    every = sorted(
        sum(n.logs[label] for n, label in zip(nodes, labels, strict=True))
        for _, nodes in trees
        for labels in product((1, 2), repeat=2)
    )
    found = _relabelled(trees, 5)
    assert [score for score, _ in found] == pytest.approx(every[::-1][:5])
    assert all(score == pytest.approx(sum(n.score for n in nodes)) for score, nodes in found)
    assert found[0] == (pytest.approx(trees[0][0]), trees[0][1])
