"""English: Penn Treebank tags, and a spaCy pipeline for tokens, sentences and syntax.

The pipeline that ships with the package is trained by ``rhetorica train syntax``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from rhetorica.document import Document
from rhetorica.errors import ModelError
from rhetorica.languages.language import Language, Tags
from rhetorica.languages.spacy import with_spacy
from rhetorica.models import store

if TYPE_CHECKING:
    from spacy.language import Language as Spacy


@cache
def load_pipeline() -> Spacy:
    """Load the pipeline that ships with the package."""
    import spacy
    from thinc.api import use_ops

    path = store.find("syntax", None, "en_syntax").check()
    try:
        # NumPy's matrix product is three times as fast here as the one bundled with thinc.
        with use_ops("numpy", use_blis=False):
            nlp = spacy.load(path)
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot load the syntax pipeline {path}: {error}") from None
    nlp.max_length = sys.maxsize  # long texts are cut into pieces
    return nlp


def _front_end(documents: Iterable[Document]) -> Iterator[Document]:
    yield from with_spacy(load_pipeline(), documents)


_COMMON = frozenset(
    "the of and to in a is that it for was on are as with be i you he she they we this have from "
    "or had by not but what all were when your can there an which do their if will so my me at "
    "his her has out about no just like who get would them said been our know more".split()
)


_FOREIGN = frozenset(
    "le la les des du une est et que qui dans pas pour nous vous ils elle je sont avec sur parce "
    "mais cette ce aux au ne der das und ist nicht ein eine einen mit auf dem wir ich sie wenn "
    "weil sich zu aber el los las del una y es por con para pero porque muy il di che non per sono "
    "ma gli della het een van niet wij zijn maar os um uma não com och att det som jag inte".split()
)
"""Words that are common in other languages with Latin letters, and none in English."""
_LATIN = re.compile("[a-z\u00c0-\u024f]")


def looks_english(text: str) -> bool:
    """Guess whether a text is English: common words are too many to miss.

    Texts of a few words pass unless they have other letters, or another language's common words.
    """
    words = [word.strip(".,;:!?\"'()") for word in text.lower().split(None, 400)[:400]]
    letters = [letter for word in words for letter in word if letter.isalpha()]
    if len(letters) > 4 and 2 * sum(map(bool, map(_LATIN.match, letters))) < len(letters):
        return False
    known = sum(word in _COMMON for word in words)
    if len(words) < 20:
        foreign = sum(word in _FOREIGN for word in words)
        return foreign < 2 or foreign <= known
    return known / len(words) > 0.1


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOUNS, _ADJECTIVES, _ADVERBS = _set("NN NNS NNP NNPS"), _set("JJ JJR JJS"), _set("RB RBR RBS")
_FINITE, _PARTICIPLES = _set("VBD VBP VBZ MD"), _set("VBG VBN")
_VERBS = _FINITE | _PARTICIPLES | {"VB"}
_CONNECTIVES = _set("IN CC RB WRB WDT WP TO")

_CHUNKS = {
    "NP": "DT PDT PRP PRP$ NN NNS NNP NNPS CD JJ JJR JJS POS EX $ # WP$",
    "VP": "VB VBD VBG VBN VBP VBZ MD",
    "ADVP": "RB RBR RBS",
    "PP": "IN",
    "TO": "TO",
    "WH": "WDT WP WRB",
    "CC": "CC",
    "INTJ": "UH",
    "PRT": "RP",
}
_CHUNK_OF = {tag: chunk for chunk, tags in _CHUNKS.items() for tag in tags.split()}
_STARTS_NP = _set("DT PDT PRP PRP$ EX WP$")
_ENDS_NP = _NOUNS | {"PRP", "EX"}


def chunk(tags: Sequence[str]) -> list[str]:
    """Return a chunk tag (base phrases, BIO) for each token of a sentence: rules, no training.

    >>> chunk(["DT", "JJ", "NN", "MD", "RB", "VB", ","])
    ['B-NP', 'I-NP', 'I-NP', 'B-VP', 'I-VP', 'I-VP', 'O']
    """
    result: list[str] = []
    inside, before = "", ""
    for place, tag in enumerate(tags):
        kind = _CHUNK_OF.get(tag, "")
        in_verb_phrase = tag == "TO" or (kind == "ADVP" and inside == "VP")
        if in_verb_phrase and _verb_follows(tags, place):
            kind = "VP"
        if not kind:
            result.append("O")
        elif kind == inside and not (
            kind == "NP" and tag in _STARTS_NP and (before in _ENDS_NP or tag in ("PRP", "EX"))
        ):
            result.append(f"I-{kind}")
        else:
            result.append(f"B-{kind}")
        inside, before = kind, tag
    return result


def _verb_follows(tags: Sequence[str], place: int) -> bool:
    """Tell whether a verb comes next, adverbs aside."""
    for tag in tags[place + 1 :]:
        if tag not in _ADVERBS:
            return tag in _VERBS
    return False


ENGLISH = Language(
    code="en",
    name="English",
    front_end=_front_end,
    recognises=looks_english,
    tags=Tags(
        nouns=_NOUNS,
        verbs=_VERBS,
        finite=_FINITE,
        participles=_PARTICIPLES,
        infinitives=_set("TO"),
        prepositions=_set("IN"),
        content=_NOUNS | _VERBS - {"MD"} | _ADJECTIVES | _ADVERBS | {"CD"},
        open=_NOUNS | _ADJECTIVES | {"CD"},
        subjects=_NOUNS | _set("PRP EX DT WP WDT"),
        connectives=_CONNECTIVES | {","},
        cues=_CONNECTIVES | {"MD", "UH"},
        subordinating=_set("IN WDT WP WRB WP$"),
        is_mark=lambda tag: tag[:1] in ",.:'`-",
        is_symbol=lambda tag: not tag[:1].isalpha(),
        chunk=chunk,
    ),
    subordinators=_set(
        "although because if since though unless until when whenever where whereas whereby while "
        "after before as once so that which who whom whose"
    ),
    coordinators=_set("and but or nor yet"),
    pronouns=_set("i we you he she it they this that these those there"),
    light=_set("be have do not so very also just more most other such then there here"),
    marks=frozenset("?!.:;,"),
    separators=_set(", ; : — – - -- ("),
    strong=_set("; : — – --"),
    opening=frozenset("([{"),
    closing=frozenset(")]}"),
    quotes=frozenset('"“”«»'),
)
