"""The features of Table 1, in their seven groups, and our own, in an eighth.

`Facts` holds what is known of a document's EDUs; `sentence_attributes` and `document_attributes`
make of it attributes of units, edges and joins, inside sentences and across them; the templates
below say which attributes, alone or together, are features.

| group | Table 1 | used |
|---|---|---|
| ``organization`` | 8 organizational features | both |
| ``structure`` | 4 text structural features | across sentences |
| ``ngrams`` | 8 N-gram features | both |
| ``dominance`` | 5 dominance set features | inside sentences |
| ``chains`` | 9 lexical chain features | across sentences |
| ``context`` | features of the neighbouring pairs | both |
| ``substructure`` | roots of the two sub-trees, in a second pass | both |
| ``extended`` | not in the paper: conjunctions, layout, cohesion | both |

Numbers are features by their range (bucket), lengths also relative to both units together, as the
paper has them (section 4.1.4).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rhetorica.document import Document
from rhetorica.features.chains import CHAIN_FEATURES, FLAT, ChainTable, lexical_chains
from rhetorica.features.dominance import Dominance
from rhetorica.features.edus import EDUTable, hashed, hashes
from rhetorica.features.ngrams import SLOTS, EdgeGrams, NGramDictionary
from rhetorica.features.phrases import Phrases
from rhetorica.features.syntax import Syntax
from rhetorica.parsers.codra.rows import Attributes, Template
from rhetorica.parsers.codra.units import Layout, runs

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
ChainKind = Literal["graded", "flat"]
Distance = Literal["sentences", "edus"]
ANY_STEPS = 20
"""WordNet's nouns are less deep."""

GROUPS = tuple(
    "organization structure ngrams dominance chains context substructure extended".split()
)

_GRAMS = [f"gram{slot}" for slot in range(len(SLOTS))]


def _templates(group: str, *texts: str) -> list[Template]:
    return [Template(group, text) for text in texts]


WORDS = frozenset(
    f"{side}:{side}{name}"
    for side in "LR"
    for name, slot in zip(_GRAMS, SLOTS, strict=True)
    if slot.kind == "word" and slot.n == 1
)
"""The templates of single words, which the article's dictionary does not have: `BOUNDARIES`."""
BOUNDARIES: list[Template] = _templates(
    "ngrams", "L:startmark", "L:endmark", "R:startmark", "R:endmark"
)
"""Whether a unit starts and ends with a sentence or a paragraph: the article's only unigrams."""

SENTENCE: list[Template] = [
    *_templates(
        "organization",
        "P:edushare", "P:tokenshare", "L:edus", "R:edus", "L:tokens", "R:tokens",
        "L:fromstart", "L:fromend", "R:fromstart", "R:fromend",
    ),
    *_templates("ngrams", *(f"{side}:{side}{name}" for side in "LR" for name in _GRAMS)),
    *_templates(
        "dominance",
        "P:link", "P:link P:headlabel", "P:link P:attachlabel", "P:link P:headlabel P:attachlabel",
        "P:link P:headlemma", "P:link P:attachlemma", "P:link P:relation",
    ),
    *_templates(
        "extended",
        "K:edgedom", "K:edgehead K:edgedom", "K:edgetag K:edgedom", "K:edgeword K:edgedom",
        "K:edgeparenttag K:edgedom", "K:edgetag K:edgeparenttag K:edgedom",
        "P:dom", "P:domrel", "P:dom P:attach", "P:domrel P:attach",
        "P:dom L:headtag", "P:dom R:headtag", "P:dom L:headrel", "P:dom R:headrel",
        "P:dom L:headtag R:headtag", "P:dom L:head", "P:dom R:head", "P:dom L:domtag",
        "P:dom R:domtag",
    ),
    *_templates(
        "substructure", "L:root", "R:root", "L:root R:root", "L:root R:edus", "R:root L:edus"
    ),
    *_templates(
        "extended",
        "L:form R:form", "W:form", "L:form R:form P:dom", "K:level", "P:crosses",
        "L:outer", "R:outer", "W:outer", "L:outer R:outer W:outer", "L:outer R:outer W:outer P:dom",
        "L:edus R:edus", "L:edus R:edus P:dom", "L:fromstart R:fromend",
        "L:fromstart R:fromend W:edus",
        "W:edus W:fromstart W:fromend",
        "L:headrel R:headrel", "L:headrel R:headrel P:dom", "R:domrole P:dom", "L:domrole P:dom",
        "K:first K:lasttag", "K:last K:first", "K:tag K:lasttag", "K:last K:tag", "K:last2 K:first",
        "L:connective", "R:connective", "R:connective P:dom", "L:connective P:dom",
        "L:connective R:connective", "R:first P:domrel", "L:first P:domrel",
        "R:first2 P:dom", "L:first2 P:dom", "L:first R:first", "L:first R:tag",
        "R:tag P:domrel", "L:tag P:domrel", "L:tag R:tag P:dom", "L:last R:first P:dom",
        "L:shape", "R:shape", "L:shape R:shape", "L:lasttag R:lasttag P:dom",
        "L:verbs", "R:verbs", "L:verbs R:verbs", "R:verbs P:domrel", "L:verbs P:domrel",
        "L:headtag R:first", "L:head R:first", "L:headtag R:connective", "L:head P:domrel",
        "R:head P:domrel", "L:head R:headrel", "L:subject R:subject", "R:subject P:domrel",
        "L:lastword P:dom", "R:lastword P:dom", "R:tag2 P:dom", "L:tag2 P:dom",
        "L:lasttag P:dom", "R:lasttag P:dom", "L:headrel R:tag", "R:headrel L:tag",
        "P:nextdom", "P:previousdom", "P:dom P:nextdom P:previousdom", "P:overlap P:dom",
        "P:attach R:headrel", "P:attach L:headrel", "P:tokenshare P:dom", "P:samefirst",
    ),
]  # fmt: skip
"""Inside sentences."""

CONTEXT: list[str] = [
    "P:link", "P:link P:relation", "P:link P:headlabel", "P:tokenshare",
    *(f"{side}:{side}{name}" for side in "LR" for name in _GRAMS),
    "P:dom", "P:domrel", "K:edgedom", "K:edgehead K:edgedom", "P:dom P:attach", "P:edushare",
    "L:connective", "R:connective", "L:edus R:edus", "R:connective P:dom", "R:shape",
    "K:last K:tag", "K:level",
]  # fmt: skip
"""The features of neighbouring pairs that count as context."""


@dataclass(frozen=True)
class Facts:
    """What is known of a document's EDUs, in arrays.

    ``attributes`` are hashed strings of EDUs; ``depths`` tell how deep an EDU's head word is;
    ``dominators`` are the EDUs that the head words hang on, or -1.
    """

    attributes: dict[str, Ints]
    depths: Ints
    dominators: Ints
    relations: Ints
    tokens: Ints
    sentences: Ints
    paragraphs: Ints
    lemmas: list[set[str]]
    headings: npt.NDArray[np.bool_]
    dominance: Dominance
    grams: EdgeGrams
    chains: ChainTable | None

    @classmethod
    def of(
        cls, doc: Document, *, chains: ChainKind | None = "graded", phrases: bool = False
    ) -> Facts:
        """Collect the facts of a document with EDUs and syntax; chains cost a look at WordNet.

        ``chains`` are those of Galley & McKeown ("graded"), of the article ("flat"), or none. With
        ``phrases``, dominance is that of phrase structures, where the document has any.
        """
        table = EDUTable.of(doc)
        syntax = table.syntax
        dominance = Dominance.of(doc, syntax, Phrases.of(doc, syntax) if phrases else None)
        groups = doc.edu_tokens()
        more = {
            "lastword": [_last_word(syntax, g) for g in groups],
            "mark": [_mark(syntax, g) for g in groups],
            **{name: values[:-1] for name, values in dominance.attributes().items()},
        }
        attributes = table.attributes | {name: hashes(column) for name, column in more.items()}
        heads = dominance.heads.tolist()
        return cls(
            attributes,
            np.array([syntax.depths[head] if head >= 0 else 999 for head in heads], np.int64),
            dominance.dominators,
            attributes["relation"] & 0xFFFF,
            np.array([len(g) for g in groups], np.int64),
            table.places.sentence,
            table.places.paragraph,
            table.lemmas,
            _headings(syntax, groups, table),
            dominance,
            EdgeGrams.of(doc, syntax),
            _chain_table(doc, table, chains) if chains else None,
        )

    @property
    def n_edus(self) -> int:
        """How many EDUs there are."""
        return len(self.tokens)

    # A long text is parsed in many blocks, so what is known of all of it is worked out once.

    def gram_numbers(self, ngrams: NGramDictionary) -> tuple[Ints, Ints]:
        """Return a dictionary's numbers of the EDUs' N-grams."""
        for known, numbers in self._looked_up:
            if known is ngrams:
                return numbers
        self._looked_up.append((ngrams, ngrams.numbers(self.grams)))
        return self._looked_up[-1][1]

    @cached_property
    def _looked_up(self) -> list[tuple[NGramDictionary, tuple[Ints, Ints]]]:
        return []

    @cached_property
    def levels(self) -> Ints:
        """How strong the edge before each EDU is: in a sentence, a paragraph, or between them.

        Edges before a heading are stronger, those after one weaker than between plain paragraphs.
        """
        left = np.maximum(np.arange(self.n_edus) - 1, 0)
        level = (self.sentences != self.sentences[left]).astype(np.int64)
        paragraph = self.paragraphs != self.paragraphs[left]
        level[paragraph] = 3
        level[paragraph & self.headings[left]] = 2
        level[paragraph & self.headings & ~self.headings[left]] = 4
        return np.asarray(level, np.int64)

    @cached_property
    def sentence_heads(self) -> Ints:
        """For each EDU, the EDU of its sentence whose head word is highest."""
        heads = np.zeros(self.n_edus, np.int64)
        for start, end in runs(self.sentences.tolist()):
            heads[start:end] = start + int(self.depths[start:end].argmin())
        return heads

    @cached_property
    def sentence_lengths(self) -> Ints:
        """For each EDU, how many tokens its sentence has."""
        totals = np.bincount(self.sentences, weights=self.tokens).astype(np.int64)
        return np.asarray(totals[self.sentences])


def _chain_table(doc: Document, table: EDUTable, kind: ChainKind) -> ChainTable:
    """Find the lexical chains, and where they run.

    The article's know no distance and no siblings, a kind of something at any number of steps, a
    sense for each occurrence of a noun, and of its place the sentence only.
    """
    if kind == "graded":
        return ChainTable.by_edu(doc, lexical_chains(doc))
    chains = lexical_chains(doc, weights=FLAT, reach=ANY_STEPS, one_sense=False)
    starts = np.array([edu.start for edu in doc.edus], np.int64)
    offsets = np.array([doc.tokens[token].start for token in chains.tokens.tolist()], np.int64)
    edus = np.maximum(np.searchsorted(starts, offsets, "right") - 1, 0)
    sentence = table.places.sentence
    return ChainTable.of(chains.chains, np.searchsorted(sentence, sentence[edus]), len(starts))


def _last_word(syntax: Syntax, group: range) -> str:
    for i in reversed(group):
        if syntax.words[i][:1].isalnum():
            return syntax.lowered[i]
    return ""


def _mark(syntax: Syntax, group: range) -> str:
    """Return what an EDU begins with: a digit, a sign, a capital, a small letter."""
    first = syntax.words[group[0]][:1] if group else ""
    if first.isdigit():
        return "0"
    return ("A" if first.isupper() else "a") if first.isalpha() else first


def _headings(syntax: Syntax, groups: Sequence[range], table: EDUTable) -> npt.NDArray[np.bool_]:
    """Tell which EDUs belong to a heading: a short paragraph of one sentence, with no full stop."""
    found = np.zeros(len(groups), np.bool_)
    for first, last in runs(table.places.paragraph.tolist()):
        tokens = range(groups[first].start, groups[last - 1].stop)
        one = table.places.sentence[first] == table.places.sentence[last - 1]
        if one and 0 < len(tokens) <= 15 and syntax.words[tokens[-1]][-1:] not in ".!?;,…":
            found[first:last] = True
    return found


DOCUMENT: list[Template] = [
    *_templates(
        "organization",
        "P:edushare", "P:tokenshare", "L:edus", "R:edus", "L:tokens", "R:tokens",
        "L:fromstart", "L:fromend", "R:fromstart", "R:fromend",
    ),
    *_templates(
        "structure", "P:sentshare", "P:parshare", "L:sents", "R:sents", "L:pars", "R:pars"
    ),
    *_templates("ngrams", *(f"{side}:{side}{name}" for side in "LR" for name in _GRAMS)),
    *_templates("chains", *(f"P:{name}" for name in CHAIN_FEATURES)),
    *_templates("context", *(f"{side}:{name}" for side in "LR" for name in (
        "outfirst", "outlast", "outtag", "outconnective", "outlevel", "outlevel2"))),
    *_templates(
        "substructure", "L:root", "R:root", "L:root R:root", "L:root L:sents", "R:root R:sents",
        "L:root L:endlevel", "R:root R:startlevel",
    ),
    *_templates(
        "extended",
        # The whole.
        "W:form", "W:outlevel W:top", "W:sents W:form", "W:sents W:pars", "W:fromstart W:fromend",
        "W:fromstart W:sents", "W:inparagraph W:toparagraph", "W:outform W:sents",
        "W:outform W:pars", "W:heading W:sents", "W:heading W:outlevel",
        # The left unit, with the edge at its end.
        "L:form", "L:form L:sents", "L:top L:endlevel", "L:top L:endlevel L:sents",
        "L:top L:endlevel L:startlevel", "L:fromstart L:sents", "L:inparagraph L:sents",
        "L:inparagraph L:sents L:endlevel", "L:heading L:sents", "L:heading L:endlevel L:sents",
        "L:heading L:pars", "L:sents L:outconnective", "L:sents L:outfirst",
        "L:form L:outconnective",
        "L:shape L:sents", "L:firstmark L:sents", "L:firstmark L:endlevel", "L:length L:sents",
        "L:connective L:sents", "L:lastmark L:sents", "L:question", "L:verbs L:sents",
        "L:head L:sents", "L:headtag", "L:mass", "L:mass L:endlevel",
        "L:startlevel L:endlevel L:sents",
        "L:root L:sents",
        # The right unit, with the edge at its start.
        "R:form", "R:form R:sents", "R:top R:startlevel", "R:top R:startlevel R:sents",
        "R:top R:startlevel R:endlevel", "R:fromend R:sents", "R:inparagraph R:sents",
        "R:toparagraph R:sents", "R:toparagraph R:sents R:startlevel", "R:heading R:sents",
        "R:heading R:startlevel R:sents", "R:heading R:pars", "R:sents R:connective",
        "R:sents R:first",
        "R:form R:connective", "R:shape R:sents", "R:firstmark R:sents", "R:firstmark R:startlevel",
        "R:length R:sents", "R:lastmark R:sents", "R:question", "R:verbs R:sents", "R:head R:sents",
        "R:headtag", "R:mass", "R:mass R:startlevel", "R:startlevel R:endlevel R:sents",
        "R:root R:sents",
        # The edge between them.
        "K:level", "K:first", "K:first2", "K:connective", "K:tag", "K:last", "K:last K:tag",
        "K:shape",
        "K:first K:level", "K:connective K:level", "K:last K:level", "K:cohesion",
        "K:cohesion K:level",
        "K:first K:prevfirst", "K:tag K:prevtag", "K:shape K:prevshape", "K:length K:prevlength",
        "K:verbs K:prevverbs", "K:subject", "K:subject K:level",
        # Both units.
        "L:form R:form", "L:form R:form W:outform", "L:top K:level R:top",
        "L:top K:level R:top L:sents", "L:top K:level R:top R:sents",
        "L:top K:level R:top W:outform",
        "L:sents R:sents", "L:sents R:sents K:level", "L:sents R:sents W:outform", "L:pars R:pars",
        "L:inparagraph R:toparagraph L:sents R:sents", "L:heading R:heading",
        "L:heading R:heading K:level", "L:headings R:headings", "L:firstmark R:firstmark",
        "L:firstmark R:firstmark K:level", "L:shape R:shape", "L:connective R:connective",
        "L:first R:first", "L:lastmark R:lastmark", "L:verbs R:verbs", "L:mass R:mass",
        "P:similarity", "P:similarity K:level", "P:firstsimilarity", "P:contrast",
        "P:weakest", "P:weakest K:level", "P:samefirst", "P:similarity L:sents R:sents",
        "P:sentshare K:level", "P:tokenshare K:level",
    ),
]  # fmt: skip
"""Across sentences."""

EDGES = np.array([1, 2, 3, 4, 5, 7, 10, 15, 25, 50, 100])


def bucket(numbers: Ints) -> Ints:
    """Return the range that each number falls in."""
    return np.searchsorted(EDGES, numbers, side="right").astype(np.int64)


def share(part: Ints, rest: Ints) -> Ints:
    """Return tenths of the whole."""
    return np.asarray(10 * part // np.maximum(1, part + rest))


def _head_edus(facts: Facts, layout: Layout) -> Ints:
    """Return the EDU of each unit whose head word is highest, the first of equals."""
    n = facts.n_edus
    key = np.append(facts.depths * (n + 1) + np.arange(n), np.iinfo(np.int64).max)
    pairs = np.stack([layout.unit_starts, layout.unit_ends], axis=1).reshape(-1)
    if not len(pairs):
        return np.zeros(0, np.int64)
    return np.asarray(np.minimum.reduceat(key, pairs)[::2] % (n + 1))


def _outer_counts(facts: Facts, layout: Layout) -> Ints:
    """Count, for each unit, the EDUs whose head word hangs on a word outside the unit."""
    lengths = layout.unit_ends - layout.unit_starts
    owner = np.repeat(np.arange(len(lengths)), lengths)
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    edu = np.repeat(layout.unit_starts, lengths) + np.arange(len(owner)) - first
    above = facts.dominators[edu]
    outside = (above < layout.unit_starts[owner]) | (above >= layout.unit_ends[owner])
    counts = np.bincount(owner, weights=outside, minlength=len(lengths))
    return np.asarray(counts, np.int64)


def _edge_dominance(facts: Facts) -> dict[str, Ints]:
    """Return the dominance between the EDUs on either side of each edge, by the right one's number.

    Which of them dominates (its word bears the other's head), by which relation, and tags and
    words of head and attachment node (Figure 9).
    """
    n = facts.n_edus
    right = np.arange(n)
    left = np.maximum(right - 1, 0)
    down = (facts.dominators[right] == left) & (right > 0)
    up = (facts.dominators[left] == right) & (right > 0)
    below = np.where(up, left, right)
    direction = np.where(down, 1, np.where(up, 2, 0))
    same = (direction == 0) & (facts.dominators[left] == facts.dominators[right])
    direction = np.where(same & (facts.dominators[left] >= 0), 3, direction)
    attributes = facts.attributes
    return {
        "edgedom": direction,
        "edgehead": attributes["headrel"][below],
        "edgetag": attributes["headtag"][below],
        "edgeword": attributes["head"][below],
        "edgeparenttag": attributes["domtag"][below],
        "level": facts.levels,
        "last": attributes["last"][left],
        "last2": attributes["last2"][left],
        "lasttag": attributes["lasttag"][left],
        "first": attributes["first"],
        "tag": attributes["tag"],
    }


def sentence_attributes(
    facts: Facts, layout: Layout, ngrams: NGramDictionary, roots: Ints | None = None
) -> Attributes:
    """Make the attributes of joins inside sentences (or windows of two)."""
    a = facts.attributes
    start, end = layout.unit_starts, layout.unit_ends
    first, last = start, end - 1
    head = _head_edus(facts, layout)
    low = np.array([row[0] for row in layout.bounds], np.int64)[layout.unit_segments]
    high = np.array([row[-1] for row in layout.bounds], np.int64)[layout.unit_segments]
    tokens = np.concatenate([[0], np.cumsum(facts.tokens)])
    n_tokens = tokens[end] - tokens[start]
    new = np.append(facts.sentences[1:] != facts.sentences[:-1], True)
    starts_sentence = np.concatenate([[True], new[:-1]])[first]
    ends_sentence = new[last]
    crosses = facts.sentences[first] != facts.sentences[last]
    units: dict[str, Ints] = {
        "edus": bucket(end - start),
        "tokens": bucket(n_tokens),
        "fromstart": bucket(start - low),
        "fromend": bucket(high - end),
        "outer": np.minimum(_outer_counts(facts, layout), 4),
        "form": starts_sentence * 1 + ends_sentence * 2 + crosses * 4 + (end - start > 1) * 8,
        "root": roots if roots is not None else np.zeros(len(start), np.int64),
        **_marks(facts, layout),
    }
    for name in ("first", "first2", "first3", "tag", "tag2", "connective", "shape"):
        units[name] = a[name][first]
    for name in ("last", "last2", "lasttag", "lastword"):
        units[name] = a[name][last]
    for name in ("head", "headtag", "headrel", "domtag", "verbs", "subject"):
        units[name] = a[name][head]
    units |= _gram_numbers(facts, layout, ngrams)
    units["domrole"] = a["headrel"][head] * 2 + (head == first)
    joins = _links(facts, layout) | _join_dominance(facts, layout, head)
    left, right = layout.left, layout.right
    joins["edushare"] = share(end[left] - start[left], end[right] - start[right])
    joins["tokenshare"] = share(n_tokens[left], n_tokens[right])
    joins["crosses"] = crosses[left] * 1 + crosses[right] * 2 + crosses[layout.whole] * 4
    joins["overlap"] = _overlap(facts, head[left], head[right])
    joins["one"] = np.zeros(len(left), np.int64)
    joins["samefirst"] = (a["first"][first[left]] == a["first"][first[right]]).astype(np.int64)
    return Attributes(layout, units, _edge_dominance(facts), joins)


def _marks(facts: Facts, layout: Layout) -> dict[str, Ints]:
    """Tell what begins with each unit and ends with it: an EDU (0), a sentence, a paragraph (2)."""
    kind = np.append(np.minimum(facts.levels, 2), 2)
    kind[0] = 2
    return {"startmark": kind[layout.unit_starts], "endmark": kind[layout.unit_ends]}


def _gram_numbers(facts: Facts, layout: Layout, ngrams: NGramDictionary) -> dict[str, Ints]:
    """Return the dictionary's numbers of the units' N-grams, as left and as right unit."""
    tables = ngrams.unit_numbers(
        facts.grams, layout.unit_starts, layout.unit_ends, facts.gram_numbers(ngrams)
    )
    return {
        f"{side}{name}": table[:, slot]
        for side, table in zip("LR", tables, strict=True)
        for slot, name in enumerate(_GRAMS)
    }


def _links(facts: Facts, layout: Layout) -> dict[str, Ints]:
    """Return the element of the dominance set that links the two units of each join."""
    directions, edus = facts.dominance.across(*layout.edges())
    found = {"link": directions}
    for name, attribute in (
        ("headlabel", "head_label"),
        ("attachlabel", "attachment_label"),
        ("headlemma", "head_lemma"),
        ("attachlemma", "attachment_lemma"),
        ("relation", "relation"),
    ):
        found[name] = np.where(edus >= 0, facts.attributes[attribute][edus], 0)
    return found


def _join_dominance(facts: Facts, layout: Layout, head: Ints) -> dict[str, Ints]:
    """Return how the heads of a join's units hang on each other and on the units around them."""
    i, k, j = layout.edges()
    left, right = head[layout.left], head[layout.right]
    over_left, over_right = facts.dominators[left], facts.dominators[right]
    down = (over_right >= i) & (over_right < k)
    up = (over_left >= k) & (over_left < j)
    same = (over_left == over_right) & (over_left >= 0)
    dom = np.where(down, 1, np.where(up, 2, np.where(same, 3, 0)))
    dom = np.where((dom == 0) & ((over_left == j) | (over_left == i - 1)), 4, dom)
    dom = np.where((dom == 0) & ((over_right == j) | (over_right == i - 1)), 5, dom)
    above = np.where(down, over_right, np.where(up, over_left, -1))
    relation = np.where(down, facts.relations[right], np.where(up, facts.relations[left], 0))
    attach = (
        (above == np.where(down, left, right)) * 1
        + (above == np.where(down, k - 1, k)) * 2
        + (above == np.where(down, i, j - 1)) * 4
    )
    n = facts.n_edus
    after, before = np.minimum(j, n - 1), np.maximum(i - 1, 0)
    up_next, up_before = facts.dominators[after], facts.dominators[before]
    next_in = (j < n) & (up_next >= i) & (up_next < j)
    nextdom = np.where(next_in, np.where(up_next >= k, np.where(up_next == right, 1, 2), 3), 0)
    nextdom = np.where((over_right == j) & (j < n), 4, nextdom)
    before_in = (i > 0) & (up_before >= i) & (up_before < j)
    previous = np.where(before_in, np.where(up_before < k, np.where(up_before == left, 1, 2), 3), 0)
    previous = np.where((over_left == i - 1) & (i > 0), 4, previous)
    return {
        "dom": dom,
        "domrel": dom + 8 * relation,
        "attach": np.where(dom == 0, 8, np.where(dom <= 2, attach, 9)) + 16 * dom,
        "nextdom": nextdom,
        "previousdom": previous,
    }


def _overlap(facts: Facts, left: Ints, right: Ints) -> Ints:
    """Count the content lemmas that two EDUs share, up to 3."""
    lemmas = facts.lemmas
    return np.array(
        [
            min(3, len(lemmas[a] & lemmas[b]))
            for a, b in zip(left.tolist(), right.tolist(), strict=True)
        ],
        np.int64,
    )


def document_attributes(
    facts: Facts,
    layout: Layout,
    ngrams: NGramDictionary,
    roots: Ints | None = None,
    distance: Distance = "sentences",
) -> Attributes:
    """Make the attributes of joins across sentences.

    The layout has one segment, whose base units are sub-trees of sentences (or larger ones). The
    distances of units from the ends of the text are in sentences or (as in the article) in EDUs.
    """
    a = facts.attributes
    n = facts.n_edus
    start, end = layout.unit_starts, layout.unit_ends
    first, last = start, end - 1
    left, right = layout.left, layout.right
    tokens = np.concatenate([[0], np.cumsum(facts.tokens)])
    n_tokens = tokens[end] - tokens[start]
    sentence, paragraph = facts.sentences, facts.paragraphs
    n_sents = sentence[last] - sentence[first] + 1
    n_pars = paragraph[last] - paragraph[first] + 1
    level = np.append(facts.levels, 5)
    level[0] = 5
    headings = np.concatenate([[0], np.cumsum(facts.headings)])
    sentence_heads = facts.sentence_heads
    top = _tops(level, layout)
    units: dict[str, Ints] = {
        "edus": bucket(end - start),
        "tokens": bucket(n_tokens),
        "sents": bucket(n_sents),
        "pars": bucket(n_pars),
        "fromstart": bucket(sentence[first] if distance == "sentences" else start),
        "fromend": bucket(sentence[-1] - sentence[last] if distance == "sentences" else n - end),
        **_marks(facts, layout),
        "inparagraph": bucket(sentence[first] - _first_of_group(paragraph, sentence)[first]),
        "toparagraph": bucket(_last_of_group(paragraph, sentence)[last] - sentence[last]),
        "startlevel": level[start],
        "endlevel": level[end],
        "mass": bucket(n_tokens // 10),
        "outlevel": level[start] * 8 + level[end],
        "outlevel2": level[np.maximum(start - 1, 0)] * 8 + level[np.minimum(end + 1, n)],
        "form": (level[start] >= 2) + 2 * (level[end] >= 2) + 4 * np.minimum(n_pars, 3),
        "outform": (level[start] > top) + 2 * (level[end] > top),
        "top": top,
        "heading": facts.headings[first] * 1 + facts.headings[last] * 2,
        "headings": bucket(headings[end] - headings[start]),
        "root": roots if roots is not None else np.zeros(len(start), np.int64),
        "length": bucket(facts.sentence_lengths)[first],
        "lastmark": a["last"][last],
        "question": (a["last"][last] == hashed("?")) * 1 + (n_sents == 1) * 2,
    }
    before, after = np.maximum(first - 1, 0), np.minimum(end, n - 1)
    for name, source in (("outtag", "tag"), ("outconnective", "connective"), ("outfirst", "first")):
        units[name] = np.where(end < n, a[source][after], 0)
    units["outlast"] = np.where(start > 0, a["last"][before], 0)
    for name in ("first", "tag", "connective", "shape"):
        units[name] = a[name][first]
    units["firstmark"] = a["mark"][first]
    for name in ("head", "headtag", "verbs"):
        units[name] = a[name][sentence_heads[first]]
    units |= _gram_numbers(facts, layout, ngrams)
    joins = {
        "one": np.zeros(len(left), np.int64),
        "edushare": share(end[left] - start[left], end[right] - start[right]),
        "tokenshare": share(n_tokens[left], n_tokens[right]),
        "sentshare": share(n_sents[left], n_sents[right]),
        "parshare": share(n_pars[left], n_pars[right]),
        "samefirst": (a["first"][first[left]] == a["first"][first[right]]).astype(np.int64),
    }
    if facts.chains is not None:
        counts = facts.chains.between(*layout.edges())
        joins |= {name: bucket(counts[:, at]) for at, name in enumerate(CHAIN_FEATURES)}
    similarities, edges = _similarities(facts, layout)
    joins |= similarities
    return Attributes(layout, units, _document_edges(facts, level, edges), joins)


def _document_edges(facts: Facts, level: Ints, cohesion: Ints) -> dict[str, Ints]:
    """Return the attributes of the edge before each EDU: what stands on either side of it."""
    a = facts.attributes
    before = np.maximum(np.arange(facts.n_edus) - 1, 0)
    heads = facts.sentence_heads
    # The sentence before begins at the first EDU of the sentence of the EDU before.
    began = np.searchsorted(facts.sentences, facts.sentences[before])
    found = {
        "level": level[:-1],
        "last": a["last"][before],
        "cohesion": cohesion,
        "length": bucket(facts.sentence_lengths),
        "prevlength": bucket(facts.sentence_lengths)[before],
        "prevfirst": a["first"][began],
        "prevtag": a["tag"][began],
        "prevshape": a["shape"][began],
        "verbs": a["verbs"][heads],
        "prevverbs": a["verbs"][heads[before]],
        "subject": a["subject"][heads],
    }
    return found | {name: a[name] for name in ("first", "first2", "connective", "tag", "shape")}


def _first_of_group(groups: Ints, values: Ints) -> Ints:
    """Return, for each EDU, the value of the first EDU of its group."""
    return np.asarray(values[np.searchsorted(groups, groups)])


def _last_of_group(groups: Ints, values: Ints) -> Ints:
    return np.asarray(values[np.searchsorted(groups, groups, side="right") - 1])


def _tops(level: Ints, layout: Layout) -> Ints:
    """Return the strongest edge inside each unit, 0 where there is none."""
    return _inside(np.maximum, level, layout.unit_starts, layout.unit_ends, 0)


def _inside(
    extreme: np.ufunc, edges: npt.NDArray[Any], starts: Ints, ends: Ints, nothing: Any
) -> npt.NDArray[Any]:
    """Return the extreme of the values at the edges inside units, or what stands for none."""
    inner = starts + 1
    pairs = np.stack([inner, np.maximum(ends, inner + 1)], axis=1).reshape(-1)
    padded = np.append(edges, [nothing, nothing])
    found = extreme.reduceat(padded, pairs)[::2] if len(pairs) else padded[:0]
    return np.where(ends > inner, found, nothing)


_STEPS = np.array([0.005, 0.015, 0.03, 0.05, 0.08, 0.12, 0.18, 0.26, 0.4, 0.6])


def _similarities(facts: Facts, layout: Layout) -> tuple[dict[str, Ints], Ints]:
    """Return how alike in words the units of joins are, and the cohesion at edges (by EDU number).

    Words are weighed by how few base units have them; the similarity of two base units is the
    cosine, that of larger ones a mean, made from sums over rectangles.
    """
    bounds = layout.bounds[0]
    cosine = _cosines(facts, bounds)
    n = len(cosine)
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = cosine.cumsum(axis=0).cumsum(axis=1)
    place = np.zeros(facts.n_edus + 1, np.int64)
    place[bounds] = np.arange(n + 1)
    i, k, j = (place[edge] for edge in layout.edges())

    def mean(a: Ints, b: Ints, c: Ints, d: Ints) -> Floats:
        total = sums[b, d] - sums[a, d] - sums[b, c] + sums[a, c]
        return np.asarray(total / np.maximum(1, (b - a) * (d - c)))

    between = mean(i, k, k, j)
    inner = 0.5 * (mean(i, k, i, k) + mean(k, j, k, j))
    edge = np.zeros(n + 1)
    reach = 3
    for at in range(1, n):
        low, high = max(0, at - reach), min(n, at + reach)
        edge[at] = cosine[low:at, at:high].mean()
    weakest = _weakest(edge, layout, place)
    cohesion = np.zeros(facts.n_edus, np.int64)
    cohesion[bounds[:-1]] = np.searchsorted(_STEPS, edge[:-1])
    joins = {
        "similarity": np.searchsorted(_STEPS, between),
        "contrast": np.searchsorted(_STEPS, np.maximum(0, inner - between)),
        "firstsimilarity": np.searchsorted(_STEPS, cosine[i, k]) if n else i,
        "weakest": weakest,
    }
    return joins, cohesion


def _cosines(facts: Facts, bounds: Ints) -> Floats:
    """Return the similarity of all pairs of base units; 0 of a unit with itself."""
    n = len(bounds) - 1
    units = [
        set().union(*(facts.lemmas[edu] for edu in range(int(a), int(b))))
        for a, b in itertools.pairwise(bounds)
    ]
    numbers: dict[str, int] = {}
    for unit in units:
        for lemma in sorted(unit):
            numbers.setdefault(lemma, len(numbers))
    table = np.zeros((n, max(1, len(numbers))), np.float32)
    for row, unit in enumerate(units):
        table[row, [numbers[lemma] for lemma in unit]] = 1
    table *= np.log((n + 1) / np.maximum(1, table.sum(axis=0)))
    table /= np.maximum(1e-9, np.sqrt((table**2).sum(axis=1, keepdims=True)))
    cosine = (table @ table.T).astype(np.float64)
    np.fill_diagonal(cosine, 0)
    return cosine


def _weakest(edge: Floats, layout: Layout, place: Ints) -> Ints:
    """Compare the cohesion at a join's edge with the weakest edges inside its two units."""
    lowest = _inside(np.minimum, edge, place[layout.unit_starts], place[layout.unit_ends], 9.0)
    here = edge[place[layout.unit_ends[layout.left]]]
    return (here > lowest[layout.left]) * 1 + (here > lowest[layout.right]) * 2
