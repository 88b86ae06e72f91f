"""A chain between two sweeps -> a file -> the same chain: what was interrupted goes on.

A file holds what the chain is (states, slots, priors, random numbers) and what earlier chains have
drawn, and for which settings and dialogues: a fit of others does not take it for its own.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rhetorica.dialogue.gibbs import Ints, Sampler
from rhetorica.dialogue.kinds import Priors
from rhetorica.dialogue.likelihood import Parameters
from rhetorica.files import write_bytes


@dataclass(frozen=True, slots=True)
class Draw:
    """One sweep's result: states, slots, and the distributions and priors that go with them."""

    states: Ints
    slots: Ints
    parameters: Parameters
    priors: Priors
    log_joint: float


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A fit between two sweeps; ``draws`` are what is kept of the chains before this one."""

    chain: int
    sweep: int
    states: Ints
    slots: Ints
    priors: Priors
    random: dict[str, Any]
    moves: tuple[int, int]
    draws: tuple[Draw, ...]

    @classmethod
    def of(cls, chain: int, sweep: int, sampler: Sampler, draws: Sequence[Draw]) -> Self:
        """Take down where a chain stands."""
        return cls(
            chain, sweep, sampler.states.copy(), sampler.slots.copy(), sampler.priors,
            dict(sampler.rng.bit_generator.state), (sampler.accepted, sampler.proposed),
            tuple(draws),
        )  # fmt: skip

    def restore(self, sampler: Sampler) -> None:
        """Put a new sampler where the chain stood."""
        sampler.states[:], sampler.slots[:] = self.states, self.slots
        sampler.priors, sampler.counts = self.priors, sampler.recounted()
        sampler.rng.bit_generator.state = self.random
        sampler.accepted, sampler.proposed = self.moves

    def write(self, path: Path, key: str) -> None:
        """Write the file; ``key`` tells what it is a checkpoint of."""
        facts = {
            "key": key, "chain": self.chain, "sweep": self.sweep, "priors": asdict(self.priors),
            "random": self.random, "moves": self.moves,
            "draws": [
                {"priors": asdict(draw.priors), "log_joint": draw.log_joint} for draw in self.draws
            ],
        }  # fmt: skip
        arrays: dict[str, NDArray[Any]] = {"states": self.states, "slots": self.slots}
        for number, draw in enumerate(self.draws):
            arrays |= {f"{number}.states": draw.states, f"{number}.slots": draw.slots}
            for field in fields(Parameters):
                arrays[f"{number}.{field.name}"] = getattr(draw.parameters, field.name)
        data = io.BytesIO()
        np.savez_compressed(data, facts=np.array(json.dumps(facts)), **arrays)  # type: ignore[arg-type]
        write_bytes(path, data.getvalue())

    @classmethod
    def read(cls, path: Path, key: str) -> Self | None:
        """Read a file; None if there is none, it is damaged, or it is one of something else."""
        try:
            # From memory: numpy leaves a file open that is not what it seemed.
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
                arrays = dict(stored)
            facts = json.loads(str(arrays.pop("facts")))
            if facts["key"] != key:
                return None
            draws = tuple(
                Draw(
                    arrays[f"{number}.states"],
                    arrays[f"{number}.slots"],
                    Parameters(*(arrays[f"{number}.{f.name}"] for f in fields(Parameters))),
                    Priors(**draw["priors"]),
                    draw["log_joint"],
                )
                for number, draw in enumerate(facts["draws"])
            )
            return cls(
                facts["chain"], facts["sweep"], arrays["states"], arrays["slots"],
                Priors(**facts["priors"]), facts["random"], tuple(facts["moves"]), draws,
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            return None
