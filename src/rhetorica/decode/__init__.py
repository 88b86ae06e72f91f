"""Scores -> structures: exact decoders that know arrays only, not documents, features or labels.

- `eisner`: projective dependency trees; best, k best, marginals
- `spanning`: dependency trees that may cross; best, k best, marginals
- `cky`: binary constituency trees; best, k best, marginals, minimum Bayes risk

Each module's docstring gives its array conventions. All functions are pure and deterministic;
malformed arrays (shape, NaN, plus infinity) and scores that forbid every tree are a ValueError.
Loops are compiled with numba, which the first call imports.
"""

from __future__ import annotations

from rhetorica.decode.cky import (
    Bracketing,
    cky,
    cky_kbest,
    inside_outside,
    mbr_cky,
    pack_splits,
    packed_size,
    split_block,
    top_down_marginals,
    unpack_splits,
)
from rhetorica.decode.eisner import eisner, eisner_kbest, eisner_marginals
from rhetorica.decode.spanning import kbest_spanning, matrix_tree_marginals, spanning_tree

__all__ = [
    "Bracketing",
    "cky",
    "cky_kbest",
    "eisner",
    "eisner_kbest",
    "eisner_marginals",
    "inside_outside",
    "kbest_spanning",
    "matrix_tree_marginals",
    "mbr_cky",
    "pack_splits",
    "packed_size",
    "spanning_tree",
    "split_block",
    "top_down_marginals",
    "unpack_splits",
]
