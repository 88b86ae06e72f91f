"""Give a CRF the words that DP-4 found in the collection to be cut, as features.

    python benchmarks/domain_words.py DATA/gcdt DATA/ud_zh_gsd [--gsd-only] [--dictionary]

Trained on UD Chinese-GSD and GCDT's train part. Test: GCDT's dev texts, in one collection with the
raw train texts of their genres; UD GSD's dev part, with its raw train part and alone. Printed are
F1 of words (means over genres) and the recall of gold words that are not in the training text:

- ``crf``: the CRF by itself;
- ``dp4``: DP-4 with the counts of the texts as that CRF cuts them, nothing frozen;
- ``crf + tags``: a CRF that also sees each character's place in DP-4's word (and the neighbours'),
  with the word's length and how often the collection has it;
- ``crf + list``: a CRF that also sees the list of DP-4's words (those that occur twice or more) as
  it would a dictionary: which of them begin, end, go on here, and the best way through;
- ``crf + both``.

What DP-4 says of training texts is as honest as of new ones: each half of them is a collection that
is cut with the counts of a CRF trained on the other half.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rhetorica.document import Span
from rhetorica.learn.crfsuite import open_tagger, train_crf
from rhetorica.reproduce.cao2014 import Gold, read_words, score_words
from rhetorica.words import CRFWords, Dictionary, Settings, Text, fit, load, read_segmented
from rhetorica.words.characters import kind, normalise
from rhetorica.words.model import Method
from rhetorica.words.segmenter import _add_dictionary, _pieces, _tags

WAYS = {"crf": "", "crf + tags": "t", "crf + both": "tl", "crf + list": "l"}
_NOTHING_FROZEN = Settings(term_score=math.inf, keyword_score=math.inf, join=math.inf)
_TOGETHER = 20  # sentences of GSD that are one text: it does not say where its texts end


@dataclass(frozen=True, slots=True)
class Hints:
    """What DP-4 found in a text: its words, and how often its domain has each."""

    words: Sequence[Span]
    counts: Counter[str]
    listed: Dictionary


def read_gsd(path: Path) -> list[Gold]:
    """Read sentences as texts of a few each; a space stands between Latin words only."""
    found = []
    sentences = read_segmented(path)
    for first in range(0, len(sentences), _TOGETHER):
        text, words = "", []
        for sentence in sentences[first : first + _TOGETHER]:
            for word in sentence:
                if text and kind(text[-1]) == "l" == kind(word[0]):
                    text += " "
                words.append(Span(len(text), len(text) + len(word)))
                text += word
            text += "\n"
        found.append(Gold(Text(f"gsd-{first}", text, "gsd"), tuple(words)))
    return found


def hints(texts: Sequence[Text], segmenter: CRFWords, method: Method) -> list[Hints]:
    """Let DP-4 cut a collection with the counts of a segmenter; or let the segmenter, ``crf``."""
    cuts = fit(texts, _NOTHING_FROZEN, method=method, segmenter=segmenter).texts
    counts: dict[str, Counter[str]] = {}
    for cut in cuts:
        text = normalise(cut.text.text)
        counts.setdefault(cut.text.domain, Counter()).update(text[a:b] for a, b in cut.words)
    listed = {
        domain: Dictionary(
            {
                word: min(9, count.bit_length())
                for word, count in found.items()
                if count > 1 and 1 < len(word) <= 6
            }
        )
        for domain, found in counts.items()
    }
    return [Hints(c.words, counts[c.text.domain], listed[c.text.domain]) for c in cuts]


class Hinted(CRFWords):
    """A CRF that sees what DP-4 found beside the characters."""

    def __init__(self, way: str, dictionary: Dictionary | None, iterations: int) -> None:
        super().__init__(dictionary=dictionary, iterations=iterations)
        self.way = way

    def learn(self, gold: Sequence[Gold], found: Sequence[Hints | None]) -> Hinted:
        """Learn from texts whose words are known."""
        self.weights_ = train_crf(
            self._rows(gold, found), l1=self.settings.l1, l2=self.settings.l2,
            iterations=self.settings.iterations, progress=lambda *_: None,
        )  # fmt: skip
        return self

    def _rows(
        self, gold: Iterable[Gold], found: Iterable[Hints | None]
    ) -> Iterator[tuple[list[list[str]], list[str]]]:
        for one, hint in zip(gold, found, strict=True):
            tags = [""] * len(one.text.text)
            for start, end in one.words:
                tags[start:end] = _tags(end - start)
            for (start, end), rows in self._seen(one.text.text, hint):
                yield rows, tags[start:end]

    def cut(self, text: str, hint: Hints | None) -> list[Span]:
        """Return the ranges of a text's words."""
        tagger = open_tagger(self.weights_)
        found = []
        for (start, end), rows in self._seen(text, hint):
            tags = tagger.tag(rows)
            first = [at for at in range(start, end) if at == start or tags[at - start] in "BS"]
            found += [Span(a, b) for a, b in zip(first, [*first[1:], end], strict=True)]
        return found

    def _seen(self, text: str, hint: Hints | None) -> Iterator[tuple[Span, list[list[str]]]]:
        text = normalise(text)
        places = _places(text, hint) if hint and "t" in self.way else None
        for start, end in _pieces(text):
            rows = self._features(text[start:end])
            if places:
                here = ["<", *places[start:end], ">"]
                for at, row in enumerate(rows):
                    (a, _), (b, often), (c, _) = (h.partition("/")[::2] for h in here[at : at + 3])
                    row += [
                        f"W{b}", f"W{b}/{often}", f"X{a},{b}", f"Y{b},{c}", f"Z{a},{b},{c}",
                        f"W{b},{text[start + at]}",
                    ]  # fmt: skip
            if hint and "l" in self.way:
                more: list[list[str]] = [[] for _ in rows]
                _add_dictionary(more, text[start:end], hint.listed)
                for row, added in zip(rows, more, strict=True):
                    row += [f"L{name}" for name in added]
            yield Span(start, end), rows


def _places(text: str, hint: Hints) -> list[str]:
    """Return each character's place in DP-4's word, the word's length, and how often it occurs."""
    places = ["S/1"] * len(text)
    for start, end in hint.words:
        often = min(hint.counts[text[start:end]].bit_length(), 5)
        places[start:end] = [f"{t}{min(end - start, 4)}/{often}" for t in _tags(end - start)]
    return places


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gcdt", type=Path)
    parser.add_argument("gsd", type=Path)
    parser.add_argument("--gsd-only", action="store_true", help="Train on UD GSD alone.")
    parser.add_argument("--dictionary", action="store_true", help="With the shipped dictionary.")
    parser.add_argument("--by", choices=("dp4", "crf"), default="dp4", help="Whose words.")
    parser.add_argument("--ways", nargs="+", choices=list(WAYS)[1:], default=list(WAYS)[1:])
    parser.add_argument("--iterations", type=int, default=40)
    given = parser.parse_args()
    words = load().dictionary if given.dictionary else None
    raw, dev = read_words(given.gcdt, "train"), read_words(given.gcdt, "dev")
    news, gsd = (
        read_gsd(given.gsd / f"zh_gsd13simp-ud1-{part}.conllu.gz") for part in ("dev", "train")
    )
    train = gsd if given.gsd_only else [*gsd, *raw]
    tests = {
        "GCDT dev": ([*dev, *raw], len(dev)),
        "UD GSD dev": ([*news, *gsd], len(news)),
        "UD GSD dev alone": (news, len(news)),
    }
    if given.gsd_only:
        tests["GCDT, all"] = ([*dev, *raw], len(dev) + len(raw))
    known = {normalise(one.text.text[a:b]) for one in train for a, b in one.words}

    def learn(way: str, gold: Sequence[Gold], found: Sequence[Hints | None]) -> Hinted:
        return Hinted(way, words, given.iterations).learn(gold, found)

    start = time.process_time()
    found: list[Hints | None] = [None] * len(train)
    for half in (0, 1):
        other = learn("", train[1 - half :: 2], [None] * len(train[1 - half :: 2]))
        found[half::2] = hints([one.text for one in train[half::2]], other, given.by)
    alone = learn("", train, found)
    seen = {
        name: hints([one.text for one in texts], alone, given.by)
        for name, (texts, _) in tests.items()
    }

    def row(name: str, pred: Mapping[str, Sequence[Sequence[Span]]]) -> None:
        cells = []
        for test, (texts, n) in tests.items():
            figures = score_words(texts[:n], pred[test], known)
            cells += [np.mean(list(figures[figure].values())) for figure in ("F1", "OOV-R")]
        print(f"| {name} |", *(f"{100 * cell:.2f} |" for cell in cells), flush=True)

    print(f"{time.process_time() - start:.0f} s of CPU\n")
    print("| |", *(f"{name}, F1 | OOV-R |" for name in tests))
    print("|---|" + "---|---|" * len(tests), flush=True)
    for name in ("crf", *given.ways):
        way = WAYS[name]
        model = learn(way, train, found) if way else alone
        row(name, {
            test: [
                model.cut(one.text.text, hint)
                for one, hint in zip(texts[:n], seen[test], strict=False)
            ]
            for test, (texts, n) in tests.items()
        })  # fmt: skip
        if not way:
            row(given.by, {t: [h.words for h in seen[t][:n]] for t, (_, n) in tests.items()})
    print(f"\n{time.process_time() - start:.0f} s of CPU")


if __name__ == "__main__":
    main()
