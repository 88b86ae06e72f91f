"""The five models: what a state emits, and which other sources a word may come from.

All are hidden Markov models over the utterances of a dialogue; each row of every table below is a
multinomial with a symmetric Dirichlet prior.

| model | a word comes from | shares between sources are drawn |
|---|---|---|
| lm-hmm | its state's word distribution | |
| lm-hmms | its state, its dialogue's own word distribution, or a background | once a dialogue |
| tm-hmm | a topic, chosen by its state; topics are shared by all states | |
| tm-hmms | its state, or a topic chosen by its dialogue; topics are shared | once a dialogue |
| tm-hmmss | as in tm-hmms | once a state |

LM-HMM is Chotimongkol's (2008), LM-HMMS Ritter et al.'s (2010), the others are Zhai and Williams's
(2014). The paper says both that TM-HMMSS draws its shares "at every utterance" and "at every
state"; its figure, its name for it ("a state-wise source generator") and its last sentence have
one for each state, and so have we. The text at hand ends there; what had to be inferred beyond it
is listed in ``docs/dialogue.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from rhetorica.errors import RhetoricaError, UnknownName

Session = Literal["none", "own", "shared"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the models."""

    name: str
    line: str
    mixes_topics: bool = False
    """States emit topics, topics emit words (else states emit words)."""
    session: Session = "none"
    """What a dialogue adds: nothing, words of its own and a background, or shared topics."""
    shares_by_state: bool = False
    """Shares between sources belong to states (else to dialogues)."""

    @property
    def has_topics(self) -> bool:
        """Whether the model has topics, so that their number matters."""
        return self.mixes_topics or self.session == "shared"

    @property
    def sources(self) -> int:
        """How many sources a word may come from."""
        return {"none": 1, "own": 3, "shared": 2}[self.session]


KINDS = {
    kind.name: kind
    for kind in (
        Kind("lm-hmm", "each state has a word distribution (Chotimongkol 2008)"),
        Kind(
            "lm-hmms",
            "words from the state, the dialogue or a background (Ritter et al. 2010)",
            session="own",
        ),
        Kind("tm-hmm", "each state is a mixture of shared topics", mixes_topics=True),
        Kind(
            "tm-hmms",
            "words from the state or from the dialogue's mixture of shared topics",
            session="shared",
        ),
        Kind(
            "tm-hmmss",
            "as tm-hmms, and each state has its own share of dialogue topics",
            session="shared",
            shares_by_state=True,
        ),
    )
}


def kind_named(name: str) -> Kind:
    """Return the model with this name.

    >>> kind_named("tm-hmmss").shares_by_state
    True
    """
    if name not in KINDS:
        raise UnknownName("dialogue model", name, KINDS)
    return KINDS[name]


@dataclass(frozen=True, slots=True)
class Priors:
    """Symmetric Dirichlet priors: what each cell of a table counts before anything is seen."""

    transition: float = 0.1
    """Of a state after a state (the paper's gamma)."""
    word: float = 0.1
    """Of a word in a state's distribution or the background."""
    session_word: float = 0.1
    """Of a word in a dialogue's own distribution (lm-hmms)."""
    topic_word: float = 0.1
    """Of a word in a topic (beta)."""
    topic: float = 0.1
    """Of a topic in a state (tm-hmm) or in a dialogue (alpha)."""
    source: float = 1.0
    """Of a source in a dialogue or a state (pi)."""
    speaker: float = 1.0
    """Of a speaker in a state, where states know speakers."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 < value < float("inf"):
                raise RhetoricaError(f"the prior {field.name!r} is {value}: expected more than 0")
