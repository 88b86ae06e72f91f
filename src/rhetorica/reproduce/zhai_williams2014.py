"""The experiments of Zhai & Williams (2014) on Schema-Guided Dialogues, and a planted flow.

The paper's two corpora are not to be had (BusTime) or not public (TechSupport), and its section of
results is not in the text at hand: what is measured follows its abstract (held-out log likelihood,
an ordering task, agreement with human annotations), the settings are ours.

- held-out log likelihood per word, by `dialogue.likelihood`;
- ordering, as Barzilay & Lee (2004): Kendall's tau of the most likely among the true order and 100
  random ones; that is soon perfect, so also, as Ritter et al. (2010), of the most likely order of
  every four utterances in a row, the others standing still;
- agreement of states with the acts of SGD, against clusterings that do not know what a dialogue is;
- `bus`: how much of a flow is found again that is known.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import permutations
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rhetorica.dialogue import (
    KINDS,
    Dialogue,
    DialogueModel,
    Preparation,
    Settings,
    agreement,
    fit,
    kendall_tau,
    read_dialogues,
)
from rhetorica.dialogue.gibbs import MOVES, Moves, Sampler
from rhetorica.dialogue.kinds import Priors
from rhetorica.dialogue.prepare import Lexicon
from rhetorica.errors import MissingExtra
from rhetorica.evaluate.significance import t_two_sided
from rhetorica.parsers.neural.wordpiece import WordPiece
from rhetorica.progress import Tell, nothing
from rhetorica.reproduce.bus import FLOW, THRESHOLD, bus_dialogues, edges_found
from rhetorica.reproduce.runs import Experiments
from rhetorica.reproduce.tables import table

BASELINE = "lm-hmm"


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is tried: numbers of states, repetitions, sweeps, training dialogues."""

    states: tuple[int, ...] = (10, 20, 30)
    seeds: tuple[int, ...] = (0, 1, 2)
    topics: int = 40
    sweeps: int = 200
    dialogues: int | None = 600
    curve: tuple[int, ...] = (50,)
    bus: int = 500
    bus_states: tuple[int, ...] = (30, len(FLOW))
    bus_chains: int = 1


QUICK = Plan((20,), (0,), 40, 60, 300, (50,), 200, (30,), 1)


def reproduce_zhai_williams2014(
    sgd: Path,
    work: Path,
    *,
    quick: bool = False,
    repetitions: int = 3,
    rivals: bool = True,
    minilm: Path | None = None,
    tell: Tell = nothing,
) -> str:
    """Run what is not yet in ``work``, and return all tables in Markdown.

    ``sgd`` holds ``sgd_train.jsonl`` and ``sgd_dev.jsonl``; ``rivals`` need scikit-learn and
    hmmlearn. ``minilm`` holds ``model.safetensors`` and ``vocab.txt`` of MiniLM as distributed,
    for one more rival.
    """
    plan = QUICK if quick else Plan(seeds=tuple(range(repetitions)))
    train = read_dialogues(sgd / "sgd_train.jsonl").dialogues[: plan.dialogues]
    dev = read_dialogues(sgd / "sgd_dev.jsonl").dialogues
    lab = _Lab(Experiments("sgd", work, tell), plan, train, dev)
    # Whole repetitions first, so that an interrupted run has something of everything.
    for seed in plan.seeds:
        for states in plan.states:
            for model in KINDS:
                lab.figures(model, states, seed)
    parts = [
        lab.likelihood_table(),
        lab.ordering_table(),
        lab.agreement_table(rivals=_rivals(minilm) if rivals else {}),
        lab.curve_table(),
        lab.mixing_table(),
        bus_table(Experiments("bus", work, tell), plan),
    ]
    return "\n".join(parts)


class _Lab:
    """The experiments on SGD."""

    def __init__(
        self,
        runs: Experiments,
        plan: Plan,
        train: Sequence[Dialogue],
        dev: Sequence[Dialogue],
    ) -> None:
        self.runs, self.plan, self.train, self.dev = runs, plan, train, dev

    def figures(self, model: str, states: int, seed: int, count: int | None = None) -> Any:
        """Return what one model does on dev, dialogue by dialogue."""
        train = self.train[:count]
        settings = Settings(
            model=model, states=states, topics=self.plan.topics, sweeps=self.plan.sweeps, seed=seed
        )
        setting = {"fit": asdict(settings), "dialogues": len(train), "dev": len(self.dev)}
        return self.runs.figures(setting, lambda: measure(fit(train, settings), self.dev))

    def over_seeds(self, model: str, states: int, name: str) -> NDArray[np.float64]:
        """Return a figure of each dialogue, averaged over repetitions."""
        rows = [self.figures(model, states, seed)[name] for seed in self.plan.seeds]
        return np.asarray(np.mean(np.array(rows, np.float64), axis=0))

    def spread(self, model: str, states: int, total: Callable[[Any], float]) -> str:
        """Write the mean of a figure over repetitions, and its standard deviation."""
        found = [total(self.figures(model, states, seed)) for seed in self.plan.seeds]
        text = f"{np.mean(found):.4f}"
        return f"{text} ± {np.std(found, ddof=1):.4f}" if len(found) > 1 else text

    def likelihood_table(self) -> str:
        """Held-out log likelihood per word."""
        rows = []
        for model in KINDS:
            row: list[object] = [model]
            for states in self.plan.states:
                row.append(self.spread(model, states, _per_word))
                row.append(self._against(model, states, "per_word"))
            rows.append(row)
        return table(
            "**Held-out log likelihood per word (SGD dev)**", self._columns("log likelihood"), rows,
            self._note(), "p: paired t-test over dialogues against lm-hmm.",
        )  # fmt: skip

    def ordering_table(self) -> str:
        """Kendall's tau of the best order."""
        parts = []
        for name, title in (
            ("tau", "of the best among the true and 100 random orders"),
            ("block_tau", "of the best order of four utterances in a row"),
        ):
            rows = []
            for model in KINDS:
                row: list[object] = [model]
                for states in self.plan.states:
                    row.append(self.spread(model, states, lambda f, n=name: float(np.mean(f[n]))))  # type: ignore[misc]
                    row.append(self._against(model, states, name))
                rows.append(row)
            parts.append(table(f"**Kendall's tau {title} (SGD dev)**", self._columns("tau"), rows))
        return "\n".join(parts)

    def agreement_table(self, *, rivals: Mapping[str, Rival]) -> str:
        """States against acts."""
        rows = []
        for states in self.plan.states:
            for model in KINDS:
                cells = [
                    self.spread(model, states, lambda f, n=name: float(f[n]))  # type: ignore[misc]
                    for name in ("v_measure", "adjusted_rand", "purity")
                ]
                rows.append([model, states, *cells])
            for name, find in rivals.items():
                setting = {"rival": name, "states": states, "train": len(self.train)}
                found = self.runs.figures(
                    setting,
                    lambda f=find, n=states: f(self.train, self.dev, n),  # type: ignore[misc]
                )
                cells = [f"{found[key]:.4f}" for key in ("v_measure", "adjusted_rand", "purity")]
                rows.append([name, states, *cells])
        return table(
            "**Agreement of states with acts (SGD dev)**",
            ["model", "states", "V-measure", "adjusted Rand", "purity"], rows,
            "A turn's class is its sorted set of acts. k-means clusters the dev turns themselves; "
            "the small encoder is that of neural-fast, made for discourse; the categorical HMM "
            "sees each turn as one of 200 k-means clusters of train.",
        )  # fmt: skip

    def curve_table(self) -> str:
        """Likelihood with little to learn from: where shared topics should help."""
        counts = [count for count in self.plan.curve if count < len(self.train)]
        states, seed = self.plan.states[len(self.plan.states) // 2], self.plan.seeds[0]
        rows = [
            [model]
            + [f"{_per_word(self.figures(model, states, seed, count)):.4f}" for count in counts]
            for model in KINDS
        ]
        title = f"**Held-out log likelihood per word after few dialogues ({states} states)**"
        return table(title, ["model", *(f"{count} dialogues" for count in counts)], rows)

    def mixing_table(self) -> str:
        """How fast the samplers reach likely states."""
        rows = []
        for model in ("lm-hmm", "tm-hmm", "tm-hmmss"):
            for moves in MOVES:
                if moves == "joint" and not KINDS[model].mixes_topics:
                    continue  # the same as single
                setting = {"mixing": model, "moves": moves, "dialogues": 200}
                found = self.runs.figures(
                    setting,
                    lambda m=model, v=moves: mixing(m, v, self.train[:200]),  # type: ignore[misc]
                )
                joints = [f"{found['joint'][str(k)]:.3f}" for k in (5, 20, 60)]
                rows.append(
                    [model, moves, *joints, f"{1000 * found['seconds']:.0f}",
                     f"{found['accepted']:.2f}"]
                )  # fmt: skip
        return table(
            "**Mixing: log joint per word after so many sweeps (200 dialogues, 20 states)**",
            ["model", "moves", "5", "20", "60", "CPU ms a sweep", "accepted"], rows,
        )  # fmt: skip

    def _against(self, model: str, states: int, name: str) -> str:
        if model == BASELINE:
            return ""
        ours = self.over_seeds(model, states, name)
        return _p_value(ours - self.over_seeds(BASELINE, states, name))

    def _columns(self, figure: str) -> list[str]:
        found = ["model"]
        for states in self.plan.states:
            found += [f"{states} states: {figure}", "p"]
        return found

    def _note(self) -> str:
        plan = self.plan
        return (
            f"{len(self.train)} dialogues to learn from, {plan.topics} topics, {plan.sweeps} "
            f"sweeps, mean and standard deviation of {len(plan.seeds)} repetitions."
        )


def _per_word(found: Mapping[str, Any]) -> float:
    return float(np.sum(found["log_likelihood"]) / np.sum(found["words"]))


def _p_value(differences: NDArray[np.float64]) -> str:
    """Return how likely a mean so far from zero is by chance, with its direction."""
    n = len(differences)
    spread = float(differences.std(ddof=1))
    if not spread:
        return "="
    t = float(differences.mean()) / (spread / math.sqrt(n))
    p = t_two_sided(t, n - 1)
    return f"{'+' if t > 0 else '-'} {p:.3f}" if p >= 0.001 else f"{'+' if t > 0 else '-'} <.001"


def measure(model: DialogueModel, dev: Sequence[Dialogue]) -> dict[str, Any]:
    """Score a model dialogue by dialogue: likelihoods, words, taus; agreement over all."""
    logs, words = model.log_likelihoods(dev)
    corpus, _ = model.lexicon.encode(list(dev), model.preparation)
    rng = np.random.default_rng(0)
    states = [state for applied in model.apply(dev) for state in applied.states]
    acts = [turn.act for dialogue in dev for turn in dialogue.turns]
    return {
        "log_likelihood": logs.tolist(),
        "words": words.tolist(),
        "per_word": (logs / np.maximum(words, 1)).tolist(),
        "tau": model.order_taus(corpus, orders=100, rng=rng),
        "block_tau": [block_tau(model, corpus, number) for number in range(corpus.n_dialogues)],
        **asdict(agreement(states, acts)),
    }


def block_tau(model: DialogueModel, corpus: Any, number: int, size: int = 4) -> float:
    """Return the mean tau of the best order of each ``size`` utterances of a dialogue in a row."""
    n = int(corpus.dialogues[number + 1] - corpus.dialogues[number])
    inside = list(permutations(range(size)))
    taus = []
    for start in range(0, n - size + 1, size):
        tried = np.tile(np.arange(n), (len(inside), 1))
        tried[:, start : start + size] = start + np.array(inside)
        scores = model.order_scores(corpus, number, tried)
        taus.append(kendall_tau(inside[int(scores.argmax())]))
    return float(np.mean(taus)) if taus else 1.0


def mixing(model: str, moves: Moves, dialogues: Sequence[Dialogue]) -> dict[str, Any]:
    """Run a sampler and note the log joint per word after some sweeps, and its time."""
    preparation = Preparation()
    corpus, _ = Lexicon.of(dialogues, preparation).encode(list(dialogues), preparation)
    sampler = Sampler(
        KINDS[model], corpus, states=20, topics=40, priors=Priors(),
        rng=np.random.default_rng(0), moves=moves,
    )  # fmt: skip
    sampler.sweep()  # compiles
    joint, start = {}, time.process_time()
    for sweep in range(2, 61):
        sampler.sweep()
        if sweep in (5, 20, 60):
            joint[str(sweep)] = sampler.log_joint() / len(corpus.words)
    seconds = (time.process_time() - start) / 59
    accepted = sampler.accepted / sampler.proposed if sampler.proposed else 1.0
    return {"joint": joint, "seconds": seconds, "accepted": accepted}


def _vectors(
    train: Sequence[Dialogue], dev: Sequence[Dialogue]
) -> tuple[list[list[str]], list[list[str]]]:
    preparation = Preparation()
    return (
        [preparation.words(turn) for dialogue in train for turn in dialogue.turns],
        [preparation.words(turn) for dialogue in dev for turn in dialogue.turns],
    )


def _sklearn(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra("comparing dialogue models with others", "compare") from None


def _tf_idf(train: Sequence[Dialogue], dev: Sequence[Dialogue]) -> tuple[Any, Any]:
    text = _sklearn("sklearn.feature_extraction.text")
    vectorizer = text.TfidfVectorizer(analyzer=lambda words: words, min_df=2)
    first, second = _vectors(train, dev)
    return vectorizer.fit_transform(first), vectorizer.transform(second)


def _kmeans(vectors: Any, clusters: int) -> Any:
    cluster = _sklearn("sklearn.cluster")
    return cluster.KMeans(clusters, n_init=3, random_state=0).fit(vectors)


def _rival(dev: Sequence[Dialogue], labels: Any) -> dict[str, Any]:
    acts = [turn.act for dialogue in dev for turn in dialogue.turns]
    return asdict(agreement([int(label) for label in labels], acts))


def rival_tf_idf(train: Sequence[Dialogue], dev: Sequence[Dialogue], n: int) -> dict[str, Any]:
    """k-means on TF-IDF vectors of the turns."""
    _, vectors = _tf_idf(train, dev)
    return _rival(dev, _kmeans(vectors, n).labels_)


def rival_encoder(_: Sequence[Dialogue], dev: Sequence[Dialogue], n: int) -> dict[str, Any]:
    """k-means on the mean of the small encoder's states over a turn."""
    return _rival(dev, _kmeans(encoder_vectors(tuple(dev)), n).labels_)


@lru_cache(maxsize=1)
def encoder_vectors(dialogues: tuple[Dialogue, ...]) -> NDArray[np.float64]:
    """Return the mean of the small encoder's states over each turn, its dialogue as context."""
    from rhetorica.parsers.neural import NeuralParser
    from rhetorica.pipeline import load

    network = cast(NeuralParser, load("en", parser="neural-fast").parser).network
    rows = []
    for dialogue in dialogues:
        texts = [turn.text for turn in dialogue.turns]
        ends = np.cumsum([len(text) + 1 for text in texts])
        pieces = network.tokenizer("\n".join(texts))
        states = network.states(pieces)
        turns = np.searchsorted(ends, pieces.starts, side="right")
        for number in range(len(texts)):
            inside = states[turns == number]
            rows.append(inside.mean(axis=0) if len(inside) else np.zeros(states.shape[1]))
    vectors = np.array(rows, np.float64)
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9))


def rival_categorical(train: Sequence[Dialogue], dev: Sequence[Dialogue], n: int) -> dict[str, Any]:
    """Hmmlearn's categorical HMM; its symbols are 200 clusters of TF-IDF vectors."""
    hmm = _sklearn("hmmlearn.hmm")
    first, second = _tf_idf(train, dev)
    quantizer = _kmeans(first, min(200, first.shape[0]))
    symbols, heard = quantizer.labels_[:, None], quantizer.predict(second)[:, None]
    chain = hmm.CategoricalHMM(n, n_iter=50, random_state=0, n_features=quantizer.n_clusters)
    chain.fit(symbols, [len(dialogue.turns) for dialogue in train])
    return _rival(dev, chain.predict(heard, [len(dialogue.turns) for dialogue in dev]))


@lru_cache(maxsize=1)
def utterance_vectors(folder: Path, dialogues: tuple[Dialogue, ...]) -> NDArray[np.float64]:
    """Return MiniLM's vector of each turn, as distributed: the mean over its pieces."""
    try:
        import torch

        from rhetorica.train.neural.encoders import MINILM, Encoder, read_safetensors
    except ImportError:
        raise MissingExtra("vectors of MiniLM", "train") from None
    tokenizer = WordPiece.read((folder / "vocab.txt").read_text("utf-8"))
    first, last = tokenizer.index(MINILM.first), tokenizer.index(MINILM.last)
    encoder = Encoder(len(tokenizer.vocabulary), MINILM)
    weights = folder / "model.safetensors"
    encoder.load_pretrained(weights)
    encoder.eval()
    texts = [turn.text for dialogue in dialogues for turn in dialogue.turns]
    pieces = [[first, *tokenizer(text).ids[:254].tolist(), last] for text in texts]
    by_length: dict[int, list[int]] = {}
    for number, ids in enumerate(pieces):
        by_length.setdefault(len(ids), []).append(number)
    vectors = np.zeros((len(texts), MINILM.width))
    with torch.inference_mode():
        # Loading blurs the kinds of pieces, for training; here there is one.
        kinds = read_safetensors(weights)["embeddings.token_type_embeddings.weight"]
        encoder.types.weight.copy_(kinds[:1].expand_as(encoder.types.weight))
        for numbers in by_length.values():
            for start in range(0, len(numbers), 64):
                some = numbers[start : start + 64]
                ids = torch.tensor([pieces[number] for number in some])
                vectors[some] = encoder(ids, torch.zeros_like(ids)).mean(1).numpy()
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


Rival = Callable[[Sequence[Dialogue], Sequence[Dialogue], int], dict[str, Any]]


def _rivals(minilm: Path | None) -> dict[str, Rival]:
    found: dict[str, Rival] = {
        "k-means on TF-IDF": rival_tf_idf,
        "k-means on the small encoder's states": rival_encoder,
        "hmmlearn's categorical HMM": rival_categorical,
    }
    if minilm:
        found["k-means on vectors of MiniLM as distributed"] = lambda _, dev, n: _rival(
            dev, _kmeans(utterance_vectors(minilm, tuple(dev)), n).labels_
        )
    return found


def bus_table(runs: Experiments, plan: Plan) -> str:
    """Find the planted flow again, with more states than it has and with as many."""
    rows = []
    for states in plan.bus_states:
        for model in KINDS:
            for seed in plan.seeds:
                setting = {
                    "model": model, "bus": plan.bus, "chains": plan.bus_chains, "seed": seed,
                    "states": states, "merged": len(FLOW),
                }  # fmt: skip
                found = runs.figures(
                    setting,
                    lambda m=model, n=states, s=seed: find_bus(m, n, s, plan),  # type: ignore[misc]
                )
                names = ("precision", "recall", "f1", "states", "told", "named")
                cells = (f"{found[name]:.3f}" for name in names)
                rows.append([model, states, seed, found["steps"], *cells])
    return table(
        f"**A planted flow of {len(FLOW)} states, 30 % word noise: edges of at least {THRESHOLD}**",
        ["model", "states", "seed", "merged into", "precision", "recall", "F1",
         "turns in the right state", f"F1, merged into {len(FLOW)}", "F1, unmerged, by majority"],
        rows,
        f"{plan.bus} dialogues, made anew for each seed; states that know speakers; chains: "
        f"{plan.bus_chains}. States are merged (`--merge auto`; nothing says into how many; then "
        f"`--merge {len(FLOW)}`) and matched one to one with the true ones; one that is left over "
        "is wrong with all its edges. By majority: not merged; each state has the name of the true "
        "one of most of its turns.",
    )  # fmt: skip


def find_bus(model: str, states: int, seed: int, plan: Plan) -> dict[str, float]:
    """Fit a model to dialogues of the bus line and compare its flow with the true one."""
    dialogues = bus_dialogues(plan.bus, seed=seed)
    settings = Settings(
        model=model, states=states, topics=plan.topics, sweeps=150,
        chains=plan.bus_chains, speakers=True, seed=seed,
    )  # fmt: skip
    fitted = fit(dialogues, settings)
    groups = fitted.groups()
    found = edges_found(fitted, dialogues, one_to_one=True, groups=groups)
    told = edges_found(fitted, dialogues, one_to_one=True, groups=fitted.groups(len(FLOW)))
    named = edges_found(fitted, dialogues)
    return {
        **asdict(found), "f1": found.f1, "steps": len(groups), "told": told.f1, "named": named.f1,
    }  # fmt: skip
