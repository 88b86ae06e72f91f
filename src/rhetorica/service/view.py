"""A parse as the page needs it: EDUs with their text, units with their probabilities, levels.

Everything is by EDU numbers, and texts come ready cut, because a browser counts characters in other
units than we do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from rhetorica import salience
from rhetorica.document import Document
from rhetorica.edit import Unit, secondary_edges, signals, units
from rhetorica.errors import InvalidTree
from rhetorica.languages import DEFAULT, LANGUAGES, recognise
from rhetorica.parses import Parse, Scores
from rhetorica.trees import ROOT, AnnotatedTree, RSTTree

_MANY = 5
_ROLES = {"N": "nucleus", "S": "satellite"}


def page_view(parse: Parse) -> dict[str, Any]:
    """Return plain data for the page; without a tree, or without constituents, it says so."""
    data: dict[str, Any] = {
        "id": parse.id,
        "edus": _edus(parse.document, parse.scores or Scores()),
        "tail": parse.document.text[parse.document.edus[-1].end :] if parse.document.edus else "",
        "units": [],
        "levels": [],
        "order": [],
        "secondary": [],
        "signals": [],
        "dependencies": None,
        "warnings": _warnings(parse),
        "alternatives": len(parse.kbest),
        "provenance": dict(parse.provenance),
    }
    if parse.source is None:
        return data
    data["dependencies"] = _dependencies(parse)
    try:
        found = units(parse)
    except InvalidTree as error:
        data["warnings"].append(f"no RST tree: {error}")
        return data
    data["units"] = _units(parse, found)
    data["levels"] = levels(found)
    central = salience.levels(parse)
    data["order"] = sorted(range(len(central)), key=central.__getitem__)
    if isinstance(parse.source, AnnotatedTree):
        data["secondary"] = [edge._asdict() for edge in secondary_edges(parse)]
        data["signals"] = [signal._asdict() for signal in signals(parse)]
    return data


def levels(found: Sequence[Unit]) -> list[int]:
    """Return how far each EDU is from the centre: the satellites on the way to it from the top.

    EDUs of level 0 are the nuclei of nuclei all the way down, what the text is about; reading the
    first levels only gives a summary (after Marcu's promotion sets).
    """
    level = [0] * len(found)
    leaves: list[int] = []
    for number, unit in enumerate(found):
        if unit.parent != ROOT:
            level[number] = level[unit.parent] + (unit.role == "satellite")
        if unit.kind == "edu":
            leaves.append(level[number])
    return leaves


def _edus(doc: Document, scores: Scores) -> list[dict[str, Any]]:
    at = 0
    rows: list[dict[str, Any]] = []
    for number, (start, end) in enumerate(doc.edus):
        row = {"start": start, "gap": doc.text[at:start], "text": doc.text[start:end]}
        if scores.boundaries:
            row["p"] = round(scores.boundaries[number], 4)
        rows.append(row)
        at = end
    return rows


def _dependencies(parse: Parse) -> dict[str, Any]:
    tree, scores = parse.dependencies, parse.scores or Scores()
    others = [replace(parse, source=entry.tree).dependencies for entry in parse.kbest]
    return {
        "heads": tree.heads,
        "relations": tree.relations,
        "multinuclear": tree.multinuclear,
        "p_heads": _rounded(scores.heads),
        "p_relations": _rounded(scores.arc_relations),
        "alternatives": [
            _ranked(
                (tree.heads[i], tree.relations[i]),
                ((other.heads[i], other.relations[i]) for other in others),
            )
            for i in range(tree.n_edus)
        ]
        if others
        else [],
    }


def _units(parse: Parse, found: Sequence[Unit]) -> list[dict[str, Any]]:
    known = _probabilities(parse)
    likely = _likely(parse)
    now = _places(parse.tree)
    others = [_places(tree) for tree in _constituency(parse)]
    rows: list[dict[str, Any]] = []
    for unit in found:
        row: dict[str, Any] = unit._asdict()
        where = unit[:2]
        if where in known:
            row["p"] = known[where]
        if where in likely:
            row["likely"] = likely[where]
        if others and unit.parent != ROOT:
            choices = _ranked(now.get(where), (places.get(where) for places in others))
            if choices:
                row["alternatives"] = choices
        rows.append(row)
    return rows


def _probabilities(parse: Parse) -> dict[tuple[int, int], dict[str, float]]:
    """Return, for each range, how sure its being a unit, its nuclearity and its relation are.

    The last two are those of the join that it is a part of.
    """
    scores = parse.scores
    if scores is None or not scores.spans:
        return {}
    known: dict[tuple[int, int], dict[str, float]] = {}
    for number, join in enumerate(parse.tree.joins):
        known.setdefault((join.start, join.end), {})["span"] = round(scores.spans[number], 4)
        for part in parse.tree.children(join):
            entry = known.setdefault(part, {})
            if scores.nuclearities:
                entry["nuclearity"] = round(scores.nuclearities[number], 4)
            if scores.relations:
                entry["relation"] = round(scores.relations[number], 4)
    return known


def _likely(parse: Parse) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """Return, for each part of a join, what it would be with each of the join's likely labels."""
    if parse.scores is None or not parse.scores.labels:
        return {}
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for join, row in zip(parse.tree.joins, parse.scores.labels, strict=True):
        for side, part in enumerate(parse.tree.children(join)):
            found[part] = [
                {
                    "part": "both" if kind == "NN" else _ROLES[kind[side]],
                    "relation": relation,
                    "p": round(probability, 4),
                }
                for kind, relation, probability in row
            ]
    return found


def _places(tree: RSTTree) -> dict[tuple[int, int], tuple[str, str, int, int]]:
    """Return, for each range of a tree but the whole, its role, relation and partner."""
    places: dict[tuple[int, int], tuple[str, str, int, int]] = {}
    for join in tree.joins:
        left, right = tree.children(join)
        for part, other, letter in (
            (left, right, join.nuclearity[0]),
            (right, left, join.nuclearity[1]),
        ):
            role = "satellite" if letter == "S" else "nucleus"
            if join.nuclearity == "NN":
                role = "both"
            places[part] = (role, join.relation, *other)
    return places


def _constituency(parse: Parse) -> Iterable[RSTTree]:
    for entry in parse.kbest:
        try:
            yield replace(parse, source=entry.tree).tree
        except InvalidTree:  # crossing arcs: seen in the other view only
            yield RSTTree(0)


def _ranked(now: object, choices: Iterable[Any]) -> list[dict[str, Any]]:
    """Group what the k-best trees say other than the tree does, with their ranks (from 0)."""
    ranks: dict[Any, list[int]] = {}
    for rank, choice in enumerate(choices):
        if choice is not None and choice != now:
            ranks.setdefault(choice, []).append(rank)
    return [{"choice": list(choice), "ranks": found} for choice, found in ranks.items()][:_MANY]


def _rounded(column: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in column]


def _warnings(parse: Parse) -> list[str]:
    if "parser" not in parse.provenance:
        return []
    known, found = parse.document.language or DEFAULT, recognise(parse.document.text)
    if found in (known, DEFAULT):  # short texts count as the default language
        return []
    name = LANGUAGES[known].name if known in LANGUAGES else known
    return [
        f"This does not look like {name}, the only language that this model knows: expect little "
        "of the tree."
    ]


__all__ = ["levels", "page_view"]
