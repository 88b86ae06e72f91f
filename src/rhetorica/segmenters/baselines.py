"""Two segmenters without training: every sentence an EDU; rules on connectives and punctuation."""

from __future__ import annotations

from rhetorica.document import Document
from rhetorica.errors import InvalidDocument
from rhetorica.features.syntax import Syntax


class SentenceSegmenter:
    """Takes every sentence for an EDU."""

    name = "sentence"
    threshold = 0.5

    def boundaries(self, doc: Document) -> list[float]:
        """Return 1 for the first token of each sentence, 0 for the others."""
        if doc.text.strip() and not doc.tokens:
            raise InvalidDocument(f"{doc.id or 'the document'} has no tokens: annotate it first")
        result = [0.0] * len(doc.tokens)
        sentences = doc.sentence_tokens() or [range(len(doc.tokens))]
        for sentence in filter(None, sentences):
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
        verbs = syntax.language.tags.verbs
        result = [0.0] * len(doc.tokens)
        for sentence in syntax.sentences:
            result[sentence.start] = 1.0
            verb_before = False
            verbs_after = _verbs_from(syntax, sentence)
            for i in sentence[1:]:
                verb_before = verb_before or syntax.tags[i - 1] in verbs
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
        found = found or syntax.tags[i] in syntax.language.tags.verbs
        result[i - sentence.start] = found
    return result


def _announces(syntax: Syntax, i: int, sentence: range) -> bool:
    word, before, tag = syntax.lowered[i], syntax.lowered[i - 1], syntax.tags[i]
    language, roles = syntax.language, syntax.language.tags
    subordinator = word in language.subordinators
    if before in language.coordinators or (tag in roles.prepositions and not subordinator):
        return False
    if subordinator and tag in roles.subordinating:
        return True
    if word in language.coordinators:
        return _has_own_clause(syntax, i + 1, sentence)
    if before in language.strong:
        return True
    if before == "," and (tag in roles.participles or tag in roles.infinitives):
        return True
    return word == "(" and _has_own_clause(syntax, i + 1, sentence)


def _has_own_clause(syntax: Syntax, start: int, sentence: range) -> bool:
    """Tell whether a finite verb comes before the next punctuation."""
    language = syntax.language
    for i in range(start, sentence.stop):
        if syntax.tags[i] in language.tags.finite:
            return True
        if syntax.lowered[i] in language.separators | language.coordinators:
            return False
    return False
