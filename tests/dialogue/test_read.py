from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from rhetorica.dialogue import Entity, Preparation, Turn, read_dialogues
from rhetorica.dialogue.porter import stem
from rhetorica.dialogue.prepare import Lexicon
from rhetorica.dialogue.types import Dialogue
from rhetorica.errors import FormatError, InvalidDocument, RhetoricaError, UnknownName

SGD = {
    "dialogue_id": "1_00000",
    "services": ["Restaurants_1"],
    "turns": [
        {
            "speaker": "USER",
            "utterance": "A table in San Jose, San Jose I said.",
            "acts": [
                {"act": "INFORM", "slot": "city", "values": ["San Jose"]},
                {"act": "INFORM_INTENT", "slot": "intent", "values": ["Reserve"]},
            ],
        },
        {"speaker": "SYSTEM", "utterance": "At what time?", "acts": [{"act": "REQUEST"}]},
    ],
}


def test_jsonl_in_the_layout_of_sgd(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(SGD) + "\n\n" + json.dumps({**SGD, "dialogue_id": "2"}))
    reading = read_dialogues(path)
    assert [dialogue.id for dialogue in reading.dialogues] == ["1_00000", "2"]
    first = reading.dialogues[0].turns[0]
    assert first.entities == (Entity(11, 19, "city"), Entity(21, 29, "city"))
    assert first.act == "INFORM+INFORM_INTENT"
    assert Preparation().words(first) == ["a", "table", "in", "<city>", "<city>", "i", "said"]
    assert read_dialogues(io.StringIO(json.dumps([SGD]))).dialogues[0].turns[0] == first


def test_the_longer_of_two_values_wins() -> None:
    turn = {
        "speaker": "A",
        "text": "To New York City from York.",
        "acts": [{"act": "X", "slot": s, "values": [v]} for s, v in
                 (("from", "York"), ("to", "New York City"))],
    }  # fmt: skip
    data = json.dumps({"id": "x", "turns": [turn]})
    found = read_dialogues(io.StringIO(data)).dialogues[0].turns[0]
    assert [(found.text[a:b], type_) for a, b, type_ in found.entities] == [
        ("New York City", "to"),
        ("York", "from"),
    ]


@pytest.mark.parametrize(
    "time", ["[10:02] ", "(10:02:07) ", "10:02 ", "9:05 PM - ", "[00:01:02.5] "]
)
def test_times_before_speakers_are_passed_over(time: str) -> None:
    text = f"{time}Agent: At 10:05, where to?\n{time}User 1: Airport.\n"
    (dialogue,) = read_dialogues(io.StringIO(text)).dialogues
    assert [(turn.speaker, turn.text) for turn in dialogue.turns] == [
        ("Agent", "At 10:05, where to?"),
        ("User 1", "Airport."),
    ]


def test_transcripts() -> None:
    text = (
        "Agent: Welcome!\nClient: Hi, it says:\n   error 5: no disk\nAgent:\n\n"
        "Agent (second): Hello.\n"
    )
    reading = read_dialogues(io.StringIO(text))
    assert [[(t.speaker, t.text) for t in d.turns] for d in reading.dialogues] == [
        [("Agent", "Welcome!"), ("Client", "Hi, it says: error 5: no disk")],
        [("Agent (second)", "Hello.")],
    ]
    assert reading.empty_turns == 1


def test_streams_are_read_as_they_begin() -> None:
    for text in (
        "dialogue,speaker,text\n1,A,hi\n1,B,ho\n",
        '"speaker"\t"text"\t"id"\nA\thi\t1\nB\tho\t1\n',
        "A: hi\nB: ho\n",
        '{"id": 1, "turns": [{"speaker": "A", "text": "hi"}, {"speaker": "B", "text": "ho"}]}',
    ):
        turns = read_dialogues(io.StringIO(text)).dialogues[0].turns
        assert [(turn.speaker, turn.text) for turn in turns] == [("A", "hi"), ("B", "ho")]


def test_csv_with_other_names_for_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        'conversation_id,role,message,act\n1,bot,"Hello, you",greet\n1,me,Hi,\n2,me,,\n'
    )
    reading = read_dialogues(path)
    assert [turn.text for turn in reading.dialogues[0].turns] == ["Hello, you", "Hi"]
    assert reading.dialogues[0].turns[0].act == "greet"
    assert (reading.empty_turns, reading.empty_dialogues) == (1, 1)


BAD = {
    "empty.txt": ("", "empty"),
    "speaker.txt": ("Agent: Hi\nno speaker here\n", ":2: no speaker"),
    "indent.txt": ("  Agent: Hi\n", ":1: the first line"),
    "blank.txt": ("Agent:\nClient:\n", "no turn has any text"),
    "a.jsonl": ("{", ":1: not JSON"),
    "deep.jsonl": ('{"turns": [' + "[" * 100_000, ":1: not JSON"),
    "deep.json": ("[" * 100_000, ":1: not JSON"),
    "b.jsonl": ('{"turns": 5}', ":1: expected a dialogue"),
    "c.jsonl": ('{"turns": [{"text": "hi"}]}', ":1: no speaker"),
    "d.jsonl": ('{"turns": [{"speaker": "A"}]}', 'no "utterance"'),
    "e.jsonl": ('{"turns": [3]}', "not an object"),
    "f.jsonl": ('{"id": 1, "turns": []}\n{"id": 1, "turns": []}', ":2: a second dialogue"),
    "g.jsonl": ('{"turns": [{"speaker": "A", "text": "x", "entities": [1]}]}', "entities are"),
    "h.jsonl": ('{"turns": [{"speaker":"A","text":"x","entities":[[0,9,"y"]]}]}', "does not fit"),
    "a.csv": ("dialogue,text\n1,hi\n", ":1: no column 'speaker'"),
    "b.csv": ("dialogue,speaker,text\n1,A,hi,there\n", ":2: 4 cells"),
    "c.csv": ("dialogue,speaker,text\n1,,hi\n", ":2: no speaker"),
    "d.csv": ("dialogue,speaker,text\n,A,hi\n", ":2: a turn without a dialogue"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_say_what_is_wrong_and_where(tmp_path: Path, name: str) -> None:
    text, why = BAD[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError) as caught:
        read_dialogues(tmp_path / name)
    assert why in str(caught.value)
    assert name in str(caught.value)


def test_mixed_encodings_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "mixed.txt"
    path.write_bytes("Agent: café\n".encode() + "Client: café\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"mixed.txt:2: not UTF-8"):
        read_dialogues(path)


def test_unknown_formats_and_impossible_values_are_refused() -> None:
    with pytest.raises(UnknownName, match="dialogue format"):
        read_dialogues(io.StringIO("A: b"), format="xml")  # type: ignore[arg-type]
    with pytest.raises(InvalidDocument, match="no speaker"):
        Turn(" ", "hello")
    with pytest.raises(InvalidDocument, match="no turns"):
        Dialogue("x", ())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Mail me@x.example.org at 10:30 pm", "mail <email> at <time>"),
        ("on March 3rd, 2019 or 2019-03-04", "on <date> or <date>"),
        ("call (412) 555-0123 now", "call ( <phone> now"),
        ("It's 1,250.50 for 2", "it's <number> for <number>"),
        ("the 28X and the 61c", "the 28x and the 61c"),
        ("<city> is <city>", "<city> is <city>"),
    ],
)
def test_rules_find_entities_by_how_they_are_written(text: str, words: str) -> None:
    found = Preparation().words(Turn("A", text))
    assert found == [word for word in words.split() if word != "("]


def test_patterns_of_ones_own_go_first() -> None:
    ours = Preparation(patterns=(("bus-route", r"\d+[A-Z]\b"), ("time", "noon")))
    found = ours.words(Turn("A", "The 28X at noon, or 5 pm"))
    assert found == ["the", "<bus-route>", "at", "<time>", "or", "<time>"]
    assert Preparation(rules=False).words(Turn("A", "at 5")) == ["at", "5"]
    with pytest.raises(RhetoricaError, match="pattern of <x> is wrong"):
        Preparation(patterns=(("x", "("),))
    with pytest.raises(RhetoricaError, match="cannot be a type"):
        Preparation(patterns=(("a b", "x"),))


def test_stop_words_stems_and_lengths() -> None:
    preparation = Preparation(stop_words=True, stem=True, min_turns=2)
    assert preparation.words(Turn("A", "I was connecting the connections in Rome")) == [
        "connect", "connect", "rome",
    ]  # fmt: skip
    one, two = Dialogue("1", (Turn("A", "x"),)), Dialogue("2", (Turn("A", "x"), Turn("B", "y")))
    assert preparation.kept([one, two]) == [two]


def test_porter_has_the_words_of_the_paper() -> None:
    pairs = (
        "caresses caress ponies poni ties ti cats cat feed feed agreed agre plastered plaster "
        "bled bled motoring motor sing sing conflated conflat troubled troubl sized size hopping "
        "hop tanned tan falling fall hissing hiss fizzed fizz failing fail filing file happy happi "
        "sky sky relational relat conditional condit rational ration valenci valenc hesitanci "
        "hesit digitizer digit conformabli conform radicalli radic differentli differ vileli vile "
        "analogousli analog vietnamization vietnam predication predic operator oper feudalism "
        "feudal decisiveness decis hopefulness hope callousness callous formaliti formal "
        "sensitiviti sensit sensibiliti sensibl triplicate triplic formative form formalize formal "
        "electriciti electr electrical electr hopeful hope goodness good revival reviv allowance "
        "allow inference infer airliner airlin gyroscopic gyroscop adjustable adjust defensible "
        "defens irritant irrit replacement replac adjustment adjust dependent depend adoption "
        "adopt homologou homolog communism commun activate activ angulariti angular homologous "
        "homolog effective effect bowdlerize bowdler probate probat rate rate cease ceas controll "
        "control roll roll"
    ).split()
    assert [stem(word) for word in pairs[::2]] == pairs[1::2]


def test_unknown_words_are_counted_and_left_out() -> None:
    known = [Dialogue("1", (Turn("A", "to be or not to be"),))]
    lexicon = Lexicon.of(known, Preparation())
    assert lexicon.words == ("be", "to")
    corpus, unknown = lexicon.encode([Dialogue("2", (Turn("A", "be quick"),))], Preparation())
    assert (corpus.words.tolist(), unknown) == ([0], 1)
    with pytest.raises(RhetoricaError, match="no word occurs 9 times"):
        Lexicon.of(known, Preparation(min_count=9))
