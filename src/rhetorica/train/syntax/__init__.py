"""Train the English syntax pipeline: words, sentences, tags, lemmas, dependencies.

The result is a spaCy pipeline without pretrained vectors, in a model folder. It learns in many
layouts, in two stages: from AMALGUM (`silver`) and English-EWT, which gives a pipeline that is
kept, since it is blind to GUM's trees and shows parsers what automatic syntax will look like; and
on from there from the UD layers of GUM and EWT. `examples` makes the layouts, `tokenizer` and
`lemmas` hold the rules.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rhetorica.corpora import read_corpus
from rhetorica.document import Document
from rhetorica.errors import MissingExtra
from rhetorica.evaluate.counts import Counts
from rhetorica.files import write_text
from rhetorica.formats.conllu import read_conllu
from rhetorica.models.store import Config, seal
from rhetorica.progress import Event, Tell, nothing
from rhetorica.settings import setting
from rhetorica.text import annotate_all

LICENCE = (
    "trained on GUM (CC BY-NC-SA 4.0 as a whole), UD English-EWT (annotations CC BY-SA 4.0) and, "
    "where a run was given it, AMALGUM (annotations CC BY 4.0; texts by genre, of which wikiHow's "
    "are CC BY-NC-SA 3.0); lemma tables MIT and WordNet licence"
)
# Rows of the hash embeddings decide the size of the pipeline on disk.
EMBEDDED = {"NORM": 5000, "PREFIX": 500, "SUFFIX": 2500, "SHAPE": 500, "SPACY": 10, "IS_SPACE": 10}


@dataclass(frozen=True, slots=True)
class Settings:
    """How the pipeline is built and trained."""

    silver_words: int = setting(250_000, "First stage: words of each automatic file (0: all).")
    silver_learn_rate: float = setting(0.002, "First stage: peak of the learning rate.")
    silver_dropout: float = setting(0.1, "First stage: share of units that are left out.")
    silver_rounds: int = setting(6, "First stage: rounds, each with new words and half of EWT.")
    epochs: int = setting(9, "Times that GUM and half of EWT are seen.")
    gum_only_epochs: int = setting(2, "The last epochs, without EWT.")
    augment: float = setting(
        0.03, "Share of copies in lower case, and of copies without final punctuation."
    )
    width: int = setting(160, "Width of the token encoder.")
    depth: int = setting(4, "Depth of the token encoder.")
    hidden: int = setting(96, "Hidden width of the parser.")
    batch_words: int = setting(700, "Words per update.")
    learn_rate: float = setting(0.0015, "Peak of the learning rate.")
    dropout: float = setting(0.2, "Share of units that are left out.")
    eval_every: int = setting(2, "Epochs between evaluations.")
    min_actions: int = setting(10, "Drop actions of the parser that are rarer.")
    seed: int = setting(0, "Of weights, layouts and the order of documents.")


def train_syntax(
    gum: Path,
    ewt: Path,
    out: Path,
    settings: Settings | None = None,
    *,
    silver: Sequence[Path] = (),
    blind: Path | None = None,
    tell: Tell = nothing,
    command: str = "",
) -> dict[str, Counts]:
    """Train the pipeline, write it to a model folder, and return its scores on GUM dev.

    ``gum`` is GUM's folder, ``ewt`` one with ``en_ewt-ud-train.conllu`` (plain or ``.gz``).
    ``silver`` are CoNLL-U files with automatic syntax (AMALGUM) for a first stage, whose pipeline,
    blind to GUM's trees, is written to ``blind`` (``out`` + "_blind"); it is not trained again if
    it is there.
    """
    try:
        import spacy
        import spacy_lookups_data  # noqa: F401 - its tables are found by spaCy
        from thinc.api import NumpyOps, fix_random_seed, set_current_ops
    except ImportError:
        raise MissingExtra("training the syntax pipeline", "train") from None
    import numpy as np

    from rhetorica.train.syntax.examples import training_examples
    from rhetorica.train.syntax.lemmas import add_lemmatizer
    from rhetorica.train.syntax.silver import read_silver

    settings = settings or Settings()
    # The BLAS of NumPy multiplies matrices about three times as fast as the bundled BLIS.
    set_current_ops(NumpyOps(use_blis=False))
    fix_random_seed(settings.seed)
    np.random.seed(settings.seed)
    train, dev = (
        [parse.document for parse in read_corpus("gum", gum, part)] for part in ("train", "dev")
    )
    [path] = sorted(ewt.glob("en_ewt-ud-train.conllu*"))[:1] or [ewt / "en_ewt-ud-train.conllu"]
    more = [parse.document for parse in read_conllu(path)]
    tell(Event("documents", note=f"GUM {len(train)}, EWT {len(more)}; GUM dev {len(dev)}"))
    nlp, rng = build_pipeline(settings), random.Random(settings.seed)
    # GUM lends its inventory of labels to the first stage, too, so that the second can go on.
    first = training_examples(nlp.vocab, train + more, rng, augment=0.0)
    nlp.initialize(lambda: first)

    def finish(
        nlp: Any, averages: Any, folder: Path, lemmas: Any, banks: tuple[str, ...]
    ) -> dict[str, Counts]:
        """Write a trained pipeline with its scores; return these."""
        add_lemmatizer(nlp, lemmas)
        with nlp.use_params(averages):
            _save(nlp, folder)
        scores = score(spacy.load(folder), dev)
        told = {name: round(100 * counts.f1, 2) for name, counts in scores.items()}
        config = Config("syntax", "spacy", asdict(settings), treebanks=banks, relations="ud")
        write_text(folder / "README.md", _card(folder, told, settings, command))
        seal(folder, replace(config, licence=LICENCE, scores=told))
        tell(Event("dev", note=_line(scores)))
        return scores

    # The second stage draws alike, whether the first was run just now or before.
    drawn = random.getstate(), np.random.get_state(), rng.getstate()
    if silver:
        blind = blind or out.with_name(f"{out.name}_blind")
        if not (blind / "config.json").exists():
            texts = read_silver(silver, settings.silver_words)
            averages = _learn_silver(nlp, texts, more, rng, settings, tell)
            finish(nlp, averages, blind, [(more, 1)], ("amalgum", "ewt"))
            random.setstate(drawn[0])
            np.random.set_state(drawn[1])
            rng.setstate(drawn[2])
        # A component that is enabled later would not hear the encoder.
        nlp = spacy.load(blind, exclude=["lemmatizer"], config={"nlp": {"disabled": []}})
    averages = _learn(nlp, train, more, dev, rng, settings, tell)
    banks = ("gum", "ewt", "amalgum") if silver else ("gum", "ewt")
    return finish(nlp, averages, out, [(train, 3), (more, 1)], banks)


def build_pipeline(settings: Settings) -> Any:
    """Build the untrained pipeline."""
    import spacy

    from rhetorica.train.syntax.tokenizer import adapt_tokenizer

    nlp = spacy.blank("en")
    adapt_tokenizer(nlp.tokenizer)
    width = settings.width
    embed = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": width,
        "attrs": list(EMBEDDED),
        "rows": list(EMBEDDED.values()),
        "include_static_vectors": False,
    }
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": width,
        "depth": settings.depth,
        "window_size": 1,
        "maxout_pieces": 3,
    }
    tok2vec = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}
    nlp.add_pipe("tok2vec", config={"model": tok2vec})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": width, "upstream": "tok2vec"}
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
    for name in ("tagger", "morphologizer", "senter"):
        nlp.add_pipe(name, config={"model": tagger})
    parser = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "parser",
        "extra_state_tokens": False,
        "hidden_width": settings.hidden,
        "maxout_pieces": 2,
        "use_upper": True,
        "tok2vec": listener,
    }
    nlp.add_pipe("parser", config={"model": parser, "min_action_freq": settings.min_actions})
    return nlp


def _learn(
    nlp: Any,
    gum: list[Document],
    ewt: list[Document],
    dev: list[Document],
    rng: random.Random,
    settings: Settings,
    tell: Tell,
) -> Any:
    """Train all components together on GUM and EWT; return the averaged weights."""
    from rhetorica.train.syntax.examples import training_examples

    optimizer, epochs = _optimizer(settings.learn_rate), settings.epochs
    for epoch in range(epochs):
        alone = epoch >= epochs - settings.gum_only_epochs
        documents = gum if alone else gum + rng.sample(ewt, len(ewt) // 2)
        examples = training_examples(nlp.vocab, documents, rng, settings.augment)
        steps = (epoch, epochs, settings.learn_rate)
        _round(nlp, examples, optimizer, "epoch", steps, settings.dropout, settings, tell)
        if (epoch + 1) % settings.eval_every == 0 and epoch + 1 < epochs:
            with nlp.use_params(optimizer.averages):
                tell(Event("dev", note=_line(score(nlp, dev))))
    return optimizer.averages


def _learn_silver(
    nlp: Any,
    silver: list[Document],
    ewt: list[Document],
    rng: random.Random,
    settings: Settings,
    tell: Tell,
) -> Any:
    """Train on automatic syntax, each document once, and on half of EWT in every round."""
    from rhetorica.train.syntax.examples import training_examples

    words = sum(len(doc.tokens) for doc in silver)
    tell(Event("silver", note=f"{len(silver)} documents, {words} words"))
    rng.shuffle(silver)
    optimizer, rounds = _optimizer(settings.silver_learn_rate), settings.silver_rounds
    for number in range(rounds):
        documents = silver[number::rounds] + rng.sample(ewt, len(ewt) // 2)
        examples = training_examples(nlp.vocab, documents, rng, settings.augment)
        steps = (number, rounds, settings.silver_learn_rate)
        _round(nlp, examples, optimizer, "round", steps, settings.silver_dropout, settings, tell)
    return optimizer.averages


def _optimizer(rate: float) -> Any:
    from thinc.api import Adam

    return Adam(rate, beta1=0.9, beta2=0.999, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0)


def _round(
    nlp: Any,
    examples: list[Any],
    optimizer: Any,
    name: str,
    steps: tuple[int, int, float],
    dropout: float,
    settings: Settings,
    tell: Tell,
) -> None:
    """Learn from examples once; ``steps``: which round, of how many, and the peak of the rate."""
    number, count, peak = steps
    losses: dict[str, float] = {}
    total, seen = sum(len(example.predicted) for example in examples), 0
    for batch in _batches(examples, settings.batch_words):
        optimizer.learn_rate = _rate((number + seen / total) / count, peak)
        nlp.update(batch, drop=dropout, sgd=optimizer, losses=losses)
        seen += sum(len(example.predicted) for example in batch)
        tell(Event(f"{name} {number + 1}", seen, total))
    told = ", ".join(f"{part} {loss:.0f}" for part, loss in losses.items() if loss)
    tell(Event(f"{name} {number + 1} of {count}", note=f"losses {told}"))


def _batches(examples: Sequence[Any], words: int) -> Iterable[list[Any]]:
    """Yield runs of examples of at least so many words."""
    batch: list[Any] = []
    size = 0
    for example in examples:
        batch.append(example)
        size += len(example.predicted)
        if size >= words:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _rate(progress: float, peak: float) -> float:
    """Return the rate at a share of the training: a short warm-up, then linear decay."""
    warm = 0.02
    if progress < warm:
        return peak * (0.1 + 0.9 * progress / warm)
    return peak * max(0.02, (1 - progress) / (1 - warm))


def score(nlp: Any, golds: Sequence[Document]) -> dict[str, Counts]:
    """Analyse raw texts and count what is right, word by word: F1 over character spans."""
    names = ("tokens", "sentences", "tags", "upos", "lemmas", "uas", "las")
    total = dict.fromkeys(names, Counts())
    bare = [Document(gold.text, id=gold.id, language="en") for gold in golds]
    for gold, pred in zip(golds, annotate_all(bare, nlp), strict=True):
        one, other = _words(gold), _words(pred)
        same = [(words, other[span]) for span, words in one.items() if span in other]
        hits = {
            "tokens": len(same),
            "tags": sum(a.tag == b.tag for (a, _), (b, _) in same),
            "upos": sum(a.pos == b.pos for (a, _), (b, _) in same),
            "lemmas": sum(a.lemma == b.lemma for (a, _), (b, _) in same),
            "uas": sum(x == y for (_, x), (_, y) in same),
            "las": sum(x == y and a.deprel == b.deprel for (a, x), (b, y) in same),
        }
        for name, count in hits.items():
            total[name] += Counts(count, len(one), len(other))
        mine, theirs = ({_inside(doc, span) for span in doc.sentences} for doc in (gold, pred))
        total["sentences"] += Counts(len(mine & theirs), len(mine), len(theirs))
    return total


def _inside(doc: Document, span: tuple[int, int]) -> tuple[int, int]:
    """Return a span without the white space at its ends."""
    text = doc.text[span[0] : span[1]]
    return span[0] + len(text) - len(text.lstrip()), span[0] + len(text.rstrip())


def _words(doc: Document) -> dict[tuple[int, int], tuple[Any, tuple[int, int] | None]]:
    """Return the words of a document by their places, each with the place of its head."""
    places = [(token.start, token.end) for token in doc.tokens]
    return {
        place: (token, None if token.head in (None, -1) else places[token.head])
        for place, token in zip(places, doc.tokens, strict=True)
    }


def _line(scores: dict[str, Counts]) -> str:
    return ", ".join(f"{name} {100 * counts.f1:.2f}" for name, counts in scores.items())


def _save(nlp: Any, out: Path) -> None:
    """Write the pipeline without the training vocabulary, which only costs space."""
    nlp.meta.update(
        name="rhetorica_syntax",
        # Without this the exact patch release would be required, with a warning otherwise.
        spacy_version=">=3.8.0,<3.9.0",
        description="Tokens, sentences, PTB tags, UPOS, lemmas and UD dependencies of English.",
        sources=[
            {"name": "UD English GUM 11.1", "license": "CC BY-NC-SA 4.0"},
            {"name": "UD English EWT", "license": "CC BY-SA 4.0"},
            {"name": "spacy-lookups-data (lemma tables)", "license": "MIT; WordNet licence"},
        ],
    )
    # Once trained, the parser splits as well as the senter; the senter can be enabled on demand.
    nlp.disable_pipe("senter")
    nlp.to_disk(out)
    strings = {"_SP", "SPACE", "dep", "ROOT"}.union(*nlp.pipe_labels.values())
    for text, parts in nlp.tokenizer.rules.items():
        strings.add(text)
        strings.update(v for part in parts for v in part.values() if isinstance(v, str))
    write_text(out / "vocab" / "strings.json", json.dumps(sorted(strings), ensure_ascii=False))


def _card(out: Path, scores: dict[str, float], settings: Settings, command: str) -> str:
    rows = "\n".join(f"| {name} | {value:.2f} |" for name, value in scores.items())
    chosen = ", ".join(f"{name} {value}" for name, value in asdict(settings).items())
    return (
        f"# {out.resolve().name}: English tokens, sentences, tags, lemmas and dependencies\n\n"
        f"A spaCy pipeline; {LICENCE}. The texts are not in the model.\n\n"
        f"- **Training**: `{command or 'rhetorica train syntax'}`\n- **Settings**: {chosen}\n\n"
        f"| GUM dev, raw text | F1 over character spans |\n|---|---|\n{rows}\n\n"
        "Settings were chosen on the same documents, so the figures are a little too good.\n"
    )
