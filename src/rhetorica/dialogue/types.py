"""What a dialogue is: turns in their order, each with a speaker and a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rhetorica.errors import InvalidDocument


class Entity(NamedTuple):
    """A part of a turn's text that names something: ``text[start:end]`` is of this type."""

    start: int
    end: int
    type: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance.

    ``acts`` is what an annotator says that it does, for evaluation only: no model looks at it.

    >>> Turn("Agent", "Where to?").speaker
    'Agent'
    """

    speaker: str
    text: str
    acts: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()

    def __post_init__(self) -> None:
        if not self.speaker.strip():
            raise InvalidDocument(f"a turn has no speaker: {self.text[:40]!r}")
        reached = 0
        for entity in self.entities:
            if not reached <= entity.start < entity.end <= len(self.text):
                raise InvalidDocument(
                    f"entity {entity.type} at {entity.start}:{entity.end} does not fit the "
                    f"{len(self.text)} characters of {self.text[:40]!r}, or overlaps another"
                )
            reached = entity.end

    @property
    def act(self) -> str:
        """The turn's acts as one label: which there are, in alphabetical order."""
        return "+".join(sorted(set(self.acts)))


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation: its name and its turns.

    >>> chat = Dialogue("c1", (Turn("Agent", "Hello."), Turn("Client", "Hi!")))
    >>> len(chat.turns), chat.speakers
    (2, ('Agent', 'Client'))
    """

    id: str
    turns: tuple[Turn, ...]

    def __post_init__(self) -> None:
        if not self.turns:
            raise InvalidDocument(f"dialogue {self.id!r} has no turns")

    @property
    def speakers(self) -> tuple[str, ...]:
        """Who speaks, in the order of their first turns."""
        return tuple(dict.fromkeys(turn.speaker for turn in self.turns))
