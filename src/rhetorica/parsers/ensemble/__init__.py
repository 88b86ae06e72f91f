"""``ensemble``: other parsers' votes, weighed by what they are good at, decoded into one tree.

See `rhetorica.parsers.ensemble.parser`, and docs/ensembles.md.
"""

from __future__ import annotations

from rhetorica.parsers.ensemble.parser import EnsembleParser, Settings

__all__ = ["EnsembleParser", "Settings"]
