"""The lemmatizer's tables: the stock rules, and what the treebanks say of frequent words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from spacy.lookups import load_lookups
from spacy.tokens import Doc

from rhetorica.document import Document


def learned_lemmas(
    weighted: Iterable[tuple[Sequence[Document], int]],
) -> dict[str, dict[str, list[str]]]:
    """Collect lemmas of frequent words, by part of speech, from gold data of some weight."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for documents, weight in weighted:
        for doc in documents:
            for token in doc.tokens:
                counts[token.pos.lower(), doc.form(token).lower()][token.lemma] += weight
    table: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for (pos, word), lemmas in counts.items():
        lemma, best = lemmas.most_common(1)[0]
        if pos != "propn" and best >= 3 and best >= 0.5 * sum(lemmas.values()):
            table[pos][word] = [lemma]
    return table


def add_lemmatizer(nlp: Any, weighted: Iterable[tuple[Sequence[Document], int]]) -> None:
    """Add the rule lemmatizer; its tables go into the pipeline directory."""
    lemmatizer: Any = nlp.add_pipe("lemmatizer", config={"mode": "rule", "overwrite": True})
    lookups = load_lookups("en", ["lemma_rules", "lemma_exc", "lemma_index"])
    lemmatizer.initialize(lookups=lookups)
    learned = learned_lemmas(weighted)
    prune_index(lookups)
    add_identity_rule(lookups, learned)
    for pos, words in learned.items():
        irregular = {
            word: lemmas
            for word, lemmas in words.items()
            if lemmatizer_answer(nlp, lemmatizer, word, pos) != lemmas[0]
        }
        table = lookups.get_table("lemma_exc")
        table.set(pos, {**table.get(pos, {}), **irregular})
    lemmatizer.cache.clear()


def is_inflected(word: str, words: set[str], suffixes: list[tuple[str, str]]) -> bool:
    """Tell whether a suffix rule leads from the word to another known word."""
    stems = [word[: -len(old)] + new for old, new in suffixes if word.endswith(old)]
    return any(stem != word and stem in words for stem in stems)


def prune_index(lookups: Any) -> None:
    """Drop inflected words ("years") from the index, else they would be their own lemmas."""
    rules = lookups.get_table("lemma_rules")
    index = lookups.get_table("lemma_index")
    for pos in ("noun", "adj", "adv", "verb"):
        words = set(index.get(pos))
        # Verbs are exempt: "feed" is no form of "fee", and irregular forms have exceptions.
        suffixes = [] if pos == "verb" else rules.get(pos, [])
        kept = {word for word in words if not is_inflected(word, words, suffixes)}
        # Membership in a dict takes constant time; the stock tables are lists.
        index.set(pos, dict.fromkeys(sorted(kept), 0))


def add_identity_rule(lookups: Any, classes: Iterable[str]) -> None:
    """Let words that no other rule covers be their own lemma, in lower case."""
    rules = lookups.get_table("lemma_rules")
    for pos in classes:
        rules.set(pos, [*rules.get(pos, []), ["", ""]])


def lemmatizer_answer(nlp: Any, lemmatizer: Any, word: str, pos: str) -> str:
    """Return the lemma that the present tables give to a word."""
    doc = Doc(nlp.vocab, words=[word], pos=[pos.upper()])
    return str(lemmatizer.rule_lemmatize(doc[0])[0])
