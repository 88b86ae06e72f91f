"""The shape of requests and of what is not a parse; a parse has a schema of its own."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import core_schema

from rhetorica.edit import PARTS
from rhetorica.formats import FORMATS
from rhetorica.languages import LANGUAGES
from rhetorica.models.store import models
from rhetorica.pipeline import (
    AUTO,
    DEFAULT_MODEL,
    DEFAULT_PARSER,
    DEFAULT_SEGMENTER,
    PARSERS,
    SEGMENTERS,
    TREEBANKS,
)
from rhetorica.relations import relation_set_names
from rhetorica.trees import NUCLEARITIES


def languages() -> dict[str, str]:
    """Return the languages for which there are parsers, code and name."""
    return {code: LANGUAGES[code].name for code in TREEBANKS if models("parser", language=code)}


def models_of(name: str) -> list[str]:
    """Return the treebanks that a parser or segmenter has a model for."""
    offer = {**SEGMENTERS, **PARSERS}[name]
    return sorted({bank for model in models(name=offer.family) for bank in model.treebanks})


READABLE = ("text", *(name for name, format in FORMATS.items() if format.read))
MODELS = tuple(sorted({model for name in (*PARSERS, *SEGMENTERS) for model in models_of(name)}))
MAX_NUMBER = 10**9


class _OneOf:
    """Marks a string that must be one of some names; paths never are."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)

    def __get_pydantic_core_schema__(self, *_: Any) -> core_schema.CoreSchema:
        return core_schema.literal_schema(self.names)


FormatName = Annotated[str, _OneOf(*READABLE)]
Target = Annotated[str, _OneOf(*FORMATS)]
LanguageName = Annotated[
    str,
    _OneOf(AUTO, *TREEBANKS),
    Field(description="The language of the text; auto: what it declares or looks like."),
]
ParserName = Annotated[
    str, _OneOf(AUTO, *PARSERS), Field(description="auto is the best that is installed.")
]
SegmenterName = Annotated[str, _OneOf(*SEGMENTERS)]
ModelName = Annotated[str, _OneOf(*MODELS)]
LabelSet = Annotated[str, _OneOf(*relation_set_names())]
PartName = Annotated[str, _OneOf(*PARTS)]
NuclearityName = Annotated[str, _OneOf(*NUCLEARITIES)]
Whole = BeforeValidator(
    lambda value: int(value) if isinstance(value, float) and value.is_integer() else value
)
"""To JSON, 3.0 is an integer as good as 3; neither "3" nor true is one."""
Index = Annotated[int, Field(ge=0, le=MAX_NUMBER, strict=True), Whole]
UnitRange = Annotated[
    tuple[Index, Index],
    Field(description="A unit, by its range of EDUs: 0-based, the end left out."),
]
RelationName = Annotated[str, Field(min_length=1, max_length=200)]


class Model(BaseModel):
    """What all requests are: unknown fields are refused, so that a typing mistake is noticed."""

    model_config = ConfigDict(extra="forbid")


class Content(Model):
    """A text, or a document in one of the formats."""

    content: str | dict[str, Any] = Field(
        description="Raw text, or what a file of the format holds; for json, the object itself "
        "will do as well."
    )
    format: FormatName = Field("text", description="What the content is.")
    name: str = Field("", max_length=200, description="The document's name, for messages too.")


class ParseOptions(Model):
    """How to parse."""

    language: LanguageName = AUTO
    parser: ParserName = DEFAULT_PARSER
    model: ModelName = DEFAULT_MODEL
    segmenter: SegmenterName | None = Field(
        None, description="Else the parser's own. EDUs that a document has are kept."
    )
    kbest: Annotated[int, Field(ge=1, le=20, strict=True), Whole] = Field(
        1, description="Also give the K best trees."
    )


class ParseRequest(ParseOptions, Content):
    """Parse a text; a document in another format keeps its EDUs."""

    to: Target = Field("json", description="The format of the answer.")


class BatchRequest(ParseOptions):
    """Parse several texts."""

    documents: list[Content] = Field(min_length=1)


class SegmentRequest(Content):
    """Cut a text into EDUs."""

    language: LanguageName = AUTO
    segmenter: SegmenterName = DEFAULT_SEGMENTER
    model: ModelName = DEFAULT_MODEL
    to: Annotated[str, _OneOf("json", "jsonl", "edus", "tok")] = "json"


class ConvertRequest(Content):
    """Write a document in another format."""

    to: Target
    multinuclear: Literal["star", "chain"] = "star"
    tokenized: bool = False
    binary: bool = False


class ScoreRequest(Model):
    """Score analyses of one or several documents against the right ones."""

    gold: Content
    predicted: Content
    labels: LabelSet | None = Field(
        None, description="Compare the coarse classes of this relation set."
    )
    multinuclear: Literal["star", "chain"] = "star"


class CompareRequest(Model):
    """Compare two analyses of one text: two annotators, or a gold tree and a parse."""

    this: Content
    other: Content
    labels: LabelSet | None = Field(
        None, description="Compare the coarse classes of this relation set."
    )


class RenderRequest(Content):
    """Draw a tree."""

    to: Literal["svg", "html", "png", "pdf", "latex"] = "svg"
    view: Literal["rst", "dep", "overview"] = "rst"
    theme: Literal["auto", "light", "dark"] = "light"
    orient: Literal["auto", "down", "right"] = "auto"


class Relabel(Model):
    """Change a relation."""

    op: Literal["relabel"]
    unit: UnitRange
    relation: RelationName


class SetNuclearity(Model):
    """Make a unit satellite or nucleus of its pair, or both nuclei."""

    op: Literal["nuclearity"]
    unit: UnitRange
    part: PartName
    relation: RelationName | None = None


class Reattach(Model):
    """Attach a unit to another."""

    op: Literal["reattach"]
    unit: UnitRange
    target: UnitRange
    relation: RelationName
    role: Literal["satellite", "nucleus"] = "satellite"


class Split(Model):
    """Cut an EDU at a character of the text."""

    op: Literal["split"]
    edu: Index
    at: Index
    relation: RelationName
    nuclearity: NuclearityName = "NS"


class Merge(Model):
    """Make one EDU of an EDU and the next."""

    op: Literal["merge"]
    edu: Index


class Begin(Model):
    """Begin a tree by hand: all EDUs equal nuclei of one group."""

    op: Literal["begin"]
    relation: RelationName


class Choose(Model):
    """Take an entry of the k-best list as the tree."""

    op: Literal["choose"]
    rank: Index


class AddEdge(Model):
    """Add a secondary edge (eRST) from a unit to another."""

    op: Literal["add-edge"]
    unit: UnitRange
    target: UnitRange
    relation: RelationName


class RemoveEdge(Model):
    """Remove a secondary edge, by its number."""

    op: Literal["remove-edge"]
    edge: Index


class AddSignal(Model):
    """Say what shows a unit's relation: a type, a subtype, words of the text."""

    op: Literal["add-signal"]
    unit: UnitRange
    type: RelationName
    subtype: RelationName
    words: str = Field("", max_length=1000)


class RemoveSignal(Model):
    """Remove a signal, by its number."""

    op: Literal["remove-signal"]
    signal: Index


Operation = Annotated[
    Relabel
    | SetNuclearity
    | Reattach
    | Split
    | Merge
    | Choose
    | Begin
    | AddEdge
    | RemoveEdge
    | AddSignal
    | RemoveSignal,
    Field(discriminator="op"),
]


class EditRequest(Content):
    """Correct a parse by hand; operations are done one after the other."""

    operations: list[Operation] = Field(min_length=1, max_length=1000)


class PointsRequest(Content):
    """Ask where a unit can be attached."""

    unit: UnitRange


class DialogueRequest(Model):
    """Find the flow behind dialogues."""

    content: str = Field(description="Transcripts, JSON lines or CSV with many dialogues.")
    format: Literal["transcript", "jsonl", "csv"] | None = Field(
        None, description="How the content is written; by default, as its beginning looks."
    )
    model: Literal["lm-hmm", "lm-hmms", "tm-hmm", "tm-hmms", "tm-hmmss"] = "tm-hmmss"
    states: int = Field(12, ge=1, le=50)
    topics: int = Field(20, ge=1, le=100)
    sweeps: int = Field(100, ge=1, le=300)
    threshold: float = Field(0.1, ge=0, le=1, description="Leave out less probable lines.")
    merge: bool = Field(
        False, description="Take states together that are only wordings of one step."
    )
    seed: int = Field(0, ge=0, le=2**31)


class Points(Model):
    """The units that a unit can be attached to."""

    points: list[tuple[int, int]]


class Problem(BaseModel):
    """Why a request was refused."""

    error: str = Field(description="The kind of error, such as FormatError.")
    message: str = Field(description="What was found, what was expected, what to do.")


class Health(BaseModel):
    """Whether the service takes work, and how busy it is."""

    status: Literal["ok", "busy", "failing"] = Field(
        description="ok; busy: new requests are refused for now; failing: no worker process starts."
    )
    version: str
    running: int = Field(description="Requests that are worked on.")
    waiting: int = Field(description="Requests that wait.")
    workers: int = Field(description="Worker processes that are ready or at work.")
    replaced: int = Field(description="Worker processes that were ended, or died, so far.")


class Progress(BaseModel):
    """How far a request has come."""

    read: float | None = Field(
        description="How much of the text has been read, from 0 to 1 (the tree comes after that); "
        "null where that is not known: before the work begins, after its end, and of parsers that "
        "read otherwise."
    )
