"""Real sequences as data for experts: handwritten letters, and words with their tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rhetorica.corpora.gum import read_gum
from rhetorica.errors import FormatError
from rhetorica.files import Source
from rhetorica.reproduce.cortes2014.chains import Data

Ints = npt.NDArray[np.int64]
LONGEST = 40
"""Sentences of more words are left out, so that tables stay small (6 in 100)."""


def read_letters(folder: Path | str) -> Data:
    """Read Kassel's handwritten words: ``*.tsv`` with word_id, pos, letter, pixels_hex.

    Features are the pixels that are set, and one that always is.
    """
    paths = sorted(Path(folder).glob("*.tsv"))
    if not paths:
        raise FormatError(str(folder), None, "no .tsv file with letters here")
    rows, labels, offsets = [], [], [0]
    for path in paths:
        last = None
        for number, line in enumerate(Source.of(path).text.splitlines()[1:], 2):
            cells = line.split("\t")
            if len(cells) != 4 or len(cells[3]) != 32 or not cells[2].islower():
                raise FormatError(str(path), number, "expected word_id, pos, letter, pixels_hex")
            if last is not None and cells[0] != last:
                offsets.append(len(rows))
            last = cells[0]
            bits = np.unpackbits(np.frombuffer(bytes.fromhex(cells[3]), dtype=np.uint8))
            rows.append(np.append(np.where(bits, np.arange(1, 129), 0), 129).astype(np.int32))
            labels.append(ord(cells[2]) - ord("a"))
        offsets.append(len(rows))
    return Data(
        np.array(rows), np.array(labels), np.array(offsets, dtype=np.int64), width=130, n_labels=26
    )


def read_tagged(folder: Path | str) -> list[tuple[list[str], list[str]]]:
    """Read GUM's sentences of train and dev as (words, Penn Treebank tags)."""
    found = []
    for split in ("train", "dev"):
        for parse in read_gum(folder, split):
            doc = parse.document
            for sentence in doc.sentence_tokens():
                tokens = [doc.tokens[at] for at in sentence]
                if 0 < len(tokens) <= LONGEST:
                    found.append(([doc.form(t) for t in tokens], [t.tag for t in tokens]))
    return found


def tagging_data(
    sentences: Sequence[tuple[list[str], list[str]]], known: int
) -> tuple[Data, list[str]]:
    """Give numbers to the features that occur in the first ``known`` sentences, and the tags.

    Features: the word, its shape, prefixes and suffixes, and the words next to it.
    """
    numbers: dict[str, int] = {}
    for words, _ in sentences[:known]:
        for features in map(_features, *_windows(words)):
            for feature in features:
                numbers.setdefault(feature, len(numbers) + 1)
    tags = sorted({tag for _, found in sentences for tag in found})
    codes = {tag: code for code, tag in enumerate(tags)}
    rows = [
        [numbers.get(feature, 0) for feature in features]
        for words, _ in sentences
        for features in map(_features, *_windows(words))
    ]
    labels = [codes[tag] for _, found in sentences for tag in found]
    offsets = np.concatenate([[0], np.cumsum([len(words) for words, _ in sentences])])
    data = Data(
        np.array(rows, dtype=np.int32),
        np.array(labels),
        offsets.astype(np.int64),
        width=len(numbers) + 1,
        n_labels=len(tags),
    )
    return data, tags


def _windows(words: list[str]) -> tuple[Iterable[str], Iterable[str], Iterable[str]]:
    return words, ["<s>", *words[:-1]], [*words[1:], "</s>"]


def _features(word: str, before: str, after: str) -> list[str]:
    small = word.lower()
    shape = "".join("X" if c.isupper() else "d" if c.isdigit() else "x" for c in word)
    return [
        "bias",
        f"w={small}",
        f"-1={before.lower()}",
        f"+1={after.lower()}",
        f"s1={small[-1:]}",
        f"s2={small[-2:]}",
        f"s3={small[-3:]}",
        f"p1={small[:1]}",
        f"p3={small[:3]}",
        f"shape={shape[:1]}{shape[-1:]}{len(set(shape))}",
        f"punct={word if not any(c.isalnum() for c in word) else ''}",
    ]
