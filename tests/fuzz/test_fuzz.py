"""Some hundred broken files of each format; ``scripts/fuzz`` runs as many as one likes."""

from __future__ import annotations

import random
from contextlib import nullcontext
from dataclasses import replace

import pytest

from fuzz.check import READABLE, Failure, check, check_growth, run, seeds
from fuzz.mutate import grown
from fuzz.requests import NAMES, check_answer, run_requests
from fuzz.texts import check_text, run_texts
from rhetorica import DepTree, Document, Parse, Span
from rhetorica.files import Source
from rhetorica.formats import FORMATS
from rhetorica.service.messages import Answer


@pytest.mark.parametrize("format", READABLE)
def test_seeds_are_accepted(format: str) -> None:
    assert [check(format, text) for text in seeds(format)] == ["accepted"] * len(seeds(format))


@pytest.mark.parametrize("format", READABLE)
def test_broken_files(format: str) -> None:
    outcomes = run(format, 300)
    # Mutations that never do harm, or always do, would show nothing.
    assert min(outcomes["accepted"], outcomes["refused"]) >= 5


@pytest.mark.parametrize("format", READABLE)
def test_readers_are_linear(format: str) -> None:
    rng = random.Random(format)
    for _ in range(40):
        check_growth(format, grown(rng, seeds(format)))


@pytest.mark.parametrize(("power", "noticed"), [(1.0, False), (1.5, False), (2.0, True)])
def test_growth_is_noticed(monkeypatch: pytest.MonkeyPatch, power: float, noticed: bool) -> None:
    now = 0.0  # a clock that the reader itself moves: what else the machine does has no say

    def slow(source: Source) -> list[Parse]:
        nonlocal now
        now += len(source.text) ** power
        return []

    monkeypatch.setitem(FORMATS, "edus", replace(FORMATS["edus"], read=slow))
    with pytest.raises(Failure, match="not linear") if noticed else nullcontext():
        check_growth("edus", lambda size: "a" * size, lambda: now)


def test_strange_texts() -> None:
    run_texts("neural-fast", 60)
    run_texts("li2014", 40)


def test_a_text_that_is_not_covered_is_noticed() -> None:
    class Forgetful:
        def __call__(self, text: str) -> Parse:
            return Parse(Document(text, (Span(0, 4),)), DepTree((-1,), ("ROOT",)))

    check_text(Forgetful(), "Rain  ")  # type: ignore[arg-type]
    for text in ("Rain, again", "    Rain"):
        with pytest.raises(Failure, match=r"cover|reach"):
            check_text(Forgetful(), text)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_strange_requests(name: str) -> None:
    outcomes = run_requests(name, 100)
    assert min(outcomes["accepted"], outcomes["refused"]) >= 1


def test_answers_that_are_not_as_promised_are_noticed() -> None:
    with pytest.raises(Failure, match="answered 500"):
        check_answer(Answer(b'{"error": "a", "message": "b"}', status=500))
    with pytest.raises(Failure, match="answered 422"):
        check_answer(Answer(b"{}", status=422))


def test_the_check_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    def lossy(source: object) -> list[Parse]:
        return [Parse(Document.from_edus(["Rain"]))]

    monkeypatch.setitem(FORMATS, "edus", replace(FORMATS["edus"], read=lossy))
    with pytest.raises(Failure, match="lost"):
        check("edus", "Rain.\n")
