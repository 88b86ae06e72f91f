"""CoNLL-U with discourse annotation in its last column: file <-> Documents, Parses.

Tokens carry lemma, UPOS, XPOS, features, head and relation; ellipsis nodes (decimal ids), enhanced
dependencies and other annotations in MISC are dropped. ``# newdoc``, ``# newpar`` and
``# meta::key = value`` give documents, paragraphs and `Document.meta`; other comments are dropped.

Text. The words are laid out as ``# text`` has them, ignoring how much white space it puts between;
where there is no such comment, or it does not spell the words, ``SpaceAfter=No`` decides. (The
words win because every annotation hangs on them.) Sentences are joined by a space, unless the last
word says ``SpaceAfter=No``, and paragraphs by an empty line; UDPipe's ``SpacesAfter``, which gives
the white space literally, beats all. The words of a multiword token get spans of their own where
they spell it ("do" + "n't"), otherwise they share its span ("de" + "a" for "da"); if an EDU starts
between them, each gets its share of the characters. Where ranges overlap (STAC has one such case),
the later one counts.

Discourse. Two dialects: DISRPT's ``Seg=B-seg`` (before 2025 ``BeginSeg=Yes``) on the first word of
each EDU, without a tree; and GUM's ``Discourse=relation:id->head:level:signals``, also on the
first word, ``ROOT:id:0`` for the root. A relation ends in ``_m`` if it is multinuclear. What
follows a semicolon are secondary edges, which a dependency tree has no place for; they and the
signals are dropped (the ``.rs4`` file has them).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

from rhetorica.document import Document, Span, Token, group_by_span, locate
from rhetorica.errors import InvalidDocument, InvalidTree
from rhetorica.files import Readable, Source
from rhetorica.formats._arcs import BREAKS, SUFFIXES, Arc, parse_int, read_arcs
from rhetorica.parses import Parse
from rhetorica.trees import ROOT

Dialect = Literal["auto", "seg", "discourse", "none"]

COLUMNS = 10
EMPTY = "_"
_SEGMENT_MARKS = ("Seg=B-seg", "BeginSeg=Yes")
_DISCOURSE = "Discourse="
_SPACES_AFTER, _SPACES_BEFORE = "SpacesAfter=", "SpacesBefore="
_ESCAPES = {" ": "\\s", "\t": "\\t", "\n": "\\n", "\r": "\\r", "|": "\\p", "\\": "\\\\"}
_UNESCAPES = {code[1]: character for character, code in _ESCAPES.items()}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def read_conllu(source: Readable) -> Iterator[Parse]:
    r"""Read document by document: tokens, sentences, paragraphs and, where annotated, discourse.

    A file without ``# newdoc`` is one document, named after the file.

    >>> from io import StringIO
    >>> rows = ["1\tWet\t_\tADJ\t_\t_\t0\troot\t_\tSeg=B-seg|SpaceAfter=No", "2\t!" + "\t_" * 8]
    >>> [parse] = read_conllu(StringIO("\n".join(rows)))
    >>> parse.document.text, parse.edus
    ('Wet!', ['Wet!'])
    """
    source = Source.of(source)
    source.require_content()
    reading: _Reading | None = None
    for sentence in _sentences(source):
        name = _comment_value(sentence.comments, ("newdoc id", "newdoc_id", "newdoc"))
        if reading is None:
            reading = _Reading(source, source.stem if name is None else name)
        elif name is not None:
            yield reading.parse()
            reading = _Reading(source, name)
        reading.add(sentence)
    if reading is None:
        raise source.error("no words, only comments", 1)
    yield reading.parse()


def write_conllu(parses: Parse | Iterable[Parse], *, discourse: Dialect = "auto") -> str:
    """Return the file's text.

    ``discourse`` chooses the dialect: "discourse" writes relations, "seg" EDUs only; "auto" writes
    relations where there is a tree and EDUs where there is none. A document needs tokens; without
    sentences it is written as one.
    """
    if isinstance(parses, Parse):
        parses = (parses,)
    rows: list[str] = []
    for parse in parses:
        _write_document(parse, discourse, rows)
    return "".join(f"{row}\n" for row in rows)


class _Sentence(NamedTuple):
    """The lines of one block: comments (line, text) and rows (line, columns)."""

    comments: list[tuple[int, str]]
    rows: list[tuple[int, list[str]]]


def _sentences(source: Source) -> Iterator[_Sentence]:
    """Yield the blocks of lines between blank lines; comments alone go to the next block."""
    comments: list[tuple[int, str]] = []
    rows: list[tuple[int, list[str]]] = []
    for line, text in enumerate(source.text.split("\n"), 1):
        if not text.strip():
            if rows:
                yield _Sentence(comments, rows)
                comments, rows = [], []
        elif text[0] == "#":
            comments.append((line, text[1:].strip()))
        else:
            columns = text.split("\t")
            if len(columns) != COLUMNS:
                raise source.error(
                    f"{len(columns)} columns separated by tabs, expected {COLUMNS}", line
                )
            rows.append((line, columns))
    if rows:
        yield _Sentence(comments, rows)


def _comment_value(comments: Sequence[tuple[int, str]], names: Sequence[str]) -> str | None:
    """Return what the first comment with one of the names says, "" if it only stands there."""
    for _, comment in comments:
        key, _, value = comment.partition("=")
        if key.rstrip() in names:
            return value.strip()
    return None


class _Surface(NamedTuple):
    """A token as it stands in the text: its words' rows, its form and MISC."""

    form: str
    misc: str
    words: list[tuple[int, list[str]]]


def _surfaces(source: Source, rows: Sequence[tuple[int, list[str]]]) -> list[_Surface]:
    """Group words into surface tokens and check that their ids count up from 1."""
    surfaces: list[_Surface] = []
    expected, last, first = 1, 0, 0
    for line, columns in rows:
        number = columns[0]
        if number == str(expected):
            if not columns[1]:
                raise source.error(f"word {number} has no form", line)
            if expected <= last:
                surfaces[-1].words.append((line, columns))
            else:
                surfaces.append(_Surface(columns[1], columns[9], [(line, columns)]))
            expected += 1
        elif "-" in number:
            begin, _, end = number.partition("-")
            first = parse_int(source, line, "the start of the range", begin)
            last = parse_int(source, line, "the end of the range", end)
            if first != expected or last < first or not columns[1]:
                raise source.error(
                    f"the range {number} comes where word {expected} was expected", line
                )
            surfaces.append(_Surface(columns[1], columns[9], []))
        elif "." not in number:  # a decimal id is an ellipsis node, not in the text
            parse_int(source, line, "the word's id (column 1)", number)
            raise source.error(f"word {number} comes where {expected} was expected", line)
    if expected <= last:
        raise source.error(f"the range {first}-{last} has no word {expected}", rows[-1][0])
    return surfaces


def _gaps(surfaces: Sequence[_Surface], text: str | None) -> list[str]:
    """Return the white space after each surface token; the last one's is not decided here."""
    gaps = _aligned_gaps(surfaces, text) if text is not None else None
    if gaps is None:
        gaps = ["" if "SpaceAfter=No" in surface.misc else " " for surface in surfaces]
    for index, surface in enumerate(surfaces):
        if _SPACES_AFTER in surface.misc:
            gaps[index] = _spaces(surface.misc, _SPACES_AFTER) or ""
    return gaps


def _aligned_gaps(surfaces: Sequence[_Surface], text: str) -> list[str] | None:
    """Return the gaps that the text has between the forms; None if it does not spell them."""
    text = text.strip()
    gaps: list[str] = []
    at = 0
    for surface in surfaces:
        form = surface.form.strip()
        start = at
        while not text.startswith(form, start):
            if start >= len(text) or not text[start].isspace():
                return None
            start += 1
        if surfaces[0] is not surface:
            gaps.append(text[at:start])
        at = start + len(form)
    return [*gaps, ""] if at == len(text) else None


def _spaces(misc: str, name: str) -> str | None:
    """Return the white space that MISC gives literally under a name, None if it does not."""
    for item in misc.split("|"):
        if item.startswith(name):
            return _ESCAPED.sub(lambda code: _UNESCAPES.get(code[1], code[0]), item[len(name) :])
    return None


def _is_segment_start(misc: str) -> bool:
    return "Seg=" in misc and any(item in _SEGMENT_MARKS for item in misc.split("|"))


def _discourse(misc: str) -> str | None:
    """Return the value of ``Discourse=``, None if there is none."""
    at = misc.find(_DISCOURSE)
    if at < 0 or (at > 0 and misc[at - 1] != "|"):
        return None
    return misc[at + len(_DISCOURSE) :].partition("|")[0]


def _starts_edu(misc: str) -> bool:
    return _is_segment_start(misc) or _discourse(misc) is not None


@dataclass
class _Reading:
    """A document while its sentences come in."""

    source: Source
    id: str
    parts: list[str] = field(default_factory=list)
    at: int = 0
    gap: str = ""
    gap_is_literal: bool = False
    tokens: list[Token] = field(default_factory=list)
    sentences: list[Span] = field(default_factory=list)
    paragraphs: list[int] = field(default_factory=list)
    segments: list[tuple[int, int]] = field(default_factory=list)
    relations: list[tuple[int, int, str]] = field(default_factory=list)
    meta: dict[str, str] = field(default_factory=dict)
    first_line: int = 0

    def add(self, sentence: _Sentence) -> None:
        """Add the words of a sentence, with their place in the text."""
        text = self._read_comments(sentence.comments)
        surfaces = _surfaces(self.source, sentence.rows)
        if not surfaces:
            raise self.source.error("a sentence without words", sentence.rows[0][0])
        if not self.tokens:
            self.first_line = sentence.rows[0][0]
            self.gap = _spaces(surfaces[0].misc, _SPACES_BEFORE) or ""
        self._append(self.gap)
        start = self.at
        base = len(self.tokens)
        size = sum(len(surface.words) for surface in surfaces)
        gaps = _gaps(surfaces, text)
        for index, (surface, gap) in enumerate(zip(surfaces, gaps, strict=True)):
            self._add_words(surface, base, size)
            if index + 1 < len(surfaces):
                self._append(gap)
        self.sentences.append(Span(start, self.at))
        misc = surfaces[-1].misc
        self.gap_is_literal = _SPACES_AFTER in misc
        self.gap = gaps[-1] if self.gap_is_literal else "" if "SpaceAfter=No" in misc else " "

    def _read_comments(self, comments: Sequence[tuple[int, str]]) -> str | None:
        """Take document and paragraph marks from the comments; return the sentence's text."""
        text = None
        for _, comment in comments:
            if comment.startswith("text ") or comment.startswith("text="):
                text = comment.partition("=")[2]
            elif comment.startswith("meta::"):
                key, _, value = comment[6:].partition("=")
                self.meta[key.strip()] = value.strip()
            elif comment.startswith("newpar") and comment[6:7] in ("", " "):
                self.paragraphs.append(len(self.sentences))
                if self.tokens and not self.gap_is_literal:
                    self.gap = "\n\n"
        return text

    def _append(self, text: str) -> None:
        self.parts.append(text)
        self.at += len(text)

    def _add_words(self, surface: _Surface, base: int, size: int) -> None:
        """Add the words of a surface token."""
        start, form = self.at, surface.form
        self._append(form)
        words = surface.words
        if len(words) == 1 and words[0][1][1] == form:
            self._add_word(words[0], start, self.at, "", False, base, size)
            return
        for index, (word, (begin, end)) in enumerate(
            zip(words, self._word_spans(surface), strict=True)
        ):
            own = word[1][1] if form[begin:end] != word[1][1] else ""
            self._add_word(word, start + begin, start + end, own, index > 0, base, size)

    def _word_spans(self, surface: _Surface) -> list[tuple[int, int]]:
        """Return the range of characters of each word in a multiword token's form."""
        form, words = surface.form, surface.words
        lengths = [len(columns[1]) for _, columns in words]
        total = sum(lengths)
        spelled = "".join(columns[1] for _, columns in words)
        if total == len(form) and spelled.casefold() == form.casefold():
            cuts = list(accumulate(lengths, initial=0))
        elif any(_starts_edu(columns[9]) for _, columns in words[1:]):
            # EDUs must not overlap, so the words cannot share the form: each gets its proportion.
            if len(form) < len(words):
                raise self.source.error(
                    f"an EDU starts inside {form!r}, which has fewer characters than words",
                    words[0][0],
                )
            cuts = [0]
            for left, at in zip(range(len(words) - 1, -1, -1), accumulate(lengths), strict=True):
                cut = max(round(at * len(form) / total), cuts[-1] + 1)
                cuts.append(min(cut, len(form) - left))
        else:
            return [(0, len(form))] * len(words)
        return list(pairwise(cuts))

    def _add_word(
        self,
        word: tuple[int, list[str]],
        start: int,
        end: int,
        form: str,
        continues: bool,
        base: int,
        size: int,
    ) -> None:
        line, columns = word
        head, misc = columns[6], columns[9]
        governor: int | None = None
        if head != EMPTY:
            number = parse_int(self.source, line, "the head (column 7)", head)
            if number > size:
                raise self.source.error(
                    f"head {number} in a sentence of {size} words (column 7)", line
                )
            governor = base + number - 1 if number else -1
        if misc != EMPTY:
            self._read_misc(misc, line)
        lemma, pos, tag, feats, deprel = (
            "" if columns[place] == EMPTY else columns[place] for place in (2, 3, 4, 5, 7)
        )
        self.tokens.append(
            Token(start, end, form, lemma, pos, tag, feats, governor, deprel, continues)
        )

    def _read_misc(self, misc: str, line: int) -> None:
        """Note the start of an EDU at the word that comes next."""
        if _is_segment_start(misc):
            self.segments.append((len(self.tokens), line))
        if (value := _discourse(misc)) is not None:
            self.relations.append((len(self.tokens), line, value))

    def parse(self) -> Parse:
        """Make the document and, if relations are annotated, its tree."""
        if self.gap_is_literal:
            self._append(self.gap)
        starts = [(token, line) for token, line, _ in self.relations] or self.segments
        try:
            document = Document(
                "".join(self.parts),
                self._edus(starts),
                tuple(self.tokens),
                tuple(self.sentences),
                self._paragraphs(),
                id=self.id,
                meta=self.meta,
            )
        except InvalidDocument as error:
            raise self.source.error(f"{self.id}: {error}", self.first_line) from None
        arcs = [self._read_relation(*row) for row in enumerate(self.relations, 1)]
        return Parse(document, read_arcs(self.source, arcs) if arcs else None)

    def _edus(self, starts: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
        if not starts:
            return ()
        if starts[0][0] != 0:
            raise self.source.error(
                f"the first word of {self.id or 'the document'} starts no EDU, but later ones do",
                self.first_line,
            )
        tokens = self.tokens
        edus: list[Span] = []
        for (token, _), (following, _) in pairwise([*starts, (len(tokens), 0)]):
            edus.append(Span(tokens[token].start, tokens[following - 1].end))
        return tuple(edus)

    def _paragraphs(self) -> tuple[Span, ...]:
        starts = self.paragraphs
        if not starts:
            return ()
        if starts[0] != 0:
            starts = [0, *starts]
        return tuple(
            Span(self.sentences[start].start, self.sentences[end - 1].end)
            for start, end in pairwise([*starts, len(self.sentences)])
        )

    def _read_relation(self, expected: int, annotation: tuple[int, int, str]) -> Arc:
        """Read ``relation:id->head:level:signals;secondary...`` at the EDU of that number."""
        _, line, value = annotation
        fields = value.split(":", 3)
        if len(fields) < 3:
            raise self.source.error(
                f"Discourse={value}, expected relation:id->head:level or ROOT:id:0", line
            )
        relation, arc = fields[0], fields[1]
        number, arrow, head = arc.partition("->")
        if parse_int(self.source, line, "the EDU's number in Discourse=", number) != expected:
            raise self.source.error(f"EDU {number} comes where {expected} was expected", line)
        level = fields[2].partition(";")[0]
        if not arrow:
            return Arc(line, ROOT, relation, level)
        number_of_head = parse_int(self.source, line, "the head in Discourse=", head)
        if not number_of_head:
            raise self.source.error(f"head 0 in Discourse={value}, expected an EDU", line)
        return Arc(line, number_of_head - 1, relation, level)


def check_covered(document: Document) -> None:
    """Refuse a document with characters that are in no token: they would be lost."""
    text = document.text
    ends = accumulate((token.end for token in document.tokens), max, initial=0)
    starts = [*(token.start for token in document.tokens), len(text)]
    for at, start in zip(ends, starts, strict=True):
        if lost := text[at:start].strip():
            raise InvalidDocument(
                f"{document.id or 'the document'}: {lost[:40]!r} is in no token, which this format "
                "is made of: tokenize it anew, or choose a format for EDUs"
            )


def _write_document(parse: Parse, dialect: Dialect, rows: list[str]) -> None:
    document = parse.document
    if not document.tokens:
        raise InvalidDocument(
            f"{document.id or 'the document'} has no tokens, which CoNLL-U is made of: "
            "`parse.tokenized()` adds them (on the command line --tokenize)"
        )
    check_covered(document)
    notes = _edu_notes(parse, dialect)
    sentences = _sentence_ranges(document)
    paragraphs = _paragraph_starts(document, sentences)
    rows.append(f"# newdoc id = {_one_line(document.id)}" if document.id else "# newdoc")
    rows += [f"# meta::{_one_line(k)} = {_one_line(v)}" for k, v in document.meta.items()]
    for index, words in enumerate(sentences):
        if index in paragraphs:
            rows.append("# newpar")
        if document.id:
            rows.append(f"# sent_id = {_one_line(document.id)}-{index + 1}")
        start, end = document.tokens[words[0]].start, document.tokens[words[-1]].end
        rows.append(f"# text = {_one_line(document.text[start:end])}")
        is_last = index + 1 == len(sentences)
        gap = "" if is_last else "\n\n" if index + 1 in paragraphs else " "
        rows += _word_rows(document, words, notes, gap)
        rows.append("")


def _one_line(text: str) -> str:
    return text.translate(BREAKS)


def _sentence_ranges(document: Document) -> list[range]:
    """Return the words of each sentence; words between sentences go to the one before."""
    starts = [token.start for token in document.tokens]
    inside = locate(starts, document.sentences) if document.sentences else [0] * len(starts)
    cuts = [0, *(i for i in range(1, len(starts)) if inside[i] != inside[i - 1]), len(starts)]
    return [range(start, end) for start, end in pairwise(cuts)]


def _paragraph_starts(document: Document, sentences: Sequence[range]) -> set[int]:
    """Return the indices of the sentences that open a paragraph."""
    if not document.paragraphs:
        return set()
    starts = [document.tokens[words[0]].start for words in sentences]
    inside = locate(starts, document.paragraphs)
    return {0, *(i for i in range(1, len(starts)) if inside[i] != inside[i - 1])}


def _edu_notes(parse: Parse, dialect: Dialect) -> Mapping[int, str]:
    """Return what MISC says of a word because an EDU starts there, or does not."""
    document = parse.document
    if dialect == "auto":
        dialect = "seg" if parse.source is None else "discourse"
    if dialect == "none" or not document.edus:
        return {}
    firsts = edu_starts(document)
    if dialect == "seg":
        return dict.fromkeys(range(len(document.tokens)), "Seg=O") | dict.fromkeys(
            firsts, "Seg=B-seg"
        )
    tree = parse.dependencies
    levels = tree.levels or (EMPTY,) * tree.n_edus
    notes: dict[int, str] = {}
    for index, token in enumerate(firsts):
        head, relation = tree.heads[index], tree.relations[index]
        arc = f"{index + 1}" if head == ROOT else f"{index + 1}->{head + 1}"
        if any(mark in relation for mark in ":;|"):
            raise InvalidTree(
                f"the relation {relation!r} has a mark that CoNLL-U needs itself (: ; |): rename it"
            )
        # Satellites have no suffix here, unless the label could be taken for one that has.
        suffix = "_r" if relation.endswith(SUFFIXES) else ""
        suffix = "_m" if tree.multinuclear[index] else suffix
        signals = "" if head == ROOT else ":_"
        notes[token] = f"{_DISCOURSE}{relation}{suffix}:{arc}:{levels[index]}{signals}"
    return notes


def edu_starts(document: Document) -> list[int]:
    """Return the first word of each EDU; an EDU without words of its own cannot be written."""
    groups = group_by_span([token.start for token in document.tokens], document.edus)
    for index, group in enumerate(groups):
        if not group:
            raise InvalidDocument(
                f"EDU {index + 1} of {document.id or 'the document'} holds no token's start: "
                "EDUs must begin at tokens to be written as CoNLL-U"
            )
    return [group[0] for group in groups]


def _word_rows(
    document: Document, words: range, notes: Mapping[int, str], last_gap: str
) -> list[str]:
    """Return the rows of a sentence; ``last_gap`` is what a reader expects after its last word."""
    rows: list[str] = []
    tokens, text = document.tokens, document.text
    groups: list[list[int]] = []
    for index in words:
        if tokens[index].continues and groups:
            groups[-1].append(index)
        else:
            groups.append([index])
    for place, group in enumerate(groups):
        end = tokens[group[-1]].end
        following = tokens[group[-1] + 1].start if group[-1] + 1 < len(tokens) else len(text)
        expected = " " if place + 1 < len(groups) else last_gap
        misc = _gap_misc(text[end:following], expected)
        if group[0] == 0 and tokens[0].start:
            misc.append(_SPACES_BEFORE + _escape(text[: tokens[0].start]))
        surface = text[tokens[group[0]].start : end]
        is_multiword = len(group) > 1 or document.form(tokens[group[0]]) != surface
        if is_multiword:
            first, last = group[0] - words[0] + 1, group[-1] - words[0] + 1
            rows.append(
                f"{first}-{last}\t{_one_line(surface)}" + "\t_" * 7 + f"\t{'|'.join(misc) or EMPTY}"
            )
        for index in group:
            token = tokens[index]
            own = [notes[index]] if index in notes else []
            columns = (
                str(index - words[0] + 1),
                token.form or text[token.start : token.end],
                token.lemma or EMPTY,
                token.pos or EMPTY,
                token.tag or EMPTY,
                token.feats or EMPTY,
                _head(token.head, words),
                token.deprel or EMPTY,
                EMPTY,
                "|".join(own if is_multiword else own + misc) or EMPTY,
            )
            row = "\t".join(columns)
            if row.count("\t") != COLUMNS - 1 or "\n" in row or "\r" in row:
                row = "\t".join(map(_one_line, columns))
            rows.append(row)
    return rows


def _head(head: int | None, words: range) -> str:
    """Return a head as a number in its sentence; a head outside of it counts as unknown."""
    if head is None:
        return EMPTY
    if head == ROOT:
        return "0"
    return str(head - words[0] + 1) if head in words else EMPTY


def _gap_misc(gap: str, expected: str) -> list[str]:
    if gap == expected:
        return []
    if not gap and expected == " ":
        return ["SpaceAfter=No"]
    return [_SPACES_AFTER + _escape(gap)]


def _escape(gap: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in gap)
