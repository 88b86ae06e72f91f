"""Two segmenters without training: every sentence an EDU; rules on connectives and punctuation."""

from __future__ import annotations

from rhetorica.document import Document
from rhetorica.features.syntax import Syntax

_SUBORDINATORS = frozenset(
    "although because if since though unless until when whenever where whereas whereby while "
    "after before as once so that which who whom whose".split()
)
_COORDINATORS = frozenset({"and", "but", "or", "nor", "yet"})
_PUNCTUATION = frozenset({",", ";", ":", "—", "–", "-", "--", "("})
_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
_VERBS = _FINITE | {"VB", "VBG", "VBN"}


class SentenceSegmenter:
    """Takes every sentence for an EDU."""

    name = "sentence"
    threshold = 0.5

    def boundaries(self, doc: Document) -> list[float]:
        """Return 1 for the first token of each sentence, 0 for the others."""
        syntax = Syntax.of(doc)
        result = [0.0] * len(doc.tokens)
        for sentence in syntax.sentences:
            result[sentence.start] = 1.0
        return result


class RuleSegmenter:
    """Cuts sentences before clauses that punctuation or a connective announces.

    Six rules, each of which needs a verb on both sides of the boundary: before a subordinating
    connective; before "and", "but", "or" when a verb with a subject of its own follows; after
    ";", ":" and dashes; before "to" with an infinitive after a comma; before a participle after a
    comma; before an opening bracket that holds a verb.
    """

    name = "rules"
    threshold = 0.5

    def boundaries(self, doc: Document) -> list[float]:
        """Return 1 where a rule applies or a sentence starts, 0 elsewhere."""
        syntax = Syntax.of(doc)
        result = [0.0] * len(doc.tokens)
        for sentence in syntax.sentences:
            result[sentence.start] = 1.0
            verb_before = False
            verbs_after = _verbs_from(syntax, sentence)
            for i in sentence[1:]:
                verb_before = verb_before or syntax.tags[i - 1] in _VERBS
                if (verb_before or result[i - 1]) and verbs_after[i - sentence.start]:
                    result[i] = float(_announces(syntax, i, sentence))
                if result[i]:
                    verb_before = False
        return result


def _verbs_from(syntax: Syntax, sentence: range) -> list[bool]:
    """Tell for each token whether a verb stands there or later in the sentence."""
    found = False
    result = [False] * len(sentence)
    for i in reversed(sentence):
        found = found or syntax.tags[i] in _VERBS
        result[i - sentence.start] = found
    return result


def _announces(syntax: Syntax, i: int, sentence: range) -> bool:
    word, before, tag = syntax.lowered[i], syntax.lowered[i - 1], syntax.tags[i]
    if before in _COORDINATORS or (tag == "IN" and word not in _SUBORDINATORS):
        return False
    if word in _SUBORDINATORS and tag in ("IN", "WDT", "WP", "WRB", "WP$"):
        return True
    if word in _COORDINATORS:
        return _has_own_clause(syntax, i + 1, sentence)
    if before in (";", ":", "—", "–", "--"):
        return True
    if before == "," and (tag == "VBG" or tag == "VBN" or tag == "TO"):
        return True
    return word == "(" and _has_own_clause(syntax, i + 1, sentence)


def _has_own_clause(syntax: Syntax, start: int, sentence: range) -> bool:
    """Tell whether a finite verb comes before the next punctuation."""
    for i in range(start, sentence.stop):
        if syntax.tags[i] in _FINITE:
            return True
        if syntax.lowered[i] in _PUNCTUATION or syntax.lowered[i] in _COORDINATORS:
            return False
    return False
