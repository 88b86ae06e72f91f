"""Some hundred broken files of each format; ``scripts/fuzz`` runs as many as one likes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuzz.check import READABLE, Failure, check, run, seeds
from rhetorica import Document, Parse
from rhetorica.formats import FORMATS


@pytest.mark.parametrize("format", READABLE)
def test_seeds_are_accepted(format: str) -> None:
    assert [check(format, text) for text in seeds(format)] == ["accepted"] * len(seeds(format))


@pytest.mark.parametrize("format", READABLE)
def test_broken_files(format: str) -> None:
    outcomes = run(format, 300)
    # Mutations that never do harm, or always do, would show nothing.
    assert min(outcomes["accepted"], outcomes["refused"]) >= 5


def test_the_check_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    def lossy(source: object) -> list[Parse]:
        return [Parse(Document.from_edus(["Rain"]))]

    monkeypatch.setitem(FORMATS, "edus", replace(FORMATS["edus"], read=lossy))
    with pytest.raises(Failure, match="lost"):
        check("edus", "Rain.\n")
