"""Train the English syntax pipeline (tokens, sentences, tags, lemmas, dependencies).

The result is a spaCy pipeline directory without pretrained vectors.  Training data are
the UD layers of GUM and EWT; both are read in CoNLL-U and never copied into the output.

    python scripts/train_syntax.py --gum DATA/gum --ewt DATA/ud_en_ewt --out MODEL_DIR
"""

# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
import spacy
from spacy.attrs import ORTH, SENT_START
from spacy.lang.char_classes import (
    ALPHA,
    ALPHA_LOWER,
    ALPHA_UPPER,
    CONCAT_QUOTES,
    CURRENCY,
    LIST_CURRENCY,
    LIST_ELLIPSES,
    LIST_ICONS,
    LIST_PUNCT,
    LIST_QUOTES,
    PUNCT,
    UNITS,
)
from spacy.language import Language
from spacy.lookups import Lookups, load_lookups
from spacy.pipeline import Lemmatizer
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import (
    compile_infix_regex,
    compile_prefix_regex,
    compile_suffix_regex,
)
from spacy.vocab import Vocab
from thinc.api import Adam, NumpyOps, Optimizer, fix_random_seed, set_current_ops

from rhetorica.models.store import Config, seal
from rhetorica.text.layout import find_paragraphs, soften_line_breaks

# ---------------------------------------------------------------------------
# Corpora
# ---------------------------------------------------------------------------


@dataclass
class Sentence:
    """Hold the gold words of one sentence; heads are local, a root is its own head."""

    words: list[str] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)
    pos: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    deps: list[str] = field(default_factory=list)


@dataclass
class Document:
    """Hold a named document as paragraphs of sentences."""

    name: str
    paragraphs: list[list[Sentence]] = field(default_factory=list)

    @property
    def genre(self) -> str:
        """Return the genre part of a GUM document name."""
        return self.name.split("_")[1] if self.name.startswith("GUM_") else "web"


def parse_sentence(lines: Iterable[str]) -> Sentence:
    """Parse the token lines of one CoNLL-U sentence."""
    sentence = Sentence()
    space_of_part: dict[int, bool] = {}
    for line in lines:
        col = line.split("\t")
        spaced = "SpaceAfter=No" not in col[9]
        if "-" in col[0]:
            # The parts of a multiword token carry no SpaceAfter of their own.
            first, last = map(int, col[0].split("-"))
            space_of_part.update(dict.fromkeys(range(first, last), False))
            space_of_part[last] = spaced
        elif "." not in col[0]:
            index, head = int(col[0]), int(col[6])
            sentence.words.append(col[1])
            sentence.lemmas.append(col[2])
            sentence.pos.append(col[3])
            sentence.tags.append(col[4])
            sentence.heads.append((head or index) - 1)
            sentence.deps.append(col[7] if head else "ROOT")
            sentence.spaces.append(space_of_part.get(index, spaced))
    return sentence


def read_conllu(path: Path) -> list[Document]:
    """Read the documents of a CoNLL-U file, plain or gzipped."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as handle:
        blocks = handle.read().strip().split("\n\n")
    documents: list[Document] = []
    for block in blocks:
        lines = block.split("\n")
        comments = [line for line in lines if line.startswith("#")]
        for comment in comments:
            if comment.startswith("# newdoc"):
                documents.append(Document(comment.split("=", 1)[1].strip()))
        paragraphs = documents[-1].paragraphs
        if not paragraphs or any(c.startswith("# newpar") for c in comments):
            paragraphs.append([])
        paragraphs[-1].append(parse_sentence(x for x in lines if not x.startswith("#")))
    return documents


def read_gum(root: Path, split: str) -> list[Document]:
    """Read the GUM documents of a split."""
    names = (root / "splits" / f"{split}.txt").read_text(encoding="utf-8").split()
    return [doc for name in names for doc in read_conllu(root / "dep" / f"{name}.conllu")]


def read_ewt(root: Path, split: str) -> list[Document]:
    """Read the EWT documents of a split."""
    return read_conllu(root / f"en_ewt-ud-{split}.conllu.gz")


# ---------------------------------------------------------------------------
# Tokenizer
# ---------------------------------------------------------------------------

# GUM splits hyphenated compounds but keeps derivational prefixes on their word.
BOUND_PREFIXES = (
    "anti bi co counter cross e ex inter intra macro micro mid mini multi neo non over post "
    "pre pro proto pseudo quasi re semi socio sub super trans ultra un"
)

ABBREVIATIONS = (
    "al. approx. Assoc. Attn. Ave. Blvd. ca. Cal. Capt. cf. Ch. ch. Col. Dept. div. ed. eds. Ed. "
    "Eds. Eng. Eq. Eqs. esp. etc. Fig. Figs. fig. figs. Ft. incl. Lt. M.Sc. Mlle. Mt. n.d. Nos. "
    "p. pp. Prof. Ref. Refs. Reps. resp. Sec. Sgt. Univ. viz. Vol. vol. vols. vs. yr. yrs. "
    "Mon. Tues. Wed. Thur. Thurs. Fri. Sat. Sun."
)

REDUCTIONS = (("wan", "na"), ("lot", "ta"), ("out", "ta"))
UNSPLIT_WORDS = "id Id s/he uh-oh Uh-oh hm-m Hm-m mm-hm Mm-hm Mm-hmm M-mm Oh-ho whoo-hoo"

Rules = dict[str, list[dict[int, str]]]

# Rules of the stock tokenizer that contradict the treebanks.
DROPPED_RULES = {"):", "(:", "and/or"}

# Runs of one symbol are single tokens; this also keeps long rulers cheap.
SYMBOL_RUN = r"(?:[!?]{2,}|_{2,}|={2,}|\*{2,}|~{2,}|<{2,}|>{2,}|-{2,}|\+{2,}|#{2,})"

# Phone numbers and long dates stay whole.  Affix stripping is quadratic in the length of a
# chunk without white space, so very long chunks (data, long URLs) are taken as one token.
WHOLE_TOKEN = r"^(?:\+?\(?[0-9]+\)?(?:-[0-9]+){2,}|[0-9]{3}-[0-9]{4}|\S{200,})$"


def prefix_patterns() -> list[str]:
    """Return the patterns that are cut off at the start of a chunk."""
    punct = [p for p in LIST_PUNCT if p != "#"]
    head = [SYMBOL_RUN, "§", "%", "=", "—", "–", r"\+(?![0-9])", rf"#(?![{ALPHA}])"]
    return [*head, *punct, *LIST_ELLIPSES, *LIST_QUOTES, *LIST_CURRENCY, *LIST_ICONS]


def suffix_patterns() -> list[str]:
    """Return the patterns that are cut off at the end of a chunk."""
    run = rf"(?<=[^!?_=*~<>+#-]){SYMBOL_RUN}"
    tail = [
        r"(?<=[0-9])\+",
        r"(?<=°[FfCcKk])\.",
        rf"(?<=[0-9])(?:{CURRENCY})",
        rf"(?<=[0-9])(?:{UNITS}|am|pm|AM|PM)",
        rf"(?<=[0-9{ALPHA_LOWER}%²\-\+{PUNCT}{CONCAT_QUOTES}])\.",
        rf"(?<=[{ALPHA_UPPER}{ALPHA_LOWER}][{ALPHA_UPPER}])\.",
    ]
    clitics = ["'s", "'S", "’s", "’S", "—", "–"]
    return [run, *LIST_PUNCT, *LIST_ELLIPSES, *LIST_QUOTES, *LIST_ICONS, *clitics, *tail]


def infix_patterns() -> list[str]:
    """Return the patterns that split the inside of a chunk."""
    not_bound = "".join(rf"(?<!\b(?i:{prefix}))" for prefix in BOUND_PREFIXES.split())
    return [
        *LIST_ELLIPSES,
        *LIST_ICONS,
        rf"[!?]{{2,}}(?=[{ALPHA}0-9])",
        r"(?:--+|–|—)",
        r"(?<=[0-9])[+\-*^](?=[0-9])",
        # "[13,14]" is a list of references, "13,140" a number.
        r"(?<=[0-9]),(?=[0-9]{1,2}(?![0-9]))",
        rf"(?<=[{ALPHA_LOWER}{CONCAT_QUOTES}])\.(?=[{ALPHA_UPPER}{CONCAT_QUOTES}])",
        rf"(?<=[{ALPHA}])[,;?!~()\[\]](?=[{ALPHA}])",
        rf"{not_bound}(?<=[{ALPHA}0-9])-(?=[{ALPHA}])",
        rf"(?<=[{ALPHA}])-(?=[0-9])",
        rf"(?<=[{ALPHA}0-9])[:<>=/](?=[{ALPHA}])",
        r"[)\]](?=[-–—/]?[(\[])",
        r"(?<=[-–—/)\]])[(\[]",
    ]


def special_cases(stock: Rules) -> Rules:
    """Adapt the stock exceptions to the conventions of the treebanks."""
    rules = {k: v for k, v in stock.items() if k not in DROPPED_RULES}
    for text, parts in list(rules.items()):
        if ("'" in text or "’" in text) and text.upper() not in rules:
            rules[text.upper()] = [{**part, ORTH: part[ORTH].upper()} for part in parts]
    for first, second in REDUCTIONS:
        for start in (first, first.title()):
            rules[start + second] = [{ORTH: start}, {ORTH: second}]
    for word in [*ABBREVIATIONS.split(), *UNSPLIT_WORDS.split()]:
        rules[word] = [{ORTH: word}]
    return rules


def adapt_tokenizer(tokenizer: Tokenizer) -> None:
    """Change the stock English tokenizer in place to the conventions of GUM."""
    tokenizer.prefix_search = compile_prefix_regex(prefix_patterns()).search
    tokenizer.suffix_search = compile_suffix_regex(suffix_patterns()).search
    tokenizer.infix_finditer = compile_infix_regex(infix_patterns()).finditer
    tokenizer.token_match = re.compile(WHOLE_TOKEN).match
    tokenizer.rules = special_cases(tokenizer.rules)


# ---------------------------------------------------------------------------
# Training documents
# ---------------------------------------------------------------------------


@dataclass
class Layout:
    """Say how paragraphs and sentences of a training copy are put together."""

    paragraph_break: str = "\n\n"
    double_space: bool = False
    lower: bool = False
    drop_final: bool = False


def random_layout(rng: random.Random, augment: float) -> Layout:
    """Draw a layout: mostly blank lines, at times single newlines or one running text."""
    paragraph_break = rng.choices(("\n\n", "\n", " "), (0.6, 0.2, 0.2))[0]
    layout = Layout(paragraph_break, double_space=rng.random() < 0.1)
    draw = rng.random()
    layout.lower = draw < augment
    layout.drop_final = augment <= draw < 2 * augment
    return layout


def mark_paragraphs(doc: Doc, text: str) -> Doc:
    """Force a sentence start at the first word of every paragraph, before parsing.

    `text` is the raw text: softened lines are too long to judge the other breaks.
    """
    begins = {span.start for span in find_paragraphs(text)}
    starts: Any = numpy.array([token.idx in begins for token in doc], dtype="uint64")
    starts[:1] = 1
    # One array for all tokens: the setter of a single token scans the whole Doc.
    doc.from_array([SENT_START], starts.reshape(-1, 1))
    return doc


class DocBuilder:
    """Collect words and annotation of a spaCy Doc, including its white-space tokens."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.words: list[str] = []
        self.spaces: list[bool] = []
        self.pos: list[str] = []
        self.tags: list[str] = []
        self.heads: list[int] = []
        self.deps: list[str] = []
        self.sent_starts: list[int] = []

    def add_white_space(self, text: str) -> None:
        """Add a white-space token that depends on the word before it."""
        self.words.append(text)
        self.spaces.append(False)
        self.pos.append("SPACE")
        self.tags.append("_SP")
        self.heads.append(len(self.words) - 2)
        self.deps.append("dep")
        self.sent_starts.append(-1)

    def add_sentence(self, sentence: Sentence) -> None:
        """Add the words of a sentence."""
        base = len(self.words)
        count = len(sentence.words)
        if self.layout.drop_final and count > 1 and sentence.tags[-1] == ".":
            # Only a leaf can go without breaking the tree.
            count -= count - 1 not in sentence.heads
        for i in range(count):
            word = sentence.words[i]
            self.words.append(word.lower() if self.layout.lower else word)
            self.spaces.append(sentence.spaces[i])
            self.sent_starts.append(1 if i == 0 else -1)
            self.heads.append(base + sentence.heads[i])
        self.pos.extend(sentence.pos[:count])
        self.tags.extend(sentence.tags[:count])
        self.deps.extend(sentence.deps[:count])
        if count < len(sentence.words):
            self.spaces[-1] = sentence.spaces[-1]

    def add_paragraphs(self, paragraphs: list[list[Sentence]]) -> None:
        """Add paragraphs with the separators of the layout."""
        for p, paragraph in enumerate(paragraphs):
            if p and self.layout.paragraph_break == " ":
                self.spaces[-1] = True
            elif p:
                self.spaces[-1] = False
                self.add_white_space(self.layout.paragraph_break)
            for s, sentence in enumerate(paragraph):
                if s and self.layout.double_space and self.spaces[-1]:
                    self.add_white_space(" ")
                self.add_sentence(sentence)
        self.spaces[-1] = False

    def gold_doc(self, vocab: Vocab) -> Doc:
        """Return the annotated Doc."""
        return Doc(
            vocab,
            words=self.words,
            spaces=self.spaces,
            pos=self.pos,
            tags=self.tags,
            heads=self.heads,
            deps=self.deps,
        )

    def plain_doc(self, vocab: Vocab) -> Doc:
        """Return the Doc with words only."""
        return Doc(vocab, words=self.words, spaces=self.spaces)


def chunk_paragraphs(document: Document, size: int) -> Iterator[list[list[Sentence]]]:
    """Yield runs of sentences of about `size` words, grouped by paragraph.

    Long paragraphs are cut, because the oracle of the parser is quadratic in the length.
    """
    chunk: list[list[Sentence]] = []
    words = 0
    for paragraph in document.paragraphs:
        chunk.append([])
        for i, sentence in enumerate(paragraph):
            chunk[-1].append(sentence)
            words += len(sentence.words)
            if words >= size:
                yield chunk
                chunk, words = [[]] if i + 1 < len(paragraph) else [], 0
    if chunk:
        yield chunk


def training_examples(
    vocab: Vocab, documents: list[Document], rng: random.Random, augment: float
) -> list[Example]:
    """Make one pass of shuffled training examples with random layouts and chunk sizes."""
    examples = []
    for document in documents:
        for chunk in chunk_paragraphs(document, rng.randint(40, 160)):
            builder = DocBuilder(random_layout(rng, augment))
            builder.add_paragraphs(chunk)
            plain = builder.plain_doc(vocab)
            mark_paragraphs(plain, plain.text)
            examples.append(Example(plain, builder.gold_doc(vocab)))
    rng.shuffle(examples)
    return examples


# ---------------------------------------------------------------------------
# Pipeline
# ---------------------------------------------------------------------------

# Rows of the hash embeddings decide the size of the pipeline on disk.
EMBEDDED = {"NORM": 5000, "PREFIX": 500, "SUFFIX": 2500, "SHAPE": 500, "SPACY": 10, "IS_SPACE": 10}


def tok2vec_config(width: int, depth: int) -> dict[str, Any]:
    """Return the configuration of the shared token encoder."""
    return {
        "model": {
            "@architectures": "spacy.Tok2Vec.v2",
            "embed": {
                "@architectures": "spacy.MultiHashEmbed.v2",
                "width": width,
                "attrs": list(EMBEDDED),
                "rows": list(EMBEDDED.values()),
                "include_static_vectors": False,
            },
            "encode": {
                "@architectures": "spacy.MaxoutWindowEncoder.v2",
                "width": width,
                "depth": depth,
                "window_size": 1,
                "maxout_pieces": 3,
            },
        }
    }


def listener_config(width: int) -> dict[str, Any]:
    """Return the configuration that reads the shared token encoder."""
    return {"@architectures": "spacy.Tok2VecListener.v1", "width": width, "upstream": "tok2vec"}


def build_pipeline(width: int, depth: int, hidden: int) -> Language:
    """Build the untrained pipeline."""
    nlp = spacy.blank("en")
    adapt_tokenizer(nlp.tokenizer)
    listener = listener_config(width)
    nlp.add_pipe("tok2vec", config=tok2vec_config(width, depth))
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
    nlp.add_pipe("tagger", config={"model": tagger})
    nlp.add_pipe("morphologizer", config={"model": tagger})
    nlp.add_pipe("senter", config={"model": tagger})
    parser = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "parser",
        "extra_state_tokens": False,
        "hidden_width": hidden,
        "maxout_pieces": 2,
        "use_upper": True,
        "tok2vec": listener,
    }
    nlp.add_pipe("parser", config={"model": parser, "min_action_freq": 10})
    return nlp


def learned_lemmas(documents: list[Document]) -> dict[str, dict[str, list[str]]]:
    """Collect lemmas of frequent words, by part of speech, from the gold data."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for document in documents:
        weight = 3 if document.name.startswith("GUM_") else 1
        for sentence in (s for p in document.paragraphs for s in p):
            for word, pos, lemma in zip(sentence.words, sentence.pos, sentence.lemmas, strict=True):
                counts[pos.lower(), word.lower()][lemma] += weight
    table: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for (pos, word), lemmas in counts.items():
        lemma, best = lemmas.most_common(1)[0]
        if pos != "propn" and best >= 3 and best >= 0.5 * sum(lemmas.values()):
            table[pos][word] = [lemma]
    return table


def add_lemmatizer(nlp: Language, documents: list[Document]) -> None:
    """Add the rule lemmatizer; its tables go into the pipeline directory."""
    lemmatizer: Any = nlp.add_pipe("lemmatizer", config={"mode": "rule", "overwrite": True})
    lookups = load_lookups("en", ["lemma_rules", "lemma_exc", "lemma_index"])
    lemmatizer.initialize(lookups=lookups)
    learned = learned_lemmas(documents)
    prune_index(lookups)
    add_identity_rule(lookups, learned)
    for pos, words in learned.items():
        irregular = {
            word: lemmas
            for word, lemmas in words.items()
            if lemmatizer_answer(nlp, lemmatizer, word, pos) != lemmas[0]
        }
        table = lookups.get_table("lemma_exc")
        table.set(pos, {**table.get(pos, {}), **irregular})
    lemmatizer.cache.clear()


def is_inflected(word: str, words: set[str], suffixes: list[tuple[str, str]]) -> bool:
    """Tell whether a suffix rule leads from the word to another known word."""
    stems = [word[: -len(old)] + new for old, new in suffixes if word.endswith(old)]
    return any(stem != word and stem in words for stem in stems)


def prune_index(lookups: Lookups) -> None:
    """Drop inflected words ("years") from the index, else they would be their own lemmas."""
    rules = lookups.get_table("lemma_rules")
    index = lookups.get_table("lemma_index")
    for pos in ("noun", "adj", "adv", "verb"):
        words = set(index.get(pos))
        # Verbs are exempt: "feed" is no form of "fee", and irregular forms have exceptions.
        suffixes = [] if pos == "verb" else rules.get(pos, [])
        kept = {word for word in words if not is_inflected(word, words, suffixes)}
        # Membership in a dict takes constant time; the stock tables are lists.
        index.set(pos, dict.fromkeys(sorted(kept), 0))


def add_identity_rule(lookups: Lookups, classes: Iterable[str]) -> None:
    """Let words that no other rule covers be their own lemma, in lower case."""
    rules = lookups.get_table("lemma_rules")
    for pos in classes:
        rules.set(pos, [*rules.get(pos, []), ["", ""]])


def lemmatizer_answer(nlp: Language, lemmatizer: Lemmatizer, word: str, pos: str) -> str:
    """Return the lemma that the present tables give to a word."""
    doc = Doc(nlp.vocab, words=[word], pos=[pos.upper()])
    return str(lemmatizer.rule_lemmatize(doc[0])[0])


# ---------------------------------------------------------------------------
# Training
# ---------------------------------------------------------------------------


def initialize(nlp: Language, documents: list[Document], rng: random.Random) -> None:
    """Create the weights and collect all labels from the training data."""
    examples = training_examples(nlp.vocab, documents, rng, augment=0.0)
    nlp.initialize(lambda: examples)


def learn_rate(progress: float, peak: float) -> float:
    """Return the rate at a share of the training: a short warm-up, then linear decay."""
    warm = 0.02
    if progress < warm:
        return peak * (0.1 + 0.9 * progress / warm)
    return peak * max(0.02, (1 - progress) / (1 - warm))


def epoch_documents(
    gum: list[Document],
    ewt: list[Document],
    epoch: int,
    args: argparse.Namespace,
    rng: random.Random,
) -> list[Document]:
    """Choose the documents of an epoch: all of GUM and half of EWT, at the end only GUM."""
    if epoch >= args.epochs - args.gum_only_epochs:
        return gum
    return gum + rng.sample(ewt, len(ewt) // 2)


def count_words(examples: list[Example]) -> int:
    """Count the tokens of a list of examples."""
    return sum(len(eg.predicted) for eg in examples)


def train_epoch(
    nlp: Language,
    optimizer: Optimizer,
    examples: list[Example],
    span: tuple[float, float],
    args: argparse.Namespace,
) -> dict[str, float]:
    """Run one epoch while the rate decays over `span` of the whole training."""
    losses: dict[str, float] = {}
    total, seen = count_words(examples), 0
    batch: list[Example] = []
    size = 0
    for i, example in enumerate(examples):
        batch.append(example)
        size += len(example.predicted)
        if size >= args.batch_words or i + 1 == len(examples):
            progress = span[0] + (span[1] - span[0]) * seen / total
            optimizer.learn_rate = learn_rate(progress, args.learn_rate)
            nlp.update(batch, drop=args.dropout, sgd=optimizer, losses=losses)
            seen += size
            batch, size = [], 0
    return losses


def train(
    nlp: Language,
    gum: list[Document],
    ewt: list[Document],
    dev: list[Document],
    args: argparse.Namespace,
) -> Optimizer:
    """Train all components together; return the optimizer, which holds the averaged weights."""
    rng = random.Random(args.seed)
    initialize(nlp, gum + ewt, rng)
    optimizer: Optimizer = Adam(
        args.learn_rate, beta1=0.9, beta2=0.999, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0
    )
    start = time.time()
    for epoch in range(args.epochs):
        documents = epoch_documents(gum, ewt, epoch, args, rng)
        examples = training_examples(nlp.vocab, documents, rng, args.augment)
        span = (epoch / args.epochs, (epoch + 1) / args.epochs)
        losses = train_epoch(nlp, optimizer, examples, span, args)
        line = " ".join(f"{name} {loss:.0f}" for name, loss in losses.items() if name != "tok2vec")
        log(f"epoch {epoch + 1}/{args.epochs}  {(time.time() - start) / 60:.1f} min  {line}")
        if (epoch + 1) % args.eval_every == 0 or epoch + 1 == args.epochs:
            with nlp.use_params(optimizer.averages):
                log(score_line(evaluate(nlp, dev)))
                nlp.to_disk(args.out.with_name(args.out.name + "-checkpoint"))
    return optimizer


# ---------------------------------------------------------------------------
# Evaluation
# ---------------------------------------------------------------------------

Span = tuple[int, int]


@dataclass
class Analysis:
    """Hold what is compared: sentence spans and, by character span, the word annotation."""

    sentences: set[Span]
    words: dict[Span, tuple[str, str, str, str, Span | None]]


def analysis_of(doc: Doc) -> Analysis:
    """Extract sentences and words without white-space tokens."""
    sentences = set()
    for sent in doc.sents:
        tokens = [t for t in sent if not t.is_space]
        if tokens:
            sentences.add((tokens[0].idx, tokens[-1].idx + len(tokens[-1])))
    words = {}
    for token in doc:
        if not token.is_space:
            head = (
                None if token.head == token else (token.head.idx, token.head.idx + len(token.head))
            )
            span = (token.idx, token.idx + len(token))
            words[span] = (token.tag_, token.pos_, token.dep_, token.lemma_, head)
    return Analysis(sentences, words)


class Scores:
    """Add up the agreement of analyses; every score is an F1 over aligned units."""

    NAMES = ("tokens", "sents", "tag", "upos", "lemma", "uas", "las")

    def __init__(self) -> None:
        self.hits: Counter[str] = Counter()
        self.gold: Counter[str] = Counter()
        self.pred: Counter[str] = Counter()

    def add(self, gold: Analysis, pred: Analysis) -> None:
        """Add one document."""
        self.hits["sents"] += len(gold.sentences & pred.sentences)
        self.gold["sents"] += len(gold.sentences)
        self.pred["sents"] += len(pred.sentences)
        for name in self.NAMES:
            if name != "sents":
                self.gold[name] += len(gold.words)
                self.pred[name] += len(pred.words)
        for span, (tag, pos, dep, lemma, head) in gold.words.items():
            if span in pred.words:
                other = pred.words[span]
                self.hits["tokens"] += 1
                self.hits["tag"] += tag == other[0]
                self.hits["upos"] += pos == other[1]
                self.hits["lemma"] += lemma == other[3]
                self.hits["uas"] += head == other[4]
                self.hits["las"] += head == other[4] and dep == other[2]

    def f1(self, name: str) -> float:
        """Return an F1 in percent."""
        return 200 * self.hits[name] / max(1, self.gold[name] + self.pred[name])


def gold_doc_of(vocab: Vocab, document: Document, paragraph_break: str) -> Doc:
    """Build the gold Doc of a document in a given layout, with lemmas."""
    builder = DocBuilder(Layout(paragraph_break))
    builder.add_paragraphs(document.paragraphs)
    doc = builder.gold_doc(vocab)
    lemmas = iter(x for p in document.paragraphs for s in p for x in s.lemmas)
    for token in doc:
        if not token.is_space:
            token.lemma_ = next(lemmas)
    return doc


def prepare(nlp: Language, text: str) -> Doc:
    """Tokenize raw text and mark its paragraphs."""
    return mark_paragraphs(nlp.make_doc(soften_line_breaks(text)), text)


def with_gold_sentences(vocab: Vocab, gold: Doc) -> Doc:
    """Copy the words of a gold Doc and fix its sentence boundaries."""
    doc = Doc(vocab, words=[t.text for t in gold], spaces=[bool(t.whitespace_) for t in gold])
    for token, source in zip(doc, gold, strict=True):
        token.is_sent_start = source.is_sent_start
    return doc


def wrap_lines(text: str, width: int = 78) -> str:
    """Hard-wrap every line of a text without changing its length."""
    chars = list(text)
    start = 0
    space = -1
    for i, char in enumerate(text + "\n"):
        if char in " \n" and i - start > width and space > start:
            chars[space] = "\n"
            start = space + 1
        if char == "\n":
            start, space = i + 1, -1
        elif char == " ":
            space = i
    return "".join(chars)


def evaluate(
    nlp: Language,
    documents: list[Document],
    paragraph_break: str = "\n\n",
    gold_tokens: bool = False,
    wrapped: bool = False,
) -> dict[str, Scores]:
    """Score the pipeline by genre and over all documents."""
    scores: dict[str, Scores] = defaultdict(Scores)
    gold = [gold_doc_of(nlp.vocab, document, paragraph_break) for document in documents]
    if gold_tokens:
        inputs = [with_gold_sentences(nlp.vocab, doc) for doc in gold]
    else:
        texts = [wrap_lines(doc.text) if wrapped else doc.text for doc in gold]
        inputs = [prepare(nlp, text) for text in texts]
    for document, reference, doc in zip(documents, gold, nlp.pipe(inputs), strict=True):
        pair = analysis_of(reference), analysis_of(doc)
        scores["all"].add(*pair)
        scores[document.genre].add(*pair)
    return scores


def score_line(scores: dict[str, Scores]) -> str:
    """Format the overall scores in one line."""
    return "  ".join(f"{name} {scores['all'].f1(name):.2f}" for name in Scores.NAMES)


def words_per_second(nlp: Language, documents: list[Document]) -> float:
    """Measure the speed from raw text to the full analysis, best of three."""
    texts = [gold_doc_of(nlp.vocab, document, "\n\n").text for document in documents]
    words = sum(len(s.words) for d in documents for p in d.paragraphs for s in p)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        for _doc in nlp.pipe((prepare(nlp, text) for text in texts), batch_size=4):
            pass
        times.append(time.perf_counter() - start)
    return words / min(times)


def report(nlp: Language, gum_dev: list[Document], ewt_dev: list[Document]) -> None:
    """Print the final tables."""
    settings: dict[str, tuple[list[Document], dict[str, Any]]] = {
        "GUM dev raw": (gum_dev, {}),
        "GUM dev raw, newline": (gum_dev, {"paragraph_break": "\n"}),
        "GUM dev raw, running": (gum_dev, {"paragraph_break": " "}),
        "GUM dev raw, wrapped": (gum_dev, {"wrapped": True}),
        "GUM dev gold tokens": (gum_dev, {"gold_tokens": True}),
        "EWT dev raw": (ewt_dev, {}),
        "EWT dev gold tokens": (ewt_dev, {"gold_tokens": True}),
    }
    log(f"{'':22s}" + "".join(f"{name:>8s}" for name in Scores.NAMES))
    for title, (documents, options) in settings.items():
        scores = evaluate(nlp, documents, **options)
        log(f"{title:22s}" + "".join(f"{scores['all'].f1(n):8.2f}" for n in Scores.NAMES))
    by_genre = evaluate(nlp, gum_dev)
    log("GUM dev raw, by genre")
    for genre in sorted(by_genre):
        log(f"  {genre:20s}" + "".join(f"{by_genre[genre].f1(n):8.2f}" for n in Scores.NAMES))
    log(f"words per second: {words_per_second(nlp, gum_dev):.0f}")
    nlp.enable_pipe("senter")
    log(f"GUM dev raw, sentences by the senter: {score_line(evaluate(nlp, gum_dev))}")


# ---------------------------------------------------------------------------
# Output
# ---------------------------------------------------------------------------


def needed_strings(nlp: Language) -> list[str]:
    """Return the strings that the saved pipeline cannot do without."""
    strings = {"_SP", "SPACE", "dep", "ROOT"}
    for labels in nlp.pipe_labels.values():
        strings.update(labels)
    tokenizer: Any = nlp.tokenizer
    for text, parts in tokenizer.rules.items():
        strings.add(text)
        for part in parts:
            strings.update(value for value in part.values() if isinstance(value, str))
    return sorted(strings)


META: dict[str, Any] = {
    "name": "rhetorica_syntax",
    # Without this the exact patch release would be required, with a warning otherwise.
    "spacy_version": ">=3.8.0,<3.9.0",
    "description": "Tokens, sentences, PTB tags, UPOS, lemmas and UD dependencies of English.",
    "sources": [
        {"name": "UD English GUM 11.1", "license": "CC BY-NC-SA 4.0"},
        {"name": "UD English EWT", "license": "CC BY-SA 4.0"},
        {"name": "spacy-lookups-data (lemma tables)", "license": "MIT; WordNet licence"},
    ],
}


def save(nlp: Language, out: Path) -> None:
    """Write the pipeline without the training vocabulary, which only costs space."""
    nlp.meta.update(META)
    # Once trained, the parser splits as well as the senter; the senter can be enabled on demand.
    nlp.disable_pipe("senter")
    nlp.to_disk(out)
    strings = json.dumps(needed_strings(nlp), ensure_ascii=False)
    (out / "vocab" / "strings.json").write_text(strings, encoding="utf-8")
    licence = "; ".join(f"{source['name']}: {source['license']}" for source in META["sources"])
    seal(out, Config("syntax", "spacy", treebanks=("gum", "ewt"), relations="ud", licence=licence))


def log(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gum", type=Path, required=True, help="GUM folder with dep/ and splits/")
    parser.add_argument("--ewt", type=Path, required=True, help="folder of en_ewt-ud-*.conllu.gz")
    parser.add_argument("--out", type=Path, required=True, help="pipeline directory to write")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    parser.add_argument("--epochs", type=int, default=18, help="epochs over GUM and half of EWT")
    parser.add_argument("--gum-only-epochs", type=int, default=3, help="last epochs without EWT")
    parser.add_argument(
        "--augment",
        type=float,
        default=0.03,
        help="share of copies in lower case, and of copies without final punctuation",
    )
    parser.add_argument("--width", type=int, default=128, help="width of the token encoder")
    parser.add_argument("--depth", type=int, default=4, help="depth of the token encoder")
    parser.add_argument("--hidden", type=int, default=64, help="hidden width of the parser")
    parser.add_argument("--batch-words", type=int, default=700, help="words per update")
    parser.add_argument("--learn-rate", type=float, default=0.002, help="peak learning rate")
    parser.add_argument("--dropout", type=float, default=0.2, help="dropout rate")
    parser.add_argument("--eval-every", type=int, default=2, help="epochs between evaluations")
    parser.add_argument("--limit", type=int, default=None, help="use only so many documents (test)")
    return parser.parse_args()


def main() -> None:
    """Train, evaluate and save the pipeline."""
    args = parse_args()
    # The BLAS of NumPy multiplies matrices about three times as fast as the bundled BLIS.
    set_current_ops(NumpyOps(use_blis=False))
    fix_random_seed(args.seed)
    numpy.random.seed(args.seed)
    gum, ewt = read_gum(args.gum, "train")[: args.limit], read_ewt(args.ewt, "train")[: args.limit]
    gum_dev, ewt_dev = read_gum(args.gum, "dev")[: args.limit], read_ewt(args.ewt, "dev")
    log(f"documents: GUM {len(gum)}, EWT {len(ewt)}; dev: GUM {len(gum_dev)}, EWT {len(ewt_dev)}")
    nlp = build_pipeline(args.width, args.depth, args.hidden)
    optimizer = train(nlp, gum, ewt, gum_dev, args)
    add_lemmatizer(nlp, gum + ewt)
    with nlp.use_params(optimizer.averages):
        save(nlp, args.out)
    report(spacy.load(args.out), gum_dev, ewt_dev)


if __name__ == "__main__":
    main()
