"""Corpora -> training examples: words with their layers, laid out anew each time they are read.

A document is read with different layouts (paragraphs by blank lines, by line breaks, by nothing;
lines wrapped; words apart, as treebanks have them), so that one model serves whatever users bring.
"""

from __future__ import annotations

import random
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rhetorica.corpora.disrpt import read_disrpt
from rhetorica.corpora.gcdt import read_gcdt
from rhetorica.corpora.gum import read_gum
from rhetorica.corpora.scidtb import document_name, read_scidtb
from rhetorica.corpora.umuc import read_umuc
from rhetorica.document import Document, Token
from rhetorica.errors import NonProjective, RepairWarning
from rhetorica.parsers.neural.units import Units
from rhetorica.parsers.neural.wordpiece import Pieces, WordPiece, WordPieces, locate_words
from rhetorica.parses import Parse
from rhetorica.relations import relation_set
from rhetorica.trees import ROOT, AnnotatedTree, DepTree, Label, RSTTree

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SOURCES = {"en": ("gum", "umuc", "scidtb"), "zh": ("gcdt", "scidtb")}
"""The corpora of each language; the labels of a model's trees are those of the first."""
UNSPACED = frozenset({"zh"})
"""Languages that are written without spaces between words."""
NONE, EDU, SENTENCE, PARAGRAPH = range(4)
"""What begins at a word: nothing, an EDU inside a sentence, a sentence, a paragraph."""
UNKNOWN = -2
"""The head of a word that nothing is known of; `ROOT` (-1) is that of a sentence's root."""
LONGEST_SENTENCE = 150
_MARKED = frozenset({"dm", "lexical", "orphan"})
_SENTENCE_END = re.compile(r"[.?!:;][\"'”’)\]]*$")


@dataclass(frozen=True)
class Lesson:
    """What a teacher thinks of the trees over a document's EDUs (see `teach`).

    ``shares[r]`` is the probability that join ``joins[r]`` (start, split, end) is in the tree; they
    are those of a distribution over binary trees, so their sum is the number of joins of a tree.
    ``labels[r]`` are the probabilities of ``names`` for that join.
    """

    joins: Ints
    shares: Floats
    labels: Floats
    names: tuple[Label, ...]


@dataclass(frozen=True)
class Example:
    """A document to learn from: words, what begins at each, and the gold trees.

    ``words`` are surface forms, ``apart`` tells whether white space stands before a word,
    ``starts`` where it begins in the corpus's text, ``marks`` what begins there. ``tags``,
    ``heads`` (the number of a word, `ROOT`, or `UNKNOWN`), ``deprels`` and ``markers`` are labels
    per word, empty where the corpus has none. With ``soft``, the probability per word that an EDU
    begins there, an example has no trees: it teaches segmentation and syntax. ``weight`` is that
    of its syntax, below 1 where it is automatic. ``lessons`` are what teachers think of its trees.
    ``unspaced`` text has no spaces between words. ``others`` are the dependencies that other
    annotators gave to the same EDUs.
    """

    id: str
    source: str
    words: tuple[str, ...]
    apart: tuple[bool, ...]
    starts: Ints
    marks: Ints
    dependencies: DepTree
    tree: RSTTree | None
    tags: tuple[str, ...] = ()
    heads: tuple[int, ...] = ()
    deprels: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    gold: Parse | None = field(default=None, compare=False)
    soft: Floats | None = None
    weight: float = 1.0
    lessons: tuple[Lesson, ...] = field(default=(), compare=False)
    unspaced: bool = False
    others: tuple[DepTree, ...] = ()

    @property
    def n_edus(self) -> int:
        """How many EDUs there are."""
        return self.dependencies.n_edus


@dataclass(frozen=True)
class Reading:
    """An example laid out as text and cut into pieces, with labels per piece (-1 where none).

    ``targets`` are, for an example with soft labels, the probabilities of each mark per piece.
    """

    example: Example
    text: str
    pieces: Pieces
    units: Units
    marks: Ints
    words: WordPieces
    targets: Floats | None = None


def read_examples(source: str, folder: Path | str, split: str) -> list[Example]:
    """Read the examples of a corpus's split."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepairWarning)
        parses = _parses(source, Path(folder), split)
        examples = [_example(parse, source) for parse in parses if parse.source is not None]
        if split == "train" and _is_scidtb(source, Path(folder)):
            examples = _with_others(examples, read_scidtb(folder, split, annotator="all"))
        return examples


def _is_scidtb(source: str, folder: Path) -> bool:
    """Tell SciDTB as distributed from the Chinese one, as the DISRPT shared tasks have it."""
    return source == "scidtb" and not folder.name.startswith("zho.")


def _with_others(examples: Sequence[Example], parses: Iterable[Parse]) -> list[Example]:
    """Add what other annotators found, where they had the same EDUs."""
    found: defaultdict[str, list[Parse]] = defaultdict(list)
    for parse in parses:
        found[document_name(parse.id)].append(parse)
    return [
        replace(
            example,
            others=tuple(
                parse.dependencies
                for parse in found[document_name(example.id)]
                if parse.id != example.id and parse.dependencies.n_edus == example.n_edus
            ),
        )
        for example in examples
    ]


def _parses(source: str, folder: Path, split: str) -> Iterable[Parse]:
    if source == "gum":
        return read_gum(folder, split)
    if source == "gcdt":
        return read_gcdt(folder, split)
    if source == "umuc":
        return read_umuc(folder, split)
    if _is_scidtb(source, folder):
        return read_scidtb(folder, split)
    return read_disrpt(folder, split)


def _example(parse: Parse, source: str) -> Example:
    doc = parse.document
    bare = syntax_example(parse, source)
    if source == "scidtb":  # where it has syntax, that is automatic and of another scheme
        bare = replace(bare, tags=(), heads=(), deprels=())
    starts, marks = bare.starts, bare.marks.copy()
    edus = np.searchsorted(starts, [edu.start for edu in doc.edus])
    marks[edus] = np.maximum(marks[edus], EDU)
    if not doc.sentences:
        words = _sentence_words(doc, edus)
        marks[words] = np.maximum(marks[words], SENTENCE)
    markers: tuple[str, ...] = ()
    if found := _markers(parse):
        by_start = {doc.tokens[index].start: name for index, name in found.items()}
        markers = tuple(by_start.get(start, "") for start in starts.tolist())
    return replace(
        bare,
        marks=marks,
        dependencies=parse.dependencies,
        tree=_tree(parse),
        markers=markers,
        gold=parse,
    )


def syntax_example(parse: Parse, source: str) -> Example:
    """Return an example with words, sentences and syntax, but neither EDUs nor trees."""
    doc = parse.document
    spans = _word_spans(doc)
    starts = np.array([start for start, _ in spans])
    unspaced = doc.language in UNSPACED
    apart = _apart(doc.text, spans, unspaced=unspaced)
    marks = np.zeros(len(spans), dtype=np.int64)
    marks[np.searchsorted(starts, [part.start for part in doc.sentences])] = SENTENCE
    marks[np.searchsorted(starts, [part.start for part in doc.paragraphs])] = PARAGRAPH
    marks[0] = PARAGRAPH
    tags: tuple[str, ...] = ()
    heads: tuple[int, ...] = ()
    deprels: tuple[str, ...] = ()
    if doc.tokens:
        by_span = {(token.start, token.end): index for index, token in enumerate(doc.tokens)}
        chosen = [by_span[span] for span in spans]
        word_of = {span: number for number, span in enumerate(spans)}
        words = [word_of[token.start, token.end] for token in doc.tokens]
        tags = tuple(doc.tokens[index].tag for index in chosen)
        heads = tuple(_head(doc.tokens[index], words, word) for word, index in enumerate(chosen))
        deprels = tuple(doc.tokens[index].deprel for index in chosen)
    return Example(
        parse.id,
        source,
        tuple(doc.text[start:end] for start, end in spans),
        apart,
        starts,
        marks,
        DepTree((), ()),
        None,
        tags,
        heads,
        deprels,
        unspaced=unspaced,
    )


def _apart(text: str, spans: Sequence[tuple[int, int]], *, unspaced: bool) -> tuple[bool, ...]:
    """Tell for each word whether white space stands before it, in the language's own spelling.

    Where a corpus puts spaces between all words of a language that has none, those between two
    words in Latin letters or digits stay.
    """
    apart = [i > 0 and start > spans[i - 1][1] for i, (start, _) in enumerate(spans)]
    if unspaced and sum(apart) > 0.9 * (len(apart) - 1):
        edges = [(text[start], text[end - 1]) for start, end in spans]
        both = [e[0].isascii() and e[0].isalnum() for e in edges]
        ends = [e[1].isascii() and e[1].isalnum() for e in edges]
        apart = [i > 0 and both[i] and ends[i - 1] for i in range(len(apart))]
    return tuple(apart)


def _head(token: Token, words: Sequence[int], word: int) -> int:
    """Return the number of the word that governs a token."""
    if token.head is None:
        return UNKNOWN
    if token.head < 0:
        return ROOT
    head = words[token.head]
    return UNKNOWN if head == word else head


def sentence_rows(marks: Ints, longest: int = LONGEST_SENTENCE) -> Ints:
    """Return the words of each sentence as rows, filled up with -1; too long ones are left out.

    >>> sentence_rows(np.array([PARAGRAPH, EDU, NONE, SENTENCE])).tolist()
    [[0, 1, 2], [3, -1, -1]]
    """
    edges = np.append(np.flatnonzero(marks >= SENTENCE), len(marks))
    firsts, sizes = edges[:-1], np.diff(edges)
    kept = sizes <= longest
    firsts, sizes = firsts[kept], sizes[kept]
    places = np.arange(sizes.max(initial=0))
    rows: Ints = np.where(places < sizes[:, None], firsts[:, None] + places, -1)
    return rows


def _tree(parse: Parse) -> RSTTree | None:
    """Return the binary tree where nuclearity is annotated."""
    if isinstance(parse.source, DepTree):
        return None
    try:
        return parse.tree
    except NonProjective:
        return None


def _word_spans(doc: Document) -> list[tuple[int, int]]:
    """Return the words as character ranges; words that share a range count once."""
    if not doc.tokens:
        return [match.span() for match in re.finditer(r"\S+", doc.text)]
    return list(dict.fromkeys((token.start, token.end) for token in doc.tokens))


def _sentence_words(doc: Document, edus: Ints) -> Sequence[int]:
    """Return the words that begin sentences where none are annotated: EDUs after a final mark."""
    texts = doc.edu_texts
    return [
        int(word)
        for before, word in zip(texts, edus[1:], strict=False)
        if _SENTENCE_END.search(before)
    ]


def _markers(parse: Parse) -> dict[int, str]:
    """Return, for words that signal a relation (connectives and the like), its class."""
    if not isinstance(parse.source, AnnotatedTree):
        return {}
    coarse = relation_set("gum").coarse
    found: dict[int, str] = {}
    for signal in parse.source.signals:
        if signal.type in _MARKED:
            edges = parse.source.secondary if signal.secondary else parse.source.nodes
            relation = edges[signal.source].relation
            if relation not in ("span", ""):
                found |= dict.fromkeys(signal.tokens, coarse(relation))
    return found


def lay_out(example: Example, rng: random.Random | None) -> tuple[str, list[int]]:
    """Return the text of an example and where its words begin; plain without ``rng``.

    Plain means a blank line between paragraphs and a space (none in languages that have none)
    between sentences.
    """
    gap = "" if example.unspaced else " "
    between_paragraphs, between_sentences, wrap, tokenized = "\n\n", gap, 0, False
    if rng and example.unspaced:
        # Many paragraphs begin with two wide spaces; corpora have spaces between sentences.
        between_paragraphs = rng.choices(
            ["\n\n", "\n", "\n\u3000\u3000", gap], [0.5, 0.2, 0.15, 0.15]
        )[0]
        if rng.random() < 0.15:
            between_sentences = " "
        elif rng.random() < 0.08 and between_paragraphs == "\n\n":
            between_sentences = "\n"
        elif rng.random() < 0.12 and between_paragraphs == "\n\n":
            wrap = rng.randint(25, 50)
        tokenized = rng.random() < 0.08
    elif rng:
        between_paragraphs = rng.choices(["\n\n", "\n", " "], [0.65, 0.2, 0.15])[0]
        if rng.random() < 0.08 and between_paragraphs == "\n\n":
            between_sentences = "\n"
        elif rng.random() < 0.12 and between_paragraphs == "\n\n":
            wrap = rng.randint(50, 100)
        tokenized = rng.random() < 0.12
    parts: list[str] = []
    starts: list[int] = []
    at = line = 0
    for word, apart, mark in zip(example.words, example.apart, example.marks, strict=True):
        space = " " if apart or tokenized else ""
        if mark >= SENTENCE:
            space = between_paragraphs if mark == PARAGRAPH else between_sentences
        if not starts:
            space = ""
        if wrap and space == gap and line > wrap:
            space = "\n"
        line = 0 if "\n" in space else line + len(space) + len(word)
        parts += (space, word)
        starts.append(at + len(space))
        at += len(space) + len(word)
    return "".join(parts), starts


def read(example: Example, tokenizer: WordPiece, rng: random.Random | None = None) -> Reading:
    """Lay out an example, cut it into pieces and bring its labels to them."""
    text, starts = lay_out(example, rng)
    pieces = tokenizer(text)
    ends = [start + len(word) for start, word in zip(starts, example.words, strict=True)]
    words = locate_words(pieces, starts, ends)
    firsts = words.firsts
    marks = np.where(pieces.begins, NONE, -1)
    marked = example.marks > NONE
    marks[firsts[marked]] = example.marks[marked]
    marks[~pieces.begins] = -1
    edus = firsts[marked]
    kinds = example.marks[marked]
    units = Units(np.append(edus, len(pieces)), kinds >= SENTENCE, kinds >= PARAGRAPH)
    targets = None if example.soft is None else _targets(example.soft, marks, firsts)
    reading = Reading(example, text, pieces, units, marks, words, targets)
    return disturb(reading, rng) if rng else reading


def _targets(soft: Floats, marks: Ints, firsts: Ints) -> Floats:
    """Return the probabilities of marks per piece: sentences are known, EDUs in them are not."""
    targets = np.eye(4)[np.maximum(marks, NONE)]
    inside = marks[firsts] < SENTENCE
    targets[firsts[inside], NONE] = 1 - soft[inside]
    targets[firsts[inside], EDU] = soft[inside]
    targets[marks < NONE] = 0
    return targets


def disturb(reading: Reading, rng: random.Random) -> Reading:
    """Make boundary features as unreliable as they are at run time: hide or misplace some."""
    kinds = reading.example.marks[reading.example.marks > NONE].copy()
    if rng.random() < 0.15:
        kinds[1:] = np.minimum(kinds[1:], SENTENCE)
    elif rng.random() < 0.3:
        for index in range(1, len(kinds)):
            if kinds[index] == PARAGRAPH and rng.random() < 0.2:
                kinds[index] = SENTENCE
    if rng.random() < 0.4:
        for index in range(1, len(kinds)):
            if kinds[index] == SENTENCE and rng.random() < 0.05:
                kinds[index] = EDU
            elif kinds[index] == EDU and rng.random() < 0.03:
                kinds[index] = SENTENCE
    units = Units(reading.units.firsts, kinds >= SENTENCE, kinds >= PARAGRAPH)
    return replace(reading, units=units)
