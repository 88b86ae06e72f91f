"""Make a small corpus in the layouts of RST-DT and of the Penn Treebank, with texts of our own.

Both corpora are licensed; whoever holds them should find that every command works. The texts here
are put together from a few templates, so that there is something to learn.

    python tests/made_corpus.py FOLDER
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from rhetorica import Document, Join, Parse, RSTTree
from rhetorica.corpora.ptb import RENAMED
from rhetorica.document import Span
from rhetorica.formats.dis import write_dis

NAMES = "Ada Bruno Clara Dario Emma Felix".split()
THINGS = "garden bridge market window harbour kitchen letter engine".split()
VERBS = "painted closed repaired visited sold measured".split()
TIMES = "yesterday again early twice".split()

CLAUSES = (
    "(S (NP-SBJ (NNP {name})) (VP (VBD {verb}) (NP (DT the) (NN {thing})) (ADVP-TMP (RB {time}))))",
    "(S (NP-SBJ (DT the) (NN {thing})) (VP (VBD was) (VP (VBN {verb}) (NP (-NONE- *-1)))))",
    "(S (NP-SBJ-1 (PRP they)) (VP (VBD wanted) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB see) "
    "(NP (DT a) (NN {thing})))))))",
    "(S (NP-SBJ (DT a) (NN {thing})) (VP (VBD cost) (NP (QP ($ $) (CD {cost}) (CD million)) "
    "(-NONE- *U*))))",
)
SENTENCES = (
    # Tree, with | where the next unit begins; nuclearity and relation of the first two units.
    ("( (S {0} (| |) (PP (IN because) {1}) (. .)) )", "NS", "reason"),
    ("( (S (SBAR-ADV (IN although) {0}) (, ,) (| |) {1} (. .)) )", "SN", "concession"),
    ("( (S {0} (, ,) (| |) (CC and) {1} (. .)) )", "NN", "List"),
    (
        "( (S (NP-SBJ (DT The) (NN {thing}) (POS 's) (NN owner)) (VP (VBD said) (SBAR (| |) "
        "(-NONE- 0) {0})) (. .)) )",
        "SN",
        "attribution",
    ),
    ("( (S (`` ``) {0} ('' '') (| |) (PRN (-LRB- -LRB-) {1} (-RRB- -RRB-)) (. .)) )", "NS",
     "elaboration-additional-e"),
    ("( (S (NP-SBJ (NP (DT The) (NN {thing})) (, ,) (| |) (SBAR (WHNP-1 (WDT which)) (S (NP-SBJ "
     "(-NONE- *T*-1)) (VP (VBD {verb}) (NP (NNP {name}))))) (, ,)) (| |) (VP (VBD was) (ADJP-PRD "
     "(JJ old))) (. .)) )", "NS", "elaboration-object-attribute-e"),
    ("( (S {0} (. .)) )", "", ""),
)  # fmt: skip
ABOVE = (("NS", "elaboration-additional"), ("NN", "Sequence"), ("SN", "background"), ("NN", "List"))


@dataclass(frozen=True)
class Text:
    """A document, and the trees of its sentences in the treebank's form."""

    parse: Parse
    raw: str
    trees: tuple[str, ...]


def make_corpus(folder: Path, *, training: int = 21, test: int = 3, seed: int = 0) -> Path:
    """Write both corpora below a folder, as ``rst`` and ``ptb``, and return it."""
    rng = Random(seed)
    main = folder / "rst" / "data" / "RSTtrees-WSJ-main-1.0"
    names = ["file1", *(f"wsj_{600 + number:04}" for number in range(training - 1))]
    for name in names:
        write(make_text(rng, name), main / "TRAINING", folder / "ptb")
    for number in range(test):
        write(make_text(rng, f"wsj_{2300 + number}"), main / "TEST", folder / "ptb")
    double = main.with_name("RSTtrees-WSJ-double-1.0")  # some were annotated twice: not read
    double.mkdir()
    for path in sorted((main / "TRAINING").glob("wsj_0601.out*")):
        shutil.copy(path, double)
    return folder


def make_text(rng: Random, name: str) -> Text:
    """Put a document together from sentences."""
    units: list[str] = []
    joins: list[Join] = []
    trees: list[str] = []
    sentences: list[tuple[int, int]] = []
    for _ in range(rng.randint(4, 7)):
        template, nuclearity, relation = rng.choice(SENTENCES)
        tree = _filled(rng, template)
        parts = _written(tree)
        start = len(units)
        units += parts
        sentences.append((start, len(units)))
        if len(parts) > 1:
            joins.append(Join(start, start + 1, start + 2, nuclearity, relation))  # type: ignore[arg-type]
        if len(parts) > 2:  # the rest of a clause that was interrupted
            joins.append(Join(start, start + 2, start + 3, "NN", "Same-Unit"))
        trees.append(tree.replace(" (| |)", ""))
    for start, split in sentences[:-1]:  # the text branches to the right
        nuclearity, relation = rng.choice(ABOVE)
        joins.append(Join(start, split, len(units), nuclearity, relation))  # type: ignore[arg-type]
    if name == "wsj_0603":  # there are a few relations that the manual does not have
        joins[-1] = joins[-1]._replace(nuclearity="NS", relation="digression")
    breaks = {start for start, _ in sentences[2::2]}
    pieces: list[str] = []
    for number, unit in enumerate(units):
        pieces.append("\n\n" if number in breaks else " " if number else "")
        pieces.append(unit)
    doc = Document.from_edus(units, id=name)
    ends = [*sorted(breaks), len(units)]
    starts = [0, *sorted(breaks)]
    paragraphs = tuple(
        Span(doc.edus[a].start, doc.edus[b - 1].end) for a, b in zip(starts, ends, strict=True)
    )
    tree = RSTTree(len(units), tuple(sorted(joins, key=lambda join: (join.start, -join.end))))
    return Text(Parse(replace(doc, paragraphs=paragraphs), tree), "".join(pieces), tuple(trees))


def write(text: Text, folder: Path, treebank: Path) -> None:
    """Write a document's tree, raw text and units, and its article of the treebank."""
    folder.mkdir(parents=True, exist_ok=True)
    name = text.parse.id
    base = name if name in RENAMED else f"{name}.out"
    brackets = write_dis(text.parse)
    if name == "wsj_0602":  # noise of the annotation tool, as in some of the real files
        brackets = brackets.replace("\n", " //TT_ERR\n", 1)
    (folder / f"{base}.dis").write_text(brackets)
    wrapped = (textwrap.fill(part, 60, initial_indent="     ") for part in text.raw.split("\n\n"))
    (folder / base).write_text("\n\n".join(wrapped) + "\n")
    (folder / f"{base}.edus").write_text("".join(f"    {unit}\n" for unit in text.parse.edus))
    article = RENAMED.get(name, name)
    place = treebank / "parsed" / "mrg" / "wsj" / article[4:6]
    place.mkdir(parents=True, exist_ok=True)
    trees = (tree.replace(" (VP", "\n    (VP") for tree in text.trees)
    (place / f"{article}.mrg").write_text("\n" + "\n".join(trees) + "\n")


def _filled(rng: Random, template: str) -> str:
    clauses = [rng.choice(CLAUSES) for _ in range(2)]
    tree = template.replace("{0}", clauses[0]).replace("{1}", clauses[1])
    for slot, words in (("name", NAMES), ("verb", VERBS), ("thing", THINGS), ("time", TIMES)):
        tree = re.sub(rf"\{{{slot}\}}", lambda _, words=words: rng.choice(words), tree)
    tree = re.sub(r"\{cost\}", lambda _: str(rng.randint(2, 9)), tree)
    first = r"(\([A-Z]+ )([a-zA-Z])"  # the first word, whatever marks stand before it
    return re.sub(first, lambda match: match[1] + match[2].upper(), tree, count=1)


def _written(tree: str) -> list[str]:
    """Return the units of a sentence as they stand in a text."""
    words = [
        word for tag, word in re.findall(r"\(([^\s()]+) ([^\s()]+)\)", tree) if tag != "-NONE-"
    ]
    text = " ".join(words)
    for pattern, written in (
        (r"`` ", '"'), (r" ''", '"'), (r"-LRB- ", "("), (r" -RRB-", ")"), (r" ([,.])", r"\1"),
        (r"\$ ", "$"), (r" 's", "'s"),
    ):  # fmt: skip
        text = re.sub(pattern, written, text)
    return [part.strip() for part in text.split("|")]


if __name__ == "__main__":
    make_corpus(Path(sys.argv[1]))
