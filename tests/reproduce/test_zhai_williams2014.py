"""The experiments of Zhai & Williams (2014), in miniature."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rhetorica.dialogue import Settings, fit
from rhetorica.reproduce import zhai_williams2014
from rhetorica.reproduce.bus import bus_dialogues
from rhetorica.reproduce.zhai_williams2014 import Plan, block_tau, reproduce_zhai_williams2014


@pytest.fixture
def sgd(tmp_path: Path) -> Path:
    for name, seed, count in (("train", 0, 12), ("dev", 1, 5)):
        lines = [
            json.dumps(
                {
                    "dialogue_id": dialogue.id,
                    "turns": [
                        {"speaker": t.speaker, "utterance": t.text, "acts": [{"act": t.act}]}
                        for t in dialogue.turns
                    ],
                }
            )
            for dialogue in bus_dialogues(count, seed=seed)
        ]
        (tmp_path / f"sgd_{name}.jsonl").write_text("\n".join(lines))
    return tmp_path


def test_all_tables_are_made_and_kept(sgd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = Plan((3,), (0, 1), 3, 12, 10, (4,), 8, (5, 3), 1)
    monkeypatch.setattr(zhai_williams2014, "QUICK", tiny)
    heard: list[object] = []
    tables = reproduce_zhai_williams2014(
        sgd, sgd / "work", quick=True, rivals=False, tell=heard.append
    )
    assert [line for line in tables.splitlines() if line.startswith("**")] == [
        "**Held-out log likelihood per word (SGD dev)**",
        "**Kendall's tau of the best among the true and 100 random orders (SGD dev)**",
        "**Kendall's tau of the best order of four utterances in a row (SGD dev)**",
        "**Agreement of states with acts (SGD dev)**",
        "**Held-out log likelihood per word after few dialogues (3 states)**",
        "**Mixing: log joint per word after so many sweeps (200 dialogues, 20 states)**",
        "**A planted flow of 17 states, 30 % word noise: edges of at least 0.05**",
    ]
    assert "nan" not in tables
    made = len(heard)
    again = reproduce_zhai_williams2014(
        sgd, sgd / "work", quick=True, rivals=False, tell=heard.append
    )
    assert again == tables
    assert len(heard) == made


def test_the_order_of_four_is_that_of_the_model() -> None:
    calls = bus_dialogues(40, noise=0.0)
    model = fit(calls, Settings(model="lm-hmm", states=20, sweeps=40))
    corpus, _ = model.lexicon.encode(calls, model.preparation)
    taus = [block_tau(model, corpus, number) for number in range(10)]
    assert np.mean(taus) > 0.5
