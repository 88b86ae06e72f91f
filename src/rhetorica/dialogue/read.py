"""File -> dialogues: JSON lines, transcripts, CSV.

- ``.jsonl`` (``.json``: a list): ``{"dialogue_id": ..., "turns": [{"speaker": ..., "utterance":
  ..., "acts": [...]}]}``, the layout of the Schema-Guided Dialogue corpus. ``id`` and ``text``
  will do for ``dialogue_id`` and ``utterance``. ``acts`` is a list of names, or of objects with
  ``act``, ``slot`` and ``values``; a value that stands in the text is an entity of the slot's type.
  ``entities`` may give ``[start, end, type]`` directly.
- ``.csv``, ``.tsv``: a header with the columns dialogue, speaker, text, and perhaps act.
- anything else: as its beginning looks, one of these or a transcript, ``Agent: Welcome!``, one turn
  a line; an empty line begins another dialogue; an indented line goes on with the turn before it.

Turns without text are left out and counted, as are dialogues in which nothing is left. Whatever
else is not as it should be is an error that names file and line.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from rhetorica.dialogue.types import Dialogue, Entity, Turn
from rhetorica.errors import FormatError, InvalidDocument, UnknownName
from rhetorica.files import Readable, Source

Format = Literal["jsonl", "transcript", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True, slots=True)
class Reading:
    """Dialogues of a file, and how much of it was left out because it held no text."""

    dialogues: tuple[Dialogue, ...]
    empty_turns: int = 0
    empty_dialogues: int = 0


def read_dialogues(source: Readable, *, format: Format | None = None) -> Reading:
    r"""Read a file of dialogues; the format follows from the file's name unless it is given.

    >>> import io
    >>> chats = "Agent: Hello.\nClient: Hi.\n\nAgent: Welcome!\nClient: Thanks.\n"
    >>> [len(d.turns) for d in read_dialogues(io.StringIO(chats)).dialogues]
    [2, 2]
    """
    file = Source.of(source)
    file.require_content()
    name = format or _format_of(file)
    if name not in FORMATS:
        raise UnknownName("dialogue format", name, FORMATS)
    rows = {"jsonl": _json_rows, "csv": _csv_rows, "transcript": _transcript_rows}[name](file)
    return _gather(file, rows)


@dataclass(frozen=True, slots=True)
class _Row:
    """A turn as found: its line, its dialogue, and what it says."""

    line: int
    dialogue: str
    speaker: str
    text: str
    acts: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()


def _gather(file: Source, rows: Iterable[_Row]) -> Reading:
    turns: dict[str, list[Turn]] = {}
    empty = 0
    for row in rows:
        there = turns.setdefault(row.dialogue, [])
        if not row.text.strip():
            empty += 1
            continue
        if not row.speaker.strip():
            raise file.error(
                f"no speaker for the turn {row.text.strip()[:40]!r}: every turn needs one", row.line
            )
        try:
            there.append(Turn(row.speaker.strip(), row.text, row.acts, row.entities))
        except InvalidDocument as error:
            raise file.error(str(error), row.line) from None
    full = {name: found for name, found in turns.items() if found}
    if not full:
        raise file.error("no turn has any text")
    return Reading(
        tuple(Dialogue(name, tuple(found)) for name, found in full.items()),
        empty,
        len(turns) - len(full),
    )


def _format_of(file: Source) -> Format:
    suffixes = Path(file.name).suffixes
    last = next((s.lower() for s in reversed(suffixes) if s.lower() != ".gz"), "")
    if last in (".jsonl", ".json", ".ndjson"):
        return "jsonl"
    if last in (".csv", ".tsv"):
        return "csv"
    # Standard input and streams have no name that tells.
    if _JSON.match(file.text):
        return "jsonl"
    header = [name.strip().strip('"').lower() for name in re.split("[,\t]", _first_line(file))]
    named = all(any(name in header for name in names) for names in _COLUMNS.values())
    return "csv" if named else "transcript"


def _first_line(file: Source) -> str:
    return file.text.split("\n", 1)[0]


def _json_rows(file: Source) -> Iterator[_Row]:
    seen: set[str] = set()
    for line, data in _json_values(file):
        if not isinstance(data, dict) or not isinstance(data.get("turns"), list):
            raise file.error(
                'expected a dialogue: {"dialogue_id": ..., "turns": [{"speaker": ..., '
                f'"utterance": ...}}]}}, found {str(data)[:60]!r}',
                line,
            )
        name = str(data.get("dialogue_id", data.get("id", f"{file.stem or 'dialogue'}-{line}")))
        if name in seen:
            raise file.error(f"a second dialogue with the id {name!r}: ids must differ", line)
        seen.add(name)
        if not data["turns"]:
            yield _Row(line, name, "", "")
        for turn in data["turns"]:
            yield _json_turn(file, line, name, turn)


def _json_values(file: Source) -> Iterator[tuple[int, Any]]:
    if file.text.lstrip().startswith("["):
        try:
            values = json.loads(file.text)
        except (ValueError, RecursionError) as error:
            raise _no_json(file, error, getattr(error, "lineno", 1)) from None
        yield from enumerate(values, 1)
        return
    for number, text in enumerate(file.text.split("\n"), 1):
        if text.strip():
            try:
                yield number, json.loads(text)
            except (ValueError, RecursionError) as error:
                raise _no_json(file, error, number) from None


def _no_json(file: Source, error: Exception, line: int) -> FormatError:
    return file.error(f"not JSON ({error}): expected one dialogue a line", line)


def _json_turn(file: Source, line: int, name: str, turn: object) -> _Row:
    if not isinstance(turn, dict):
        raise file.error(f"dialogue {name!r}: a turn is {str(turn)[:40]!r}, not an object", line)
    text = turn.get("utterance", turn.get("text"))
    if not isinstance(text, str):
        raise file.error(f'dialogue {name!r}: a turn has no "utterance" (or "text")', line)
    acts, entities = [], []
    for act in turn.get("acts") or ():
        if isinstance(act, dict):
            acts.append(str(act.get("act", "")))
            if slot := act.get("slot"):
                entities += [(str(value), str(slot)) for value in act.get("values") or ()]
        else:
            acts.append(str(act))
    given = turn.get("entities")
    try:
        spans = (
            tuple(sorted(Entity(int(a), int(b), str(c)) for a, b, c in given))
            if given
            else _find_values(text, entities)
        )
    except (TypeError, ValueError):
        raise file.error(
            f"dialogue {name!r}: entities are {given!r}, expected [[start, end, type], ...]", line
        ) from None
    speaker = str(turn.get("speaker") or "")
    return _Row(line, name, speaker, text, tuple(filter(None, acts)), spans)


def _find_values(text: str, values: list[tuple[str, str]]) -> tuple[Entity, ...]:
    """Find annotated values in the text, longest first; none inside a longer one."""
    found: list[Entity] = []
    for value, slot in sorted(set(values), key=lambda pair: (-len(pair[0]), pair)):
        if not value.strip():
            continue
        pattern = rf"(?<!\w){re.escape(value)}(?!\w)"
        for match in re.finditer(pattern, text, re.IGNORECASE):
            start, end = match.span()
            if all(end <= other.start or other.end <= start for other in found):
                found.append(Entity(start, end, slot))
    return tuple(sorted(found))


_COLUMNS = {
    "dialogue": ("dialogue", "dialogue_id", "conversation", "conversation_id", "session", "id"),
    "speaker": ("speaker", "author", "role"),
    "text": ("text", "utterance", "message"),
}


def _csv_rows(file: Source) -> Iterator[_Row]:
    delimiter = "\t" if "\t" in _first_line(file) else ","
    reader = csv.reader(io.StringIO(file.text, newline=""), delimiter=delimiter)
    header = [name.strip().lower() for name in next(reader)]
    places = {}
    for column, names in _COLUMNS.items():
        places[column] = next((header.index(name) for name in names if name in header), -1)
        if places[column] < 0:
            raise file.error(
                f"no column {column!r} (or {', '.join(names[1:])}) in the header "
                f"{', '.join(header)[:80]!r}",
                1,
            )
    act = header.index("act") if "act" in header else -1
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            raise file.error(
                f"{len(cells)} cells where the header has {len(header)}: a text that holds "
                f"{'a tab' if delimiter != ',' else 'a comma'} needs quotes",
                reader.line_num,
            )
        acts = tuple(filter(None, cells[act].split("+"))) if act >= 0 else ()
        name = cells[places["dialogue"]].strip()
        if not name:
            raise file.error("a turn without a dialogue", reader.line_num)
        speaker, text = cells[places["speaker"]], cells[places["text"]]
        yield _Row(reader.line_num, name, speaker, text, acts)


_JSON = re.compile(r"\s*(?:\{|\[\s*[\[{\"\]])")
"""How JSON begins; a time in brackets does not."""
_TIME = r"(?:[\[(]?\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]\.?m\.?)?[\])]?[\s–-]+)?"
"""The time of a turn, which many transcripts begin lines with; it is passed over."""
_TURN = re.compile(_TIME + r"([^\s:][^:\n]{0,40}?)\s*:(?:\s+(.*)|\s*$)", re.IGNORECASE)


def _transcript_rows(file: Source) -> Iterator[_Row]:
    stem = file.stem or "dialogue"
    number, within = 0, False
    pending: _Row | None = None
    for line, text in enumerate(file.text.split("\n"), 1):
        if not text.strip():
            within = False
            continue
        if not within:
            number, within = number + 1, True
            if text[0].isspace():
                raise file.error(
                    "the first line of a dialogue is indented: indented lines go on with the turn "
                    "before them",
                    line,
                )
        if text[0].isspace() and pending:
            joined = f"{pending.text} {text.strip()}"
            pending = _Row(pending.line, pending.dialogue, pending.speaker, joined)
            continue
        match = _TURN.match(text)
        if not match:
            raise file.error(
                f"no speaker in {text.strip()[:40]!r}: expected a line like 'Agent: Hello.'", line
            )
        if pending:
            yield pending
        pending = _Row(line, f"{stem}-{number}", match[1], (match[2] or "").strip())
    if pending:
        yield pending
