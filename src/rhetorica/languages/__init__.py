"""The languages that the package reads, one module each; step one of the way from raw text.

Everything else asks a `Language` for what it needs: its front end, the roles of its tags, its
connectives, pronouns and marks. A language is added by a module that makes one, and a row here.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Protocol

from rhetorica.document import Document
from rhetorica.errors import LanguageWarning, UnknownLanguage, UnknownName
from rhetorica.languages.chinese import CHINESE
from rhetorica.languages.english import ENGLISH
from rhetorica.languages.language import FrontEnd, Language, Tags

LANGUAGES = {language.code: language for language in (ENGLISH, CHINESE)}
DEFAULT = "en"
_SHORT = 40
"""Characters of a text too short to tell its language."""


def language(code: str) -> Language:
    """Return a language by its code; ``en-GB`` is ``en``.

    >>> language("en").name
    'English'
    """
    if (found := LANGUAGES.get(_base(code))) is None:
        raise UnknownName("language", code, LANGUAGES)
    return found


def language_of(doc: Document) -> Language:
    """Return the language of a document, English where it does not say."""
    code = doc.language or DEFAULT
    _require(doc, code, LANGUAGES)
    return LANGUAGES[_base(code)]


def common_language(docs: Iterable[Document]) -> str:
    """Return the code of the language that all documents are in: what a model learns."""
    codes = {language_of(doc).code for doc in docs}
    if len(codes) > 1:
        raise UnknownLanguage(
            f"documents in several languages ({', '.join(sorted(codes))}): train a model for each"
        )
    return next(iter(codes), DEFAULT)


def recognise(text: str) -> str:
    """Guess the code of the language of a text, "" if it is none that we know.

    >>> recognise("It rained."), recognise("昨天下雨了，所以我们没有出门。")
    ('en', 'zh')
    """
    # Texts too short to tell count as the default language, so it is asked last.
    order = sorted(LANGUAGES.values(), key=lambda one: one.code == DEFAULT)
    return next((one.code for one in order if one.recognises(text)), "")


def settle(doc: Document, known: Collection[str] = LANGUAGES) -> Document:
    """Return a document that says in which of the known languages it is.

    What a document declares holds, and is an error if it is none of them. Otherwise the text
    decides; one that is clearly foreign is an error, too, and one that is nothing known is taken
    for the first of the known languages, with a `LanguageWarning`.
    """
    if doc.language:
        _require(doc, doc.language, known)
        return doc
    code = recognise(doc.text)
    if code == DEFAULT and code not in known:
        code = ""  # short texts count as the default language, too: that is no proof
    if code:
        _require(doc, code, known)
        return replace(doc, language=code)
    code = next(iter(known))
    if code != DEFAULT and len(doc.text) < _SHORT:
        return replace(doc, language=code)
    warnings.warn(
        f"{doc.id or 'the text'} does not look like {language(code).name}, the only language that "
        "this model knows: expect little of what it finds",
        LanguageWarning,
        stacklevel=3,
    )
    return replace(doc, language=code)


class Trained(Protocol):
    """A parser or segmenter, which knows the language of its training data."""

    name: str
    language: str


def check_language(doc: Document, model: Trained) -> None:
    """Refuse a document that is declared to be in another language than that of a model."""
    if doc.language:
        _require(doc, doc.language, [model.language], f"the {model.name} model knows")


def _require(doc: Document, code: str, known: Collection[str], who: str = "installed") -> None:
    if _base(code) in known:
        return
    what = f"is in {code!r}"
    remedy = ""
    if not doc.language:
        what = f"looks like {language(code).name} ({code})"
        remedy = f'; if it is not, say so: Document(text, language="{next(iter(known))}")'
    raise UnknownLanguage(
        f"{doc.id or 'the text'} {what}, for which there is no model "
        f"({who}: {', '.join(known)}){remedy}"
    )


def _base(code: str) -> str:
    return code.partition("-")[0].lower()


__all__ = [
    "DEFAULT",
    "LANGUAGES",
    "FrontEnd",
    "Language",
    "Tags",
    "check_language",
    "common_language",
    "language",
    "language_of",
    "recognise",
    "settle",
]
