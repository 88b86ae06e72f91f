"""Scores -> structures: exact decoders that know arrays only, not documents, features or labels.

- `eisner`: projective dependency trees; best, k best, marginals
- `spanning`: dependency trees that may cross; best, k best, marginals
- `cky`: binary constituency trees; best, k best, marginals, minimum Bayes risk
- `votes`: the binary tree that most votes for joins agree with
- `beam`: sequences of actions, given the scores of actions in states
- `chain`: labels along a line, and labelled segments of it; best, k best, marginals, draws

Each module's docstring gives its array conventions. All functions are pure and deterministic
(draws: given their random generator); malformed arrays (shape, NaN, plus infinity) and scores that
forbid every structure are a ValueError. Loops are compiled with numba, which the first call
imports.
"""

from __future__ import annotations

from rhetorica.decode.beam import beam
from rhetorica.decode.chain import (
    Segments,
    best_chain,
    best_segments,
    chain_marginals,
    kbest_chains,
    sample_chains,
    sample_segments,
    segment_marginals,
)
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
from rhetorica.decode.votes import Chosen, Votes, elect, elect_kbest

__all__ = [
    "Bracketing",
    "Chosen",
    "Segments",
    "Votes",
    "beam",
    "best_chain",
    "best_segments",
    "chain_marginals",
    "cky",
    "cky_kbest",
    "eisner",
    "eisner_kbest",
    "eisner_marginals",
    "elect",
    "elect_kbest",
    "inside_outside",
    "kbest_chains",
    "kbest_spanning",
    "matrix_tree_marginals",
    "mbr_cky",
    "pack_splits",
    "packed_size",
    "sample_chains",
    "sample_segments",
    "segment_marginals",
    "spanning_tree",
    "split_block",
    "top_down_marginals",
    "unpack_splits",
]
