"""All ways of learning an ensemble, by name, from one table and one set of settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rhetorica.errors import UnknownName
from rhetorica.learn.experts.automaton import Automaton
from rhetorica.learn.experts.batch import cross_validated, majority, randomised
from rhetorica.learn.experts.boosting import espboost
from rhetorica.learn.experts.online import Noise, Rounds, fpl, wmwp
from rhetorica.learn.experts.rules import Randomised, Vote
from rhetorica.learn.experts.selection import best_expert, plain_majority, sle
from rhetorica.learn.experts.tables import Table


@dataclass(frozen=True, slots=True)
class Settings:
    """What the paper sets: beta (WMWP), delta (Gamma), epsilon (FPL), rounds (ESPBoost, SLE).

    ``normalised`` divides the loss of a position by the number of positions before it becomes the
    exponent of beta: the text's definition, though the paper's figures come from a loss of 1.
    """

    beta: float = 0.95
    delta: float = 0.05
    epsilon: float | None = None
    noise: Noise = "uniform"
    rounds: int = 100
    normalised: bool = False
    automaton: Automaton | None = None
    seed: int = 0


def _wmwp(table: Table, how: Settings) -> Rounds:
    losses = table.hamming(normalised=how.normalised)
    bound = 1.0 if how.normalised else float(table.length)
    return wmwp(losses, beta=how.beta, automaton=how.automaton, bound=bound)


def _fpl(table: Table, how: Settings) -> Rounds:
    losses = table.hamming(normalised=how.normalised)
    bound = 1.0 if how.normalised else float(table.length)
    return fpl(
        losses,
        epsilon=how.epsilon,
        automaton=how.automaton,
        bound=bound,
        noise=how.noise,
        seed=how.seed,
    )


def _validated(rounds: Rounds, table: Table, how: Settings) -> Vote:
    losses = table.hamming(normalised=how.normalised)
    return cross_validated(rounds, table.symbols, losses, delta=how.delta)[0]


METHODS: dict[str, Callable[[Table, Settings], Vote | Randomised]] = {
    "MVote": lambda table, how: majority(_wmwp(table, how), delta=how.delta),
    "FPL": lambda table, how: majority(_fpl(table, how), delta=how.delta),
    "CV": lambda table, how: _validated(_wmwp(table, how), table, how),
    "FPL-CV": lambda table, how: _validated(_fpl(table, how), table, how),
    "ESPBoost": lambda table, how: espboost(table, rounds=how.rounds, automaton=how.automaton).vote,
    "SLE": lambda table, how: sle(table, rounds=how.rounds, seed=how.seed),
    "Rand": lambda table, how: randomised(_wmwp(table, how), delta=how.delta),
    "Best": lambda table, how: best_expert(table),
    "Majority": lambda table, how: plain_majority(table),
}


def learn(name: str, table: Table, settings: Settings | None = None) -> Vote | Randomised:
    """Learn an ensemble by the method of that name (a key of `METHODS`)."""
    if name not in METHODS:
        raise UnknownName("way of learning an ensemble", name, METHODS)
    if not len(table):
        raise ValueError("no examples to learn an ensemble from")
    return METHODS[name](table, settings or Settings())
