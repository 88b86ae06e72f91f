"""What several tests of training share."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessons import LESSONS
from rhetorica import Document, Parse, RSTTree


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus laid out as UMUC is, without syntax."""
    folder = tmp_path_factory.mktemp("corpus")
    for split in ("train", "dev"):
        place = folder / "rs3_original" / split
        place.mkdir(parents=True)
        for number, (units, joins) in enumerate(LESSONS):
            parse = Parse(Document.from_edus(units), RSTTree(len(units), joins))
            (place / f"text{number}.rs3").write_text(parse.to_rs3(), "utf-8")
    return folder
