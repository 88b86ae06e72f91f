"""Latent structure of dialogues: a pile of them in, the flowchart behind them out.

- `types`, `read`: what a dialogue is; JSON lines, transcripts, CSV
- `prepare`: turns to words and numbers; entities become their types
- `kinds`, `gibbs`: the five models of Zhai & Williams (2014), and how they are sampled
- `model`: fit, apply, score, keep; `likelihood`, `agreement`: how good a model is
- `merge`: states that are only wordings of one step
- `flow`: what a model found, named and with examples; `rhetorica.render.flow` draws it
"""

from __future__ import annotations

from rhetorica.dialogue.agreement import Agreement, agreement, kendall_tau
from rhetorica.dialogue.flow import Edge, Flow, FlowState, flow_of
from rhetorica.dialogue.kinds import KINDS, Kind, Priors
from rhetorica.dialogue.model import Applied, DialogueModel, Settings, choose_states, fit
from rhetorica.dialogue.prepare import Preparation
from rhetorica.dialogue.read import Reading, read_dialogues
from rhetorica.dialogue.types import Dialogue, Entity, Turn

__all__ = [
    "KINDS",
    "Agreement",
    "Applied",
    "Dialogue",
    "DialogueModel",
    "Edge",
    "Entity",
    "Flow",
    "FlowState",
    "Kind",
    "Preparation",
    "Priors",
    "Reading",
    "Settings",
    "Turn",
    "agreement",
    "choose_states",
    "fit",
    "flow_of",
    "kendall_tau",
    "read_dialogues",
]
