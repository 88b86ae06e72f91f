"""What a neural model loses by its 8 bits: the same weights with a float32 encoder, same run.

    python benchmarks/precision.py RUN ../shared/data/gum

RUN is the folder of a finished `rhetorica train neural`, with final.pt and the folder model.
Prints Markdown: figures through the parser on dev, words per CPU-second, size of the folder.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch

from rhetorica.corpora import read_corpus
from rhetorica.models.store import Config
from rhetorica.train.card import SHOWN
from rhetorica.train.neural.encoders import Shape
from rhetorica.train.neural.export import export
from rhetorica.train.neural.measure import measure
from rhetorica.train.neural.restart import read_inventory

GIVEN = ("encoder", "sources", "join_classes", "arc_relations", "tags", "deprels", "shape")


def main() -> None:
    """Write the float32 twin, measure both, print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("run", type=Path)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--corpus", default="gum")
    options = arguments.parse_args()
    golds = list(read_corpus(options.corpus, options.folder, "dev"))
    words = sum(len(parse.document.text.split()) for parse in golds)
    model = options.run / "model"
    config = Config.read(model)
    with tempfile.TemporaryDirectory() as place:
        whole = export(
            torch.load(options.run / "final.pt", weights_only=True)["averaged"],
            read_inventory(model),
            (model / "vocab.txt").read_text("utf-8").splitlines(),
            Path(place) / "float32",
            shape=Shape(**config.settings["shape"]),
            card="the same in float32",
            temperatures={k: v for k, v in config.settings.items() if k not in GIVEN},
            int8=False,
            facts={
                "language": config.language,
                "treebanks": config.treebanks,
                "relations": config.relations,
            },
        )
        print(f"| encoder | given | {' | '.join(SHOWN)} | words/CPU-s | MB |")
        print("|" + "---|" * (len(SHOWN) + 4))
        for name, folder in (("8 bits", model), ("float32", whole)):
            start = time.process_time()
            measures = measure(folder, {options.corpus: golds})
            speed = 2 * words / (time.process_time() - start)
            size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
            for (_, what), report in measures.reports.items():
                cells = " | ".join(f"{100 * report[key].f1:.2f}" for key in SHOWN.values())
                print(f"| {name} | {what} | {cells} | {speed:,.0f} | {size:.0f} |", flush=True)


if __name__ == "__main__":
    main()
