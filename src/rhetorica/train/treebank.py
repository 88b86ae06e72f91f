"""A treebank for training: documents with syntax, the classes of its relations, scores on dev.

(It stands here rather than in `corpora`, since syntax comes from the front end, `text`.)
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from rhetorica.convert import Convention
from rhetorica.corpora import PREDICTED_SYNTAX, read_corpus
from rhetorica.corpora.own import own_relations
from rhetorica.document import Document
from rhetorica.errors import MissingExtra, RhetoricaError
from rhetorica.evaluate import Report, evaluate
from rhetorica.evaluate.report import GivenSyntax
from rhetorica.files import digest
from rhetorica.formats import read
from rhetorica.languages import common_language
from rhetorica.models.store import Config
from rhetorica.parses import Parse
from rhetorica.pipeline import NEURAL_SYNTAX, front_end, load_syntax
from rhetorica.relations import RelationSet, covering, relation_set
from rhetorica.text import annotate_all

if TYPE_CHECKING:
    from spacy.language import Language as Spacy

    from rhetorica.languages import FrontEnd

Syntax = Literal["gold", "predicted", "both"]


class Named(Protocol):
    """What has a name: a document of a treebank, an example made of one."""

    @property
    def id(self) -> str:
        """The name."""
        ...


T = TypeVar("T", bound=Named)


@dataclass(frozen=True)
class Treebank:
    """Training and dev documents with syntax, and the classes of its relations.

    Choices are made on ``dev``; ``part`` says of which split these documents are. ``test`` is there
    only where a paper's figures are on it: `final` makes it the part that is scored. ``syntax``
    tells whose syntax the training documents have. Dev documents have the treebank's, where there
    is one; what learns from predicted syntax is calibrated and scored with ours. ``dev_syntax``
    says whether that of all dev (and test) documents is gold, for signatures. The last ``others``
    of the training documents are not from the treebank.
    """

    name: str
    train: list[Parse]
    dev: list[Parse]
    relations: RelationSet
    part: str = "dev"
    test: list[Parse] = field(default_factory=list)
    syntax: Syntax = "gold"
    dev_syntax: GivenSyntax = "gold"
    others: int = 0

    def final(self) -> Treebank:
        """Return what last figures are from: all to learn from but test, which is scored.

        A treebank without test stays as it is: figures are those of dev.
        """
        if not self.test:
            return self
        return replace(self, train=[*self.train, *self.dev], dev=self.test, part="test", test=[])

    def automatic(self) -> Treebank:
        """Return the same documents with sentences, paragraphs and syntax of our own."""
        train, dev, test = (
            with_syntax(parses, predicted=True) for parses in (self.train, self.dev, self.test)
        )
        return replace(self, train=train, dev=dev, test=test, dev_syntax="predicted")

    @cached_property
    def fingerprint(self) -> str:
        """What tells trainings on these documents and trees, as they are, from other trainings."""
        parses = (*self.train, *self.dev)
        sums = [zlib.crc32(repr((parse.document, parse.source)).encode()) for parse in parses]
        return digest([self.name, self.part, sums])

    def score(
        self,
        preds: Iterable[Parse],
        golds: Sequence[Parse] | None = None,
        *,
        part: str = "",
        coarse: bool = True,
        convention: Convention = "star",
    ) -> Report:
        """Score analyses of the dev documents (or of others), by coarse relations."""
        return evaluate(
            self.dev if golds is None else golds,
            preds,
            labels=self.relations.coarse if coarse else None,
            label_name=self.relations.label_name if coarse else "as-is",
            convention=convention,
            corpus=f"{self.name}-{self.part}{part}",
            syntax=self.dev_syntax,
        )


def read_treebank(
    name: str,
    folder: Path | str,
    *,
    syntax: Syntax = "gold",
    pipeline: Path | str | None = None,
    ptb: Path | str | None = None,
    constituency: bool = False,
    test: bool = False,
    without: Iterable[str] = (),
    also: Iterable[Path | str] = (),
) -> Treebank:
    """Read a treebank; where it has no syntax of its own, ours is added.

    With ``predicted`` syntax the training documents get ours in any case; with ``both`` each is
    there twice, for a parser that knows the mistakes of automatic syntax. ``pipeline`` is the
    folder of another syntax pipeline to predict it, or "neural": ours have learned from GUM's
    training documents, and make fewer mistakes there than they will make elsewhere. ``ptb`` is the
    folder of the Penn Treebank, whose trees are RST-DT's syntax; ``constituency`` asks for phrase
    structures, ``test`` for the documents of the test split. Training documents whose names match
    a pattern of ``without`` are left out. ``also`` are files with more trees to learn from, in any
    format, such as those that another parser gave to other texts; their syntax is left as it is
    where they have any. Relations that the treebank's inventory does not have are
    classes of their own, and a `RepairWarning` names them; those of your own trees (``own``) are
    what occurs, in the classes of ``relations.tsv`` in their folder.
    """
    if ptb is not None and name != "rst-dt":
        raise RhetoricaError(f"the Penn Treebank has no trees for {name}, only for rst-dt")
    options: dict[str, Any] = {"ptb": ptb} if ptb is not None else {}
    if constituency and name == "gum":
        options["constituency"] = True
    given = [
        list(read_corpus(name, folder, split, **options)) if wanted else []
        for split, wanted in (("train", True), ("dev", True), ("test", test))
    ]
    given[0] = left_out(given[0], without)
    analysed = all(any(t.deprel for t in p.document.tokens) for p in (*given[1], *given[2]))
    train, dev, last = map(with_syntax, given)
    others = with_syntax(parse for path in also for parse in read(path))
    parses = [*train, *dev, *last, *others]
    known = own_relations(folder, parses) if name == "own" else relation_set(name)
    relations = covering(known, parses)
    if syntax != "gold":
        nlp = _load_pipeline(pipeline) if pipeline else None
        kept = train if syntax == "both" else []
        train = [*kept, *with_syntax(train, predicted=True, nlp=nlp)]
    by_hand = analysed and name not in PREDICTED_SYNTAX
    return Treebank(
        name,
        [*train, *others],
        dev,
        relations,
        test=last,
        syntax=syntax,
        dev_syntax="gold" if by_hand else "predicted",
        others=len(others),
    )


def left_out(documents: Sequence[T], patterns: Iterable[str]) -> list[T]:
    """Return the documents whose names match none of the patterns, such as ``GUM_fiction_*``."""
    kept = list(documents)
    for pattern in patterns:
        found = len(kept)
        kept = [one for one in kept if not fnmatchcase(one.id, pattern)]
        if len(kept) == found:
            raise RhetoricaError(
                f"no training document is named {pattern!r}: they are such as "
                f"{', '.join(one.id for one in documents[:3])}"
            )
    if documents and not kept:
        raise RhetoricaError("all training documents are left out")
    return kept


def read_dev(name: str, folder: Path | str) -> Treebank:
    """Read the dev documents as they are, to score what is trained already."""
    return Treebank(name, [], list(read_corpus(name, folder, "dev")), relation_set(name))


def _load_pipeline(named: Path | str) -> Spacy | FrontEnd:
    """Load the neural front end by its name, or a pipeline that `rhetorica train syntax` wrote."""
    if str(named) == NEURAL_SYNTAX:
        return load_syntax(NEURAL_SYNTAX)
    try:
        import spacy
    except ImportError:
        raise MissingExtra("a syntax pipeline", "train") from None
    return spacy.load(Config.read(Path(named)).check())


def with_syntax(
    parses: Iterable[Parse], *, predicted: bool = False, nlp: Spacy | FrontEnd | None = None
) -> list[Parse]:
    """Let our pipeline add syntax where there is none or, if ``predicted``, replace what is there.

    Text, EDUs and trees are kept; predicted are tokens, syntax, sentences and paragraphs. Where
    words have tags but no lemmas, as in the Penn Treebank, lemmas are added. ``nlp`` is another
    pipeline, or a front end.
    """
    golds = list(parses)
    docs = [gold.document for gold in golds]
    if predicted:
        docs = [Document(doc.text, doc.edus, id=doc.id, language=doc.language) for doc in docs]
    # Where a language's syntax comes from a model, it is loaded only if there is work for it.
    bare = any(not any(token.tag for token in doc.tokens) for doc in docs)
    if nlp is None and bare:
        nlp = front_end(common_language(docs))
    docs = _with_lemmas(list(annotate_all(docs, nlp)))
    return [replace(g, document=d) for g, d in zip(golds, docs, strict=True)]


def _with_lemmas(docs: Sequence[Document]) -> list[Document]:
    """Add lemmas where a treebank of phrase structures gives words and tags only."""

    def lacks(doc: Document) -> bool:
        return bool(doc.constituency) and not any(token.lemma for token in doc.tokens)

    def bare(doc: Document) -> Document:
        words = (token._replace(tag="", deprel="", head=None) for token in doc.tokens)
        return replace(doc, tokens=tuple(words), constituency=())

    analysed = annotate_all(bare(doc) for doc in docs if lacks(doc))

    def lemmatised(doc: Document) -> Document:
        pairs = zip(doc.tokens, next(analysed).tokens, strict=True)
        words = (token._replace(lemma=other.lemma) for token, other in pairs)
        return replace(doc, tokens=tuple(words))

    return [lemmatised(doc) if lacks(doc) else doc for doc in docs]
