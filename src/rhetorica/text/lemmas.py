"""Words with tags -> lemmas, by endings learned from a treebank.

For each tag a table says what to do with a word by its longest known ending (or the whole word):
how many letters to take off and what to put there. Endings that do what a shorter one does already
are left out, so the table is small.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

LONGEST = 6
"""Letters of an ending; beyond, only whole words are known."""
_WHOLE = "^"
_NAMES = ("NNP", "NNPS")


class Lemmas:
    """A table of endings by tag.

    >>> table = Lemmas.learn([("walked", "VBD", "walk"), ("went", "VBD", "go"),
    ...                       ("talked", "VBD", "talk")])
    >>> table("Kicked", "VBD"), table("went", "VBD"), table("Went", "NN")
    ('kick', 'go', 'went')
    """

    def __init__(self, table: Mapping[str, Mapping[str, str]]) -> None:
        self.table = table

    def __call__(self, word: str, tag: str) -> str:
        """Return the lemma of a word; without a rule, that is the word in lower case."""
        if _is_fixed(word, tag):
            return word
        word = _folded(word, tag)
        rules = self.table.get(tag, {})
        for ending in _endings(word):
            if ending in rules:
                return _apply(word, rules[ending])
        return word

    @classmethod
    def learn(cls, words: Iterable[tuple[str, str, str]]) -> Lemmas:
        """Learn from words with tags and lemmas."""
        counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for word, tag, lemma in words:
            if _is_fixed(word, tag):
                continue
            word = _folded(word, tag)
            for ending in _endings(word):
                counts[tag][ending][_script(word, lemma)] += 1
        table: dict[str, dict[str, str]] = {}
        for tag, endings in counts.items():
            best = {ending: scripts.most_common(1)[0][0] for ending, scripts in endings.items()}
            rules: dict[str, str] = {}
            # Shorter endings first: a longer one is kept where it knows better.
            for ending in sorted(best, key=lambda e: (e.startswith(_WHOLE), len(e))):
                shorter = next((rules[e] for e in _shorter(ending) if e in rules), "0")
                if best[ending] != shorter:
                    rules[ending] = best[ending]
            table[tag] = rules
        return cls(table)


def _is_fixed(word: str, tag: str) -> bool:
    """Tell whether a word is its own lemma: names, and whatever is spelt without letters."""
    return tag == "NNP" or not any(map(str.isalpha, word))


def _folded(word: str, tag: str) -> str:
    return word if tag in _NAMES else word.lower()


def _endings(word: str) -> list[str]:
    """Return what a word is looked up by, the most telling first."""
    return [_WHOLE + word, *(word[-size:] for size in range(min(LONGEST, len(word)), 0, -1)), ""]


def _shorter(ending: str) -> list[str]:
    return _endings(ending.removeprefix(_WHOLE))[0 if ending.startswith(_WHOLE) else 2 :]


def _script(word: str, lemma: str) -> str:
    """Return the way from a word to its lemma: how many letters to take off, what to add."""
    pairs = enumerate(zip(word, lemma, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(len(word), len(lemma)))
    return f"{len(word) - same}{lemma[same:]}"


def _apply(word: str, script: str) -> str:
    digits = len(script) - len(script.lstrip("0123456789"))
    count = int(script[:digits])
    return word[: len(word) - count] + script[digits:]
