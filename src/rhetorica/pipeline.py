"""From raw text to a parse: which parsers and segmenters there are, and one class that runs them.

A `Recipe` names the whole way (language, parser, segmenter, model, syntax, options) as data: what
the command line, the service, spaCy and batches pass on. `load` makes a `Pipeline` of it. Weights
are read once in a process, however they are asked for; options belong to one pipeline.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, partial
from importlib import import_module
from itertools import groupby, islice
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, cast

from rhetorica.document import Document
from rhetorica.errors import (
    InvalidDocument,
    InvalidRecipe,
    ModelError,
    UnknownLanguage,
    UnknownName,
)
from rhetorica.kernels import numeric_threads
from rhetorica.languages import DEFAULT, LANGUAGES, FrontEnd, recognise, settle
from rhetorica.models import store
from rhetorica.parses import Parse, Scores
from rhetorica.protocols import Parser, Segmenter, TextSegmenter
from rhetorica.relations import RelationSet, relation_set, relation_set_names
from rhetorica.segmenters.boundaries import by_layout, cut
from rhetorica.settings import Member, members_of
from rhetorica.text import annotate_all
from rhetorica.text.layout import whole_characters
from rhetorica.trees import ROOT_RELATION

if TYPE_CHECKING:
    from spacy.language import Language

Layer = Literal["tokens", "syntax", "edus", "tree"]
AUTO = "auto"
DEFAULT_PARSER = DEFAULT_SEGMENTER = "neural"
DEFAULT_MODEL = "gum"
TREEBANKS = {"en": DEFAULT_MODEL, "zh": "gcdt"}
"""The treebank that is meant where none is named, by language."""
_SEGMENTERS = {"en": "crf", "zh": "neural"}
"""What cuts texts for parsers without a segmenter of their own, if syntax is not the neural one."""
NEURAL_SYNTAX = "neural"
SPACY_SYNTAX = "spacy"
"""Our own spaCy pipeline, for English; other names are those of spaCy pipelines or folders."""
ENSEMBLE = "ensemble"
_SYNTAX: frozenset[Layer] = frozenset({"tokens", "syntax"})
_EDUS: frozenset[Layer] = frozenset({"edus"})
_TREE: frozenset[Layer] = frozenset({"tree"})
_loading = RLock()


@dataclass(frozen=True, slots=True)
class Offer:
    """A parser or segmenter that can be had by name: what it needs of a document, what it gives.

    ``where`` names its class, imported when wanted, ``kind`` that of the models it reads, and
    ``options`` what a pipeline may set without another model. Where several models of one parser
    are installed the best is taken, unless a ``folder`` is named, under a name of its own.
    """

    name: str
    about: str
    where: str
    needs: frozenset[Layer] = _SYNTAX | _EDUS
    gives: frozenset[Layer] = _TREE
    languages: tuple[str, ...] = (DEFAULT,)
    kind: store.Kind = "parser"
    options: frozenset[str] = frozenset()
    folder: str = ""
    reads: str = ""

    @property
    def family(self) -> str:
        """The name that its models have."""
        return self.reads or self.name

    @property
    def made(self) -> Any:
        """The class."""
        module, _, name = self.where.partition(":")
        return getattr(import_module(module), name)


def _table(*offers: Offer) -> dict[str, Offer]:
    return {offer.name: offer for offer in offers}


_segmenter = partial(Offer, needs=_SYNTAX, gives=_EDUS, kind="segmenter")
_SEARCH = frozenset({"beam", "samples"})
_BOTH = ("en", "zh")
PARSERS = _table(
    Offer("neural",
          "a pretrained encoder, RST trees and dependencies, the best model installed; needs no "
          "syntax (default)",
          "rhetorica.parsers.neural:NeuralParser",
          frozenset(), _EDUS | _TREE, _BOTH, options=frozenset({"scheme", "threads"})),
    Offer("neural-fast", "the same with a smaller encoder: a little less good, twice as fast",
          "rhetorica.parsers.neural:NeuralParser",
          frozenset(), _EDUS | _TREE, options=frozenset({"scheme", "threads"}),
          folder="en_neural", reads="neural"),
    Offer("li2014", "discourse dependencies, linear model and exact decoding (Li et al. 2014)",
          "rhetorica.parsers.li2014:Li2014Parser"),
    Offer("shift-reduce",
          "RST trees in one pass over the text, by votes or a beam (Heilman & Sagae 2015)",
          "rhetorica.parsers.shift_reduce:ShiftReduceParser", languages=_BOTH, options=_SEARCH),
    Offer("codra",
          "RST trees of sentences, then of the document, by CRFs and CKY (Joty et al. 2015)",
          "rhetorica.parsers.codra.parser:CodraParser"),
    Offer("dplp", "RST trees in one pass, words seen through a projection (Ji & Eisenstein 2014)",
          "rhetorica.parsers.dplp:DPLPParser", options=_SEARCH),
    Offer("ensemble", "the others' votes, weighed by what each is good at (Cortes et al. 2014)",
          "rhetorica.parsers.ensemble:EnsembleParser", languages=_BOTH),
)  # fmt: skip
SEGMENTERS = _table(
    replace(PARSERS["neural"], about="the neural parser's own; needs no syntax", gives=_EDUS),
    replace(PARSERS["neural-fast"], about="that of the small neural parser", gives=_EDUS),
    _segmenter("crf", "Heilman & Sagae (2015) with features of our own",
               "rhetorica.segmenters.crf:CRFSegmenter", languages=_BOTH),
    _segmenter("logistic", "CODRA's (Joty et al. 2015)",
               "rhetorica.segmenters.logistic:LogisticSegmenter"),
    _segmenter("ensemble", "crf and neural together: their log-odds, weighed and added up",
               "rhetorica.segmenters.ensemble:EnsembleSegmenter", languages=_BOTH),
    _segmenter("rules", "connectives and punctuation; not trained",
               "rhetorica.segmenters.baselines:RuleSegmenter"),
    _segmenter("sentence", "every sentence is an EDU; not trained",
               "rhetorica.segmenters.baselines:SentenceSegmenter", languages=_BOTH),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Recipe:
    """Which way a text goes, as data: checked when made, hashable, picklable, JSON.

    ``language`` is "en", "zh", or "auto": each text's own, told by what it declares or looks like.
    Without a ``parser`` texts are only segmented; "auto" is the best that is installed for the
    language and model. ``model`` names a treebank (in Chinese, "gum" stands for "gcdt") or a
    folder. ``syntax`` is what adds words, tags and dependencies for parsers that read them:
    "neural", the best neural model that can, "spacy", our pipeline, or the name of another one;
    left out, it is the first of these that is installed. Without a ``segmenter``, the parser's own
    is used, or that which goes with the syntax: neural, or crf. ``options`` may hold ``threads``
    (for matrix products; 1) and those of the parser, such as ``beam``.

    >>> recipe = Recipe(parser="shift-reduce", options={"beam": 4, "samples": 0})
    >>> Recipe.from_json(recipe.to_json()) == recipe
    True
    """

    language: str = AUTO
    parser: str | None = DEFAULT_PARSER
    segmenter: str | None = None
    model: str = DEFAULT_MODEL
    syntax: str | None = None
    options: tuple[tuple[str, Any], ...] | Mapping[str, Any] = ()

    def __post_init__(self) -> None:
        offers = (*PARSERS.values(), *SEGMENTERS.values())
        languages = {language for offer in offers for language in offer.languages}
        if self.language not in (AUTO, *languages):
            raise UnknownName("language", self.language, (AUTO, *sorted(languages)))
        if self.model in TREEBANKS.values() and self.language != AUTO:
            object.__setattr__(self, "model", TREEBANKS[self.language])
        if self.parser is not None and self.parser not in (AUTO, *PARSERS):
            raise UnknownName("parser", self.parser, (AUTO, *PARSERS))
        if self.segmenter is not None and self.segmenter not in SEGMENTERS:
            raise UnknownName("segmenter", self.segmenter, SEGMENTERS)
        given = dict(self.options)
        object.__setattr__(self, "options", tuple(sorted(given.items())))
        if self.parser == AUTO:
            return
        for offer in self.offers:
            if self.language not in (AUTO, *offer.languages):
                raise InvalidRecipe(_unable(offer, self.language))
        known = {"threads", *(PARSERS[self.parser].options if self.parser else ())}
        for name in given:
            if name not in known:
                raise UnknownName(f"option of {self.parser or self.segmenter}", name, known)
        if self.syntax is not None:
            self.require_syntax()

    @property
    def offers(self) -> tuple[Offer, ...]:
        """What takes part: the parser, and a segmenter where one is needed."""
        found = [PARSERS[self.parser]] if self.parser else []
        own = found and "edus" in found[0].gives and self.segmenter in (None, self.parser)
        if not own:
            # An English ensemble cuts with its like; see `_planned` for the others.
            default = _SEGMENTERS.get(self.language, "crf")
            default = DEFAULT_SEGMENTER if self.parser is None else default
            alike = self.parser == ENSEMBLE and self.language in (AUTO, DEFAULT)
            default = ENSEMBLE if alike else default
            found.append(SEGMENTERS[self.segmenter or default])
        return tuple(found)

    @property
    def relations(self) -> RelationSet:
        """The relations of the model's treebank; of a model in a folder, those of GUM."""
        known = self.model in relation_set_names()
        return relation_set(self.model if known else DEFAULT_MODEL)

    def coarsened(self, parse: Parse) -> Parse:
        """Return a parse with the classes of its relations, which all parsers of a treebank share.

        >>> nlp = load("en", parser="neural-fast")
        >>> parse = nlp.recipe.coarsened(nlp("If it rains, we stay at home."))
        >>> parse.root.satellites[0].relation, parse.provenance["relations"]
        ('contingency', 'gum coarse15')
        """
        found = parse.relabel(self.relations.coarse)
        name = f"{self.relations.name} {self.relations.label_name}"
        return replace(found, provenance={**found.provenance, "relations": name})

    @property
    def reads_syntax(self) -> bool:
        """Whether anything that takes part needs tokens and syntax."""
        return any("syntax" in offer.needs for offer in self.offers)

    def require_syntax(self) -> None:
        """Refuse a syntax pipeline that nothing would use."""
        if not self.reads_syntax:
            names = " and ".join(offer.name for offer in self.offers)
            raise InvalidRecipe(
                f"a syntax pipeline was given, and {names} needs none: leave it out, or choose "
                "another parser or segmenter"
            )

    def to_json(self) -> str:
        """Write the recipe."""
        return json.dumps(asdict(self) | {"options": dict(self.options)}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """Read a recipe."""
        try:
            data = dict(json.loads(text))
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidRecipe(f"not the JSON of a recipe: {error}") from None
        known = [field.name for field in fields(cls)]
        for name in data:
            if name not in known:
                raise UnknownName("field of a recipe", name, known)
        return cls(**data)


def _unable(offer: Offer, language: str) -> str:
    """Say that something does not know a language, and what does."""
    offers = PARSERS if "tree" in offer.gives else SEGMENTERS
    others = [one.name for one in offers.values() if language in one.languages]
    kind = "parser" if offers is PARSERS else "segmenter"
    return (
        f"the {kind} {offer.name} knows {', '.join(offer.languages)}, not {language!r}: "
        f"choose {' or '.join(others)}"
    )


class Pipeline:
    """From raw text to a parse, as a recipe says; made by `load`, safe to share between threads.

    >>> nlp = load("en", parser="li2014")
    >>> parse = nlp("We stayed at home because it rained.")
    >>> parse.edus
    ['We stayed at home', 'because it rained.']
    >>> parse.dependencies.heads
    (-1, 0)
    """

    def __init__(
        self,
        recipe: Recipe,
        parser: Parser | None,
        segmenter: Segmenter | None,
        syntax: Language | FrontEnd | None = None,
        *,
        given: bool = False,
    ) -> None:
        self._given = given  # else the recipe leads to the same front end again
        self.recipe, self.parser, self.segmenter, self.syntax = recipe, parser, segmenter, syntax
        self._annotates = recipe.reads_syntax
        self._threads = int(dict(recipe.options).get("threads", 1))
        self._language = DEFAULT if recipe.language == AUTO else recipe.language

    def __reduce__(self) -> tuple[Any, ...]:
        syntax = self.syntax if self._given else None
        return partial(load, syntax=syntax), (self.recipe,)

    def __repr__(self) -> str:
        recipe = self.recipe
        way = " > ".join(offer.name for offer in reversed(recipe.offers))
        return f"<Pipeline {recipe.language}: {way}, {recipe.model}>"

    def __call__(self, text: str | Document, *, kbest: int = 1) -> Parse:
        """Parse a text; EDUs, sentences, paragraphs and syntax that a document has are kept."""
        return next(self.pipe([text], kbest=kbest))

    def pipe(
        self, texts: Iterable[str | Document], *, kbest: int = 1, workers: int = 1
    ) -> Iterator[Parse]:
        """Parse a stream of texts, in order; ``workers`` threads share the work."""
        if isinstance(texts, (str, Document)):
            raise InvalidDocument(
                "expected many texts, found one: call the pipeline itself with it"
            )
        if workers > 1:
            yield from _side_by_side(partial(self, kbest=kbest), texts, workers)
            return
        for code, group in groupby(texts, self._language_of):
            yield from self._speaking(code)._pipe(group, kbest)

    def _pipe(self, texts: Iterable[str | Document], kbest: int) -> Iterator[Parse]:
        work = self._segment if self.parser is None else partial(self._parse, kbest=kbest)
        for given, doc in self._prepared(texts, keep_edus=self.parser is not None):
            yield self._finished(given, doc, work)

    @property
    def labels(self) -> tuple[str, ...]:
        """The relations that the parser can give, sorted; `rhetorica.explain` tells what they mean.

        >>> load("en", parser="codra").labels[:3]
        ('adversative', 'attribution', 'causal')
        """
        if self.parser is None:
            return ()
        offer = PARSERS[cast(str, self.recipe.parser)]
        config, bank = _chosen(offer, self.recipe.model, self._language)
        if config.settings.get("arcs"):  # an ensemble of dependency parsers
            return tuple(sorted({label.relation for label in config.labels}))
        models = [config, *_members_models(offer, config, bank, self._language)]
        if offer.name == ENSEMBLE:
            # Classes are voted for; members that know more give the relation within one.
            models = [found for found in models if found.relations.endswith("fine")] or models[:1]
        if getattr(self.parser, "scheme", "") == "scidtb":  # a model of trees and of dependencies
            return tuple(sorted(models[0].settings["arc_relations"]))
        names = {label.relation for found in models for label in found.labels}
        return tuple(sorted(names - {ROOT_RELATION}))

    def segment(self, text: str | Document) -> Parse:
        """Cut a text into EDUs, anew; the result has the probability of each EDU's start."""
        return self._speaking(self._language_of(text))._cut(text)

    def _cut(self, text: str | Document) -> Parse:
        ((given, doc),) = self._prepared([text], keep_edus=False)
        return self._finished(given, doc, self._segment)

    def _language_of(self, text: str | Document) -> str:
        """Return the language in which a text is read: that of the recipe, or its own."""
        if self.recipe.language != AUTO or not isinstance(text, (str, Document)):
            return self._language
        declared = "" if isinstance(text, str) else text.language.partition("-")[0].lower()
        code = declared or recognise(text if isinstance(text, str) else text.text)
        return code if code in TREEBANKS else self._language

    def _speaking(self, code: str) -> Pipeline:
        """Return the pipeline of a language: this one, or its like, loaded when first needed."""
        if code == self._language:
            return self
        recipe, name = self.recipe, LANGUAGES[code].name
        seen = f"the text looks like {name} ({code})"
        known = f"; if it is not {name}, name its language, {self._language!r} (--language)"
        try:
            twin = _translated(recipe, code)
        except InvalidRecipe as error:
            raise UnknownLanguage(f"{seen}, and {error}{known}") from None
        if not store.models("parser", language=code):
            raise UnknownLanguage(f"{seen}, and {_missing(code)}{known}")
        return _of_language(twin)

    def _prepared(
        self, texts: Iterable[str | Document], *, keep_edus: bool
    ) -> Iterator[tuple[Document, Document]]:
        """Yield documents as given, and with the layers that are needed."""
        given: list[Document] = []

        def clean() -> Iterator[Document]:
            for text in texts:
                if not isinstance(text, (str, Document)):
                    raise InvalidDocument(
                        f"expected a text or a Document, found {type(text).__name__}: many texts "
                        "go through `nlp.pipe(texts)`, bytes must be decoded first"
                    )
                doc = Document(text) if isinstance(text, str) else text
                given.append(doc)
                # Halves of characters cannot be encoded; a mark in their place is as long.
                doc = replace(doc, text=whole_characters(doc.text))
                # A spaCy pipeline of the user's own may know other languages; what a document
                # declares is compared with what parsers and front ends know.
                if not doc.language and not hasattr(self.syntax, "make_doc"):
                    doc = settle(doc, (self._language,))
                yield doc if keep_edus else replace(doc, edus=())

        docs = annotate_all(clean(), self.syntax) if self._annotates else clean()
        for doc in docs:
            if self._annotates and not doc.language:
                doc = replace(doc, language=self._language)
            yield given.pop(0), doc

    def _finished(self, given: Document, doc: Document, work: Any) -> Parse:
        with numeric_threads(self._threads):
            parse: Parse = work(doc)
        if doc.text == given.text:
            return parse
        return replace(parse, document=replace(parse.document, text=given.text))

    def _segment(self, doc: Document) -> Parse:
        segmenter = self.segmenter or cast(Segmenter, self.parser)
        if not self._annotates:
            return cast(TextSegmenter, segmenter).segment(doc)
        threshold = segmenter.threshold
        return cut(doc, by_layout(doc, segmenter.boundaries(doc), threshold), threshold=threshold)

    def _parse(self, doc: Document, kbest: int) -> Parse:
        parser = cast(Parser, self.parser)
        if self.segmenter is None:
            return parser(doc, kbest=kbest)
        boundaries: tuple[float, ...] = ()
        if not doc.edus and doc.tokens:
            segmented = self._segment(doc)
            doc = segmented.document
            boundaries = segmented.scores.boundaries if segmented.scores else ()
        parse = parser(doc, kbest=kbest)
        scores = replace(parse.scores or Scores(), boundaries=boundaries)
        return replace(parse, scores=scores if parse.scores or boundaries else None)


def _side_by_side(work: Any, items: Iterable[Any], workers: int) -> Iterator[Parse]:
    """Do the work in threads; only a few items ahead, so that an endless stream fits."""
    waiting = iter(items)
    with ThreadPoolExecutor(workers) as pool:
        running = [pool.submit(work, item) for item in islice(waiting, 2 * workers)]
        while running:
            yield running.pop(0).result()
            running += [pool.submit(work, item) for item in islice(waiting, 1)]


def load(
    language: str | Recipe = AUTO,
    *,
    parser: str | None = DEFAULT_PARSER,
    model: str | Path = DEFAULT_MODEL,
    segmenter: str | None = None,
    syntax: Language | str | None = None,
    **options: Any,
) -> Pipeline:
    """Load everything that turns raw text into a parse: what a recipe says, or these settings.

    ``language`` is "en", "zh" (with the package rhetorica-zh), or "auto", each text's own.
    ``parser`` and ``segmenter`` are names of `PARSERS` and `SEGMENTERS`; "auto" is the best parser
    that is installed. ``model`` names the treebank whose conventions and relations to follow (gum:
    general text with GUM's relations, in Chinese gcdt; scidtb: abstracts), or a folder. ``syntax``
    may be any spaCy pipeline with a tagger and a parser, or one of the names that `Recipe` has;
    left out, the best that is installed is taken. Options are those of `Recipe`.
    """
    if isinstance(language, Recipe):
        recipe = language
    else:
        named = syntax if isinstance(syntax, str) else None
        recipe = Recipe(language, parser, segmenter, str(model), named, options)
    recipe = _settled(recipe)
    if syntax is not None:
        recipe.require_syntax()
    given = syntax is not None and not recipe.syntax
    plan = recipe if given else _planned(recipe)
    code = _code(recipe)
    chosen: Parser | None = None
    found: Segmenter | None = None
    options, bank = dict(recipe.options), recipe.model
    for offer in plan.offers:
        if "tree" in offer.gives:
            chosen, bank = _made(offer, bank, code, options)
            bank = _segmenters_bank(bank, code)
        else:
            found, _ = _made(offer, bank, code)
    nlp: Language | FrontEnd | None = None
    if given:
        nlp = cast("Language", syntax)
    elif plan.reads_syntax:
        parts: tuple[Any, ...] = (chosen, found)
        learned = [part.settings.syntax for part in parts if _is_ensemble(part)]
        nlp = load_syntax(_front_end(recipe, learned), code)
    return Pipeline(recipe, chosen, found, nlp, given=given)


def parse(text: str | Document, **settings: Any) -> Parse:
    """Parse a text at once; ``settings`` are those of `load`, which is kept for the next text.

    >>> parse("We stayed at home because it rained.").edus
    ['We stayed at home', 'because it rained.']
    """
    return load(**settings)(text)


def load_parser(
    name: str = DEFAULT_PARSER,
    model: str | Path = DEFAULT_MODEL,
    *,
    language: str = DEFAULT,
    treebank: str = "",
    **options: Any,
) -> Parser:
    """Return a parser of documents that have the layers it needs; see `load`.

    ``treebank`` chooses which to follow where a model folder knows several.
    """
    recipe = Recipe(language, parser=name, model=str(model), options=options)
    parser: Parser = _made(recipe.offers[0], recipe.model, language, options, treebank)[0]
    return parser


def load_segmenter(
    name: str = "crf",
    model: str | Path = DEFAULT_MODEL,
    *,
    language: str = DEFAULT,
    treebank: str = "",
) -> Segmenter:
    """Return a segmenter of documents with tokens and syntax; see `load_parser`."""
    recipe = Recipe(language, parser=None, segmenter=name, model=str(model))
    segmenter: Segmenter = _made(recipe.offers[0], recipe.model, language, None, treebank)[0]
    return segmenter


def _made(
    offer: Offer,
    model: str,
    language: str,
    options: Mapping[str, Any] | None = None,
    follow: str = "",
) -> tuple[Any, str]:
    """Return a parser or segmenter with weights that are shared, and the treebank it follows.

    That is ``follow``, if the model knows it.
    """
    made = offer.made
    if not issubclass(made, store.Stored):
        return made(), model
    config, bank = _chosen(offer, model, language)
    with _loading:
        shared = _weights(made, config.folder.resolve())
    banks = config.treebanks
    bank = follow if follow in banks else bank
    wanted: dict[str, Any] = {"scheme": bank} if len(banks) > 1 else {}
    if offer.reads:
        wanted["name"] = offer.name
    wanted |= {name: value for name, value in (options or {}).items() if name in offer.options}
    if offer.name == ENSEMBLE:
        members = [_member(offer, one, language, bank) for one in shared.members]
        shared = shared.gather(members)
    return shared.like(**wanted), bank


def _chosen(offer: Offer, model: str, language: str) -> tuple[store.Config, str]:
    """Return the model that a parser or segmenter gets, and the treebank to follow."""
    every = {bank for found in store.models(offer.kind, offer.family) for bank in found.treebanks}
    folder = offer.folder if model in every else ""
    if model == TREEBANKS[language] and not store.models(
        offer.kind, offer.family, language=language
    ):
        raise ModelError(_missing(language, offer.name))
    config = store.find(offer.kind, offer.family, folder or model, language)
    banks = config.treebanks or (DEFAULT_MODEL,)
    return config, model if model in banks else banks[0]


def _missing(language: str, name: str = "") -> str:
    """Say that there is no model for a language, and what to do."""
    spoken = LANGUAGES[language].name
    if not name or not store.models("parser", language=language):
        package = f"rhetorica-{language}"
        return (
            f"no {spoken} models are installed: install the package {package} "
            f"(packages/{package} in Rhetorica's source)"
        )
    return (
        f"no {spoken} model of {name} is installed: train one (`rhetorica train {name} "
        f"FOLDER --corpus {TREEBANKS[language]} --out MODEL`, then choose it as the model), or "
        "choose the neural parser"
    )


def models_of(recipe: Recipe) -> tuple[store.Config, ...]:
    """Return the models that a recipe takes where it is asked, without loading them.

    >>> [model.id for model in models_of(Recipe(parser="li2014", syntax="spacy"))]
    ['li2014_gum', 'crf_gum', 'en_syntax']
    """
    recipe = _settled(recipe)
    if recipe.language == AUTO:
        return _of_every_language(recipe)
    recipe = _planned(recipe)
    bank, found = recipe.model, list[store.Config]()
    for offer in recipe.offers:
        if store.models(offer.kind, offer.family):
            config, bank = _chosen(offer, bank, recipe.language)
            found.append(config)
            found += _members_models(offer, config, bank, recipe.language)
        bank = _segmenters_bank(bank, recipe.language)
    if recipe.reads_syntax:
        learned = [config.settings.get("syntax", "") for config in found if _is_ensemble(config)]
        syntax = _front_end(recipe, learned)
        if syntax == NEURAL_SYNTAX:
            found.append(_neural_syntax(recipe.language))
        elif syntax == SPACY_SYNTAX:
            found += store.models("syntax", language=recipe.language)
    return tuple(found)


def _of_every_language(recipe: Recipe) -> tuple[store.Config, ...]:
    """Return the models of a recipe for whatever language a text is in."""
    found = models_of(replace(recipe, language=DEFAULT))
    for code in TREEBANKS:
        if code == DEFAULT or not store.models("parser", language=code):
            continue
        try:
            found += models_of(_translated(recipe, code))
        except (InvalidRecipe, ModelError):  # said when a text asks for it
            continue
    return found


def _translated(recipe: Recipe, language: str) -> Recipe:
    """Return a recipe for another language; syntax of its own stays behind."""
    syntax = recipe.syntax if recipe.syntax == NEURAL_SYNTAX else None
    return replace(recipe, language=language, syntax=syntax)


def _members_models(
    offer: Offer, config: store.Config, bank: str, language: str
) -> list[store.Config]:
    """Return the models of the members of an ensemble, which its own does not hold."""
    if offer.name != ENSEMBLE:
        return []
    recipes = [
        _member_recipe(offer, one, language, bank)
        for one in members_of(str(config.settings["members"]))
    ]
    return [_chosen(recipe.offers[0], recipe.model, language)[0] for recipe in recipes]


def _settled(recipe: Recipe) -> Recipe:
    """Put in the place of "auto" the best parser that is installed, and a model's own language."""
    if recipe.language == AUTO:
        known = {found.language for found in store.models() if recipe.model in found.treebanks}
        if (Path(recipe.model) / "config.json").is_file():
            known = {store.Config.read(Path(recipe.model)).language}
        if known and DEFAULT not in known and known <= {*TREEBANKS}:
            recipe = replace(recipe, language=known.pop())
    if recipe.parser != AUTO:
        return recipe
    best = store.find("parser", None, recipe.model, _code(recipe))
    return replace(recipe, parser=best.name)


def _planned(recipe: Recipe) -> Recipe:
    """Give a parser without a segmenter of its own the one that goes with its syntax.

    Where the neural model is asked for syntax, its EDUs cost next to nothing, and are better.
    """
    if recipe.parser in (None, ENSEMBLE) or recipe.segmenter or len(recipe.offers) < 2:
        return recipe
    neural = _front_end(recipe) == NEURAL_SYNTAX
    return replace(recipe, segmenter=DEFAULT_SEGMENTER) if neural else recipe


def _code(recipe: Recipe) -> str:
    """Return the language that is read first."""
    return DEFAULT if recipe.language == AUTO else recipe.language


def _front_end(recipe: Recipe, learned: Iterable[str] = ()) -> str:
    """Return the syntax of a recipe: named there, what ensembles learned with, or the best."""
    code = _code(recipe)
    plain = SPACY_SYNTAX if code == DEFAULT else NEURAL_SYNTAX
    best = NEURAL_SYNTAX if _tagging(code) else plain
    return recipe.syntax or next((name or plain for name in learned), best)


def _is_ensemble(part: Any) -> bool:
    return part is not None and part.name == ENSEMBLE


def _segmenters_bank(bank: str, language: str) -> str:
    """Return the treebank that a segmenter beside a parser follows."""
    known = store.models("segmenter", language=language, treebank=bank)
    return bank if known else TREEBANKS[language]


@cache
def _of_language(recipe: Recipe) -> Pipeline:
    return load(recipe)


def load_member(ensemble: str, member: Member, *, language: str = DEFAULT, treebank: str) -> Any:
    """Return a member of an ensemble of that kind ("parser" or "segmenter"), as its recipe says."""
    offers = PARSERS if ensemble == "parser" else SEGMENTERS
    return _member(offers[ENSEMBLE], member, language, treebank)


def _member(of: Offer, member: Member, language: str, bank: str) -> Any:
    """Return a member of an ensemble, which follows the same treebank."""
    recipe = _member_recipe(of, member, language, bank)
    return _made(recipe.offers[0], recipe.model, language, dict(recipe.options), bank)[0]


def _member_recipe(of: Offer, member: Member, language: str, bank: str) -> Recipe:
    """Return the recipe of a member: its own model, else that of the ensemble's treebank."""
    offers = PARSERS if "tree" in of.gives else SEGMENTERS
    if member.name not in offers or member.name == ENSEMBLE:
        raise UnknownName("member of an ensemble", member.name, {*offers} - {ENSEMBLE})
    parser = member.name if offers is PARSERS else None
    segmenter = None if offers is PARSERS else member.name
    model = member.model or bank
    return Recipe(language, parser, segmenter, model, options=dict(member.options))


@cache
def _weights(made: Any, folder: Path) -> Any:
    return made.load(folder)


def front_end(language: str) -> FrontEnd | None:
    """Return what adds words and syntax for our parsers where that is not a language's own.

    English has a front end of its own (None here); that of Chinese is the neural model.
    """
    if language == DEFAULT or language not in TREEBANKS:
        return None
    return cast(FrontEnd, load_syntax(NEURAL_SYNTAX, language))


def load_syntax(name: str, language: str = DEFAULT) -> Language | FrontEnd:
    """Return what adds syntax: "neural", "spacy", or a spaCy pipeline by its name or folder."""
    if name == SPACY_SYNTAX:
        if language != DEFAULT:
            raise ModelError(f"our spaCy pipeline reads English, not {language!r}: leave it out")
        return LANGUAGES[language].front_end
    if name != NEURAL_SYNTAX:
        return _spacy(name)
    from rhetorica.parsers.neural import NeuralParser
    from rhetorica.parsers.neural.syntax import NeuralSyntax

    best = _neural_syntax(language)
    with _loading:
        parser = _weights(NeuralParser, best.folder.resolve())
    return NeuralSyntax(parser.network, language).pipe


def _tagging(language: str) -> list[store.Config]:
    """Return the neural models that have syntax."""
    known = store.models("parser", "neural", language=language)
    return [found for found in known if found.settings.get("tags")]


def _neural_syntax(language: str) -> store.Config:
    """Return the best neural model that has syntax."""
    able = _tagging(language)
    if not able:
        package = f"rhetorica-{language}"
        raise ModelError(
            f"no neural model with syntax is installed: install the package {package} "
            f"(packages/{package})" + (", or leave syntax out" if language == DEFAULT else "")
        )
    return max(able, key=lambda found: found.scores.get("raw", 0.0))


@cache
def _spacy(name: str) -> Language:
    import spacy

    try:
        return spacy.load(name)
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot load the spaCy pipeline {name!r}: {error}") from None


def segment(
    text: str | Document,
    *,
    segmenter: str = DEFAULT_SEGMENTER,
    model: str | Path = DEFAULT_MODEL,
    language: str = AUTO,
    syntax: Language | str | None = None,
) -> Document:
    """Cut a text into EDUs; layers that a document has (gold syntax, sentences) are used.

    >>> segment("We stayed because it rained.").edu_texts
    ['We stayed', 'because it rained.']
    """
    texts = segment_all([text], segmenter=segmenter, model=model, language=language, syntax=syntax)
    return next(texts).document


def segment_all(
    texts: Iterable[str | Document],
    *,
    segmenter: str = DEFAULT_SEGMENTER,
    model: str | Path = DEFAULT_MODEL,
    language: str = AUTO,
    syntax: Language | str | None = None,
) -> Iterator[Parse]:
    """Cut a stream of texts into EDUs; the results carry the probability of each EDU's start."""
    pipeline = load(language, parser=None, segmenter=segmenter, model=model, syntax=syntax)
    return pipeline.pipe(texts)
