from __future__ import annotations

import copy
import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rhetorica import (
    AnnotatedTree,
    Candidate,
    DepTree,
    Document,
    Join,
    Node,
    Parse,
    RSTTree,
    Scores,
    SecondaryEdge,
    Signal,
    Span,
    Token,
)
from rhetorica.errors import FormatError, InvalidDocument, InvalidTree
from rhetorica.files import Source, write_text
from rhetorica.formats.native import (
    from_dict,
    read_json,
    read_jsonl,
    schema,
    to_dict,
    write_json,
    write_jsonl,
)
from strategies import parses

VALIDATOR = jsonschema.Draft202012Validator(schema())
some = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read_text(text: str) -> Parse:
    return read_json(Source("a.json", text))


@pytest.fixture
def full() -> Parse:
    """A parse with something in every field."""
    doc = Document(
        "Wet 🌧, for it rained.",
        (Span(0, 6), Span(7, 21)),
        tokens=(Token(0, 3, "wet", "wet", "ADJ", "JJ", "Degree=Pos", -1, "root"),
                Token(4, 6, head=0, deprel="punct", continues=True)),
        sentences=(Span(0, 21),), paragraphs=(Span(0, 21),), id="rain", language="en",
        constituency=("(S wet)",), meta={"genre": "news"},
    )  # fmt: skip
    tree = AnnotatedTree(
        (Node("1", "edu", 2, "nucleus", "span"), Node("2", "edu", 0, "satellite", "cause"),
         Node("3", "span", -1, "root", "")),
        secondary=(SecondaryEdge("1-2", 0, 1, "evaluation"),),
        signals=(Signal(1, False, "dm", "dm", (1,), "gold"), Signal(0, True, "lexical", "")),
        inventory=(("cause", "rst"), ("list", "multinuc")), signal_types=(("dm", ("dm",)),),
    )  # fmt: skip
    scores = Scores((1.0, 0.5), (1.0, 0.25), (1.0, 0.1), (1.0,), (0.3,), (0.2,))
    kbest = (
        Candidate(RSTTree(2, (Join(0, 1, 2, "SN", "cause"),)), -0.5),
        Candidate(DepTree((-1, 0), ("ROOT", "list"), (False, True), (0, 0)), -1e-300),
    )
    return Parse(doc, tree, scores, kbest, {"parser": "hand"})


class TestRoundTrip:
    @some
    @given(parses())
    def test_everything_comes_back(self, parse: Parse) -> None:
        assert read_text(write_json(parse)) == parse

    @some
    @given(parses(), st.booleans(), st.sampled_from([None, 0, 1, 4]))
    def test_through_bytes(self, parse: Parse, views: bool, indent: int | None) -> None:
        data = write_json(parse, views=views, indent=indent).encode()
        assert read_json(io.BytesIO(data)) == parse

    @some
    @given(st.lists(parses(max_edus=3), max_size=3))
    def test_lines(self, several: list[Parse]) -> None:
        text = "".join(write_jsonl(several))
        assert text.count("\n") == len(several)
        assert list(read_jsonl(io.BytesIO(text.encode()))) == several

    @some
    @given(parses())
    def test_what_is_written_fits_the_schema(self, parse: Parse) -> None:
        VALIDATOR.validate(json.loads(write_json(parse)))

    def test_full_and_files(self, full: Parse, tmp_path: Path) -> None:
        for name in ("a.json", "a.json.gz"):
            write_text(tmp_path / name, write_json(full))
            assert read_json(tmp_path / name) == full
        VALIDATOR.validate(to_dict(full))
        assert from_dict(to_dict(full)) == full

    def test_layout_changes_nothing(self, full: Parse) -> None:
        assert json.loads(write_json(full)) == json.loads(write_json(full, indent=None))
        assert write_json(full, indent=None).count("\n") == 1
        assert max(map(len, write_json(full).splitlines())) <= 100

    def test_lone_surrogates_are_escaped(self) -> None:
        parse = Parse(Document("a\ud800b \udc00\ud800", (Span(0, 6),), id="\udfff"))
        text = write_json(parse)
        assert "\\ud800" in text
        assert read_json(io.BytesIO(text.encode())) == parse

    def test_other_text_with_lone_surrogates_is_refused_clearly(self, tmp_path: Path) -> None:
        with pytest.raises(FormatError, match=r"a.txt:2: cannot be written as UTF-8: .*ud800"):
            write_text(tmp_path / "a.txt", "x\n\ud800")
        assert not list(tmp_path.iterdir())

    def test_surrogate_pairs_as_two_characters_are_refused(self) -> None:
        with pytest.raises(InvalidDocument, match="surrogate pair"):
            write_json(Parse(Document("\ud83c\udf27", (Span(0, 2),))))

    def test_id_defaults_to_the_file_name(self, tmp_path: Path) -> None:
        data = {"format": "rhetorica", "version": 1, "document": {"text": ""}}
        path = tmp_path / "rain.json"
        path.write_text(json.dumps(data))
        assert read_json(path).id == "rain"


class TestViews:
    def test_views_are_there(self, full: Parse) -> None:
        data = to_dict(full)
        assert data["rst"]["joins"][0]["relation"] == "cause"
        assert data["dependencies"]["heads"] == [-1, 0]
        assert {"rst", "dependencies"}.isdisjoint(to_dict(full, views=False))

    def test_crossing_arcs_have_no_rst_view(self) -> None:
        tree = DepTree((-1, 3, 0, 0), ("ROOT", "a", "b", "c"))
        data = to_dict(Parse(Document.from_edus("abcd"), tree))
        assert "rst" not in data
        assert "dependencies" in data

    def test_source_decides(self, full: Parse) -> None:
        data = to_dict(full)
        data["rst"]["joins"][0]["relation"] = "other"
        assert from_dict(data) == full

    def test_without_source_rst_then_dependencies(self, full: Parse) -> None:
        data = to_dict(full)
        del data["source"]
        assert from_dict(data).source == full.tree
        del data["rst"]
        assert from_dict(data).source == full.dependencies
        del data["dependencies"]
        assert from_dict(data).source is None


def _set(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: Any) -> None:
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = to

    return change


def _drop(*path: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: Any) -> None:
        for key in path[:-1]:
            data = data[key]
        del data[path[-1]]

    return change


AGAINST_SCHEMA = [
    (_drop("format"), "not our JSON"),
    (_drop("version"), "version: expected 1, found None"),
    (_drop("document"), "'document' is missing"),
    (_drop("document", "text"), "document: 'text' is missing"),
    (_set("format", to="other"), "found 'other'"),
    (_set("version", to=2), "made by a newer rhetorica, upgrade"),
    (_set("version", to=0), "version: expected 1, found 0"),
    (_set("version", to="1"), "version: expected 1, found '1'"),
    (_set("version", to=True), "version: expected 1, found True"),
    (_set("extra", to=1), "unknown key 'extra'"),
    (_set("document", to=[]), "document: expected an object"),
    (_set("document", "text", to=None), "document.text: expected a string, found None"),
    (_set("document", "id", to=3), "document.id: expected a string"),
    (_set("document", "sentence", to=[]), "document: unknown key 'sentence'"),
    (_set("document", "meta", "genre", to=1), "document.meta.genre: expected a string"),
    (_set("document", "meta", to=[]), "document.meta: expected an object"),
    (_set("document", "edus", 1, to=[7]), r"document.edus\[1\]: expected a pair"),
    (_set("document", "edus", 1, to=[7, 21, 22]), r"document.edus\[1\]: expected a pair"),
    (_set("document", "edus", 1, to=[7, "21"]), r"document.edus\[1\]: expected a pair"),
    (_set("document", "edus", 1, to=[-1, 21]), r"document.edus\[1\]: expected a pair"),
    (_set("document", "edus", to="0-6"), "document.edus: expected an array"),
    (_set("document", "tokens", to=[]), "document.tokens: expected an object"),
    (_drop("document", "tokens", "end"), "document.tokens: 'end' is missing"),
    (_set("document", "tokens", "head", 0, to="x"), r"tokens.head\[0\]: expected an integer >= -1"),
    (_set("document", "tokens", "head", 0, to=True), r"tokens.head\[0\]: expected an integer"),
    (_set("document", "tokens", "tag", 0, to=None), r"tokens.tag\[0\]: expected a string"),
    (_set("document", "tokens", "continues", 0, to=0), r"continues\[0\]: expected true or false"),
    (_set("document", "constituency", 0, to=1), r"document.constituency\[0\]: expected a string"),
    (_set("source", to=None), "source: expected an object, found None"),
    (_set("source", "type", to="tree"), "source.type: expected 'annotated' or 'rst'"),
    (_drop("source", "type"), "source.type: expected 'annotated'"),
    (_drop("source", "nodes"), "source: 'nodes' is missing"),
    (_drop("source", "nodes", 1, "role"), r"source.nodes\[1\]: 'role' is missing"),
    (_set("source", "nodes", 1, "role", to="head"), r"nodes\[1\].role: expected 'root' or"),
    (_set("source", "nodes", 1, "parent", to=-2), r"nodes\[1\].parent: expected an integer >= -1"),
    (_set("source", "secondary", 0, "target", to=1.5), r"secondary\[0\].target: expected an int"),
    (_set("source", "signals", 0, "secondary", to="no"), r"signals\[0\].secondary: expected true"),
    (_set("source", "signals", 0, "tokens", 0, to=-1), r"signals\[0\].tokens\[0\]: expected"),
    (_set("source", "inventory", 0, to=["a"]), r"inventory\[0\]: expected an array of two"),
    (_set("source", "inventory", 0, 1, to="b"), r"inventory\[0\]\[1\]: expected 'rst' or"),
    (_set("source", "signal_types", 0, 1, to="dm"), r"signal_types\[0\]\[1\]: expected an array"),
    (_set("rst", "joins", 0, "nuclearity", to="SS"), r"rst.joins\[0\].nuclearity: expected 'NS'"),
    (_set("dependencies", "heads", 0, to=None), r"dependencies.heads\[0\]: expected an integer"),
    (_set("dependencies", "levels", to=[-1, 0]), r"dependencies.levels\[0\]: expected"),
    (_set("scores", "heads", 1, to="high"), r"scores.heads\[1\]: expected a finite number"),
    (_set("scores", "mood", to=[]), "scores: unknown key 'mood'"),
    (_set("kbest", to={}), "kbest: expected an array"),
    (_drop("kbest", 0, "score"), r"kbest\[0\]: 'score' is missing"),
    (_set("kbest", 0, "tree", "type", to="annotated"), r"kbest\[0\].tree: 'nodes' is missing"),
    (_set("kbest", 0, "tree", to={"type": "annotated", "nodes": []}), r"kbest\[0\].tree: expected"),
    (_set("provenance", "parser", to=1), "provenance.parser: expected a string"),
]

BEYOND_SCHEMA = [
    (_set("document", "edus", 1, to=[7, 20]), "document: characters 20-21"),
    (_set("document", "edus", 1, to=[5, 21]), "document: EDU 1 is the range 5-21"),
    (_set("document", "sentences", 0, to=[0, 99]), "document: sentence 0 ends at 99"),
    (_set("document", "tokens", "end", to=[3]), "document.tokens.end: 1 values for 2 tokens"),
    (_set("document", "tokens", "head", 0, to=9), "document: token 0 has head 9"),
    (_set("document", "constituency", to=["a", "b"]), "document: 2 constituency trees"),
    (_set("source", "nodes", 1, "parent", to=1), "source: cycle"),
    (_set("source", "secondary", 0, "target", to=9), "source: secondary edge"),
    (_set("source", to={"type": "rst", "n_edus": 1, "joins": []}), "source: a tree over 1 EDUs"),
    (_set("rst", "joins", to=[]), "rst: a binary tree over 2 EDUs has 1 joins"),
    (_set("rst", to={"n_edus": 1, "joins": []}), "rst: a tree over 1 EDUs for a text with 2"),
    (_set("dependencies", "heads", to=[-1, -1]), "dependencies: 2 roots"),
    (_set("dependencies", "relations", to=["r"]), "dependencies: 2 heads, 1 relations"),
    (_set("scores", "heads", 1, to=math.nan), r"scores.heads\[1\]: expected a finite number"),
    (_set("scores", "heads", 1, to=10**400), r"scores.heads\[1\]: expected a finite number"),
    (_set("scores", "heads", to=[1]), "1 scores for heads, expected 2"),
    (_set("kbest", 0, "score", to=-math.inf), r"kbest\[0\].score: expected a finite number"),
    (_set("kbest", 0, "tree", "joins", to=[]), r"kbest\[0\].tree: a binary tree"),
    (_set("kbest", 1, "tree", to={"type": "rst", "n_edus": 1, "joins": []}), "k-best tree over 1"),
]  # fmt: skip


class TestMalformed:
    @pytest.mark.parametrize(("change", "message"), AGAINST_SCHEMA)
    def test_what_the_schema_refuses_the_reader_refuses(
        self, full: Parse, change: Callable[[Any], None], message: str
    ) -> None:
        data = copy.deepcopy(to_dict(full))
        change(data)
        assert not VALIDATOR.is_valid(data)
        with pytest.raises(FormatError, match=message) as caught:
            from_dict(data, "a.json")
        assert caught.value.path == "a.json"

    @pytest.mark.parametrize(("change", "message"), BEYOND_SCHEMA)
    def test_the_reader_knows_more_than_the_schema(
        self, full: Parse, change: Callable[[Any], None], message: str
    ) -> None:
        data = copy.deepcopy(to_dict(full))
        change(data)
        with pytest.raises(FormatError, match=message):
            from_dict(data)

    @some
    @given(st.data())
    def test_any_replaced_value_is_read_or_refused_as_the_schema_says(self, draw: Any) -> None:
        parse = draw.draw(parses(min_edus=1, max_edus=3))
        data = to_dict(parse)
        at: Any = data
        while True:  # walk down to some place
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            key = draw.draw(st.sampled_from(keys))
            deeper = isinstance(at[key], (dict, list)) and at[key]
            if not deeper or draw.draw(st.booleans()):
                break
            at = at[key]
        at[key] = draw.draw(st.sampled_from([None, True, -2, 1.5, "x", [], {}, [[]], [{}], ["x"]]))
        try:
            from_dict(data)
        except FormatError:
            return
        VALIDATOR.validate(data)

    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            ("", 1, "empty"),
            (" \n", 1, "empty"),
            ('{\n"format": "rhetorica",\n oops', 3, "not JSON: .*column 2"),
            ('{\n"format": "rhetorica",\n', 3, "not JSON"),
            ("[1]", None, "top level: expected an object"),
            ("null", None, "top level: expected an object"),
            ("[" * 100_000, None, "nested too deeply"),
            ('{"a": 1, "a": 2}', None, "'a' is there twice"),
            ('{"a": ' + "1" * 5000 + "}", None, "digits"),
        ],
    )
    def test_not_json(self, text: str, line: int | None, message: str) -> None:
        with pytest.raises(FormatError, match=message) as caught:
            read_text(text)
        assert (caught.value.path, caught.value.line) == ("a.json", line)

    def test_not_utf8(self) -> None:
        with pytest.raises(FormatError, match="not UTF-8"):
            read_json(io.BytesIO(b'{"format": "\xff"}'))

    def test_nan_in_a_file(self, full: Parse) -> None:
        text = write_json(full).replace("-0.5", "NaN")
        with pytest.raises(FormatError, match=r"kbest\[0\].score: expected a finite number"):
            read_text(text)

    def test_a_bad_line_is_named(self, full: Parse) -> None:
        good = write_json(full, indent=None)
        for bad, message in (("{", "not JSON"), ("{}", "top level"), ('{"a":1,"a":1}', "twice")):
            lines = read_jsonl(Source("a.jsonl", f"{good}\n{bad}\n"))
            assert next(lines) == full
            with pytest.raises(FormatError, match=message) as caught:
                next(lines)
            assert caught.value.line == 3

    def test_what_json_cannot_hold_is_not_written(self) -> None:
        doc = Document.from_edus(["a"])
        with pytest.raises(InvalidTree, match="score for heads is nan"):
            write_json(Parse(doc, scores=Scores(heads=(math.nan,))))
        with pytest.raises(InvalidTree, match="k-best score is -inf"):
            write_json(Parse(doc, kbest=(Candidate(RSTTree(1), -math.inf),)))
        with pytest.raises(InvalidDocument, match="meta 'a' is 1"):
            write_json(Parse(Document("", meta={"a": 1})))  # type: ignore[dict-item]


def test_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


def test_large_documents() -> None:
    n = 20_000
    joins = tuple(Join(i, i + 1, n, "NS", "r") for i in range(n - 1))
    parse = Parse(Document.from_edus(["word"] * n), RSTTree(n, joins))
    assert read_text(write_json(parse)) == parse
