"""Ensembles of structured prediction rules (Cortes, Kuznetsov & Mohri 2014).

Experts each predict a sequence of symbols; an ensemble learns, from examples with the right
sequence, whom to trust where. Nothing here knows what the symbols are.

- `tables`: what the experts say (examples x positions x experts) and what is right
- `automaton`: path experts, mixtures of experts along a sequence
- `online`: WMWP and FPL, a distribution over paths for each round
- `batch`: one rule from all rounds: H_Rand, H_MVote, H_CV, H_FPL, H_FPL-CV
- `boosting`: ESPBoost; `selection`: SLE, best expert, plain majority
- `rules`: what all of them return; `measures`: Hamming loss, edit distance
- `methods`: all of them by name

>>> from rhetorica.learn.experts import Settings, Table, learn
>>> table = Table.of(["abc", "bca"] * 20, [["abx", "bcx"] * 20, ["xxc", "xxa"] * 20])
>>> learn("MVote", table, Settings(beta=0.9)).predict(table.symbols)[0].tolist()
[0, 1, 2]
"""

from __future__ import annotations

from rhetorica.learn.experts.automaton import Automaton
from rhetorica.learn.experts.batch import cross_validated, gamma, majority, randomised
from rhetorica.learn.experts.boosting import Boosted, espboost
from rhetorica.learn.experts.measures import edit_distances, hamming_loss
from rhetorica.learn.experts.methods import METHODS, Settings, learn
from rhetorica.learn.experts.online import Rounds, best_beta, fpl, regret_bound, wmwp
from rhetorica.learn.experts.rules import Randomised, Vote
from rhetorica.learn.experts.selection import best_expert, plain_majority, sle
from rhetorica.learn.experts.tables import MISSING, PAD, Table

__all__ = [
    "METHODS",
    "MISSING",
    "PAD",
    "Automaton",
    "Boosted",
    "Randomised",
    "Rounds",
    "Settings",
    "Table",
    "Vote",
    "best_beta",
    "best_expert",
    "cross_validated",
    "edit_distances",
    "espboost",
    "fpl",
    "gamma",
    "hamming_loss",
    "learn",
    "majority",
    "plain_majority",
    "randomised",
    "regret_bound",
    "sle",
    "wmwp",
]
