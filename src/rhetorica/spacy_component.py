"""Discourse in a spaCy pipeline: ``nlp.add_pipe("rhetorica")``.

spaCy finds the component by the entry point ``spacy_factories``, so nothing needs to be imported.
It reads the text of a `Doc` (whatever its tokens are) and leaves three things there:

- ``doc._.discourse``, the `rhetorica.Parse`;
- ``doc._.edus``, the EDUs as a list of spaCy spans, in text order, labelled with their relation;
- ``doc.spans["edus"]``, the same spans as a span group.

The parse itself is kept as JSON in ``doc.user_data["rhetorica"]``, so that it goes wherever the
`Doc` goes (``to_bytes``, ``DocBin``, another process), and is read again when asked for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from rhetorica.document import Span as Characters
from rhetorica.errors import Mismatch, RhetoricaError, UnknownName
from rhetorica.files import Source
from rhetorica.formats.native import read_json, write_json
from rhetorica.parses import Parse
from rhetorica.pipeline import AUTO, DEFAULT_MODEL, DEFAULT_PARSER, TREEBANKS, load

Alignment = Literal["start", "expand", "contract", "strict"]
KEY = "rhetorica"
GROUP = "edus"


@Language.factory("rhetorica", assigns=["doc._.discourse", "doc._.edus", "doc.spans"])
class RhetoricaComponent:
    """The pipeline component; spaCy makes it, as its config says.

    The settings are those of `rhetorica.load`; the language is that of the pipeline (``en``,
    ``zh``), or each text's own in a pipeline of another one (``xx``). EDUs are ranges of
    characters, spaCy's spans are ranges of tokens; ``alignment`` says what becomes of a token that
    a boundary cuts through:

    - "start": it belongs to the EDU in which it begins, so that every token is in exactly one;
    - "expand": it belongs to both; "contract": to neither (as in `Doc.char_span`);
    - "strict": it is an error.

    There is one span for each EDU; an EDU without a token of its own gets an empty one.
    """

    def __init__(
        self,
        nlp: Language,
        name: str = "rhetorica",
        *,
        parser: str = DEFAULT_PARSER,
        model: str = DEFAULT_MODEL,
        segmenter: str | None = None,
        language: str = AUTO,
        alignment: Alignment = "start",
    ) -> None:
        if alignment not in get_args(Alignment):
            raise UnknownName("alignment", alignment, get_args(Alignment))
        self.name = name
        self.alignment = alignment
        if language == AUTO and nlp.lang in TREEBANKS:
            language = nlp.lang
        self._parse = load(language, parser=parser, model=model, segmenter=segmenter)

    def __call__(self, doc: Doc) -> Doc:
        """Add the discourse of a document."""
        parse = self._parse(doc.text)
        doc.user_data[KEY] = write_json(parse)
        ranges = token_ranges(doc, parse.document.edus, self.alignment)
        relations = parse.dependencies.relations if parse.edus else ()
        doc.spans[GROUP] = SpanGroup(
            doc,
            name=GROUP,
            spans=[
                Span(doc, start, end, label=relation)
                for (start, end), relation in zip(ranges, relations, strict=True)
            ],
        )
        return doc

    def to_bytes(self, **_: Any) -> bytes:
        """Save nothing: the model ships with the package, the settings are in the config."""
        return b""

    def from_bytes(self, _data: bytes, **_: Any) -> RhetoricaComponent:
        """Load nothing."""
        return self

    def to_disk(self, path: str | Path, **_: Any) -> None:
        """Save nothing."""

    def from_disk(self, path: str | Path, **_: Any) -> RhetoricaComponent:
        """Load nothing."""
        return self


make_component = RhetoricaComponent
"""What the entry point names."""


def token_ranges(
    doc: Doc, edus: Sequence[Characters], alignment: Alignment = "start"
) -> Iterator[tuple[int, int]]:
    """Yield, for each range of characters, its range of tokens."""
    starts = [token.idx for token in doc]
    ends = [token.idx + len(token) for token in doc]
    for start, end in edus:
        # Tokens that begin inside, and all that reach inside.
        inner = bisect_left(starts, start), bisect_left(starts, end)
        outer = bisect_right(ends, start), bisect_left(starts, end)
        whole = inner[0], bisect_right(ends, end)
        if alignment == "strict" and not inner == outer == whole:
            raise Mismatch(
                f"the EDU at characters {start}-{end} begins or ends inside a token of the spaCy "
                "pipeline: choose another alignment (start, expand, contract)"
            )
        first, last = {"expand": outer, "contract": whole}.get(alignment, inner)
        yield first, max(first, last)


@lru_cache(maxsize=16)
def _read(json: str) -> Parse:
    return read_json(Source(f"<user_data[{KEY!r}]>", json))


def get_discourse(doc: Doc) -> Parse:
    """Return the parse of a document that went through the component."""
    try:
        return _read(doc.user_data[KEY])
    except KeyError:
        raise RhetoricaError(
            'this Doc has no discourse: add the component with nlp.add_pipe("rhetorica")'
        ) from None


def get_edus(doc: Doc) -> list[Span]:
    """Return the EDUs of a document as spans of its tokens."""
    return list(doc.spans[GROUP]) if GROUP in doc.spans else []


Doc.set_extension("discourse", getter=get_discourse, force=True)
Doc.set_extension("edus", getter=get_edus, force=True)
