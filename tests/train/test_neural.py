"""`rhetorica train neural` on little texts: what it leaves behind, and what a teacher teaches."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from lessons import LESSONS
from rhetorica import Document, Parse, RSTTree
from rhetorica.cli import app
from rhetorica.decode import Votes, inside_outside
from rhetorica.errors import ModelError
from rhetorica.formats import read
from rhetorica.formats.conllu import write_conllu
from rhetorica.models.store import Config
from rhetorica.parsers.neural import NeuralParser
from rhetorica.parsers.neural.windows import OVERLAP
from rhetorica.pipeline import load_parser
from rhetorica.progress import Event
from rhetorica.protocols import Ballot
from rhetorica.relations import relation_set
from rhetorica.text import annotate
from rhetorica.trees import Join, Label

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("onnx", reason="onnx is not installed")

from rhetorica.train.neural import data, encoders, train  # noqa: E402
from rhetorica.train.neural.export import export  # noqa: E402
from rhetorica.train.neural.model import Network  # noqa: E402
from rhetorica.train.neural.resize import busyness, grown, model_network, shrunk  # noqa: E402
from rhetorica.train.neural.restart import read_inventory, read_model  # noqa: E402
from rhetorica.train.neural.teach import Lessons, best_tree, lesson_of, opinions, tree_shares  # noqa: E402

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
TINY = encoders.Shape(width=24, layers=1, heads=3, positions=300)
RELATIONS = {
    "elaboration": "elaboration-additional",
    "causal": "causal-cause",
    "explanation": "explanation-justify",
    "mode": "mode-manner",
    "joint": "joint-list",
    "contingency": "contingency-condition",
    "attribution": "attribution-positive",
}


def documents() -> list[Parse]:
    """Our little texts with GUM's relations, words and syntax."""
    found = []
    for number, (edus, joins) in enumerate(LESSONS):
        doc = Document.from_edus(edus)
        doc = replace(annotate(doc.text), edus=doc.edus, id=f"GUM_test_{number}")
        named = (join._replace(relation=RELATIONS[join.relation]) for join in joins)
        found.append(Parse(doc, RSTTree(len(edus), tuple(named))))
    return found


@pytest.fixture(scope="module")
def gum(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus laid out as GUM is."""
    folder = tmp_path_factory.mktemp("gum")
    for name in ("dep", "rst/rstweb", "splits"):
        (folder / name).mkdir(parents=True)
    parses = documents()
    for parse in parses:
        name = parse.document.id
        (folder / "dep" / f"{name}.conllu").write_text(write_conllu(parse), "utf-8")
        # Its trees have the words apart.
        doc = parse.document
        apart = [
            " ".join(doc.form(t) for t in doc.tokens if edu.start <= t.start < edu.end)
            for edu in doc.edus
        ]
        tree = Parse(Document.from_edus(apart), parse.tree)
        (folder / "rst" / "rstweb" / f"{name}.rs4").write_text(tree.to_rs3(), "utf-8")
    for split in ("train", "dev"):
        names = "\n".join(parse.document.id for parse in parses)
        (folder / "splits" / f"{split}.txt").write_text(names, "utf-8")
    return folder


@pytest.fixture(scope="module")
def scidtb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus laid out as SciDTB is."""
    folder = tmp_path_factory.mktemp("scidtb")
    units = [(-1, "ROOT", "null"), (0, "We propose a method", "ROOT")]
    units += [(1, "to find trees .", "enablement"), (1, "It works well .", "evaluation")]
    rows = [
        {"id": number, "parent": parent, "text": text, "relation": relation}
        for number, (parent, text, relation) in enumerate(units)
    ]
    for name in ("train/one_anno1.dep", "dev/gold/one.dep"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(json.dumps({"root": rows}), "utf-8")
    rows[3] |= {"parent": 2, "relation": "progression"}
    (folder / "train" / "one_anno2.dep").write_text(json.dumps({"root": rows}), "utf-8")
    return folder


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder of random weights, in the layout of BERT's files."""
    folder = tmp_path_factory.mktemp("encoder")
    words = sorted({w.lower() for edus, _ in LESSONS for w in " ".join(edus).split()})
    letters = [chr(code) for code in range(97, 123)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *".,!?-", *letters, *words]
    vocabulary += [f"##{letter}" for letter in letters]
    vocabulary = list(dict.fromkeys(vocabulary))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", "utf-8")
    wide, inner = TINY.width, TINY.wide
    shapes = {
        "embeddings.word_embeddings.weight": (len(vocabulary), wide),
        "embeddings.position_embeddings.weight": (TINY.positions, wide),
        "embeddings.token_type_embeddings.weight": (2, wide),
    }
    norms = ["embeddings"]
    for layer in ("encoder.layer.0", "encoder.layer.1"):  # one more than most tests keep
        for name, rows, columns in (
            *((f"{layer}.attention.self.{part}", wide, wide) for part in ("query", "key", "value")),
            (f"{layer}.attention.output.dense", wide, wide),
            (f"{layer}.intermediate.dense", inner, wide),
            (f"{layer}.output.dense", wide, inner),
        ):
            shapes |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
        norms += [f"{layer}.attention.output", f"{layer}.output"]
    for name in norms:
        shapes |= {f"{name}.LayerNorm.{kind}": (wide,) for kind in ("weight", "bias")}
    rng = np.random.default_rng(0)
    header, parts, at = {}, [], 0
    for name, shape in shapes.items():
        raw = rng.normal(scale=0.3, size=shape).astype(np.float32).tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + len(raw)]}
        parts.append(raw)
        at += len(raw)
    text = json.dumps(header).encode()
    size = len(text).to_bytes(8, "little")
    (folder / "model.safetensors").write_bytes(size + text + b"".join(parts))
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["train", "neural", *map(str, arguments)])


@pytest.fixture(scope="module")
def trained(
    gum: Path, scidtb: Path, pretrained: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Result]:
    """The folder of a short run, and what its command said."""
    out = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(encoders.SHAPES, "tiny", TINY)
        result = run(
            *("--encoder", "tiny", "--pretrained", pretrained, "--gum", gum, "--out", out),
            *("--scidtb", scidtb, "--scidtb-share", 1, "--arc-epochs", 2),
            *("--epochs", 2, "--head-epochs", 2, "--head-rate", 0.003, "--head-share", 0.7),
        )
    return out, result


@pytest.fixture
def model(trained: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The model of that run, from which others can begin."""
    monkeypatch.setitem(encoders.SHAPES, "tiny", TINY)
    return trained[0] / "model"


def test_a_short_run_leaves_a_model(trained: tuple[Path, Result]) -> None:
    out, result = trained
    assert result.exit_code == 0, result.output
    for part in (
        "epoch 2, half of dev",
        "heads, run 1, dev",
        "everything: 8 of 8",
        "by itself: loss arc",
        "by itself: loss tag",
        "model in",
    ):
        assert part in result.output
    config = Config.read(out / "model")
    assert config.check() == out / "model"
    assert (config.kind, config.name, config.relations) == ("parser", "neural", "gum fine")
    assert {"raw", "span", "full", "las", "segmentation"} <= set(config.scores)
    card = (out / "model" / "README.md").read_text("utf-8")
    for part in ("| gum-dev, raw text |", "| scidtb-dev, gold EDUs", "edus:predicted", "ud_las"):
        assert part in card
    (row,) = (line for line in card.splitlines() if line.startswith("| gum-dev, gold EDUs"))
    assert f"| - | {config.scores['span']:.2f} |" in row
    parse = load_parser("neural", str(out / "model"))(Document(" ".join(LESSONS[0][0])))
    assert parse.tree.n_edus == len(parse.edus) > 0


def test_a_taught_run_begins_with_a_model(
    model: Path,
    gum: Path,
    scidtb: Path,
    pretrained: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(train, "load_segmenter", lambda name: load_parser("neural-fast"))
    text = "We sang because it rained. Nobody danced, but they were not sad."
    sure = replace(annotate(text), id="more")
    (tmp_path / "more.conllu").write_text(write_conllu(Parse(sure)), "utf-8")
    options = (
        *("--encoder", "tiny", "--pretrained", pretrained, "--gum", gum, "--out", tmp_path / "run"),
        *("--scidtb", scidtb),
        *("--silver", tmp_path / "more.conllu", "--teacher", f"neural:{model}", "--start", model),
        *("--epochs", 1, "--silver-epochs", 1, "--head-epochs", 1, "--head-silver-share", 1),
    )
    result = run(*options)
    assert result.exit_code == 0, result.output
    assert "labelling: 4 of 4" in result.output
    kept = sorted((tmp_path / "run" / "lessons").glob("*.npz"))
    assert len(kept) == 4
    # A second run finds all of it.
    again = run(*options)
    assert again.exit_code == 0, again.output
    assert "labelling" not in again.output
    assert "nothing left to train" in again.output
    # What the teacher said is written as trees, for other parsers to learn from.
    out, script = tmp_path / "silver.jsonl", SCRIPTS / "silver_trees.py"
    command = [sys.executable, script, tmp_path / "run", tmp_path / "more.conllu", "--out", out]
    subprocess.run(command, check=True)
    (tree,) = read(out)
    assert tree.document.text == text
    assert tree.tree.n_edus == len(tree.edus) > 1


def test_all_annotators_of_a_document_teach(scidtb: Path) -> None:
    (example,) = data.read_examples("scidtb", scidtb, "train")
    assert example.dependencies.heads == (-1, 0, 0)
    (other,) = example.others
    assert other.heads == (-1, 0, 1)
    assert other.relations[2] == "progression"
    assert all(not one.others for one in data.read_examples("scidtb", scidtb, "dev"))


def test_what_stands_by_itself_is_trained_by_itself(
    model: Path, gum: Path, scidtb: Path, pretrained: Path, tmp_path: Path
) -> None:
    result = run(
        *("--encoder", "tiny", "--pretrained", pretrained, "--gum", gum, "--scidtb", scidtb),
        *("--start", model, "--frozen", "--inner", 32, "--head-epochs", 0, "--head-runs", 2),
        *("--keep-start", 0, "--out", tmp_path),
    )
    assert result.exit_code == 0, result.output
    assert "heads, run" not in result.output
    before, after = (np.load(folder / "heads.npz") for folder in (model, tmp_path / "model"))
    changed = {name.partition(".")[0] for name in before if np.any(before[name] != after[name])}
    assert changed == {"scidtb", "syntax"}


def test_probabilities_are_made_honest_again(model: Path, gum: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(model, tmp_path / "model")
    script = SCRIPTS / "calibrate_neural.py"
    subprocess.run([sys.executable, script, copied, "gum", gum], check=True)
    before, after = (Config.read(folder).settings["scales"] for folder in (model, copied))
    assert after == before  # of the same model, on the same documents


def test_heads_alone_leave_the_encoder_as_it_is(
    model: Path, gum: Path, scidtb: Path, pretrained: Path, tmp_path: Path
) -> None:
    result = run(
        *("--encoder", "tiny", "--pretrained", pretrained, "--gum", gum, "--scidtb", scidtb),
        *("--start", model, "--frozen", "--inner", 32, "--head-epochs", 1, "--head-runs", 2),
        *("--keep-start", 0, "--leave-out", "GUM_test_0", "--out", tmp_path),
    )
    assert result.exit_code == 0, result.output
    assert f"documents: {len(LESSONS)}," in result.output  # one of them less, and SciDTB's
    assert "heads, run 2, dev" in result.output
    assert "everything" not in result.output
    assert "imitated" not in result.output
    before, after = (Config.read(folder) for folder in (model, tmp_path / "model"))
    assert after.labels == before.labels
    assert after.settings["shape"] == before.settings["shape"]
    for name, same in (("encoder.int8.onnx", True), ("vocab.txt", True), ("heads.npz", False)):
        equal = (model / name).read_bytes() == (tmp_path / "model" / name).read_bytes()
        assert equal is same, name


def test_weights_come_back_out_of_8_bits(
    trained: tuple[Path, Result], gum: Path, scidtb: Path
) -> None:
    out = trained[0]
    saved = torch.load(out / "final.pt", weights_only=True)
    examples = data.read_examples("gum", gum, "train")
    inventory = train.make_inventory(examples + data.read_examples("scidtb", scidtb, "train"))
    own = saved["averaged"]
    found = read_model(out / "model", inventory, own)
    assert set(own) - set(found) == {"encoder.words.weight", "markers.weight", "markers.bias"}
    for name, value in found.items():
        assert value.shape == own[name].shape, name
        # Seven bits and a sign, or (heads) half precision.
        assert (value - own[name]).abs().max() <= 0.012 * own[name].abs().max() + 1e-6, name
    fewer = replace(inventory, joins=inventory.joins[::-1])
    with pytest.raises(ModelError, match="other labels"):
        read_model(out / "model", fewer, own)


@pytest.mark.parametrize(("heads", "window"), [(3, 256), (2, 256), (3, 96)])
def test_a_network_read_back_gives_the_states_of_its_model(
    model: Path, tmp_path: Path, heads: int, window: int
) -> None:
    shape = replace(TINY, buckets=32, offset=2).narrowed(heads=heads).with_window(window)
    inventory, tokenizer = read_inventory(model), NeuralParser.load(model).network.tokenizer
    torch.manual_seed(1)
    network = Network(len(tokenizer.vocabulary), inventory, shape=shape).eval()
    state, words = network.state_dict(), tokenizer.vocabulary
    export(state, inventory, words, tmp_path, shape=shape, card="", int8=False)
    back = model_network(tmp_path, network.encoder.words)
    pieces = tokenizer("We sang because it rained, but nobody danced. " * 40)
    first, last = tokenizer.index(shape.first), tokenizer.index(shape.last)
    with torch.no_grad():
        states = back.states(pieces.ids, pieces.types, first, last, OVERLAP).numpy()
    assert states == pytest.approx(NeuralParser.load(tmp_path).network.states(pieces), abs=1e-4)


def test_a_window_is_longer_than_what_is_shared_and_ends_where_positions_do() -> None:
    assert encoders.MPNET.with_window(512).window == 512
    for window in (513, 95, 0):
        with pytest.raises(ModelError, match="from 96 to 512"):
            encoders.MPNET.with_window(window)


def test_windows_that_cannot_be_are_told_before_anything_is_read(tmp_path: Path) -> None:
    nothing = ("--pretrained", tmp_path, "--gum", tmp_path, "--out", tmp_path / "run")
    for option, told in (("--window", "from 96 to 512"), ("--overlap", "from 0 to 128")):
        result = run(*nothing, option, 999)
        assert isinstance(result.exception, ModelError)
        assert told in str(result.exception)


def test_a_larger_model_is_made_smaller_and_imitated(
    model: Path, gum: Path, scidtb: Path, pretrained: Path, tmp_path: Path
) -> None:
    options = (
        *("--encoder", "tiny", "--pretrained", pretrained, "--gum", gum, "--scidtb", scidtb),
        *("--inner", 32, "--heads", 2, "--start", model, "--imitate-minutes", 0.02),
        *("--head-epochs", 0),
        *("--epochs", 1, "--out", tmp_path),
    )
    result = run(*options)
    assert result.exit_code == 0, result.output
    assert "imitated, half of dev" in result.output
    config = Config.read(tmp_path / "model")
    assert config.settings["shape"]["inner"] == 32
    assert config.labels == Config.read(model).labels
    (tmp_path / "final.pt").unlink()
    again = run(*options)
    assert again.exit_code == 0, again.output
    assert "imitated" not in again.output  # what was learned by imitation is kept


def test_a_deeper_network_begins_with_a_model_of_fewer_layers(
    model: Path, gum: Path, scidtb: Path, pretrained: Path, tmp_path: Path
) -> None:
    result = run(
        *("--encoder", "tiny", "--pretrained", pretrained, "--gum", gum, "--scidtb", scidtb),
        *("--layers", 2, "--start", model, "--imitate-minutes", 0.02),
        *("--head-epochs", 0, "--epochs", 1, "--out", tmp_path),
    )
    assert result.exit_code == 0, result.output
    assert "imitated, half of dev" in result.output
    assert Config.read(tmp_path / "model").settings["shape"]["layers"] == 2


def test_a_deeper_network_keeps_the_lower_layers(model: Path) -> None:
    inventory = read_inventory(model)
    flat = Network(20, inventory, shape=replace(TINY, layers=4))
    part = grown(flat, replace(TINY, layers=6))
    assert {name for name in flat.state_dict() if name not in part} == {
        name
        for name in flat.state_dict()
        if name.startswith(("encoder.layers.2", "encoder.layers.3"))
    }
    deep = Network(20, inventory, shape=replace(TINY, layers=6))
    assert not deep.load_state_dict(part, strict=False).unexpected_keys
    with pytest.raises(ModelError, match="not both"):
        grown(flat, replace(TINY, layers=6, inner=40))


def test_the_busy_stay_when_layers_become_narrower(trained: tuple[Path, Result], gum: Path) -> None:
    model, saved = trained[0] / "model", torch.load(trained[0] / "final.pt", weights_only=True)
    words = saved["averaged"]["encoder.words.weight"]
    large = model_network(model, torch.nn.Embedding.from_pretrained(words))
    tokenizer = NeuralParser.load(model).network.tokenizer
    readings = [data.read(example, tokenizer) for example in data.read_examples("gum", gum, "dev")]
    whole = shrunk(large, TINY, readings)
    for name, value in large.state_dict().items():
        assert torch.equal(whole[name], value), name
    (busy,) = busyness(large, readings)
    units = busy.units >= busy.units.sort(descending=True).values[39]
    heads = (busy.heads >= busy.heads.max()).repeat_interleave(TINY.width // TINY.heads)
    small = TINY.narrowed(heads=1, inner=40)
    part = shrunk(large, small, readings)
    layer = "encoder.layers.0."
    for name, kept in {
        "up.weight": whole[layer + "up.weight"][units],
        "down.weight": whole[layer + "down.weight"][:, units],
        "qkv.bias": whole[layer + "qkv.bias"][heads.repeat(3)],
        "out.weight": whole[layer + "out.weight"][:, heads],
    }.items():
        assert torch.equal(part[layer + name], kept), name
    network = Network(len(words), read_inventory(model), shape=small)
    network.load_state_dict(part)  # all of it, and everything fits
    for more in (replace(TINY, layers=2), replace(TINY, inner=200), TINY.narrowed(heads=8)):
        with pytest.raises(ModelError, match="cannot be shrunk"):
            shrunk(large, more, readings)


def test_what_adds_nothing_is_not_busy(trained: tuple[Path, Result], gum: Path) -> None:
    model, saved = trained[0] / "model", torch.load(trained[0] / "final.pt", weights_only=True)
    words = saved["averaged"]["encoder.words.weight"]
    large = model_network(model, torch.nn.Embedding.from_pretrained(words))
    (layer,) = large.encoder.layers
    one = TINY.width // TINY.heads
    with torch.no_grad():
        layer.out.weight[:, one : 2 * one] = 0
        layer.down.weight[:, 7] = 0
    tokenizer = NeuralParser.load(model).network.tokenizer
    readings = [data.read(example, tokenizer) for example in data.read_examples("gum", gum, "dev")]
    (busy,) = busyness(large, readings)
    assert (busy.heads == 0).nonzero().tolist() == [[1]]
    assert (busy.units == 0).nonzero().tolist() == [[7]]


def test_the_best_tree_of_a_lesson() -> None:
    names = (Label("NS", "elaboration"), Label("NN", "joint"))
    joins = np.array([[0, 1, 3], [1, 2, 3], [0, 2, 3], [0, 1, 2]])
    rows = np.array([[0.9, 0.1], [0.2, 0.8], [0.1, 0.9], [0.6, 0.4]])
    lesson = data.Lesson(joins, np.array([0.7, 0.7, 0.3, 0.3]), rows, names)
    assert best_tree(lesson, 3) == RSTTree(
        3, (Join(0, 1, 3, "NS", "elaboration"), Join(1, 2, 3, "NN", "joint"))
    )
    # The expected number of right ranges is highest for a tree of ranges no tree has together:
    # one with an unheard-of range is not taken all the same.
    rng = np.random.default_rng(3)
    for n in (4, 6, 9):
        chart = rng.normal(size=(n + 1,) * 3, scale=4).astype(np.float32)
        _, _, posteriors = inside_outside(chart)
        joins = np.argwhere(posteriors > 0.05)
        shares = tree_shares(joins, posteriors[tuple(joins.T)], n)
        joins, shares = joins[shares > 0], shares[shares > 0]
        lesson = data.Lesson(joins, shares, np.ones((len(joins), 2)) / 2, names)
        found = best_tree(lesson, n)
        assert {(j.start, j.end) for j in found.joins} <= {(i, j) for i, _, j in joins.tolist()}


def test_shares_are_those_of_a_distribution_over_trees() -> None:
    rng = np.random.default_rng(1)
    for n in (2, 3, 5, 8):
        chart = rng.normal(size=(n + 1,) * 3).astype(np.float32)
        _, _, posteriors = inside_outside(chart)
        joins = np.argwhere(posteriors > 0)
        votes = posteriors[tuple(joins.T)]
        # Posteriors come back as they were.
        assert tree_shares(joins, votes, n) == pytest.approx(votes, abs=1e-5)
        # Whatever the votes, what leads to a range is what it is split by.
        shares = tree_shares(joins, rng.random(len(joins)), n)
        assert shares.sum() == pytest.approx(n - 1)
        into: defaultdict[tuple[int, int], float] = defaultdict(float, {(0, n): 1.0})
        out: defaultdict[tuple[int, int], float] = defaultdict(float)
        for (i, k, j), share in zip(joins.tolist(), shares, strict=True):
            out[i, j] += share
            into[i, k] += share
            into[k, j] += share
        assert all(
            out[part] == pytest.approx(value)
            for part, value in into.items()
            if part[1] - part[0] > 1
        )
        assert [into[i, i + 1] for i in range(n)] == pytest.approx([1.0] * n)


def test_a_lesson_leaves_out_what_is_unlikely_but_not_the_last_tree() -> None:
    joins = np.array([[0, 1, 2], [1, 2, 3], [0, 1, 3], [0, 2, 3]])
    names = (Label("NS", "a"), Label("NN", "b"))
    ballot = Ballot(Votes.of(joins, np.array([[0.1, 0], [0.6, 0.3], [0.9, 0], [0, 0.1]])), names)
    lesson = lesson_of(ballot, 3, least=0.2)
    assert lesson.joins.tolist() == [[1, 2, 3], [0, 1, 3]]
    assert lesson.shares == pytest.approx([1, 1])
    assert lesson.labels[0] == pytest.approx([2 / 3, 1 / 3])
    assert lesson.labels[1] == pytest.approx([0.9, 0.1])
    whole = lesson_of(ballot, 3, least=0.95)
    assert whole.shares == pytest.approx([0.1, 0.9, 0.9, 0.1])


def test_an_ensemble_teaches_by_its_own_ballot_and_by_fine_ones() -> None:
    ensemble = load_parser("ensemble")
    doc = documents()[0].document
    own, *finer = opinions(ensemble, doc)
    assert own.labels == ensemble.labels_
    assert len(finer) == 1
    for ballot in (own, *finer):
        lesson = lesson_of(ballot, len(doc.edus))
        assert lesson.shares.sum() == pytest.approx(len(doc.edus) - 1, rel=1e-3)
        assert lesson.labels.sum(axis=1) == pytest.approx(1)
    alone = ensemble.ballot(doc)
    assert alone.votes.votes == pytest.approx(own.votes.votes)
    # The votes for a range are its probability.
    assert alone.votes.votes.max() <= 1 + 1e-9


def test_nothing_is_learned_from_oneself(
    trained: tuple[Path, Result], gum: Path, scidtb: Path
) -> None:
    """Where teacher and pupil agree, the loss has its minimum: all gradients vanish."""
    examples = data.read_examples("gum", gum, "train")
    inventory = train.make_inventory(examples + data.read_examples("scidtb", scidtb, "train"))
    tokenizer = NeuralParser.load(trained[0] / "model").network.tokenizer
    network = Network(len(tokenizer.vocabulary), inventory, shape=TINY, dropout=0.0)
    trainer = train.Trainer(network, inventory, tokenizer, train.Settings(), 1)
    trainer.start_from(trained[0] / "model")
    reading = data.read(replace(examples[0], tree=None), tokenizer)
    states = torch.randn(len(reading.pieces), TINY.width)
    network.eval()
    with torch.no_grad():
        edus = network.edus(states, reading.units, 0)
        _, _, posteriors = inside_outside(network.trees.chart(edus, reading.units).numpy())
        joins = np.argwhere(posteriors > 0)
        rows = torch.from_numpy(joins)
        said = network.trees.label_logits(edus, reading.units, rows, 0).softmax(1)
    lesson = data.Lesson(joins, posteriors[tuple(joins.T)], said.numpy(), inventory.joins)

    def steepest(*lessons: data.Lesson) -> float:
        network.zero_grad()
        example = replace(reading.example, lessons=lessons)
        parts = trainer._tree_losses(edus, replace(reading, example=example), 0)
        assert set(parts) == {"taught tree", "taught label"}
        sum(parts.values()).backward()
        grads = [p.grad for p in network.trees.parameters() if p.grad is not None]
        return max(grad.abs().max().item() for grad in grads)

    assert steepest(lesson) < 1e-4
    assert steepest(lesson, lesson) < 1e-4
    # Classes of labels instead of labels: still nothing to learn.
    coarse = relation_set("gum").coarse
    classes = tuple(dict.fromkeys(Label(n, coarse(r)) for n, r in inventory.joins))
    column = [classes.index(Label(n, coarse(r))) for n, r in inventory.joins]
    wide = np.zeros((len(joins), len(classes)))
    np.add.at(wide.T, column, said.numpy().T)
    assert steepest(replace(lesson, labels=wide, names=classes)) < 1e-4
    assert steepest(replace(lesson, labels=said.numpy()[:, ::-1].copy())) > 1e-3
    assert steepest(replace(lesson, shares=lesson.shares[::-1].copy())) > 1e-3


def test_lessons_are_kept_and_read(trained: tuple[Path, Result], gum: Path, tmp_path: Path) -> None:
    parser = NeuralParser.load(trained[0] / "model")
    examples = data.read_examples("gum", gum, "train")
    told: list[Event] = []
    lessons = Lessons(tmp_path)
    lessons.teach(examples, lambda: parser, told.append)
    assert told[-1].at == told[-1].total == len(examples)
    doc = examples[0].gold.document if examples[0].gold else None
    assert doc is not None
    wanted = lesson_of(parser.ballot(doc), len(doc.edus))
    [lesson] = lessons.read(examples[0]).lessons
    assert lesson.joins.tolist() == wanted.joins.tolist()
    assert lesson.shares == pytest.approx(wanted.shares, abs=1e-3)
    assert lesson.labels == pytest.approx(wanted.labels, abs=1e-3)
    assert lesson.names == wanted.names
    # With other EDUs, it is another document.
    other = replace(examples[0], marks=np.minimum(examples[0].marks, 0))
    assert lessons.read(other).lessons == ()


def test_a_teacher_must_tell_more_than_a_tree(gum: Path, tmp_path: Path) -> None:
    examples = data.read_examples("gum", gum, "train")
    with pytest.raises(ModelError, match="cannot teach"):
        Lessons(tmp_path).teach(examples, lambda: load_parser("li2014"))
