"""Train the general word segmenter of Chinese: a CRF over characters, with a dictionary.

It learns from UD Chinese-GSD. The dictionary is a file of words with their frequencies, such as
the one of jieba (MIT licence); words that are rare there are left out.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from rhetorica.document import Span
from rhetorica.errors import RhetoricaError
from rhetorica.evaluate.counts import NOTHING, Counts, signature
from rhetorica.evaluate.words import new_word_counts, word_counts
from rhetorica.files import write_text
from rhetorica.formats.conllu import read_conllu
from rhetorica.progress import Event, Tell, nothing
from rhetorica.settings import plain
from rhetorica.words.characters import normalise
from rhetorica.words.dictionary import Dictionary
from rhetorica.words.segmented import read_segmented
from rhetorica.words.segmenter import CRFWords, Settings

LICENCE = (
    "trained on UD Chinese-GSD 1.3 (CC BY-NC-SA 4.0, non-commercial); word list of jieba 0.42.1 "
    "(MIT)"
)
_MIT = """The word list is made from the dictionary of jieba, which has this licence:

> The MIT License (MIT)
>
> Copyright (c) 2013 Sun Junyi
>
> Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
> associated documentation files (the "Software"), to deal in the Software without restriction,
> including without limitation the rights to use, copy, modify, merge, publish, distribute,
> sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
> furnished to do so, subject to the following conditions:
>
> The above copyright notice and this permission notice shall be included in all copies or
> substantial portions of the Software.
>
> THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
> NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
> NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
> DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
> OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


def train_words(
    gsd: Path,
    dictionary: Path,
    out: Path,
    settings: Settings | None = None,
    *,
    min_frequency: int = 3,
    tell: Tell = nothing,
    command: str = "",
) -> dict[str, Counts]:
    """Train the segmenter, write its model folder and return its scores on dev.

    ``gsd`` holds ``*train.conllu(.gz)`` and ``*dev.conllu(.gz)``; every dev file is scored.
    """
    known = Dictionary.read(dictionary, min_count=min_frequency)
    files = sorted(gsd.glob("*.conllu*"))
    train = [path for path in files if "-train." in path.name]
    dev = [path for path in files if "-dev." in path.name]
    if not train or not dev:
        raise RhetoricaError(
            f"no *-train.conllu and *-dev.conllu in {gsd}: expected UD Chinese-GSD"
        )
    sentences = [sentence for path in train for sentence in read_segmented(path)]
    model = CRFWords(settings, dictionary=known).fit(sentences, tell=tell)
    words = {normalise(word) for sentence in sentences for word in sentence}
    scores: dict[str, Counts] = {}
    for path in dev:
        name = path.name.partition(".")[0]
        scores[name], scores[f"{name}, new words"] = score_words(model, path, words)
        tell(Event(name, note=f"F1 {100 * scores[name].f1:.2f}"))
    raw = max(counts.f1 for name, counts in scores.items() if name in _names(dev))
    model.save(out, treebanks=("gsd",), licence=LICENCE, scores={"raw": round(100 * raw, 2)})
    write_text(out / "README.md", _card(out, model, known, len(sentences), scores, command))
    return scores


def _names(paths: list[Path]) -> set[str]:
    return {path.name.partition(".")[0] for path in paths}


def score_words(model: CRFWords, path: Path, known: set[str]) -> tuple[Counts, Counts]:
    """Score a segmenter on a CoNLL-U file: all words, and those not in a vocabulary."""
    every = new = NOTHING
    for parse in read_conllu(path):
        doc = parse.document
        text = normalise(doc.text)
        gold = [Span(token.start, token.end) for token in doc.tokens]
        pred = model.words(doc.text)
        every += word_counts(gold, pred)
        new += new_word_counts(text, gold, pred, known)
    return every, new


def _card(
    out: Path,
    model: CRFWords,
    known: Dictionary,
    sentences: int,
    scores: dict[str, Counts],
    command: str,
) -> str:
    settings = "; ".join(f"{name} {value}" for name, value in plain(model.settings).items())
    items = [
        "**Model**: linear-chain CRF over characters, language zh (simplified characters); white "
        "space always ends a word; full-width letters, digits and marks are read as half-width.",
        f"**Data**: {sentences} sentences of the train split of UD Chinese-GSD 1.3, and a word "
        f"list of {len(known.steps)} words; {LICENCE}. The texts are not in the model; whoever "
        "uses it commercially should form an opinion on these licences.",
        f"**Training**: `{command}`",
        f"**Settings**: {settings}. No seed: nothing is drawn.",
        "**Scores**: whole words. The dev files have the same sentences; the one of UD 2 has the "
        "text as it was, with spaces between Latin words, that of UD 1.3 has none. Settings were "
        "chosen on the same files, so the figures are a little too good.",
    ]
    rows = []
    for name, counts in scores.items():
        told = f"recall {100 * counts.recall:.2f}" if "new" in name else f"{100 * counts.f1:.2f}"
        sign = signature("words", "all", text="raw", corpus=name.partition(",")[0])
        rows.append(f"| {name} | {told} | {sign.replace('|', ', ')} |")
    lines = [
        f"# {out.resolve().name}: general word segmenter of Chinese",
        "",
        *(
            textwrap.fill(f"- {item}", 100, subsequent_indent="  ", break_on_hyphens=False)
            for item in items
        ),
        "",
        "| dev | F1 | signature |",
        "|---|---|---|",
        *rows,
        "",
        _MIT,
    ]
    return "\n".join(lines)
