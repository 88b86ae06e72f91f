"""The trained models that ship with the package, each a folder with a card (README.md)."""

from __future__ import annotations

from pathlib import Path

from rhetorica.errors import ModelError

_HERE = Path(__file__).parent


def model_path(name: str | Path) -> Path:
    """Return the folder of a shipped model, or of a user's own if the name is a path."""
    for path in (Path(name), _HERE / name):
        if (path / "config.json").is_file() or (path / "config.cfg").is_file():
            return path
    shipped = ", ".join(sorted(path.parent.name for path in _HERE.glob("*/README.md")))
    raise ModelError(f"no model {str(name)!r}: neither a model folder nor one of ours ({shipped})")
