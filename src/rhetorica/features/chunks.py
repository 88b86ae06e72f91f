"""Base phrases (chunks) from part-of-speech tags, in BIO notation: rules, no training."""

from __future__ import annotations

from collections.abc import Sequence

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
_STARTS_NP = frozenset({"DT", "PDT", "PRP", "PRP$", "EX", "WP$"})
_ENDS_NP = frozenset({"NN", "NNS", "NNP", "NNPS", "PRP", "EX"})


def chunk(tags: Sequence[str]) -> list[str]:
    """Return a chunk tag for each token of a sentence.

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
        if not tag.startswith("RB"):
            return _CHUNK_OF.get(tag) == "VP"
    return False
