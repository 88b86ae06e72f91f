"""Another split of GCDT, as a folder of links: five documents say little, so others are held out.

    python benchmarks/gcdt_split.py ../shared/data/gcdt split1 --number 1

Of each of the five genres, document ``number`` of the train part in alphabetical order (from 1)
becomes dev; the official dev documents and all others are train. Documents whose topic is in GUM's
dev or test part are never held out, so that models with GUM in them can be scored, too.
"""

from __future__ import annotations

import argparse
from itertools import groupby
from pathlib import Path

LAYERS = {"rs3": "rs3", "conllu": "conllu", "xml": "xml"}
NEVER = frozenset({"gcdt_bio_emperor", "gcdt_whow_mice"})


def main() -> None:
    """Choose, link."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--number", type=int, default=1)
    options = arguments.parse_args()
    names = sorted(path.stem for path in (options.folder / "rs3" / "train").glob("*.rs3"))
    kept = [name for name in names if name not in NEVER]
    dev = [list(group)[options.number - 1] for _, group in groupby(kept, lambda n: n.split("_")[1])]
    for layer, suffix in LAYERS.items():
        for path in sorted((options.folder / layer).glob(f"*/*.{suffix}")):
            part = options.out / layer / ("dev" if path.stem in dev else "train")
            part.mkdir(parents=True, exist_ok=True)
            (part / path.name).symlink_to(path.resolve())
    print("dev:", ", ".join(dev))


if __name__ == "__main__":
    main()
