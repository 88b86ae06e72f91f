"""``ensemble``: other parsers' votes, weighed by what they are good at, decoded into one tree.

See `rhetorica.parsers.ensemble.parser` (constituents), `rhetorica.parsers.ensemble.dependencies`,
and docs/ensembles.md.
"""

from __future__ import annotations

from rhetorica.parsers.ensemble.dependencies import DependencyEnsemble
from rhetorica.parsers.ensemble.parser import EnsembleParser, Settings

__all__ = ["DependencyEnsemble", "EnsembleParser", "Settings"]
