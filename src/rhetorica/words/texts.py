"""Texts of several domains: read from folders or JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rhetorica.errors import RhetoricaError
from rhetorica.files import Source, document_id


@dataclass(frozen=True, slots=True)
class Text:
    """A text, with its name and the domain that it belongs to."""

    id: str
    text: str
    domain: str = ""


def read_texts(source: str | Path) -> list[Text]:
    """Read a folder whose sub-folders are domains, or JSON lines with id, text and domain.

    A folder without sub-folders is one domain; so are lines without ``domain``. Other fields of a
    line (such as keywords) are not read. Blank texts are kept, so that every text has its row of
    keywords.
    """
    path = Path(source)
    texts = list(_from_folder(path) if path.is_dir() else _from_lines(source))
    if not any(text.text.strip() for text in texts):
        raise RhetoricaError(f"{source}: no text in it; expected .txt files or JSON lines")
    return texts


def _from_folder(folder: Path) -> Iterator[Text]:
    for path in sorted(folder.rglob("*.txt")):
        parts = path.relative_to(folder).parts
        domain = parts[0] if len(parts) > 1 else folder.resolve().name
        yield Text(document_id(path), Source.of(path).text, domain)


def _from_lines(source: str | Path) -> Iterator[Text]:
    file = Source.of(source)
    for number, line in enumerate(file.text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise file.error(
                f"not JSON: {error}; expected a line like "
                '{"id": "a", "text": "...", "domain": "physics"}',
                number,
            ) from None
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            raise file.error('no "text" in it: expected an object with id, text, domain', number)
        yield Text(
            str(row.get("id", f"{file.stem}-{number}")), row["text"], str(row.get("domain", ""))
        )
