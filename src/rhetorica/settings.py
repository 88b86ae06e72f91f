"""What a model is made with: the fields of a frozen dataclass, each with a word of help.

From the fields come the options of ``rhetorica train``, the settings in a model's config and those
on its card. A field without help is not asked for: it is found in training.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from itertools import product
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

from rhetorica.errors import RhetoricaError, UnknownName

T = TypeVar("T")
S = TypeVar("S")
RELATIONS = "relations"


@dataclass(frozen=True, slots=True)
class About:
    """What there is to say about a field.

    ``option`` is its name on the command line. Of a field with a ``grid`` several values can be
    tried; a ``positive`` one is above 0. ``known`` are the names that a tuple may hold, ``named``
    names for such tuples.
    """

    help: str = ""
    option: str = ""
    grid: tuple[float, ...] | None = None
    positive: bool = False
    known: tuple[str, ...] = ()
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def setting(default: T, help: str = "", **about: Any) -> T:
    """Declare a field of settings; ``about`` are fields of `About`.

    >>> @dataclass(frozen=True)
    ... class Settings:
    ...     decoder: Literal["eisner", "mst"] = setting("eisner", "How trees are found.")
    >>> made(Settings, None, {"decoder": "mst"})
    Settings(decoder='mst')
    >>> made(Settings, None, {"decoder": "eisener"})
    Traceback (most recent call last):
    ...
    rhetorica.errors.UnknownName: unknown decoder 'eisener'. Did you mean 'eisner'? Known: ...
    """
    made_field: T = field(default=default, metadata={"about": About(help, **about)})
    return made_field


def about(settings: Any) -> dict[str, About]:
    """Return what there is to say about the fields of settings, or of their class."""
    return {f.name: f.metadata.get("about", About()) for f in fields(settings)}


def types(kind: Any) -> dict[str, Any]:
    """Return the types of the fields of a class of settings."""
    return _types(kind)


_types = cache(get_type_hints)


def made(kind: type[S], settings: S | None, changes: Mapping[str, Any]) -> S:
    """Return settings with some changes; lists, as JSON has them, become tuples."""
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in changes.items()}
    found = replace(settings, **values) if settings else kind(**values)  # type: ignore[type-var]
    hints = types(type(found))
    for name, facts in about(found).items():
        value, hint = getattr(found, name), hints[name]
        if get_origin(hint) is Literal and value not in get_args(hint):
            raise UnknownName(name.replace("_", " "), str(value), get_args(hint))
        if facts.positive and not value > 0:
            raise RhetoricaError(f"{facts.option or name} is {value:g}: it must be above 0")
        for part in value if facts.known else ():
            if part not in facts.known:
                raise UnknownName(f"name in {name}", part, facts.known)
    return found


class Member(NamedTuple):
    """Who takes part in an ensemble: a parser or segmenter, its model, options of its recipe."""

    name: str
    model: str = ""
    options: tuple[tuple[str, Any], ...] = ()


def members_of(text: str) -> list[Member]:
    """Read the members of an ensemble, with commas between them.

    Each is a name that may have a model, and options as addresses have them. Without a model it is
    that of the treebank which the ensemble follows.

    >>> members_of("neural, shift-reduce:my_model?beam=8&samples=0")[1]
    Member(name='shift-reduce', model='my_model', options=(('beam', 8), ('samples', 0)))
    """
    found = []
    for part in filter(None, map(str.strip, text.split(","))):
        said, _, query = part.partition("?")
        name, _, model = said.partition(":")
        options = [
            (option, int(value) if value.lstrip("-").isdecimal() else value)
            for option, value in parse_qsl(query, keep_blank_values=True)
        ]
        found.append(Member(name, model, tuple(sorted(options))))
    return found


def plain(settings: Any) -> dict[str, Any]:
    """Return settings as a model's config has them; the set of relations stands there by itself."""
    return {
        one.name: getattr(settings, one.name) for one in fields(settings) if one.name != RELATIONS
    }


def combinations(settings: S, several: Mapping[str, Sequence[Any]]) -> Iterator[S]:
    """Yield settings with every combination of the values that fields are to be tried with."""
    if not all(several.values()):
        empty = ", ".join(name for name, values in several.items() if not values)
        raise RhetoricaError(f"no settings to try: give at least one value of {empty}")
    for values in product(*several.values()):
        yield replace(settings, **dict(zip(several, values, strict=True)))  # type: ignore[type-var]
