from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rhetorica import DepTree, Document, Join, Parse, RSTTree, Span, Token
from rhetorica.describe import Reach, Statistics, corpus_statistics, document_statistics, summary
from strategies import parses

some = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def document(*paragraphs: str, sentences: bool = True, paragraph_layer: bool = True) -> Document:
    """Make a document: words are EDUs, "." ends a sentence, each argument is a paragraph."""
    text = " ".join(paragraphs)
    edus, at = [], 0
    for word in text.split():
        edus.append(Span(at, at + len(word)))
        at += len(word) + 1
    starts = [0] + [edu.end + 1 for edu in edus[:-1] if text[edu.end - 1] == "."]
    ends = [start - 1 for start in starts[1:]] + [len(text)]
    bounds, at = [], 0
    for paragraph in paragraphs:
        bounds.append(Span(at, at + len(paragraph)))
        at += len(paragraph) + 1
    return Document(
        text,
        tuple(edus),
        sentences=tuple(map(Span, starts, ends)) if sentences else (),
        paragraphs=tuple(bounds) if paragraph_layer else (),
    )


# Sentences: (a b.) (c d e.) | (f.); the second leaks: c goes with the first, d and e with f.
TREE = RSTTree(
    6,
    (
        Join(0, 3, 6, "NN", "joint"),
        Join(0, 2, 3, "NS", "cause"),
        Join(0, 1, 2, "SN", "attribution"),
        Join(3, 5, 6, "NS", "cause"),
        Join(3, 4, 5, "NS", "purpose"),
    ),
)


class TestByHand:
    def test_counts(self) -> None:
        found = corpus_statistics([Parse(document("a b. c d e.", "f."), TREE)])
        assert found == Statistics(
            documents=1,
            words=6,
            sentences=3,
            paragraphs=2,
            documents_with_sentences=1,
            documents_with_paragraphs=1,
            dependency_trees=1,
            projective_trees=1,
            rst_trees=1,
            sentences_in_trees=3,
            leaky_sentences=1,
            document_sizes={6: 1},
            arc_relations={
                "cause": Reach(0, 1, 1),  # c to b, f to d
                "attribution": Reach(1),
                "joint": Reach(0, 1),  # d to b
                "purpose": Reach(1),
            },
            join_relations={
                "cause": Reach(0, 1, 1),
                "attribution": Reach(1),
                "joint": Reach(0, 0, 1),
                "purpose": Reach(1),
            },
            nuclearities={"NN": 1, "NS": 3, "SN": 1},
            arc_lengths={1: 3, 2: 2},
            dependency_depths={2: 1},
            rst_depths={3: 1},
        )
        assert found.edus == 6
        assert found.words_are == "between white space"
        assert list(found.arc_relations) == ["cause", "attribution", "joint", "purpose"]

    def test_unknown_layers(self) -> None:
        bare = Parse(document("a b. c d e.", "f.", sentences=False, paragraph_layer=False), TREE)
        found = corpus_statistics([bare])
        assert found.arc_relations["cause"] == Reach(unknown=2)
        assert found.sentences_in_trees == found.leaky_sentences == 0
        no_paragraphs = Parse(document("a b. c d e.", "f.", paragraph_layer=False), TREE)
        assert corpus_statistics([no_paragraphs]).arc_relations["cause"] == Reach(0, 2)
        no_sentences = Parse(document("a b. c d e.", "f.", sentences=False), TREE)
        assert corpus_statistics([no_sentences]).arc_relations["cause"] == Reach(0, 0, 1, 1)

    def test_labels(self) -> None:
        found = corpus_statistics(
            [Parse(document("a b. c d e.", "f."), TREE)], labels=lambda _: "x"
        )
        assert found.arc_relations == {"x": Reach(2, 2, 1)}
        assert found.join_relations == {"x": Reach(2, 1, 2)}

    def test_tokens_are_words(self) -> None:
        doc = Document("a-b c", (Span(0, 5),), tokens=(Token(0, 1), Token(1, 2), Token(2, 3)))
        assert corpus_statistics([Parse(doc)]).words == 3
        assert corpus_statistics([Parse(doc)]).words_are == "tokens"
        assert corpus_statistics([Parse(doc), Parse(Document("x y"))]).words_are == "mixed"

    def test_without_tree_or_edus(self) -> None:
        found = corpus_statistics([Parse(Document("x y")), Parse(Document(""), RSTTree(0))])
        assert (found.documents, found.dependency_trees, found.rst_trees) == (2, 0, 0)
        assert found.document_sizes == {0: 2}

    def test_crossing_arcs_have_no_joins(self) -> None:
        tree = DepTree((-1, 3, 0, 0), ("ROOT", "a", "b", "c"))
        found = corpus_statistics([Parse(Document.from_edus("wxyz"), tree)])
        assert (found.dependency_trees, found.projective_trees, found.rst_trees) == (1, 0, 0)
        assert found.arc_lengths == {2: 2, 3: 1}
        assert found.join_relations == {}

    def test_single_edu(self) -> None:
        found = corpus_statistics([Parse(Document.from_edus(["a"]), RSTTree(1))])
        assert found.dependency_depths == found.rst_depths == {0: 1}

    def test_empty_corpus(self) -> None:
        assert corpus_statistics([]) == Statistics()
        assert Statistics().tables()[0].rows[0] == ("documents", 0)


class TestTables:
    def test_rows(self) -> None:
        parse = Parse(document("a b. c d e.", "f."), TREE)
        tables = {table.title: table for table in corpus_statistics([parse, parse]).tables()}
        assert ("EDUs", 12) in tables["Corpus"].rows
        assert ("  of these leaky", 2) in tables["Corpus"].rows
        assert ("EDUs per document", 6, 6.0, 6.0, 6) in tables["Sizes"].rows
        relations = tables["Relations of arcs"]
        assert relations.columns == (
            "relation", "count", "%", "inside sentence", "across sentences", "across paragraphs",
        )  # fmt: skip
        assert relations.rows[0] == ("cause", 4, 40.0, 0, 2, 2)
        assert relations.rows[-1] == ("total", 10, 100.0, 4, 4, 2)
        assert tables["Nuclearity of joins"].rows[1] == ("NS", 6, 60.0)
        assert tables["Arc lengths"].rows == [("1", 6, 60.0), ("2", 4, 40.0)]

    @some
    @given(st.lists(parses(), max_size=3))
    def test_every_row_has_every_column(self, corpus: list[Parse]) -> None:
        for table in corpus_statistics(corpus).tables():
            assert all(len(row) == len(table.columns) for row in table.rows)

    @some
    @given(st.lists(parses(), max_size=3))
    def test_to_dict_is_json(self, corpus: list[Parse]) -> None:
        data = corpus_statistics(corpus).to_dict()
        assert json.loads(json.dumps(data)) == data


class TestProperties:
    @some
    @given(st.lists(parses(max_edus=6), max_size=4), st.integers(0, 4))
    def test_counts_add_up(self, corpus: list[Parse], cut: int) -> None:
        whole = corpus_statistics(corpus)
        assert corpus_statistics(corpus[:cut]) + corpus_statistics(corpus[cut:]) == whole

    @some
    @given(parses(min_edus=1, trees=("annotated", "rst", "dependencies", "any dependencies")))
    def test_totals(self, parse: Parse) -> None:
        found = document_statistics(parse)
        n = len(parse.document.edus)
        assert sum(reach.total for reach in found.arc_relations.values()) == n - 1
        assert sum(found.arc_lengths.values()) == n - 1
        joins = n - 1 if found.rst_trees else 0
        assert sum(found.nuclearities.values()) == joins
        assert sum(reach.total for reach in found.join_relations.values()) == joins
        assert found.leaky_sentences <= found.sentences_in_trees <= found.sentences

    @given(st.lists(st.integers(0, 20), min_size=1))
    def test_summary(self, numbers: list[int]) -> None:
        found = summary({number: numbers.count(number) for number in numbers})
        assert found["median"] == statistics.median(numbers)
        assert found["mean"] == pytest.approx(statistics.mean(numbers))
        assert (found["min"], found["max"]) == (min(numbers), max(numbers))


def test_adding_something_else_is_refused() -> None:
    with pytest.raises(TypeError):
        Statistics() + 1  # type: ignore[operator]


@pytest.mark.parametrize("to_the_right", [True, False])
def test_20000_edus(to_the_right: bool) -> None:
    n = 20_000
    joins = [Join(i, i + 1, n, "NS", "r") for i in range(n - 1)]
    if not to_the_right:
        joins = [Join(0, end - 1, end, "SN", "r") for end in range(n, 1, -1)]
    parse = Parse(Document.from_edus(["x."] * n), RSTTree(n, tuple(joins)))
    found = corpus_statistics([parse])
    assert found.rst_depths == found.dependency_depths == {n - 1: 1}


def test_gum(shared: Path) -> None:
    from rhetorica.corpora.gum import read_gum

    found = corpus_statistics(read_gum(shared / "gum", "dev"))
    assert found.projective_trees == found.rst_trees == found.documents > 0
    assert found.words_are == "tokens"
    inside, *_ = map(sum, zip(*found.arc_relations.values(), strict=True))
    assert 0.4 < inside / (found.edus - found.documents) < 0.7
    assert 0 < found.leaky_sentences / found.sentences_in_trees < 0.15
