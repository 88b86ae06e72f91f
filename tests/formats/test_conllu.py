"""CoNLL-U: small files by hand, both discourse dialects, broken files, round trips."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhetorica import DepTree, Document, Parse, Span, Token
from rhetorica.errors import FormatError, InvalidDocument, InvalidTree
from rhetorica.files import Source
from rhetorica.formats.conllu import read_conllu, write_conllu
from strategies import SPACES, dep_trees, documents, partitions


def word(number: object, form: str, misc: str = "_", head: object = "_") -> str:
    return f"{number}\t{form}\t_\t_\t_\t_\t{head}\t_\t_\t{misc}"


def lines(*rows: str) -> str:
    return "\n".join(rows)


def read_all(text: str) -> list[Parse]:
    return list(read_conllu(Source("d/small.conllu", text)))


def read(text: str) -> Parse:
    [parse] = read_all(text)
    return parse


SMALL = lines(
    "# newdoc id = weather",
    "# meta::genre = talk",
    "# newpar",
    "# newpar_block = p (1 s)",
    "# sent_id = weather-1",
    "# text = I don't go, it's wet.",
    "1\tI\tI\tPRON\tPRP\tCase=Nom\t4\tnsubj\t_\tDiscourse=ROOT:1:0|Entity=(1)",
    "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_",
    "2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_",
    "3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_",
    "4\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No",
    "5\t,\t,\tPUNCT\t,\t_\t4\tpunct\t_\t_",
    "6-7\tit's\t_\t_\t_\t_\t_\t_\t_\t_",
    "6\tit\tit\tPRON\tPRP\t_\t8\tnsubj\t_\tDiscourse=cause:2->1:0:dm-_-_;joint:2->3:0:1:orp-so-3-_",
    "7\t's\tbe\tAUX\tVBZ\t_\t8\tcop\t_\t_",
    "7.1\tghost\t_\t_\t_\t_\t_\t_\t_\t_",
    "8\twet\twet\tADJ\tJJ\t_\t4\tparataxis\t_\tSpaceAfter=No",
    "9\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_",
    "",
    "# text = Oh.",
    "1\tOh\toh\tINTJ\tUH\t_\t0\troot\t_\tDiscourse=joint-list_m:3->1:1:_|SpaceAfter=No",
    "2\t.\t.\tPUNCT\t.\t_\t1\tpunct\t_\t_",
    "",
    "# newpar",
    "# text = Bye",
    "1\tBye\tbye\tINTJ\tUH\t_\t0\troot\t_\t_",
    "",
)


def test_a_small_file() -> None:
    parse = read(SMALL)
    doc = parse.document
    assert doc.text == "I don't go, it's wet. Oh.\n\nBye"
    assert doc.id == "weather"
    assert doc.meta == {"genre": "talk"}
    assert [doc.form(t) for t in doc.tokens[:5]] == ["I", "do", "n't", "go", ","]
    assert [t.continues for t in doc.tokens[:5]] == [False, False, True, False, False]
    assert doc.tokens[0] == Token(0, 1, "", "I", "PRON", "PRP", "Case=Nom", 3, "nsubj")
    assert (doc.tokens[3].head, doc.tokens[10].head) == (-1, 9)
    assert [doc.text[a:b] for a, b in doc.sentences] == ["I don't go, it's wet.", "Oh.", "Bye"]
    assert [doc.text[a:b] for a, b in doc.paragraphs] == ["I don't go, it's wet. Oh.", "Bye"]
    assert parse.edus == ["I don't go,", "it's wet.", "Oh.\n\nBye"]
    assert parse.source == DepTree(
        (-1, 0, 0), ("ROOT", "cause", "joint-list"), (False, False, True), (0, 0, 1)
    )
    assert read(write_conllu(parse)) == parse


def test_line_ends_and_byte_order_mark_do_not_matter() -> None:
    stream = BytesIO(("\ufeff" + SMALL.rstrip("\n").replace("\n", "\r\n")).encode())
    assert list(read_conllu(stream)) == [read(SMALL)]


def test_several_documents_and_none_named() -> None:
    first, second = read_all(
        lines("# sent_id = 1", "# newdoc id = a", word(1, "x"), "", "# newdoc_id = b", word(1, "y"))
    )
    assert (first.id, second.id) == ("a", "b")
    assert first.document.edus == ()
    assert read(lines(word(1, "x"), "", word(1, "y"))).id == "small"
    assert read(lines("# newdoc", word(1, "x"))).id == ""


@pytest.mark.parametrize("mark", ["Seg=B-seg", "BeginSeg=Yes"])
def test_segments_without_relations(mark: str) -> None:
    parse = read(lines(word(1, "a", mark), word(2, "b", "Seg=O"), word(3, "c", f"X=1|{mark}")))
    assert parse.edus == ["a b", "c"]
    assert parse.source is None
    assert read(write_conllu(parse)).document.edus == parse.document.edus
    assert "Seg=B-seg" in write_conllu(parse)


def test_connectives_are_no_segments() -> None:
    assert read(lines(word(1, "so", "Seg=B-Conn"), word(2, "b", "Seg=O"))).document.edus == ()


def test_text_comment_gives_the_spaces() -> None:
    text = lines("# text = 下雨了 ok", word(1, "下雨"), word(2, "了"), word(3, "ok"))
    assert read(text).document.text == "下雨了 ok"
    assert read(write_conllu(read(text))).document.text == "下雨了 ok"


@pytest.mark.parametrize("comment", ["# text = something else", "# text = ab c", "# other"])
def test_words_win_over_a_text_that_does_not_spell_them(comment: str) -> None:
    text = lines(comment, word(1, "a", "SpaceAfter=No"), word(2, "b"))
    assert read(text).document.text == "ab"


def test_spaces_between_sentences() -> None:
    text = lines(
        word(1, "a", "SpaceAfter=No"), "", word(1, "b"), "", word(1, "c", r"SpacesAfter=\s\n\t"),
        "", "# newpar", word(1, "d"), "", "# newpar", word(1, "e"), "",
    )  # fmt: skip
    parse = read(text)
    assert parse.document.text == "ab c \n\td\n\ne"
    assert read(write_conllu(parse)) == replace(parse, document=replace(parse.document, id="small"))


def test_words_that_do_not_spell_their_token_share_its_span() -> None:
    text = lines(word("1-2", "da"), word(1, "de"), word(2, "a"), word(3, "casa"))
    doc = read(text).document
    assert doc.tokens[:2] == (Token(0, 2, "de"), Token(0, 2, "a", continues=True))
    assert [doc.form(token) for token in doc.tokens] == ["de", "a", "casa"]
    assert read(write_conllu(Parse(doc))).document == doc


def test_an_edu_that_starts_inside_a_contraction() -> None:
    text = lines(
        word(1, "x", "Seg=B-seg"), word("2-3", "do"), word(2, "de", "Seg=O"),
        word(3, "o", "Seg=B-seg"), word(4, "y", "Seg=O"),
    )  # fmt: skip
    parse = read(text)
    assert parse.edus == ["x d", "o y"]
    assert read(write_conllu(parse)) == parse
    with pytest.raises(FormatError, match="fewer characters"):
        read(text.replace("\tdo\t", "\td\t"))


def test_contraction_in_other_case_keeps_both_forms() -> None:
    doc = read(lines(word("1-2", "CANNOT"), word(1, "can"), word(2, "not"))).document
    assert doc.tokens == (Token(0, 3, "can"), Token(3, 6, "not", continues=True))
    assert read(write_conllu(Parse(doc))).document == doc


def test_any_script() -> None:
    text = lines(
        "# text = היום ירד גשם🌧️ 👩‍👩‍👧",
        *(word(i, form) for i, form in enumerate(["היום", "ירד", "גשם", "🌧️", "👩‍👩‍👧"], 1)),
    )
    parse = read(text)
    assert parse.document.text == "היום ירד גשם🌧️ 👩‍👩‍👧"
    assert read(write_conllu(parse)) == parse


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("", 1, "empty"),
        ("# only a comment\n", 1, "no words"),
        (word("1.1", "ghost"), 1, "without words"),
        (SMALL[: SMALL.index("\troot")], 11, "7 columns"),
        (SMALL.replace("\tI\tPRON", "\tPRON"), 7, "9 columns"),
        (SMALL.replace("4\tgo", "x\tgo"), 11, "'x'"),
        (SMALL.replace("4\tgo", "6\tgo"), 11, "word 6 comes where 4"),
        (SMALL.replace("2-3\t", "2-x\t"), 8, "'x'"),
        (SMALL.replace("2-3\t", "1-3\t"), 8, "range 1-3"),
        (SMALL.replace("6-7\t", "6-12\t"), 18, "no word 10"),
        (SMALL.replace("4\tgo\t", "4\t\t"), 11, "no form"),
        (SMALL.replace("_\t8\tcop", "_\ty\tcop"), 15, "'y'"),
        (SMALL.replace("_\t8\tcop", "_\t99\tcop"), 15, "head 99"),
        (SMALL.replace("Discourse=ROOT:1:0|", ""), 7, "starts no EDU"),
        (SMALL.replace("ROOT:1:0", "ROOT:1"), 7, "Discourse=ROOT:1"),
        (SMALL.replace("ROOT:1:0", "ROOT:2:0"), 7, "EDU 2 comes where 1"),
        (SMALL.replace("ROOT:1:0", "ROOT:1:x"), 7, "level is 'x'"),
        (SMALL.replace("cause:2->1", "cause:2->9"), 14, "head 9"),
        (SMALL.replace("cause:2->1", "cause:2->0"), 14, "head 0"),
        (SMALL.replace("cause:2->1", "cause:2->x"), 14, "'x'"),
        (SMALL.replace("cause:2->1", "cause:2"), 14, "second root"),
        (SMALL.replace("cause:2->1", "c:2->3").replace("3->1", "3->2"), 14, "cycle"),
    ],
)
def test_broken_files_name_file_and_line(text: str, line: int, why: str) -> None:
    with pytest.raises(FormatError, match=why) as caught:
        read_all(text)
    assert (caught.value.path, caught.value.line) == ("d/small.conllu", line)


def test_what_cannot_be_written() -> None:
    with pytest.raises(InvalidDocument, match="no tokens"):
        write_conllu(Parse(Document.from_edus(["a"])))
    doc = Document("a b", (Span(0, 1), Span(1, 3)), (Token(0, 3),))
    with pytest.raises(InvalidDocument, match="EDU 2"):
        write_conllu(Parse(doc))
    doc = Document("a b", (Span(0, 1), Span(2, 3)), (Token(0, 1), Token(2, 3)))
    with pytest.raises(InvalidTree, match="rename"):
        write_conllu(Parse(doc, DepTree((-1, 0), ("ROOT", "a:b"))))


def test_dialects() -> None:
    parse = read(SMALL)
    assert read(write_conllu(parse, discourse="seg")).document == parse.document
    assert read(write_conllu(parse, discourse="seg")).source is None
    assert read(write_conllu(parse, discourse="none")).document.edus == ()


FORMS = st.one_of(
    st.sampled_from(["Wet", "n't", "_", "#", "1-2", "🌧️", "مطر", "下", "|", "=", "\ufeff", "\x00"]),
    st.text(min_size=1, max_size=5).filter(lambda form: not any(c.isspace() for c in form)),
)


@st.composite
def written(draw: st.DrawFn) -> Parse:
    """Draw a parse with tokens, sentences and paragraphs whose every part CoNLL-U can hold."""
    plain = draw(documents(word=FORMS, space=st.sampled_from(SPACES), layers=False))
    tokens: list[Token] = []
    start = None
    for at, character in enumerate(plain.text + " "):
        inside = not character.isspace() and not any(at == edu.start for edu in plain.edus)
        if start is not None and not inside:
            tokens.append(Token(start, at, pos=draw(st.sampled_from(["", "NOUN"]))))
            start = None
        if start is None and not character.isspace():
            start = at
    sentences = draw(partitions(plain.edus))
    spans = tuple(Span(part[0].start, part[-1].end) for part in sentences)
    paragraphs = draw(partitions(spans)) if draw(st.booleans()) else []
    document = replace(
        plain,
        tokens=tuple(tokens),
        sentences=spans,
        paragraphs=tuple(Span(part[0].start, part[-1].end) for part in paragraphs),
        id="d",
        meta={"a": "b c"},
    )
    levels = draw(st.booleans())
    tree = dep_trees(n_edus=len(plain.edus), projective=False, multinuclear=True, levels=levels)
    return Parse(document, draw(st.none() | tree))


@given(st.lists(written(), min_size=1, max_size=3))
def test_round_trip(parses: list[Parse]) -> None:
    assert read_all(write_conllu(parses)) == parses
