"""Train the neural parser; needs torch and onnx (the extra ``train``), which parsing does not.

`data` reads corpora, `silver` labels more text, `teach` asks another parser for trees, `model` is
the network, `train` trains it, `restart` takes up a finished one, `export` writes a model folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rhetorica.errors import MissingExtra
from rhetorica.progress import Tell, nothing


def train_neural(
    pretrained: Path | str,
    corpora: Mapping[str, Path | str],
    out: Path | str,
    *,
    start: Path | str | None = None,
    silver: Sequence[Path | str] = (),
    teacher: str = "",
    without: Sequence[str] = (),
    tell: Tell = nothing,
    **settings: Any,
) -> Path:
    """Train on corpora (name -> folder; "gum" or "gcdt" among them); return the model directory.

    ``pretrained`` is a folder with the encoder's ``model.safetensors`` and ``vocab.txt``;
    ``settings`` are those of `train.Settings` (``encoder``, ``seed``, ``epochs``, ...). ``out``
    gets checkpoints, from which an interrupted run goes on, and in the end ``final.pt`` and the
    directory ``model``. ``start`` is the ``final.pt`` of an earlier run, or a model folder, to
    begin from, ``silver`` are CoNLL-U files that teach segmentation and syntax (English-EWT,
    AMALGUM; see `silver`), ``teacher`` is a parser from whose opinion of trees to learn (see
    `teach`). Training documents whose names match a pattern of ``without`` are left out.
    """
    try:
        from rhetorica.train.neural import export, train
    except ImportError:
        raise MissingExtra("training the neural parser", "train") from None
    run = train.train(
        pretrained,
        corpora,
        out,
        train.Settings(**settings),
        start=start,
        silver=silver,
        teacher=teacher,
        without=without,
        tell=tell,
    )
    return export.export_run(run, Path(out) / "model")
