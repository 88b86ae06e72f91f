"""Bring two analyses of one text together: documents by id, EDUs by characters.

Gold text may be tokenised where predicted text is raw, and EDUs may differ; what both share is the
sequence of characters that are not white space. EDUs are therefore compared by their ranges in that
sequence, never by their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from rhetorica.document import Document
from rhetorica.errors import InvalidDocument, Mismatch
from rhetorica.parses import Parse

CONTEXT = 20
NAMED = 5
"""How many characters around a difference, and how many missing documents, a message shows."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where the EDUs of two analyses begin and end, in characters that are not white space.

    EDU i is the range ``gold[i]:gold[i + 1]`` (``pred`` likewise): EDUs cover the text, so each
    one ends where the next begins, and the last bound is the length of the text.
    """

    gold: tuple[int, ...]
    pred: tuple[int, ...]

    @property
    def same_edus(self) -> bool:
        """Whether both analyses have the same EDUs."""
        return self.gold == self.pred


def align(gold: Document, pred: Document) -> Alignment:
    """Return the EDU bounds of two analyses of one text.

    >>> gold = Document.from_edus(["Wet ,", "because it rained ."])
    >>> align(gold, Document.from_edus(["Wet,", "because", "it rained."]))
    Alignment(gold=(0, 4, 20), pred=(0, 4, 11, 20))
    """
    gold_text, pred_text = squeeze(gold.text), squeeze(pred.text)
    if gold_text != pred_text:
        raise _difference(gold, pred, _first_difference(gold_text, pred_text))
    return Alignment(edu_bounds(gold), edu_bounds(pred))


def squeeze(text: str) -> str:
    """Return a text without its white space."""
    return "".join(text.split())


def edu_bounds(doc: Document) -> tuple[int, ...]:
    """Return the n + 1 bounds of the n EDUs, counted in characters that are not white space."""
    bounds = [0]
    for index, (start, end) in enumerate(doc.edus):
        size = len(squeeze(doc.text[start:end]))
        if not size:
            raise InvalidDocument(
                f"EDU {index + 1} of {_name(doc)} holds nothing but white space: it cannot be "
                "compared with other EDUs; leave it out"
            )
        bounds.append(bounds[-1] + size)
    return tuple(bounds)


def sentence_starts(doc: Document) -> set[int]:
    """Return where sentences begin, counted in characters that are not white space."""
    starts: set[int] = set()
    before = at = 0
    for start, _ in doc.sentences:
        at += len(squeeze(doc.text[before:start]))
        before = start
        starts.add(at)
    return starts


def pair(golds: Iterable[Parse], preds: Iterable[Parse]) -> list[tuple[Parse, Parse]]:
    """Pair analyses by document id or, where ids are missing or not unique, by order.

    One gold document and one prediction are a pair, whatever their names.

    >>> a, b = (Parse(Document("", id=id)) for id in "ab")
    >>> [(gold.id, pred.id) for gold, pred in pair([a, b], [b, a])]
    [('a', 'a'), ('b', 'b')]
    """
    golds, preds = list(golds), list(preds)
    if len(golds) + len(preds) != 2 and _have_ids(golds) and _have_ids(preds):
        by_id = {pred.id: pred for pred in preds}
        known = {gold.id for gold in golds}
        _check_none_missing("prediction", [id for id in known if id not in by_id], len(known))
        _check_none_missing("gold analysis", [id for id in by_id if id not in known], len(by_id))
        return [(gold, by_id[gold.id]) for gold in golds]
    if len(golds) != len(preds):
        raise Mismatch(
            f"{len(golds)} gold documents but {len(preds)} predicted ones: give every document an "
            "id of its own, or as many of one as of the other, in the same order"
        )
    return list(zip(golds, preds, strict=True))


def _have_ids(parses: Sequence[Parse]) -> bool:
    ids = {parse.id for parse in parses}
    return "" not in ids and len(ids) == len(parses)


def _check_none_missing(what: str, missing: list[str], total: int) -> None:
    if missing:
        names = ", ".join(sorted(missing)[:NAMED]) + (", ..." if len(missing) > NAMED else "")
        raise Mismatch(
            f"no {what} for {len(missing)} of {total} documents: {names} (documents are paired by "
            "id, which for files is the name without its extension)"
        )


def _first_difference(first: str, second: str) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    shorter = min(len(first), len(second))
    return next((at for at, (a, b) in pairs if a != b), shorter)


def _difference(gold: Document, pred: Document, at: int) -> Mismatch:
    return Mismatch(
        f"gold {_name(gold)} and predicted {_name(pred)} are not the same text: white space aside, "
        f"they differ from character {at + 1} on, which is {_around(gold.text, at)} in gold and "
        f"{_around(pred.text, at)} in the prediction"
    )


def _around(text: str, at: int) -> str:
    """Show the ``at``-th character that is not white space, with its surroundings."""
    visible = (index for index, char in enumerate(text) if not char.isspace())
    index = next(islice(visible, at, None), len(text))
    found = repr(text[index]) if index < len(text) else "the end"
    return f"{found} (near {text[max(0, index - CONTEXT) : index + CONTEXT]!r})"


def _name(doc: Document) -> str:
    return repr(doc.id) if doc.id else "document without id"
